"""The state of one encoding, and the leaves.

Strategy: leaves are bytes as soon as they are met; whoever writes a container asks `LEAVES` by exact type and hands out
what is not there. What PHP cannot hold is thrown as `Refused` with the culprit; where that stands is found later.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npser.blocks.varint import encode_varints, zigzag
from npser.limits import MAX_DEPTH
from npser.phpser.classes import wire_name
from npser.phpser.dictionary import Dictionary, varint, zigzag_varint
from npser.phpser.keys import LONG_MAX, LONG_MIN, property_bytes
from npser.phpser.longs import as_int64
from npser.phpser.tags import AFFINE_ITEMS, FIRST_OF_V2, Tag
from npser.types.allow import Allow
from npser.types.registry import class_name

__all__ = [
    "LEAVES",
    "NO_UTF8",
    "TOO_WIDE",
    "Default",
    "Held",
    "Refused",
    "Walk",
    "Writer",
    "canonical_text",
    "int64_of",
    "is_utf8",
    "items",
    "property_key",
    "refuses_leaf",
]

Walk = Iterator[Any]
"""A container that is being written: gives the containers in it."""

Default = Callable[[Any], Any] | None

TOO_WIDE: Final = "an int outside 64 bits, which PHP would make a float"
NO_UTF8: Final = "a str with a lone surrogate, which is not UTF-8; PHP would hold other bytes"

MAX_SUBSTITUTES = 16
"""Substitutes for substitutes, before `default` is taken to go round in circles."""


class Refused(Exception):  # noqa: N818 - a signal between two functions; no caller sees it
    """A value that PHP cannot hold.

    Attributes
    ----------
    message : str
        What is wrong with it.
    culprit : object
        The value, or a key.
    """

    def __init__(self, message: str, culprit: Any) -> None:
        super().__init__(message)
        self.message = message
        self.culprit = culprit


class Held(NamedTuple):
    """A list or a dict that is written inside the PHP reference that holds it."""

    value: Any


class Writer:
    """One payload that is being written.

    Attributes
    ----------
    version : int
        The wire to stay within.
    used : int
        The wire of the tags that were written.
    out : list of bytes
        The value so far.
    words : Dictionary
    stack : list of (walk, container)
        The open containers, outermost first.
    numbers : dict of int to int
        id() of each object and referenced container that was written -> its number.
    referenced : set of int
        id() of the lists and dicts that are PHP references.
    affine : int
        Items that AFFINE runs may still hold.
    placing : tuple
        The one value that is being looked at and is not on the stack yet, if there is one.
    origins : dict of int to object
        id() of each substitute -> what it stands for.
    """

    __slots__ = (
        "_classes",
        "_names",
        "affine",
        "allow",
        "default",
        "depth",
        "keep",
        "numbered",
        "numbers",
        "origins",
        "out",
        "placing",
        "referenced",
        "refuses",
        "stack",
        "used",
        "version",
        "words",
    )

    def __init__(
        self,
        version: int,
        default: Default,
        allow: Allow,
        referenced: frozenset[int],
        refuses: Callable[[Any], str | None],
    ) -> None:
        self.version = version
        self.used = 1
        self.default = default
        self.refuses = refuses
        self.depth = MAX_DEPTH
        self.allow = allow
        self.referenced = referenced
        self.out: list[bytes] = []
        self.words = Dictionary()
        self.stack: list[tuple[Walk, Any]] = []
        self.numbers: dict[Any, int] = {}
        self.numbered = 0
        self.keep: list[Any] = []
        self.affine = AFFINE_ITEMS
        self.origins: dict[int, Any] = {}
        self.placing: tuple[Any, ...] = ()
        self._classes: dict[str, type] = {}
        self._names: dict[type, str] = {}

    def head(self, tag: int, *numbers: int) -> None:
        """Write a tag and the numbers behind it."""
        if tag >= FIRST_OF_V2:
            self.used = 2
        self.out.append(bytes((tag,)) + b"".join(map(varint, numbers)))

    def number(self, key: Any, thing: Any) -> None:
        """Give the next number to an object."""
        self.numbers[key] = self.numbered
        self.numbered += 1
        self.keep.append(thing)

    def wire_name(self, thing: Any) -> str:
        """The PHP name of an object's class; `Refused` where two classes have one."""
        cls = type(thing)
        known = self._names.get(cls)
        if known is not None:
            return known
        name = self._names[cls] = wire_name(self.allow, cls)
        if self._classes.setdefault(name.lower(), cls) is not cls:
            other = class_name(self._classes[name.lower()])
            raise Refused(f"{class_name(cls)} and {other} are both {name} in PHP; give one a __php_name__", thing)
        return name

    def class_index(self, name: str) -> bytes:
        """The index of a class's name in the dictionary."""
        return self.words.intern(property_key(name))

    def substituted(self, values: list[Any], refuses: Callable[[Any], str | None] | None = None) -> list[Any]:
        """The values, with what `default` gives for those that are refused."""
        if self.default is None:
            return values
        refuses = refuses or self.refuses
        if not any(map(refuses, values)):
            return values
        return [self._substitute(value, refuses) for value in values]

    def _substitute(self, value: Any, refuses: Callable[[Any], str | None]) -> Any:
        substitute = value
        assert self.default is not None
        for _ in range(MAX_SUBSTITUTES):
            if refuses(substitute) is None:
                break
            substitute = self.default(substitute)
        else:
            raise Refused(f"default={self.default!r} gives no substitute that PHP can hold", value)
        if substitute is not value:
            self.keep.append(substitute)
            self.origins[id(substitute)] = value
        return substitute


