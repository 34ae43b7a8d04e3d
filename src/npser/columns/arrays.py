"""numpy arrays of every dtype but object. Layout of `Kind.ARRAY`:

    uvarint d | d * dtype | [int(n) codes, if d > 1] | int(n) ndims | int(sum of ndims) dims | bits(n) Fortran order |
    d * data, the elements of the arrays of that dtype one after the other, each array in its own memory order

Strategy: a list of arrays usually has one dtype and often small arrays, so what describes them is columns, too, and the
elements of all of them are one block. Shapes are checked as Python integers, which do not overflow, and no array is
made before the bytes of its elements are there. Two readers share everything but the last step: a fresh array that
owns its memory, or a read-only view.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from npser.blocks.bits import read_bit_list
from npser.blocks.choose import write_bits, write_ints
from npser.blocks.ints import read_int_list
from npser.blocks.pages import LARGE_PAGE, empty
from npser.columns.arraydata import read_data, read_part, read_strings, write_data, write_strings
from npser.columns.dtypes import dtype_bytes, read_dtype
from npser.columns.rawitems import find_flaw
from npser.errors import EncodeError
from npser.tags import Kind
from npser.weights import CELL, KINDS, STRING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

    Array = NDArray[Any]
    Buffer = memoryview | Array
    Dtype = np.dtype[Any]
    Order = Literal["C", "F"]

__all__ = ["read_array_part", "read_array_views", "read_arrays", "write_arrays"]

MAX_NDIM = 64
"""numpy's own limit."""

MAX_SIZE = 2**63 - 1


class Form(NamedTuple):
    """What an array looks like, before there is one."""

    shape: tuple[int, ...]
    dtype: Dtype
    order: Order
    size: int


# ----------------------------------------------------------------------------------------------------- writing


