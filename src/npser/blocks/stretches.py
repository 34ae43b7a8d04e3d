"""Long columns as cells that are made when they are asked for, a stretch at a time.

Strategy: whoever makes rows of a hundred thousand cells needs each of them once, so none of their columns has to be a
list as a whole: beside the rows there is only what the columns were stored as, and a stretch of each that stays in the
processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

__all__ = ["LONG", "STRETCH", "Stretches", "evenly", "side_by_side"]

STRETCH: Final = 1 << 12
"""Cells of a stretch; a multiple of 8, so that each begins with a byte; benchmarks/thresholds.py::sweep_stretches."""

LONG: Final = 1 << 16
"""Columns from this length on are cells in stretches; of shorter ones a list is no burden."""


class Stretches:
    """Cells that can be iterated once.

    Parameters
    ----------
    lists : iterator of list
        All but the last hold `STRETCH` cells.

    >>> list(Stretches(iter([[1, 2], [3]])))
    [1, 2, 3]
    """

    __slots__ = ("lists",)

    def __init__(self, lists: Iterator[list[Any]]) -> None:
        self.lists = lists

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self.lists)


def evenly(lists: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """Lists of any lengths -> the same items in lists of `STRETCH`, but for the last.

    >>> [len(part) for part in evenly([[0] * 5000, [1] * 5000])]
    [4096, 4096, 1808]
    """
    rest: list[Any] = []
    for part in lists:
        rest += part
        full = len(rest) - len(rest) % STRETCH
        for at in range(0, full, STRETCH):
            yield rest[at : at + STRETCH]
        del rest[:full]
    if rest:
        yield rest


def side_by_side(columns: Iterable[Iterable[Any]], n: int) -> Iterator[tuple[Iterable[Any], ...]]:
    """Columns of n cells each -> a stretch of all of them, then the next.

    >>> [list(map(len, part)) for part in side_by_side([range(5000), [None] * 5000], 5000)]
    [[4096, 4096], [904, 904]]
    """
    return zip(*[_lists(column, n) for column in columns], strict=True)


def _lists(column: Iterable[Any], n: int) -> Iterator[Sequence[Any]]:
    if type(column) is Stretches:
        return column.lists
    if type(column) is list or type(column) is range:
        return (column[at : at + STRETCH] for at in range(0, n, STRETCH))
    cells = iter(column)
    return (list(islice(cells, STRETCH)) for _ in range(0, n, STRETCH))
