"""Objects of classes: what is kept, what never runs, what is refused, and what stands for a class that is not allowed."""

from __future__ import annotations

import abc
import dataclasses
import datetime
import enum
import fractions
import functools
import io
import ipaddress
import itertools
import pathlib
import re
import sys
import threading
import types
import uuid
import weakref
from collections import Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from decimal import Decimal
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import attr
import attrs
import numpy as np
import pytest

import npser
from npser.errors import DecodeError, EncodeError
from npser.types.registry import class_name
from same import difference
from values import (
    CLASSES,
    MAKERS,
    BareSlots,
    Bits,
    Box,
    Colour,
    Derived,
    Level,
    Mode,
    Order,
    Packed,
    Plain,
    Point,
    Stateful,
)

T = TypeVar("T")


def back(value: Any, *classes: type) -> Any:
    return npser.loads(npser.dumps(value), classes=classes or CLASSES)


def check(value: Any, *classes: type) -> Any:
    """Round trip, alone, in a batch, and among others."""
    found = back(value, *classes)
    for wrapped in (value, [value, value], [value] + [[value]] * 20, {"a": value, "b": [None, value, 1]}):
        assert difference(wrapped, back(wrapped, *classes)) is None
    return found


# ---------------------------------------------------------------------------------------------------------- dataclasses


@dataclasses.dataclass
class Careful:
    """Whatever runs while it is decoded leaves a trace."""

    x: int
    y: list[int] = dataclasses.field(default_factory=list)
    total: int = dataclasses.field(init=False, default=0)
    factor: dataclasses.InitVar[int] = 1
    shared: ClassVar[list[str]] = []

    def __post_init__(self, factor: int) -> None:
        self.shared.append("post_init")
        self.total = self.x * factor

    def __setattr__(self, name: str, value: Any) -> None:
        self.shared.append(f"set {name}")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        self.shared.append("eq")
        return NotImplemented

    __hash__ = object.__hash__


def test_nothing_of_a_dataclass_runs_when_it_is_built() -> None:
    data = npser.dumps([Careful(3, [1], factor=5), Careful(4)])
    Careful.shared.clear()
    first, second = npser.loads(data, classes=[Careful])
    assert Careful.shared == []
    assert vars(first) == {"x": 3, "y": [1], "total": 15}
    assert vars(second) == {"x": 4, "y": [], "total": 4}


def test_an_attribute_that_is_no_field_is_not_stored() -> None:
    box = Box(1)
    box.note = "not a field"  # type: ignore[attr-defined]
    assert vars(back(box)) == {"value": 1, "number": 0}


@dataclasses.dataclass
class Base:
    a: int


@dataclasses.dataclass
class Child(Base):
    b: int


@dataclasses.dataclass(slots=True)
class SlottedChild(Base):
    c: int = 3


def test_a_base_that_was_met_first_does_not_hide_the_fields_of_its_child() -> None:
    check(Base(1), Base, Child)
    check(Child(1, 2), Base, Child)
    check([Base(1), Child(1, 2), SlottedChild(1)], Base, Child, SlottedChild)


@dataclasses.dataclass
class Pair(Generic[T]):
    left: T
    right: T


def test_generic_classes() -> None:
    found = back(Pair[int](1, 2), Pair)  # whose __orig_class__ is no field
    assert difference(Pair(1, 2), found) is None
    check([Pair("a", "b"), Pair(1, None)], Pair)


def test_local_classes_are_built_from_the_class_itself() -> None:
    @dataclasses.dataclass
    class Local:
        x: int

    check(Local(1), Local)
    assert class_name(Local).endswith("test_local_classes_are_built_from_the_class_itself.<locals>.Local")


def test_two_classes_of_one_name_are_refused() -> None:
    def make() -> type:
        @dataclasses.dataclass
        class Twin:
            x: int

        return Twin

    first, second = make(), make()
    with pytest.raises(EncodeError, match="two classes of one name"):
        npser.dumps([first(1), second(2)])
    with pytest.raises(TypeError, match="mapping"):
        npser.loads(npser.dumps(first(1)), classes=[first, second])


def test_inherited_defaults_and_unset_fields() -> None:
    boxes = [Derived(1, 2, b"x"), Derived(3)]
    del boxes[0].value
    found = back(boxes)
    assert not hasattr(found[0], "value")
    assert difference(boxes, found) is None


@dataclasses.dataclass
class Many:
    pass


def test_classes_of_many_fields() -> None:
    for count in (1, 5, 127, 128, 129, 300):
        wide = dataclasses.make_dataclass(f"Wide{count}", [(f"f{i}", int) for i in range(count)])
        slotted = dataclasses.make_dataclass(f"Slot{count}", [(f"f{i}", int) for i in range(count)], slots=True)
        frozen = dataclasses.make_dataclass(f"Ice{count}", [(f"f{i}", int) for i in range(count)], frozen=True)
        for cls in (wide, slotted, frozen):
            check(cls(*range(count)), cls)


