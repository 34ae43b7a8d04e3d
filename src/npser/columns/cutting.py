"""Pools and columns for code that knows what comes: read at a position, without a cursor and a slot reader.

Strategy: who calls this (the source that `shapes.exact` writes) keeps its own positions, looks once at the end whether
they are where they should be, and has the usual way to fall back on. So what is wrong is any exception, or a position
beyond the end; only memory is never allocated on the word of a count: a slice of too much is what there is.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from npser.blocks.cursor import VARINT_MAX_BYTES, Cursor
from npser.blocks.text import SPLIT, read_few, read_text
from npser.columns.unpooled import BYTES, CELL_READERS, PoolReader, bools_of, count_copies, decimals_of, frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "NO_NUMBERS",
    "NotAsExpected",
    "bools_of",
    "codes_of",
    "count_copies",
    "decimals_of",
    "frame_of",
    "other_cells",
    "read_span",
    "read_texts",
    "uvarint",
]

NO_NUMBERS = array("q")
"""A pool that is not there."""


class NotAsExpected(Exception):  # noqa: N818 - nothing that anybody sees
    """The payload has to be read the usual way."""


def uvarint(buf: memoryview, first: int, at: int) -> tuple[int, int]:
    """The rest of an unsigned LEB128 integer whose first byte was 0x80 or more, and the position behind it.

    >>> uvarint(memoryview(bytes([0xAC, 0x02])), 0xAC, 1)
    (300, 2)
    """
    value, shift = first & 0x7F, 7
    for _ in range(VARINT_MAX_BYTES - 1):
        byte = buf[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise NotAsExpected


def codes_of(distinct: Any, codes: bytes, count: int) -> Iterable[Any]:
    """Cells out of the distinct items of a column.

    >>> list(codes_of(["a", "b"], bytes([1, 0, 1]), 2))
    ['b', 'a', 'b']
    """
    if codes.translate(None, BYTES[:count]):
        raise NotAsExpected
    return map(distinct.__getitem__, codes)


def read_texts(buf: memoryview, at: int, n: int, budget: int) -> tuple[list[str], int, int]:
    """The texts of a pool, the position behind them, and what is left of the budget."""
    if buf[at] == SPLIT:  # which draws nothing
        return *read_few(buf, at, n), budget
    cursor = Cursor(buf, at, len(buf), budget)
    return read_text(cursor, n), cursor.pos, cursor.budget


def read_span(
    reader: Callable[[Cursor, int], Any], buf: memoryview, start: int, stop: int, n: int, budget: int
) -> tuple[Any, int]:
    """A column out of a body that it must fill, and what is left of the budget."""
    cursor = Cursor(buf, start, min(stop, len(buf)), budget)
    values = reader(cursor, n)
    if cursor.pos != stop:
        raise NotAsExpected
    return values, cursor.budget


def other_cells(
    kind: int, pools: list[Any], at: list[int], n: int, budget: int
) -> tuple[Iterable[Any], list[int], int]:
    """A column of any kind that lives in the pools, the positions behind it, and what is left of the budget."""
    cursor = Cursor(_NOTHING, 0, 0, budget)
    reader = PoolReader(cursor, pools, 0)
    reader.at = at
    cells = CELL_READERS[kind](reader, n)
    return cells, reader.at, cursor.budget


_NOTHING = memoryview(b"")
