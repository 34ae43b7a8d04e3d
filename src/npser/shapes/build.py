"""Shape and slots -> value: the table of nodes and the two loops.

Strategy: a shape that was seen before is looked up by its bytes. Then one loop opens all nodes in pre-order, one
closes them in reverse; see `node`. A shape that keeps coming back gets both loops as one function; see `hot`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import Cursor
from npser.blocks.sink import FREE_ITEMS
from npser.columns.slots import SlotReader
from npser.errors import DecodeError, LimitError
from npser.shapes.cache import ShapeCache
from npser.shapes.collector import WORTH_PAUSING, pause, resume
from npser.shapes.enums import Enums
from npser.shapes.hot import MAX_HOT_NODES, compile_program
from npser.shapes.leaves import Leaf, Nothing, Reference, Union
from npser.shapes.mappings import Maps, Tables, VariedTables
from npser.shapes.ndarrays import Arrays, ObjectArrays
from npser.shapes.node import Builder, Node, Program, ShapeReader, read_shape
from npser.shapes.ordered import close_in_order
from npser.shapes.records import NamedTuples, Records, VariedRecords
from npser.shapes.sequences import Deques, Rows, Sequences
from npser.shapes.states import States
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from collections.abc import Callable

    from npser.shapes.policy import Policy

__all__ = ["PARSERS", "SHAPES", "build_value", "load_shape"]

PARSERS: Final[dict[int, Callable[[int, ShapeReader], Node]]] = {
    Tag.LEAF: Leaf.parse,
    Tag.NOTHING: Nothing.parse,
    Tag.LIST: Sequences.parse,
    Tag.TUPLE: Sequences.parse,
    Tag.SET: Sequences.parse,
    Tag.FROZENSET: Sequences.parse,
    Tag.DEQUE: Deques.parse,
    Tag.LIST_ROW: Rows.parse,
    Tag.TUPLE_ROW: Rows.parse,
    Tag.SLICE: Rows.parse,
    Tag.DICT: Maps.parse,
    Tag.ORDERED_DICT: Maps.parse,
    Tag.COUNTER: Maps.parse,
    Tag.DEFAULT_DICT: Maps.parse,
    Tag.TABLE: Tables.parse,
    Tag.VARIED_TABLE: VariedTables.parse,
    Tag.RECORD: Records.parse,
    Tag.VARIED_RECORD: VariedRecords.parse,
    Tag.ENUM: Enums.parse,
    Tag.STATE: States.parse,
    Tag.NAMED_TUPLE: NamedTuples.parse,
    Tag.UNION: Union.parse,
    Tag.REFERENCE: Reference.parse,
    Tag.OBJECT_ARRAY: ObjectArrays.parse,
    Tag.ARRAY: Arrays.parse,
}
"""Tag -> who reads the node; total but for PRESERVE, which is not a node but a mark in front of one."""

HOT_AFTER = 16
"""Meetings after which a shape is compiled. It pays back about as many meetings later, so that no payload can make
reading cost more than twice as much; benchmarks/thresholds_shapes.py::sweep_hot."""

SHAPES: Final = ShapeCache()
"""The shapes that this process has read."""


def load_shape(data: bytes, pos: int, depth: int) -> Program:
    """The program of a shape's bytes.

    Parameters
    ----------
    pos : int
        Where the bytes stand in the payload, for errors.
    """
    program = SHAPES.find(data, depth)
    if program is None:
        try:
            program = read_shape(Cursor(memoryview(data)), PARSERS, depth)
        except DecodeError as error:
            error.pos = pos + (error.pos or 0)
            raise
        SHAPES.add(data, depth, program)
    return program


def build_value(program: Program, cursor: Cursor, policy: Policy) -> Any:
    """Build the value of a payload whose cursor stands behind the shape."""
    if program.hot is not None and policy.numbers == "list" and policy.tables == "rows":
        pos, budget = cursor.pos, cursor.budget
        try:
            return _run_hot(program, program.hot, cursor, policy)
        except Exception:  # whatever it is, the loops below say it with its place
            cursor.pos, cursor.budget = pos, budget
    else:
        program.meetings += 1
        if program.meetings == HOT_AFTER:
            _compile(program)
    return _run_loops(program, cursor, policy)


def _compile(program: Program) -> None:
    unrolls = not (program.preserve or program.ordered) and len(program.nodes) <= MAX_HOT_NODES
    if unrolls and SHAPES.may_compile():
        generated, program.hot = compile_program(program)
        SHAPES.add_generated(generated)


def _run_hot(program: Program, hot: Callable[..., Any], cursor: Cursor, policy: Policy) -> Any:
    slots = SlotReader(cursor, program.slots)
    pause()
    try:
        return hot(Builder(slots, cursor, policy, program), slots, slots.takers(), slots.kinds)
    finally:
        resume()


def _run_loops(program: Program, cursor: Cursor, policy: Policy) -> Any:
    slots = SlotReader(cursor, program.slots)
    b = Builder(slots, cursor, policy, program)
    nodes = program.nodes
    frames: list[tuple[int, Any]] = []
    try:
        counts = b.counts
        for node in nodes:
            n = counts.pop()
            if n > FREE_ITEMS and node.container and not node.slots:
                b.charge(n)
            frames.append((n, node.open(b, n)))
        slots.close()
        close_all = close_in_order if program.ordered else _close_all
        if sum([n for n, _ in frames]) < WORTH_PAUSING:
            value = close_all(program, b, frames)
        else:
            pause()
            try:
                value = close_all(program, b, frames)
            finally:
                resume()
    except DecodeError as error:
        if error.path is None:
            at = len(frames)  # the node being opened or closed; beyond the last one, it was none of them
            error.path = program.path(nodes[at]) if at < len(nodes) else "$"
        raise
    except MemoryError as error:
        raise LimitError("the payload asks for more memory than there is") from error
    return value


def _close_all(program: Program, b: Builder, frames: list[tuple[int, Any]]) -> Any:
    columns: list[Any] = []  # a stack: what is finished, the first child of the next container on top
    for node in reversed(program.nodes):
        n, frame = frames.pop()
        children = node.children
        if children:
            own = columns[: -children - 1 : -1]
            del columns[-children:]
            columns.append(node.close(b, n, frame, own))
        else:
            columns.append(node.close(b, n, frame, []))
    return columns[0][0]
