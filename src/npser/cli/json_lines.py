"""`npser cat`: a payload as JSON lines.

A list is a line an item, anything else one line. What JSON has is written as that; what it lacks is an object whose
first key begins with `$`, so that nothing looks like something else:

    bytes, bytearray                {"$bytes": base64}, {"$bytearray": base64}
    tuple, set, frozenset, deque    {"$tuple": [...]}, {"$set": [...]}, {"$frozenset": [...]}, {"$deque": [...]}
    nan, infinities                 {"$float": "nan"}, {"$float": "inf"}, {"$float": "-inf"}
    int beyond 2**53 either way     {"$int": "9007199254740993"}, for many readers of JSON have only doubles
    complex                         {"$complex": [real, imaginary]}
    dict with a key that is no str, or begins with $        {"$dict": [[key, value], ...]}
    OrderedDict, Counter, defaultdict                       {"$OrderedDict": [[key, value], ...]}, ...
    date, datetime, time            {"$date": "2024-02-29"}, in ISO 8601; beside it a named "zone" and a "fold" of 1
    timedelta                       {"$timedelta": microseconds}
    Decimal, Fraction, UUID, paths, addresses       {"$Decimal": "1.10"}, and so on: the class and its text
    range, slice                    {"$range": [start, stop, step]}, {"$slice": [start, stop, step]}
    ...                             {"$ellipsis": true}
    object, named tuple             {"$object": "module:Class", "fields": {...}}, a version behind an @
    enum, object by its state       {"$object": "module:Class", "value": ...}
    numpy scalar                    {"$numpy": dtype, "value": ...}, of what has no text its bytes in base64
    numpy array                     {"$array": dtype, "shape": [...], "items": [...]}, or "bytes" as of a scalar
    a container that came before    {"$same": path}: written once, so that cycles end

Strategy: one table from types to functions; everything that is built is plain, and `json` writes it. Whether a
container came before is a matter of identity.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import fractions
import ipaddress
import json
import math
import pathlib
import types
import uuid
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from npser.cli.refusal import ConvertError
from npser.inspection.parts import clip
from npser.shapes.column import show_key
from npser.types.placeholder import Placeholder

__all__ = ["json_lines"]

EXACT = 1 << 53
SHOWN_PATH = 240
_MICRO: Final = datetime.timedelta(microseconds=1)


def json_lines(value: object) -> Iterator[str]:
    """The lines, each without its end.

    >>> list(json_lines([{"a": 1}, (b"x", float("nan"))]))
    ['{"a":1}', '{"$tuple":[{"$bytes":"eA=="},{"$float":"nan"}]}']
    """
    lowering = _Lowering()
    try:
        if type(value) is list:
            lowering.met[id(value)] = "$"
            for index, item in enumerate(value):
                yield _dumped(lowering.lower(item, f"$[{index}]"))
        else:
            yield _dumped(lowering.lower(value, "$"))
    except RecursionError:
        raise ConvertError("nested too deep for JSON lines") from None


def _dumped(lowered: object) -> str:
    text = json.dumps(lowered, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, which JSON has as escapes
        return json.dumps(lowered, separators=(",", ":"), allow_nan=False)
    return text


class _Lowering:
    """From Python to what JSON has."""

    def __init__(self) -> None:
        self.met: dict[int, str] = {}

    def lower(self, value: Any, path: str) -> object:
        kind = type(value)
        simple = _SIMPLE.get(kind)
        if simple is not None:
            return simple(value)
        if isinstance(value, np.generic):
            return {"$numpy": str(value.dtype), "value": self._scalar(value, path)}
        text = _TEXTS.get(kind)
        if text is not None:
            return {f"${kind.__name__}": text(value)}
        if isinstance(value, Placeholder):
            container: Callable[[_Lowering, Any, str], object] | None = _placeholder
        else:
            container = _CONTAINERS.get(kind)
        if container is None:
            raise ConvertError(f"cat has no JSON for {kind.__module__}.{kind.__qualname__} in {path}")
        if id(value) in self.met:
            return {"$same": self.met[id(value)]}
        self.met[id(value)] = path = clip(path, SHOWN_PATH)
        return container(self, value, path)

    def items(self, values: Iterable[Any], path: str) -> list[object]:
        """A list of them."""
        return [self.lower(value, f"{path}[{index}]") for index, value in enumerate(values)]

    def pairs(self, value: dict[Any, Any], path: str) -> list[object]:
        """A list of [key, value]."""
        return [
            [self.lower(key, f"{path}.keys()[{index}]"), self.lower(item, f"{path}[{show_key(key)}]")]
            for index, (key, item) in enumerate(dict.items(value))
        ]

    def _scalar(self, value: Any, path: str) -> object:
        if isinstance(value, (np.void, np.longdouble, np.clongdouble, np.datetime64, np.timedelta64)):
            return base64.b64encode(value.tobytes()).decode() if isinstance(value, np.void) else str(value)
        return self.lower(value.item(), path)


def _int(value: int) -> object:
    return value if -EXACT <= value <= EXACT else {"$int": _digits(value)}


def _digits(value: int) -> str:
    return str(value) if value.bit_length() < 4096 else hex(value)  # longer ones take quadratic time in base ten


def _float(value: float) -> object:
    return value if math.isfinite(value) else {"$float": str(value)}


def _moment(value: Any) -> object:
    name = f"${type(value).__name__}"
    zone = getattr(value.tzinfo, "key", None)
    if zone is not None:  # whose offset at the ends of the calendar nobody can tell
        value = value.replace(tzinfo=None)
    plain: dict[str, object] = {name: value.isoformat()}
    if zone is not None:
        plain["zone"] = zone
    if value.fold:
        plain["fold"] = 1
    return plain


_SIMPLE: Final[dict[type, Callable[[Any], object]]] = {
    type(None): lambda value: value,
    bool: lambda value: value,
    str: lambda value: value,
    int: _int,
    float: _float,
    complex: lambda value: {"$complex": [_float(value.real), _float(value.imag)]},
    bytes: lambda value: {"$bytes": base64.b64encode(value).decode()},
    bytearray: lambda value: {"$bytearray": base64.b64encode(value).decode()},
    datetime.datetime: _moment,
    datetime.time: _moment,
    datetime.date: lambda value: {"$date": value.isoformat()},
    datetime.timedelta: lambda value: {"$timedelta": value // _MICRO},
    range: lambda value: {"$range": [_int(value.start), _int(value.stop), _int(value.step)]},
    types.EllipsisType: lambda _: {"$ellipsis": True},
}

_TEXTS: Final[dict[type, Callable[[Any], str]]] = {
    **dict.fromkeys((decimal.Decimal, uuid.UUID), str),
    fractions.Fraction: lambda value: f"{_digits(value.numerator)}/{_digits(value.denominator)}",
    **dict.fromkeys(
        (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, pathlib.WindowsPath), str
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
        str,
    ),
}


def _dict(lowering: _Lowering, value: dict[Any, Any], path: str) -> object:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {key: lowering.lower(item, f"{path}[{show_key(key)}]") for key, item in value.items()}
    return {"$dict": lowering.pairs(value, path)}


def _named(name: str) -> Callable[[_Lowering, Any, str], object]:
    return lambda lowering, value, path: {name: lowering.items(value, path)}


def _paired(name: str) -> Callable[[_Lowering, Any, str], object]:
    return lambda lowering, value, path: {name: lowering.pairs(dict(value), path)}


def _slice(lowering: _Lowering, value: slice, path: str) -> object:
    return {"$slice": lowering.items((value.start, value.stop, value.step), path)}


def _placeholder(lowering: _Lowering, value: Placeholder, path: str) -> object:
    if isinstance(value.contents, dict) and value.form in ("object", "named tuple"):
        fields = {name: lowering.lower(item, f"{path}.{name}") for name, item in value.contents.items()}
        return {"$object": value.stamp.replace("\0", "@"), "fields": fields}
    return {"$object": value.stamp.replace("\0", "@"), "value": lowering.lower(value.contents, path)}


def _namespace(lowering: _Lowering, value: types.SimpleNamespace, path: str) -> object:
    return {"$object": "stdClass", "fields": _dict(lowering, vars(value), path)}


def _array(lowering: _Lowering, value: Any, path: str) -> object:
    shape = list(value.shape)
    if value.dtype.names is not None or value.dtype.kind in "VMm" or value.dtype.char in "gG":
        flat = [base64.b64encode(value.tobytes()).decode()]
        return {"$array": str(value.dtype), "shape": shape, "bytes": flat[0]}
    return {"$array": str(value.dtype), "shape": shape, "items": lowering.items(value.ravel().tolist(), path)}


_CONTAINERS: Final[dict[type, Callable[[_Lowering, Any, str], object]]] = {
    list: lambda lowering, value, path: lowering.items(value, path),
    dict: _dict,
    tuple: _named("$tuple"),
    set: _named("$set"),
    frozenset: _named("$frozenset"),
    deque: _named("$deque"),
    OrderedDict: _paired("$OrderedDict"),
    Counter: _paired("$Counter"),
    defaultdict: _paired("$defaultdict"),
    slice: _slice,
    types.SimpleNamespace: _namespace,
    np.ndarray: _array,
}
