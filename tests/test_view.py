"""Partial reads: every part of a payload is what it is in the whole, and nothing else is decoded.

Strategy: one walk goes through a view and the value that `loads` gives, side by side, and compares at every place. What
is decoded is told by a spy on the one function that reads bodies.
"""

from __future__ import annotations

import mmap
import pickle
import random
import threading
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import npser
import strategies
from guard import fenced
from npser import MISSING, NoSuchKeyError, View, view
from npser.columns.slotreader import SlotReader
from npser.errors import DecodeError, LimitError, NpserError
from npser.partial.skips import SKIPS
from npser.partial.view import KeyedView, ListView, MapView, RowsView, ValueView
from npser.partial.walk import WALKS
from npser.tags import Kind
from npser.types.placeholder import Placeholder
from same import difference
from test_malformed import corpus, mutated
from test_structure import every_node
from values import CLASSES, MAKERS, TRAPS, Box, Frozen, Plain, Point, Stateful

ROWS = [
    {
        "id": 10**6 + i * i,
        "price": (i % 97) / 4 + 0.1 * (i % 3),
        "raw": float(np.sin(i)),
        "name": f"n{i * 7919 % 1009}",
        "none": None if i % 3 else i,
        "tags": ["a", str(i)][: i % 3],
        "who": {"first": f"f{i % 11}", "age": i % 90},
        "blob": bytes([i % 256]) * (i % 5),
    }
    for i in range(2000)
]


def selected(data: Any, names: Any, **options: Any) -> Any:
    return npser.loads(data, select=names, **options)


def cell(row: Any, key: str) -> Any:
    if isinstance(row, Placeholder):
        return row.contents.get(key, MISSING)
    if isinstance(row, dict):
        return row.get(key, MISSING)
    return row.__dict__[key] if key in getattr(row, "__dict__", ()) else getattr(row, key, MISSING)


def compare(found: Any, value: Any) -> None:
    """Walk through what a view gave and the value side by side."""
    if isinstance(found, np.ndarray) and type(value) is list:
        assert found.dtype in ("<i8", "<f8", "?")
        assert len(value)
        found = found.tolist()
    if not isinstance(found, View):
        assert difference(value, found) is None
        return
    assert difference(value, found.value()) is None
    repr(found)
    if isinstance(found, KeyedView):
        keys = found.keys()
        assert len(found) == len(keys)
        for key in keys:
            compare(found[key], value[key] if isinstance(value, (list, tuple)) and type(key) is int else cell(value, key))
    elif isinstance(found, MapView):
        assert len(found) == len(value)
        assert difference(list(value), list(found)) is None
        for key, item in zip(islice(found, 20), value.values(), strict=False):
            assert difference(item, found[key]) is None
    elif isinstance(found, RowsView):
        compare_rows(found, value)
    elif isinstance(value, (list, tuple)):
        compare_items(found, value)


def compare_items(found: View, value: Any) -> None:
    n = len(value)
    assert len(found) == n
    for at in {0, 1, n // 2, n - 1} & set(range(n)):
        assert difference(value[at], found[at]) is None
        assert difference(value[at - n], found[at - n]) is None
    for part in (slice(1, 3), slice(None, None, -2), slice(n // 2, n // 2 + 5), slice(-3, None), slice(5, 2), slice(0, n, 3)):
        assert difference(value[part], found[part]) is None
    for bad in (n, -n - 1):
        with pytest.raises(IndexError):
            found[bad]


def compare_rows(found: RowsView, value: Any) -> None:
    compare_items(found, value)
    for at, item in enumerate(islice(found, 5)):
        assert difference(value[at], item) is None
    for name in found.columns:
        compare(found[name], [cell(row, name) for row in value])


# ---------------------------------------------------------------------------------------------------- all sorts of values


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 150])
def test_every_part_is_that_of_the_whole(name: str, n: int) -> None:
    values = MAKERS[name](n)
    for value in (values, {"a": values, "b": 1}, [{"v": item, "w": i} for i, item in enumerate(values)], tuple(values[:2])):
        data = npser.dumps(value)
        compare(view(data, classes=CLASSES), npser.loads(data, classes=CLASSES))


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name: str) -> None:
    for value in (TRAPS[name], [TRAPS[name], 1], {"x": TRAPS[name]}):
        data = npser.dumps(value)
        compare(view(data, classes=CLASSES), npser.loads(data, classes=CLASSES))
        compare(view(data), npser.loads(data))


