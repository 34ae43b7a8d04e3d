"""Members of a set in the order in which they are to be written, which a set itself cannot have.

Strategy: they stand for a set wherever a value has one, and are told apart by identity as placeholders are, so that
they can be keys and members themselves without ever being equal to anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["FrozensetMembers", "SetMembers"]


class SetMembers:
    """A set, in order.

    Parameters
    ----------
    items : sequence of n objects

    >>> list(SetMembers([2, 1])), len(SetMembers([2, 1]))
    ([2, 1], 2)
    """

    __slots__ = ("_items",)

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class FrozensetMembers(SetMembers):
    """A frozenset, in order."""

    __slots__ = ()
