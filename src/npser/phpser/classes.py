"""PHP classes and Python classes: names, visibility, and the gate.

Strategy: a name on the wire is looked up among the classes that the caller handed over, as everywhere (`Allow`); PHP
does not mind the case of a class name, so neither does this. A class that was handed over under no name of its own
goes by ``__php_name__``, or by its bare name. PHP mangles the name of a property that is not public; Python has the
same three levels as a convention, and a class that keeps to it keeps them.

    public      id                id
    protected   NUL * NUL id      _id, or id where the class declares that
    private     NUL Cart NUL id   _Cart__id (what ``self.__id`` is inside class Cart), or id
"""

from __future__ import annotations

import re
from typing import Final

from npser.columns.kinds import LEAF_TYPES
from npser.types.allow import Allow
from npser.types.registry import class_name, registration_of
from npser.types.schema import Schema, schema_of

__all__ = [
    "INTERFACES",
    "STD_CLASS",
    "attribute_name",
    "demangle",
    "find_class",
    "is_class_name",
    "mangle",
    "php_name",
    "schema_for",
    "wire_name",
]

STD_CLASS: Final = "stdClass"
"""PHP's class of no class: `types.SimpleNamespace`."""

_NAME: Final = re.compile(r"[^\x00-/:-@\[\]-^`{-\x7f]+")
"""Letters, digits, underscores, backslashes and anything that is not ASCII (php-src, zend_is_valid_class_name)."""

INTERFACES: Final = frozenset(
    {
        "arrayaccess",
        "backedenum",
        "countable",
        "datetimeinterface",
        "iterator",
        "iteratoraggregate",
        "jsonserializable",
        "outeriterator",
        "recursiveiterator",
        "seekableiterator",
        "serializable",
        "sessionhandlerinterface",
        "splobserver",
        "splsubject",
        "stringable",
        "throwable",
        "traversable",
        "unitenum",
    }
)
"""Interfaces of PHP itself: nothing can be an object of one."""


def is_class_name(name: str) -> bool:
    """Whether PHP could have a class of that name.

    >>> is_class_name("App\\\\Cart"), is_class_name("\\\\App\\\\Cart"), is_class_name("my cart"), is_class_name("")
    (True, False, False, False)
    """
    return name[:1] != "\\" and _NAME.fullmatch(name) is not None


def php_name(cls: type) -> str:
    """The PHP name of a class: its own ``__php_name__``, or the name it is registered under, or its bare name.

    >>> class Cart:
    ...     __php_name__ = "App\\\\Cart"
    >>> php_name(Cart), php_name(Allow)
    ('App\\\\Cart', 'Allow')
    """
    named = vars(cls).get("__php_name__")
    if type(named) is str:
        return named
    declared = registration_of(cls)
    return cls.__name__ if declared is None or declared.name == class_name(cls) else declared.name


def owns_bytes(cls: type) -> bool:
    """Whether a class writes and reads its own bytes, as a Serializable class of PHP does.

    >>> owns_bytes(dict)
    False
    """
    return callable(getattr(cls, "pack", None)) and callable(getattr(cls, "unpack", None))


def find_class(allow: Allow, name: str) -> type | None:
    """The allowed class of a PHP name, or None."""
    found = allow.find(name)
    if found is None:
        found = _folded(allow).get(name.lower())
    return found


def _folded(allow: Allow) -> dict[str, type]:
    """PHP names in lower case -> the allowed classes; a class that was allowed under a name has only that."""
    folded: dict[str, type] = {}
    for name, cls in allow.items():
        folded.setdefault((php_name(cls) if name == class_name(cls) else name).lower(), cls)
    return folded


def wire_name(allow: Allow, cls: type) -> str:
    """The PHP name under which objects of a class are written."""
    for name, known in allow.items():
        if known is cls and name != class_name(cls):
            return name
    return php_name(cls)


def demangle(name: str) -> tuple[str, str]:
    """A property's name -> its scope ("" for public, "*" for protected, else the class of a private one) and bare name.

    >>> demangle("id"), demangle("\\0*\\0id"), demangle("\\0Cart\\0id")
    (('', 'id'), ('*', 'id'), ('Cart', 'id'))
    """
    if name[:1] == "\0":
        scope, found, bare = name[1:].partition("\0")
        if found and scope:
            return scope, bare
    return "", name


def attribute_name(name: str, schema: Schema) -> str:
    """The attribute of a Python class that a property of the PHP class is."""
    scope, bare = demangle(name)
    if not scope:
        return bare
    own = f"_{bare}" if scope == "*" else _private(scope.rpartition("\\")[2], bare)
    return own if own in (schema.fields or schema.slots) else bare


def _private(scope: str, bare: str) -> str:
    return f"_{scope.lstrip('_')}__{bare}"


def mangle(cls: type, attribute: str) -> str:
    """The PHP name of an attribute, by Python's conventions for what is not public.

    >>> class Cart:
    ...     pass
    >>> mangle(Cart, "id"), mangle(Cart, "_id"), mangle(Cart, "_Cart__id")
    ('id', '\\x00*\\x00id', '\\x00Cart\\x00id')
    """
    if attribute[:1] != "_" or attribute[:2] == "__":
        return attribute
    for base in cls.__mro__:
        prefix = _private(base.__name__, "")
        if attribute.startswith(prefix) and len(attribute) > len(prefix):
            return f"\0{php_name(base)}\0{attribute[len(prefix) :]}"
    return f"\0*\0{attribute[1:]}" if len(attribute) > 1 else attribute


def schema_for(cls: type) -> Schema | None:
    """How objects of a class are stored on this wire; None for what PHP has no objects of."""
    schema = None if cls in LEAF_TYPES else schema_of(cls)  # a Fraction is no object to PHP
    if schema is None or schema.form == "named tuple" or (schema.form == "built" and not owns_bytes(cls)):
        return None
    return schema