@given(strategies.values)
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_anything(value: Any) -> None:
    for identity in ("objects", "preserve"):
        data = npser.dumps(value, identity=identity)
        compare(view(data, classes=CLASSES), npser.loads(data, classes=CLASSES))


@given(strategies.tables)
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_table(value: Any) -> None:
    data = npser.dumps(value)
    compare(view(data, classes=CLASSES), npser.loads(data, classes=CLASSES))
    whole = npser.loads(data, classes=CLASSES, tables="columns")
    if isinstance(whole, dict) and isinstance(value, list):
        assert difference(whole, selected(data, list(whole), classes=CLASSES, tables="columns")) is None


SHARED = Box([1])
LOOP: list[Any] = [1]
LOOP.append(LOOP)
REFERENCES: dict[str, tuple[Any, str]] = {
    "an object twice": ({"a": [SHARED, SHARED], "b": SHARED, "c": [1, 2]}, "objects"),
    "in a table": ([{"who": SHARED, "n": i} for i in range(9)], "objects"),
    "an array twice": ({"a": [np.arange(3)] * 2, "t": [{"x": 1}, {"x": 2}]}, "objects"),
    "as keys": ({"d": {Frozen(1): SHARED, Frozen(2): SHARED}, "e": (SHARED, 5)}, "objects"),
    "lists": ([[1, 2]] * 3, "preserve"),
    "dicts": ({"rows": [{"x": 1, "y": "b"}] * 4, "n": [1, 2, 3]}, "preserve"),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_references(name: str) -> None:
    value, identity = REFERENCES[name]
    data = npser.dumps(value, identity=identity)
    compare(view(data, classes=CLASSES), npser.loads(data, classes=CLASSES))
    compare(view(data), npser.loads(data))


def test_a_part_that_refers_keeps_its_identities() -> None:
    found = view(npser.dumps({"a": [SHARED, SHARED], "b": SHARED}), classes=[Box])
    assert found["a"][0] is found["a"][1] is found["b"]
    loop = view(npser.dumps(LOOP, identity="preserve")).value()
    assert loop[1] is loop


def test_what_a_view_is_of() -> None:
    data = npser.dumps({"t": ROWS, "l": [1, 2], "m": {i: str(i) for i in range(40)}, "o": Box(3), "p": Point(1, "a"), "x": 1})
    found = view(data, classes=CLASSES)
    kinds = {key: type(found[key]) for key in found}
    assert kinds == {"t": ListView, "l": np.ndarray, "m": MapView, "o": KeyedView, "p": KeyedView, "x": int}
    assert found["t"].columns == found["t"].keys() == tuple(ROWS[0])
    assert type(found["t"]["who"]) is RowsView
    assert type(view(npser.dumps([3, 1, 2]))) is type(view(npser.dumps("a"))) is ValueView
    assert found["o"]["value"] == 3
    assert "t" in found and "z" not in found and 7 in found["m"]
    assert found.columns == ()
    compare(found, npser.loads(data, classes=CLASSES))


def test_columns_of_numbers_are_arrays() -> None:
    found = view(npser.dumps(ROWS))
    for name, dtype in {"id": "<i8", "price": "<f8", "raw": "<f8"}.items():
        column = found[name]
        assert column.dtype == dtype
        column[:] = 0  # writable, and nobody else's
        assert difference([row[name] for row in ROWS], found[name].tolist()) is None
    assert type(found["none"]) is type(found["name"]) is list
    assert type(view(npser.dumps(ROWS), numbers="list")["id"]) is list
    assert found["who"]["age"].dtype == "<i8"
    assert found["who"][3] == ROWS[3]["who"]


def test_varied_rows_have_missing_cells() -> None:
    rows = [{"id": i} if i % 3 else {"x": i / 7, "id": i} for i in range(50)]
    data = npser.dumps(rows)
    assert view(data)["x"] == [MISSING if i % 3 else i / 7 for i in range(50)]
    assert (view(data)["id"] == np.arange(50)).all()
    assert selected(data, ["x"], numbers="array") == {"x": view(data)["x"]}


def test_bytes_that_others_may_change_are_not_shared() -> None:
    found = view(npser.dumps([{"b": bytearray(b"x" * i), "i": i} for i in range(30)]))
    found[3]["b"][:] = b""
    assert found[3]["b"] == b"xxx"


def test_threads_may_ask_at_once() -> None:
    found = view(npser.dumps(ROWS))
    failed: list[Any] = []

    def ask(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(60):
            at, name = rng.randrange(len(ROWS)), rng.choice(list(ROWS[0]))
            if found[at] != ROWS[at] or list(found["name"]) != [row["name"] for row in ROWS] or len(found[name]) != len(ROWS):
                failed.append((at, name))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


# ------------------------------------------------------------------------------------------------------------- buffers


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, "u1")])
def test_buffers(make: Any) -> None:
    compare(view(make(npser.dumps(ROWS[:50]))), ROWS[:50])


