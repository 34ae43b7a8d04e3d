"""Which raw bytes may become elements of an array: what numpy itself would trust.

Strategy: nearly every bit pattern is a value of its dtype. Two kinds are not: a bool whose byte is neither 0 nor 1
makes sums wrong, and a code point beyond Unicode fails when it is looked at. They are searched for wherever they
stand, inside structures too; fields may overlap, so what that costs is counted first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["find_flaw", "settled"]

MAX_CODE_POINT = 0x10FFFF

MAX_OVERLAP = 64
"""How many fields may on average look at one byte; more is refused, for it multiplies the work."""


_X87_SIZE = 16
_X87_USED = 10
_X87: Final = int(np.finfo(np.longdouble).nmant) == 63 and np.dtype(np.longdouble).itemsize == _X87_SIZE


def settled(dtype: np.dtype[Any], raw: bytes) -> bytes:
    """The same elements without what happened to be in memory behind each long double.

    An x87 long double has 10 bytes of its 16; nobody sets the others, so they hold whatever was there before, and a
    payload must not carry that out of the process.
    """
    if dtype.char not in "gG" or not _X87:
        return raw
    items = np.frombuffer(raw, "<u1").reshape(-1, _X87_SIZE).copy()
    items[:, slice(_X87_USED, None) if dtype.isnative else slice(_X87_SIZE - _X87_USED)] = 0
    return items.tobytes()


def find_flaw(array: NDArray[Any]) -> str | None:
    """What is wrong with the elements of an array of any shape and fixed-size dtype, or None.

    >>> find_flaw(np.frombuffer(bytes([0, 1, 2]), "?"))
    'a bool whose byte is not 0 or 1'
    """
    checked = _checked_bytes(array.dtype)
    if not checked or not array.size:
        return None
    if checked > MAX_OVERLAP * array.dtype.itemsize:
        return f"fields of a structure overlap more than {MAX_OVERLAP}-fold"
    return _search(array)


def _checked_bytes(dtype: np.dtype[Any]) -> int:
    """Bytes an element that have to be looked at, each as often as it is."""
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return math.prod(shape) * _checked_bytes(base)
    if dtype.names is not None and dtype.fields is not None:
        return sum(_checked_bytes(dtype.fields[name][0]) for name in dtype.names)
    return dtype.itemsize if dtype.kind in "bU" else 0


def _search(array: NDArray[Any]) -> str | None:
    dtype = array.dtype
    if dtype.names is not None and dtype.fields is not None:
        parts = (array[name] for name in dtype.names if _checked_bytes(dtype.fields[name][0]))
        return next(filter(None, map(_search, parts)), None)
    if dtype.kind == "b":
        return "a bool whose byte is not 0 or 1" if array.view("u1").max() > 1 else None
    point = np.dtype("u4").newbyteorder(dtype.byteorder)  # as the characters have it
    points = array.view(np.dtype((point, (dtype.itemsize // 4,))))
    return "a code point beyond U+10FFFF" if points.max() > MAX_CODE_POINT else None
