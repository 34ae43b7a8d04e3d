"""Sequences and sets: LIST, TUPLE, SET, FROZENSET, DEQUE over a lengths slot and one child; LIST_ROW, TUPLE_ROW, SLICE
over one child a position.

Strategy: the items of all n sequences are laid end to end and become one child column, which is cut up again by the
lengths. Sequences that all have one length are rows where that makes the positions more uniform than the whole:
the rows of a database cursor are a table without names.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import accumulate, chain, pairwise, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from npser.columns.slotreader import as_numbers
from npser.shapes.collisions import refuse_collisions
from npser.shapes.column import Keys, at_item, at_position, in_lists, show_key
from npser.shapes.distinct import MIN_COPIED, find_copies
from npser.shapes.generated import build_lists
from npser.shapes.node import Node
from npser.shapes.tracking import allocate, fill, fill_late
from npser.shapes.widerows import zip_columns
from npser.tags import Node as Tag
from npser.types.placeholder import kinds_of
from npser.weights import MEMBER, NODES

if TYPE_CHECKING:
    from npser.shapes.column import Column
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = [
    "MAX_ROW",
    "MAX_SINGLE_ROW",
    "Deques",
    "Rows",
    "Sequences",
    "place_deques",
    "place_lists",
    "place_sets",
    "place_slices",
    "place_tuples",
    "rows_of",
]

MAX_ROW = 64
"""Sequences of up to this many items may be rows; longer ones are vectors whatever they hold."""

MAX_SINGLE_ROW = 16
"""The same for a sequence that stands alone."""


def cut(items: Any, lengths: Sequence[int], make: Callable[[Iterable[Any]], Any]) -> list[Any]:
    """Cut a list of items that were laid end to end.

    >>> cut([1, 2, 3], [2, 0, 1], tuple)
    [(1, 2), (), (3,)]
    """
    n = len(lengths)
    if n == 1:
        return [items if make is list else make(items)]
    first = lengths[0] if n else 0
    if first and lengths.count(first) == n:
        rows = zip(*[iter(items)] * first, strict=True)
        return build_lists(first)(rows) if make is list else list(map(make, rows))
    bounds = pairwise(accumulate(lengths, initial=0))
    if make is list:
        return [items[start:stop] for start, stop in bounds]
    return [make(items[start:stop]) for start, stop in bounds]


def open_lengths(node: Node, b: Builder, n: int) -> list[int]:
    """Read a node's slot of n lengths."""
    lengths = node.stream(b).ints(n)
    if n and (lengths[0] < 0 or (lengths.count(lengths[0]) < n and min(lengths) < 0)):
        raise b.cursor.fail("a negative length")
    return lengths


class Sequences(Node):
    """slot(n) lengths; one child over all items."""

    __slots__ = ("hashes", "make", "makes_lists", "tag")
    slots = 1

    def __init__(self, tag: int, make: Callable[[Iterable[Any]], Any]) -> None:
        super().__init__(1)
        self.tag = tag
        self.make = make
        self.makes_lists = make is list
        self.hashes = make is set or make is frozenset

    @classmethod
    def parse(cls, tag: int, _reader: ShapeReader) -> Sequences:
        """Nothing follows the tag."""
        return cls(tag, MAKERS[tag])

    def open(self, b: Builder, n: int) -> Any:
        """Read the lengths."""
        copies = None if self.single or self.hashes else b.slots.copies(n)
        if copies is not None:
            codes, lengths = copies
            b.counts.append(sum(lengths))
            return Copies(codes, lengths), allocate(b, MAKERS.get(self.tag), n)
        lengths = open_lengths(self, b, n)
        total = sum(lengths)
        if self.hashes:
            b.cursor.expand(total * MEMBER)
        b.counts.append(total)
        return lengths, allocate(b, MAKERS.get(self.tag), n)

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Cut the child's column."""
        lengths, allocated = frame
        (items,) = columns
        if type(lengths) is Copies:
            return fill(self.tag, allocated, self._copy(b, n, lengths, items))
        if type(items) is not list:
            return _cut_special(b, items, lengths)
        if self.hashes:
            refuse_collisions(b.cursor, items)
        if b.late is not None and self.tag == Tag.SET:
            made = [set() for _ in lengths] if allocated is None else allocated
            return fill_late(b.late, self.tag, made, cut(items, lengths, list))
        try:
            done = cut(items, lengths, self.make)
        except Exception as error:
            raise b.cursor.fail(f"an item that a set cannot hold: {error}") from error
        if self.hashes and sum(map(len, done)) != len(items):
            raise b.cursor.fail("an item stands twice in one set")
        if self.makes_lists and b.policy.numbers == "array" and not b.preserve:
            return list(map(as_numbers, done))  # those of one type, where the lists together are of several
        return fill(self.tag, allocated, done)

    def _copy(self, b: Builder, n: int, copies: Copies, items: Any) -> list[Any]:
        if type(items) is not list:
            parts = _cut_special(b, items, copies.lengths)
            if type(items) is dict:
                b.cursor.expand(n * len(items))
            return [parts[code].copy() for code in copies.codes]
        parts = cut(items, copies.lengths, self.make)
        cells = repeat(parts[0], n) if len(parts) == 1 else map(parts.__getitem__, copies.codes)
        return list(cells) if self.tag == Tag.TUPLE else list(map(list.copy, cells))

    def step(self, _edge: int) -> str:
        """Any item."""
        return "[*]"


