"""How many bytes each string of a block has, without making the strings.

Strategy: a separator is a byte to look for; a code point is a byte that is not a continuation (RFC 3629: those are
10xxxxxx). Both are found by numpy, a megabyte at a time, so that what it needs in between does not grow with the text.
Only dictionaries and the pool of texts are asked for this; of other text, the sum is known from its header.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from npser.blocks.radix import DIGITS
from npser.errors import DecodeError
from npser.inspection.intchunks import int_chunks
from npser.tags import BytesCode, TextCode

if TYPE_CHECKING:
    from npser.inspection.intchunks import Chunks
    from npser.inspection.pieces import Piece

__all__ = ["byte_sizes", "radix_chunks", "split_sizes", "text_sizes"]

Sizes: TypeAlias = NDArray[np.int64]

CHUNK_BYTES = 1 << 20
CHUNK_WORDS = 1 << 14
CONTINUATION = 0xC0, 0x80
"""A byte continues a code point if these bits of it are that."""


def text_sizes(buf: memoryview, piece: Piece) -> Sizes:
    """(n,) bytes each, of the strings of a block that was walked; without separators.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.inspection.blockspans import walk_text
    >>> from npser.inspection.pieces import Piece
    >>> block = memoryview(bytes([TextCode.SPLIT, 0, 4]) + b"a\\0bc")
    >>> text_sizes(block, walk_text(Piece(0, "payload"), Cursor(block), 2))
    array([1, 2])
    """
    return _SIZES[int(piece.code or 0)](buf, piece)


def byte_sizes(buf: memoryview, piece: Piece) -> Sizes:
    """(n,) bytes each, of the byte strings of a block that was walked."""
    if piece.code is BytesCode.LENGTHS:
        return _ints(buf, piece.children[0])
    distinct, codes = piece.children
    return byte_sizes(buf, distinct).take(_ints(buf, codes))


def _ints(buf: memoryview, piece: Piece) -> Sizes:
    chunks = list(int_chunks(buf, piece.start, piece.stop, piece.n))
    out: Sizes = np.concatenate(chunks).astype("<i8", copy=False) if chunks else np.empty(0, "<i8")
    return out


def _found(blob: memoryview, match: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> Sizes:
    """Where the bytes are that match."""
    data = np.frombuffer(blob, "<u1")
    dtype = "<u4" if data.size < 1 << 32 else "<i8"
    parts = [
        (np.flatnonzero(match(data[at : at + CHUNK_BYTES])) + at).astype(dtype)
        for at in range(0, data.size, CHUNK_BYTES)
    ]
    return np.concatenate(parts).astype("<i8") if parts else np.empty(0, "<i8")


def split_sizes(buf: memoryview, piece: Piece) -> Sizes:
    """(n,) bytes each as they are stored between separators, of a SPLIT or a STEM."""
    separator = buf[piece.start + 1]
    text = piece.children[-1]
    marks = _found(buf[text.start : text.stop], lambda data: data == separator)
    if marks.size != piece.n - 1:
        raise DecodeError(f"the separators do not make {piece.n} items", pos=text.start)
    sizes: Sizes = np.diff(marks, prepend=-1, append=text.nbytes) - 1
    return sizes


def _stem_sizes(buf: memoryview, piece: Piece) -> Sizes:
    stem, text = piece.children
    sizes = split_sizes(buf, piece)
    mark = buf[piece.start + 2]
    places = _found(buf[text.start : text.stop], lambda data: data == mark)
    ends = (sizes + 1).cumsum()
    marks = np.diff(np.searchsorted(places, ends), prepend=0)
    whole: Sizes = sizes + marks * (stem.nbytes - 1)
    return whole


def _sized_sizes(buf: memoryview, piece: Piece) -> Sizes:
    lengths, text = piece.children
    points = _ints(buf, lengths)
    mask, continued = CONTINUATION
    starts = _found(buf[text.start : text.stop], lambda data: (data & mask) != continued)
    if points.size and (int(points.min()) < 0 or int(points.max()) > starts.size):
        raise DecodeError("a length is out of range", pos=lengths.start)
    ends = points.cumsum()
    if int(ends[-1] if ends.size else 0) != starts.size:
        raise DecodeError("the lengths do not add up to the text", pos=lengths.start)
    sizes: Sizes = np.diff(np.append(starts, text.nbytes)[ends], prepend=0)
    return sizes


def _dict_sizes(buf: memoryview, piece: Piece) -> Sizes:
    distinct, codes = piece.children
    return _chosen(text_sizes(buf, distinct), _ints(buf, codes))


def _radix_sizes(buf: memoryview, piece: Piece) -> Sizes:
    distinct, codes = piece.children
    chunks = list(radix_chunks(buf[codes.start : codes.stop], distinct.n, piece.n))
    return _chosen(text_sizes(buf, distinct), np.concatenate(chunks) if chunks else np.empty(0, "<i8"))


def _chosen(sizes: Sizes, codes: Sizes) -> Sizes:
    if codes.size and (int(codes.min()) < 0 or int(codes.max()) >= sizes.size):
        raise DecodeError(f"a code is outside 0..{sizes.size - 1}")
    return sizes.take(codes)


_SIZES: Final[dict[int, Callable[[memoryview, Any], Sizes]]] = {
    TextCode.SPLIT: split_sizes,
    TextCode.LENGTHS: _sized_sizes,
    TextCode.WTF8: _sized_sizes,
    TextCode.DICT: _dict_sizes,
    TextCode.RADIX: _radix_sizes,
    TextCode.STEM: _stem_sizes,
}


def radix_chunks(data: memoryview, base: int, n: int) -> Chunks:
    """The n codes in words of sixteen bits, several to a word, as digits to that base.

    >>> [chunk.tolist() for chunk in radix_chunks(memoryview(bytes([0x4E, 0x06])), 3, 7)]
    [[0, 1, 2, 2, 1, 0, 2]]
    """
    digits = DIGITS[base]
    words = np.frombuffer(data, "<u2")
    for at in range(0, words.size, CHUNK_WORDS):
        rest = words[at : at + CHUNK_WORDS].astype("<i8")
        codes = np.empty((rest.size, digits), "<i8")
        for place in range(digits):
            rest, codes[:, place] = np.divmod(rest, base)
        yield codes.reshape(-1)[: n - at * digits]
