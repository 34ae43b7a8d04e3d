"""Walking a shape without decoding: over how many instances each node runs, and where its slots begin.

Strategy: one pass over the nodes in pre-order, as building the value would make it. Slots of structure (lengths, codes)
are read by the nodes themselves, for the counts of what comes behind them depend on these; slots of leaves are skipped.
A table by class of node says which is which. What was seen is kept as flat numbers: eight a node, and a leaf.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any, Final

from npser.columns.pools import POOLS
from npser.errors import DecodeError, LimitError
from npser.partial.singles import LazySingles, SingleTable
from npser.partial.skips import skip_column
from npser.shapes.built import Built
from npser.shapes.enums import Enums
from npser.shapes.leaves import LeafRun, Nothing, Reference, Union
from npser.shapes.maps import Maps
from npser.shapes.ndarrays import MAX_DIM, MAX_NDIM, Arrays, ObjectArrays
from npser.shapes.node import Builder
from npser.shapes.patterns import open_patterns
from npser.shapes.records import NamedTuples, Records, VariedRecords
from npser.shapes.sequences import Deques, Rows, Sequences, open_lengths
from npser.shapes.states import States
from npser.shapes.tables import Tables, VariedTables

if TYPE_CHECKING:
    from npser.columns.slotreader import SlotReader
    from npser.shapes.node import Node, Program
    from npser.shapes.policy import Policy

__all__ = ["WALKS", "Walk"]

MAX_INSTANCES = 1 << 62
"""More than that is nothing that could be built, and no length that Python knows."""

PLACE = POOLS + 2
"""Numbers that say where a slot begins: items taken of each pool, number of the column, number of the body."""


class Walk:
    """What one walk found.

    Attributes
    ----------
    n : list of int
        Over how many instances each node runs.
    stop : list of int
        The number of the first node behind each node and what is below it.
    references : list of int
        The numbers of the nodes that refer to something elsewhere.
    """

    __slots__ = ("_first", "_places", "_singles", "n", "references", "stop")

    def __init__(self, program: Program, table: SingleTable, slots: SlotReader, policy: Policy) -> None:
        self.n: list[int] = []
        self.references: list[int] = []
        self._first: list[int] = []
        self._singles: list[int] = []
        self._places = array("q")
        slots.next_span = table.bodies
        singles = LazySingles(table, slots)
        b = Builder(singles, slots, slots.cursor, policy, program)
        b.preserve = False  # nothing is made, so nothing has to have a number
        node = None
        try:
            for node in program.nodes:
                self._enter(node, b)
            node = None
            slots.close()
        except DecodeError as error:
            if error.path is None:
                error.path = "$" if node is None else program.path(node)
            raise
        self.stop = stops(program.nodes)

    def _enter(self, node: Node, b: Builder) -> None:
        n = 1
        if not node.single:
            n = b.counts.pop()
            if node.width > 1:
                del b.counts[1 - node.width :]
        if n > MAX_INSTANCES:
            raise LimitError(f"{n} instances", pos=b.cursor.pos)
        if type(node) is Reference:
            self.references.append(len(self.n))
        self.n.append(n)
        self._first.append(len(self._places))
        self._singles.append(b.singles.at)  # type: ignore[attr-defined]
        self._note(b.slots)
        WALKS[type(node)](self, b, node, n)

    def _note(self, slots: SlotReader) -> None:
        self._places.extend(slots.at)
        self._places.append(slots.next)
        self._places.append(slots.next_span)

    def leaves(self, b: Builder, node: LeafRun, n: int) -> None:
        """Go past leaves side by side."""
        if node.single:
            b.singles.skip(node.width)  # type: ignore[attr-defined]
            return
        skip_column(b.slots, n)
        for _ in range(node.width - 1):
            self._note(b.slots)
            skip_column(b.slots, n)

    def single(self, node: int) -> int:
        """The number of the first single slot of a node."""
        return self._singles[node]

    def seek(self, slots: SlotReader, node: int, item: int) -> None:
        """Put a reader in front of the slots of a node, or of one of the leaves that it is."""
        at = self._first[node] + item * PLACE
        *slots.at, slots.next, slots.next_span = self._places[at : at + PLACE]


def stops(nodes: list[Node]) -> list[int]:
    """For each node of a shape the number of the first one that is not below it."""
    stop = [0] * len(nodes)
    above: list[list[int]] = []  # node, children that are not read yet
    for at, node in enumerate(nodes):
        if above:
            above[-1][1] -= node.width
        above.append([at, node.children])
        while above and not above[-1][1]:
            stop[above.pop()[0]] = at + 1
    return stop


Step = Callable[[Walk, Builder, Any, int], None]


def _opens(_walk: Walk, b: Builder, node: Node, n: int) -> None:
    """A node that reads nothing but structure, and makes nothing."""
    node.open(b, n)


def _passes(_walk: Walk, b: Builder, node: Node, n: int) -> None:
    node.pass_on(b, n)


def _skip(b: Builder, node: Node, n: int) -> None:
    if node.single:
        b.singles.skip(1)  # type: ignore[attr-defined]
    else:
        skip_column(b.slots, n)


def _skips(_walk: Walk, b: Builder, node: Node, n: int) -> None:
    """A node of one slot of leaves."""
    _skip(b, node, n)


def _deque(_walk: Walk, b: Builder, node: Deques, n: int) -> None:
    lengths = open_lengths(node, b, n)
    _skip(b, node, n)
    b.counts.append(sum(lengths))


def _patterns(_walk: Walk, b: Builder, node: VariedTables | VariedRecords, n: int) -> None:
    open_patterns(node, b, n, node.patterns)


def _object_arrays(_walk: Walk, b: Builder, node: ObjectArrays, n: int) -> None:
    ndims = node.stream(b).ints(n)
    if ndims and not 0 <= min(ndims) <= max(ndims) <= MAX_NDIM:
        raise b.cursor.fail("number of dimensions out of range")
    dims = b.slots.ints(sum(ndims))
    if dims and not 0 <= min(dims) <= max(dims) <= MAX_DIM:
        raise b.cursor.fail("dimension out of range")
    _skip(b, node, n)
    each = iter(dims)
    b.counts.append(sum([prod([next(each) for _ in range(ndim)]) for ndim in ndims]))


WALKS: Final[dict[type[Any], Step]] = {
    LeafRun: Walk.leaves,
    Nothing: _opens,
    Sequences: _opens,
    Deques: _deque,
    Rows: _passes,
    Maps: _opens,
    Tables: _passes,
    VariedTables: _patterns,
    Records: _passes,
    VariedRecords: _patterns,
    NamedTuples: _passes,
    States: _passes,
    Built: _passes,
    Enums: _skips,
    Union: _opens,
    Reference: _skips,
    ObjectArrays: _object_arrays,
    Arrays: _skips,
}
"""Class of node -> its slots, and the counts of its children; total over the classes that the parsers give."""
