"""Handing out leaves that are kept: those that somebody may change are copied each time.

Strategy: of all leaves only bytearrays and the structured scalars of numpy can be changed, so a column is asked once
whether it has any. numpy copies a structured scalar without what is between its fields, so its bytes are copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

__all__ = ["hand_out", "may_change"]

CHANGEABLE: Final = (bytearray, np.void)


def may_change(leaves: Iterable[Any]) -> bool:
    """Whether any of the leaves is of a type that can be changed.

    >>> may_change([1, "a"]), may_change([bytearray(b"a"), None])
    (False, True)
    """
    return any(issubclass(kind, CHANGEABLE) for kind in set(map(type, leaves)))


def hand_out(leaf: Any) -> Any:
    """A leaf, or a copy of it if it can be changed.

    >>> kept = bytearray(b"a")
    >>> hand_out(kept) == kept, hand_out(kept) is kept
    (True, False)
    """
    if isinstance(leaf, bytearray):
        return bytearray(leaf)
    if isinstance(leaf, np.void):
        raw = bytearray(leaf.tobytes())
        return np.frombuffer(raw, leaf.dtype)[0] if raw else leaf
    return leaf
