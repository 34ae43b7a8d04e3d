"""Rows of bytes, all of one size, by codes.

Strategy: numpy takes rows of 1, 2, 4, 8, 16 and 32 bytes three times as fast as others, for which it makes a call each.
Of others two are taken at once, where the table of all pairs is small: two codes of 32 bits are one word, and of
first + second * 2**32 the upper half of its product with d * 2**32 + 1 is first * d + second, the number of a pair.
Measured by benchmarks/thresholds_frames.py::sweep_rows.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["CHUNK", "Pairs", "Rows", "table_of"]

CHUNK: Final = 1 << 14
"""Rows made at a time, an even number: what numpy makes of codes in between stays in the cache."""

FAST: Final = frozenset((1, 2, 4, 8, 16, 32))
"""Bytes of a row that numpy takes without a call for each."""

MAX_PAIRS = 1 << 17
"""Bytes of a table of pairs, so that it stays in the cache."""

WORTH_PAIRS = 16
"""So many codes for each pair make up for a table of them."""

CODE: Final = np.dtype("<i4")
CODES: Final = np.dtype("<i8")

Array = np.ndarray[Any, Any]


def table_of(rows: Array, n: int) -> Rows | Pairs:
    """The table of (d, size) uint8 that is best to take `n` rows from, by codes of which none is beyond it.

    >>> out = np.empty(6, "u1")
    >>> table_of(np.frombuffer(b"abcdef", "u1").reshape(2, 3), 2).take(np.array([1, 0], "<i4"), out)
    >>> out.tobytes()
    b'defabc'
    """
    size, pairs = rows.shape[1], len(rows) ** 2
    gains = size not in FAST and 2 * size * pairs <= MAX_PAIRS and WORTH_PAIRS * pairs <= n
    return Pairs(rows) if gains else Rows(rows)


class Rows:
    """A table of (d, size) uint8, at least a row of at least a byte."""

    def __init__(self, rows: Array) -> None:
        self._item = f"V{rows.shape[1]}"
        self._rows = np.ascontiguousarray(rows).view(self._item)[:, 0]
        self._places = np.empty(CHUNK, np.intp)

    def take(self, codes: Array, out: Array) -> None:
        """Up to `CHUNK` codes -> their rows, one after the other, in memory that exists."""
        places = self._places[: codes.size]
        places[:] = codes
        self.take_places(places, out)

    def take_places(self, places: Array, out: Array) -> None:
        """The same for codes of the type that numpy makes of them."""
        self._rows.take(places, out=out.view(self._item), mode="clip")  # else numpy fills a copy first


class Pairs:
    """The same, two rows at a time."""

    def __init__(self, rows: Array) -> None:
        self._rows = rows
        d, size = rows.shape
        self._pairs = Rows(np.stack(np.broadcast_arrays(rows[:, None], rows), axis=2).reshape(d * d, 2 * size))
        self._factor = CODES.type((d << 32) + 1)
        self._words = np.empty(CHUNK // 2, CODES)

    def take(self, codes: Array, out: Array) -> None:
        """Up to `CHUNK` codes -> their rows, one after the other, in memory that exists."""
        whole, size = codes.size & -2, self._rows.shape[1]
        words = self._words[: whole // 2]
        np.multiply(np.ascontiguousarray(codes[:whole], CODE).view(CODES), self._factor, out=words)
        words >>= CODES.type(32)
        self._pairs.take_places(words, out[: whole * size])
        if whole < codes.size:
            out[whole * size :] = self._rows[codes[whole]]
