"""Arrays of Arrow whose items are all of one width <-> numpy arrays of their values.

Strategy: the buffer is the array. What stands under a null is of no consequence to Arrow, and is 0 when it is stored.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["bits_of", "bools_state", "build_bools", "build_values", "values_state"]

State = dict[str, Any]


def bits_of(valid: Any, n: int) -> Any:
    """(n,) bools, or None for all -> a buffer of validity. What is too short would be read beyond its end."""
    if valid is None:
        return None
    if type(valid) is not np.ndarray or valid.dtype != bool or valid.shape != (n,):
        raise TypeError("validity is an array of bools, one for each")
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


def values_state(array: Any, valid: Any) -> State:
    """The values of an array whose items are of one width, 0 where there is none."""
    dtype = _storage(array.type)
    buffer = array.buffers()[1]
    if buffer is None:
        return {"values": np.zeros(len(array), dtype)}
    values = np.frombuffer(buffer, dtype, len(array), array.offset * dtype.itemsize)
    if valid is not None:
        values = values.copy()
        values[~valid] = np.zeros(1, dtype)
    return {"values": values}


def build_values(kind: Any, state: State, valid: Any) -> Any:
    """The array."""
    values = state["values"]
    if type(values) is not np.ndarray or values.dtype != _storage(kind) or values.ndim != 1:
        raise TypeError(f"the values of {kind} are an array of {_storage(kind)}")
    data = pa.py_buffer(np.ascontiguousarray(values).view("u1"))
    return pa.Array.from_buffers(kind, len(values), [bits_of(valid, len(values)), data])


def _storage(kind: Any) -> np.dtype[Any]:
    width = kind.byte_width
    if pa.types.is_floating(kind):
        return np.dtype(f"<f{width}")
    if pa.types.is_integer(kind):
        return np.dtype(f"<{'i' if pa.types.is_signed_integer(kind) else 'u'}{width}")
    return np.dtype(f"<i{width}" if pa.types.is_temporal(kind) and width <= 8 else f"V{width}")


def bools_state(array: Any, valid: Any) -> State:
    """The values of an array of bools, False where there is none."""
    values = np.asarray(array.fill_null(pa.scalar(False)).to_numpy(zero_copy_only=False))  # noqa: FBT003
    return {"values": values}


def build_bools(kind: Any, state: State, valid: Any) -> Any:
    """The array."""
    values = state["values"]
    if type(values) is not np.ndarray or values.dtype != bool or values.ndim != 1:
        raise TypeError("bools are an array of bools")
    return pa.Array.from_buffers(kind, len(values), [bits_of(valid, len(values)), bits_of(values, len(values))])
