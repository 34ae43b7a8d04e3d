"""Exact readers: made for what keeps coming back the same, and given up where it does not. test_hot.py says that they
give the same values and the same errors as every other way."""

from __future__ import annotations

import random
from typing import Any

import pytest

import npser
from npser.decoder import weigh
from npser.shapes import build, exactreader
from npser.shapes.exactreader import ExactReader
from same import difference
from values import Box


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(build, "HOT_AFTER", 1)
    monkeypatch.setattr(exactreader, "EXACT_AFTER", 2)
    build.SHAPES.clear()
    yield
    build.SHAPES.clear()


def made() -> list[ExactReader]:
    readers = [reader for program in build.SHAPES.programs for reader in program.exact.values()]
    return [reader for reader in readers if type(reader) is ExactReader]


def rows(n: int, start: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "id": start + i,
            "user": 1000 + i * 7 % 50,
            "name": f"row {i}",
            "at": "2026-05-19",
            "amount": i * 7 % 11 / 4,
            "active": i % 3 == 0,
            "note": None if i % 5 else f"note {i}",
            "state": ("new", "paid", "sent")[i % 3],
            "tags": ["a", "b"],
            "sizes": list(range(i % 4)),
            "where": {"x": i, "y": -i},
            "pair": (i, str(i)),
            "none": None,
        }
        for i in range(n)
    ]


VALUES: dict[str, Any] = {
    "table": rows(100),
    "few rows": rows(3),
    "document": {"id": 7, "items": rows(20), "counts": {f"key {i}": i for i in range(40)}, "empty": []},
    "sets": [{"of": {i, i + 1}, "tuple": tuple(range(i % 3))} for i in range(20)],
    "objects": [Box((i, f"box {i}")) for i in range(30)],
    "mixed": [{"a": i} if i % 2 else [i, str(i)] for i in range(30)],
    "varied": [{"a": i} | ({"b": str(i)} if i % 2 else {}) | ({"c": i / 2} if i % 3 else {}) for i in range(30)],
    "large ints": [{"a": 2**40 + i * 3, "b": -(2**20) - i % 90} for i in range(30)],
    "links and prices": [
        {
            "url": f"https://example.com/a/rather/long/path/{i * 7919 % 1000}",
            "price": i * 37 % 1000 / 100,
            "sale": i / 10 if i % 3 else None,
            "kind": ("näh", "far", "out")[i % 3],
            "level": (10, 2000, 30)[i % 3],
            "new": i % 4 == 0,
            "tags": [["a", "b"], ["c"]][i % 2],
            "pair": [("x", "y"), ("z",)][i % 2],
        }
        for i in range(100)
    ],
    "maps": [{str(i): i, str(i + 1): i} for i in range(300)],
    "some of each kind": [
        {
            "text": f"text {i * 7919 % 100}" if i % 3 else None,
            "code": ("näh", "far", "out")[i % 3] if i % 4 else None,
            "one": "always" if i % 5 else None,
            "small": i * 7 % 200 if i % 3 else None,
            "short": 1000 + i * 37 % 5000 if i % 7 else None,
            "wide": 2**40 + i * i * 2**20 if i % 3 else None,
            "near": 2**20 + i * 7 % 90 if i % 3 else None,
            "step": 2**20 + i if i % 2 else None,
            "bool": i % 4 == 1 if i % 2 else None,
            "price": i * 37 % 1000 / 100 if i % 9 else None,
            "double": i / 7 if i % 6 == 0 else None,
            "first": None if i else 1.5,
        }
        for i in range(80)
    ],
    "rows that are all the same": [{f"key {k}": (None, True, "text", 7, 1.5)[k % 5] for k in range(9)} for _ in range(30)],
    "rows of columns as they are": [{f"key {k}": i * 7919 % (50 + k) for k in range(9)} for i in range(30)],
    "rows in rows": [{f"a{k}": i for k in range(7)} | {"in": {f"b{k}": -i * 7 % 5 for k in range(7)}, "z": i} for i in range(30)],
    "long texts": [{"a": "ä" * 400 + str(i * 7919), "b": str(i)} for i in range(100)],
    "special floats": [{"a": float("inf"), "b": -0.0, "c": 1e300 * i} for i in range(20)],
    "slices and empty dicts": {"one": slice(1, 2, 3), "of": [(slice(i, None), {}) for i in range(9)], "no": {}, "l": [{}] * 3},
    "sets, one each": {"set": {1, 2}, "frozenset": frozenset("ab"), "tuple": (1, 2), "named": Box((1,)), "list": [1, 2, 3]},
    "bytes": [{"a": bytes([i]), "b": 2**70 + i} for i in range(20)],
}


@pytest.mark.parametrize("name", VALUES)
def test_what_keeps_coming_back_gets_an_exact_reader(name: str) -> None:
    data = npser.dumps(VALUES[name])
    for _ in range(5):
        assert difference(VALUES[name], npser.loads(data, classes=[Box])) is None
    (reader,) = made()
    assert (reader.hits, reader.failures) == (3, 0)


