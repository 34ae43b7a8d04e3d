"""Classes that are known to every `loads`, and what is declared about them: name, version, renames, upgrade, state.

Strategy: registering is what a program says about its own classes, once, where they are defined. The wire has the
declared name and version, so a class can move to another module, and old payloads can be told from new ones. Nothing
is looked up here but by exact name, and nothing comes in here but through `register`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeVar, get_args, overload

from npser.choices import one_of

__all__ = [
    "ON_CHANGE",
    "OWN_TYPES",
    "VERSION_MARK",
    "PostInit",
    "Registration",
    "class_name",
    "find_registered",
    "register",
    "registration_of",
    "split_stamp",
    "stamp",
    "unregister",
    "wire_name",
]

PostInit = Literal["skip", "call"]
Upgrade = Callable[[dict[str, Any], int], Mapping[str, Any]]

State = Callable[[Any], Any]
Build = Callable[[Any], Any]

_T = TypeVar("_T", bound=type)

MAX_VERSION = (1 << 31) - 1

VERSION_MARK: Final = "\0"
"""Stands between the name of a class and its version: no name of a class has it."""


class Registration(NamedTuple):
    """What is declared about one class; see `register`."""

    cls: type
    name: str
    version: int = 0
    renames: Mapping[str, str] = MappingProxyType({})
    upgrade: Upgrade | None = None
    post_init: PostInit = "skip"
    state: State | None = None
    build: Build | None = None


ON_CHANGE: Final[list[Callable[[type], object]]] = []
"""Who keeps something about classes, and has to forget it when one is registered."""

OWN_TYPES: Final[set[type]] = set()
"""Types that npser stores whatever is declared about them; who writes them puts them in here."""

_by_class: dict[type, Registration] = {}
_by_name: dict[str, type] = {}
_lock = threading.Lock()


def class_name(cls: type) -> str:
    """The name of a class on the wire, if nothing else is declared.

    >>> import fractions
    >>> class_name(fractions.Fraction)
    'fractions:Fraction'
    """
    return f"{cls.__module__}:{cls.__qualname__}"


@overload
def register(
    cls: None = None,
    /,
    *,
    name: str | None = ...,
    version: int = ...,
    renames: Mapping[str, str] | None = ...,
    upgrade: Upgrade | None = ...,
    post_init: PostInit = ...,
    state: State | None = ...,
    build: Build | None = ...,
) -> Callable[[_T], _T]: ...


@overload
def register(
    cls: _T,
    /,
    *,
    name: str | None = ...,
    version: int = ...,
    renames: Mapping[str, str] | None = ...,
    upgrade: Upgrade | None = ...,
    post_init: PostInit = ...,
    state: State | None = ...,
    build: Build | None = ...,
) -> _T: ...


def register(
    cls: Any = None,
    /,
    *,
    name: str | None = None,
    version: int = 0,
    renames: Mapping[str, str] | None = None,
    upgrade: Upgrade | None = None,
    post_init: PostInit = "skip",
    state: State | None = None,
    build: Build | None = None,
) -> Any:
    """Make a class known to every `loads`, and say how its payloads change over time; also a decorator.

    Parameters
    ----------
    name : str, optional
        What the class is called on the wire, instead of ``module:qualified name``: the class may then move.
    version : int
        What payloads say about how old they are.
    renames : mapping of str to str, optional
        From a field (or a member of an enum) of older payloads to what it is called now.
    upgrade : callable, optional
        Called with the fields of an object that an older version stored, under their names of then, and that version;
        gives the fields as they are now. A class with a ``__getstate__`` hands over its state instead.
    post_init : {"skip", "call"}
        Whether ``__post_init__`` of a dataclass (without arguments) runs on objects that were read. ``__init__`` never
        does.
    state, build : callable, optional
        What objects of the class are made of: ``state(obj)`` gives any value that npser encodes, and ``build(state)``
        an object out of it. Both or neither. Then the class may be anything, also one that is written in C, and
        `upgrade` gets the state of an older version where that is a dict. An object is built when its state is
        complete, so its state cannot lead back to it; met twice, it is one object again.

    Raises
    ------
    TypeError, ValueError
        For what is not a class, or a type that npser stores by itself; for another class of that name, a version that
        is no int of 0 to 2**31 - 1, or only one of `state` and `build`.

    >>> @register(name="shop.Order", version=2, renames={"total": "amount"})
    ... class Order:
    ...     pass
    >>> registration_of(Order).version
    2
    >>> unregister(Order)
    """
    if cls is None:
        return lambda decorated: register(
            decorated,
            name=name,
            version=version,
            renames=renames,
            upgrade=upgrade,
            post_init=post_init,
            state=state,
            build=build,
        )
    if not isinstance(cls, type):
        raise TypeError(f"register takes a class, not {cls!r}")
    _check_hooks(cls, state, build)
    if name is not None and (type(name) is not str or not name or VERSION_MARK in name):
        raise ValueError(f"the name of a class is text without NUL, not {name!r}")
    if type(version) is not int or not 0 <= version <= MAX_VERSION:
        raise ValueError(f"the version of a class is an int from 0 to {MAX_VERSION}, not {version!r}")
    one_of("post_init", post_init, get_args(PostInit))
    found = Registration(
        cls, name or class_name(cls), version, MappingProxyType(dict(renames or {})), upgrade, post_init, state, build
    )
    with _lock:
        other = _by_name.get(found.name)
        if other is not None and other is not cls and class_name(other) != class_name(cls):
            raise ValueError(f"{found.name} is registered already, for {class_name(other)}")
        if other is not None:  # the same class, or one that took its place, as when a cell of a notebook runs again
            _by_class.pop(other, None)
        _forget(cls)
        _by_class[cls] = found
        _by_name[found.name] = cls
    _changed(cls)
    return cls


def _check_hooks(cls: type, state: State | None, build: Build | None) -> None:
    if (state is None) is not (build is None):
        raise ValueError("state= and build= go together: what one takes apart, the other one puts together")
    if state is not None and not (callable(state) and callable(build)):
        raise TypeError(f"state= and build= are functions of one argument, not {state!r} and {build!r}")
    if state is not None and cls in OWN_TYPES:
        raise TypeError(f"npser stores {class_name(cls)} by itself; register a class of your own with state=")


def unregister(cls: type) -> None:
    """Forget what is declared about a class; `loads` no longer knows it by itself."""
    with _lock:
        _forget(cls)
    _changed(cls)


def _forget(cls: type) -> None:
    before = _by_class.pop(cls, None)
    if before is not None:
        _by_name.pop(before.name, None)


def _changed(cls: type) -> None:
    for forget in ON_CHANGE:
        forget(cls)


def registration_of(cls: type) -> Registration | None:
    """What is declared about a class."""
    try:
        return _by_class.get(cls)
    except TypeError:  # a metaclass without hash
        return None


def find_registered(name: str) -> type | None:
    """The registered class of that name."""
    return _by_name.get(name)


def wire_name(cls: type) -> str:
    """What a class is called on the wire."""
    found = registration_of(cls)
    return class_name(cls) if found is None else found.name


def stamp(name: str, version: int) -> str:
    """Name and version of a class as one text.

    >>> stamp("shop.Order", 2), stamp("shop.Order", 0)
    ('shop.Order\\x002', 'shop.Order')
    """
    return f"{name}{VERSION_MARK}{version}" if version else name


def split_stamp(text: str) -> tuple[str, int]:
    """The name and the version in a text; ValueError where `stamp` does not give such a text.

    >>> split_stamp("shop.Order\\x002"), split_stamp("shop.Order")
    (('shop.Order', 2), ('shop.Order', 0))
    """
    name, mark, digits = text.partition(VERSION_MARK)
    if not mark:
        return name, 0
    version = int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 10 else 0
    if not 0 < version <= MAX_VERSION or str(version) != digits:
        raise ValueError("a class has a name, and behind a NUL a version from 1 to 2**31 - 1")
    return name, version
