"""What a round trip changed, in words with a path: ``$[0]['tags']: tuple -> list``.

Strategy: `same` ends at the first difference; here a walk goes on behind it, for a person wants to know all that a
codec does to a value and not a million times the same. Changes of one sort at places of one form count as one, and the
first of them is shown. Sequences of plain leaves are compared whole, in C; what takes longer than it may is not
finished, and that is said.
"""

from __future__ import annotations

import dataclasses
import struct
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from itertools import chain, islice
from time import perf_counter
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from npser.inspection.parts import clip, plain
from npser.inspection.same import PARTS, DifferentError, Pair, identical, parts_by_base, same_scalar, short
from npser.shapes.column import show_key

__all__ = ["Change", "Changes", "changes", "kind_of"]

MAX_CHANGES = 8
"""Sorts of changes that are told apart."""

EXACT: Final = frozenset({int, str, bytes, bool, type(None)})
"""Leaves that are identical if they are equal and of the same type."""

FLAT: Final = EXACT | {float}
CONTAINERS: Final = frozenset({list, tuple, dict})

FLAT_LEVELS = 12
MAX_FLAT = 1 << 22
"""Levels and items that are compared at once; what is shared or contains itself would be more and more."""

SHOWN_PATH, SHOWN_STEP, SHOWN_VALUE = 60, 40, 24

CLOCK_EVERY = 256

STRETCH = 1 << 13
"""Items of a sequence that are compared at once."""


class Change(NamedTuple):
    """Something that came back as something else.

    Parameters
    ----------
    path : str
        The first place.
    before, after : str
        A type, or a short value.
    places : int
        How many places of the same form there are.
    """

    path: str
    before: str
    after: str
    places: int = 1

    def __str__(self) -> str:
        more = f" ({self.places:,} places)" if self.places > 1 else ""
        return f"{self.path}: {self.before} -> {self.after}{more}"


class Changes(NamedTuple):
    """All of them.

    Parameters
    ----------
    found : tuple of Change
        In the order in which they were met.
    more : int
        Places with changes of other sorts than those.
    finished : bool
        Whether the whole value was compared.
    """

    found: tuple[Change, ...]
    more: int
    finished: bool


Place: TypeAlias = "tuple[Place, str, str] | None"
"""Where a part stands: (in what, its step, the form of its step)."""

Values = tuple[Any, Any, Place]


def kind_of(value: object) -> str:
    """What a person calls it.

    >>> kind_of((1,)), kind_of(np.int8(1)), kind_of({1})
    ('tuple', 'numpy.int8', 'set')
    """
    cls = type(value)
    if dataclasses.is_dataclass(cls):
        return "dataclass"
    if isinstance(value, Enum):
        return "enum"
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return "named tuple"
    name = clip(plain(cls.__name__), SHOWN_STEP)
    return f"numpy.{name}" if isinstance(value, (np.generic, np.ndarray)) else name


def changes(before: object, after: object, *, seconds: float = 1.0) -> Changes:
    """What is not identical, for at most so many seconds.

    >>> found = changes({"a": (1, 2), "b": {1: 2.5}}, {"a": [1, 2], "b": {"1": 2.5}})
    >>> for change in found.found: print(change)
    $['a']: tuple -> list
    $['b'].keys(): int -> str
    >>> changes([1, 0.0], [1, 0.0])
    Changes(found=(), more=0, finished=True)
    """
    walk = _Walk()
    finished = walk.run(before, after, perf_counter() + seconds)
    return Changes(tuple(walk.told()), walk.more, finished)


