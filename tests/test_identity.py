"""What is one object stays one object; what holds itself comes back so, or is refused with a reason."""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, NamedTuple

import numpy as np
import pytest

import npser
from guard import fenced
from npser.errors import EncodeError
from same import difference
from values import CLASSES, Box, Frozen, Plain, Point, Stateful


def back(value: Any, **options: Any) -> Any:
    return npser.loads(npser.dumps(value, **options), classes=(*CLASSES, Node, Key, Defaulted, Friend))


def preserved(value: Any) -> Any:
    found = back(value, identity="preserve")
    assert difference(value, found) is None
    return found


@dataclasses.dataclass
class Node:
    name: str
    next: Any = None
    others: list[Any] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Key:
    x: int


@dataclasses.dataclass(frozen=True)
class Defaulted:
    """Before its field is set it has the hash of its default."""

    x: int = 0


@dataclasses.dataclass(eq=False)
class Friend:
    """Hashed by identity, so it may be in a set before it is complete."""

    name: str
    friends: set[Any] = dataclasses.field(default_factory=set)


# -------------------------------------------------------------------------------------------------------------- objects


def test_an_object_met_twice_is_one_object_again() -> None:
    box = Box([1])
    found = back([box, box, {"a": box}, (box, [box])])
    assert type(found[0]) is Box
    assert all(other is found[0] for other in (found[1], found[2]["a"], found[3][0], found[3][1][0]))


def test_equal_objects_stay_two() -> None:
    found = back([Box(1), Box(1)])
    assert found[0] is not found[1]


def test_objects_that_refer_to_each_other() -> None:
    a, b = Node("a"), Node("b")
    a.next, b.next = b, a
    a.others = [a, b, a]
    found = back({"x": [a], "y": b})
    first = found["x"][0]
    assert first.next is found["y"]
    assert first.next.next is first
    assert [other is first for other in first.others] == [True, False, True]


def test_a_long_ring() -> None:
    nodes = [Node(str(i)) for i in range(1000)]
    for i, node in enumerate(nodes):
        node.next = nodes[(i + 1) % 1000]
    found = back(nodes)
    assert all(node.next is found[(i + 1) % 1000] for i, node in enumerate(found))


def test_a_chain_that_is_too_deep_is_refused() -> None:
    head = None
    for i in range(600):
        head = Node(str(i), head)
    with pytest.raises(EncodeError, match="512"):
        npser.dumps(head)


@pytest.mark.parametrize("make", [lambda: Plain(a=1), lambda: Stateful([1]), lambda: Friend("x"), lambda: Box(None)])
def test_objects_of_every_form_are_shared(make: Any) -> None:
    one, two = make(), make()
    found = back([one, two, one, {"k": [two, one]}])
    assert found[2] is found[0]
    assert found[3]["k"][0] is found[1]
    assert found[3]["k"][1] is found[0]


def test_placeholders_are_shared() -> None:
    box = Box(1)
    found = npser.loads(npser.dumps([box, [box]]))
    assert found[1][0] is found[0]


# --------------------------------------------------------------------------------- objects that are keys, met before


def test_a_key_that_was_met_before_is_found_under_its_hash() -> None:
    for cls in (Key, Defaulted):
        key = cls(5)
        for value in ([key, {key: 1}], [[key], {"a": {key: 1, "b": 2}}], (key, [{key: [key]}]), {"k": key, "d": {key: 1}}):
            found = back(value)
            assert difference(value, found) is None
    listed, looked_up = back([Defaulted(5), None]), Defaulted(5)
    assert listed[0] == looked_up


def test_a_member_of_a_set_that_was_met_before_is_found_under_its_hash() -> None:
    for cls in (Key, Defaulted):
        key, other = cls(5), cls(6)
        for value in ([key, {key}], [key, other, {key, other}, frozenset([other])], [key, {(key, other)}, {frozenset([key])}]):
            found = back(value)
            assert difference(value, found) is None


def test_a_batch_whose_objects_are_keys_of_each_other() -> None:
    a, b = Box(1), Key(2)
    boxes = [Box({b: 1}, 0), Box({b: 2}, 1), Box([b], 2), Box(a, 3)]
    assert difference([b, boxes], back([b, boxes])) is None
    assert difference([boxes, b], back([boxes, b])) is None
    assert difference({"x": boxes, "y": [b]}, back({"x": boxes, "y": [b]})) is None


def test_keys_are_one_object_with_what_they_are() -> None:
    key = Key(1)
    found = back([key, {key: key}])
    assert next(iter(found[1])) is found[0]
    assert found[1][found[0]] is found[0]


def test_friends_in_sets() -> None:
    a, b = Friend("a"), Friend("b")
    a.friends, b.friends = {a, b}, {a}
    found_a, found_b = back([a, b])
    assert found_a.friends == {found_a, found_b}
    assert found_b.friends == {found_a}


# --------------------------------------------------------------------------------------------------------------- arrays


