"""Runs of nulls, bools, longs and strings of the dictionary inside MIXED, in any order: read at once.

Strategy: all of these are varints, the tags as well as what follows them. So a window is a stream of varints, which
numpy reads in one go; which of them are tags follows from the one rule that a varint behind the tag of a long or of a
string is none. Such tags may also be values, so within a row of them every second one is a tag.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks.varint import decode_varints, unzigzag
from npser.phpser.shortvarints import LANE_BYTES, short_codes, unzigzag_short
from npser.phpser.source import Source
from npser.phpser.tags import Tag

__all__ = ["read_tokens", "tag_positions"]

WINDOW = 1 << 14

FITTING = 9
"""Varints of up to so many bytes always fit 64 bits."""

Codes = NDArray[np.uint32] | NDArray[np.int64]

_CONSTANTS: Final = np.array([None, False, True], object)
_LEADS: Final = (int(Tag.LONG), int(Tag.STRING_DICT))
_IS_LEAD: Final = np.zeros(0x80, np.bool_)
_IS_LEAD[list(_LEADS)] = True
_IS_TAG: Final = _IS_LEAD.copy()
_IS_TAG[: Tag.TRUE + 1] = True


def read_tokens(source: Source, n: int, values: list[Any]) -> int:
    """Read up to n values from one window and append them; gives the bytes that it looked at."""
    raw = np.frombuffer(source.data, np.uint8, min(source.left, WINDOW, (LANE_BYTES + 1) * n), source.pos)
    lasts = np.flatnonzero(raw < 0x80)
    if not lasts.size:
        return raw.size
    starts = np.zeros_like(lasts)
    np.add(lasts[:-1], 1, out=starts[1:])
    more = lasts - starts
    long = more >= FITTING
    stop = int(long.argmax()) if long.any() else lasts.size
    if not stop:
        return raw.size
    total = int(lasts[stop - 1]) + 1
    if int(more[:stop].max()) < LANE_BYTES:
        codes: Codes = short_codes(raw, total, starts[:stop], more[:stop])
    else:
        codes = decode_varints(source.buf[source.pos : source.pos + total], stop).view("<i8")  # 63 bits fit
    tags = tag_positions(codes)
    bad = ~_IS_TAG.take(codes[tags], mode="clip")
    bad |= more[tags] > 0  # a tag in a longer form than needed is none
    m = min(n, int(bad.argmax()) if bad.any() else tags.size)
    kinds = codes[tags[:m]].astype(np.uint32)
    if m and tags[m - 1] + 1 == codes.size and _IS_LEAD[kinds[-1]]:
        m -= 1  # its value stands behind the window
        kinds = kinds[:m]
    m = min(m, _known(source, codes, tags, kinds))
    if not m:
        return raw.size
    end = int(tags[m - 1]) + 1 + bool(_IS_LEAD[kinds[m - 1]])
    values += _objects(source, codes, tags[:m], kinds[:m])
    source.pos += int(lasts[end - 1]) + 1
    return raw.size


def tag_positions(codes: Codes) -> NDArray[np.intp]:
    """Which of the varints are tags.

    >>> tag_positions(np.array([0, 3, 0, 3, 3, 3, 5, 1], "<u4")).tolist()
    [0, 1, 3, 5, 7]
    """
    lead = _IS_LEAD.take(np.minimum(codes, 0x7F))
    before = np.zeros(codes.size, np.bool_)
    before[1:] = lead[:-1]
    places = np.arange(codes.size)
    first = np.maximum.accumulate(np.where(before, 0, places))  # where the row of leads before each begins, plus one
    odd = (places - first) & 1
    return np.flatnonzero(odd == 0)


def _known(source: Source, codes: Codes, tags: NDArray[np.intp], kinds: NDArray[np.uint32]) -> int:
    """How many items stand before the first string that is not in the dictionary."""
    strings = np.flatnonzero(kinds == Tag.STRING_DICT)
    lost = codes[tags[strings] + 1] >= len(source.words)
    return int(strings[lost.argmax()]) if lost.any() else kinds.size


def _signed(codes: Any) -> NDArray[np.int64]:
    if codes.itemsize < LANE_BYTES + 1:
        return unzigzag_short(codes, np.empty_like(codes)).astype("<i8")
    return unzigzag(codes.view("<u8"))


def _objects(source: Source, codes: Codes, tags: NDArray[np.intp], kinds: NDArray[np.uint32]) -> list[Any]:
    """The values behind the tags."""
    found = np.empty(kinds.size, object)
    constant = kinds <= Tag.TRUE
    found[constant] = _CONSTANTS.take(kinds[constant])
    string = kinds == Tag.STRING_DICT
    if string.any():
        found[string] = source.lut.take(codes[tags[string] + 1])
    number = kinds == Tag.LONG
    found[number] = _signed(codes[tags[number] + 1])
    values: list[Any] = found.tolist()
    return values
