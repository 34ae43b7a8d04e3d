"""Leaves and what stands between leaves and containers: LEAF, NOTHING, UNION, REFERENCE.

Strategy: all leaf types share one LEAF node, however mixed, because what a leaf holds is data and not shape. Only
where containers of several kinds (or containers and leaves) meet at one place does the shape need a UNION.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npser.errors import DecodeError
from npser.shapes.column import Column, chosen
from npser.shapes.node import Node
from npser.tags import Node as Tag
from npser.weights import NODES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = [
    "LeafRun",
    "Nothing",
    "OpenBatchError",
    "Promise",
    "Reference",
    "Repeat",
    "Union",
    "count_codes",
    "is_hashed_by_identity",
    "kept",
    "place_fresh",
    "place_leaves",
    "place_nothing",
    "place_repeats",
    "place_union",
]


class LeafRun(Node):
    """k leaves side by side; slot(n) each."""

    __slots__ = ("slots", "width")
    container = False

    def __init__(self, k: int) -> None:
        super().__init__(0)
        self.slots = self.width = k

    def open(self, b: Builder, n: int) -> list[Any]:
        """One column a leaf, or one value where they are single."""
        if self.single:
            return b.singles.take(self.width)
        read = self._reader(b)
        columns: list[Any] = []
        try:
            for _ in range(self.width):
                columns.append(read(n))
        except DecodeError as error:
            error.item = len(columns)
            raise
        return columns

    def _reader(self, b: Builder) -> Callable[[int], Any]:
        """An array where the caller wants numbers so and the parent can slice it; else cells, or a list."""
        policy = b.policy
        if policy.numbers == "array" and (
            self.in_list or (self.in_table and policy.tables == "columns" and not b.references)
        ):
            return b.slots.many if b.preserve else b.slots.numbers
        return b.slots.cells if self.in_row and policy.tables == "rows" else b.slots.many


class Nothing(Node):
    """The child of containers that are all empty."""

    __slots__ = ()
    container = False

    def open(self, b: Builder, n: int) -> None:
        """Only right over no instances."""
        if n:
            raise b.cursor.fail(f"{n} instances of nothing")

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """No values."""
        return []


class Union(Node):
    """slot(n) codes; one child a code."""

    __slots__ = ()
    slots = 1
    zips = True
    container = False

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> Union:
        """uvarint m >= 2."""
        m = reader.cursor.uvarint()
        if m < 2:
            raise reader.cursor.fail(f"a union of {m}")
        return cls(m)

    def open(self, b: Builder, n: int) -> list[int]:
        """Count the instances of each code."""
        codes = self.stream(b).ints(n)
        try:
            b.counts += reversed(count_codes(codes, self.children))
        except ValueError as error:
            raise b.cursor.fail(str(error)) from None
        return codes

    def close(self, b: Builder, n: int, frame: list[int], columns: list[Any]) -> Any:
        """Each instance is the next one of its child."""
        parts = {code: iter(columns[code]) for code in set(frame)}  # of many children most may have no instance
        return list(map(next, map(parts.__getitem__, frame)))


def count_codes(codes: Sequence[int], children: int) -> list[int]:
    """How many instances of a union each of its children has; a ValueError for a code of none.

    >>> count_codes([1, 0, 1], 3)
    [1, 2, 0]
    """
    if codes and (min(codes) < 0 or max(codes) >= children):
        raise ValueError(f"code of a union out of range 0..{children - 1}")
    counts = [0] * children
    for code in codes:
        counts[code] += 1
    return counts


class Reference(Node):
    """slot(n) numbers of objects that came before."""

    __slots__ = ()
    slots = 1
    container = False

    def open(self, b: Builder, n: int) -> list[Any]:
        """Look the objects up."""
        numbers = self.stream(b).ints(n)
        if numbers and (min(numbers) < 0 or max(numbers) >= len(b.numbered)):
            raise b.cursor.fail(f"a reference to an object that is not among the {len(b.numbered)} before it")
        return [b.numbered[number] for number in numbers]

    def close(self, b: Builder, n: int, frame: list[Any], columns: list[Any]) -> Any:
        """What was promised is there by now."""
        things = kept(frame)
        if Promise in map(type, things):
            raise b.cursor.fail("a reference to an object that is still being built")
        return things


class Promise:
    """Stands for an object that has a number, and is there only when it is built."""

    __slots__ = ("thing",)

    def __init__(self) -> None:
        self.thing: Any = self


def kept(things: list[Any]) -> list[Any]:
    """The objects themselves for promises that were kept."""
    if Promise not in map(type, things):
        return things
    return [thing.thing if type(thing) is Promise else thing for thing in things]


class Repeat:
    """Stands in a column for an object that was written before."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def place_leaves(w: ShapeWriter, column: Column, types_met: set[type]) -> None:
    """Write LEAF and its slot."""
    w.node(Tag.LEAF)
    w.many(column, column.values, types_met)


