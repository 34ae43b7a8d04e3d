"""The elements of the arrays of one dtype <-> one data block.

    wire:  u8 form | RAW:    uvarint nbytes | from 4096 bytes on: zeros up to a multiple of 64 from `base` | nbytes
                     INTS:   int(count)      little-endian i, u, M, m of 1 to 8 bytes; u8 wraps from 2**63 on
                     FLOATS: float(count)    <f8
                     TEXT:   [bits(count) present, if the dtype has None or nan for absent] | text(count of present)
                     BITS:   bits(count)     bool
                     PARTS:  uvarint r | r * u64 nbytes | r * data of count / r elements each, none of them PARTS

Strategy: an array is asked for by people who want its memory, so raw bytes, aligned, are the rule, and an encoding must
save a good part of them to be chosen. Long data is tried on a few stretches first: random bytes should not be paid for
with a full attempt. What is read is in either case a run of raw bytes to cut arrays from (strings: a list).
Columns differ from each other more than what is within them, so large arrays of one size, and the rows of a large one
(the columns of one in Fortran order), are blocks of their own: one of them can then be read without the others.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from npser.blocks.bits import read_bits
from npser.blocks.choose import write_bits, write_floats, write_ints
from npser.blocks.filling import fill_floats, fill_ints
from npser.blocks.floats import read_floats
from npser.blocks.ints import read_compact_ints, read_ints
from npser.blocks.pages import LARGE_PAGE, empty
from npser.blocks.sink import Sink
from npser.columns.copies import read_copied_text, write_copied_text
from npser.columns.rawitems import find_flaw, settled
from npser.errors import TruncatedError
from npser.weights import CELL

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from npser.blocks.cursor import Cursor

    Dtype = np.dtype[Any]
    Array = NDArray[Any]

__all__ = [
    "ALIGNED_BYTES",
    "ALIGNMENT",
    "DataForm",
    "read_data",
    "read_part",
    "read_strings",
    "write_data",
    "write_strings",
]


class DataForm(IntEnum):
    """How the elements of one dtype are stored."""

    RAW = 0
    INTS = 1
    FLOATS = 2
    TEXT = 3
    BITS = 4
    PARTS = 5


ALIGNMENT = 64
"""A cache line, and what the widest vector loads like; numpy's own npy files use it, too."""

ALIGNED_BYTES = 4096
"""Raw data below this is not worth up to 63 bytes of padding."""

TRIED_BYTES = 32
"""Raw data below this is left alone: a block would save a few bytes and cost a few microseconds."""

STRETCH, STRETCHES = 4096, 3
"""Longer data is first tried on so many stretches of so many elements."""

PART_BYTES = 1 << 15
"""Parts of less raw data are one block together: each block costs some microseconds, to write and to read."""

TRIED_PARTS = 3
"""Parts that are written before it is given up, if all of them are raw."""

SIZE: Final = np.dtype("<u8")

MAX_COUNT = 1 << 62


def write_data(sink: Sink, base: int, flats: list[Array], parts: int = 1) -> None:
    """Write the elements of arrays of one dtype that is not StringDType.

    Parameters
    ----------
    base : int
        Where the body of the column starts in the sink; alignment counts from there.
    flats : list of (size,) arrays, at least one
        Contiguous, all of the same dtype.
    parts : int
        How many parts of one size they fall into by themselves: as many as there are arrays, or rows of a single one.
    """
    dtype = flats[0].dtype
    nbytes = sum(flat.nbytes for flat in flats)
    if parts > 1 and nbytes >= parts * PART_BYTES and _plan(dtype) and _write_parts(sink, base, flats, parts):
        return
    plan = _plan(dtype) if nbytes >= TRIED_BYTES or dtype.kind == "b" else None
    if plan is None or not plan(sink, flats, nbytes):
        _write_raw(sink, base, flats, nbytes)


