"""The words of the expressions in FORMAT.md and in the golden vectors: modules, a few classes, a few helpers.

Strategy: an expression says what a value is better than a repr does, and it can be read without npser. The classes say
that they are of the module `demo`, so that their names on the wire do not depend on where the tests are.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import struct
import uuid
import zoneinfo
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

import npser

__all__ = ["CLASSES", "evaluate"]


@dataclass
class Point:
    x: Any
    y: Any


@dataclass(frozen=True)
class Frozen:
    x: Any


class Thing:
    """Has what its `__dict__` holds."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Bare:
    __slots__ = ("a", "b")

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)


class Money:
    """Has a state of its own."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __getstate__(self) -> Any:
        return [self.cents]

    def __setstate__(self, state: Any) -> None:
        (self.cents,) = state


class Track:
    """Owns its bytes, of which it has one."""

    def __init__(self, number: int) -> None:
        self.number = number

    def pack(self, stream: npser.BinaryStream) -> None:
        stream.write(bytes([self.number]))

    @classmethod
    def unpack(cls, stream: npser.BinaryStream) -> Track:
        return cls(stream.read_exactly(1)[0])


class Span:
    """Is registered with what it is made of."""

    def __init__(self, start: Any, stop: Any) -> None:
        self.bounds = (start, stop)


class Pair(NamedTuple):
    left: Any
    right: Any = None


class Nobody(NamedTuple):
    pass


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Mode(enum.Flag):
    READ = 1
    WRITE = 2


CLASSES: Final = (Point, Frozen, Thing, Bare, Money, Track, Span, Pair, Nobody, Colour, Mode)
for _cls in CLASSES:
    _cls.__module__ = "demo"
npser.register(Span, state=lambda span: {"start": span.bounds[0], "stop": span.bounds[1]}, build=lambda state: Span(**state))


def double(bits: int) -> float:
    """The double of these bits.

    >>> double(0x3FF0000000000000)
    1.0
    """
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


def twice(value: Any) -> list[Any]:
    """One object in two places."""
    return [value, value]


def loop() -> list[Any]:
    """A list that holds itself and nothing else."""
    found: list[Any] = []
    found.append(found)
    return found


def ring() -> Thing:
    """Two objects that hold each other."""
    first, second = Thing(), Thing()
    first.next, second.next = second, first
    return first


def fields(array: Any, **columns: Any) -> Any:
    """The structured array with its fields set."""
    for name, column in columns.items():
        array[name] = column
    return array


WORDS: Final[dict[str, Any]] = {
    "collections": collections,
    "datetime": datetime,
    "decimal": decimal,
    "fractions": fractions,
    "ipaddress": ipaddress,
    "pathlib": pathlib,
    "uuid": uuid,
    "zoneinfo": zoneinfo,
    "np": np,
    "double": double,
    "fields": fields,
    "loop": loop,
    "ring": ring,
    "twice": twice,
    **{cls.__name__: cls for cls in CLASSES},
}


def evaluate(expression: str, **more: Any) -> Any:
    """The value of an expression in these words.

    >>> evaluate("Point(1, np.int8(2))")
    Point(x=1, y=np.int8(2))
    """
    return eval(expression, {**WORDS, **more})  # noqa: S307 - expressions of our own files
