"""What does a value look like? The loop that writes the shape, and the table of who writes what.

Strategy: take a column, look at the exact types in it, and hand it to the placer of that type. Leaves of any mixture
are one column; where containers of several types meet, a union gives each its own. No recursion: the placers push
the columns of children, the loop pops them.
"""

from __future__ import annotations

import datetime
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.sink import Sink
from npser.columns.dtypes import dtype_bytes
from npser.columns.kinds import LEAF_TYPES, WRITERS, write_column
from npser.columns.leafplans import write_leaves
from npser.columns.texts import are_all
from npser.errors import EncodeError
from npser.shapes.collector import WORTH_PAUSING, pause, resume
from npser.shapes.column import Column, Keys, Leaves
from npser.shapes.leaves import (
    Repeat,
    place_fresh,
    place_leaves,
    place_nothing,
    place_repeats,
    place_union,
)
from npser.shapes.maps import FACTORIES, place_counters, place_default_dicts, place_ordered_dicts
from npser.shapes.members import FrozensetMembers, SetMembers
from npser.shapes.ndarrays import place_arrays, place_object_arrays
from npser.shapes.records import place_objects, place_placeholders
from npser.shapes.sequences import place_deques, place_lists, place_sets, place_slices, place_tuples
from npser.shapes.tables import place_dicts
from npser.shapes.tracking import TRACKED_TYPES
from npser.stream.packable import Packable
from npser.tags import Node as Tag
from npser.types.placeholder import Placeholder
from npser.types.registry import OWN_TYPES
from npser.types.schema import schema_of

if TYPE_CHECKING:
    from npser.shapes.writer import ShapeWriter

__all__ = ["CHOOSY", "MAX_SUBSTITUTES", "PLACERS", "is_refused", "placer_of", "write_columns", "write_shape"]

Placer = Callable[["ShapeWriter", Column], None]

_LEAF: Final = bytes((Tag.LEAF,))

MAX_SUBSTITUTES = 16
"""How often `default` may give something that it has to be asked about again."""


def _place_ndarrays(w: ShapeWriter, column: Column) -> None:
    (place_object_arrays if column.values[0].dtype == np.dtype(object) else place_arrays)(w, column)


PLACERS: Final[dict[type, Placer]] = {
    list: place_lists,
    tuple: place_tuples,
    dict: place_dicts,
    set: place_sets[set],
    frozenset: place_sets[frozenset],
    SetMembers: place_sets[set],
    FrozensetMembers: place_sets[frozenset],
    deque: place_deques,
    OrderedDict: place_ordered_dicts,
    defaultdict: place_default_dicts,
    Counter: place_counters,
    slice: place_slices,
    np.ndarray: _place_ndarrays,
    Placeholder: place_placeholders,
    Repeat: place_repeats,
}
"""Exact type of a container -> who writes a column of it. Other classes go by their schema."""

OWN_TYPES.update(PLACERS, LEAF_TYPES)

_SUBGROUPS: Final[dict[type, Callable[[Any], Hashable]]] = {
    defaultdict: lambda value: (defaultdict, id(value.default_factory)),
    Placeholder: lambda value: (Placeholder, value.form, value.stamp),
    np.ndarray: lambda value: (np.ndarray, value.dtype == np.dtype(object)),
}
"""Types whose instances need nodes of their own by more than their type."""


_PLAIN: Final = frozenset({list, tuple, dict, set, frozenset, slice})
"""Types of which all instances have one placer, and nothing more to ask."""


def write_shape(w: ShapeWriter, value: Any) -> None:
    """Write the shape and the slots of a value."""
    if w.preserve:
        w.node(Tag.PRESERVE)
    w.stack.append(Column((value,), single=True))
    write_columns(w)


def write_columns(w: ShapeWriter, above: int = 0) -> None:
    """Write the shape and the slots of the columns on the stack, and of all that is in them, but for the first ones."""
    stack = w.stack
    paused = False
    try:
        while len(stack) > above:
            column = stack.pop()
            if not paused and len(column.values) >= WORTH_PAUSING:
                pause()  # taking a table apart makes a few containers a row, all of them soon gone
                paused = True
            _write(w, column)
    finally:
        if paused:
            resume()


def _write(w: ShapeWriter, column: Column) -> None:
    try:
        if type(column) is not Leaves:
            _place(w, column)
        elif w.default is not None and _any_refused(column.values):
            w.stack += reversed(column.singles())
        else:
            w.shape.out += _LEAF * len(column.values)
            if column.single:
                write_leaves(w.slots.singles, column.values)
            else:
                w.slots.ones(column.values)
    except EncodeError as error:
        if error.path is None:
            error.path = column.path(error.item or 0)
        raise


