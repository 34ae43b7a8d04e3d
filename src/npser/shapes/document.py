"""Documents: dicts, tuples and objects within each other whose keys come back, and how they are written.

Strategy: the mirror of `hot`. A value that was met often enough was looked at once (`documentcode`): which containers
are in it, with which keys. Generated code takes the next one of the same sort apart into its leaves, which are written
many at a time, and into what is neither a leaf nor such a container, which is written as ever. What does not have the
expected keys is written as ever, too; either way gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.sink import Sink
from npser.columns.kinds import LEAF_TYPES
from npser.columns.leafplans import write_planned
from npser.shapes.column import Column
from npser.shapes.infer import write_columns
from npser.shapes.quick import are_quick, write_items, write_list
from npser.shapes.templates import Generated
from npser.shapes.writer import CYCLE_CHECK_DEPTH, ShapeWriter
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.columns.singles import SingleWriter

__all__ = [
    "Document",
    "Mark",
    "MisfitError",
    "Parts",
    "Step",
    "Stretch",
    "mark_raw",
    "mark_record",
    "mark_table",
    "put_child",
    "put_leaf_list",
    "put_leaves",
    "put_list",
    "put_stretch",
    "write_all",
]

_LEAF: Final = bytes((Tag.LEAF,))

Parts = tuple[Any, ...]


class Document:
    """How to write values of one sort.

    Parameters
    ----------
    generated : Generated
        The source of `take`.
    take : callable
        From a value to its parts: tuples of leaves, and what is no leaf, in the order of the steps. None, or an
        AttributeError, a KeyError or a ValueError, where the keys are others.
    steps : list of (callable, argument)
        What to write, in that order.

    Attributes
    ----------
    alone : bytes or None
        The shape, where nothing but tables and leaves is in it; then the only part are the leaves.
    """

    __slots__ = ("_steps", "_take", "alone", "generated")

    def __init__(
        self,
        generated: Generated,
        take: Callable[[Any], Parts | None],
        steps: Sequence[tuple[Step, Any]],
    ) -> None:
        self.generated = generated
        self._take = take
        self._steps = steps
        what = [step for step, _ in steps]
        self.alone: bytes | None = steps[1][1].nodes if what == [put_leaves, put_stretch] else None

    def take(self, value: Any) -> Parts | None:
        """The parts of a value, or None where it is of another sort."""
        try:
            return self._take(value)
        except (AttributeError, KeyError, ValueError):  # other keys or fields; more, or fewer
            return None

    def write(self, w: ShapeWriter, parts: Parts) -> None:
        """Write the shape and the slots of a value that was taken apart.

        Raises
        ------
        MisfitError
            There is something else in the place of a leaf or a list; what was written is of no use.
        """
        part = iter(parts)
        for step, argument in self._steps:
            step(w, argument, part)


Step = Callable[["ShapeWriter", Any, Iterator[Any]], None]


class MisfitError(Exception):
    """There is something else in the place of a leaf, or of a list."""


Mark = Callable[["ShapeWriter"], None]
"""Writes what the shape has of one container, or of some leaves."""


class Stretch:
    """Containers and leaves that stand next to each other in the shape, with nothing else between them.

    Attributes
    ----------
    nodes : bytes
        What the shape has of them where nothing stands before them.
    """

    __slots__ = ("_first", "_key_sets", "_marks", "_names", "nodes")

    def __init__(self, marks: Sequence[Mark], *, first: bool) -> None:
        self._first = first
        self._marks = marks
        w = ShapeWriter(Sink(), None, preserve=False)
        for mark in marks:
            mark(w)
        self.nodes, self._key_sets, self._names = bytes(w.shape.out), w.key_sets, w.names

    def write(self, w: ShapeWriter) -> None:
        """Write the nodes."""
        if self._first:
            w.shape.out += self.nodes
            w.key_sets.update(self._key_sets)
            w.names.update(self._names)
        else:
            for mark in self._marks:
                mark(w)


def mark_raw(raw: bytes, w: ShapeWriter) -> None:
    """Nodes that are always the same bytes."""
    w.shape.out += raw


def mark_table(keys: tuple[str, ...], w: ShapeWriter) -> None:
    """A dict."""
    w.node(Tag.TABLE)
    w.keys(keys)


def mark_record(stamp: str, keys: tuple[str, ...], w: ShapeWriter) -> None:
    """An object."""
    w.node(Tag.RECORD)
    w.name(stamp)
    w.keys(keys)


def write_all(w: SingleWriter, leaves: tuple[Any, ...]) -> None:
    """Write the leaves of a document; MisfitError where one of them is something else."""
    if not write_planned(w, leaves):
        if not LEAF_TYPES.issuperset(map(type, leaves)):
            raise MisfitError
        w.many(leaves)


def put_leaves(w: ShapeWriter, _argument: None, part: Iterator[Any]) -> None:
    """Leaves of all that follows, up to the next child."""
    write_all(w.slots.singles, next(part))


def put_stretch(w: ShapeWriter, stretch: Stretch, _part: Iterator[Any]) -> None:
    """Nodes."""
    stretch.write(w)


def put_list(w: ShapeWriter, depth: int, part: Iterator[Any]) -> None:
    """What is a list, or a leaf: its length, or the leaf, is among the leaves that were written."""
    value, size = next(part), next(part)
    if type(value) is not list:
        w.shape.out += _LEAF
        return
    items = value.copy()
    if len(items) != size or not are_quick(items, depth):
        raise MisfitError
    write_items(w, items, depth)


def put_leaf_list(w: ShapeWriter, depth: int, part: Iterator[Any]) -> None:
    """The same; but in a document with objects a list must not hold one of them again."""
    value, size = next(part), next(part)
    if type(value) is list and value and type(value[0]) not in LEAF_TYPES:
        raise MisfitError
    put_list(w, depth, iter((value, size)))


def put_child(w: ShapeWriter, depth: int, part: Iterator[Any]) -> None:
    """Any other container, which may have leaves of its own."""
    value = next(part)
    if type(value) is list and write_list(w, value, depth):
        return
    column = Column((value,), depth, single=True)
    if depth >= CYCLE_CHECK_DEPTH:
        w.check_cycles(column)
    w.stack.append(column)
    write_columns(w)