# ---------------------------------------------------------------------------------------------------- a class that moves


def version(**fields: Any) -> type:
    """A dataclass of these fields; a value of `...` is a field without a default."""
    plain = [(name, object) for name, default in fields.items() if default is ...]
    others = [
        (name, object, dataclasses.field(default_factory=default) if callable(default) else dataclasses.field(default=default))
        for name, default in fields.items()
        if default is not ...
    ]
    return dataclasses.make_dataclass("Version", [*plain, *others])


NAME = class_name(version(a=...))


def test_classes_gain_and_lose_fields() -> None:
    old, new = version(a=..., gone=...), version(a=..., b=7, c=list)
    data = npser.dumps([old(1, 2), old(3, 4)])
    found = npser.loads(data, classes={NAME: new})
    assert [vars(thing) for thing in found] == [{"a": 1, "b": 7, "c": []}, {"a": 3, "b": 7, "c": []}]
    assert found[0].c is not found[1].c


def test_a_gained_field_without_a_default_is_a_decode_error_that_names_it() -> None:
    with pytest.raises(DecodeError, match="'b'.*default"):
        npser.loads(npser.dumps(version(a=...)(1)), classes={NAME: version(a=..., b=...)})


def test_a_class_may_change_its_kind() -> None:
    data = npser.dumps([Base(1), Base(2)])
    name = class_name(Base)
    slotted = dataclasses.make_dataclass("S", ["a"], slots=True)
    frozen = attrs.make_class("F", ["a"], frozen=True)
    row = namedtuple("row", ["a"])
    open_class = type("Open", (), {})
    for cls in (slotted, frozen, row, open_class):
        found = npser.loads(data, classes={name: cls})
        assert [type(thing) for thing in found] == [cls, cls]
        assert [thing.a for thing in found] == [1, 2]
    with pytest.raises(DecodeError):
        npser.loads(data, classes={name: Colour})
    points = npser.loads(npser.dumps([Point(1, 2)]), classes={class_name(Point): dataclasses.make_dataclass("P", ["x", "y"])})
    assert points[0].x == 1
    with pytest.raises(DecodeError):
        npser.loads(npser.dumps(Colour.RED), classes={class_name(Colour): Base})


def test_a_mapping_renames() -> None:
    data = npser.dumps(Box(1))
    assert type(npser.loads(data, classes={class_name(Box): Box})) is Box
    assert type(npser.loads(data, classes={"other:Box": Box})) is npser.Placeholder


def test_a_subclass_is_not_its_base() -> None:
    assert type(npser.loads(npser.dumps(Derived(1)), classes=[Box])) is npser.Placeholder
    assert type(npser.loads(npser.dumps(Box(1)), classes=[Derived])) is npser.Placeholder


@pytest.mark.parametrize("wrong", ["values:Box", [Box(1)], Box, {"x": 3}, 5])
def test_wrong_classes_are_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError):
        npser.loads(npser.dumps(1), classes=wrong)


# ---------------------------------------------------------------------------------------------------------- other forms


@attrs.define
class Validated:
    n: int = attrs.field(validator=attrs.validators.instance_of(int), converter=int)
    log: ClassVar[list[str]] = []

    def __attrs_post_init__(self) -> None:
        self.log.append("post_init")


def test_attrs_classes() -> None:
    thing = Validated(1)
    Validated.log.clear()
    check(thing, Validated)
    assert Validated.log == []
    for maker in (attrs.define, attrs.frozen, attrs.mutable, functools.partial(attrs.define, slots=False), attr.s):
        cls = maker(type("Made", (), {"__annotations__": {"a": int, "_b": list}, "a": attrs.field(), "_b": attrs.field(factory=list)}))
        check(cls(1, [2]), cls)
        check(cls(1), cls)


def test_attrs_classes_gain_fields() -> None:
    old = attrs.make_class("V", {"a": attrs.field()})
    new = attrs.make_class("V", {"a": attrs.field(), "b": attrs.field(default=2), "c": attrs.field(factory=dict)})
    found = npser.loads(npser.dumps(old(1)), classes={class_name(old): new})
    assert (found.a, found.b, found.c) == (1, 2, {})
    with pytest.raises(DecodeError, match="'a'"):
        npser.loads(npser.dumps(attrs.make_class("V", {})()), classes={class_name(old): new})


class Named(NamedTuple):
    a: int
    b: list[Any] = []  # noqa: RUF012

    def total(self) -> int:
        return self.a + len(self.b)


