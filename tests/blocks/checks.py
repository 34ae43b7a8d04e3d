"""One helper reads each block every way: exact, with a byte behind it, cut at every length; another feeds garbage."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from npser.blocks import ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import read_compact_ints, read_int_list, read_ints
from npser.blocks.sink import Sink
from npser.errors import DecodeError, NpserError, TruncatedError

EDGES = (0, 1, 2, 7, 8, 9, 16, 17, 127, 128, 129, 1000)
HUGE = 1 << 62

Read = Callable[[Cursor, int], object]


def written(write: Callable[[Sink], None], sink: Sink | None = None) -> bytes:
    """What a writer writes."""
    sink = Sink() if sink is None else sink
    write(sink)
    return bytes(sink.out)


def same(a: object, b: object) -> bool:
    """Identical, not only equal: type, dtype, every bit, order."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if type(a) is float:
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    if type(a) in (list, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def cuts(size: int) -> list[int]:
    """Lengths to cut at: all of a short block, both ends and a spread of a long one."""
    if size <= 200:
        return list(range(size))
    return [*range(60), *range(60, size - 20, max(1, size // 20)), *range(size - 20, size)]


def check_read(read: Read, data: bytes, n: int, expected: object, cut_error: type[NpserError] = TruncatedError) -> None:
    """`read` gives `expected` and stops where the block does; whatever is cut off, it says so."""
    for tail in (b"", b"\xff"):
        cursor = Cursor(memoryview(data + tail))
        value = read(cursor, n)
        assert same(value, expected)
        assert cursor.pos == len(data)
        if isinstance(value, np.ndarray):
            assert value.flags.writeable
            assert not np.shares_memory(value, np.frombuffer(cursor.buf, np.uint8))
    for cut in cuts(len(data)):
        with pytest.raises(cut_error):
            read(Cursor(memoryview(data[:cut])), n)


def check_garbage(read: Read, data: bytes, n: int) -> None:
    """A value or an NpserError, and the position is within the input."""
    cursor = Cursor(memoryview(data), budget=10_000)
    try:
        value = read(cursor, n)
    except NpserError as error:
        assert error.pos is None or 0 <= error.pos <= len(data)
    else:
        assert len(value) == n
        assert 0 <= cursor.pos <= len(data)


# Integers


def array(items: Iterable[int]) -> np.ndarray:
    """(n,) int64."""
    return np.array(items, "<i8")


def frame64(sink: Sink, values: np.ndarray) -> None:
    """The plainest writer of nested blocks."""
    ints.write_frame(sink, values, 0, 64)


def wrapped(value: int) -> int:
    """The same modulo 2**64, as int64 has it."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def uvarint(value: int) -> bytes:
    return written(lambda sink: sink.uvarint(value))


def svarint(value: int) -> bytes:
    return written(lambda sink: sink.svarint(value))


def frame(items: list[int]) -> bytes:
    return written(lambda sink: frame64(sink, array(items)))


def check_ints(data: bytes, n: int, expected: list[int]) -> None:
    check_read(read_ints, data, n, array(expected))
    check_read(read_int_list, data, n, expected)
    compact = read_compact_ints(Cursor(memoryview(data)), n)
    assert compact.tolist() == expected
    assert compact.dtype in (np.int32, np.int64)
    assert compact.flags.writeable
    assert all(type(item) is int for item in read_int_list(Cursor(memoryview(data)), n))


def refused(data: bytes, n: int, error: type[NpserError] = DecodeError) -> None:
    for read in (read_ints, read_int_list, read_compact_ints):
        with pytest.raises(error):
            read(Cursor(memoryview(data)), n)
