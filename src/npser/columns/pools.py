"""Pools: single leaves and short columns of one payload, gathered by width so that a handful of reads decodes them all.

    wire:  u8 mask of the pools present | uvarint count, for each present | u8s | i16s | i32s | i64s | f64s | text block

Strategy: a block of its own costs microseconds whatever its length, so what is short shares one. Integers are pooled
by width, which needs no choosing: each pool is one `struct` call to read. Text is one text block.
"""

from __future__ import annotations

import struct
import sys
from array import array
from operator import mul
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.choose import write_text
from npser.blocks.text import read_text
from npser.tags import Kind
from npser.weights import POOLED

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = [
    "F64",
    "I16",
    "I32",
    "I64",
    "KIND_OF_POOL",
    "POOLS",
    "TEXT",
    "U8",
    "narrowest",
    "read_pools",
    "weigh_pools",
    "write_pools",
    "write_text_pool",
]

U8, I16, I32, I64, F64, TEXT = range(6)
POOLS = 6
KIND_OF_POOL: Final = tuple(
    int(kind)
    for kind in (Kind.POOL_U8, Kind.POOL_I16, Kind.POOL_I32, Kind.POOL_I64, Kind.POOL_F64, Kind.POOL_TEXT)
)
"""The kind of a slot that takes its items from a pool as they are."""

_FORMATS = ("B", "h", "i", "q", "d")
_SIZES = tuple(struct.calcsize("<" + code) for code in _FORMATS)
_BETWEEN: Final = (1 << TEXT) - 1 - (1 << U8)
_PRESENT = tuple(tuple(which for which in range(POOLS) if mask >> which & 1) for mask in range(1 << POOLS))

def narrowest(low: int, high: int) -> int | None:
    """The narrowest integer pool that holds everything from `low` to `high`; None if not even int64 does.

    >>> narrowest(0, 255) == U8, narrowest(-1, 255) == I16, narrowest(0, 2**63)
    (True, True, None)
    """
    if low >= 0 and high <= 0xFF:
        return U8
    if low >= -0x8000 and high < 0x8000:
        return I16
    if low >= -0x80000000 and high < 0x80000000:
        return I32
    return I64 if low >= -(1 << 63) and high < 1 << 63 else None


def write_pools(sink: Sink, pools: list[Any]) -> None:
    """Write the six pools: the bytes of that of u8, and five lists of items."""
    small, *numbers, texts = pools
    if not (small or any(numbers)):
        write_text_pool(sink, texts)
        return
    out = sink.out
    at, mask = len(out), 0
    out.append(mask)
    for which, items in enumerate(pools):
        if items:
            mask |= 1 << which
            if len(items) < 0x80:
                out.append(len(items))
            else:
                sink.uvarint(len(items))
    out[at] = mask
    out += small
    if mask & _BETWEEN:
        for which in _PRESENT[mask & _BETWEEN]:
            items = pools[which]
            out += struct.pack(f"<{len(items)}{_FORMATS[which]}", *items)
    if texts:
        write_text(sink, texts)


def write_text_pool(sink: Sink, texts: list[str]) -> None:
    """Write the pools where nothing is in the five others."""
    if texts:
        sink.out.append(1 << TEXT)
        sink.uvarint(len(texts))
        write_text(sink, texts)
    else:
        sink.out.append(0)


def _as_stored(raw: memoryview, form: str) -> Any:
    return raw.cast(form)  # type: ignore[call-overload]


def _swapped(raw: memoryview, form: str) -> Any:
    numbers = array(form, raw.tobytes())
    numbers.byteswap()
    return numbers


_numbers: Final = _as_stored if sys.byteorder == "little" else _swapped
_NO_NUMBERS: Final = array("q")


def read_pools(cursor: Cursor) -> list[Any]:
    """Read the six pools: that of u8 is bytes, whose items are ints already; other numbers stay as they are stored.

    Returns
    -------
    list of six sequences
        bytes; memoryviews (or arrays) of numbers, which have a ``tolist``; a list of str.
    """
    mask = cursor.u8()
    if mask >> POOLS:
        raise cursor.fail(f"no such pool: mask 0x{mask:02x}")
    pools: list[Any] = [b"", _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, _NO_NUMBERS, []]
    present = _PRESENT[mask]
    buf = cursor.buf
    counts = []
    for _ in present:
        pos = cursor.pos
        if pos < cursor.end and buf[pos] < 0x80:
            counts.append(buf[pos])
            cursor.pos = pos + 1
        else:
            counts.append(cursor.uvarint())
    for which, count in zip(present, counts, strict=True):
        if which == TEXT:
            pools[TEXT] = read_text(cursor, count)
        elif which == U8:
            pools[U8] = cursor.take(count).tobytes()
        else:
            pools[which] = _numbers(cursor.take(count * _SIZES[which]), _FORMATS[which])
    cursor.expand(weigh_pools(pools[:TEXT]))  # strings have drawn already
    return pools


def weigh_pools(pools: list[Any]) -> int:
    """What all items of the pools weigh."""
    return sum(map(mul, map(len, pools), POOLED))
