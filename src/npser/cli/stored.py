"""What a stored value is: whose bytes they are, and, where that runs nothing, what they hold.

Strategy: text first, for some magic numbers are letters; then the prefixes of `npser.foreign`; then MessagePack, which
has none, by decoding it. Compressed bytes are opened up to a bound and looked at again. What is decoded is what cannot
do harm: JSON, MessagePack, phpser, arrays. A pickle is a program, so it is left alone unless the caller says that
nobody else can write to the store. npser's own payloads are what they would become, and stay.
"""

from __future__ import annotations

import codecs
import json
import pickle
import re
import zlib
from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from typing import Any, Final, NamedTuple

import npser
from npser.cli.npy_file import read_npy
from npser.cli.refusal import ConvertError
from npser.errors import NpserError
from npser.foreign import recognise
from npser.inspection.report import inspect
from npser.tags import MAGIC

__all__ = ["UNREAD", "Pickles", "Seen", "begun", "look"]

UNREAD: Final = object()
"""The value of what was not decoded."""

MAX_INSIDE = 1 << 26
"""Bytes that compressed ones may become."""

MAX_LAYERS = 2
"""Compressions within each other."""

JSON_STARTS: Final = frozenset('{["')
INTEGER: Final = re.compile(rb"-?\d{1,19}")
SAFE_ERRORS: Final = (ValueError, TypeError, OverflowError, RecursionError, MemoryError, NpserError, ConvertError)


class Pickles(StrEnum):
    """What is done with pickles."""

    LEAVE = "leave"
    TRUST = "trust"


class Seen(NamedTuple):
    """What was found out about a stored value.

    Parameters
    ----------
    codec : str
        ``JSON``, ``pickle``, ``zlib(JSON)``.
    value : object
        What it holds, or `UNREAD`.
    note : str
        Why it was not decoded.
    """

    codec: str
    value: Any = UNREAD
    note: str = ""


def look(data: bytes, pickles: Pickles = Pickles.LEAVE) -> Seen:
    """Recognise a value, and decode it if that is safe.

    >>> look(b'{"id": 1}'), look(b"17").codec, look(b"hello").codec
    (Seen(codec='JSON', value={'id': 1}, note=''), 'int', 'text')
    >>> look(pickle.dumps([1])).note
    'a pickle runs what it says: only with --pickles trust'
    """
    return _look(data, pickles, 0)


def begun(head: bytes) -> str:
    r"""The codec that the first bytes of a value look like.

    >>> begun(b'{"name": "k\xc3'), begun(b"\x80\x05\x95"), begun(b"\xc1\x01\xff")
    ('JSON?', 'pickle', 'npser')
    """
    text = _text_of(head, codecs.getincrementaldecoder("utf-8")().decode)  # the cut may be within a character
    if text is not None:
        return "JSON?" if text.lstrip()[:1] in JSON_STARTS else "text"
    if head[:1] == bytes((MAGIC,)):
        return "npser"
    name = _name_of(head)
    return "binary" if name == MSGPACK else name


def _look(data: bytes, pickles: Pickles, layers: int) -> Seen:
    if not data:
        return Seen("empty")
    text = _text_of(data)
    if text is not None:
        return _look_at_text(data, text)
    if data[0] == MAGIC:
        return _npser(data)
    name = _name_of(data)
    opened = DECOMPRESSORS.get(name)
    if opened is not None:
        return _inside(name, opened, data, pickles, layers)
    if name.startswith("pickle"):
        return _pickle(name, data, pickles)
    decoder = DECODERS.get(name)
    if decoder is None:
        return Seen(name, note="" if name == "binary" else f"{name}: it has no reader here")
    return decoder(data)


def _name_of(data: bytes) -> str:
    """The name that `foreign` has for these bytes, without what it says about it.

    >>> _name_of(b"\\x1f\\x8b\\x08"), _name_of(b"\\x00\\x00\\x00\\x02"), _name_of(b"\\x93NUMPY"), _name_of(b"\\xf0")
    ('gzip', 'igbinary', 'npy', 'MessagePack')
    """
    _, found, name = recognise(data[:16]).message.partition("these bytes look like ")
    if not found or name.startswith("JSON"):
        return MSGPACK  # which has numbers and texts, too; its decoder says if it is not that
    return re.sub(r"^an? |-compressed$| \(.*| file\b.*", "", name).lstrip(".")


