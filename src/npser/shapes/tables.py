"""Tables: TABLE and VARIED_TABLE, dicts with the keys in the shape and a column a key; `maps` has the other dicts.

Strategy: text keys that say what a dict is (`id`, `name`) are shape; keys that are data (a minute, a user's name)
are a column. Dicts at one place that differ in their keys share one table: the pattern of each row says which keys it
has and in which order, and a column holds only the cells that are there. So a missing key never becomes None.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from marshal import dumps
from operator import countOf
from typing import TYPE_CHECKING, Any

from npser.columns.texts import HEADER, RECORD, VERSION, are_all
from npser.shapes.column import at_key, show_key
from npser.shapes.keysets import KeySet
from npser.shapes.maps import place_maps
from npser.shapes.node import Node
from npser.shapes.patterns import VariedRows, cut_patterns, group_patterns, open_patterns, split_columns, spread
from npser.shapes.tracking import allocate, fill
from npser.tags import Node as Tag
from npser.types.placeholder import kinds_of
from npser.weights import VARIED, row_weight

if TYPE_CHECKING:
    from npser.shapes.column import Column
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.patterns import Pattern
    from npser.shapes.writer import ShapeWriter

__all__ = [
    "CHUNK_CELLS",
    "MIN_CHUNKED",
    "UNIFORM_MAP_KEYS",
    "Tables",
    "VariedTables",
    "are_data",
    "are_named",
    "is_table",
    "is_varied",
    "place_dicts",
    "take_apart",
    "wants_columns",
]

MAX_TABLE_KEYS = 256
"""One dict of more text keys than this is data: key column and value column."""

UNIFORM_MAP_KEYS = 16
"""The same for a dict whose values are all of one type, but for None."""

CHUNK_CELLS = 1 << 16
"""Tables of more cells than this are taken apart in chunks of rows: a list of all their keys takes eight bytes each."""

MIN_CHUNKED = 1 << 10
CHUNK_ROWS = 1 << 7
"""From how many rows on they are taken apart in chunks, and of how many: the processor's caches lose the dicts of more
of them from one key to the next; benchmarks/thresholds_shapes.py::sweep_chunk_rows."""

MAX_CELLS = 1 << 20
"""Tables of more cells than this, eight bytes each, are never taken apart all at once: there each key goes through all
rows again, which costs half as much again;
benchmarks/thresholds_shapes.py::sweep_chunk_rows."""

MIN_MARSHALLED = 1 << 9
"""From this many cells on, marshal compares their keys; benchmarks/thresholds_shapes.py::sweep_marshalled."""

MAX_VARIED_KEYS = 64
"""Dicts of one place with no more keys than this together are a table however they vary."""

MIN_CELLS_A_KEY = 4
"""Dicts of one place whose keys come back less often than this on average have keys that are data."""


class Tables(Node):
    """Dicts of the same keys in the same order; a child a key."""

    __slots__ = ("key_set", "keys")
    makes_columns = True
    zips = True
    passes = True

    def __init__(self, key_set: KeySet) -> None:
        super().__init__(len(key_set.keys))
        self.key_set = key_set
        self.keys = key_set.keys

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> Tables:
        """The key set."""
        return cls(reader.keys())

    def weigh(self, _tag: int) -> int:
        """A dict."""
        return row_weight(self.children)

    def open(self, b: Builder, n: int) -> list[Any] | None:
        """Every child runs over all instances."""
        self.pass_on(b, n)
        return allocate(b, dict, n)

    def close(self, b: Builder, n: int, frame: list[Any] | None, columns: list[Any]) -> Any:
        """Zip the columns into rows."""
        if wants_columns(self, b):
            return dict(zip(self.keys, columns, strict=True))
        done = self.key_set.rows(columns, n) if columns else [{} for _ in range(n)]
        return fill(Tag.TABLE, frame, done)

    def close_single(self, b: Builder, frame: list[Any] | None, values: list[Any]) -> Any:
        """The one dict."""
        done = self.key_set.one(values)
        return done if frame is None else fill(Tag.TABLE, frame, [done])[0]

    def step(self, edge: int) -> str:
        """One key."""
        return f"[{show_key(self.keys[edge])}]"


def wants_columns(node: Node, b: Builder) -> bool:
    """Whether a table that is a list should stay columns; never where references count its rows."""
    return (
        node.in_list
        and node.children > 0  # no columns would not say how many rows there were
        and b.policy.tables == "columns"
        and not b.references
        and not b.preserve
    )


class VariedTables(Node):
    """Dicts of some of these keys: slot(n) pattern codes; child k over the rows that have key k, pattern by pattern."""

    __slots__ = ("_sets", "keys", "patterns")
    slots = 1
    makes_columns = True

    def __init__(self, keys: tuple[str, ...], patterns: list[Pattern]) -> None:
        super().__init__(len(keys))
        self.keys = keys
        self.patterns = patterns
        self._sets: dict[int, KeySet] = {}

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> VariedTables:
        """The key set and the patterns."""
        keys = reader.keys().keys
        return cls(keys, reader.patterns(len(keys)))

    def weigh(self, _tag: int) -> int:
        """A dict of the heaviest pattern."""
        return VARIED + max([row_weight(len(pattern)) for pattern in self.patterns], default=0)

    def open(self, b: Builder, n: int) -> tuple[VariedRows, list[Any] | None]:
        """Count the rows of each key."""
        return open_patterns(self, b, n, self.patterns), allocate(b, dict, n)

    def close(self, b: Builder, n: int, frame: tuple[VariedRows, list[Any] | None], columns: list[Any]) -> Any:
        """Make the rows of each pattern; each row is the next one of its pattern."""
        rows, allocated = frame
        if wants_columns(self, b):
            return dict(zip(self.keys, spread(b, columns, rows, self.patterns, self.weight), strict=True))
        parts: dict[int, Iterator[dict[str, Any]]] = {}
        for code, cells in enumerate(cut_patterns(columns, rows, self.patterns)):
            count = rows.counts[code]
            if count:  # of many patterns, most may have no row
                if code not in self._sets:
                    self._sets[code] = KeySet(tuple([self.keys[key] for key in self.patterns[code]]))
                parts[code] = iter(self._sets[code].rows(cells, count) if cells else [{} for _ in range(count)])
        done = list(map(next, map(parts.__getitem__, rows.codes)))
        return fill(Tag.VARIED_TABLE, allocated, done)

    def step(self, edge: int) -> str:
        """One key."""
        return f"[{show_key(self.keys[edge])}]"


def place_dicts(w: ShapeWriter, column: Column) -> None:
    """Write TABLE, VARIED_TABLE or DICT, by what the keys are."""
    depth = w.enter(column)
    rows = column.values
    if len(rows) == 1:
        _place_one_dict(w, column, rows[0], depth)
        return
    keys = tuple(rows[0])
    columns = take_apart(rows, keys)
    if not (are_all(chain.from_iterable(rows), str) if columns is None else keys):
        place_maps(w, column, Tag.DICT, depth)
        return
    if columns is not None:
        w.weigh(column, row_weight(len(keys)))
        w.node(Tag.TABLE)
        w.keys(keys)
        w.push_fields(columns, keys, depth, column, at_key)
        return
    names, codes, patterns = group_patterns(rows)
    if are_data(names, rows):
        place_maps(w, column, Tag.DICT, depth)
        return
    w.node(Tag.VARIED_TABLE)
    w.keys(names)
    w.patterns(patterns)
    w.weigh(column, VARIED + max([row_weight(len(pattern)) for pattern in patterns], default=0))
    w.ints(column, codes)
    split, order = split_columns(len(names), rows, codes, patterns)
    for number in range(len(names) - 1, -1, -1):
        w.push(split[number], depth, column, at_key(names[number], rows, order))


def are_data(names: Collection[str], rows: Iterable[dict[str, Any]]) -> bool:
    """Whether the keys of rows that differ in them are data."""
    return len(names) > MAX_VARIED_KEYS and len(names) * MIN_CELLS_A_KEY > sum(map(len, rows))


def _place_one_dict(w: ShapeWriter, column: Column, row: dict[Any, Any], depth: int) -> None:
    if not is_table(row):
        place_maps(w, column, Tag.DICT, depth)
        return
    keys = tuple(row)
    w.node(Tag.TABLE)
    w.keys(keys)
    w.push_singles(list(row.values()), keys, depth, column, at_key)


def take_apart(rows: Sequence[dict[Any, Any]], keys: tuple[Any, ...]) -> Iterable[Sequence[Any]] | None:
    """The columns of rows that have exactly these keys in this order, each a str; None if any has others.

    The columns of many cells come one by one, as they are asked for.

    >>> list(take_apart([{"a": 1}, {"a": 2}], ("a",))), take_apart([{"a": 1, "b": 2}, {"b": 1, "a": 2}], ("a", "b"))
    ([(1, 2)], None)
    """
    n, width = len(rows), len(keys)
    if n < MIN_CHUNKED and n * width <= CHUNK_CELLS:
        named = are_named(list(chain.from_iterable(rows)), keys, n)
        return zip(*map(dict.values, rows), strict=True) if named else None
    whole = n * width <= MAX_CELLS
    columns: list[list[Any]] = [[] for _ in keys]
    for start in range(0, n, CHUNK_ROWS):
        part = rows[start : start + CHUNK_ROWS]
        if not are_named(list(chain.from_iterable(part)), keys, len(part)):
            return None
        if whole:
            for column, values in zip(columns, zip(*map(dict.values, part), strict=True), strict=True):
                column += values
    return columns if whole else ([row[key] for row in rows] for key in keys)


def are_named(flat: list[Any], keys: tuple[Any, ...], n: int) -> bool:
    """Whether the keys of n >= 1 dicts, end to end, are these n times, and each of them exactly a str.

    Where they are the same objects each time, marshal says that in one pass: what it has written of an object stands
    for it when it comes again, and nothing else is written as a str is (`columns.texts` has more of this).

    >>> are_named(["a", "b"] * 200, ("a", "b"), 200), are_named(["a", "b", "b", "a"] * 100, ("a", "b"), 200)
    (True, False)
    """
    cells = n * len(keys)
    if len(flat) != cells:
        return False
    if cells >= MIN_MARSHALLED and flat[-1] is keys[-1] and are_all(keys, str):
        twice = [*keys, *keys]
        two, found = dumps(twice, VERSION), _marshalled(flat)
        again = two[-RECORD * len(keys) :]
        if found == b"".join((two[:1], cells.to_bytes(4, "little"), two[HEADER : -len(again)], again * (n - 1))):
            return True
    return countOf(map(type, flat), str) == cells and flat == [*keys] * n


def _marshalled(values: list[Any]) -> bytes:
    try:
        return dumps(values, VERSION)
    except ValueError:  # one of them is nothing that marshal knows
        return b""


def is_table(row: dict[Any, Any]) -> bool:
    """Whether the keys of one dict are names, and not data."""
    n = len(row)
    if n > MAX_TABLE_KEYS or (n and not are_all(row, str)):
        return False
    return n <= UNIFORM_MAP_KEYS or is_varied(row.values())


def is_varied(values: Collection[Any]) -> bool:
    """Whether values are of more than one type, apart from None.

    >>> is_varied([1, None]), is_varied([1, "a"])
    (False, True)
    """
    return len({type(None), *kinds_of(values)}) > 2