class NamedChild(Named):
    __slots__ = ()


class Loose(Named):
    """A named tuple with a `__dict__`."""


def test_named_tuples() -> None:
    assert check(Named(1, [2]), Named).total() == 2
    check(NamedChild(1, [2]), NamedChild)
    row = namedtuple("row", ["a", "b"])
    check(row(1, 2), row)
    check(Loose(1), Loose)
    loose = Loose(1)
    loose.more = 1  # type: ignore[attr-defined]
    with pytest.raises(EncodeError, match="attributes"):
        npser.dumps(loose)
    renamed = namedtuple("renamed", ["class", "a"], rename=True)
    check(renamed(1, 2), renamed)
    wide = namedtuple("wide", [f"f{i}" for i in range(300)])
    check(wide(*range(300)), wide)


class Both:
    __slots__ = ("__dict__", "__private", "a")

    def __init__(self, a: Any) -> None:
        self.a = a
        self.__private = 2
        self.free = [a]


class WeakSlots:
    __slots__ = ("__weakref__", "x")


def test_plain_classes() -> None:
    check(Plain(a=1, b=[Plain(c=Plain())]))
    check([Plain(a=1), Plain(b=2), Plain(b=1, a=2), Plain()])
    check(Both(1), Both)
    weak = WeakSlots()
    check([weak, WeakSlots()], WeakSlots)
    weak.x = 1
    check([weak, WeakSlots()], WeakSlots)
    assert back(Plain(**{"not an identifier": 1, "": 2, "\ud800": 3})).__dict__ == {"not an identifier": 1, "": 2, "\ud800": 3}


def test_an_attribute_whose_name_is_no_str_is_refused() -> None:
    thing = Plain()
    thing.__dict__[1] = 2  # type: ignore[index]
    with pytest.raises(EncodeError, match="not a str"):
        npser.dumps([thing])


class Computed:
    """A property hides what is stored under its name."""

    def __init__(self) -> None:
        self.__dict__["x"] = 1

    @property
    def x(self) -> Any:
        raise AssertionError("the property ran")

    @x.setter
    def x(self, value: Any) -> None:
        raise AssertionError("the setter ran")


class Strict:
    def __setattr__(self, name: str, value: Any) -> None:
        raise AssertionError("__setattr__ ran")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"__getattr__ ran for {name}")

    def __new__(cls, *arguments: Any) -> Strict:
        raise AssertionError("__new__ ran")


def test_no_descriptor_and_no_setattr_runs() -> None:
    check(Computed(), Computed)
    strict = object.__new__(Strict)
    strict.__dict__["a"] = 1
    found = back([strict], Strict)
    assert found[0].__dict__ == {"a": 1}


MADE = itertools.count()


@dataclasses.dataclass
class Renewed:
    """A field that is a new array each time that it is read."""

    numbers: Any = None

    def __getattribute__(self, name: str) -> Any:
        return np.arange(5) + next(MADE) if name == "numbers" else object.__getattribute__(self, name)


def test_what_is_made_while_it_is_read_is_not_mistaken_for_what_came_before() -> None:
    """The id of an array that is gone may be given to the next one."""
    data = npser.dumps([Renewed(), [Renewed()], [[Renewed()]], [[[Renewed()]]], ({1: Renewed()},)])
    found = npser.loads(data)
    flat = [found[0], found[1][0], found[2][0][0], found[3][0][0][0], found[4][0][1]]
    firsts = [int(thing.contents["numbers"][0]) for thing in flat]
    assert len(set(firsts)) == 5, firsts


class State:
    """Its state is what `__getstate__` says, also in a subclass."""

    def __init__(self, n: Any) -> None:
        self.n = n
        self.cache = object()

    def __getstate__(self) -> Any:
        return {"n": self.n}


class StateChild(State):
    def __setstate__(self, state: Any) -> None:
        self.n = ("set", state["n"])


class Fussy(Stateful):
    def __setstate__(self, state: Any) -> None:
        raise KeyError("no")


def test_states() -> None:
    found = back([State(1), State([2])], State)
    assert [vars(thing) for thing in found] == [{"n": 1}, {"n": [2]}]
    assert back(StateChild(1), StateChild).n == ("set", 1)
    assert back([Stateful(i) for i in range(30)])[29].n == 29
    with pytest.raises(DecodeError, match="__setstate__"):
        back(Fussy(1), Fussy)


class SlotState:
    """What `object.__getstate__` gives is a pair where there are slots."""

    __slots__ = ("__dict__", "a", "b")

    def __getstate__(self) -> Any:
        return super().__getstate__()  # type: ignore[misc]


