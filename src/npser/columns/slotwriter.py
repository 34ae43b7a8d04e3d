"""Writing slots: single leaves, and columns, each into the pools or into a body. `slots` has the layout.

Strategy: the shape says how many slots there are and never what they hold, so a leaf that is None today and text
tomorrow does not change the shape.
"""

from __future__ import annotations

from functools import partial
from operator import countOf
from struct import pack
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.choose import write_ints
from npser.columns.bodies import FIRST_BODY, Bodies, write_bodies
from npser.columns.kinds import LEAF_TYPES, number_column, write_column
from npser.columns.lone import WRITE_LONE
from npser.columns.pooled import POOLED, POOLED_ITEMS, POOLED_TEXTS, PoolWriter
from npser.columns.pools import TEXT, U8, weigh_pools, write_pools
from npser.columns.scalars import write_sparse_int_column
from npser.columns.singles import SingleWriter
from npser.columns.texts import are_all
from npser.errors import EncodeError
from npser.tags import Kind
from npser.weights import KINDS, SINGLE, STEP, TEXT_ITEM

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from npser.blocks.sink import Sink

__all__ = ["EXPANDING", "SlotWriter", "leaf_weight", "write_lone"]

INT, COPIES, NULLABLE = int(Kind.INT), int(Kind.POOL_COPIES), int(Kind.NULLABLE)
EXPANDING: Final = frozenset(map(int, (Kind.NONE, Kind.POOL_CONST, Kind.POOL_STEPS)))
"""Kinds whose items are not in the pools; none weighs more than a step."""

NESTED_WEIGHT, RARE_WEIGHT = 20, 60
"""Cells of a leaf in a column of several types: of numbers and strings, and of any."""

_COMMON_TYPES: Final = frozenset({type(None), bool, int, float, str, bytes})
_WEIGHTS: Final[dict[int, int]] = {
    **{int(kind): weight + TEXT_ITEM for kind, weight in KINDS.items() if kind != Kind.MIXED},
    **{int(kind): KINDS[kind] for kind in (Kind.INT, Kind.FLOAT, Kind.BOOL)},
    Kind.NULLABLE: NESTED_WEIGHT,
    Kind.ARRAY: 0,
}
"""By kind; what is made of text and bytes has those, too."""


_UNPOOLED: Final = (0, lambda _pools, _values: None)


HANDED_OVER = 1 << 16
"""Bodies from so many bytes on keep the memory that they were written into; copying small ones is cheaper;
benchmarks/thresholds_shapes.py::sweep_handed_over."""


def write_lone(sink: Sink, bodies: Bodies, value: Any) -> int:
    """Write one leaf into a body of its own, by way of an empty sink; gives its kind."""
    write = WRITE_LONE.get(type(value))
    if write is None or not write(sink, value):
        write_column(sink, (value,), {type(value)})
    sink.expanded += RARE_WEIGHT
    return cut_body(sink, bodies)


def cut_body(sink: Sink, bodies: Bodies) -> int:
    """Make what is in the sink, a kind and its bytes, the next body; gives the kind, and the sink is empty again."""
    out = sink.out
    kind = out[0]
    if len(out) >= HANDED_OVER:
        bodies.append((kind, memoryview(out)[1:]))
        sink.out = bytearray()
        return kind
    if kind >= FIRST_BODY:
        bodies.append((kind, bytes(memoryview(out)[1:])))
    out.clear()
    return kind


