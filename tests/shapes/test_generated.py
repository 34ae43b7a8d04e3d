"""What the generated functions build, and that no name becomes code."""

from __future__ import annotations

import pickle
import re
import sys
import traceback
from typing import Any

import pytest

import npser
from npser.shapes import build, generated, templates

WIDTHS = (1, 2, 6, 7, 8, 29, 30, 128, 129, 300)
HOSTILE = ("__class__", "__dict__", "__weakref__", "__init__", "a\nb", "'", '"]=1#', "", "\ud800", "f0", "o", "None", "x" * 10_000)


def columns(width: int, n: int) -> list[list[Any]]:
    return [[(i, row) for row in range(n)] for i in range(width)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n", [0, 1, 2, 40])
def test_rows_are_plain_dicts_in_the_order_of_the_keys(width: int, n: int) -> None:
    keys = tuple(f"key {i}" for i in range(width))
    rows = generated.build_rows(keys)(columns(width, n))
    assert rows == [{key: (i, row) for i, key in enumerate(keys)} for row in range(n)]
    assert all(type(row) is dict and tuple(row) == keys for row in rows)


def test_rows_that_share_keys_change_independently() -> None:
    rows: list[dict[Any, Any]] = generated.build_rows(tuple("abcdefgh"))(columns(8, 3))
    del rows[0]["c"]
    rows[0]["new"] = 1
    rows[1]["a"] = 2
    rows[1][5] = 6
    assert list(rows[0]) == ["a", "b", "d", "e", "f", "g", "h", "new"]
    assert rows[1]["a"] == 2 and rows[1][5] == 6 and len(rows[1]) == 9
    assert rows[2] == {key: (i, 2) for i, key in enumerate("abcdefgh")}
    assert pickle.loads(pickle.dumps(rows)) == rows


def test_rows_that_share_keys_are_smaller() -> None:
    keys = tuple(f"k{i}" for i in range(19))
    (shared,) = generated.build_rows(keys)(columns(19, 1))
    assert sys.getsizeof(shared) < sys.getsizeof(dict.fromkeys(keys))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_key_is_only_a_key(name: str) -> None:
    keys = (name, *(f"k{i}" for i in range(9)))
    rows = [dict.fromkeys(keys, i) for i in range(50)]
    data = npser.dumps(rows)
    for _ in range(40):
        assert npser.loads(data) == rows


def test_sources_are_made_of_our_own_identifiers() -> None:
    makers = [getattr(templates, name) for name in templates.__all__ if name.endswith("_template")]
    assert len(makers) >= 8
    for make in makers:
        assert re.fullmatch(r"[\w\s()\[\]{}.,:='*]*", make(40).source, re.ASCII)


def test_a_traceback_shows_the_generated_line() -> None:
    build = generated.build_rows(("a", "b"))
    with pytest.raises(ValueError) as caught:
        build([[1]])
    assert "for v0, v1, in zip(*columns)" in "".join(traceback.format_tb(caught.tb))


def test_attributes_are_stored_and_read_by_their_names() -> None:
    class Thing:
        pass

    things = [Thing(), Thing()]
    names = ("a", "f0", "b c")
    generated.fill_objects(names)(things, [[1, 2], [3, 4], [5, 6]])
    assert [vars(thing) for thing in things] == [{"a": 1, "f0": 3, "b c": 5}, {"a": 2, "f0": 4, "b c": 6}]
    assert generated.columns_of(names)(things) == [[1, 2], [3, 4], [5, 6]]


def test_names_that_stay_for_ever_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "NAMES_STAY", True)
    monkeypatch.setattr(generated, "MAX_NAMES", 40)
    monkeypatch.setattr(generated, "_size_bound", [0])
    monkeypatch.setattr(generated, "_names_bound", set())
    monkeypatch.setattr(build, "HOT_AFTER", 1)
    build.SHAPES.clear()
    for number in range(50):
        rows = [{f"a key {number}": i, f"another key {number}": str(i)} for i in range(3)]
        document = {f"only {number}": {"x": number}}
        for value in (rows, document):
            data = npser.dumps(value)
            assert [npser.loads(data) for _ in range(4)] == [value] * 4
    assert 0 < generated._size_bound[0] <= 40
    assert sum(len(program.readers) for program in build.SHAPES.programs) < 4
    assert generated.may_bind(("a key 0", "another key 0")), "what was bound once may be again"
    build.SHAPES.clear()
