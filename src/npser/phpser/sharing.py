"""Lists and dicts that hold themselves, or that are met twice.

Strategy: PHP's arrays are values, and an array can hold itself only through a reference. So nothing is tracked until
the writing is suspiciously deep; then the open containers are compared, and only where one is open twice the value is
searched for all that have to be references.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from npser.phpser.classes import schema_for
from npser.phpser.things import fields_of
from npser.phpser.writing import Walk
from npser.shapes.column import show_key
from npser.types.placeholder import Placeholder

__all__ = ["LOOK_AT", "children", "holds_itself", "looped", "repeated"]

LOOK_AT = frozenset({32, 64, 128, 256, 512})
"""Depths at which the open containers are compared."""

_ARRAYS = (list, dict)


def holds_itself(stack: list[tuple[Walk, Any]]) -> bool:
    """Whether one list or dict is open twice with no object between, which would never end."""
    seen: set[int] = set()
    for _, container in reversed(stack):
        if type(container) not in _ARRAYS:
            return False  # objects are numbered, so a circle through one ends
        if id(container) in seen:
            return True
        seen.add(id(container))
    return False


def children(thing: Any) -> Iterator[tuple[str, Any]]:
    """What a container holds, each with the way to it, like ``[0]``; nothing for what is no container."""
    kind = type(thing)
    if kind is list:
        yield from ((f"[{at}]", item) for at, item in enumerate(thing))
    elif kind is dict:
        yield from ((f"[{show_key(key)}]", item) for key, item in thing.items())
    elif kind is types.SimpleNamespace:
        yield from ((f".{name}", item) for name, item in vars(thing).items())
    elif isinstance(thing, Placeholder):
        yield ".contents", thing.contents
    else:
        schema = schema_for(kind)
        if schema is not None and schema.form == "object":
            yield from ((f".{name}", item) for name, item in fields_of(thing, schema).items())


def looped(root: Any) -> frozenset[int]:
    """id() of the lists and dicts that must be references because they hold themselves.

    >>> loop = [1]
    >>> loop.append({"back": loop})
    >>> looped(loop) == {id(loop)}, looped([[1], [1]])
    (True, frozenset())
    """
    found: set[int] = set()
    finished: set[int] = set()
    keep: list[Any] = []
    starts = [root]
    seen_objects: set[int] = set()
    while starts:
        start = starts.pop()
        walk = [(id(start), children(start))]
        is_open = {id(start)}
        while walk:
            owner, inside = walk[-1]
            for _, child in inside:
                if id(child) in is_open and type(child) in _ARRAYS:
                    found.add(id(child))
                elif type(child) in _ARRAYS:
                    if id(child) not in finished:
                        is_open.add(id(child))
                        walk.append((id(child), children(child)))
                        break
                elif _is_object(child) and id(child) not in seen_objects:
                    seen_objects.add(id(child))
                    keep.append(child)
                    starts.append(child)
            else:
                is_open.discard(owner)
                finished.add(owner)
                walk.pop()
    return frozenset(found)


def repeated(root: Any) -> frozenset[int]:
    """id() of the lists and dicts that are met more than once.

    >>> row = [1]
    >>> repeated([row, row, [1]]) == {id(row)}
    True
    """
    found: set[int] = set()
    seen = {id(root)}
    waiting = [root]
    for thing in waiting:
        for _, child in children(thing):
            if type(child) not in _ARRAYS and not _is_object(child):
                continue
            if id(child) not in seen:
                seen.add(id(child))
                waiting.append(child)
            elif type(child) in _ARRAYS:
                found.add(id(child))
    return frozenset(found)


_LEAVES = frozenset({type(None), bool, int, float, str, bytes})


def _is_object(thing: Any) -> bool:
    return type(thing) not in _LEAVES
