"""Text and byte strings whose reader makes an object of its own of every item, with all that is in it.

Strategy: a dictionary stores an item once and gives it out as one shared object, however often. A bytearray, a Decimal
or a numpy string is a copy each time, so a payload of one long item could ask for any amount of memory. What the items
have together beyond the bytes of their block is therefore drawn from the budget, and a writer that may not expand
stores each item by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from npser.blocks import binary, text
from npser.blocks.binary import read_bytes
from npser.blocks.choose import write_bytes, write_ints, write_text
from npser.blocks.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

T = TypeVar("T", str, bytes)

__all__ = ["read_copied_bytes", "read_copied_text", "write_copied_bytes", "write_copied_text"]


def write_copied_text(sink: Sink, values: list[str]) -> None:
    """Write n strings, which count as often as they come.

    >>> from npser.blocks.sink import Sink
    >>> write_copied_text(sink := Sink(), ["a long one" * 10] * 1000); sink.expanded > 99_000
    True
    """
    if not _paid(sink, values, lambda: write_text(sink, values)):
        write_each = text.write_lengths if _is_utf8(values) else text.write_wtf8
        write_each(sink, values, write_ints)


def write_copied_bytes(sink: Sink, values: list[bytes]) -> None:
    """Write n byte strings, which count as often as they come."""
    if not _paid(sink, values, lambda: write_bytes(sink, values)):
        binary.write_lengths(sink, values, write_ints)


def read_copied_text(cursor: Cursor, n: int) -> list[str]:
    """Read n strings; a `LimitError` where they are more, all together, than the block and the budget allow."""
    start = cursor.pos
    return _drawn(cursor, start, read_text(cursor, n))


def read_copied_bytes(cursor: Cursor, n: int) -> list[bytes]:
    """Read n byte strings; a `LimitError` where they are more, all together, than the block and the budget allow."""
    start = cursor.pos
    return _drawn(cursor, start, read_bytes(cursor, n))


def _paid(sink: Sink, values: Sequence[str] | Sequence[bytes], write: Callable[[], None]) -> bool:
    """Write a block, if the sink may expand as much as its reader will draw."""
    start, expanded = len(sink.out), sink.expanded
    write()
    more = sum(map(len, values)) - (len(sink.out) - start)
    if more <= 0:
        return True
    if sink.may_expand(more):
        sink.expand(more)
        return True
    del sink.out[start:]
    sink.expanded = expanded
    return False


def _drawn(cursor: Cursor, start: int, items: list[T]) -> list[T]:
    more = sum(map(len, items)) - (cursor.pos - start)
    if more > 0:
        cursor.expand(more)
    return items


def _is_utf8(values: list[str]) -> bool:
    try:
        "".join(values).encode()
    except UnicodeEncodeError:
        return False
    return True