def _place(w: ShapeWriter, column: Column) -> None:
    values = column.values
    if w.default is not None and _any_refused(values):
        _place(w, _substituted(w, column))
        return
    if len(values) == 1:
        (only,) = values
        kind = type(only)
        if kind in LEAF_TYPES:
            w.node(Tag.LEAF)
            w.one(column, only)
            return
        met = {kind}
    elif not values:
        place_nothing(w, column)
        return
    else:
        kind = type(values[0])
        met = {kind} if are_all(values, kind) else set(map(type, values))
        if met <= LEAF_TYPES:
            if type(column) is Keys and kind is int and len(met) == 1:
                w.node(Tag.LEAF)
                w.slots.hashed_ints(values)
            else:
                place_leaves(w, column, met)
            return
    if len(met) == 1 and kind in _PLAIN and not w.preserve:
        PLACERS[kind](w, column)
        return
    placers = {kind: placer_of(kind) for kind in met - LEAF_TYPES}
    if None in placers.values():
        _place(w, _substituted(w, column))
        return
    if len(met) > 1 or not met.isdisjoint(_SUBGROUPS):
        groups: dict[Hashable, list[int]] = {}
        for index, value in enumerate(values):
            groups.setdefault(_group(value), []).append(index)
        if len(groups) > 1:
            place_union(w, column, groups)
            return
    (kind,) = met
    placer = placers[kind]
    assert placer is not None
    if w.preserve and kind in TRACKED_TYPES:
        place_fresh(w, column, placer)
    else:
        placer(w, column)


def _group(value: Any) -> Any:
    kind = type(value)
    if kind in LEAF_TYPES:
        return None
    subgroup = _SUBGROUPS.get(kind)
    return kind if subgroup is None else subgroup(value)


def placer_of(kind: type) -> Placer | None:
    """Who writes a column of a type that is no leaf; None where npser refuses it."""
    placer = PLACERS.get(kind)
    if placer is not None:
        return placer
    schema = schema_of(kind)
    return None if schema is None else partial(place_objects, cls=kind, schema=schema)


CHOOSY: Final = frozenset({datetime.datetime, datetime.time, Fraction, np.void, np.ndarray, defaultdict})
"""Types of which some values are refused: for their zone, their dtype, their factory."""


def _any_refused(values: Sequence[Any]) -> bool:
    """Whether `default` has to be asked about a value whose type alone does not say so."""
    return not CHOOSY.isdisjoint(map(type, values)) and any(map(is_refused, values))


def is_refused(value: Any) -> bool:
    """Whether a value of a choosy type is one of those that npser does not encode."""
    kind = type(value)
    if kind not in CHOOSY:
        return False
    if kind is defaultdict:
        return not any(value.default_factory is known for known in FACTORIES)
    try:
        if kind is np.ndarray:
            if value.dtype != np.dtype(object):
                dtype_bytes(value.dtype)
        else:
            write_column(Sink(), [value], {kind})
    except EncodeError:
        return True
    return False


def _supported(w: ShapeWriter, value: Any) -> bool:
    if w.default is not None and is_refused(value):
        return False
    return type(value) in WRITERS or placer_of(type(value)) is not None


def _substituted(w: ShapeWriter, column: Column) -> Column:
    """The column with a substitute for everything that npser refuses, or the error that refuses it."""
    values = []
    for index, value in enumerate(column.values):
        substitute = value
        for _ in range(MAX_SUBSTITUTES):
            if _supported(w, substitute):
                break
            if w.default is None:
                raise w.refuse(column, index, _refusal(type(value)))
            substitute = w.default(substitute)
        else:
            raise w.refuse(column, index, f"default={w.default!r} gives no substitute for {_named(type(value))}")
        values.append(substitute)
    w.keep.append(values)
    if type(column) is Keys:
        _check_keys(w, column, values)
    return Column(values, column.depth, column.parent, column.step, single=column.single)


def _check_keys(w: ShapeWriter, column: Keys, values: list[Any]) -> None:
    """Make sure that substitutes can be keys, and that no two of one container became one."""
    start = 0
    for length in column.lengths:
        try:
            distinct = len(set(values[start : start + length]))
        except TypeError as error:
            raise w.refuse(column, start, f"default= gave something that cannot be a key: {error}") from error
        if distinct < length:
            raise w.refuse(column, start, "default= gave the same key twice for keys of one container")
        start += length


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _refusal(kind: type) -> str:
    base = next((base for base in kind.__mro__[1:] if base in WRITERS or base in PLACERS), None)
    if base is np.ndarray:
        hint = "np.asarray(value) would store it as a plain array"
    elif base is not None:
        hint = f"it is a subclass of {base.__name__}, which would not come back as itself"
    elif Packable in kind.__mro__:
        hint = "it has no class method unpack(stream) that reads its bytes back"
    else:
        hint = "it cannot be given back from its fields"
    return f"cannot encode {_named(kind)}: {hint}; pass default= to substitute it"
