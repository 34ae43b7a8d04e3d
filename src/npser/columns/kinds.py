"""Every kind of leaf: which type is written by whom, and which kind byte is read by whom.

Strategy: two literal tables. A column of one type goes straight to its writer; None among one other type becomes
NULLABLE; anything else becomes MIXED, one dense column a kind and a code an item. Types are told apart by
`type(x)`, never by value and never by numpy.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import ipaddress
import pathlib
import types
import uuid
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import compress, count, repeat
from operator import is_, is_not
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.binary import read_bytes
from npser.blocks.bits import read_bit_list, read_bits
from npser.blocks.choose import write_bits, write_floats, write_ints, write_tight_ints
from npser.blocks.floats import read_float_list, read_floats
from npser.blocks.ints import read_compact_ints, read_int_cells, read_int_list, read_ints
from npser.blocks.stretches import LONG, Stretches
from npser.blocks.text import read_text, read_text_cells
from npser.columns import arrays, names, npscalars, numbers, proofs, scalars, temporal
from npser.columns.absent import spread, spread_lists, with_nones
from npser.columns.bigints import read_bigints
from npser.columns.weighed import Reads, weighed
from npser.errors import EncodeError
from npser.tags import Kind
from npser.weights import ARRAY_ITEM, KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = [
    "BODY_CELLS",
    "DENSE_READERS",
    "LEAF_TYPES",
    "NUMBER_READERS",
    "READERS",
    "WRITERS",
    "number_column",
    "read_column",
    "write_array_column",
    "write_column",
]

FEW_OTHERS = 16
"""Where fewer than one item in so many is of another kind, slices between those are faster than a look at each;
benchmarks/thresholds_shapes.py::sweep_few_others."""

SCATTERED_ITEMS = 64
"""From this many items on, a mixed column is put together kind by kind in an array of objects."""

PROVED_ITEMS = 512
"""From this many numbers on, the proof that comes with the values is quicker than to ask each for its type."""

Writer = Callable[["Sink", Any], None]
Reader = Callable[["Cursor", int], list[Any]]

WRITERS: Final[dict[type, Writer]] = {
    type(None): scalars.write_nones,
    bool: scalars.write_bools,
    int: scalars.write_int_column,
    float: scalars.write_double_column,
    str: scalars.write_strings,
    bytes: scalars.write_byte_strings,
    bytearray: scalars.write_bytearrays,
    types.EllipsisType: scalars.write_ellipses,
    complex: numbers.write_complexes,
    range: numbers.write_ranges,
    decimal.Decimal: numbers.write_decimals,
    fractions.Fraction: numbers.write_fractions,
    datetime.date: temporal.write_dates,
    datetime.datetime: temporal.write_datetimes,
    datetime.time: temporal.write_times,
    datetime.timedelta: temporal.write_timedeltas,
    uuid.UUID: names.write_uuids,
    **dict.fromkeys(
        (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, pathlib.WindowsPath), names.write_paths
    ),
    **dict.fromkeys(
        (
            ipaddress.IPv4Address,
            ipaddress.IPv6Address,
            ipaddress.IPv4Network,
            ipaddress.IPv6Network,
            ipaddress.IPv4Interface,
            ipaddress.IPv6Interface,
        ),
        names.write_addresses,
    ),
    **dict.fromkeys(set(np.sctypeDict.values()) - {np.object_}, npscalars.write_scalars),
    np.ndarray: arrays.write_arrays,
}
"""Exact type -> the writer of a column of that type."""

LEAF_TYPES: Final = frozenset(WRITERS) - {np.ndarray}
"""The types whose values are leaves; arrays have a node of their own, because references may name them."""


def write_column(sink: Sink, values: Sequence[Any], types_met: set[type]) -> None:
    """Write a column of leaves: a kind byte and its body.

    Parameters
    ----------
    values : sequence of n objects
        Each of a type in `LEAF_TYPES`.
    types_met : set of type
        `set(map(type, values))`, which the caller has at hand.
    """
    if len(types_met) == 1:
        (only,) = types_met
        WRITERS[only](sink, values)
    elif len(types_met) == 2 and type(None) in types_met:
        _write_nullable(sink, values)
    else:
        _write_mixed(sink, values, types_met)


def write_array_column(array: NDArray[Any], sink: Sink) -> None:
    """Write a column of n ints, floats or bools out of an array of int64, float64 or bool."""
    _write_array(*_OF_ARRAY[array.dtype.kind], array, sink)


def number_column(values: proofs.Values) -> tuple[int, Callable[[Sink], None]] | None:
    """A list of numbers -> how many there are, and what writes them as a column.

    None if it is too short for this, or has anything but exact ints, small ints and None, floats, or bools.

    >>> number_column(["1"] * 1000)
    >>> number_column([1.5, 2.5] * 1000)[0]
    2000
    """
    if len(values) < PROVED_ITEMS:
        return None
    prove = _PROOFS.get(type(values[0]))
    return prove(values) if prove else None


def _int_column(values: proofs.Values) -> tuple[int, Callable[[Sink], None]] | None:
    found = proofs.optional_ints_of(values)
    if found is None:
        found = proofs.wide_ints_of(values)
    if found is None:
        return None
    if isinstance(found, proofs.Found):
        return found.present.size, partial(_write_found, found)
    return found.size, partial(_write_array, Kind.INT, write_ints, found)


def _float_column(values: proofs.Values) -> tuple[int, Callable[[Sink], None]] | None:
    found = proofs.floats_of(values)
    return None if found is None else (found.size, partial(_write_array, Kind.FLOAT, write_floats, found))


def _bool_column(values: proofs.Values) -> tuple[int, Callable[[Sink], None]] | None:
    found = proofs.bools_of(values)
    return None if found is None else (found.size, partial(_write_array, Kind.BOOL, write_bits, found))


def _write_array(kind: Kind, write: Callable[[Sink, Any], None], found: NDArray[Any], sink: Sink) -> None:
    sink.u8(kind)
    write(sink, found)


def _write_found(found: proofs.Found, sink: Sink) -> None:
    sink.u8(Kind.NULLABLE)
    write_bits(sink, found.present)
    _write_array(Kind.INT, write_tight_ints, found.dense, sink)


_OF_ARRAY: Final[dict[str, tuple[Kind, Callable[[Sink, Any], None]]]] = {
    "i": (Kind.INT, write_ints),
    "f": (Kind.FLOAT, write_floats),
    "b": (Kind.BOOL, write_bits),
}

_PROOFS: Final = {int: _int_column, type(None): _int_column, float: _float_column, bool: _bool_column}


def _write_nullable(sink: Sink, values: Sequence[Any]) -> None:
    marks = bytes(map(is_not, values, repeat(None)))
    present = np.frombuffer(marks, np.bool_)
    sink.u8(Kind.NULLABLE)
    write_bits(sink, present)
    dense = list(compress(values, marks))
    if type(dense[0]) is int:
        scalars.write_sparse_int_column(sink, dense)
    else:
        _write_part(sink, dense, present)


def _write_mixed(sink: Sink, values: Sequence[Any], types_met: set[type]) -> None:
    codes: NDArray[np.uint8]
    kinds: tuple[type, ...]
    if len(types_met) == 2:
        (other,) = types_met - {type(values[0])}
        kinds = (type(values[0]), other)
        codes = np.frombuffer(bytes(map(is_, map(type, values), repeat(other))), "<u1")
    else:
        types = list(map(type, values))
        kinds = tuple(dict.fromkeys(types))
        codes = np.frombuffer(bytes(map(dict(zip(kinds, count())).__getitem__, types)), "<u1")
    writers: dict[Writer, int] = {}
    code_of = [writers.setdefault(WRITERS[kind], len(writers)) for kind in kinds]
    if len(writers) == 1:  # several types that share one kind, as the four paths do
        (writer,) = writers
        writer(sink, values)
        return
    if len(writers) < len(kinds):
        codes = np.array(code_of, "<u1")[codes]
    sink.u8(Kind.MIXED)
    sink.u8(len(writers))
    write_ints(sink, codes.astype("<i8"))
    for writer, code in writers.items():
        if writer is scalars.write_nones:
            sink.u8(Kind.NONE)  # each None has its code already, so none is free
        else:
            there = codes == code
            _write_part(sink, _those(values, there), there)


def _those(values: Sequence[Any], there: NDArray[np.bool_]) -> list[Any]:
    """The values that are there."""
    others = np.flatnonzero(~there).tolist()
    if len(others) * FEW_OTHERS > len(values):
        return list(compress(values, there.tobytes()))
    part: list[Any] = []
    start = 0
    for index in others:
        part += values[start:index]
        start = index + 1
    part += values[start:]
    return part


def _write_part(sink: Sink, part: list[Any], there: NDArray[np.bool_]) -> None:
    """Write the items of one kind, which stand where `there` says in the whole column."""
    try:
        WRITERS[type(part[0])](sink, part)
    except EncodeError as error:
        error.item = None if error.item is None else int(np.flatnonzero(there)[error.item])
        raise


def _read_nullable(cursor: Cursor, n: int) -> list[Any]:
    present, dense = _read_dense(cursor, n)
    return spread(dense, present) if isinstance(dense, np.ndarray) else with_nones(dense, present)


def _read_dense(cursor: Cursor, n: int) -> tuple[NDArray[np.bool_], NDArray[Any] | list[Any]]:
    """Which values are there, and those that are: numbers as an array."""
    present = read_bits(cursor, n)
    count = int(np.count_nonzero(present))
    kind = cursor.u8()
    dense = DENSE_READERS.get(kind)
    return present, _read_plain(cursor, kind, count) if dense is None else dense(cursor, count)


def _read_nullable_cells(cursor: Cursor, n: int) -> Iterable[Any]:
    if n < LONG:
        return _read_nullable(cursor, n)
    present, dense = _read_dense(cursor, n)
    return Stretches(spread_lists(dense, present)) if isinstance(dense, np.ndarray) else with_nones(dense, present)


def _read_mixed(cursor: Cursor, n: int) -> list[Any]:
    m = cursor.u8()
    if m < 2:
        raise cursor.fail(f"a mixed column has at least 2 kinds, not {m}")
    codes = read_ints(cursor, n)
    if n and (int(codes.min()) < 0 or int(codes.max()) >= m):
        raise cursor.fail(f"code of a mixed column out of range 0..{m - 1}")
    if n < SCATTERED_ITEMS:
        parts = [iter(_read_kind(cursor, codes.tolist().count(code))) for code in range(m)]
        return list(map(next, map(parts.__getitem__, codes.tolist())))
    out = np.empty(n, object)  # born as n times None
    for code in range(m):
        there = codes == code
        count = int(np.count_nonzero(there))
        out[there] = np.fromiter(_read_kind(cursor, count), object, count)
    return out.tolist()


def _read_kind(cursor: Cursor, n: int) -> Iterable[Any]:
    """A part of a mixed column. A None there has paid with its code already, so it draws nothing from the budget."""
    kind = cursor.u8()
    return repeat(None, n) if kind == Kind.NONE else _read_plain(cursor, kind, n)


def read_column(cursor: Cursor, n: int) -> list[Any]:
    """Read a column of n leaves: a kind byte and its body."""
    kind = cursor.u8()
    reader = READERS.get(kind)
    if reader is None:
        raise cursor.fail(f"no such kind of column: 0x{kind:02x}")
    return reader(cursor, n)


def _read_plain(cursor: Cursor, kind: int, n: int) -> list[Any]:
    reader = READERS.get(kind)
    if reader is None or kind in NESTED:
        raise cursor.fail(f"a kind that may not stand inside a mixed column: 0x{kind:02x}")
    return reader(cursor, n)


NESTED: Final = frozenset({Kind.NULLABLE, Kind.MIXED})

_LIST_READERS: Final[dict[int, Reader]] = {
    Kind.NONE: scalars.read_nones,
    Kind.FALSE: scalars.read_falses,
    Kind.TRUE: scalars.read_trues,
    Kind.INT: read_int_list,
    Kind.FLOAT: read_float_list,
    Kind.BOOL: read_bit_list,
    Kind.TEXT: read_text,
    Kind.BYTES: read_bytes,
    Kind.BYTEARRAY: scalars.read_bytearrays,
    Kind.BIGINT: read_bigints,
    Kind.COMPLEX: numbers.read_complexes,
    Kind.NULLABLE: _read_nullable,
    Kind.MIXED: _read_mixed,
    Kind.DATE: temporal.read_dates,
    Kind.DATETIME: temporal.read_datetimes,
    Kind.DATETIME_ZONED: temporal.read_zoned_datetimes,
    Kind.TIME: temporal.read_times,
    Kind.TIME_ZONED: temporal.read_zoned_times,
    Kind.TIMEDELTA: temporal.read_timedeltas,
    Kind.DECIMAL: numbers.read_decimals,
    Kind.FRACTION: numbers.read_fractions,
    Kind.UUID: names.read_uuids,
    Kind.PATH: names.read_paths,
    Kind.IP: names.read_addresses,
    Kind.RANGE: numbers.read_ranges,
    Kind.ELLIPSIS: scalars.read_ellipses,
    Kind.SCALAR: npscalars.read_scalars,
}

READERS: Final[dict[int, Reader]] = weighed(_LIST_READERS, KINDS)
"""Kind byte -> the reader of the body; total over the kinds of leaves that have one."""

BODY_CELLS: Final[dict[int, Reads]] = weighed(
    {Kind.INT: read_int_cells, Kind.TEXT: read_text_cells, Kind.NULLABLE: _read_nullable_cells}, KINDS
)
"""Kind byte -> the reader that gives what can be iterated once, and need not be a list."""

DENSE_READERS: Final[dict[int, Reads]] = weighed({Kind.INT: read_compact_ints, Kind.FLOAT: read_floats}, KINDS)
"""Kind byte -> the reader that gives an array to be spread among None: of int32, int64 or float64."""

NUMBER_READERS: Final[dict[int, Reads]] = weighed(
    {Kind.INT: read_ints, Kind.FLOAT: read_floats, Kind.BOOL: read_bits}, dict.fromkeys(KINDS, ARRAY_ITEM)
)
"""Kind byte -> the reader that gives an array of int64, float64 or bool."""
