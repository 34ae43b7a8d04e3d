"""Where the bytes of numpy arrays and scalars go: dtypes, shapes, and the elements.

Strategy: as the readers, but no array is made: raw elements are a range of bytes. Their raw size is count * itemsize.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, repeat
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from npser.blocks.cursor import Cursor
from npser.columns.arraydata import ALIGNED_BYTES, ALIGNMENT, DataForm
from npser.columns.dtypes import read_dtype
from npser.errors import TruncatedError
from npser.inspection.blockspans import (
    chunks_of,
    ones_of,
    taken,
    walk_bits,
    walk_bytes,
    walk_floats,
    walk_ints,
    walk_text,
)
from npser.inspection.intchunks import counts, int_chunks
from npser.inspection.pieces import Piece

if TYPE_CHECKING:
    Dtype = np.dtype[Any]
    Codes: TypeAlias = Callable[[Piece, Cursor, int], Piece]

__all__ = ["FORMS", "MAX_NDIM", "walk_arrays", "walk_scalars"]

MAX_NDIM = 64
MAX_SIZE = 2**63 - 1
SHOWN_DTYPE = 60
MAX_TOLD_APART = 1024
"""Dtypes of one column whose elements are told apart."""


def walk_arrays(piece: Piece, cursor: Cursor, n: int) -> None:
    """The body of a column of n arrays."""
    base = cursor.pos
    dtypes = _dtypes(piece, cursor, n)
    codes = _ints(cursor, walk_ints(piece, cursor, n, "dtype of each")) if len(dtypes) > 1 else []
    if codes and not 0 <= min(codes) <= max(codes) < len(dtypes):
        raise cursor.fail(f"code of a dtype is out of range: there are {len(dtypes)}")
    ndims = _ints(cursor, walk_ints(piece, cursor, n, "number of dimensions"))
    if ndims and not 0 <= min(ndims) <= max(ndims) <= MAX_NDIM:
        raise cursor.fail(f"an array has 0 to {MAX_NDIM} dimensions")
    dims = _ints(cursor, walk_ints(piece, cursor, sum(ndims), "dimensions"))
    if dims and min(dims) < 0:
        raise cursor.fail("a dimension is negative")
    walk_bits(piece, cursor, n, "Fortran order")
    rest = iter(dims)
    counts_of = [0] * len(dtypes)
    for code, ndim in zip(codes or repeat(0, n), ndims, strict=True):
        shape = tuple(islice(rest, ndim))
        if prod(dim or 1 for dim in shape) * (dtypes[code].itemsize or 1) > MAX_SIZE:
            raise cursor.fail("an array too large for any memory")
        counts_of[code] += prod(shape)
    raw = 0
    for dtype, count in zip(dtypes, counts_of, strict=True):
        data = _one_of(piece, cursor, "data", count)
        try:
            _data(data, cursor, base, dtype, count)
        finally:
            data.stop = cursor.pos
        raw += data.raw
    piece.raw = raw
    piece.n = sum(counts_of)
    piece.dtype = _shown(dtypes)
    piece.label = _label(n, tuple(dims) if n == 1 else None)


def _one_of(piece: Piece, cursor: Cursor, what: str, n: int) -> Piece:
    """A piece for one dtype, while they are not too many."""
    if len(piece.children) < MAX_TOLD_APART:
        return piece.add(cursor.pos, what, n=n)
    return Piece(cursor.pos, what, n=n)


def _label(n: int, shape: tuple[int, ...] | None) -> str:
    return f"{n} arrays" if shape is None else f"shape {shape}"


def _ints(cursor: Cursor, piece: Piece) -> list[int]:
    out: list[int] = []
    for chunk in int_chunks(cursor.buf, piece.start, piece.stop, piece.n):
        out += chunk.tolist()
    return out


def _dtypes(piece: Piece, cursor: Cursor, n: int) -> list[Dtype]:
    part = piece.add(cursor.pos, "dtypes")
    try:
        count = cursor.uvarint()
        if count > cursor.left or (n and not count):
            raise cursor.fail(f"{count} dtypes for {n} items")
        dtypes = [read_dtype(cursor) for _ in range(count)]
    finally:
        part.stop = cursor.pos
    part.n = count
    return dtypes


def _shown(dtypes: list[Dtype]) -> str:
    text = " | ".join(str(dtype) for dtype in dtypes[:8])
    return text if len(text) <= SHOWN_DTYPE else text[: SHOWN_DTYPE - 1] + "…"


def _data(piece: Piece, cursor: Cursor, base: int, dtype: Dtype, count: int, without: int = -1) -> None:
    form = cursor.u8()
    if form not in FORMS or form == without:
        raise cursor.fail(f"no such form of elements: {form}")
    piece.code = DataForm(form)
    piece.label = piece.code.name
    piece.dtype = str(dtype)[:SHOWN_DTYPE]
    piece.raw = count * dtype.itemsize
    FORMS[form](piece, cursor, base, dtype, count)


def _raw(piece: Piece, cursor: Cursor, base: int, dtype: Dtype, count: int) -> None:
    nbytes = cursor.uvarint()
    if nbytes != count * dtype.itemsize:
        raise cursor.fail(f"{nbytes} bytes of data for {count} elements of {dtype.itemsize} bytes")
    if nbytes >= ALIGNED_BYTES:
        taken(piece, cursor, (base - cursor.pos) % ALIGNMENT, "padding")
    taken(piece, cursor, nbytes, "elements")


def _texts(piece: Piece, cursor: Cursor, _base: int, dtype: Dtype, count: int) -> None:
    na = getattr(dtype, "na_object", "")
    if type(na) is not str:
        count = ones_of(cursor, walk_bits(piece, cursor, count, "present"))
    piece.raw = walk_text(piece, cursor, count, "elements").raw


def _parts(piece: Piece, cursor: Cursor, base: int, dtype: Dtype, count: int) -> None:
    parts = cursor.uvarint()
    if parts < 2 or count % parts:
        raise cursor.fail(f"{parts} parts of {count} elements")
    sizes = np.frombuffer(taken(piece, cursor, 8 * parts, "bytes of each part"), "<u8").tolist()
    if sum(sizes) > cursor.left:
        raise TruncatedError(f"parts of {sum(sizes)} bytes, {cursor.left} left", pos=cursor.pos)
    for size in sizes:
        stop = cursor.pos + size
        part = _one_of(piece, cursor, "part", count // parts)
        try:
            _data(part, cursor, base, dtype, count // parts, DataForm.PARTS)
        finally:
            part.stop = cursor.pos
        if cursor.pos != stop:
            raise cursor.fail(f"a part that ends {abs(stop - cursor.pos)} bytes before or after its place")


FORMS: Final[dict[int, Callable[[Piece, Cursor, int, Dtype, int], object]]] = {
    DataForm.RAW: _raw,
    DataForm.INTS: lambda piece, cursor, _base, _dtype, count: walk_ints(piece, cursor, count, "elements"),
    DataForm.FLOATS: lambda piece, cursor, _base, _dtype, count: walk_floats(piece, cursor, count, "elements"),
    DataForm.TEXT: _texts,
    DataForm.BITS: lambda piece, cursor, _base, _dtype, count: walk_bits(piece, cursor, count, "elements"),
    DataForm.PARTS: _parts,
}
"""Form -> how elements are stored; total."""


def walk_scalars(piece: Piece, cursor: Cursor, n: int, walk_codes: Codes) -> None:
    """The body of a column of n numpy scalars."""
    dtypes = _dtypes(piece, cursor, n)
    each = [n] * len(dtypes)
    if len(dtypes) > 1:
        codes = walk_codes(piece, cursor, n)
        each = counts(chunks_of(cursor, codes), len(dtypes), "dtype").tolist()
    for dtype, k in zip(dtypes, each, strict=True):
        part = _one_of(piece, cursor, "items", k)
        try:
            _items(part, cursor, dtype, k)
        finally:
            part.stop = cursor.pos
        part.dtype = str(dtype)[:SHOWN_DTYPE]
    piece.dtype = _shown(dtypes)


def _items(piece: Piece, cursor: Cursor, dtype: Dtype, k: int) -> None:
    if dtype == np.dtype("<U0"):
        piece.raw = walk_text(piece, cursor, k).raw
    elif dtype == np.dtype("S0"):
        piece.raw = walk_bytes(piece, cursor, k).raw
    elif dtype.kind in "USTO" or dtype.subdtype is not None:
        raise cursor.fail(f"no scalar has the dtype {str(dtype)[:SHOWN_DTYPE]}")
    elif not dtype.itemsize:
        piece.raw = walk_bits(piece, cursor, k).raw
    else:
        taken(piece, cursor, k * dtype.itemsize, "items")
        piece.raw = k * dtype.itemsize
