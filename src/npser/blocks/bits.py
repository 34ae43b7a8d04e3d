"""Booleans: eight to a byte, one for all, or alternating runs.

Strategy: `np.unpackbits` makes one byte an item, which is a numpy bool as it stands, and `tolist` of that gives the
two Python objects. The padding of the last byte must be zero, so that a value has one spelling. Runs alternate, so only
the first one's value is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks.binary import total_length
from npser.blocks.cursor import Cursor
from npser.blocks.ints import read_ints
from npser.blocks.sink import Sink
from npser.tags import BitCode

__all__ = [
    "LIST_READERS",
    "READERS",
    "read_bit_list",
    "read_bits",
    "read_run_lengths",
    "write_const",
    "write_packed",
    "write_runs",
]

Bits = NDArray[np.bool_]
Reader = Callable[[Cursor, int], Bits]
ListReader = Callable[[Cursor, int], list[bool]]

FEW = 16  # up to here Python makes a list sooner than numpy an array
WriteInts = Callable[[Sink, NDArray[np.int64]], None]


def write_packed(sink: Sink, bits: Bits) -> None:
    """(n,) bool, eight to a byte."""
    sink.u8(BitCode.BITS)
    sink.out += np.packbits(bits, bitorder="little").data


def write_const(sink: Sink, bit: int, n: int) -> None:
    """n times the same bit."""
    sink.u8(BitCode.CONST)
    sink.u8(bit)
    sink.expand(n)


def write_runs(sink: Sink, first: int, lengths: NDArray[np.int64], write_ints: WriteInts) -> None:
    """(r,) int64 lengths of alternating runs, each >= 1; the first one's bit is `first`."""
    sink.u8(BitCode.RUNS)
    sink.u8(first)
    sink.uvarint(lengths.size)
    write_ints(sink, lengths)
    sink.expand(int(lengths.sum()))


def read_bits(cursor: Cursor, n: int) -> Bits:
    """A block of n booleans -> (n,) bool, fresh and writable.

    Raises
    ------
    DecodeError, TruncatedError, LimitError
        The block is malformed, cut off, or larger than the limits.

    >>> read_bits(Cursor(memoryview(bytes([BitCode.BITS, 0b110]))), 3)
    array([False,  True,  True])
    """
    reader = READERS.get(cursor.u8())
    if reader is None:
        raise cursor.fail("unknown encoding of booleans")
    return reader(cursor, n)


def read_bit_list(cursor: Cursor, n: int) -> list[bool]:
    """A block of n booleans -> list of n bool; raises like `read_bits`.

    >>> read_bit_list(Cursor(memoryview(bytes([BitCode.BITS, 0b110]))), 3)
    [False, True, True]
    """
    reader = LIST_READERS.get(cursor.u8())
    if reader is None:
        raise cursor.fail("unknown encoding of booleans")
    return reader(cursor, n)


def read_run_lengths(cursor: Cursor, r: int, n: int) -> NDArray[np.int64]:
    """A block of r lengths of runs -> (r,) int64, each >= 1, their sum n; draws n items from the budget."""
    if r > n or (r == 0 and n > 0):
        raise cursor.fail(f"{n} items in {r} runs")
    cursor.expand(n)
    lengths = read_ints(cursor, r)
    if total_length(cursor, lengths, 1) != n:
        raise cursor.fail(f"the runs do not add up to {n} items")
    return lengths


def _read_bit(cursor: Cursor) -> int:
    bit = cursor.u8()
    if bit > 1:
        raise cursor.fail(f"a bit of value {bit}")
    return bit


def _take_packed(cursor: Cursor, n: int) -> memoryview:
    packed = cursor.take((n + 7) >> 3)
    if n & 7 and packed[-1] >> (n & 7):
        raise cursor.fail("the padding bits are not zero")
    return packed


def _read_packed(cursor: Cursor, n: int) -> Bits:
    packed = np.frombuffer(_take_packed(cursor, n), "<u1")
    return np.unpackbits(packed, count=n, bitorder="little").view(np.bool_)


def _read_const(cursor: Cursor, n: int) -> Bits:
    bit = _read_bit(cursor)
    cursor.expand(n)
    return np.full(n, bit, np.bool_)


def _read_runs(cursor: Cursor, n: int) -> Bits:
    first = _read_bit(cursor)
    lengths = read_run_lengths(cursor, cursor.uvarint(), n)
    odd = np.arange(first, first + lengths.size) & 1
    return np.repeat(odd.astype(np.bool_), lengths)


READERS: Final[dict[int, Reader]] = {
    BitCode.BITS: _read_packed,
    BitCode.CONST: _read_const,
    BitCode.RUNS: _read_runs,
}


def _list_packed(cursor: Cursor, n: int) -> list[bool]:
    if n <= FEW:
        word = int.from_bytes(_take_packed(cursor, n), "little")
        return [word >> at & 1 == 1 for at in range(n)]
    items: list[bool] = _read_packed(cursor, n).tolist()
    return items


def _list_const(cursor: Cursor, n: int) -> list[bool]:
    bit = _read_bit(cursor)
    cursor.expand(n)
    return [bit == 1] * n


def _list_runs(cursor: Cursor, n: int) -> list[bool]:
    bit = _read_bit(cursor) == 1
    lengths = read_run_lengths(cursor, cursor.uvarint(), n)
    items: list[bool] = []
    for length in lengths.tolist():
        items += [bit] * length
        bit = not bit
    return items


LIST_READERS: Final[dict[int, ListReader]] = {
    BitCode.BITS: _list_packed,
    BitCode.CONST: _list_const,
    BitCode.RUNS: _list_runs,
}
