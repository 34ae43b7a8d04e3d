"""No decode path calls anything of a class that the caller did not allow, and of an allowed one only what is documented.

Strategy: every payload here carries the very names of classes that are importable and booby-trapped: whatever Python
can be made to call of a class, an instance or a metaclass puts its name on a list. The payloads are made out of
placeholders, so writing them touches no trap either. Beside the traps an audit hook listens to the interpreter itself
(imports, opened files, compiled text), and `sys.modules` is replaced by one that notes who looks into it.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import enum
import importlib
import importlib.util
import re
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

import npser
from npser.shapes import build
from npser.types import registry
from same import difference
from values import CLASSES

Placeholder = npser.Placeholder

HOT: Final = 2 * build.HOT_AFTER + 40
"""Reads after which any shape has a function of its own, if it gets one."""

RAN: Final[list[str]] = []
"""What ran, while `ARMED` says that nothing may."""

ARMED: Final[list[bool]] = [False]

MODULE: Final = types.ModuleType("npser_traps")


# ------------------------------------------------------------------------------------------------------------- the traps


class Ran(BaseException):
    """Not an Exception, so that nobody takes it for a value that is merely wrong."""


def watched_import(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """numpy asks for parts of its own that are there already; whatever else is imported is noted."""

    def run(name: str, *arguments: Any, **keywords: Any) -> Any:
        if ARMED[0] and name.partition(".")[0] != "numpy":
            RAN.append("__import__")
            raise Ran(name)
        return otherwise(name, *arguments, **keywords)

    return run


def hook(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A function that notes that it ran, and until the traps are armed does what the one that it replaces does."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        if ARMED[0]:
            RAN.append(name)
            raise Ran(name)
        return otherwise(*arguments, **keywords)

    return run


OF_INSTANCES: Final[tuple[str, ...]] = (
    *("__init__", "__post_init__", "__setstate__", "__getstate__", "__reduce__", "__reduce_ex__", "__getnewargs__"),
    *("__getnewargs_ex__", "__copy__", "__deepcopy__", "__setattr__", "__delattr__", "__getattr__", "__getattribute__"),
    *("__hash__", "__eq__", "__ne__", "__lt__", "__bool__", "__len__", "__iter__", "__getitem__", "__setitem__"),
    *("__contains__", "__call__", "__repr__", "__str__", "__format__", "__bytes__", "__index__", "__int__", "__float__"),
    *("__del__", "__enter__", "__dir__", "__sizeof__", "__array__", "__buffer__", "__fspath__", "__missing__"),
    *("__get__", "__set__", "__delete__", "__set_name__"),
)
OF_CLASSES: Final = ("__new__", "__init_subclass__", "__class_getitem__", "__subclasshook__", "_missing_", "_make")
OF_METACLASSES: Final = (
    *("__call__", "__getattribute__", "__getattr__", "__setattr__", "__hash__", "__eq__", "__instancecheck__"),
    *("__subclasscheck__", "__subclasses__", "__repr__", "__iter__", "__len__", "__contains__", "__getitem__", "__dir__"),
    *("__prepare__", "__or__", "mro"),
)


def _default(owner: Any, name: str) -> Callable[..., Any]:
    return getattr(owner, name, None) or (lambda *_: None)


class Meta(type):
    """A metaclass of traps."""

    for _name in OF_METACLASSES:
        locals()[_name] = hook(f"type.{_name}", _default(type, _name))
    del _name


class EnumMeta(enum.EnumMeta):
    """The same for enums."""

    for _name in OF_METACLASSES:
        if _name not in ("__prepare__", "mro"):
            locals()[_name] = hook(f"type.{_name}", _default(enum.EnumMeta, _name))
    del _name


class Descriptor:
    """Whatever is done to an attribute."""

    __get__ = hook("descriptor.__get__", lambda self, *_: self)
    __set__ = hook("descriptor.__set__", lambda *_: None)
    __delete__ = hook("descriptor.__delete__", lambda *_: None)
    __set_name__ = hook("descriptor.__set_name__", lambda *_: None)


def trapped_body(base: type) -> dict[str, Any]:
    """What stands in a class of traps."""
    body: dict[str, Any] = {"__module__": MODULE.__name__}
    for name in OF_INSTANCES:
        body[name] = hook(name, _default(base, name))
    for name in OF_CLASSES:
        body[name] = classmethod(hook(name, lambda *_, **__: None))
    body["__new__"] = staticmethod(hook("__new__", base.__new__))
    for name in ("x", "y", "value", "contents"):
        body[name] = property(*(hook(f"{name}.{way}", lambda *_: None) for way in ("fget", "fset", "fdel")))
    return body | {"z": Descriptor()}


def make_traps() -> None:
    """Classes of every form under the names that the payloads carry."""
    body = trapped_body(object)
    MODULE.Thing = Meta("Thing", (), {**body})  # type: ignore[attr-defined]
    MODULE.Outer = Meta("Outer", (), {**body, "Inner": Meta("Inner", (), {**body, "__qualname__": "Outer.Inner"})})  # type: ignore[attr-defined]
    fields = {"_fields": ("x", "y"), "_field_defaults": Descriptor(), "__slots__": ()}
    MODULE.Pair = Meta("Pair", (tuple,), {**trapped_body(tuple), **fields})  # type: ignore[attr-defined]

    class Plain(enum.Flag, metaclass=EnumMeta):
        RED = 1
        GREEN = 2
        _missing_ = classmethod(hook("_missing_", lambda *_: None))
        __hash__ = hook("__hash__", enum.Flag.__hash__)  # type: ignore[assignment]
        __eq__ = hook("__eq__", object.__eq__)  # type: ignore[assignment]

    MODULE.Colour = Plain  # type: ignore[attr-defined]


sys.modules[MODULE.__name__] = MODULE
make_traps()

THING, INNER, PAIR, COLOUR = (f"{MODULE.__name__}:{name}" for name in ("Thing", "Outer.Inner", "Pair", "Colour"))
UNIMPORTED: Final = "npser_bait_that_nobody_imported"


class Finder:
    """Says that it can import what nobody has imported, and notes who asks."""

    def find_spec(self, name: str, *_: Any) -> Any:
        if name.startswith(UNIMPORTED):
            RAN.append(f"import {name}")


class Modules(dict[str, Any]):
    """`sys.modules` that notes who looks into it."""

    for _name in ("__getitem__", "__contains__", "__iter__", "get", "items", "keys", "values", "pop", "setdefault", "copy"):
        locals()[_name] = hook(f"sys.modules.{_name}", getattr(dict, _name))
    del _name


HARMLESS: Final = frozenset(
    {"compile", "exec", "code.__new__", "object.__getattr__", "object.__setattr__", "builtins.id", "marshal.dumps"}
)
"""Audit events of generating code, of looking at frames and functions, and of proving types while writing: what marshal
writes is looked at and thrown away, and nothing ever reads it as marshal."""

OWN_SOURCE: Final = re.compile(r"def make\((?:things|row|blank|setters|)\):\n[\x00-\x7f]*\Z")


def audit(event: str, arguments: tuple[Any, ...]) -> None:
    if not ARMED[0]:
        return
    if event == "compile":
        source = arguments[0]
        source = source.decode() if isinstance(source, bytes) else source
        if type(source) is not str or not OWN_SOURCE.match(source) or "npser_" in source or "bait" in source:
            RAN.append(f"compile {source!r:.200}")
    elif event == "exec":
        RAN.append("exec")
    elif event not in HARMLESS and not event.startswith(("sys._getframe", "gc.", "cpython.", "function.", "time.")):
        RAN.append(event)


_hooked: list[bool] = []


@contextmanager
def armed() -> Iterator[None]:
    """Nothing of the traps may run in here, nothing be imported, opened or looked up in `sys.modules`."""
    if not _hooked:  # an audit hook cannot be taken away again
        sys.addaudithook(audit)
        _hooked.append(True)
    finder: Any = Finder()
    modules = sys.modules
    names = ((builtins, "__import__"), (importlib, "import_module"), (importlib.util, "find_spec"))
    saved = [(owner, name, getattr(owner, name)) for owner, name in names]
    sys.meta_path.insert(0, finder)
    for owner, name, value in saved:
        setattr(owner, name, watched_import(value) if name == "__import__" else hook(name, value))
    sys.modules = Modules(modules)
    RAN.clear()
    ARMED[0] = True
    try:
        yield
    finally:
        ARMED[0] = False
        sys.modules = modules
        for owner, name, value in saved:
            setattr(owner, name, value)
        sys.meta_path.remove(finder)


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    build.SHAPES.clear()
    before = set(registry._by_class)
    yield
    for cls in set(registry._by_class) - before:
        npser.unregister(cls)
    RAN.clear()


def test_the_traps_work() -> None:
    """What would run if somebody did what must not be done."""
    thing = object.__new__(MODULE.Thing)
    ways: dict[str, Callable[[], Any]] = {
        "type.__call__": lambda: MODULE.Thing(),
        "__init__": lambda: vars_of(MODULE.Thing)["__init__"](thing),
        "__setattr__": lambda: setattr(thing, "x", 1),
        "__getattribute__": lambda: thing.x,
        "__hash__": lambda: {thing},
        "type.__hash__": lambda: {MODULE.Thing},
        "type.__getattribute__": lambda: MODULE.Thing.x,
        "type.__instancecheck__": lambda: isinstance(1, MODULE.Thing),
        "type.__subclasscheck__": lambda: issubclass(int, MODULE.Thing),
        "_missing_": lambda: vars_of(MODULE.Colour)["_missing_"].__func__(MODULE.Colour, 4),
        "__import__": lambda: __import__("this"),
        "sys.modules.get": lambda: sys.modules.get("this"),
        "sys.modules.__getitem__": lambda: sys.modules["this"],
        "open": lambda: open(__file__).close(),
    }
    for name, way in ways.items():
        with armed():
            with suppress(Ran, Exception):
                way()
            ran = list(RAN)
        assert name in ran, (name, ran)


def vars_of(cls: Any) -> Any:
    return type.__dict__["__dict__"].__get__(cls)


# ---------------------------------------------------------------------------------------------------------- the payloads


def thing(name: str = THING, **contents: Any) -> Placeholder:
    return Placeholder(name, "object", contents)


def pair(x: Any = 1, y: Any = "b") -> Placeholder:
    return Placeholder(PAIR, "named tuple", {"x": x, "y": y})


FORMS: Final[dict[str, Callable[[int], Placeholder]]] = {
    "record": lambda i: thing(x=i, y=str(i), z=None),
    "record without fields": lambda _: thing(),
    "inner class": lambda i: thing(INNER, value=i),
    "not imported": lambda i: thing(f"{UNIMPORTED}:Thing", x=i),
    "submodule": lambda i: thing(f"{UNIMPORTED}.more:Thing", x=i),
    "varied record": lambda i: thing(**({"x": i} if i % 2 else {"y": i, "value": str(i)})),
    "state": lambda i: Placeholder(THING, "state", {"x": i, "contents": [i]}),
    "pair of states": lambda i: Placeholder(THING, "state", ({"x": i}, {"z": i})),
    "other state": lambda i: Placeholder(THING, "state", i),
    "named tuple": pair,
    "enum": lambda i: Placeholder(COLOUR, "enum", ("RED", "GREEN", "BLUE", "_missing_")[i % 4]),
    "flags": lambda i: Placeholder(COLOUR, "enum", 3 + 4 * i),
    "versioned": lambda i: Placeholder(THING, "object", {"x": i, "y": i}, None, 3),
    "record as enum": lambda i: Placeholder(THING, "enum", "x" if i % 2 else "mro"),
    "enum as record": lambda i: thing(COLOUR, _value_=i, _name_="RED"),
    "tuple as state": lambda i: Placeholder(PAIR, "state", {"x": i}),
    "nested": lambda i: thing(x=thing(y=pair(thing(z=i), [thing(x=i)])), y={"a": thing(x=1)}),
}

Make = Callable[[int], Any]

PLACES: Final[dict[str, Callable[[Make], Any]]] = {
    "alone": lambda make: make(1),
    "list": lambda make: [make(i) for i in range(5)],
    "batch": lambda make: [make(i) for i in range(80)],
    "tuple": lambda make: (make(0), 1, make(1)),
    "deque": lambda make: collections.deque([make(0), make(2)], maxlen=4),
    "slice": lambda make: slice(make(0), None, make(1)),
    "value": lambda make: {"a": make(0), "b": [make(1)]},
    "key": lambda make: {make(0): 1},
    "key of a counter": lambda make: collections.Counter({make(0): 1}),
    "key in a tuple": lambda make: {(1, make(0)): 1, (2, "x"): make(1)},
    "member": lambda make: {make(0)},
    "member of a frozenset": lambda make: {"in": frozenset({(make(1),)})},
    "column": lambda make: [{"id": i, "of": make(i)} for i in range(40)],
    "wide column": lambda make: [{f"k{j}": make(j) for j in range(9)} for _ in range(40)],
    "varied column": lambda make: [{"of": make(i)} if i % 3 else {"id": i} for i in range(40)],
    "nullable": lambda make: [make(i) if i % 3 else None for i in range(20)],
    "mixed": lambda make: [1, make(0), "x", None, make(1), 2.5, [make(2)], {"a": make(3)}],
    "ordered": lambda make: collections.OrderedDict(a=make(0)),
    "default": lambda make: collections.defaultdict(list, a=[make(0)]),
    "rows": lambda make: [[1, make(i)] for i in range(30)],
    "object array": lambda make: np.array([make(0), make(1), None], object),
}


def shared(make: Make) -> Any:
    one = make(0)
    return [one, {"again": one, "more": [one, make(1)]}]


def looped(make: Make) -> Any:
    one = make(0)
    if one.form == "object":
        one.contents["itself"] = [one]
    return [one, one]


def as_key(make: Make) -> Any:
    one = make(0)
    return [one, {one: 1}, [{one}]]


SHARED: Final = {"shared": shared, "looped": looped, "shared as a key": as_key}
"""Only of what is numbered: no named tuples, no enums."""


def payloads() -> Iterator[tuple[str, bytes]]:
    for form, make in FORMS.items():
        for place, put in (PLACES | SHARED).items():
            value = put(make)
            yield f"{form}, {place}", npser.dumps(value)
            if place in ("list", "value", "mixed", "shared", "looped", "key", "column"):
                yield f"{form}, {place}, preserved", npser.dumps(value, identity="preserve")


@dataclasses.dataclass
class Other:
    x: Any = None
    y: Any = None
    z: Any = None


class Sub(Other):
    """A subclass of what may be allowed; nothing but its own name may build it."""


class OtherPair(NamedTuple):
    x: Any
    y: Any


class OtherColour(enum.Flag):
    RED = 1
    GREEN = 2


OTHERS: Final = (Other, Sub, OtherPair, OtherColour, *CLASSES)

OPTIONS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"classes": OTHERS},
    {"classes": {f"{MODULE.__name__}.Thing": Other, "Thing": Other, THING.lower(): Other, f"{THING} ": Other}},
    {"tables": "columns"},
    {"numbers": "array", "copy": "never"},
    {"tables": "columns", "numbers": "array", "classes": OTHERS},
)


def classes_in(value: Any, seen: set[int]) -> Iterator[type]:
    """The types of all that a value is made of."""
    if id(value) in seen:
        return
    seen.add(id(value))
    yield type(value)
    inside: list[Any] = []
    if isinstance(value, Placeholder):
        inside = [value.contents]
    elif isinstance(value, dict):
        inside = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        inside = list(value)
    elif isinstance(value, slice):
        inside = [value.start, value.stop, value.step]
    elif isinstance(value, np.ndarray) and value.dtype == object:
        inside = list(value.ravel())
    for item in inside:
        yield from classes_in(item, seen)


PLAIN_TYPES: Final = frozenset(
    {int, str, float, bool, type(None), list, tuple, dict, set, frozenset, slice, Placeholder, np.ndarray}
    | {collections.deque, collections.OrderedDict, collections.defaultdict, collections.Counter, type(npser.MISSING)}
)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_runs_of_a_class_that_is_not_allowed(form: str) -> None:
    for name, data in payloads():
        if not name.startswith(f"{form}, "):
            continue
        for options in OPTIONS:
            with armed():
                found = npser.loads(data, **options)
                again = None if "tables" in options else npser.dumps(found, identity="preserve" if "preserved" in name else "objects")
            assert not RAN, (name, options)
            assert set(classes_in(found, set())) <= PLAIN_TYPES, (name, options)
            if type(found) in (list, dict, Placeholder):  # the repr of an array imports parts of numpy
                with armed():
                    repr(found)
                assert not RAN
            assert "tables" in options or Placeholder in classes_in(found, set()), name
            if again is not None and not (options.get("numbers") == "array" and "state" in name):
                assert again == data, (name, options)


@pytest.mark.parametrize("form", FORMS)
def test_nothing_runs_when_shapes_are_hot(form: str) -> None:
    for name, data in payloads():
        if name.startswith(f"{form}, ") and not name.endswith("preserved") and "batch" not in name:
            with armed():
                for _ in range(HOT):
                    found = npser.loads(data)
                again = npser.dumps(found)
            assert not RAN, name
            assert again == data, name


def test_some_of_those_shapes_were_hot() -> None:
    data = npser.dumps(PLACES["value"](FORMS["nested"]))
    before = build.SHAPES.hot
    for _ in range(HOT):
        npser.loads(data)
    assert build.SHAPES.hot > before


def test_nothing_runs_when_unknown_classes_are_refused() -> None:
    for name, data in payloads():
        for options in ({}, {"classes": OTHERS}):
            with armed(), pytest.raises(npser.ClassNotAllowedError, match="pass classes="):
                npser.loads(data, unknown="refuse", **options)
            assert not RAN, name


def test_nothing_runs_of_damaged_payloads() -> None:
    """Names that are cut, joined and mixed up are names of no class, too."""
    for name, data in payloads():
        if "batch" in name or "nested" in name:
            continue
        at = data.find(b"npser_")
        for end in range(at, min(len(data), at + 60), 3):
            for damaged in (data[:end], data[:end] + b"\0" + data[end + 1 :], data[:end] + data[end + 1 :]):
                with armed():
                    try:
                        npser.loads(damaged, classes=OTHERS)
                    except npser.NpserError as error:
                        str(error)
                assert not RAN, (name, damaged.hex())


def test_no_subclass_and_no_base_is_built_by_accident() -> None:
    for cls, other in ((Other, Sub), (Sub, Other)):
        data = npser.dumps([cls(1, 2, 3), cls(4, 5, 6)])
        for options in ({"classes": [other]}, {"classes": {"x:Y": cls}}, {"classes": {cls.__qualname__: cls}}):
            assert {type(found) for found in npser.loads(data, **options)} == {Placeholder}
    npser.register(Sub, name="the:Sub")
    assert type(npser.loads(npser.dumps(thing(registry.class_name(Sub), x=1)))) is Placeholder


def test_names_of_builtin_things_build_nothing() -> None:
    names = ["builtins:eval", "builtins:object", "builtins:type", "builtins:dict", "os:system", "subprocess:Popen", "collections:deque"]
    names += ["npser:Placeholder", "npser.types.placeholder:Placeholder", "npser.codec:loads", "datetime:date", "", ":", "a:b:c", "os"]
    for name in names:
        for form, contents in (("object", {"a": 1}), ("state", {"a": 1}), ("named tuple", {"a": 1}), ("enum", "a")):
            data = npser.dumps([Placeholder(name, form, contents)] * 1)  # type: ignore[arg-type]
            with armed():
                (found,) = npser.loads(data, classes=OTHERS)
            assert not RAN
            assert type(found) is Placeholder
            assert (found.class_name, found.form, found.contents) == (name, form, contents)


# ----------------------------------------------------------------------------------------- what runs of an allowed class


def loud(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A function that notes that it ran, and goes on."""

    def run(*arguments: Any, **keywords: Any) -> Any:
        if ARMED[0]:
            RAN.append(name)
        return otherwise(*arguments, **keywords)

    return run


