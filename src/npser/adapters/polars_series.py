"""A Series of polars <-> plain values, by way of polars alone.

    {"dtype": name, or name and parameters; "valid": bools, if there are nulls; and by dtype:}
    values      numbers, bools, and times as polars counts them; 0 where there is none
    codes       int32 into `texts`, -1 where there is none: strings that repeat, categories, enums
    items       strings that do not, byte strings, decimals: a list
    none        how many nulls, of the dtype that has nothing else

Strategy: as in Arrow, what is stored is the values and not the layout. Nested dtypes, objects and integers of 128 bits
are refused: polars gives their parts to nobody without loss. Lists and structs go by way of Arrow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import polars as pl

from npser.adapters.arrow_text import MIN_REPEATS, SAMPLE, codes_of, may_repeat
from npser.adapters.polars_decimals import decimals_of
from npser.errors import EncodeError

__all__ = ["build_series", "series_state"]

State = dict[str, Any]

NUMBERS: Final = (
    "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64",
    "Boolean", "Date", "Time",
)  # fmt: skip
PLAIN: Final = {name: getattr(pl, name) for name in (*NUMBERS, "String", "Binary", "Categorical", "Null")}

MADE: Final[dict[str, tuple[Callable[[Any], tuple[Any, ...]], Callable[..., Any]]]] = {
    "Datetime": (lambda dtype: (dtype.time_unit, dtype.time_zone), pl.Datetime),
    "Duration": (lambda dtype: (dtype.time_unit,), pl.Duration),
    "Decimal": (lambda dtype: (dtype.precision, dtype.scale), pl.Decimal),
    "Enum": (lambda dtype: (dtype.categories.to_list(),), pl.Enum),
}


def _dtype_state(dtype: Any) -> Any:
    name = type(dtype).__name__
    if name in MADE:
        return (name, *MADE[name][0](dtype))
    if name in PLAIN and dtype == PLAIN[name]():
        return name
    raise EncodeError(
        f"npser.adapters.polars does not keep the dtype {dtype}: numbers, times, text, bytes, decimals, categories and "
        "enums are kept; frame.to_arrow() has lists and structs"
    )


def _build_dtype(state: Any) -> Any:
    if type(state) is str:
        return PLAIN[state]()
    name, *parameters = state
    return MADE[name][1](*parameters)


def series_state(series: Any) -> State:
    """What a Series is made of, but for its name."""
    name = type(series.dtype).__name__
    state: State = {"dtype": _dtype_state(series.dtype)}
    if name == "Null":
        return state | {"none": [None] * len(series)}
    if name in ("Binary", "Decimal"):
        return state | {"items": series.to_list()}
    if name in ("String", "Categorical", "Enum"):
        return state | (_text_state(series) if name == "String" else _coded(series.cast(pl.String), _distinct(series)))
    if series.null_count():
        state["valid"] = series.is_not_null().to_numpy()
        series = series.to_physical().fill_null(strategy="zero") if name != "Boolean" else series.fill_null(value=False)
    return state | {"values": series.to_physical().to_numpy()}


def _text_state(texts: Any) -> State:
    n = len(texts)
    sample = texts.gather_every(max(1, n // SAMPLE))
    if may_repeat(sample.n_unique(), len(sample), n):
        distinct = _distinct(texts)
        if len(distinct) * MIN_REPEATS <= n:
            return _coded(texts, distinct)
    return {"items": texts.to_list()}


def _distinct(texts: Any) -> Any:
    return texts.cast(pl.String).drop_nulls().unique(maintain_order=True)


def _coded(texts: Any, distinct: Any) -> State:
    numbers = pl.Series(np.arange(len(distinct), dtype="i4"))
    codes = texts.replace_strict(distinct, numbers, default=None, return_dtype=pl.Int32)
    return {"texts": distinct.to_list(), "codes": codes.fill_null(-1).to_numpy()}


def build_series(state: State) -> Any:
    """The Series, without a name."""
    dtype = _build_dtype(state["dtype"])
    name = type(dtype).__name__
    if name == "Null":
        made = pl.Series([None] * _count(state["none"]), dtype=dtype)
    elif name == "Binary":
        made = pl.Series(state["items"], dtype=dtype, strict=True)
    elif name == "Decimal":
        made = pl.Series(decimals_of(state["items"], dtype.precision, dtype.scale), dtype=dtype, strict=True)
    elif name in ("String", "Categorical", "Enum"):
        made = _texts(state).cast(dtype)
    else:
        made = _numbers(state, name, dtype)
    if made.dtype != dtype:
        raise TypeError(f"a Series of {made.dtype} in the place of {dtype}")
    return made


def _count(nones: Any) -> int:
    if type(nones) is not list or any(item is not None for item in nones):
        raise TypeError("nulls are a list of None")
    return len(nones)


def _texts(state: State) -> Any:
    if "items" in state:
        return pl.Series(state["items"], dtype=pl.String, strict=True)
    texts, codes = pl.Series(state["texts"], dtype=pl.String, strict=True), codes_of(state["codes"])
    if codes.size and not -1 <= int(codes.min()) <= int(codes.max()) < len(texts):
        raise ValueError("a code of a string that there is not")
    numbers = pl.Series(codes)
    return texts.gather(numbers if codes.size and int(codes.min()) >= 0 else numbers.replace(-1, None))


def _numbers(state: State, name: str, dtype: Any) -> Any:
    values, valid = state["values"], state.get("valid")
    kind = pl.Series([], dtype=dtype).to_physical().to_numpy().dtype
    if type(values) is not np.ndarray or values.dtype != kind or values.ndim != 1:
        raise TypeError(f"the values of {name} are an array of {kind}")
    made = pl.Series(values).cast(dtype)
    if valid is None:
        return made
    if type(valid) is not np.ndarray or valid.dtype != bool or valid.shape != values.shape:
        raise TypeError("validity is an array of bools, one for each")
    return pl.select(pl.when(pl.Series(valid)).then(made)).to_series()
