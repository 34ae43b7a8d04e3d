"""Generated writers of documents give the bytes that the plain way gives, for every value, and know their limits."""

from __future__ import annotations

import datetime
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npser
from npser import encoder
from npser.blocks.sink import Sink
from npser.shapes import documents
from npser.shapes.document import Document, MisfitError
from npser.shapes.documentcode import document_of
from npser.shapes.documents import LEARNED_AFTER, MAX_DOCUMENTS, MAX_VARIANTS, Documents
from npser.shapes.infer import write_shape
from npser.shapes.writer import ShapeWriter
from same import difference
from strategies import values


def plain(value: dict[str, Any]) -> bytes:
    w = ShapeWriter(Sink(), None, preserve=False)
    write_shape(w, value)
    return encoder._finish(w)


def generated(document: Document, value: dict[str, Any]) -> bytes | None:
    parts = document.take(value)
    if parts is None:
        return None
    w = ShapeWriter(Sink(), None, preserve=False)
    try:
        document.write(w, parts)
    except MisfitError:
        return None
    return encoder._finish(w)


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-300, 70_000),
    st.floats(allow_nan=False),
    st.text(max_size=6),
    st.binary(max_size=3),
    st.just(datetime.date(2020, 1, 2)),
)
NESTED = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text("abc", max_size=2), inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.integers(0, 3), inner, max_size=2),
    ),
    max_leaves=12,
)
DICTS = st.dictionaries(st.text("abcdef", min_size=1, max_size=2), NESTED, min_size=1, max_size=6)


def replaced(value: Any, leaves: list[Any], draw: random.Random) -> Any:
    """The same dicts within dicts with other leaves."""
    if type(value) is dict:
        return {key: replaced(item, leaves, draw) for key, item in value.items()}
    return draw.choice(leaves)


@settings(max_examples=150, deadline=None)
@given(DICTS, st.lists(NESTED, min_size=1, max_size=5), st.integers(0, 9))
def test_same_bytes_whichever_way(value: dict[str, Any], others: list[Any], seed: int) -> None:
    document = document_of(value)
    assert document is not None
    assert generated(document, value) == plain(value)
    for other in (replaced(value, others, random.Random(seed)), replaced(value, [None, 1, "x"], random.Random(seed))):
        written = generated(document, other)
        assert written is None or written == plain(other)


@settings(max_examples=60, deadline=None)
@given(values)
def test_dumps_gives_the_same_bytes_from_the_first_time_to_the_last(value: Any) -> None:
    value = {"value": value, "id": 7}
    try:
        first = npser.dumps(value)
    except npser.EncodeError:
        return
    assert {npser.dumps(value) for _ in range(LEARNED_AFTER + 2)} == {first}


def test_leaves_may_change_their_types() -> None:
    document = document_of({"a": 1, "b": {"c": "x", "d": None}, "e": True})
    assert document is not None
    for value in (
        {"a": None, "b": {"c": 1.5, "d": "y"}, "e": 3},
        {"a": 2**80, "b": {"c": b"x", "d": datetime.date(2020, 1, 1)}, "e": "\ud800"},
        {"a": -(2**63), "b": {"c": 2**63 - 1, "d": -(2**15)}, "e": 2**31},
        {"a": np.int64(3), "b": {"c": 1j, "d": ...}, "e": range(3)},
    ):
        assert generated(document, value) == plain(value)


class Text(str):
    """A subclass of str, which is no key of a table."""


@pytest.mark.parametrize(
    "other",
    [
        {"a": 1, "b": {"c": 2}, "z": 3},
        {"b": {"c": 2}, "a": 1},
        {"a": 1, "b": {"c": 2, "d": 3}},
        {"a": 1, "b": {}},
        {"a": 1, "b": None},
        {"a": 1, "b": [("c", 2)]},
        {"a": 1, Text("b"): {"c": 2}},
        {"a": 1, "b": {Text("c"): 2}},
        {"a": 1, "b": type("Dict", (dict,), {})({"c": 2})},
    ],
)
def test_other_keys_are_not_taken(other: dict[str, Any]) -> None:
    document = document_of({"a": 1, "b": {"c": 2}})
    assert document is not None
    assert document.take(other) is None


def test_many_keys_of_one_type_are_data() -> None:
    row = {f"k{i}": i for i in range(20)} | {"name": "x"}
    document = document_of({"row": row})
    assert document is not None
    uniform = {"row": {**row, "name": 7}}
    assert document.take(uniform) is None
    assert generated(document, {"row": {**row, "name": "y"}}) == plain({"row": {**row, "name": "y"}})
    assert document_of({f"k{i}": i for i in range(20)}) is None


