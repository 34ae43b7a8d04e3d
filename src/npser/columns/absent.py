"""None among the values of a column: those that are there, dense, and which they are -> all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npser.blocks.shared_ints import to_list, to_objects
from npser.blocks.stretches import STRETCH

__all__ = ["spread", "spread_lists", "with_nones"]

FEW_ABSENT = 8
"""Where fewer than one item in so many is absent, slices between those are faster than an array of objects."""

FEW_ABSENT_NUMBERS = 20
"""The same for numbers, which are spread as such if few are absent, and made objects all at once."""


def spread(dense: NDArray[Any], present: NDArray[np.bool_]) -> list[Any]:
    """The dense numbers, with None at the absent places."""
    n = present.size
    out: list[Any]
    if (n - dense.size) * FEW_ABSENT_NUMBERS > n:
        objects = np.empty(n, object)  # born as n times None
        objects[present] = to_objects(dense)
        out = objects.tolist()
    else:
        numbers = np.zeros(n, dense.dtype)
        numbers[present] = dense
        out = to_list(numbers)
        for index in np.flatnonzero(~present).tolist():
            out[index] = None
    return out


def spread_lists(dense: NDArray[Any], present: NDArray[np.bool_]) -> Iterator[list[Any]]:
    """The same a stretch at a time."""
    at = 0
    for start in range(0, present.size, STRETCH):
        there = present[start : start + STRETCH]
        stop = at + int(np.count_nonzero(there))
        yield spread(dense[at:stop], there)
        at = stop


def with_nones(dense: list[Any], present: NDArray[np.bool_]) -> list[Any]:
    """The dense values, with None at the absent places."""
    n = present.size
    absent: list[int] = np.flatnonzero(~present).tolist()
    if len(absent) * FEW_ABSENT > n:
        objects = np.empty(n, object)  # born as n times None
        objects[present] = np.fromiter(dense, object, len(dense))
        return objects.tolist()
    out: list[Any] = []
    start = 0
    for before, index in enumerate(absent):
        stop = index - before
        out += dense[start:stop]
        out.append(None)
        start = stop
    return out + dense[start:]