class SlotStateOnly:
    __slots__ = ("a", "b")

    def __getstate__(self) -> Any:
        return super().__getstate__()  # type: ignore[misc]


class Given:
    """Its state is whatever it was given; there is no __setstate__."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def __getstate__(self) -> Any:
        return self.state


def test_states_without_a_setstate() -> None:
    thing, other, empty = SlotState(), SlotStateOnly(), SlotStateOnly()
    thing.a, thing.free, other.b = 1, [2], 3
    assert difference([thing, SlotState()], back([thing, SlotState()], SlotState)) is None
    assert difference([other, empty], back([other, empty], SlotStateOnly)) is None
    assert vars(back(Given({"x": 1}), Given)) == {"x": 1}
    assert vars(back(Given(None), Given)) == {}
    for state in (5, "x", [1], {1: 2}, ({"a": 1}, {"b": 1}, 1), (1, 2), ({1: 1}, None)):
        with pytest.raises(EncodeError, match="no __setstate__"):
            npser.dumps([Given({}), Given(state)])


def test_a_class_without_a_dict_takes_only_what_it_has_slots_for() -> None:
    data = npser.dumps([Plain(a=1, zzz=2), Plain(a=1)]), npser.dumps(Plain(a=1, zzz=2)), npser.dumps([Given({"a": 1, "zzz": 2})])
    for payload in data:
        for cls in (SlotStateOnly, BareSlots, WeakSlots):
            for name in (class_name(Plain), class_name(Given)):
                try:
                    found = npser.loads(payload, classes={name: cls})
                except DecodeError:  # BareSlots has a field more
                    continue
                first = found[0] if isinstance(found, list) else found
                if type(first) is not npser.Placeholder:
                    assert getattr(first, "a", 1) == 1


class Falsy(Stateful):
    """`copyreg` would not call `__setstate__` for a state that is false; npser does."""

    def __getstate__(self) -> Any:
        return None

    def __setstate__(self, state: Any) -> None:
        self.n = ("from", state)


def test_a_state_of_none() -> None:
    assert back([Falsy(1)], Falsy)[0].n == ("from", None)


# ---------------------------------------------------------------------------------------------------------------- enums


class Meta(enum.EnumMeta):
    pass


class Made(enum.Enum, metaclass=Meta):
    A = 1


class Odd(enum.Enum):
    NONE = None
    TUPLE = (1, [2])
    FLOAT = 1.5
    NAN = float("nan")
    OBJECT = object()
    ALIAS = None
    METHOD = len


class Unhashable(enum.Enum):
    LIST = [1]  # noqa: RUF012
    DICT = {1: 2}  # noqa: RUF012


class Wide(enum.IntFlag, boundary=enum.KEEP):
    A = 1
    B = 1 << 80


class Tagged(str, enum.Enum):  # noqa: UP042
    A = "a"


def test_enums_of_every_sort() -> None:
    for cls in (Made, Odd, Unhashable, Tagged, Colour, Level):
        check(list(cls), cls)
        for member in cls:
            assert check(member, cls) is member
    assert back(Odd.ALIAS, Odd) is Odd.NONE


def test_flags() -> None:
    values = [Mode(i) for i in range(8)]
    assert all(a is b for a, b in zip(back(values), values, strict=True))
    check(Mode.READ | Mode.RUN)
    check(Mode(0))
    check(~Bits.A)
    check(Bits(0))
    check([Wide(0), Wide.A | Wide.B, Wide(1 << 100), Wide.B], Wide)
    with pytest.raises(DecodeError, match="no flags"):
        npser.loads(npser.dumps(Bits(64)), classes={class_name(Bits): Mode})


def test_enum_members_as_keys() -> None:
    check({Colour.RED: 1, Level.HIGH: 2, Mode.READ: 3})
    check([{Colour.RED: i} for i in range(50)])
    check({(Colour.BLUE, 1), frozenset({Level.LOW})})


def test_an_enum_loses_a_member() -> None:
    old, new = enum.Enum("E", "A B"), enum.Enum("E", "A")  # type: ignore[misc]
    with pytest.raises(DecodeError, match="no member 'B'"):
        npser.loads(npser.dumps(old.B), classes={class_name(old): new})
    assert npser.loads(npser.dumps(old.A), classes={class_name(old): new}) is new.A


def test_an_enum_member_is_known_by_its_name() -> None:
    old, new = enum.Enum("E", {"A": 1}), enum.Enum("E", {"A": "other", "B": 1})  # type: ignore[misc]
    assert npser.loads(npser.dumps(old.A), classes={class_name(old): new}) is new.A


# --------------------------------------------------------------------------------------------------------- placeholders

FORMS = {"object": Box(1), "named tuple": Point(1, 2), "state": Stateful(1), "enum": Colour.RED, "built": Packed(1)}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_allowed_is_a_placeholder(form: str) -> None:
    value = FORMS[form]
    found = npser.loads(npser.dumps(value))
    assert type(found) is npser.Placeholder
    assert found.form == form
    assert found.class_name == class_name(type(value))
    assert repr(found).startswith(f"<values:{type(value).__name__}(")
    assert f"classes=[{type(value).__name__}]" in repr(found)


PLACEHOLDING = [name for name, maker in MAKERS.items() if type(maker(1)[0]).__module__ == "values"]


@pytest.mark.parametrize("name", PLACEHOLDING)
def test_placeholders_encode_to_the_same_bytes(name: str) -> None:
    for n in (1, 2, 7, 100):
        values = MAKERS[name](n)
        for value in (values[0], values, {"a": values, "b": [{"c": value} for value in values]}, [values, values]):
            data = npser.dumps(value)
            assert npser.dumps(npser.loads(data)) == data
            assert difference(value, npser.loads(npser.dumps(npser.loads(data)), classes=CLASSES)) is None


def test_placeholders_of_several_classes_in_one_place() -> None:
    values = [Box(1), Point(1), Colour.RED, Stateful(1), Mode.READ, Plain(a=1), Plain(b=1), Box(2), None, 3]
    data = npser.dumps(values)
    assert npser.dumps(npser.loads(data)) == data


def test_a_layout_depends_on_the_classes_not_on_their_being_placeholders() -> None:
    for value in (
        [Box(1), Plain(a=1)],
        [[Box(1), Colour.RED], [Box(2), Colour.RED], [Box(3), Colour.GREEN]],
        {f"k{i}": Box(1) if i % 2 else Point(1) for i in range(30)},
        {f"k{i}": Box(i) for i in range(30)},
    ):
        data = npser.dumps(value)
        assert npser.dumps(npser.loads(data)) == data


def test_a_placeholder_that_holds_itself() -> None:
    box = Box(None)
    box.value = [box, Box(box)]
    data = npser.dumps(box)
    found = npser.loads(data)
    assert found.contents["value"][0] is found
    assert len(repr(found)) < 200
    assert npser.dumps(found) == data


def test_placeholders_as_keys_and_members() -> None:
    data = npser.dumps([{Colour.RED: 1, Point(1, 2): 2}, {Colour.GREEN}])
    found = npser.loads(data)
    assert npser.loads(npser.dumps(found), classes=CLASSES) == [{Colour.RED: 1, Point(1, 2): 2}, {Colour.GREEN}]


class Trap:
    """Whatever is called of it says so."""

    def _trap(self, *arguments: Any, **keywords: Any) -> Any:
        raise AssertionError("code of a class ran that was not allowed")

    __new__ = __init__ = __setattr__ = __getattr__ = __setstate__ = __reduce__ = __reduce_ex__ = _trap  # type: ignore[assignment]
    __eq__ = __hash__ = __repr__ = __del__ = __init_subclass__ = __class_getitem__ = _trap  # type: ignore[assignment]


def test_nothing_of_a_class_runs_that_is_not_allowed() -> None:
    source = npser.dumps([Plain(a=1), Plain(a=2), {Point(1): Stateful(1)}, Colour.RED])
    for name in (Plain, Point, Stateful, Colour):
        other = class_name(Trap).ljust(len(class_name(name)))
        data = source.replace(class_name(name).encode(), other[: len(class_name(name))].encode())
        npser.loads(data)
        repr(npser.loads(data))
        npser.dumps(npser.loads(data))


def test_a_name_on_the_wire_imports_nothing() -> None:
    import sys

    plain = class_name(Plain)
    data = npser.dumps(Plain(a=1)).replace(plain.encode(), b"this:Zen"[: len(plain)].ljust(len(plain), b"x"))
    found = npser.loads(data)
    assert type(found) is npser.Placeholder
    assert "this" not in sys.modules


HOSTILE = ["__class__", "__dict__", "__init__", "__slots__", "__weakref__", "'", '"', "\n", "]=1;import os#", "{x}", "f0", "k0", "\0",
           "", "\ud800", "x" * 10_000, "o", "objects", "self", "None", "class", "ﬁ", "a.b", "__setstate__"]  # fmt: skip


def test_hostile_names_of_fields_and_keys_are_only_names() -> None:
    for name in HOSTILE:
        row = {name: 1, "other": 2}
        for rows in ([row], [row] * 50, [row, {name: 3}], [row, {"z": 1, name: 2}] * 10):
            assert difference(rows, npser.loads(npser.dumps(rows))) is None
        things = [Plain(**row), Plain(**row)]
        for value in (things, [*things, Plain(**{name: 0})]):
            data = npser.dumps(value)
            assert npser.dumps(npser.loads(data)) == data
            assert difference(value, npser.loads(data, classes=[Plain])) is None
    everything = dict.fromkeys(HOSTILE, 1)
    assert difference([everything] * 3, npser.loads(npser.dumps([everything] * 3))) is None
    assert difference([Plain(**everything)] * 3, back([Plain(**everything)] * 3)) is None


def test_hostile_names_do_not_reach_what_a_class_defines() -> None:
    """A payload that names `__class__` as a field of an allowed class stores it, at most, in `__dict__`."""
    data = npser.dumps([Plain(**dict.fromkeys((), Box), a=1)] * 2)
    for name in ("__class__", "__dict__", "__init__", "__getstate__", "__hash__"):
        hostile = npser.dumps([Plain(**{name: 1}), Plain(**{name: 2})])
        for cls in (Plain, Box, Point, Order, Both, WeakSlots, Computed):
            try:
                found = npser.loads(hostile, classes={class_name(Plain): cls})
            except DecodeError:
                continue
            assert [type(thing) for thing in found] == [cls, cls]
    assert len(npser.loads(data)) == 2


# -------------------------------------------------------------------------------------------------------------- refused


class IntChild(int):
    pass


class StrChild(str):
    __slots__ = ()


class ListChild(list[Any]):
    pass


class DictChild(dict[str, Any]):
    pass


class TupleChild(tuple[Any, ...]):
    __slots__ = ()


class SetChild(set[Any]):
    pass


class FloatChild(float):
    pass


class BytesChild(bytes):
    pass


class OrderedChild(OrderedDict[str, Any]):
    pass


class ArrayChild(np.ndarray[Any, Any]):
    pass


class Zone(datetime.tzinfo):
    def utcoffset(self, when: Any) -> datetime.timedelta:
        return datetime.timedelta(hours=1)


class MomentChild(datetime.datetime):
    pass


class DayChild(datetime.date):
    pass


class DecimalChild(Decimal):
    pass


class UuidChild(uuid.UUID):
    pass


class PathChild(type(pathlib.PurePosixPath())):  # type: ignore[misc]
    pass


class CounterChild(Counter[str]):
    pass


class DequeChild(deque[int]):
    pass


class FractionChild(fractions.Fraction):
    pass


class AddressChild(ipaddress.IPv4Address):
    pass


def test_subclasses_of_types_that_are_written_in_python_are_objects() -> None:
    values: list[Any] = [UuidChild(int=5), FractionChild(1, 3), AddressChild("10.0.0.1")]
    if sys.version_info < (3, 13):  # from then on a path stores more of itself whenever somebody looks at it
        values.append(PathChild("a", "b"))
    for value in values:
        kind = type(value)
        if kind is not UuidChild:  # whose __getstate__ knows nothing of other attributes
            value.__dict__["more"] = [1]
        found = check(value, kind)
        assert found == value
        assert str(found) == str(value)
        assert type(npser.loads(npser.dumps(value))) is npser.Placeholder


class Abstract(abc.ABC):  # noqa: B024
    pass


class Holder:
    """A plain class, but what it holds is not."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


