"""Objects that are made out of their state: registered classes, and types that own their bytes."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import itertools
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npser
import strategies
from npser.errors import ClassNotAllowedError, DecodeError, EncodeError, NpserError, TruncatedError
from npser.types.registry import class_name
from same import difference
from values import CLASSES, Box, Gauge, Packed


class Celsius:
    """What it is made of is only what is said when it is registered."""

    def __init__(self, degrees: Any) -> None:
        self.degrees = degrees

    def __eq__(self, other: object) -> bool:
        return type(other) is Celsius and bool(other.degrees == self.degrees)

    def __hash__(self) -> int:
        return hash(self.degrees)


def degrees(celsius: Celsius) -> Any:
    return celsius.degrees


@pytest.fixture
def celsius() -> Iterator[type[Celsius]]:
    yield npser.register(Celsius, state=degrees, build=Celsius, name="demo.Celsius")
    npser.unregister(Celsius)


def back(value: Any, **options: Any) -> Any:
    return npser.loads(npser.dumps(value), **options)


# ----------------------------------------------------------------------------------------------------------- registering


def test_state_and_build_go_together() -> None:
    with pytest.raises(ValueError, match="go together"):
        npser.register(Celsius, state=degrees)
    with pytest.raises(ValueError, match="go together"):
        npser.register(Celsius, build=Celsius)
    with pytest.raises(TypeError, match="functions of one argument"):
        npser.register(Celsius, state="degrees", build=Celsius)  # type: ignore[arg-type]


@pytest.mark.parametrize("cls", [list, dict, int, str, np.ndarray, datetime.date, npser.Placeholder, np.float32])
def test_what_npser_stores_by_itself_cannot_be_built(cls: type) -> None:
    with pytest.raises(TypeError, match="by itself"):
        npser.register(cls, state=str, build=cls)


def test_it_is_a_decorator_too() -> None:
    @npser.register(name="demo.Decorated", state=lambda thing: thing.x, build=lambda x: Decorated(x))
    class Decorated:
        def __init__(self, x: int) -> None:
            self.x = x

    assert back(Decorated(4)).x == 4
    npser.unregister(Decorated)


def test_unregistering_gives_the_class_its_fields_back(celsius: type[Celsius]) -> None:
    built = npser.dumps(Celsius(3))
    npser.unregister(Celsius)
    plain = npser.dumps(Celsius(3))
    assert plain != built
    assert npser.loads(plain, classes=[Celsius]) == Celsius(3)
    with pytest.raises(DecodeError, match=r"built from its state; register its class with state= and build="):
        npser.loads(built, classes={"demo.Celsius": Celsius})


# ------------------------------------------------------------------------------------------------------------ round trip


@pytest.mark.parametrize("state", [None, 5, "x", b"raw", [1, [2]], (1, None), {"a": 1}, np.arange(3), {1, 2}, {}])
def test_any_value_is_a_state(celsius: type[Celsius], state: Any) -> None:
    for value in (Celsius(state), [Celsius(state)] * 2, {"a": [Celsius(state), 1], "b": (Celsius(state),)}):
        assert difference(value, back(value)) is None


def test_what_is_written_in_c_may_be_built() -> None:
    npser.register(
        collections.ChainMap, state=lambda chain: chain.maps, build=lambda maps: collections.ChainMap(*maps)
    )
    npser.register(itertools.count, state=lambda count: count.__reduce__()[1], build=lambda args: itertools.count(*args))
    try:
        counts = back([itertools.count(5), itertools.count(7, 2)])
        assert [next(count) for count in counts] == [5, 7]
        assert next(counts[1]) == 9
        assert back(collections.ChainMap({"a": 1}, {"b": 2}))["b"] == 2
    finally:
        npser.unregister(collections.ChainMap)
        npser.unregister(itertools.count)
    with pytest.raises(EncodeError):
        npser.dumps(itertools.count(5))


def test_subclasses_of_what_npser_stores_may_be_built() -> None:
    class Tags(list[str]):
        pass

    class Colour(enum.Enum):
        RED = 1

    class Pair(NamedTuple):
        left: Any
        right: Any

    npser.register(Tags, state=list, build=Tags)
    npser.register(Colour, state=lambda colour: colour.value, build=Colour)
    npser.register(Pair, state=list, build=lambda state: Pair(*state))
    try:
        found = back([Tags(["a"]), Colour.RED, Pair(1, 2)])
        assert found == [["a"], Colour.RED, (1, 2)]
        assert list(map(type, found)) == [Tags, Colour, Pair]
    finally:
        for cls in (Tags, Colour, Pair):
            npser.unregister(cls)


def test_a_subclass_is_not_its_base(celsius: type[Celsius]) -> None:
    class Warm(Celsius):
        pass

    data = npser.dumps([Celsius(1), Warm(2)])
    first, second = npser.loads(data, classes=[Warm])
    assert (type(first), type(second), second.degrees) == (Celsius, Warm, 2)


def test_a_batch_has_one_column_of_states() -> None:
    gauges = [Gauge(i, str(i)) for i in range(1000)]
    rows = [{"low": i, "marks": str(i)} for i in range(1000)]
    assert len(npser.dumps(gauges)) - len(npser.dumps(rows)) == 2 + len(class_name(Gauge))
    assert npser.loads(npser.dumps(gauges))[999].marks == "999"
    assert "TABLE" in str(npser.inspect(npser.dumps(gauges)))


def test_nothing_is_called_to_find_out_what_an_object_is() -> None:
    class Quiet:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    npser.register(Quiet, state=lambda quiet: None, build=lambda state: Quiet())
    try:
        assert type(back([Quiet(), Quiet()])[1]) is Quiet
    finally:
        npser.unregister(Quiet)


def test_build_gets_what_state_gave_whatever_the_options(celsius: type[Celsius]) -> None:
    """Lists of numbers come as arrays, and tables as columns, but not to code that does not know of it."""
    states: list[Any] = [
        [1, 2, 3],
        list(range(500)),
        [[1, 2], [3, 4]],
        [[1.5], [2.5, 3.5], []],
        {"a": [1, 2], "rows": [{"x": 1, "y": [1, 2]}, {"x": 2, "y": [3]}]},
        [{"x": i} for i in range(50)],
        ([True, False], {"k": [Celsius([1, 2])]}),
    ]
    for state in states:
        for value in (Celsius(state), [Celsius(state), Celsius(state)], {"a": Celsius(state), "b": [1, 2]}):
            found = back(value, numbers="array", tables="columns")
            if type(value) is dict:
                assert type(found["b"]) is np.ndarray
                value, found = value["a"], found["a"]
            assert difference(value, found) is None
    data = npser.dumps([{"id": i, "c": Celsius([i, i])} for i in range(5)])
    assert npser.loads(data, numbers="array", tables="columns")["c"][4].degrees == [4, 4]
    assert npser.loads(data, numbers="array", select=["c"])["c"][4].degrees == [4, 4]
    assert npser.view(data)["c"][4].degrees == [4, 4]


def test_built_objects_are_keys_and_members(celsius: type[Celsius]) -> None:
    key = Celsius(5)
    for value in ({key: 1, "k": 2}, {key, 3}, frozenset({key, Celsius(6)}), {(key, 1): [key]}):
        found = back(value)
        assert type(found) is type(value)
        assert found == value
    found = back([key, {key: 1}, {key}])
    assert next(iter(found[1])) is found[0]
    assert found[0] in found[2]


def test_many_objects_without_any_state_are_read_back(celsius: type[Celsius]) -> None:
    values = [Celsius(None) for _ in range(300_000)]
    assert len(back(values)) == 300_000
    many = [Celsius(None) for _ in range(1_300_000)]  # more than a payload of no bytes may draw
    assert len(back(many)) == len(many)


@settings(max_examples=60, deadline=None)
@given(st.lists(strategies.leaves | st.builds(Gauge, strategies.leaves, st.lists(strategies.leaves))))
def test_anything_among_anything(value: list[Any]) -> None:
    assert difference(value, back(value, classes=CLASSES)) is None
    assert difference({"a": value, "b": value}, back({"a": value, "b": value}, classes=CLASSES)) is None


# -------------------------------------------------------------------------------------------------------------- identity


def test_an_object_met_twice_is_one_object_again(celsius: type[Celsius]) -> None:
    thing = Celsius([1])
    for value in ([thing, thing], {"a": thing, "b": [thing, {"c": thing}]}, Box([Celsius(thing), thing])):
        for identity in ("objects", "preserve"):
            found = npser.loads(npser.dumps(value, identity=identity), classes=[Box])  # type: ignore[arg-type]
            assert difference(value, found) is None
    a, b = back([thing, thing])
    assert a is b
    holder = back({"a": thing, "b": [thing, Celsius(thing)]})
    assert holder["a"] is holder["b"][0] is holder["b"][1].degrees


def test_an_object_may_be_met_in_states_before_and_after(celsius: type[Celsius]) -> None:
    inner = Celsius(1)
    outer = Celsius([inner, inner])
    first, second = back([inner, outer])
    assert first is second.degrees[0] is second.degrees[1]
    second, first = back([outer, inner])
    assert first is second.degrees[0] is second.degrees[1]
    others = back([Celsius(inner), Celsius(inner), Celsius((inner, Celsius(inner)))])
    assert len({id(others[0].degrees), id(others[1].degrees), id(others[2].degrees[0])}) == 1


def test_a_batch_that_leads_to_one_of_its_own_is_written_one_by_one(celsius: type[Celsius]) -> None:
    chain = [Celsius(0)]
    for _ in range(40):
        chain.append(Celsius(chain[-1]))
    for value in (chain, chain[::-1], {"a": chain[-1], "b": chain}):
        assert difference(value, back(value)) is None
    found = back(chain)
    assert found[40].degrees is found[39]


def test_what_a_state_shares_with_the_rest_is_complete(celsius: type[Celsius]) -> None:
    """Not `build(state)` with an object in it that has no fields yet."""

    def build(box: Box) -> Sum:
        return Sum(box, box.number + sum(box.value))

    class Sum:
        def __init__(self, box: Box, total: int) -> None:
            self.box, self.total = box, total

    npser.register(Sum, state=lambda thing: thing.box, build=build)
    try:
        box = Box([1, 2], 4)
        for value in ([box, Sum(box, 0)], [Sum(box, 0), box], {"a": [box], "b": [Sum(box, 0), Sum(box, 1)]}):
            found = npser.loads(npser.dumps(value), classes=[Box])
            sums = [thing for thing in (*found["b"],) if type(thing) is Sum] if type(found) is dict else found
            assert all(thing.total == 7 for thing in sums if type(thing) is Sum)
    finally:
        npser.unregister(Sum)


def test_an_object_that_holds_itself_is_refused(celsius: type[Celsius]) -> None:
    alone = Celsius(None)
    alone.degrees = {"me": [alone]}
    box = Box(None)
    box.value = [Celsius(box)]
    with pytest.raises(EncodeError, match="in the state of an object that it holds itself") as caught:
        npser.dumps(alone)
    assert caught.value.path == "$.state()['me'][0]"
    for value in (box, [box], {"a": alone, "b": alone}):
        with pytest.raises(EncodeError, match="holds itself"):
            npser.dumps(value)
        with pytest.raises(EncodeError, match="holds itself"):
            npser.dumps(value, order="canonical")
    loop: list[Any] = []
    loop.append(Celsius(loop))
    with pytest.raises(EncodeError, match="holds itself"):
        npser.dumps(loop, identity="preserve")
    with pytest.raises(EncodeError):
        npser.dumps(loop)


def test_a_state_that_never_ends_is_refused() -> None:
    class Endless:
        pass

    npser.register(Endless, state=lambda thing: [Endless()], build=lambda state: Endless())
    try:
        with pytest.raises(EncodeError, match="more than 512 containers"):
            npser.dumps(Endless())
    finally:
        npser.unregister(Endless)


# -------------------------------------------------------------------------------------------------------- what goes wrong


def test_what_state_raises_is_an_encode_error_with_a_path(celsius: type[Celsius]) -> None:
    class Fails:
        def __init__(self, n: int) -> None:
            self.n = n

    npser.register(Fails, state=lambda thing: 1 // thing.n, build=Fails)
    try:
        for dumps in (npser.dumps, npser.digest):
            with pytest.raises(EncodeError, match="state= of .*Fails: ZeroDivisionError") as caught:
                dumps({"a": [Fails(1), Fails(0)]})
            assert caught.value.path == "$['a'][1]"
            assert type(caught.value.__cause__) is ZeroDivisionError
    finally:
        npser.unregister(Fails)


def test_a_state_that_npser_refuses_is_an_encode_error_with_a_path(celsius: type[Celsius]) -> None:
    with pytest.raises(EncodeError) as caught:
        npser.dumps([Celsius([1]), Celsius([1, object()])])
    assert caught.value.path == "$[1].state()[1]"
    assert npser.loads(npser.dumps(Celsius(object()), default=lambda _: "an object")) == Celsius("an object")


@pytest.mark.parametrize("error", [ValueError("no"), EOFError(), RecursionError(), DecodeError("mine"), KeyError("x")])
def test_what_build_raises_is_a_decode_error_with_a_path(error: Exception) -> None:
    def build(state: int) -> Any:
        if state:
            raise error
        return Celsius(state)

    npser.register(Celsius, state=degrees, build=build)
    try:
        data = npser.dumps({"a": [Celsius(n) for n in (0, 0, 0, 1)]})
        with pytest.raises(DecodeError, match="build= of Celsius refused a state") as caught:
            npser.loads(data)
        assert caught.value.path == "$['a'][*]"
        assert caught.value.__cause__ is error
        assert caught.value.pos is not None
        for value in (Celsius(1), [Celsius(0), Celsius(1)]):
            with pytest.raises(DecodeError):
                back(value)
    finally:
        npser.unregister(Celsius)


@pytest.mark.parametrize("wrong", [None, 5, "text", object(), Box(1)])
def test_what_build_gives_is_of_that_class_or_an_error(wrong: Any) -> None:
    npser.register(Celsius, state=degrees, build=lambda state: wrong)
    try:
        with pytest.raises(DecodeError, match="out of the state of a Celsius came a"):
            back([Celsius(1)])
    finally:
        npser.unregister(Celsius)


def test_memory_that_runs_out_in_build_is_a_limit_error() -> None:
    def build(state: Any) -> Any:
        raise MemoryError

    npser.register(Celsius, state=degrees, build=build)
    try:
        with pytest.raises(npser.LimitError):
            back(Celsius(1))
    finally:
        npser.unregister(Celsius)


def test_two_classes_of_one_name_do_not_go_into_one_payload(celsius: type[Celsius]) -> None:
    def make() -> type:
        class Twin:
            pass

        return npser.register(Twin, state=lambda _: None, build=lambda _: Twin())

    first = make()
    second = make()  # which takes the place of the first one, as when a cell of a notebook runs again
    with pytest.raises(EncodeError, match="two classes of one name"):
        npser.dumps([first(), second()])
    npser.unregister(second)


# -------------------------------------------------------------------------------------------------------- not allowed


def test_what_is_not_allowed_is_a_placeholder(celsius: type[Celsius]) -> None:
    shared = Celsius({"a": 1})
    for value in (Celsius(5), [shared, shared], {"x": [Celsius(i) for i in range(50)]}, [Celsius(Celsius(1)), {Celsius(2)}]):
        npser.register(Celsius, state=degrees, build=Celsius, name="demo.Celsius")
        data = npser.dumps(value)
        npser.unregister(Celsius)
        found = npser.loads(data)
        assert npser.dumps(found) == data
        assert npser.dumps(found, order="canonical")
        with pytest.raises(ClassNotAllowedError):
            npser.loads(data, unknown="refuse")
    one = npser.loads(b"\xc1\x01\x88\x17\x0adem:C\x00\x03\x05\x00")
    assert (one.form, one.class_name, one.contents, one.version) == ("built", "dem:C", 5, 0)
    assert repr(one) == "<dem:C(5), not built: pass classes=[C] to build it>"


def test_only_a_registration_builds(celsius: type[Celsius]) -> None:
    """The payload names a class and has a state; it never says what to call."""
    data = npser.dumps(Celsius("/etc/passwd"))
    npser.unregister(Celsius)
    for classes in ({"demo.Celsius": open}, {"demo.Celsius": print}):
        with pytest.raises(TypeError):
            npser.loads(data, classes=classes)  # type: ignore[dict-item]
    for cls in (collections.OrderedDict, zlib.error, Box, dict):
        with pytest.raises(DecodeError):
            npser.loads(data, classes={"demo.Celsius": cls})


# ---------------------------------------------------------------------------------------------------------- versions


def test_an_older_state_is_upgraded() -> None:
    class Shape:
        def __init__(self, area: float) -> None:
            self.area = area

    def hooks(version: int) -> dict[str, Any]:
        return {
            "name": "demo.Shape",
            "version": version,
            "build": lambda state: Shape(state["area"]),
            "upgrade": lambda state, then: {"area": state["side"] ** 2 + then},
        }

    try:
        npser.register(Shape, state=lambda shape: {"side": shape.area}, **hooks(1))
        old = npser.dumps([Shape(3), Shape(4)])
        npser.register(Shape, state=lambda shape: {"area": shape.area}, **hooks(2))
        assert [shape.area for shape in npser.loads(old)] == [10, 17]
        assert back(Shape(5)).area == 5
        npser.unregister(Shape)
        assert npser.loads(old)[0].version == 1
        assert npser.dumps(npser.loads(old)) == old
    finally:
        npser.unregister(Shape)


def test_what_is_no_dict_is_not_upgraded() -> None:
    try:
        npser.register(Celsius, name="demo.C", state=degrees, build=Celsius, version=1)
        old = npser.dumps(Celsius(4))
        npser.register(
            Celsius, name="demo.C", state=degrees, build=Celsius, version=2, upgrade=lambda state, then: {"never": then}
        )
        assert npser.loads(old) == Celsius(4)
    finally:
        npser.unregister(Celsius)


@dataclasses.dataclass
class Cart:
    owner: str
    items: list[int] = dataclasses.field(default_factory=list)


class Old:
    def __init__(self, n: int) -> None:
        self.n = n


class OldState(Old):
    def __getstate__(self) -> Any:
        return {"n": self.n}


class OldPair(NamedTuple):
    n: int


@pytest.mark.parametrize("cls", [Old, OldState, OldPair])
@pytest.mark.parametrize("n", [1, 20])
def test_objects_of_before_are_built_from_their_fields(cls: Callable[[int], Any], n: int) -> None:
    old = npser.dumps([cls(i) for i in range(n)])
    alone, keys = npser.dumps(cls(7)), npser.dumps({"a": cls(1), "b": {"c": cls(2)}})
    npser.register(cls, state=lambda thing: {"n": thing.n}, build=lambda state: cls(state["n"]))  # type: ignore[arg-type]
    try:
        assert [thing.n for thing in npser.loads(old)] == list(range(n))
        assert npser.loads(alone).n == 7
        assert npser.loads(keys)["b"]["c"].n == 2
        assert type(npser.loads(alone)) is cls
    finally:
        npser.unregister(cls)  # type: ignore[arg-type]


def test_objects_of_before_that_differ_in_their_fields() -> None:
    things = [Old(1), Old(2), Old(3)]
    things[1].more = "x"
    data = npser.dumps(things)

    def build(state: dict[str, Any]) -> Old:
        made = Old(state.pop("n"))
        vars(made).update(state)
        return made

    npser.register(Old, state=vars, build=build)
    try:
        found = npser.loads(data)
        assert list(map(vars, found)) == list(map(vars, things))
        assert npser.loads(data, tables="columns")["n"] == [1, 2, 3]
    finally:
        npser.unregister(Old)


def test_objects_of_before_that_something_refers_to_are_refused() -> None:
    """They have a number before their fields are there, and would be built only behind them."""
    thing, pair = Old(1), OldState(2)
    data = [npser.dumps([thing, thing]), npser.dumps([pair, pair])]
    for cls in (Old, OldState):
        npser.register(cls, state=lambda old: {"n": old.n}, build=lambda state: Old(**state))
    try:
        for each in data:
            with pytest.raises(DecodeError, match="is built from its state now, and other parts"):
                npser.loads(each)
    finally:
        npser.unregister(Old)
        npser.unregister(OldState)


# -------------------------------------------------------------------------------------- types that own their bytes


class Track:
    """A name and samples."""

    def __init__(self, name: str, points: list[float]) -> None:
        self.name, self.points = name, points

    def pack(self, stream: npser.BinaryStream) -> None:
        raw = self.name.encode()
        stream.write(struct.pack("<HH", len(raw), len(self.points)))
        stream.write(raw)
        stream.write(struct.pack(f"<{len(self.points)}d", *self.points))

    @classmethod
    def unpack(cls, stream: npser.BinaryStream) -> Track:
        letters, points = struct.unpack("<HH", stream.read_exactly(4))
        name = stream.read_exactly(letters).decode()
        return cls(name, list(struct.unpack(f"<{points}d", stream.read_exactly(8 * points))))


def test_it_is_written_through_its_own_pack() -> None:
    track = Track("köln", [1.5, -0.0])
    data = npser.dumps({"track": track, "n": 1})
    assert npser.pack(track) in data
    assert difference({"track": track, "n": 1}, npser.loads(data, classes=[Track])) is None
    found = npser.loads(data)["track"]
    assert (found.form, found.contents) == ("built", npser.pack(track))
    assert npser.dumps(npser.loads(data)) == data
    tracks = [Track(f"t{i}", [i / 2] * (i % 4)) for i in range(200)]
    assert difference(tracks, back(tracks, classes=[Track])) is None
    assert npser.loads(npser.dumps([track, track]), classes=[Track])[0].name == "köln"
    one, two = back([track, track], classes=[Track])
    assert one is two


def of_bytes(pack: Callable[[npser.BinaryStream], object], unpack: Callable[[npser.BinaryStream], object]) -> Any:
    """A type whose methods are these."""

    class Own:
        def pack(self, stream: npser.BinaryStream) -> None:
            pack(stream)

        @classmethod
        def unpack(cls, stream: npser.BinaryStream) -> Any:
            unpack(stream)
            return cls()

    return Own


@pytest.mark.parametrize(
    ("read", "kind", "message"),
    [
        (lambda stream: stream.read_exactly(2), DecodeError, r"Own.unpack left 1 of 3 bytes"),
        (lambda stream: None, DecodeError, r"Own.unpack left 3 of 3 bytes"),
        (lambda stream: stream.read_exactly(4), TruncatedError, r"need 4 bytes, 3 left"),
        (lambda stream: stream.read_exactly(2**62), TruncatedError, r"need \d+ bytes, 3 left"),
        (lambda stream: struct.unpack("<I", stream.read(4)), DecodeError, r"Own.unpack raised error"),
        (lambda stream: 1 // 0, DecodeError, r"Own.unpack raised ZeroDivisionError"),
        (lambda stream: stream.close(), DecodeError, r"closed the stream that it was lent"),
        (lambda stream: npser.loads(stream.read(3)), DecodeError, r"Own.unpack"),
    ],
)
def test_its_bytes_are_bounded(read: Any, kind: type[DecodeError], message: str) -> None:
    own = of_bytes(lambda stream: stream.write(b"abc"), read)
    for value, path in ((own(), "$"), ({"a": [1, own()]}, "$['a'][1]"), ([own() for _ in range(9)], "$[*]")):
        data = npser.dumps(value)
        with pytest.raises(kind, match=message) as caught:
            npser.loads(data, classes=[own])
        assert type(caught.value) is kind
        assert caught.value.path == path
        assert caught.value.pos is not None
        assert 0 <= caught.value.pos <= len(data)
        assert npser.dumps(npser.loads(data)) == data


def test_it_does_not_see_what_stands_behind_its_bytes() -> None:
    seen: list[bytes] = []
    own = of_bytes(lambda stream: stream.write(b"abc"), lambda stream: seen.append(stream.read(1000)))
    back([own(), own(), "behind", b"behind"], classes=[own])
    assert seen == [b"abc", b"abc"]


def test_what_pack_raises_is_an_encode_error_with_a_path() -> None:
    own = of_bytes(lambda stream: 1 // 0, lambda stream: None)
    for dumps in (npser.dumps, npser.digest):
        with pytest.raises(EncodeError, match="ZeroDivisionError") as caught:
            dumps({"a": [1, own()]})
        assert caught.value.path == "$['a'][1]"
        assert type(caught.value.__cause__) is ZeroDivisionError
    closing = of_bytes(lambda stream: stream.close(), lambda stream: None)
    with pytest.raises(EncodeError, match="closed the stream"):
        npser.dumps(closing())


def test_unpack_gives_that_class_or_an_error() -> None:
    class Liar:
        def pack(self, stream: npser.BinaryStream) -> None: ...

        @classmethod
        def unpack(cls, stream: npser.BinaryStream) -> Any:
            return "something else"

    with pytest.raises(DecodeError, match="out of the state of a .*Liar came a str"):
        back([Liar()], classes=[Liar])


def test_a_state_that_is_no_bytes_is_refused() -> None:
    data = npser.dumps(npser.Placeholder(class_name(Track), "built", [1]))
    assert npser.loads(data).contents == [1]
    with pytest.raises(DecodeError, match="its state is no bytes"):
        npser.loads(data, classes=[Track])
    plain = npser.dumps(npser.Placeholder(class_name(Track), "object", {"name": "x", "points": []}))
    with pytest.raises(DecodeError, match="its state is no bytes"):
        npser.loads(plain, classes=[Track])


def test_it_may_have_a_name_and_a_version_of_its_own() -> None:
    npser.register(Track, name="demo.Track", version=3)
    try:
        data = npser.dumps(Track("x", []))
        assert npser.loads(data).__class__ is Track
    finally:
        npser.unregister(Track)
    found = npser.loads(data)
    assert (found.class_name, found.version) == ("demo.Track", 3)


def test_what_it_is_registered_with_comes_first() -> None:
    npser.register(Track, state=lambda track: [track.name, track.points], build=lambda state: Track(*state))
    try:
        assert difference(Track("x", [1.0]), back(Track("x", [1.0]))) is None
        assert npser.pack(Track("x", [1.0])) not in npser.dumps(Track("x", [1.0]))
    finally:
        npser.unregister(Track)


@dataclasses.dataclass
class Header:
    """`pack` gives bytes here, as it does in many programs: it is no `Packable`."""

    n: int

    def pack(self) -> bytes:
        return struct.pack("<I", self.n)

    @classmethod
    def unpack(cls, data: bytes) -> Header:
        return cls(*struct.unpack("<I", data))


@dataclasses.dataclass
class Suitcase:
    """`pack` is a field here."""

    pack: Any
    unpack: Any = None


@dataclasses.dataclass
class WriteOnly:
    n: int

    def pack(self, stream: npser.BinaryStream) -> None:
        raise AssertionError("who cannot be unpacked is stored by its fields")


@dataclasses.dataclass
class ReadOnly:
    n: int

    @classmethod
    def unpack(cls, stream: npser.BinaryStream) -> ReadOnly:
        raise AssertionError("nothing was packed")


@dataclasses.dataclass
class NoClassMethod:
    n: int

    def pack(self, stream: npser.BinaryStream) -> None:
        raise AssertionError

    def unpack(self, stream: npser.BinaryStream) -> None:
        raise AssertionError


@dataclasses.dataclass
class WithFormat:
    n: int

    def pack(self, form: str, stream: npser.BinaryStream) -> None:
        raise AssertionError

    @classmethod
    def unpack(cls, form: str, stream: npser.BinaryStream) -> WithFormat:
        raise AssertionError


@pytest.mark.parametrize("value", [Header(3), Suitcase(1, 2), WriteOnly(4), ReadOnly(5), NoClassMethod(6), WithFormat(7)])
def test_a_class_with_other_methods_of_these_names_is_stored_by_its_fields(value: Any) -> None:
    assert npser.loads(npser.dumps(value)).form == "object"
    assert back([value, value], classes=[type(value)]) == [value, value]


def test_a_dataclass_a_named_tuple_and_a_subclass_may_own_their_bytes() -> None:
    @dataclasses.dataclass(frozen=True)
    class Point:
        x: int

        def pack(self, stream: npser.BinaryStream) -> None:
            stream.write(bytes([self.x]))

        @classmethod
        def unpack(cls, stream: npser.BinaryStream) -> Any:
            return cls(stream.read_exactly(1)[0])

    class Sub(Point):
        pass

    class Pair(NamedTuple):
        x: int

        def pack(self, stream: npser.BinaryStream) -> None:
            stream.write(bytes([self.x]))

        @classmethod
        def unpack(cls, stream: npser.BinaryStream) -> Any:
            return cls(stream.read_exactly(1)[0])

    class Declared(npser.Packable, npser.Unpackable):
        def pack(self, stream: npser.BinaryStream) -> None:
            stream.write(b"!")

        @classmethod
        def unpack(cls, stream: npser.BinaryStream) -> Any:
            stream.read_exactly(1)
            return cls()

    found = back([Point(1), Sub(2), Pair(3), Declared()], classes=[Point, Sub, Pair, Declared])
    assert found[:3] == [Point(1), Sub(2), Pair(3)]
    assert list(map(type, found)) == [Point, Sub, Pair, Declared]


def test_a_declared_packable_that_cannot_be_unpacked_is_refused() -> None:
    class Declared(npser.Packable):
        def pack(self, stream: npser.BinaryStream) -> None:
            stream.write(b"!")

    with pytest.raises(EncodeError, match=r"Declared: it has no class method unpack"):
        npser.dumps([Declared()])


# ----------------------------------------------------------------------------------------------------- hostile bytes


PAYLOADS = {
    "own bytes": lambda: npser.dumps({"a": [Packed(1), Packed(2)], "b": Packed(3)}),
    "a table of states": lambda: npser.dumps([Gauge(i, [str(i)]) for i in range(30)]),
    "references": lambda: npser.dumps([gauge := Gauge(1, [2]), [gauge, Gauge(gauge, gauge)], Packed(5)]),
    "one by one": lambda: npser.dumps([gauge := Gauge(1, 2), Gauge(gauge, 3)]),
}


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("options", [{}, {"classes": [Packed]}, {"tables": "columns", "numbers": "array"}], ids=str)
def test_cut_and_changed_at_every_byte(name: str, options: dict[str, Any]) -> None:
    data = PAYLOADS[name]()
    for cut in range(len(data)):
        with pytest.raises(DecodeError):
            npser.loads(data[:cut], **options)
    for at in range(len(data)):
        for byte in (0, 1, 2, 0x17, 0x19, 0x7F, 0xFF, data[at] ^ 1):
            try:
                npser.loads(data[:at] + bytes([byte]) + data[at + 1 :], **options)
            except NpserError as error:
                assert error.pos is None or 0 <= error.pos <= len(data)
            npser.inspect(data[:at] + bytes([byte]) + data[at + 1 :])


def test_a_reference_to_what_is_not_built_yet_is_refused() -> None:
    stamp = class_name(Gauge).encode()
    node = b"\x17" + bytes([len(stamp) << 1]) + stamp
    itself = b"\xc1\x01" + bytes([0x80 | len(node) + 1]) + node + b"\x19" + b"\x03\x00\x00"
    with pytest.raises(DecodeError, match="still being built") as caught:
        npser.loads(itself)
    assert caught.value.path == "$.state()"


# --------------------------------------------------------------------------------------------------- other ways to read


def test_view_and_select() -> None:
    gauge = Gauge(7, "shared")
    value = {"a": [Gauge(i, str(i)) for i in range(20)], "b": gauge, "c": [gauge, Packed(1)]}
    data = npser.dumps(value)
    view = npser.view(data, classes=[Packed])
    assert view["a"][3].low == 3
    assert [each.low for each in view["a"][5:8]] == [5, 6, 7]
    assert view["b"].value().low == 7
    assert view["b"].keys() == ("low", "marks")
    assert view["b"]["marks"] == "shared"
    assert view["c"].value()[0].marks == "shared"
    assert type(view["c"].value()[1]) is Packed
    found = npser.loads(data, select=["b"])
    assert list(found) == ["b"]
    assert found["b"].low == 7
    rows = npser.dumps([{"id": i, "g": Gauge(i, None)} for i in range(10)])
    assert npser.loads(rows, select=["g"])["g"][9].low == 9


def test_canonical_states() -> None:
    one, other = Gauge({"b": 1, "a": {2, 1}}, 0.0), Gauge({"a": {1, 2}, "b": 1}, 0.0)
    assert npser.digest(one) == npser.digest(other)
    assert npser.digest(one) != npser.digest(Gauge({"a": {1, 2}, "b": 1}, -0.0))
    assert npser.digest(Packed(1)) != npser.digest(Packed(2))
    assert npser.digest(Packed(1)) != npser.digest(npser.pack(Packed(1)))
    data = npser.dumps([one, one], order="canonical")
    assert [gauge.low["b"] for gauge in npser.loads(data)] == [1, 1]
    assert npser.dumps(npser.loads(data), order="canonical") == data


def test_the_generated_code_of_a_class_that_is_built() -> None:
    assert "form 'built'" in npser.codegen(Gauge)
    assert "form 'built'" in npser.codegen(Track)


def test_often_enough_for_generated_readers() -> None:
    for i in range(200):
        value = {"id": i, "g": Gauge(i, [str(i)]), "own": Packed(i), "rows": [Gauge(k, None) for k in range(3)]}
        assert difference(value, back(value, classes=[Packed])) is None


def test_it_goes_to_php_only_as_bytes() -> None:
    with pytest.raises(EncodeError):
        npser.dumps(Gauge(1, 2), wire="phpser")
    data = npser.dumps([Packed(5)], wire="phpser")
    assert npser.loads(data, classes={"Packed": Packed})[0].n == 5
