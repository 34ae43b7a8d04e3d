"""The codecs that `npser demo` races: npser, pickle, and whichever of the well-known ones are installed.

Strategy: a codec is a pair of functions, each set as its own users set it for this kind of data. Those that can be
told a type (npser, msgspec) are told it; the others get nothing that they could use. What is not installed is left
out.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final

import npser
from npser.cli.demo_values import Sample

__all__ = ["Codec", "codecs"]


@dataclass(frozen=True, slots=True)
class Codec:
    """A serializer: its name, a value to its bytes, and bytes to a value."""

    name: str
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], object]


def _npser(sample: Sample) -> Codec:
    return Codec("npser", npser.dumps, partial(npser.loads, classes=sample.classes))


def _pickle(_: Sample) -> Codec:
    return Codec("pickle", partial(pickle.dumps, protocol=5), pickle.loads)


def _msgpack(_: Sample) -> Codec:
    msgpack: Any = import_module("msgpack")
    return Codec("msgpack", msgpack.packb, partial(msgpack.unpackb, strict_map_key=False))


def _msgspec(sample: Sample) -> Codec:
    msgpack: Any = import_module("msgspec.msgpack")
    return Codec("msgspec", msgpack.Encoder().encode, msgpack.Decoder(sample.type).decode)


def _ormsgpack(_: Sample) -> Codec:
    ormsgpack: Any = import_module("ormsgpack")
    options = ormsgpack.OPT_SERIALIZE_NUMPY | ormsgpack.OPT_NON_STR_KEYS
    return Codec(
        "ormsgpack",
        partial(ormsgpack.packb, option=options),
        partial(ormsgpack.unpackb, option=ormsgpack.OPT_NON_STR_KEYS),
    )


def _orjson(_: Sample) -> Codec:
    orjson: Any = import_module("orjson")
    return Codec("orjson", partial(orjson.dumps, option=orjson.OPT_SERIALIZE_NUMPY), orjson.loads)


def _cbor2(_: Sample) -> Codec:
    cbor2: Any = import_module("cbor2")
    return Codec("cbor2", cbor2.dumps, cbor2.loads)


MAKERS: Final = (_npser, _pickle, _msgpack, _msgspec, _ormsgpack, _orjson, _cbor2)


def codecs(sample: Sample) -> list[Codec]:
    """The installed codecs, npser first and pickle second, set up for one sample."""
    found = []
    for make in MAKERS:
        try:
            found.append(make(sample))
        except ModuleNotFoundError:
            continue
    return found
