"""A report as text: a tree of at most so many lines, each of at most 100 characters.

Strategy: figures in fixed columns at the right, the tree at the left in what they leave. What comes from the payload is
made printable, so that no key moves the cursor of a terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from npser.inspection.chosen import Shown, choose_parts
from npser.inspection.parts import clip, plain

if TYPE_CHECKING:
    from npser.inspection.parts import Part
    from npser.inspection.report import Report

__all__ = ["SIZES", "WIDTH", "draw_report", "exact", "human", "label_below", "summary_lines", "times", "what_of"]

WIDTH = 100
LINES = 48
"""Parts that a report shows as text."""

DEEPEST = 14
"""Levels that are still moved to the right."""

NAME, ENCODING = 41, 20


def exact(nbytes: int) -> str:
    """Bytes, all digits.

    >>> exact(1234567)
    '1,234,567'
    """
    return f"{nbytes:,}"


def human(nbytes: int) -> str:
    """Bytes in the unit in which they are read.

    >>> human(999), human(1536), human(5 * 2**20)
    ('999', '1.5K', '5.0M')
    """
    size = float(nbytes)
    for unit in ("", "K", "M", "G"):
        if size < 1000:
            return f"{nbytes}" if not unit else f"{size:.1f}{unit}"
        size /= 1024
    return f"{size:.1f}T"


SIZES: Final[dict[str, Callable[[int], str]]] = {"exact": exact, "human": human}
"""How bytes are written."""


def label_below(part: Part, parent: Part | None) -> str:
    """How a part is called in a tree, where its parent stands above it."""
    if part.role:
        return part.role
    if parent is not None and parent.path and part.path.startswith(parent.path) and part.path != parent.path:
        return part.path[len(parent.path) :]
    if parent is not None and part.path == parent.path and part.kind:
        return f"as {part.dtype or part.kind}"  # one of the kinds that stand at this place
    return part.path or "payload"


def what_of(part: Part) -> str:
    """The encoding of leaves; of containers what they are."""
    if not part.path:
        return ""
    if part.is_leaf and part.encoding:
        return part.encoding
    name = part.dtype.rpartition(":")[2] if not part.is_leaf else ""
    return " ".join(filter(None, (part.kind, name or part.encoding)))


def summary_lines(report: Report) -> list[str]:
    """What is to be said of the whole."""
    size = report.size
    first = f"{report.wire or 'unknown'} payload, {exact(size)} bytes"
    if report.raw and size:
        first += f", plain {exact(report.raw)} ({report.raw / size:,.1f} x)"
    if report.shape_bytes:
        first += f", shape {exact(report.shape_bytes)} ({report.shape_bytes / size:.1%})"
    lines = [first]
    lines += [f"{layer.name} envelope, {exact(layer.nbytes)} bytes: {layer.note}" for layer in report.layers]
    if report.note:
        lines.append(report.note)
    if report.error is not None:
        lines.append(f"error: {report.error}")
    return [part for line in lines for part in wrap(clip(plain(line), 3 * WIDTH), WIDTH)]


def draw_report(report: Report, *, lines: int = LINES, sizes: str = "exact", blocks: bool = False) -> str:
    """The whole report."""
    size_text = SIZES[sizes]
    out = summary_lines(report)
    out.append(_row("", "encoding", "items", "bytes", "share", "ratio"))
    stack: list[tuple[Shown, Part | None]] = [(choose_parts(report.root, lines, blocks=blocks), None)]
    left: dict[int, Shown] = {}
    while stack:
        shown, parent = stack.pop()
        if id(shown) in left:
            out.append(_left_out(shown, size_text))
            continue
        part = shown.part
        out.append(
            _row(
                "  " * min(shown.depth, DEEPEST) + label_below(part, parent),
                what_of(part),
                f"{part.count:,}" if part.count else "",
                size_text(part.nbytes),
                f"{part.share:.1%}",
                times(part.ratio),
            )
        )
        if shown.left_out:
            rest = shown._replace()  # the same again, for the line behind its children
            left[id(rest)] = rest
            stack.append((rest, part))
        stack += [(child, part) for child in reversed(shown.children)]
    return "\n".join(out)


def times(ratio: float | None) -> str:
    """A ratio in at most eight characters.

    >>> times(2.345), times(40_000), times(1e9), times(None)
    ('2.3x', '40,000x', '1.0e+09x', '')
    """
    if ratio is None:
        return ""
    return f"{ratio:.1f}x" if ratio < 1000 else f"{ratio:,.0f}x" if ratio < 1e6 else f"{ratio:.1e}x"


def _left_out(shown: Shown, size_text: Callable[[int], str]) -> str:
    name = "  " * min(shown.depth + 1, DEEPEST) + f"… {shown.left_out:,} more"
    return _row(name, "", "", size_text(shown.left_bytes), "", "")


def _row(name: str, encoding: str, items: str, nbytes: str, share: str, ratio: str) -> str:
    left = f"{clip(plain(name), NAME):{NAME}} {clip(plain(encoding), ENCODING):{ENCODING}}"
    return clip(f"{left} {clip(items, 9):>9} {nbytes:>11} {share:>6} {ratio:>8}", WIDTH).rstrip()