class _Walk:
    def __init__(self) -> None:
        self.stack: list[Iterator[Values]] = []
        self.found: dict[tuple[object, ...], list[Any]] = {}
        self.more = 0
        self.entered: set[tuple[int, int]] = set()
        self.kept: list[Any] = []  # what was made on the way, so that no id is used twice
        self.until = float("inf")
        self.is_late = False

    def run(self, before: object, after: object, until: float) -> bool:
        stack = self.stack
        self.until = until
        stack.append(iter(((before, after, None),)))
        turn = 0
        while stack:
            turn += 1
            if turn % CLOCK_EVERY == 0:
                self.look_at_the_clock()
            if self.is_late:
                return False
            following = next(stack[-1], None)
            if following is None:
                stack.pop()
                continue
            a, b, place = following
            if type(a) is not type(b):
                self._other_type(a, b, place)
            else:
                self._same_type(a, b, place)
        return not self.is_late

    def look_at_the_clock(self) -> None:
        self.is_late = self.is_late or perf_counter() > self.until

    def told(self) -> Iterator[Change]:
        for place, before, after, places in self.found.values():
            yield Change(_path(place, 1), before, after, places)

    def change(self, place: Place, before: str, after: str, sort: object = "") -> None:
        key = (_path(place, 2), sort or before, sort or after)
        known = self.found.get(key)
        if known is not None:
            known[3] += 1
        elif len(self.found) < MAX_CHANGES:
            self.found[key] = [place, before, after, 1]
        else:
            self.more += 1

    def _same_type(self, a: Any, b: Any, place: Place) -> None:
        known = _WAYS.get(type(a))
        if known is not None:
            if (id(a), id(b)) not in self.entered:
                self.entered.add((id(a), id(b)))
                known(self, a, b, place)
            return
        parts = PARTS.get(type(a)) or parts_by_base(a)
        if parts is None:
            if not _same_leaf(a, b):
                self.change(place, _shown(a), _shown(b), "value")
            return
        if (id(a), id(b)) in self.entered:
            return
        self.entered.add((id(a), id(b)))
        try:
            found = list(parts(Pair(a, b, "")))
            self.kept.append(found)
            self.stack.append((x, y, (place, path, path)) for x, y, path in found)
        except DifferentError as different:
            self.change(place, kind_of(a), str(different).strip(), "contents")

    def _other_type(self, a: Any, b: Any, place: Place) -> None:
        self.change(place, kind_of(a), kind_of(b))
        if (id(a), id(b)) in self.entered:
            return
        self.entered.add((id(a), id(b)))
        self.kept += (a, b)
        fields, others = _as_dict(a), _as_dict(b)
        if fields is not None and others is not None:
            self.kept += (fields, others)
            self.mappings(fields, others, place)
            return
        items, same = _as_list(a), _as_list(b)
        if items is not None and same is not None:
            self.kept += (items, same)
            self.sequences(items, same, place)

    def sequences(self, a: Any, b: Any, place: Place) -> None:
        if len(a) != len(b):
            self.change(place, f"{len(a)} items", f"{len(b)} items", "length")
        else:
            self.stack.append(self.items(a, b, place))

    def items(self, a: Any, b: Any, place: Place) -> Iterator[Values]:
        """The items of those stretches that are not identical throughout."""
        for start in range(0, len(a), STRETCH):
            those, others = list(islice(a, start, start + STRETCH)), list(islice(b, start, start + STRETCH))
            if not _all_same(those, others):
                for i, (x, y) in enumerate(zip(those, others, strict=True), start):
                    yield x, y, (place, f"[{i}]", "[*]")
            self.look_at_the_clock()
            if self.is_late:
                return

    def mappings(self, a: Mapping[Any, Any], b: Mapping[Any, Any], place: Place) -> None:
        keys, others = list(a), list(b)
        if len(keys) != len(others):
            self.change(place, f"{len(keys)} items", f"{len(others)} items", "length")
            return
        paired = list(b.values())
        if not _flat_same(keys, others) and not identical(keys, others):
            by_text = dict(zip(map(str, others), paired, strict=True))
            if any(type(x) is not type(y) for x, y in zip(keys, others, strict=True)):
                x, y = next((x, y) for x, y in zip(keys, others, strict=True) if type(x) is not type(y))
                self.change((place, ".keys()", ".keys()"), kind_of(x), kind_of(y))
            elif set(keys) == set(others):
                self.change(place, "keys in one order", "in another", "order")
                paired = [b[key] for key in keys]
            else:
                self.change((place, ".keys()", ".keys()"), "some keys", "other keys")
                if len(by_text) < len(others) or not all(str(key) in by_text for key in keys):
                    return
                paired = [by_text[str(key)] for key in keys]
        values = list(a.values())
        if not _all_same(values, paired):
            steps = [f"[{show_key(key)}]" for key in keys]
            forms = steps if len(keys) <= MAX_FORMS else ["[*]"] * len(keys)
            pairs = zip(values, paired, steps, forms, strict=True)
            self.stack.append((x, y, (place, step, form)) for x, y, step, form in pairs)


