"""What canonical bytes keep of a value, and equal values that look different.

Strategy: `essence` says in a nested tuple what two values must have in common for their canonical bytes to be equal; it
knows nothing of npser. `disguise` rebuilds a value into one of the same essence: other objects, dicts and sets that went
through something else, other NaNs. Both are recursive, for values of tests are not deep.
"""

from __future__ import annotations

import enum
import random
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import npser
from same import FACTS, _dtype_facts, _raw, _slot_names

__all__ = ["disguise", "essence"]

NANS: Final = (0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000123, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF)


def _float(value: float) -> object:
    return "nan" if value != value else struct.pack("<d", value)


def _number_array(array: Any) -> object:
    if array.dtype.names is not None:
        return [(name, _number_array(array[name])) for name in array.dtype.names]
    if array.dtype.kind == "c":
        return _number_array(array.real), _number_array(array.imag)
    if array.dtype.kind == "f":
        there = ~np.isnan(array)
        return there.tolist(), _raw(np.where(there, array, array.dtype.type(0)))
    return repr(array.tolist()) if array.dtype.kind == "T" else _raw(array)


def _array(array: Any) -> object:
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    form = "ndarray", repr(_dtype_facts(array.dtype)), array.shape, fortran
    return *form, [*map(essence, array.ravel().tolist())] if array.dtype == object else _number_array(array)


def _sorted(parts: Any) -> list[Any]:
    return sorted(parts, key=repr)


def _attributes(value: Any) -> dict[str, Any]:
    slots = {name: getattr(value, name) for name in _slot_names(type(value)) if hasattr(value, name)}
    slots.pop("__weakref__", None)
    return slots | getattr(value, "__dict__", {})


def essence(value: Any) -> Any:
    """All that two values have in common if and only if their canonical bytes are equal; comparable and printable."""
    kind = type(value)
    name = kind.__qualname__
    if kind is float:
        return name, _float(value)
    if kind is complex:
        return name, _float(value.real), _float(value.imag)
    if kind in FACTS:
        return name, repr(FACTS[kind](value))
    if isinstance(value, enum.Enum):
        return name, repr(value)
    if kind is np.ndarray:
        return _array(value)
    if isinstance(value, (np.str_, np.bytes_)):
        return name, repr(value)
    if isinstance(value, np.generic):
        return name, _array(np.asarray(value))
    if kind in (dict, Counter, defaultdict):
        factory = getattr(value, "default_factory", None)
        return name, factory, _sorted((essence(key), essence(item)) for key, item in dict.items(value))
    if kind is OrderedDict:
        return name, [(essence(key), essence(item)) for key, item in value.items()]
    if kind in (set, frozenset):
        return name, _sorted(map(essence, value))
    if isinstance(value, (list, tuple, deque)):
        return name, getattr(value, "maxlen", None), list(map(essence, value))
    if kind is slice:
        return name, list(map(essence, (value.start, value.stop, value.step)))
    assert kind is not npser.Placeholder
    return name, _sorted((key, essence(item)) for key, item in _attributes(value).items())


def disguise(value: Any, rng: random.Random) -> Any:
    """A value of the same essence."""
    remade = _DISGUISES.get(type(value), _object)
    return remade(value, rng)


def _text(value: str, _rng: random.Random) -> str:
    return "".join([value, "x"])[:-1]


def _nan(value: float, rng: random.Random) -> float:
    if value == value:
        return value
    found: float = struct.unpack("<d", struct.pack("<Q", rng.choice(NANS)))[0]  # another object each time, for sets
    return found


def _shuffled(items: Any, rng: random.Random) -> list[Any]:
    found = list(items)
    rng.shuffle(found)
    return found


def _into_set(members: list[Any], rng: random.Random) -> set[Any]:
    made: set[Any] = set(range(rng.randrange(100)))  # its table has grown, so that they stand in another order
    made.clear()
    made.update(members)
    return made


def _dict(make: Callable[[Any], Any]) -> Callable[[Any, random.Random], Any]:
    def remake(value: Any, rng: random.Random) -> Any:
        made = make(value)
        for key, item in _shuffled(dict.items(value), rng):
            made[disguise(key, rng)] = disguise(item, rng)
        return made

    return remake


def _remake_array(value: Any, rng: random.Random) -> Any:
    fortran = value.flags.f_contiguous and not value.flags.c_contiguous
    if value.dtype == object:
        made = np.empty(value.shape, object, order="F" if fortran else "C")
        for index in np.ndindex(value.shape):
            made[index] = disguise(value[index], rng)
        return made
    if value.dtype.kind == "V" or not value.dtype.itemsize or max(value.shape, default=0) > 1000:
        return value
    if fortran or not value.ndim:
        return value.copy("F" if fortran else "C")
    wide = np.repeat(value, 2, axis=0)[::2]  # strided
    return wide if not wide.flags.f_contiguous or wide.flags.c_contiguous else value.copy()


def _object(value: Any, rng: random.Random) -> Any:
    kind = type(value)
    if kind.__module__ != "values" or isinstance(value, enum.Enum):
        return value
    if isinstance(value, tuple):
        return tuple.__new__(kind, [disguise(item, rng) for item in value])
    made = object.__new__(kind)
    own = getattr(value, "__dict__", {})
    for name, item in _shuffled(_attributes(value).items(), rng):
        if name in own:
            made.__dict__[name] = disguise(item, rng)  # also a name like __class__
        else:
            object.__setattr__(made, name, disguise(item, rng))
    return made


_DISGUISES: Final[dict[type, Callable[[Any, random.Random], Any]]] = {
    str: _text,
    float: _nan,
    complex: lambda value, rng: complex(_nan(value.real, rng), _nan(value.imag, rng)),
    list: lambda value, rng: [disguise(item, rng) for item in value],
    tuple: lambda value, rng: tuple([disguise(item, rng) for item in value]),
    deque: lambda value, rng: deque([disguise(item, rng) for item in value], value.maxlen),
    set: lambda value, rng: _into_set([disguise(item, rng) for item in _shuffled(value, rng)], rng),
    frozenset: lambda value, rng: frozenset(_into_set([disguise(item, rng) for item in _shuffled(value, rng)], rng)),
    dict: _dict(lambda _: {}),
    Counter: _dict(lambda _: Counter()),
    defaultdict: _dict(lambda value: defaultdict(value.default_factory)),
    OrderedDict: lambda value, rng: OrderedDict([(disguise(k, rng), disguise(v, rng)) for k, v in value.items()]),
    np.ndarray: _remake_array,
}
