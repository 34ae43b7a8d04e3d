"""From one value to the code that takes the next one of its sort apart.

Strategy: one walk over the value writes a line or two a container, and a step for everything that has to be written.
The types of leaves are not looked at, so a leaf that is None today and text tomorrow takes the same way. The source
holds our own identifiers, and keys of values that this process encodes; classes are bound as constants.
"""

from __future__ import annotations

from functools import partial
from itertools import count, repeat
from operator import attrgetter, countOf
from typing import Any, Final

from npser.columns.kinds import LEAF_TYPES
from npser.limits import MAX_DEPTH
from npser.shapes.document import (
    Document,
    Mark,
    Step,
    Stretch,
    mark_raw,
    mark_record,
    mark_table,
    put_child,
    put_leaf_list,
    put_leaves,
    put_list,
    put_stretch,
)
from npser.shapes.generated import compile_maker
from npser.shapes.infer import PLACERS
from npser.shapes.quick import are_quick
from npser.shapes.sequences import MAX_SINGLE_ROW
from npser.shapes.tables import UNIFORM_MAP_KEYS, is_table, is_varied
from npser.shapes.templates import Generated
from npser.tags import Node as Tag
from npser.types.registry import VERSION_MARK
from npser.types.schema import Schema, schema_of

__all__ = ["document_of"]

MAX_KEYS = 2000
"""Documents of more keys are written as ever: generating code takes about ten microseconds for each."""

MAX_LOOKED_UP = 3
"""Keys of a dict up to which looking them up is faster than unpacking its values;
benchmarks/thresholds_shapes.py::sweep_looked_up."""

MAX_LOOKED_UP_TEXT = 64
"""Characters of a key in generated code."""

_numbers = count(1)
_LEAF: Final = bytes((Tag.LEAF,))
TUPLE_ROW: Final = int(Tag.TUPLE_ROW)


