"""A whole shape, and what is remembered of it.

Strategy: a shape that has an outline is a list of steps, and gets its nodes only when somebody asks for them: a reader
that is generated, a view, an error that says where in the value it happened. One that is denser than any honest one is
read again for each walk, so that a byte of it never becomes a node that stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from npser.shapes.exactreader import ExactReader, Mixture
    from npser.shapes.hot import Reader
    from npser.shapes.node import Node
    from npser.shapes.outline import Outline

__all__ = ["Program"]


class Program:
    """A whole shape: its nodes in pre-order, and what can be known before any data is seen.

    Parameters
    ----------
    nodes : list of Node, or None
        None where `read` gives them anew each time that it is called.

    Attributes
    ----------
    outline : Outline or None
        How values are built without nodes; see `outline`.
    dense : bool
        Whether there are so many nodes that none is kept that is not needed.
    size : int
        How many nodes there are, or would be at most.
    singles, columns : int
        How many slots of each sort it has.
    meetings : dict of bytes to int
        How often a payload of this shape was read, by the signature of its single leaves.
    readers : dict of bytes to Reader
        The functions that read it, once it was met often enough, by signature; see `hot`.
    exact : dict of bytes to ExactReader or int
        The functions for one mixture of columns each, or how often a mixture was met; see `exactreader`.
    mixtures : dict of bytes to Mixture
        What the kinds of all slots say, so that it is found out once.
    chains : bool
        Whether containers that are freed by recursion may hold one another in a chain of any length; see `chains`.
    ordered : bool
        Whether nodes must be closed in the order in which they stand: what is hashed may be a reference.
    """

    __slots__ = (
        "_nodes",
        "_read",
        "chains",
        "columns",
        "dense",
        "exact",
        "meetings",
        "mixtures",
        "ordered",
        "outline",
        "preserve",
        "readers",
        "references",
        "singles",
        "size",
    )

    def __init__(
        self,
        nodes: list[Node] | None,
        singles: int,
        columns: int,
        *,
        preserve: bool = False,
        references: bool = False,
        chains: bool = False,
        hashes: bool | None = None,
        size: int = 0,
        outline: Outline | None = None,
        read: Callable[[], Iterable[Node]] | None = None,
    ) -> None:
        self._nodes = nodes
        self._read = read
        self.outline = outline
        self.dense = nodes is None and outline is None
        self.size = size or len(self.nodes)
        self.singles = singles
        self.columns = columns
        self.meetings: dict[bytes, int] = {}
        self.readers: dict[bytes, Reader] = {}
        self.exact: dict[bytes, ExactReader | int] = {}
        self.mixtures: dict[bytes, Mixture] = {}
        self.preserve = preserve
        self.references = references
        self.chains = chains
        self.ordered = references and (any(node.hashes for node in self.nodes) if hashes is None else hashes)

    @property
    def nodes(self) -> list[Node]:
        """The nodes in pre-order."""
        if self._nodes is None:
            self._nodes = list(self.walk())
        return self._nodes

    def walk(self) -> Iterable[Node]:
        """The same for a single pass, and they are not kept."""
        if self._nodes is None and self._read is not None:
            return self._read()
        return self._nodes or ()

    def path_of_single(self, number: int) -> str:
        """Where in the value a single slot stands."""
        for node in self.walk():
            if node.single:
                if number < node.slots:
                    return self.path(node, number if node.width > 1 else 0)
                number -= node.slots
        return "$"

    def path(self, node: Node, item: int = 0) -> str:
        """Where in the value a node stands, or one of the leaves that it is, like ``$['orders'][*]['price']``."""
        steps = []
        edge = node.edge + item
        while node.parent is not None:
            steps.append(node.parent.step(edge))
            node = node.parent
            edge = node.edge
        return "$" + "".join(reversed(steps))
