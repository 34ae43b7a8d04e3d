"""Mappings as key column and value column: what comes back, in which types and order, and what is refused."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from npser.shapes import maps
from same import difference

KEYS: dict[str, Any] = {
    "text": lambda i: f"2026-05-01T{i:05}",
    "surrogates": lambda i: f"\ud800{i}",
    "ints": lambda i: i * 977 % 100_003,
    "large ints": lambda i: (1 << 70) + i,
    "floats": lambda i: i / 4,
    "mixed": lambda i: (i, str(i), i + 0.5, None if i == 3 else (i,))[i % 4],
    "one odd key at the end": lambda i: str(i) if i != 499 else 499,
    "tuples": lambda i: (i, "x"),
}
VALUES: dict[str, Any] = {
    "ints": lambda i: i % 7,
    "bools": lambda i: i % 3 == 0,
    "floats": lambda i: i * 0.01,
    "text": lambda i: f"v{i % 5}",
    "None": lambda i: None,
    "mixed": lambda i: (i, None, "x", True, 1.0)[i % 5],
    "one odd value at the end": lambda i: i if i != 499 else True,
    "lists": lambda i: [i, i],
    "dicts": lambda i: {"a": i},
    "large ints": lambda i: 1 << i % 90,
}
MAKERS: dict[str, Any] = {
    "dict": dict,
    "ordered": OrderedDict,
    "counter": lambda pairs: dict.update(made := Counter(), pairs) or made,
    "default": lambda pairs: defaultdict(list, pairs),
}


class Text(str):
    __slots__ = ()


def check(value: Any, **options: Any) -> bytes:
    data = npser.dumps(value, **options)
    assert difference(npser.loads(data), value) is None
    return data


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("keys", KEYS)
def test_one_of_any_keys_and_values(keys, values):
    for n in (1, 2, 16, 17, 129, 500):
        check({KEYS[keys](i): VALUES[values](i) for i in range(n)})


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("keys", ["text", "ints", "mixed"])
def test_one_and_many_of_any_type(maker, keys):
    make = MAKERS[maker]
    for lengths in ([0], [1], [300], [0, 0, 0], [5] * 40, [0, 7, 0, 300, 1], [1] * 100):
        rows = [make([(KEYS[keys](i + row), i) for i in range(n)]) for row, n in enumerate(lengths)]
        check(rows)
        check(rows, identity="preserve")
        check({"only": rows[0], "all": rows})


def test_keys_keep_their_order():
    value = {i * 7919 % 1009: i for i in range(1009)}
    assert list(npser.loads(check(value))) == list(value)
    moved = OrderedDict((str(i), i) for i in range(400))
    moved.move_to_end("7")
    moved.move_to_end("9", last=False)
    assert list(npser.loads(check(moved)).items()) == list(moved.items())


def test_equal_keys_of_different_types():
    check({1: "a", 2.5: "b", "1": "c"})
    value = {True: "a", **dict.fromkeys(range(2, 300), "b")}
    assert type(next(iter(npser.loads(check(value))))) is bool


def test_keys_and_values_that_are_refused():
    for n in (1, 300):
        value: dict[Any, Any] = {f"k{i}": i for i in range(n)}
        value[Text("odd")] = 1
        with pytest.raises(npser.EncodeError, match="subclass of str") as caught:
            npser.dumps(value)
        assert caught.value.path == f"$.keys()[{n}]"
        value = {f"k{i:03}": i for i in range(n * 300)}
        value["k000"] = object()
        with pytest.raises(npser.EncodeError) as caught:
            npser.dumps(value)
        assert caught.value.path == "$['k000']"


def test_substitutes_for_keys_and_values():
    value = {**{f"k{i}": i for i in range(300)}, Text("odd"): object()}
    data = npser.dumps(value, default=lambda odd: str(odd)[:3])
    back = npser.loads(data)
    assert list(back)[-1] == "odd"
    assert back["odd"] == "<ob"


def test_a_key_twice_is_refused():
    for many in (False, True):
        row = {f"k{i:03}": i for i in range(300)}
        value: Any = [row, {"x": 1}] if many else row
        data = npser.dumps(value)
        assert data.count(b"k299") == 1
        with pytest.raises(npser.DecodeError, match="twice"):
            npser.loads(data.replace(b"k299", b"k298"))


def test_makers_are_total():
    assert set(maps._MAKERS) == {0x0A, 0x0B, 0x0C}
    assert maps.FACTORIES[0] is None


plain = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.floats(allow_nan=False)


@given(st.lists(st.dictionaries(st.integers() | st.text(max_size=3), plain, max_size=6), max_size=6))
def test_any_maps(rows):
    check(rows)
    check(list(map(OrderedDict, rows)))
