"""A column of pandas (what a Series or an Index holds) <-> plain values.

    numpy dtypes        the array itself; of objects, its elements one by one
    all others          {"kind": ..., and what the kind is made of}

Strategy: a column is what its public constructor takes: values and mask, codes and categories, ordinals and frequency;
nothing of how a version of pandas keeps it. What is read is put through that constructor, which checks it. Categories
are an index, which is made of columns, so whoever takes a column apart says how an index is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from npser.adapters.pandas_rules import inner_index, inner_state, refuse
from npser.adapters.pandas_text import build_objects, build_strings, chunked, object_state, strings_state
from npser.adapters.pandas_times import build_periods, build_zoned, periods_state, zoned_state
from npser.adapters.rooms import Room

__all__ = ["ARRAYS", "build_column", "column_state"]

Array = np.ndarray[Any, Any]
State = dict[str, Any]
IndexState = Callable[[Any], State]
BuildIndex = Callable[[Any], Any]
MASKED = {
    "i": pd.arrays.IntegerArray,
    "u": pd.arrays.IntegerArray,
    "f": pd.arrays.FloatingArray,
    "b": pd.arrays.BooleanArray,
}
MASKED_DTYPES = (
    pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype, pd.UInt8Dtype, pd.UInt16Dtype, pd.UInt32Dtype,
    pd.UInt64Dtype, pd.Float32Dtype, pd.Float64Dtype, pd.BooleanDtype,
)  # fmt: skip

ARRAYS: Final = (
    *dict.fromkeys(MASKED.values()), pd.Categorical, pd.arrays.StringArray, pd.arrays.ArrowStringArray,
    pd.arrays.DatetimeArray, pd.arrays.TimedeltaArray, pd.arrays.PeriodArray, pd.arrays.IntervalArray,
)  # fmt: skip
"""The classes of arrays that pandas makes of columns."""


def column_state(array: Any, index_state: IndexState) -> Any:
    """What the array of a Series or an Index (as `.array` gives it) is made of."""
    dtype = array.dtype
    if type(array) is pd.arrays.NumpyExtensionArray or isinstance(dtype, np.dtype):
        items = np.asarray(array)
        return object_state(items) if items.dtype == object else items
    found = _STATES.get(type(dtype))
    if found is None:
        raise refuse(f"the dtype {dtype}", "only numpy's dtypes and pandas' own are kept, and of these no sparse ones")
    return {"kind": found[0], **found[1](array, index_state)}


def build_column(state: Any, build_index: BuildIndex, room: Room) -> Any:
    """The array that a state was made of: a numpy array, or one of pandas."""
    if type(state) is np.ndarray:
        if state.ndim != 1:
            raise ValueError(f"a column of {state.ndim} dimensions")
        return state
    if state["kind"] == "string":
        return build_strings(state, room)
    return _BUILDS[state["kind"]](state, build_index)


def _masked_state(array: Any, index_state: IndexState) -> State:
    mask = np.asarray(array.isna())
    return {"values": array.to_numpy(dtype=array.dtype.numpy_dtype, na_value=array.dtype.type(0)), "mask": mask}


def _build_masked(state: State, build_index: BuildIndex) -> Any:
    return MASKED[state["values"].dtype.kind](state["values"], state["mask"])


def _category_state(array: Any, index_state: IndexState) -> State:
    return {
        "codes": np.asarray(array.codes),
        "categories": inner_state(array.categories, index_state),
        "ordered": bool(array.ordered),
    }


def _build_category(state: State, build_index: BuildIndex) -> Any:
    dtype = pd.CategoricalDtype(inner_index(state["categories"], build_index), ordered=state["ordered"] is True)
    return pd.Categorical.from_codes(state["codes"], dtype=dtype)


def _interval_state(array: Any, index_state: IndexState) -> State:
    left, right = index_state(array.left), index_state(array.right)
    return {"left": left, "right": right, "closed": array.closed}


def _build_interval(state: State, build_index: BuildIndex) -> Any:
    left, right = inner_index(state["left"], build_index), inner_index(state["right"], build_index)
    return pd.arrays.IntervalArray.from_arrays(left, right, state["closed"])


def _arrow_state(array: Any, index_state: IndexState) -> State:
    from npser.adapters.arrow_arrays import array_state

    return {"values": array_state(chunked(array))}


def _build_arrow(state: State, build_index: BuildIndex) -> Any:
    import pyarrow as pa

    from npser.adapters.arrow_arrays import build_array

    return pd.arrays.ArrowExtensionArray(pa.chunked_array([build_array(state["values"])]))


_STATES: Final[dict[type, tuple[str, Callable[[Any, IndexState], State]]]] = {
    pd.StringDtype: ("string", strings_state),
    pd.CategoricalDtype: ("category", _category_state),
    pd.DatetimeTZDtype: ("zoned", zoned_state),
    pd.PeriodDtype: ("period", periods_state),
    pd.IntervalDtype: ("interval", _interval_state),
    pd.ArrowDtype: ("arrow", _arrow_state),
    **dict.fromkeys(MASKED_DTYPES, ("masked", _masked_state)),
}

_BUILDS: Final[dict[str, Callable[[State, BuildIndex], Any]]] = {
    "object": build_objects,
    "category": _build_category,
    "zoned": build_zoned,
    "period": build_periods,
    "interval": _build_interval,
    "arrow": _build_arrow,
    "masked": _build_masked,
}
