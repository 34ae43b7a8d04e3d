"""Blocks of n int64 values.     wire: u8 IntCode | the layout in the comment of that code

Strategy: the first byte says how the values are stored, and one table says who reads that: to an array, or to a list
where that is less work. Here are the encodings that hold blocks themselves (`flat_ints` has the others): their writers
take the writer of those blocks as a parameter, and their readers hand the depth of nesting down, which is bounded.
Arithmetic wraps modulo 2**64, so that every int64 array has its differences.
Knows nothing of which encoding is best; that is `choose`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from npser.blocks.cursor import Cursor
from npser.blocks.flat_ints import (
    read_affine,
    read_affine_list,
    read_compact_frame,
    read_const,
    read_const_list,
    read_frame,
    read_frame_cells,
    read_frame_list,
    read_varint,
    read_varint_list,
    write_affine,
    write_const,
    write_frame,
    write_varint,
)
from npser.blocks.shared_ints import ramp_cells, to_list
from npser.blocks.sink import Sink
from npser.blocks.stretches import LONG
from npser.errors import DecodeError
from npser.tags import IntCode

__all__ = [
    "COMPACT_READERS",
    "LIST_READERS",
    "MAX_NESTING",
    "READERS",
    "read_compact_ints",
    "read_int_cells",
    "read_int_list",
    "read_ints",
    "run_starts",
    "write_affine",
    "write_const",
    "write_delta",
    "write_dict",
    "write_frame",
    "write_patched",
    "write_runs",
    "write_varint",
]

I64: TypeAlias = NDArray[np.int64]
Write: TypeAlias = Callable[[Sink, I64], None]
Read: TypeAlias = Callable[[Cursor, int, int], I64]
ReadList: TypeAlias = Callable[[Cursor, int, int], list[int]]

MAX_NESTING = 4
"""Blocks within blocks, the outermost counted."""

INT64: Final = np.dtype("<i8")
LONG_RUN = 8  # from this mean length on, growing a list run by run is faster than an array and its list


def read_ints(cursor: Cursor, n: int) -> I64:
    """A block of n integers -> (n,) int64, fresh and writable.

    Raises
    ------
    DecodeError
        If the bytes are no such block (`TruncatedError`: they end too soon; `LimitError`: n is over the budget).

    >>> read_ints(Cursor(memoryview(bytes([IntCode.AFFINE, 0, 4]))), 3)
    array([0, 2, 4])
    """
    return _read(cursor, n, 1)


def read_int_list(cursor: Cursor, n: int) -> list[int]:
    """A block of n integers -> list of n ints; raises what `read_ints` raises.

    >>> read_int_list(Cursor(memoryview(bytes([IntCode.CONST, 1]))), 3)
    [-1, -1, -1]
    """
    return _read_list(cursor, n, 1)


def read_compact_ints(cursor: Cursor, n: int) -> NDArray[np.int32] | I64:
    """A block of n integers -> (n,) int32 where it is stored so that all are, else (n,) int64; fresh and writable.

    For those who go on to something else with it: half the memory is half the time.

    >>> read_compact_ints(Cursor(memoryview(bytes([IntCode.FRAME, 0, 8, 3, 4]))), 2).dtype
    dtype('int32')
    """
    return _read_compact(cursor, n, 1)


def read_int_cells(cursor: Cursor, n: int) -> Iterable[int]:
    """A block of n integers -> something that can be iterated once: a range, a repetition or stretches where it can be.

    >>> read_int_cells(Cursor(memoryview(bytes([IntCode.AFFINE, 0, 4]))), 3)
    range(0, 6, 2)
    """
    code = cursor.buf[cursor.pos] if cursor.left else None
    if code == IntCode.CONST:
        cursor.u8()
        value = cursor.svarint()
        cursor.expand(n)
        return repeat(value, n)
    if code == IntCode.AFFINE:
        start = cursor.pos
        cursor.u8()
        base, step = cursor.svarint(), cursor.svarint()
        if step and -(1 << 63) <= base + step * (n - 1) < 1 << 63:  # the last value does not wrap, so none does
            cursor.expand(n)
            return ramp_cells(base, step, n)
        cursor.pos = start
    if code == IntCode.FRAME and n >= LONG:
        cursor.u8()
        return read_frame_cells(cursor, n)
    return read_int_list(cursor, n)


def _read(cursor: Cursor, n: int, depth: int) -> I64:
    code = cursor.u8()
    read = READERS.get(code)
    if read is None or depth > MAX_NESTING:
        raise _refuse(cursor, code, depth)
    return read(cursor, n, depth)


def _read_compact(cursor: Cursor, n: int, depth: int) -> NDArray[np.int32] | I64:
    code = cursor.u8()
    read = COMPACT_READERS.get(code)
    if read is None or depth > MAX_NESTING:
        raise _refuse(cursor, code, depth)
    return read(cursor, n, depth)


def _read_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    code = cursor.u8()
    read = LIST_READERS.get(code)
    if read is None or depth > MAX_NESTING:
        raise _refuse(cursor, code, depth)
    return read(cursor, n, depth)


def _refuse(cursor: Cursor, code: int, depth: int) -> DecodeError:
    cursor.pos -= 1
    if depth > MAX_NESTING:
        return cursor.fail(f"integer blocks nest deeper than {MAX_NESTING}")
    return cursor.fail(f"no integer encoding has the code 0x{code:02x}")


# DELTA: svarint first | int(n-1) differences


def write_delta(sink: Sink, first: int, deltas: I64, write: Write) -> None:
    """The first value, and (n-1,) int64 from each to the next (modulo 2**64)."""
    sink.u8(IntCode.DELTA)
    sink.svarint(first)
    write(sink, deltas)


def read_delta(cursor: Cursor, n: int, depth: int) -> I64:
    """-> (n,) int64, n >= 1."""
    if not n:
        raise cursor.fail("differences of no items")
    first = cursor.svarint()
    deltas = _read_compact(cursor, n - 1, depth + 1)
    out = np.empty(n, INT64)
    out[0] = first
    out[1:] = deltas
    return np.cumsum(out, out=out)


def read_delta_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    """-> list of n ints, n >= 1."""
    return to_list(read_delta(cursor, n, depth))


# RUNS: uvarint r | int(r) values | int(r) lengths


def run_starts(values: NDArray[np.generic]) -> NDArray[np.intp]:
    """(n,) -> (r,) indices where a run of equal neighbours starts.

    >>> run_starts(np.array([7, 7, 8, 7])).tolist()
    [0, 2, 3]
    """
    begins = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def write_runs(sink: Sink, values: I64, lengths: I64, write: Write) -> None:
    """(r,) int64 and how often each comes, (r,) int64 >= 1."""
    sink.expand(int(lengths.sum()))
    sink.u8(IntCode.RUNS)
    sink.uvarint(values.size)
    write(sink, values)
    write(sink, lengths)


def _lengths(cursor: Cursor, n: int, runs: int, depth: int) -> I64:
    """Lengths of runs, all positive, n together."""
    lengths = _read(cursor, runs, depth + 1)
    if runs and not 1 <= int(lengths.min()) <= int(lengths.max()) <= n:
        raise cursor.fail(f"a run of no items, or of more than {n}")
    total = int(lengths.sum()) if n * runs < 1 << 63 else sum(lengths.tolist())  # a sum that wraps could look right
    if total != n:
        raise cursor.fail(f"runs of {total} items in the place of {n}")
    cursor.expand(n)
    return lengths


def read_runs(cursor: Cursor, n: int, depth: int) -> I64:
    """-> (n,) int64."""
    runs = cursor.uvarint()
    values = _read(cursor, runs, depth + 1)
    return np.repeat(values, _lengths(cursor, n, runs, depth))


def read_runs_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    """-> list of n ints."""
    runs = cursor.uvarint()
    if n < LONG_RUN * runs:
        values = _read(cursor, runs, depth + 1)
        return to_list(np.repeat(values, _lengths(cursor, n, runs, depth)))
    items = _read_list(cursor, runs, depth + 1)
    out: list[int] = []
    for item, length in zip(items, _lengths(cursor, n, runs, depth).tolist(), strict=True):
        out += [item] * length
    return out


# DICT: uvarint d | int(d) distinct | int(n) codes


def write_dict(sink: Sink, distinct: I64, codes: I64, write: Write) -> None:
    """(d,) distinct values and (n,) indices into them."""
    sink.u8(IntCode.DICT)
    sink.uvarint(distinct.size)
    write(sink, distinct)
    write(sink, codes)


def _codes(cursor: Cursor, n: int, depth: int, distinct: int) -> I64:
    codes = _read(cursor, n, depth + 1)
    if n and not 0 <= int(codes.min()) <= int(codes.max()) < distinct:
        raise cursor.fail(f"a code outside a dictionary of {distinct}")
    return codes


def read_dict(cursor: Cursor, n: int, depth: int) -> I64:
    """-> (n,) int64."""
    distinct = _read(cursor, cursor.uvarint(), depth + 1)
    return distinct.take(_codes(cursor, n, depth, distinct.size))


def read_dict_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    """-> list of n ints, equal ones the same object."""
    distinct = _read_list(cursor, cursor.uvarint(), depth + 1)
    objects = np.array(distinct, object)
    items: list[int] = objects.take(_codes(cursor, n, depth, objects.size)).tolist()
    return items


# PATCHED: uvarint k | int(k) positions | int(k) values | int(n) base


def write_patched(sink: Sink, positions: I64, values: I64, base: I64, write: Write) -> None:
    """(k,) int64 positions, strictly increasing, (k,) int64 that belong there, and the (n,) int64 they are put into."""
    sink.u8(IntCode.PATCHED)
    sink.uvarint(positions.size)
    write(sink, positions)
    write(sink, values)
    write(sink, base)


def _positions(cursor: Cursor, n: int, depth: int) -> I64:
    patches = cursor.uvarint()
    if patches > n:
        raise cursor.fail(f"{patches} patches on {n} items")
    positions = _read(cursor, patches, depth + 1)
    increasing = bool((positions[1:] > positions[:-1]).all())
    if patches and not (increasing and int(positions[0]) >= 0 and int(positions[-1]) < n):
        raise cursor.fail("positions of patches do not increase within the block")
    return positions


def read_patched(cursor: Cursor, n: int, depth: int) -> I64:
    """-> (n,) int64."""
    positions = _positions(cursor, n, depth)
    values = _read(cursor, positions.size, depth + 1)
    out = _read(cursor, n, depth + 1)
    out[positions] = values
    return out


def read_patched_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    """-> list of n ints."""
    positions = _positions(cursor, n, depth).tolist()
    values = _read_list(cursor, len(positions), depth + 1)
    out = _read_list(cursor, n, depth + 1)
    for position, value in zip(positions, values, strict=True):
        out[position] = value
    return out


READERS: Final[dict[int, Read]] = {
    IntCode.AFFINE: read_affine,
    IntCode.CONST: read_const,
    IntCode.FRAME: read_frame,
    IntCode.DELTA: read_delta,
    IntCode.VARINT: read_varint,
    IntCode.RUNS: read_runs,
    IntCode.DICT: read_dict,
    IntCode.PATCHED: read_patched,
}
COMPACT_READERS: Final[dict[int, Callable[[Cursor, int, int], NDArray[np.int32] | I64]]] = {
    **READERS,
    IntCode.FRAME: read_compact_frame,
}
LIST_READERS: Final[dict[int, ReadList]] = {
    IntCode.AFFINE: read_affine_list,
    IntCode.CONST: read_const_list,
    IntCode.FRAME: read_frame_list,
    IntCode.DELTA: read_delta_list,
    IntCode.VARINT: read_varint_list,
    IntCode.RUNS: read_runs_list,
    IntCode.DICT: read_dict_list,
    IntCode.PATCHED: read_patched_list,
}
