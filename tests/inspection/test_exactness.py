"""Changes are told in words, where they are, and nothing identical is told as changed."""

from __future__ import annotations

import copy
import enum
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings

import npser
import strategies
import values
from npser.inspection.exactness import MAX_CHANGES, changes
from npser.inspection.members import class_names, classes_of
from npser.inspection.same import identical


@dataclass
class Order:
    id: int
    tags: object


class Pair(NamedTuple):
    x: int
    y: object


class Colour(enum.Enum):
    RED = 1


def told(before: object, after: object) -> list[str]:
    found = changes(before, after)
    assert found.finished
    return list(map(str, found.found))


@pytest.mark.parametrize("name", values.MAKERS)
def test_copies_are_identical(name: str) -> None:
    items = values.MAKERS[name](50)
    assert told({"a": items, "b": [{"x": item} for item in items]}, copy.deepcopy({"a": items, "b": [{"x": item} for item in items]})) == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ((1, 2), [1, 2], ["$: tuple -> list"]),
        ([{"tags": (1,)}, {"tags": (2,)}], [{"tags": [1]}, {"tags": [2]}], ["$[0]['tags']: tuple -> list (2 places)"]),
        (Order(1, None), {"id": 1, "tags": None}, ["$: dataclass -> dict"]),
        ([Order(1, (2,))], [{"id": 1, "tags": [2]}], ["$[0]: dataclass -> dict", "$[0]['tags']: tuple -> list"]),
        (Pair(1, "a"), [1, "a"], ["$: named tuple -> list"]),
        (Colour.RED, 1, ["$: enum -> int"]),
        ({1: "a", 2: "b"}, {"1": "a", "2": "b"}, ["$.keys(): int -> str"]),
        ({1: (2,)}, {"1": [2]}, ["$.keys(): int -> str", "$[1]: tuple -> list"]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ["$: keys in one order -> in another"]),
        ([1, True], [1, 1], ["$[1]: bool -> int"]),
        ([0.0], [-0.0], ["$[0]: 0.0 -> -0.0"]),
        ([1.5, 2.5], [1.5, 2.25], ["$[1]: 2.5 -> 2.25"]),
        ([1, 2, 3], [1, 2], ["$: 3 items -> 2 items"]),
        (np.arange(3), [0, 1, 2], ["$: numpy.ndarray -> list"]),
        ([np.int8(1)], [1], ["$[0]: numpy.int8 -> int"]),
        (b"x", "x", ["$: bytes -> str"]),
        ({"at": datetime(2024, 1, 2)}, {"at": "2024-01-02T00:00:00"}, ["$['at']: datetime -> str"]),
        ([Decimal("1.10")], [1.1], ["$[0]: Decimal -> float"]),
        (OrderedDict(a=1), {"a": 1}, ["$: OrderedDict -> dict"]),
        (deque([1]), [1], ["$: deque -> list"]),
        ({1, 2}, [1, 2], ["$: set -> list"]),
    ],
)
def test_words(before: object, after: object, words: list[str]) -> None:
    assert told(before, after) == words


def test_rows_are_compared_whole_and_still_cell_by_cell() -> None:
    rows = [{"a": i, "b": i / 2, "c": str(i)} for i in range(5000)]
    assert told(rows, copy.deepcopy(rows)) == []
    other = copy.deepcopy(rows)
    other[4321]["b"] = 1
    assert told(rows, other) == ["$[4321]['b']: float -> int"]
    other[4321]["b"] = -0.5
    assert told(rows, other) == ["$[4321]['b']: 2160.5 -> -0.5"]


def test_nan_is_compared_by_its_bits() -> None:
    nan = float("nan")
    assert told([nan, 1, "x"], [float("nan"), 1, "x"]) == []
    assert told([nan], [-nan]) == ["$[0]: nan -> nan"]


def test_cycles_end_and_sorts_are_bounded() -> None:
    a: list[Any] = [1]
    a.append(a)
    b: list[Any] = [1]
    b.append(b)
    assert told(a, b) == []
    many = changes({f"k{i}": (i,) for i in range(30)}, {f"k{i}": [i] for i in range(30)})
    assert (len(many.found), many.more) == (MAX_CHANGES, 30 - MAX_CHANGES)


def test_hostile_names_and_values_are_printable() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise RuntimeError("no")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("no")

        __hash__ = None  # type: ignore[assignment]

    for line in told({"\x1b[31m\n": "a\x07", "odd": {"x": Odd()}}, {"\x1b[31m\n": "b\x07", "odd": {"x": 1}}):
        assert line.isprintable()


def test_time_is_bounded() -> None:
    deep = [[i, {i}] for i in range(50_000)]
    found = changes(deep, copy.deepcopy(deep), seconds=0.0)
    assert not found.finished


@settings(max_examples=60, deadline=None)
@given(strategies.values)
def test_what_npser_gives_back_is_identical(value: object) -> None:
    try:
        data = npser.dumps(value)
    except npser.EncodeError:
        return
    classes = classes_of(value, class_names(npser.inspect(data)))
    assert told(value, npser.loads(data, classes=classes)) == []
    assert told([value] * 3, [value] * 3) == []


@settings(max_examples=40, deadline=None)
@given(strategies.values, strategies.values)
def test_it_agrees_with_the_strict_comparison(a: object, b: object) -> None:
    for before, after in ((a, b), ([a, b], [a, b]), ([a, a], [a, b]), ({"x": a}, {"x": b}), ([1, a], (1, b))):
        assert bool(changes(before, after).found) is not identical(before, after)
