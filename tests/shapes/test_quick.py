"""What is written where it is met gives the bytes that the placers give, for every value, and keeps errors and paths."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npser
from npser import encoder
from npser.blocks.sink import Sink
from npser.columns.pooled import POOLED_ITEMS, POOLED_TEXTS
from npser.shapes.distinct import MIN_COPIED
from npser.shapes.infer import write_shape
from npser.shapes.leaves import OpenBatchError
from npser.shapes.quick import MAX_QUICK_DEPTH, write_fields
from npser.shapes.sequences import MAX_ROW, MAX_SINGLE_ROW
from npser.shapes.tables import CHUNK_CELLS, CHUNK_ROWS, MIN_CHUNKED
from npser.shapes.writer import CYCLE_CHECK_ITEMS, ShapeWriter
from same import difference
from strategies import values


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = None


def written(value: Any, quick: Any) -> bytes:
    w = ShapeWriter(Sink(), None, preserve=False)
    w.quick = quick
    write_shape(w, value)
    return encoder._finish(w)


def check(value: Any) -> None:
    """Both ways give the same bytes, and they are the value."""
    assert written(value, write_fields) == written(value, None)
    assert difference(value, npser.loads(npser.dumps(value), classes=[Point])) is None


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 300),
    st.floats(allow_nan=False),
    st.decimals(-1000, 1000, places=2).map(float),
    st.text(max_size=3),
    st.binary(max_size=2),
)
ROWS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.lists(st.fixed_dictionaries({"a": inner, "b": inner}), max_size=20),
        st.lists(st.fixed_dictionaries({"a": inner}, optional={"b": inner, "c": LEAVES}), max_size=5),
        st.lists(st.tuples(inner, LEAVES), max_size=20),
        st.lists(st.lists(LEAVES, min_size=2, max_size=2), max_size=20),
        st.lists(st.lists(st.sampled_from("abc"), max_size=2), max_size=30),
        st.builds(Point, inner, inner),
    ),
    max_leaves=30,
)


@settings(max_examples=300, deadline=None)
@given(ROWS)
def test_same_bytes_either_way(value: Any) -> None:
    check([value, value])


@settings(max_examples=100, deadline=None)
@given(values)
def test_same_bytes_of_any_value(value: Any) -> None:
    rows = [{"id": 1, "value": value}, {"id": 2, "value": value}]
    ways: list[Any] = []
    for quick in (write_fields, None):
        try:
            ways.append(written(rows, quick))
        except (npser.EncodeError, OpenBatchError) as error:
            ways.append(type(error))
    assert ways[0] == ways[1]


COLUMNS: list[tuple[str, Callable[[int], Any]]] = [
    ("a count", lambda i: i),
    ("one number", lambda _: 7),
    ("small steps", lambda i: 3 * i % 251),
    ("down", lambda i: -i),
    ("large", lambda i: 10**6 + i * i % 97),
    ("too large", lambda i: 2**63 + i),
    ("prices", lambda i: i * i % 1000 / 100),
    ("zeros of both signs", lambda i: 0.0 if i % 2 else -0.0),
    ("minus zero", lambda _: -0.0),
    ("infinite", lambda i: float("inf") if i == 3 else i / 2),
    ("no number", lambda i: float("nan") if i == 3 else i / 2),
    ("just below a large decimal", lambda i: 1e9 - 1 - i),
    ("large doubles", lambda i: 1e300 * i),
    ("text", str),
    ("few texts", lambda i: "abc"[i % 3]),
    ("one text", lambda _: "x"),
    ("half text", lambda i: str(i // 2)),
    ("bools", lambda i: i % 3 == 0),
    ("some", lambda i: i if i % 3 else None),
    ("mixed", lambda i: (i, str(i), None, i / 2, True)[i % 5]),
    ("bytes", lambda i: bytes((i % 7,))),
    ("dicts", lambda i: {"x": i, "y": str(i)}),
    ("one key", lambda i: {"x": i}),
    ("no key", lambda _: {}),
    ("some keys", lambda i: {"x": i} | ({"y": 1} if i % 2 else {"z": None})),
    ("other keys", lambda i: {str(i): i}),
    ("keys that are no text", lambda i: {i: 1}),
    ("dict or none", lambda i: {"x": i} if i % 2 else None),
    ("empty lists", lambda _: []),
    ("lists", lambda i: list(range(i % 4))),
    ("rows", lambda i: [i, str(i)]),
    ("tags", lambda i: ["a", "b"] if i % 2 else ["c"]),
    ("the same tags", lambda _: ["a", "b"]),
    ("tuples", lambda i: (i, i / 2)),
    ("empty tuples", lambda _: ()),
    ("tuples of one", lambda i: (i,)),
    ("tuples of many lengths", lambda i: tuple(range(i % 3))),
    ("sets", lambda i: {i}),
    ("points", lambda i: Point(i, [i])),
    ("arrays", lambda i: np.arange(i % 3)),
]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 16, 17, 18, 100, POOLED_ITEMS, POOLED_ITEMS + 1])
@pytest.mark.parametrize(("_name", "make"), COLUMNS, ids=[name for name, _ in COLUMNS])
def test_columns_of_any_length(_name: str, make: Callable[[int], Any], n: int) -> None:
    column = [make(i) for i in range(n)]
    check([{"id": i, "column": item} for i, item in enumerate(column)])
    check([[{"deep": item} for item in column], [{"deep": column[0]}]])
    check({"column": [(item, 0) for item in column]})


@pytest.mark.parametrize("n", [POOLED_TEXTS, POOLED_TEXTS + 1])
def test_long_columns_of_text(n: int) -> None:
    check([{"a": str(i), "b": "x"} for i in range(n)])


@pytest.mark.parametrize("n", [MIN_CHUNKED - 1, MIN_CHUNKED, MIN_CHUNKED + CHUNK_ROWS + 1])
@pytest.mark.parametrize("width", [2, CHUNK_CELLS // MIN_CHUNKED + 2])
def test_many_rows(n: int, width: int) -> None:
    rows = [{f"k{k}": i * k for k in range(width)} | {"last": str(i)} for i in range(n)]
    check(rows)
    check({"rows": rows})
    varied = [*rows[:-1], rows[-1] | {"more": 1}]
    check(varied)
    odd = [*rows[:-1], {**rows[-1], 7: 1}]
    assert written(odd, write_fields) == written(odd, None)


class Name(str):
    """Equal to the str, and none that may be written."""

    __slots__ = ()


def check_odd(value: Any, *, refused: bool) -> None:
    """Both ways refuse it, or give the same bytes."""
    if not refused:
        assert written(value, write_fields) == written(value, None)
        return
    for quick in (write_fields, None):
        with pytest.raises(npser.EncodeError, match="subclass of str"):
            written(value, quick)


@pytest.mark.parametrize("n", [2, 200, MIN_CHUNKED + 1])
def test_keys_that_are_equal_but_not_the_same(n: int) -> None:
    rows = [{"".join(("ke", "y")): i, "b": str(i)} for i in range(n)]
    check(rows)
    check([*rows[:-1], {"b": "", "key": 0}])
    for key in (Name("key"), 7, b"key", (1, "key")):
        for at in (0, n // 2, n - 1):
            odd = [{key: 1, "b": "x"} if i == at else row for i, row in enumerate(rows)]
            check_odd(odd, refused=type(key) is Name)


@pytest.mark.parametrize("n", [MIN_COPIED, 200])
def test_lists_of_the_same_strings(n: int) -> None:
    tags = ["new", "sale", "new"]
    check([{"tags": tags[:], "b": i} for i in range(n)])
    check([{"tags": tags, "b": i} for i in range(n)])
    check([{"tags": ["".join(("ne", "w"))], "b": i} for i in range(n)])
    for other in (tags[:2], ["new", "sale", 1], ["new", "sale", Name("new")], ["new", ["sale"], "new"], []):
        for at in (0, n // 2, n // 2 + 1, n - 1):
            odd = [{"tags": other if i == at else tags[:], "b": i} for i in range(n)]
            check_odd(odd, refused=Name in map(type, other))


@pytest.mark.parametrize("m", [1, 2, MAX_SINGLE_ROW, MAX_SINGLE_ROW + 1, MAX_ROW, MAX_ROW + 1])
@pytest.mark.parametrize("n", [1, 2, MIN_COPIED])
def test_rows_of_any_width(n: int, m: int) -> None:
    row = [i if i % 2 else str(i) for i in range(m)]
    check([[list(row) for _ in range(n)], [list(row)]])
    check([{"a": tuple(row), "b": 1} for _ in range(n)])
    check([{"a": row[:1] * m, "b": 1} for _ in range(n)])


def test_as_deep_as_can_be() -> None:
    for depth in range(2 * MAX_QUICK_DEPTH):
        value: Any = [1, 2]
        for level in range(depth):
            value = [{"a": value, "b": 1}, {"a": value, "b": 2}] if level < 4 else {"a": value, "b": [value]}
            if level > 8:
                value = {"a": value["a"]}
        check(value)


def test_lists_that_are_looked_at_for_cycles() -> None:
    row = list(range(CYCLE_CHECK_ITEMS // 100))
    check([{"a": row, "b": 1} for _ in range(101)])
    loop: list[Any] = []
    loop += [loop] * 40
    with pytest.raises(npser.EncodeError, match="holds itself"):
        npser.dumps([{"a": loop, "b": 1}, {"a": loop, "b": 2}])


def test_errors_keep_their_paths() -> None:
    for value, path in (
        ([{"a": 1, "b": 2}, {"a": object(), "b": 2}], "$[1]['a']"),
        ([{"a": {"x": [1, 2]}, "b": 2}, {"a": {"x": [3, object()]}, "b": 2}], "$[1]['a']['x'][1]"),
        ({"rows": [(1, {"k": 1}), (2, {"k": object()})]}, "$['rows'][1][1]['k']"),
        ([Point(1, [{"z": 1}, {"z": object()}]), Point(2)], "$[0].y[1]['z']"),
    ):
        with pytest.raises(npser.EncodeError) as caught:
            npser.dumps(value)
        assert caught.value.path == path


class Text(str):
    """A subclass of str."""


@pytest.mark.parametrize("odd", [{Text("a"): 1, "b": 2}, {"a": Text("x"), "b": 2}, {"b": 2, "a": 1}, {"a": 1, 2: 2}])
def test_rows_that_only_look_alike(odd: dict[Any, Any]) -> None:
    rows = [{"a": 1, "b": 2}, odd]
    ways: list[Any] = []
    for quick in (write_fields, None):
        try:
            ways.append(written(rows, quick))
        except npser.EncodeError as error:
            ways.append(str(error).rpartition(";")[0] or type(error))
    assert type(ways[0]) is type(ways[1])


def test_references_across_tables() -> None:
    point = Point(1)
    value = [{"a": point, "b": [point]}, {"a": Point([point]), "b": [point, point]}]
    assert written(value, write_fields) == written(value, None)
    back = npser.loads(npser.dumps(value), classes=[Point])
    assert back[0]["a"] is back[0]["b"][0] is back[1]["b"][1] is back[1]["a"].x[0]


def test_a_list_that_changes_meanwhile() -> None:
    rows: list[dict[str, Any]] = [{"a": i, "b": [i, str(i)]} for i in range(50)]
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            rows.append({"a": 1, "b": [1, "x"]})
            rows[0]["b"].append(1)
            rows[0]["b"].pop()
            rows.pop()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            try:
                data = npser.dumps({"rows": rows})
            except npser.EncodeError:
                continue
            assert all(row["a"] == i for i, row in enumerate(npser.loads(data)["rows"][:50]))
    finally:
        stop.set()
        thread.join()
