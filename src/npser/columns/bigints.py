"""Integers of any size.     wire: u8 BytesCode.LENGTHS | int(n) bytes each | the bytes, little-endian two's complement

Strategy: `int.to_bytes` and `int.from_bytes` do the work, in time linear in the digits; the lengths are one block, the
digits one blob. Every value has one form, the shortest that keeps its sign, so readers refuse any other.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from npser.blocks.choose.ints import write_ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import read_int_list
from npser.blocks.sink import Sink
from npser.tags import BytesCode

__all__ = ["read_bigints", "size_of", "write_bigints"]


def write_bigints(sink: Sink, values: list[int]) -> None:
    """List of ints -> a block of them.

    >>> sink = Sink()
    >>> write_bigints(sink, [255]); sink.out.hex(" ")
    '00 01 04 ff 00'
    """
    sizes = [size_of(value) for value in values]
    sink.u8(BytesCode.LENGTHS)
    write_ints(sink, np.array(sizes, "<i8"))
    for value, size in zip(values, sizes, strict=True):
        sink.out += value.to_bytes(size, "little", signed=True)


def read_bigints(cursor: Cursor, n: int) -> list[int]:
    """A block of n integers -> list of n ints.

    Raises
    ------
    DecodeError
        If the bytes are no such block, or a value is not in its shortest form.

    >>> read_bigints(Cursor(memoryview(bytes.fromhex("000104ff00"))), 1)
    [255]
    """
    code = cursor.u8()
    if code != BytesCode.LENGTHS:
        cursor.pos -= 1
        raise cursor.fail(f"no encoding of big integers has the code 0x{code:02x}")
    sizes = read_int_list(cursor, n)
    if n and min(sizes) < 1:
        raise cursor.fail("an integer of no bytes")
    digits = cursor.take(sum(sizes))
    stops = [0]
    for size in sizes:
        stops.append(stops[-1] + size)
    values = [int.from_bytes(digits[start:stop], "little", signed=True) for start, stop in pairwise(stops)]
    if list(map(size_of, values)) != sizes:
        raise cursor.fail("an integer is not in its shortest form")
    return values


def size_of(value: int) -> int:
    """Bytes of the shortest two's complement form.

    >>> size_of(127), size_of(128), size_of(-128)
    (1, 2, 1)
    """
    return ((~value if value < 0 else value).bit_length() >> 3) + 1