def test_two_values_of_many_say_that_types_differ() -> None:
    row: dict[str, Any] = {f"k{i}": i for i in range(20)} | {"name": "x", "last": None}
    document = document_of({"row": row})
    assert document is not None
    for changed in ({"name": None}, {"k0": None}, {"name": 1}, {"name": 1, "k7": "x"}, {"name": None, "last": 1.5}):
        value = {"row": row | changed}
        written = generated(document, value)
        assert written is None or written == plain(value)
        assert (written is None) == (len({type(item) for item in value["row"].values()} | {type(None)}) < 3)


@pytest.mark.parametrize("keys", range(1, 8))
def test_few_keys_are_looked_up(keys: int) -> None:
    def value(names: str) -> dict[str, Any]:
        return {"first": dict.fromkeys(names, 1), "second": {"x": {"y": dict.fromkeys(names, 2)}}}

    document = document_of(value("abcdefg"[:keys]))
    assert document is not None
    for names in ("abcdefg"[:keys], "abcdefg"[: keys - 1], "abcdefg"[:keys] + "z", "zbcdefg"[:keys]):
        written = generated(document, value(names))
        assert (written is not None) == (names == "abcdefg"[:keys])
        assert written in (None, plain(value(names)))
    moved = value("abcdefg"[:keys])
    moved["second"]["x"]["y"]["z"] = moved["first"].pop("a")
    assert generated(document, moved) is None


@pytest.mark.parametrize("child", [(), [], {}, [1, "x"], {1: 2}, {1, 2}, np.zeros(2)])
def test_documents_without_a_leaf(child: Any) -> None:
    value = {"child": child}
    assert {npser.dumps(value) for _ in range(LEARNED_AFTER + 2)} == {plain(value)}


@pytest.mark.parametrize("deep", [lambda value: {"a": value}, lambda value: (value,), lambda value: {"a": (value, 1)}])
def test_the_limit_of_depth_holds_for_documents(deep: Any) -> None:
    for containers in (510, 511, 512, 513, 514):
        value: Any = 1
        while containers > 0:
            value = deep(value)
            containers -= 2 if type(value) is dict and type(value["a"]) is tuple else 1
        met = set()
        for _ in range(LEARNED_AFTER + 2):
            try:
                met.add(len(npser.dumps(value)))
            except npser.EncodeError as error:
                met.add(str(error)[:30])
        assert len(met) == 1
        assert (type(met.pop()) is int) == (_depth(value) <= 512)


def _depth(value: Any) -> int:
    depth = 0
    while type(value) in (dict, tuple):
        value = value["a"] if type(value) is dict else value[0]
        depth += 1
    return depth


@pytest.mark.parametrize(
    "value",
    [
        ("a", 1),
        (None,),
        ("key", {"a": 1, "b": ("x", 2.5, [1, 2])}, ()),
        (1, (2, (3, ("x", {"a": ()})))),
        tuple(range(16)),
        tuple(range(17)),
        ([1, 2], {1: 2}, {"a": [{"b": 1}, {"b": 2}]}),
        ((), [], {}),
        (datetime.date(2020, 1, 2), b"x", 2**70),
    ],
    ids=repr,
)
def test_tuples_are_documents(value: tuple[Any, ...]) -> None:
    w = ShapeWriter(Sink(), None, preserve=False)
    write_shape(w, value)
    expected = encoder._finish(w)
    assert {npser.dumps(value) for _ in range(LEARNED_AFTER + 2)} == {expected}
    assert difference(value, npser.loads(expected)) is None
    inside = {"value": value, "x": 1}
    assert {npser.dumps(inside) for _ in range(LEARNED_AFTER + 2)} == {plain(inside)}


def test_another_container_in_the_place_of_a_tuple() -> None:
    value = {"a": (1, 2), "b": "x"}
    document = document_of(value)
    assert document is not None
    pair = type("Pair", (tuple,), {})
    for other in ((1, 2, 3), (), [1, 2], {"x": 1}, "xy", None, pair((1, 2)), range(2)):
        assert document.take({"a": other, "b": "x"}) is None
    assert generated(document, {"a": ("y", None), "b": 2}) == plain({"a": ("y", None), "b": 2})


@dataclass
class Address:
    street: str
    zip: int | None = None


@dataclass(slots=True)
class Person:
    id: int
    name: Any
    home: Any = None
    tags: Any = None


HOME = Address("Main street", 12345)


