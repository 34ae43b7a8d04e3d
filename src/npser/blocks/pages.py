"""Memory for large arrays, of as few pages as can be; measured by benchmarks/thresholds_frames.py::sweep_pages.

Strategy: to touch a page of 4 kB for the first time takes 1 to 2 us, as long as to decode a thousand values into it; a
page of 2 MB takes 100 us, a fifth of that for a byte. numpy asks Linux for large pages where an array has 4 MB or more,
but a large page begins at a multiple of its size, so what lies before the first and behind the last is made of small
ones: up to a thousand of them. So a little more is asked for, and the array begins with a page. What is not touched
takes no memory. A rest of less than half a page is of small pages, as it would waste more than that.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGE_PAGE", "empty"]

LARGE_PAGE: Final = 1 << 21
"""Bytes of a large page of x86-64, and of ARM with small ones of 4 kB."""

ASKED = 1 << 22
"""From so many bytes on, numpy asks for large pages."""

LINE = 64


def empty(count: int, dtype: Any) -> NDArray[Any]:
    """(count,) of a dtype, not set to anything.

    >>> empty(3, "<i8").shape, empty(1 << 20, "<i8").shape
    ((3,), (1048576,))
    """
    kind = np.dtype(dtype)
    nbytes = count * kind.itemsize
    if nbytes < LARGE_PAGE or sys.platform != "linux":
        return np.empty(count, kind)
    rest = nbytes % LARGE_PAGE
    wasteful = rest < LARGE_PAGE // 2
    whole = nbytes - rest if wasteful else nbytes - rest + LARGE_PAGE
    memory = np.empty(max(whole + LARGE_PAGE, ASKED), "u1")
    start = -memory.__array_interface__["data"][0] % LARGE_PAGE
    before = -(-rest // LINE) * LINE if wasteful else 0
    if start >= before:  # the rest goes before the first page: that page is not ours, so it is not a large one
        start -= before
    return memory[start : start + nbytes].view(kind)
