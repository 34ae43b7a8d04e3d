"""Writing slots: single leaves, and columns, each into the pools or into a body. `slots` has the layout.

Strategy: the shape says how many slots there are and never what they hold, so a leaf that is None today and text
tomorrow does not change the shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.choose import write_ints
from npser.columns.bodies import FIRST_BODY, write_bodies
from npser.columns.kinds import write_column
from npser.columns.pooled import POOLED_ITEMS, POOLED_TEXTS, PoolWriter
from npser.columns.pools import TEXT, U8, write_pools
from npser.columns.singles import SingleWriter
from npser.errors import EncodeError
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npser.blocks.sink import Sink

__all__ = ["SlotWriter"]

_EXPANDING: Final = frozenset({Kind.NONE, Kind.POOL_CONST, Kind.POOL_STEPS})


class SlotWriter:
    """Collects the slots of one payload while the shape is being written.

    Parameters
    ----------
    sink : Sink
        Scratch space for one body after another; its budget is the payload's.

    Attributes
    ----------
    singles : SingleWriter
        Takes the single leaves.
    """

    def __init__(self, sink: Sink) -> None:
        self.kinds = bytearray()
        self.sink = sink
        self.pools = PoolWriter()
        self.singles = SingleWriter(self._single_body)
        self._single_bodies: list[tuple[int, bytes]] = []  # kind, bytes
        self._bodies: list[tuple[int, bytes]] = []

    def ones(self, values: Sequence[Any]) -> None:
        """A column of one for each of the leaves."""
        put, kinds = self.pools.one, self.kinds
        for item, value in enumerate(values):
            kind = put(value)
            if kind is None:
                try:
                    kind = self._body([value], {type(value)}, self._bodies)
                except EncodeError as error:
                    error.item = item
                    raise
            kinds.append(kind)

    def many(self, values: Sequence[Any], types_met: set[type]) -> None:
        """A column of n leaves, whose exact types the caller knows."""
        n = len(values)
        kind = None
        if n == 1:
            kind = self.pools.one(values[0])
        elif n <= (POOLED_TEXTS if str in types_met else POOLED_ITEMS) and self.sink.may_expand(n):
            kind = self._paid(self.pools.many(values, types_met), n)
        self.kinds.append(self._body(values, types_met, self._bodies) if kind is None else kind)

    def ints(self, values: Sequence[int]) -> None:
        """A column of structure: lengths and codes, int64 each."""
        n = len(values)
        kind = self._paid(self.pools.ints(values), n) if n <= POOLED_ITEMS and self.sink.may_expand(n) else None
        if kind is None:
            self.sink.u8(Kind.INT)
            write_ints(self.sink, np.fromiter(values, "<i8", n))
            kind = self._cut_body(self._bodies)
        self.kinds.append(kind)

    def copies(self, codes: bytes, lengths: bytes) -> None:
        """A column of lengths for sequences of which only the distinct ones are stored.

        Parameters
        ----------
        codes : bytes
            For each sequence, which one it is.
        lengths : bytes
            Of the distinct ones.
        """
        small = self.pools.pools[U8]
        small.append(len(lengths))
        if len(lengths) > 1:
            small += codes
        small += lengths
        self.kinds.append(Kind.POOL_COPIES)

    def _paid(self, kind: int | None, n: int) -> int | None:
        if kind in _EXPANDING:
            self.sink.expand(n)
        return kind

    def _single_body(self, value: Any) -> int:
        return self._body([value], {type(value)}, self._single_bodies)

    def _body(self, values: Sequence[Any], types_met: set[type], bodies: list[tuple[int, bytes]]) -> int:
        write_column(self.sink, values, types_met)
        return self._cut_body(bodies)

    def _cut_body(self, bodies: list[tuple[int, bytes]]) -> int:
        out = self.sink.out
        kind = out[0]
        if kind >= FIRST_BODY:
            bodies.append((kind, bytes(memoryview(out)[1:])))
        out.clear()
        return kind

    def finish(self, head: Sink) -> None:
        """Append kinds, numbers, pools, directory and bodies to `head`, which holds the payload so far."""
        out = head.out
        singles = self.singles
        out += singles.kinds
        out += self.kinds
        singles.finish(head)
        head.budget = self.sink.budget
        pools = self.pools.pools
        pools[TEXT] = singles.texts + pools[TEXT]
        write_pools(head, pools)
        self.sink.expand(head.expanded)
        bodies = self._single_bodies + self._bodies
        if bodies:
            self.sink.expand(write_bodies(head, bodies))
