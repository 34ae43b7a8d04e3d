"""The floor: how fast Python itself can build a value whose columns are ready.

Strategy: one generator writes, for any value, the source of a function that builds it from what the fastest decoder
could have at hand: numbers in numpy arrays and one packed struct, text in joined bytes, which keys there are and how
things nest in the code itself. Text and numbers are made anew at every call, as a decoder must. Where there is more
than one way (a column of 40 categories: split, or look up? a list of dicts: a comprehension, or every dict on its own?
a dict: a display, or a copy of one that has the keys?) the ways race when the floor is prepared, and the quickest
stays. The collector is paused where there are many containers. It is what a codec in Python cannot be expected to beat,
but no proof of that: where npser is below it, npser has found a better way.

    python benchmarks/floors.py rowset_1000          # prints the source that won
"""

from __future__ import annotations

import dataclasses
import gc
import itertools
import keyword
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.floor_leaves import LEAVES, SINGLETONS, Columns, compiled, identity, quickest, separator, small
from benchmarks.peers import same

__all__ = ["Floor", "floor_of"]

LEAF_COLUMN = 16
"""Leaves of a list from which they come out of an array or a split, and not each out of a variable."""

WIDE_ROW = 16
"""Items up to which lists of one length are displays in a comprehension."""

WIDE_KEYS = 64
"""Keys up to which a dict is a display where its values could also be a column."""

MANY_KEYS = 256
"""Keys from which they are data, a column of their own, and not part of the code."""

UNROLLED = 60_000
"""Nodes up to which a whole document is tried as one nested display."""

MANY_CONTAINERS = 100
"""Containers from which the collector is paused."""

NEVER = sys.maxsize
ROWS_FROM = (3, 24, NEVER)
"""Rows of one kind from which they are built in a comprehension: each is tried."""

STYLES = ("display", "shared", "copied")
"""How dicts are made, each is tried: by a display, as the `__dict__` of objects that share their keys, or as a copy of
a dict that has the keys and is as large as it must be."""

DISPLAYED = 15
"""Keys up to which CPython makes a display in one step, as large as it must be; beyond, the dict grows key by key."""


class Floor(NamedTuple):
    """The function that builds the value (its argument is ignored), and its source."""

    build: Callable[[Any], Any]
    source: str


def floor_of(value: Any) -> Floor:
    """The quickest builder of the value that was found; AssertionError if it does not build exactly that.

    >>> floor_of([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]).build(None)
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'y'}]
    """
    nodes = _count(value)
    tried: dict[str, Callable[[Any], Any]] = {}
    names = itertools.count()
    columns = Columns(names)
    for rows_from, style in itertools.product(ROWS_FROM, STYLES):
        if rows_from == NEVER and nodes > UNROLLED:
            continue
        writer = _Writer(rows_from, style, names, columns)
        source, bound = writer.function(value)
        if source not in tried:
            tried[source] = compiled(source, bound)
    if len(tried) == 1:
        ((source, build),) = tried.items()
    else:
        source, build = min(tried.items(), key=lambda item: quickest(item[1]))
    assert same(value, build(None)), "the floor builds something else"
    return Floor(build, source)


def _count(value: Any) -> int:
    """Containers and leaves."""
    if type(value) is dict:
        return 1 + sum(map(_count, value.values()))
    if type(value) is list:
        return 1 + sum(map(_count, value))
    if dataclasses.is_dataclass(value):
        return 1 + sum(_count(getattr(value, field.name)) for field in dataclasses.fields(value))
    return 1


# ------------------------------------------------------------------------------------------------------ facts of leaves


def _is_name(key: Any) -> bool:
    return type(key) is str and key.isidentifier() and not keyword.iskeyword(key)


def _alike(values: list[Any]) -> bool:
    """One type, and for dicts one tuple of keys."""
    kinds = {tuple(value) if type(value) is dict else type(value) for value in values}
    return len(kinds) == 1