class PickledBySize(UserDict[str, Any]):
    pass


@dataclasses.dataclass
class DictRecord(dict[str, int]):
    x: int = 1


REFUSED: dict[str, Any] = {
    "lambda": lambda: 1,
    "function": check,
    "builtin": len,
    "method": [].append,
    "module": re,
    "generator": (x for x in ()),
    "iterator": iter([]),
    "lock": threading.Lock(),
    "file": io.BytesIO(),
    "exception": ValueError("x"),
    "int subclass": IntChild(1),
    "str subclass": StrChild("a"),
    "list subclass": ListChild([1]),
    "dict subclass": DictChild(a=1),
    "tuple subclass": TupleChild((1,)),
    "set subclass": SetChild(),
    "float subclass": FloatChild(1.5),
    "bytes subclass": BytesChild(b"a"),
    "OrderedDict subclass": OrderedChild(a=1),
    "datetime subclass": MomentChild(2020, 1, 1),
    "date subclass": DayChild(2020, 1, 1),
    "Decimal subclass": DecimalChild("1.5"),
    "Counter subclass": CounterChild("a"),
    "deque subclass": DequeChild(),
    "zone": Zone(),
    "dataclass that is a dict": DictRecord(),
    "matrix": np.matrix([[1]]) if hasattr(np, "matrix") else None,
    "ndarray subclass": np.zeros(2).view(ArrayChild),
    "masked array": np.ma.masked_array([1, 2], [True, False]),
    "recarray": np.rec.array([(1,)], dtype=[("a", "i4")]),
    "masked": np.ma.masked,
    "memoryview": memoryview(b"x"),
    "type": int,
    "class": Box,
    "enum class": Colour,
    "type alias": list[int],
    "pattern": re.compile("x"),
    "NotImplemented": NotImplemented,
    "object": object(),
    "namespace": types.SimpleNamespace(a=1),
    "mapping proxy": types.MappingProxyType({}),
    "dict view": {}.keys(),
    "weak reference": weakref.ref(Box),
    "partial": functools.partial(len),
    "property": property(),
    "code": check.__code__,
    "thread": threading.Thread(),
    "void with objects": np.zeros(1, [("a", "O")])[0],
    "dtype": np.dtype("f4"),
    "structured array with objects": np.zeros(2, [("a", "O"), ("b", "i4")]),
    "generic dtype object": np.dtype(object),
}  # fmt: skip


