"""Shape -> the steps that build its value: how a shape is read that nobody has met before.

Strategy: most shapes of documents are tables, lists and leaves, and a payload of a shape that never comes back is read
once. So its bytes become no nodes, only a list of steps in the order in which containers are complete: each says how
many leaves come before it and how many values it takes off a stack. Leaves are no steps at all. `cold` runs the steps.
Whatever is rare or wrong gets no outline: then `node` reads the shape, and says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from npser.blocks.cursor import Cursor
from npser.shapes.generated import build_lists
from npser.shapes.keysets import KEY_SETS, KeySet
from npser.shapes.node import MAX_RUN, ShapeReader
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.shapes.node import Node

__all__ = [
    "CLOSE",
    "FLAT",
    "FLAT_ROWS",
    "LEAF_OF",
    "LEAVES",
    "LIST",
    "LISTS",
    "NEXT",
    "NONE_OF",
    "NO_ITEMS",
    "OPEN",
    "OPEN_LIST",
    "OPEN_LISTS",
    "ROWS",
    "SINGLE",
    "Outline",
    "Step",
    "outline_of",
]

Step = tuple[int, int, int, Any]
"""(code, leaves or columns before it, values that it takes, what makes one of them)."""

FLAT = 0
"""A single table, out of the last leaves."""
SINGLE = 1
"""A single table or row, out of the values of its children."""
LIST = 2
"""A single sequence of leaves: a length, then a column."""
NO_ITEMS = 3
"""A single sequence that is always empty."""
OPEN_LIST = 4
"""The length of a single sequence; its items follow."""
FLAT_ROWS = 5
"""Tables, out of the last columns."""
ROWS = 6
"""Tables or rows, out of the columns of their children."""
LEAVES = 7
"""Sequences of leaves: lengths, then a column."""
OPEN_LISTS = 8
"""The lengths of sequences; their items follow."""
LISTS = 9
"""Those sequences, out of their items."""
NONE_OF = 10
"""A column of nothing."""
LEAF_OF = 11
"""The next child of a node that was opened, which is a leaf."""
NEXT = 12
"""The next child of such a node."""
OPEN = 13
"""Any other node, through its `open`; its children follow."""
CLOSE = 14
"""Such a node, through its `close`."""

_ZERO: Final = bytes((Tag.LEAF,))
_LEAF, _NOTHING, _LIST, _TUPLE = int(Tag.LEAF), int(Tag.NOTHING), int(Tag.LIST), int(Tag.TUPLE)
_LIST_ROW, _TUPLE_ROW, _TABLE = int(Tag.LIST_ROW), int(Tag.TUPLE_ROW), int(Tag.TABLE)
_SEQUENCES, _ROW_TAGS = frozenset((_LIST, _TUPLE)), frozenset((_LIST_ROW, _TUPLE_ROW))

OTHERS: Final = frozenset(
    {
        Tag.SET,
        Tag.FROZENSET,
        Tag.DEQUE,
        Tag.DICT,
        Tag.ORDERED_DICT,
        Tag.COUNTER,
        Tag.DEFAULT_DICT,
        Tag.VARIED_TABLE,
        Tag.UNION,
    }
)
"""Nodes that an outline calls through their own methods: those without classes and without references."""


class Outline(NamedTuple):
    """The steps of a shape.

    Parameters
    ----------
    steps : list of Step
    singles, columns : int
        How many slots of each sort it has.
    calls : bool
        Whether some steps call nodes, and need a `Builder`.
    """

    steps: list[Step]
    singles: int
    columns: int
    calls: bool


def outline_of(
    data: bytes, depth: int, parsers: Mapping[int, Callable[[int, ShapeReader], Node]]
) -> Outline | None:
    """The outline of a shape, if it is of the common sort; None as well where something is wrong with it."""
    try:
        return _Writer(data, depth, parsers).outline()
    except Exception:  # whoever reads the shape in full says what it is
        return None


class _UncommonError(Exception):
    """The shape is none of those that have an outline."""


class _Writer:
    """Writes the steps of one shape.

    Two loops share the work. What is single is in the first one; it calls the second one for everything below
    a sequence or another node that is no table, which is over columns.
    """

    __slots__ = ("columns", "data", "depth", "key_sets", "parsers", "reader", "steps")

    def __init__(self, data: bytes, depth: int, parsers: Mapping[int, Callable[[int, ShapeReader], Node]]) -> None:
        self.data = data
        self.depth = depth
        self.parsers = parsers
        self.steps: list[Step] = []
        self.key_sets: list[KeySet] = []
        self.columns = 0
        self.reader: ShapeReader | None = None

    def outline(self) -> Outline:
        """The outline of the whole shape."""
        data, depth, steps, known, key_sets = self.data, self.depth, self.steps, KEY_SETS.known, self.key_sets
        add = steps.append
        above: list[tuple[int, int, Any]] = []  # a stack: what the next three were around this container
        left, size = 1, 0
        make: Any = None
        pos = singles = 0
        while True:
            tag = data[pos]
            if tag == _TABLE:
                number = data[pos + 1]
                pos += 2
                if number > 0x7F:
                    number += (_low(data[pos]) << 7) - 0x80
                    pos += 1
                if number & 1:
                    keys = key_sets[number >> 1]
                else:
                    start = pos
                    pos += number >> 1
                    raw = data[start:pos]
                    keys = known.get(raw) or KEY_SETS.find(raw)
                    key_sets.append(keys)
                k = keys.size
                if len(above) >= depth:
                    raise _UncommonError
                if not data.startswith(keys.leaves, pos):
                    above.append((left, size, make))
                    left = size = k
                    make = keys.build_one or keys.one
                    continue
                pos += k
                singles += k
                add((FLAT, singles, k, keys.build_one or keys.one))
                left -= 1
            elif not tag:
                run = 1
                if left > 1 and not data[pos + 1]:
                    rest = data[pos : pos + (left if left < MAX_RUN else MAX_RUN)]
                    run = len(rest) - len(rest.lstrip(_ZERO))
                pos += run
                singles += run
                left -= run
            elif tag in _SEQUENCES:
                of = None if tag == _LIST else tuple
                singles += 1
                child = data[pos + 1]
                pos += 2
                if len(above) >= depth:
                    raise _UncommonError
                if not child:
                    add((LIST, singles, 0, of))
                    self.columns += 1
                elif child == _NOTHING:
                    add((NO_ITEMS, singles, 0, of))
                else:
                    add((OPEN_LIST, singles, 0, None))
                    pos = self._below(pos - 1, len(above) + 1, 1, _ROOT)
                    if of is not None:
                        add((SINGLE, singles, 1, _tuple_of))
                left -= 1
            elif tag in _ROW_TAGS:
                if len(above) >= depth:
                    raise _UncommonError
                above.append((left, size, make))
                left = size = _items(data[pos + 1])
                make = list if tag == _LIST_ROW else tuple
                pos += 2
                continue
            else:
                node, pos = self._node(tag, pos + 1)
                node.single = True
                add((OPEN, singles, node.slots, node))
                singles += node.slots
                pos = self._below(pos, len(above) + 1, node.children, CLOSE)
                add((CLOSE, 0, node.children, node))
                left -= 1
            while not left:
                if not above:
                    if pos < len(data) or not steps:
                        raise _UncommonError
                    return Outline(steps, singles, self.columns, self.reader is not None)
                add((SINGLE, singles, size, make))
                left, size, make = above.pop()
                left -= 1

    def _below(self, pos: int, level: int, left: int, code: int) -> int:
        """The children of a single container, over columns; gives the position behind them.

        Parameters
        ----------
        level : int
            Containers around them.
        left : int
            How many they are.
        code : int
            `_ROOT` if the container has one child over its items, `CLOSE` for a node that says how many each has.
        """
        data, depth, known, key_sets = self.data, self.depth - level, KEY_SETS.known, self.key_sets
        add = self.steps.append
        above: list[tuple[int, int, int, Any]] = []  # a stack: what the next four were around this container
        size = 0
        make: Any = None
        columns = self.columns
        while left:
            tag = data[pos]
            pos += 1
            if not tag and code != CLOSE:
                columns += 1
                left -= 1
            elif not tag:
                add((LEAF_OF, columns, 0, None))
                columns += 1
                left -= 1
            else:
                if code == CLOSE:
                    add((NEXT, columns, 0, None))
                if len(above) >= depth:
                    raise _UncommonError
                if tag == _TABLE:  # the key set is read as in the first loop: a call would cost as much as the pass
                    number = data[pos]
                    pos += 1
                    if number > 0x7F:
                        number += (_low(data[pos]) << 7) - 0x80
                        pos += 1
                    if number & 1:
                        keys = key_sets[number >> 1]
                    else:
                        start = pos
                        pos += number >> 1
                        raw = data[start:pos]
                        keys = known.get(raw) or KEY_SETS.find(raw)
                        key_sets.append(keys)
                    k = keys.size
                    if not data.startswith(keys.leaves, pos):
                        above.append((left, code, size, make))
                        left = size = k
                        code, make = ROWS, keys.rows
                        continue
                    pos += k
                    columns += k
                    add((FLAT_ROWS, columns, k, keys.rows if k else _empty_rows))
                    left -= 1
                elif tag in _SEQUENCES:
                    of = list if tag == _LIST else tuple
                    if data[pos]:
                        add((OPEN_LISTS, columns, 0, None))
                        columns += 1
                        above.append((left, code, size, make))
                        left, code, size, make = 1, LISTS, 1, of
                        continue
                    pos += 1
                    add((LEAVES, columns, 0, of))
                    columns += 2
                    left -= 1
                elif tag in _ROW_TAGS:
                    above.append((left, code, size, make))
                    left = size = _items(data[pos])
                    code, make = ROWS, _list_rows if tag == _LIST_ROW else _tuple_rows
                    pos += 1
                    continue
                elif tag == _NOTHING:
                    add((NONE_OF, columns, 0, None))
                    left -= 1
                else:
                    node, pos = self._node(tag, pos)
                    node.single = False
                    add((OPEN, columns, node.slots, node))
                    columns += node.slots
                    above.append((left, code, size, make))
                    left = size = node.children
                    code, make = CLOSE, node
            while not left and above:
                add((code, columns, size, make))
                left, code, size, make = above.pop()
                left -= 1
        self.columns = columns
        return pos

    def _node(self, tag: int, pos: int) -> tuple[Node, int]:
        """A node that is called through its own methods."""
        if tag not in OTHERS:
            raise _UncommonError
        if self.reader is None:
            self.reader = ShapeReader(Cursor(memoryview(self.data)), self.key_sets)
        cursor = self.reader.cursor
        cursor.pos = pos
        node = self.parsers[tag](tag, self.reader)
        node.parent, node.edge, node.weight = None, 0, node.weigh(tag)
        return node, cursor.pos


_ROOT = -1


def _low(byte: int) -> int:
    """The second byte of a number that has no third one."""
    if byte > 0x7F:
        raise _UncommonError
    return byte


def _items(count: int) -> int:
    """How many items a row has, if it is the common number."""
    if not 0 < count < 0x80:
        raise _UncommonError
    return count


def _empty_rows(_columns: list[Any], n: int) -> list[Any]:
    return [{} for _ in range(n)]


def _list_rows(columns: list[Any], _n: int) -> list[Any]:
    return build_lists(len(columns))(zip(*columns, strict=True))


def _tuple_rows(columns: list[Any], _n: int) -> list[Any]:
    return list(zip(*columns, strict=True))


def _tuple_of(values: list[Any]) -> tuple[Any, ...]:
    return tuple(values[0])
