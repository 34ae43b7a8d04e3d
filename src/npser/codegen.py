"""The generated code of one class, for a person to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from npser.errors import EncodeError
from npser.shapes.templates import (
    MAX_COLUMNS,
    Generated,
    columns_template,
    fill_dicts_template,
    fill_slots_template,
    fill_template,
)
from npser.types.schema import StoreWay, schema_of, store_way

__all__ = ["codegen"]

_FILL: Final[dict[StoreWay, Callable[[int], Generated]]] = {
    "plain": fill_template,
    "dict": fill_dicts_template,
    "slots": fill_slots_template,
    "both": fill_slots_template,
}


def codegen(cls: type) -> str:
    """The source of the functions that take objects of `cls` apart and put them together.

    The code is made of placeholders, and shared by all classes with as many fields; the names that each placeholder
    stands for are listed above it.

    Raises
    ------
    EncodeError
        For a class whose objects npser refuses.

    >>> import dataclasses
    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> print(codegen(Point))
    # npser.codegen:Point, 2 fields
    # f0 = 'x'
    # f1 = 'y'
    # objects -> columns
    def make():
        def columns(objects):
            return [
                [o.f0 for o in objects],
                [o.f1 for o in objects],
            ]
        return columns
    <BLANKLINE>
    # columns -> objects
    def make():
        def fill(objects, columns):
            for o, v0, v1, in zip(objects, *columns):
                o.f0 = v0
                o.f1 = v1
        return fill
    <BLANKLINE>
    """
    schema = schema_of(cls)
    if schema is None:
        raise EncodeError(f"npser does not encode objects of {cls!r}")
    if schema.fields is None:
        return (
            f"# {schema.name}: form {schema.form!r}, no declared fields; no code is generated for it\n"
        )
    fields = schema.fields
    lines = [f"# {schema.name}, {len(fields)} fields", *(f"# f{i} = {name!r}" for i, name in enumerate(fields))]
    if not 0 < len(fields) <= MAX_COLUMNS:
        lines.append(f"# no code is generated for {len(fields)} fields; plain loops serve")
        return "\n".join(lines) + "\n"
    parts = ["\n".join(lines), "# objects -> columns", columns_template(len(fields)).source]
    if schema.form == "named tuple":
        parts.append("# columns -> objects: tuple.__new__ over zip(*columns)\n")
    else:
        parts += ["# columns -> objects", _FILL[store_way(cls, fields)](len(fields)).source]
    return "\n".join(parts)
