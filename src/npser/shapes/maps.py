"""Mappings as key column and value column: DICT, ORDERED_DICT, COUNTER, DEFAULT_DICT. `tables` says which dicts are.

Strategy: the keys of all dicts are laid end to end, and so are the values: two columns, zipped again by one iterator
that every dict takes its pairs from. It makes one tuple do for all of them, which a list of pairs could not.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from npser.shapes.collisions import MANY_KEYS, refuse_collisions
from npser.shapes.column import Keys, in_map_keys, in_maps
from npser.shapes.node import Node
from npser.shapes.sequences import cut, open_lengths
from npser.shapes.tracking import allocate, fill, fill_late
from npser.tags import Node as Tag
from npser.weights import ENTRY, NODES

if TYPE_CHECKING:
    from npser.shapes.column import Column
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = ["FACTORIES", "Maps", "place_counters", "place_default_dicts", "place_maps", "place_ordered_dicts"]

FACTORIES: Final[tuple[Callable[[], Any] | None, ...]] = (
    None,
    list,
    dict,
    set,
    int,
    float,
    str,
    tuple,
    bool,
    bytes,
    frozenset,
    complex,
    bytearray,
)
"""The factories that a defaultdict may have; the wire has their place in this tuple."""


class Maps(Node):
    """slot(n) lengths; a child for the keys and one for the values."""

    __slots__ = ("make", "tag")
    slots = 1
    zips = True
    hashes = True

    def __init__(self, tag: int, make: Callable[..., Any]) -> None:
        super().__init__(2)
        self.tag = tag
        self.make = make

    @classmethod
    def parse(cls, tag: int, reader: ShapeReader) -> Maps:
        """A defaultdict has the number of its factory."""
        if tag != Tag.DEFAULT_DICT:
            return cls(tag, _MAKERS[tag])
        factory = reader.cursor.u8()
        if factory >= len(FACTORIES):
            raise reader.cursor.fail(f"no such factory of a defaultdict: {factory}")
        return cls(tag, partial(defaultdict, FACTORIES[factory]))

    def open(self, b: Builder, n: int) -> Any:
        """Read the lengths."""
        lengths = open_lengths(self, b, n)
        total = sum(lengths)
        b.cursor.expand(total * ENTRY)
        b.counts += [total, total]
        return lengths, allocate(b, self.make, n)

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Zip keys and values, cut by the lengths."""
        lengths, allocated = frame
        keys, values = columns
        if sum(lengths) >= MANY_KEYS:
            keys = list(keys)
            refuse_collisions(b.cursor, keys)
        if b.late is not None:
            made = [self.make() for _ in lengths] if allocated is None else allocated
            return fill_late(b.late, self.tag, made, cut(list(zip(keys, values, strict=True)), lengths, list))
        pairs = zip(keys, values, strict=True)  # which makes one tuple do for all, as long as nobody keeps it
        try:
            done = [self.make(pairs)] if n == 1 else [self.make(islice(pairs, length)) for length in lengths]
        except Exception as error:  # hashing and comparing keys may run code of allowed classes
            raise b.cursor.fail(f"a key that a dict cannot hold: {error}") from error
        if sum(map(len, done)) != sum(lengths):
            raise b.cursor.fail("a key stands twice in one dict")
        return fill(self.tag, allocated, done)

    def step(self, edge: int) -> str:
        """Any value, or any key."""
        return "[*]" if edge else ".keys()[*]"


def _make_counter(pairs: Iterable[tuple[Any, Any]] = ()) -> Counter[Any]:
    counter: Counter[Any] = Counter()
    dict.update(counter, pairs)  # Counter(pairs) would count the pairs
    return counter


_MAKERS: Final[dict[int, Callable[..., Any]]] = {
    Tag.DICT: dict,
    Tag.ORDERED_DICT: OrderedDict,
    Tag.COUNTER: _make_counter,
}


def place_maps(w: ShapeWriter, column: Column, tag: Tag, depth: int, factory: int | None = None) -> None:
    """Write one of the four: a node, the lengths, keys and values."""
    rows = column.values
    lengths = list(map(len, rows))
    w.guard(column, sum(lengths))
    if len(rows) == 1:
        keys, values = list(rows[0]), list(dict.values(rows[0]))
    else:
        keys, values = list(chain.from_iterable(rows)), list(chain.from_iterable(map(dict.values, rows)))
    if not len(keys) == len(values) == sum(lengths):
        raise w.refuse(column, 0, "a container changed while it was being encoded")
    w.weigh(column, NODES[tag])
    w.sink.expand(len(keys) * ENTRY)
    w.node(tag)
    if factory is not None:
        w.shape.u8(factory)
    w.ints(column, lengths)
    w.push(values, depth, column, in_maps(lengths, keys))
    w.stack.append(Keys(keys, depth, column, in_map_keys(lengths), lengths))


def place_ordered_dicts(w: ShapeWriter, column: Column) -> None:
    """Write ORDERED_DICT."""
    column.values = [dict(value) for value in column.values]  # dict.values() of a moved OrderedDict has another order
    place_maps(w, column, Tag.ORDERED_DICT, w.enter(column))


def place_counters(w: ShapeWriter, column: Column) -> None:
    """Write COUNTER."""
    place_maps(w, column, Tag.COUNTER, w.enter(column))


def place_default_dicts(w: ShapeWriter, column: Column) -> None:
    """Write DEFAULT_DICT; the column's dicts all have one factory."""
    factory = column.values[0].default_factory
    number = next((i for i, known in enumerate(FACTORIES) if known is factory), None)
    if number is None:
        raise w.refuse(
            column, 0, f"a defaultdict whose factory is {factory!r}: only builtin types can be given back"
        )
    place_maps(w, column, Tag.DEFAULT_DICT, w.enter(column), number)
