"""The values of a block of integers, a chunk at a time: what lengths add up to, how often each code comes.

Strategy: inspecting needs sums and counts of structure, never the numbers themselves, so they are decoded in chunks
that stay in the cache, in the type that they are stored in where that will do. Encodings that are rare for lengths and
codes are decoded whole, as reading the value would do. The block was walked before, so its bytes are there and its
items are paid for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from npser.blocks.cursor import Cursor
from npser.blocks.ints import READERS
from npser.blocks.packing import unpack_bits
from npser.errors import DecodeError
from npser.tags import IntCode

__all__ = ["CHUNK", "Chunks", "coded_total", "counts", "int_chunks", "repeated", "steps", "total"]

Chunk: TypeAlias = NDArray[np.integer[Any]]
Chunks: TypeAlias = Iterator[Chunk]

CHUNK = 1 << 16
"""Items decoded at a time; a multiple of 8, so that each chunk of bits begins with a byte."""

UNBOUNDED = 1 << 62


def int_chunks(buf: memoryview, start: int, stop: int, n: int) -> Chunks:
    """The n values of the block in these bytes, in order.

    >>> [chunk.tolist() for chunk in int_chunks(memoryview(bytes([2, 0, 8, 5, 1, 3])), 0, 6, 3)]
    [[5, 1, 3]]
    """
    return _chunks(Cursor(buf, start, stop, UNBOUNDED), n, 1)


def _chunks(cursor: Cursor, n: int, depth: int) -> Chunks:
    code = cursor.u8()
    return CHUNKS.get(code, _whole(code))(cursor, n, depth)


def _whole(code: int) -> Callable[[Cursor, int, int], Chunks]:
    def read(cursor: Cursor, n: int, depth: int) -> Chunks:
        yield READERS[code](cursor, n, depth)

    return read


def steps(base: int, step: int, n: int) -> Chunks:
    """base + i * step, which wraps."""
    for at in range(0, n, CHUNK):
        words = np.arange(at, min(n, at + CHUNK), dtype="<u8")
        yield (words * np.uint64(step & _MASK) + np.uint64(base & _MASK)).view("<i8")


_MASK: Final = (1 << 64) - 1


def repeated(value: int, n: int) -> Chunks:
    """n times the same."""
    for at in range(0, n, CHUNK):
        yield np.full(min(CHUNK, n - at), value, "<i8")


def _affine(cursor: Cursor, n: int, _depth: int) -> Chunks:
    base, step = cursor.svarint(), cursor.svarint()
    yield from steps(base, step, n)


def _const(cursor: Cursor, n: int, _depth: int) -> Chunks:
    yield from repeated(cursor.svarint(), n)


def _frame(cursor: Cursor, n: int, _depth: int) -> Chunks:
    base, width = cursor.svarint(), cursor.u8()
    if not width:
        yield from repeated(base, n)
        return
    for at in range(0, n, CHUNK):
        m = min(CHUNK, n - at)
        start = cursor.pos
        packed = cursor.take((m * width + 7) >> 3)
        try:
            offsets = unpack_bits(packed, m, width)
        except DecodeError as error:
            error.pos = start
            raise
        if not base and width <= 32:
            yield offsets
        else:
            yield (offsets.astype("<u8", copy=False) + np.uint64(base & _MASK)).view("<i8")


def _delta(cursor: Cursor, n: int, depth: int) -> Chunks:
    last = np.array([cursor.svarint()], "<i8")
    yield last
    for deltas in _chunks(cursor, n - 1, depth + 1):
        if deltas.size:
            values = np.cumsum(deltas, dtype="<i8")
            values += last
            last = values[-1:]
            yield values


def _block(cursor: Cursor, n: int, depth: int) -> NDArray[np.int64]:
    """A block that is small beside the one it is in."""
    return READERS[cursor.u8()](cursor, n, depth)


def _dict(cursor: Cursor, n: int, depth: int) -> Chunks:
    distinct = _block(cursor, cursor.uvarint(), depth + 1)
    for codes in _chunks(cursor, n, depth + 1):
        if codes.size:
            _check(codes, distinct.size, "dictionary entry")
            yield distinct.take(codes, mode="clip")  # they were checked, and taking does so five times slower


def _patched(cursor: Cursor, n: int, depth: int) -> Chunks:
    k = cursor.uvarint()
    positions, values = _block(cursor, k, depth + 1), _block(cursor, k, depth + 1)
    at = 0
    for base in _chunks(cursor, n, depth + 1):
        start, stop = np.searchsorted(positions, (at, at + base.size))
        chunk = base.astype("<i8")
        chunk[positions[start:stop] - at] = values[start:stop]
        at += base.size
        yield chunk


CHUNKS: Final[dict[int, Callable[[Cursor, int, int], Chunks]]] = {
    IntCode.AFFINE: _affine,
    IntCode.CONST: _const,
    IntCode.FRAME: _frame,
    IntCode.DELTA: _delta,
    IntCode.DICT: _dict,
    IntCode.PATCHED: _patched,
}
"""Code -> the chunks behind it; the others are decoded whole."""


def total(chunks: Chunks, least: int, what: str) -> int:
    """The exact sum, if no value is below `least`.

    >>> total(repeated(2**62, 4), 0, "length") == 2**64
    True
    """
    out = 0
    for chunk in chunks:
        if not chunk.size:
            continue
        if int(chunk.min()) < least:
            raise DecodeError(f"a {what} is below {least}")
        fits = int(chunk.max()) * chunk.size < 1 << 63
        out += int(chunk.sum(dtype="<i8")) if fits else sum(chunk.tolist())
    return out


def counts(chunks: Chunks, m: int, what: str) -> NDArray[np.int64]:
    """(m,) how often each of the codes 0..m-1 comes.

    >>> counts(steps(0, 1, 3), 4, "kind").tolist()
    [1, 1, 1, 0]
    """
    out = np.zeros(m, "<i8")
    for chunk in chunks:
        if chunk.size:
            _check(chunk, m, what)
            seen = np.bincount(chunk.astype("<i8", copy=False))
            out[: seen.size] += seen
    return out


def coded_total(chunks: Chunks, sizes: NDArray[np.int64]) -> int:
    """What the items have together that these codes choose, out of (d,) sizes.

    >>> coded_total(steps(0, 1, 2), np.array([3, 4]))
    7
    """
    out = 0
    for chunk in chunks:
        if chunk.size:
            _check(chunk, sizes.size, "dictionary entry")
            out += int(sizes.take(chunk, mode="clip").sum())
    return out


def _check(chunk: Chunk, m: int, what: str) -> None:
    if int(chunk.min()) < 0 or int(chunk.max()) >= m:
        raise DecodeError(f"code of a {what} out of range 0..{m - 1}")
