"""Where blocks are written: the mirror of the cursor.

Strategy: one growing buffer, and a count of the cells that a reader will draw from its budget (`weights`), at the most.
Where they could be too many, whoever wrote the payload looks how many they are, and pads it.
"""

from __future__ import annotations

__all__ = ["Sink"]


class Sink:
    """Bytes being written.

    Attributes
    ----------
    out : bytearray
        What was written.
    expanded : int
        Cells that the reader of it will draw, or more.

    >>> sink = Sink()
    >>> sink.uvarint(300); sink.svarint(-1); sink.out.hex()
    'ac0201'
    """

    __slots__ = ("expanded", "out")

    def __init__(self) -> None:
        self.out = bytearray()
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

    def expand(self, n: int) -> None:
        """Count n cells as drawn."""
        self.expanded += n