class _Writer:
    """What is written so far of one function: statements, the ready data, and the pools of lone leaves."""

    def __init__(self, rows_from: int, style: str, names: Iterator[int], columns: Columns) -> None:
        self.rows_from = rows_from
        self.style = style
        self.lines: list[str] = []
        self.bound: dict[str, Any] = {"_new": object.__new__}
        self.texts: dict[str, str] = {}
        self.numbers: dict[tuple[type, Any], tuple[str, Any]] = {}
        self.names = names
        self.columns = columns
        self.containers = 0

    def name(self, stem: str) -> str:
        return f"{stem}{next(self.names)}"

    def function(self, value: Any) -> tuple[str, dict[str, Any]]:
        """The source of `build`, and what its names stand for."""
        result = self.single(value)
        body = [*self._unpacking(), *self.lines]
        if self.containers < MANY_CONTAINERS:
            body.append(f"return {result}")
        else:
            self.bound["_gc"] = gc
            body = ["was = _gc.isenabled()", "_gc.disable()", "try:", *(f"    {line}" for line in body)]
            body += [f"    return {result}", "finally:", "    if was: _gc.enable()"]
        return "def build(_):\n" + "".join(f"    {line}\n" for line in body), self.bound

    def _unpacking(self) -> list[str]:
        """The pools into variables: one split, one unpacked struct."""
        lines = []
        for pool, ascii_only in (("_ascii", True), ("_wide", False)):  # to cut up a wide str takes longer
            texts = [text for text in self.texts if text.isascii() is ascii_only]
            if texts:
                names = ", ".join(self.texts[text] for text in texts)
                mark = separator(texts)
                assert mark is not None, "the texts hold every separator"
                self.bound[pool] = mark.join(texts).encode()
                lines.append(f"{names}, = {pool}.decode().split({mark!r})")
        if self.numbers:
            names = ", ".join(name for name, _ in self.numbers.values())
            numbers = [number for _, number in self.numbers.values()]
            form = struct.Struct("<" + "".join("d" if type(number) is float else "q" for number in numbers))
            self.bound["_unpack"], self.bound["_numbers"] = form.unpack, form.pack(*numbers)
            lines.append(f"{names}, = _unpack(_numbers)")
        return lines

    # --------------------------------------------------------------------------------------------------- one value

    def lone(self, leaf: Any) -> str:
        """A leaf that stands alone: a variable out of a pool, or a literal where nothing has to be made."""
        if type(leaf) in SINGLETONS or leaf == "" or (type(leaf) is int and not small(leaf)):
            return repr(leaf)
        if type(leaf) is str:
            return self.texts.setdefault(leaf, f"t{len(self.texts)}")
        return self.numbers.setdefault(identity(leaf), (f"n{len(self.numbers)}", leaf))[0]

    def single(self, value: Any) -> str:
        """The expression of one value."""
        kind = type(value)
        if kind in LEAVES:
            return self.lone(value)
        if kind is np.ndarray:
            name = self.name("A")
            self.bound[name] = value.copy()
            return f"{name}.copy()"
        self.containers += 1
        if kind is list:
            return self._list(value)
        if kind is dict:
            return self._dict(value)
        name = self.name("o")
        self.lines += self._object(name, kind, lambda field: self.single(getattr(value, field)))
        return name

    def _list(self, items: list[Any]) -> str:
        if all(type(item) in LEAVES for item in items):
            in_column = len(items) >= LEAF_COLUMN
        else:
            in_column = len(items) >= self.rows_from
        return self.column(items) if in_column else f"[{', '.join(map(self.single, items))}]"

    def _dict(self, mapping: dict[Any, Any]) -> str:
        keys, values = list(mapping), list(mapping.values())
        if len(keys) >= MANY_KEYS and all(type(key) in LEAVES for key in keys):
            return f"dict(zip({self.column(keys)}, {self.column(values)}))"
        if len(keys) > WIDE_KEYS and len(keys) >= self.rows_from and _alike(values):
            name = self.name("K")
            self.bound[name] = tuple(keys)
            return f"dict(zip({name}, {self.column(values)}))"
        items = [(key, self.single(item)) for key, item in mapping.items()]
        return self._dict_of(items, self.lines, wide=len(items) > DISPLAYED)

    def _dict_of(self, items: list[tuple[Any, str]], statements: list[str], *, wide: bool) -> str:
        """One dict of keys and expressions; `wide` where another style than the display may be worth it."""
        style = self.style if wide else "display"
        if style == "shared" and all(_is_name(key) for key, _ in items):
            name, cls = self.name("d"), self.name("C")
            self.bound[cls] = type("Row", (), {})
            statements += [f"{name} = {cls}()", *(f"{name}.{key} = {item}" for key, item in items)]
            return f"{name}.__dict__"
        if style == "copied":
            name, keys = self.name("d"), self.name("K")
            constants = {"None": None, "True": True, "False": False}
            self.bound[keys] = {key: constants.get(item) for key, item in items}
            stores = (f"{name}[{key!r}] = {item}" for key, item in items if item not in constants)
            statements += [f"{name} = {keys}.copy()", *stores]
            return name
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in items) + "}"

    def _object(self, name: str, kind: type, field: Callable[[str], str]) -> list[str]:
        """Statements that make one object without running its class's code."""
        cls = self.name("C")
        self.bound[cls] = kind
        stores = [f"{name}.{f.name} = {field(f.name)}" for f in dataclasses.fields(kind)]
        return [f"{name} = _new({cls})", *stores]

    # ------------------------------------------------------------------------------------------------------ a column

    def column(self, values: list[Any]) -> str:
        """The expression of a list of values that are made together."""
        kinds = set(map(type, values))
        if not values:
            return "[]"
        if kinds <= LEAVES:
            return self._leaves(values)
        if len(kinds) > 1 or np.ndarray in kinds:
            return self._groups(values)
        if kinds == {list}:
            return self._rows(values) if self._is_row(values) else self._slices(values)
        return self._rows(values) if _alike(values) else self._groups(values)

    @staticmethod
    def _is_row(values: list[Any]) -> bool:
        return len(set(map(len, values))) == 1 and 0 < len(values[0]) <= WIDE_ROW

    def _slices(self, lists: list[list[Any]]) -> str:
        """Lists of several lengths: slices of one long list."""
        self.containers += len(lists)
        flat, ends = self.name("flat"), self.name("E")
        self.lines.append(f"{flat} = {self.column(list(itertools.chain.from_iterable(lists)))}")
        self.bound[ends] = np.cumsum([0, *map(len, lists)])
        self.bound["_pairwise"] = itertools.pairwise
        return f"[{flat}[i:j] for i, j in _pairwise({ends}.tolist())]"

    def _groups(self, values: list[Any]) -> str:
        """Values of several kinds: each kind together, then put in order."""
        groups: dict[Any, list[int]] = {}
        for i, value in enumerate(values):
            groups.setdefault(tuple(value) if type(value) is dict else type(value), []).append(i)
        many = [group for group in groups.values() if len(group) >= self.rows_from]
        lone = [i for group in groups.values() if len(group) < self.rows_from for i in group]
        parts = [self.column([values[i] for i in group]) for group in many]
        if lone:
            parts.append(f"[{', '.join(self.single(values[i]) for i in lone)}]")
        order = [*itertools.chain.from_iterable(many), *lone]
        if order == sorted(order):
            return " + ".join(parts)
        pool, places = self.name("pool"), self.name("P")
        self.lines.append(f"{pool} = {' + '.join(parts)}")
        self.bound[places] = np.argsort(np.array(order))
        return f"[{pool}[i] for i in {places}.tolist()]"

    # ---------------------------------------------------------------------------------------------------------- rows

    def _rows(self, values: list[Any]) -> str:
        """Values that look alike: one comprehension over all columns, or a loop where objects are to be filled."""
        columns: list[tuple[str, str]] = []
        prelude: list[str] = []
        row = self._row(values, columns, prelude)
        names = ", ".join(name for name, _ in columns)
        if len(columns) == 1:
            source = columns[0][1]
        elif columns:
            names += ","
            source = f"zip({', '.join(expression for _, expression in columns)})"
        else:
            names, source = "_", f"range({len(values)})"
        if not prelude:
            return f"[{row} for {names} in {source}]"
        out, push = self.name("out"), self.name("push")
        self.lines += [f"{out} = []", f"{push} = {out}.append", f"for {names} in {source}:"]
        self.lines += [f"    {line}" for line in [*prelude, f"{push}({row})"]]
        return out

    def _row(self, values: list[Any], columns: list[tuple[str, str]], prelude: list[str]) -> str:
        """The expression of one row; what varies becomes a column, what must be stored a statement."""
        first = values[0]
        kinds = set(map(type, values))
        if kinds <= LEAVES and len(set(map(identity, values))) == 1:
            return self.lone(first)
        if len(kinds) == 1 and kinds.isdisjoint(LEAVES):
            if type(first) is list and self._is_row(values):
                self.containers += len(values)
                items = (self._row([value[i] for value in values], columns, prelude) for i in range(len(first)))
                return f"[{', '.join(items)}]"
            if type(first) is dict and _alike(values):
                self.containers += len(values)
                return self._dict_row(values, columns, prelude)
            if dataclasses.is_dataclass(first):
                self.containers += len(values)
                name = self.name("o")
                inner: list[str] = []
                stores = self._object(
                    name, type(first), lambda field: self._row([getattr(v, field) for v in values], columns, inner)
                )
                prelude += [*inner, *stores]
                return name
        name = self.name("v")
        columns.append((name, self.column(values)))
        return name

    def _dict_row(self, values: list[Any], columns: list[tuple[str, str]], prelude: list[str]) -> str:
        items = [(key, self._row([value[key] for value in values], columns, prelude)) for key in values[0]]
        return self._dict_of(items, prelude, wide=len(items) > 2)

    def _leaves(self, values: list[Any]) -> str:
        """The quickest of the ways to make a list of leaves."""
        best = self.columns.best(values)
        self.lines += best.lines
        self.bound |= best.bound
        return best.expression


def main(names: list[str]) -> int:
    from benchmarks.shapes import make

    for name in names:
        floor = floor_of(make(name))
        print(f"# {name}: {quickest(floor.build) * 1e6:.1f} us\n{floor.source}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
