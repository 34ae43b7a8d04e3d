"""What npser does already for a value: what its columns would take plain, and without the encoding that they have.

Strategy: the figures are those of the report, and of the writer that weighs a block again (`why`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from npser.errors import NpserError
from npser.inspection.hints import LEAST_BYTES, Hint
from npser.inspection.parts import Part
from npser.inspection.report import Report
from npser.inspection.rivals import pickled

__all__ = ["facts_of", "pickle_of"]

MAX_FACTS = 6
LEAST_RATIO = 2.0
LEAST_SAVED = 0.05
"""Against the next best encoding, that is worth a word."""


def _constant(part: Part, _next: str) -> str:
    return f"repeats one value {part.count:,} times"


def _even(part: Part, _next: str) -> str:
    return f"goes up in equal steps, {part.count:,} times"


def _few(part: Part, _next: str) -> str:
    if part.distinct == 1:
        return _constant(part, _next)
    return f"has {part.distinct or 0:,} different values in {part.count:,} places"


def _near(_part: Part, following: str) -> str:
    return f"is stored as differences{following}"


def _narrow(_part: Part, following: str) -> str:
    return f"fits fewer bits{following}"


WORDS: Final[dict[str, Callable[[Part, str], str]]] = {
    "CONST": _constant,
    "AFFINE": _even,
    "DICT": _few,
    "RADIX": _few,
    "DELTA": _near,
    "DECIMAL": lambda _part, _next: "holds decimal numbers with few digits",
    "F32": lambda _part, _next: "holds doubles that fit 4 bytes",
    "RUNS": lambda part, _next: f"has long runs of one value in {part.count:,} places",
    "FRAME": _narrow,
    "BITS": lambda part, _next: f"takes a bit for each of {part.count:,} values",
}
"""How an encoding begins -> what that says of the column."""


def facts_of(report: Report) -> Iterator[Hint]:
    """The columns that npser made smallest, the largest gain first."""
    parts = [part for part in report.leaves() if part.raw - part.nbytes >= LEAST_BYTES and part.path.startswith("$")]
    parts.sort(key=lambda part: part.nbytes - part.raw)
    told = 0
    for part in parts:
        word = next((word for word in WORDS if part.encoding.startswith(word)), None)
        if word is None or part.role or part.raw < LEAST_RATIO * part.nbytes:
            continue
        text = f"`{part.path}` {WORDS[word](part, _next_best(report, part))}"
        yield Hint(
            part.path,
            f"stored as {part.encoding}",
            f"{text}: {part.nbytes:,} bytes instead of {part.raw:,}",
            bytes_before=part.raw,
            bytes_after=part.nbytes,
        )
        told += 1
        if told == MAX_FACTS:
            return


def _next_best(report: Report, part: Part) -> str:
    """What the encoding saves against the next best one."""
    try:
        why = report.why(part)
    except NpserError:
        return ""
    others = [other for other in why.others if other.nbytes > why.nbytes] if why is not None else []
    if why is None or not others:
        return ""
    best = min(others, key=lambda other: other.nbytes)
    saved = 1 - why.nbytes / best.nbytes
    return f" ({why.encoding} saves {saved:.0%} against {best.encoding})" if saved >= LEAST_SAVED else ""


def pickle_of(value: Any, nbytes: int) -> Iterator[Hint]:
    """What pickle would take; nothing of what it refuses."""
    try:
        size = len(pickled(value))
    except Exception:  # it raises what it likes
        return
    text = f"pickle takes {size:,} bytes, npser {nbytes:,}: {size / max(1, nbytes):.1f} times as many"
    yield Hint("$", "pickle", text, "", size, nbytes)
