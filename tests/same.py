"""Identical, not equal: what a round trip must give back.

Strategy: `==` is blind to nearly everything that a serializer can lose (True for 1, 0.0 for -0.0, a set's members, an
array's byte order), so nothing here asks it before the exact types are known. Two tables say what a type has: FACTS,
what can be compared at once, and PARTS, what must be identical in turn. The walk keeps its own stack and linked paths,
so depth costs nothing, and a pair of objects that is being compared already is not entered again, so cycles end.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import struct
import types
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

import npser

__all__ = ["difference", "same"]

ABSENT: Final = type("Absent", (), {"__repr__": lambda self: "<absent>"})()


class Way(NamedTuple):
    """How a part is reached: the way to its owner, and the last step."""

    up: Way | None
    step: str

    def __str__(self) -> str:
        steps: list[str] = []
        way: Way | None = self
        while way is not None:
            steps.append(way.step)
            way = way.up
        return "".join(reversed(steps))


class Pair(NamedTuple):
    """Two parts that must be identical."""

    a: Any
    b: Any
    way: Way

    def part(self, a: Any, b: Any, step: str) -> Pair:
        return Pair(a, b, Way(self.way, step))


class DifferentError(Exception):
    """Two values differ in something that is no part of theirs."""


Facts = Callable[[Any], object]
Parts = Callable[[Pair], Iterator[Pair]]


def same(a: object, b: object) -> bool:
    """Whether b is what a is.

    >>> same([1, 0.0], [1, 0.0]), same([1], [True]), same(0.0, -0.0), same(float("nan"), float("nan"))
    (True, False, False, True)
    """
    return difference(a, b) is None


def difference(a: object, b: object) -> str | None:
    """Where and how b first differs from a, or None.

    >>> difference({"price": [1, 2.0]}, {"price": [1, 2]})
    "$['price'][1]: float became int"
    """
    stack = [Pair(a, b, Way(None, "$"))]
    entered: set[tuple[int, int]] = set()
    keep: list[Pair] = []  # what was entered stays alive, so that no id is given away
    while stack:
        pair = stack.pop()
        a, b, way = pair
        if type(a) is not type(b):
            return f"{way}: {_name(a)} became {_name(b)}"
        kind = type(a)
        facts = FACTS.get(kind)
        if facts is not None:
            was, now = facts(a), facts(b)
            if was != now:
                return f"{way}: {_short(was)} became {_short(now)}"
            continue
        if isinstance(a, enum.Enum) and a is not b:
            return f"{way}: {a!r} became {b!r}"
        if a is b or (id(a), id(b)) in entered:
            continue
        entered.add((id(a), id(b)))
        keep.append(pair)
        try:
            stack.extend(reversed(list(_parts_of(a)(pair))))
        except DifferentError as error:
            return f"{way}: {error}"
    return None


def _name(value: object) -> str:
    return type(value).__name__


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


# ---------------------------------------------------------------------------------------------------------------- facts


def _bits(value: float) -> bytes:
    return struct.pack("<d", value)


def _zone(zone: datetime.tzinfo | None) -> object:
    if zone is None or zone is datetime.UTC:
        return zone
    if type(zone) is datetime.timezone:
        return datetime.timezone, zone.__getinitargs__()
    if type(zone) is zoneinfo.ZoneInfo:
        return zoneinfo.ZoneInfo, zone.key, zoneinfo.ZoneInfo(zone.key) is zone
    return id(zone)


def _clock(value: Any) -> tuple[object, ...]:
    return value.hour, value.minute, value.second, value.microsecond, value.fold, _zone(value.tzinfo)


def _path(value: pathlib.PurePath) -> object:
    return value.parts, value.drive, value.root, str(value)


FACTS: Final[dict[type, Facts]] = {
    type(None): lambda value: None,
    types.EllipsisType: lambda value: None,
    **dict.fromkeys((bool, int, str, bytes, bytearray), lambda value: value),
    float: _bits,
    complex: lambda value: _bits(value.real) + _bits(value.imag),
    decimal.Decimal: lambda value: value.as_tuple(),
    fractions.Fraction: lambda value: (value.numerator, value.denominator),
    range: lambda value: (value.start, value.stop, value.step),
    datetime.date: lambda value: (value.year, value.month, value.day),
    datetime.datetime: lambda value: (value.year, value.month, value.day, *_clock(value)),
    datetime.time: _clock,
    datetime.timedelta: lambda value: (value.days, value.seconds, value.microseconds),
    uuid.UUID: lambda value: (value.int, value.is_safe),
    **dict.fromkeys(
        (pathlib.PurePosixPath, pathlib.PureWindowsPath, pathlib.PosixPath, pathlib.WindowsPath), _path
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
"""What two values of a type must have in common, all of it."""


# ---------------------------------------------------------------------------------------------------------------- parts


def _equal(what: str, a: object, b: object) -> None:
    if a != b:
        raise DifferentError(f"{what} {_short(a)} became {_short(b)}")


def _alike(a: object, b: object) -> bool:
    """Whether two values are leaves that need no further look: most are, and a pair each would take most of the time."""
    facts = FACTS.get(type(a))
    return facts is not None and type(a) is type(b) and facts(a) == facts(b)


def _items(pair: Pair) -> Iterator[Pair]:
    a, b = list(pair.a), list(pair.b)
    _equal("length", len(a), len(b))
    kinds = set(map(type, a))
    if len(kinds) == 1 and len(a) > 1:
        facts = FACTS.get(kinds.pop())
        if facts is not None and set(map(type, b)) == {type(a[0])} and list(map(facts, a)) == list(map(facts, b)):
            return
    for index, (x, y) in enumerate(zip(a, b, strict=True)):
        if not _alike(x, y):
            yield pair.part(x, y, f"[{index}]")


def _plain_tuple(pair: Pair) -> Iterator[Pair]:
    a, b = tuple.__iter__(pair.a), tuple.__iter__(pair.b)
    _equal("length", tuple.__len__(pair.a), tuple.__len__(pair.b))
    for index, (x, y) in enumerate(zip(a, b, strict=True)):
        if not _alike(x, y):
            yield pair.part(x, y, f"[{index}]")


def _mapping(pair: Pair) -> Iterator[Pair]:
    a, b = list(pair.a.items()), list(pair.b.items())
    _equal("length", len(a), len(b))
    for index, ((key, x), (other, y)) in enumerate(zip(a, b, strict=True)):
        if not _alike(key, other):
            yield pair.part(key, other, f".keys()[{index}]")
        if not _alike(x, y):
            yield pair.part(x, y, f"[{key!r}]" if type(key) in (str, int) else f".values()[{index}]")
    for key, _ in b:
        if key == key and key not in pair.b:
            raise DifferentError(f"the key {_short(key)} is there, but is not found")


def _default_dict(pair: Pair) -> Iterator[Pair]:
    if pair.a.default_factory is not pair.b.default_factory:
        raise DifferentError(f"the factory {pair.a.default_factory!r} became {pair.b.default_factory!r}")
    yield from _mapping(pair)


def _deque(pair: Pair) -> Iterator[Pair]:
    _equal("maxlen", pair.a.maxlen, pair.b.maxlen)
    yield from _items(pair)


def _members(pair: Pair) -> Iterator[Pair]:
    """Members in any order: put into drawers by what is quickly seen, then matched drawer by drawer."""
    _equal("number of members", len(pair.a), len(pair.b))
    for member in pair.b:
        if member == member and member not in pair.b:
            raise DifferentError(f"the member {_short(member)} is there, but is not found")
    drawers: dict[object, tuple[list[Any], list[Any]]] = {}
    for side, members in enumerate((pair.a, pair.b)):
        for member in members:
            drawers.setdefault(_drawer(member, 3), ([], []))[side].append(member)
    for ours, theirs in drawers.values():
        _equal("members that look alike", len(ours), len(theirs))
        if len(ours) == 1:
            yield pair.part(ours[0], theirs[0], "{...}")
            continue
        left = list(theirs)
        for member in ours:
            index = next((i for i, other in enumerate(left) if same(member, other)), None)
            if index is None:
                raise DifferentError(f"the member {_short(member)} is gone")
            del left[index]


def _drawer(member: Any, depth: int) -> object:
    facts = FACTS.get(type(member))
    if facts is not None:
        return type(member), facts(member)
    if isinstance(member, tuple) and depth:
        return type(member), tuple([_drawer(item, depth - 1) for item in tuple.__iter__(member)])
    if isinstance(member, enum.Enum):
        return type(member), id(member)
    if not depth:
        return type(member)
    attributes = [(name, _slot(member, name)) for name in _slot_names(type(member))]
    attributes += getattr(member, "__dict__", {}).items()
    return type(member), tuple([(name, _drawer(value, depth - 1)) for name, value in attributes])


def _slice(pair: Pair) -> Iterator[Pair]:
    for name in ("start", "stop", "step"):
        yield pair.part(getattr(pair.a, name), getattr(pair.b, name), f".{name}")


def _dtype_facts(dtype: Any) -> object:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return "subarray", _dtype_facts(base), shape
    facts: list[object] = [dtype.kind, dtype.num, dtype.type, dtype.itemsize, dtype.byteorder, dtype.alignment]
    if dtype.names is not None:
        facts.append(dtype.isalignedstruct)
        for name in dtype.names:
            field, offset, *title = dtype.fields[name]
            facts.append((name, offset, title, _dtype_facts(field)))
    elif dtype.kind in "mM":
        facts.append(np.datetime_data(dtype))
    elif dtype.kind == "T":
        na = getattr(dtype, "na_object", ABSENT)
        facts += [dtype.coerce, repr(na)]
    return facts


def _raw(array: Any) -> bytes:
    """All bytes of an array in C order, also those between the fields, but not those that pad a long double."""
    if not array.dtype.itemsize or not array.size:
        return b""
    if array.dtype.char in "gG" and array.dtype.itemsize % 16 == 0:
        items = np.frombuffer(array.tobytes(), "u1").reshape(-1, 16)
        return (items[:, :10] if array.dtype.isnative else items[:, 6:]).tobytes()
    return np.ascontiguousarray(array.view(f"V{array.dtype.itemsize}") if array.dtype.names else array).tobytes()


def _array(pair: Pair) -> Iterator[Pair]:
    a, b = pair.a, pair.b
    _equal("dtype", _dtype_facts(a.dtype), _dtype_facts(b.dtype))
    _equal("shape", a.shape, b.shape)
    fortran = a.flags.f_contiguous and not a.flags.c_contiguous
    _equal("Fortran order", fortran, b.flags.f_contiguous and not b.flags.c_contiguous)
    if not (b.flags.c_contiguous or b.flags.f_contiguous or a.strides == b.strides):
        raise DifferentError("the array is not contiguous")
    if a.dtype.kind in "OT":
        yield pair.part(list(a.flat), list(b.flat), ".flat")
    elif _raw(a) != _raw(b):
        raise DifferentError(f"elements {_short(a)} became {_short(b)}")


def _scalar(pair: Pair) -> Iterator[Pair]:
    a, b = pair.a, pair.b
    if type(a) is np.str_:
        _equal("text", str.__str__(a), str.__str__(b))
    elif type(a) is np.bytes_:
        _equal("bytes", bytes(a), bytes(b))
    else:
        _equal("dtype", _dtype_facts(a.dtype), _dtype_facts(b.dtype))
        _equal("bits of", _raw(np.asarray(a)), _raw(np.asarray(b)))
    return iter(())


def _placeholder(pair: Pair) -> Iterator[Pair]:
    for name in ("class_name", "form", "keys", "contents"):
        yield pair.part(getattr(pair.a, name), getattr(pair.b, name), f".{name}")


@lru_cache(maxsize=1000)
def _slot_names(cls: type) -> list[str]:
    return [
        name
        for base in cls.__mro__
        for name, member in vars(base).items()
        if isinstance(member, types.MemberDescriptorType)
    ]


def _attributes(pair: Pair) -> Iterator[Pair]:
    a, b = pair.a, pair.b
    for name in _slot_names(type(a)):
        yield pair.part(_slot(a, name), _slot(b, name), f".{name}")
    ours, theirs = getattr(a, "__dict__", {}), getattr(b, "__dict__", {})
    _equal("attributes", list(ours), list(theirs))
    for name, value in ours.items():
        if not _alike(value, theirs[name]):
            yield pair.part(value, theirs[name], f".{name}")


def _slot(thing: object, name: str) -> object:
    try:
        return object.__getattribute__(thing, name)
    except AttributeError:
        return ABSENT


PARTS: Final[dict[type, Parts]] = {
    list: _items,
    tuple: _plain_tuple,
    dict: _mapping,
    OrderedDict: _mapping,
    Counter: _mapping,
    defaultdict: _default_dict,
    deque: _deque,
    set: _members,
    frozenset: _members,
    slice: _slice,
    np.ndarray: _array,
    npser.Placeholder: _placeholder,
}


def _parts_of(value: object) -> Parts:
    exact = PARTS.get(type(value))
    if exact is not None:
        return exact
    if isinstance(value, np.generic):
        return _scalar
    if isinstance(value, tuple):
        return _plain_tuple
    return _attributes
