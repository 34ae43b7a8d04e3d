"""Some columns of a DataFrame, out of a view of it.

Strategy: the payload has each column apart, and the labels of all; beside the columns wanted only the labels are read.
Of strings, as most are, they are strings of Python, and an index is made of the wanted ones only.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from npser.adapters.folding import find
from npser.adapters.pandas_frame import assembled, other_column
from npser.adapters.pandas_index import build_index
from npser.adapters.pandas_labels import places_of, plain_labels, with_labels
from npser.adapters.rooms import Room

__all__ = ["pick_columns"]


def pick_columns(view: Any, names: Iterable[Any]) -> Any:
    """Some columns of a frame, out of a view of it: the others are not decoded."""
    columns, chosen = _chosen(view["columns"].value(), names)
    index = build_index(view["index"].value())
    places, room = view["places"], Room()
    arrays = [_picked(view, block, row, room) for block, row in places[chosen].tolist()]
    return assembled(arrays, index, columns)


def _chosen(state: dict[str, Any], names: Iterable[Any]) -> tuple[Any, list[int]]:
    """An index of the labels that are wanted, and where they are."""
    items = plain_labels(state["values"]) if "values" in state else None
    if items is None:
        labels = build_index(state)
        listed = labels.tolist()
        chosen = [at for name in names for at in places_of(listed, name)]
        return labels.take(chosen), chosen
    chosen = [at for name in names for at in places_of(items, name)]
    wanted = with_labels(state["values"], [items[at] for at in chosen])
    return build_index({"values": wanted, "name": state["name"]}), chosen


def _picked(view: Any, block: int, row: int, room: Room) -> Any:
    if block < 0:
        rows, at = find(view["others"], row)
        other = rows[at]
        state = other if type(other) is np.ndarray else other.value()
        return other_column(state, lambda row: _row(view.state, "codes", row), room)
    rows, at = find(view["blocks"], block)
    return _row(rows, at, row)


def _row(view: Any, key: Any, row: int) -> Any:
    found = view.part(key, row)
    return view[key][row] if found is None else found
