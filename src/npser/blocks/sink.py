"""Where blocks are written: the mirror of the cursor.

Strategy: one growing buffer, and the writer's side of the reader's budget. A writer that would store n items in
(nearly) nothing asks `expand` first; a sink that refuses makes it store at least one bit an item.
"""

from __future__ import annotations

__all__ = ["FREE_ITEMS", "Sink"]

FREE_ITEMS = 16
"""Up to this many items expanding is always granted: a block costs two bytes at least, and each byte adds eight to
the budget."""


class Sink:
    """Bytes being written.

    Parameters
    ----------
    budget : int
        Items that may be expanded; a thrifty sink has 0.

    >>> sink = Sink()
    >>> sink.uvarint(300); sink.svarint(-1); sink.out.hex()
    'ac0201'
    """

    __slots__ = ("budget", "expanded", "out")

    def __init__(self, budget: int = 1 << 62) -> None:
        self.out = bytearray()
        self.budget = budget
        self.expanded = 0

    def u8(self, value: int) -> None:
        """One unsigned byte."""
        self.out.append(value)

    def uvarint(self, value: int) -> None:
        """An unsigned LEB128 integer."""
        out = self.out
        while value > 0x7F:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)

    def svarint(self, value: int) -> None:
        """A zigzag LEB128 integer in the range of int64."""
        self.uvarint((value << 1) ^ (value >> 63))

    def may_expand(self, n: int) -> bool:
        """Whether `n` items may be written in nearly no bytes."""
        return n <= FREE_ITEMS or self.expanded + n <= self.budget

    def expand(self, n: int) -> None:
        """Count `n` items as written in nearly no bytes."""
        self.expanded += n