class _Walk:
    """One look at a value: the lines of its code, and the steps of its document.

    Leaves are gathered across the lists between them, whose lengths are leaves as well; other containers may be
    anything, and have leaves of their own, so the leaves before one of those are a part, and those behind it another.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.parts: list[str] = []
        self.keys: list[str] = []
        self.steps: list[tuple[Step, Any]] = []
        self._tables: list[str] = []
        self._objects: list[str] = []
        self.classes: list[Any] = []  # of those objects, and what gets the fields of each
        self._stamps: dict[str, type] = {}
        self._marks: list[Mark] = []  # of the stretch
        self._leaves: list[str] = []
        self._later: tuple[list[str], list[tuple[Step, Any]]] = ([], [])  # parts and steps that follow the leaves
        self._first = True
        self._run = 0
        self._items = 0  # of rows
        self._variables = count(1)

    def over(self, value: Any) -> bool:
        """Look at everything; False where it is too much."""
        stack: list[tuple[str, Any, int]] = [("v0", value, 0)]
        while stack:
            name, item, depth = stack.pop()
            if type(item) in LEAF_TYPES:
                self._leaves.append(name)
                self._run += 1
            elif type(item) is dict and is_table(item):
                variables = self._table(name, item)
                stack += zip(reversed(variables), reversed(item.values()), repeat(depth + 1))
            elif type(item) is tuple and 0 < len(item) <= MAX_SINGLE_ROW:
                variables = self._row(name, item)
                stack += zip(reversed(variables), reversed(item), repeat(depth + 1))
            elif (schema := _record_of(type(item))) is not None:
                assert schema.fields is not None
                if self._stamps.setdefault(schema.name, type(item)) is not type(item):
                    return False
                variables = self._record(name, type(item), schema)
                values = [getattr(item, field) for field in schema.fields]
                stack += zip(reversed(variables), reversed(values), repeat(depth + 1))
            elif type(item) is list and are_quick(item, depth):
                self._list(name, depth)
            else:
                self._end_leaves()
                self.parts.append(name)
                self.steps.append((put_child, depth))
            if len(self.keys) + self._items > MAX_KEYS or depth >= MAX_DEPTH:
                return False
        self._end_leaves()
        return not self._objects or self._close_objects()

    def _close_objects(self) -> bool:
        """Nothing in a document may be one of its objects again; False where that cannot be known."""
        steps = [(put_leaf_list if step is put_list else step, argument) for step, argument in self.steps]
        self.steps = steps
        if len(self._objects) > 1:
            ids = "".join(f"id({name}), " for name in self._objects)
            self.lines += [f"if len({{{ids}}}) != {len(self._objects)}:", "    return None"]
        return all(step is not put_child for step, _ in steps)

    def _list(self, name: str, depth: int) -> None:
        self._end_stretch()
        size = f"n{name[1:]}"
        self.lines.append(f"{size} = len({name}) if type({name}) is list else {name}")
        self._leaves.append(size)
        parts, steps = self._later
        parts += (name, size)
        steps.append((put_list, depth))

    def _table(self, name: str, row: dict[str, Any]) -> list[str]:
        self._end_run()
        keys = tuple(row)
        self.keys += keys
        self._tables.append(name)
        self._marks.append(partial(mark_table, keys))
        if name != "v0":
            self.lines += [f"if type({name}) is not dict:", "    return None"]
        if not keys:
            self.lines += [f"if {name}:", "    return None"]
            return []
        variables = [f"v{next(self._variables)}" for _ in keys]
        if len(keys) <= MAX_LOOKED_UP and max(map(len, keys)) <= MAX_LOOKED_UP_TEXT:
            self.lines += [f"{each} = {name}[{key!a}]" for each, key in zip(variables, keys, strict=True)]
        else:
            self.lines.append(f"{''.join(f'{each}, ' for each in variables)} = {name}.values()")
        if len(keys) > UNIFORM_MAP_KEYS:
            one, other = _two_types(list(row.values()))
            glance = f"type({variables[one]}) is type({variables[other]})"
            glance += f" or {variables[one]} is None or {variables[other]} is None"
            self.lines += [f"if ({glance}) and not varied({name}.values()):", "    return None"]
        return variables

    def _row(self, name: str, row: tuple[Any, ...]) -> list[str]:
        self._end_run()
        self._items += len(row)
        self._marks.append(partial(mark_raw, bytes((TUPLE_ROW, len(row)))))
        variables = [f"v{next(self._variables)}" for _ in row]
        self.lines += [
            f"if type({name}) is not tuple:",
            "    return None",
            f"{''.join(f'{each}, ' for each in variables)} = {name}",
        ]
        return variables

    def _record(self, name: str, cls: type, schema: Schema) -> list[str]:
        self._end_run()
        fields = schema.fields or ()
        self._items += len(fields)
        self._objects.append(name)
        self._marks.append(partial(mark_record, schema.stamp, fields))
        variables = [f"v{next(self._variables)}" for _ in fields]
        at = len(self.classes)
        self.classes += (cls, attrgetter(*fields))
        self.lines += [
            f"if type({name}) is not classes[{at}]:",
            "    return None",
            f"{', '.join(variables)} = classes[{at + 1}]({name})",
        ]
        return variables

    def _end_run(self) -> None:
        if self._run:
            self._marks.append(partial(mark_raw, _LEAF * self._run))
            self._run = 0

    def _end_stretch(self) -> None:
        self._end_run()
        if self._marks:
            self._later[1].append((put_stretch, Stretch(self._marks, first=self._first)))
            self._marks = []
        self._first = False

    def _end_leaves(self) -> None:
        self._end_stretch()
        parts, steps = self._later
        if self._leaves:
            parts.insert(0, f"({''.join(f'{name}, ' for name in self._leaves)})")
            steps.insert(0, (put_leaves, None))
        self.parts += parts
        self.steps += steps
        self._leaves = []
        self._later = ([], [])

    def source(self) -> Generated:
        """The code that takes a value apart; `keys` are all keys in the order in which they are met.

        Every dict has at least the keys that are looked up in it, or exactly as many as are unpacked. So if the keys of
        all of them, end to end, are those that are expected, then so are those of each.
        """
        lines = self.lines.copy()
        if self._tables:
            lines += [
                f"k = [{''.join(f'*{name}, ' for name in self._tables)}]",
                "if k != keys or count_of(map(type, k), str) != len(k):",
                "    return None",
            ]
        lines.append(f"return ({''.join(f'{part}, ' for part in self.parts)})")
        body = "".join(f"        {line}\n" for line in lines)
        source = f"def make(keys, classes):\n    def take(v0):\n{body}    return take\n"
        return Generated(f"document_{next(_numbers)}", source)


def _may_be_root(value: Any) -> bool:
    if type(value) is dict:
        return is_table(value)
    return type(value) is tuple or _record_of(type(value)) is not None


def _record_of(cls: type) -> Schema | None:
    """The schema of a class whose objects always have the same fields, in a form that generated code can take apart."""
    schema = None if cls in PLACERS else schema_of(cls)
    if schema is None or schema.form != "object" or not schema.fields or VERSION_MARK in schema.name:
        return None
    return None if any("." in field for field in schema.fields) else schema


def _two_types(values: list[Any]) -> tuple[int, int]:
    """Where two values of different types are, apart from None; some of which there are."""
    kinds = list(map(type, values))
    one = next(at for at, kind in enumerate(kinds) if kind is not type(None))
    return one, next((at for at, kind in enumerate(kinds) if kind not in (kinds[one], type(None))), one)


def document_of(value: Any) -> Document | None:
    """How to write values like this one; None where they are too large for generated code, or are data."""
    walk = _Walk()
    if not _may_be_root(value):
        return None
    try:
        if not walk.over(value):
            return None
    except AttributeError:  # of an object that lacks a field
        return None
    generated = walk.source()
    make = compile_maker(
        generated,
        {
            "dict": dict,
            "list": list,
            "tuple": tuple,
            "type": type,
            "str": str,
            "len": len,
            "id": id,
            "map": map,
            "count_of": countOf,
            "varied": is_varied,
        },
    )
    return Document(generated, make(list(walk.keys), tuple(walk.classes)), walk.steps)