@pytest.mark.parametrize(
    "value",
    [
        HOME,
        Person(1, "Ada"),
        Person(1, "Ada", HOME, ["new", "red"]),
        Person(1, "Ada", HOME, [HOME]),
        Person(1, "Ada", HOME, [1, HOME]),
        Person(1, HOME, HOME),
        Person(1, Address("a"), Address("a")),
        Person(1, {"a": HOME, "b": (HOME,)}, Address("b"), []),
        Person(1, {1: HOME}, HOME),
        Person(1, Person(2, Person(3, "deep", HOME), Address("x")), (Address("y"), {"z": Address("z")})),
        {"user": HOME, "x": 1},
        {"user": HOME, "again": HOME},
        {"user": HOME, "rows": [{"a": 1}, {"a": 2}]},
        {"user": HOME, "rows": [HOME, Address("b")]},
        {"rows": [HOME, Address("b")], "user": HOME},
        (HOME, Person(1, "x")),
    ],
    ids=repr,
)
def test_objects_are_documents(value: Any) -> None:
    w = ShapeWriter(Sink(), None, preserve=False)
    write_shape(w, value)
    expected = encoder._finish(w)
    assert {npser.dumps(value) for _ in range(LEARNED_AFTER + 2)} == {expected}
    assert difference(value, npser.loads(expected, classes=(Address, Person))) is None


def test_an_object_that_is_met_again_is_one_object() -> None:
    apart = {"a": Address("x"), "b": Address("x"), "c": "text"}
    for _ in range(LEARNED_AFTER + 1):
        npser.dumps(apart)
    shared = {"a": HOME, "b": HOME, "c": "text"}
    back = npser.loads(npser.dumps(shared), classes=(Address,))
    assert back["a"] is back["b"]
    for other in (HOME, [HOME], (HOME,), [1, HOME], {"x": HOME}):
        value = {"a": HOME, "b": Address("x"), "c": other}
        assert difference(value, npser.loads(npser.dumps(value), classes=(Address,))) is None


def test_fields_that_are_not_there() -> None:
    document = document_of(Person(1, "Ada"))
    assert document is not None
    half = Person(1, "Ada")
    del half.name
    for other in (half, HOME, {"id": 1}, None, type("Other", (Person,), {})(1, "x")):
        assert document.take(other) is None
    for _ in range(LEARNED_AFTER + 2):
        npser.dumps(Person(1, "Ada"))
    back = npser.loads(npser.dumps(half), classes=(Person,))
    assert back.id == 1 and not hasattr(back, "name")


def test_what_is_declared_later_holds_for_documents() -> None:
    @dataclass
    class Later:
        x: int
        y: str

    value = Later(1, "a")
    for _ in range(LEARNED_AFTER + 2):
        npser.dumps(value)
    npser.register(Later, name="shop.Later", version=3)
    try:
        data = npser.dumps(value)
        assert b"shop.Later" in data
        assert data == npser.dumps(value)
        assert difference(value, npser.loads(data)) is None
    finally:
        npser.types.registry.unregister(Later)
    assert b"shop.Later" not in npser.dumps(value)


def test_two_classes_of_one_name_are_refused_by_documents() -> None:
    other = dataclass(type("Address", (), {"__annotations__": {"street": str}, "__module__": Address.__module__}))
    other.__qualname__ = Address.__qualname__
    value = {"a": HOME, "b": other("x")}
    for _ in range(LEARNED_AFTER + 2):
        with pytest.raises(npser.EncodeError, match="two classes of one name"):
            npser.dumps(value)


def test_classes_are_not_kept_for_ever() -> None:
    import gc
    import weakref

    def use() -> weakref.ref[type]:
        made = dataclass(type("Made", (), {"__annotations__": {"x": int}}))
        for _ in range(LEARNED_AFTER + 2):
            npser.dumps(made(1))
        return weakref.ref(made)

    gone = use()
    documents.DOCUMENTS.clear()
    gc.collect()
    assert gone() is None


def test_key_sets_that_come_again() -> None:
    value = {"a": {}, "b": {}, "c": [1], "d": {}, "e": {"x": {}}, "f": {"x": 1}, "g": [{"x": 1}, {"x": 2}], "h": {"x": 1}}
    document = document_of(value)
    assert document is not None
    assert generated(document, value) == plain(value)
    assert generated(document, value) == plain(value)


def test_keys_that_are_no_plain_text() -> None:
    value = {"\ud800": {"'\"\\\n": 1, "k" * 1000: 2}, "{x}": {"a": {"": None}}}
    document = document_of(value)
    assert document is not None
    assert generated(document, value) == plain(value)


@pytest.mark.parametrize("other", [[], {}, (), np.zeros(3), {1}, slice(1)])
def test_a_container_in_the_place_of_a_leaf_is_not_taken(other: Any) -> None:
    value = {"a": 1, "b": {"c": 2}}
    document = document_of(value)
    assert document is not None
    assert generated(document, {"a": other, "b": {"c": 2}}) is None
    for _ in range(LEARNED_AFTER + 2):
        npser.dumps(value)
    back = npser.loads(npser.dumps({"a": other, "b": {"c": 2}}))
    assert difference({"a": other, "b": {"c": 2}}, back) is None