def place_nothing(w: ShapeWriter, _column: Column) -> None:
    """Write NOTHING."""
    w.node(Tag.NOTHING)


def place_repeats(w: ShapeWriter, column: Column) -> None:
    """Write REFERENCE and its slot."""
    w.weigh(column, NODES[Tag.REFERENCE])
    w.node(Tag.REFERENCE)
    w.ints(column, [repeat.number for repeat in column.values])


def place_union(w: ShapeWriter, column: Column, groups: dict[Any, list[int]]) -> None:
    """Write UNION over groups of the column's indices, in the order of their codes."""
    codes = [0] * len(column.values)
    for code, indices in enumerate(groups.values()):
        for index in indices:
            codes[index] = code
    w.weigh(column, NODES[Tag.UNION])
    w.node(Tag.UNION)
    w.count(len(groups))
    w.ints(column, codes)
    values = column.values
    for indices in reversed(groups.values()):
        w.push([values[index] for index in indices], column.depth, column, chosen(indices))


def place_fresh(w: ShapeWriter, column: Column, place: Callable[[ShapeWriter, Column], None]) -> None:
    """Number the objects of a column and write those met for the first time with `place`, the others as references."""
    w.keep.append(column.values)  # what a property or a hook made and dropped must not give its id to others
    ids = list(map(id, column.values))
    n = len(ids)
    if w.apart and n > 1:
        place_union(w, column, {index: [index] for index in range(n)})
        return
    numbers = w.numbers
    start = len(numbers)
    fresh_ones = dict(zip(ids, range(start, start + n), strict=True))
    if len(fresh_ones) == n and (not start or numbers.keys().isdisjoint(ids)):
        numbers.update(fresh_ones)
        w.batches[column] = range(start, start + n)
        place(w, column)
        return
    fresh: list[int] = []
    repeats: list[int] = []
    codes = []
    for index, key in enumerate(ids):
        again = key in numbers
        codes.append(int(again))
        (repeats if again else fresh).append(index)
        numbers.setdefault(key, len(numbers))
    again_column = Column(
        [Repeat(numbers[ids[index]]) for index in repeats],
        column.depth,
        column,
        chosen(repeats),
        single=column.single and not fresh,
    )
    _check_complete(w, again_column)
    if not fresh:
        place_repeats(w, again_column)
        return
    w.weigh(column, NODES[Tag.UNION])
    w.node(Tag.UNION)
    w.count(2)
    w.ints(column, codes)
    w.stack.append(again_column)
    fresh_column = Column([column.values[index] for index in fresh], column.depth, column, chosen(fresh))
    w.batches[fresh_column] = range(start, len(numbers))
    place(w, fresh_column)


class OpenBatchError(Exception):
    """What must be complete refers to an object of a batch that it is inside of, so a reader could not make it yet.

    The objects must be written one by one: then each is complete before the next one begins.
    """


def _check_complete(w: ShapeWriter, again: Column) -> None:
    """Make sure that no frozenset, and no state that an object is built from, refers to what is complete only later."""
    numbers = {repeat.number for repeat in again.values}
    column = again.parent
    if column is None or (not w.building and _hashed_by_identity(column)):
        return
    matters, inside, what = True, False, ""
    while column is not None:
        matters = matters and not _hashed_by_identity(column)
        if not inside:
            what = "the state of an object" if column in w.building else "a frozenset"
            inside = column in w.building or (matters and set(map(type, column.values)) == {frozenset})
        batch = w.batches.get(column, ())
        if inside and any(number in batch for number in numbers):
            if not w.apart:
                raise OpenBatchError
            raise w.refuse(again, 0, f"an object in {what} that it holds itself")
        column = column.parent


def _hashed_by_identity(column: Column) -> bool:
    """Whether the hash of no value depends on what is in it."""
    return all(map(is_hashed_by_identity, set(map(type, column.values))))


def is_hashed_by_identity(kind: type) -> bool:
    """Whether the objects of a type may be hashed at any time.

    >>> is_hashed_by_identity(object), is_hashed_by_identity(tuple)
    (True, False)
    """
    return getattr(kind, "__hash__", None) is object.__hash__
