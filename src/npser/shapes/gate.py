"""From a class name of the shape to the class that the caller allowed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from npser.errors import ClassNotAllowedError
from npser.types.registry import split_stamp
from npser.types.schema import schema_of
from npser.types.shown import show_name

if TYPE_CHECKING:
    from npser.shapes.node import Builder, ShapeReader
    from npser.types.placeholder import Form

__all__ = ["Stored", "find_class", "is_built", "read_class", "refuse_references"]


class Stored(NamedTuple):
    """The class of an object as its payload has it.

    Parameters
    ----------
    name : str
    version : int
        0 if nothing is said about it.
    """

    name: str
    version: int


def read_class(reader: ShapeReader) -> Stored:
    """The name and the version of a class out of a shape."""
    name = reader.name()
    try:
        return Stored(*split_stamp(name))
    except ValueError as error:
        raise reader.cursor.fail(str(error)) from None


def find_class(b: Builder, stored: Stored, forms: tuple[Form, ...]) -> type | None:
    """The allowed class of that name; None where it is none, and its objects are to be placeholders.

    Raises
    ------
    ClassNotAllowedError
        It is none, and the caller wants no placeholders.
    DecodeError
        It is of none of these forms now.
    """
    cls = b.policy.classes.find(stored.name)
    if cls is None:
        if b.policy.unknown == "refuse":
            raise ClassNotAllowedError(
                f"the payload holds an object of {show_name(stored.name)}; pass classes=[...] with it, or register it",
                pos=b.cursor.pos,
            )
        return None
    schema = schema_of(cls)
    if schema is None or schema.form not in forms:
        name = show_name(stored.name)
        if forms[0] == "built":
            raise b.cursor.fail(f"{name} is built from its state; register its class with state= and build=")
        raise b.cursor.fail(f"{name} is stored as {forms[0]}, and the class of that name is none")
    return cls


def is_built(cls: type) -> bool:
    """Whether objects of a class are made out of their state."""
    schema = schema_of(cls)
    return schema is not None and schema.form == "built"


def refuse_references(b: Builder, stored: Stored, now: str) -> None:
    """Raise a `DecodeError` where other parts of the payload may refer to objects that are made only at the end."""
    if b.references:
        shown = show_name(stored.name)
        raise b.cursor.fail(f"{shown} is {now} now, and other parts of the payload may refer to it")
