"""Arrays and numpy scalars of which equal ones have equal bytes: one NaN, and nothing between the fields.

Strategy: most arrays are what they are, and only get an array object of their own, for one that is met twice is not
written as a reference. Those with a NaN are copied, and structures field by field into zeroed memory, so that what
stood between the fields stays behind. Memory order is part of an array: npser gives it back.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["one_nan", "settle_array", "settle_scalar"]


def one_nan(value: float) -> float:
    """The same float, but a NaN of one payload; each is an object of its own, as keys must be.

    >>> one_nan(-0.0), one_nan(float("-nan"))
    (-0.0, nan)
    """
    return value if value == value else float("nan")


def settle_array(array: NDArray[Any]) -> NDArray[Any]:
    """An equal array of any dtype and shape, in the same memory order, that is another object.

    >>> odd = np.array([0x7FF8000000000007, 0]).view("f8")
    >>> bool(settle_array(odd).view("i8")[0] == np.array(np.nan).view("i8"))
    True
    """
    dtype = array.dtype
    if dtype.names is not None and not _overlaps(dtype):
        order: Any = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        made: NDArray[Any] = np.zeros(array.shape, dtype, order=order)
        _copy_fields(made, array)
        return made
    if dtype.kind in "fc" and bool(np.isnan(array).any()):
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        made = np.array(array, order=order)
        _set_nans(made)
        return made
    return array.view()


def settle_scalar(value: Any) -> Any:
    """An equal numpy scalar."""
    return settle_array(np.asarray(value))[()]


def _set_nans(array: NDArray[Any]) -> None:
    if array.dtype.kind == "c":
        _set_nans(array.real)
        _set_nans(array.imag)
    elif array.dtype.kind == "f":
        np.copyto(array, np.nan, where=np.isnan(array))


def _copy_fields(made: NDArray[Any], array: NDArray[Any]) -> None:
    """Copy a structure; a dtype is nested no deeper than npser writes, or it is refused later."""
    names = array.dtype.names
    if names is None:
        made[...] = array
        _set_nans(made)
        return
    for name in names:
        _copy_fields(made[name], array[name])


def _overlaps(dtype: np.dtype[Any]) -> bool:
    """Whether fields share bytes, so that a NaN of one may be a number of another."""
    base = dtype.base
    if base.names is None or base.fields is None:
        return False
    inner = [base.fields[name][0] for name in base.names]
    spans = sorted((base.fields[name][1], base.fields[name][1] + base.fields[name][0].itemsize) for name in base.names)
    apart = all(stop <= start for (_, stop), (start, _) in pairwise(spans))
    return not apart or any(map(_overlaps, inner))
