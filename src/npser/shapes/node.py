"""What every node of a shape is, and how a shape is read from its bytes.

    wire:  nodes in pre-order: a tag, what the tag asks for (keys, names, counts), then its children

Strategy: a shape is a flat program, not a tree of calls. Reading runs over it twice: `open` in pre-order, where
counts flow from containers to what they contain and slots are consumed; `close` in reverse, where finished children
flow back into their containers. Both are loops, so depth costs no stack and 512 levels work on any thread. Leaves that
stand side by side are one node here. What stands in the value exactly once, whatever it holds, is single: it has no
columns, only values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from npser.blocks.cursor import Cursor
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.shapes.keysets import KEY_SETS, KeySet
from npser.shapes.program import Program
from npser.tags import Node as Tag
from npser.weights import NODES, SHAPE_BYTE, SINGLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from npser.columns.slotreader import SlotReader
    from npser.columns.slots import Singles
    from npser.shapes.policy import Policy

__all__ = ["MAX_RUN", "Builder", "Facts", "Node", "Program", "ShapeReader", "each_node", "read_shape"]

MAX_RUN = 64
"""Leaves that are looked for at a time, so that looking for them costs no more than there are;
benchmarks/thresholds_shapes.py::sweep_run."""

_T = TypeVar("_T")


class Builder:
    """What the nodes of one payload share while the value is being built.

    Attributes
    ----------
    singles : Singles
        The single leaves, in the order of the shape.
    slots : SlotReader
        The columns, in the order of the shape.
    cursor : Cursor
        For the budget and for positions in errors.
    policy : Policy
        What the caller asked for: classes, numbers, tables, copies.
    counts : list of int
        A stack: over how many instances the next nodes run that are not single; the next one on top.
    numbered : list
        Every object so far that a REFERENCE may name.
    late : list | None
        Where a node whose items may not be hashed yet leaves (container, move, contents), for the very end.
    """

    __slots__ = ("counts", "cursor", "late", "numbered", "policy", "preserve", "references", "singles", "slots")

    def __init__(
        self, singles: Singles, slots: SlotReader, cursor: Cursor, policy: Policy, program: Program
    ) -> None:
        self.singles = singles
        self.slots = slots
        self.cursor = cursor
        self.policy = policy
        self.counts: list[int] = []
        self.numbered: list[Any] = []
        self.late: list[tuple[Any, Callable[[Any, Any], object], list[Any]]] | None = None
        self.references = program.references
        self.preserve = program.preserve


class Node:
    """One node over n instances.

    Subclasses set `slots`, the number of slots over n that they consume, `more`, the number of those over other counts,
    and `children`, how many children they have. `width` is how many children of its parent a node is; `passes` says
    whether the children of a node run over its own instances, so that they are single where it is.
    `hashes` says whether the first child holds what is hashed: keys, or the members of a set.
    `parent`, and `edge`, as which of its children the node begins, are set by who reads the shape; so are `single`, and
    `weight`, the cells that each instance draws from the budget.
    """

    __slots__ = ("children", "edge", "parent", "single", "weight")

    slots: int = 0
    more: ClassVar[int] = 0
    width: int = 1
    container: ClassVar[bool] = True
    passes: ClassVar[bool] = False
    makes_lists: bool = False
    makes_columns: ClassVar[bool] = False
    zips: ClassVar[bool] = False
    hashes: bool = False
    parent: Node | None
    edge: int
    single: bool
    weight: int

    def __init__(self, children: int = 0) -> None:
        self.children = children

    @property
    def in_list(self) -> bool:
        """Whether the parent is a list."""
        return self.parent is not None and self.parent.makes_lists

    @property
    def in_table(self) -> bool:
        """Whether the parent is a table that is the item of a list."""
        return self.parent is not None and self.parent.makes_columns and self.parent.in_list

    @property
    def in_row(self) -> bool:
        """Whether the parent only zips its children's columns, so that they need not be lists."""
        return self.parent is not None and self.parent.zips

    def weigh(self, tag: int) -> int:
        """What an instance of a node with this tag weighs, without its children."""
        return NODES.get(tag, 0)

    def charge(self, cursor: Cursor, n: int) -> None:
        """Draw n instances from the budget; of what is single, most are paid for by their bytes (`weights`)."""
        weight = self.weight
        if weight and (not self.single or (self.slots and weight > SINGLE + SHAPE_BYTE)):
            cursor.expand(n * weight)

    def pass_on(self, b: Builder, n: int) -> None:
        """Push the counts of children that run over the instances of this node; what is single has no counts."""
        if not self.single:
            b.counts += [n] * self.children

    def stream(self, b: Builder) -> Singles | SlotReader:
        """Where the slots over n come from."""
        return b.singles if self.single else b.slots

    @classmethod
    def parse(cls, _tag: int, _reader: ShapeReader) -> Node:
        """Read what follows the tag, but for the children; most nodes have nothing there."""
        return cls()

    def open(self, b: Builder, n: int) -> Any:
        """Consume slots, push the children's counts (last child first); what is returned comes back in `close`."""
        raise NotImplementedError

    def close(self, _b: Builder, _n: int, frame: Any, _columns: list[Any]) -> Any:
        """One column of n finished values, out of what `open` gave and the columns of the children."""
        return frame

    def close_single(self, b: Builder, frame: Any, values: list[Any]) -> Any:
        """The value of a single node, out of those of its children; of columns where these are not single."""
        columns = [[value] for value in values] if self.passes else values
        return self.close(b, 1, frame, columns)[0]

    def objects(self, _frame: Any) -> list[Any]:
        """The objects that `open` made and `close` completes."""
        return []

    def step(self, _edge: int) -> str:
        """How a child is reached from here, as text for a path."""
        return ""


