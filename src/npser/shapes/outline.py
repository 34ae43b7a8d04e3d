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
from npser.shapes.node import ShapeReader
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.shapes.node import Node

__all__ = [
    "CLOSE",
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

SINGLE = 0
"""A single table or row, out of the values of its children."""
LIST = 1
"""A single sequence of leaves: a length, then a column."""
NO_ITEMS = 2
"""A single sequence that is always empty."""
OPEN_LIST = 3
"""The length of a single sequence; its items follow."""
ROWS = 4
"""Tables or rows, out of the columns of their children."""
LEAVES = 5
"""Sequences of leaves: lengths, then a column."""
OPEN_LISTS = 6
"""The lengths of sequences; their items follow."""
LISTS = 7
"""Those sequences, out of their items."""
NONE_OF = 8
"""A column of nothing."""
OPEN = 9
"""Any other node, through its `open`; its children follow."""
NEXT = 10
"""The next child of such a node."""
LEAF_OF = 11
"""The next child of such a node, which is a leaf."""
CLOSE = 12
"""Such a node, through its `close`."""

MAX_RUN = 64
"""Leaves that are looked for at a time, so that looking for them costs no more than there are."""

_ZERO: Final = bytes((Tag.LEAF,))
_LEAF, _NOTHING, _LIST, _TUPLE = int(Tag.LEAF), int(Tag.NOTHING), int(Tag.LIST), int(Tag.TUPLE)
_LIST_ROW, _TUPLE_ROW, _TABLE = int(Tag.LIST_ROW), int(Tag.TUPLE_ROW), int(Tag.TABLE)

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
    nodes : int
        How many nodes `read_shape` would make at most.
    calls : bool
        Whether some steps call nodes, and need a `Builder`.
    """

    steps: list[Step]
    singles: int
    columns: int
    nodes: int
    calls: bool


def outline_of(
    data: bytes, depth: int, parsers: Mapping[int, Callable[[int, ShapeReader], Node]]
) -> Outline | None:
    """The outline of a shape, if it is of the common sort; None as well where something is wrong with it."""
    try:
        return _outline(data, depth, parsers)
    except Exception:  # whoever reads the shape in full says what it is
        return None
