"""A shape that is new is read by its outline: the same values as through its nodes, and the same errors."""

from __future__ import annotations

import random
from collections import Counter, OrderedDict, deque
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
import strategies
from npser.shapes import build
from npser.shapes.leaves import LeafRun
from npser.shapes.node import read_shape
from npser.shapes.outline import MAX_RUN, outline_of
from same import difference
from values import CLASSES, MAKERS, TRAPS, Box

NEVER = 10**9

DOCUMENT = {
    "id": 7, "x": -0.5, "name": "n", "no": None, "big": 2**70, "at": {"a": True, "b": [300, "c"]}, "t": ("u", []), "e": {},
    "rows": [{"k": i, "v": {"w": [i] * (i % 3), "x": i / 2}, "tail": None} for i in range(3)],
    "pairs": [(1, "a"), (2, "b")], "map": {3: "x", 4: "y"}, "varied": [{"p": 1}, {"q": [2]}], "mixed": [1, [2], {"z": 3}],
}  # fmt: skip
"""A node of every sort that an outline has steps for."""


@pytest.fixture(autouse=True)
def _never_hot(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(build, "HOT_AFTER", NEVER)
    build.SHAPES.clear()
    yield
    build.SHAPES.clear()


def outcome(data: bytes, **options: Any) -> tuple[Any, str | None]:
    """(value, None), or (None, what went wrong and where), of a payload whose shape is new."""
    build.SHAPES.clear()
    try:
        return npser.loads(data, classes=CLASSES, **options), None
    except npser.NpserError as error:
        return None, f"{type(error).__name__}: {error}"


def through_nodes(data: bytes, **options: Any) -> tuple[Any, str | None]:
    """The same without outlines, and without the short way to open the slots."""
    with pytest.MonkeyPatch.context() as patch:
        for shortcut in ("outline_of", "open_few"):
            patch.setattr(build, shortcut, lambda *_args: None)
        return outcome(data, **options)


def check(value: Any) -> None:
    data = npser.dumps(value)
    build.SHAPES.clear()
    for _ in range(2):
        assert difference(value, npser.loads(data, classes=CLASSES)) is None


def check_damaged(damaged: list[bytes], **options: Any) -> None:
    """The outcome of each is the same with an outline and without."""
    for data in damaged:
        value, error = through_nodes(data, **options)
        found, wrong = outcome(data, **options)
        assert wrong == error, data.hex(" ")
        assert difference(value, found) is None, data.hex(" ")


def shape_of(data: bytes) -> bytes:
    """The shape of a payload that has one."""
    build.SHAPES.clear()
    npser.loads(data, classes=CLASSES)
    ((shape, _depth),) = build.SHAPES._programs
    return shape


def the_program() -> Any:
    (program,) = build.SHAPES.programs
    return program


# ------------------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 200])
def test_every_type(name: str, n: int) -> None:
    values = MAKERS[name](n)
    check({"column": values, "rows": [{"a": value, "b": None} for value in values], "pairs": list(enumerate(values))})
    check({"lists": [values, [], values[:1]], "tuples": [(tuple(values),)], "one": values[:1]})


@pytest.mark.parametrize("name", TRAPS)
def test_every_trap(name: str) -> None:
    check({"trap": TRAPS[name], "again": [TRAPS[name], {"trap": 1}]})


@given(strategies.values)
def test_nested_values(value: Any) -> None:
    check(value)
    check({"value": value, "again": [value]})


@pytest.mark.parametrize(
    "value",
    [
        DOCUMENT,
        {"a": 1, "b": {"c": 2, "d": {}}, "e": 3},
        {"l": [[]], "t": ((),), "n": [[], []], "o": [[[]]], "r": [({},)]},
        {"sets": [{1}, {2, 3}], "set": {4}, "frozen": frozenset((5,)), "deque": deque([1], 3)},
        {"ordered": OrderedDict(b=1, a=2), "counter": Counter("abca"), "dict": {1: {"x": 2}, 2: {"x": 3}}},
        {"slices": [["a"] * 3] * 50, "unions": [[1, {"a": 1}], [{"a": 2}], []], "nested": {1: [{2: [3]}]}},
        {f"k{i}": [i] if i % 2 else i for i in range(3 * MAX_RUN)},
        {f"k{i}": i for i in range(3 * MAX_RUN)},
    ],
)
def test_documents_are_read_by_an_outline(value: Any) -> None:
    check(value)
    program = the_program()
    assert program.outline is not None and program._nodes is None, "nobody has asked for the nodes"
    assert len(program.nodes) <= program.size


def test_what_has_no_outline() -> None:
    for value in ({"box": Box(1)}, [Box(1), Box(2), Box(1)], {"slice": slice(1)}):
        check(value)
        assert the_program().outline is None


def test_a_shape_read_by_its_outline_becomes_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "HOT_AFTER", 3)
    for value in (DOCUMENT, {"a": 1, "b": {"c": "x"}}):
        build.SHAPES.clear()
        data = npser.dumps(value)
        for _ in range(5):
            assert npser.loads(data) == value
        assert the_program().readers


