"""Memory for what is read, asked for in large pieces.

Strategy: to touch a page for the first time costs as much as to decode into it. Of large pieces numpy asks the system
for large pages, so buffers that live as long as each other share one; and the offsets of strings that are all of one
length are those of every other column of such strings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npser.blocks.pages import empty

__all__ = ["Room"]

PIECE = 1 << 24
"""Bytes that are asked for at a time; what is not used is never touched."""

LEAST = 1 << 18
"""Smaller buffers are their own."""

CHUNK = 1 << 14
"""Offsets made at a time: what numpy needs in between stays in the cache."""

ALIGNMENT = 64


class Room:
    """Hands out memory.

    >>> Room().take(3, "<i8").dtype
    dtype('int64')
    """

    def __init__(self) -> None:
        self._piece: Any = np.empty(0, "u1")
        self._at = 0
        self._ramps: dict[tuple[int, int], Any] = {}

    def take(self, n: int, dtype: Any) -> Any:
        """(n,) of a dtype, not set to anything."""
        nbytes = n * np.dtype(dtype).itemsize
        if nbytes < LEAST:
            return np.empty(n, dtype)
        start = -(-self._at // ALIGNMENT) * ALIGNMENT
        if start + nbytes > self._piece.size:
            self._piece = empty(max(PIECE, nbytes), "u1")
            start = 0
        self._at = start + nbytes
        return self._piece[start : self._at].view(dtype)

    def ramp(self, n: int, step: int) -> Any:
        """(n,) int64 that are 0, step, 2 * step, ..., the same for everybody, so not to be written to."""
        found = self._ramps.get((n, step))
        if found is None:
            found, first = self.take(n, "<i8"), np.arange(0, step * CHUNK, step)
            for at in range(0, n, CHUNK):
                part = found[at : at + CHUNK]
                np.add(first[: part.size], at * step, out=part)
            found.flags.writeable = False
            self._ramps[n, step] = found
        return found
