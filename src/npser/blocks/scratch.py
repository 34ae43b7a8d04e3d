"""Memory to decode chunks in, which is kept: new memory for each would cost as much as the decoding.

Strategy: what is decoded piece by piece is in a piece for a moment only, so one scratch serves all blocks in turn.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

__all__ = ["CHUNK", "CHUNK_GROUPS", "GROUP", "WORD", "Scratch"]

GROUP: Final = 8
"""Packed values that begin and end with a byte, whatever their width: they take as many bytes as one has bits."""

CHUNK_GROUPS: Final = 8192
"""64k values: 512 kB of scratch; benchmarks/thresholds_frames.py::sweep_chunks."""

CHUNK: Final = CHUNK_GROUPS * GROUP
"""Values of a chunk."""

WORD: Final[np.dtype[np.unsignedinteger]] = np.dtype("<u8")

SPARE = 2
"""Scratches that are kept, of 768 kB each."""


class Scratch:
    """Memory to unpack chunks in, one after the other.

    Who decodes piece by piece borrows one, and gives it back. It is kept for the next, whatever the thread; who comes
    in between (another thread, a finalizer) borrows another one.
    """

    __slots__ = ("out", "upper", "word")
    _spare: ClassVar[list[Scratch]] = []

    def __init__(self) -> None:
        self.out, self.upper, self.word = np.empty((3, CHUNK // 2 + GROUP), WORD)

    @classmethod
    def borrow(cls) -> Scratch:
        """One that nobody else has."""
        try:
            return cls._spare.pop()
        except IndexError:
            return cls()

    def give_back(self) -> None:
        """Keep it, if there are not enough."""
        if len(self._spare) < SPARE:
            self._spare.append(self)
