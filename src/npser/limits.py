"""How much a payload may ask for before it is refused.

Strategy: memory is bounded by the input. Whatever a payload makes is weighed (`weights`), and drawn from one budget for
the whole payload before it is made: so many cells of eight bytes for each byte of it, and some for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["INFLATION", "MAX_DEPTH", "Limits"]

MAX_DEPTH = 512
"""Containers within containers, for writer and reader alike, on every platform and thread."""

INFLATION = 32
"""Bytes that each compressed byte may become: more than twice what real payloads need, of which the best one shrinks to
a fourteenth (benchmarks/thresholds_envelope.py, `ratios`)."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one payload may build.

    Parameters
    ----------
    depth : int
        Containers within containers.
    items : int
        Cells of eight bytes, the place of an item in a list, that any payload may make: 16 MB.
    bytes : int
        The size of the payload, after decompression.
    expansion : int
        Such cells that each byte of the payload adds to that: 64 bytes.

    >>> Limits().budget(1000)
    2105152
    >>> Limits().inflated(1000)
    34048
    """

    depth: int = MAX_DEPTH
    items: int = 1 << 21
    bytes: int = 1 << 32
    expansion: int = 8

    def budget(self, nbytes: int) -> int:
        """How many cells of memory a payload of `nbytes` bytes may take."""
        return self.items + self.expansion * nbytes

    def inflated(self, nbytes: int) -> int:
        """How many bytes `nbytes` compressed ones may become: `INFLATION` for each, and a few for nothing."""
        return min(self.bytes, (self.items >> 10) + INFLATION * nbytes)
