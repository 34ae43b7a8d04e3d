"""ENUM: members by name, and flags without a name by value.

Strategy: a member is its name, so values may be anything and may change; decoding looks names up in the class that the
caller allowed and never calls it, but for combinations of flags, which have no name.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from npser.shapes.gate import find_class
from npser.shapes.node import Node
from npser.tags import Node as Tag
from npser.types.placeholder import Placeholder

if TYPE_CHECKING:
    from npser.shapes.column import Column
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter
    from npser.types.schema import Schema

__all__ = ["Enums", "place_enum_placeholders", "place_enums"]


class Enums(Node):
    """slot(n): names of members, or values of flags that have no name."""

    __slots__ = ("name",)
    slots = 1
    container = False

    def __init__(self, name: str) -> None:
        super().__init__(0)
        self.name = name

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> Enums:
        """The class name."""
        return cls(reader.text())

    def open(self, b: Builder, n: int) -> list[Any]:
        """Look the members up."""
        stored = b.slots.many(n)
        for value in stored:
            if type(value) is not str and type(value) is not int:
                raise b.cursor.fail(f"a member of {self.name} stored as {type(value).__name__}")
        cls = find_class(b, self.name, ("enum",))
        if cls is None:
            return [Placeholder(self.name, "enum", value) for value in stored]
        members = {value: _member(b, cls, value) for value in dict.fromkeys(stored)}
        return list(map(members.__getitem__, stored))


def _member(b: Builder, cls: Any, stored: str | int) -> Any:
    if type(stored) is str:
        member = cls.__members__.get(stored)
        if member is None:
            raise b.cursor.fail(f"{cls.__qualname__} has no member {stored[:60]!r}")
        return member
    try:
        if issubclass(cls, enum.Flag) and isinstance(found := cls(stored), cls):  # one that ejects gives an int
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
    w.node(Tag.ENUM)
    w.text(schema.name)
    w.slots.many(stored, set(map(type, stored)))


def place_enum_placeholders(w: ShapeWriter, column: Column) -> None:
    """Write placeholders of one enum as what they stand for."""
    stored = [value.contents for value in column.values]
    w.node(Tag.ENUM)
    w.text(column.values[0].class_name)
    w.slots.many(stored, set(map(type, stored)))