QUIET_OF_INSTANCES: Final = tuple(
    name
    for name in OF_INSTANCES
    if hasattr(object, name) and name not in ("__getattribute__", "__getstate__", "__hash__", "__eq__", "__repr__", "__str__")
)


def loud_body() -> dict[str, Any]:
    body: dict[str, Any] = {name: loud(name, getattr(object, name)) for name in QUIET_OF_INSTANCES}
    body["__new__"] = staticmethod(loud("__new__", lambda cls, *_: object.__new__(cls)))
    body["__init__"] = loud("__init__", lambda *_: None)
    body["__post_init__"] = loud("__post_init__", lambda *_: None)
    body["__eq__"] = loud("__eq__", lambda a, b: a is b)
    body["__hash__"] = loud("__hash__", lambda self: 7)
    body["prop"] = property(*(loud(f"prop.{way}", lambda *_: None) for way in ("fget", "fset", "fdel")))
    return {"__module__": "loud", **body}


class LoudMeta(type):
    """Notes what is asked of the class itself, but for its attributes: a schema is worked out of those."""

    __call__ = loud("type.__call__", type.__call__)
    __instancecheck__ = loud("type.__instancecheck__", type.__instancecheck__)
    __subclasscheck__ = loud("type.__subclasscheck__", type.__subclasscheck__)
    __setattr__ = loud("type.__setattr__", type.__setattr__)