def _write_parts(sink: Sink, base: int, flats: list[Array], parts: int) -> bool:
    start, expanded = len(sink.out), sink.expanded
    sink.u8(DataForm.PARTS)
    sink.uvarint(parts)
    directory = len(sink.out)
    sink.out += bytes(SIZE.itemsize * parts)
    sizes, forms = np.empty(parts, SIZE), set()
    for number, part in enumerate(flats if len(flats) == parts else flats[0].reshape(parts, -1)):
        begin = len(sink.out)
        write_data(sink, base, [part])
        sizes[number] = len(sink.out) - begin
        forms.add(sink.out[begin])
        if number + 1 == min(parts, TRIED_PARTS) and forms == {DataForm.RAW}:
            del sink.out[start:]
            sink.expanded = expanded
            return False
    sink.out[directory : directory + sizes.nbytes] = sizes.tobytes()
    return True


def _write_raw(sink: Sink, base: int, flats: list[Array], nbytes: int) -> None:
    sink.u8(DataForm.RAW)
    sink.uvarint(nbytes)
    if nbytes >= ALIGNED_BYTES:
        sink.out += bytes((base - len(sink.out)) % ALIGNMENT)
    if nbytes // len(flats) < ALIGNED_BYTES or flats[0].dtype.char in "gG":
        sink.out += b"".join([settled(flat.dtype, flat.tobytes()) for flat in flats])
        return
    for flat in flats:
        if flat.nbytes:  # without a copy in between
            sink.out += flat.view("u1").data


def _plan(dtype: Dtype) -> Callable[[Sink, list[Array], int], bool] | None:
    """What to try before RAW; a plan writes nothing and says False if it saves too little."""
    if dtype.kind == "b":
        return _try_bits
    if _holds_ints(dtype):
        return _try_ints
    return _try_floats if _holds_floats(dtype) else None


def _is_little(dtype: Dtype) -> bool:
    return dtype.newbyteorder("<") == dtype


def _holds_ints(dtype: Dtype) -> bool:
    return dtype.kind in "iuMm" and _is_little(dtype)


def _holds_floats(dtype: Dtype) -> bool:
    return dtype.kind == "f" and dtype.itemsize == 8 and _is_little(dtype)


def _join(flats: list[Array]) -> Array:
    return flats[0] if len(flats) == 1 else np.concatenate(flats)


def _try_bits(sink: Sink, flats: list[Array], nbytes: int) -> bool:
    if not nbytes:
        return False
    sink.u8(DataForm.BITS)
    write_bits(sink, _join(flats))
    return True


def _try_ints(sink: Sink, flats: list[Array], nbytes: int) -> bool:
    flat = _join(flats)
    values = flat.view("<i8") if flat.dtype.itemsize == 8 else flat.astype("<i8")
    kept = (1, 2) if flat.dtype.itemsize < 4 else (3, 4)
    return _try(sink, DataForm.INTS, write_ints, values, flat.dtype.itemsize, kept)


def _try_floats(sink: Sink, flats: list[Array], nbytes: int) -> bool:
    return _try(sink, DataForm.FLOATS, write_floats, _join(flats).view("<f8"), 8, (3, 4))


def _try(
    sink: Sink, form: DataForm, write: Callable[[Sink, Any], None], values: Array, itemsize: int, kept: tuple[int, int]
) -> bool:
    """Write a block if it takes at most `kept` (a fraction) of the raw bytes."""
    part, whole = kept

    def attempt(stretches: list[Array]) -> Sink | None:
        trial = Sink()
        for stretch in stretches:
            write(trial, stretch)
        raw = sum(stretch.size for stretch in stretches) * itemsize
        return trial if len(trial.out) * whole <= raw * part else None

    if values.size > 2 * STRETCH * STRETCHES:
        starts = np.linspace(0, values.size - STRETCH, STRETCHES).astype("<i8").tolist()
        if attempt([values[start : start + STRETCH] for start in starts]) is None:
            return False
    block = attempt([values])
    if block is None:
        return False
    sink.u8(form)
    sink.out += block.out
    sink.expand(block.expanded)
    return True