def refuses_leaf(value: Any) -> str | None:
    """Why PHP cannot hold a leaf, or None."""
    if type(value) is int:
        return None if LONG_MIN <= value <= LONG_MAX else TOO_WIDE
    return NO_UTF8 if type(value) is str and not is_utf8(value) else None


def is_utf8(text: str) -> bool:
    """Whether a str has no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def canonical_text(text: str | bytes) -> str | bytes:
    """The one object by which the dictionary knows a string: str where its bytes are UTF-8."""
    if type(text) is bytes:
        try:
            return text.decode()
        except UnicodeDecodeError:
            pass
    return text


def property_key(name: str) -> str | bytes:
    """A property's or a class's name as the dictionary knows it."""
    return name if name.isascii() else canonical_text(property_bytes(name))


# Leaves


def _long(_w: Writer, value: int) -> bytes:
    if not LONG_MIN <= value <= LONG_MAX:
        raise Refused(TOO_WIDE, value)
    return b"\x03" + zigzag_varint(value)


_DOUBLE: Final = struct.Struct("<cd")

LEAVES: Final[dict[type, Callable[[Writer, Any], bytes]]] = {
    type(None): lambda _w, _value: b"\x00",
    bool: lambda _w, value: b"\x02" if value else b"\x01",
    int: _long,
    float: lambda _w, value: _DOUBLE.pack(b"\x04", value),
    str: lambda w, value: w.words.value(value),
    bytes: lambda w, value: w.words.value(canonical_text(value)),
}
"""Exact type -> the bytes of a value."""

def int64_of(values: list[Any]) -> NDArray[np.int64]:
    """Ints -> (n,) int64."""
    try:
        return as_int64(values)
    except struct.error:
        wide = next(value for value in values if not LONG_MIN <= value <= LONG_MAX)
        raise Refused(TOO_WIDE, wide) from None


def _tokens(values: list[Any]) -> bytes:
    """Ints, bools and nulls with their tags: all varints, and so written as one stream of them."""
    long = int(Tag.LONG)
    tags = np.array([long if type(value) is int else _CONSTANT_TAGS[value] for value in values], "<u8")
    is_long = tags == long
    ends = np.cumsum(1 + is_long)
    stream = np.empty(int(ends[-1]), "<u8")
    stream[ends - 1 - is_long] = tags
    stream[ends[is_long] - 1] = zigzag(int64_of([value for value in values if type(value) is int]))
    return encode_varints(stream)


_STRINGS: Final = frozenset({str, bytes})
_NUMBERS: Final = frozenset({type(None), bool, int})
_FEW = 96
"""Up to so many numbers and nulls, a plain loop is faster (benchmarks/thresholds_phpser.py::sweep_tokens)."""
_CONSTANTS: Final = frozenset({type(None), bool})
_CONSTANT_TAGS: Final = {None: int(Tag.NULL), False: int(Tag.FALSE), True: int(Tag.TRUE)}


def items(w: Writer, values: list[Any], kinds: set[type]) -> Walk:
    """Write values with their tags; gives the containers among them."""
    if kinds <= _STRINGS:
        texts = values if bytes not in kinds else list(map(canonical_text, values))
        w.out.append(w.words.values(texts))
    elif kinds <= _CONSTANTS:
        w.out.append(bytes(map(_CONSTANT_TAGS.__getitem__, values)))
    elif kinds <= _NUMBERS and len(values) > _FEW:
        w.out.append(_tokens(values))
    else:
        out, leaves = w.out, LEAVES
        for value in values:
            leaf = leaves.get(type(value))
            if leaf is None:
                yield value
            else:
                out.append(leaf(w, value))
