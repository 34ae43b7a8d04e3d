"""PHP's hash tables: what phpser refuses because too many keys would fall into one chain.

Strategy: phpser will not build a table in which a chain is longer than 64, which is how its hash function is attacked.
The same payloads are refused here, by reader and writer, so that what npser writes PHP reads. Only arrays of more keys
than that are looked at. An int is its own hash; a string has DJBX33A (php-src, Zend/zend_string.h,
zend_inline_hash_func); a chain is chosen by the low bits.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLLIDING", "MAX_CHAIN", "chain_length", "collides"]

MAX_CHAIN: Final = 64
COLLIDING: Final = f"more than {MAX_CHAIN} keys fall into one chain of PHP's hash table, which phpser refuses"

SMALLEST_TABLE = 8
_TIMES_33: Final = np.uint32(33)
_START: Final = 5381


def collides(keys: Collection[Any], n: int) -> bool:
    """Whether the table of PHP for n keys would have a chain of more than 64."""
    return n > MAX_CHAIN and chain_length(list(keys), n) > MAX_CHAIN


def chain_length(keys: list[Any], n: int) -> int:
    """The longest chain of keys in the table that PHP makes for n.

    >>> chain_length([0, 1, 2], 3), chain_length([0, 8, 16], 3), chain_length(["Ez", "FY"], 2)
    (1, 3, 2)
    """
    if not keys:
        return 0
    mask = np.uint32(max(SMALLEST_TABLE, 1 << (n - 1).bit_length()) - 1)
    ints = [key for key in keys if type(key) is int]
    texts = [key.encode() if type(key) is str else key for key in keys if type(key) is not int]
    hashes = np.concatenate((np.array(ints, "<i8").astype("<u4"), _hash_texts(texts)))
    return int(np.bincount(hashes & mask).max())


def _hash_texts(texts: list[bytes]) -> NDArray[np.uint32]:
    """The low 32 bits of the hash of each string, those of one length at a time."""
    by_length: dict[int, list[bytes]] = {}
    for text in texts:
        by_length.setdefault(len(text), []).append(text)
    found = [np.empty(0, "<u4")]
    for length, same in by_length.items():
        letters = np.frombuffer(b"".join(same), np.uint8).reshape(len(same), length)
        hashes = np.full(len(same), _START, "<u4")
        for column in letters.T:
            hashes *= _TIMES_33
            hashes += column
        found.append(hashes)
    return np.concatenate(found)
