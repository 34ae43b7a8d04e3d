"""Arrays with keys, and lists of them: ASSOC, ASSOC_DICT, ROWSET, TABLE.

Strategy: keys and values are collected apart and joined at the end; a list of rows is built by the generated code that
builds the tables of the native wire. PHP's empty array is a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from npser.phpser.arrays import UNCOUNTED
from npser.phpser.collisions import COLLIDING, collides
from npser.phpser.keys import array_key
from npser.phpser.source import CHUNK, OPEN, Frame, Source
from npser.phpser.tags import KeyTag, Tag
from npser.shapes.column import show_key
from npser.shapes.generated import build_rows

__all__ = ["MAPS", "read_key"]

GENERATED_ROWS = 16
"""From so many rows on, binding the generated code to the keys of a table pays
(benchmarks/thresholds_shapes.py::sweep_rows)."""


# Keys in front of their values


def _string_key(source: Source) -> Any:
    return array_key(source.string())


_KEY_READERS: Final[dict[int, Callable[[Source], Any]]] = {
    KeyTag.LONG: Source.svarint,
    KeyTag.STRING_DICT: Source.key,
    KeyTag.STRING: _string_key,
}


def read_key(source: Source) -> Any:
    """A key of ASSOC; short ones are read by the loop itself."""
    reader = _KEY_READERS.get(source.u8())
    if reader is None:
        source.pos -= 1
        raise source.fail(f"no such tag of a key: 0x{source.data[source.pos]:02x}")
    return reader(source)


def _open_assoc(source: Source) -> Any:
    source.enter()
    n = source.count(2)
    return _open_map(source, n, read_key, []) if n else _empty(source)


def _open_assoc_dict(source: Source) -> Any:
    source.enter()
    n = source.count(2)
    return _open_map(source, n, None, source.key_set(n)) if n else _empty(source)


def _empty(source: Source) -> list[Any]:
    empty: list[Any] = []
    source.claim(empty)
    return empty


def _open_map(source: Source, n: int, key: Callable[[Source], Any] | None, keys: Sequence[Any]) -> Frame:
    frame = Frame(n, _close_map, _at_key, key=key)
    frame.keys = keys
    if source.is_held:
        frame.made = {}
        source.claim(frame.made)
    return frame


def _close_map(source: Source, frame: Frame) -> dict[Any, Any]:
    done = dict(zip(frame.keys, frame.values, strict=True))  # of a repeated key the last value, at the first place
    if collides(done, len(frame.values)):
        raise source.fail(COLLIDING)
    if frame.made is None:
        return done
    made: dict[Any, Any] = frame.made
    made.update(done)
    return made


def _at_key(frame: Frame) -> str:
    at = len(frame.values)
    return f"[{show_key(frame.keys[at])}]" if at < len(frame.keys) else ""


# Rows


def _head(source: Source) -> tuple[int, tuple[Any, ...]]:
    """The number of rows and the keys."""
    source.enter()
    rows, columns = source.uvarint(), source.uvarint()
    if not columns:
        raise source.fail("a table without columns")
    if columns > source.left // 2 or rows > source.left // columns:
        raise source.fail(f"a table of {rows} rows and {columns} columns, {source.left} bytes left")
    keys = source.key_set(columns)
    if collides(keys, columns):
        raise source.fail(COLLIDING)
    return rows, keys


def _open_rowset(source: Source) -> Frame:
    rows, keys = _head(source)
    frame = Frame(rows * len(keys), _close_rowset, _at_cell, extra=keys)
    return _open_rows(source, frame)


def _open_rows(source: Source, frame: Frame) -> Frame:
    if source.is_held:
        frame.made = []
        source.claim(frame.made)
    return frame


def _close_rowset(_source: Source, frame: Frame) -> list[Any]:
    keys = frame.extra
    width = len(keys)
    return _close_rows(frame, keys, [frame.values[at::width] for at in range(width)])


def _at_cell(frame: Frame) -> str:
    row, column = divmod(len(frame.values), len(frame.extra))
    return f"[{row}][{show_key(frame.extra[column])}]"


class _Columns:
    """A table that is being read."""

    __slots__ = ("columns", "keys", "mixed", "rows")

    def __init__(self, rows: int, keys: tuple[Any, ...]) -> None:
        self.rows = rows
        self.keys = keys
        self.columns: list[list[Any]] = []
        self.mixed = False


def _open_table(source: Source) -> Frame:
    rows, keys = _head(source)
    frame = Frame(0, _close_column, _at_column, extra=_Columns(rows, keys))
    return _open_rows(source, frame)


def _close_column(source: Source, frame: Frame) -> Any:
    """Take the column that was read value by value, if one was, and go on to the next such column or the end."""
    table: _Columns = frame.extra
    columns = table.columns
    if table.mixed:
        columns.append(frame.values)
        table.mixed = False
    while len(columns) < len(table.keys):
        tag = source.u8()
        if tag == Tag.MIXED:
            frame.values = []
            frame.need = table.rows
            frame.chunk = CHUNK
            table.mixed = True
            return OPEN
        if tag not in UNCOUNTED:
            source.pos -= 1
            raise source.fail(f"no such tag of a column: 0x{tag:02x}")
        each, read = UNCOUNTED[tag]
        if table.rows * each > source.left:
            raise source.fail(f"a column of {table.rows} items, {source.left} bytes left")
        columns.append(read(source, table.rows) if table.rows else [])
    return _close_rows(frame, table.keys, columns)


def _at_column(frame: Frame) -> str:
    table: _Columns = frame.extra
    at = len(table.columns)
    key = f"[{show_key(table.keys[at])}]" if at < len(table.keys) else ""
    return f"[{len(frame.values)}]{key}" if table.mixed else f"[:]{key}"


def _close_rows(frame: Frame, keys: tuple[Any, ...], columns: list[list[Any]]) -> list[Any]:
    if len(columns[0]) >= GENERATED_ROWS and all(type(key) is str for key in keys):
        rows: list[Any] = _rows_of(keys)(columns)
    else:
        rows = [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]
    if frame.made is None:
        return rows
    made: list[Any] = frame.made
    made += rows
    return made


@lru_cache(maxsize=256)
def _rows_of(keys: tuple[str, ...]) -> Callable[[Sequence[Sequence[Any]]], list[dict[str, Any]]]:
    return build_rows(keys)


MAPS: Final[dict[int, Callable[[Source], Any]]] = {
    Tag.ASSOC: _open_assoc,
    Tag.ASSOC_DICT: _open_assoc_dict,
    Tag.ROWSET: _open_rowset,
    Tag.TABLE: _open_table,
}
