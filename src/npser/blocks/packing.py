"""Unsigned integers of 1 to 64 bits, packed without gaps.     wire: ceil(n * width / 8) bytes, low bit first

Strategy: eight values of `width` bits are exactly `width` bytes, so value j of every group stands at one fixed bit of
its group, and one strided view reaches it in all groups at once. Two values of up to 30 bits fit one word wherever
they begin. Reading: load the word at the start of every pair (unaligned), and move its upper value up, so that the word
is two values of 32 bits, which stand in order as they are; who takes 16 bits gets four values of up to 14 bits in two
such steps. Writing: move them down again. Wider values are loaded as few words as cover the eight, shifted and masked,
and written by folding the pieces into words, of which `width` bytes a row are kept. Whole bytes need none of that: 8,
16, 32 and 64 bits are plain views, 24, 40, 48 and 56 one strided load.
Work goes in chunks, so that scratch stays in the cache. numpy copies unaligned items fast where one side is contiguous,
and several times slower from strides to strides, so whoever scatters takes a contiguous copy of the piece first.
Value i occupies the bits from i*width to (i+1)*width of the little-endian bit string; the padding bits are zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import gcd
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npser.blocks.scratch import CHUNK, CHUNK_GROUPS, GROUP, WORD, Scratch
from npser.errors import DecodeError, TruncatedError

__all__ = ["HALF", "MAX_PAIRED", "PLAIN", "check_packed", "pack_bits", "unpack_bits", "unpack_piece"]

PLAIN: Final[dict[int, np.dtype[np.unsignedinteger]]] = {
    8: np.dtype("<u1"),
    16: np.dtype("<u2"),
    32: np.dtype("<u4"),
    64: np.dtype("<u8"),
}
"""The widths that numpy reads as they are."""

HALF: Final[np.dtype[np.unsignedinteger]] = np.dtype("<u4")
QUARTER: Final[np.dtype[np.unsignedinteger]] = np.dtype("<u2")
MAX_HALF_BYTES = 4
MAX_PAIRED = 30
"""Bits of a value, two of which fit a word wherever they begin: 60 bits and the 4 before them within the byte."""
MAX_FOURS = 14
"""Bits of a value, four of which fit a word in the same way."""
FEW_BITS = 2048  # below, unpacking bit by bit is up to three times faster; benchmarks/thresholds.py::sweep_frames


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


def unpack_bits(
    data: memoryview, n: int, width: int, narrow: np.dtype[np.unsignedinteger] = HALF
) -> NDArray[np.unsignedinteger]:
    """ceil(n*width/8) bytes -> (n,) unsigned: a view of `data` for the widths in `PLAIN`, else fresh uint32 or uint64.

    It is uint32 for up to 32 bits; whoever needs words saves a pass by asking for those instead (`narrow`), and gets
    them where that is no more work.

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
    check_packed(data, n, width)
    return _unpack(data, n, width, narrow, None)


def check_packed(data: memoryview, n: int, width: int) -> None:
    """Raise what `unpack_bits` raises."""
    nbytes = (n * width + 7) >> 3
    if len(data) != nbytes:
        kind = TruncatedError if len(data) < nbytes else DecodeError
        raise kind(f"{n} values of {width} bits take {nbytes} bytes, not {len(data)}")
    if n * width & 7 and data[-1] >> (n * width & 7):
        raise DecodeError("a padding bit after the last packed value is set")


def unpack_piece(data: memoryview, at: int, n: int, width: int, scratch: Scratch) -> NDArray[np.unsignedinteger]:
    """Up to `CHUNK` values from number `at` on, a multiple of 8, out of bytes that `check_packed` has seen.

    They are in the scratch until the next piece, and of whatever unsigned type is least work.

    >>> unpack_piece(memoryview(bytes([0b11_010_001, 0b0])), 0, 2, 3, Scratch()).tolist()
    [1, 2]
    """
    return _unpack(data[at * width >> 3 :], n, width, HALF, scratch)


def _unpack(
    data: memoryview, n: int, width: int, narrow: np.dtype[np.unsignedinteger], scratch: Scratch | None
) -> NDArray[np.unsignedinteger]:
    """The first n values; there may be more bytes."""
    plain = PLAIN.get(width)
    if plain is not None:
        return np.frombuffer(data, plain, n)
    if width & 7 == 0:
        return _unpack_bytes(data, n, width >> 3, narrow if width < 32 else WORD)
    if n * width <= FEW_BITS:
        return _unpack_few(data, n, width)
    if width > MAX_PAIRED:
        return _unpack_groups(data, n, width)
    return _unpack_words(data, n, width, HALF if scratch is None or width > MAX_FOURS else QUARTER, scratch)


