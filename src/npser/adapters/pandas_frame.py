"""A DataFrame of pandas <-> plain values.

    columns, index  indexes
    blocks          (k, n) arrays, one for each of numpy's dtypes, whose rows are the columns of that dtype
    others          columns of their own
    codes           (k, n) array, where several columns are codes of strings: each of these has the number of its row
    places          (columns, 2): the block and the row of each column, or -1 and its number among the others
    attrs, unique   if there are any, or if labels must not come twice

Strategy: nothing of how a version of pandas lays a frame out in memory. The rows of a large array are blocks of their
own in the payload, so that one column can be read without the others, and all of them into memory asked for once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from npser.adapters.folding import fold, unfold
from npser.adapters.pandas_attrs import about, finish
from npser.adapters.pandas_index import build_index, build_values, index_state, values_state
from npser.adapters.pandas_text import KINDS
from npser.adapters.rooms import Room

__all__ = ["assembled", "build_frame", "frame_state", "other_column"]

BLOCKS = frozenset("biufcMm")
"""The kinds of numpy's dtypes whose columns lie together."""

Array = np.ndarray[Any, Any]


def frame_state(frame: Any) -> dict[str, Any]:
    """What a DataFrame is made of."""
    groups: dict[np.dtype[Any], list[int]] = {}
    others: list[Any] = []
    places = np.empty((frame.shape[1], 2), "<i4")
    for at, dtype in enumerate(frame.dtypes):
        if isinstance(dtype, np.dtype) and dtype.kind in BLOCKS:
            groups.setdefault(dtype, []).append(at)
        else:
            places[at] = -1, len(others)
            others.append(values_state(frame.iloc[:, at].array))
    for number, group in enumerate(groups.values()):
        places[group, 0], places[group, 1] = number, np.arange(len(group))
    return {
        "columns": index_state(frame.columns),
        "index": index_state(frame.index),
        "blocks": fold(_block(frame, group) for group in groups.values()),
        **_with_codes(others),
        "places": places,
        **about(frame),
    }


def _block(frame: Any, members: list[int]) -> Array:
    if len(members) == frame.shape[1]:
        return np.ascontiguousarray(frame.to_numpy().T)
    block = np.empty((len(members), len(frame)), frame.dtypes.iloc[members[0]])  # np.stack would turn the bytes around
    for row, at in enumerate(members):
        block[row] = frame.iloc[:, at].to_numpy()
    return block


def _with_codes(others: list[Any]) -> dict[str, Any]:
    states = [other if type(other) is dict and other["kind"] in KINDS else {} for other in others]
    rows = [at for at, state in enumerate(states) if "codes" in state]
    if len(rows) < 2:
        return {"others": fold(others)}
    codes = np.stack([others[at]["codes"] for at in rows])
    for row, at in enumerate(rows):
        others[at] = {**others[at], "codes": row}
    return {"others": fold(others), "codes": codes}


def other_column(state: Any, row: Callable[[int], Any], room: Room) -> Any:
    """A column of its own; `row` gives a row of the codes."""
    if type(state) is dict and type(state.get("codes")) is int:
        state = {**state, "codes": row(state["codes"])}
    return build_values(state, room)


def build_frame(state: Any) -> Any:
    """The DataFrame that a state was made of."""
    columns, index = build_index(state["columns"]), build_index(state["index"])
    blocks, places = unfold(state["blocks"]), state["places"]
    if any(type(block) is not np.ndarray or block.ndim != 2 or block.shape[1] != len(index) for block in blocks):
        raise ValueError("a block that does not fit the labels")
    if places.shape != (len(columns), 2):
        raise ValueError("places that do not fit the labels")
    if len(blocks) == 1 and np.array_equal(places, [(0, row) for row in range(len(blocks[0]))]):
        return finish(pd.DataFrame(blocks[0].T, index, columns, copy=False), state)
    room = Room()
    others = [other_column(other, lambda row: state["codes"][row], room) for other in unfold(state["others"])]
    found = [others[row] if block < 0 else blocks[block][row] for block, row in places.tolist()]
    return finish(assembled(found, index, columns), state)


def assembled(arrays: list[Any], index: Any, columns: Any) -> Any:
    """A frame of columns, an index, and the labels of the columns."""
    if any(len(array) != len(index) for array in arrays):
        raise ValueError("a column that does not fit the labels")
    data = {at: _kept(array, index) for at, array in enumerate(arrays)}
    frame = pd.DataFrame(data, index, copy=False) if data else pd.DataFrame(index=index)
    frame.columns = columns
    return frame


def _kept(array: Any, index: Any) -> Any:
    """As it is: pandas would make strings of objects that all are."""
    return pd.Series(array, index, dtype=object, copy=False) if array.dtype == object else array
