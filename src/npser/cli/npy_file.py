""".npy files and back: one numpy array, its dtype, shape and order as they are.

Strategy: numpy's own reader and writer, with pickles refused in both directions (an object array in a .npy file is
one). Everything that numpy raises on damaged bytes becomes one error, since here they only mean that this is no
.npy file.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npser.cli.refusal import ConvertError

__all__ = ["read_npy", "write_npy"]


def read_npy(data: bytes) -> NDArray[Any]:
    """The array of a .npy file. Raises ConvertError where the bytes are no array, or one of Python objects.

    >>> read_npy(write_npy(np.arange(3, dtype="<i2")))
    array([0, 1, 2], dtype=int16)
    """
    file = io.BytesIO(data)
    try:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except Exception as error:  # a header is read as Python, and numpy lets tokenize.TokenError and others through
        raise ConvertError(f"not a .npy array that can be read: {error}") from error
    if file.tell() != len(data):
        raise ConvertError(f"{len(data) - file.tell()} bytes follow the array")
    return array


def write_npy(value: object) -> bytes:
    """The bytes of a .npy file. Raises ConvertError for anything but an array of fixed-size items."""
    if type(value) is not np.ndarray:
        raise ConvertError(f".npy holds one array, and this value is {type(value).__name__}: try --to json")
    file = io.BytesIO()
    try:
        np.lib.format.write_array(file, value, allow_pickle=False)
    except (ValueError, TypeError) as error:
        raise ConvertError(f".npy does not hold this array: {error}") from error
    return file.getvalue()