def pack_bits(values: NDArray[np.uint64], width: int) -> bytes | memoryview:
    """(n,) uint64, each below 2**width -> ceil(n*width/8) bytes.

    >>> bytes(pack_bits(np.array([1, 2, 3], "<u8"), 3)).hex()
    'd100'
    """
    plain = PLAIN.get(width)
    if plain is not None:
        return values.astype(plain, copy=False).tobytes()
    n = values.size
    step = CHUNK
    pack = _pack_bytes if width & 7 == 0 else _pack_groups
    parts = [pack(values[at : at + step], width) for at in range(0, n, step)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _pack_bytes(values: NDArray[np.uint64], width: int) -> memoryview:
    """(n,) uint64 -> the low `width` / 8 bytes of each."""
    size = width >> 3
    values = np.ascontiguousarray(values)
    plain = PLAIN.get(width)
    if plain is not None:
        return values.astype(plain).view("<u1").data
    head = PLAIN[32] if size > MAX_HALF_BYTES else PLAIN[16]
    out = np.empty(values.size * size, "<u1")
    np.copyto(np.ndarray(values.shape, head, out, 0, (size,)), values.astype(head))
    octets = values.view("<u1")
    for at in range(head.itemsize, size):
        np.copyto(out[at::size], octets[at :: WORD.itemsize])
    return out.data


def _heads(rows: NDArray[np.uint64], nbytes: int) -> NDArray[np.void]:
    """(g,) or (g, words) uint64, contiguous -> (g,) void: the first `nbytes` bytes of each row."""
    return np.ndarray((rows.shape[0],), f"V{nbytes}", rows, 0, (rows.strides[0],))


def _unpack_bytes(
    data: memoryview, n: int, size: int, lane: np.dtype[np.unsignedinteger]
) -> NDArray[np.unsignedinteger]:
    """`size` bytes an item, as words (or halves of them) that overlap the next items, masked."""
    out = np.empty(n, lane)
    mask = lane.type((1 << 8 * size) - 1)
    load = HALF if size < HALF.itemsize else WORD
    safe = min(n, max(0, (len(data) - load.itemsize) // size + 1))  # items whose word does not reach beyond the data
    for at in range(0, safe, CHUNK):
        stop = min(safe, at + CHUNK)
        chunk = out[at:stop]
        np.copyto(chunk, np.ndarray((stop - at,), load, data, at * size, (size,)))
        np.bitwise_and(chunk, mask, out=chunk)
    for at in range(safe, n):
        out[at] = int.from_bytes(data[at * size : (at + 1) * size], "little")
    return out


class _Start(NamedTuple):
    """Where some values that share a word begin: bytes behind the start of their round, and bits into the byte."""

    offset: int
    shift: np.uint64


@lru_cache(maxsize=64)
def _round(bits: int) -> tuple[_Start, ...]:
    """Words of so many bits, up to the next that begins with a byte."""
    count = 8 // gcd(bits, 8)
    return tuple(_Start(bits * j >> 3, np.uint64(bits * j & 7)) for j in range(count))


class _Spread(NamedTuple):
    """One step that moves the upper half of what each lane has to where the next lane begins."""

    up: np.uint64
    low: np.uint64
    high: np.uint64


@lru_cache(maxsize=64)
def _spreads(width: int, lane: int) -> tuple[_Spread, ...]:
    """The steps from a word full of values, one right above the other, to one in each lane of 16 or 32 bits."""
    steps = []
    for half in (32, 16)[: 64 // lane // 2]:
        taken = width * (half // lane)  # bits of the values of a half
        low = sum((1 << taken) - 1 << at for at in range(0, 64, 2 * half))
        steps.append(_Spread(np.uint64(half - taken), np.uint64(low), np.uint64(low << half)))
    return tuple(steps)


def _unpack_words(
    data: memoryview, n: int, width: int, lane: np.dtype[np.unsignedinteger], scratch: Scratch | None
) -> NDArray[np.unsignedinteger]:
    """As many values at a time as there are lanes in a word."""
    lanes = WORD.itemsize // lane.itemsize
    starts, spreads = _round(lanes * width), _spreads(width, 8 * lane.itemsize)
    nbytes = lanes * width * len(starts) >> 3  # of a round
    rounds = -(-n // (lanes * len(starts)))
    step = min(rounds, CHUNK // (lanes * len(starts)))
    if scratch is None:
        out, upper, word = np.empty(rounds * len(starts), WORD), np.empty(step, WORD), np.empty(step, WORD)
    else:
        out, upper, word = scratch.out[: rounds * len(starts)], scratch.upper, scratch.word
    out = out.reshape(rounds, len(starts))
    for at, count, source, start in _spans(data, rounds, step, nbytes):
        for j, (offset, shift) in enumerate(starts):
            target = out[at : at + count, j]
            lower, moved = target if len(starts) == 1 else word[:count], upper[:count]
            np.copyto(lower, np.ndarray((count,), WORD, source, start + offset, (nbytes,)))
            if shift:
                lower >>= shift
            for spread in spreads:
                np.left_shift(lower, spread.up, out=moved)
                moved &= spread.high
                lower &= spread.low
                np.bitwise_or(lower, moved, out=target if spread is spreads[-1] else lower)
    return out.reshape(-1).view(lane)[:n]


def _spans(data: memoryview, rounds: int, step: int, nbytes: int) -> Iterator[tuple[int, int, memoryview, int]]:
    """Rounds that are unpacked at a time: the first, how many, and where their bytes begin.

    The loads of the last ones would reach beyond the data, so these are a copy with zeros behind it.
    """
    safe = min(rounds, max(0, len(data) - WORD.itemsize) // nbytes)
    for at in range(0, safe, step):
        yield at, min(step, safe - at), data, at * nbytes
    if rounds > safe:
        yield safe, rounds - safe, memoryview(bytes(data[safe * nbytes :]) + bytes(nbytes + WORD.itemsize)), 0


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


def _unpack_few(data: memoryview, n: int, width: int) -> NDArray[np.unsignedinteger]:
    """Bit by bit, in few calls: where there is little to unpack, the calls are what costs."""
    lane = HALF if width <= 32 else WORD
    bits = np.unpackbits(np.frombuffer(data, "<u1"), count=n * width, bitorder="little").reshape(n, width)
    out = np.zeros((n, lane.itemsize), "<u1")
    out[:, : (width + 7) >> 3] = np.packbits(bits, axis=1, bitorder="little")
    return out.view(lane)[:, 0]


def _unpack_groups(data: memoryview, n: int, width: int) -> NDArray[np.unsignedinteger]:
    groups = -(-n // GROUP)
    out = np.empty((groups, GROUP), WORD)
    step = min(groups, CHUNK_GROUPS) or 1
    columns = np.empty((GROUP, step), WORD)  # value j of every group is one row: contiguous for shift and mask
    word = np.empty(step, WORD)
    mask = np.uint64((1 << width) - 1)
    for at, count, source, start in _spans(data, groups, step, width):
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
    unpacked = out.reshape(-1)[:n]
    return unpacked.astype(HALF) if width <= 32 else unpacked


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


def _pack_groups(values: NDArray[np.uint64], width: int) -> bytes | memoryview:
    """(n,) uint64 -> ceil(n * width / 8) bytes."""
    folds, pieces = _pieces(width)
    groups = -(-values.size // GROUP)
    nbytes = (values.size * width + 7) >> 3
    padded = np.empty(groups * GROUP, HALF if folds else WORD)  # up to whole groups, with zeros
    padded[: values.size] = values
    padded[values.size :] = 0
    values = _squeezed(padded.view(WORD), width) if folds else padded
    for fold in range(1, folds):
        folded = values[1::2] << np.uint64(width << fold)
        folded |= values[0::2]
        values = folded
    size = width << folds
    if size & 7 == 0:
        return _pack_bytes(values, size)[:nbytes]
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
    return _heads(np.ascontiguousarray(words.T), width).tobytes()[:nbytes]


def _squeezed(pairs: NDArray[np.unsignedinteger], width: int) -> NDArray[np.unsignedinteger]:
    """(p,) pairs of values of up to 32 bits, one in each half -> the same, the second value right above the first."""
    upper = pairs >> np.uint64(32 - width)
    upper &= np.uint64((1 << width) - 1 << width)
    pairs &= np.uint64((1 << width) - 1)
    pairs |= upper
    return pairs