class ShapeReader:
    """Reads the names, key sets and counts of a shape; repeated ones are numbers of earlier ones."""

    def __init__(self, cursor: Cursor, key_sets: list[KeySet] | None = None) -> None:
        self.cursor = cursor
        self._names: list[str] = []
        self._key_sets: list[KeySet] = [] if key_sets is None else key_sets

    def name(self) -> str:
        """uvarint x: odd, the (x >> 1)th name before; even, x >> 1 bytes of UTF-8 follow."""
        code = self.cursor.uvarint()
        if code & 1:
            return self._earlier(self._names, code >> 1, "name")
        raw = self.cursor.take(code >> 1)
        try:
            text = str(raw, "utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self.cursor.fail(f"a name in the shape is not UTF-8: {error.reason}") from None
        self._names.append(text)
        return text

    def keys(self) -> KeySet:
        """uvarint x: odd, the (x >> 1)th key set before; even, x >> 1 bytes of a key set follow."""
        cursor = self.cursor
        code = cursor.uvarint()
        if code & 1:
            return self._earlier(self._key_sets, code >> 1, "key set")
        start = cursor.pos
        raw = cursor.take(code >> 1).tobytes()
        try:
            keys = KEY_SETS.find(raw)
        except DecodeError as error:
            error.pos = start + (error.pos or 0)
            raise
        self._key_sets.append(keys)
        return keys

    def patterns(self, keys: int) -> list[tuple[int, ...]]:
        """uvarint p >= 1, p times: uvarint m, m times uvarint key number."""
        out = []
        for _ in range(self.count(self.cursor.uvarint())):
            pattern = tuple([self.cursor.uvarint() for _ in range(self.count(self.cursor.uvarint()))])
            if len(set(pattern)) != len(pattern) or (pattern and max(pattern) >= keys):
                raise self.cursor.fail("a pattern names a key twice, or one that is not there")
            out.append(pattern)
        return out

    def count(self, n: int) -> int:
        """Check that `n` things of at least a byte each can follow."""
        if n > self.cursor.left:
            raise self.cursor.fail(f"a shape that announces {n} parts has {self.cursor.left} bytes left")
        return n

    def _earlier(self, known: list[_T], number: int, what: str) -> _T:
        if number >= len(known):
            raise self.cursor.fail(f"{what} {number} of {len(known)}")
        return known[number]


class Facts:
    """What is known of a shape when all of its nodes were read.

    Attributes
    ----------
    nodes : int
        How many they are.
    singles, columns : int
        How many slots of each sort it has.
    preserve, references, chains, hashes : bool
        See `Program`; `hashes` says whether any of its nodes hashes.
    """

    __slots__ = ("chains", "columns", "hashes", "nodes", "preserve", "references", "singles")

    def __init__(self) -> None:
        self.nodes = self.singles = self.columns = 0
        self.preserve = self.references = self.chains = self.hashes = False


def each_node(
    data: bytes,
    parsers: Mapping[int, Callable[[int, ShapeReader], Node]],
    leaves: Callable[[int], Node],
    depth: int,
    facts: Facts,
) -> Iterator[Node]:
    """The nodes of a shape that fills `data` exactly, in pre-order; nothing holds them but the nodes inside of them.

    Parameters
    ----------
    parsers : mapping of Tag to a function of (tag, reader)
        Reads what follows the tag, without the children, and gives the node.
    leaves : function of k
        Gives the node of k leaves side by side.
    depth : int
        Containers within containers; a deeper shape is a LimitError.
    facts : Facts
        Complete when the last node was given.
    """
    cursor = Cursor(memoryview(data))
    reader = ShapeReader(cursor)
    pos, end = 0, len(data)
    preserve = data[:1] == _PRESERVE
    if preserve:
        pos = 1
    above: list[tuple[Node | None, int, int, bool]] = []  # parent, children read, containers above, single
    references = chained = hashes = False
    parent: Node | None = None
    edge = level = singles = columns = nodes = 0
    single = True
    while True:
        if pos >= end:
            raise TruncatedError("need 1 byte, 0 left", pos=pos)
        tag = data[pos]
        pos += 1
        if tag == _LEAF:
            run = 1
            if parent is not None and parent.passes:
                run += _leaves_at(data, pos, parent.children - edge - 1)
                pos += run - 1
            node = leaves(run)
            node.weight = 0
        else:
            cursor.pos = pos
            parse = parsers.get(tag)
            if parse is None:
                raise cursor.fail(f"no such node: 0x{tag:02x}")
            node = parse(tag, reader)
            node.weight = node.weigh(tag)
            pos = cursor.pos
            if node.children > end - pos:
                reader.count(node.children)  # raises
            references = references or tag == _REFERENCE
            chained = chained or tag == _OBJECT_ARRAY or (preserve and tag in _RECURSIVE)
            hashes = hashes or node.hashes
            if node.container and level >= depth:
                raise LimitError(
                    f"more than {depth} containers within each other; "
                    "raise Limits(depth=...) if the payload is your own",
                    pos=pos,
                )
        node.parent = parent
        node.edge = edge
        node.single = single
        nodes += 1
        if single:
            singles += node.slots
            columns += node.more
        else:
            columns += node.slots + node.more
        edge += node.width
        if node.children:
            above.append((parent, edge, level, single))
            parent, edge = node, 0
            level += node.container
            single = single and node.passes
            yield node
            continue
        yield node
        while parent is not None and edge == parent.children:
            parent, edge, level, single = above.pop()
        if parent is None:
            break
    if pos < end:
        cursor.pos = pos
        raise cursor.fail(f"{cursor.left} bytes behind the end of the shape")
    facts.nodes, facts.singles, facts.columns = nodes, singles, columns
    facts.preserve, facts.references, facts.hashes = preserve, references, hashes
    facts.chains = references and chained


def read_shape(
    data: bytes,
    parsers: Mapping[int, Callable[[int, ShapeReader], Node]],
    leaves: Callable[[int], Node],
    depth: int,
) -> Program:
    """The program of a shape, with all its nodes; see `each_node`."""
    facts = Facts()
    nodes = list(each_node(data, parsers, leaves, depth, facts))
    return Program(
        nodes,
        facts.singles,
        facts.columns,
        preserve=facts.preserve,
        references=facts.references,
        chains=facts.chains,
    )


def _leaves_at(data: bytes, pos: int, most: int) -> int:
    """How many leaves stand there side by side; looking costs no more than there are, and `MAX_RUN`."""
    found, size = 0, MAX_RUN
    while most:
        part = data[pos + found : pos + found + min(size, most)]
        met = len(part) - len(part.lstrip(_LEAVES))
        found += met
        most -= met
        if met < size:
            break
        size *= 2
    return found


_LEAF, _REFERENCE, _OBJECT_ARRAY = int(Tag.LEAF), int(Tag.REFERENCE), int(Tag.OBJECT_ARRAY)
_RECURSIVE = frozenset((Tag.DEQUE, Tag.DEFAULT_DICT))
_LEAVES = bytes((Tag.LEAF,))
_PRESERVE = bytes((Tag.PRESERVE,))
