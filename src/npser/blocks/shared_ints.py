"""Lists of ints whose small ones are shared: one object for each value, however many lists it is in.

Strategy: CPython keeps one object for each int from -5 to 256, and makes a new one for any other: 32 bytes each, and
most of the time that a column of them takes. What columns hold are hours, ages, counts and years, so a table of some
thousand more is made the first time that a list is long enough to need it, and lists are taken out of that.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ramp_cells", "ramp_list", "to_list", "to_objects"]

LOW, END = -1024, 10_240
"""The values of the table, which takes 450 kB; more of them would not stay in a processor's cache;
benchmarks/thresholds.py::sweep_shared, as for all that follows."""

CACHED = range(-5, 257)
"""CPython has these, and finds them sooner."""

MIN_TAKEN = 768
"""Items from which a list is taken out of the table where its bounds are known."""

MIN_LOOKED_AT = 2048
"""Items from which it pays to look for the bounds, if three of them are in the table."""

MIN_RAMP = 32
"""Items of an arithmetic sequence from which a slice is faster than a range."""

ANY: Final = (-(1 << 63), (1 << 63) - 1)

CHUNK = 1 << 14
"""So many are taken at a time: what numpy needs in between stays small, and in the cache."""


class _Table(NamedTuple):
    """The shared ints, twice: to slice, and to take from."""

    items: list[int]
    objects: NDArray[np.object_]


@cache
def _table() -> _Table:
    items = list(range(LOW, END))
    objects = np.empty(len(items), object)
    objects[:] = items
    return _Table(items, objects)


def to_list(values: NDArray[Any], bounds: tuple[int, int] = ANY) -> list[Any]:
    """(n,) integers -> list of n ints, and what else numpy makes objects of -> a list of those.

    Parameters
    ----------
    bounds : (int, int), optional
        The least and the most that any of the integers can be, where that is known.

    >>> to_list(np.array([3, 1000, -7]))
    [3, 1000, -7]
    >>> many = to_list(np.full(5000, 1000))
    >>> many[0] is many[-1]
    True
    """
    if not _are_shared(values, bounds):
        made: list[Any] = values.tolist()  # numpy's stubs do not know that it is one
        return made
    if values.size <= CHUNK:
        return _taken(values).tolist()  # type: ignore[no-any-return]
    out: list[Any] = []
    for at in range(0, values.size, CHUNK):
        out += _taken(values[at : at + CHUNK]).tolist()
    return out


def to_objects(values: NDArray[Any]) -> NDArray[Any]:
    """(n,) numbers -> (n,) objects if they are integers that are shared, else the same array."""
    return _taken(values) if _are_shared(values, ANY) else values


def _are_shared(values: NDArray[Any], bounds: tuple[int, int]) -> bool:
    """Whether to take them from the table is possible, and faster."""
    if values.size < MIN_TAKEN or values.dtype.kind != "i":
        return False
    low, high = bounds
    if low < LOW or high >= END:
        if values.size < MIN_LOOKED_AT or not all(LOW <= value < END for value in values[:: values.size // 2].tolist()):
            return False
        low, high = int(values.min()), int(values.max())
    return low >= LOW and high < END and not (low in CACHED and high in CACHED)


def _taken(values: NDArray[np.signedinteger]) -> NDArray[Any]:
    taken: NDArray[Any] = _table().objects.take(np.subtract(values, LOW, dtype=np.intp))
    return taken


def ramp_list(base: int, step: int, n: int) -> list[int]:
    """The n ints base, base + step, base + 2*step, ..., for a step other than 0.

    >>> ramp_list(10, -2, 4)
    [10, 8, 6, 4]
    """
    cells = ramp_cells(base, step, n)
    return cells if type(cells) is list else list(cells)


def ramp_cells(base: int, step: int, n: int) -> list[int] | range:
    """The same, as a range where they are not in the table."""
    last = base + step * (n - 1)
    if n < MIN_RAMP or not (LOW <= base < END and LOW <= last < END):
        return range(base, base + step * n, step)
    stop = last - LOW + (1 if step > 0 else -1)
    return _table().items[base - LOW : stop if stop >= 0 else None : step]
