"""Pools and columns for code that knows what comes: read at a position, without a cursor and a slot reader.

Strategy: who calls this (the source that `shapes.exact` writes) keeps its own positions, looks once at the end whether
they are where they should be, and has the usual way to fall back on. So what is wrong is any exception, or a position
beyond the end; only memory is never allocated on the word of a count: a slice of too much is what there is.
"""

from __future__ import annotations

import sys
from array import array
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import VARINT_MAX_BYTES, Cursor
from npser.blocks.text import SEPARATORS, SPLIT, read_few, read_text
from npser.columns.unpooled import (
    BITS,
    CELL_READERS,
    MAX_READ_DIGITS,
    PoolReader,
    bools_of,
    count_copies,
    decimals_of,
    frame_of,
)
from npser.tags import TextCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "BITS",
    "BOOLS",
    "NO_NUMBERS",
    "SCALES",
    "NotAsExpected",
    "bools_of",
    "count_copies",
    "decimals_of",
    "frame_of",
    "numbers_of",
    "other_cells",
    "read_span",
    "read_texts",
    "uvarint",
]

MAX_REPLACED = 1 << 20
"""Bytes that a text may become at the very most before it is counted how many it becomes."""

STEM = int(TextCode.STEM)

_CONTROLS: Final = tuple(separator.encode() for separator in SEPARATORS)

NO_NUMBERS = array("q")
"""A pool that is not there."""

BOOLS: Final = (False, True)
"""What a byte stands for."""

SCALES: Final = tuple(10**digits for digits in range(MAX_READ_DIGITS + 1))
"""What ints are divided by that are decimals: as ints, which is right for those of 64 bits, too."""


class NotAsExpected(Exception):  # noqa: N818 - nothing that anybody sees
    """The payload has to be read the usual way."""


def uvarint(buf: bytes, first: int, at: int) -> tuple[int, int]:
    """The rest of an unsigned LEB128 integer whose first byte was 0x80 or more, and the position behind it.

    >>> uvarint(bytes([0xAC, 0x02]), 0xAC, 1)
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


def _swapped(form: str, raw: bytes) -> array[Any]:
    numbers = array(form, raw)
    numbers.byteswap()
    return numbers


numbers_of: Final = array if sys.byteorder == "little" else _swapped
"""A pool of numbers out of its format and its bytes; its parts are gone through faster than those of a memoryview."""


def read_texts(buf: bytes | memoryview, at: int, n: int, budget: int) -> tuple[list[str], int, int]:
    """The texts of a pool, the position behind them, and what is left of the budget."""
    code = buf[at]
    if code == SPLIT:  # which draws nothing
        return *read_few(buf, at, n), budget
    if code == STEM:
        separator, mark, size = buf[at + 1], buf[at + 2], buf[at + 3]
        start = at + 4 + size
        low, high = buf[start], buf[start + 1]
        if 1 < size < 0x80 <= low and high < 0x80:
            stem = bytes(buf[at + 4 : start])
            stop = start + 2 + (low & 0x7F | high << 7)
            blob = bytes(buf[start + 2 : stop])
            if separator != mark and separator not in stem and mark not in stem and len(blob) * size <= MAX_REPLACED:
                stem.decode()  # by itself
                replaced = blob.replace(_CONTROLS[mark], stem)
                budget -= (len(replaced) - len(blob)) // (size - 1) * size
                return replaced.decode().split(SEPARATORS[separator]), stop, budget
    cursor = Cursor(memoryview(buf), at, len(buf), budget)
    return read_text(cursor, n), cursor.pos, cursor.budget


def read_span(
    reader: Callable[[Cursor, int], Any], buf: bytes, start: int, stop: int, n: int, budget: int
) -> tuple[Any, int]:
    """A column out of a body that it must fill, and what is left of the budget."""
    cursor = Cursor(memoryview(buf), start, min(stop, len(buf)), budget)
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
