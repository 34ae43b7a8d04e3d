"""Blocks of integers and doubles, decoded into memory that exists.

Strategy: to touch new memory costs as much as to decode into it, so whoever reads many blocks asks for all of it at
once, and hands each its part. What takes one step after another goes in pieces that stay in the cache; encodings that
gain nothing from that are read as always, and copied. The budget, and every check, are those of `ints` and `floats`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks import floats, ints
from npser.blocks.cursor import Cursor
from npser.blocks.flat_ints import frame_bounds, frame_pieces
from npser.blocks.scratch import CHUNK
from npser.tags import FloatCode, IntCode

__all__ = ["fill_floats", "fill_ints"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Fill = Callable[[Cursor, Ints, int], None]
Pieces = Iterator[NDArray[np.integer]]

FEW = 1 << 14
"""Of a piece so many are summed up, or looked up, at a time: in memory that is small enough to be there already."""

LONG_RUN = 128
"""From this mean length on, an array is filled run by run."""


def fill_ints(cursor: Cursor, out: NDArray[Any]) -> None:
    """A block of n integers -> (n,) little-endian integers or times, contiguous, that exist.

    Raises what `read_ints` raises, and DecodeError where an integer is out of the range of those of `out`.

    >>> fill_ints(Cursor(memoryview(bytes([IntCode.FRAME, 2, 8, 3, 4]))), out := np.zeros(2, "<i8"))
    >>> out
    array([4, 5])
    """
    if out.itemsize == 8:
        _fill_ints(cursor, out.view("<i8"), 1)
        return
    at, info = 0, np.iinfo(out.dtype)
    least, most = frame_bounds(cursor)
    fits = info.min <= least and most <= info.max
    for piece in _pieces(cursor, out.size, 1):
        if not (fits or info.min <= int(piece.min()) <= int(piece.max()) <= info.max):
            raise cursor.fail(f"an element out of the range of {out.dtype!r}")
        out[at : at + piece.size] = piece
        at += piece.size


def fill_floats(cursor: Cursor, out: Floats) -> None:
    """A block of n doubles -> an (n,) float64, contiguous, that exists; raises what `read_floats` raises.

    >>> block = bytes([FloatCode.F32]) + np.array([0.5, -0.0], "<f4").tobytes()
    >>> fill_floats(Cursor(memoryview(block)), out := np.zeros(2))
    >>> out
    array([ 0.5, -0. ])
    """
    _fill_floats(cursor, out, 1)


def _pieces(cursor: Cursor, n: int, depth: int) -> Pieces:
    """Integers piece by piece, none of them empty, each there until the next; see `frame_pieces`."""
    pieces = _PIECES.get(cursor.buf[cursor.pos]) if cursor.left and depth <= ints.MAX_NESTING else None
    if pieces is None:
        whole = ints._read_compact(cursor, n, depth)
        for at in range(0, n, CHUNK):
            yield whole[at : at + CHUNK]
    else:
        cursor.u8()
        yield from pieces(cursor, n, depth)


def _delta_pieces(cursor: Cursor, n: int, depth: int) -> Pieces:
    if not n:
        raise cursor.fail("differences of no items")
    last = np.array([cursor.svarint()], "<i8")
    yield last
    sums = np.empty(min(n, FEW), "<i8")
    for piece in _pieces(cursor, n - 1, depth + 1):
        for steps in _split(piece):
            part = sums[: steps.size]
            part[:] = steps
            part[:1] += last
            np.cumsum(part, out=part)
            last = part[-1:].copy()
            yield part


_PIECES: Final[dict[int, Callable[[Cursor, int, int], Pieces]]] = {
    IntCode.FRAME: frame_pieces,
    IntCode.DELTA: _delta_pieces,
}


def _fill_ints(cursor: Cursor, out: Ints, depth: int) -> None:
    fill = _INTS.get(cursor.buf[cursor.pos]) if cursor.left and depth <= ints.MAX_NESTING else None
    if fill is None:
        out[:] = ints._read(cursor, out.size, depth)
    else:
        cursor.u8()
        fill(cursor, out, depth)


def _fill_frame(cursor: Cursor, out: Ints, depth: int) -> None:
    at = 0
    for piece in frame_pieces(cursor, out.size, depth):
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
    _fill_ints(cursor, out[1:], depth + 1)
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


def _fill_dict(cursor: Cursor, out: Ints, depth: int) -> None:
    distinct = ints._read(cursor, cursor.uvarint(), depth + 1)
    _look_up(cursor, out, distinct, depth + 1)


def _look_up(cursor: Cursor, out: NDArray[Any], distinct: NDArray[Any], depth: int) -> None:
    at, places = 0, np.empty(min(out.size, FEW), np.intp)
    for piece in _pieces(cursor, out.size, depth):
        if not 0 <= int(piece.min()) <= int(piece.max()) < distinct.size:
            raise cursor.fail(f"a code outside a dictionary of {distinct.size}")
        for codes in _split(piece):
            part = places[: codes.size]
            part[:] = codes
            distinct.take(part, out=out[at : at + codes.size], mode="clip")  # else numpy fills a copy first
            at += codes.size


def _split(piece: NDArray[Any]) -> Pieces:
    return (piece[at : at + FEW] for at in range(0, piece.size, FEW))


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
    IntCode.DICT: _fill_dict,
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
    power, at = floats._read_scale(cursor), 0
    for piece in _decimal_pieces(cursor, out):
        part = out[at : at + piece.size]
        part[:] = piece
        if power != 1.0:
            part /= power
        at += piece.size


def _decimal_pieces(cursor: Cursor, out: Floats) -> Pieces:
    """What is not unpacked at once takes place in the memory of the doubles."""
    if cursor.left and cursor.buf[cursor.pos] == IntCode.FRAME:
        cursor.u8()
        yield from frame_pieces(cursor, out.size, 1)
        return
    whole = out.view("<i8")
    _fill_ints(cursor, whole, 1)
    for at in range(0, whole.size, CHUNK):
        yield whole[at : at + CHUNK]


def _fill_float_dict(cursor: Cursor, out: Floats, depth: int) -> None:
    _look_up(cursor, out, floats._read(cursor, cursor.uvarint(), depth + 1), 1)


def _fill_patched_floats(cursor: Cursor, out: Floats, depth: int) -> None:
    positions = floats._read_positions(cursor, out.size)
    values = floats._read(cursor, positions.size, depth + 1)
    _fill_floats(cursor, out, depth + 1)
    out[positions] = values


_FLOATS: Final[dict[int, Callable[[Cursor, Floats, int], None]]] = {
    FloatCode.F64: _fill_f64,
    FloatCode.DECIMAL: _fill_decimal,
    FloatCode.DICT: _fill_float_dict,
    FloatCode.PATCHED: _fill_patched_floats,
}