# ---------------------------------------------------------------------------------------------------------------- text


def _text_of(data: bytes, decode: Callable[[bytes], str] = bytes.decode) -> str | None:
    try:
        text = decode(data)
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text


_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def _look_at_text(data: bytes, text: str) -> Seen:
    if INTEGER.fullmatch(data):
        return Seen("int")
    if text.lstrip()[:1] in JSON_STARTS:
        try:
            return Seen("JSON", json.loads(text))
        except (ValueError, RecursionError):
            pass
    return Seen("text")


# -------------------------------------------------------------------------------------------------------------- binary


def _npser(data: bytes) -> Seen:
    report = inspect(data)
    names = "".join(f" {layer.name}" for layer in report.layers)
    if report.error is not None:
        return Seen("npser, damaged" if report.wire or names else "binary")
    return Seen(f"npser{names}")


def _pickle(name: str, data: bytes, pickles: Pickles) -> Seen:
    if pickles is Pickles.LEAVE:
        return Seen(name, note="a pickle runs what it says: only with --pickles trust")
    try:
        return Seen(name, pickle.loads(data[1:] if data[:1] == b"!" else data))  # noqa: S301 - the caller says so
    except Exception as error:  # whatever its classes raise
        return Seen(name, note=f"a pickle that does not load: {type(error).__name__}")


def _phpser(data: bytes) -> Seen:
    try:
        return Seen("phpser", npser.loads(data))
    except NpserError:
        return Seen("binary")


def _npy(data: bytes) -> Seen:
    try:
        return Seen("npy", read_npy(data))
    except ConvertError:
        return Seen("npy", note="npy: of Python objects, or damaged")


MSGPACK: Final = "MessagePack"


def _msgpack(data: bytes) -> Seen:
    try:
        unpackb: Any = import_module("msgpack").unpackb
    except ModuleNotFoundError:
        return Seen("MessagePack?", note="MessagePack: its library is not installed, so this is a guess")
    try:
        return Seen(MSGPACK, unpackb(data, strict_map_key=False))
    except SAFE_ERRORS:
        return Seen("binary")


DECODERS: Final[dict[str, Callable[[bytes], Seen]]] = {"phpser": _phpser, "npy": _npy, MSGPACK: _msgpack}


# ---------------------------------------------------------------------------------------------------------- compressed


def _inside(
    name: str, opened: Callable[[bytes], bytes | None], data: bytes, pickles: Pickles, layers: int
) -> Seen:
    if layers == MAX_LAYERS:
        return Seen(name)
    inner = opened(data)
    if inner is None:
        return Seen(name, note=f"{name}: damaged, or too much inside")
    seen = _look(inner, pickles, layers + 1)
    return seen._replace(codec=f"{name}({seen.codec})")


def _zlib(bits: int) -> Callable[[bytes], bytes | None]:
    def opened(data: bytes) -> bytes | None:
        stream = zlib.decompressobj(bits)
        try:
            inner = stream.decompress(data, MAX_INSIDE)
        except zlib.error:
            return None
        return inner if stream.eof else None

    return opened


def _zstd(data: bytes) -> bytes | None:
    try:
        library: Any = import_module("zstandard")
    except ModuleNotFoundError:
        return None
    try:
        with library.ZstdDecompressor().stream_reader(data) as reader:
            inner: bytes = reader.read(MAX_INSIDE + 1)
    except (library.ZstdError, MemoryError):
        return None
    return inner if len(inner) <= MAX_INSIDE else None


DECOMPRESSORS: Final[dict[str, Callable[[bytes], bytes | None]]] = {
    "gzip": _zlib(31),
    "zlib": _zlib(15),
    "zstd": _zstd,
}
"""Name of a compression -> what opens it, up to a bound."""