def is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_given_back_is_refused_with_its_path_and_type(name: str) -> None:
    value = REFUSED[name]
    kind = type(value).__qualname__
    for wrapped, path in (
        (value, "$"),
        ([1, value], "$[1]"),
        ([0] * 50 + [value], "$[50]"),
        ({"orders": [{"x": 0}, {"x": 0}, {"x": 0}, {"x": value}]}, "$['orders'][3]['x']"),
        (Box(value), "$.value"),
        ((1, {"a": [Point(0, value)]}), "$[1]['a'][0].y"),
        *([({value: 1}, "$.keys()[0]"), ([{1: 0}, {value: 1}], "$[1].keys()[0]")] if is_hashable(value) else []),
    ):
        with pytest.raises(EncodeError) as caught:
            npser.dumps(wrapped)
        assert caught.value.path is not None
        assert caught.value.path.startswith(path), caught.value
        if "with objects" not in name and name != "thread":
            assert kind.rpartition(".")[2] in caught.value.message, caught.value
        assert isinstance(caught.value, TypeError)


def test_what_a_plain_object_holds_is_refused_at_its_place() -> None:
    with pytest.raises(EncodeError, match=r"lock.* in \$\['a'\]\[0\]\.lock"):
        npser.dumps({"a": [Holder()]})


