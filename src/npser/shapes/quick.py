"""Columns that are written where they are met: dicts, lists and tuples of one sort, and leaves.

Strategy: what caches hold most needs none of what the placers of all nodes take along: the path to a culprit, a stack
against recursion, a look for every type that there is. So the columns of a table are written one after the other, in
order, and those within them by recursion, a few levels deep. What is anything else goes to its placer, and gives the
same bytes. Whoever sets `ShapeWriter.quick` starts anew without it if something is refused: errors have no path here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import countOf
from typing import TYPE_CHECKING, Any, Final

from npser.columns.kinds import LEAF_TYPES
from npser.columns.pooled import POOLED_ITEMS, PUT_MANY
from npser.columns.slotwriter import EXPANDING
from npser.columns.texts import are_all
from npser.shapes.collector import WORTH_PAUSING, pause, resume
from npser.shapes.column import Column
from npser.shapes.distinct import MIN_COPIED, Distinct, find_alike, find_copies
from npser.shapes.infer import write_columns
from npser.shapes.patterns import group_patterns, split_columns
from npser.shapes.sequences import MAX_ROW, MAX_SINGLE_ROW, rows_of
from npser.shapes.tables import are_data, is_table, take_apart
from npser.shapes.writer import CYCLE_CHECK_DEPTH, CYCLE_CHECK_ITEMS, LEAF
from npser.tags import Node as Tag
from npser.weights import NODES, STEP, VARIED, row_weight

if TYPE_CHECKING:
    from npser.shapes.writer import ShapeWriter

__all__ = ["MAX_QUICK_DEPTH", "are_quick", "write_fields", "write_items", "write_list", "write_quick"]

MAX_QUICK_DEPTH: Final = CYCLE_CHECK_DEPTH - 4
"""Deeper columns are written as ever: cycles are looked for there, and recursion ends."""

LIST, LIST_ROW, TABLE, TUPLE, TUPLE_ROW, VARIED_TABLE = (
    int(tag) for tag in (Tag.LIST, Tag.LIST_ROW, Tag.TABLE, Tag.TUPLE, Tag.TUPLE_ROW, Tag.VARIED_TABLE)
)
_LEAF: Final = bytes((LEAF,))
_EMPTY_LIST: Final = bytes((Tag.LIST, Tag.NOTHING))
_LISTED: Final = LEAF_TYPES | {dict, list, tuple}


Place = Callable[["ShapeWriter", Any, int, "Column | None"], bool]


def write_quick(w: ShapeWriter, values: Sequence[Any], depth: int, parent: Column | None) -> None:
    """Write a column of n >= 1 values, which is not single.

    Parameters
    ----------
    values : sequence
        Nobody else holds it.
    depth : int
        Containers above.
    parent : Column | None
        The nearest column above that a placer wrote.
    """
    kind = type(values[0])
    place = _PLACES.get(kind)
    if place is None:
        if w.slots.leaves(values):
            w.shape.out.append(LEAF)
            return
    elif depth < MAX_QUICK_DEPTH and countOf(map(type, values), kind) == len(values):
        _write_alike(w, place, values, depth, parent)
        return
    _write_slowly(w, values, depth, parent)


def _write_alike(w: ShapeWriter, place: Place, values: Sequence[Any], depth: int, parent: Column | None) -> None:
    """Write n >= 1 dicts, lists or tuples, for which `place` is."""
    if len(values) < WORTH_PAUSING:
        done = place(w, values, depth + 1, parent)
    else:
        done = _place_paused(place, w, values, depth + 1, parent)
    if not done:
        _write_slowly(w, values, depth, parent)


def _write_slowly(w: ShapeWriter, values: Sequence[Any], depth: int, parent: Column | None) -> None:
    """Leave a column to the placers."""
    above = len(w.stack)
    w.stack.append(Column(values, depth, parent))
    write_columns(w, above)


def _place_paused(
    place: Place, w: ShapeWriter, values: Sequence[Any], depth: int, parent: Column | None
) -> bool:
    pause()
    try:
        return place(w, values, depth, parent)
    finally:
        resume()


def write_list(w: ShapeWriter, items: list[Any], depth: int) -> bool:
    """Write a single list of items of one type, or of none; False, and nothing written, for any other."""
    items = items.copy()  # so that it stays as it is, whoever else holds it
    if not are_quick(items, depth):
        return False
    w.slots.singles.one(len(items))
    write_items(w, items, depth)
    return True


def are_quick(items: list[Any], depth: int) -> bool:
    """Whether `write_items` takes the items of a list."""
    if not items:
        return True
    kind = type(items[0])
    return depth < MAX_QUICK_DEPTH and kind in _LISTED and countOf(map(type, items), kind) == len(items)


def write_items(w: ShapeWriter, items: list[Any], depth: int) -> None:
    """Write a single list, but for its length; nobody else holds the items, and they are quick to write."""
    if not items:
        w.shape.out += _EMPTY_LIST
        return
    w.shape.out.append(LIST)
    place = _PLACES.get(type(items[0]))
    if place is not None and depth + 1 < MAX_QUICK_DEPTH:
        _write_alike(w, place, items, depth + 1, None)
    else:
        write_quick(w, items, depth + 1, None)


def write_fields(
    w: ShapeWriter, columns: Iterable[Sequence[Any]], n: int, depth: int, parent: Column | None
) -> None:
    """Write columns of n > 1 values each, one after the other."""
    slots, sink, shape = w.slots, w.sink, w.shape.out
    pools, kinds = slots.pools.pools, slots.kinds
    if n > POOLED_ITEMS:
        for values in columns:
            write_quick(w, values, depth, parent)
        return
    for values in columns:  # those of leaves as `SlotWriter.leaves` does it, but for a call or two
        kind = type(values[0])
        put = PUT_MANY.get(kind)
        if put is not None and countOf(map(type, values), kind) == n:
            code = put(pools, values)
            shape.append(LEAF)
            if code is None:
                slots.body(values, kind)
                continue
            kinds.append(code)
            if code in EXPANDING:
                sink.expanded += n * STEP
        elif kind in LEAF_TYPES and slots.varied(values):
            shape.append(LEAF)
        else:
            write_quick(w, values, depth, parent)


def _dicts(w: ShapeWriter, rows: Sequence[dict[Any, Any]], depth: int, parent: Column | None) -> bool:
    n = len(rows)
    if n == 1:
        return _one_dict(w, rows[0], depth, parent)
    keys = tuple(rows[0])
    columns = take_apart(rows, keys)
    if columns is None:
        return are_all(chain.from_iterable(rows), str) and _varied_dicts(w, rows, depth, parent)
    if not keys:
        return False
    w.sink.expand(n * row_weight(len(keys)))
    w.shape.out.append(TABLE)
    w.keys(keys)
    write_fields(w, columns, n, depth, parent)
    return True


def _one_dict(w: ShapeWriter, row: dict[Any, Any], depth: int, parent: Column | None) -> bool:
    values = tuple(row.values())
    keys = tuple(row)
    if not is_table(row) or len(keys) != len(values):
        return False
    w.sink.expand(row_weight(len(keys)))
    shape = w.shape.out
    shape.append(TABLE)
    w.keys(keys)
    run: list[Any] = []
    for value in values:
        if type(value) in LEAF_TYPES:
            run.append(value)
            continue
        shape += _LEAF * len(run)
        w.slots.ones(run)
        run = []
        write_quick(w, (value,), depth, parent)
    shape += _LEAF * len(run)
    w.slots.ones(run)
    return True


def _varied_dicts(w: ShapeWriter, rows: Sequence[dict[Any, Any]], depth: int, parent: Column | None) -> bool:
    names, codes, patterns = group_patterns(rows)
    if are_data(names, rows):
        return False
    w.sink.expand(len(rows) * (VARIED + max([row_weight(len(pattern)) for pattern in patterns], default=0)))
    w.shape.out.append(VARIED_TABLE)
    w.keys(names)
    w.patterns(patterns)
    w.slots.ints(codes)
    for values in split_columns(len(names), rows, codes, patterns)[0]:
        write_quick(w, values, depth, parent)
    return True


def _flatten(values: Sequence[Sequence[Any]]) -> tuple[list[int], list[Any]]:
    """The lengths, and the items end to end; no items where a look for cycles is due, as `ShapeWriter.guard` has it."""
    lengths = list(map(len, values))
    total = sum(lengths)
    if total > CYCLE_CHECK_ITEMS and total > 8 * len(lengths):
        return lengths, []
    items = list(chain.from_iterable(values))
    if len(items) != total:
        raise RuntimeError("a container changed while it was being encoded")
    return lengths, items


def _lists(w: ShapeWriter, values: Sequence[list[Any]], depth: int, parent: Column | None) -> bool:
    n = len(values)
    may_repeat = n >= MIN_COPIED and type(next(iter(values[0]), None)) is str
    if may_repeat:
        copies = find_alike(w, values)
        if copies is not None:
            return _copies(w, copies, depth, parent)
    lengths, items = _flatten(values)
    if not items:
        return False
    m = lengths[0]
    if may_repeat:
        copies = find_copies(w, values, items)
        if copies is not None:
            return _copies(w, copies, depth, parent)
    met: set[Any] = set()
    if 1 < m <= (MAX_ROW if n > 1 else MAX_SINGLE_ROW) and lengths.count(m) == n:
        positions, met = rows_of(items, m)
        if positions is not None:
            return n > 1 and _rows(w, LIST_ROW, n, positions, depth, parent)
    w.sink.expand(n * NODES[LIST])
    w.shape.out.append(LIST)
    w.slots.ints(lengths)
    if met and met <= LEAF_TYPES and len(items) > 1:
        w.shape.out.append(LEAF)
        w.slots.many(items, met)
    else:
        write_quick(w, items, depth, parent)
    return True


def _copies(w: ShapeWriter, copies: Distinct, depth: int, parent: Column | None) -> bool:
    w.shape.out.append(LIST)
    w.slots.copies(copies.codes, copies.lengths)
    write_quick(w, copies.items, depth, parent)
    return True


def _tuples(w: ShapeWriter, values: Sequence[tuple[Any, ...]], depth: int, parent: Column | None) -> bool:
    lengths, items = _flatten(values)
    if not items:
        return False
    n, m = len(lengths), lengths[0]
    if 0 < m <= (MAX_ROW if n > 1 else MAX_SINGLE_ROW) and lengths.count(m) == n:
        return n > 1 and _rows(w, TUPLE_ROW, n, [items[position::m] for position in range(m)], depth, parent)
    w.sink.expand(n * NODES[TUPLE])
    w.shape.out.append(TUPLE)
    w.slots.ints(lengths)
    write_quick(w, items, depth, parent)
    return True


def _rows(
    w: ShapeWriter, tag: int, n: int, positions: Sequence[Sequence[Any]], depth: int, parent: Column | None
) -> bool:
    w.sink.expand(n * NODES[tag])
    w.shape.out.append(tag)
    w.shape.uvarint(len(positions))
    write_fields(w, positions, n, depth, parent)
    return True


_PLACES: Final[dict[type, Place]] = {dict: _dicts, list: _lists, tuple: _tuples}
"""Exact type -> what writes n > 1 values of it at a depth; False, and nothing written, where a placer has to."""
