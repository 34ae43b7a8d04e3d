"""One payload with a shape, of which any part can be built alone.

Strategy: the walk knows where the slots of every node begin, so a reader is put there, and the nodes below are opened
and closed as always, as if they were the whole shape. Rows from a to b of a table are made out of slices of its
columns, which are kept once they are decoded; those of a list of lists begin where the lengths before them end. Where a
part refers to something elsewhere, all of the payload is built once, and what all such parts became is kept.

Every question has a reader of its own, so threads may ask at once, and the whole budget of the payload. What is kept
has one budget for all of it.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from npser.blocks.cursor import Cursor
from npser.columns.arrays import read_array_part
from npser.columns.slotreader import COPIES, SlotReader
from npser.columns.slots import open_slots
from npser.errors import DecodeError, LimitError
from npser.partial.closing import Tap, close_all, close_tapped
from npser.partial.handing import hand_out, may_change
from npser.partial.ranges import RANGES
from npser.partial.singles import LazySingles, SingleTable
from npser.partial.walk import Walk
from npser.shapes.build import load_shape
from npser.shapes.chains import break_chains, refuse_chains
from npser.shapes.collector import WORTH_PAUSING, pause, resume
from npser.shapes.leaves import LeafRun, Nothing, kept
from npser.shapes.node import Builder, Program
from npser.shapes.patterns import open_patterns, spread
from npser.shapes.sequences import Sequences, open_lengths
from npser.tags import FloatCode, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from npser.limits import Limits
    from npser.shapes.node import Node
    from npser.shapes.policy import Numbers, Policy

__all__ = ["Budgets", "Parts"]

Budgets = Literal["each", "one"]

MAX_LEVELS = 48
"""Nodes below one another that are cut before they are built; what is deeper is built and then cut."""

FLOAT = int(Kind.FLOAT)


class Parts:
    """The parts of one payload.

    Parameters
    ----------
    buf : memoryview
        The payload.
    pos, length : int
        Where its shape is.
    policy : Policy
        How values are built.
    numbers : {"list", "array"}
        What a column of numbers comes as.
    limits : Limits
        For the payload.
    budgets : {"each", "one"}
        Whether each question has a budget of its own, or all have one together.

    Attributes
    ----------
    nodes : list of Node
        Of the shape.
    """

    def __init__(
        self,
        buf: memoryview,
        pos: int,
        length: int,
        policy: Policy,
        numbers: Numbers,
        limits: Limits,
        budgets: Budgets = "each",
    ) -> None:
        self.buf = buf
        self.policy = policy
        self._arrays = numbers == "array"
        self._budget = self._left = limits.budget(len(buf))
        self._shared = budgets == "one"
        cursor = Cursor(buf, pos, len(buf), self._budget)
        self.program = load_shape(cursor.take(length).tobytes(), pos, limits.depth)
        self.nodes = self.program.nodes
        self._known: dict[tuple[int, int], Any] = {}
        self._structure: dict[int, Any] = {}
        self._built: dict[int, Any] | None = None
        try:
            kinds, leaves, slots = open_slots(cursor, self.program.singles, self.program.columns)
            self._table = SingleTable(kinds, leaves, slots)
            self._pools, self._kinds, self._spans = slots.pools, slots.kinds, slots.spans
            self._end = cursor.pos
            self.walk = Walk(self.program, self._table, slots, policy)
        except DecodeError as error:
            error.path = error.path or "$"
            raise

    # ------------------------------------------------------------------------------------------------- finding

    def n(self, node: int) -> int:
        """Over how many instances a node runs."""
        return self.walk.n[node]

    def children(self, node: int) -> Iterator[tuple[int, int]]:
        """(node, item) of each child: a leaf is an item of the node of all leaves that stand side by side."""
        child, stop = node + 1, self.walk.stop
        while child < stop[node]:
            for item in range(self.nodes[child].width):
                yield child, item
            child = stop[child]

    def refers(self, node: int) -> bool:
        """Whether something in a node refers to something that may be elsewhere."""
        references = self.walk.references
        return bisect_left(references, node) < bisect_left(references, self.walk.stop[node])

    def reader(self, node: int, item: int = 0, budget: int | None = None) -> SlotReader:
        """A reader of columns in front of those of a node."""
        cursor = Cursor(self.buf, self._end, len(self.buf), self._budget if budget is None else budget)
        slots = SlotReader(cursor, self._pools, 0, self._kinds, self._spans)
        self.walk.seek(slots, node, item)
        return slots

    def builder(self, node: int, budget: int | None = None) -> Builder:
        """What the nodes from this one on need to be opened."""
        slots = self.reader(node, 0, budget)
        singles = LazySingles(self._table, slots, self.walk.single(node))
        return Builder(singles, slots, slots.cursor, self.policy, self.program)

    # ------------------------------------------------------------------------------------------------- asking

    def ask(self, node: int, item: int, question: Callable[[], Any]) -> Any:
        """The answer to a question about a node; errors are those of `loads`."""
        try:
            return question()
        except DecodeError as error:
            if error.path is None:
                error.path = self.program.path(self.nodes[node], item)
            raise
        except MemoryError as error:
            raise LimitError("the payload asks for more memory than there is") from error

    def value(self, node: int, item: int = 0) -> Any:
        """The value of a node that is single."""
        if type(self.nodes[node]) is not LeafRun:
            return self.ask(node, 0, lambda: self.whole(node))
        at = self.walk.single(node) + item

        def leaf() -> Any:
            slots = self.reader(node)
            (found,) = LazySingles(self._table, slots, at).take(1)
            self.spend(slots.cursor)
            return found

        return self.ask(node, item, leaf)

    def array_part(self, node: int, number: int) -> Any:
        """One part of an array that is single and stored in parts, and nothing else of it; else None."""
        span = self._table.arrays.get(self.walk.single(node)) if self.nodes[node].single else None
        if span is None:
            return None
        cursor = Cursor(self.buf, *span, self._budget)
        return self.ask(node, 0, lambda: read_array_part(cursor, number))

    def rows(self, node: int, item: int, start: int, stop: int) -> list[Any]:
        """Instances of a node that is not single, as a list of values."""

        def cut() -> list[Any]:
            return self.part(self.builder(node), node, item, start, stop, 0)

        found: list[Any] = self.ask(node, item, cut) if start < stop else []
        return found

    def batch(self, node: int) -> Any:
        """All instances of a node that is no leaf, as a column of values."""
        return self.ask(node, 0, lambda: self.whole(node))

    def cuts(self, node: int) -> bool:
        """Whether some instances of a node can be made without making the others."""
        below = range(node, self.walk.stop[node])
        kinds = {type(self.nodes[at]) for at in below}
        return (
            not self.refers(node)
            and kinds <= {LeafRun, Nothing, *RANGES}
            and not any(type(self.nodes[at]) is Sequences and self.bounds(at) is None for at in below)
        )

    def column(self, node: int, item: int) -> Any:
        """All instances of a node that is not single: as an array if they are numbers and the caller wants it."""

        def read() -> Any:
            if type(self.nodes[node]) is LeafRun:
                arrays = self._arrays and not self.program.preserve
                slots, n = self.reader(node, item), self.n(node)
                found = self._numbers(slots, n) if arrays else slots.many(n)
                self.spend(slots.cursor)
                return found
            return self.whole(node)

        return self.ask(node, item, read)

    def spread(self, node: int, edge: int, child: tuple[int, int]) -> Any:
        """The column of one key of a table whose rows have different keys: MISSING where a row does not have it."""
        column = self.column(*child)

        def read() -> Any:
            b = self.builder(node)
            parent: Any = self.nodes[node]
            rows = open_patterns(parent, b, self.n(node), parent.patterns)
            return spread(b, [column], rows, [(0,) if edge in keys else () for keys in parent.patterns], weight=0)[0]

        return self.ask(node, 0, read)

    def spend(self, cursor: Cursor) -> None:
        """Note what a question has drawn, if all have one budget together."""
        if self._shared:
            self._budget = cursor.budget

    # ------------------------------------------------------------------------------------------------ building

    def whole(self, node: int, purse: Cursor | None = None) -> Any:
        """All instances of a node as a column, or the value of one that is single.

        Parameters
        ----------
        purse : Cursor, optional
            Of the question that this is a part of.
        """
        if self.refers(node):
            return self._among_all()[node]
        nodes = self.nodes[node : self.walk.stop[node]]
        b = self.builder(node, None if purse is None else purse.budget)
        if not nodes[0].single:
            b.counts.append(self.n(node))
        frames = self._open(nodes, b)
        found = self._close(frames, lambda: close_all(nodes, b, frames))
        if purse is None:
            self.spend(b.cursor)
        else:
            purse.budget = b.cursor.budget
        return found

    def _open(self, nodes: list[Node], b: Builder) -> list[tuple[int, Any]]:
        frames: list[tuple[int, Any]] = []
        node = None
        try:
            for node in nodes:
                if node.single:
                    node.charge(b.cursor, 1)
                    frames.append((1, node.open(b, 1)))
                    continue
                n = b.counts.pop()
                if node.width > 1:
                    del b.counts[1 - node.width :]
                node.charge(b.cursor, n)
                frames.append((n, node.open(b, n)))
        except DecodeError as error:
            if error.path is None and node is not None:
                error.path = self.program.path(node, error.item)
            raise
        return frames

    def _close(self, frames: list[tuple[int, Any]], close: Callable[[], Any]) -> Any:
        if sum([n for n, _ in frames]) < WORTH_PAUSING:
            return close()
        pause()
        try:
            return close()
        finally:
            resume()

    def _among_all(self) -> dict[int, Any]:
        """The same for every node that refers to others; for that, all of the payload is built."""
        if self._built is not None:
            return self._built
        b = self.builder(0)
        try:
            built = self._build_all(b)
            if self.program.chains:
                refuse_chains(b.cursor, b.numbered)
        except BaseException:
            if self.program.chains:
                break_chains(b.numbered)
            raise
        self._built = built
        return built

    def _build_all(self, b: Builder) -> dict[int, Any]:
        program = self.program
        frames = self._open(self.nodes, b)
        taps: dict[int, Tap] = {}
        nodes: list[Any] = [*self.nodes]
        for number, node in enumerate(self.nodes):
            if self.refers(number):
                tap = taps[number] = Tap(node)
                if node.children:
                    nodes[number] = tap
                else:  # a REFERENCE has found its objects
                    tap.found = frames[number][1]
        tapped = Program(nodes, program.singles, program.columns, preserve=program.preserve, references=True)
        self._close(frames, lambda: close_tapped(tapped, b, frames))
        for number, tap in taps.items():
            node = self.nodes[number]
            if not node.children:  # they are all there now
                things = kept(tap.found)
                tap.found = things[0] if node.single else things
        return {number: tap.found for number, tap in taps.items()}

    # ---------------------------------------------------------------------------------------- parts of columns

    def part(self, b: Builder, node: int, item: int, start: int, stop: int, level: int) -> list[Any]:
        """Instances of a node from `start` to `stop`, where that is no single one."""
        if start >= stop:
            return []
        parent = self.nodes[node]
        if type(parent) is LeafRun:
            cells, changes = self.cells(node, item)
            own: list[Any] = cells[start:stop].tolist() if isinstance(cells, np.ndarray) else cells[start:stop]
            return list(map(hand_out, own)) if changes else own
        cut = RANGES.get(type(parent))
        if cut is None or level == MAX_LEVELS or self.refers(node):
            found = None
        else:
            found = cut(self, b, node, start, stop, level + 1)
        if found is None:
            whole: list[Any] = self.whole(node, b.cursor)
            return whole[start:stop]
        return found

    def cells(self, node: int, item: int) -> tuple[Any, bool]:
        """A column of leaves that is kept, as an array if it is one of numbers; and whether any of them may change."""
        found = self._known.get((node, item))
        if found is None:
            slots = self.reader(node, item, self._left)
            cells = self._numbers(slots, self.n(node))
            found = cells, not isinstance(cells, np.ndarray) and may_change(cells)
            self._keep(self._known, (node, item), found, slots.cursor)
        return found

    def _keep(self, where: dict[Any, Any], key: Any, found: Any, cursor: Cursor) -> None:
        """Keep something: all that is kept draws on one budget, each of them once."""
        if where.setdefault(key, found) is found:
            self._left = min(self._left, cursor.budget)

    def bounds(self, node: int) -> list[int] | None:
        """Where the items of each instance of a sequence or a mapping begin, and the end; None where copies are."""
        if node not in self._structure:
            b = self.builder(node, self._left)
            parent = self.nodes[node]
            copies = b.slots.kinds[b.slots.next] == COPIES and not parent.hashes
            lengths = None if copies else open_lengths(parent, b, self.n(node))
            bounds = None if lengths is None else list(accumulate(lengths, initial=0))
            self._keep(self._structure, node, bounds, b.cursor)
        found: list[int] | None = self._structure[node]
        return found

    def codes(self, node: int) -> list[int]:
        """Which of its children each instance of a union is."""
        if node not in self._structure:
            b = self.builder(node, self._left)
            self._keep(self._structure, node, self.nodes[node].open(b, self.n(node)), b.cursor)
        found: list[int] = self._structure[node]
        return found

    def _numbers(self, slots: SlotReader, n: int) -> Any:
        """The next column, as an array if it is one of numbers; one that looks into the payload if it may."""
        if self.policy.copy == "never" and n and slots.kinds[slots.next] == FLOAT:
            start, stop = slots.spans[slots.next_span]
            if stop - start == 1 + 8 * n and self.buf[start] == FloatCode.F64:
                return np.frombuffer(self.buf[start + 1 : stop].toreadonly(), "<f8")
        return slots.numbers(n)
