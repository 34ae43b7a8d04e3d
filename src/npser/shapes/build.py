"""Shape and slots -> value: the table of nodes and the two loops.

Strategy: a shape that was seen before is looked up by its bytes. A new one of the common sort is read by its outline,
without nodes; see `cold`. Else one loop opens all nodes in pre-order, one closes them in reverse; see `node`. Where
there are more nodes than any honest shape has, each is closed as soon as it may be, and forgotten; see `ordered`. A
shape that keeps coming back gets both loops as one function; see `hot`.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from npser.columns.singles import COMMON
from npser.columns.slotreader import SlotDrawer
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
from npser.shapes.node import Builder, Facts, Program, each_node, read_shape
from npser.shapes.ordered import close_in_order
from npser.shapes.outline import outline_of
from npser.shapes.records import NamedTuples, Records, VariedRecords
from npser.shapes.sequences import Deques, Rows, Sequences
from npser.shapes.states import States
from npser.shapes.tables import Tables, VariedTables
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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

MAX_KEPT = 1 << 15
"""Shapes with more nodes than this are read again for each walk, and none is kept: a node takes up to 700 bytes while
a value is built, which is more than 64 for each byte of a shape, and the 16 MB beyond these pay for so many. Documents
of megabytes have a few hundred."""

HOT_AFTER = 64
"""Meetings after which a shape is compiled. It pays back up to three times as many meetings later, and mostly
after half as many, so that no payload can make reading cost much more than twice as much;
benchmarks/thresholds_shapes.py::sweep_hot."""

HOT_BYTES = 1 << 20
"""Payloads of more bytes are read by the loops, whose calls no longer count beside their columns, and which take long
columns a stretch at a time."""

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
        dense = len(data) > MAX_KEPT and len(data.translate(None, _NO_TAGS)) > MAX_KEPT
        outline = None if dense else outline_of(data, depth, PARSERS)
        try:
            if outline is None:
                program = _measure(data, depth) if dense else _read_shape(data, depth)
            else:
                nodes = partial(_each_node, data, depth)
                size = 3 * len(outline.steps) + 2
                program = Program(None, outline.singles, outline.columns, size=size, outline=outline, read=nodes)
        except DecodeError as error:
            error.pos = pos + (error.pos or 0)
            raise
        SHAPES.add(data, depth, program)
    return program


def _read_shape(data: bytes, depth: int) -> Program:
    program = read_shape(data, PARSERS, LeafRun, depth)
    if _BUILT in data:  # perhaps as a node
        deque(keep_states(program.nodes), maxlen=0)
    return program


def _measure(data: bytes, depth: int) -> Program:
    """The program of a shape that has too many nodes to keep them."""
    facts = Facts()
    deque(each_node(data, PARSERS, LeafRun, depth, facts), maxlen=0)
    return Program(
        None,
        facts.singles,
        facts.columns,
        preserve=facts.preserve,
        references=facts.references,
        chains=facts.chains,
        hashes=facts.hashes,
        size=facts.nodes,
        read=partial(_each_node, data, depth),
    )


def _each_node(data: bytes, depth: int) -> Iterator[Node]:
    """The nodes of a shape that was read before, and so has nothing that could be wrong."""
    nodes = each_node(data, PARSERS, LeafRun, depth, Facts())
    return keep_states(nodes) if _BUILT in data else nodes


_BUILT: Final = bytes((Tag.BUILT,))
_NO_TAGS: Final = bytes({*range(256)} - {*Tag} | {Tag.LEAF})


def build_value(program: Program, cursor: Cursor, policy: Policy) -> Any:
    """Build the value of a payload whose cursor stands behind the shape."""
    try:
        opened = open_few(cursor, program.singles, program.columns)
        kinds, numbers, slots = opened or open_slots(cursor, program.singles, program.columns)
    except DecodeError as error:
        error.path = error.path or "$"
        raise
    if policy.numbers == "list" and policy.tables == "rows":
        reader = find_reader(program, kinds) if cursor.end <= HOT_BYTES else None
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


def draw_all(program: Program, cursor: Cursor, policy: Policy) -> None:
    """Draw what building a value draws, from a cursor behind the shape, and build nothing."""
    kinds, numbers, slots = open_slots(cursor, program.singles, program.columns, SlotDrawer)
    b = Builder(Singles(kinds, read_leaves(kinds, numbers, slots), slots), slots, slots.cursor, policy, program)
    deque(_opened(program, b), maxlen=0)


def read_document(program: Program, buf: bytes, pos: int, policy: Policy, budget: int) -> Any:
    """The value of a payload without columns as lists and rows, if a generated reader or the outline can do it alone.

    Parameters
    ----------
    pos : int
        Where the shape ends.
    budget : int
        Cells that the payload may take.

    Returns
    -------
    object
        `UNREAD` where `build_value` has to.
    """
    start = pos + program.singles
    kinds = buf[pos:start]
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
    opened: Any = _opened(program, b)
    paused = program.dense
    try:
        if not program.dense:
            opened = list(opened)
            b.slots.close()
            paused = sum([n for _, n, _ in opened]) >= WORTH_PAUSING
        if paused:
            pause()
        try:
            value = (close_in_order if program.dense or program.ordered else _close_all)(program, b, opened)
        finally:
            if paused:
                resume()
        if program.dense:
            b.slots.close()
    except DecodeError as error:
        error.path = error.path or "$"
        raise
    except MemoryError as error:
        raise LimitError("the payload asks for more memory than there is") from error
    return value


def _opened(program: Program, b: Builder) -> Iterator[tuple[Node, int, Any]]:
    """Each node in pre-order, over how many instances it is, and what its `open` gave."""
    counts = b.counts
    node: Node | None = None
    try:
        for node in program.walk():
            if node.single:
                node.charge(b.cursor, 1)
                yield node, 1, node.open(b, 1)
                continue
            n = counts.pop()
            if node.width > 1:
                del counts[1 - node.width :]
            node.charge(b.cursor, n)
            yield node, n, node.open(b, n)
    except DecodeError as error:
        if error.path is None and node is not None:
            error.path = program.path(node, error.item)
        raise


def _close_all(program: Program, b: Builder, opened: list[tuple[Node, int, Any]]) -> Any:
    done: list[Any] = []  # a stack: columns, or values of what is single; the first child of the next container on top
    node: Node | None = None
    try:
        while opened:
            node, n, frame = opened.pop()
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
    except DecodeError as error:
        if error.path is None and node is not None:
            error.path = program.path(node, error.item)
        raise
    return done[0]
