"""Closing nodes in the order in which they stand: for payloads where what is hashed may be a reference, and for shapes
of which not all nodes are kept.

Strategy: nodes come in pre-order, and each is closed as soon as all that it holds is. So no more nodes are needed at a
time than there are within each other. An object has no hash (or, with defaults in its class, a wrong one) before its
fields are set. Children first, and earlier siblings before later ones, completes every object that was met before, but
for those whose batch is still open: they hold, at some depth, what is being closed. A dict or a set with one of these
among its keys is made empty and gets its contents at the very end; a frozenset cannot, so the writer does not write
one. Objects that are hashed by their identity may be hashed at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from npser.errors import DecodeError
from npser.shapes.leaves import LeafRun, Reference, is_hashed_by_identity
from npser.shapes.sequences import Rows
from npser.shapes.widerows import MAX_ZIPPED, extend_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from npser.shapes.node import Builder, Node, Program

__all__ = ["close_in_order"]

NEVER: Final = 1 << 62
"""The level of no node."""

NO_CELLS: Final = ()
"""A column of no cells, for all nodes that only take from it."""


class _Open:
    """A node of which not all children are closed.

    Attributes
    ----------
    left : int
        How many are not.
    first, lowest : int
        The level of the outermost open node of which an object is referred to from inside of the first child, and from
        inside of any.
    rows : list of list, or None
        What a very wide row has so far: columns of a cell or two take more than what is in them.
    start : int
        Where its children begin on the stack.
    """

    __slots__ = ("first", "frame", "left", "lowest", "n", "node", "rows", "start")

    def __init__(self, node: Node, n: int, frame: Any, start: int) -> None:
        self.node = node
        self.n = n
        self.frame = frame
        self.left = node.children
        self.first = self.lowest = NEVER
        self.start = start
        wide = node.children > MAX_ZIPPED and not node.single and isinstance(node, Rows)
        self.rows: list[list[Any]] | None = [[] for _ in range(n)] if wide else None

    def note(self, edge: int, lowest: int) -> None:
        """Such a level, from inside of one of its children."""
        self.lowest = min(self.lowest, lowest)
        if not edge:
            self.first = min(self.first, lowest)


class _Closing:
    """The state of one walk."""

    def __init__(self, program: Program, b: Builder) -> None:
        self._program = program
        self._b = b
        self._above: list[_Open] = []
        self._done: list[Any] = []  # a stack: what is closed and not yet part of a container
        self._late: list[tuple[Any, Callable[[Any, Any], object], list[Any]]] = []
        self._levels: dict[int, int] | None = {} if program.ordered else None  # of the objects of open nodes, by id
        self._rows = b.policy.tables == "rows"  # where no column of a table becomes part of the value

    def take(self, node: Node, n: int, frame: Any) -> None:
        """The next node, the number of its instances, and what its `open` gave."""
        above = self._above
        levels = self._levels
        lowest = NEVER
        if node.children:
            if levels is not None:
                levels.update(dict.fromkeys(map(id, node.objects(frame)), len(above)))
            above.append(_Open(node, n, frame, len(self._done)))
            return
        if type(node) is LeafRun:
            self._done += frame
        else:
            if levels is not None and type(node) is Reference:
                lowest = _outermost(levels, frame)
            self._close(node, n, frame, [])
        edge, width = node.edge, node.width
        while above:
            top = above[-1]
            top.left -= width
            if lowest < NEVER:
                top.note(edge, lowest)
            if top.rows is not None and (not top.left or len(self._done) - top.start >= MAX_ZIPPED):
                extend_rows(top.rows, self._done[top.start :])
                del self._done[top.start :]
            if top.left:
                return
            above.pop()
            edge, lowest, width = top.node.edge, top.lowest, 1
            self._close_open(top, len(above))

    def _close_open(self, top: _Open, level: int) -> None:
        node, frame = top.node, top.frame
        self._b.late = self._late if node.hashes and top.first < level else None
        if top.rows is not None and isinstance(node, Rows):
            self._done.append(node.close_rows(self._b, frame, map(tuple, top.rows)))
        else:
            own = self._done[top.start :]
            del self._done[top.start :]
            self._close(node, top.n, frame, own)
        if self._levels is not None:
            for thing in node.objects(frame):
                del self._levels[id(thing)]

    def _close(self, node: Node, n: int, frame: Any, own: list[Any]) -> None:
        if not n and self._rows:
            self._done.append(NO_CELLS if node.in_row else [])
            return
        try:
            self._done.append(
                node.close_single(self._b, frame, own) if node.single else node.close(self._b, n, frame, own)
            )
        except DecodeError as error:
            if error.path is None:
                error.path = self._program.path(node, error.item)
            raise

    def finish(self) -> Any:
        """The value, when all nodes were taken; the containers that were left empty get their contents."""
        for container, move, contents in self._late:
            try:
                move(container, contents)
            except Exception as error:
                raise self._b.cursor.fail(f"a key that a dict or a set cannot hold: {error}") from error
            if len(container) != len(contents):
                raise self._b.cursor.fail("a key stands twice in one dict or set")
        return self._done[0]


def _outermost(levels: dict[int, int], things: list[Any]) -> int:
    """The level of the outermost open node of which one of these is an object, but for those that may be hashed."""
    return min(
        [levels[id(thing)] for thing in things if id(thing) in levels and not is_hashed_by_identity(type(thing))],
        default=NEVER,
    )


def close_in_order(program: Program, b: Builder, opened: Iterable[tuple[Node, int, Any]]) -> Any:
    """Close all nodes of a program; the value.

    Parameters
    ----------
    opened : iterable of (Node, int, object)
        The nodes in pre-order, over how many instances each is, and what its `open` gave.
    """
    closing = _Closing(program, b)
    for node, n, frame in opened:
        closing.take(node, n, frame)
    return closing.finish()
