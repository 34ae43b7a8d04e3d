"""Which encoding a block of booleans gets.

Strategy: a bit an item is already small and nearly free to read, so runs and constants must be much smaller to be
picked; counting the changes decides it in one pass.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from npser.blocks import bits as blocks
from npser.blocks.choose import costs
from npser.blocks.choose.ints import write_ints
from npser.blocks.sink import Sink

__all__ = ["write_bits"]


def write_bits(sink: Sink, values: NDArray[np.bool_]) -> None:
    """(n,) bool: write them in the cheapest encoding.

    >>> sink = Sink()
    >>> write_bits(sink, np.ones(1000, bool)); sink.out.hex()
    '0101'
    """
    n = values.size
    if n > costs.BITS_CONST_MIN_ITEMS:
        ones = int(np.count_nonzero(values))
        if ones in (0, n):
            blocks.write_const(sink, int(values[0]), n)
            return
        if n >= costs.BITS_RUNS_MIN_ITEMS:
            changes = values[1:] != values[:-1]
            if (np.count_nonzero(changes) + 1) * costs.BITS_MIN_MEAN_RUN <= n:
                lengths = np.diff(np.flatnonzero(changes), prepend=-1, append=n - 1).astype("<i8", copy=False)
                blocks.write_runs(sink, int(values[0]), lengths, write_ints)
                return
    blocks.write_packed(sink, values)
