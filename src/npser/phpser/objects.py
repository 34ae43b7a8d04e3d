"""Objects that are read: OBJECT, SLOTS, MAGIC, LEGACY and ENUM.

Strategy: an object exists, and has its number, before anything inside it is read, so that anything inside may refer to
it. Attributes wait until they can be set for all objects of one class and key set at once; they are set before any
``__setstate__`` of the payload runs, so that it finds finished objects below it.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from npser.errors import ClassNotAllowedError, DecodeError
from npser.phpser.annotations import Demands, demands_of
from npser.phpser.classes import (
    INTERFACES,
    STD_CLASS,
    attribute_name,
    demangle,
    find_class,
    is_class_name,
    owns_bytes,
    schema_for,
)
from npser.phpser.keys import property_name
from npser.phpser.placeholders import SerializedPlaceholder, SlotsPlaceholder
from npser.phpser.source import Frame, Source
from npser.phpser.tags import ARRAY_TAGS, Tag
from npser.shapes.column import show_key
from npser.shapes.plans import plan_objects
from npser.stream.packable import unpack
from npser.types.placeholder import Placeholder
from npser.types.schema import NoDefault, Schema, default_of, setter
from npser.types.shown import show_name

__all__ = ["OBJECTS", "Target", "finish"]


_IS_ABSTRACT = 1 << 20  # Py_TPFLAGS_IS_ABSTRACT

PLANNED = 8
"""From so many objects of one class and key set on, code for them is generated: a payload can have as many key sets as
objects (benchmarks/thresholds_phpser.py::sweep_planned)."""


class Target:
    """What objects of one class name become.

    Attributes
    ----------
    name : str
        On the wire.
    cls : type | None
        None where the caller did not allow the class.
    schema : Schema | None
        How that is stored; None where there is no class, and for the namespaces that `stdClass` becomes.
    declared : tuple of str | None
        Its fields in order; None where there is no class to tell.
    make : callable | None
        Gives an object of the class, without attributes.
    """

    __slots__ = ("_attributes", "cls", "declared", "make", "name", "schema")

    def __init__(self, name: str, cls: type | None, schema: Schema | None) -> None:
        self.name = name
        self.cls = cls
        self.schema = schema
        self.declared = _declared(cls, schema)
        self.make: Callable[[], Any] | None = None if cls is None else partial(object.__new__, cls)
        self._attributes: dict[tuple[str, ...], tuple[str, ...]] = {}

    def attributes(self, properties: tuple[str, ...]) -> tuple[str, ...]:
        """The attributes that properties of these names are; two private ones of one name keep their class names."""
        known = self._attributes.get(properties)
        if known is None:
            assert self.schema is not None
            found: dict[str, str] = {}  # attribute -> its property
            for name in properties:
                attribute = attribute_name(name, self.schema)
                scope, bare = demangle(name)
                if scope and found.get(attribute, name) != name:
                    attribute = f"_{bare}" if scope == "*" else f"_{scope}__{bare}"
                found[attribute] = name
            known = tuple(found) if len(found) == len(properties) else self._one_by_one(properties)
            self._attributes[properties] = known
        return known

    def _one_by_one(self, properties: tuple[str, ...]) -> tuple[str, ...]:
        """The attributes of properties of which some are the same."""
        assert self.schema is not None
        return tuple([attribute_name(name, self.schema) for name in properties])


def _declared(cls: type | None, schema: Schema | None) -> tuple[str, ...] | None:
    if cls is None:
        return None
    if schema is None:
        return ()
    return schema.slots if schema.fields is None else schema.fields


def _target(source: Source, forms: tuple[str, ...]) -> Target:
    """The class that stands next, which must be of one of these forms if there is one."""
    start = source.pos
    index = source.index()
    target = source.targets.get(index)
    if target is None:
        target = source.targets[index] = _resolve(source, property_name(source.raw[index]))
    if target.schema is not None and target.schema.form not in forms:
        raise DecodeError(
            f"{show_name(target.name)} is stored as {forms[0]}, and the class of that name is {target.schema.form}",
            pos=start,
        )
    return target


def _resolve(source: Source, name: str) -> Target:
    shown = show_name(name)
    if not is_class_name(name):
        raise source.fail(f"{shown} is no name of a PHP class")
    folded = name.lower()
    if folded in INTERFACES:
        raise source.fail(f"{shown} is an interface, of which there are no objects")
    if folded == STD_CLASS.lower():
        target = Target(name, types.SimpleNamespace, None)
        target.make = types.SimpleNamespace
        return target
    cls = find_class(source.allow, name)
    if cls is None:
        if source.unknown == "refuse":
            raise ClassNotAllowedError(
                f"the payload holds an object of {shown}; pass classes={{{shown!r}: ...}} with its class",
                pos=source.pos,
            )
        return Target(name, None, None)
    schema = schema_for(cls)
    if cls.__flags__ & _IS_ABSTRACT:
        raise source.fail(f"{shown} is abstract: there are no objects of it")
    if schema is None:
        raise source.fail(f"{shown} is allowed as {cls.__qualname__}, which is no class that PHP objects can become")
    return Target(name, cls, schema)


def _new(source: Source, target: Target, form: Any) -> Any:
    """An object without contents, with its number."""
    if target.cls is not None and target.cls is not types.SimpleNamespace and owns_bytes(target.cls):
        shown = show_name(target.name)
        raise source.fail(f"{shown} is stored by its properties, and the class of that name owns its bytes")
    made: Any = Placeholder(target.name, form, None) if target.make is None else target.make()
    _number(source, made)
    return made


def _number(source: Source, made: Any) -> None:
    source.ids.append(made)
    source.claim(made)


# Properties by name


def _open_object(source: Source) -> Frame:
    source.enter()
    target = _target(source, ("object", "state", "built"))
    frame = Frame(source.count(2), _close_object, _at_property, key=Source.name, extra=target)
    frame.made = _new(source, target, "object")
    return frame


def _close_object(source: Source, frame: Frame) -> Any:
    target: Target = frame.extra
    if target.cls is None:
        frame.made.fill(dict(zip(frame.keys, frame.values, strict=True)))
    elif target.schema is None:
        vars(frame.made).update(zip(frame.keys, frame.values, strict=True))
    else:
        _postpone(source, target, tuple(frame.keys), frame.made, frame.values)
    return frame.made


def _at_property(frame: Frame) -> str:
    name = frame.keys[-1] if frame.keys else ""
    return f".{show_key(demangle(name)[1])[1:-1]}"


# Properties by position


def _open_slots(source: Source) -> Frame:
    source.enter()
    start = source.pos
    target = _target(source, ("object", "state", "built"))
    n = source.count(1)
    known = target.declared
    if known is not None and n > len(known):
        message = f"{n} values by position for {target.name}, which declares {len(known)} fields"
        hint = "" if known else "; declare them, as a dataclass does, in the order in which PHP does"
        raise DecodeError(message + hint, pos=start)
    frame = Frame(n, _close_slots, _at_slot, extra=target)
    if target.cls is None:
        frame.made = SlotsPlaceholder(target.name, frame.values)
        _number(source, frame.made)
    else:
        frame.made = _new(source, target, "object")
    return frame


def _close_slots(source: Source, frame: Frame) -> Any:
    target: Target = frame.extra
    if target.schema is not None:
        _postpone(source, target, len(frame.values), frame.made, frame.values)
    return frame.made


def _at_slot(frame: Frame) -> str:
    names = frame.extra.declared
    at = len(frame.values)
    return f".{names[at]}" if names and at < len(names) else f"[{at}]"


# Setting attributes


def _postpone(source: Source, target: Target, names: tuple[str, ...] | int, made: Any, values: list[Any]) -> None:
    """Remember the values of an object: those of the named properties, or of so many declared fields."""
    known = source.pending.get((target, names))
    if known is None:
        known = source.pending[target, names] = ([], [])
    known[0].append(made)
    known[1].append(values)


def finish(source: Source) -> None:
    """Set the attributes of all objects that wait for them."""
    pending, source.pending = source.pending, {}
    for (target, names), (objects, rows) in pending.items():
        assert target.cls is not None
        columns: list[Any] = list(zip(*rows, strict=True))
        if type(names) is int:
            attributes = (target.declared or ())[:names]
        else:
            attributes = target.attributes(names)
            if len(set(attributes)) < len(attributes):  # the last value counts, at the first place
                once = dict(zip(attributes, columns, strict=True))
                attributes, columns = tuple(once), list(once.values())
        _check(source, target.cls, attributes, columns)
        _set(target.cls, attributes, objects, columns)


def _check(source: Source, cls: type, names: tuple[str, ...], columns: list[Any]) -> None:
    demands: Demands = demands_of(cls)
    for name, column in zip(names, columns, strict=True):
        allowed = demands.get(name)
        if allowed is not None and not allowed.issuperset(map(type, column)):
            wrong = next(type(value).__name__ for value in column if type(value) not in allowed)
            where = f"{cls.__qualname__}.{show_name(name)}"
            raise source.fail(f"{where} is declared otherwise and holds a value of type {wrong}")


def _set(cls: type, names: tuple[str, ...], objects: list[Any], columns: list[Any]) -> None:
    schema = schema_for(cls)
    assert schema is not None
    if len(objects) < PLANNED:
        _set_few(cls, schema, names, objects, columns)
    else:
        plan_objects(cls, names, complete=True).apply(objects, columns)
    if schema.fields is None:
        return
    if cls.__dictoffset__:
        for name, column in zip(names, columns, strict=True):
            if name not in schema.fields:  # a dynamic property
                for thing, value in zip(objects, column, strict=True):
                    thing.__dict__[name] = value
    for field in schema.fields:
        if field not in names:
            make = default_of(cls, field)
            if not isinstance(make, NoDefault):  # without a default it stays unset, as PHP has it
                plan_objects(cls, (field,), complete=True).apply(objects, [[make() for _ in objects]])


def _set_few(cls: type, schema: Schema, names: tuple[str, ...], objects: list[Any], columns: list[Any]) -> None:
    known = schema.slots if schema.fields is None else schema.fields
    for name, column in zip(names, columns, strict=True):
        if name in known or (schema.fields is None and cls.__dictoffset__):
            put = setter(cls, name)
            for thing, value in zip(objects, column, strict=True):
                put(thing, value)


# State


def _open_magic(source: Source) -> Frame:
    source.enter()
    target = _target(source, ("state", "object", "built"))
    if target.cls is types.SimpleNamespace:
        raise source.fail(f"{show_name(target.name)} has no __unserialize")
    if source.data[source.pos] not in ARRAY_TAGS:
        raise source.fail(f"what {show_name(target.name)}::__serialize gave is no array")
    frame = Frame(1, _close_magic, _at_state, extra=target)
    frame.made = _new(source, target, "state")
    return frame


def _close_magic(source: Source, frame: Frame) -> Any:
    target: Target = frame.extra
    (state,) = frame.values
    if target.cls is None:
        frame.made.fill(state)
        return frame.made
    method = getattr(target.cls, "__setstate__", None)
    if method is None:
        if type(state) is list and not state:
            state = {}
        if type(state) is not dict or not all(type(name) is str for name in state):
            raise source.fail(f"{show_name(target.name)} has no __setstate__ and its state is no dict of attributes")
        _postpone(source, target, tuple(state), frame.made, list(state.values()))
        return frame.made
    finish(source)
    try:
        method(frame.made, state)
    except Exception as error:
        raise source.fail(f"{target.cls.__qualname__}.__setstate__ refused its state: {error!r}") from error
    return frame.made


def _at_state(_frame: Frame) -> str:
    return ".__getstate__()"


# Strings of their own making


def _read_legacy(source: Source) -> Any:
    """What a Serializable wrote, which a class with `pack` and `unpack` reads back. PHP reads null where it does not
    know the class, and so does this."""
    source.enter()
    target = _target(source, ("object", "state", "built"))
    length = source.count(1)
    payload = bytes(source.take(length))
    made: Any = None
    if target.cls is not None:
        owns = owns_bytes(target.cls)
        made = unpack(target.cls, payload) if owns else SerializedPlaceholder(target.name, payload)
    _number(source, made)
    return made


# Enums


def _read_enum(source: Source) -> Any:
    source.enter()
    target = _target(source, ("enum",))
    case = source.name()
    if target.cls is types.SimpleNamespace:
        raise source.fail(f"{show_name(target.name)} is no enum")
    if target.cls is None:
        member: Any = Placeholder(target.name, "enum", case)
    else:
        members: Any = target.cls
        member = members.__members__.get(case)
        if member is None:
            raise source.fail(f"{show_name(target.name)} has no case {show_name(case)!r}")
    _number(source, member)
    return member


OBJECTS: Final[dict[int, Callable[[Source], Any]]] = {
    Tag.OBJECT: _open_object,
    Tag.SLOTS: _open_slots,
    Tag.MAGIC: _open_magic,
    Tag.LEGACY: _read_legacy,
    Tag.ENUM: _read_enum,
}
"""Tag -> what reads the object, or opens the frame that will."""
