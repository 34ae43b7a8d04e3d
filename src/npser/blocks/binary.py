"""Byte strings: their lengths, then all of their bytes; or each distinct one once, then codes.

Strategy: the lengths are an int block, so their sum says where the bytes end, and that is checked against what is left
before anything is built. Items of one length are an array of that row size, which numpy turns into objects (10 ns an
item, and unlike `S` a `V` keeps trailing zeros); others are one `BytesIO.read` an item, at half the price of a slice.
A dictionary is decoded by numpy over an array of the objects themselves: each distinct item is one object, however
often it comes. The helpers that every block with lengths or codes needs live here, on the lowest of those floors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from struct import pack
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from npser.blocks.cursor import Cursor
from npser.blocks.ints import MAX_NESTING, read_int_list, read_ints
from npser.blocks.sink import Sink
from npser.blocks.stretches import STRETCH, Stretches
from npser.tags import BytesCode, IntCode
from npser.weights import TEXT_ITEM

__all__ = [
    "FEW",
    "READERS",
    "lengths_of",
    "look_up",
    "look_up_cells",
    "objects",
    "pick",
    "read_bytes",
    "read_codes",
    "read_few_lengths",
    "small_ints",
    "total_length",
    "write_dict",
    "write_lengths",
]

T = TypeVar("T")
Reader = Callable[[Cursor, int, int], list[bytes]]
WriteInts = Callable[[Sink, NDArray[np.int64]], None]
WriteBytes = Callable[[Sink, list[bytes]], None]

FEW = 512  # up to here a list of lengths is checked sooner than an array
ROW_MAX = 1 << 16  # longer rows gain nothing from numpy, which has a limit at 2**31


CHUNK_ITEMS = 1024  # joined at a time: large temporaries cost more in page faults than all else
CHUNK_CODES = 1 << 15  # looked up at a time, so that what that takes besides the list does not grow with it

PLAIN_CODES: Final[dict[bytes, np.dtype[np.unsignedinteger[Any]]]] = {
    bytes((IntCode.FRAME, 0, 8)): np.dtype("<u1"),
    bytes((IntCode.FRAME, 0, 16)): np.dtype("<u2"),
}
"""How most blocks of codes begin, and what follows: those need no array of int64."""


def lengths_of(values: Sequence[str] | Sequence[bytes]) -> NDArray[np.int64]:
    """n strings -> (n,) int64.

    >>> lengths_of(["a", "", "bc"]).tolist()
    [1, 0, 2]
    """
    return small_ints(list(map(len, values)))


def small_ints(values: list[int]) -> NDArray[np.int64]:
    """n ints >= 0, probably below 256 -> (n,) int64, in half the time that np.array takes.

    >>> small_ints([3, 1000]).tolist()
    [3, 1000]
    """
    try:
        return np.frombuffer(bytes(values), "<u1").astype("<i8")
    except ValueError:
        return np.frombuffer(pack(f"<{len(values)}q", *values), "<i8")


def read_few_lengths(cursor: Cursor, n: int) -> list[int]:
    """A block of n <= FEW lengths, none below 0."""
    lengths = read_int_list(cursor, n)
    if min(lengths, default=0) < 0:
        raise cursor.fail("a length is below 0")
    return lengths


def total_length(cursor: Cursor, lengths: NDArray[np.int64], least: int) -> int:
    """(n,) int64 -> their exact sum, if none is below `least`.

    Raises
    ------
    DecodeError
        A length is below `least`.

    >>> total_length(Cursor(memoryview(b"")), np.array([3, 0, 4], "<i8"), 0)
    7
    >>> total_length(Cursor(memoryview(b"")), np.full(4, 2**62, "<i8"), 0) == 2**64
    True
    """
    if lengths.size == 0:
        return 0
    if int(lengths.min()) < least:
        raise cursor.fail(f"a length is below {least}")
    if int(lengths.max()) * lengths.size < 1 << 63:
        return int(lengths.sum())
    return sum(lengths.tolist())  # would wrap in int64


def look_up(cursor: Cursor, distinct: list[T], codes: NDArray[np.integer[Any]]) -> list[T]:
    """d objects, (n,) int64 or unsigned codes -> n of those objects, shared.

    Raises
    ------
    DecodeError
        A code is not in 0..d-1.

    >>> look_up(Cursor(memoryview(b"")), ["no", "yes"], np.array([1, 1, 0], "<i8"))
    ['yes', 'yes', 'no']
    """
    if codes.size == 0:
        return []
    table = _table_of(cursor, distinct, codes)
    items = pick(table, codes[:CHUNK_CODES])
    for at in range(CHUNK_CODES, codes.size, CHUNK_CODES):
        items += pick(table, codes[at : at + CHUNK_CODES])
    return items


def look_up_cells(cursor: Cursor, distinct: list[Any], codes: NDArray[np.integer[Any]]) -> Stretches:
    """The same as cells that can be iterated once, of n > 0 codes."""
    table = _table_of(cursor, distinct, codes)
    return Stretches(pick(table, codes[at : at + STRETCH]) for at in range(0, codes.size, STRETCH))


def _table_of(cursor: Cursor, distinct: list[Any], codes: NDArray[np.integer[Any]]) -> NDArray[np.object_]:
    unsigned = codes.view("<u8") if codes.itemsize == 8 else codes
    if int(unsigned.max()) >= len(distinct):  # as unsigned, a negative code is a huge one
        raise cursor.fail(f"a code is outside 0..{len(distinct) - 1}")
    return objects(distinct)


def objects(items: Sequence[T]) -> NDArray[np.object_]:
    """d objects -> (d,) object, whatever they are.

    >>> objects([[1], [2]])
    array([list([1]), list([2])], dtype=object)
    """
    table = np.empty(len(items), np.object_)
    table[:] = items
    return table


def pick(table: NDArray[np.object_], codes: NDArray[np.integer[Any]]) -> list[Any]:
    """(d,) object, (n,) codes that are in the table -> n of its objects, shared."""
    items: list[Any] = table.take(codes).tolist()
    return items


def read_codes(cursor: Cursor, n: int) -> NDArray[np.integer[Any]]:
    """A block of n codes -> (n,) int64, or (n,) unsigned that may be a view of the input.

    >>> read_codes(Cursor(memoryview(bytes([IntCode.FRAME, 0, 8, 3, 0, 255]))), 3)
    array([  3,   0, 255], dtype=uint8)
    """
    start = cursor.pos
    dtype = PLAIN_CODES.get(bytes(cursor.buf[start : min(start + 3, cursor.end)]))
    if dtype is None:
        return read_ints(cursor, n)
    cursor.take(3)
    return np.frombuffer(cursor.take(n * dtype.itemsize), dtype)


def write_lengths(sink: Sink, values: list[bytes], write_ints: WriteInts) -> None:
    """n byte strings as their lengths and all of their bytes."""
    sink.u8(BytesCode.LENGTHS)
    write_ints(sink, lengths_of(values))
    for start in range(0, len(values), CHUNK_ITEMS):
        sink.out += b"".join(values[start : start + CHUNK_ITEMS])


def write_dict(
    sink: Sink, distinct: list[bytes], codes: NDArray[np.int64], write_bytes: WriteBytes, write_ints: WriteInts
) -> None:
    """n byte strings as d distinct ones and (n,) int64 codes."""
    sink.u8(BytesCode.DICT)
    sink.uvarint(len(distinct))
    write_bytes(sink, distinct)
    write_ints(sink, codes)


def read_bytes(cursor: Cursor, n: int) -> list[bytes]:
    """A block of n byte strings -> list of n bytes.

    Raises
    ------
    DecodeError, TruncatedError, LimitError
        The block is malformed, cut off, or larger than the limits.

    >>> block = bytes([BytesCode.LENGTHS, 2, 0, 8, 1, 2]) + b"abc"
    >>> read_bytes(Cursor(memoryview(block)), 2)
    [b'a', b'bc']
    """
    return _read(cursor, n, 1)


def _read(cursor: Cursor, n: int, depth: int) -> list[bytes]:
    reader = READERS.get(cursor.u8())
    if reader is None:
        raise cursor.fail("unknown encoding of byte strings")
    if depth > MAX_NESTING:
        raise cursor.fail(f"more than {MAX_NESTING} blocks within each other")
    return reader(cursor, n, depth)


def _read_lengths(cursor: Cursor, n: int, depth: int) -> list[bytes]:
    cursor.expand(n * TEXT_ITEM)
    if n <= FEW:
        few = read_few_lengths(cursor, n)
        return list(map(BytesIO(cursor.take(sum(few))).read, few))
    lengths = read_ints(cursor, n)
    blob = cursor.take(total_length(cursor, lengths, 0))
    row = int(lengths[0])
    if 0 < row <= ROW_MAX and bool((lengths == row).all()):
        items: list[bytes] = np.frombuffer(blob, f"V{row}").tolist()
        return items
    return list(map(BytesIO(blob).read, lengths.tolist()))


def _read_dict(cursor: Cursor, n: int, depth: int) -> list[bytes]:
    distinct = _read(cursor, cursor.uvarint(), depth + 1)
    return look_up(cursor, distinct, read_codes(cursor, n))


READERS: Final[dict[int, Reader]] = {
    BytesCode.LENGTHS: _read_lengths,
    BytesCode.DICT: _read_dict,
}
