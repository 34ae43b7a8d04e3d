"""Blocks of integers and doubles, decoded into memory that exists.

Strategy: to touch new memory costs as much as to decode into it, so whoever reads many blocks asks for all of it at
once, and hands each its part. What takes one step after another goes in pieces that stay in the cache; encodings that
gain nothing from that are read as always, and copied. The budget, and every check, are those of `ints` and `floats`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks import flat_ints, floats, ints
from npser.blocks.cursor import Cursor
from npser.tags import FloatCode, IntCode

__all__ = ["fill_floats", "fill_ints"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Fill = Callable[[Cursor, Ints, int], None]

PIECE = 1 << 15
"""Items decoded at a time; of any width, so many end with a byte."""

LONG_RUN = 128
"""From this mean length on, an array is filled run by run."""


def fill_ints(cursor: Cursor, out: Ints) -> None:
    """A block of n integers -> an (n,) int64, contiguous, that exists; raises what `read_ints` raises.

    >>> fill_ints(Cursor(memoryview(bytes([IntCode.FRAME, 2, 8, 3, 4]))), out := np.zeros(2, "<i8"))
    >>> out
    array([4, 5])
    """
    _fill_ints(cursor, out, 1)


def fill_floats(cursor: Cursor, out: Floats) -> None:
    """A block of n doubles -> an (n,) float64, contiguous, that exists; raises what `read_floats` raises.

    >>> block = bytes([FloatCode.F32]) + np.array([0.5, -0.0], "<f4").tobytes()
    >>> fill_floats(Cursor(memoryview(block)), out := np.zeros(2))
    >>> out
    array([ 0.5, -0. ])
    """
    _fill_floats(cursor, out, 1)


def _fill_ints(cursor: Cursor, out: Ints, depth: int) -> None:
    fill = _INTS.get(cursor.buf[cursor.pos]) if cursor.left and depth <= ints.MAX_NESTING else None
    if fill is None:
        out[:] = ints._read(cursor, out.size, depth)
    else:
        cursor.u8()
        fill(cursor, out, depth)


def _frame_pieces(cursor: Cursor, n: int) -> Iterator[NDArray[np.int32] | Ints]:
    """The values of a FRAME; all must be taken before the cursor is used again."""
    base, width, packed = flat_ints._frame(cursor, n)
    stop = cursor.pos
    for at in range(0, n, PIECE):
        count = min(PIECE, n - at)
        if not width:
            yield np.full(count, base, "<i8")
            continue
        start = at * width >> 3
        cursor.pos = stop
        offsets = flat_ints._offsets(cursor, packed[start : start + ((count * width + 7) >> 3)], count, width)
        yield flat_ints._compact(offsets, base, width)


def _fill_frame(cursor: Cursor, out: Ints, depth: int) -> None:
    at = 0
    for piece in _frame_pieces(cursor, out.size):
        out[at : at + piece.size] = piece
        at += piece.size


def _fill_const(cursor: Cursor, out: Ints, depth: int) -> None:
    value = cursor.svarint()
    cursor.expand(out.size)
    out[:] = value


def _fill_delta(cursor: Cursor, out: Ints, depth: int) -> None:
    if not out.size:
        raise cursor.fail("differences of no items")
    first = cursor.svarint()
    out[1:] = ints._read_compact(cursor, out.size - 1, depth + 1)
    out[0] = first
    np.cumsum(out, out=out)


def _fill_runs(cursor: Cursor, out: Ints, depth: int) -> None:
    n, runs = out.size, cursor.uvarint()
    values = ints._read(cursor, runs, depth + 1)
    lengths = ints._lengths(cursor, n, runs, depth)
    if n < LONG_RUN * runs:
        out[:] = np.repeat(values, lengths)
        return
    start = 0
    for value, length in zip(values.tolist(), lengths.tolist(), strict=True):
        out[start : start + length] = value
        start += length


def _fill_patched(cursor: Cursor, out: Ints, depth: int) -> None:
    positions = ints._positions(cursor, out.size, depth)
    values = ints._read(cursor, positions.size, depth + 1)
    _fill_ints(cursor, out, depth + 1)
    out[positions] = values


_INTS: Final[dict[int, Fill]] = {
    IntCode.FRAME: _fill_frame,
    IntCode.CONST: _fill_const,
    IntCode.DELTA: _fill_delta,
    IntCode.RUNS: _fill_runs,
    IntCode.PATCHED: _fill_patched,
}


def _fill_floats(cursor: Cursor, out: Floats, depth: int) -> None:
    code = floats._read_code(cursor, depth)
    fill = _FLOATS.get(code)
    if fill is None:
        out[:] = floats.READERS[code](cursor, out.size, depth)
    else:
        fill(cursor, out, depth)


def _fill_f64(cursor: Cursor, out: Floats, depth: int) -> None:
    out[:] = np.frombuffer(cursor.take(out.nbytes), "<f8")


def _fill_decimal(cursor: Cursor, out: Floats, depth: int) -> None:
    power, n, at = floats._read_scale(cursor), out.size, 0
    if cursor.left and cursor.buf[cursor.pos] == IntCode.FRAME:
        cursor.u8()
        pieces = _frame_pieces(cursor, n)
    else:
        pieces = iter([ints.read_compact_ints(cursor, n)])
    for piece in pieces:
        part = out[at : at + piece.size]
        part[:] = piece
        if power != 1.0:
            part /= power
        at += piece.size


def _fill_patched_floats(cursor: Cursor, out: Floats, depth: int) -> None:
    positions = floats._read_positions(cursor, out.size)
    values = floats._read(cursor, positions.size, depth + 1)
    _fill_floats(cursor, out, depth + 1)
    out[positions] = values


_FLOATS: Final[dict[int, Callable[[Cursor, Floats, int], None]]] = {
    FloatCode.F64: _fill_f64,
    FloatCode.DECIMAL: _fill_decimal,
    FloatCode.PATCHED: _fill_patched_floats,
}
