"""Class -> how its objects are taken apart and put together: the class-schema cache.

Strategy: a class is looked at once. Fields come from what declares them (dataclass fields, attrs, ``_fields``,
``__slots__``), never from annotations; other instances have what their ``__dict__`` holds. An object is built by
``object.__new__`` and plain attribute stores, so neither ``__init__`` nor ``__post_init__`` nor ``__setattr__`` runs;
only a class with a ``__setstate__`` of its own gets a call. Classes with state in C are refused: npser cannot see it.
What comes before all that is what a class says itself: a registered `state=` and `build=`, or bytes that it owns.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from npser.stream.packable import Packable
from npser.types.registry import ON_CHANGE, Registration, class_name, registration_of, stamp

__all__ = ["NO_DEFAULT", "NoDefault", "Schema", "StoreWay", "default_of", "packs", "schema_of", "setter", "store_way"]

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement
_OBJECT_SIZE = object.__basicsize__
_POINTER = 8


StoreWay = Literal["plain", "dict", "slots", "both"]


class Schema(NamedTuple):
    """How objects of one class are stored.

    Parameters
    ----------
    form : {"object", "named tuple", "state", "enum", "built"}
    name : str
        The class's name on the wire.
    fields : tuple of str | None
        Declared fields in order; None where each object has what its ``__dict__`` holds.
    slots : tuple of str
        Attributes in ``__slots__`` of a class whose fields are None: all that it has, if it has no ``__dict__``.
    version : int
        What is declared about it with `register`.
    """

    form: Literal["object", "named tuple", "state", "enum", "built"]
    name: str
    fields: tuple[str, ...] | None
    slots: tuple[str, ...] = ()
    version: int = 0

    @property
    def stamp(self) -> str:
        """Name and version, as the shape has them."""
        return stamp(self.name, self.version)


_known: weakref.WeakKeyDictionary[type, tuple[Registration | None, Schema | None]] = weakref.WeakKeyDictionary()
"""With what was declared about the class at that time: another thread may declare something else meanwhile."""


def schema_of(cls: type) -> Schema | None:
    """The schema of a class, or None where npser could not give its objects back.

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> schema_of(Point).fields
    ('x', 'y')
    >>> schema_of(dict) is None
    True
    """
    declared = registration_of(cls)
    try:
        then, schema = _known[cls]
        if then is declared:
            return schema
    except KeyError:
        pass
    except TypeError:  # a metaclass without hash or weak references
        return _described(cls, declared)
    schema = _described(cls, declared)
    _known[cls] = declared, schema
    return schema


def _described(cls: type, declared: Registration | None) -> Schema | None:
    if declared is not None and declared.state is not None:
        return Schema("built", declared.name, None, (), declared.version)
    schema = _describe(cls, class_name(cls) if declared is None else declared.name)
    return schema if schema is None or declared is None else schema._replace(version=declared.version)


def _forget(cls: type) -> None:
    _known.pop(cls, None)


ON_CHANGE.append(_forget)


def _describe(cls: type, name: str) -> Schema | None:
    if isinstance(cls, enum.EnumMeta):
        return Schema("enum", name, None)
    if packs(cls):
        return Schema("built", name, None)
    if Packable in cls.__mro__:  # it says that it owns its bytes, and has no `unpack` that would read them
        return None
    if _is_named_tuple(cls):
        return Schema("named tuple", name, cls._fields)  # type: ignore[attr-defined]
    if cls is object or issubclass(cls, type) or not _is_plain(cls):
        return None
    if _has_own_state(cls):
        return Schema("state", name, None, _slots_of(cls))
    if dataclasses.is_dataclass(cls):
        return Schema("object", name, tuple(field.name for field in dataclasses.fields(cls)))
    if "__attrs_attrs__" in vars(cls):
        attributes: Any = vars(cls)["__attrs_attrs__"]
        return Schema("object", name, tuple(attribute.name for attribute in attributes))
    slots = _slots_of(cls)
    if cls.__dictoffset__ == 0:
        return Schema("object", name, slots)
    return Schema("object", name, None, slots)


def packs(cls: type) -> bool:
    """Whether objects of a class own their bytes: ``pack(self, stream)`` and a class method ``unpack(cls, stream)``.

    Both must be there, written in Python, and each must take exactly one argument that has no default. So a method of
    that name which does something else (``pack(self)`` that gives bytes) says nothing.

    >>> import struct
    >>> packs(struct.Struct)
    False
    """
    pack, unpack = _member(cls, "pack"), _member(cls, "unpack")
    return (
        isinstance(pack, types.FunctionType)
        and isinstance(unpack, classmethod)
        and _takes_stream(pack)
        and _takes_stream(unpack.__func__)
    )


def _takes_stream(method: Callable[..., Any]) -> bool:
    """Whether a method needs exactly one argument besides the object or the class."""
    try:
        signature = inspect.signature(method)
        signature.bind("self", "stream")
    except (TypeError, ValueError):
        return False
    try:
        signature.bind("self")
    except TypeError:
        return True
    return False


def _is_named_tuple(cls: type) -> bool:
    fields = getattr(cls, "_fields", None)
    return (
        issubclass(cls, tuple)
        and type(fields) is tuple
        and all(type(field) is str for field in fields)
        and all(base.__flags__ & _HEAP_TYPE for base in cls.__mro__ if base not in (tuple, object))
    )


def _is_plain(cls: type) -> bool:
    """Whether everything that an instance holds is in its ``__dict__`` and slots.

    The rule of ``object.__getstate__`` (CPython, Objects/typeobject.c): an instance may not be larger than its
    dict, weak references and slots account for.
    """
    if not all(_is_written(base) for base in cls.__mro__[:-1]):
        return False
    if cls.__dictoffset__ and not isinstance(_member(cls, "__dict__"), types.GetSetDescriptorType):
        return False  # its ``__dict__`` is something else than where its attributes are
    counted = len(_slots_of(cls)) + bool(cls.__dictoffset__) + bool(cls.__weakrefoffset__)
    return cls.__basicsize__ <= _OBJECT_SIZE + _POINTER * counted and cls.__itemsize__ == 0


def _is_written(cls: type) -> bool:
    """Whether a class statement made the class. One written in C may have a heap type, too, but then its own
    ``__new__`` is a builtin, which a class statement would have wrapped as a static method (functools.partial)."""
    return bool(cls.__flags__ & _HEAP_TYPE) and not isinstance(vars(cls).get("__new__"), types.BuiltinFunctionType)


def _slots_of(cls: type) -> tuple[str, ...]:
    """Attributes in ``__slots__``, base classes first, under the names that the class stores them."""
    return tuple(
        name
        for base in reversed(cls.__mro__)
        for name, member in vars(base).items()
        if isinstance(member, types.MemberDescriptorType) and member.__objclass__ is base
    )


def _has_own_state(cls: type) -> bool:
    """Whether somebody wrote a ``__getstate__`` for the class; what dataclasses and attrs generate does not count."""
    method = getattr(cls, "__getstate__", None)
    if method is getattr(object, "__getstate__", None):
        return False
    return getattr(method, "__module__", None) not in ("dataclasses", "attr._make") and (
        getattr(method, "__name__", "") != "slots_getstate"
    )


class NoDefault:
    """The one `NO_DEFAULT`: a field that must be in the payload."""


NO_DEFAULT = NoDefault()


def default_of(cls: type, field: str) -> Callable[[], Any] | NoDefault:
    """What makes the default of a declared field, called once an object; `NO_DEFAULT` where it has none.

    >>> @dataclasses.dataclass
    ... class Cart:
    ...     owner: str
    ...     items: list = dataclasses.field(default_factory=list)
    >>> default_of(Cart, "items")(), default_of(Cart, "owner") is NO_DEFAULT
    ([], True)
    """
    if dataclasses.is_dataclass(cls):
        declared = cls.__dataclass_fields__[field]
        if declared.default_factory is not dataclasses.MISSING:
            return declared.default_factory
        return NO_DEFAULT if declared.default is dataclasses.MISSING else partial(_same, declared.default)
    for attribute in getattr(cls, "__attrs_attrs__", ()):
        if attribute.name == field:
            factory = getattr(attribute.default, "factory", None)
            if factory is not None and not attribute.default.takes_self:
                return factory  # type: ignore[no-any-return]
            bare = factory is not None or type(attribute.default).__name__ == "_Nothing"
            return NO_DEFAULT if bare else partial(_same, attribute.default)
    named: dict[str, Any] = getattr(cls, "_field_defaults", {})
    return partial(_same, named[field]) if field in named else NO_DEFAULT


def _same(value: Any) -> Any:
    return value


def store_way(cls: type, names: Sequence[str]) -> StoreWay:
    """How the named attributes are set on an object of `cls` without running code of the class.

    ``"plain"``: an attribute store does exactly that. Where the class has a ``__setattr__``, or a property or another
    data descriptor of one of the names, the store would run it: then ``"dict"``, straight into ``__dict__``,
    ``"slots"``, through the slots' own descriptors, or ``"both"``. So it is where asking for ``__dict__`` would run
    a ``__getattribute__``.
    """
    members = [_member(cls, name) for name in names]
    in_slots = [isinstance(member, types.MemberDescriptorType) for member in members]
    if getattr(cls, "__setattr__", None) is object.__setattr__ and all(
        in_slot or not _is_data_descriptor(member) for in_slot, member in zip(in_slots, members, strict=True)
    ):
        return "plain"
    if not any(in_slots) and _member(cls, "__getattribute__") is object.__getattribute__:
        return "dict"
    return "slots" if all(in_slots) else "both"


def setter(cls: type, name: str) -> Callable[[Any, Any], None]:
    """A function of (object, value) that sets one attribute past all code of the class."""
    member = _member(cls, name)
    if isinstance(member, types.MemberDescriptorType):
        return member.__set__
    return partial(_store, _member(cls, "__dict__").__get__, name)


def _member(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _is_data_descriptor(member: Any) -> bool:
    return hasattr(type(member), "__set__") or hasattr(type(member), "__delete__")


def _store(dict_of: Callable[[Any], dict[str, Any]], name: str, thing: Any, value: Any) -> None:
    dict_of(thing)[name] = value
