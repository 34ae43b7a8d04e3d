"""numpy dtypes <-> bytes, in a small grammar of our own.

    dtype:  u8 code, with 0x80 set if its bytes are big-endian | the layout beside the code in `dtypecodes.DtypeCode`

Strategy: numpy's own notations (`str`, `descr`) lose alignment, titles, offsets and byte order here or there, and its
parser of dtype text is not for bytes that strangers wrote. So each dtype is taken apart into kind, sizes, offsets and
names, checked part by part on the way in, and built from the checked parts. What could run code, point into memory or
does not come back is refused on both sides: object fields, dtypes of users' classes, metadata.
"""

from __future__ import annotations

import math
import struct
import sys
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns.dtypecodes import (
    ALIGNED,
    BIG_ENDIAN,
    CODES,
    FIXED,
    LONG,
    MANTISSA,
    MAX_DIMS,
    MAX_ITEMSIZE,
    MAX_NESTING,
    RECORD,
    STRING_DTYPE,
    TWINS,
    TYPES,
    UNITS,
    DtypeCode,
)
from npser.columns.shorttext import read_short_text, write_short_text
from npser.errors import DecodeError, EncodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Dtype = np.dtype[Any]

__all__ = ["dtype_bytes", "read_dtype", "write_dtype"]


# ----------------------------------------------------------------------------------------------------- writing


def write_dtype(sink: Sink, dtype: Dtype) -> None:
    """Write one dtype; what npser cannot give back is an `EncodeError`.

    >>> write_dtype(sink := Sink(), np.dtype([("x", ">f4"), ("when", "M8[25s]")])); sink.out.hex(" ")
    '17 00 0c 02 00 01 78 00 8a 00 04 77 68 65 6e 04 11 06 19'
    """
    sink.out += dtype_bytes(dtype)


def dtype_bytes(dtype: Dtype) -> bytes:
    """The bytes of one dtype. They tell apart what `==` does not, such as longlong and int64.

    >>> dtype_bytes(np.dtype(">i4"))
    b'\\x83'
    """
    sink = Sink()
    _write(sink, dtype, MAX_NESTING)
    raw = bytes(sink.out)
    if dtype.names is not None and not _comes_back(raw, dtype):
        raise EncodeError(f"npser cannot give back arrays of the dtype {dtype!r}")
    return raw


def _comes_back(raw: bytes, dtype: Dtype) -> bool:
    # some ways to take fields out of a structure make dtypes that numpy does not let anybody build
    try:
        again = read_dtype(Cursor(memoryview(raw)))
    except DecodeError:
        return False
    return again == dtype and again.isalignedstruct == dtype.isalignedstruct


def _write(sink: Sink, dtype: Dtype, nesting: int) -> None:
    if dtype.metadata is not None:
        raise EncodeError("npser cannot give back the metadata of a dtype; drop it first")
    if dtype.names is not None:
        _write_struct(sink, dtype, nesting)
    elif dtype.subdtype is not None:
        _write_subarray(sink, dtype, nesting)
    else:
        if dtype.kind == "T" and nesting < MAX_NESTING:
            raise EncodeError("npser cannot give back a StringDType inside another dtype")
        writer = _WRITERS.get(dtype.kind)
        if writer is None or not _is_numpys(dtype):
            raise EncodeError(f"npser cannot give back arrays of the dtype {dtype!r}")
        writer(sink, dtype)


def _is_numpys(dtype: Dtype) -> bool:
    if dtype.kind == "T":
        return STRING_DTYPE is not None and type(dtype) is STRING_DTYPE
    return dtype.isbuiltin != 2 and dtype.type in TYPES


def _mark(dtype: Dtype) -> int:
    order = dtype.byteorder
    return BIG_ENDIAN if order == ">" or (order == "=" and sys.byteorder == "big") else 0


def _write_number(sink: Sink, dtype: Dtype) -> None:
    code = CODES.get((dtype.kind, dtype.itemsize))
    if code is None:
        sink.u8((DtypeCode.LONGDOUBLE if dtype.kind == "f" else DtypeCode.CLONGDOUBLE) | _mark(dtype))
        sink.u8(dtype.itemsize)
        sink.u8(MANTISSA)
    elif dtype.type is FIXED[code].type:
        sink.u8(code | _mark(dtype))
    else:
        sink.u8(DtypeCode.TWIN | _mark(dtype))
        sink.u8(code)


def _write_moment(sink: Sink, dtype: Dtype) -> None:
    unit, count = np.datetime_data(dtype)
    if count < 1:
        raise EncodeError(f"npser cannot give back arrays of the dtype {dtype!r}")
    sink.u8((DtypeCode.DATETIME if dtype.kind == "M" else DtypeCode.TIMEDELTA) | _mark(dtype))
    sink.u8(UNITS.index(unit))
    sink.uvarint(int(count))


