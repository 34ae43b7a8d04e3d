"""The codes of dtypes, and the tables that turn a code into a dtype and back.

Strategy: a dtype of one of the usual numbers is one byte. What differs between platforms stands apart: the long double
with its size and mantissa, and the C types that numpy tells apart although they have the same width.
"""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any, Final

import numpy as np

__all__ = [
    "ALIGNED",
    "BIG_ENDIAN",
    "CODES",
    "FIXED",
    "LONG",
    "MANTISSA",
    "MAX_DIMS",
    "MAX_ITEMSIZE",
    "MAX_NESTING",
    "RECORD",
    "STRING_DTYPE",
    "TWINS",
    "TYPES",
    "UNITS",
    "DtypeCode",
]

Dtype = np.dtype[Any]


class DtypeCode(IntEnum):
    """What a dtype is. Codes are never reused; 0x70 to 0x7F are private."""

    BOOL = 0x00
    INT8 = 0x01
    INT16 = 0x02
    INT32 = 0x03
    INT64 = 0x04
    UINT8 = 0x05
    UINT16 = 0x06
    UINT32 = 0x07
    UINT64 = 0x08
    FLOAT16 = 0x09
    FLOAT32 = 0x0A
    FLOAT64 = 0x0B
    COMPLEX64 = 0x0C
    COMPLEX128 = 0x0D
    LONGDOUBLE = 0x0E  # u8 itemsize | u8 bits of the mantissa
    CLONGDOUBLE = 0x0F  # u8 itemsize | u8 bits of the mantissa
    TWIN = 0x10  # u8 code INT8..COMPLEX128           the other C type of that width, as longlong beside int64
    DATETIME = 0x11  # u8 unit | uvarint count
    TIMEDELTA = 0x12  # u8 unit | uvarint count
    BYTES = 0x13  # uvarint itemsize
    STR = 0x14  # uvarint characters
    VOID = 0x15  # uvarint itemsize
    STRING = 0x16  # u8 0 strict, 1 coerce | u8 na: 0 no, 1 None, 2 nan, 3 short text      StringDType
    STRUCT = 0x17  # u8 flags: 1 aligned, 2 record | uvarint itemsize | uvarint fields | each: u8 0, 1 with title |
    #                short text name | [short text title] | uvarint offset | dtype
    SUBARRAY = 0x18  # uvarint ndim | ndim * uvarint | dtype


BIG_ENDIAN = 0x80

MAX_ITEMSIZE = 2**31 - 1
"""numpy's own limit: sizes and offsets are C ints."""

MAX_NESTING = 8
"""Structures and subarrays within each other, the outermost included."""

MAX_DIMS = 64

ALIGNED, RECORD = 1, 2
"""Flags of a structure."""

UNITS: Final = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic")
"""Code of a unit -> numpy's name of it."""

FIXED: Final[dict[int, Dtype]] = {
    DtypeCode.BOOL: np.dtype("?"),
    DtypeCode.INT8: np.dtype("i1"),
    DtypeCode.INT16: np.dtype("<i2"),
    DtypeCode.INT32: np.dtype("<i4"),
    DtypeCode.INT64: np.dtype("<i8"),
    DtypeCode.UINT8: np.dtype("u1"),
    DtypeCode.UINT16: np.dtype("<u2"),
    DtypeCode.UINT32: np.dtype("<u4"),
    DtypeCode.UINT64: np.dtype("<u8"),
    DtypeCode.FLOAT16: np.dtype("<f2"),
    DtypeCode.FLOAT32: np.dtype("<f4"),
    DtypeCode.FLOAT64: np.dtype("<f8"),
    DtypeCode.COMPLEX64: np.dtype("<c8"),
    DtypeCode.COMPLEX128: np.dtype("<c16"),
}

CODES: Final = {(dtype.kind, dtype.itemsize): code for code, dtype in FIXED.items()}
"""Kind and itemsize -> code."""

LONG: Final[dict[int, Dtype]] = {
    DtypeCode.LONGDOUBLE: np.dtype("<g"),
    DtypeCode.CLONGDOUBLE: np.dtype("<G"),
}

MANTISSA: Final = int(np.finfo(np.longdouble).nmant)
"""Bits of the mantissa of a long double here: 63 on x86, 112 on most of ARM."""

TWINS: Final[dict[int, Dtype]] = {
    CODES[dtype.kind, dtype.itemsize]: dtype if sys.byteorder == "little" else dtype.newbyteorder("<")
    for dtype in map(np.dtype, "iIlLqQgG")
    if (dtype.kind, dtype.itemsize) in CODES and dtype.type is not FIXED[CODES[dtype.kind, dtype.itemsize]].type
}
"""Code of a width -> the C type that numpy tells apart although it has that width, on this platform."""

TYPES: Final = frozenset(np.sctypeDict.values()) - {np.object_}
"""The scalar types that are numpy's own; dtypes of other people's do not come back."""

STRING_DTYPE: Final[Any] = getattr(np.dtypes, "StringDType", None)
"""The class of `StringDType`, or None before numpy 2."""
