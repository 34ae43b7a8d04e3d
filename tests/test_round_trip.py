"""What goes in comes out: every type at every size in every place, every trap of the field notes, and drawn values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

import npser
import strategies
from same import difference
from values import CLASSES, MAKERS, SIZES, TRAPS, Box, hashable

Place = Callable[[list[Any]], Any]


def check(value: Any, **options: Any) -> None:
    data = npser.dumps(value, **options)
    assert type(data) is bytes
    back = npser.loads(data, classes=CLASSES)
    assert difference(value, back) is None


PLACES: dict[str, Place] = {
    "list": lambda values: values,
    "tuple": tuple,
    "dict values": lambda values: {f"key {i}": value for i, value in enumerate(values)},
    "dict values under int keys": lambda values: dict(enumerate(values)),
    "dict keys": lambda values: {value: i for i, value in enumerate(hashable(values))},
    "set": lambda values: set(hashable(values)),
    "table": lambda values: [{"id": i, "value": value} for i, value in enumerate(values)],
    "table with gaps": lambda values: [{"id": i, **({"value": v} if i % 3 else {})} for i, v in enumerate(values)],
    "rows": lambda values: [(i, value) for i, value in enumerate(values)],
    "lists in lists": lambda values: [values[i : i + 3] for i in range(0, len(values), 2)],
    "field": lambda values: [Box(value, i) for i, value in enumerate(values)],
    "with None": lambda values: [item for value in values for item in (value, None)],
    "with others": lambda values: [item for value in values[:150] for item in (value, 1, "x", 2.5, True, [value], None)],
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", MAKERS)
def test_every_type_at_every_size_in_every_place(name: str, place: str) -> None:
    for n in SIZES:
        check(PLACES[place](MAKERS[name](n)))


@pytest.mark.parametrize("name", MAKERS)
def test_every_value_alone(name: str) -> None:
    for value in MAKERS[name](100):
        check(value)


@pytest.mark.parametrize("name", MAKERS)
def test_every_type_with_identity_preserved(name: str) -> None:
    for n in (1, 7, 100):
        values = MAKERS[name](n)
        check({"a": values, "b": [values, (values,)], "c": {"d": list(values)}}, identity="preserve")


@pytest.mark.parametrize("name", TRAPS)
def test_every_trap(name: str) -> None:
    check(TRAPS[name])
    if name not in LARGE:
        check({"in": [TRAPS[name], 0], "again": (TRAPS[name],)})


LARGE = {name for name, trap in TRAPS.items() if isinstance(trap, list) and len(trap) > 10_000}


def test_all_traps_at_once() -> None:
    small = {name: trap for name, trap in TRAPS.items() if name not in LARGE}
    check(small)
    check(list(small.values()))


@given(strategies.values)
def test_a_nested_value_comes_back(value: Any) -> None:
    check(value)


@given(strategies.values)
def test_a_nested_value_comes_back_with_identity_preserved(value: Any) -> None:
    check(value, identity="preserve")


@given(strategies.tables)
def test_a_table_comes_back(rows: Any) -> None:
    check(rows)


@given(strategies.arrays)
def test_an_array_comes_back(array: Any) -> None:
    check(array)
    check([array, {"again": array}])


@given(strategies.records)
def test_a_batch_of_objects_comes_back(batch: Any) -> None:
    check(batch)


@given(strategies.values_without_sets)
def test_encoding_what_was_decoded_gives_the_same_bytes(value: Any) -> None:
    data = npser.dumps(value)
    assert npser.dumps(npser.loads(data, classes=CLASSES)) == data


@given(strategies.values_without_sets)
def test_encoding_again_with_identity_preserved_gives_the_same_bytes(value: Any) -> None:
    data = npser.dumps(value, identity="preserve")
    assert npser.dumps(npser.loads(data, classes=CLASSES), identity="preserve") == data


@given(strategies.values, strategies.values)
def test_what_was_read_before_has_no_influence(value: Any, other: Any) -> None:
    """Shapes, classes and generated code are remembered; the 40th time is like the first."""
    data = npser.dumps([value, other])
    for _ in range(40):
        npser.loads(data, classes=CLASSES)
    check([value, other])
    check([other, value])


@given(strategies.values_without_sets)
def test_placeholders_encode_to_the_same_bytes(value: Any) -> None:
    data = npser.dumps(value)
    assert npser.dumps(npser.loads(data)) == data


@pytest.mark.parametrize("name", [name for name in MAKERS if "set" not in name and "any keys" not in name])
def test_encoding_every_type_again_gives_the_same_bytes(name: str) -> None:
    for n in SIZES:
        data = npser.dumps(MAKERS[name](n))
        assert npser.dumps(npser.loads(data, classes=CLASSES)) == data
        assert npser.dumps(npser.loads(data)) == data


@given(strategies.values)
def test_encoding_changes_nothing(value: Any) -> None:
    import copy

    before = copy.deepcopy(value)
    npser.dumps(value)
    assert difference(value, before) is None