def loud_class(name: str, **more: Any) -> Any:
    return LoudMeta(name, (), loud_body() | more)


LOUD: Final[dict[str, Callable[[], Any]]] = {
    "plain": lambda: loud_class("Thing"),
    "with plain stores": lambda: loud_class("Thing", __setattr__=object.__setattr__),
    "slots": lambda: loud_class("Thing", __slots__=("x", "y")),
    "both": lambda: loud_class("Thing", __slots__=("x", "__dict__")),
    "own getattribute": lambda: loud_class("Thing", __getattribute__=loud("__getattribute__", object.__getattribute__)),
    "data descriptors": lambda: loud_class("Thing", x=property(loud("x.fget", int)), y=LoudDescriptor()),
    "methods of those names": lambda: loud_class("Thing", x=loud("x()", int), y=staticmethod(loud("y()", int))),
    "dataclass": lambda: dataclasses.dataclass(eq=False)(
        loud_class("Thing", __annotations__={"x": int, "y": int, "n": int}, n=dataclasses.field(default=5), __init__=None)
    ),
}


class LoudDescriptor:
    __get__ = loud("y.__get__", lambda self, *_: self)
    __set__ = loud("y.__set__", lambda *_: None)


def slots_of(found: Any) -> dict[str, Any]:
    """The attributes of an object, past all code of its class."""
    values = {}
    for base in type(found).__mro__:
        for name, member in vars(base).items():
            if isinstance(member, types.MemberDescriptorType):
                with suppress(AttributeError):  # not set
                    values[name] = member.__get__(found)
            elif isinstance(member, types.GetSetDescriptorType) and name == "__dict__":
                values |= member.__get__(found)
    return values


