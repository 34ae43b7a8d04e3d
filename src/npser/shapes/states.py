"""Objects by their state: STATE, for classes that have a ``__getstate__`` of their own.

Strategy: the state is a value like any other. It goes back through the class's ``__setstate__``; a class without one
gets its attributes from it, as copying and pickling would do: a dict, a pair of a dict and a dict of slots, or None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npser.shapes.built import build_objects
from npser.shapes.column import at_item
from npser.shapes.gate import find_class, is_built, read_class, refuse_references
from npser.shapes.node import Node
from npser.shapes.plans import new_objects, plan_objects, refuse_dropped, upgrade_of
from npser.tags import Node as Tag
from npser.types.placeholder import Placeholder
from npser.types.schema import schema_of
from npser.weights import NODES

if TYPE_CHECKING:
    from npser.shapes.column import Column
    from npser.shapes.gate import Stored
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = ["States", "attributes_of", "place_state_placeholders", "place_states"]


class States(Node):
    """Objects by their state; one child."""

    __slots__ = ("stored",)
    passes = True

    def __init__(self, stored: Stored) -> None:
        super().__init__(1)
        self.stored = stored

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> States:
        """The class name."""
        return cls(read_class(reader))

    def open(self, b: Builder, n: int) -> Any:
        """Make the objects, empty."""
        self.pass_on(b, n)
        name, version = self.stored
        cls = find_class(b, self.stored, ("state", "object", "built"))
        if cls is not None and is_built(cls):
            refuse_references(b, self.stored, "built from its state")
            return cls, None
        objects = (
            [Placeholder(name, "state", None, None, version) for _ in range(n)]
            if cls is None
            else new_objects(cls, n)
        )
        b.numbered += objects
        return cls, objects

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Hand each object its state."""
        cls, objects = frame
        if objects is None:
            return build_objects(b, cls, self.stored.version, columns[0])
        for thing, state in zip(objects, columns[0], strict=True):
            if cls is None:
                thing.fill(state)
            else:
                _set_state(b, cls, thing, _upgraded(cls, self.stored.version, state))
        return objects

    def objects(self, frame: Any) -> list[Any]:
        """Those of the batch."""
        return frame[1] or []

    def step(self, _edge: int) -> str:
        """The state."""
        return ".__getstate__()"


def _upgraded(cls: type, version: int, state: Any) -> Any:
    upgrade = upgrade_of(cls, version)
    return state if upgrade is None or type(state) is not dict else upgrade(state)


def _set_state(b: Builder, cls: type, thing: Any, state: Any) -> None:
    method = getattr(cls, "__setstate__", None)
    if method is not None:
        try:
            method(thing, state)
        except Exception as error:
            raise b.cursor.fail(f"{cls.__qualname__}.__setstate__ refused its state: {error!r}") from error
        return
    attributes = attributes_of(state)
    if attributes is None:
        raise b.cursor.fail(f"{cls.__qualname__} has no __setstate__ and its state is no dict of attributes")
    if attributes:
        plan = plan_objects(cls, tuple(attributes), complete=True)
        refuse_dropped(b, cls, plan.dropped)
        plan.apply([thing], [[value] for value in attributes.values()])


def attributes_of(state: Any) -> dict[str, Any] | None:
    """The attributes that a state stands for where there is no ``__setstate__``; None where it does not say.

    >>> attributes_of({"a": 1}), attributes_of(({"a": 1}, {"slot": 2})), attributes_of(None), attributes_of([1])
    ({'a': 1}, {'a': 1, 'slot': 2}, {}, None)
    """
    parts = state if type(state) is tuple and len(state) == 2 else (state,)
    attributes: dict[str, Any] = {}
    for part in parts:
        if part is not None and (type(part) is not dict or not all(type(name) is str for name in part)):
            return None
        attributes |= part or {}
    return attributes


def place_states(w: ShapeWriter, column: Column) -> None:
    """Write STATE; EncodeError for a state that could not be given back."""
    depth = w.enter(column)
    cls = type(column.values[0])
    schema = schema_of(cls)
    assert schema is not None
    states = [value.__getstate__() for value in column.values]
    w.keep.append(states)
    if not hasattr(cls, "__setstate__"):
        for item, state in enumerate(states):
            if attributes_of(state) is None:
                message = f"{schema.name} has no __setstate__ and its state is no dict of attributes"
                raise w.refuse(column, item, message)
    _place(w, column, schema.stamp, states, depth)


def place_state_placeholders(w: ShapeWriter, column: Column) -> None:
    """Write STATE for placeholders."""
    states = [value.contents for value in column.values]
    _place(w, column, column.values[0].stamp, states, w.enter(column))


def _place(w: ShapeWriter, column: Column, name: str, states: list[Any], depth: int) -> None:
    w.weigh(column, NODES[Tag.STATE])
    w.node(Tag.STATE)
    w.name(name)
    w.push_field(states, depth, column, at_item(".__getstate__()"))
