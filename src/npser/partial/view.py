"""View: look inside a payload without decoding it.

Strategy: what stands in the value exactly once (a dict of names, a row, a list) is a view of its own, or a leaf; a list
of leaves and a key of a table are columns; the items of a list, and the rows of a table, are values. So a question
decodes a column, or the columns that a few rows are made of, and never more. What else there is (sets, arrays, dates)
is given as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.partial.base import NoSuchKeyError, View, no_such
from npser.shapes.built import Built
from npser.shapes.collisions import refuse_collisions
from npser.shapes.leaves import LeafRun
from npser.shapes.maps import Maps
from npser.shapes.records import NamedTuples, Records
from npser.shapes.sequences import Rows, Sequences
from npser.shapes.tables import Tables
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor
    from npser.partial.parts import Parts

__all__ = [
    "BuiltView", "KeyedView", "ListView", "MapView", "NoSuchKeyError", "RowsView", "ValueView", "View", "open_place",
]  # fmt: skip

CHUNK = 1 << 10
"""Rows made at a time by an iterator."""


class KeyedView(View):
    """One dict, object or row whose keys stand in the shape."""

    __slots__ = ("_node", "_parts", "_places")

    def __init__(self, parts: Parts, node: int) -> None:
        self._parts = parts
        self._node = node
        keys: Any = getattr(parts.nodes[node], "keys", None)
        places = parts.children(node)
        self._places = dict(enumerate(places) if keys is None else zip(keys, places, strict=True))

    @property
    def has_names(self) -> bool:
        """Whether the keys are names, and not positions."""
        return type(self._parts.nodes[self._node]) is not Rows

    def keys(self) -> tuple[Any, ...]:
        """The keys, in order; of a row, its positions."""
        return tuple(self._places)

    def value(self) -> Any:
        """The dict, the object or the row."""
        return self._parts.value(self._node)

    def table(self) -> Any:
        """The values, if all of them are columns of one length."""
        if not self.has_names:
            return super().table()
        return equally_long({str(key): whole_column(self[key]) for key in self.keys()})

    def part(self, key: Any, number: int) -> Any:
        """One row of an array that stands there (in Fortran order: a column), if these are stored apart; else None."""
        return self._parts.array_part(self._places[key][0], number)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, key: Any) -> Any:
        if not self.has_names and not isinstance(key, str):
            if isinstance(key, slice):
                return self.value()[key]
            key = range(len(self))[key]
        place = self._places.get(key)
        if place is None:
            raise no_such("key", key, self.keys())
        return open_place(self._parts, *place)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places) if self.has_names else map(self.__getitem__, self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places


class MapView(View):
    """One dict whose keys are data: they are a column, and so are the values."""

    __slots__ = ("_at", "_keys", "_node", "_parts", "_values")

    def __init__(self, parts: Parts, node: int) -> None:
        self._parts = parts
        self._node = node
        self._keys, self._values = parts.children(node)
        self._at: dict[Any, int] | None = None

    def _index(self) -> dict[Any, int]:
        if self._at is None:
            keys = self._parts.rows(*self._keys, 0, len(self))
            cursor = self._parts.reader(self._node).cursor
            self._at = self._parts.ask(self._node, 0, lambda: number_keys(cursor, keys))
        return self._at

    def keys(self) -> tuple[Any, ...]:
        """The keys, in order, decoded."""
        return tuple(self._index())

    def value(self) -> Any:
        """The dict."""
        return self._parts.value(self._node)

    def __len__(self) -> int:
        return self._parts.n(self._values[0])

    def __getitem__(self, key: Any) -> Any:
        at = self._index().get(key)
        if at is None:
            raise no_such("key", key, self.keys())
        return self._parts.rows(*self._values, at, at + 1)[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._index())

    def __contains__(self, key: object) -> bool:
        return key in self._index()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)}>"


class RowsView(View):
    """Many instances of one node: the rows of a table, or a column of dicts."""

    __slots__ = ("_item", "_node", "_parts")

    def __init__(self, parts: Parts, node: int, item: int) -> None:
        self._parts = parts
        self._node = node
        self._item = item

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of a table or of a record batch; of other lists there are none."""
        node: Any = self._parts.nodes[self._node]
        return tuple(node.keys) if node.makes_columns else ()

    def value(self) -> Any:
        """The list of all rows."""
        return self._parts.batch(self._node)

    def rows(self, start: int, stop: int) -> list[Any]:
        """The rows from `start` to `stop`."""
        return self._parts.rows(self._node, self._item, start, stop)

    def column(self, name: str) -> Any:
        """One column of the table; a view if it is one of dicts or objects."""
        parts, node = self._parts, self._node
        columns = self.columns
        if name not in columns:
            raise no_such("column", name, columns)
        edge = columns.index(name)
        child = next(place for number, place in enumerate(parts.children(node)) if number == edge)
        if not parts.nodes[node].passes:
            return parts.spread(node, edge, child)
        if type(parts.nodes[child[0]]) in _BATCHES:
            return RowsView(parts, *child)
        return parts.column(*child)

    def table(self) -> Any:
        """The columns."""
        if not self.columns:
            return super().table()
        return {name: whole_column(self.column(name)) for name in self.columns}

    def __len__(self) -> int:
        return self._parts.n(self._node)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.column(key)
        return pick(key, len(self), self.rows)

    def __iter__(self) -> Iterator[Any]:
        n = len(self)
        step = CHUNK if self._parts.cuts(self._node) else n
        for start in range(0, n, step or 1):
            yield from self.rows(start, min(start + step, n))