def write_arrays(sink: Sink, arrays: Sequence[Array]) -> None:
    """Write n exact ndarrays. One whose dtype or elements npser cannot give back is an `EncodeError` with its place.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_arrays(sink := Sink(), [np.eye(2, dtype=">f4"), np.array(7)])
    >>> read_arrays(Cursor(memoryview(bytes(sink.out)), 1), 2)
    [array([[1., 0.],
           [0., 1.]], dtype='>f4'), array(7)]
    """
    sink.u8(Kind.ARRAY)
    base = len(sink.out)
    groups: dict[bytes, list[Array]] = {}
    code_of: dict[bytes, int] = {}
    known: dict[int, bytes] = {}  # by the id of a dtype; `arrays` keeps them alive
    codes = []
    for i, array in enumerate(arrays):
        dtype = array.dtype
        raw = known.get(id(dtype)) or known.setdefault(id(dtype), _named_bytes(dtype, i))
        if dtype.kind in "UV":
            _check_elements(array, i)
        codes.append(code_of.setdefault(raw, len(code_of)))
        groups.setdefault(raw, []).append(array)
    sink.uvarint(len(groups))
    for raw in groups:
        sink.out += raw
    if len(groups) > 1:
        write_ints(sink, np.array(codes, "<i8"))
    write_ints(sink, np.fromiter([array.ndim for array in arrays], "<i8", len(arrays)))
    write_ints(sink, np.array([dim for array in arrays for dim in array.shape], "<i8"))
    write_bits(sink, np.fromiter(map(_is_fortran, arrays), np.bool_, len(arrays)))
    sink.expand(sum([array.ndim * KINDS[Kind.INT] + array.nbytes // CELL for array in arrays]))
    for group in groups.values():
        _write_elements(sink, base, group)


def _named_bytes(dtype: Dtype, item: int) -> bytes:
    try:
        return dtype_bytes(dtype)
    except EncodeError as error:
        error.item = item
        raise


def _check_elements(array: Array, item: int) -> None:
    flaw = find_flaw(array)
    if flaw:
        raise EncodeError(flaw, item=item)


def _write_elements(sink: Sink, base: int, arrays: list[Array]) -> None:
    dtype = arrays[0].dtype
    if dtype.kind == "T":
        items = [item for array in arrays for item in _flat(array).tolist()]
        sink.expand(STRING * len(items))
        write_strings(sink, dtype, items)
    else:
        write_data(sink, base, list(map(_flat, arrays)), _parts(arrays))


def _parts(arrays: list[Array]) -> int:
    """Into how many parts of one size arrays fall: themselves, or the rows (in memory order) of one."""
    if len(arrays) > 1:
        size = arrays[0].size
        return len(arrays) if all(array.size == size for array in arrays) else 1
    (array,) = arrays
    return array.shape[-1 if _is_fortran(array) else 0] if array.ndim > 1 and array.size else 1


def _is_fortran(array: Array) -> bool:
    return array.flags.f_contiguous and not array.flags.c_contiguous


def _flat(array: Array) -> Array:
    """(size,) in memory order if that is one of the two, else in C order; a view where possible."""
    if not array.dtype.itemsize:
        return np.ndarray((0,), array.dtype)  # nothing to store, however many there are
    if array.flags.c_contiguous:
        return array.reshape(-1)
    if array.flags.f_contiguous:
        return array.T.reshape(-1)
    if array.dtype.names is None:
        return np.ascontiguousarray(array).reshape(-1)
    # as plain bytes: a copy of structures may leave out what stands between the fields
    return np.ascontiguousarray(array.view(f"V{array.dtype.itemsize}")).reshape(-1).view(array.dtype)


# ----------------------------------------------------------------------------------------------------- reading


def read_arrays(cursor: Cursor, n: int) -> list[Array]:
    """Read n arrays that are writable and own their memory."""
    return _read(cursor, n, _FRESH)


def read_array_views(cursor: Cursor, n: int) -> list[Array]:
    """Read n read-only arrays; those stored raw are views of the input, which they keep alive."""
    return _read(cursor, n, _VIEWS)


def read_array_part(cursor: Cursor, number: int) -> Array | None:
    """One part of a single array with (k, m) elements, in its memory order, stored as k parts: (m,), fresh.

    None where it is stored otherwise; IndexError where there is no such part.
    """
    base = cursor.pos
    dtypes = _read_dtypes(cursor, 1)
    (shape,) = _read_shapes(cursor, 1)
    order: Order = "F" if read_bit_list(cursor, 1)[0] else "C"
    if len(dtypes) != 1 or len(shape) != 2 or dtypes[0].kind == "T":
        return None
    form = _form(cursor, dtypes[0], shape, order)
    parts = shape[-1 if order == "F" else 0]
    return read_part(cursor, base, form.dtype, form.size, range(parts)[number], parts)


class Cutter(NamedTuple):
    """How arrays are made of the elements read."""

    one: Callable[[Form, Buffer, int], Array]
    many: Callable[[Form, Buffer, int], list[Array]]  # so many in a row of the same form
    strings: Callable[[Array], Array]


def _fresh(form: Form, raw: Buffer, offset: int) -> Array:
    if isinstance(raw, np.ndarray) and raw.size == form.size and form.order == "C":
        if raw.nbytes >= LARGE_PAGE:  # all of a new array: it only lacks its shape
            return raw.reshape(form.shape)
        if raw.flags.owndata:
            raw.resize(form.shape, refcheck=False)
            return raw
    if form.size and form.dtype.itemsize and form.dtype.names is None:
        return _copy(np.ndarray(form.shape, form.dtype, raw, offset, order=form.order), form.order)
    out: Array = np.ndarray(form.shape, form.dtype, order=form.order)
    nbytes = form.size * form.dtype.itemsize
    if nbytes:  # as plain bytes, for the sake of those between the fields
        _in_order(out, form.order).view("u1")[:] = np.frombuffer(raw, "u1", nbytes, offset)
    return out


def _copy(array: Array, order: Order) -> Array:
    if array.nbytes < LARGE_PAGE:
        return array.copy(order)
    out: Array = empty(array.size, array.dtype).reshape(array.shape, order=order)
    out[...] = array
    return out


def _fresh_rows(form: Form, raw: Buffer, count: int) -> list[Array]:
    return [row.copy() for row in np.ndarray((count, *form.shape), form.dtype, raw)]


def _view(form: Form, raw: Buffer, offset: int) -> Array:
    return _locked(np.ndarray(form.shape, form.dtype, _held(raw), offset, order=form.order))


def _view_rows(form: Form, raw: Buffer, count: int) -> list[Array]:
    return list(_locked(np.ndarray((count, *form.shape), form.dtype, _held(raw))))


def _held(raw: Buffer) -> Buffer:
    """The same memory, held: ``np.ndarray`` keeps the owner of a buffer alive but gives the buffer back, so that a
    bytearray could move it and an mmap could be closed under the array; ``np.frombuffer`` does not."""
    return np.frombuffer(raw, "u1") if len(raw) and not isinstance(raw, np.ndarray) else raw


def _locked(array: Array) -> Array:
    array.flags.writeable = False
    return array


_FRESH: Final = Cutter(_fresh, _fresh_rows, lambda array: array)
_VIEWS: Final = Cutter(_view, _view_rows, _locked)


def _in_order(array: Array, order: str) -> Array:
    """(size,) view of a contiguous array in its memory order."""
    return (array.T if order == "F" else array).reshape(-1)


def _read(cursor: Cursor, n: int, cutter: Cutter) -> list[Array]:
    base = cursor.pos
    dtypes = _read_dtypes(cursor, n)
    codes = read_int_list(cursor, n) if len(dtypes) > 1 else []
    if codes and not 0 <= min(codes) <= max(codes) < len(dtypes):
        raise cursor.fail(f"code of a dtype is out of range: there are {len(dtypes)}")
    shapes = _read_shapes(cursor, n)
    codes = codes or [0] * len(shapes)
    looks = list(zip(codes, shapes, read_bit_list(cursor, n), strict=True))
    known = {look: _form(cursor, dtypes[look[0]], look[1], "F" if look[2] else "C") for look in dict.fromkeys(looks)}
    groups: list[list[Form]] = [[] for _ in dtypes]
    for look in looks:
        groups[look[0]].append(known[look])
    made = []
    for dtype, forms in zip(dtypes, groups, strict=True):
        read = _read_string_arrays if dtype.kind == "T" else _read_plain_arrays
        made.append(iter(read(cursor, base, dtype, forms, cutter)))
    return [next(made[code]) for code in codes]


def _read_dtypes(cursor: Cursor, n: int) -> list[Dtype]:
    count = cursor.uvarint()
    if count > cursor.left or (n and not count):
        raise cursor.fail(f"{count} dtypes for {n} arrays")
    dtypes = [read_dtype(cursor) for _ in range(count)]
    if any(dtype.subdtype is not None for dtype in dtypes):
        raise cursor.fail("the dtype of an array is a subarray")
    return dtypes


def _read_shapes(cursor: Cursor, n: int) -> list[tuple[int, ...]]:
    ndims = read_int_list(cursor, n)
    if ndims and not 0 <= min(ndims) <= max(ndims) <= MAX_NDIM:
        raise cursor.fail(f"an array has 0 to {MAX_NDIM} dimensions")
    cursor.expand(sum(ndims) * KINDS[Kind.INT])
    dims = read_int_list(cursor, sum(ndims))
    if dims and min(dims) < 0:
        raise cursor.fail("a dimension is negative")
    rest = iter(dims)
    return [tuple(islice(rest, ndim)) for ndim in ndims]


def _form(cursor: Cursor, dtype: Dtype, shape: tuple[int, ...], order: Order) -> Form:
    # numpy's limit counts the bytes as if no dimension were 0
    if math.prod(dim or 1 for dim in shape) * (dtype.itemsize or 1) > MAX_SIZE:
        raise cursor.fail("an array too large for any memory")
    return Form(shape, dtype, order, math.prod(shape))


def _read_plain_arrays(cursor: Cursor, base: int, dtype: Dtype, forms: list[Form], cutter: Cutter) -> list[Array]:
    raw = read_data(cursor, base, dtype, sum(form.size for form in forms), len(forms))
    try:
        if isinstance(raw, list):
            return [cutter.one(form, part, 0) for form, part in zip(forms, raw, strict=True)]
        if len(forms) > 1 and _are_rows(forms):
            return cutter.many(forms[0], raw, len(forms))
        offset, out = 0, []
        for form in forms:
            out.append(cutter.one(form, raw, offset))
            offset += form.size * dtype.itemsize
    except ValueError:  # a numpy with lower limits than ours
        raise cursor.fail("an array that numpy refuses") from None
    return out


def _are_rows(forms: list[Form]) -> bool:
    """Whether the arrays are the rows of one array of their dtype, and nothing about them is odd."""
    first = forms[0]
    plain = first.order == "C" and first.size and first.dtype.itemsize and first.dtype.names is None
    # one dimension more must still be a legal number of them; a row of no dimensions would be a scalar
    return bool(plain) and 0 < len(first.shape) < MAX_NDIM // 2 and all(form is first for form in forms)


def _read_string_arrays(cursor: Cursor, base: int, dtype: Dtype, forms: list[Form], cutter: Cutter) -> list[Array]:
    count = sum(form.size for form in forms)
    cursor.expand(count * STRING)
    items = read_strings(cursor, dtype, count)
    start, out = 0, []
    try:
        for form in forms:
            array: Array = np.ndarray(form.shape, dtype, order=form.order)
            _in_order(array, form.order)[:] = items[start : start + form.size]
            start += form.size
            out.append(cutter.strings(array))
    except ValueError:  # a lone surrogate, or a numpy with lower limits than ours
        raise cursor.fail("strings that numpy refuses") from None
    return out
