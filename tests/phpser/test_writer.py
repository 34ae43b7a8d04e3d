"""What is written is what the extension writes, and what PHP cannot hold is refused."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import fractions
import hashlib
import threading
import types
from typing import Any

import numpy as np
import pytest

from npser.errors import EncodeError
from npser.phpser import SerializedPlaceholder, SlotsPlaceholder, read, write
from npser.types.allow import NO_CLASSES, Allow
from npser.types.placeholder import Placeholder
from phpser.stand_ins import (
    CLASSES,
    BadSer,
    Dyn,
    Magic,
    MagicList,
    Node,
    Open,
    Plain,
    Point,
    Sleepy,
    Suit,
    Uninit,
    Untyped,
    Vis,
    VisChild,
    Wake,
    dto_mixed,
    dto_users,
    rowset,
)
from phpser.vectors import VECTORS, frame, title, value_of, version_of
from same import same

ALLOW = Allow(CLASSES)

PLAIN = [vector for vector in VECTORS if vector.get("json_suffices")]


def loads(data: bytes, allow: Allow = ALLOW, **options: Any) -> Any:
    return read(memoryview(data), allow=allow, **options)


def vector_named(name: str, version: int = 2) -> bytes:
    (found,) = [v for v in VECTORS if v["name"] == name and (v["build"] == "v1gate") == (version == 1)]
    return frame(found)


@pytest.mark.parametrize("vector", PLAIN, ids=title)
def test_plain_data_is_written_byte_for_byte(vector: dict[str, Any]) -> None:
    assert write(value_of(vector), version=version_of(vector)).hex() == frame(vector).hex()


def test_the_vectors_are_there() -> None:
    assert len(PLAIN) == 138


def test_the_affine_budget_is_one_for_the_payload() -> None:
    value = [list(range(1 << 20)), list(range(4)), [1000, 1001, 1002, 1003]]
    (two, one) = [v for v in VECTORS if v["name"] == "affine_budget_exhausted"]
    assert write(value).hex() == two["hex"]
    assert hashlib.sha256(write(value, version=1)).hexdigest() == one["sha256"]
    (over,) = [v for v in VECTORS if v["name"] == "affine_over_budget_single"]
    assert hashlib.sha256(write([[7] * ((1 << 20) + 1)])).hexdigest() == over["sha256"]


NAN = float("nan")


def _uninit() -> Any:
    thing = Uninit()
    thing.b, thing.c = None, 7
    return thing


def _dyn() -> Any:
    thing = Dyn()
    thing.dyn = "v"  # type: ignore[attr-defined]
    return thing


def _loop(thing: Any, attribute: str) -> Any:
    setattr(thing, attribute, thing)
    return thing


def _two() -> Node:
    first = Node("a")
    first.next = Node("b", first)
    return first


def _deep() -> Any:
    shared = Node("shared")
    return {"x": {"y": shared}, "z": [1, shared], "w": Node("n", shared)}


P = Point(9, 9)
M = Magic(1)
NAMESPACE = types.SimpleNamespace(a=1)
OBJECTS: dict[str, Any] = {
    "str_invalid_utf8": b"\xff\xfe\x80",
    "doubles_nonfinite": [NAN, float("inf"), -float("inf"), 1.0],
    "assoc_int_keys": {1: "a", 2: "b"},
    "assoc_mixed_keys": {"a": 1, 5: 2, -3: 3, "b": 4, 0: 5},
    "rows_int_key": [{"a": 1, 7: 2}, {"a": 3, 7: 4}],
    "hash_that_is_a_list": {0: "p", 1: "q"},
    "table_objects": [{"o": Point(1, 2)}, {"o": Point(3, 4)}],
    "std_props": types.SimpleNamespace(x=1, y="q"),
    "typed_point": Point(1, -2),
    "untyped": Untyped(),
    "visibility": Vis(),
    "visibility_child": VisChild(),
    "uninit_typed": _uninit(),
    "dynamic_prop": _dyn(),
    "point_list_3": [Point(1, 2), Point(3, 4), Point(5, 6)],
    "node_pair": Node("a", Node("b")),
    "class_name_as_value": [Point(1, 2), "Point", "x", "Point"],
    "prop_name_as_key": [types.SimpleNamespace(x=1), {"x": 2}],
    "value_in_prop_repeat": [Node("v", "v"), Node("v", "w")],
    "dto_users_1": dto_users(1),
    "dto_users_2": dto_users(2),
    "dto_users_3": dto_users(3),
    "dto_users_100": dto_users(100),
    "dto_mixed_1": dto_mixed(1),
    "dto_mixed_3": dto_mixed(3),
    "dto_mixed_100": dto_mixed(100),
    "rowset_100": rowset(100),
    "wakeup_only": Wake(),
    "magic": Magic("d"),
    "magic_nested": Magic(Magic([1, 2])),
    "magic_list": MagicList(),
    "magic_pair": [Magic("a"), Magic("a")],
    "magic_shared": [M, M, Point(0, 0)],
    "magic_cycle": _loop(Magic(), "d"),
    "enum_backed": Suit.Hearts,
    "enum_plain": Plain.B,
    "enum_in_rows": [{"s": Suit.Hearts}, {"s": Suit.Hearts}],
    "enum_case_name_as_value": ["Hearts", Suit.Hearts],
    "shared_obj": [Q := Point(1, 2), Q],
    "shared_std": [NAMESPACE, NAMESPACE, NAMESPACE],
    "shared_after_others": [Point(1, 1), P, Point(2, 2), P],
    "cycle_self": _loop(Node("s"), "next"),
    "cycle_two": _two(),
    "cycle_std": _loop(types.SimpleNamespace(), "me"),
    "shared_deep": _deep(),
}


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS if v["name"] in OBJECTS and "hex" in v], ids=title
)
def test_objects_are_written_byte_for_byte(vector: dict[str, Any]) -> None:
    assert write(OBJECTS[vector["name"]], version=version_of(vector)).hex() == frame(vector).hex()


def test_there_are_vectors_of_objects() -> None:
    assert {v["name"] for v in VECTORS} >= set(OBJECTS)


@pytest.mark.parametrize(
    "vector",
    [v for v in VECTORS if v["hex"] and not v.get("reject") and not v.get("decode_only") and "obj" in str(v.get("tree"))],
    ids=title,
)
def test_placeholders_are_written_as_what_they_stand_for(vector: dict[str, Any]) -> None:
    value = loads(frame(vector), NO_CLASSES)
    if vector["name"].startswith("serializable"):
        assert loads(frame(vector), Allow(CLASSES)) != value
        value = loads(frame(vector))
    if vector["name"] in ("ref_to_object", "ref_in_props", "refs_and_objects_interleaved"):
        return  # a reference to a scalar or an object is nothing in Python
    if vector["name"] in ("dto_users_100", "dto_mixed_100") or vector.get("tree"):
        assert write(value, version=version_of(vector)).hex() == frame(vector).hex()


def test_slots_placeholders_need_wire_2() -> None:
    with pytest.raises(EncodeError, match="wire 1 names properties"):
        write([SlotsPlaceholder("Point", [1])], version=1)


# The rules, past the vectors


@pytest.mark.parametrize(
    ("value", "payload"),
    [
        ([[1, 2, 3], [1, 2, 3, 4]], "020007020803020406" + "17040202"),
        ([{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}], "020101611504010008" + "02040608"),  # a tie, and never AFFINE
        ([{"a": 5}] * 4, "020101611504010008" + "0a0a0a0a"),
        ([{"a": 100}] * 4, "0201016115040100" + "16c801000000"),
        ([{}, {}], "01000702" + "06000600"),
        ([{"a": 1}], "01000701" + "060102016103" + "02"),
        ({}, "01000600"),
        ({"5": 1}, "01000601" + "000a" + "0302"),
        ({"": ""}, "0101000601" + "0200" + "0500"),
        ([True, False], "01000702" + "0201"),
        ("é", "01000c02c3a9"),
        ([b"\xc3\xa9", "é"], "010102c3a907020c02c3a90500"),
        (types.SimpleNamespace(), "020108" + b"stdClass".hex() + "120000"),
        (Open(), "020104" + b"Open".hex() + "120000"),
    ],
)
def test_rules(value: Any, payload: str) -> None:
    assert write(value).hex() == payload


def test_a_column_of_eight_strings_enters_the_dictionary_and_one_of_nine_does_not() -> None:
    eight = write([{"a": str(i % 8)} for i in range(9)])
    assert eight[1] == 9 and eight.endswith(bytes((0x0B, *range(1, 9), 1)))
    nine = write([{"a": str(i % 9)} for i in range(10)])
    assert nine[1] == 2 and nine.endswith(bytes((0x0C, 1, ord("8"), 0x05, 1)))
    two = write([{"a": "p"}, {"a": "q"}])  # not fewer than rows
    assert two[1] == 1


def test_wire_1_has_no_tags_of_wire_2() -> None:
    for vector in PLAIN:
        data = write(value_of(vector), version=1)
        assert data[0] == 1
        assert same(loads(data), value_of(vector))


def test_lists_are_read_as_they_stand_when_written() -> None:
    for n in (0, 1, 3, 4, 23, 24, 25, 40, 41, 127, 128, 129, 1000, 20000):
        for value in (
            list(range(n)),
            [i * i * i for i in range(n)],
            [(-1) ** i * (1 << i % 63) for i in range(n)],
            [i / 3 for i in range(n)],
            [f"s{i}" for i in range(n)],
            [f"s{i % 7}" for i in range(n)],
            ["x" * (i % 300) for i in range(n)],
            [None if i % 3 else True for i in range(n)],
            [{"a": i, "b": f"{i}", "c": [f"{i % 5}"] * 3, "d": None if i % 2 else 0.5} for i in range(n)],
            {f"k{i}": i for i in range(n)},
            {i: f"{i % 3}" for i in range(n)} if n else [],
        ):
            for version in (1, 2):
                wanted = value if value else []
                assert same(loads(write(value, version=version)), wanted)  # type: ignore[arg-type]


def test_bytes_come_back_as_what_their_bytes_are() -> None:
    value = [b"abc", b"\xff", "abc"]
    assert loads(write(value)) == ["abc", b"\xff", "abc"]
    assert loads(write(value), strings="bytes") == [b"abc", b"\xff", b"abc"]
    assert loads(write({b"\xff": 1})) == {b"\xff": 1}


# Sharing


def test_lists_that_hold_themselves_are_references() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    assert write(loop).hex() == "0100" + "11" + "0702" + "0302" + "1000"
    found = loads(write(loop))
    assert found[0] == 1 and found[1] is found
    ring: dict[str, Any] = {"a": [{}]}
    ring["a"][0]["back"] = ring["a"]
    found = loads(write([ring, ring["a"]]))
    assert found[0]["a"] is found[0]["a"][0]["back"]
    rows: list[Any] = [{"r": 1}, {"r": 2}]
    rows[1]["r"] = rows
    found = loads(write(rows))
    assert found[1]["r"] is found


def test_a_circle_through_an_object_ends() -> None:
    node = Node("n")
    node.next = [node]
    found = loads(write(node.next))
    assert found[0].next[0] is found[0]


def test_equal_lists_are_values_unless_asked() -> None:
    row = [1, 2]
    assert write([row, row]).hex() == "01000702" + "08020204" * 2
    kept = write([row, row, {"k": row}], identity="preserve")
    first, second, third = loads(kept)
    assert first is second and third["k"] is first
    table = [{"a": 1}, {"a": 2}]
    data = write([table, table[0]], identity="preserve")
    found = loads(data)
    assert found[0][0] is found[1]


def test_placeholders_of_one_enum_case_are_one() -> None:
    cases = [Placeholder("Suit", "enum", "Hearts"), Placeholder("Suit", "enum", "Hearts")]
    assert write(cases).hex() == write([Suit.Hearts, Suit.Hearts]).hex()


# Refusals


class Word(str):
    pass


class Count(int):
    pass


Pair = collections.namedtuple("Pair", "x y")


class Bits(enum.Flag):
    A = 1
    B = 2


REFUSED: list[tuple[Any, str, str]] = [
    ((1, 2), "$", "builtins.tuple for PHP: it would come back as a list"),
    ({"a": [1, {2}]}, "$['a'][1]", "no sets"),
    ([1, frozenset()], "$[1]", "no sets"),
    ([1 << 63], "$[0]", "64 bits"),
    ([1, -(1 << 63) - 1], "$[1]", "64 bits"),
    ([None, 1 << 64], "$[1]", "64 bits"),
    (1 << 63, "$", "64 bits"),
    ([{"a": 1, "b": 2}, {"a": 1, "b": 1 << 63}], "$[1]['b']", "64 bits"),
    ({"a": {"b": "\ud800"}}, "$['a']['b']", "surrogate"),
    (["x"] * 20 + ["\udfff"], "$[20]", "surrogate"),
    ([{"a": "ok"}, {"a": "\ud800"}], "$[1]['a']", "surrogate"),
    ({"\ud800": 1}, "$.keys()['\\ud800']", "surrogate"),
    ({None: 1}, "$.keys()[None]", "NoneType"),
    ({True: 1}, "$.keys()[True]", "bool"),
    ({1.5: 1}, "$.keys()[1.5]", "float"),
    ({(1,): 1}, "$.keys()[<tuple>]", "tuple"),
    ({b"a": 1}, "$.keys()[b'a']", "same key as the str"),
    ([{"a": {1 << 63: 1}}], "$[0]['a'].keys()[9223372036854775808]", "64 bits"),
    ({5: 1, "5": 2}, "$.keys()['5']", "same key in PHP"),
    ([{"a": 1}, {b"a": 1}], "$[1].keys()[b'a']", "same key"),
    (bytearray(b"x"), "$", "bytearray"),
    (Pair(1, 2), "$", "Pair"),
    (Word("x"), "$", "Word"),
    ([Count(1)], "$[0]", "Count"),
    (collections.OrderedDict(a=1), "$", "OrderedDict"),
    (collections.defaultdict(int), "$", "defaultdict"),
    (fractions.Fraction(1), "$", "Fraction"),
    (1j, "$", "complex"),
    (datetime.date(2026, 1, 1), "$", "date"),
    (np.arange(3), "$", "ndarray"),
    (np.float64(1.5), "$", "float64"),
    (object(), "$", "object"),
    (print, "$", "builtin_function"),
    (Bits.A | Bits.B, "$", "no flags"),
    (BadSer(), "$", r"BadSer.__getstate__\(\) gave int"),
    ([Node("a", (1,))], "$[0].next", "tuple"),
    ([Magic((1,))], "$[0].__getstate__()['d']", "tuple"),
    (types.SimpleNamespace(a=types.SimpleNamespace(b={1})), "$.a.b", "no sets"),
    (Placeholder("a:B", "object", {}), "$", "no name of a PHP class"),
    (Placeholder("B", "named tuple", {}), "$", "named tuple"),
    ({i << 20: i for i in range(65)}, "$", "64 keys"),
]


@pytest.mark.parametrize(("value", "path", "message"), REFUSED, ids=[str(at) for at in range(len(REFUSED))])
def test_what_php_cannot_hold(value: Any, path: str, message: str) -> None:
    for version in (1, 2):
        with pytest.raises(EncodeError, match=message) as caught:
            write(value, version=version)  # type: ignore[arg-type]
        assert caught.value.path == path


def test_two_classes_of_one_name() -> None:
    other = dataclasses.make_dataclass("Point", ["x"])
    with pytest.raises(EncodeError, match="both Point in PHP") as caught:
        write([Point(1, 2), other(1)])
    assert caught.value.path == "$[1]"
    assert write([Point(1, 2), other(1)], allow=Allow({"Other": other})).count(b"Other") == 1


def test_names_of_classes() -> None:
    class Cart:
        __php_name__ = "App\\Cart"

    assert b"App\\Cart" in write(Cart())
    assert b"Shop\\Cart" in write(Cart(), allow=Allow({"Shop\\Cart": Cart}))

    class Odd:
        __php_name__ = "no name"

    with pytest.raises(EncodeError, match="no name of a PHP class"):
        write(Odd())


def nested(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = [leaf]
    return leaf


def test_depth() -> None:
    assert write(nested(511, "x")) == vector_named("nest_list_511_str")
    assert write(nested(511, [])) == vector_named("nest_list_512_empty")
    assert write(nested(512, 7)) == vector_named("nest_list_512_typed_run")
    for too_deep in (nested(513, 7), nested(512, "x"), nested(512, []), nested(512, None), nested(512, {"a": 1})):
        with pytest.raises(EncodeError, match="512 deep") as caught:
            write(too_deep)
        assert caught.value.path is not None and caught.value.path.startswith("$[0][0]")


def test_no_recursion_on_a_small_stack() -> None:
    outcomes: list[Any] = []

    def run() -> None:
        loop: list[Any] = []
        loop.append(loop)
        outcomes.append(len(write(nested(511, "x"))))
        outcomes.append(len(write(loop)))
        try:
            write(nested(100_000, 1))
        except EncodeError:
            outcomes.append("refused")

    before = threading.stack_size(128 << 10)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert outcomes == [1027, 7, "refused"]


# default=


def test_default_lowers() -> None:
    assert loads(write({"a": (1, 2), "b": {3}}, default=list)) == {"a": [1, 2], "b": [3]}
    assert loads(write([1, 1 << 70, 2], default=str)) == [1, str(1 << 70), 2]
    assert loads(write((1, 2, 3, 4), default=list)) == [1, 2, 3, 4]
    assert write((1, 2, 3, 4), default=list) == write([1, 2, 3, 4])
    rows = [{"at": datetime.date(2026, 1, day), "n": day} for day in (1, 2)]
    assert loads(write(rows, default=str)) == [{"at": f"2026-01-0{day}", "n": day} for day in (1, 2)]
    assert loads(write({None: 1, (1, 2): 2}, default=str)) == {"None": 1, "(1, 2)": 2}
    assert loads(write(["\ud800"], default=lambda text: text.encode("utf-8", "surrogatepass"))) == [b"\xed\xa0\x80"]
    assert loads(write(Node(np.float64(1.5), np.int64(3)), default=lambda x: x.item())) == Node(1.5, 3)
    assert loads(write([Magic({1})], default=list))[0].d == [1]


def test_default_is_not_called_for_what_php_can_hold() -> None:
    def never(value: Any) -> Any:
        raise AssertionError(value)

    for vector in PLAIN[:60]:
        write(value_of(vector), default=never)
    write(dto_mixed(3), default=never)


def test_default_that_does_not_help() -> None:
    with pytest.raises(EncodeError, match="no substitute") as caught:
        write([1, (2,)], default=lambda value: value)
    assert caught.value.path == "$[1]"
    with pytest.raises(EncodeError, match="same key") as caught:
        write({None: 1, "None": 2}, default=str)
    with pytest.raises(EncodeError, match="no substitute") as caught:
        write([{"a": {1}}], default=lambda value: ((1,),) if type(value) is set else value)


def test_default_that_goes_round() -> None:
    ring: list[Any] = [(1,)]
    with pytest.raises(EncodeError, match="holds itself"):
        write([(1,)], default=lambda value: ring)
    with pytest.raises(EncodeError, match="512 deep"):
        write([(1,)], default=lambda value: [(1,)])


def test_paths_through_substitutes() -> None:
    with pytest.raises(EncodeError) as caught:
        write({"a": [0, (1, object())]}, default=lambda value: list(value) if type(value) is tuple else value)
    assert caught.value.path == "$['a'][1][1]"


def test_serialized_objects_are_written_back() -> None:
    thing = SerializedPlaceholder("Legacy", b"L:abc")
    assert write(thing) == vector_named("serializable_legacy")


def test_state_of_sleepy_classes_is_just_their_fields() -> None:
    assert loads(write(Sleepy("a", "b", 3))) == Sleepy("a", "b", 3)
    assert loads(write(Sleepy("a", "b", 3), version=1)) == Sleepy("a", "b", 3)
    assert b"\0*\0prot" in write(Sleepy(), version=1)
