"""A hot shape gives the same value as the loops, whatever it is and whatever happens to it."""

from __future__ import annotations

import linecache
import traceback
from typing import Any

import pytest
from hypothesis import given

import npser
import strategies
from npser.shapes import build, cache
from npser.shapes.hot import program_source
from same import difference
from values import CLASSES, MAKERS, TRAPS


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(build, "HOT_AFTER", 1)
    build.SHAPES.clear()
    yield
    build.SHAPES.clear()


def check(value: Any) -> None:
    data = npser.dumps(value)
    cold = npser.loads(data, classes=CLASSES)
    for _ in range(2):
        hot = npser.loads(data, classes=CLASSES)
        assert difference(cold, hot) is None
        assert difference(value, hot) is None


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 200])
def test_hot_is_cold_for_every_type(name: str, n: int) -> None:
    values = MAKERS[name](n)
    check({"column": values, "rows": [{"a": value, "b": None} for value in values], "pairs": list(enumerate(values))})


@pytest.mark.parametrize("name", TRAPS)
def test_hot_is_cold_for_every_trap(name: str) -> None:
    check([TRAPS[name], {"trap": TRAPS[name]}])


@given(strategies.values)
def test_hot_is_cold_for_nested_values(value: Any) -> None:
    check(value)


def test_a_leaf_may_become_anything_else() -> None:
    documents = [{"id": 1, "note": note, "tags": []} for note in (None, "x", 2**70, 1.5, True, b"b", 300, -1)]
    for document in documents * 3:
        assert npser.loads(npser.dumps(document)) == document
    program = build.SHAPES.programs[0]
    assert len(build.SHAPES) == 1 and program.hot is not None


def test_a_damaged_payload_of_a_hot_shape_is_refused_with_its_place() -> None:
    data = npser.dumps({"a": [1, 2, 3], "b": {"c": "text"}})
    for _ in range(3):
        npser.loads(data)
    for cut in range(len(data)):
        with pytest.raises(npser.DecodeError):
            npser.loads(data[:cut])
    with pytest.raises(npser.DecodeError, match="behind the end"):
        npser.loads(data + b"\0")
    assert npser.loads(data) == {"a": [1, 2, 3], "b": {"c": "text"}}


def test_shapes_that_never_repeat_are_never_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "HOT_AFTER", 16)

    def refuse(_program: Any) -> Any:
        raise AssertionError("compiled")

    monkeypatch.setattr(build, "compile_program", refuse)
    for i in range(2000):
        npser.loads(npser.dumps({f"key {i}": {"a": 1}}))


def test_the_number_of_compiled_shapes_is_bounded() -> None:
    for i in range(3 * cache.MAX_SHAPES):
        data = npser.dumps({f"key {i}": {"a": 1}})
        npser.loads(data)
        npser.loads(data)
        assert len(build.SHAPES) <= cache.MAX_SHAPES and build.SHAPES.hot <= cache.MAX_HOT


def test_no_text_of_a_payload_is_in_the_source() -> None:
    hostile = "']=1;import os#\n\"\"\""
    data = npser.dumps({hostile: {"__class__": 1, "f0": 2}})
    for _ in range(3):
        assert npser.loads(data) == {hostile: {"__class__": 1, "f0": 2}}
    (program,) = build.SHAPES.programs
    source = program_source(program)[0].source
    assert "import" not in source and "__class__" not in source


def test_a_traceback_shows_the_generated_line() -> None:
    data = npser.dumps({"a": 1, "b": [1, 2]})
    for _ in range(2):
        npser.loads(data)
    (program,) = build.SHAPES.programs
    assert program.hot is not None
    with pytest.raises(IndexError) as caught:
        program.hot(None, None, [], b"")
    assert "v1 = t[k[0]]()" in "".join(traceback.format_tb(caught.tb))
    name = program.hot.__code__.co_filename
    assert name in linecache.cache
    build.SHAPES.clear()
    assert name not in linecache.cache
