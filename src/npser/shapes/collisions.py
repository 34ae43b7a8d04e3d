"""Keys that were made to have one hash: a dict or set of n such keys compares each with all others.

Strategy: Python randomises the hashes of text and bytes, but those of numbers and of tuples of them are arithmetic, so
a payload may choose a hundred thousand ints that have one hash, which takes a minute and no memory. Large columns of
keys are looked at in a sample that nobody can foresee; among honest keys that differ hardly two have the same hash.
Equal ones stand in dicts or sets of their own, and say nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.columns.kinds import LEAF_TYPES
from npser.errors import LimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npser.blocks.cursor import Cursor

__all__ = ["MANY_KEYS", "refuse_collisions"]

MANY_KEYS: Final = 1 << 14
"""Fewer keys take a second or two at the very worst, and 150 kB."""

SAMPLE: Final = 512
MOST_ALIKE: Final = 32
"""If more different keys of a sample have one hash, more than a sixteenth of all have: so many of 16,384 take 10 ms."""

_HASHED_BY_VALUE: Final = frozenset({*LEAF_TYPES, tuple, frozenset})
"""Whose hashes are Python's; a class of the caller may hash as it likes."""


def refuse_collisions(cursor: Cursor, keys: Sequence[Any]) -> None:
    """Raise a `LimitError` if many different keys of some dicts or sets, end to end, have the same hash.

    >>> from npser.blocks.cursor import Cursor
    >>> refuse_collisions(Cursor(memoryview(b"")), range(100_000))
    >>> refuse_collisions(Cursor(memoryview(b"")), [1, 2] * 50_000)
    >>> refuse_collisions(Cursor(memoryview(b"")), [i * (2**61 - 1) for i in range(100_000)])
    Traceback (most recent call last):
        ...
    npser.errors.LimitError: many of 100000 keys have the same hash at byte 0
    """
    n = len(keys)
    if n < MANY_KEYS:
        return
    places = np.frombuffer(os.urandom(8 * SAMPLE), "<u8") % n
    sample = [keys[at] for at in set(places.tolist())]
    alike: dict[int, set[Any]] = {}
    try:
        for key in sample:
            if type(key) in _HASHED_BY_VALUE:
                those = alike.setdefault(hash(key), set())
                those.add(key)
                if len(those) > MOST_ALIKE:
                    break
        else:
            return
    except Exception:  # no key at all, as whoever makes the dict will say
        return
    raise LimitError(f"many of {n} keys have the same hash", pos=cursor.pos)
