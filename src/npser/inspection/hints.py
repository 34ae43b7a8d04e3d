"""What a piece of advice is, and what the rules that give it measure with.

Strategy: every figure in a hint was measured: the alternative was encoded, or decoded in turns with what there is. A
hint whose gain is small is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

from npser.codec import dumps
from npser.errors import EncodeError
from npser.inspection.clock import once, rounds_of
from npser.inspection.valuecolumns import Column

__all__ = ["Hint", "Rule", "Subject", "human_time", "race", "size_of", "sizes", "worth"]

LEAST_BYTES = 64
LEAST_SHARE = 0.1
"""A hint saves at least so many bytes, and that part of its column."""

MAX_ITEMS = 1 << 20
"""Items of a column that the rules look at."""

SAMPLE_SECONDS = 0.15
"""For which two ways are timed in turns."""


class Hint(NamedTuple):
    """One piece of advice, or one thing that npser does already.

    Parameters
    ----------
    path : str
        Where.
    rule : str
        What kind of advice it is: ``"text holds datetimes"``.
    sentence : str
        What there is to gain, with figures.
    how : str
        What to do.
    bytes_before, bytes_after : int | None
        Of the column, or of the payload where `path` is ``$``.
    seconds_before, seconds_after : float | None
        Of decoding.
    """

    path: str
    rule: str
    sentence: str
    how: str = ""
    bytes_before: int | None = None
    bytes_after: int | None = None
    seconds_before: float | None = None
    seconds_after: float | None = None

    @property
    def saved(self) -> int:
        """Bytes; 0 if it is about time."""
        return (self.bytes_before or 0) - (self.bytes_after or 0)


Rule: TypeAlias = "Callable[[Subject], Iterator[Hint]]"


class Subject:
    """A column that is being looked at, with what several rules want to know of it."""

    def __init__(self, column: Column) -> None:
        self.column = column
        self.path = column.path
        self.items = column.items[:MAX_ITEMS]
        self.cut = len(column.items) > MAX_ITEMS

    @cached_property
    def kinds(self) -> set[type]:
        """The types, without that of None."""
        return set(map(type, self.items)) - {type(None)}

    @cached_property
    def present(self) -> list[Any]:
        """All but None."""
        return [item for item in self.items if item is not None]

    @cached_property
    def nbytes(self) -> int:
        """What the column takes by itself."""
        return size_of(self.items) or 0

    @property
    def name(self) -> str:
        """The column in a sentence."""
        first = f" (the first {len(self.items):,})" if self.cut else ""
        return f"`{self.path}`{first}"

    def mapped(self, convert: Callable[[Any], Any]) -> list[Any]:
        """The items converted, where they are not None."""
        return [None if item is None else convert(item) for item in self.items]


def size_of(value: object) -> int | None:
    """The bytes of a payload; None of what npser refuses."""
    try:
        return len(dumps(value))
    except EncodeError:
        return None


def worth(before: int, after: int | None) -> bool:
    """Whether that many bytes instead are a gain to speak of."""
    return after is not None and before - after >= max(LEAST_BYTES, LEAST_SHARE * before)


def sizes(before: int, after: int) -> str:
    """The two, in a sentence.

    >>> sizes(20000, 5000), sizes(20000, 50)
    ('5,000 bytes instead of 20,000 (-75%)', '50 bytes instead of 20,000 (-99%)')
    """
    return f"{after:,} bytes instead of {before:,} (-{int(100 * (1 - after / before))}%)"


def race(*calls: Callable[[], object], seconds: float = SAMPLE_SECONDS) -> list[float]:
    """Seconds of calls that are made in turns: of each the shortest, which other work on the machine disturbs least."""
    first = [once(call) for call in calls]
    if sum(first) >= seconds:
        return [min(took, once(call)) for took, call in zip(first, calls, strict=True)]
    return list(map(min, rounds_of(calls, until=perf_counter() + seconds, most=50)))


def human_time(seconds: float) -> str:
    """A time as people read it.

    >>> human_time(0.0000123), human_time(0.0123), human_time(2.5)
    ('12 µs', '12 ms', '2.5 s')
    """
    if seconds >= 1:
        return f"{seconds:.1f} s"
    if seconds >= 0.001:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.1 else f"{1000 * seconds:.0f} ms"
    return f"{1e6 * seconds:.2g} µs" if seconds < 0.0001 else f"{1e6 * seconds:.0f} µs"
