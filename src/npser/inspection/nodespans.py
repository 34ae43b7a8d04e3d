"""The shape: where its own bytes go, and how its counts flow from containers to what they contain.

Strategy: the shape is read by its own reader, which is handed parsers that note where they stood, so there is one
grammar and no second one. Then one loop goes through the nodes in pre-order, as building the value would; a table,
total over the classes of nodes, says what slots a node takes and over how many instances its children are. Sums and
counts are all it needs of the data.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from npser.errors import DecodeError
from npser.inspection.intchunks import counts, total
from npser.shapes.build import PARSERS
from npser.shapes.built import Built
from npser.shapes.enums import Enums
from npser.shapes.leaves import LeafRun, Nothing, Reference, Union
from npser.shapes.maps import Maps
from npser.shapes.ndarrays import MAX_DIM, MAX_NDIM, Arrays, ObjectArrays
from npser.shapes.node import Node, Program, ShapeReader, read_shape
from npser.shapes.records import NamedTuples, Records, VariedRecords
from npser.shapes.sequences import Deques, Rows, Sequences
from npser.shapes.states import States
from npser.shapes.tables import Tables, VariedTables
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.inspection.pieces import Piece
    from npser.inspection.slotspans import Slot, Slots

__all__ = ["COUNTS", "MAX_NODES", "NodeWalk", "ShapeNotes", "open_shape"]

MAX_NODES = 1 << 15
"""Nodes that are told apart."""

LEAVES_AT_ONCE = 1 << 12
"""Single leaves that are passed over in one step, when no more of them are told apart."""


class ShapeNotes:
    """What is noted while a shape is read.

    Attributes
    ----------
    tags : array of u8
        Of the nodes, in pre-order; leaves side by side are one node.
    nbytes : array of int64
        Bytes of each.
    """

    __slots__ = ("_piece", "_start", "nbytes", "tags")

    def __init__(self, piece: Piece, *, preserve: bool) -> None:
        self.tags = array("B")
        self.nbytes = array("q")
        self._piece = piece
        self._start = piece.start  # where the next node begins; its positions count from the shape's start
        if preserve:
            piece.add(piece.start, "preserve", piece.start + 1)
            self._start += 1

    def leaves(self, k: int) -> Node:
        """k leaves, a byte each."""
        self._note(Tag.LEAF, self._start + k)
        return LeafRun(k)

    def parse(self, parse: Callable[[int, ShapeReader], Node], tag: int, reader: ShapeReader) -> Node:
        """Any other node."""
        base = self._piece.start
        parts: list[tuple[int, int, str]] = []
        node = parse(tag, _Noting(reader, parts))
        piece = self._note(tag, base + reader.cursor.pos)
        if piece is not None:
            for start, stop, what in parts:
                piece.add(base + start, what, base + stop)
        return node

    def _note(self, tag: int, stop: int) -> Piece | None:
        start, self._start = self._start, stop
        self.tags.append(tag)
        self.nbytes.append(stop - start)
        if len(self.tags) <= MAX_NODES:
            return self._piece.add(start, Tag(tag).name, stop)
        last = self._piece.children[-1]
        if len(self.tags) == MAX_NODES + 1:
            last = self._piece.add(start, "more nodes", stop)
        last.stop = stop
        return None


class _Noting(ShapeReader):
    """The same reader, which notes where names, key sets and patterns stood."""

    def __init__(self, reader: ShapeReader, parts: list[tuple[int, int, str]]) -> None:
        self.cursor = reader.cursor
        self._names = reader._names
        self._key_sets = reader._key_sets
        self._parts = parts

    def name(self) -> str:
        start = self.cursor.pos
        name = super().name()
        self._parts.append((start, self.cursor.pos, "name"))
        return name

    def keys(self) -> Any:
        start = self.cursor.pos
        keys = super().keys()
        self._parts.append((start, self.cursor.pos, "keys"))
        return keys

    def patterns(self, keys: int) -> list[tuple[int, ...]]:
        start = self.cursor.pos
        patterns = super().patterns(keys)
        self._parts.append((start, self.cursor.pos, "patterns"))
        return patterns


def open_shape(piece: Piece, data: bytes, depth: int) -> tuple[Program, ShapeNotes]:
    """Read a shape whose piece is open; positions in errors count from the start of the payload."""
    notes = ShapeNotes(piece, preserve=data[:1] == bytes((Tag.PRESERVE,)))
    parsers = {tag: partial(notes.parse, parse) for tag, parse in PARSERS.items()}
    try:
        return read_shape(data, parsers, notes.leaves, depth), notes
    except DecodeError as error:
        error.pos = piece.start + (error.pos or 0)
        raise


class NodeWalk:
    """One pass over the nodes of a shape.

    Attributes
    ----------
    instances : array of int64
        Over how many instances each node runs, as far as the walk came.
    """

    def __init__(self, program: Program, slots: Slots) -> None:
        self.program = program
        self.slots = slots
        self.instances: list[int] = []
        self.stack: list[int] = []
        self.objects = 0

    def run(self) -> None:
        """Walk all nodes; a `DecodeError` knows where in the value it was."""
        node: Node | None = None
        try:
            for node in self.program.nodes:
                n = self._count(node)
                self.instances.append(n)
                COUNTS[type(node)](self, node, n)
            node = None
            self.slots.close()
        except DecodeError as error:
            if error.path is None and node is not None:
                error.path = self.program.path(node)
            raise

    def _count(self, node: Node) -> int:
        n = 1
        if not node.single:
            n = self.stack.pop()
            if node.width > 1:
                del self.stack[1 - node.width :]
        node.charge(self.slots.cursor, n)
        return n

    def slot(self, node: Node, role: str, n: int) -> Slot:
        """The next slot of a node."""
        return self.slots.take(node, node.edge, role, n, single=node.single)

    def push(self, *children: int) -> None:
        """Over how many instances the children run, the first one first."""
        self.stack += reversed(children)


Count: TypeAlias = Callable[[NodeWalk, Any, int], None]


def _leaves(w: NodeWalk, node: LeafRun, n: int) -> None:
    take, single, edge = w.slots.take, node.single, node.edge
    for start in range(0, node.width, LEAVES_AT_ONCE):
        k = min(LEAVES_AT_ONCE, node.width - start)
        if single and w.slots.skip(k):
            continue
        for item in range(start, start + k):
            take(node, edge + item, "", n, single=single)


def _nothing(w: NodeWalk, _node: Nothing, n: int) -> None:
    if n:
        raise w.slots.cursor.fail(f"{n} instances of nothing")


def _passes(w: NodeWalk, node: Node, n: int) -> None:
    if not node.single:
        w.stack += [n] * node.children


def _lengths(w: NodeWalk, node: Node, n: int) -> int:
    slot = w.slot(node, "lengths", n)
    value = w.slots.value
    if value is not None and value >= 0:
        return value
    return total(w.slots.ints(slot), 0, "length")


def _sequence(w: NodeWalk, node: Sequences, n: int) -> None:
    w.push(_lengths(w, node, n))


def _deque(w: NodeWalk, node: Deques, n: int) -> None:
    items = _lengths(w, node, n)
    w.slot(node, "maxlens", n)
    w.push(items)


def _map(w: NodeWalk, node: Maps, n: int) -> None:
    items = _lengths(w, node, n)
    w.push(items, items)


def _union(w: NodeWalk, node: Union, n: int) -> None:
    slot = w.slot(node, "codes", n)
    w.push(*counts(w.slots.ints(slot), node.children, "union").tolist())


def _patterns(w: NodeWalk, node: VariedTables | VariedRecords, n: int) -> None:
    slot = w.slot(node, "patterns", n)
    met = counts(w.slots.ints(slot), len(node.patterns), "pattern").tolist()
    each = [0] * node.children
    for pattern, rows in zip(node.patterns, met, strict=True):
        if rows:
            for key in pattern:
                each[key] += rows
    w.push(*each)


def _reference(w: NodeWalk, node: Reference, n: int) -> None:
    w.slot(node, "numbers", n)


def _members(w: NodeWalk, node: Enums, n: int) -> None:
    w.slot(node, "members", n)


def _arrays(w: NodeWalk, node: Arrays, n: int) -> None:
    w.slot(node, "arrays", n)


def _object_arrays(w: NodeWalk, node: ObjectArrays, n: int) -> None:
    ndims = [int(ndim) for chunk in w.slots.ints(w.slot(node, "ndims", n)) for ndim in chunk.tolist()]
    if ndims and not 0 <= min(ndims) <= max(ndims) <= MAX_NDIM:
        raise w.slots.cursor.fail("number of dimensions out of range")
    of_dims = w.slots.take(node, node.edge, "dimensions", sum(ndims), single=False)
    dims = iter([int(dim) for chunk in w.slots.ints(of_dims) for dim in chunk.tolist()])
    w.slot(node, "orders", n)
    items = 0
    for ndim in ndims:
        size = 1
        for _ in range(ndim):
            dim = next(dims)
            if not 0 <= dim <= MAX_DIM:
                raise w.slots.cursor.fail("dimension out of range")
            size *= dim
        items += size
    w.push(items)


COUNTS: Final[dict[type[Node], Count]] = {
    LeafRun: _leaves,
    Nothing: _nothing,
    Sequences: _sequence,
    Deques: _deque,
    Rows: _passes,
    Maps: _map,
    Tables: _passes,
    VariedTables: _patterns,
    Records: _passes,
    VariedRecords: _patterns,
    NamedTuples: _passes,
    States: _passes,
    Built: _passes,
    Enums: _members,
    Union: _union,
    Reference: _reference,
    ObjectArrays: _object_arrays,
    Arrays: _arrays,
}
"""Class of node -> its slots, and the counts of its children; total over the classes that the parsers give."""

assert np.dtype("<i8").itemsize == array("q").itemsize