@pytest.mark.parametrize("name", VALUES)
def test_an_exact_reader_draws_what_the_usual_way_draws(name: str) -> None:
    data = npser.dumps(VALUES[name])
    for _ in range(5):
        npser.loads(data, classes=[Box])
    (reader,) = made()
    enough = weigh(data)
    for _ in range(2):
        npser.loads(data, classes=[Box], limits=npser.Limits(items=enough, expansion=0))
        with pytest.raises(npser.LimitError):
            npser.loads(data, classes=[Box], limits=npser.Limits(items=enough - 1, expansion=0))
    assert reader.failures >= 2  # of the one that was too little, if not of both


def test_the_collector_is_paused_for_many_containers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[str] = []
    monkeypatch.setattr(exactreader, "pause", lambda: pauses.append("pause"))
    monkeypatch.setattr(exactreader, "resume", lambda: pauses.append("resume"))
    for n, expected in ((100, []), (600, ["pause", "resume"])):
        build.SHAPES.clear()
        data = npser.dumps([{"id": i, "name": str(i)} for i in range(n)])
        for _ in range(4):
            pauses.clear()
            npser.loads(data)
        assert made() and pauses == expected


def test_a_reader_serves_other_data_of_the_same_kinds() -> None:
    for start in (1000, 2000, 1500, 3000, 900):
        value = rows(50 + start % 7, start)
        assert difference(value, npser.loads(npser.dumps(value))) is None
    (reader,) = made()
    assert reader.hits == 3


@pytest.mark.parametrize("name", [
    "table", "few rows", "document", "varied", "mixed", "maps", "links and prices", "some of each kind", "rows in rows",
])
def test_damage_is_told_as_the_usual_way_tells_it(name: str) -> None:
    data = npser.dumps(VALUES[name])
    draw = random.Random(1)
    damaged = []
    for _ in range(600):
        at = draw.randrange(3, len(data))
        damaged.append(data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :])
    damaged += [data[:stop] for stop in range(3, len(data), max(1, len(data) // 100))]

    def outcomes() -> list[Any]:
        found: list[Any] = []
        for payload in damaged:
            try:
                found.append(npser.loads(payload))
            except npser.NpserError as error:
                found.append(str(error))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exactreader, "EXACT_AFTER", 10**9)
        usual = outcomes()
    for _ in range(4):
        npser.loads(data)
    assert made()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exactreader, "PATIENCE", 10**9)
        exact = outcomes()
    assert difference(usual, exact) is None


def test_lists_of_which_only_the_distinct_ones_are_stored_are_lists_of_their_own() -> None:
    value = VALUES["links and prices"]
    data = npser.dumps(value)
    for _ in range(4):
        found = npser.loads(data)
    assert made()
    for row in found:
        row["tags"].append("more")
    assert [row["tags"] for row in found] == [[*row["tags"], "more"] for row in value]


@pytest.mark.parametrize("of", [bytes, bytearray, memoryview])
def test_any_buffer_is_read_by_the_same_reader(of: Any) -> None:
    data = npser.dumps(VALUES["table"])
    for _ in range(5):
        assert difference(VALUES["table"], npser.loads(of(data))) is None
    assert len(made()) == 1


def test_a_disappointing_reader_is_dropped() -> None:
    good = npser.dumps(rows(40))
    bad = good[:-1] + b"\xff"
    for _ in range(4):
        npser.loads(good)
    assert made()
    for _ in range(exactreader.PATIENCE + 1):
        with pytest.raises(npser.DecodeError):
            npser.loads(bad)
    assert not made()


def test_a_shape_has_few_exact_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exactreader, "MAX_COUNTED", 6)
    for first in range(5):
        for second in range(5):
            cells: list[Any] = [1, 1.5, "a", True, None]
            value = [{"a": cells[first], "b": cells[second], "c": i} for i in range(3)]
            for _ in range(4):
                assert difference(value, npser.loads(npser.dumps(value))) is None
    assert len(made()) == exactreader.MAX_EXACT
    (program,) = build.SHAPES.programs
    assert len(program.exact) == 6


def test_large_payloads_and_those_with_references_have_none() -> None:
    box = Box((1, 2))
    for value in ([{"a": f"{i} and so on", "b": i} for i in range(20_000)], [{"a": box, "b": 1}, {"a": box, "b": 2}]):
        data = npser.dumps(value)
        for _ in range(5):
            npser.loads(data, classes=[Box])
    assert not made()


def test_nothing_is_made_of_many_rows_out_of_few_bytes() -> None:
    value = [{"a": 1, "b": "x"} for _ in range(100)]
    data = npser.dumps(value)
    for _ in range(4):
        npser.loads(data)
    assert made()
    at = data.index(bytes([100]))
    huge = data[:at] + b"\xff" + data[at + 1 :]
    tight = npser.Limits(items=200, expansion=0)
    with pytest.raises(npser.LimitError):
        npser.loads(huge, limits=tight)
    assert len(npser.loads(huge)) == 255


def test_texts_with_a_stem_draw_from_the_budget_of_the_payload() -> None:
    stem = "https://example.org/a/rather/long/path/"
    value = [{"at": f"{stem}{i}", "n": i} for i in range(60)]
    data = npser.dumps(value)
    assert data.count(stem.encode()) == 1, "stored as a stem"
    for _ in range(5):
        assert npser.loads(data) == value
    (reader,) = made()
    assert reader.hits
    with pytest.raises(npser.LimitError):
        npser.loads(data, limits=npser.Limits(items=1000, expansion=0))
