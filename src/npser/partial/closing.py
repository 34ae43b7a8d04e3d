"""Closing nodes that were opened, where not all of a shape is to be built, or where something on the way is to be kept.

Strategy: the same loop in reverse that building a value makes. A node whose columns are wanted is replaced by one that
does the same and keeps what it gave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npser.shapes.leaves import LeafRun
from npser.shapes.ordered import close_in_order

if TYPE_CHECKING:
    from npser.shapes.node import Builder, Node, Program

__all__ = ["Tap", "close_all", "close_tapped"]


class Tap:
    """A node that keeps what it gave."""

    __slots__ = ("_node", "found")

    def __init__(self, node: Node) -> None:
        self._node = node
        self.found: Any = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """All instances."""
        self.found = self._node.close(b, n, frame, columns)
        return self.found

    def close_single(self, b: Builder, frame: Any, values: list[Any]) -> Any:
        """The only one."""
        self.found = self._node.close_single(b, frame, values)
        return self.found


def close_all(nodes: list[Node], b: Builder, frames: list[tuple[int, Any]]) -> Any:
    """Close nodes in reverse, whose `open` gave the frames: what the first one gives."""
    done: list[Any] = []
    for node in reversed(nodes):
        n, frame = frames.pop()
        if type(node) is LeafRun:
            done += frame[::-1]
            continue
        own = done[: -node.children - 1 : -1] if node.children else []
        if own:
            del done[-len(own) :]
        done.append(node.close_single(b, frame, own) if node.single else node.close(b, n, frame, own))
    return done[0]


def close_tapped(program: Program, b: Builder, frames: list[tuple[int, Any]]) -> Any:
    """The same for a whole program."""
    if not program.ordered:
        return close_all(program.nodes, b, frames)
    opened = zip(program.nodes, frames, strict=True)
    return close_in_order(program, b, ((node, n, frame) for node, (n, frame) in opened))
