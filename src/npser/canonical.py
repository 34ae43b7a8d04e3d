"""Canonical bytes: equal values give equal payloads, whatever their dicts, sets and objects went through.

Strategy: the encoder itself gives the same bytes for the same value; what differs between equal values is the order of
dicts and sets, which objects are the same one, and the bits of a NaN. So the value is copied into one that has nothing
of that: keys and members sorted by their own canonical payloads, every object a placeholder of its own, one NaN. The
encoder then writes that as ever. The walk is a loop over a stack of open containers, which is also how a container that
holds itself is found, and where the path of an error comes from.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from npser.canonicalarrays import one_nan, settle_array, settle_scalar
from npser.columns.kinds import LEAF_TYPES
from npser.encoder import encode
from npser.errors import EncodeError
from npser.limits import MAX_DEPTH
from npser.shapes.built import STEP, state_of
from npser.shapes.column import show_key
from npser.shapes.infer import CHOOSY, MAX_SUBSTITUTES, PLACERS, is_refused, placer_of
from npser.shapes.members import FrozensetMembers, SetMembers
from npser.shapes.states import attributes_of
from npser.types.placeholder import Placeholder
from npser.types.schema import Schema, schema_of
from npser.types.shown import show_step

__all__ = ["Default", "encode_canonical"]

MAX_ORDERS = 1 << 12
"""Key sets whose order is remembered."""

Default: TypeAlias = Callable[[Any], Any] | None


def encode_canonical(value: Any, default: Default = None) -> bytes:
    """The canonical payload of a value, which `loads` reads like any other.

    Raises
    ------
    EncodeError
        For what could not be given back exactly, and for what holds itself.

    >>> encode_canonical({"b": 1, "a": {2, 1}}) == encode_canonical({"a": {1, 2}, "b": 1})
    True
    """
    if type(value) in LEAF_TYPES and default is None:
        return encode(_settled_leaf(value), default=None, preserve=False)
    return encode(_Walk(default).run(value), default=None, preserve=False)


class _Opened(NamedTuple):
    """A container taken apart."""

    items: list[Any]
    step: Callable[[int], str]  # how an item is reached
    finish: Callable[[list[Any]], Any]  # the copy, out of the copies of the items


class _Frame:
    """A container whose items are being copied.

    Attributes
    ----------
    done : list
        Its items, of which those that were copied are the copies.
    todo : list of int
        Which are to be copied yet, the next one last.
    at : int
        Which one is being copied; -1 if none is.
    """

    __slots__ = ("at", "done", "finish", "step", "todo", "value")

    def __init__(self, value: Any, opened: _Opened) -> None:
        self.value = value
        self.done, self.step, self.finish = opened
        self.todo: list[int] = []
        self.at = -1

    def plan(self, default: Default) -> None:
        """Copy all leaves at once, where nobody has to be asked about them, and say what is left."""
        items = self.done
        met = set(map(type, items))
        if default is not None and not met.isdisjoint(CHOOSY):
            self.todo = list(range(len(items) - 1, -1, -1))
            return
        if not met.isdisjoint(_SETTLED):
            settles = list(map(_SETTLED.get, map(type, items)))
            self.done = [settle(item) if settle else item for settle, item in zip(settles, items, strict=True)]
        if not met <= LEAF_TYPES:
            self.todo = [at for at in range(len(items) - 1, -1, -1) if type(items[at]) not in LEAF_TYPES]


class _Walk:
    """The copy of one value."""

    def __init__(self, default: Default) -> None:
        self.default = default
        self.frames: list[_Frame] = []
        self.open_now: set[int] = set()  # ids of the containers in `frames`, which keep them alive
        self.classes: dict[str, type] = {}  # wire name -> the class that has it in this payload
        self.orders: dict[tuple[str, ...], list[int]] = {}

    def run(self, root: Any) -> Any:
        """Copy a value."""
        self.frames.append(_Frame(None, _Opened([root], lambda _: "", lambda done: done[0])))
        self.frames[0].todo = [0]
        while True:
            frame = self.frames[-1]
            if frame.todo:
                frame.at = frame.todo.pop()
                self._copy(frame, frame.done[frame.at])
                continue
            frame.at = -1
            made = frame.finish(frame.done)
            self.frames.pop()
            self.open_now.discard(id(frame.value))
            if not self.frames:
                return made
            frame = self.frames[-1]
            frame.done[frame.at] = made

    def _copy(self, frame: _Frame, value: Any) -> None:
        """Copy an item, or open it if it is a container."""
        if self.default is not None:
            value = self._substituted(value)
        kind = type(value)
        if kind in LEAF_TYPES:
            frame.done[frame.at] = _settled_leaf(value)
            return
        opened = self._open(value, kind)
        if opened is None:
            frame.done[frame.at] = settle_array(value) if kind is np.ndarray else value
            return
        if id(value) in self.open_now:
            raise self.refuse("a container holds itself, and canonical bytes have no references")
        if len(self.frames) > MAX_DEPTH:
            raise self.refuse(f"more than {MAX_DEPTH} containers within each other")
        self.open_now.add(id(value))
        inner = _Frame(value, opened)
        inner.plan(self.default)
        self.frames.append(inner)

    def _open(self, value: Any, kind: type) -> _Opened | None:
        """Take a container apart; None if it is none, or nothing that npser encodes, which the encoder will say."""
        opener = _OPENERS.get(kind)
        if opener is not None:
            return opener(self, value)
        if kind in PLACERS:
            return None
        schema = schema_of(kind)
        if schema is None or schema.form == "enum":  # a member is what it is
            return None
        if self.classes.setdefault(schema.name, kind) is not kind:
            raise self.refuse(f"two classes of one name: {schema.name}")
        return _OF_FORM[schema.form](self, value, schema)

    def _substituted(self, value: Any) -> Any:
        """What `default` gives for a value that npser refuses."""
        assert self.default is not None
        for _ in range(MAX_SUBSTITUTES):
            kind = type(value)
            if not is_refused(value) and (kind in LEAF_TYPES or placer_of(kind) is not None):
                return value
            value = self.default(value)
        kind = type(value)
        raise self.refuse(f"default={self.default!r} gives no substitute for {kind.__module__}.{kind.__qualname__}")

    def hashed(self, keys: list[Any]) -> list[Any]:
        """Keys or members with their substitutes, if these can take their place."""
        if self.default is None:
            return keys
        keys = list(map(self._substituted, keys))
        try:
            distinct = len(set(keys))
        except TypeError as error:
            raise self.refuse(f"default= gave something that cannot be a key: {error}") from error
        if distinct < len(keys):
            raise self.refuse("default= gave the same key twice for keys of one container")
        return keys

    def filled(self, make: Callable[[Any], Any], keys: list[Any], values: list[Any], order: Iterable[int]) -> Any:
        """A dict of copies; `make` gives an empty one."""
        made = make(())
        if make is dict:
            made = {keys[at]: values[at] for at in order}
        else:
            for at in order:
                made[keys[at]] = values[at]
        if len(made) < len(keys):
            raise self.refuse("default= gave the same key twice for keys of one container")
        return made

    def refuse(self, message: str) -> EncodeError:
        """An error that names the place of the item that is being copied."""
        return EncodeError(message, path=self.path())

    def path(self) -> str:
        """Where the item that is being copied stands."""
        return "$" + "".join(frame.step(frame.at) for frame in self.frames if frame.at >= 0)

    def payloads(self, copies: Iterable[Any]) -> list[bytes]:
        """The canonical payload of each key or member, out of its copy."""
        try:
            return [encode(copy, default=None, preserve=False) for copy in copies]
        except EncodeError as error:
            error.path = self.path() + ".keys()[*]" + (error.path or "$")[1:]
            raise

    def order(self, keys: list[Any], values: Sequence[Any] | None) -> list[int]:
        """The indices of keys or members, sorted by their payloads; the values tell apart keys that are alike."""
        names = tuple(keys) if set(map(type, keys)) == {str} else None
        known = None if names is None else self.orders.get(names)
        if known is not None:
            return known
        raws = self.payloads(keys)
        found = sorted(range(len(raws)), key=raws.__getitem__)
        if values is not None and len(set(raws)) < len(raws):  # several NaN, or objects that only are not the same one
            pairs = list(zip(raws, self.payloads(values), strict=True))
            found.sort(key=pairs.__getitem__)
        if names is not None and len(self.orders) < MAX_ORDERS:
            self.orders[names] = found
        return found


def _settled_leaf(value: Any) -> Any:
    settle = _SETTLED.get(type(value))
    return value if settle is None else settle(value)


_SETTLED: Final[dict[type, Callable[[Any], Any]]] = {
    float: one_nan,
    complex: lambda value: complex(one_nan(value.real), one_nan(value.imag)),
    **{kind: settle_scalar for kind in LEAF_TYPES if issubclass(kind, (np.inexact, np.void))},
}
"""Types of leaves of which equal ones may differ in their bits."""


def _at(at: int) -> str:
    return f"[{at}]"


def _sequence(make: Callable[[list[Any]], Any]) -> Callable[[_Walk, Any], _Opened]:
    return lambda _walk, value: _Opened(list(value), _at, make)


def _deque(_walk: _Walk, value: deque[Any]) -> _Opened:
    return _Opened(list(value), _at, partial(deque, maxlen=value.maxlen))


def _set(make: Callable[[list[Any]], Any]) -> Callable[[_Walk, Any], _Opened]:
    def open_set(walk: _Walk, value: Any) -> _Opened:
        return _Opened(
            walk.hashed(list(value)), _at, lambda done: make([done[at] for at in walk.order(done, None)])
        )

    return open_set


def _slice(_walk: _Walk, value: slice) -> _Opened:
    names = (".start", ".stop", ".step")
    return _Opened([value.start, value.stop, value.step], names.__getitem__, lambda done: slice(*done))


def _mapping(walk: _Walk, value: dict[Any, Any], make: Callable[[Any], Any]) -> _Opened:
    """A dict: its values, then its keys, for these are mostly leaves and need no look."""
    items = list(value.values()) if type(value) is OrderedDict else list(dict.values(value))
    keys = walk.hashed(list(value))
    n = len(keys)

    def step(at: int) -> str:
        return f"[{show_key(keys[at])}]" if at < n else f".keys()[{at - n}]"

    def finish(done: list[Any]) -> Any:
        values, copies = done[:n], done[n:]
        if type(value) is OrderedDict:
            return walk.filled(make, copies, values, range(n))
        return walk.filled(make, copies, values, walk.order(copies, values))

    return _Opened(items + keys, step, finish)


def _default_dict(walk: _Walk, value: defaultdict[Any, Any]) -> _Opened:
    return _mapping(walk, value, partial(defaultdict, value.default_factory))


def _array(_walk: _Walk, value: Any) -> _Opened | None:
    if value.dtype != np.dtype(object):
        return None
    order: Any = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"

    def finish(done: list[Any]) -> Any:
        made = np.empty(value.shape, object, order=order)
        made.ravel(order="K")[...] = np.fromiter(done, object, len(done))
        return made

    def step(at: int) -> str:
        return f"[{', '.join(map(str, np.unravel_index(at, value.shape, order))) or '()'}]"

    return _Opened(value.ravel(order).tolist(), step, finish)


def _fields(fields: dict[str, Any], make: Callable[[dict[str, Any]], Any]) -> _Opened:
    names = list(fields)
    return _Opened(
        list(fields.values()),
        lambda at: show_step(names[at]) if type(names[at]) is str else f"[{show_key(names[at])}]",
        lambda done: make(dict(zip(names, done, strict=True))),
    )


def _placeholder(walk: _Walk, value: Placeholder) -> _Opened | None:
    form, contents = value.form, value.contents
    if form == "enum":
        return None

    def make(copied: Any) -> Placeholder:
        return Placeholder(value.class_name, form, copied, value.keys, value.version)

    if form in ("state", "built"):
        step = STEP if form == "built" else ".__getstate__()"
        return _Opened([contents], lambda _: step, lambda done: make(done[0]))
    return _fields(contents, make)


_OPENERS: Final[dict[type, Callable[[_Walk, Any], _Opened | None]]] = {
    list: _sequence(list),
    tuple: _sequence(tuple),
    deque: _deque,
    set: _set(SetMembers),
    frozenset: _set(FrozensetMembers),
    slice: _slice,
    dict: partial(_mapping, make=dict),
    OrderedDict: partial(_mapping, make=OrderedDict),
    Counter: partial(_mapping, make=Counter),
    defaultdict: _default_dict,
    np.ndarray: _array,
    Placeholder: _placeholder,
}
"""Exact type of a container -> who takes it apart. Objects go by their schema."""


def _state(walk: _Walk, value: Any, schema: Schema) -> _Opened:
    state = value.__getstate__()
    if not hasattr(type(value), "__setstate__") and attributes_of(state) is None:
        raise walk.refuse(f"{schema.name} has no __setstate__ and its state is no dict of attributes")
    return _Opened(
        [state],
        lambda _: ".__getstate__()",
        lambda done: Placeholder(schema.name, "state", done[0], None, schema.version),
    )


def _built(walk: _Walk, value: Any, schema: Schema) -> _Opened:
    try:
        state = state_of(value)
    except EncodeError as error:
        error.path = walk.path()
        raise
    return _Opened(
        [state], lambda _: STEP, lambda done: Placeholder(schema.name, "built", done[0], None, schema.version)
    )


def _named_tuple(walk: _Walk, value: Any, schema: Schema) -> _Opened:
    fields = schema.fields or ()
    if len(value) != len(fields) or getattr(value, "__dict__", None):
        raise walk.refuse(f"{schema.name} with attributes or items beyond its fields")
    return _fields(
        dict(zip(fields, tuple.__iter__(value), strict=True)),
        lambda copied: Placeholder(schema.name, "named tuple", copied, None, schema.version),
    )


def _object(walk: _Walk, value: Any, schema: Schema) -> _Opened:
    names = schema.slots if schema.fields is None else schema.fields
    fields = {name: getattr(value, name) for name in names if hasattr(value, name)}
    keys = None
    if schema.fields is None:
        own = {**vars(value)} if hasattr(value, "__dict__") else {}
        attributes = list(own)
        fields |= {attributes[at]: own[attributes[at]] for at in walk.order(attributes, None)}
    elif len(fields) < len(names):
        keys = names  # a reader needs to know which fields there could be
    return _fields(fields, lambda copied: Placeholder(schema.name, "object", copied, keys, schema.version))


_OF_FORM: Final[dict[str, Callable[[_Walk, Any, Schema], _Opened]]] = {
    "state": _state,
    "named tuple": _named_tuple,
    "object": _object,
    "built": _built,
}
