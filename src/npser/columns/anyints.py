"""Integers of any size inside the column of something else: coefficients, numerators, ends of ranges.

    wire:  u8 Kind.INT | int(n)     where all fit int64
           u8 Kind.BIGINT | bytes(n)

Strategy: the same two kinds that a column of ints has, told apart by the same byte, and no others: nothing here
may be None, pooled or mixed.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from npser.blocks.choose import write_ints
from npser.blocks.ints import read_int_list
from npser.columns.bigints import read_bigints, write_bigints
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = ["read_any_ints", "write_any_ints"]


def write_any_ints(sink: Sink, values: list[int]) -> None:
    """Write n exact ints of any size: a kind byte and a block.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_any_ints(sink := Sink(), [3, -(2**70)])
    >>> read_any_ints(Cursor(memoryview(bytes(sink.out))), 2)
    [3, -1180591620717411303424]
    """
    try:
        packed = struct.pack(f"<{len(values)}q", *values)
    except struct.error:
        sink.u8(Kind.BIGINT)
        write_bigints(sink, values)
        return
    sink.u8(Kind.INT)
    write_ints(sink, np.frombuffer(packed, "<i8"))


def read_any_ints(cursor: Cursor, n: int) -> list[int]:
    """Read n ints; any other kind than INT and BIGINT is a `DecodeError`."""
    kind = cursor.u8()
    reader = _READERS.get(kind)
    if reader is None:
        raise cursor.fail(f"integers are stored as kind 0x{Kind.INT:02x} or 0x{Kind.BIGINT:02x}, not 0x{kind:02x}")
    return reader(cursor, n)


_READERS: Final[dict[int, Callable[[Cursor, int], list[int]]]] = {Kind.INT: read_int_list, Kind.BIGINT: read_bigints}