def test_an_array_met_twice_is_one_array_again() -> None:
    array = np.arange(10)
    found = back({"a": array, "b": [array, array.copy()], "c": (array,)})
    assert found["b"][0] is found["a"]
    assert found["c"][0] is found["a"]
    assert found["b"][1] is not found["a"]
    found["a"][0] = 99
    assert found["b"][1][0] == 0


def test_two_views_of_one_base_are_two_arrays() -> None:
    base = np.arange(10)
    found = back([base[::2], base[:5], base])
    found[2][:] = 0
    assert difference([base[::2], base[:5]], found[:2]) is None


def test_an_array_of_objects_may_hold_itself() -> None:
    array = np.empty(3, object)
    array[:] = [1, array, [array]]
    found = back(array)
    assert found[1] is found
    assert found[2][0] is found


def test_equal_large_arrays_are_written_once() -> None:
    noise = np.random.default_rng(0).integers(0, 2**62, 1000)
    once, twice = npser.dumps([noise]), npser.dumps([[noise], [noise.copy()], "x"])
    assert len(twice) < len(once) + 100
    found = npser.loads(twice)
    found[0][0][0] = -1
    assert found[1][0][0] == noise[0]


# ----------------------------------------------------------------------------------------------------- plain containers

CONTAINERS: list[Any] = [
    [1],
    {"a": 1},
    {1: 2},
    {1},
    deque([1], 5),
    OrderedDict(a=1),
    defaultdict(list, a=1),
    Counter("ab"),
    [],
    {},
    set(),
    [1, "a", None],
    [[1, "a"], [2, "b"]],
]


@pytest.mark.parametrize("value", CONTAINERS, ids=str)
def test_plain_containers_are_shared_only_if_asked(value: Any) -> None:
    loose = back([value, value])
    assert loose[0] is not loose[1]
    found = preserved([value, {"k": value}, (value,), [value]])
    assert all(other is found[0] for other in (found[1]["k"], found[2][0], found[3][0]))


def test_a_list_that_holds_itself() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    found = preserved(loop)
    assert found[1] is found


def test_containers_of_every_kind_hold_themselves() -> None:
    loops: list[Any] = [[], {}, deque(), OrderedDict(), defaultdict(list), Counter()]
    for loop in loops:
        if isinstance(loop, dict):
            loop["self"] = loop
            loop["in"] = [loop]
            found = preserved(loop)
            assert found["self"] is found
            assert found["in"][0] is found
        else:
            loop += [loop, (loop,), {"a": loop}]
            found = preserved(loop)
            assert found[0] is found
            assert found[1][0] is found
            assert found[2]["a"] is found
    assert difference(loops, preserved(loops)) is None


def test_a_diamond() -> None:
    bottom = {"n": 1}
    left, right = [bottom], (bottom,)
    found = preserved({"l": left, "r": right, "ll": left})
    assert found["l"][0] is found["r"][0]
    assert found["ll"] is found["l"]


def test_rows_that_are_one_dict() -> None:
    row = {"a": 1, "b": "x"}
    found = preserved([row, dict(row), row])
    assert found[0] is found[2]
    assert found[0] is not found[1]


def test_objects_and_containers_in_one_cycle() -> None:
    node = Node("a")
    node.others.append({"node": node, "list": node.others})
    for options in ({"identity": "preserve"}, {}):
        if options:
            found = back(node, **options)
            assert found.others[0]["list"] is found.others
            assert found.others[0]["node"] is found
    node.others[0]["list"] = None
    found = back(node)
    assert found.others[0]["node"] is found


def test_a_large_graph_is_preserved_quickly() -> None:
    shared = [[i] for i in range(1000)]
    value = [shared[i * 7919 % 1000] for i in range(50_000)]
    with fenced(seconds=5):
        found = preserved(value)
    assert found[0] is found[1000]


def test_doubling_is_no_problem_where_identity_is_preserved() -> None:
    value: Any = [1]
    for _ in range(200):
        value = [value, value]
    with fenced(seconds=5):
        found = npser.loads(npser.dumps(value, identity="preserve"))
    assert found[0] is found[1]


# --------------------------------------------------------------------------------------------------- cycles are refused


class Link(NamedTuple):
    to: Any


def _loop() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _branching(times: int) -> list[Any]:
    loop: list[Any] = []
    loop += [loop] * times
    return loop


def _through(wrap: Any) -> list[Any]:
    loop: list[Any] = []
    loop += [wrap(loop), wrap(loop)]
    return loop


def _dict_loop() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["a"] = [loop]
    loop["b"] = loop
    return loop


def _shared_below(depth: int) -> Any:
    loop = _loop()
    for _ in range(depth):
        loop = [loop, 1]
    return loop


