"""Some columns of a DataFrame, out of a view of it.

Strategy: the payload has each column apart, and the labels of all; beside the columns wanted only the labels are read.
Of strings, as most are, they are strings of Python, and an index is made of the wanted ones only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from npser.adapters.folding import find
from npser.adapters.pandas_frame import assembled, other_column
from npser.adapters.pandas_index import build_index
from npser.adapters.pandas_labels import places_of, plain_labels, with_labels
from npser.adapters.rooms import Room
from npser.errors import DecodeError, NpserError

__all__ = ["pick_columns"]


def pick_columns(view: Any, names: Iterable[Any]) -> Any:
    """Some columns of a frame, out of a view of it: the others are not decoded."""
    with _damage_is_a_decode_error():
        state, room = view["columns"].value(), Room()
        labels, index_of = _labels(state)
    chosen = [at for name in names for at in places_of(labels, name)]
    with _damage_is_a_decode_error():
        index = build_index(view["index"].value())
        arrays = [_picked(view, block, row, room) for block, row in view["places"][chosen].tolist()]
        return assembled(arrays, index, index_of(chosen))


@contextmanager
def _damage_is_a_decode_error() -> Iterator[None]:
    """As `loads` has it, for which what builds an object may raise anything."""
    try:
        yield
    except (NpserError, MemoryError):
        raise
    except Exception as error:
        raise DecodeError(f"the parts of a DataFrame do not fit each other: {error!r}") from error


def _labels(state: dict[str, Any]) -> tuple[list[Any], Callable[[list[int]], Any]]:
    """All labels, and what makes an index of some of them."""
    items = plain_labels(state["values"]) if "values" in state else None
    if items is None:
        labels = build_index(state)
        return labels.tolist(), labels.take

    def index_of(chosen: list[int]) -> Any:
        wanted = with_labels(state["values"], [items[at] for at in chosen])
        return build_index({"values": wanted, "name": state["name"]})

    return items, index_of


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
