"""Doubles, every bit of them: as they are, as float32, as scaled integers, runs, a dictionary, and with exceptions.

Strategy: the array form of each encoding is one or two numpy passes, in place where there is already an array. The
list form is apart from it, because making the Python floats costs ten times as much as decoding them: where values
repeat (long runs, dictionary, decimals of few digits) each distinct float is made once, which halves the price.
A decimal is int / 10**k, which IEEE-754 rounds correctly as 10**k is exact up to k = 22; so the nearest double of a
short decimal text comes back, and the writer keeps only what comes back in every bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks.binary import look_up
from npser.blocks.bits import read_run_lengths
from npser.blocks.cursor import Cursor
from npser.blocks.ints import MAX_NESTING, read_compact_ints, read_ints
from npser.blocks.sink import Sink
from npser.tags import FloatCode

__all__ = [
    "LIST_READERS",
    "POWERS",
    "READERS",
    "read_float_list",
    "read_floats",
    "write_const",
    "write_decimal",
    "write_dict",
    "write_f32",
    "write_f64",
    "write_patched",
    "write_runs",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Reader = Callable[[Cursor, int, int], Floats]
ListReader = Callable[[Cursor, int, int], list[float]]
WriteInts = Callable[[Sink, Ints], None]
WriteFloats = Callable[[Sink, Floats], None]

POWERS: Final = tuple(float(10**k) for k in range(23))
"""10**k as doubles, all exact."""

CHUNK = 1 << 14  # items converted at a time, so that what numpy needs in between stays in the cache
DENSE = 32  # exceptions are put into a list one by one where at most one item in so many is one
LONG_RUN = 16  # from this mean length on, growing a list run by run is faster than an array and its list
MANY = 2048  # items from which on a table of the possible decimals saves time
GLANCE = 64  # of the integers tell most of those that differ too much from those that do not
SPARE = 8  # a table of the possible decimals is made where it has at most an eighth of the items


def write_f64(sink: Sink, values: Floats) -> None:
    """(n,) float64 as they are."""
    sink.u8(FloatCode.F64)
    sink.out += np.ascontiguousarray(values, "<f8").view("<u1").data


def write_f32(sink: Sink, values: Floats) -> None:
    """(n,) float64 that all are float32 values."""
    sink.u8(FloatCode.F32)
    with np.errstate(all="ignore"):
        sink.out += values.astype("<f4").tobytes()


def write_const(sink: Sink, values: Floats) -> None:
    """(n,) float64 that all have the same bits, n >= 1."""
    sink.u8(FloatCode.CONST)
    sink.out += values[:1].astype("<f8").tobytes()
    sink.expand(values.size)


def write_decimal(sink: Sink, k: int, ints: Ints, write_ints: WriteInts) -> None:
    """(n,) int64 standing for ints / 10**k, all within +-2**53."""
    sink.u8(FloatCode.DECIMAL)
    sink.u8(k)
    write_ints(sink, ints)


def write_runs(sink: Sink, values: Floats, lengths: Ints, write_floats: WriteFloats, write_ints: WriteInts) -> None:
    """(r,) float64 and how often each comes, (r,) int64 >= 1."""
    sink.u8(FloatCode.RUNS)
    sink.uvarint(values.size)
    write_floats(sink, values)
    write_ints(sink, lengths)
    sink.expand(int(lengths.sum()))


def write_dict(sink: Sink, distinct: Floats, codes: Ints, write_floats: WriteFloats, write_ints: WriteInts) -> None:
    """(d,) distinct float64 and (n,) int64 codes into them."""
    sink.u8(FloatCode.DICT)
    sink.uvarint(distinct.size)
    write_floats(sink, distinct)
    write_ints(sink, codes)


def write_patched(
    sink: Sink,
    positions: Ints,
    values: Floats,
    write_base: Callable[[Sink], None],
    write_floats: WriteFloats,
    write_ints: WriteInts,
) -> None:
    """(k,) int64 positions, strictly increasing, (k,) float64 that belong there, and the block they are put into."""
    sink.u8(FloatCode.PATCHED)
    sink.uvarint(positions.size)
    write_ints(sink, positions)
    write_floats(sink, values)
    write_base(sink)


def read_floats(cursor: Cursor, n: int) -> Floats:
    """A block of n doubles -> (n,) float64, fresh and writable.

    Raises
    ------
    DecodeError, TruncatedError, LimitError
        The block is malformed, cut off, or larger than the limits.

    >>> block = bytes([FloatCode.F32]) + np.array([0.5, -0.0], "<f4").tobytes()
    >>> read_floats(Cursor(memoryview(block)), 2)
    array([ 0.5, -0. ])
    """
    return _read(cursor, n, 1)


def read_float_list(cursor: Cursor, n: int) -> list[float]:
    """A block of n doubles -> list of n float; raises like `read_floats`.

    >>> block = bytes([FloatCode.CONST]) + np.array([0.5], "<f8").tobytes()
    >>> read_float_list(Cursor(memoryview(block)), 3)
    [0.5, 0.5, 0.5]
    """
    return _read_list(cursor, n, 1)


def _read(cursor: Cursor, n: int, depth: int) -> Floats:
    return READERS[_read_code(cursor, depth)](cursor, n, depth)


def _read_list(cursor: Cursor, n: int, depth: int) -> list[float]:
    return LIST_READERS[_read_code(cursor, depth)](cursor, n, depth)


def _read_code(cursor: Cursor, depth: int) -> int:
    code = cursor.u8()
    if code not in READERS:
        raise cursor.fail("unknown encoding of doubles")
    if depth > MAX_NESTING:
        raise cursor.fail(f"more than {MAX_NESTING} blocks within each other")
    return code


# ------------------------------------------------------------------------------------------------ parts of the layouts


def _read_scale(cursor: Cursor) -> float:
    k = cursor.u8()
    if k >= len(POWERS):
        raise cursor.fail(f"a scale of 10**{k}")
    return POWERS[k]


def _scaled(ints: NDArray[np.signedinteger], power: float) -> Floats:
    """(n,) int32 or int64 -> (n,) float64, divided by `power`; in the same memory if it is as large."""
    floats = ints.view("<f8") if ints.itemsize == 8 else np.empty(ints.size, "<f8")
    for start in range(0, ints.size, CHUNK):
        chunk = floats[start : start + CHUNK]
        chunk[:] = ints[start : start + CHUNK]
        if power != 1.0:
            chunk /= power
    return floats


def _read_positions(cursor: Cursor, n: int) -> Ints:
    k = cursor.uvarint()
    if k > n:
        raise cursor.fail(f"{k} exceptions in {n} items")
    positions = read_ints(cursor, k)
    if k and (positions[0] < 0 or positions[-1] >= n or not bool((positions[1:] > positions[:-1]).all())):
        raise cursor.fail(f"positions of exceptions that do not increase within 0..{n - 1}")
    return positions


# -------------------------------------------------------------------------------------------------------------- arrays


def _read_f64(cursor: Cursor, n: int, depth: int) -> Floats:
    return np.frombuffer(cursor.take(n * 8), "<f8").copy()


def _read_f32(cursor: Cursor, n: int, depth: int) -> Floats:
    halves = np.frombuffer(cursor.take(n * 4), "<f4")
    with np.errstate(invalid="ignore"):  # widening a signalling NaN
        return halves.astype("<f8")


def _read_const(cursor: Cursor, n: int, depth: int) -> Floats:
    value = np.frombuffer(cursor.take(8), "<f8")
    cursor.expand(n)
    floats = np.empty(n, "<f8")
    floats[:] = value
    return floats


def _read_decimal(cursor: Cursor, n: int, depth: int) -> Floats:
    power = _read_scale(cursor)
    return _scaled(read_compact_ints(cursor, n), power)


def _read_runs(cursor: Cursor, n: int, depth: int) -> Floats:
    r = cursor.uvarint()
    values = _read(cursor, r, depth + 1)
    return np.repeat(values, read_run_lengths(cursor, r, n))


def _read_dict(cursor: Cursor, n: int, depth: int) -> Floats:
    distinct = _read(cursor, cursor.uvarint(), depth + 1)
    codes = read_ints(cursor, n)
    if n and int(codes.view("<u8").max()) >= distinct.size:  # as unsigned, a negative code is a huge one
        raise cursor.fail(f"a code is outside 0..{distinct.size - 1}")
    return distinct.take(codes) if n else np.empty(0, "<f8")


def _read_patched(cursor: Cursor, n: int, depth: int) -> Floats:
    positions = _read_positions(cursor, n)
    values = _read(cursor, positions.size, depth + 1)
    floats = _read(cursor, n, depth + 1)
    floats[positions] = values
    return floats


READERS: Final[dict[int, Reader]] = {
    FloatCode.F64: _read_f64,
    FloatCode.F32: _read_f32,
    FloatCode.CONST: _read_const,
    FloatCode.DECIMAL: _read_decimal,
    FloatCode.RUNS: _read_runs,
    FloatCode.DICT: _read_dict,
    FloatCode.PATCHED: _read_patched,
}


# --------------------------------------------------------------------------------------------------------------- lists


def _list_f64(cursor: Cursor, n: int, depth: int) -> list[float]:
    items: list[float] = np.frombuffer(cursor.take(n * 8), "<f8").tolist()
    return items


def _list_f32(cursor: Cursor, n: int, depth: int) -> list[float]:
    items: list[float] = np.frombuffer(cursor.take(n * 4), "<f4").tolist()
    return items


def _list_const(cursor: Cursor, n: int, depth: int) -> list[float]:
    value: list[float] = np.frombuffer(cursor.take(8), "<f8").tolist()
    cursor.expand(n)
    return value * n if value[0] == value[0] else _apart(value * n)


def _list_decimal(cursor: Cursor, n: int, depth: int) -> list[float]:
    power = _read_scale(cursor)
    ints = read_compact_ints(cursor, n)
    if n >= MANY and _span(ints[:: -(-n // GLANCE)]) * SPARE < n:
        low, span = int(ints.min()), _span(ints)
        if span * SPARE < n:
            table: list[float] = _scaled(np.arange(span + 1, dtype="<i8") + low, power).tolist()
            codes = ints.astype("<i8", copy=False)
            codes -= low
            return look_up(cursor, table, codes)
    items: list[float] = _scaled(ints, power).tolist()
    return items


def _span(ints: NDArray[np.signedinteger]) -> int:
    return int(ints.max()) - int(ints.min())


def _apart(items: list[float]) -> list[float]:
    """Each float an object of its own: a set holds as many NaNs as there are objects."""
    apart: list[float] = np.array(items, "<f8").tolist()
    return apart


def _list_runs(cursor: Cursor, n: int, depth: int) -> list[float]:
    r = cursor.uvarint()
    values = _read(cursor, r, depth + 1)
    lengths = read_run_lengths(cursor, r, n)
    items: list[float] = []
    if n < LONG_RUN * r or bool(np.isnan(values).any()):
        items = np.repeat(values, lengths).tolist()
    else:
        for value, length in zip(values.tolist(), lengths.tolist(), strict=True):
            items += [value] * length
    return items


def _list_dict(cursor: Cursor, n: int, depth: int) -> list[float]:
    distinct = _read_list(cursor, cursor.uvarint(), depth + 1)
    items = look_up(cursor, distinct, read_ints(cursor, n))
    return items if all(value == value for value in distinct) else _apart(items)


def _list_patched(cursor: Cursor, n: int, depth: int) -> list[float]:
    positions = _read_positions(cursor, n)
    values = _read(cursor, positions.size, depth + 1)
    items: list[float]
    if positions.size * DENSE > n:
        floats = _read(cursor, n, depth + 1)
        floats[positions] = values
        items = floats.tolist()
    else:
        items = _read_list(cursor, n, depth + 1)
        for position, value in zip(positions.tolist(), values.tolist(), strict=True):
            items[position] = value
    return items


LIST_READERS: Final[dict[int, ListReader]] = {
    FloatCode.F64: _list_f64,
    FloatCode.F32: _list_f32,
    FloatCode.CONST: _list_const,
    FloatCode.DECIMAL: _list_decimal,
    FloatCode.RUNS: _list_runs,
    FloatCode.DICT: _list_dict,
    FloatCode.PATCHED: _list_patched,
}
