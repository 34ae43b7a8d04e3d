"""numpy scalars of every type but object. Layout of `Kind.SCALAR`:

    uvarint d | d * dtype | [int(n) codes, if d > 1] | d * items
    items of k values: U0: text(k) | S0: bytes(k) | other dtypes without bytes: bits(k), all 0 | else k * itemsize bytes

Strategy: a scalar is its dtype and its bytes, so scalars of one dtype are one run of raw bytes, and numpy makes
scalars of it again. `str_` and `bytes_` are strings that merely belong to numpy: as an array they would lose NULs at
their end, and each length would be a dtype of its own; they are text and bytes, under the dtypes of length 0.
"""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.bits import read_bits
from npser.blocks.choose import write_bits, write_ints
from npser.blocks.ints import read_ints
from npser.columns.copies import read_copied_bytes, read_copied_text, write_copied_bytes, write_copied_text
from npser.columns.dtypes import dtype_bytes, read_dtype
from npser.columns.rawitems import find_flaw, settled
from npser.errors import EncodeError
from npser.tags import Kind
from npser.weights import SCALARS, STRUCTURE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

    Dtype = np.dtype[Any]

__all__ = ["read_scalars", "write_scalars"]

_TEXT: Final = np.dtype("<U0")
_BYTES: Final = np.dtype("S0")

_MANY: Final = (np.datetime64, np.timedelta64, np.void, np.object_)

_OF_TYPE: Final[dict[type, Dtype]] = {kind: np.dtype(kind) for kind in set(np.sctypeDict.values()) - set(_MANY)}
"""The dtype of a type that has but one, or of which one stands for all: `str_` and `bytes_` have those of length 0."""

_raw = methodcaller("tobytes")


def write_scalars(sink: Sink, values: Sequence[np.generic]) -> None:
    """Write n exact numpy scalars of any types. One that npser cannot give back is an `EncodeError` with its place.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_scalars(sink := Sink(), [np.float32(0.1), np.str_("a"), np.datetime64("NaT", "D")])
    >>> read_scalars(Cursor(memoryview(bytes(sink.out)), 1), 3)
    [np.float32(0.1), np.str_('a'), np.datetime64('NaT','D')]
    """
    sink.u8(Kind.SCALAR)
    groups: dict[bytes, list[Any]] = {}
    code_of: dict[bytes, int] = {}
    codes = []
    known: dict[type, bytes] = {kind: dtype_bytes(_OF_TYPE[kind]) for kind in set(map(type, values)) & _OF_TYPE.keys()}
    for i, value in enumerate(values):
        raw = known.get(type(value)) or _dtype_bytes(value, i)
        codes.append(code_of.setdefault(raw, len(code_of)))
        groups.setdefault(raw, []).append(value)
    sink.uvarint(len(groups))
    for raw in groups:
        sink.out += raw
    if len(groups) > 1:
        write_ints(sink, np.array(codes, "<i8"))
    for group in groups.values():
        _write_items(sink, group)


def _dtype_bytes(value: np.generic, item: int) -> bytes:
    try:
        raw = dtype_bytes(value.dtype)
    except EncodeError as error:
        error.item = item
        raise
    flaw = find_flaw(np.asarray(value)) if isinstance(value, np.void) else None
    if flaw:
        raise EncodeError(flaw, item=item)
    return raw


def _weight(dtype: Dtype) -> int:
    """The cells of a scalar of this dtype beside those of any scalar."""
    return STRUCTURE if dtype.names is not None else SCALARS.get(dtype.kind, 0)


def _write_items(sink: Sink, values: list[Any]) -> None:
    sink.expand(len(values) * _weight(values[0].dtype))
    if type(values[0]) is np.str_:
        write_copied_text(sink, list(map(str.__str__, values)))  # str() asks numpy, which drops NULs at the end
    elif type(values[0]) is np.bytes_:
        write_copied_bytes(sink, list(map(bytes, values)))
    elif not values[0].itemsize:
        write_bits(sink, np.zeros(len(values), np.bool_))
    elif all(map(_OF_TYPE.__contains__, map(type, values))):
        sink.out += b"".join(values)  # they are buffers, fifty times faster than tobytes()
    else:
        sink.out += settled(values[0].dtype, b"".join(map(_raw, values)))


def read_scalars(cursor: Cursor, n: int) -> list[Any]:
    """Read n numpy scalars, each independent of the others."""
    count = cursor.uvarint()
    if count > cursor.left or (n and not count):
        raise cursor.fail(f"{count} dtypes for {n} scalars")
    dtypes = [read_dtype(cursor) for _ in range(count)]
    if count == 1:
        return _read_items(cursor, dtypes[0], n)
    if count == 0:
        return []
    codes = read_ints(cursor, n)
    if n and not 0 <= int(codes.min()) <= int(codes.max()) < count:
        raise cursor.fail(f"code of a dtype is out of range: there are {count}")
    counts = np.bincount(codes, minlength=count).tolist()
    parts = [iter(_read_items(cursor, dtype, k)) for dtype, k in zip(dtypes, counts, strict=True)]
    return [next(parts[code]) for code in codes.tolist()]


def _read_items(cursor: Cursor, dtype: Dtype, k: int) -> list[Any]:
    cursor.expand(k * _weight(dtype))
    if dtype == _TEXT:
        return list(map(np.str_, read_copied_text(cursor, k)))
    if dtype == _BYTES:
        return list(map(np.bytes_, read_copied_bytes(cursor, k)))
    if dtype.kind in "USTO" or dtype.subdtype is not None:
        raise cursor.fail(f"no scalar has the dtype {dtype!r}")
    size = dtype.itemsize
    if not size:
        return [_own(dtype, b"") for _ in read_bits(cursor, k)]
    start = cursor.pos
    raw = cursor.take(k * size)
    array: np.ndarray[Any, Dtype] = np.ndarray((k,), dtype, raw)
    flaw = find_flaw(array)
    if flaw:
        cursor.pos = start
        raise cursor.fail(flaw)
    if dtype.kind == "V":
        return [_own(dtype, raw[at : at + size]) for at in range(0, k * size, size)]
    return list(array)


def _own(dtype: Dtype, raw: memoryview | bytes) -> Any:
    """A void scalar with memory of its own: taken from an array of many it would be a view of it.

    Its copy() is no help, it leaves out what stands between the fields.
    """
    return np.ndarray((), dtype, bytearray(raw))[()]
