"""Closing nodes in the order in which they stand, for payloads where what is hashed may be a reference.

Strategy: an object has no hash (or, with defaults in its class, a wrong one) before its fields are set. Children first,
and earlier siblings before later ones, completes every object that was met before, but for those whose batch is still
open: they hold, at some depth, what is being closed. A dict or a set with one of these among its keys is made empty and
gets its contents at the very end; a frozenset cannot, so the writer does not write one. Objects that are hashed by
their identity may be hashed at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npser.errors import DecodeError
from npser.shapes.leaves import LeafRun, Reference, is_hashed_by_identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from npser.shapes.node import Builder, Program

__all__ = ["close_in_order"]


class _Closing:
    """The state of one walk.

    Attributes
    ----------
    above : list of (int, int)
        The nodes that are open: their number, and how many of their children are not closed.
    columns : list of list
        A stack: what is finished and not yet part of a container.
    """

    def __init__(self, program: Program, b: Builder, frames: list[tuple[int, Any]]) -> None:
        self.program = program
        self.b = b
        self.frames = frames
        self.above: list[tuple[int, int]] = []
        self.columns: list[Any] = []
        self.late: list[tuple[Any, Callable[[Any, Any], object], list[Any]]] = []
        self._owners: dict[int, int] | None = None

    def close(self, at: int) -> None:
        """Close one node, whose children are the last columns (or values, where it is single and hands that on)."""
        node = self.program.nodes[at]
        n, frame = self.frames[at]
        if type(node) is LeafRun:
            self.columns += frame
            return
        start = len(self.columns) - node.children
        own = self.columns[start:]
        del self.columns[start:]
        self.b.late = self.late if node.hashes and self._waits(at) else None
        try:
            self.columns.append(
                node.close_single(self.b, frame, own) if node.single else node.close(self.b, n, frame, own)
            )
        except DecodeError as error:
            if error.path is None:
                error.path = self.program.path(node)
            raise

    def _waits(self, at: int) -> bool:
        """Whether what a node hashes refers to objects that are not complete."""
        nodes = self.program.nodes
        found: list[Any] = []
        child, more = at + 1, 1
        while more:
            if type(nodes[child]) is Reference:
                found += [thing for thing in self.frames[child][1] if not is_hashed_by_identity(type(thing))]
            more += nodes[child].children - nodes[child].width
            child += 1
        if not found:
            return False
        if self._owners is None:
            self._owners = {
                id(thing): number
                for number, node in enumerate(nodes)
                for thing in node.objects(self.frames[number][1])
            }
        open_now = {number for number, _ in self.above}
        return any(self._owners.get(id(thing)) in open_now for thing in found)

    def fill_late(self) -> None:
        """Give the containers that were left empty their contents."""
        for container, move, contents in self.late:
            try:
                move(container, contents)
            except Exception as error:
                raise self.b.cursor.fail(f"a key that a dict or a set cannot hold: {error}") from error
            if len(container) != len(contents):
                raise self.b.cursor.fail("a key stands twice in one dict or set")


def close_in_order(program: Program, b: Builder, frames: list[tuple[int, Any]]) -> Any:
    """Close all nodes of a program, whose `open` gave the frames; the value."""
    closing = _Closing(program, b, frames)
    above = closing.above
    for number, node in enumerate(program.nodes):
        at, left, width = number, node.children, node.width
        while not left:
            closing.close(at)
            if not above:
                break
            at, left = above.pop()
            left -= width
            width = 1
        else:
            above.append((at, left))
    closing.fill_late()
    return closing.columns[0]
