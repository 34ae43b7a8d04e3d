"""The place of each value in a table of distinct ones.

Strategy: a multiplication mixes the bits, a shift keeps the top ones (Fibonacci hashing, Knuth, "The Art of Computer
Programming", 6.4), which is the slot of the value in a table that is mostly empty. What is not found there, as it has
to share a slot or is not in the table at all, is looked for by bisection. No input makes it slower than that alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_codes"]

GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)  # 2**64 / golden ratio, odd
SLOTS_BITS = 16  # at most: 512 kB of slots
SPARE_BITS = 6  # 64 slots a value: one in a hundred shares its slot
CHUNK = 1 << 14


def find_codes(table: NDArray[np.int64], values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(d,) distinct and ordered, (n,) -> (n,) indices into the table, and the values that are not in it.

    The indices of those are any that are within the table.

    >>> find_codes(np.array([10, 20]), np.array([20, 10, 15]))
    (array([1, 0, 1]), array([15]))
    """
    shift = np.uint64(64 - min(SLOTS_BITS, int(table.size).bit_length() + SPARE_BITS))
    slots = np.zeros(1 << 64 - int(shift), "<i8")
    slots[_slot(table, shift)] = np.arange(table.size)
    codes = np.empty(values.size, "<i8")
    lacking = []
    for at in range(0, values.size, CHUNK):
        chunk, found = values[at : at + CHUNK], codes[at : at + CHUNK]
        slots.take(_slot(chunk, shift), out=found, mode="clip")
        odd = np.flatnonzero(table.take(found) != chunk)
        if odd.size:
            sought = chunk[odd]
            places = np.searchsorted(table, sought)
            np.minimum(places, table.size - 1, out=places)
            found[odd] = places
            lacking.append(sought[table[places] != sought])
    return codes, np.concatenate(lacking) if lacking else np.empty(0, "<i8")


def _slot(values: NDArray[np.int64], shift: np.uint64) -> NDArray[np.int64]:
    mixed = values.view("<u8") * GOLDEN
    mixed >>= shift
    return mixed.view("<i8")