@pytest.mark.parametrize("kind", LOUD)
def test_of_an_allowed_class_nothing_runs_where_nothing_is_documented(kind: str) -> None:
    cls = LOUD[kind]()
    name = registry.class_name(cls)
    data = [
        npser.dumps(value)
        for value in (
            thing(name, x=1, y="b"),
            [thing(name, x=i, y="b") for i in range(40)],
            {"a": thing(name, x=1, y=[thing(name, x=2, y=3)])},
            [thing(name, x=1, y=1), thing(name, y=2, x=2)],
        )
    ]
    for payload in data:
        with armed():
            for _ in range(HOT):
                found = npser.loads(payload, classes=[cls])
        assert not RAN
        first = found["a"] if type(found) is dict else found[0] if type(found) is list else found
        assert type(first) is cls
        assert slots_of(first).keys() - {"n"} == {"x", "y"}


def test_a_setstate_runs_once_an_object_and_nothing_else() -> None:
    seen: list[Any] = []

    def keep(self: Any, state: Any) -> None:
        seen.append(state)
        self.__dict__["kept"] = state

    cls = loud_class("Thing", __setstate__=loud("__setstate__", keep), __getstate__=loud("__getstate__", lambda _: 1))
    name = registry.class_name(cls)
    for contents in ({"x": 1}, (1, 2), None, [3]):
        data = npser.dumps([Placeholder(name, "state", contents)] * 1 + [Placeholder(name, "state", contents)])
        seen.clear()
        with armed():
            found = npser.loads(data, classes=[cls])
        assert RAN == ["__setstate__", "__setstate__"]
        assert seen == [contents, contents]
        assert [type(one) for one in found] == [cls, cls]


