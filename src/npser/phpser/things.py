"""Objects that are written: by name, by position, by state, as enum cases, and placeholders as what they stand for.

    rule                                                          golden vectors
    objects are numbered, each before what is in it               shared_after_others, cycle_self, magic_shared
    met again: REF                                                shared_obj, shared_deep, enum_in_rows
    declared fields, all set and no others, wire 2: SLOTS         typed_point, untyped, visibility_child, node_pair
    else OBJECT, without the fields that are not set              uninit_typed, dynamic_prop, std_props, point_list_3
    an object without any property, wire 2: SLOTS of none         (wire.md, Objects)
    __getstate__: MAGIC and the state, a list or a dict           magic, magic_nested, magic_list
    enum case: class and case, both in the dictionary at once     enum_backed, enum_plain, enum_case_name_as_value
    the class name first, then names and values in turn           std_props, dto_users_1, dto_mixed_3
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final

from npser.errors import EncodeError
from npser.phpser.classes import STD_CLASS, is_class_name, mangle, owns_bytes
from npser.phpser.dictionary import varint
from npser.phpser.lists import check_depth
from npser.phpser.placeholders import SerializedPlaceholder, SlotsPlaceholder
from npser.phpser.tags import Tag
from npser.phpser.writing import LEAVES, Refused, Walk, Writer, items, property_key
from npser.stream.packable import pack
from npser.types.placeholder import Placeholder
from npser.types.schema import Schema

__all__ = ["THINGS", "fields_of", "place_object"]


def _met(w: Writer, key: Any, thing: Any) -> bool:
    """Whether an object has a number already, and so is written as that; else it gets one."""
    number = w.numbers.get(key)
    if number is None:
        w.number(key, thing)
        return False
    w.head(Tag.REF, number)
    return True


def place_object(w: Writer, thing: Any, schema: Schema) -> Walk | None:
    """Write an object of a class that has a schema, or give the walk that will."""
    name = w.wire_name(thing)
    if not is_class_name(name):
        raise Refused(f"{name[:60]!r} is no name of a PHP class", thing)
    if schema.form == "enum":
        case = thing._name_
        if type(thing).__members__.get(case) is not thing:
            raise Refused(f"a value of {name} that is none of its members; PHP has no flags", thing)
        if not _met(w, id(thing), thing):
            _enum(w, name, case)
        return None
    if _met(w, id(thing), thing):
        return None
    if owns_bytes(type(thing)):
        try:
            _serialized(w, name, pack(thing))
        except EncodeError as error:
            raise Refused(error.message, thing) from error
        return None
    return _WALKS[schema.form](w, thing, name, schema)


def fields_of(thing: Any, schema: Schema) -> dict[str, Any]:
    """The attributes of an object that are set: those that its class declares, then others."""
    declared = schema.slots if schema.fields is None else schema.fields
    found = {name: getattr(thing, name) for name in declared if hasattr(thing, name)}
    return found | getattr(thing, "__dict__", {})


def _object(w: Writer, thing: Any, name: str, schema: Schema) -> Walk:
    attributes = fields_of(thing, schema)
    if w.version >= 2 and tuple(attributes) == (schema.fields or ()):
        return _slots(w, name, list(attributes.values()))
    cls = type(thing)
    return _properties(w, name, {mangle(cls, attribute): value for attribute, value in attributes.items()})


def _state(w: Writer, thing: Any, name: str, _schema: Schema) -> Walk:
    state = thing.__getstate__()
    if type(state) not in (list, dict):
        raise Refused(f"{name}.__getstate__() gave {type(state).__name__}; PHP wants an array, a list or a dict", thing)
    w.keep.append(state)
    return _magic(w, name, state)


_WALKS: Final[dict[str, Callable[[Writer, Any, str, Schema], Walk]]] = {"object": _object, "state": _state}


def _properties(w: Writer, name: str, properties: dict[str, Any]) -> Walk:
    values = w.substituted(list(properties.values()))
    check_depth(w, values)
    out, leaves, words = w.out, LEAVES, w.words
    out.append(bytes((Tag.OBJECT,)) + w.class_index(name) + varint(len(properties)))
    for key, value in zip(properties, values, strict=True):
        if type(key) is not str:
            raise Refused(f"{name} with a property whose name is not a str", key)
        out.append(words.intern(property_key(key)))
        leaf = leaves.get(type(value))
        if leaf is None:
            yield value
        else:
            out.append(leaf(w, value))


def _slots(w: Writer, name: str, values: list[Any]) -> Walk:
    values = w.substituted(values)
    check_depth(w, values)
    w.used = 2
    w.out.append(bytes((Tag.SLOTS,)) + w.class_index(name) + varint(len(values)))
    yield from items(w, values, set(map(type, values)))


def _magic(w: Writer, name: str, state: Any) -> Walk:
    check_depth(w, (state,))
    w.out.append(bytes((Tag.MAGIC,)) + w.class_index(name))
    yield state


def _enum(w: Writer, name: str, case: str) -> None:
    w.out.append(bytes((Tag.ENUM,)) + w.class_index(name) + w.words.intern(property_key(case)))


# Namespaces and placeholders


def _place_namespace(w: Writer, thing: types.SimpleNamespace) -> Walk | None:
    if _met(w, id(thing), thing):
        return None
    properties = dict(vars(thing))
    if not properties and w.version >= 2:
        return _slots(w, STD_CLASS, [])
    return _properties(w, STD_CLASS, properties)


def _place_placeholder(w: Writer, thing: Placeholder) -> Walk | None:
    name = thing.class_name
    if not is_class_name(name):
        raise Refused(f"a placeholder of {name[:60]!r}, which is no name of a PHP class", thing)
    key = (name, thing.contents) if thing.form == "enum" else id(thing)  # a case is one object, wherever it was read
    if _met(w, key, thing):
        return None
    place = _PLACEHOLDERS.get(thing.form)
    if place is None:
        raise Refused(f"a placeholder of a {thing.form}, which PHP does not have", thing)
    return place(w, thing)


def _place_object_placeholder(w: Writer, thing: Placeholder) -> Walk:
    return _properties(w, thing.class_name, dict(thing.contents))


def _place_state_placeholder(w: Writer, thing: Placeholder) -> Walk:
    if type(thing.contents) not in (list, dict):
        raise Refused(f"a state of {thing.class_name} that is no list or dict", thing)
    return _magic(w, thing.class_name, thing.contents)


def _place_enum_placeholder(w: Writer, thing: Placeholder) -> None:
    if type(thing.contents) is not str:
        raise Refused(f"a flag of {thing.class_name}; PHP has none", thing)
    _enum(w, thing.class_name, thing.contents)


_PLACEHOLDERS: Final[dict[str, Callable[[Writer, Any], Walk | None]]] = {
    "object": _place_object_placeholder,
    "state": _place_state_placeholder,
    "enum": _place_enum_placeholder,
}


def _place_slots_placeholder(w: Writer, thing: SlotsPlaceholder) -> Walk | None:
    if w.version < 2:
        raise Refused(f"wire 1 names properties, and this placeholder of {thing.class_name} has no names", thing)
    return None if _met(w, id(thing), thing) else _slots(w, thing.class_name, list(thing.contents))


def _place_serialized(w: Writer, thing: SerializedPlaceholder) -> None:
    if not _met(w, id(thing), thing):
        _serialized(w, thing.class_name, thing.contents)


def _serialized(w: Writer, name: str, contents: bytes) -> None:
    w.out += (bytes((Tag.LEGACY,)) + w.class_index(name) + varint(len(contents)), contents)


THINGS: Final[dict[type, Callable[[Writer, Any], Walk | None]]] = {
    types.SimpleNamespace: _place_namespace,
    Placeholder: _place_placeholder,
    SlotsPlaceholder: _place_slots_placeholder,
    SerializedPlaceholder: _place_serialized,
}
"""Exact type -> who writes it; other classes go by their schema."""