class ListView(RowsView):
    """A list or a tuple."""

    __slots__ = ("_owner",)

    def __init__(self, parts: Parts, owner: int) -> None:
        ((node, item),) = parts.children(owner)
        super().__init__(parts, node, item)
        self._owner = owner

    def value(self) -> Any:
        """The list, or the tuple."""
        return self._parts.value(self._owner)

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        owner: Any = self._parts.nodes[self._owner]
        return owner.make(found) if isinstance(key, slice) else found


class BuiltView(View):
    """An object that is built out of its state: `value()` builds it, and keys are those of its state."""

    __slots__ = ("_node", "_parts")

    def __init__(self, parts: Parts, node: int) -> None:
        self._parts = parts
        self._node = node

    @property
    def kind(self) -> str:
        """The name of the class in the payload."""
        node: Any = self._parts.nodes[self._node]
        return str(node.stored.name)

    @property
    def state(self) -> Any:
        """What it is built from: a view, a column, or a leaf."""
        ((node, item),) = self._parts.children(self._node)
        return open_place(self._parts, node, item)

    def keys(self) -> tuple[Any, ...]:
        """The keys of the state."""
        state = self.state
        return state.keys() if isinstance(state, View) else ()

    def value(self) -> Any:
        """The object."""
        return self._parts.value(self._node)

    def table(self) -> Any:
        """The object."""
        return self.value()

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, key: Any) -> Any:
        return self.state[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.state)


class ValueView(View):
    """Anything else: it is decoded when somebody asks for more than the length of a list.

    Parameters
    ----------
    value : callable
        Gives the value, fresh each time.
    cells : callable, optional
        Gives the items of a list of leaves, as an array if they are numbers.
    n : int | None
        The length of such a list.
    """

    __slots__ = ("_array", "_cells", "_n", "_value")

    def __init__(self, value: Callable[[], Any], cells: Callable[[], Any] | None = None, n: int | None = None) -> None:
        self._value = value
        self._cells = cells
        self._n = n
        self._array: Any = None

    def keys(self) -> tuple[Any, ...]:
        """The keys of a dict."""
        value = self._value() if self._n is None else None
        return tuple(value) if isinstance(value, dict) else ()

    def value(self) -> Any:
        """The value."""
        return self._value()

    def __len__(self) -> int:
        return len(self._value()) if self._n is None else self._n

    def __getitem__(self, key: Any) -> Any:
        if self._n is None or self._cells is None or isinstance(key, str):
            return self._value()[key]
        return pick(key, self._n, self._rows)

    def _rows(self, start: int, stop: int) -> list[Any]:
        cells = self._array
        if cells is None:
            assert self._cells is not None
            cells = self._cells()
            if isinstance(cells, np.ndarray):
                self._array = cells
        part = cells[start:stop]
        return part.tolist() if isinstance(part, np.ndarray) else part  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._value())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>" if self._n is None else f"<{type(self).__name__} of {self._n}>"


