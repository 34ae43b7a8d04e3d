"""The judge is judged: what differs is told apart, what does not is not, and the place is named."""

from __future__ import annotations

import copy
import datetime
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from itertools import combinations
from typing import Any
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import npser
from same import difference, same
from values import (
    ARRAYS,
    DOUBLES,
    MAKERS,
    SCALARS,
    TRAPS,
    Bits,
    Box,
    Derived,
    Frozen,
    Level,
    Mode,
    Plain,
    Point,
    Slotted,
)

NOON = datetime.datetime(2021, 11, 7, 1, 30)
DIFFERENT: list[list[Any]] = [
    [1, True, 1.0, 1 + 0j, Decimal(1), np.int64(1), np.float64(1), np.bool_(True), Level.LOW, Mode.READ, Bits.A, "1", b"1"],
    [0, False, 0.0, -0.0, None, "", b"", [], (), {}, set(), frozenset(), 0j, complex(0, -0.0), complex(-0.0, 0), Decimal("-0")],
    DOUBLES,
    [Decimal("1"), Decimal("1.0"), Decimal("NaN"), Decimal("sNaN"), Decimal("-NaN"), Decimal("NaN1")],
    [{"a": 1, "b": 2}, {"b": 2, "a": 1}, OrderedDict(a=1, b=2), Counter(a=1, b=2), defaultdict(int, a=1, b=2), {"a": 1}],
    [{1: 0}, {True: 0}, {1.0: 0}, {1: 0.0}, {1: False}],
    [{1}, {True}, {1.0}, {1, 2}, frozenset({1}), {(1,)}, {(True,)}],
    [deque([1]), deque([1], 1), deque([1], 2), [1], (1,), Point(1, 0), (1, 0)],
    [defaultdict(int), defaultdict(list), defaultdict(None), {}],
    [range(0), range(1, 1), range(0, 0, 2), slice(0), slice(None), slice(0, None, 1)],
    [NOON, NOON.replace(fold=1), NOON.replace(tzinfo=datetime.UTC), NOON.replace(tzinfo=ZoneInfo("UTC")), NOON.date(),
     NOON.replace(tzinfo=datetime.timezone(datetime.timedelta(0), "UTC")), NOON.replace(tzinfo=ZoneInfo("Europe/Berlin"))],
    [UUID(int=1), UUID(int=1, is_safe=SafeUUID.safe), UUID(int=2)],
    [np.zeros(2), np.zeros(2, ">f8"), np.zeros(2, "f4"), np.zeros((2, 1)), np.zeros((1, 2)), -np.zeros(2), [0.0, 0.0], np.zeros(3)],
    [np.zeros((2, 3)), np.zeros((2, 3), order="F"), np.zeros((3, 2))],
    [np.zeros(1, "M8[D]"), np.zeros(1, "M8[s]"), np.zeros(1, "M8[2D]"), np.zeros(1, "m8[D]"), np.zeros(1, "i8"), np.zeros(1, np.longlong)],
    [np.zeros(1, [("a", "i4")]), np.zeros(1, [("b", "i4")]), np.zeros(1, [(("t", "a"), "i4")]), np.zeros(1, "i4"),
     np.zeros(1, np.dtype([("a", "i4")], align=True)), np.zeros(1, [("a", "i4"), ("", "V4")])],
    [np.array(["a"], np.dtypes.StringDType()), np.array(["a"], np.dtypes.StringDType(na_object=None)), np.array(["a"]), np.array(["a"], object),
     np.array(["a"], np.dtypes.StringDType(coerce=False))],
    [np.str_("a"), np.str_("a\0"), "a", np.bytes_(b"a"), np.bytes_(b"a\0")],
    [Box(1), Box(True), Box(1, 1), Derived(1), Frozen(1), Plain(value=1, number=0), Plain(number=0, value=1), Plain()],
    [npser.Placeholder("a:B", "object", {}), npser.Placeholder("a:C", "object", {}), npser.Placeholder("a:B", "state", {}),
     npser.Placeholder("a:B", "object", {"x": 1}), npser.Placeholder("a:B", "object", {}, ("x",))],
]  # fmt: skip


@pytest.mark.parametrize("group", DIFFERENT, ids=lambda group: repr(group[0])[:30])
def test_what_differs_is_told_apart(group: list[Any]) -> None:
    for one in group:
        assert same(one, one)
    for a, b in combinations(group, 2):
        for wrap in (lambda v: v, lambda v: [0, v], lambda v: {"k": (v,)}, lambda v: Box(v), lambda v: deque([v])):
            assert not same(wrap(a), wrap(b)), (a, b)
            assert not same(wrap(b), wrap(a)), (a, b)


@pytest.mark.parametrize("name", MAKERS)
def test_a_copy_is_the_same(name: str) -> None:
    values = MAKERS[name](50)
    if name in ("ndarray", "numpy scalars"):
        return  # pickle makes int64 of longlong, and numpy's copy drops what is between the fields
    assert difference(values, pickle.loads(pickle.dumps(values))) is None
    assert difference(values, copy.deepcopy(values)) is None


def test_traps_arrays_and_scalars_are_the_same_as_their_copies() -> None:
    whole = [array for array in ARRAYS if array.dtype.names is None]  # numpy's copy drops what is between the fields
    scalars = [scalar for scalar in SCALARS if scalar.dtype.names is None]
    for value in (*TRAPS.values(), *scalars, *whole):
        assert difference(value, copy.deepcopy(value)) is None


def test_the_place_is_named() -> None:
    deep = {"orders": [{"lines": [1, (2, Box({"price": 1.5}))]}]}
    other = copy.deepcopy(deep)
    other["orders"][0]["lines"][1][1].value["price"] = 2.5  # type: ignore[index]
    said = difference(deep, other)
    assert said is not None
    assert said.startswith("$['orders'][0]['lines'][1][1].value['price']: ")
    slots = [Slotted(1, "a"), Slotted(1, "a")]
    del slots[1].tags
    assert "tags" in str(difference(*slots))


def test_a_member_that_is_not_found_is_noticed() -> None:
    broken = {Frozen(1): 1}
    object.__setattr__(next(iter(broken)), "x", 2)
    assert "not found" in str(difference({Frozen(2): 1}, broken))


def test_cycles_and_depth_end() -> None:
    loops: list[Any] = []
    for _ in range(2):
        loop: list[Any] = [1, {"x": None}]
        loop.append(loop)
        loop[1]["x"] = loop
        loops.append(loop)
    assert same(*loops)
    loops[1][0] = 2
    assert not same(*loops)
    deep: list[Any] = []
    for wrap in (lambda v: [v], lambda v: (v,), lambda v: {"a": v}, Box, lambda v: frozenset([v]), lambda v: slice(v)):
        for leaf in (1, 1, 2):
            value: Any = leaf
            for _ in range(3000 if wrap is not Box else 600):
                value = wrap(value)
            deep.append(value)
        assert same(deep[-3], deep[-2])
        assert not same(deep[-3], deep[-1])
