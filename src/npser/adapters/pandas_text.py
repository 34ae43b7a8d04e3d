"""Columns of strings of pandas, of objects and of its own dtypes <-> the plain values that `arrow_text` describes.

Strategy: what repeats is codes, so that each string is made once; what does not is a list of strings and None. Arrays
with anything else in them are none of these, and are kept element by element.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from npser.adapters import arrow_text
from npser.adapters.arrow_text import MIN_REPEATS, SAMPLE, codes_of, joined_bytes, may_repeat
from npser.adapters.rooms import Room

__all__ = ["KINDS", "as_objects", "build_objects", "build_strings", "chunked", "object_state", "strings_state"]

State = dict[str, Any]
Array = np.ndarray[Any, Any]
TYPES = {str, type(None)}

KINDS = frozenset({"string", "object"})
"""The kinds of columns that may be strings."""


def from_objects(items: Array) -> dict[str, Any] | None:
    """The state of an array of strings, and of either None or `np.nan` itself, which it says; None for any other."""
    listed = items.tolist()
    kinds = set(map(type, listed))
    if str not in kinds or not kinds <= {str, type(None), float} or len(kinds) > 2:
        return None
    marks: dict[str, Any] = {}
    if float in kinds:
        if any(type(item) is float and item is not np.nan for item in listed):
            return None
        marks["nan"] = True
    sample = listed[:: max(1, len(listed) // SAMPLE)]
    if may_repeat(len(set(sample)), len(sample), len(listed)):
        codes, values = pd.factorize(items)
        if len(values) * MIN_REPEATS <= len(items):
            state = {"values": list(values), "codes": codes.astype("<i4"), **marks}
            # pandas takes a lone surrogate for its repr, and before 3 strings for one that differ behind a NUL
            if as_objects(state, np.nan if marks else None).tolist() == listed:
                return state
    return {"items": [item if type(item) is str else None for item in listed], **marks}


def as_objects(state: dict[str, Any], missing: Any) -> Array:
    """(n,) objects: strings, and `missing`."""
    if "codes" in state:
        values, codes = _values(state), codes_of(state["codes"])
        if codes.size and not -1 <= int(codes.min()) <= int(codes.max()) < len(values):
            raise ValueError("a code of a string that there is not")
        table = np.empty(len(values) + 1, object)
        table[:-1] = values
        table[-1] = missing
        return table.take(codes)
    items = _joined_items(state) if "bytes" in state else state["items"]
    if type(items) is not list or not TYPES.issuperset(map(type, items)):
        raise TypeError("the items of a column of strings are strings and None")
    out = np.empty(len(items), object)
    out[:] = items if None not in items else [missing if item is None else item for item in items]
    return out


def _joined_items(state: dict[str, Any]) -> list[str | None]:
    data, lengths = joined_bytes(state).tobytes(), codes_of(state["lengths"])
    ends = np.maximum(lengths, 0).cumsum().tolist()
    if (ends[-1] if ends else 0) != len(data):
        raise ValueError("lengths that do not add up to the bytes")
    starts = [0, *ends[:-1]]
    return [
        None if length < 0 else data[start:end].decode()
        for start, end, length in zip(starts, ends, lengths.tolist(), strict=bool(ends))
    ]


def _values(state: dict[str, Any]) -> list[str]:
    values = state["values"]
    if type(values) is not list or not {str}.issuperset(map(type, values)):
        raise TypeError("the values of a column of strings are a list of strings")
    return values


def object_state(items: Array) -> Any:
    """An array of objects: as strings if it is one of these, else itself."""
    text = from_objects(items)
    return items if text is None else {"kind": "object", **text}


def build_objects(state: State, _build_index: Any) -> Array:
    """The array."""
    return as_objects(state, np.nan if state.get("nan") is True else None)


def strings_state(array: Any, _index_state: Any) -> State:
    """An array of one of the dtypes for strings."""
    storage = array.dtype.storage
    missing = "nan" if storage == "pyarrow_numpy" or getattr(array.dtype, "na_value", pd.NA) is not pd.NA else "NA"
    if storage == "python":
        text = from_objects(array.to_numpy(object, na_value=None))
        text = {"items": [None] * len(array)} if text is None else text
    else:
        from npser.adapters.arrow_sound import check

        found = chunked(array)
        check(found)
        storage, text = "pyarrow", arrow_text.from_arrow(found)
    return {"storage": storage, "missing": missing, **text}


def chunked(array: Any) -> Any:
    """The pyarrow ChunkedArray that an array of pandas holds."""
    import pyarrow as pa

    found = array.__arrow_array__()
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def build_strings(state: State, room: Room) -> Any:
    """The array."""
    storage, missing = state["storage"], state["missing"]
    if storage not in ("python", "pyarrow") or missing not in ("nan", "NA"):
        raise ValueError("strings of a kind that there is not")
    dtype = pd.StringDtype(storage) if missing == "NA" else pd.StringDtype(storage, na_value=np.nan)
    if storage == "python":
        return pd.array(as_objects(state, dtype.na_value), dtype=dtype)
    import pyarrow as pa

    return dtype.__from_arrow__(arrow_text.as_arrow(state, room, pa.large_string()))