def test_options_that_an_outline_does_not_know() -> None:
    data = npser.dumps({"rows": [{"a": i, "b": i / 2} for i in range(10)]})
    for options in ({"numbers": "array"}, {"tables": "columns"}):
        assert difference(through_nodes(data, **options), outcome(data, **options)) is None


def test_outlines_say_what_the_nodes_say() -> None:
    for value in (DOCUMENT, {"a": [DOCUMENT]}, [DOCUMENT, 1]):
        shape = shape_of(npser.dumps(value))
        outline, program = outline_of(shape, 512, build.PARSERS), read_shape(shape, build.PARSERS, LeafRun, 512)
        assert outline is not None
        assert (outline.singles, outline.columns) == (program.singles, program.columns)


# ------------------------------------------------------------------------------------------------------------- damage


def test_every_byte_of_a_shape_changed_to_every_value() -> None:
    """Whatever has an outline can be read in full, into as many slots."""
    shape = shape_of(npser.dumps(DOCUMENT))
    rng = random.Random(3)
    damaged = [shape[:at] + bytes([byte]) + shape[at + 1 :] for at in range(len(shape)) for byte in range(0, 256, 3)]
    damaged += [shape[:at] + shape[at + rng.randrange(1, 9) :] for at in range(len(shape))]
    damaged += [shape[:at] + rng.randbytes(rng.randrange(1, 4)) + shape[at:] for at in range(len(shape))]
    outlined = 0
    for data in damaged:
        outline = outline_of(data, 16, build.PARSERS)
        if outline is not None:
            outlined += 1
            program = read_shape(data, build.PARSERS, LeafRun, 16)
            assert (outline.singles, outline.columns) == (program.singles, program.columns)
            assert not (program.references or program.preserve or program.chains)
            assert len(program.nodes) <= 3 * len(outline.steps) + 2
    assert outlined


@pytest.mark.parametrize("step", range(4))
def test_every_byte_of_a_document_changed(step: int) -> None:
    data = npser.dumps(DOCUMENT)
    for at in range(2 + step, len(data), 4):
        check_damaged([data[:at] + bytes([byte]) + data[at + 1 :] for byte in (0, 1, 2, data[at] ^ 1, 0x7F, 0x80, 0xFF)])
        check_damaged([data[:at], data[:at] + data[at + 1 :], data[:at] + b"\0" + data[at:]])


@given(strategies.values, st.data())
def test_a_damaged_payload_is_the_same_with_an_outline(value: Any, draw: st.DataObject) -> None:
    data = npser.dumps({"value": value, "n": 1})
    at = draw.draw(st.integers(2, len(data) - 1))
    byte = draw.draw(st.integers(0, 255))
    check_damaged([data[:at], data[:at] + bytes([byte]) + data[at + 1 :], data[:at] + bytes([byte]) + data[at:], data + b"\0"])


@pytest.mark.parametrize("make", [lambda v: {"a": v}, lambda v: {"a": [v]}, lambda v: [v, v], lambda v: {1: v}, lambda v: (v,)])
def test_depth(make: Any) -> None:
    value: Any = 1
    for _ in range(20):
        value = make(value)
        data = npser.dumps(value) if len(repr(value)) < 5000 else npser.dumps(1)
        for depth in range(1, 24):
            check_damaged([data], limits=npser.Limits(depth=depth))


@pytest.mark.parametrize(
    "value",
    [
        {"a": [None] * 300, "b": [{"x": None}] * 100, "c": [True] * 200},
        {"rows": [(None, (None, [None] * 3)) for _ in range(90)]},
        {"copies": [["a", "b"]] * 200},
        {"empty": [{}] * 100, "lists": [[]] * 100},
        {f"url {i}": f"https://api.example.com/repos/somebody/something/{i}" for i in range(16)},
    ],
)
def test_the_same_is_drawn_from_the_budget(value: Any) -> None:
    data = npser.dumps(value)
    accepted = []
    for items in range(0, 15_000, 250):
        limits = npser.Limits(items=items, expansion=0)
        nodes = through_nodes(data, limits=limits)
        assert nodes[1] == outcome(data, limits=limits)[1]
        accepted.append(nodes[1] is None)
    assert False in accepted and True in accepted