def test_children_keep_their_errors_and_paths() -> None:
    value = {"a": 1, "rows": [{"x": 1}, {"x": 2}]}
    for _ in range(LEARNED_AFTER + 1):
        npser.dumps(value)
    with pytest.raises(npser.EncodeError) as caught:
        npser.dumps({"a": 1, "rows": [{"x": 1}, {"x": object()}]})
    assert caught.value.path == "$['rows'][1]['x']"
    with pytest.raises(npser.EncodeError) as caught:
        npser.dumps({"a": object(), "rows": []})
    assert caught.value.path == "$['a']"


def test_default_and_preserve_are_asked_as_ever() -> None:
    shared = [1]
    value = {"a": shared, "b": {"c": shared}}
    for _ in range(LEARNED_AFTER + 1):
        npser.dumps(value)
    back = npser.loads(npser.dumps(value, identity="preserve"))
    assert back["a"] is back["b"]["c"]
    assert npser.loads(npser.dumps({"a": object(), "b": {"c": 1}}, default=lambda _: "it"))["a"] == "it"


def test_a_cycle_is_refused() -> None:
    def deep(inner: Any) -> dict[str, Any]:
        value: dict[str, Any] = {"at": inner}
        for _ in range(30):
            value = {"next": value}
        return value

    for _ in range(LEARNED_AFTER + 1):
        npser.dumps(deep([1, [2]]))
    loop: list[Any] = [1]
    loop.append(loop)
    with pytest.raises(npser.EncodeError, match="holds itself"):
        npser.dumps(deep(loop))


def test_what_is_learned_is_bounded() -> None:
    known = Documents()
    for variant in range(MAX_VARIANTS + 3):
        for _ in range(LEARNED_AFTER):
            list(known.fitting({"a": {f"b{variant}": 1}}))
    assert len(known) == MAX_VARIANTS
    for root in range(3 * MAX_DOCUMENTS):
        for _ in range(LEARNED_AFTER):
            list(known.fitting({f"r{root}": 1}))
        assert len(known) <= MAX_DOCUMENTS
    known.clear()
    assert len(known) == 0


def test_values_that_are_met_once_are_never_compiled() -> None:
    known = Documents()
    for index in range(2000):
        assert list(known.fitting({f"a{index}": 1})) == []
    assert len(known) == 0


def test_round_trip_of_a_document() -> None:
    value = {"a": [1, 2], "b": {"c": [], "d": [{"e": 1}, {"e": 2}], "f": ()}, "g": [1, "x"], "h": {}}
    for _ in range(LEARNED_AFTER + 2):
        assert difference(value, npser.loads(npser.dumps(value))) is None


@pytest.mark.parametrize("other", [[], [3], ["x"] * 300, [{"e": 1}], [1, "x"], [[1], [2]], None, 7, "text", (), {}, [set()]])
def test_a_list_may_become_another_one_or_a_leaf(other: Any) -> None:
    value = {"a": "x", "b": [1, 2], "c": {"d": [{"e": 1}, {"e": 2}]}, "f": 1.5}
    document = document_of(value)
    assert document is not None
    assert generated(document, value) == plain(value)
    for changed in (value | {"b": other}, value | {"c": {"d": other}}, value | {"b": other, "c": {"d": other}}):
        written = generated(document, changed)
        assert written in (None, plain(changed))
        assert (written is None) == (other in ([1, "x"], (), {}, [set()]))


def test_a_list_that_grows_meanwhile_is_not_written_half() -> None:
    value: dict[str, Any] = {"a": "x", "b": [1, 2]}
    document = document_of(value)
    assert document is not None
    parts = document.take(value)
    assert parts is not None
    value["b"].append(3)
    with pytest.raises(MisfitError):
        document.write(ShapeWriter(Sink(), None, preserve=False), parts)


@pytest.mark.parametrize(
    "leaf", [None, True, 0, -1, 300, 2**40, 2**70, 1.5, "text", "\ud800", b"bytes", datetime.date(2020, 1, 2), np.int8(3)]
)
@pytest.mark.parametrize("others", [0, 20])
def test_documents_of_leaves_alone(leaf: Any, others: int) -> None:
    value = {"leaf": leaf, "same": leaf, "x": "y"} | {"more": {f"k{i}": (i, "t", None)[i % 3] for i in range(others)}}
    assert {npser.dumps(value) for _ in range(LEARNED_AFTER + 2)} == {plain(value)}
    assert difference(value, npser.loads(npser.dumps(value))) is None
