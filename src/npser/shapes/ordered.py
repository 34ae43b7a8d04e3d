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

    from npser.shapes.node import Builder, Node, Program

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
        self._oldest: dict[int, int] | None = None

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
        if self._oldest is None:
            self._oldest = self._find_oldest()
        return self._oldest.get(at, at) < at

    def _find_oldest(self) -> dict[int, int]:
        """For each node that hashes, the first node of which an object is referred to from inside of it, by what is
        hashed; if there is any.

        One pass for all of them, since what is hashed may be within other such nodes, many hundred of them.
        """
        nodes = self.program.nodes
        ends, of_references = _ends(nodes), self._owners_of_references()
        oldest: dict[int, int] = {}
        if not of_references:
            return oldest
        never = len(nodes)
        stack: list[int] = []  # for each child of the next container the first such node, the first child on top
        for number in range(len(nodes) - 1, -1, -1):
            node = nodes[number]
            if node.hashes:
                oldest[number] = stack[-1]
            own = stack[len(stack) - node.children :]
            del stack[len(stack) - node.children :]
            own += [owner for owner in of_references.get(number, ()) if owner < number < ends[owner]]
            stack += [min(own, default=never)] * node.width
        return oldest

    def _owners_of_references(self) -> dict[int, set[int]]:
        """For each REFERENCE the nodes of its objects, but for those that may be hashed at any time."""
        nodes = self.program.nodes
        things_of: dict[int, list[Any]] = {}
        for number, node in enumerate(nodes):
            if type(node) is Reference:
                things = self.frames[number][1]
                kinds = {kind for kind in set(map(type, things)) if not is_hashed_by_identity(kind)}
                if kinds:
                    things_of[number] = [thing for thing in things if type(thing) in kinds]
        if not things_of:
            return {}
        owners = {
            id(thing): number for number, node in enumerate(nodes) for thing in node.objects(self.frames[number][1])
        }
        return {
            number: {owners[id(thing)] for thing in things if id(thing) in owners}
            for number, things in things_of.items()
        }

    def fill_late(self) -> None:
        """Give the containers that were left empty their contents."""
        for container, move, contents in self.late:
            try:
                move(container, contents)
            except Exception as error:
                raise self.b.cursor.fail(f"a key that a dict or a set cannot hold: {error}") from error
            if len(container) != len(contents):
                raise self.b.cursor.fail("a key stands twice in one dict or set")


def _ends(nodes: list[Node]) -> list[int]:
    """For each node the number behind the last one inside of it."""
    ends = [0] * len(nodes)
    stack: list[int] = []
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        ends[number] = stack[len(stack) - node.children] if node.children else number + 1
        del stack[len(stack) - node.children :]
        stack += [ends[number]] * node.width
    return ends


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
