"""What hypothesis draws, named for the domain.

Strategy: NaN, -0.0, surrogates and empty containers stay in: `same` knows them. Excluded is only what no round trip
could keep: one container inside another twice is drawn as two.
"""

from __future__ import annotations

import datetime
import enum
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from values import (
    BareSlots,
    Bits,
    Box,
    Colour,
    Frozen,
    FrozenSlotted,
    Gauge,
    Level,
    Mode,
    Order,
    Packed,
    Plain,
    Point,
    Slotted,
    Stateful,
    Word,
)

__all__ = [
    "arrays",
    "keys",
    "keysets",
    "leaves",
    "records",
    "same_keys",
    "scalars",
    "tables",
    "uneven_rows",
    "values",
    "values_without_sets",
]

# ------------------------------------------------------------------------------------------------------------- leaves

any_text = st.text(st.characters(codec=None, exclude_categories=()))
"""Lone surrogates too."""

ints = st.one_of(
    st.integers(0, 255), st.integers(-(2**15), 2**15), st.integers(-(2**63), 2**63 - 1), st.integers(-(2**70), 2**70)
)
scalars = st.one_of(st.none(), st.booleans(), ints, st.floats(), any_text, st.binary(max_size=20))

fixed_zones = st.builds(
    datetime.timezone, st.timedeltas(datetime.timedelta(hours=-23), datetime.timedelta(hours=23))
)
zones = st.one_of(
    st.none(),
    st.just(datetime.UTC),
    fixed_zones,
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]).map(zoneinfo.ZoneInfo),
)
moments = st.builds(
    lambda moment, zone, fold: moment.replace(tzinfo=zone, fold=fold), st.datetimes(), zones, st.integers(0, 1)
)
clocks = st.builds(lambda time, zone, fold: time.replace(tzinfo=zone, fold=fold), st.times(), zones, st.integers(0, 1))

enums = st.sampled_from([*Colour, *Level, *Word, *map(Mode, range(8)), *map(Bits, range(8))])

numpy_scalars = st.one_of(
    hnp.from_dtype(np.dtype("f4")),
    hnp.from_dtype(np.dtype("i8")),
    hnp.from_dtype(np.dtype("u1")),
    hnp.from_dtype(np.dtype("?")),
    hnp.from_dtype(np.dtype("c8")),
    hnp.from_dtype(np.dtype("M8[us]")),
    hnp.from_dtype(np.dtype("m8[3h]")),
)

hashable_leaves = st.one_of(
    scalars,
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.dates(),
    moments,
    clocks,
    st.timedeltas(),
    st.uuids(),
    st.ip_addresses(),
    enums,
    st.just(...),
)
leaves = st.one_of(
    hashable_leaves,
    st.binary(max_size=9).map(bytearray),
    st.builds(range, st.integers(-9, 9), st.integers(), st.integers(1, 9)),
    numpy_scalars,
)

# A signalling NaN of Decimal has no hash.
plain_keys = hashable_leaves.filter(lambda key: not (hasattr(key, "is_snan") and key.is_snan()))
keys = st.recursive(
    plain_keys,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(inner, max_size=3),
        st.builds(Point, inner, inner),
        st.builds(Frozen, st.integers(), st.text()),
    ),
    max_leaves=4,
)

# ------------------------------------------------------------------------------------------------------------- tables

keysets = st.lists(any_text, min_size=1, max_size=6, unique=True)


def _row(names: list[str], cell: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*[cell for _ in names]).map(lambda cells: dict(zip(names, cells, strict=True)))