def test_hash_and_equality_run_where_an_object_is_hashed() -> None:
    cls = loud_class("Thing")
    name = registry.class_name(cls)
    data = npser.dumps([{thing(name, x=1): 1}, {thing(name, x=2)}, frozenset({thing(name, x=3)})])
    with armed():
        npser.loads(data, classes=[cls])
    assert set(RAN) == {"__hash__"}


def test_post_init_runs_only_where_it_was_asked_for() -> None:
    for asked in ("skip", "call"):
        cls = LOUD["dataclass"]()
        npser.register(cls, post_init=asked)
        data = npser.dumps([thing(registry.class_name(cls), x=i, y=i) for i in range(3)])
        with armed():
            found = npser.loads(data)
        assert [type(one) for one in found] == [cls] * 3
        assert ["__post_init__"] * (3 if asked == "call" else 0) == RAN


def test_of_an_enum_only_missing_runs_and_only_for_flags() -> None:
    class Colour(enum.Flag):
        RED = 1
        GREEN = 2
        _missing_ = classmethod(loud("_missing_", enum.Flag._missing_.__func__))  # type: ignore[attr-defined]

    class Kind(enum.Enum):
        A = 1
        _missing_ = classmethod(loud("_missing_", lambda cls, value: cls.A))

    for cls, contents, ran in (
        (Colour, "RED", []),
        (Colour, 3, ["_missing_"]),
        (Kind, "A", []),
        (Kind, "B", []),
        (Kind, 1, []),
        (Kind, 7, []),
    ):
        data = npser.dumps(Placeholder(registry.class_name(cls), "enum", contents))
        with armed():
            try:
                found = npser.loads(data, classes=[cls])
            except npser.DecodeError:
                found = None
        assert ran == RAN
        assert found is None or type(found) is cls