def leaf_weight(kind: int, types_met: Set[type]) -> int:
    """The cells of a leaf in a column of a kind that has a body, or more."""
    weight = _WEIGHTS.get(kind)
    if weight is None or kind == NULLABLE:
        return NESTED_WEIGHT if types_met <= _COMMON_TYPES else RARE_WEIGHT
    return weight


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
        self._single_bodies: Bodies = []
        self._bodies: Bodies = []
        self.singles = SingleWriter(partial(write_lone, sink, self._single_bodies))

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

    def leaves(self, values: Sequence[Any]) -> bool:
        """A column of n >= 1 values, if all of them are leaves; else False, and nothing is written."""
        n = len(values)
        kind = type(values[0])
        most, put = POOLED.get(kind, _UNPOOLED)
        if 1 < n <= most and countOf(map(type, values), kind) == n:
            code = put(self.pools.pools, values)
            if code is None:
                self.body(values, kind)
                return True
            if code in EXPANDING:
                self.sink.expanded += n * STEP
            self.kinds.append(code)
            return True
        if n == 1:
            code = self.pools.one(values[0])
            if code is not None:
                self.kinds.append(code)
                return True
        if n > most and kind is not bool and are_all(values, kind):
            if kind not in LEAF_TYPES:
                return False
            self.many(values, {kind})
            return True
        return self.varied(values)

    def varied(self, values: Sequence[Any]) -> bool:
        """The same for values that may be of several types."""
        found = number_column(values) if isinstance(values, (list, tuple)) else None
        if found is not None:
            found[1](self.sink)
            self.kinds.append(self._cut(len(values)))
            return True
        met = set(map(type, values))
        if not met <= LEAF_TYPES:
            return False
        self.many(values, met)
        return True

    def many(self, values: Sequence[Any], types_met: set[type]) -> None:
        """A column of n leaves, whose exact types the caller knows."""
        n = len(values)
        kind = None
        if n == 1:
            kind = self.pools.one(values[0])
        elif n <= (POOLED_TEXTS if str in types_met else POOLED_ITEMS):
            kind = self._paid(self.pools.many(values, types_met), n)
        self.kinds.append(self._body(values, types_met, self._bodies) if kind is None else kind)

    def hashed_ints(self, values: Sequence[int]) -> None:
        """A column of n > 1 ints that are keys, or members of sets: hashing them costs more than reading odd bits."""
        if len(values) <= POOLED_ITEMS:
            self.many(values, {int})
        else:
            write_sparse_int_column(self.sink, values)
            self.kinds.append(self._cut(len(values)))

    def ints(self, values: Sequence[int]) -> None:
        """A column of structure: lengths and codes, int64 each."""
        n = len(values)
        kind = self._paid(self.pools.ints(values), n) if n <= POOLED_ITEMS else None
        if kind is None:
            self.sink.u8(INT)
            write_ints(self.sink, np.frombuffer(pack(f"<{n}q", *values), "<i8"))
            kind = self._cut(n)
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
        self.pools.pools[U8] += bytes((len(lengths),)) + (codes if len(lengths) > 1 else b"") + lengths
        self.kinds.append(COPIES)

    def body(self, values: Sequence[Any], kind: type) -> None:
        """A column of n leaves of one type that the pools do not take."""
        self.kinds.append(self._body(values, {kind}, self._bodies))

    def _paid(self, kind: int | None, n: int) -> int | None:
        if kind in EXPANDING:
            self.sink.expand(n * STEP)
        return kind

    def _body(self, values: Sequence[Any], types_met: set[type], bodies: Bodies) -> int:
        if len(values) == 1:
            return write_lone(self.sink, bodies, values[0])
        sink = self.sink
        write_column(sink, values, types_met)
        kind = cut_body(sink, bodies)
        sink.expanded += len(values) * leaf_weight(kind, types_met)
        return kind

    def _cut(self, n: int) -> int:
        """Make the numbers in the sink the next body; gives the kind."""
        kind = cut_body(self.sink, self._bodies)
        self.sink.expanded += n * _WEIGHTS[kind]
        return kind

    def finish(self, head: Sink) -> bytes:
        """The payload: what `head` holds so far, then kinds, numbers, pools, directory and bodies."""
        out = head.out
        singles = self.singles
        out += singles.kinds
        out += self.kinds
        singles.finish(head)
        pools = self.pools.pools
        pools[TEXT] = singles.texts + pools[TEXT] if pools[TEXT] else singles.texts
        write_pools(head, pools)
        bodies = self._single_bodies + self._bodies
        payload = write_bodies(head, bodies) if bodies else bytes(out)
        self.sink.expand(head.expanded + weigh_pools(pools) + SINGLE * len(singles.kinds))
        return payload
