"""Objects that are made out of their state: BUILT, for classes that say so and for types that own their bytes.

Strategy: a class that was registered with `state=` and `build=` says itself what it is made of, and may then be
anything. The states of a batch are one column. An object exists when its state is complete and not before, so a state
cannot lead back to it; where a payload has references, nodes are closed in order, and a promise takes the place of the
object until then. A type with `pack` and `unpack` is the same with bytes for a state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from npser.errors import DecodeError, EncodeError, TruncatedError
from npser.shapes.column import at_item
from npser.shapes.gate import find_class, read_class
from npser.shapes.leaves import Promise
from npser.shapes.node import Node
from npser.shapes.plans import upgrade_of
from npser.shapes.sequences import Rows, Sequences
from npser.stream.packable import pack, unpack
from npser.tags import Node as Tag
from npser.types.placeholder import Placeholder
from npser.types.registry import registration_of
from npser.types.schema import schema_of
from npser.weights import NODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from npser.shapes.column import Column
    from npser.shapes.gate import Stored
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = ["STEP", "Built", "build_objects", "keep_states", "place_built", "place_built_placeholders", "state_of"]

STEP: Final = ".state()"
"""How a state is reached from its object, in a path."""


class Built(Node):
    """Objects by what they are built from; one child."""

    __slots__ = ("stored",)
    passes = True
    hashes = True  # a state is complete before anybody gets it, as is what is hashed

    def __init__(self, stored: Stored) -> None:
        super().__init__(1)
        self.stored = stored

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> Built:
        """The class name."""
        return cls(read_class(reader))

    def open(self, b: Builder, n: int) -> Any:
        """Find the class."""
        self.pass_on(b, n)
        name, version = self.stored
        cls = find_class(b, self.stored, ("built",))
        things: list[Any] = (
            [Placeholder(name, "built", None, None, version) for _ in range(n)]
            if cls is None
            else [Promise() for _ in range(n * b.references)]
        )
        b.numbered += things
        return cls, things

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Build each object from its state."""
        cls, things = frame
        if cls is None:
            for thing, state in zip(things, columns[0], strict=True):
                thing.fill(state)
            return things
        if b.late is not None:
            raise b.cursor.fail(f"the state of a {cls.__qualname__} refers to what is not complete without it")
        made = build_objects(b, cls, self.stored.version, columns[0])
        for promise, thing in zip(things, made, strict=False):
            promise.thing = thing
        return made

    def objects(self, frame: Any) -> list[Any]:
        """Those of the batch."""
        return frame[1]  # type: ignore[no-any-return]

    def step(self, _edge: int) -> str:
        """The state."""
        return STEP


def keep_states(nodes: Iterable[Node]) -> Iterator[Node]:
    """The same nodes, where no option says what lists inside of states come as: a class gets back what it gave."""
    left = 0  # nodes that are still to come inside of a state
    for node in nodes:
        if left:
            left += node.children - node.width
            if isinstance(node, Sequences):
                node.makes_lists = False
            elif isinstance(node, Rows):
                node.kept = True
        elif type(node) is Built:
            left = node.children
        yield node


def build_objects(b: Builder, cls: type, version: int, states: Iterable[Any]) -> list[Any]:
    """Objects of a class that is built, out of the states that this version of it had."""
    upgrade = upgrade_of(cls, version)
    declared = registration_of(cls)
    build = None if declared is None else declared.build
    made = []
    for state in states:
        current = state if upgrade is None or type(state) is not dict else upgrade(state)
        thing = _unpacked(b, cls, current) if build is None else _built(b, cls, build, current)
        if type(thing) is not cls:
            raise b.cursor.fail(f"out of the state of a {cls.__qualname__} came a {type(thing).__qualname__}")
        made.append(thing)
    return made


def _built(b: Builder, cls: type, build: Callable[[Any], Any], state: Any) -> Any:
    try:
        return build(state)
    except MemoryError:
        raise
    except Exception as error:
        raise b.cursor.fail(f"build= of {cls.__qualname__} refused a state: {error!r}") from error


def _unpacked(b: Builder, cls: Any, state: Any) -> Any:
    name = cls.__qualname__
    if type(state) is not bytes:
        raise b.cursor.fail(f"{name} owns its bytes, and its state is no bytes")
    try:
        return unpack(cls, state)
    except MemoryError:
        raise
    except Exception as error:
        kind = TruncatedError if isinstance(error, TruncatedError) else DecodeError
        raise kind(f"{name}.unpack: {error}", pos=b.cursor.pos) from (error.__cause__ or error)


def state_of(value: Any) -> Any:
    """What an object is built from.

    Raises
    ------
    EncodeError
        When the class raises something, which is the ``__cause__``. Its path is not set.
    """
    cls = type(value)
    declared = registration_of(cls)
    state = None if declared is None else declared.state
    try:
        return pack(value) if state is None else state(value)
    except MemoryError:
        raise
    except Exception as error:
        what = f"{cls.__qualname__}.pack" if state is None else f"state= of {cls.__qualname__}"
        raise EncodeError(f"{what}: {error!r}") from (error.__cause__ or error)


def place_built(w: ShapeWriter, column: Column) -> None:
    """Write BUILT; EncodeError where a class does not give its state."""
    depth = w.enter(column)
    schema = schema_of(type(column.values[0]))
    assert schema is not None
    states = []
    for value in column.values:
        try:
            states.append(state_of(value))
        except EncodeError as error:
            error.path = column.path(len(states))
            raise
    w.keep.append(states)
    _place(w, column, schema.stamp, states, depth)


def place_built_placeholders(w: ShapeWriter, column: Column) -> None:
    """Write BUILT for placeholders."""
    states = [value.contents for value in column.values]
    _place(w, column, column.values[0].stamp, states, w.enter(column))


def _place(w: ShapeWriter, column: Column, name: str, states: list[Any], depth: int) -> None:
    w.building.add(column)
    w.weigh(column, NODES[Tag.BUILT])
    w.node(Tag.BUILT)
    w.name(name)
    w.push_field(states, depth, column, at_item(STEP))
