"""Memory for what is read, asked for in large pieces.

Strategy: to touch a page for the first time costs as much as to decode into it. Of large pieces numpy asks the system
for large pages, so buffers that live as long as each other share one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Room"]

PIECE = 1 << 23
"""Bytes that are asked for at a time; what is not used is never touched."""

LEAST = 1 << 18
"""Smaller buffers are their own."""

ALIGNMENT = 64


class Room:
    """Hands out memory.

    >>> Room().take(3, "<i8").dtype
    dtype('int64')
    """

    def __init__(self) -> None:
        self._piece: Any = np.empty(0, "u1")
        self._at = 0

    def take(self, n: int, dtype: Any) -> Any:
        """(n,) of a dtype, not set to anything."""
        nbytes = n * np.dtype(dtype).itemsize
        if nbytes < LEAST:
            return np.empty(n, dtype)
        start = -(-self._at // ALIGNMENT) * ALIGNMENT
        if start + nbytes > self._piece.size:
            self._piece = np.empty(max(PIECE, nbytes), "u1")
            start = 0
        self._at = start + nbytes
        return self._piece[start : self._at].view(dtype)
