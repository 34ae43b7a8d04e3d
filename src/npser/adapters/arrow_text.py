"""Strings and byte strings of Arrow <-> plain values.

    coded   {"values": [each string once], or joined as below; "codes": int32, -1 where there is none}
    joined  {"bytes": uint8, all of the UTF-8; "lengths": int32 or int64 of each in bytes, -1 where there is none}
    listed  {"items": [strings and None]}, as `pandas_text` writes it

Strategy: what repeats is codes, as in a block of text, and goes from there to Arrow's memory without a Python string an
item; what does not repeat is its own bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npser.adapters.arrow_taking import Strings, bounds_of, distinct_strings, taken
from npser.adapters.rooms import Room

__all__ = ["as_arrow", "codes_of", "from_arrow", "joined_bytes", "may_repeat"]

SAMPLE = 4096
"""Strings looked at first: where hardly any of them is another one, too, no codes are made of all."""

MIN_REPEATS = 4
"""How often a string comes on average, to be worth a code."""

LISTED = 512
"""Distinct strings that are a list: so many lie in the pool of all texts. More are made into no strings of Python."""

Array = np.ndarray[Any, Any]


def may_repeat(distinct: int, sampled: int, n: int) -> bool:
    """Whether strings may come often enough. Of n/4 that are equally frequent, s have 2*s*s/n pairs (birthdays)."""
    return n > 0 and (sampled - distinct) * n >= sampled * sampled if sampled < n else distinct * MIN_REPEATS <= n


def from_arrow(chunked: Any) -> dict[str, Any]:
    """The state of a pyarrow ChunkedArray of strings or byte strings."""
    n = len(chunked)
    sample = chunked.take(np.arange(0, n, max(1, n // SAMPLE)))
    if n and may_repeat(len(sample.unique()), len(sample), n):
        coded = chunked.dictionary_encode().combine_chunks()
        coded = coded.chunk(0) if hasattr(coded, "chunk") else coded
        if len(coded.dictionary) * MIN_REPEATS <= n:
            codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return {"values": _values(coded.dictionary), "codes": codes.astype("<i4", copy=False)}
    return _joined(chunked)


def _values(distinct: Any) -> Any:
    import pyarrow as pa

    return distinct.to_pylist() if len(distinct) <= LISTED else _joined(pa.chunked_array([distinct]))


def _joined(chunked: Any) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.concat_arrays(chunked.cast(pa.large_binary()).chunks or [pa.array([], pa.large_binary())])
    lengths = pc.fill_null(pc.binary_length(whole), -1).to_numpy(zero_copy_only=False)
    filled = whole.fill_null(b"")
    _, offsets, data = filled.buffers()
    bounds = np.frombuffer(offsets, "<i8", len(filled) + 1, 8 * filled.offset)
    taken = b"" if data is None else np.frombuffer(data, "u1", int(bounds[-1] - bounds[0]), int(bounds[0]))
    small = lengths.max(initial=0) < 1 << 31
    return {"bytes": np.frombuffer(taken, "u1"), "lengths": lengths.astype("<i4" if small else "<i8", copy=False)}


def as_arrow(state: dict[str, Any], room: Room, kind: Any) -> Any:
    """A pyarrow Array of large strings, or of large byte strings, which `kind` says."""
    import pyarrow as pa

    if "codes" in state:
        return taken(_strings(state["values"], kind), codes_of(state["codes"]), room, kind)
    if "items" in state:
        return pa.array(state["items"], kind)
    data, lengths = joined_bytes(state), codes_of(state["lengths"])
    absent = lengths < 0
    offsets = bounds_of(np.maximum(lengths, 0), data.size)
    valid = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    made = pa.Array.from_buffers(kind, lengths.size, [valid, pa.py_buffer(offsets), pa.py_buffer(data)])
    made.validate(full=True)
    return made


def _strings(values: Any, kind: Any) -> Strings:
    """Distinct strings."""
    import pyarrow as pa

    text = kind == pa.large_string()
    if type(values) is not dict:
        return distinct_strings(values, str if text else bytes)
    found = Strings(joined_bytes(values), codes_of(values["lengths"]))
    if text and not found.data.tobytes().isascii():
        found.as_arrow(kind)  # which looks at each
    bounds_of(found.lengths, found.data.size)
    return found


def joined_bytes(state: dict[str, Any]) -> Array:
    """The bytes of all strings."""
    data = state["bytes"]
    if type(data) is not np.ndarray or data.dtype != "u1" or data.ndim != 1:
        raise TypeError("the bytes of a column of strings are an array of uint8")
    return data


def codes_of(array: Any) -> Array:
    """Codes, or lengths: any integers."""
    if type(array) is not np.ndarray or array.dtype.kind != "i" or array.ndim != 1:
        raise TypeError("codes and lengths are an array of integers")
    return array