def _write_string(sink: Sink, dtype: Dtype) -> None:
    sink.u8(DtypeCode.STRING)
    sink.u8(int(cast("Any", dtype).coerce))
    if not hasattr(dtype, "na_object"):
        sink.u8(0)
        return
    na = dtype.na_object
    if na is None:
        sink.u8(1)
    elif type(na) is float and struct.pack("<d", na) == struct.pack("<d", math.nan):
        sink.u8(2)
    elif type(na) is str:
        sink.u8(3)
        write_short_text(sink, na)
    else:
        raise EncodeError("npser can give back a StringDType whose na_object is None, nan or a string, not this one")


def _write_struct(sink: Sink, dtype: Dtype, nesting: int) -> None:
    if nesting == 0:
        raise EncodeError(f"a dtype is nested deeper than {MAX_NESTING}")
    names, fields = cast("tuple[str, ...]", dtype.names), cast("Mapping[str, Any]", dtype.fields)
    if dtype.type not in (np.void, np.record):
        raise EncodeError(f"npser cannot give back arrays of the dtype {dtype!r}")
    sink.u8(DtypeCode.STRUCT)
    sink.u8((ALIGNED if dtype.isalignedstruct else 0) | (RECORD if dtype.type is np.record else 0))
    sink.uvarint(dtype.itemsize)
    sink.uvarint(len(names))
    for name in names:
        field, offset, *title = fields[name]
        if title and type(title[0]) is not str:
            raise EncodeError(f"the title of the field {name!r} is not a string")
        sink.u8(len(title))
        write_short_text(sink, name)
        for text in title:
            write_short_text(sink, text)
        sink.uvarint(int(offset))
        _write(sink, field, nesting - 1)


def _write_subarray(sink: Sink, dtype: Dtype, nesting: int) -> None:
    if nesting == 0:
        raise EncodeError(f"a dtype is nested deeper than {MAX_NESTING}")
    base, shape = cast("tuple[Dtype, tuple[int, ...]]", dtype.subdtype)
    sink.u8(DtypeCode.SUBARRAY)
    sink.uvarint(len(shape))
    for dim in shape:
        sink.uvarint(int(dim))
    _write(sink, base, nesting - 1)


