"""Encodings of n int64 values that hold no other block.     wire: the layouts of AFFINE, CONST, FRAME, VARINT in `tags`

Strategy: each encoding has a writer, which writes the code byte too, a reader to an array and a reader to a list;
the readers start behind the code byte. A list is made straight from the bytes where that is less work than through an
array. What costs (nearly) no bytes asks the cursor for its items first. Arithmetic wraps modulo 2**64, so that every
int64 value has an offset from every base.
Readers take the depth of nesting, as all of their table do, and have no use for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from struct import Struct
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from npser.blocks.cursor import Cursor
from npser.blocks.packing import PLAIN, check_packed, pack_bits, unpack_bits, unpack_piece
from npser.blocks.scratch import CHUNK, WORD, Scratch
from npser.blocks.shared_ints import ramp_list, to_list
from npser.blocks.sink import Sink
from npser.blocks.stretches import STRETCH, Stretches
from npser.blocks.varint import CHUNK_ITEMS, decode_varints, encode_varints, unzigzag, zigzag
from npser.errors import DecodeError
from npser.tags import IntCode

__all__ = [
    "frame_bounds",
    "frame_pieces",
    "read_affine",
    "read_affine_list",
    "read_compact_frame",
    "read_const",
    "read_const_list",
    "read_frame",
    "read_frame_cells",
    "read_frame_list",
    "read_varint",
    "read_varint_list",
    "write_affine",
    "write_const",
    "write_frame",
    "write_varint",
]

I64: TypeAlias = NDArray[np.int64]

INT64: Final = np.dtype("<i8")
INT32: Final = np.dtype("<i4")
MIN, MAX = -(1 << 63), (1 << 63) - 1
MIN_32, END_32 = -(1 << 31), 1 << 31
PACKED_ITEMS = 1 << 15
"""So many are written at a time: what numpy needs in between stays small, and in the cache."""
TINY = 16
"""Up to this many items, Python makes a list sooner than numpy an array."""
_TINY_PLAIN: Final = {
    width: tuple(Struct(f"<{n}{letter}").unpack for n in range(TINY + 1))
    for width, letter in ((8, "B"), (16, "H"), (32, "I"), (64, "q"))
}


def _unsigned(value: int) -> np.uint64:
    """The same value modulo 2**64."""
    return np.uint64(value & 0xFFFF_FFFF_FFFF_FFFF)


def _signed(value: int) -> int:
    """The same value modulo 2**64, as int64 has it."""
    return ((value + (1 << 63)) & 0xFFFF_FFFF_FFFF_FFFF) - (1 << 63)


# AFFINE: svarint base | svarint step


def write_affine(sink: Sink, base: int, step: int, n: int) -> None:
    """n values base, base + step, base + 2*step, ... modulo 2**64."""
    sink.expand(n)
    sink.u8(IntCode.AFFINE)
    sink.svarint(base)
    sink.svarint(_signed(step))


def read_affine(cursor: Cursor, n: int, depth: int) -> I64:
    """-> (n,) int64."""
    base, step = cursor.svarint(), cursor.svarint()
    cursor.expand(n)
    return _ramp(base, step, n)


def read_affine_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    """-> list of n ints."""
    base, step = cursor.svarint(), cursor.svarint()
    cursor.expand(n)
    if not step:
        return [base] * n
    if MIN <= base + step * (n - 1) <= MAX:  # the last value does not wrap, so none does
        return ramp_list(base, step, n)
    return to_list(_ramp(base, step, n))


def _ramp(base: int, step: int, n: int) -> I64:
    last = base + step * (n - 1)
    if n and step and MIN <= min(base, last) <= max(base, last) <= MAX - abs(step):
        return np.arange(base, last + step, step, dtype=np.int64)
    out = np.arange(n, dtype=WORD)
    if step != 1:
        out *= _unsigned(step)
    out += _unsigned(base)
    return out.view(INT64)


# CONST: svarint value


def write_const(sink: Sink, value: int, n: int) -> None:
    """n times `value`."""
    sink.expand(n)
    sink.u8(IntCode.CONST)
    sink.svarint(value)


def read_const(cursor: Cursor, n: int, depth: int) -> I64:
    """-> (n,) int64."""
    value = cursor.svarint()
    cursor.expand(n)
    return np.full(n, value, INT64)


def read_const_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    """-> list of n ints."""
    value = cursor.svarint()
    cursor.expand(n)
    return [value] * n


# FRAME: svarint base | u8 width | ceil(n*width/8) bytes


def write_frame(sink: Sink, values: I64, base: int, width: int) -> None:
    """(n,) int64 as offsets from `base`, each below 2**width (modulo 2**64)."""
    if not width:
        sink.expand(values.size)
    sink.u8(IntCode.FRAME)
    sink.svarint(base)
    sink.u8(width)
    for at in range(0, values.size if width else 0, PACKED_ITEMS):
        offsets = values[at : at + PACKED_ITEMS].view(WORD)
        if base:
            offsets = offsets - _unsigned(base)
        if width in PLAIN:
            sink.out += offsets.astype(PLAIN[width], order="C", copy=False).view("u1").data  # no copy in between
        else:
            sink.out += pack_bits(offsets, width)


def _frame(cursor: Cursor, n: int) -> tuple[int, int, memoryview]:
    """Base, width and packed offsets, which `check_packed` has seen."""
    base, width = cursor.svarint(), cursor.u8()
    if width > 64:
        cursor.pos -= 1
        raise cursor.fail(f"a frame of {width} bits")
    if not width:
        cursor.expand(n)
    packed = cursor.take((n * width + 7) >> 3)
    try:
        check_packed(packed, n, width)
    except DecodeError as error:
        error.pos = cursor.pos - 1
        raise
    return base, width, packed


def read_frame(cursor: Cursor, n: int, depth: int) -> I64:
    """-> (n,) int64."""
    base, width, packed = _frame(cursor, n)
    if not width:
        return np.full(n, base, INT64)
    offsets = unpack_bits(packed, n, width, WORD)
    out = offsets.astype(WORD, copy=offsets.itemsize < WORD.itemsize or width in PLAIN)  # a view is never given away
    if base:
        out += _unsigned(base)
    return out.view(INT64)


def frame_bounds(cursor: Cursor) -> tuple[int, int]:
    """The least and the most that a value of the block to come can be: of any other than a FRAME, of any int64."""
    start = cursor.pos
    if not cursor.left or cursor.u8() != IntCode.FRAME:
        cursor.pos = start
        return MIN, MAX
    base, width = cursor.svarint(), cursor.u8()
    cursor.pos = start
    return base, base + (1 << min(width, 64)) - 1


def frame_pieces(cursor: Cursor, n: int, depth: int) -> Iterator[NDArray[np.integer]]:
    """-> (n,) integers, piece by piece, in their order; each is there until the next, and is not to be written to.

    All must be taken before the cursor is used again.
    """
    base, width, packed = _frame(cursor, n)
    scratch = Scratch.borrow()
    try:
        for at in range(0, n, CHUNK):
            count = min(CHUNK, n - at)
            if width:
                yield _moved(unpack_piece(packed, at, count, width, scratch), base, width, scratch)
            else:
                yield np.full(count, base, INT64)
    finally:
        scratch.give_back()


def _moved(offsets: NDArray[np.unsignedinteger], base: int, width: int, scratch: Scratch) -> NDArray[np.integer]:
    """Offsets in a scratch -> values."""
    if not base:
        unsigned = width & 7 == 0 and width < 64  # may fill its type; of others, the signed one makes doubles sooner
        same: NDArray[np.integer] = offsets if unsigned else offsets.view(f"<i{offsets.itemsize}")
        return same
    if width <= 32 and MIN_32 <= base <= END_32 - (1 << width):
        halves: NDArray[np.int32] = scratch.upper.view(INT32)[: offsets.size]
        np.copyto(halves, offsets, casting="unsafe")
        halves += INT32.type(base)
        return halves
    words = offsets.astype(WORD, copy=width in PLAIN)
    if base:
        words += _unsigned(base)
    return words.view(INT64)


def read_frame_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    """-> list of n ints."""
    base, width, packed = _frame(cursor, n)
    if not width:
        return [base] * n
    if n <= TINY:
        return _tiny_frame(base, width, packed, n)
    if width == 8 and not base:
        return packed.tolist()
    bounds = base, base + (1 << width) - 1
    return to_list(_compact(unpack_bits(packed, n, width), base, width), bounds)


def read_frame_cells(cursor: Cursor, n: int) -> Iterable[int]:
    """-> n ints that can be iterated once."""
    base, width, packed = _frame(cursor, n)
    return Stretches(_frame_lists(base, width, packed, n)) if width else repeat(base, n)


def _frame_lists(base: int, width: int, packed: memoryview, n: int) -> Iterator[list[int]]:
    bounds = base, base + (1 << width) - 1
    for at in range(0, n, STRETCH):
        count, start = min(STRETCH, n - at), at * width >> 3
        part = packed[start : start + ((count * width + 7) >> 3)]
        yield to_list(_compact(unpack_bits(part, count, width), base, width), bounds)


def read_compact_frame(cursor: Cursor, n: int, depth: int) -> NDArray[np.int32] | I64:
    """-> (n,) int32 where all that the frame could hold is, else (n,) int64; fresh and writable."""
    base, width, packed = _frame(cursor, n)
    if not width:
        return np.full(n, base, INT64)
    compact = _compact(unpack_bits(packed, n, width), base, width)
    return compact if compact.flags.writeable else compact.copy()


def _compact(offsets: NDArray[np.unsignedinteger], base: int, width: int) -> NDArray[np.int32] | I64:
    """Offsets -> values, perhaps as a view: of int32, Python makes ints sooner than of any other type."""
    if width <= 32 and MIN_32 <= base <= END_32 - (1 << width):  # a sum may wrap on its way
        halves = offsets.view(INT32) if offsets.itemsize == INT32.itemsize else offsets.astype(INT32)
        return halves + INT32.type(base) if base else halves
    words = offsets.astype(WORD, copy=False)
    return (words + _unsigned(base) if base else words).view(INT64)


def _tiny_frame(base: int, width: int, packed: memoryview, n: int) -> list[int]:
    plain = _TINY_PLAIN.get(width)
    if plain is not None:
        items = list(plain[n](packed))
    else:
        bits, mask = int.from_bytes(packed, "little"), (1 << width) - 1
        items = [bits >> at & mask for at in range(0, n * width, width)]
    if base:
        items = [base + item for item in items]
        if width == 64 or base + (1 << width) > MAX:
            items = list(map(_signed, items))
    return items


# VARINT: uvarint nbytes | zigzag LEB128


def write_varint(sink: Sink, values: I64) -> None:
    """(n,) int64 as zigzag varints."""
    chunks = (values[at : at + CHUNK_ITEMS] for at in range(0, values.size, CHUNK_ITEMS))
    data = b"".join(encode_varints(zigzag(chunk)) for chunk in chunks)
    sink.u8(IntCode.VARINT)
    sink.uvarint(len(data))
    sink.out += data


def read_varint(cursor: Cursor, n: int, depth: int) -> I64:
    """-> (n,) int64."""
    size = cursor.uvarint()
    start = cursor.pos
    try:
        return unzigzag(decode_varints(cursor.take(size), n))
    except DecodeError as error:
        error.pos = start
        raise


def read_varint_list(cursor: Cursor, n: int, depth: int) -> list[int]:
    """-> list of n ints."""
    return to_list(read_varint(cursor, n, depth))