def read_data(
    cursor: Cursor, base: int, dtype: Dtype, count: int, arrays: int = 1
) -> memoryview | Array | list[memoryview | Array]:
    """Read `count` elements of a dtype that is not StringDType: a view of the input if RAW, else a new (count,) array.

    They are a list of one for each of several `arrays` where these are parts. `count` may be any number: nothing is
    allocated before the bytes are there or the budget allows it.
    """
    form = cursor.u8()
    if form == DataForm.PARTS:
        return _read_parts(cursor, base, dtype, count, arrays)
    return _read_form(cursor, base, dtype, count, form)


def _read_form(cursor: Cursor, base: int, dtype: Dtype, count: int, form: int) -> memoryview | Array:
    if form == DataForm.RAW:
        return _read_raw(cursor, base, dtype, count)
    _check_form(cursor, dtype, count, form)
    cursor.expand(count * dtype.itemsize // CELL)
    fill = _FILLS.get(form) if count * dtype.itemsize >= LARGE_PAGE and _is_paid(cursor, count) else None
    if fill is None:
        return _BLOCKS[form](cursor, dtype, count)
    out: Array = empty(count, dtype)
    fill(cursor, out)
    return out


def _is_paid(cursor: Cursor, count: int) -> bool:
    """Whether there may be so many elements: each is a bit at least, or is drawn from the budget."""
    return count <= 8 * cursor.left + cursor.budget


def _check_form(cursor: Cursor, dtype: Dtype, count: int, form: int) -> None:
    fits = _FITS.get(form)
    if fits is None or not fits(dtype):
        raise cursor.fail(f"elements of {dtype!r} in the form {form}")
    if count > MAX_COUNT:
        raise TruncatedError(f"{count} elements in a block", pos=cursor.pos)


def _open_parts(cursor: Cursor, count: int) -> tuple[list[int], int]:
    """The sizes of the parts, and how many elements each has."""
    parts = cursor.uvarint()
    if parts < 2 or count % parts:
        raise cursor.fail(f"{parts} parts of {count} elements")
    sizes: list[int] = np.frombuffer(cursor.take(SIZE.itemsize * parts), SIZE).tolist()
    if sum(sizes) > cursor.left:
        raise TruncatedError(f"parts of {sum(sizes)} bytes, {cursor.left} left", pos=cursor.pos)
    return sizes, count // parts


def _read_parts(
    cursor: Cursor, base: int, dtype: Dtype, count: int, arrays: int
) -> Array | list[memoryview | Array]:
    sizes, size = _open_parts(cursor, count)
    if arrays == len(sizes):
        apart: list[memoryview | Array] = []
        for nbytes in sizes:
            stop = cursor.pos + nbytes
            apart.append(_read_form(cursor, base, dtype, size, cursor.u8()))
            _check_stop(cursor, stop)
        return apart
    if not _is_paid(cursor, count):
        raise TruncatedError(f"{count} elements in {cursor.left} bytes", pos=cursor.pos)
    out: Array = empty(count, dtype)
    for number, nbytes in enumerate(sizes):
        stop = cursor.pos + nbytes
        _read_into(cursor, base, out[number * size : number * size + size])
        _check_stop(cursor, stop)
    return out


def _check_stop(cursor: Cursor, stop: int) -> None:
    if cursor.pos != stop:
        raise cursor.fail(f"a part that ends {abs(stop - cursor.pos)} bytes before or after its place")


def _read_into(cursor: Cursor, base: int, out: Array) -> None:
    form, dtype = cursor.u8(), out.dtype
    fill = _FILLS.get(form)
    if fill is None:
        part = _read_form(cursor, base, dtype, out.size, form)
        out[:] = part if isinstance(part, np.ndarray) else np.frombuffer(part, dtype)
    else:
        _check_form(cursor, dtype, out.size, form)
        fill(cursor, out)


def read_part(
    cursor: Cursor, base: int, dtype: Dtype, count: int, number: int, parts: int
) -> Array | None:
    """One of so many parts of `count` elements, and nothing but that; None where they are not stored so."""
    if cursor.u8() != DataForm.PARTS:
        return None
    sizes, each = _open_parts(cursor, count)
    if len(sizes) != parts:
        return None
    cursor.take(sum(sizes[:number]))
    stop = cursor.pos + sizes[number]
    if each > 8 * sizes[number] + cursor.budget:
        raise TruncatedError(f"{each} elements in {sizes[number]} bytes", pos=cursor.pos)
    part: Array = empty(each, dtype)
    _read_into(cursor, base, part)
    _check_stop(cursor, stop)
    return part


def _read_raw(cursor: Cursor, base: int, dtype: Dtype, count: int) -> memoryview:
    nbytes = cursor.uvarint()
    if nbytes != count * dtype.itemsize:
        raise cursor.fail(f"{nbytes} bytes of data for {count} elements of {dtype.itemsize} bytes")
    if nbytes >= ALIGNED_BYTES and any(cursor.take((base - cursor.pos) % ALIGNMENT)):
        raise cursor.fail("padding that is not zero")
    start = cursor.pos
    raw = cursor.take(nbytes)
    if nbytes:
        flaw = find_flaw(np.frombuffer(raw, dtype))
        if flaw:
            cursor.pos = start
            raise cursor.fail(flaw)
    return raw


def _read_int_items(cursor: Cursor, dtype: Dtype, count: int) -> Array:
    if dtype.itemsize == 8:
        words = read_ints(cursor, count)
        return words if dtype.type is words.dtype.type else words.view(dtype)
    values = read_compact_ints(cursor, count)
    if values.dtype == dtype:
        return values
    info = np.iinfo(dtype)
    if count and not (info.min <= int(values.min()) and int(values.max()) <= info.max):
        raise cursor.fail(f"an element out of the range of {dtype!r}")
    return values.astype(dtype)


_FITS: Final[dict[int, Callable[[Dtype], bool]]] = {
    DataForm.INTS: _holds_ints,
    DataForm.FLOATS: _holds_floats,
    DataForm.BITS: lambda dtype: dtype.kind == "b",
}

_BLOCKS: Final[dict[int, Callable[[Cursor, Dtype, int], Array]]] = {
    DataForm.INTS: _read_int_items,
    DataForm.FLOATS: lambda cursor, dtype, count: read_floats(cursor, count).astype(dtype, copy=False),
    DataForm.BITS: lambda cursor, dtype, count: read_bits(cursor, count),
}

_FILLS: Final[dict[int, Callable[[Cursor, Array], None]]] = {DataForm.INTS: fill_ints, DataForm.FLOATS: fill_floats}


def _marks_absent(dtype: Any) -> bool:
    """Whether a StringDType has None or nan for an absent string."""
    return hasattr(dtype, "na_object") and type(dtype.na_object) is not str


def write_strings(sink: Sink, dtype: Dtype, items: list[Any]) -> None:
    """Write the elements of arrays of one StringDType, as `tolist()` gives them."""
    sink.u8(DataForm.TEXT)
    if _marks_absent(dtype):
        present = [type(item) is str for item in items]
        write_bits(sink, np.fromiter(present, np.bool_, len(present)))
        items = [item for item in items if type(item) is str]
    write_copied_text(sink, items)


def read_strings(cursor: Cursor, dtype: Dtype, count: int) -> list[Any]:
    """Read `count` elements of a StringDType: strings, and its object for an absent one."""
    form = cursor.u8()
    if form != DataForm.TEXT:
        raise cursor.fail(f"elements of a StringDType in the form {form}")
    if count > MAX_COUNT:
        raise TruncatedError(f"{count} elements in a block", pos=cursor.pos)
    if not _marks_absent(dtype):
        return read_copied_text(cursor, count)
    present = read_bits(cursor, count).tolist()
    texts = iter(read_copied_text(cursor, sum(present)))
    absent = cast("Any", dtype).na_object
    return [next(texts) if here else absent for here in present]
