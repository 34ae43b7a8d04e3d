"""The codecs that are measured beside each other, in one form: dumps, loads, and what they do to a value.

Strategy: each codec gets the fastest honest configuration for the shape at hand. Options that cost time are set only
where the shape needs them (keys that are not strings, arrays). What a codec refuses is lowered before the clock starts:
a dataclass object to a dict, an array to a list. What it takes but cannot give back is not hidden either: `restores`
says what must come back, every result is compared with that, and `fidelity` puts the difference in the table.
A library that is not installed is left out.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import importlib.util
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.shapes import Shape

__all__ = ["CODECS", "Codec", "codecs", "installed", "lowered", "same", "versions"]


class Codec(NamedTuple):
    """One codec, bound to one shape.

    Attributes
    ----------
    name : str
        As in `CODECS`.
    dumps, loads : callable
        Value to bytes and back.
    prepare : callable
        What becomes of the value before `dumps` sees it (not measured).
    restores : callable
        What becomes of the value on the whole: `loads(dumps(prepare(v)))` must be `restores(v)`.
    fidelity : str
        "exact", "plain" (dicts for objects, lists for arrays) or "str keys".
    """

    name: str
    dumps: Callable[[Any], bytes]
    loads: Callable[[bytes], Any]
    prepare: Callable[[Any], Any]
    restores: Callable[[Any], Any]
    fidelity: str


# ------------------------------------------------------------------------------------------------------ what is lowered


def unchanged(value: Any) -> Any:
    return value


def lowered(value: Any) -> Any:
    """Dicts for dataclass objects and lists for arrays, all the way down.

    >>> from benchmarks.shapes import make
    >>> lowered(make("dto_100"))[1]["email"]
    'user1@example.com'
    """
    lower = LOWER.get(type(value))
    if lower is not None:
        return lower(value)
    return _lower_object(value) if dataclasses.is_dataclass(value) else value


def _lower_object(value: Any) -> dict[str, Any]:
    return {field.name: lowered(getattr(value, field.name)) for field in dataclasses.fields(value)}


LOWER: dict[type, Callable[[Any], Any]] = {
    np.ndarray: lambda array: array.tolist(),
    list: lambda items: list(map(lowered, items)),
    dict: lambda mapping: {key: lowered(item) for key, item in mapping.items()},
}


def _str_keys(value: dict[int, Any]) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()}


# ----------------------------------------------------------------------------------------------------------- the codecs


def _npser(shape: Shape) -> Codec:
    import npser

    loads = functools.partial(npser.loads, classes=shape.classes) if shape.classes else npser.loads
    return Codec("npser", npser.dumps, loads, unchanged, unchanged, "exact")


def _pickle(shape: Shape) -> Codec:
    return Codec("pickle", functools.partial(pickle.dumps, protocol=5), pickle.loads, unchanged, unchanged, "exact")


NEEDS_LOWERING = frozenset({"objects", "array"})


def _plain(name: str, shape: Shape, dumps: Callable[[Any], bytes], loads: Callable[[bytes], Any]) -> Codec:
    """A codec that knows JSON's kinds of value: everything else is lowered for it."""
    if shape.traits & NEEDS_LOWERING:
        return Codec(name, dumps, loads, lowered, lowered, "plain")
    return Codec(name, dumps, loads, unchanged, unchanged, "exact")


def _msgpack(shape: Shape) -> Codec:
    import msgpack  # type: ignore[import-untyped]

    return _plain("msgpack", shape, msgpack.packb, functools.partial(msgpack.unpackb, strict_map_key=False))


def _cbor2(shape: Shape) -> Codec:
    import cbor2

    return _plain("cbor2", shape, cbor2.dumps, cbor2.loads)


def _msgspec(shape: Shape) -> Codec:
    import msgspec.msgpack

    encode = msgspec.msgpack.Encoder().encode
    if "objects" in shape.traits:
        # It builds the objects itself when it is told the type of the whole value, as npser is told the classes.
        return Codec("msgspec", encode, msgspec.msgpack.Decoder(shape.typed).decode, unchanged, unchanged, "exact")
    return _plain("msgspec", shape, encode, msgspec.msgpack.Decoder().decode)


