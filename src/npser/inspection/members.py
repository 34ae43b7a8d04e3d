"""The classes of the objects in a value: what its reader has to be told.

Strategy: the payload of the value names them, so a value without any costs nothing more, and the walk through the value
ends as soon as all are found.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.types.registry import find_registered, wire_name

if TYPE_CHECKING:
    from npser.inspection.report import Report

__all__ = ["class_names", "classes_of"]

PLAIN: Final = frozenset({int, float, str, bytes, bool, type(None)})

MAX_OBJECTS = 1 << 22
"""Containers and objects that are looked into."""


def class_names(report: Report) -> set[str]:
    """The names of the classes that a payload has objects of."""
    program = report._walked.program
    nodes = program.nodes if program is not None else ()
    return {stored.name for node in nodes if (stored := getattr(node, "stored", None)) is not None}


def classes_of(value: object, wanted: Iterable[str]) -> dict[str, type]:
    """The classes of those names that objects in a value have.

    >>> from http import HTTPMethod
    >>> classes_of([[1, HTTPMethod.GET]], {"http:HTTPMethod"})
    {'http:HTTPMethod': <enum 'HTTPMethod'>}
    """
    left = {name for name in wanted if find_registered(name) is None}
    found: dict[str, type] = {}
    seen_types: set[type] = set()
    seen: set[int] = set()
    stack: list[Any] = [value]
    while stack and left and len(seen) < MAX_OBJECTS:
        item = stack.pop()
        cls = type(item)
        if cls not in seen_types:
            seen_types.add(cls)
            name = wire_name(cls)
            if name in left:
                left.discard(name)
                found[name] = cls
        if id(item) in seen:
            continue
        seen.add(id(item))
        stack += _inside(item)
    return found


def _inside(item: Any) -> Iterable[Any]:
    """What may hold objects, within a container or an object."""
    if isinstance(item, (str, bytes, bytearray, memoryview, type, np.generic)):
        return ()
    if isinstance(item, np.ndarray):
        return item.ravel().tolist() if item.dtype.hasobject else ()
    if isinstance(item, slice):
        return item.start, item.stop, item.step
    parts: Iterable[Any] = ()
    if isinstance(item, Mapping):
        parts = chain(item, item.values())
    elif isinstance(item, CONTAINERS):
        parts = item
    return [part for part in chain(parts, _attributes(item)) if type(part) not in PLAIN]


CONTAINERS: Final = (list, tuple, set, frozenset, deque)


def _attributes(item: Any) -> Iterable[Any]:
    """The values of its attributes, where they are."""
    slots = chain.from_iterable(_names(base) for base in type(item).__mro__)
    return [*getattr(item, "__dict__", {}).values(), *(getattr(item, name, None) for name in slots)]


def _names(cls: type) -> tuple[str, ...]:
    names = cls.__dict__.get("__slots__", ())
    return (names,) if isinstance(names, str) else tuple(names)
