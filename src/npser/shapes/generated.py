"""The generated code, compiled and bound: rows of dicts, rows of lists, attributes of objects.

Strategy: a template is compiled once. Attribute names and keys then replace our placeholders in the compiled code's
tables of names and constants (`code.replace`), where any text is only a name. Every source is in linecache: a debugger
steps through it and a traceback shows its line. This is the one place of the package that compiles.
"""

from __future__ import annotations

import linecache
import sys
import threading
import types
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from npser.shapes.templates import (
    MAX_COLUMNS,
    Generated,
    columns_template,
    fill_dicts_template,
    fill_slots_template,
    fill_template,
    filled_one_template,
    filled_rows_template,
    lists_template,
    one_template,
    rows_template,
    shared_one_template,
    shared_rows_template,
)

__all__ = [
    "MAX_DISPLAY",
    "Fill",
    "bind",
    "build_lists",
    "build_one",
    "build_rows",
    "can_share",
    "columns_of",
    "compile_maker",
    "fill_dicts",
    "fill_objects",
    "fill_slots",
    "forget",
    "may_bind",
    "new_row_class",
]

Fill = Callable[[Iterable[Any], Sequence[Iterable[Any]]], None]
"""Sets attributes of objects from one column an attribute."""

MIN_SHARED = 7
"""Dicts of fewer keys are built faster by a display; benchmarks/thresholds_shapes.py::sweep_shared."""

MAX_DISPLAY = 15
"""A display of more keys is built key by key, in a dict that grows (STACK_USE_GUIDELINE, Python/compile.c)."""

MAX_SHARED = 29
"""CPython shares up to 30 keys (SHARED_KEYS_MAX_SIZE, Objects/dictobject.c)."""


NAMES_STAY = sys.version_info >= (3, 12)
"""Whether names in code are immortal."""

MAX_NAMES = 1 << 24
"""Characters of names that code may ever be bound to: a thousand times what the key sets of a large program have."""

_names_bound: set[int] = set()
_size_bound = [0]
_lock = threading.Lock()


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


def may_bind(names: Sequence[str]) -> bool:
    """Whether code may still be bound to these names.

    CPython 3.12 and later never forget a name that code has had, and whoever writes payloads chooses the keys. So
    there are only so many in the life of a process; what has names beyond that is built by loops.
    """
    if not NAMES_STAY:
        return True
    key = hash(tuple(names))
    if key in _names_bound:
        return True
    size = sum(map(len, names))
    with _lock:
        if _size_bound[0] + size > MAX_NAMES:
            return False
        _size_bound[0] += size
        _names_bound.add(key)
    return True


def bind(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """The same function with the placeholders f0, f1, … replaced, as attribute names and as constants.

    Who calls this has asked `may_bind` before.
    """
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


def build_one(keys: tuple[str, ...]) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """A function from one value a key to the dict of them.

    >>> build_one(("id", "name"))([1, "a"])
    {'id': 1, 'name': 'a'}
    """
    if not 0 < len(keys) <= MAX_COLUMNS or not may_bind(keys):
        return lambda values: dict(zip(keys, values, strict=True))
    if can_share(keys):
        return bind(_maker(shared_one_template(len(keys)))(new_row_class()), keys)
    if len(keys) > MAX_DISPLAY:
        return bind(_maker(filled_one_template(len(keys)))(dict.fromkeys(keys)), keys)
    return bind(_maker(one_template(len(keys)))(), keys)


def build_rows(keys: tuple[str, ...]) -> Callable[[Sequence[Iterable[Any]]], list[dict[str, Any]]]:
    """A function from one column a key to the dicts of these keys.

    >>> build_rows(("id", "name"))([[1, 2], ["a", "b"]])
    [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}]
    """
    if not 0 < len(keys) <= MAX_COLUMNS or not may_bind(keys):
        return partial(_rows_by_loop, keys)
    if can_share(keys):
        return bind(_maker(shared_rows_template(len(keys)))(new_row_class()), keys)
    if len(keys) > MAX_DISPLAY:
        return bind(_maker(filled_rows_template(len(keys)))(dict.fromkeys(keys)), keys)
    return bind(_maker(rows_template(len(keys)))(), keys)


def _rows_by_loop(keys: tuple[str, ...], columns: Sequence[Iterable[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


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
    if not 0 < len(names) <= MAX_COLUMNS or not may_bind(names):
        return _fill_by_loop([partial(_store_attribute, name) for name in names])
    return bind(_maker(fill_template(len(names)))(), names)


def fill_dicts(names: tuple[str, ...]) -> Fill:
    """The same, into the ``__dict__`` of each object."""
    if not 0 < len(names) <= MAX_COLUMNS or not may_bind(names):
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
    def fill(objects: Iterable[Any], columns: Sequence[Iterable[Any]]) -> None:
        for put, column in zip(setters, columns, strict=True):
            for thing, value in zip(objects, column, strict=True):
                put(thing, value)

    return fill


def columns_of(names: tuple[str, ...]) -> Callable[[Sequence[Any]], list[list[Any]]]:
    """A function from objects to one column a named attribute; AttributeError where one lacks it."""
    if not 0 < len(names) <= MAX_COLUMNS or not may_bind(names):
        return lambda objects: [[getattr(thing, name) for thing in objects] for name in names]
    return bind(_maker(columns_template(len(names)))(), names)