def _native(name: str, shape: Shape, library: Any, dumps: Callable[..., bytes], loads: Callable[[bytes], Any]) -> Codec:
    """ormsgpack and orjson: they write objects and arrays by themselves, and read them back as dicts and lists."""
    if "array" in shape.traits:
        dumps = functools.partial(dumps, option=library.OPT_SERIALIZE_NUMPY)
    restores, fidelity = (lowered, "plain") if shape.traits & NEEDS_LOWERING else (unchanged, "exact")
    return Codec(name, dumps, loads, unchanged, restores, fidelity)


def _ormsgpack(shape: Shape) -> Codec:
    import ormsgpack

    if "int_keys" in shape.traits:
        option = ormsgpack.OPT_NON_STR_KEYS
        dumps = functools.partial(ormsgpack.packb, option=option)
        loads = functools.partial(ormsgpack.unpackb, option=option)
        return Codec("ormsgpack", dumps, loads, unchanged, unchanged, "exact")
    return _native("ormsgpack", shape, ormsgpack, ormsgpack.packb, ormsgpack.unpackb)


def _orjson(shape: Shape) -> Codec:
    import orjson

    if "int_keys" in shape.traits:
        dumps = functools.partial(orjson.dumps, option=orjson.OPT_NON_STR_KEYS)
        return Codec("orjson", dumps, orjson.loads, unchanged, _str_keys, "str keys")
    return _native("orjson", shape, orjson, orjson.dumps, orjson.loads)


CODECS: dict[str, Callable[[Shape], Codec]] = {
    "npser": _npser,
    "pickle": _pickle,
    "msgpack": _msgpack,
    "msgspec": _msgspec,
    "ormsgpack": _ormsgpack,
    "orjson": _orjson,
    "cbor2": _cbor2,
}
"""Name -> what binds the codec to a shape, in the order of the tables."""


def installed() -> list[str]:
    return [name for name in CODECS if importlib.util.find_spec(name) is not None]


def codecs(shape: Shape) -> list[Codec]:
    """Every codec that is installed, set up for one shape.

    >>> from benchmarks.shapes import SHAPES
    >>> [codec.fidelity for codec in codecs(SHAPES["dto_100"]) if codec.name == "pickle"]
    ['exact']
    """
    return [CODECS[name](shape) for name in installed()]


def versions() -> dict[str, str]:
    """Codec -> version of the library (of pickle: its protocol)."""
    return {"pickle": "protocol 5"} | {name: _version(name) for name in ("numpy", *installed()) if name != "pickle"}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return str(getattr(importlib.import_module(name), "__version__", "of unknown version"))  # used from the tree


# ----------------------------------------------------------------------------------------------------------- comparison


def same(left: Any, right: Any) -> bool:
    """Identical: types, values, order of keys, every bit of a float.

    >>> same([1, {"a": 0.0}], [1, {"a": 0.0}]), same([1], [True]), same(0.0, -0.0), same({1: 2, 3: 4}, {3: 4, 1: 2})
    (True, False, False, False)
    """
    if type(left) is not type(right):
        return False
    compare = COMPARE.get(type(left))
    if compare is not None:
        return compare(left, right)
    if dataclasses.is_dataclass(left):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in dataclasses.fields(left))
    return bool(left == right)


def _same_items(left: Any, right: Any) -> bool:
    return len(left) == len(right) and all(map(same, left, right))


COMPARE: dict[type, Callable[[Any, Any], bool]] = {
    float: lambda left, right: left.hex() == right.hex(),
    list: _same_items,
    tuple: _same_items,
    dict: lambda left, right: _same_items(list(left.items()), list(right.items())),
    np.ndarray: lambda left, right: (
        (left.dtype, left.shape) == (right.dtype, right.shape) and left.tobytes() == right.tobytes()
    ),
}
