"""An Index of pandas <-> plain values.

    RangeIndex                      {"range": (start, stop, step), "name"}
    MultiIndex                      {"levels": [indexes], "codes": [arrays], "names"}
    all others                      {"values": a column, "name", and "freq" if there is one}

Strategy: which class an index has follows from its dtype, as it does in pandas, so the dtype is what is stored. A
frequency is its name, as `pandas_freq` says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from npser.adapters.pandas_columns import build_column, column_state
from npser.adapters.pandas_freq import freq_name, with_freq
from npser.adapters.pandas_rules import inner_index, inner_state, refuse
from npser.adapters.rooms import Room

__all__ = ["INDEXES", "build_index", "build_values", "index_state", "values_state"]

KEPT = {
    pd.Index, pd.CategoricalIndex, pd.IntervalIndex, pd.PeriodIndex, pd.DatetimeIndex, pd.TimedeltaIndex,
}  # fmt: skip
INDEXES = {*KEPT, pd.RangeIndex, pd.MultiIndex}
CODES = ("i1", "i2", "i4", "i8")


def values_state(array: Any) -> Any:
    """What the array of a Series or an Index is made of."""
    return column_state(array, index_state)


def build_values(state: Any, room: Room | None = None) -> Any:
    """The array that a state was made of."""
    return build_column(state, build_index, room or Room())


def index_state(index: Any) -> dict[str, Any]:
    """What an index is made of.

    >>> index_state(pd.RangeIndex(3))
    {'range': (0, 3, 1), 'name': None}
    """
    kind = type(index)
    if kind is pd.RangeIndex:
        return {"range": (index.start, index.stop, index.step), "name": index.name}
    if kind is pd.MultiIndex:
        levels = [inner_state(level.rename(None), index_state) for level in index.levels]
        return {"levels": levels, "codes": list(map(np.asarray, index.codes)), "names": list(index.names)}
    if kind not in KEPT:
        raise refuse(f"an index of the class {kind.__qualname__}", "only those of pandas itself are kept")
    state = {"values": values_state(index.array), "name": index.name}
    freq = getattr(index, "freq", None)
    if freq is not None and kind is not pd.PeriodIndex:
        state["freq"] = freq_name(index, lambda: pd.Index(build_values(state["values"])))
    return state


def build_index(state: Any) -> Any:
    """The index that a state was made of."""
    if "range" in state:
        start, stop, step = state["range"]
        return pd.RangeIndex(start, stop, step, name=state["name"])
    if "levels" in state:
        return _build_multi(state)
    values = build_values(state["values"])
    if "freq" in state:
        index = pd.Index(values, name=state["name"])
        if type(state["freq"]) is not str or type(index) not in (pd.DatetimeIndex, pd.TimedeltaIndex):
            raise TypeError("a frequency is the name of one, of times")
        return with_freq(index, state["freq"])
    return pd.Index(values, dtype=values.dtype, name=state["name"], copy=False)


def _build_multi(state: Any) -> Any:
    levels, codes = [inner_index(level, build_index) for level in state["levels"]], state["codes"]
    if any(type(part) is not np.ndarray or part.dtype.str[1:] not in CODES for part in codes):
        raise TypeError("the codes of a MultiIndex are arrays of integers")
    return pd.MultiIndex(levels=levels, codes=codes, names=state["names"])