def _uneven(names: list[str], cell: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Keys that are missing, come late, or stand in another order."""
    chosen = st.permutations(names).flatmap(lambda order: st.integers(0, len(order)).map(lambda k: order[:k]))
    return chosen.flatmap(lambda order: _row(order, cell))


same_keys = keysets.flatmap(lambda names: st.lists(_row(names, scalars), min_size=2, max_size=40))
uneven_rows = keysets.flatmap(lambda names: st.lists(_uneven(names, scalars), min_size=2, max_size=40))
nested_rows = keysets.flatmap(
    lambda names: st.lists(_row(names, st.one_of(scalars, same_keys, uneven_rows)), min_size=1, max_size=4)
)
columns = st.one_of(
    st.lists(st.booleans(), max_size=300),
    st.lists(st.integers(-5, 5), max_size=300),
    st.lists(st.sampled_from([10**15, -(2**63), 2**63 - 1]), max_size=100),
    st.lists(st.floats(), max_size=100),
    st.lists(st.integers(0, 10**4).map(lambda cents: cents / 100), max_size=100),
    st.lists(st.none() | st.floats(), max_size=100),
    st.lists(any_text, max_size=60),
    st.lists(st.sampled_from(["red", "green", "\ud800"]), max_size=200),
    st.lists(scalars, max_size=60),
)
tables = st.one_of(same_keys, uneven_rows, nested_rows, columns)

# ------------------------------------------------------------------------------------------------------------- arrays

dtypes = st.one_of(
    hnp.scalar_dtypes(),
    hnp.nested_dtypes(hnp.scalar_dtypes(), max_leaves=5),
)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


@st.composite
def _arrays(draw: st.DrawFn) -> Any:
    dtype = draw(dtypes)
    if dtype.subdtype is not None:
        dtype = np.dtype([("sub", dtype)])
    array = draw(hnp.arrays(dtype, draw(shapes)))
    layout = draw(st.sampled_from(["C", "F", "reversed", "transposed"]))
    if layout == "reversed" and array.ndim:
        return array[::-1]
    return {"F": np.asfortranarray, "transposed": np.transpose}.get(layout, np.asarray)(array) if array.ndim else array


object_arrays = hnp.arrays(object, shapes, elements=scalars)
arrays = st.one_of(_arrays(), object_arrays)

# -------------------------------------------------------------------------------------------------------------- values


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "__class__", "ü", "x y"])
    return st.one_of(
        st.builds(Box, inner, ints),
        st.builds(Slotted, ints, any_text, st.lists(any_text, max_size=2)),
        st.builds(Frozen, ints, any_text),
        st.builds(FrozenSlotted, st.floats(), st.none() | st.dates()),
        st.builds(Order, ints, st.lists(inner, max_size=2)),
        st.builds(lambda attributes: Plain(**attributes), st.dictionaries(names, inner, max_size=3)),
        st.builds(lambda attributes: BareSlots(**attributes), st.dictionaries(st.sampled_from("ab"), inner)),
        st.builds(Stateful, inner),
        st.builds(Packed, st.integers(-9, 9)),
        st.builds(Gauge, inner, inner),
        st.builds(Point, inner, inner),
    )


def _ordered(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=5)
    dicts = st.dictionaries(keys, inner, max_size=4)
    return st.one_of(
        lists,
        lists.map(tuple),
        st.builds(lambda items, room: deque(items, len(items) + room), lists, st.integers(0, 3)),
        lists.map(deque),
        st.dictionaries(any_text, inner, max_size=4),
        dicts,
        dicts.map(OrderedDict),
        st.builds(defaultdict, st.sampled_from([None, list, int, dict, str]), dicts),
        dicts.map(lambda found: Counter(found) if found else Counter()),
        st.builds(slice, inner, inner, inner),
        st.tuples(inner, st.integers(1, 20)).map(lambda pair: [pair[0]] * pair[1]),
        _objects(inner),
    )


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(_ordered(inner), st.sets(keys, max_size=4), st.frozensets(keys, max_size=4))


_anything = st.one_of(leaves, arrays, same_keys, uneven_rows)
values = st.recursive(_anything, _containers, max_leaves=12)


def _has_sets(value: Any) -> bool:
    """Whether a set is anywhere inside: the order of its members may differ each time that it is built."""
    walk = [value]
    while walk:
        item = walk.pop()
        if isinstance(item, (set, frozenset)):
            return True
        if isinstance(item, dict):
            walk += [*item, *item.values()]
        elif isinstance(item, (list, tuple, deque)):
            walk += item
        elif isinstance(item, np.ndarray) and item.dtype == object:
            walk += item.ravel().tolist()
        elif isinstance(item, slice):
            walk += [item.start, item.stop, item.step]
        elif type(item).__module__ == "values" and not isinstance(item, enum.Enum):
            walk += getattr(item, "__dict__", {}).values()
            walk += [getattr(item, name, None) for name in getattr(item, "__slots__", ())]
    return False


records = st.one_of(
    st.lists(_objects(scalars), max_size=20),
    st.lists(st.builds(Box, st.none() | ints, ints), max_size=40),
    st.lists(st.builds(lambda a: Plain(**a), st.dictionaries(st.sampled_from("abcd"), scalars)), max_size=30),
)

_keys_without_sets = st.one_of(plain_keys, st.lists(plain_keys, max_size=3).map(tuple))
values_without_sets = st.recursive(
    _anything,
    lambda inner: st.one_of(_ordered(inner), st.dictionaries(_keys_without_sets, inner, max_size=4)),
    max_leaves=12,
).filter(lambda value: not _has_sets(value))
