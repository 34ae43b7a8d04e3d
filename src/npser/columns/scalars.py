"""Columns of the scalars that every document is made of: None, bool, int, float, str, bytes, bytearray.

Strategy: the caller has proved that every value is of exactly one type, so each writer turns the list into one
array with an explicit dtype (never `np.array(list)` alone, which would guess) and hands it to a block.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from npser.blocks.bits import read_bit_list
from npser.blocks.choose import write_bits, write_bytes, write_floats, write_ints, write_text, write_tight_ints
from npser.columns.bigints import write_bigints
from npser.columns.copies import read_copied_bytes, write_copied_bytes
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = [
    "read_bytearrays",
    "read_ellipses",
    "read_falses",
    "read_nones",
    "read_trues",
    "write_bools",
    "write_byte_strings",
    "write_bytearrays",
    "write_double_column",
    "write_ellipses",
    "write_int_column",
    "write_nones",
    "write_sparse_int_column",
    "write_strings",
]


def write_nones(sink: Sink, values: Sequence[object]) -> None:
    """n times None, in no bytes."""
    sink.expand(len(values))
    sink.u8(Kind.NONE)


def read_nones(cursor: Cursor, n: int) -> list[None]:
    """n times None."""
    return [None] * n


def read_falses(cursor: Cursor, n: int) -> list[bool]:
    """n times False."""
    return [False] * n


def read_trues(cursor: Cursor, n: int) -> list[bool]:
    """n times True."""
    return [True] * n


def write_ellipses(sink: Sink, values: Sequence[object]) -> None:
    """n times Ellipsis, as n bits."""
    sink.u8(Kind.ELLIPSIS)
    write_bits(sink, np.ones(len(values), np.bool_))


def read_ellipses(cursor: Cursor, n: int) -> list[object]:
    """n times Ellipsis."""
    return [...] * len(read_bit_list(cursor, n))


def write_bools(sink: Sink, values: Sequence[bool]) -> None:
    """n bools as bits."""
    sink.u8(Kind.BOOL)
    write_bits(sink, np.fromiter(values, np.bool_, len(values)))


def write_int_column(sink: Sink, values: Sequence[int]) -> None:
    """n ints: as int64 where all fit, else as integers of any size."""
    _write_ints(sink, values, write_ints)


def write_sparse_int_column(sink: Sink, values: Sequence[int]) -> None:
    """The same for ints that have other costs: they stand among None, or are hashed."""
    _write_ints(sink, values, write_tight_ints)


def _write_ints(sink: Sink, values: Sequence[int], write: Callable[[Sink, NDArray[np.int64]], None]) -> None:
    n = len(values)
    try:
        # struct refuses what does not fit, and is twice as fast as np.fromiter (design, section 8)
        array = np.frombuffer(struct.pack(f"<{n}q", *values), "<i8")
    except struct.error:
        sink.u8(Kind.BIGINT)
        write_bigints(sink, list(values))
        return
    sink.u8(Kind.INT)
    write(sink, array)


def write_double_column(sink: Sink, values: Sequence[float]) -> None:
    """n floats, every bit kept."""
    n = len(values)
    sink.u8(Kind.FLOAT)
    write_floats(sink, np.frombuffer(struct.pack(f"<{n}d", *values), "<f8"))


def write_strings(sink: Sink, values: Sequence[str]) -> None:
    """n strings."""
    sink.u8(Kind.TEXT)
    write_text(sink, list(values))


def write_byte_strings(sink: Sink, values: Sequence[bytes]) -> None:
    """n byte strings."""
    sink.u8(Kind.BYTES)
    write_bytes(sink, list(values))


def write_bytearrays(sink: Sink, values: Sequence[bytearray]) -> None:
    """n bytearrays, stored like bytes."""
    sink.u8(Kind.BYTEARRAY)
    write_copied_bytes(sink, list(map(bytes, values)))


def read_bytearrays(cursor: Cursor, n: int) -> list[bytearray]:
    """n bytearrays, each its own object."""
    return list(map(bytearray, read_copied_bytes(cursor, n)))
