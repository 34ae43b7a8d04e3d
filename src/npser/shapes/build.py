"""Shape and slots -> value: the table of nodes and the two loops.

Strategy: a shape that was seen before is looked up by its bytes. A new one of the common sort is read by its outline,
without nodes; see `cold`. Else one loop opens all nodes in pre-order, one closes them in reverse; see `node`. A shape
that keeps coming back gets both loops as one function; see `hot`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.sink import FREE_ITEMS
from npser.columns.singles import COMMON
from npser.columns.slots import Singles, open_slots, read_leaves
from npser.errors import DecodeError, LimitError
from npser.shapes.built import Built, keep_states
from npser.shapes.cache import ShapeCache
from npser.shapes.chains import break_chains, refuse_chains
from npser.shapes.cold import open_few, read_alone, read_slots
from npser.shapes.collector import WORTH_PAUSING, pause, resume
from npser.shapes.emitter import ANY, SIGNATURE
from npser.shapes.enums import Enums
from npser.shapes.hot import UNREAD, compile_reader, may_be_hot
from npser.shapes.leaves import LeafRun, Nothing, Reference, Union
from npser.shapes.maps import Maps
from npser.shapes.ndarrays import Arrays, ObjectArrays
from npser.shapes.node import Builder, Program, read_shape
from npser.shapes.ordered import close_in_order
from npser.shapes.outline import outline_of
from npser.shapes.records import NamedTuples, Records, VariedRecords
from npser.shapes.sequences import Deques, Rows, Sequences
from npser.shapes.states import States
from npser.shapes.tables import Tables, VariedTables
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from collections.abc import Callable

    from npser.blocks.cursor import Cursor
    from npser.columns.slotreader import SlotReader
    from npser.shapes.hot import Reader
    from npser.shapes.node import Node, ShapeReader
    from npser.shapes.policy import Policy

__all__ = ["PARSERS", "SHAPES", "build_value", "load_shape", "read_document"]

PARSERS: Final[dict[int, Callable[[int, ShapeReader], Node]]] = {
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
    Tag.BUILT: Built.parse,
    Tag.UNION: Union.parse,
    Tag.REFERENCE: Reference.parse,
    Tag.OBJECT_ARRAY: ObjectArrays.parse,
    Tag.ARRAY: Arrays.parse,
}
"""Tag -> who reads the node; total but for LEAF, of which several are one node, and for PRESERVE, which is none."""

HOT_AFTER = 64
"""Meetings after which a shape is compiled. It pays back up to three times as many meetings later, and mostly
after half as many, so that no payload can make reading cost much more than twice as much;
benchmarks/thresholds_shapes.py::sweep_hot."""

MAX_READERS = 8
"""Functions a shape may have, one for each way in which its single leaves are None, numbers, texts."""

MAX_SIGNATURES = 16
"""Such ways that are counted a shape."""

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
        outline = outline_of(data, depth, PARSERS)
        try:
            if outline is None:
                program = _read_shape(data, depth)
            else:
                nodes = partial(_read_nodes, data, depth)
                program = Program(None, outline.singles, outline.columns, outline=outline, read_nodes=nodes)
        except DecodeError as error:
            error.pos = pos + (error.pos or 0)
            raise
        SHAPES.add(data, depth, program)
    return program


def _read_nodes(data: bytes, depth: int) -> list[Node]:
    """The nodes of a shape that has an outline, and so nothing that could be wrong."""
    return _read_shape(data, depth).nodes


def _read_shape(data: bytes, depth: int) -> Program:
    program = read_shape(data, PARSERS, LeafRun, depth)
    if _BUILT in data:  # perhaps as a node
        keep_states(program.nodes)
    return program


_BUILT: Final = bytes((Tag.BUILT,))


def build_value(program: Program, cursor: Cursor, policy: Policy) -> Any:
    """Build the value of a payload whose cursor stands behind the shape."""
    try:
        opened = open_few(cursor, program.singles, program.columns)
        kinds, numbers, slots = opened or open_slots(cursor, program.singles, program.columns)
    except DecodeError as error:
        error.path = error.path or "$"
        raise
    if policy.numbers == "list" and policy.tables == "rows":
        reader = find_reader(program, kinds)
        if reader is not None or program.outline is not None:
            budget = cursor.budget
            try:
                if reader is None:
                    return read_slots(program, kinds, numbers, slots, policy)
                return reader.run(kinds, numbers, slots, policy)
            except Exception:  # the loops say what is wrong
                slots.rewind()
                cursor.budget = budget
    return _run_loops(program, kinds, numbers, slots, policy)


def read_document(program: Program, buf: memoryview, pos: int, policy: Policy, budget: int) -> Any:
    """The value of a payload without columns, if a generated reader or the outline of its shape can do it alone.

    Parameters
    ----------
    pos : int
        Where the shape ends.
    budget : int
        Items that the payload may expand.

    Returns
    -------
    object
        `UNREAD` where `build_value` has to.
    """
    if program.columns or policy.numbers != "list" or policy.tables != "rows":
        return UNREAD
    start = pos + program.singles
    kinds = buf[pos:start].tobytes()
    reader = program.readers.get(kinds.translate(SIGNATURE))
    if reader is not None:
        return reader.run_alone(buf, start, kinds, policy, budget)
    if program.outline is None or kinds.translate(None, COMMON):
        return UNREAD
    reader = find_reader(program, kinds)
    return UNREAD if reader is not None else read_alone(program, buf, start, kinds, policy, budget)


def find_reader(program: Program, kinds: bytes) -> Reader | None:
    """The generated reader for a shape with single leaves of these kinds, if it has one, or gets one now."""
    signature = kinds.translate(SIGNATURE)
    reader = program.readers.get(signature)
    if reader is not None:
        return reader
    if program.preserve or program.ordered or program.chains or not may_be_hot(program):
        return None
    if _meet(program, signature) == HOT_AFTER and len(program.readers) < MAX_READERS:
        return _compile(program, signature, signature)
    reader = program.readers.get(ANY)
    if reader is None and signature and _meet(program, ANY) == 2 * HOT_AFTER:
        reader = _compile(program, ANY, ANY * program.singles)
    return reader


def _meet(program: Program, key: bytes) -> int:
    """Count one more meeting."""
    met = program.meetings.get(key, 0) + 1
    if met > 1 or key == ANY or len(program.meetings) < MAX_SIGNATURES:
        program.meetings[key] = met
    return met


def _compile(program: Program, key: bytes, signature: bytes) -> Reader | None:
    if not SHAPES.may_compile():
        return None
    reader = compile_reader(program, signature)
    if reader is not None:
        program.readers[key] = reader
        SHAPES.add_generated(reader.generated)
    return reader


def _run_loops(
    program: Program, kinds: bytes, numbers: tuple[Any, ...], slots: SlotReader, policy: Policy
) -> Any:
    try:
        leaves = read_leaves(kinds, numbers, slots)
    except DecodeError as error:
        error.path = error.path or program.path_of_single(error.item)
        raise
    singles = Singles(kinds, leaves, slots)
    b = Builder(singles, slots, slots.cursor, policy, program)
    if not program.chains:
        return _open_and_close(program, b)
    try:
        value = _open_and_close(program, b)
        refuse_chains(b.cursor, b.numbered)
    except BaseException:
        break_chains(b.numbered)
        raise
    return value


def _open_and_close(program: Program, b: Builder) -> Any:
    nodes = program.nodes
    frames: list[tuple[int, Any]] = []
    try:
        counts = b.counts
        for node in nodes:
            if node.single:
                frames.append((1, node.open(b, 1)))
                continue
            n = counts.pop()
            if node.width > 1:
                del counts[1 - node.width :]
            if n > FREE_ITEMS and node.container and not node.slots:
                b.charge(n)
            frames.append((n, node.open(b, n)))
        b.slots.close()
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
            error.path = program.path(nodes[at], error.item) if at < len(nodes) else "$"
        raise
    except MemoryError as error:
        raise LimitError("the payload asks for more memory than there is") from error
    return value


def _close_all(program: Program, b: Builder, frames: list[tuple[int, Any]]) -> Any:
    done: list[Any] = []  # a stack: columns, or values of what is single; the first child of the next container on top
    for node in reversed(program.nodes):
        n, frame = frames.pop()
        children = node.children
        if children:
            own = done[: -children - 1 : -1]
            del done[-children:]
        elif type(node) is LeafRun:
            done += frame[::-1]
            continue
        else:
            own = []
        done.append(node.close_single(b, frame, own) if node.single else node.close(b, n, frame, own))
    return done[0]
