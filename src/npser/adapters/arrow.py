"""Arrow: after `register()`, dumps and loads keep pyarrow's Table, RecordBatch, ChunkedArray and Array.

    >>> import npser, pyarrow, npser.adapters.arrow
    >>> npser.adapters.arrow.register()
    >>> table = pyarrow.table({"id": [1, 2, None], "name": ["ada", "bob", "ada"]})
    >>> npser.loads(npser.dumps(table)).equals(table)
    True

Strategy: a table is its fields and their columns, each an array by itself. Anything with an Arrow C stream or array
(polars, duckdb, nanoarrow) becomes a table or an array without a copy: ``dumps(from_stream(value))``.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from npser.adapters.arrow_arrays import array_state, build_array
from npser.adapters.arrow_types import PLAIN, build_field, field_state
from npser.adapters.folding import fold, unfold
from npser.errors import EncodeError
from npser.partial.base import HANDERS
from npser.shapes.patterns import MISSING
from npser.types.registry import register as _register

__all__ = ["from_stream", "from_view", "register"]

MADE = (
    pa.timestamp("ns"), pa.duration("ns"), pa.time32("s"), pa.time64("ns"), pa.decimal128(1), pa.decimal256(1),
    pa.binary(1), pa.dictionary(pa.int8(), pa.string()), pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.struct([]),
)  # fmt: skip
"""One of each of the types with parameters."""


def register() -> None:
    """Make the classes of pyarrow known to `dumps` and to every `loads`; nothing else. May be called again."""
    arrays = {type(pa.array([], kind)) for kind in (*PLAIN.values(), *MADE)}
    classes = {
        pa.Table: (table_state, build_table),
        pa.RecordBatch: (table_state, _build_batch),
        pa.ChunkedArray: (array_state, build_chunked),
        **dict.fromkeys(arrays, (array_state, build_array)),
    }
    for cls, (state, build) in classes.items():
        _register(cls, name=f"arrow.{cls.__name__}", state=state, build=build)


def build_chunked(state: Any) -> Any:
    """A ChunkedArray of one chunk."""
    return pa.chunked_array([build_array(state)])


def table_state(table: Any) -> dict[str, Any]:
    """What a Table or a RecordBatch is made of."""
    return {
        "fields": list(map(field_state, table.schema)),
        "metadata": table.schema.metadata,
        "rows": table.num_rows,
        "columns": fold(map(_column_state, table.schema.names, table.columns)),
    }


def _column_state(name: str, column: Any) -> Any:
    """What a column is made of; where it is refused, it says which one that is."""
    try:
        return array_state(column)
    except EncodeError as error:
        raise EncodeError(f"{error.message} (in the column {name!r})") from error


def _parts(state: Any) -> tuple[list[Any], Any]:
    schema = pa.schema(list(map(build_field, state["fields"])), metadata=state["metadata"])
    columns = list(map(build_array, unfold(state["columns"])))
    if len(columns) != len(schema) or any(len(column) != state["rows"] for column in columns):
        raise ValueError("columns that do not fit the fields or the number of rows")
    if [column.type for column in columns] != schema.types:
        raise TypeError("columns of other types than the fields")
    return columns, schema


def build_table(state: Any) -> Any:
    """The Table that a state was made of."""
    columns, schema = _parts(state)
    if columns:
        return pa.Table.from_arrays(columns, schema=schema)
    return pa.table({"": pa.nulls(_few(state["rows"]))}).replace_schema_metadata(schema.metadata).select([])


def _build_batch(state: Any) -> Any:
    columns, schema = _parts(state)
    if columns:
        return pa.RecordBatch.from_arrays(columns, schema=schema)
    return pa.record_batch({"": pa.nulls(_few(state["rows"]))}).replace_schema_metadata(schema.metadata).select([])


def _few(rows: Any) -> int:
    if type(rows) is not int or not 0 <= rows < 1 << 62:
        raise ValueError("rows without columns")
    return rows


def from_stream(value: Any) -> Any:
    """A Table of what has ``__arrow_c_stream__``, an array of what has ``__arrow_c_array__``.

    Raises
    ------
    TypeError
        It has neither.
    """
    if hasattr(value, "__arrow_c_stream__"):
        return pa.table(value)
    if hasattr(value, "__arrow_c_array__"):
        return pa.array(value)
    raise TypeError(f"a {type(value).__name__} has no Arrow stream and is no Arrow array")


def from_view(view: Any) -> Any:
    """A Table of the columns of a view: of a list of dicts, a record batch, a dict of columns, a frame.

    None, and what a row does not have, is null; NaN is NaN.

    Raises
    ------
    TypeError
        There are no columns, or Arrow has no type for one of them.
    """
    found = view.table()
    if not isinstance(found, dict):
        return found if type(found) is pa.Table else pa.table(found)
    return pa.table({name: _column(name, column) for name, column in found.items()})


def _column(name: str, column: Any) -> Any:
    if isinstance(column, list) and MISSING in column:
        column = [None if cell is MISSING else cell for cell in column]
    try:
        return pa.array(column, from_pandas=False)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"Arrow has no type for the column {name!r}: {error}") from error


HANDERS["arrow"] = from_view
