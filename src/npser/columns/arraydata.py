"""The elements of the arrays of one dtype <-> one data block.

    wire:  u8 form | RAW:    uvarint nbytes | from 4096 bytes on: zeros up to a multiple of 64 from `base` | nbytes
                     INTS:   int(count)      little-endian i, u, M, m of 1 to 8 bytes; u8 wraps from 2**63 on
                     FLOATS: float(count)    <f8
                     TEXT:   [bits(count) present, if the dtype has None or nan for absent] | text(count of present)
                     BITS:   bits(count)     bool

Strategy: an array is asked for by people who want its memory, so raw bytes, aligned, are the rule, and an encoding must
save a good part of them to be chosen. Long data is tried on a few stretches first: random bytes should not be paid for
with a full attempt. What is read is in either case a run of raw bytes to cut arrays from (strings: a list).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from npser.blocks.bits import read_bits
from npser.blocks.choose import write_bits, write_floats, write_ints
from npser.blocks.floats import read_floats
from npser.blocks.ints import read_ints
from npser.blocks.sink import Sink
from npser.columns.copies import read_copied_text, write_copied_text
from npser.columns.rawitems import find_flaw, settled
from npser.errors import TruncatedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from npser.blocks.cursor import Cursor

    Dtype = np.dtype[Any]
    Array = NDArray[Any]

__all__ = ["ALIGNED_BYTES", "ALIGNMENT", "DataForm", "read_data", "read_strings", "write_data", "write_strings"]


class DataForm(IntEnum):
    """How the elements of one dtype are stored."""

    RAW = 0
    INTS = 1
    FLOATS = 2
    TEXT = 3
    BITS = 4


ALIGNMENT = 64
"""A cache line, and what the widest vector loads like; numpy's own npy files use it, too."""

ALIGNED_BYTES = 4096
"""Raw data below this is not worth up to 63 bytes of padding."""

TRIED_BYTES = 32
"""Raw data below this is left alone: a block would save a few bytes and cost a few microseconds."""

STRETCH, STRETCHES = 4096, 3
"""Longer data is first tried on so many stretches of so many elements."""

MAX_COUNT = 1 << 62


def write_data(sink: Sink, base: int, flats: list[Array]) -> None:
    """Write the elements of arrays of one dtype that is not StringDType.

    Parameters
    ----------
    base : int
        Where the body of the column starts in the sink; alignment counts from there.
    flats : list of (size,) arrays, at least one
        Contiguous, all of the same dtype.
    """
    dtype = flats[0].dtype
    nbytes = sum(flat.nbytes for flat in flats)
    plan = _plan(dtype) if nbytes >= TRIED_BYTES or dtype.kind == "b" else None
    if plan is None or not plan(sink, flats, nbytes):
        _write_raw(sink, base, flats, nbytes)


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
    room = max(0, sink.budget - sink.expanded)
    part, whole = kept

    def attempt(stretches: list[Array]) -> Sink | None:
        trial = Sink(room)
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


def read_data(cursor: Cursor, base: int, dtype: Dtype, count: int) -> memoryview | Array:
    """Read `count` elements of a dtype that is not StringDType: a view of the input if RAW, else a new (count,) array.

    `count` may be any number: nothing is allocated before the bytes are there or the budget allows it.
    """
    form = cursor.u8()
    if form == DataForm.RAW:
        return _read_raw(cursor, base, dtype, count)
    fits = _FITS.get(form)
    if fits is None or not fits(dtype):
        raise cursor.fail(f"elements of {dtype!r} in the form {form}")
    if count > MAX_COUNT:
        raise TruncatedError(f"{count} elements in a block", pos=cursor.pos)
    return _BLOCKS[form](cursor, dtype, count)


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
    values = read_ints(cursor, count)
    if dtype.itemsize == 8:
        return values if dtype.type is values.dtype.type else values.view(dtype)
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
