"""ENUM: members by name, and flags without a name by value.

Strategy: a member is its name, so values may be anything and may change; decoding looks names up in the class that the
caller allowed and never calls it, but for combinations of flags, which have no name.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from npser.shapes.gate import find_class, read_class
from npser.shapes.node import Node
from npser.tags import Node as Tag
from npser.types.placeholder import Placeholder
from npser.types.registry import registration_of
from npser.types.shown import show_name
from npser.weights import NODES

if TYPE_CHECKING:
    from npser.shapes.column import Column
    from npser.shapes.gate import Stored
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter
    from npser.types.schema import Schema

__all__ = ["Enums", "place_enum_placeholders", "place_enums"]


class Enums(Node):
    """slot(n): names of members, or values of flags that have no name."""

    __slots__ = ("stored",)
    slots = 1
    container = False

    def __init__(self, stored: Stored) -> None:
        super().__init__(0)
        self.stored = stored

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> Enums:
        """The class name."""
        return cls(read_class(reader))

    def open(self, b: Builder, n: int) -> list[Any]:
        """Look the members up."""
        stored = self.stream(b).many(n)
        for value in stored:
            if type(value) is not str and type(value) is not int:
                raise b.cursor.fail(f"a member of {show_name(self.stored.name)} stored as {type(value).__name__}")
        name, version = self.stored
        cls = find_class(b, self.stored, ("enum",))
        if cls is None:
            return [Placeholder(name, "enum", value, None, version) for value in stored]
        members = {value: _member(b, cls, value) for value in dict.fromkeys(stored)}
        return list(map(members.__getitem__, stored))


def _member(b: Builder, cls: Any, stored: str | int) -> Any:
    if type(stored) is str:
        declared = registration_of(cls)
        member = cls.__members__.get(stored)
        if member is None and declared is not None:
            member = cls.__members__.get(declared.renames.get(stored, ""))
        if member is None:
            raise b.cursor.fail(f"{cls.__qualname__} has no member {stored[:60]!r}")
        return member
    try:
        if issubclass(cls, enum.Flag) and type(found := cls(stored)) is cls:  # one that ejects gives an int
            return found
    except Exception:  # ValueError, or what a _missing_ of the class raises
        pass
    raise b.cursor.fail(f"{cls.__qualname__} has no flags of that value")


def place_enums(w: ShapeWriter, column: Column, schema: Schema) -> None:
    """Write ENUM and its slot."""
    stored: list[str | int] = []
    for index, member in enumerate(column.values):
        name = member._name_
        if type(member).__members__.get(name) is member:
            stored.append(name)
        elif isinstance(member, enum.Flag) and type(member._value_) is int:
            stored.append(member._value_)
        else:
            raise w.refuse(column, index, f"a value of {schema.name} that is none of its members")
    w.weigh(column, NODES[Tag.ENUM])
    w.node(Tag.ENUM)
    w.name(schema.stamp)
    w.many(column, stored, set(map(type, stored)))


def place_enum_placeholders(w: ShapeWriter, column: Column) -> None:
    """Write placeholders of one enum as what they stand for."""
    stored = [value.contents for value in column.values]
    w.weigh(column, NODES[Tag.ENUM])
    w.node(Tag.ENUM)
    w.name(column.values[0].stamp)
    w.many(column, stored, set(map(type, stored)))
