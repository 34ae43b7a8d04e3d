"""Typed properties: what a field's annotation says about the value that PHP may put there.

Strategy: PHP refuses a string for ``public int $x``, and so does this for a field that is declared ``x: int``. Only
annotations that name builtin types are understood, as classes or as source text, and nothing is evaluated; of any
other annotation nothing is demanded. PHP's strings are str or bytes here, and its arrays are lists or dicts.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
import weakref
from typing import Any, Final

__all__ = ["Demands", "demands_of"]

Demands = dict[str, frozenset[type]]
"""Field -> the types of which its value must be."""

_NONE: Final = frozenset({type(None)})
_STRINGS: Final = frozenset({str, bytes})
_ARRAYS: Final = frozenset({list, dict})

_BUILTIN: Final[dict[Any, frozenset[type]]] = {
    int: frozenset({int}),
    float: frozenset({float, int}),
    bool: frozenset({bool}),
    str: _STRINGS,
    bytes: _STRINGS,
    list: _ARRAYS,
    dict: _ARRAYS,
    None: _NONE,
    type(None): _NONE,
}
_BY_NAME: Final = {kind.__name__: allowed for kind, allowed in _BUILTIN.items() if kind is not None} | {"None": _NONE}
_SUBSCRIPTED: Final = re.compile(r"(list|dict)\[[\w\s,.|\[\]]*\]")

_known: weakref.WeakKeyDictionary[type, Demands] = weakref.WeakKeyDictionary()


def demands_of(cls: type) -> Demands:
    """What the fields of a dataclass or attrs class demand.

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     label: "str | None" = None
    ...     other: "Point | None" = None
    >>> sorted((name, sorted(kind.__name__ for kind in kinds)) for name, kinds in demands_of(Point).items())
    [('label', ['NoneType', 'bytes', 'str']), ('x', ['int'])]
    """
    demands = _known.get(cls)
    if demands is None:
        demands = _known[cls] = _find(cls)
    return demands


def _find(cls: Any) -> Demands:
    if dataclasses.is_dataclass(cls):
        fields: Any = dataclasses.fields(cls)
    else:
        fields = getattr(cls, "__attrs_attrs__", ())
    demands: Demands = {}
    for field in fields:
        allowed = _text(field.type) if isinstance(field.type, str) else _runtime(field.type)
        if allowed is not None:
            demands[field.name] = allowed | _NONE if field.default is None else allowed
    return demands


def _text(annotation: str) -> frozenset[type] | None:
    """Of an annotation as source text."""
    parts = [part.strip() for part in _SUBSCRIPTED.sub(r"\1", annotation.strip("'\"")).split("|")]
    found = [_BY_NAME.get(part) for part in parts]
    return _union(found)


def _runtime(annotation: Any) -> frozenset[type] | None:
    """Of an annotation as an object."""
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        return _union([_runtime(part) for part in typing.get_args(annotation)])
    try:
        return _BUILTIN.get(annotation if origin is None else origin)
    except TypeError:  # an annotation that cannot be hashed
        return None


def _union(parts: list[frozenset[type] | None]) -> frozenset[type] | None:
    known = [part for part in parts if part is not None]
    return frozenset().union(*known) if len(known) == len(parts) else None
