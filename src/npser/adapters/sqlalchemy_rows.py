"""Rows of SQLAlchemy, to and from what npser stores.

Strategy: a row is a dict of its names, so rows of one result are a table without anybody saying so. `Rows` says so, and
is turned into columns and back at once. A row is put together as pickle does it; its names are shared by all rows that
have the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy.engine import IteratorResult, Row
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.exc import InvalidRequestError

__all__ = ["Rows", "build_mapping", "build_row", "build_rows", "mapping_state", "row_state", "rows_state"]


class Rows(list[Any]):
    """Rows of one result, ``Rows(session.execute(statement))``: a list that is stored as its columns.

    >>> Rows([])
    []
    """


class Names(NamedTuple):
    """Names of columns as plain text, and whether they are all different."""

    plain: tuple[str, ...]
    differ: bool


@lru_cache(maxsize=256)
def _names(fields: tuple[str, ...]) -> Names:
    plain = tuple(map(str.__str__, fields))  # SQLAlchemy has a subclass of str for quoted names
    return Names(plain, len(set(plain)) == len(plain))


class _Last:
    """What the last row came from, and its names: the next one is of the same result, and asking a row is slow."""

    seen: tuple[object, Names] = (None, Names((), differ=True))


def _names_of(row: Any, source: object) -> Names:
    known, names = _Last.seen
    if known is not source:
        names = _names(row._fields)
        _Last.seen = source, names
    return names


def row_state(row: Any) -> Any:
    """What a Row is made of: a dict; a tuple, where two columns have one name."""
    names = _names_of(row, row.__getstate__()["_parent"])
    if names.differ:
        return dict(zip(names.plain, row, strict=True))
    return names.plain, tuple(row), _ambiguous(row)


def _ambiguous(row: Any) -> tuple[str, ...]:
    """The names that the row refuses to be asked for, as two of its columns have them."""
    fields = row._fields
    found = tuple({str.__str__(name): None for name in fields if fields.count(name) > 1 and _refuses(row, name)})
    if found and not hasattr(SimpleResultMetaData, "_ambiguous_keys"):
        raise TypeError(f"columns of one name, {found}: label them, or use a newer SQLAlchemy")
    return found


def _refuses(row: Any, name: str) -> bool:
    try:
        row._mapping[name]
    except InvalidRequestError:
        return True
    return False


def mapping_state(mapping: Any) -> dict[str, Any]:
    """What a RowMapping is made of."""
    names = _names(tuple(mapping))
    if not names.differ:
        raise TypeError("a mapping in which two columns have one name; encode the row itself")
    return dict(zip(names.plain, mapping.values(), strict=True))


def rows_state(rows: Rows) -> dict[str, Any]:
    """What `Rows` are made of: names and columns."""
    if not rows:
        return {"names": (), "columns": (), "ambiguous": ()}
    sources = {id(row.__getstate__()["_parent"]): row for row in rows if type(row) is Row}
    if {*map(type, rows)} != {Row} or len({row._fields for row in sources.values()}) != 1:
        raise TypeError("Rows are those of one result: of the same names, and nothing else")
    columns = tuple(map(list, zip(*rows, strict=True)))
    return {"names": _names(rows[0]._fields).plain, "columns": columns, "ambiguous": _ambiguous(rows[0])}


@lru_cache(maxsize=256)
def _metadata(names: tuple[str, ...], ambiguous: tuple[str, ...] = ()) -> Any:
    if type(names) is not tuple or not all(type(name) is str for name in names):
        raise TypeError("the names of a row are text")
    if ambiguous:
        return SimpleResultMetaData(names, _ambiguous_keys=frozenset(ambiguous))
    return SimpleResultMetaData(names)


def build_row(state: Any) -> Any:
    """A Row out of its state."""
    names, values, ambiguous = (tuple(state), tuple(state.values()), ()) if type(state) is dict else state
    if type(values) is not tuple or len(names) != len(values):
        raise ValueError("a row has as many values as names")
    row = Row.__new__(Row)
    row.__setstate__({"_parent": _metadata(names, ambiguous), "_data": values})
    return row


def build_mapping(state: dict[str, Any]) -> Any:
    """A RowMapping out of its state."""
    return build_row(state)._mapping


def build_rows(state: dict[str, Any]) -> Rows:
    """Rows out of names and columns."""
    names, columns, ambiguous = state["names"], state["columns"], state["ambiguous"]
    if len(columns) != len(names):
        raise ValueError("rows have as many columns as names")
    values: Iterable[Any] = zip(*columns, strict=True)
    return Rows(IteratorResult(_metadata(names, ambiguous), iter(list(values))).all() if names else ())
