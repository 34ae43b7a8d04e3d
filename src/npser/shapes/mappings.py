"""Mappings: DICT, ORDERED_DICT, COUNTER, DEFAULT_DICT as key column and value column; TABLE and VARIED_TABLE with the
keys in the shape and a column a key.

Strategy: text keys that say what a dict is (`id`, `name`) are shape; keys that are data (a minute, a user's name)
are a column. Dicts at one place that differ in their keys share one table: the pattern of each row says which keys it
has and in which order, and a column holds only the cells that are there. So a missing key never becomes None.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from operator import countOf
from typing import TYPE_CHECKING, Any, Final

from npser.shapes.column import Keys, at_key, in_map_keys, in_maps
from npser.shapes.generated import build_row, build_rows
from npser.shapes.node import Node
from npser.shapes.sequences import cut, open_lengths
from npser.shapes.tracking import allocate, fill, fill_late
from npser.tags import Node as Tag
from npser.types.placeholder import kinds_of

if TYPE_CHECKING:
    from npser.shapes.column import Column
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = [
    "MISSING",
    "Maps",
    "Tables",
    "VariedTables",
    "group_patterns",
    "open_patterns",
    "place_counters",
    "place_default_dicts",
    "place_dicts",
    "place_ordered_dicts",
    "split_columns",
    "spread",
    "wants_columns",
]

MAX_TABLE_KEYS = 256
"""One dict of more text keys than this is data: key column and value column."""

UNIFORM_MAP_KEYS = 16
"""The same for a dict whose values are all of one type, but for None."""

MAX_VARIED_KEYS = 64
"""Dicts of one place with no more keys than this together are a table however they vary."""

GENERATED_ROWS = 32
"""From this many rows on, binding the generated code to the keys of a table pays;
benchmarks/thresholds_shapes.py::sweep_rows."""

MIN_CELLS_A_KEY = 4
"""Dicts of one place whose keys come back less often than this on average have keys that are data."""


class Missing:
    """The one `MISSING`: a cell of a row that does not have the key, where a table is read as columns."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "npser.MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()

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
        lengths = open_lengths(b, n)
        total = sum(lengths)
        b.counts += [total, total]
        return lengths, allocate(b, self.make, n)

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Zip keys and values, cut by the lengths."""
        lengths, allocated = frame
        keys, values = columns
        if b.late is not None:
            made = [self.make() for _ in lengths] if allocated is None else allocated
            return fill_late(b.late, self.tag, made, cut(list(zip(keys, values, strict=True)), lengths, list))
        try:
            if n == 1:
                done = [self.make(zip(keys, values, strict=True))]
            else:
                done = cut(list(zip(keys, values, strict=True)), lengths, self.make)
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


class Tables(Node):
    """Dicts of the same keys in the same order; a child a key."""

    __slots__ = ("_build", "keys")
    makes_columns = True
    zips = True

    def __init__(self, keys: tuple[str, ...]) -> None:
        super().__init__(len(keys))
        self.keys = keys
        self._build: Callable[[Sequence[Sequence[Any]]], list[dict[str, Any]]] | None = None

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> Tables:
        """The key set."""
        return cls(reader.keys())

    def open(self, b: Builder, n: int) -> list[Any] | None:
        """Every child runs over all instances."""
        b.counts += [n] * self.children
        return allocate(b, dict, n)

    def close(self, b: Builder, n: int, frame: list[Any] | None, columns: list[Any]) -> Any:
        """Zip the columns into rows."""
        if wants_columns(self, b):
            return dict(zip(self.keys, columns, strict=True))
        if not columns or (n < GENERATED_ROWS and self._build is None):
            rows: Iterable[Sequence[Any]] = zip(*columns, strict=True) if columns else [()] * n
            done = [dict(zip(self.keys, row, strict=True)) for row in rows]
        else:
            if self._build is None:
                self._build = build_rows(self.keys)
            done = self._build(columns)
        return fill(Tag.TABLE, frame, done)

    def step(self, edge: int) -> str:
        """One key."""
        return f"[{self.keys[edge]!r}]"


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
    """Dicts of some of these keys: slot(n) pattern codes; child k over the rows that have key k."""

    __slots__ = ("keys", "patterns")
    slots = 1
    makes_columns = True
    zips = True

    def __init__(self, keys: tuple[str, ...], patterns: list[tuple[int, ...]]) -> None:
        super().__init__(len(keys))
        self.keys = keys
        self.patterns = patterns

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> VariedTables:
        """The key set and the patterns."""
        keys = reader.keys()
        return cls(keys, reader.patterns(len(keys)))

    def open(self, b: Builder, n: int) -> tuple[list[int], list[Any] | None]:
        """Count the rows of each key."""
        codes = open_patterns(b, n, self.patterns, self.children)
        return codes, allocate(b, dict, n)

    def close(self, b: Builder, n: int, frame: tuple[list[int], list[Any] | None], columns: list[Any]) -> Any:
        """Each row takes the next cell of each of its keys."""
        codes, allocated = frame
        if wants_columns(self, b):
            return dict(zip(self.keys, spread(b, columns, codes, self.patterns), strict=True))
        nexts = [iter(column).__next__ for column in columns]
        if n < GENERATED_ROWS:
            cells = [[(self.keys[k], nexts[k]) for k in pattern] for pattern in self.patterns]
            done = [{key: take() for key, take in cells[code]} for code in codes]
        else:
            rows = [
                build_row([self.keys[k] for k in pattern], [nexts[k] for k in pattern]) for pattern in self.patterns
            ]
            done = [rows[code]() for code in codes]
        return fill(Tag.VARIED_TABLE, allocated, done)

    def step(self, edge: int) -> str:
        """One key."""
        return f"[{self.keys[edge]!r}]"


def open_patterns(b: Builder, n: int, patterns: list[tuple[int, ...]], keys: int) -> list[int]:
    """Read n pattern codes and push how many instances have each key."""
    codes = b.slots.ints(n)
    if codes and (min(codes) < 0 or max(codes) >= len(patterns)):
        raise b.cursor.fail(f"code of a pattern out of range 0..{len(patterns) - 1}")
    counts = [0] * keys
    for code, rows in Counter(codes).items():
        for key in patterns[code]:
            counts[key] += rows
    b.counts += reversed(counts)
    return codes


def spread(b: Builder, columns: list[Any], codes: list[int], patterns: list[tuple[int, ...]]) -> list[Any]:
    """Dense columns -> columns with a cell a row, MISSING where the row does not have the key.

    What is missing was not stored, so it is drawn from the budget.
    """
    out: list[Any] = []
    members = list(map(frozenset, patterns))
    for key, column in enumerate(columns):
        missing = len(codes) - len(column)
        if not missing:
            out.append(column)
            continue
        b.cursor.expand(missing)
        cells = iter(column if type(column) is list else column.tolist())
        out.append([next(cells) if key in members[code] else MISSING for code in codes])
    return out


def place_dicts(w: ShapeWriter, column: Column) -> None:
    """Write TABLE, VARIED_TABLE or DICT, by what the keys are."""
    depth = w.enter(column)
    rows = column.values
    if len(rows) == 1:
        _place_one_dict(w, column, rows[0], depth)
        return
    flat = list(chain.from_iterable(rows))
    if countOf(map(type, flat), str) != len(flat):
        _place_maps(w, column, Tag.DICT, depth)
        return
    keys = tuple(rows[0])
    if len(flat) == len(rows) * len(keys) and flat == list(keys) * len(rows):
        if not keys:
            _place_maps(w, column, Tag.DICT, depth)
            return
        w.pay(column, len(keys))
        w.node(Tag.TABLE)
        w.keys(keys)
        columns = list(zip(*map(dict.values, rows), strict=True))
        for key, values in zip(reversed(keys), reversed(columns), strict=True):
            w.push(values, depth, column, at_key(key))
        return
    names, codes, patterns = group_patterns(rows)
    if len(names) > MAX_VARIED_KEYS and len(names) * MIN_CELLS_A_KEY > len(flat):
        _place_maps(w, column, Tag.DICT, depth)
        return
    w.node(Tag.VARIED_TABLE)
    w.keys(names)
    w.patterns(patterns)
    w.slots.ints(codes)
    split = split_columns(names, rows)
    for key in reversed(names):
        w.push(split[key], depth, column, at_key(key, rows))


def _place_one_dict(w: ShapeWriter, column: Column, row: dict[Any, Any], depth: int) -> None:
    keys = tuple(row)
    if not all(type(key) is str for key in keys) or len(keys) > MAX_TABLE_KEYS:
        _place_maps(w, column, Tag.DICT, depth)
        return
    if len(keys) > UNIFORM_MAP_KEYS and len({type(None), *kinds_of(row.values())}) <= 2:
        _place_maps(w, column, Tag.DICT, depth)
        return
    w.node(Tag.TABLE)
    w.keys(keys)
    w.push_singles(list(row.values()), keys, depth, column, at_key)


def group_patterns(rows: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], list[int], list[tuple[int, ...]]]:
    """All keys in the order they are met, each row's pattern, and each pattern's key numbers.

    >>> group_patterns([{"a": 1}, {"b": 2, "a": 3}, {"a": 4}])
    (('a', 'b'), [0, 1, 0], [(0,), (1, 0)])
    """
    known: dict[tuple[str, ...], int] = {}
    codes = [known.setdefault(tuple(row), len(known)) for row in rows]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(chain.from_iterable(known)))}
    return tuple(numbers), codes, [tuple([numbers[key] for key in pattern]) for pattern in known]


def split_columns(names: Iterable[str], rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """For each key its values, in the rows that have it."""
    split: dict[str, list[Any]] = {key: [] for key in names}
    push = {key: values.append for key, values in split.items()}
    for row in rows:
        for key, value in row.items():
            push[key](value)
    return split


def _place_maps(w: ShapeWriter, column: Column, tag: Tag, depth: int, factory: int | None = None) -> None:
    rows = column.values
    lengths = list(map(len, rows))
    w.guard(column, sum(lengths))
    keys = list(chain.from_iterable(rows))
    values = list(chain.from_iterable(map(dict.values, rows)))
    if not len(keys) == len(values) == sum(lengths):
        raise w.refuse(column, 0, "a container changed while it was being encoded")
    w.node(tag)
    if factory is not None:
        w.shape.u8(factory)
    w.slots.ints(lengths)
    w.push(values, depth, column, in_maps(lengths, keys))
    w.stack.append(Keys(keys, depth, column, in_map_keys(lengths), lengths))


def place_ordered_dicts(w: ShapeWriter, column: Column) -> None:
    """Write ORDERED_DICT."""
    column.values = [dict(value) for value in column.values]  # dict.values() of a moved OrderedDict has another order
    _place_maps(w, column, Tag.ORDERED_DICT, w.enter(column))


def place_counters(w: ShapeWriter, column: Column) -> None:
    """Write COUNTER."""
    _place_maps(w, column, Tag.COUNTER, w.enter(column))


def place_default_dicts(w: ShapeWriter, column: Column) -> None:
    """Write DEFAULT_DICT; the column's dicts all have one factory."""
    factory = column.values[0].default_factory
    number = next((i for i, known in enumerate(FACTORIES) if known is factory), None)
    if number is None:
        raise w.refuse(
            column, 0, f"a defaultdict whose factory is {factory!r}: only builtin types can be given back"
        )
    _place_maps(w, column, Tag.DEFAULT_DICT, w.enter(column), number)