def whole_column(found: Any) -> Any:
    """A column as an array or a list, whatever a view gives for it."""
    return found.value() if isinstance(found, View) else found


def equally_long(columns: dict[str, Any]) -> dict[str, Any]:
    """The same; TypeError where they are no columns of one length."""
    if not all(isinstance(column, (list, np.ndarray)) for column in columns.values()):
        raise TypeError("a dict with a value that is no column is no table")
    if len(set(map(len, columns.values()))) > 1:
        raise TypeError("a dict of columns of different lengths is no table")
    return columns


def number_keys(cursor: Cursor, keys: list[Any]) -> dict[Any, int]:
    """Which one each key is; a `DecodeError` for those that a dict cannot hold."""
    refuse_collisions(cursor, keys)
    try:
        numbers = {key: number for number, key in enumerate(keys)}
    except Exception as error:  # hashing and comparing keys may run code of allowed classes
        raise cursor.fail(f"a key that a dict cannot hold: {error}") from error
    if len(numbers) != len(keys):
        raise cursor.fail("a key stands twice in one dict")
    return numbers


def pick(key: Any, n: int, rows: Callable[[int, int], list[Any]]) -> Any:
    """An item, or the items of a slice, out of a function that gives those from one number up to another."""
    if not isinstance(key, slice):
        at = range(n)[key]
        return rows(at, at + 1)[0]
    chosen = range(n)[key]
    if not chosen:
        return []
    first, last = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1])
    found = rows(first, last + 1)
    return found if chosen.step == 1 else found[:: chosen.step] if chosen.step > 0 else found[::-1][:: -chosen.step]


_BATCHES: Final = frozenset({Tables, Records, NamedTuples})
"""Whose columns are views."""

Open = Callable[["Parts", int], Any]


def _sequence(parts: Parts, node: int) -> Any:
    parent: Any = parts.nodes[node]
    if parent.make not in (list, tuple):
        return parts.value(node)
    child = parts.nodes[node + 1]
    if parent.make is list and type(child) is LeafRun:
        return parts.column(node + 1, 0)
    return ListView(parts, node)


def _row(parts: Parts, node: int) -> Any:
    parent: Any = parts.nodes[node]
    return parts.value(node) if parent.tag == Tag.SLICE else KeyedView(parts, node)


_OPENS: Final[dict[type[Any], Open]] = {
    Sequences: _sequence,
    Rows: _row,
    Maps: MapView,
    Tables: KeyedView,
    Records: KeyedView,
    NamedTuples: KeyedView,
    Built: BuiltView,
}
"""Class of node -> what a single node of it is to look into; the others are values."""


def open_place(parts: Parts, node: int, item: int = 0) -> Any:
    """What stands at a place of its own: a view, a column, or a value."""
    opens = _OPENS.get(type(parts.nodes[node]))
    return parts.value(node, item) if opens is None else opens(parts, node)


def open_root(parts: Parts, whole: Callable[[], Any]) -> View:
    """The view of a whole payload."""
    parent: Any = parts.nodes[0]
    if type(parent) is Sequences:
        return ListView(parts, 0) if parent.make in (list, tuple) else ValueView(whole)
    found = open_place(parts, 0) if type(parent) in _OPENS else None
    return found if isinstance(found, View) else ValueView(whole)