MAX_FORMS = 64
"""Keys of a dict whose values are told apart; of more, all are of one form."""

_WAYS: Final[dict[type, Callable[[_Walk, Any, Any, Place], None]]] = {
    list: _Walk.sequences,
    tuple: _Walk.sequences,
    dict: _Walk.mappings,
}


def _path(place: Place, part: int) -> str:
    steps: list[str] = []
    at: Any = place
    while at is not None:
        steps.append(at[part])
        at = at[0]
    return clip("$" + "".join(plain(clip(step, SHOWN_STEP)) for step in reversed(steps)), SHOWN_PATH)


def _shown(value: object) -> str:
    try:
        return clip(plain(short(value)), SHOWN_VALUE)
    except Exception:  # a repr of the caller's
        return kind_of(value)


def _flat_same(a: Any, b: Any) -> bool:
    """Whether two sequences of plain leaves are identical; False means that it must be looked at item by item."""
    kinds = list(map(type, a))
    if kinds != list(map(type, b)):
        return False
    found = set(kinds)
    if not found <= FLAT:
        return False
    if found == {float}:
        return _bits(a) == _bits(b)
    return bool(a == b) and (float not in found or _bits(_floats(a)) == _bits(_floats(b)))


def _floats(values: Any) -> list[float]:
    return [value for value in values if type(value) is float]


def _bits(values: Any) -> bytes:
    return struct.pack(f"{len(values)}d", *values)


def _all_same(a: Any, b: Any, levels: int = FLAT_LEVELS) -> bool:
    """The same for leaves in lists, tuples and dicts: all that is inside of them is compared at once, by level."""
    kinds = list(map(type, a))
    if kinds != list(map(type, b)):
        return False
    found = set(kinds)
    if found <= FLAT:
        return _flat_same(a, b)
    if not levels or not found - FLAT <= CONTAINERS:
        return False
    if found & FLAT and not _flat_same(*([x for x in values if type(x) in FLAT] for values in (a, b))):
        return False
    return all(_insides_same(kind, _only(kind, a, found), _only(kind, b, found), levels - 1) for kind in found - FLAT)


def _only(kind: type, values: list[Any], found: set[type]) -> list[Any]:
    return values if len(found) == 1 else [x for x in values if type(x) is kind]


def _insides_same(kind: type, a: list[Any], b: list[Any], levels: int) -> bool:
    """Whether what is inside of containers of one type is identical."""
    sizes = list(map(len, a))
    if sizes != list(map(len, b)) or sum(sizes) > MAX_FLAT:
        return False
    if kind is dict:
        if not _flat_same(list(chain.from_iterable(a)), list(chain.from_iterable(b))):
            return False
        a, b = [x.values() for x in a], [x.values() for x in b]
    return _all_same(list(chain.from_iterable(a)), list(chain.from_iterable(b)), levels)


def _same_leaf(a: Any, b: Any) -> bool:
    """By bits; frames and tables say themselves whether they are the same."""
    equals = getattr(type(a), "equals", None)
    try:
        if equals is not None and hasattr(a, "columns"):
            return bool(equals(a, b)) and str(getattr(a, "dtypes", "")) == str(getattr(b, "dtypes", ""))
        return same_scalar(a, b)
    except Exception:  # an == of the caller's
        return False


def _as_list(value: Any) -> list[Any] | None:
    if isinstance(value, (list, tuple, deque, range, np.ndarray)):
        return list(value.tolist()) if isinstance(value, np.ndarray) and value.ndim else list(value)
    return None


def _as_dict(value: Any) -> dict[Any, Any] | None:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return dict(value._asdict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in islice(dataclasses.fields(value), 1 << 16)]
        return {name: getattr(value, name, None) for name in names}
    return dict(vars(value)) if hasattr(value, "__dict__") and not callable(value) else None