CYCLES: dict[str, Any] = {
    "a list": _loop(),
    "a dict": _dict_loop(),
    "two branches": _branching(2),
    "a hundred thousand branches": _branching(100_000),
    "through tuples": _through(lambda loop: (1, loop)),
    "through dicts": _through(lambda loop: {"x": loop}),
    "through deques": _through(lambda loop: deque([loop])),
    "through slices": _through(lambda loop: slice(loop, None, loop)),
    "through named tuples": _through(Link),
    "through named tuples in tuples": _through(lambda loop: (Link({"a": loop}),)),
    "through defaultdicts": _through(lambda loop: defaultdict(None, {1: loop, 2: loop})),
    "below many lists": _shared_below(400),
    "in many places": [_loop() for _ in range(1000)],
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_an_encode_error_that_says_so(name: str) -> None:
    with fenced(seconds=5), pytest.raises(EncodeError, match="holds itself") as caught:
        npser.dumps(CYCLES[name])
    assert "preserve" in caught.value.message
    assert caught.value.path is not None


def test_a_cycle_says_where() -> None:
    loop: dict[str, Any] = {"a": {"b": [0, None]}}
    loop["a"]["b"][1] = loop["a"]
    with pytest.raises(EncodeError) as caught:
        npser.dumps(loop)
    assert caught.value.path is not None
    assert caught.value.path.startswith("$['a']['b'][1]")


def test_what_is_shared_but_holds_no_cycle_is_no_error() -> None:
    shared: Any = [1, 2]
    for _ in range(15):
        shared = [shared, {"x": 1}]
    value = [shared] * 100
    assert difference(value, back(value)) is None
    deep: Any = [1]
    for _ in range(300):
        deep = [deep]
    assert difference([deep, deep], back([deep, deep])) is None


def test_a_tuple_in_a_cycle_is_preserved() -> None:
    loop: list[Any] = []
    loop.append((loop, Point(loop, Frozen(1))))
    found = back(loop, identity="preserve")
    assert found[0][0] is found
    assert found[0][1].x is found


# ------------------------------------------------------------------------- hashed while it is inside of what is hashed


class City:
    """Known by its name; the roads are a dict of cities, in both directions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.roads: dict[City, int] = {}
        self.seen: set[City] = set()

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, City) and self.name == other.name


def cities(value: Any, **options: Any) -> Any:
    return npser.loads(npser.dumps(value, **options), classes=[City, Task])


@pytest.mark.parametrize("options", [{}, {"identity": "preserve"}], ids=str)
def test_a_graph_whose_nodes_are_keys_of_each_other(options: dict[str, Any]) -> None:
    a, b, c = map(City, "abc")
    a.roads, b.roads = {b: 1, c: 2, a: 0}, {a: 1}
    c.seen = {a, b, c}
    for value in ([a, b, c], [c, b, a], {"start": b}, {a: a.roads}, [{c}, [a, b]]):
        found = cities(value, **options)
        assert difference(value, found) is None
    found = cities([a, b, c], **options)
    assert found[0].roads[found[1]] == 1
    assert found[0].roads[City("b")] == 1
    assert found[2].seen == {City("a"), City("b"), City("c")}
    assert next(iter(found[1].roads)) is found[0]


def test_counters_and_ordered_dicts_of_what_holds_them() -> None:
    a, b = City("a"), City("b")
    a.roads = Counter({a: 1, b: 2})
    b.roads = OrderedDict([(b, 1), (a, 2)])
    b.seen = defaultdict(list, {a: [b], (a, b): [1]})  # type: ignore[assignment]
    for value in ([a, b], [b, a], [[a], [b]]):
        assert difference(value, cities(value)) is None


@dataclasses.dataclass(frozen=True)
class Task:
    name: str
    after: frozenset[Any] = frozenset()


def test_frozensets_of_objects_of_the_same_batch() -> None:
    a = Task("a")
    b = Task("b", frozenset({a}))
    c = Task("c", frozenset({a, b, ("x", b)}))
    for value in ([a, b, c], [c, b, a], [c], {"all": (b, c), "one": a}, [{"task": c}, {"task": b}, {"task": a}], {c: [a, b]}):
        found = cities(value)
        assert difference(value, found) is None
    found = cities([a, b, c])
    assert next(iter(found[1].after)) is found[0]
    assert found[1] in found[2].after


def test_many_frozensets_of_objects_of_one_batch() -> None:
    tasks: list[Task] = []
    for i in range(300):
        tasks.append(Task(str(i), frozenset(tasks[i // 3 : i // 3 + 2])))
    found = cities(tasks)
    assert found[299].after == {found[99], found[100]}
    assert difference(tasks, found) is None


def test_an_object_in_a_frozenset_of_its_own_is_refused() -> None:
    node = Node("a")
    node.next = frozenset([Friend("b", node)])  # type: ignore[arg-type]
    assert difference(node, back(node)) is None
    friend = Friend("c")
    friend.friends = frozenset([friend])  # type: ignore[assignment]
    assert difference([friend], back([friend])) is None
    city = City("c")
    city.seen = frozenset([city])  # type: ignore[assignment]
    with pytest.raises(EncodeError, match="frozenset that it holds"):
        npser.dumps([city])
