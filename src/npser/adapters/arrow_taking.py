"""Strings by codes -> an array of Arrow, in memory that a `Room` hands out.

Strategy: distinct strings of one length are rows of a table, and a column is taken from it without a look at each;
its offsets are a ramp. What is not of one length, or has nulls, goes through pyarrow, which looks at each string.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npser.adapters.arrow_rows import CHUNK, table_of
from npser.adapters.rooms import Room

__all__ = ["Strings", "bounds_of", "distinct_strings", "taken"]

Array = np.ndarray[Any, Any]


class Strings(NamedTuple):
    """Distinct strings, or byte strings."""

    data: Array  # (bytes of all,) uint8
    lengths: Array  # (d,) integers

    def as_arrow(self, kind: Any) -> Any:
        """The same as an array of pyarrow."""
        import pyarrow as pa

        bounds = bounds_of(self.lengths, self.data.size)
        data = pa.py_buffer(np.ascontiguousarray(self.data))
        made = pa.Array.from_buffers(kind, self.lengths.size, [None, pa.py_buffer(bounds), data])
        made.validate(full=True)
        return made


def distinct_strings(values: Any, kind: type) -> Strings:
    """Of a list of strings, or of byte strings, which `kind` says.

    >>> distinct_strings(["a", "bc"], str).lengths
    array([1, 2])
    """
    if type(values) is not list or not {kind}.issuperset(map(type, values)):
        raise TypeError("values of another type")
    parts = values
    if kind is str:
        joined = "".join(values)
        if joined.isascii():
            return Strings(np.frombuffer(joined.encode(), "u1"), np.fromiter(map(len, values), "<i8", len(values)))
        parts = [value.encode() for value in values]
    return Strings(np.frombuffer(b"".join(parts), "u1"), np.fromiter(map(len, parts), "<i8", len(parts)))


def bounds_of(lengths: Array, size: int) -> Array:
    """(n,) lengths that add up to `size` -> (n + 1,) int64: where each begins, and the end.

    >>> bounds_of(np.array([1, 2]), 3)
    array([0, 1, 3])
    """
    bounds = np.zeros(lengths.size + 1, "<i8")
    np.cumsum(lengths, out=bounds[1:])
    if int(bounds[-1]) != size or not bool((bounds[1:] >= bounds[:-1]).all()):  # a sum that wraps falls on its way
        raise ValueError("lengths that do not add up to the bytes")
    return bounds


def taken(strings: Strings, codes: Array, room: Room, kind: Any) -> Any:
    """A pyarrow Array of large strings or byte strings by codes, of which a negative one is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    least, most = (int(codes.min()), int(codes.max())) if codes.size else (0, -1)
    if most >= strings.lengths.size:
        raise ValueError("a code of a string that there is not")
    size = _length_of_all(strings) if 0 <= least <= most else 0
    if size:
        return pa.Array.from_buffers(kind, codes.size, [None, *map(pa.py_buffer, _even(strings, size, codes, room))])
    codes = np.ascontiguousarray(codes, codes.dtype.newbyteorder("="))
    valid = None if least >= 0 else pa.py_buffer(np.packbits(codes >= 0, bitorder="little"))
    indices = pa.Array.from_buffers(pa.from_numpy_dtype(codes.dtype), codes.size, [valid, pa.py_buffer(codes)])
    return pc.take(strings.as_arrow(kind), indices, boundscheck=False)  # done above, but for what is null


def _length_of_all(strings: Strings) -> int:
    """The one length that all of them have; else 0."""
    size = int(strings.lengths[0])
    return size if bool((strings.lengths == size).all()) else 0


def _even(strings: Strings, size: int, codes: Array, room: Room) -> tuple[Array, Array]:
    """Offsets and bytes of strings that are all of one length."""
    n, table = codes.size, table_of(strings.data.reshape(-1, size), codes.size)
    data = room.take(n * size, "u1")
    for at in range(0, n, CHUNK):
        table.take(codes[at : at + CHUNK], data[at * size : (at + CHUNK) * size])
    return room.ramp(n + 1, size), data
