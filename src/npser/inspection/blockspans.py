"""Where the bytes of a block go: its header, its data, and the blocks inside it.

Strategy: one table a family of blocks, total over its codes, each entry reading what its code asks for and no value
more: a block of a million items costs its header. What must be known of the values (how many bytes lengths add up
to, how often a dictionary is hit) is added up in chunks. Checks are those of the readers as far as sizes need them,
so every count is backed by bytes or by the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from npser.blocks.ints import MAX_NESTING
from npser.blocks.radix import DIGITS
from npser.inspection.intchunks import coded_total, int_chunks, total
from npser.inspection.textsizes import byte_sizes, radix_chunks, text_sizes
from npser.tags import BitCode, BytesCode, FloatCode, IntCode, TextCode

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor
    from npser.inspection.intchunks import Chunks
    from npser.inspection.pieces import Piece

__all__ = [
    "BITS",
    "BYTES",
    "FLOATS",
    "INTS",
    "TEXTS",
    "block_of",
    "chunks_of",
    "ones_of",
    "taken",
    "walk_bits",
    "walk_bytes",
    "walk_floats",
    "walk_int_body",
    "walk_ints",
    "walk_text",
]

Walk: TypeAlias = Callable[["Piece", "Cursor", int, int], None]
"""Reads what stands behind a code: (the block's piece, cursor, n, depth)."""

MAX_WIDTH = 64


def walk_ints(parent: Piece, cursor: Cursor, n: int, what: str = "ints", depth: int = 1) -> Piece:
    """A block of n integers, as a piece of its parent."""
    return block_of(parent, cursor, n, what, depth, INTS, IntCode)


def walk_floats(parent: Piece, cursor: Cursor, n: int, what: str = "doubles", depth: int = 1) -> Piece:
    """A block of n doubles."""
    return block_of(parent, cursor, n, what, depth, FLOATS, FloatCode)


def walk_bits(parent: Piece, cursor: Cursor, n: int, what: str = "bits", depth: int = 1) -> Piece:
    """A block of n booleans."""
    return block_of(parent, cursor, n, what, depth, BITS, BitCode)


def walk_text(parent: Piece, cursor: Cursor, n: int, what: str = "text", depth: int = 1) -> Piece:
    """A block of n strings."""
    return block_of(parent, cursor, n, what, depth, TEXTS, TextCode)


def walk_bytes(parent: Piece, cursor: Cursor, n: int, what: str = "bytes", depth: int = 1) -> Piece:
    """A block of n byte strings."""
    return block_of(parent, cursor, n, what, depth, BYTES, BytesCode)


def block_of(
    parent: Piece, cursor: Cursor, n: int, what: str, depth: int, table: Mapping[int, Walk], codes: type[IntEnum]
) -> Piece:
    """Any block: its code byte, and what the table says of it. It ends where reading it did, also on an error."""
    piece = parent.add(cursor.pos, what, n=n)
    try:
        code = cursor.u8()
        walk = table.get(code)
        if walk is None or depth > MAX_NESTING:
            cursor.pos -= 1
            raise cursor.fail(f"no such encoding of {what}: 0x{code:02x}, {depth} deep")
        piece.code = codes(code)
        piece.label = piece.code.name
        walk(piece, cursor, n, depth)
    finally:
        piece.stop = cursor.pos
    return piece


def walk_int_body(piece: Piece, cursor: Cursor, code: int, n: int) -> None:
    """A block of integers whose code stands elsewhere: in the lead of a list."""
    try:
        piece.code = IntCode(code)
        piece.label = piece.code.name
        INTS[code](piece, cursor, n, 1)
    finally:
        piece.stop = cursor.pos


def taken(piece: Piece, cursor: Cursor, nbytes: int, what: str) -> memoryview:
    """So many bytes of the input, as a piece of their own."""
    start = cursor.pos
    data = cursor.take(nbytes)
    piece.add(start, what, cursor.pos, piece.n)
    return data


def chunks_of(cursor: Cursor, piece: Piece) -> Chunks:
    """The values of a block of integers that was walked."""
    return int_chunks(cursor.buf, piece.start, piece.stop, piece.n)


# ------------------------------------------------------------------------------------------------------------ integers


def _affine(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    cursor.svarint()
    cursor.svarint()
    cursor.expand(n)
    piece.raw = 8 * n


def _const(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    cursor.svarint()
    cursor.expand(n)
    piece.raw = 8 * n


def _frame(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    cursor.svarint()
    width = cursor.u8()
    if width > MAX_WIDTH:
        cursor.pos -= 1
        raise cursor.fail(f"a frame of {width} bits")
    if not width:
        cursor.expand(n)
    taken(piece, cursor, (n * width + 7) >> 3, "offsets")
    piece.label = f"FRAME {width}"
    piece.raw = 8 * n


def _delta(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    if not n:
        raise cursor.fail("differences of no items")
    cursor.svarint()
    walk_ints(piece, cursor, n - 1, "differences", depth + 1)
    piece.raw = 8 * n


def _varint(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    size = cursor.uvarint()
    if not n <= size <= 10 * n:
        raise cursor.fail(f"{n} varints in {size} bytes")
    taken(piece, cursor, size, "varints")
    piece.raw = 8 * n


def _int_runs(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    r = cursor.uvarint()
    walk_ints(piece, cursor, r, "values", depth + 1)
    _lengths(piece, cursor, r, n, depth + 1)
    piece.raw = 8 * n


def _lengths(piece: Piece, cursor: Cursor, r: int, n: int, depth: int) -> None:
    """The lengths of r runs, n items together."""
    lengths = walk_ints(piece, cursor, r, "lengths of runs", depth)
    if total(chunks_of(cursor, lengths), 1, "length of a run") != n:
        raise cursor.fail(f"the runs do not add up to {n} items")
    cursor.expand(n)
    piece.label += f" {r}"


def _int_dict(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    piece.distinct = cursor.uvarint()
    walk_ints(piece, cursor, piece.distinct, "distinct", depth + 1)
    walk_ints(piece, cursor, n, "codes", depth + 1)
    piece.label += f" {piece.distinct}"
    piece.raw = 8 * n


def _int_patched(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    k = _patches(cursor, n)
    walk_ints(piece, cursor, k, "positions", depth + 1)
    walk_ints(piece, cursor, k, "exceptions", depth + 1)
    walk_ints(piece, cursor, n, "base", depth + 1)
    piece.label += f" {k}"
    piece.raw = 8 * n


def _patches(cursor: Cursor, n: int) -> int:
    k = cursor.uvarint()
    if k > n:
        raise cursor.fail(f"{k} exceptions in {n} items")
    return k


INTS: Final[dict[int, Walk]] = {
    IntCode.AFFINE: _affine,
    IntCode.CONST: _const,
    IntCode.FRAME: _frame,
    IntCode.DELTA: _delta,
    IntCode.VARINT: _varint,
    IntCode.RUNS: _int_runs,
    IntCode.DICT: _int_dict,
    IntCode.PATCHED: _int_patched,
}


# ------------------------------------------------------------------------------------------------------------- doubles


def _fixed(size: int) -> Walk:
    def walk(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
        taken(piece, cursor, n * size, "doubles")
        piece.raw = 8 * n

    return walk


def _float_const(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    cursor.take(8)
    cursor.expand(n)
    piece.raw = 8 * n


def _decimal(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    k = cursor.u8()
    walk_ints(piece, cursor, n, "integers")
    piece.label += f" {k}"
    piece.raw = 8 * n


def _float_runs(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    r = cursor.uvarint()
    walk_floats(piece, cursor, r, "values", depth + 1)
    _lengths(piece, cursor, r, n, 1)
    piece.raw = 8 * n


def _float_dict(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    piece.distinct = cursor.uvarint()
    walk_floats(piece, cursor, piece.distinct, "distinct", depth + 1)
    walk_ints(piece, cursor, n, "codes")
    piece.label += f" {piece.distinct}"
    piece.raw = 8 * n


def _float_patched(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    k = _patches(cursor, n)
    walk_ints(piece, cursor, k, "positions")
    walk_floats(piece, cursor, k, "exceptions", depth + 1)
    walk_floats(piece, cursor, n, "base", depth + 1)
    piece.label += f" {k}"
    piece.raw = 8 * n


FLOATS: Final[dict[int, Walk]] = {
    FloatCode.F64: _fixed(8),
    FloatCode.F32: _fixed(4),
    FloatCode.CONST: _float_const,
    FloatCode.DECIMAL: _decimal,
    FloatCode.RUNS: _float_runs,
    FloatCode.DICT: _float_dict,
    FloatCode.PATCHED: _float_patched,
}


# ---------------------------------------------------------------------------------------------------------------- bits


def _packed(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    taken(piece, cursor, (n + 7) >> 3, "packed")
    piece.raw = n


def _bit_const(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    if cursor.u8() > 1:
        raise cursor.fail("a bit that is neither 0 nor 1")
    cursor.expand(n)
    piece.raw = n


def _bit_runs(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    if cursor.u8() > 1:
        raise cursor.fail("a bit that is neither 0 nor 1")
    _lengths(piece, cursor, cursor.uvarint(), n, 1)
    piece.raw = n


BITS: Final[dict[int, Walk]] = {BitCode.BITS: _packed, BitCode.CONST: _bit_const, BitCode.RUNS: _bit_runs}

ONES_CHUNK = 1 << 20


def ones_of(cursor: Cursor, piece: Piece) -> int:
    """How many of the bits of a block that was walked are 1."""
    first = cursor.buf[piece.start + 1]
    if piece.code is BitCode.CONST:
        return piece.n * first
    if piece.code is BitCode.RUNS:
        out, at = 0, first
        for chunk in chunks_of(cursor, piece.children[0]):
            out += int(chunk[1 - (at & 1) :: 2].sum(dtype="<i8"))
            at += chunk.size
        return out
    data = np.frombuffer(cursor.buf[piece.start + 1 : piece.stop], "<u1")
    if piece.n & 7 and int(data[-1]) >> (piece.n & 7):
        raise cursor.fail("the padding bits are not zero")
    parts = (data[at : at + ONES_CHUNK] for at in range(0, data.size, ONES_CHUNK))
    return sum(int(np.bincount(part, minlength=256) @ _ONES) for part in parts)


_ONES: Final = np.unpackbits(np.arange(256, dtype="<u1")[:, None], axis=1).sum(axis=1, dtype="<i8")


# -------------------------------------------------------------------------------------------------- text, byte strings


def _split(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    separator, nbytes = cursor.u8(), cursor.uvarint()
    if separator > 0x1F or not 0 < n <= nbytes + 1:
        raise cursor.fail(f"{n} items cannot be split out of {nbytes} bytes by {separator:#04x}")
    taken(piece, cursor, nbytes, "text")
    piece.raw = nbytes - (n - 1)


def _sized(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    walk_ints(piece, cursor, n, "lengths")
    nbytes = cursor.uvarint()
    taken(piece, cursor, nbytes, "text")
    piece.raw = nbytes


def _text_dict(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    piece.distinct = cursor.uvarint()
    distinct = walk_text(piece, cursor, piece.distinct, "distinct", depth + 1)
    codes = walk_ints(piece, cursor, n, "codes")
    piece.label += f" {piece.distinct}"
    piece.raw = coded_total(chunks_of(cursor, codes), text_sizes(cursor.buf, distinct)) if n else 0


def _radix(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    piece.distinct = base = cursor.uvarint()
    if not 2 <= base < len(DIGITS):
        raise cursor.fail(f"{base} distinct strings have no digits")
    distinct = walk_text(piece, cursor, base, "distinct", depth + 1)
    words = taken(piece, cursor, -(-n // DIGITS[base]) * 2, "codes")
    piece.label += f" {base}"
    piece.raw = coded_total(radix_chunks(words, base, n), text_sizes(cursor.buf, distinct))


def _stem(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    separator, mark = cursor.u8(), cursor.u8()
    stem = taken(piece, cursor, cursor.uvarint(), "stem")
    nbytes = cursor.uvarint()
    if separator > 0x1F or mark > 0x1F or separator == mark or not 0 < n <= nbytes + 1:
        raise cursor.fail(f"{n} items cannot be split out of {nbytes} bytes by {separator:#04x}")
    text = np.frombuffer(taken(piece, cursor, nbytes, "text"), "<u1")
    parts = (text[at : at + ONES_CHUNK] for at in range(0, nbytes, ONES_CHUNK))
    marks = sum(int(np.count_nonzero(part == mark)) for part in parts)
    cursor.expand(len(stem) * marks)
    piece.raw = nbytes - (n - 1) + (len(stem) - 1) * marks


TEXTS: Final[dict[int, Walk]] = {
    TextCode.SPLIT: _split,
    TextCode.LENGTHS: _sized,
    TextCode.WTF8: _sized,
    TextCode.DICT: _text_dict,
    TextCode.RADIX: _radix,
    TextCode.STEM: _stem,
}


def _byte_lengths(piece: Piece, cursor: Cursor, n: int, _depth: int) -> None:
    lengths = walk_ints(piece, cursor, n, "lengths")
    piece.raw = total(chunks_of(cursor, lengths), 0, "length")
    taken(piece, cursor, piece.raw, "items")


def _bytes_dict(piece: Piece, cursor: Cursor, n: int, depth: int) -> None:
    piece.distinct = cursor.uvarint()
    distinct = walk_bytes(piece, cursor, piece.distinct, "distinct", depth + 1)
    codes = walk_ints(piece, cursor, n, "codes")
    piece.label += f" {piece.distinct}"
    piece.raw = coded_total(chunks_of(cursor, codes), byte_sizes(cursor.buf, distinct)) if n else 0


BYTES: Final[dict[int, Walk]] = {BytesCode.LENGTHS: _byte_lengths, BytesCode.DICT: _bytes_dict}
