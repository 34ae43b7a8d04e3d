"""From a class name of the shape to the class that the caller allowed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npser.types.schema import schema_of

if TYPE_CHECKING:
    from npser.shapes.node import Builder
    from npser.types.placeholder import Form

__all__ = ["find_class"]


def find_class(b: Builder, name: str, forms: tuple[Form, ...]) -> type | None:
    """The allowed class of that name; DecodeError if it is not of one of these forms now."""
    cls = b.policy.classes.find(name)
    if cls is None:
        return None
    schema = schema_of(cls)
    if schema is None or schema.form not in forms:
        raise b.cursor.fail(f"{name} is stored as {forms[0]}, and the class of that name is none")
    return cls