class Copies(NamedTuple):
    """Sequences of which only the distinct ones are stored: which one each is, and their lengths."""

    codes: Iterable[int]
    lengths: list[int]


def _cut_special(b: Builder, items: Any, lengths: list[int]) -> list[Any]:
    """Cut an array, or a table that stays columns. An empty list has no type that it could be an array of.

    The columns of a table without rows were paid for by no cell, so they are drawn from the budget.
    """
    ends = accumulate(lengths)
    if isinstance(items, np.ndarray):
        if len(lengths) == 1:
            return [items if lengths[0] else []]
        return [
            items[end - length : end].copy() if length else [] for length, end in zip(lengths, ends, strict=True)
        ]
    if len(lengths) == 1:
        return [items]
    b.cursor.expand(lengths.count(0) * len(items))
    return [
        {key: values[end - length : end] for key, values in items.items()}
        for length, end in zip(lengths, ends, strict=True)
    ]


class Deques(Sequences):
    """slot(n) lengths, slot(n) maxlen; one child over all items."""

    __slots__ = ()
    slots = 2

    def open(self, b: Builder, n: int) -> Any:
        """Read the lengths and the bounds."""
        lengths = open_lengths(self, b, n)
        bounds = self.stream(b).many(n)
        for length, bound in zip(lengths, bounds, strict=True):
            if bound is not None and (type(bound) is not int or bound < length or bound >= 1 << 63):
                raise b.cursor.fail(f"a deque of {length} items with maxlen {show_key(bound)}")
        b.counts.append(sum(lengths))
        makers = iter(bounds)
        return (lengths, bounds), allocate(b, lambda: deque(maxlen=next(makers)), n)

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Cut the child's column."""
        (lengths, bounds), allocated = frame
        parts = cut(columns[0], lengths, list)
        done = [deque(part, bound) for part, bound in zip(parts, bounds, strict=True)]
        return fill(self.tag, allocated, done)


class Rows(Node):
    """Sequences of one length; one child a position."""

    __slots__ = ("kept", "tag")
    zips = True
    passes = True

    def __init__(self, tag: int, children: int) -> None:
        super().__init__(children)
        self.tag = tag
        self.kept = False

    @classmethod
    def parse(cls, tag: int, reader: ShapeReader) -> Rows:
        """uvarint m >= 1; a slice has 3."""
        m = 3 if tag == Tag.SLICE else reader.cursor.uvarint()
        if m < 1:
            raise reader.cursor.fail("a row of no items")
        return cls(tag, m)

    def open(self, b: Builder, n: int) -> list[Any] | None:
        """Every child runs over all instances."""
        self.pass_on(b, n)
        return allocate(b, list if self.tag == Tag.LIST_ROW else None, n)

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Zip the children's columns."""
        return self.close_rows(b, frame, zip_columns(columns, n))

    def close_rows(self, b: Builder, frame: Any, rows: Iterable[tuple[Any, ...]]) -> list[Any]:
        """The same out of rows."""
        make = _FROM_ROWS.get(self.tag)
        if make is not None:
            return make(rows)
        done = build_lists(self.children)(rows)
        if b.policy.numbers == "array" and not b.preserve and not self.kept:
            return list(map(as_numbers, done))
        return fill(self.tag, frame, done)

    def close_single(self, b: Builder, frame: Any, values: list[Any]) -> Any:
        """The one row."""
        if self.tag != Tag.LIST_ROW:
            return tuple(values) if self.tag == Tag.TUPLE_ROW else slice(*values)
        if b.policy.numbers == "array" and not b.preserve and not self.kept:
            return as_numbers(values)
        return fill(self.tag, frame, [values])[0]

    def step(self, edge: int) -> str:
        """One position."""
        return (".start", ".stop", ".step")[edge] if self.tag == Tag.SLICE else f"[{edge}]"


MAKERS: Final[dict[int, Callable[..., Any]]] = {
    Tag.LIST: list,
    Tag.TUPLE: tuple,
    Tag.SET: set,
    Tag.FROZENSET: frozenset,
    Tag.DEQUE: deque,
}

_FROM_ROWS: Final[dict[int, Callable[[Iterable[tuple[Any, ...]]], list[Any]]]] = {
    Tag.TUPLE_ROW: list,
    Tag.SLICE: lambda rows: [slice(*row) for row in rows],
}


