"""`npser inspect`, `du`, `tree` and `verify`: where the bytes of a file are, and whether it is whole.

Strategy: all four stand on `npser.inspect` and `npser.loads` and only say how their answer is printed. A regular file
is mapped and not read, so that what is not looked at costs no memory. What a file holds is never built but by `verify`.
"""

from __future__ import annotations

import io
import json
import mmap
import os
import stat
from enum import StrEnum
from pathlib import Path
from typing import Any

import npser
from npser.cli.files import STANDARD, read_bytes
from npser.errors import NpserError
from npser.inspection.parts import Part, clip, plain
from npser.inspection.report import Report
from npser.inspection.text import SIZES, WIDTH, draw_report
from npser.stream.layout import MARKER

__all__ = [
    "Sizes",
    "as_json",
    "as_tree",
    "as_usage",
    "as_why",
    "map_bytes",
    "open_report",
    "usage_rows",
    "verdict",
]


NO_FRAMES = "an empty file: one of no frames, and so of no values"
"""What is said of one; nothing on standard input is no file, and damaged."""


class Sizes(StrEnum):
    """How bytes are written."""

    EXACT = "exact"
    HUMAN = "human"


def map_bytes(name: str) -> Any:
    """The bytes of a file, mapped where that can be done. Raises ConvertError where it cannot be read."""
    if name != STANDARD:
        try:
            with Path(name).open("rb") as file:
                about = os.fstat(file.fileno())
                if stat.S_ISREG(about.st_mode) and about.st_size:
                    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            pass  # reading it says why
    return read_bytes(name)


def open_report(name: str) -> Report:
    """The report of a file, or of standard input for '-'."""
    data = map_bytes(name)
    report = npser.inspect(data)
    if name != STANDARD and not len(data):
        report.error, report.note = None, NO_FRAMES
    return report


def as_json(report: Report) -> str:
    """The whole report."""
    return json.dumps(report.to_dict(), indent=1)


def as_why(report: Report, most: int = 5) -> str:
    """For the largest blocks, as far as they are quickly weighed, what else they could have been."""
    lines = []
    for part, why in report.reasons(most):
        lines += [clip(_name(part), WIDTH), clip(f"    {why}", WIDTH)]
    return "\n".join(lines)


def as_usage(report: Report, sizes: Sizes, most: int) -> str:
    """The parts with bytes of their own, the largest last, and the total, as `du` has it."""
    size_text = SIZES[sizes]
    parts = sorted(report.leaves(), key=lambda part: -part.nbytes)
    shown, rest = parts[:most], parts[most:]
    rows = [(size_text(part.nbytes), f"{part.share:6.1%}", _name(part)) for part in reversed(shown)]
    if rest:
        more = f"({len(rest):,} smaller parts)"
        rows.insert(0, (size_text(sum(part.nbytes for part in rest)), "", more))
    rows.append((size_text(report.size), "", "total"))
    width = max(len(row[0]) for row in rows)
    return "\n".join(f"{nbytes:>{width}}  {share:>6}  {name}" for nbytes, share, name in rows)


def usage_rows(report: Report, most: int) -> str:
    """The same as JSON, the largest first."""
    wanted = ("path", "role", "kind", "encoding", "count", "bytes", "share", "raw")
    parts = [dict(zip(wanted, _figures(part), strict=True)) for part in report.top(most)]
    return json.dumps({"size": report.size, "parts": parts, "error": _error(report)}, indent=1)


def _figures(part: Part) -> tuple[object, ...]:
    return (part.path, part.role, part.kind, part.encoding, part.count, part.nbytes, part.share, part.raw)


def _error(report: Report) -> str | None:
    return None if report.error is None else plain(str(report.error))


def as_tree(report: Report, sizes: Sizes, most: int) -> str:
    """The tree down to blocks within blocks."""
    return draw_report(report, lines=most, sizes=sizes, blocks=True)


def _name(part: Part) -> str:
    return plain(" ".join(filter(None, (part.path, part.role, part.encoding and f"[{part.encoding}]"))))


def verdict(name: str) -> tuple[bool, str]:
    """Whether a file can be decoded to its end, with no class allowed, and what is to be said.

    What is sealed cannot be verified without its key, and is not said to be fine.
    """
    data = map_bytes(name)
    frames = 0
    try:
        if name != STANDARD and not len(data):
            return True, f"{name}: ok, {NO_FRAMES}"
        if data[: len(MARKER)] == MARKER:
            with npser.open_reader(name) if name != STANDARD else npser.StreamReader(io.BytesIO(data)) as reader:
                for _ in reader:
                    frames += 1
        else:
            npser.loads(data)
    except NpserError as error:
        return False, plain(f"{name}: {type(error).__name__}: {error}")
    except RecursionError:
        return False, f"{name}: nested too deep for this thread"
    of = f" in {frames:,} frames" if frames else ""
    return True, f"{name}: ok, {len(data):,} bytes{of}"
