"""Readers of columns that draw from the budget, before they read, what all the values weigh."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor

__all__ = ["Reads", "draw_and_read", "weighed"]

Reads = Callable[["Cursor", int], Any]


def weighed(readers: Mapping[int, Reads], weights: Mapping[int, int]) -> dict[int, Any]:
    """The same readers by kind, each of which draws first."""
    return {int(kind): draw_and_read(reader, weights[kind]) for kind, reader in readers.items()}


def draw_and_read(reader: Reads, weight: int) -> Reads:
    """A reader that draws n values of so many cells each, and reads them.

    >>> from npser.blocks.cursor import Cursor
    >>> cursor = Cursor(memoryview(b""), budget=10)
    >>> draw_and_read(lambda cursor, n: [None] * n, 3)(cursor, 2), cursor.budget
    ([None, None], 4)
    """

    def read(cursor: Cursor, n: int) -> Any:
        cursor.expand(n * weight)
        return reader(cursor, n)

    return read