def _flatten(w: ShapeWriter, column: Column) -> tuple[list[int], list[Any]]:
    lengths = list(map(len, column.values))
    w.guard(column, sum(lengths))
    items = list(chain.from_iterable(column.values))
    if len(items) != sum(lengths):
        raise w.refuse(column, 0, "a container changed while it was being encoded")
    return lengths, items


def _place_flat(w: ShapeWriter, column: Column, tag: Tag, lengths: list[int], items: list[Any], depth: int) -> None:
    w.weigh(column, NODES[tag])
    w.node(tag)
    w.ints(column, lengths)
    w.push(items, depth, column, in_lists(lengths))


def _place_rows(w: ShapeWriter, column: Column, tag: Tag, positions: list[Sequence[Any]], depth: int) -> None:
    w.weigh(column, NODES[tag])
    w.node(tag)
    w.count(len(positions))
    if len(column.values) == 1:
        w.push_singles([values[0] for values in positions], range(len(positions)), depth, column, at_position)
        return
    w.push_fields(positions, range(len(positions)), depth, column, at_position)


def place_lists(w: ShapeWriter, column: Column) -> None:
    """Write LIST, or LIST_ROW where the lists are rows of several types."""
    depth = w.enter(column)
    lengths, items = _flatten(w, column)
    n, m = len(lengths), lengths[0]
    if n >= MIN_COPIED and m and type(items[0]) is str:
        copies = find_copies(w, column.values, items)
        if copies is not None:
            w.node(Tag.LIST)
            w.slots.copies(copies.codes, copies.lengths)
            w.push(copies.items, depth, column, in_lists(copies.lengths))
            return
    if 1 < m <= MAX_ROW and (n > 1 or m <= MAX_SINGLE_ROW):
        positions = rows_of(items, m)[0] if lengths.count(m) == n else None
        if positions is not None:
            _place_rows(w, column, Tag.LIST_ROW, positions, depth)
            return
    _place_flat(w, column, Tag.LIST, lengths, items, depth)


def rows_of(items: list[Any], m: int) -> tuple[list[Sequence[Any]] | None, set[Hashable]]:
    """The items of lists of length m, position by position, if that makes them more uniform than all together.

    Returns
    -------
    list of m sequences, or None
    set
        `kinds_of` all items.

    >>> rows_of([1, "a", 2, "b"], 2)[0], rows_of([1, "a", "b", 2], 2)[0]
    ([[1, 2], ['a', 'b']], None)
    """
    met = kinds_of(items)
    if len(met) == 1:
        return None, met
    positions: list[Sequence[Any]] = []
    left = m * len(met)
    for position in range(m):
        values = items[position::m]
        left -= len(kinds_of(values))
        if left < m - position:  # each of those to come has a kind at least
            return None, met
        positions.append(values)
    return positions, met


def place_tuples(w: ShapeWriter, column: Column) -> None:
    """Write TUPLE_ROW where all tuples have one length, as tuples mostly do, else TUPLE."""
    depth = w.enter(column)
    lengths, items = _flatten(w, column)
    n, m = len(lengths), lengths[0]
    if 0 < m <= (MAX_ROW if n > 1 else MAX_SINGLE_ROW) and lengths.count(m) == n:
        _place_rows(w, column, Tag.TUPLE_ROW, [items[position::m] for position in range(m)], depth)
        return
    _place_flat(w, column, Tag.TUPLE, lengths, items, depth)


def _place_sets(tag: Tag) -> Callable[[ShapeWriter, Column], None]:
    def place(w: ShapeWriter, column: Column) -> None:
        depth = w.enter(column)
        lengths, items = _flatten(w, column)
        w.weigh(column, NODES[tag])
        w.sink.expand(len(items) * MEMBER)
        w.node(tag)
        w.ints(column, lengths)
        w.stack.append(Keys(items, depth, column, in_lists(lengths), lengths))

    return place


place_sets: Final = {set: _place_sets(Tag.SET), frozenset: _place_sets(Tag.FROZENSET)}
"""The placers of sets and frozensets."""


def place_deques(w: ShapeWriter, column: Column) -> None:
    """Write DEQUE."""
    depth = w.enter(column)
    lengths, items = _flatten(w, column)
    bounds = [value.maxlen for value in column.values]
    w.weigh(column, NODES[Tag.DEQUE])
    w.node(Tag.DEQUE)
    w.ints(column, lengths)
    w.many(column, bounds, set(map(type, bounds)))
    w.push(items, depth, column, in_lists(lengths))


def place_slices(w: ShapeWriter, column: Column) -> None:
    """Write SLICE."""
    depth = w.enter(column)
    w.weigh(column, NODES[Tag.SLICE])
    w.node(Tag.SLICE)
    for name in ("step", "stop", "start"):
        w.push_field([getattr(value, name) for value in column.values], depth, column, at_item(f".{name}"))
