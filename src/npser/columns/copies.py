"""Text and byte strings whose reader makes an object of its own of every item, with all that is in it.

Strategy: a dictionary stores an item once and gives it out as one shared object, however often. A bytearray, a Decimal
or a numpy string is a copy each time, so a payload of one long item could ask for any amount of memory. What the items
have together beyond the bytes of their block is therefore drawn from the budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from npser.blocks.binary import read_bytes
from npser.blocks.choose import write_bytes, write_text
from npser.blocks.text import read_text
from npser.weights import CELL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

T = TypeVar("T", str, bytes)

__all__ = ["read_copied_bytes", "read_copied_text", "write_copied_bytes", "write_copied_text"]

WIDEST = 4
"""Bytes of a code point in memory, at the most."""


def write_copied_text(sink: Sink, values: list[str]) -> None:
    """Write n strings, which count as often as they come.

    >>> from npser.blocks.sink import Sink
    >>> write_copied_text(sink := Sink(), ["a long one" * 10] * 1000); sink.expanded > 40_000
    True
    """
    start = len(sink.out)
    write_text(sink, values)
    sink.expand(_copied(values, len(sink.out) - start, WIDEST))


def write_copied_bytes(sink: Sink, values: list[bytes]) -> None:
    """Write n byte strings, which count as often as they come."""
    start = len(sink.out)
    write_bytes(sink, values)
    sink.expand(_copied(values, len(sink.out) - start, 1))


def read_copied_text(cursor: Cursor, n: int) -> list[str]:
    """Read n strings; a `LimitError` where they are more, all together, than the block and the budget allow."""
    start = cursor.pos
    items = read_text(cursor, n)
    cursor.expand(_copied(items, cursor.pos - start, WIDEST))
    return items


def read_copied_bytes(cursor: Cursor, n: int) -> list[bytes]:
    """Read n byte strings; a `LimitError` where they are more, all together, than the block and the budget allow."""
    start = cursor.pos
    items = read_bytes(cursor, n)
    cursor.expand(_copied(items, cursor.pos - start, 1))
    return items


def _copied(items: Sequence[T], stored: int, width: int) -> int:
    """The cells of what the items have together beyond the bytes of their block."""
    return max(0, sum(map(len, items)) - stored) * width // CELL
