"""What every node of a shape is, and how a shape is read from its bytes.

    wire:  nodes in pre-order: a tag, what the tag asks for (keys, names, counts), then its children

Strategy: a shape is a flat program, not a tree of calls. Reading runs over it twice: `open` in pre-order, where
counts flow from containers to what they contain and slots are consumed; `close` in reverse, where finished children
flow back into their containers. Both are loops, so depth costs no stack and 512 levels work on any thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from npser.blocks.sink import FREE_ITEMS
from npser.errors import LimitError
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from npser.blocks.cursor import Cursor
    from npser.columns.slots import SlotReader
    from npser.shapes.policy import Policy

__all__ = ["Builder", "Node", "Program", "ShapeReader", "read_shape"]

_T = TypeVar("_T")


class Builder:
    """What the nodes of one payload share while the value is being built.

    Attributes
    ----------
    slots : SlotReader
        The leaves, in the order of the shape.
    cursor : Cursor
        For the budget and for positions in errors.
    policy : Policy
        What the caller asked for: classes, numbers, tables, copies.
    counts : list of int
        A stack: over how many instances the next nodes run; the next one on top.
    numbered : list
        Every object so far that a REFERENCE may name.
    late : list | None
        Where a node whose items may not be hashed yet leaves (container, move, contents), for the very end.
    """

    __slots__ = ("counts", "cursor", "late", "numbered", "policy", "preserve", "references", "slots")

    def __init__(self, slots: SlotReader, cursor: Cursor, policy: Policy, program: Program) -> None:
        self.slots = slots
        self.cursor = cursor
        self.policy = policy
        self.counts = [1]
        self.numbered: list[Any] = []
        self.late: list[tuple[Any, Callable[[Any, Any], object], list[Any]]] | None = None
        self.references = program.references
        self.preserve = program.preserve

    def charge(self, n: int) -> None:
        """Draw n instances of a container that has no slot from the budget; a few are free."""
        if n > FREE_ITEMS:
            self.cursor.expand(n)


class Node:
    """One node over n instances.

    Subclasses set `slots`, the number of slots they consume, and `children`, how many nodes follow as theirs.
    `hashes` says whether the first child holds what is hashed: keys, or the members of a set.
    `in_list` and `in_table` say whether the parent is a list, or a table that is the item of a list: there the
    caller may ask for arrays and for columns. `in_row` says whether the parent only zips its children's columns, so
    that they need not be lists.
    """

    __slots__ = ("children", "edge", "in_list", "in_row", "in_table", "parent")

    slots: ClassVar[int] = 0
    container: ClassVar[bool] = True
    makes_lists: bool = False
    makes_columns: ClassVar[bool] = False
    zips: ClassVar[bool] = False
    hashes: bool = False

    def __init__(self, children: int = 0) -> None:
        self.children = children
        self.parent: Node | None = None
        self.edge = 0
        self.in_list = False
        self.in_table = False
        self.in_row = False

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

    def objects(self, _frame: Any) -> list[Any]:
        """The objects that `open` made and `close` completes."""
        return []

    def step(self, _edge: int) -> str:
        """How a child is reached from here, as text for a path."""
        return ""


class Program:
    """A whole shape: its nodes in pre-order, and what can be known before any data is seen.

    Attributes
    ----------
    meetings : int
        How often a payload of this shape was read.
    hot : callable | None
        The function that reads it, once it was met often enough.
    ordered : bool
        Whether nodes must be closed in the order in which they stand: what is hashed may be a reference.
    """

    __slots__ = ("hot", "meetings", "nodes", "ordered", "preserve", "references", "slots")

    def __init__(self, nodes: list[Node], *, preserve: bool, references: bool) -> None:
        self.nodes = nodes
        self.meetings = 0
        self.hot: Callable[..., Any] | None = None
        self.slots = sum(node.slots for node in nodes)
        self.preserve = preserve
        self.references = references
        self.ordered = references and any(node.hashes for node in nodes)

    def path(self, node: Node) -> str:
        """Where in the value a node stands, like ``$['orders'][*]['price']``."""
        steps = []
        while node.parent is not None:
            steps.append(node.parent.step(node.edge))
            node = node.parent
        return "$" + "".join(reversed(steps))


class ShapeReader:
    """Reads the strings, key sets and counts of a shape; repeated ones are numbers of earlier ones."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self._texts: list[str] = []
        self._key_sets: list[tuple[str, ...]] = []

    def text(self) -> str:
        """uvarint x: odd, the (x >> 1)th text before; even, x >> 1 bytes of UTF-8 follow."""
        code = self.cursor.uvarint()
        if code & 1:
            return self._earlier(self._texts, code >> 1, "text")
        raw = self.cursor.take(code >> 1)
        try:
            text = str(raw, "utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise self.cursor.fail(f"a name in the shape is not UTF-8: {error.reason}") from None
        self._texts.append(text)
        return text

    def keys(self) -> tuple[str, ...]:
        """uvarint x: odd, the (x >> 1)th key set before; even, x >> 1 texts follow."""
        code = self.cursor.uvarint()
        if code & 1:
            return self._earlier(self._key_sets, code >> 1, "key set")
        count = self.count(code >> 1)
        keys = tuple([self.text() for _ in range(count)])
        if len(set(keys)) != count:
            raise self.cursor.fail("a key stands twice in one key set")
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


def read_shape(cursor: Cursor, parsers: Mapping[int, Callable[[int, ShapeReader], Node]], depth: int) -> Program:
    """Read a shape that fills the cursor's span exactly.

    Parameters
    ----------
    parsers : mapping of Tag to a function of (tag, reader)
        Reads what follows the tag, without the children, and gives the node.
    depth : int
        Containers within containers; a deeper shape is a LimitError.
    """
    reader = ShapeReader(cursor)
    preserve = cursor.left > 0 and cursor.buf[cursor.pos] == Tag.PRESERVE
    if preserve:
        cursor.u8()
    nodes: list[Node] = []
    parents: list[tuple[Node | None, int, int]] = [(None, 0, 0)]  # parent, which of its children, containers above
    references = False
    while parents:
        parent, edge, level = parents.pop()
        tag = cursor.u8()
        parse = parsers.get(tag)
        if parse is None:
            raise cursor.fail(f"no such node: 0x{tag:02x}")
        node = parse(tag, reader)
        reader.count(node.children)
        node.parent = parent
        node.edge = edge
        if parent is not None:
            node.in_list = parent.makes_lists
            node.in_table = parent.makes_columns and parent.in_list
            node.in_row = parent.zips
        references = references or tag == Tag.REFERENCE
        nodes.append(node)
        if node.container:
            level += 1
            if level > depth:
                raise LimitError(f"more than {depth} containers within each other", pos=cursor.pos)
        parents += [(node, child, level) for child in range(node.children - 1, -1, -1)]
    if cursor.left:
        raise cursor.fail(f"{cursor.left} bytes behind the end of the shape")
    return Program(nodes, preserve=preserve, references=references)
