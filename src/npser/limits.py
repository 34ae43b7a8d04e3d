"""How much a payload may ask for before it is refused.

Strategy: memory is bounded by the input. Anything that a payload stores costs it at least one bit an item;
what it asks for beyond that (a million equal items from ten bytes) is drawn from one budget for the whole payload.
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
        Items that the payload may hold without storing at least one bit for each
        (arithmetic sequences, constants, runs). The largest that there are, deques, take 12 MB then.
    bytes : int
        The size of the payload, after decompression.
    expansion : int
        Such items that each byte of the payload adds to that budget.

    >>> Limits().budget(1000)
    24384
    >>> Limits().inflated(1000)
    34048
    """

    depth: int = MAX_DEPTH
    items: int = 1 << 14
    bytes: int = 1 << 32
    expansion: int = 8

    def budget(self, nbytes: int) -> int:
        """How many items a payload of `nbytes` bytes may hold beyond those it stores."""
        return self.items + self.expansion * nbytes

    def inflated(self, nbytes: int) -> int:
        """How many bytes `nbytes` compressed ones may become: an eighth of `items`, and `INFLATION` for each.

        A stored item takes at least a bit, so a few bytes become no more items through compression than they may
        through constants and runs.
        """
        return min(self.bytes, (self.items >> 3) + INFLATION * nbytes)
