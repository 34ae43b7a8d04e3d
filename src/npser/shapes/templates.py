"""The generated code: source for k columns, compiled once for each k, names bound afterwards.

Strategy: no name from a class or from the wire ever becomes source. The source is made of our own identifiers and
depends on the number of columns alone, so there are few of them, each compiled once. Attribute names and keys replace
our placeholders in the compiled code's tables of names and constants (`code.replace`), where any text is only a name.
Every source is in linecache: a debugger steps through it and a traceback shows its line.
"""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

__all__ = [
    "MAX_COLUMNS",
    "Fill",
    "Generated",
    "bind",
    "build_lists",
    "build_row",
    "build_rows",
    "can_share",
    "columns_of",
    "columns_template",
    "compile_maker",
    "fill_dicts",
    "fill_dicts_template",
    "fill_objects",
    "fill_slots",
    "fill_slots_template",
    "fill_template",
    "forget",
    "new_row_class",
]

MAX_COLUMNS = 128
"""Wider tables and classes are built by plain loops: it bounds how much code can ever be generated."""


Fill = Callable[[Sequence[Any], Sequence[Sequence[Any]]], None]
"""Sets attributes of objects from one column an attribute."""


MIN_SHARED = 7
"""Dicts of fewer keys are built faster by a display; benchmarks/thresholds_shapes.py::sweep_shared."""

MAX_SHARED = 29
"""CPython shares up to 30 keys (SHARED_KEYS_MAX_SIZE, Objects/dictobject.c)."""


class Generated(NamedTuple):
    """One generated function before it is bound to names.

    Parameters
    ----------
    name : str
        What it does.
    source : str
        Its text, made of our own identifiers.
    """

    name: str
    source: str


