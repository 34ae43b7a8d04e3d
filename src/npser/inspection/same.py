"""Identical, not equal: the comparison that a round trip must pass.

Strategy: `==` says that True is 1, -0.0 is 0.0, NaN is not NaN and two dicts of another order are the same. Here
the exact type is asked first, then a table of comparers by type gives the parts that must be identical in turn. The
walk keeps its own stack, so depth is no limit; pairs of objects that are being compared already are not entered
again, so cycles end.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, time
from decimal import Decimal
from enum import Enum
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

__all__ = ["PARTS", "DifferentError", "Pair", "difference", "identical", "parts_by_base", "same_scalar", "short"]


class Pair(NamedTuple):
    """Two parts that must be identical, and where in the value they stand."""

    a: Any
    b: Any
    path: str


def identical(a: object, b: object) -> bool:
    """Whether `b` is what `a` is: same types, same values bit for bit, same order.

    >>> identical([1, 0.0], [1, 0.0]), identical([1], [True]), identical(0.0, -0.0)
    (True, False, False)
    >>> identical(float("nan"), float("nan")), identical({"a": 1, "b": 2}, {"b": 2, "a": 1})
    (True, False)
    """
    return difference(a, b) is None


def difference(a: object, b: object) -> str | None:
    """Where `b` first differs from `a`, in words, or None where they are identical.

    >>> difference({"price": [1, 2.0]}, {"price": [1, 2]})
    "$['price'][1] is int, was float"
    """
    stack = [Pair(a, b, "$")]
    entered: set[tuple[int, int]] = set()
    while stack:
        pair = stack.pop()
        a, b, path = pair
        if type(a) is not type(b):
            return f"{path} is {type(b).__name__}, was {type(a).__name__}"
        parts = PARTS.get(type(a)) or parts_by_base(a)
        if parts is None:
            if not same_scalar(a, b):
                return f"{path} is {short(b)}, was {short(a)}"
            continue
        if (id(a), id(b)) in entered:
            continue
        entered.add((id(a), id(b)))
        try:
            stack.extend(reversed(list(parts(pair))))
        except DifferentError as different:
            return str(different)
    return None


class DifferentError(Exception):
    """Two containers differ in something that is no part: length, dtype, a set's members."""


