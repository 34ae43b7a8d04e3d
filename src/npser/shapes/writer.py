"""What the placers of all nodes share while a value is being written.

Strategy: the mirror of `Builder`. A placer takes a column, writes its node and slots, and pushes the columns of its
children; the loop in `infer` pops the next. So the shape is written in pre-order without recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.sink import Sink
from npser.columns.kinds import LEAF_TYPES
from npser.columns.slotwriter import SlotWriter
from npser.errors import EncodeError
from npser.limits import MAX_DEPTH
from npser.shapes.column import Column, Leaves
from npser.shapes.cycles import find_cycle
from npser.shapes.keysets import KEY_SETS
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.shapes.column import Step

__all__ = ["ShapeWriter"]

LEAF: Final = int(Tag.LEAF)

CYCLE_CHECK_DEPTH = 16
"""At this depth, which data rarely reaches, plain containers are checked for cycles, once for all below."""

CHAINED_DEPTH = 64
"""Each column holds its parent; below this depth all are held until the end, or freeing the last one would free the
whole chain in one recursion of C code, which CPython 3.13 does not bound by the size of the stack."""

CYCLE_CHECK_ITEMS = 1 << 16
"""A column of more items than this, out of containers that repeat, is checked at any depth: a cycle that branches
grows faster than it gets deep."""


WriteFields = Callable[["ShapeWriter", Iterable[Sequence[Any]], int, int, Column], None]


class ShapeWriter:
    """The state of one `dumps`.

    Parameters
    ----------
    sink : Sink
        Scratch space for bodies, and the payload's budget.
    default : callable | None
        Gives a substitute for a value that npser refuses.
    preserve : bool
        Whether lists, dicts, sets and deques keep their identity.
    apart : bool
        Whether objects are written one by one instead of in batches.

    Attributes
    ----------
    quick : callable | None
        `quick.write_fields`, where somebody starts anew without it if something is refused.
    """

    def __init__(
        self, sink: Sink, default: Callable[[Any], Any] | None, *, preserve: bool, apart: bool = False
    ) -> None:
        self.shape = Sink()
        self.slots = SlotWriter(sink)
        self.sink = sink
        self.default = default
        self.preserve = preserve
        self.apart = apart
        self.quick: WriteFields | None = None
        self.batches: dict[Column, range] = {}  # a column of objects -> their numbers
        self.building: set[Column] = set()  # columns of objects that are complete only when they are built
        self.stack: list[Column] = []
        self.numbers: dict[int, int] = {}  # id of an object -> its number
        self.classes: dict[str, type] = {}  # wire name -> the class that has it in this payload
        self.keep: list[Any] = []  # temporaries whose id() must not be given to others
        self.names: dict[str, int] = {}
        self.key_sets: dict[bytes, int] = {}

    def node(self, tag: Tag) -> None:
        """Write a tag."""
        self.shape.out.append(tag)

    def count(self, n: int) -> None:
        """Write a count."""
        self.shape.uvarint(n)

    def name(self, name: str) -> None:
        """Write the name of a class, or the number under which it came before."""
        known = self.names.get(name)
        if known is not None:
            self.shape.uvarint(known << 1 | 1)
            return
        self.names[name] = len(self.names)
        raw = name.encode("utf-8", "surrogatepass")
        self.shape.uvarint(len(raw) << 1)
        self.shape.out += raw

    def keys(self, keys: tuple[str, ...]) -> None:
        """Write a key set, or the number under which it came before."""
        self.key_set(KEY_SETS.data(keys))

    def key_set(self, raw: bytes) -> None:
        """The same by its bytes."""
        key_sets, shape = self.key_sets, self.shape
        known = key_sets.get(raw)
        if known is not None:
            shape.uvarint(known << 1 | 1)
            return
        key_sets[raw] = len(key_sets)
        shape.uvarint(len(raw) << 1)
        shape.out += raw

    def one(self, column: Column, value: Any) -> None:
        """Write the slot of a leaf that is alone in its column."""
        if column.single:
            self.slots.singles.one(value)
        else:
            self.slots.many((value,), {type(value)})

    def many(self, column: Column, values: Sequence[Any], types_met: set[type]) -> None:
        """Write the slot of one leaf for each instance of a column."""
        if column.single:
            self.slots.singles.one(values[0])
        else:
            self.slots.many(values, types_met)

    def ints(self, column: Column, values: Sequence[int]) -> None:
        """Write the slot of one length or code for each instance of a column."""
        if column.single:
            self.slots.singles.one(values[0])
        else:
            self.slots.ints(values)

    def patterns(self, patterns: Sequence[Sequence[int]]) -> None:
        """Write which keys the instances of each pattern have, in which order."""
        shape = self.shape
        shape.uvarint(len(patterns))
        for pattern in patterns:
            shape.uvarint(len(pattern))
            if max(pattern, default=0) < 0x80:
                shape.out += bytes(pattern)
                continue
            for number in pattern:
                shape.uvarint(number)

    def enter(self, column: Column) -> int:
        """The depth of the children of a column of containers; EncodeError where that is too deep."""
        depth = column.depth + 1
        if depth == CYCLE_CHECK_DEPTH:
            self.check_cycles(column)
        if depth > CHAINED_DEPTH:
            self.keep.append(column)
        if depth > MAX_DEPTH:
            raise self.refuse(column, 0, f"more than {MAX_DEPTH} containers within each other")
        return depth

    def guard(self, column: Column, total: int) -> None:
        """Check that containers which hold `total` items may be laid end to end."""
        n = len(column.values)
        if total > CYCLE_CHECK_ITEMS and total > 8 * n and column.depth and len(set(map(id, column.values))) < n:
            self.check_cycles(column)

    def check_cycles(self, column: Column) -> None:
        """Refuse plain containers that hold themselves."""
        if self.preserve:
            return  # numbers end every cycle
        for item, value in enumerate(column.values):
            steps = find_cycle(value)
            if steps is not None:
                raise self.refuse(
                    column, item, 'a container holds itself; pass identity="preserve" to keep cycles', steps
                )

    def weigh(self, column: Column, weight: int) -> None:
        """Count the instances of a container, each of so many cells."""
        self.sink.expand(len(column.values) * weight)

    def push(self, values: Sequence[Any], depth: int, parent: Column, step: Step) -> None:
        """Let a column of children be written next (the last one pushed comes first)."""
        self.stack.append(Column(values, depth, parent, step))

    def push_field(self, values: Sequence[Any], depth: int, parent: Column, step: Step) -> None:
        """The same for children of which each instance of the parent has exactly one."""
        self.stack.append(Column(values, depth, parent, step, single=parent.single))

    def push_fields(
        self,
        columns: Iterable[Sequence[Any]],
        names: Sequence[Any],
        depth: int,
        parent: Column,
        make_step: Callable[[Any], Step],
    ) -> None:
        """Write children of which each of several instances has exactly one, or let them be written next, in order.

        Columns of leaves are written here, up to the first one that is not.
        """
        quick = self.quick
        if quick is not None:
            quick(self, columns, len(parent.values), depth, parent)
            return
        rest: list[Column] = []
        leaves, shape = self.slots.leaves, self.shape.out
        direct = self.default is None
        for name, values in zip(names, columns, strict=True):
            if direct:
                try:
                    if leaves(values):
                        shape.append(LEAF)
                        continue
                except EncodeError as error:
                    if error.path is None:
                        error.path = Column(values, depth, parent, make_step(name)).path(error.item or 0)
                    raise
                direct = False
            rest.append(Column(values, depth, parent, make_step(name), single=parent.single))
        self.stack += reversed(rest)

    def push_singles(
        self,
        values: Sequence[Any],
        names: Sequence[Any],
        depth: int,
        parent: Column,
        make_step: Callable[[Any], Step],
    ) -> None:
        """Let the children of a single container be written next, in their order; leaves side by side go together."""
        stop = len(values)
        for index in range(stop - 1, -1, -1):
            if type(values[index]) not in LEAF_TYPES:
                if index + 1 < stop:
                    leaves = slice(index + 1, stop)
                    self.stack.append(Leaves(values[leaves], names[leaves], depth, parent, make_step))
                step = make_step(names[index])
                self.stack.append(Column((values[index],), depth, parent, step, single=parent.single))
                stop = index
        if stop:
            self.stack.append(Leaves(values[:stop], names[:stop], depth, parent, make_step))

    def refuse(self, column: Column, item: int, message: str, below: str = "") -> EncodeError:
        """An error that names the place of an item; the caller raises it."""
        return EncodeError(message, path=column.path(item) + below)