def test_abstract_and_user_classes() -> None:
    check(Abstract(), Abstract)
    check(PickledBySize(a=1), PickledBySize)


class NoHash(type):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(cls, other: object) -> bool:
        return cls is other


class Unkeyed(metaclass=NoHash):
    pass


def test_a_class_that_has_no_hash_itself_is_a_type_error() -> None:
    for value in (Unkeyed(), [Unkeyed(), 1], {"a": Unkeyed()}):
        with pytest.raises(TypeError):
            npser.dumps(value)


# -------------------------------------------------------------------------------------------------------------- default


def test_default_gives_a_substitute_anywhere() -> None:
    one = IntChild(1)
    for value, expected in (
        (one, 1),
        ([one, 2, one], [1, 2, 1]),
        ({"a": {"b": (one,)}}, {"a": {"b": (1,)}}),
        ({one: "key"}, {1: "key"}),
        ({(one, 2): "in a key"}, {(1, 2): "in a key"}),
        ({one}, {1}),
        ([{"x": one}, {"x": 2}], [{"x": 1}, {"x": 2}]),
        (np.array([one, None], object), np.array([1, None], object)),
    ):
        assert difference(expected, npser.loads(npser.dumps(value, default=int))) is None
    assert npser.loads(npser.dumps(Box(one), default=int), classes=[Box]) == Box(1)


def test_default_may_give_anything_that_npser_knows() -> None:
    given = {IntChild: lambda v: [1, {"n": int(v)}], type(len): lambda v: np.arange(3), type: lambda v: v.__name__}
    found = npser.loads(npser.dumps([IntChild(5), len, int, IntChild(6)], default=lambda v: given[type(v)](v)))
    assert difference([[1, {"n": 5}], np.arange(3), "int", [1, {"n": 6}]], found) is None


def test_default_is_asked_about_values_of_known_types_that_are_refused() -> None:
    when = datetime.datetime(2020, 1, 1, tzinfo=Zone())
    records = np.zeros(2, [("a", "O"), ("b", "i4")])
    for refused, substitute in (
        (when, "when"),
        (when.timetz(), "time"),
        (records, "records"),
        (records[0], "record"),
        (defaultdict(lambda: 1, a=2), "dict"),
    ):
        for wrap in (
            lambda v: v,
            lambda v: [v],
            lambda v: [v, v, 1],
            lambda v: {"a": v, "b": 1, "c": [v]},
            lambda v: [{"a": v, "b": i} for i in range(20)],
            lambda v: (v, None, datetime.datetime(2020, 1, 1), np.arange(2), defaultdict(list)),
            lambda v: Box(v),
        ):
            with pytest.raises(EncodeError):
                npser.dumps(wrap(refused))
            found = npser.loads(npser.dumps(wrap(refused), default=lambda v: substitute), classes=[Box])  # noqa: B023
            assert difference(wrap(substitute), found) is None
    assert npser.loads(npser.dumps({when: 1}, default=lambda v: 7)) == {7: 1}