def test_a_flag_that_is_asked_for_can_only_give_a_member_of_its_own() -> None:
    class Sly(enum.Flag):
        A = 1

        @classmethod
        def _missing_(cls, value: object) -> Any:
            return OtherColour.RED

    with pytest.raises(npser.DecodeError, match="no flags"):
        npser.loads(npser.dumps(Placeholder(registry.class_name(Sly), "enum", 6)), classes=[Sly])


def test_an_object_goes_to_the_class_that_its_name_was_given_and_no_other() -> None:
    """Of two allowed classes with the same fields each payload gets its own, whatever was read before."""
    for order in ((Other, Sub), (Sub, Other)):
        for cls in order:
            data = npser.dumps([cls(1, 2, 3)] * 1)
            for _ in range(HOT):
                (found,) = npser.loads(data, classes=order)
                assert type(found) is cls
                (found,) = npser.loads(data, classes={registry.class_name(cls): Other})
                assert type(found) is Other
                (found,) = npser.loads(data)
                assert type(found) is Placeholder


def test_a_class_that_was_allowed_once_is_not_allowed_the_next_time() -> None:
    """A hot shape keeps nothing of what one caller allowed."""
    for value in ([Other(1, 2, 3)], {"a": Other(1), "b": OtherColour.RED, "c": OtherPair(1, 2)}):
        data = npser.dumps(value)
        for _ in range(HOT):
            assert Placeholder not in classes_in(npser.loads(data, classes=OTHERS), set())
        for options in ({}, {"classes": CLASSES}):
            assert set(classes_in(npser.loads(data, **options), set())) <= PLAIN_TYPES
    npser.register(Other)
    assert type(npser.loads(npser.dumps([Other(1)]))[0]) is Other
    npser.unregister(Other)
    assert type(npser.loads(npser.dumps([Other(1)]))[0]) is Placeholder


# -------------------------------------------------------------------------------------------------------- hostile names


