"""Many LEB128 integers at once.     wire: n times 1..10 bytes of seven bits, low first

Strategy: a varint of up to eight bytes is one machine word with a gap after every seven bits. Reading: find the last
byte of each item, load the word at each start, mask what lies behind the last byte (it has the lowest clear high bit),
close the gaps in log2(bytes) steps. Writing is the mirror: open the gaps, mark every byte below the highest one used,
keep the bytes used. The word is as narrow as the longest item of a chunk allows. Items of one length need no search.
Knows arrays and bytes. Longer forms than needed are read (DWARF 5, section 7.6, allows them), never written.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npser.blocks.cursor import VARINT_MAX_BYTES, Cursor
from npser.errors import DecodeError, TruncatedError

__all__ = ["CHUNK_ITEMS", "decode_varints", "encode_varints", "read_varints", "unzigzag", "zigzag"]

WORD: Final = np.dtype("<u8")
BYTE: Final = np.dtype("<u1")
CHUNK_ITEMS = 1 << 14  # writing
CHUNK = 1 << 15  # bytes, reading
"""So much at a time: the scratch stays in the second-level cache, and the heap keeps it."""
FEW = 40
"""Up to this many, a plain loop is faster than twenty numpy calls."""
ONE = np.uint64(1)
SEVENTH, EIGHTH = np.uint64(56), np.uint64(63)  # the first bits of the ninth and the tenth byte
LOW_56 = np.uint64((1 << 56) - 1)


class _Gap(NamedTuple):
    """One step of closing gaps: fields `low` stay, the fields `high` between them move down by `shift`."""

    low: np.unsignedinteger
    high: np.unsignedinteger
    shift: np.unsignedinteger


class _Lane(NamedTuple):
    """A word that holds a varint of up to `dtype.itemsize` bytes."""

    dtype: np.dtype[np.unsignedinteger]
    marks: np.unsignedinteger  # the high bit of every byte
    digits: np.unsignedinteger  # the other seven
    gaps: tuple[_Gap, ...]


def _lane(size: int) -> _Lane:
    dtype = np.dtype(f"<u{size}")

    def every(period: int, field: int) -> int:
        return sum(field << at for at in range(0, 8 * size, period))

    gaps = []
    bits, period = 7, 8  # fields of 7 bits, one every 8; then of 14 every 16; then of 28 every 32
    while period < 8 * size:
        low = every(2 * period, (1 << bits) - 1)
        gaps.append(_Gap(dtype.type(low), dtype.type(low << period), dtype.type(period - bits)))
        bits, period = 2 * bits, 2 * period
    return _Lane(dtype, dtype.type(every(8, 0x80)), dtype.type(every(8, 0x7F)), tuple(gaps))


LANES: Final = (_lane(2), _lane(4), _lane(8))


def zigzag(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """(n,) int64 -> (n,) uint64: small magnitudes become small codes.

    >>> zigzag(np.array([0, -1, 1, -2], "<i8")).tolist()
    [0, 1, 2, 3]
    """
    codes = values << 1
    codes ^= values >> 63
    return codes.view("<u8")


def unzigzag(codes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """(n,) uint64 -> (n,) int64, in place: the inverse of `zigzag`; the result is a view of `codes`.

    >>> unzigzag(np.array([0, 1, 2, 3], "<u8")).tolist()
    [0, -1, 1, -2]
    """
    for at in range(0, codes.size, CHUNK_ITEMS):
        chunk = codes[at : at + CHUNK_ITEMS]
        signs = (chunk & ONE).view("<i8")
        np.negative(signs, out=signs)
        chunk >>= ONE
        chunk ^= signs.view(WORD)
    return codes.view("<i8")


# Writing


def encode_varints(codes: NDArray[np.uint64]) -> bytes:
    """(n,) uint64 -> their varints in the shortest form.

    >>> encode_varints(np.array([1, 300], "<u8")).hex()
    '01ac02'
    """
    if codes.size <= FEW:
        return bytes(_encode_few(codes.tolist()))
    return b"".join(_encode(codes[at : at + CHUNK_ITEMS]) for at in range(0, codes.size, CHUNK_ITEMS))


def _encode_few(codes: list[int]) -> bytearray:
    out = bytearray()
    for code in codes:
        while code > 0x7F:
            out.append(code & 0x7F | 0x80)
            code >>= 7
        out.append(code)
    return out


def _encode(codes: NDArray[np.uint64]) -> bytes:
    """One chunk, by the length of its shortest and its longest item."""
    longest = _size(int(codes.max()))
    if longest == 1:
        return codes.astype(BYTE).tobytes()
    for lane in LANES:
        if longest <= lane.dtype.itemsize:
            words = _open(codes.astype(lane.dtype), lane)
            if longest == _size(int(codes.min())):
                return _encode_uniform(words, lane, longest)
            return _encode_mixed(words, lane)
    return _encode_long(codes)


def _size(code: int) -> int:
    return max(1, (code.bit_length() + 6) // 7)


def _open(words: NDArray[np.unsignedinteger], lane: _Lane) -> NDArray[np.unsignedinteger]:
    """Open a gap after every seven bits, in place."""
    upper = np.empty_like(words)
    for low, high, shift in reversed(lane.gaps):
        np.left_shift(words, shift, out=upper)
        upper &= high
        words &= low
        words |= upper
    return words


def _encode_uniform(words: NDArray[np.unsignedinteger], lane: _Lane, size: int) -> bytes:
    """Digits of items that all take `size` bytes."""
    words |= lane.dtype.type(int(lane.marks) & ((1 << 8 * (size - 1)) - 1))
    return np.ndarray(words.shape, f"V{size}", words, 0, words.strides).tobytes()


def _encode_mixed(words: NDArray[np.unsignedinteger], lane: _Lane) -> bytes:
    """Digits of items of different lengths."""
    kind = lane.dtype.type
    above = words >> kind(8)  # becomes: each byte the OR of all higher bytes
    moved = np.empty_like(words)
    for shift in (8, 16, 32):
        if shift < 8 * lane.dtype.itemsize:
            np.right_shift(above, kind(shift), out=moved)
            above |= moved
    above += lane.digits  # no byte carries into the next: both have only seven bits
    above &= lane.marks
    words |= above
    return _keep(words, above, lane)


def _keep(words: NDArray[np.unsignedinteger], marks: NDArray[np.unsignedinteger], lane: _Lane) -> bytes:
    """The first byte of each word, and every byte that follows a mark."""
    kind = lane.dtype.type
    used = marks << kind(1)  # a mark at bit 7 becomes 1 at bit 8: a bool in the next byte
    used |= kind(1)
    return words.view(BYTE).take(np.flatnonzero(used.view(np.bool_))).tobytes()


def _encode_long(codes: NDArray[np.uint64]) -> bytes:
    """Any lengths up to ten: two words an item, of eight bytes and of two."""
    lane = LANES[-1]
    words = np.empty((codes.size, 2), WORD)
    marks = np.empty((codes.size, 2), WORD)
    words[:, 0] = _open(codes & LOW_56, lane)
    words[:, 1] = (codes >> SEVENTH & np.uint64(0x7F)) | (codes >> EIGHTH << np.uint64(8))
    above = words[:, 0] >> np.uint64(8)
    for shift in (8, 16, 32):
        above |= above >> np.uint64(shift)
    above += lane.digits
    above &= lane.marks
    above[words[:, 1] != 0] = lane.marks
    marks[:, 0] = above
    marks[:, 1] = codes >> EIGHTH << np.uint64(7)
    words |= marks
    used = marks << ONE
    used[:, 0] |= ONE
    used[:, 1] |= above >> EIGHTH
    return words.view(BYTE).reshape(-1).take(np.flatnonzero(used.view(np.bool_))).tobytes()


# Reading


def read_varints(cursor: Cursor, n: int) -> NDArray[np.uint64]:
    """The next n varints, wherever they end -> (n,) uint64.

    Raises
    ------
    TruncatedError
        If the input ends before the n-th varint does.
    DecodeError
        If one is longer than ten bytes or does not fit 64 bits.

    >>> read_varints(Cursor(memoryview(bytes([1, 0xAC, 2, 9]))), 2).tolist()
    [1, 300]
    """
    if n <= FEW:
        return np.array([cursor.uvarint() for _ in range(n)], WORD)
    start = cursor.pos
    if n > cursor.left:
        raise TruncatedError(f"need {n} varints, {cursor.left} bytes left", pos=start)
    missing = n
    while missing:
        size = min(cursor.left, CHUNK, VARINT_MAX_BYTES * missing)
        if not size:
            raise TruncatedError(f"need {n} varints, the input ends {missing} before that", pos=cursor.pos)
        last = np.frombuffer(cursor.take(size), BYTE) < 0x80
        found = int(np.count_nonzero(last))
        if found >= missing:
            cursor.pos += int(np.flatnonzero(last)[missing - 1]) + 1 - size
        missing = max(0, missing - found)
    size, cursor.pos = cursor.pos - start, start
    return decode_varints(cursor.take(size), n)


def decode_varints(data: memoryview, n: int) -> NDArray[np.uint64]:
    """Exactly n varints -> (n,) uint64.

    Raises
    ------
    TruncatedError
        If the bytes hold fewer than n.
    DecodeError
        If they hold more, or one that is longer than ten bytes or does not fit 64 bits.

    >>> decode_varints(memoryview(bytes([1, 0xAC, 2])), 2).tolist()
    [1, 300]
    """
    raw = np.frombuffer(data, BYTE)
    found = 0
    for at in range(0, raw.size, CHUNK):
        found += int(np.count_nonzero(raw[at : at + CHUNK] < 0x80))
    if found < n or (raw.size and raw[-1] >= 0x80):
        raise TruncatedError(f"need {n} varints, {raw.size} bytes hold {found}")
    if found > n:
        raise DecodeError(f"{raw.size} bytes hold {found} varints, not {n}")
    if n <= FEW:
        cursor = Cursor(data)
        return np.array([cursor.uvarint() for _ in range(n)], WORD)
    if raw.size == n:
        return raw.astype(WORD)
    size, rest = divmod(raw.size, n)
    if not rest and size <= LANES[-1].dtype.itemsize and (raw[size - 1 :: size] < 0x80).all():
        return _decode_uniform(raw, n, size)
    return _decode_mixed(raw, n)


def _decode_uniform(raw: NDArray[np.uint8], n: int, size: int) -> NDArray[np.uint64]:
    """n items of `size` bytes, eight at most."""
    out = np.empty(n, WORD)
    lane = next(lane for lane in LANES if size <= lane.dtype.itemsize)
    digits = lane.dtype.type(int(lane.digits) & ((1 << 8 * size) - 1))
    for at in range(0, n, CHUNK):
        stop = min(n, at + CHUNK)
        source, start = _slack(raw, at * size, stop * size)
        words = np.ndarray((stop - at,), lane.dtype, source, start, (size,)) & digits
        out[at:stop] = _close(words, lane)
    return out


def _slack(raw: NDArray[np.uint8], start: int, stop: int) -> tuple[NDArray[np.uint8], int]:
    """The bytes of a chunk where a word may be loaded at each of them: in place, or a copy at the end of the input."""
    if stop + WORD.itemsize <= raw.size:
        return raw, start
    return np.concatenate((raw[start:], np.zeros(WORD.itemsize, BYTE))), 0


def _close(words: NDArray[np.unsignedinteger], lane: _Lane) -> NDArray[np.unsignedinteger]:
    """Close the gap after every seven bits, in place."""
    upper = np.empty_like(words)
    for low, high, shift in lane.gaps:
        np.bitwise_and(words, high, out=upper)
        upper >>= shift
        words &= low
        words |= upper
    return words


def _decode_mixed(raw: NDArray[np.uint8], n: int) -> NDArray[np.uint64]:
    """n items of different lengths; the last byte of `raw` ends one."""
    out = np.empty(n, WORD)
    at = item = 0
    while item < n:
        lasts = np.flatnonzero(raw[at : at + CHUNK] < 0x80)
        starts = np.zeros_like(lasts)
        np.add(lasts[:-1], 1, out=starts[1:])
        longest = int((lasts - starts).max()) + 1 if lasts.size else CHUNK
        if longest > VARINT_MAX_BYTES:
            raise DecodeError(f"varint is longer than {VARINT_MAX_BYTES} bytes")
        size = int(lasts[-1]) + 1
        out[item : item + lasts.size] = _decode(raw, at, size, starts, longest)
        item += lasts.size
        at += size
    return out


def _decode(
    raw: NDArray[np.uint8], at: int, size: int, starts: NDArray[np.intp], longest: int
) -> NDArray[np.unsignedinteger]:
    """The items that start at `starts`, within `size` bytes from `at`."""
    lane = next((lane for lane in LANES if longest <= lane.dtype.itemsize), LANES[-1])
    source, start = _slack(raw, at, at + size)
    # A copy of the words at every byte, then take(): three times as fast as an index into unaligned words.
    words = np.ndarray((size,), lane.dtype, source, start, (1,)).copy().take(starts)
    last = ~words
    last &= lane.marks
    behind = last - lane.dtype.type(1)
    behind ^= last  # all bits up to the lowest mark; all of the word where there is none
    words &= behind
    words &= lane.digits
    words = _close(words, lane)
    if longest > lane.dtype.itemsize:
        _add_tops(words, raw, at + starts, last == 0)
    return words


def _add_tops(
    words: NDArray[np.unsignedinteger], raw: NDArray[np.uint8], starts: NDArray[np.intp], where: NDArray[np.bool_]
) -> None:
    """Add the ninth and the tenth byte of the items that have them."""
    items = np.flatnonzero(where)
    ninth = raw[starts[items] + 8].astype(WORD)
    words[items] |= (ninth & np.uint64(0x7F)) << SEVENTH
    items = items[ninth >= 0x80]
    tenth = raw[starts[items] + 9].astype(WORD)
    if (tenth > 1).any():
        raise DecodeError("varint does not fit 64 bits")
    words[items] |= tenth << EIGHTH
