"""Many zigzag varints of up to four bytes: a lane of 32 bits for what caches hold most.

Strategy: find the last byte of each item, load the word at its start, mask it by the item's length, close the gaps;
few temporaries, because a fresh one costs as much as what is done with it. That is two thirds of the time of the
general reader (`npser.blocks.varint`), which takes over where an item is longer.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks.cursor import Cursor
from npser.blocks.varint import CHUNK_ITEMS, read_varints, unzigzag

__all__ = ["LANE_BYTES", "fill_longs", "short_codes", "unzigzag_short"]

LANE_BYTES = 4
_MASKS: Final = np.array([0x7F, 0x7F7F, 0x7F7F7F, 0x7F7F7F7F], "<u4")
"""The digits of a varint of 1 to 4 bytes in a 32-bit word."""

_U32: Final = np.dtype("<u4")
_ONE: Final = np.uint32(1)


def fill_longs(cursor: Cursor, values: NDArray[np.int64]) -> None:
    """Fill an array from as many zigzag varints.

    Raises
    ------
    DecodeError
        Where fewer are left, or one does not fit 64 bits.

    >>> values = np.empty(3, "<i8")
    >>> fill_longs(Cursor(memoryview(bytes([0, 1, 0x80, 1]))), values)
    >>> values.tolist()
    [0, -1, 64]
    """
    start = cursor.pos
    for at in range(0, values.size, CHUNK_ITEMS):
        if not _read_short(cursor, values[at : at + CHUNK_ITEMS]):
            cursor.pos = start
            values[:] = unzigzag(read_varints(cursor, values.size))
            return


def _read_short(cursor: Cursor, values: NDArray[np.int64]) -> bool:
    """Fill an array from varints of at most four bytes each; False where that is not what comes."""
    n = values.size
    raw = np.frombuffer(cursor.buf, np.uint8, min(cursor.left, LANE_BYTES * n), cursor.pos)
    if bool((raw[:n] < 0x80).all()) and raw.size >= n:
        cursor.pos += n
        words = raw[:n].astype(_U32)
        values[:] = unzigzag_short(words, np.empty_like(words))
        return True
    lasts = np.flatnonzero(raw < 0x80)
    if lasts.size < n:
        return False
    lasts = lasts[:n]
    total = int(lasts[-1]) + 1
    starts = values  # its memory is not needed for anything else yet
    starts[0] = 0
    np.add(lasts[:-1], 1, out=starts[1:])
    lasts -= starts
    if int(lasts.max()) >= LANE_BYTES:
        return False
    words = short_codes(raw, total, starts, lasts)
    cursor.pos += total
    values[:] = unzigzag_short(words, lasts.view(_U32)[:n])
    return True


def short_codes(
    raw: NDArray[np.uint8], total: int, starts: NDArray[np.intp], more: NDArray[np.intp]
) -> NDArray[np.uint32]:
    """The varints within `total` bytes that start at `starts` and have `more` bytes behind that, at most three."""
    if raw.size < total + LANE_BYTES - 1:
        raw = np.concatenate((raw[:total], np.zeros(LANE_BYTES, np.uint8)))
    words = np.ndarray((total,), _U32, raw, 0, (1,)).take(starts)
    upper = np.empty_like(words)
    words &= _MASKS.take(more, out=upper, mode="clip")
    return _close(words, upper)


def _close(words: NDArray[np.uint32], upper: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Close the gap after every seven bits, in place, with scratch of the same size."""
    np.bitwise_and(words, np.uint32(0x7F007F00), out=upper)  # second digits: 128 times each is too much
    upper >>= _ONE
    words -= upper
    np.right_shift(words, np.uint32(16), out=upper)  # second pairs: 2**16 - 2**14 times each is too much
    upper *= np.uint32((1 << 16) - (1 << 14))
    words -= upper
    return words


def unzigzag_short(words: NDArray[np.uint32], signs: NDArray[np.uint32]) -> NDArray[np.int32]:
    """The numbers behind the codes, in place, with scratch of the same size."""
    np.bitwise_and(words, _ONE, out=signs)
    np.negative(signs.view("<i4"), out=signs.view("<i4"))
    words >>= _ONE
    words ^= signs
    return words.view("<i4")