HOSTILE: Final[tuple[str, ...]] = (
    *("'", '"', "\\", "\n", "\r\n", "\0", "a\0b", "", " ", "\t", "`", ";", "#", "{x}", "{}", "%s", "%(x)s", "${x}", "{0.__class__}"),
    *("__class__", "__dict__", "__slots__", "__weakref__", "__init__", "__new__", "__setattr__", "__getattribute__", "__del__"),
    *("__module__", "__qualname__", "__doc__", "__hash__", "__eq__", "__reduce__", "__setstate__", "__getstate__", "__mro__"),
    *("__bases__", "__subclasses__", "__init_subclass__", "__builtins__", "__import__", "__proto__", "__x", "_Row__x", "__"),
    *("mro", "None", "True", "class", "def", "lambda", "import", "self", "cls", "int", "zip", "list", "tuple", "type", "object"),
    *("f0", "f1", "f10", "v0", "v1", "v0_0", "g0", "n0", "q0", "c0", "x0", "y0", "z0", "s0", "k", "b", "s", "p", "j", "o", "d"),
    *("things", "build", "make", "row", "blank", "setters", "columns", "objects", "values", "push", "append", "out", "cells"),
    *("lists", "singles", "builder", "program", "cursor", "expand", "close", "mismatch", "copy", "kinds", "open", "pop", "run"),
    *("\ud800", "\udfff\ud800", "\U0001f600", "ﬁ", "e\u0301", "é", "\u202e", "\ufeff", "a.b", "a:b", "a/b", "$", "$['x']", "]"),
    *("class_name", "contents", "form", "keys", "version", "stamp", "fill", "_class_name", "_contents", "_form", "_keys"),
    *("x" * 10_000, "\n" * 10_000, "é\0" * 5_000),
)


class Bag:
    """A plain class: its objects hold what they are given."""

    limit = 3

    @property
    def computed(self) -> Any:
        raise AssertionError("a property ran")

    def method(self) -> str:
        return "method"


def shapes_of(row: dict[str, Any]) -> list[Any]:
    """A dict in each of the ways in which dicts are written."""
    keys = list(row)
    return [
        row,
        [row],
        [row] * 40,
        [row, dict(reversed(row.items()))] * 20,
        [row, {}, {keys[0]: None}],
        {"in": [{"deep": row}]},
        {1: row, None: "not a table"},
        collections.OrderedDict(row),
        collections.Counter(dict.fromkeys(row, 2)),
        {(key, 1): key for key in row},
        set(row),
    ]


def rows_of(name: str) -> Iterator[dict[str, Any]]:
    """Dicts with that key, alone and among so many others that each way of building is met."""
    yield {name: 1}
    yield {"other": "x", name: None}
    for others in (8, 20, 140):
        yield {**{f"f{i}": i for i in range(others)}, name: [others]}


@pytest.mark.parametrize("names", [HOSTILE[i : i + 12] for i in range(0, len(HOSTILE), 12)], ids=lambda names: ascii(names[0])[:20])
def test_hostile_keys_survive_as_keys(names: tuple[str, ...]) -> None:
    for name in names:
        for row in rows_of(name):
            for value in shapes_of(row):
                data = npser.dumps(value)
                with armed():
                    found = npser.loads(data)
                assert not RAN
                assert difference(value, found) is None, ascii(name)[:50]


def test_hostile_keys_survive_when_shapes_are_hot() -> None:
    for start in range(0, len(HOSTILE), 6):
        for width in (1, 6, 25, 60):
            row: dict[str, Any] = {name: i for i, name in enumerate(HOSTILE[start : start + width])}
            for value in (row, {"rows": [row, row], "one": (row, [row])}):
                data = npser.dumps(value)
                for _ in range(HOT):
                    found = npser.loads(data)
                assert difference(value, found) is None
                assert npser.dumps(found) == data


def test_all_hostile_keys_at_once() -> None:
    everything: dict[str, Any] = {name: i for i, name in enumerate(HOSTILE)}
    for value in shapes_of(everything):
        assert difference(value, npser.loads(npser.dumps(value))) is None


def test_hostile_fields_of_an_allowed_class_are_items_of_its_dict() -> None:
    name = registry.class_name(Bag)
    before = dict(vars(Bag))
    for field in (*HOSTILE, "computed", "method", "limit"):
        contents: dict[str, Any] = {"first": 0, field: Other}
        contents[field] = 1
        for value in (
            [thing(name, **contents), thing(name, **contents)],
            [thing(name, **contents), thing(name, first=1)],
            [Placeholder(name, "state", contents), Placeholder(name, "state", (None, contents))],
        ):
            data = npser.dumps(value)
            for _ in range(3):
                with armed():
                    found = npser.loads(data, classes=[Bag])
                assert not RAN
            assert [type(one) for one in found] == [Bag, Bag], ascii(field)[:50]
            assert slots_of(found[0]) == contents
            assert vars(found[0]) == contents
    assert dict(vars(Bag)) == before
    assert Bag().method() == "method"