def test_default_does_not_change_what_needs_no_default() -> None:
    for name in MAKERS:
        for value in (MAKERS[name](7), {"a": MAKERS[name](3), "b": (MAKERS[name](1), 1)}, MAKERS[name](3)[2]):
            found = npser.loads(npser.dumps(value, default=str), classes=CLASSES)
            assert difference(value, found) is None


def test_default_is_asked_again_about_what_it_gives() -> None:
    chain = {IntChild: StrChild, StrChild: lambda v: [FloatChild(v)], FloatChild: float}
    assert npser.loads(npser.dumps(IntChild(3), default=lambda v: chain[type(v)](v))) == [3.0]
    with pytest.raises(EncodeError, match="no substitute"):
        npser.dumps([IntChild(3)], default=lambda v: v)


def test_a_hook_that_nests_without_end_is_refused() -> None:
    with pytest.raises(EncodeError, match="512"):
        npser.dumps(IntChild(1), default=lambda v: [v])


def test_what_default_raises_comes_through() -> None:
    def refuse(value: Any) -> Any:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        npser.dumps([1, IntChild(2)], default=refuse)
    assert npser.dumps([1, 2], default=refuse) == npser.dumps([1, 2])


def test_a_hook_may_change_the_list_that_is_being_walked() -> None:
    items: list[Any] = [1, IntChild(2), [3, IntChild(4)], "x"] * 10

    def shrink(value: Any) -> Any:
        items.clear()
        return int(value)

    assert npser.loads(npser.dumps(items, default=shrink)) == [1, 2, [3, 4], "x"] * 10
    rows: list[Any] = [{"a": IntChild(1), "b": [1]}, {"a": 2, "b": [2]}]

    def grow(value: Any) -> Any:
        rows[1]["b"].append(3)
        rows[1]["c"] = 4
        rows.append(5)
        return int(value)

    found = npser.loads(npser.dumps(rows, default=grow))
    assert found in ([{"a": 1, "b": [1]}, {"a": 2, "b": [2]}], [{"a": 1, "b": [1]}, {"a": 2, "b": [2, 3]}])


def test_a_hook_that_drops_what_was_written_does_not_confuse_what_comes() -> None:
    """Arrays are known by id(); those that were written must not be freed before the end."""
    arrays: list[Any] = [np.arange(3), [np.arange(3) + 1], [[IntChild(0)]]]

    def drop(value: Any) -> Any:
        arrays[0] = arrays[1] = None
        return [[np.arange(3) + 10 + i] for i in range(50)]

    found = npser.loads(npser.dumps(arrays, default=drop))
    assert [int(wrapped[0][0]) for wrapped in found[2][0][0]] == list(range(10, 60))


def test_a_hook_may_call_dumps() -> None:
    found = npser.loads(npser.dumps([IntChild(1), [IntChild(2)]], default=lambda v: npser.dumps([int(v)])))
    assert [npser.loads(found[0]), npser.loads(found[1][0])] == [[1], [2]]


def test_substitutes_that_cannot_be_keys_are_refused_when_encoding() -> None:
    with pytest.raises(EncodeError):
        npser.dumps({IntChild(1): 1}, default=lambda v: [int(v)])
    with pytest.raises(EncodeError):
        npser.dumps({IntChild(1)}, default=lambda v: {int(v): 1})


def test_substitutes_that_become_one_key_are_refused_when_encoding() -> None:
    with pytest.raises(EncodeError, match="twice"):
        npser.dumps({IntChild(1): 1, IntChild(2): 2}, default=lambda v: "same")
    with pytest.raises(EncodeError, match="twice"):
        npser.dumps({IntChild(1), IntChild(2)}, default=lambda v: "same")
    with pytest.raises(EncodeError, match="twice"):
        npser.dumps([{"same": 1, IntChild(2): 2}], default=lambda v: "same")


def test_a_class_whose_name_no_reader_takes_is_refused() -> None:
    cls = type("A", (), {"__module__": "a\0b"})
    with pytest.raises(npser.EncodeError, match="NUL") as caught:
        npser.dumps([cls()])
    assert caught.value.path == "$[0]"
    npser.register(cls, name="a.A")
    try:
        assert type(npser.loads(npser.dumps(cls()))) is cls
    finally:
        npser.unregister(cls)
