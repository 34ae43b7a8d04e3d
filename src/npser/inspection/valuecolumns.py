"""The columns of a value: all leaves of one form of path, in order, as npser would lay them side by side.

Strategy: a group is all values of one path. A group of leaves is a column; a group of containers opens into the groups
of its items, keys or fields. So the walk goes by path and not by value, and Python's own loops do most of it.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import Counter, deque
from collections.abc import Iterator
from itertools import chain, islice
from time import perf_counter
from typing import Any, Final, NamedTuple

import numpy as np

from npser.inspection.parts import SHOWN_PATH, SHOWN_STEP, clip, plain
from npser.shapes.column import show_key
from npser.types.placeholder import Placeholder
from npser.types.shown import show_step

__all__ = ["Column", "columns_of"]

MAX_KEYS = 64
"""Keys that are columns of their own; dicts with more are taken for data, unless many of them have the same."""

MAX_SHARED_KEYS = 2048

MAX_PLACES = 4096
"""Groups that are opened."""

ROW_WIDTH = 16
"""Positions of tuples of one length that are columns of their own."""

SEQUENCES: Final = (list, tuple, set, frozenset, deque)


class Column(NamedTuple):
    """All leaves at one place.

    Parameters
    ----------
    path : str
        As in a report.
    items : list
    owner : str
        What holds them: ``list``, ``table``, ``keys``, ``values`` or ``value``.
    owners : list
        The containers that hold them, or the objects.
    """

    path: str
    items: list[Any]
    owner: str
    owners: list[Any]


class _Group(NamedTuple):
    path: str
    items: list[Any]
    owner: str
    owners: list[Any]


def columns_of(value: object, *, until: float = float("inf")) -> Iterator[Column]:
    """The columns of a value, the outer ones first; it ends early when the time is up.

    >>> for column in columns_of([{"id": 1, "tags": ["a"]}, {"id": 2, "tags": []}]): print(column.path, column.items)
    $[*]['id'] [1, 2]
    $[*]['tags'][*] ['a']
    """
    waiting = deque([_Group("$", [value], "value", [])])
    opened = 0
    entered: set[int] = set()
    while waiting and opened < MAX_PLACES and perf_counter() < until:
        group = waiting.popleft()
        opened += 1
        by_type: dict[type, list[Any]] = {}
        kinds = Counter(map(type, group.items))
        opens = {cls: found for cls in kinds if (found := _opener(cls)) is not None}
        if opens:
            for item in group.items:
                if type(item) in opens and id(item) not in entered:
                    by_type.setdefault(type(item), []).append(item)
        if len(kinds) > len(opens):
            leaves = group.items if not opens else [item for item in group.items if type(item) not in opens]
            yield Column(group.path, leaves, group.owner, group.owners)
        for cls, items in by_type.items():
            entered.update(map(id, items))
            waiting.extend(opens[cls](group.path, items))


def _opener(cls: type) -> Any:
    """What opens the groups inside of values of a type; None for leaves."""
    if issubclass(cls, (enum.Enum, str, bytes, int, float, np.ndarray, np.generic)):
        return None
    if issubclass(cls, dict):
        return _dicts
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuples
    if issubclass(cls, SEQUENCES):
        return _sequences
    if issubclass(cls, Placeholder):
        return _placeholders
    return _objects if dataclasses.is_dataclass(cls) or _is_plain(cls) else None


def _is_plain(cls: type) -> bool:
    """Whether objects are no more than their attributes, as far as one can tell."""
    return cls.__dictoffset__ != 0 and cls.__module__ != "builtins" and not hasattr(cls, "__array__")


def _under(path: str, step: str) -> str:
    return clip(path + plain(clip(step, SHOWN_STEP)), SHOWN_PATH)


def _sequences(path: str, items: list[Any]) -> Iterator[_Group]:
    lengths = set(map(len, items))
    if type(items[0]) is tuple and len(items) > 1 and len(lengths) == 1 and 0 < (width := lengths.pop()) <= ROW_WIDTH:
        for at in range(width):
            yield _Group(_under(path, f"[{at}]"), [item[at] for item in items], "table", items)
        return
    inside = list(chain.from_iterable(items))
    if inside:
        yield _Group(_under(path, "[*]"), inside, "list" if type(items[0]) is list else "values", items)


def _dicts(path: str, items: list[Any]) -> Iterator[_Group]:
    names = dict.fromkeys(chain.from_iterable(islice(items, 1000)))
    shared = len(items) > 1 and len(names) <= MAX_SHARED_KEYS and len(names) <= 2 * max(map(len, items))
    if set(map(type, names)) <= {str} and (len(names) <= MAX_KEYS or shared):
        for name in names:
            step = _under(path, f"[{show_key(name)}]")
            yield _Group(step, [item[name] for item in items if name in item], "table", items)
        return
    keys = list(chain.from_iterable(items))
    yield _Group(_under(path, ".keys()[*]"), keys, "keys", items)
    yield _Group(_under(path, "[*]"), list(chain.from_iterable(item.values() for item in items)), "values", items)


def _fields(path: str, names: list[str], items: list[Any], rows: list[dict[str, Any]]) -> Iterator[_Group]:
    for name in names[:MAX_SHARED_KEYS]:
        found = [row[name] for row in rows if name in row]
        yield _Group(_under(path, show_step(name)), found, "table", items)


def _named_tuples(path: str, items: list[Any]) -> Iterator[_Group]:
    names = list(type(items[0])._fields)
    return _fields(path, names, items, [dict(zip(names, item, strict=True)) for item in items])


def _objects(path: str, items: list[Any]) -> Iterator[_Group]:
    cls = type(items[0])
    if dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls)]
        rows = [{name: getattr(item, name) for name in names if hasattr(item, name)} for item in items]
    else:
        rows = [dict(vars(item)) for item in items]
        names = list(dict.fromkeys(chain.from_iterable(rows)))
    return _fields(path, names, items, rows)


def _placeholders(path: str, items: list[Any]) -> Iterator[_Group]:
    rows = [dict(item.contents) for item in items if isinstance(item.contents, dict)]
    return _fields(path, list(dict.fromkeys(chain.from_iterable(rows))), items, rows)