class Slotted:
    __slots__ = ("first",)


class Frozen(NamedTuple):
    first: int


CLOSED: Final = (Slotted, Frozen, Other, dataclasses.make_dataclass("Frozen2", ["first"], frozen=True, slots=True))
"""Classes whose objects have declared fields and no others."""


def test_hostile_fields_of_a_class_with_declared_fields_are_dropped() -> None:
    for cls in CLOSED:
        name = registry.class_name(cls)
        before = dict(vars(cls))
        first = "x" if cls is Other else "first"
        for field in HOSTILE:
            if field == first:
                continue
            for value in (
                [thing(name, **{field: 1, first: 0}), thing(name, **{first: 0, field: 2})],
                [Placeholder(name, "state", {field: 1, first: 0})] * 1,
            ):
                if hasattr(cls, "__setstate__") and value[0].form == "state":
                    continue  # that of dataclasses takes anything
                data = npser.dumps(value)
                try:
                    found = npser.loads(data, classes=[cls])
                except npser.DecodeError:
                    continue  # a form that it does not have
                assert [type(one) for one in found] == [cls] * len(value)
                assert all(getattr(one, first) == 0 for one in found)
                assert all(slots_of(one).keys() <= {"x", "y", "z", "first"} for one in found)
                with pytest.raises(npser.DecodeError):
                    npser.loads(data, classes=[cls], extra_fields="refuse")
        assert dict(vars(cls)) == before


def test_a_payload_sets_neither_the_class_nor_the_dict_of_an_object() -> None:
    class Base:
        pass

    class Weak:
        __slots__ = ("__dict__", "__weakref__", "x")

    name = "some:Class"
    for cls in (Base, Weak, Bag):
        for field, cell in (
            ("__class__", {"a": 1}),
            ("__dict__", {"stolen": True}),
            ("__weakref__", None),
            ("__slots__", ["x"]),
            ("__module__", "os"),
        ):
            for value in ([thing(name, x=1, **{field: cell})] * 1, [thing(name, **{field: cell}), thing(name, **{field: cell})]):
                found = npser.loads(npser.dumps(value), classes={name: cls})
                for one in found:
                    assert type(one) is cls
                    assert one.__class__ is cls
                    assert not hasattr(one, "stolen")
                    assert slots_of(one)[field] == cell


def test_hostile_fields_of_a_placeholder_are_contents() -> None:
    for field in HOSTILE:
        for form in ("object", "named tuple", "state"):
            found = npser.loads(npser.dumps([Placeholder("a:B", form, {field: 1, "z": 2})] * 1))[0]  # type: ignore[arg-type]
            assert (found.class_name, found.form, found.version, found.keys) == ("a:B", form, 0, None)
            assert found.contents == {field: 1, "z": 2}
            assert not hasattr(found, "__dict__")
            assert callable(found.fill)
            assert type(found) is found.__class__ is Placeholder


def test_hostile_names_of_classes_are_names() -> None:
    for name in HOSTILE:
        if "\0" in name:
            continue  # a version stands behind it
        for form, contents in (("object", {"x": 1}), ("state", None), ("named tuple", {"x": 1}), ("enum", name)):
            value = [Placeholder(name, form, contents), Placeholder(name, form, contents)]  # type: ignore[arg-type]
            data = npser.dumps(value)
            with armed():
                for _ in range(3):
                    found = npser.loads(data, classes=OTHERS)
                again = npser.dumps(found)
            assert not RAN
            assert {(one.class_name, one.form) for one in found} == {(name, form)}
            assert again == data
            with pytest.raises(npser.ClassNotAllowedError):
                npser.loads(data, unknown="refuse")


def test_what_is_shown_of_hostile_names_is_one_short_line() -> None:
    """A repr, a message or a path ends up in a log: no name may begin a line there, or fill the disk."""
    for name in HOSTILE:
        shown = []
        if "\0" not in name:
            data = npser.dumps([Placeholder(name, "object", {name: 1})] * 1)
            shown.append(repr(npser.loads(data)[0]))
            for options in ({"unknown": "refuse"}, {"classes": {name: OtherColour}}):
                with pytest.raises(npser.DecodeError) as caught:
                    npser.loads(data, **options)
                shown.append(str(caught.value))
        data = npser.dumps({"row": {name: {"deep": 2**70}}})
        assert data.count(bytes([0x1E]))
        with pytest.raises(npser.DecodeError) as caught:
            npser.loads(data[:-1] + b"\0")
        shown.append(str(caught.value))
        for text in shown:
            assert len(text) < 1000, ascii(name)[:40]
            assert text.isprintable(), ascii(text)[:300]
            text.encode()
