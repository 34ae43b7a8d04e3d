"""Many things of their own <-> tuples within tuples, of which each position is a place in the shape.

Strategy: up to sixteen items of a tuple are read one by one; of longer ones, those of one kind are one column. What is
large and read by itself stands in tuples of sixteen, and these in such tuples again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["WIDTH", "find", "fold", "unfold"]

WIDTH = 16


def fold(items: Iterable[Any]) -> tuple[int, Any]:
    """How many there are, and the tuples.

    >>> fold(range(17))
    (17, ((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), (16,)))
    """
    rows = tuple(items)
    count = len(rows)
    while len(rows) > WIDTH:
        rows = tuple(rows[at : at + WIDTH] for at in range(0, len(rows), WIDTH))
    return count, rows


def _levels(count: Any) -> int:
    if type(count) is not int:  # no number of items, and maybe an infinite one
        raise TypeError("a count that is no int")
    levels = 1
    while count > WIDTH**levels:
        levels += 1
    return levels


def find(folded: Any, number: int) -> tuple[Any, int]:
    """The innermost tuple, or a view of it, in which an item is, and its place there.

    >>> find(fold(range(17)), 16)
    ((16,), 0)
    """
    count, rows = folded
    for level in reversed(range(1, _levels(count))):
        rows = rows[number // WIDTH**level % WIDTH]
    return rows, number % WIDTH


def unfold(state: tuple[int, Any]) -> list[Any]:
    """The items; ValueError where there are more or less.

    >>> unfold(fold(range(300))) == list(range(300))
    True
    """
    count, rows = state
    items = list(rows)
    for _ in range(_levels(count) - 1):
        items = [item for row in items for item in row]
    if len(items) != count:
        raise ValueError(f"{len(items)} in the place of {count}")
    return items
