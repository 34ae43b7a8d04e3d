"""The codecs that `npser.compare` races: npser, pickle, json, and whichever of the well-known ones are installed.

Strategy: a codec is a pair of functions, set as its own users set it for data that they do not know beforehand, and a
table says how each is made. What is not installed is left out. Arrow and Parquet hold tables, so they are made for
rows, columns and frames only. The one pickle that is read here is the one that was written a moment before.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from npser.codec import Classes, dumps, loads
from npser.inspection.members import class_names, classes_of
from npser.inspection.report import inspect

__all__ = ["RIVALS", "NotSuitedError", "Rival", "pickled"]


class Rival(NamedTuple):
    """A serializer.

    Parameters
    ----------
    name : str
    encode, decode : callable
        A value to its bytes, and back.
    prepare : callable, optional
        Is shown the bytes before they are decoded first; that is not timed.
    """

    name: str
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], object]
    prepare: Callable[[bytes], None] | None = None


class NotSuitedError(Exception):
    """A value that is none for a codec; the message says why."""


Make = Callable[[str, Any, Classes], Rival]


class _Reader:
    """`loads`, which is told the classes of the objects in the value."""

    def __init__(self, value: object, classes: Classes) -> None:
        self.value = value
        self.classes = classes

    def prepare(self, data: bytes) -> None:
        self.classes = self.classes or classes_of(self.value, class_names(inspect(data)))

    def __call__(self, data: bytes) -> object:
        return loads(data, classes=self.classes)


def _npser(name: str, value: object, classes: Classes) -> Rival:
    reader = _Reader(value, classes)
    return Rival(name, dumps, reader, reader.prepare)


def pickled(value: object) -> bytes:
    """What pickle makes of a value, in the form in which caches keep it. Raises what it likes."""
    return pickle.dumps(value, 5)


def _pickle(name: str, _value: object, _classes: Classes) -> Rival:
    return Rival(name, pickled, pickle.loads)


def _json(name: str, _value: object, _classes: Classes) -> Rival:
    return Rival(name, lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(), json.loads)


def _msgpack(name: str, _value: object, _classes: Classes) -> Rival:
    import msgpack

    return Rival(name, msgpack.packb, partial(msgpack.unpackb, strict_map_key=False))


def _msgspec(name: str, _value: object, _classes: Classes) -> Rival:
    from msgspec import msgpack

    return Rival(name, msgpack.Encoder().encode, msgpack.Decoder().decode)


def _ormsgpack(name: str, _value: object, _classes: Classes) -> Rival:
    import ormsgpack

    options = ormsgpack.OPT_SERIALIZE_NUMPY | ormsgpack.OPT_NON_STR_KEYS
    return Rival(
        name,
        partial(ormsgpack.packb, option=options),
        partial(ormsgpack.unpackb, option=ormsgpack.OPT_NON_STR_KEYS),
    )


def _orjson(name: str, _value: object, _classes: Classes) -> Rival:
    import orjson

    return Rival(name, partial(orjson.dumps, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS), orjson.loads)


def _cbor2(name: str, _value: object, _classes: Classes) -> Rival:
    import cbor2

    return Rival(name, cbor2.dumps, cbor2.loads)


# -------------------------------------------------------------------------------------------------------------- tables


class _Tabular(NamedTuple):
    """How a value becomes an Arrow table, and how it comes back."""

    to_table: Callable[[Any], Any]
    of_table: Callable[[Any], Any]


def _tabular(value: Any) -> _Tabular:
    """Rows are dicts with text keys, columns are lists or arrays of one length; frames and tables are themselves."""
    import pyarrow as pa

    if isinstance(value, pa.Table):
        return _Tabular(lambda table: table, lambda table: table)
    if hasattr(type(value), "to_arrow"):  # polars
        return _Tabular(lambda frame: frame.to_arrow(), lambda table: _polars(table))
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "columns"):
        return _Tabular(pa.Table.from_pandas, lambda table: table.to_pandas())
    if type(value) is list and value and set(map(type, value)) == {dict} and _named(value[0]):
        return _Tabular(pa.Table.from_pylist, lambda table: table.to_pylist())
    if type(value) is dict and _named(value) and _are_columns(list(value.values())):
        return _Tabular(pa.table, lambda table: table.to_pydict())
    raise NotSuitedError("not a table")


def _polars(table: Any) -> Any:
    import polars

    return polars.from_arrow(table)


def _named(row: dict[Any, Any]) -> bool:
    return bool(row) and set(map(type, row)) == {str}


def _are_columns(values: list[Any]) -> bool:
    if not all(type(value) is list or getattr(value, "ndim", 0) == 1 for value in values):
        return False
    return len(set(map(len, values))) == 1


def _arrow(name: str, value: object, _classes: Classes) -> Rival:
    import pyarrow as pa

    way = _tabular(value)

    def encode(value: Any) -> bytes:
        table = way.to_table(value)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue().to_pybytes())

    return Rival(name, encode, lambda data: way.of_table(pa.ipc.open_stream(data).read_all()))


def _parquet(name: str, value: object, _classes: Classes) -> Rival:
    import pyarrow as pa
    from pyarrow import parquet

    way = _tabular(value)

    def encode(value: Any) -> bytes:
        sink = pa.BufferOutputStream()
        parquet.write_table(way.to_table(value), sink, compression="none")
        return bytes(sink.getvalue().to_pybytes())

    return Rival(name, encode, lambda data: way.of_table(parquet.read_table(pa.BufferReader(data))))


RIVALS: Final[dict[str, Make]] = {
    "npser": _npser,
    "pickle": _pickle,
    "json": _json,
    "msgpack": _msgpack,
    "msgspec": _msgspec,
    "ormsgpack": _ormsgpack,
    "orjson": _orjson,
    "cbor2": _cbor2,
    "arrow": _arrow,
    "parquet": _parquet,
}
"""Name -> what sets the codec up for a value, in the order of the tables."""