def _write_sized(code: int, unit: int) -> Callable[[Sink, Dtype], None]:
    def write(sink: Sink, dtype: Dtype) -> None:
        sink.u8(code | (_mark(dtype) if unit > 1 else 0))
        sink.uvarint(dtype.itemsize // unit)

    return write


_WRITERS: Final[dict[str, Callable[[Sink, Dtype], None]]] = {
    **dict.fromkeys("biufc", _write_number),
    **dict.fromkeys("Mm", _write_moment),
    "S": _write_sized(DtypeCode.BYTES, 1),
    "U": _write_sized(DtypeCode.STR, 4),
    "V": _write_sized(DtypeCode.VOID, 1),
    "T": _write_string,
}


# ----------------------------------------------------------------------------------------------------- reading


def read_dtype(cursor: Cursor) -> Dtype:
    """Read one dtype, which may be a subarray; anything that numpy would not make itself is a `DecodeError`."""
    return _read(cursor, MAX_NESTING)


def _read(cursor: Cursor, nesting: int) -> Dtype:
    marked = cursor.u8()
    code, big = marked & ~BIG_ENDIAN, marked & BIG_ENDIAN
    reader = _READERS.get(code)
    if reader is None:
        raise cursor.fail(f"no such dtype: 0x{code:02x}")
    start = cursor.pos
    try:
        dtype = reader(cursor, code, nesting)
    except DecodeError:
        raise
    except (ValueError, TypeError, OverflowError):  # names given twice, text that is no UTF-8 and the like
        cursor.pos = start
        raise cursor.fail("a dtype that numpy refuses") from None
    if not big:
        return dtype
    if dtype.byteorder == "|":
        raise cursor.fail("a dtype without byte order is marked as big-endian")
    return dtype.newbyteorder(">")


def _read_fixed(cursor: Cursor, code: int, nesting: int) -> Dtype:
    return FIXED[code]


def _read_long(cursor: Cursor, code: int, nesting: int) -> Dtype:
    dtype = LONG[code]
    size, mantissa = cursor.u8(), cursor.u8()
    if (size, mantissa) != (dtype.itemsize, MANTISSA):
        raise cursor.fail(f"this machine has no floats of {size} bytes with {mantissa} bits of mantissa")
    return dtype


def _read_twin(cursor: Cursor, code: int, nesting: int) -> Dtype:
    fixed = cursor.u8()
    if not DtypeCode.INT8 <= fixed <= DtypeCode.COMPLEX128:
        raise cursor.fail(f"no such width: 0x{fixed:02x}")
    return TWINS.get(fixed, FIXED[fixed])  # where there is no twin, the C type that had one is this one


def _read_moment(cursor: Cursor, code: int, nesting: int) -> Dtype:
    unit, count = cursor.u8(), cursor.uvarint()
    letter = "M" if code == DtypeCode.DATETIME else "m"
    if unit >= len(UNITS) or not 1 <= count <= MAX_ITEMSIZE:
        raise cursor.fail("unit of a datetime out of range")
    if UNITS[unit] != "generic":
        return np.dtype(f"<{letter}8[{count}{UNITS[unit]}]")
    if count != 1:
        raise cursor.fail("the generic unit has a count")
    return np.dtype(f"<{letter}8")


def _read_size(cursor: Cursor, unit: int = 1) -> int:
    size = cursor.uvarint()
    if size * unit > MAX_ITEMSIZE:  # numpy 1 wraps some of them
        raise cursor.fail(f"size in a dtype over {MAX_ITEMSIZE}")
    return size


def _read_string(cursor: Cursor, code: int, nesting: int) -> Dtype:
    coerce, na = cursor.u8(), cursor.u8()
    if coerce > 1 or na > 3:
        raise cursor.fail("no such form of a StringDType")
    absent: dict[str, object] = {}
    if na:
        absent["na_object"] = read_short_text(cursor) if na == 3 else (None, math.nan)[na - 1]
    if STRING_DTYPE is None:
        raise cursor.fail("arrays of StringDType need numpy 2")
    return cast("Dtype", STRING_DTYPE(coerce=bool(coerce), **absent))


def _read_struct(cursor: Cursor, code: int, nesting: int) -> Dtype:
    if nesting == 0:
        raise cursor.fail(f"a dtype is nested deeper than {MAX_NESTING}")
    flags, itemsize, count = cursor.u8(), _read_size(cursor), cursor.uvarint()
    if flags > ALIGNED | RECORD:
        raise cursor.fail(f"no such flags of a structure: {flags}")
    if count > cursor.left:  # each takes more than a byte
        raise cursor.fail(f"{count} fields do not fit the bytes left")
    spec: dict[str, list[Any]] = {"names": [], "titles": [], "offsets": [], "formats": []}
    for _ in range(count):
        titled = cursor.u8()
        if titled > 1:
            raise cursor.fail(f"no such flags of a field: {titled}")
        spec["names"].append(read_short_text(cursor))
        spec["titles"].append(read_short_text(cursor) if titled else None)
        spec["offsets"].append(offset := _read_size(cursor))
        spec["formats"].append(field := _read(cursor, nesting - 1))
        if field.kind == "T" or offset + field.itemsize > itemsize:  # numpy itself is of two minds about the first
            raise cursor.fail("a field that may not or cannot stand in its structure")
    dtype: Dtype = np.dtype({**spec, "itemsize": itemsize}, align=bool(flags & ALIGNED))  # type: ignore[call-overload]
    if dtype.itemsize != itemsize or dtype.isalignedstruct != bool(flags & ALIGNED):
        raise cursor.fail("a structure that numpy lays out otherwise")
    if dtype.alignment < 1:  # numpy 1 makes this of no fields, and when it divides by it the process ends
        raise cursor.fail("an aligned structure without fields needs numpy 2")
    return np.dtype((np.record, dtype)) if flags & RECORD else dtype


def _read_subarray(cursor: Cursor, code: int, nesting: int) -> Dtype:
    if nesting == 0:
        raise cursor.fail(f"a dtype is nested deeper than {MAX_NESTING}")
    ndim = cursor.uvarint()
    if not 1 <= ndim <= MAX_DIMS:
        raise cursor.fail(f"a subarray has 1 to {MAX_DIMS} dimensions, not {ndim}")
    shape = tuple(_read_size(cursor) for _ in range(ndim))
    base = _read(cursor, nesting - 1)
    if base.kind == "T" or math.prod(shape) * base.itemsize > MAX_ITEMSIZE:
        raise cursor.fail("a subarray that numpy refuses")
    return np.dtype((base, shape))


_READERS: Final[dict[int, Callable[[Cursor, int, int], Dtype]]] = {
    **dict.fromkeys(FIXED, _read_fixed),
    **dict.fromkeys(LONG, _read_long),
    DtypeCode.TWIN: _read_twin,
    DtypeCode.DATETIME: _read_moment,
    DtypeCode.TIMEDELTA: _read_moment,
    DtypeCode.BYTES: lambda cursor, code, nesting: np.dtype(f"S{_read_size(cursor)}"),
    DtypeCode.STR: lambda cursor, code, nesting: np.dtype(f"<U{_read_size(cursor, 4)}"),
    DtypeCode.VOID: lambda cursor, code, nesting: np.dtype(f"V{_read_size(cursor)}"),
    DtypeCode.STRING: _read_string,
    DtypeCode.STRUCT: _read_struct,
    DtypeCode.SUBARRAY: _read_subarray,
}