def short(value: object) -> str:
    """Its repr, or the start of it."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def same_scalar(a: Any, b: Any) -> bool:
    """Whether two leaves of one type are identical."""
    by_type = SCALARS.get(type(a))
    if by_type is not None:
        return bool(by_type(a) == by_type(b))
    if isinstance(a, Enum):
        return a is b
    return bool(a == b)


def _bits(value: float) -> bytes:
    return struct.pack("<d", value)


SCALARS: Final[dict[type, Callable[[Any], object]]] = {
    float: _bits,
    complex: lambda value: _bits(value.real) + _bits(value.imag),
    Decimal: Decimal.as_tuple,
    datetime: lambda value: (value.replace(tzinfo=None), value.fold, repr(value.tzinfo)),
    time: lambda value: (value.replace(tzinfo=None), value.fold, repr(value.tzinfo)),
}
"""What two values of a type that `==` does not tell apart must have in common."""


def _same_length(a: Any, b: Any, path: str) -> None:
    if len(a) != len(b):
        raise DifferentError(f"{path} has {len(b)} items, had {len(a)}")


def _items(pair: Pair) -> Iterator[Pair]:
    a, b, path = pair
    _same_length(a, b, path)
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        yield Pair(x, y, f"{path}[{i}]")


def _mapping(pair: Pair) -> Iterator[Pair]:
    a, b, path = pair
    _same_length(a, b, path)
    for (key, x), (other, y) in zip(a.items(), b.items(), strict=True):
        yield Pair(key, other, f"{path} key {short(key)}")
        yield Pair(x, y, f"{path}[{short(key)}]")


def _default_dict(pair: Pair) -> Iterator[Pair]:
    yield Pair(pair.a.default_factory, pair.b.default_factory, f"{pair.path}.default_factory")
    yield from _mapping(pair)


def _deque(pair: Pair) -> Iterator[Pair]:
    yield Pair(pair.a.maxlen, pair.b.maxlen, f"{pair.path}.maxlen")
    yield from _items(pair)


def _members(pair: Pair) -> Iterator[Pair]:
    """Members by equality, since order means nothing; those that equal nothing (NaN) by their bits."""
    a, b, path = pair
    _same_length(a, b, path)
    found = {member: member for member in b}
    strays = [member for member in a if member not in found]
    others = [member for member in b if member not in a]
    if Counter(map(_stray, strays)) != Counter(map(_stray, others)):
        raise DifferentError(f"{path} has other members")
    for member in a:
        if member in found:
            yield Pair(member, found[member], f"{path}{{{short(member)}}}")


def _stray(member: object) -> object:
    return _bits(member) if isinstance(member, float) else (type(member), repr(member))


def _array(pair: Pair) -> Iterator[Pair]:
    a, b, path = pair
    for name in ("dtype", "shape"):
        if getattr(a, name) != getattr(b, name):
            raise DifferentError(f"{path}.{name} is {getattr(b, name)}, was {getattr(a, name)}")
    if a.dtype.names is not None:  # the bytes between fields mean nothing
        for name in a.dtype.names:
            yield Pair(np.asarray(a[name]), np.asarray(b[name]), f"{path}[{name!r}]")
    elif a.dtype.hasobject or a.dtype.kind == "T":
        yield Pair(a.tolist(), b.tolist(), path)
    elif a.tobytes() != b.tobytes():
        raise DifferentError(f"{path} holds other numbers")


def _slots(cls: type) -> Iterable[str]:
    for base in cls.__mro__:
        names = base.__dict__.get("__slots__", ())
        yield from (names,) if isinstance(names, str) else names


_ABSENT: Final = "<absent>"


def _attributes(pair: Pair) -> Iterator[Pair]:
    a, b, path = pair
    for name in chain(_slots(type(a)), getattr(a, "__dict__", ())):
        if name not in ("__dict__", "__weakref__"):
            yield Pair(getattr(a, name, _ABSENT), getattr(b, name, _ABSENT), f"{path}.{name}")
    if set(getattr(a, "__dict__", ())) != set(getattr(b, "__dict__", ())):
        raise DifferentError(f"{path} has other attributes")


def _slice(pair: Pair) -> Iterator[Pair]:
    for name in ("start", "stop", "step"):
        yield Pair(getattr(pair.a, name), getattr(pair.b, name), f"{pair.path}.{name}")


PARTS: Final[dict[type, Callable[[Pair], Iterator[Pair]] | None]] = {
    list: _items,
    tuple: _items,
    dict: _mapping,
    OrderedDict: _mapping,
    Counter: _mapping,
    defaultdict: _default_dict,
    deque: _deque,
    set: _members,
    frozenset: _members,
    np.ndarray: _array,
    slice: _slice,
}
"""The parts of a container, by its exact type."""

BASES: Final[tuple[tuple[type, Callable[[Pair], Iterator[Pair]]], ...]] = (
    (np.generic, _array),
    (np.ndarray, _array),
    (tuple, _items),
    (list, _items),
    (dict, _mapping),
)
"""The same for subclasses of a builtin, in the order in which they are asked."""


def parts_by_base(value: object) -> Callable[[Pair], Iterator[Pair]] | None:
    """What gives the parts of an object, by what it is at heart; None for a leaf."""
    for base, parts in BASES:
        if isinstance(value, base):
            return parts
    plain_eq = type(value).__eq__ is object.__eq__
    is_record = hasattr(type(value), "__dataclass_fields__") or hasattr(type(value), "__attrs_attrs__")
    has_attributes = hasattr(value, "__dict__") or any(_slots(type(value)))
    if is_record or (plain_eq and not isinstance(value, (Enum, type)) and has_attributes):
        return _attributes
    return None