def test_mmap_is_not_copied(tmp_path: Path) -> None:
    raw = np.random.default_rng(1).standard_normal(5000)
    path = tmp_path / "payload"
    path.write_bytes(npser.dumps({"t": [{"x": x, "i": i} for i, x in enumerate(raw.tolist())], "a": raw}))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        found = view(mapped, copy="never")
        column, array = found["t"]["x"], found["a"]
        memory = np.frombuffer(mapped, "u1")
        for looks in (column, array):
            assert np.shares_memory(looks, memory) and not looks.flags.writeable
            assert (looks == raw).all()
        assert not np.shares_memory(view(mapped)["t"]["x"], memory)
        assert found["t"][7] == {"x": raw[7], "i": 7}
        del found, column, array, memory, looks


def test_envelopes_are_opened() -> None:
    data = npser.Codec(compress="zlib", checksum="crc32").dumps(ROWS)
    assert view(data)[5] == ROWS[5]
    assert selected(data, ["name"]) == {"name": [row["name"] for row in ROWS]}
    with pytest.raises(npser.SignatureError):
        view(npser.dumps_signed(ROWS, bytes(32)))


def test_a_view_is_not_pickled() -> None:
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(view(npser.dumps(ROWS)))


# ------------------------------------------------------------------------------------------------------ what is decoded


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The spans of the bodies that are read."""
    read: list[tuple[int, int]] = []
    original = SlotReader.span

    def span(self: SlotReader, span: tuple[int, int], reader: Any, n: int) -> Any:
        read.append(span)
        return original(self, span, reader, n)

    monkeypatch.setattr(SlotReader, "span", span)
    return read


def test_nothing_but_what_was_asked_is_decoded(bodies: list[tuple[int, int]]) -> None:
    data = npser.dumps(ROWS)
    npser.loads(data)
    assert len(bodies) > 7
    bodies.clear()
    found = view(data)
    structure = len(bodies)
    assert structure <= 1  # the lengths of the tags
    assert len(found) == 2000
    assert len(found["id"]) == 2000
    assert len(bodies) == structure + 1
    found["who"]["age"]
    assert len(bodies) <= structure + 2
    bodies.clear()
    found[17]
    once = len(bodies)
    assert found[30:33] == ROWS[30:33]
    assert len(bodies) == once  # rows are made of columns that are kept
    bodies.clear()
    assert selected(data, ["raw"])["raw"][3] == ROWS[3]["raw"]
    assert len(bodies) == structure + 1


def test_single_leaves_with_bodies_are_left_alone(bodies: list[tuple[int, int]]) -> None:
    data = npser.dumps({"a": np.arange(9000), "b": 1j, "c": 2**90, "d": [0.1, 0.7] * 500, "e": (2j, {"f": 3j})})
    found = view(data)
    assert not bodies
    assert found["c"] == 2**90
    assert len(bodies) == 1
    assert found["e"][1]["f"] == 3j
    assert len(bodies) == 2


def test_lists_of_lists_are_cut_where_they_begin(bodies: list[tuple[int, int]]) -> None:
    value = [[{"x": i, "y": str(j)} for j in range(i % 5)] for i in range(700)]
    found = view(npser.dumps(value))
    bodies.clear()
    assert found[321] == value[321]
    assert found[-7:] == value[-7:]
    assert len(bodies) <= 3


# ------------------------------------------------------------------------------------------------------------- select


@pytest.mark.parametrize("numbers", ["list", "array"])
@pytest.mark.parametrize("tables", ["rows", "columns"])
def test_select_gives_the_columns_of_loads(numbers: Any, tables: Any) -> None:
    for value in (
        ROWS,
        [Box(i) for i in range(300)],
        [Point(i, str(i)) for i in range(300)],
        [{"t": [{"x": i, "y": 0.5}] * (i % 3), "n": i} for i in range(99)],
        tuple(ROWS[:90]),
    ):
        data = npser.dumps(value)
        if isinstance(value, tuple):
            data = npser.dumps(list(value))
        whole = npser.loads(data, numbers=numbers, tables="columns", classes=CLASSES)
        names = list(whole)[::-1]
        found = selected(data, names, numbers=numbers, tables=tables, classes=CLASSES)
        assert list(found) == names
        for name in names:
            if name != "t" or tables == "columns":
                assert difference(whole[name], found[name]) is None


def test_select_of_a_dict() -> None:
    columns = {"id": list(range(0, 900, 3)), "x": [i / 7 for i in range(300)], "sub": {"a": 1}}
    data = npser.dumps(columns)
    assert selected(data, ["x", "sub"]) == {"x": columns["x"], "sub": {"a": 1}}
    assert selected(data, ["id"], numbers="array")["id"].dtype == "<i8"
    many = {f"c{i}": [i, i + 1] for i in range(40)}
    assert selected(npser.dumps(many), ["c7", "c3"]) == {"c7": [7, 8], "c3": [3, 4]}


def test_select_where_rows_refer() -> None:
    data = npser.dumps([{"who": SHARED, "n": i} for i in range(9)])
    found = selected(data, ["n", "who"], classes=[Box])
    assert found["n"] == list(range(9))
    assert found["who"][0] is found["who"][8]


def test_names_that_are_not_there() -> None:
    data = npser.dumps(ROWS)
    for ask in (lambda: selected(data, ["nope"]), lambda: view(data)["nope"]):
        with pytest.raises(NoSuchKeyError, match="no column 'nope'; there are 'id', 'price'") as caught:
            ask()
        assert isinstance(caught.value, KeyError) and isinstance(caught.value, DecodeError)
        assert pickle.loads(pickle.dumps(caught.value)).message == caught.value.message
    with pytest.raises(NoSuchKeyError, match="'c0'.* and 28 more"):
        selected(npser.dumps({f"c{i}": [i] for i in range(40)}), ["x"])
    with pytest.raises(NoSuchKeyError):
        view(npser.dumps({"a": (1, 2), "b": 3}))["c"]
    with pytest.raises(NoSuchKeyError):
        view(npser.dumps(((1, 2.5), "b")))["c"]


@pytest.mark.parametrize("value", [1, "a", [1, 2], [], (1, "b"), {1, 2}, [[1, "a"], [2]], None, [{}]], ids=repr)
def test_what_has_no_columns(value: Any) -> None:
    with pytest.raises(DecodeError, match="columns out of a table"):
        selected(npser.dumps(value), ["a"])


@pytest.mark.parametrize("names", ["id", b"id", [b"id"], [1], [None]])
def test_names_that_are_none(names: Any) -> None:
    with pytest.raises(TypeError, match="names of columns"):
        selected(npser.dumps(ROWS), names)


# ------------------------------------------------------------------------------------------------------------- damages


def explore(data: Any, **options: Any) -> None:
    """Ask a view for everything; NpserErrors are fine."""
    try:
        looks = [view(data, **options)]
    except NpserError as error:
        str(error)
        return
    asked = 0
    while looks and asked < 200:
        found = looks.pop()
        asked += 1
        for ask in QUESTIONS:
            try:
                looks += [item for item in ask(found) if isinstance(item, View)]
            except NpserError as error:
                str(error)
            except (IndexError, KeyError, TypeError):
                if not isinstance(found, ValueView):
                    raise


QUESTIONS: tuple[Callable[[Any], list[Any]], ...] = (
    lambda found: [found[key] for key in found.keys()[:50]],
    lambda found: [found[at] for at in range(min(3, len(found)))] if isinstance(found, (RowsView, ValueView)) else [],
    lambda found: [found[1:3]] if isinstance(found, RowsView) else [],
    lambda found: list(islice(found, 5)),
    lambda found: [found.value()],
    lambda found: [repr(found)],
)


def test_cut_anywhere() -> None:
    for name in ("table", "document", "references", "preserved", "copies", "arrays", "strings"):
        data = corpus()[name]
        for stop in range(len(data)):
            with fenced(5):
                explore(data[:stop])
            with pytest.raises(NpserError):
                view(data[:stop]).value()


def test_damaged_payloads() -> None:
    rng = random.Random(6)
    names = sorted(corpus())
    with fenced(60):
        for _ in range(4000):
            data = mutated(rng, corpus()[rng.choice(names)])
            explore(data, classes=CLASSES if rng.random() < 0.5 else (), limits=npser.Limits(items=1 << 14))


def test_lengths_beyond_all_bounds() -> None:
    for data in (
        bytes.fromhex("c1 01 38") + b"\xff" * 9 + b"\x01" + bytes.fromhex("02 02"),
        bytes.fromhex("c1 01 82 02 00 06 00") + (2**62 + 1).to_bytes(8, "little") + b"\0",
    ):
        with pytest.raises(LimitError):
            view(data)
    many = view(bytes.fromhex("c1 01 82 02 00 06 00") + (2**61).to_bytes(8, "little") + b"\0")
    assert len(many) == 2**61
    for ask in (lambda: many[0], lambda: many[5:9], many.value, lambda: next(iter(many))):
        with pytest.raises(LimitError):
            ask()


@pytest.mark.parametrize(
    "data",
    [
        "c1 01 85 10 04 01 61 1b 03 05 00",  # an int in the place of an array
        "c1 01 85 10 04 01 61 00 30 00 06 00 00 00",  # an array in the place of a leaf
        "c1 01 85 10 04 01 61 00 09 00",  # a kind of columns in the place of a single leaf
        "c1 01 87 02 10 04 01 61 00 03 12 03 00",  # no such kind of column
    ],
)
def test_slots_that_do_not_fit_the_shape(data: str) -> None:
    with pytest.raises(DecodeError):
        view(bytes.fromhex(data))["a"]
    with pytest.raises(DecodeError):
        view(bytes.fromhex(data)).value()


def constants(columns: int, n: int) -> bytes:
    """A table of many columns of one int each, over n rows: a few bytes a column."""
    data = npser.dumps([{f"c{i}": 10**6 + i for i in range(columns)} for _ in range(n)])
    assert len(data) < 40 * columns
    return data


def test_columns_out_of_nothing_have_one_budget() -> None:
    data = constants(40, 300)
    compare(view(data), npser.loads(data))
    limits = npser.Limits(items=6_000, expansion=0)
    with pytest.raises(LimitError):
        npser.loads(data, limits=limits)
    found = view(data, limits=limits)
    for ask in (lambda: found[0], lambda: found[5:7], lambda: found.value(), lambda: list(found)):
        with pytest.raises(LimitError):
            ask()
    for i in range(40):  # each question has one of its own
        assert len(found[f"c{i}"]) == 300
    assert len(selected(data, ["c0", "c1"], limits=limits)) == 2
    with pytest.raises(LimitError):
        selected(data, list(found.columns), limits=limits)


def test_deep_values() -> None:
    value: Any = [1, "a"]
    for i in range(400):
        value = {"a": value, "b": i} if i % 2 else [value, [i]]
    data = npser.dumps(value)
    found: Any = view(data)
    assert difference(value, found.value()) is None
    rows = [{"r": [{"q": value, "i": i}]} for i in range(3)]
    with fenced(20):
        assert difference(rows[1], view(npser.dumps(rows))[1]) is None


# ----------------------------------------------------------------------------------------------------------- the tables


def test_every_node_is_walked() -> None:
    assert set(WALKS) == {type(node) for node in every_node()}


def test_every_pooled_kind_is_skipped() -> None:
    assert set(SKIPS) == {kind for kind in Kind if kind < Kind.INT} - {Kind.POOL_COPIES}


def test_plain_objects_and_states() -> None:
    data = npser.dumps([{"p": Plain(a=i, b=i) if i % 2 else Stateful(i), "i": i} for i in range(20)])
    compare(view(data, classes=CLASSES), npser.loads(data, classes=CLASSES))
    compare(view(data), npser.loads(data))
