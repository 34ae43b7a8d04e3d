"""pandas: after `register()`, dumps and loads keep DataFrame, Series, every Index, and pandas' own scalars.

    >>> import npser, pandas, npser.adapters.pandas
    >>> npser.adapters.pandas.register()
    >>> frame = pandas.DataFrame({"id": [1, 2], "name": ["ada", "bob"]})
    >>> data = npser.dumps(frame)
    >>> npser.loads(data).equals(frame), read_columns(data, ["id"])["id"].tolist()
    (True, [1, 2])

Strategy: only exactly these classes, by exact name: what a payload names is never imported, and subclasses are refused,
as all are that npser does not know. What a column is made of is in `pandas_columns`, a frame in `pandas_frame`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from npser.adapters.pandas_attrs import about, finish
from npser.adapters.pandas_columns import ARRAYS
from npser.adapters.pandas_frame import build_frame, frame_state
from npser.adapters.pandas_index import INDEXES, build_index, build_values, index_state, values_state
from npser.adapters.pandas_pick import pick_columns
from npser.adapters.pandas_rules import refuse
from npser.adapters.pandas_scalars import SCALARS
from npser.looking import view as _view
from npser.partial.base import HANDERS
from npser.shapes.patterns import MISSING
from npser.types.registry import register as _register

__all__ = ["from_view", "read_columns", "register"]


def register() -> None:
    """Make the classes of pandas known to `dumps` and to every `loads`; nothing else. May be called again."""
    classes = {
        "DataFrame": (pd.DataFrame, frame_state, build_frame),
        "Series": (pd.Series, series_state, build_series),
        **{kind.__name__: (kind, index_state, build_index) for kind in INDEXES},
        **{kind.__name__: (kind, _array_state, _build_array) for kind in ARRAYS},
        **SCALARS,
        **{kind.__name__: (kind, _refuse, _refuse) for kind in (type(pd.DataFrame()._mgr), type(pd.Series([])._mgr))},
    }
    for name, (cls, state, build) in classes.items():
        _register(cls, name=f"pandas.{name}", state=state, build=build)


def _refuse(inside: Any) -> Any:
    """What a class of one's own that inherits from a frame or a Series has inside."""
    raise refuse("a subclass of DataFrame or Series", "pandas' own class is: pandas.DataFrame(frame)")


def _array_state(array: Any) -> Any:
    return index_state(pd.Index(array))  # which has a frequency, if the array has


def _build_array(state: Any) -> Any:
    return build_index(state).array


def series_state(series: Any) -> dict[str, Any]:
    """What a Series is made of."""
    return {
        "index": index_state(series.index),
        "values": values_state(series.array),
        "name": series.name,
        **about(series),
    }


def build_series(state: Any) -> Any:
    """The Series that a state was made of."""
    values, index = build_values(state["values"]), build_index(state["index"])
    if len(values) != len(index):
        raise ValueError("a Series whose values do not fit its labels")
    return finish(pd.Series(values, index, dtype=values.dtype, name=state["name"], copy=False), state)


def read_columns(data: Any, columns: Iterable[Any], **options: Any) -> Any:
    """Some columns of a frame in a payload, as a frame: the others are not decoded.

    Parameters
    ----------
    data : buffer
        What `dumps` gave for a DataFrame.
    columns : iterable of labels
    options
        Of `npser.view`.

    Raises
    ------
    KeyError
        There is no such column.
    DecodeError
        The payload is damaged, or holds something else.
    """
    return from_view(_view(data, **options), columns=columns)


def from_view(view: Any, *, columns: Iterable[Any] | None = None) -> Any:
    """A DataFrame of the columns of a view: of a list of dicts, of a record batch, of a dict of columns, of a frame.

    Numbers and bools come straight out of their blocks. None and what a row does not have are None in a column of
    objects; of text, they are what pandas takes for missing there.
    """
    names = None if columns is None else list(columns)
    if names is not None and getattr(view, "kind", None) == "pandas.DataFrame":
        return pick_columns(view, names)
    found = view.table() if names is None else {name: _whole(view[name]) for name in names}
    if not isinstance(found, dict):
        return found if type(found) is pd.DataFrame else pd.DataFrame(found)
    return pd.DataFrame({name: _column(column) for name, column in found.items()}, copy=False)


def _whole(found: Any) -> Any:
    return found.value() if hasattr(found, "value") else found


def _column(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column
    kinds = set(map(type, column))
    if kinds <= {str, type(None)} and str in kinds:
        return pd.Series(column)
    out = np.empty(len(column), object)
    out[:] = [None if cell is MISSING else cell for cell in column]
    return pd.Series(out, dtype=object, copy=False)


HANDERS["pandas"] = from_view
