"""polars: after `register()`, dumps and loads keep DataFrame and Series.

    >>> import npser, polars, npser.adapters.polars
    >>> npser.adapters.polars.register()
    >>> frame = polars.DataFrame({"id": [1, 2, None], "name": ["ada", "bob", "ada"]})
    >>> npser.loads(npser.dumps(frame)).equals(frame)
    True

Strategy: a frame is its height, its names and its Series. What has an Arrow C stream (pyarrow, pandas, duckdb) becomes
a frame without a copy: `from_stream`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from npser.adapters.folding import fold, unfold
from npser.adapters.polars_series import build_series, series_state
from npser.errors import EncodeError
from npser.partial.base import HANDERS
from npser.shapes.patterns import MISSING
from npser.types.registry import register as _register

__all__ = ["from_stream", "from_view", "register"]


def register() -> None:
    """Make the classes of polars known to `dumps` and to every `loads`; nothing else. May be called again."""
    _register(pl.DataFrame, name="polars.DataFrame", state=_frame_state, build=_build_frame)
    _register(pl.Series, name="polars.Series", state=_named_state, build=_build_named)
    _register(pl.LazyFrame, name="polars.LazyFrame", state=_refuse, build=_refuse)


def _refuse(inside: Any) -> Any:
    raise EncodeError("npser.adapters.polars does not keep a LazyFrame: it is a plan, and no data; collect() it")


def _frame_state(frame: Any) -> dict[str, Any]:
    return {"height": frame.height, "names": frame.columns, "series": fold(map(series_state, frame.get_columns()))}


def _build_frame(state: Any) -> Any:
    names, made, height = state["names"], list(map(build_series, unfold(state["series"]))), state["height"]
    if type(names) is not list or len(names) != len(made) or len(set(names)) != len(names):
        raise ValueError("names that do not fit the columns")
    if type(height) is not int or any(len(series) != height for series in made):
        raise ValueError("columns of another height")
    if not made and height:
        return pl.DataFrame(height=height)
    return pl.DataFrame(dict(zip(names, made, strict=True)))


def _named_state(series: Any) -> dict[str, Any]:
    return {"name": series.name, **series_state(series)}


def _build_named(state: Any) -> Any:
    return build_series(state).alias(state["name"])


def from_stream(value: Any) -> Any:
    """A DataFrame of anything with ``__arrow_c_stream__``; TypeError where it has none."""
    if not hasattr(value, "__arrow_c_stream__"):
        raise TypeError(f"a {type(value).__name__} has no Arrow stream")
    return pl.DataFrame(value)


def from_view(view: Any) -> Any:
    """A DataFrame of the columns of a view: of a list of dicts, a record batch, a dict of columns, a frame.

    None, and what a row does not have, is null; NaN is NaN.

    Raises
    ------
    TypeError
        There are no columns, or polars has no dtype for one of them.
    """
    found = view.table()
    if not isinstance(found, dict):
        return found if type(found) is pl.DataFrame else pl.DataFrame(found)
    return pl.DataFrame([_column(name, column) for name, column in found.items()])


def _column(name: str, column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return pl.Series(name, column)
    try:
        return pl.Series(name, [None if cell is MISSING else cell for cell in column], strict=True)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"polars has no dtype for the column {name!r}: {error}") from error


HANDERS["polars"] = from_view
