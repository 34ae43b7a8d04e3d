"""Unsigned integers of 1 to 64 bits, packed without gaps.     wire: ceil(n * width / 8) bytes, low bit first

Strategy: eight values of `width` bits are exactly `width` bytes, so value j of every group stands at one fixed bit of
its group, and one strided view reaches it in all groups at once. Reading: load 64-bit words at strides of `width`
bytes (unaligned, as few as cover the eight values), shift, mask. Writing: fold neighbours together while they fit one
word, or the pieces into words, keep `width` bytes of each row of words. Whole bytes need none of that: 8, 16, 32 and
64 bits are plain views, 24, 40, 48 and 56 one strided load. Work goes in chunks, so that scratch stays in the cache.
Value i occupies the bits from i*width to (i+1)*width of the little-endian bit string; the padding bits are zero.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npser.errors import DecodeError, TruncatedError

__all__ = ["PLAIN", "pack_bits", "unpack_bits"]

PLAIN: Final[dict[int, np.dtype[np.unsignedinteger]]] = {
    8: np.dtype("<u1"),
    16: np.dtype("<u2"),
    32: np.dtype("<u4"),
    64: np.dtype("<u8"),
}
"""The widths that numpy reads as they are."""

WORD: Final = np.dtype("<u8")
GROUP = 8  # values; they take `width` bytes
FEW_BITS = 2048  # below, unpacking bit by bit is up to three times faster; benchmarks/thresholds.py::sweep_frames
CHUNK_GROUPS = 4096  # 32k values: 256 kB of scratch


class _Load(NamedTuple):
    """One word, and which values of the group are wholly inside it."""

    offset: int  # bytes from the start of the group
    first: int
    stop: int
    shifts: NDArray[np.uint64]  # (stop - first, 1)


class _Piece(NamedTuple):
    """Where a folded piece of a group goes: a word, the shift, and what spills into the next word."""

    word: int
    shift: np.uint64
    spill: np.uint64 | None


def unpack_bits(data: memoryview, n: int, width: int) -> NDArray[np.unsignedinteger]:
    """ceil(n*width/8) bytes -> (n,) unsigned: a view of `data` for the widths in `PLAIN`, else a fresh uint64 array.

    Method: vertical access to bit-packed groups, as in Lemire and Boytsov, "Decoding billions of integers per second
    through vectorization", 2015, with numpy strides in the place of SIMD lanes.

    Raises
    ------
    TruncatedError
        If there are fewer bytes than the values need.
    DecodeError
        If there are more, or if a padding bit is set.

    >>> unpack_bits(memoryview(bytes([0b11_010_001, 0b0])), 3, 3).tolist()
    [1, 2, 3]
    """
    nbytes = (n * width + 7) >> 3
    if len(data) != nbytes:
        kind = TruncatedError if len(data) < nbytes else DecodeError
        raise kind(f"{n} values of {width} bits take {nbytes} bytes, not {len(data)}")
    plain = PLAIN.get(width)
    if plain is not None:
        return np.frombuffer(data, plain)
    if n * width & 7 and data[-1] >> (n * width & 7):
        raise DecodeError("a padding bit after the last packed value is set")
    if width & 7 == 0:
        return _unpack_bytes(data, n, width >> 3)
    if n * width <= FEW_BITS:
        return _unpack_few(data, n, width)
    return _unpack_groups(data, n, width)


def pack_bits(values: NDArray[np.uint64], width: int) -> bytes:
    """(n,) uint64, each below 2**width -> ceil(n*width/8) bytes.

    >>> pack_bits(np.array([1, 2, 3], "<u8"), 3).hex()
    'd100'
    """
    plain = PLAIN.get(width)
    if plain is not None:
        return values.astype(plain, copy=False).tobytes()
    if width & 7 == 0:
        return _heads(np.ascontiguousarray(values, WORD), width >> 3).tobytes()
    whole = values.size - values.size % GROUP
    step = CHUNK_GROUPS * GROUP
    parts = [_pack_groups(values[at : min(at + step, whole)], width) for at in range(0, whole, step)]
    rest = values[whole:]
    if rest.size:
        group = np.zeros(GROUP, WORD)
        group[: rest.size] = rest
        parts.append(_pack_groups(group, width)[: (rest.size * width + 7) >> 3])
    return b"".join(parts)


def _heads(rows: NDArray[np.uint64], nbytes: int) -> NDArray[np.void]:
    """(g,) or (g, words) uint64, contiguous -> (g,) void: the first `nbytes` bytes of each row."""
    return np.ndarray((rows.shape[0],), f"V{nbytes}", rows, 0, (rows.strides[0],))


def _unpack_bytes(data: memoryview, n: int, size: int) -> NDArray[np.uint64]:
    """`size` bytes an item, as words that overlap the next items, masked."""
    out = np.empty(n, WORD)
    mask = np.uint64((1 << 8 * size) - 1)
    safe = max(0, (len(data) - WORD.itemsize) // size + 1)  # items whose word does not reach beyond the data
    for at in range(0, safe, CHUNK_GROUPS * GROUP):
        stop = min(safe, at + CHUNK_GROUPS * GROUP)
        np.bitwise_and(np.ndarray((stop - at,), WORD, data, at * size, (size,)), mask, out=out[at:stop])
    if safe < n:
        tail = bytes(data[safe * size :]) + bytes(WORD.itemsize)
        np.bitwise_and(np.ndarray((n - safe,), WORD, tail, 0, (size,)), mask, out=out[safe:])
    return out


@lru_cache(maxsize=64)
def _loads(width: int) -> tuple[_Load, ...]:
    """The fewest loads that cover a group. A value wider than 57 bits may lie in no single word; see `_across`."""
    loads: list[_Load] = []
    first = 0
    while first < GROUP:
        offset = first * width >> 3
        stop = first + 1
        while stop < GROUP and (stop + 1) * width - 8 * offset <= 64:
            stop += 1
        shifts = np.array([[j * width - 8 * offset] for j in range(first, stop)], WORD)
        shifts.setflags(write=False)
        loads.append(_Load(offset, first, stop, shifts))
        first = stop
    return tuple(loads)


def _unpack_few(data: memoryview, n: int, width: int) -> NDArray[np.uint64]:
    """Bit by bit, in few calls: where there is little to unpack, the calls are what costs."""
    bits = np.unpackbits(np.frombuffer(data, "<u1"), count=n * width, bitorder="little").reshape(n, width)
    out = np.zeros((n, WORD.itemsize), "<u1")
    out[:, : (width + 7) >> 3] = np.packbits(bits, axis=1, bitorder="little")
    return out.view(WORD)[:, 0]


def _unpack_groups(data: memoryview, n: int, width: int) -> NDArray[np.uint64]:
    groups = -(-n // GROUP)
    out = np.empty((groups, GROUP), WORD)
    step = min(groups, CHUNK_GROUPS) or 1
    columns = np.empty((GROUP, step), WORD)  # value j of every group is one row: contiguous for shift and mask
    word = np.empty(step, WORD)
    mask = np.uint64((1 << width) - 1)
    for at in range(0, groups, step):
        count = min(step, groups - at)
        source, start = data, at * width
        if start + count * width + WORD.itemsize > len(data):  # the last loads would reach beyond the data
            source, start = memoryview(bytes(data[start:]) + bytes(width + WORD.itemsize)), 0
        for load in _loads(width):
            view = np.ndarray((count,), WORD, source, start + load.offset, (width,))
            target = columns[load.first : load.stop, :count]
            if load.stop - load.first == 1:
                np.right_shift(view, load.shifts[0, 0], out=target[0])
                _across(source, start, load, width, target[0])
            else:
                np.copyto(word[:count], view)
                np.right_shift(word[:count], load.shifts, out=target)
        np.bitwise_and(columns[:, :count].T, mask, out=out[at : at + count])
    return out.reshape(-1)[:n]


def _across(source: memoryview, start: int, load: _Load, width: int, target: NDArray[np.uint64]) -> None:
    """Add the top bits of a value that ends in the ninth byte after its load began (58 bits and more)."""
    shift = int(load.shifts[0, 0])
    if shift + width > 64:
        ninth = np.ndarray(target.shape, "<u1", source, start + load.offset + WORD.itemsize, (width,))
        target |= ninth.astype(WORD) << np.uint64(64 - shift)


@lru_cache(maxsize=64)
def _pieces(width: int) -> tuple[int, tuple[_Piece, ...]]:
    """How often to fold neighbours, and where the pieces of a group then go."""
    folds = 0
    while folds < 3 and width << (folds + 1) <= 64:
        folds += 1
    size = width << folds
    pieces = []
    for j in range(GROUP >> folds):
        word, shift = divmod(j * size, 64)
        pieces.append(_Piece(word, np.uint64(shift), np.uint64(64 - shift) if shift + size > 64 else None))
    return folds, tuple(pieces)


def _pack_groups(values: NDArray[np.uint64], width: int) -> bytes:
    """(8g,) uint64 -> g * width bytes."""
    folds, pieces = _pieces(width)
    groups = values.size // GROUP
    for fold in range(folds):
        folded = values[1::2] << np.uint64(width << fold)
        folded |= values[0::2]
        values = folded
    if len(pieces) == 1:
        return _heads(values, width).tobytes()
    values = values.reshape(groups, len(pieces))
    words = np.empty((-(-width // WORD.itemsize), groups), WORD)
    shifted = np.empty(groups, WORD)
    for j, (word, shift, spill) in enumerate(pieces):
        if shift:  # a piece before this one ended in the same word
            np.left_shift(values[:, j], shift, out=shifted)
            words[word] |= shifted
        else:
            words[word] = values[:, j]
        if spill is not None:
            np.right_shift(values[:, j], spill, out=words[word + 1])
    return _heads(np.ascontiguousarray(words.T), width).tobytes()
