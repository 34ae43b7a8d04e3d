"""What is known of a column of integers, and what a frame of it costs: against that all other encodings are measured.

Strategy: one pass finds the lowest and the highest value, and a glance at a few values and their neighbours rules out
most of what a frame could be compared with. The width of a frame is the coarsest that leaves little unused, as whole
bytes are quicker to read and to write than half bytes, and those quicker than bits; but no bit is left unused where
there are very many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import gcd
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from npser.blocks import ints
from npser.blocks.choose import costs
from npser.blocks.packing import MAX_PAIRED, PLAIN
from npser.blocks.sink import Sink

__all__ = ["Column", "Plan", "frame_base", "frame_cost", "frame_width", "plain_width", "plan_frame", "plan_tight_frame"]

I64: TypeAlias = NDArray[np.int64]


class Plan(NamedTuple):
    """A way to write a block, and what reading and keeping it costs."""

    cost: float
    write: Callable[[Sink], None]


class Column:
    """The values, and what is known of them; what costs a pass or a sample is found out when first asked for."""

    def __init__(self, values: I64) -> None:
        self.values = values
        self.n = values.size
        self.low = int(values.min())
        self.high = int(values.max())

    @cached_property
    def least(self) -> float:
        """What any frame of as many values costs."""
        return frame_width(self.n, 1)[0]

    @cached_property
    def glance(self) -> list[int]:
        """A few values, spread over the column, in order: they rule out what could not win anyway."""
        return sorted(self.values[:: -(-self.n // costs.GLANCE)].tolist())

    @cached_property
    def pairs(self) -> I64:
        """The differences of a few neighbours, spread over the column."""
        stride = -(-self.n // costs.GLANCE)
        left = self.values[:-1:stride]
        return self.values[1::stride] - left

    @property
    def is_even(self) -> bool:
        """Whether a glance shows values all different, far from their neighbours, and none that sticks out."""
        few, span = self.glance, self.high - self.low
        if not len(few) == len(set(few)) == costs.GLANCE or few[-5] - few[4] <= span >> 1:
            return False
        return int(np.count_nonzero(np.abs(self.pairs) > span >> 3)) * 2 > costs.GLANCE

    @cached_property
    def sample(self) -> I64:
        """(w, k) int64: w windows of k neighbours, spread over the column; of a short column all."""
        if self.n <= costs.SAMPLE_WINDOWS * costs.SAMPLE_WINDOW:
            return self.values[None, :]
        stride = (self.n - costs.SAMPLE_WINDOW) // (costs.SAMPLE_WINDOWS - 1)
        shape = (costs.SAMPLE_WINDOWS, costs.SAMPLE_WINDOW)
        return np.ndarray(shape, "<i8", self.values, 0, (8 * stride, 8))

    @cached_property
    def ordered(self) -> I64:
        """The sampled values in order."""
        return np.sort(self.sample, axis=None)


_PLAIN_WIDTHS = tuple(next(width for width in PLAIN if bits <= width) for bits in range(65))


def plain_width(span: int) -> int:
    """The narrowest width that numpy reads as it is, for offsets of 0..span."""
    return _PLAIN_WIDTHS[span.bit_length()]


def frame_base(low: int, high: int, width: int) -> int:
    """0 where it will do, as it need not be added; the least int32 where all are such, as readers need no more then."""
    if width == 64 or (low >= 0 and high < 1 << width):
        return 0
    return -(1 << 31) if width == 32 and low >= -(1 << 31) and high < 1 << 31 else low


def _packed_width(bits: int) -> int:
    """Whole bytes, half bytes or bits: the coarsest that leaves little of it unused."""
    coarser = (_PLAIN_WIDTHS[bits], -(-bits // 8) * 8, -(-bits // 4) * 4)
    return next((width for width in coarser if width <= costs.UNUSED * bits), bits)


_PACKED_WIDTHS = (8, *map(_packed_width, range(1, 65)))


def frame_width(n: int, span: int) -> tuple[float, int]:
    """What n offsets of 0..span cost at the cheapest width, and that width."""
    bits = span.bit_length() or 1
    plain = _PLAIN_WIDTHS[bits]
    cheapest = frame_cost(n, plain), plain
    packed = _PACKED_WIDTHS[bits] if n < costs.TIGHT_ITEMS else bits
    return cheapest if n < costs.BITS_MIN_ITEMS or packed == plain else min(cheapest, (frame_cost(n, packed), packed))


def frame_cost(n: int, width: int) -> float:
    """What n offsets of that many bits cost."""
    if width in PLAIN:
        fixed, each = costs.VIEW_BLOCK_NS, costs.VIEW_NS
    elif width & 7 == 0:
        fixed, each = costs.BYTES_BLOCK_NS, costs.BYTES_NS
    elif width > MAX_PAIRED:
        fixed, each = costs.WIDE_BLOCK_NS, costs.WIDE_NS
    else:
        pairs = _PAIRS[width & 7]
        fixed = costs.BITS_BLOCK_NS + costs.BITS_PAIR_BLOCK_NS * pairs
        each = costs.BITS_NS + costs.BITS_PAIR_NS * pairs
    return fixed + n * (each + costs.BYTE_NS * width / 8)


_PAIRS = tuple(8 // gcd(2 * bits, 8) for bits in range(8))
"""Of values that begin at different places within the byte, for the bits by which the width exceeds whole bytes."""


def plan_frame(column: Column) -> Plan:
    """A frame as it is read fastest."""
    return _frame(column, *frame_width(column.n, column.high - column.low))


def plan_tight_frame(column: Column) -> Plan:
    """A frame without unused bits."""
    width = (column.high - column.low).bit_length() or 1
    return _frame(column, frame_cost(column.n, width), width)


def _frame(column: Column, cost: float, width: int) -> Plan:
    base = frame_base(column.low, column.high, width)
    return Plan(cost, lambda sink: ints.write_frame(sink, column.values, base, width))