@lru_cache(maxsize=MAX_COLUMNS)
def rows_template(k: int) -> Generated:
    """Columns -> dicts.

    >>> print(rows_template(2).source)
    def make():
        def build(columns):
            return [{'f0': v0, 'f1': v1} for v0, v1, in zip(*columns)]
        return build
    <BLANKLINE>
    """
    pairs = ", ".join(f"'f{i}': v{i}" for i in range(k))
    values = "".join(f"v{i}, " for i in range(k))
    return Generated(
        f"rows_{k}",
        f"def make():\n"
        f"    def build(columns):\n"
        f"        return [{{{pairs}}} for {values}in zip(*columns)]\n"
        f"    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def shared_rows_template(k: int) -> Generated:
    """Columns -> dicts that share one table of keys, as the ``__dict__`` of objects of one class do (PEP 412).

    >>> print(shared_rows_template(2).source)
    def make(row):
        def build(columns):
            out = []
            push = out.append
            for v0, v1, in zip(*columns):
                o = row()
                o.f0 = v0
                o.f1 = v1
                push(o.__dict__)
            return out
        return build
    <BLANKLINE>
    """
    values = "".join(f"v{i}, " for i in range(k))
    body = "".join(f"            o.f{i} = v{i}\n" for i in range(k))
    return Generated(
        f"shared_rows_{k}",
        f"def make(row):\n"
        f"    def build(columns):\n"
        f"        out = []\n"
        f"        push = out.append\n"
        f"        for {values}in zip(*columns):\n"
        f"            o = row()\n"
        f"{body}"
        f"            push(o.__dict__)\n"
        f"        return out\n"
        f"    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def row_template(k: int) -> Generated:
    """Iterators of columns -> one dict a call, for tables whose rows differ.

    >>> print(row_template(2).source)
    def make(keys, nexts):
        k0, k1, = keys
        f0, f1, = nexts
        def row():
            return {k0: f0(), k1: f1()}
        return row
    <BLANKLINE>
    """
    keys = "".join(f"k{i}, " for i in range(k)).rstrip()
    nexts = "".join(f"f{i}, " for i in range(k)).rstrip()
    pairs = ", ".join(f"k{i}: f{i}()" for i in range(k))
    return Generated(
        f"row_{k}",
        f"def make(keys, nexts):\n"
        f"    {keys} = keys\n"
        f"    {nexts} = nexts\n"
        f"    def row():\n"
        f"        return {{{pairs}}}\n"
        f"    return row\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def lists_template(k: int) -> Generated:
    """Tuples -> lists of the same k items; a display is twice as fast as ``list(row)``.

    >>> print(lists_template(2).source)
    def make():
        def build(rows):
            return [[v0, v1] for v0, v1, in rows]
        return build
    <BLANKLINE>
    """
    items = ", ".join(f"v{i}" for i in range(k))
    values = "".join(f"v{i}, " for i in range(k))
    return Generated(
        f"lists_{k}",
        f"def make():\n    def build(rows):\n        return [[{items}] for {values}in rows]\n    return build\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def fill_template(k: int) -> Generated:
    """Objects that exist and their columns -> the same objects with their attributes set.

    >>> print(fill_template(2).source)
    def make():
        def fill(objects, columns):
            for o, v0, v1, in zip(objects, *columns):
                o.f0 = v0
                o.f1 = v1
        return fill
    <BLANKLINE>
    """
    values = "".join(f"v{i}, " for i in range(k))
    body = "".join(f"            o.f{i} = v{i}\n" for i in range(k))
    return Generated(
        f"fill_{k}",
        f"def make():\n"
        f"    def fill(objects, columns):\n"
        f"        for o, {values}in zip(objects, *columns):\n"
        f"{body}"
        f"    return fill\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def fill_dicts_template(k: int) -> Generated:
    """Like `fill_template`, but straight into the ``__dict__`` of each object, past any ``__setattr__``.

    >>> print(fill_dicts_template(1).source)
    def make():
        def fill(objects, columns):
            for o, v0, in zip(objects, *columns):
                d = o.__dict__
                d['f0'] = v0
        return fill
    <BLANKLINE>
    """
    values = "".join(f"v{i}, " for i in range(k))
    body = "".join(f"            d['f{i}'] = v{i}\n" for i in range(k))
    return Generated(
        f"fill_dicts_{k}",
        f"def make():\n"
        f"    def fill(objects, columns):\n"
        f"        for o, {values}in zip(objects, *columns):\n"
        f"            d = o.__dict__\n"
        f"{body}"
        f"    return fill\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def fill_slots_template(k: int) -> Generated:
    """Like `fill_template`, but through one setter an attribute: slots of a frozen class, for one.

    >>> print(fill_slots_template(1).source)
    def make(setters):
        s0, = setters
        def fill(objects, columns):
            for o, v0, in zip(objects, *columns):
                s0(o, v0)
        return fill
    <BLANKLINE>
    """
    setters = "".join(f"s{i}, " for i in range(k)).rstrip()
    values = "".join(f"v{i}, " for i in range(k))
    body = "".join(f"            s{i}(o, v{i})\n" for i in range(k))
    return Generated(
        f"fill_slots_{k}",
        f"def make(setters):\n"
        f"    {setters} = setters\n"
        f"    def fill(objects, columns):\n"
        f"        for o, {values}in zip(objects, *columns):\n"
        f"{body}"
        f"    return fill\n",
    )


@lru_cache(maxsize=MAX_COLUMNS)
def columns_template(k: int) -> Generated:
    """Objects -> a list of the values of each attribute.

    >>> print(columns_template(2).source)
    def make():
        def columns(objects):
            return [
                [o.f0 for o in objects],
                [o.f1 for o in objects],
            ]
        return columns
    <BLANKLINE>
    """
    body = "".join(f"            [o.f{i} for o in objects],\n" for i in range(k))
    return Generated(
        f"columns_{k}",
        f"def make():\n    def columns(objects):\n        return [\n{body}        ]\n    return columns\n",
    )


@lru_cache(maxsize=8 * MAX_COLUMNS)
def _maker(generated: Generated) -> Callable[..., Callable[..., Any]]:
    return compile_maker(generated, {"zip": zip})


def compile_maker(generated: Generated, names: dict[str, Any]) -> Callable[..., Callable[..., Any]]:
    """Compile ``def make(...)``; it sees the given names and no builtins."""
    filename = _filename(generated)
    code = compile(generated.source, filename, "exec")
    linecache.cache[filename] = (len(generated.source), None, generated.source.splitlines(keepends=True), filename)
    (maker,) = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return types.FunctionType(maker, {**names, "__builtins__": {}})


def forget(generated: Generated) -> None:
    """Drop the source of a function that is no longer used from linecache."""
    linecache.cache.pop(_filename(generated), None)


def _filename(generated: Generated) -> str:
    return f"<npser generated: {generated.name}>"


def bind(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """The same function with the placeholders f0, f1, … replaced, as attribute names and as constants."""
    assert isinstance(function, types.FunctionType)
    real = {f"f{i}": name for i, name in enumerate(names)}
    code = _rename(function.__code__, real)
    return types.FunctionType(code, function.__globals__, closure=function.__closure__)


def _rename(code: types.CodeType, real: dict[str, str]) -> types.CodeType:
    return code.replace(
        co_names=tuple(real.get(name, name) for name in code.co_names),
        co_consts=tuple(_rename_constant(const, real) for const in code.co_consts),
    )


def _rename_constant(const: Any, real: dict[str, str]) -> Any:
    if isinstance(const, types.CodeType):
        return _rename(const, real)
    if isinstance(const, tuple):  # the keys of a dict display
        return tuple(_rename_constant(item, real) for item in const)
    return real.get(const, const) if isinstance(const, str) else const


def can_share(keys: Sequence[str]) -> bool:
    """Whether dicts of these keys are better built as those of objects: smaller, and faster from a few keys on.

    A key like ``__class__`` or ``__dict__`` would be an attribute of the class and not an item.
    """
    return MIN_SHARED <= len(keys) <= MAX_SHARED and not any(key.startswith("__") for key in keys)


def new_row_class() -> type:
    """A class whose objects' dicts share their keys; one for each key set."""
    return type("Row", (), {})


def build_rows(keys: tuple[str, ...]) -> Callable[[Sequence[Sequence[Any]]], list[dict[str, Any]]]:
    """A function from one column a key to the dicts of these keys.

    >>> build_rows(("id", "name"))([[1, 2], ["a", "b"]])
    [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}]
    """
    if not 0 < len(keys) <= MAX_COLUMNS:
        return partial(_rows_by_loop, keys)
    if can_share(keys):
        return bind(_maker(shared_rows_template(len(keys)))(new_row_class()), keys)
    return bind(_maker(rows_template(len(keys)))(), keys)


def _rows_by_loop(keys: tuple[str, ...], columns: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


def build_row(keys: Sequence[str], nexts: Sequence[Callable[[], Any]]) -> Callable[[], dict[str, Any]]:
    """A function that takes the next value of each column and gives the dict of them.

    >>> build_row(("id",), [iter([1, 2]).__next__])()
    {'id': 1}
    """
    if not 0 < len(keys) <= MAX_COLUMNS:
        return lambda: {key: take() for key, take in zip(keys, nexts, strict=True)}
    return _maker(row_template(len(keys)))(keys, nexts)


@lru_cache(maxsize=MAX_COLUMNS)
def build_lists(k: int) -> Callable[[Iterable[tuple[Any, ...]]], list[list[Any]]]:
    """A function from tuples of k items to lists of them.

    >>> build_lists(2)([(1, 2), (3, 4)])
    [[1, 2], [3, 4]]
    """
    if not 0 < k <= MAX_COLUMNS:
        return lambda rows: list(map(list, rows))
    return _maker(lists_template(k))()


def fill_objects(names: tuple[str, ...]) -> Fill:
    """A function that sets the named attributes of objects from one column a name, with plain attribute stores."""
    if not 0 < len(names) <= MAX_COLUMNS:
        return _fill_by_loop([partial(_store_attribute, name) for name in names])
    return bind(_maker(fill_template(len(names)))(), names)


def fill_dicts(names: tuple[str, ...]) -> Fill:
    """The same, into the ``__dict__`` of each object."""
    if not 0 < len(names) <= MAX_COLUMNS:
        return _fill_by_loop([partial(_store_item, name) for name in names])
    return bind(_maker(fill_dicts_template(len(names)))(), names)


def fill_slots(setters: Sequence[Callable[[Any, Any], None]]) -> Fill:
    """The same, through one function of (object, value) an attribute."""
    if not 0 < len(setters) <= MAX_COLUMNS:
        return _fill_by_loop(setters)
    return _maker(fill_slots_template(len(setters)))(setters)


def _store_attribute(name: str, thing: Any, value: Any) -> None:
    setattr(thing, name, value)


def _store_item(name: str, thing: Any, value: Any) -> None:
    thing.__dict__[name] = value


def _fill_by_loop(setters: Sequence[Callable[[Any, Any], None]]) -> Fill:
    def fill(objects: Sequence[Any], columns: Sequence[Sequence[Any]]) -> None:
        for put, column in zip(setters, columns, strict=True):
            for thing, value in zip(objects, column, strict=True):
                put(thing, value)

    return fill


def columns_of(names: tuple[str, ...]) -> Callable[[Sequence[Any]], list[list[Any]]]:
    """A function from objects to one column a named attribute; AttributeError where one lacks it."""
    if not 0 < len(names) <= MAX_COLUMNS:
        return lambda objects: [[getattr(thing, name) for thing in objects] for name in names]
    return bind(_maker(columns_template(len(names)))(), names)
