"""Objects: RECORD, VARIED_RECORD, NAMED_TUPLE by the names of their fields.

Strategy: a batch of objects of one class is a table whose class name stands once in the shape. Objects exist before
their contents do, so that anything inside may refer to them; their attributes are set from columns in one pass.
A class that the caller did not allow leaves a placeholder and never runs.
"""

from __future__ import annotations

from operator import countOf
from typing import TYPE_CHECKING, Any, Final

from npser.shapes.column import Column, at_field
from npser.shapes.enums import place_enum_placeholders, place_enums
from npser.shapes.gate import find_class
from npser.shapes.leaves import place_fresh
from npser.shapes.mappings import group_patterns, open_patterns, split_columns, spread, wants_columns
from npser.shapes.node import Node
from npser.shapes.plans import extractor, new_objects, plan_objects, plan_tuples
from npser.shapes.states import place_state_placeholders, place_states
from npser.tags import Node as Tag
from npser.types.placeholder import Form, Placeholder
from npser.types.schema import Schema, schema_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = ["NamedTuples", "Records", "VariedRecords", "place_objects", "place_placeholders"]


class Records(Node):
    """Objects of one class that have the same fields; a child a field."""

    __slots__ = ("keys", "name")
    makes_columns = True
    zips = True

    def __init__(self, name: str, keys: tuple[str, ...]) -> None:
        super().__init__(len(keys))
        self.name = name
        self.keys = keys

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> Records:
        """The class name and the key set."""
        return cls(reader.text(), reader.keys())

    def open(self, b: Builder, n: int) -> Any:
        """Make the objects, empty."""
        b.counts += [n] * self.children
        return _allocate(self, b, n)

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Set their attributes."""
        if frame is None:
            return dict(zip(self.keys, columns, strict=True))
        cls, objects = frame
        if cls is None:
            rows = zip(*columns, strict=True) if columns else [()] * n
            for thing, row in zip(objects, rows, strict=True):
                thing.fill(dict(zip(self.keys, row, strict=True)))
        elif objects is None:
            objects = plan_tuples(cls, self.keys)(columns, n)
        elif n:
            plan_objects(cls, self.keys).apply(objects, columns)
        return objects

    def objects(self, frame: Any) -> list[Any]:
        """Those of the batch."""
        return (frame and frame[1]) or []

    def step(self, edge: int) -> str:
        """One field."""
        return f".{self.keys[edge]}"


def _allocate(node: Records | VariedRecords, b: Builder, n: int) -> Any:
    """(class, its empty objects), (None, placeholders), (named tuple class, None), or None where columns stay."""
    if wants_columns(node, b):
        return None
    cls = find_class(b, node.name, ("object", "named tuple", "state"))
    if cls is None:
        objects = [Placeholder(node.name, "object", {}) for _ in range(n)]
    elif issubclass(cls, tuple):
        if b.references:
            raise b.cursor.fail(f"{node.name} is a named tuple now, which other parts of the payload cannot refer to")
        return cls, None
    else:
        objects = new_objects(cls, n)
    b.numbered += objects
    return cls, objects


class VariedRecords(Node):
    """Objects of one class that differ in the fields they have: slot(n) pattern codes; child k over those with k."""

    __slots__ = ("keys", "name", "patterns")
    slots = 1
    makes_columns = True
    zips = True

    def __init__(self, name: str, keys: tuple[str, ...], patterns: list[tuple[int, ...]]) -> None:
        super().__init__(len(keys))
        self.name = name
        self.keys = keys
        self.patterns = patterns

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> VariedRecords:
        """The class name, the key set and the patterns."""
        name, keys = reader.text(), reader.keys()
        return cls(name, keys, reader.patterns(len(keys)))

    def open(self, b: Builder, n: int) -> Any:
        """Count the objects of each field and make them, empty."""
        codes = open_patterns(b, n, self.patterns, self.children)
        if wants_columns(self, b):
            return codes, None, []
        cls = find_class(b, self.name, ("object", "state"))
        objects = (
            [Placeholder(self.name, "object", {}, self.keys) for _ in range(n)]
            if cls is None
            else new_objects(cls, n)
        )
        b.numbered += objects
        return codes, cls, objects

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Set the attributes that each object has."""
        codes, cls, objects = frame
        if wants_columns(self, b):
            return dict(zip(self.keys, spread(b, columns, codes, self.patterns), strict=True))
        cursors = [iter(column) for column in columns]
        members: dict[int, list[int]] = {}
        cells: dict[int, list[list[Any]]] = {code: [[] for _ in self.patterns[code]] for code in set(codes)}
        for index, code in enumerate(codes):
            members.setdefault(code, []).append(index)
            for column, key in zip(cells[code], self.patterns[code], strict=True):
                column.append(next(cursors[key]))
        for code, indices in members.items():
            names = tuple([self.keys[key] for key in self.patterns[code]])
            chosen = [objects[index] for index in indices]
            if cls is None:
                for at, thing in enumerate(chosen):
                    thing.fill({name: column[at] for name, column in zip(names, cells[code], strict=True)})
            else:
                plan_objects(cls, self.keys)  # fields that no object of this payload has must have defaults
                plan_objects(cls, names, complete=True).apply(chosen, cells[code])  # type: ignore[arg-type]
        return objects

    def objects(self, frame: Any) -> list[Any]:
        """Those of the batch."""
        return frame[2]  # type: ignore[no-any-return]

    def step(self, edge: int) -> str:
        """One field."""
        return f".{self.keys[edge]}"


class NamedTuples(Records):
    """Named tuples, which are values: nothing refers to them."""

    __slots__ = ()

    def open(self, b: Builder, n: int) -> Any:
        """Find the class."""
        b.counts += [n] * self.children
        if wants_columns(self, b):
            return None
        cls = find_class(b, self.name, ("named tuple", "object"))
        if cls is None:
            return None, [Placeholder(self.name, "named tuple", {}) for _ in range(n)]
        return cls, None if issubclass(cls, tuple) else new_objects(cls, n)


def _claim(w: ShapeWriter, column: Column, cls: type, name: str) -> None:
    """Make sure that one name means one class in a payload."""
    if w.classes.setdefault(name, cls) is not cls:
        raise w.refuse(column, 0, f"two classes of one name: {name}")


def place_objects(w: ShapeWriter, column: Column, cls: type, schema: Schema) -> None:
    """Write objects of one class in the form of their schema."""
    _claim(w, column, cls, schema.name)
    if schema.form == "enum":
        place_enums(w, column, schema)
    elif schema.form == "named tuple":
        _place_named_tuples(w, column, schema)
    else:
        place_fresh(w, column, place_states if schema.form == "state" else _place_records)


def _place_named_tuples(w: ShapeWriter, column: Column, schema: Schema) -> None:
    fields = schema.fields or ()
    for index, value in enumerate(column.values):
        if len(value) != len(fields) or getattr(value, "__dict__", None):
            raise w.refuse(column, index, f"{schema.name} with attributes or items beyond its fields")
    columns = list(zip(*map(tuple.__iter__, column.values), strict=True))
    _place_columns(w, column, Tag.NAMED_TUPLE, schema.name, fields, columns)


def _place_records(w: ShapeWriter, column: Column) -> None:
    cls = type(column.values[0])
    schema = schema_of(cls)
    assert schema is not None
    if schema.fields is None:
        _place_open_records(w, column, schema)
        return
    try:
        columns = extractor(cls, schema.fields)(column.values)
    except AttributeError:
        rows = [
            {name: getattr(value, name) for name in schema.fields if hasattr(value, name)} for value in column.values
        ]
        _place_varied(w, column, schema.name, schema.fields, rows)
        return
    _place_columns(w, column, Tag.RECORD, schema.name, schema.fields, columns)


def _place_open_records(w: ShapeWriter, column: Column, schema: Schema) -> None:
    rows = [vars(value) for value in column.values]
    if schema.slots:
        rows = [
            {name: getattr(value, name) for name in schema.slots if hasattr(value, name)} | row
            for value, row in zip(column.values, rows, strict=True)
        ]
    _place_rows(w, column, schema.name, rows)


def _place_rows(w: ShapeWriter, column: Column, name: str, rows: list[dict[str, Any]]) -> None:
    flat = [key for row in rows for key in row]
    if countOf(map(type, flat), str) != len(flat):
        index = next(index for index, row in enumerate(rows) if any(type(key) is not str for key in row))
        raise w.refuse(column, index, f"{name} with an attribute whose name is not a str")
    keys = tuple(rows[0])
    if len(flat) == len(rows) * len(keys) and flat == list(keys) * len(rows):
        _place_columns(w, column, Tag.RECORD, name, keys, list(zip(*map(dict.values, rows), strict=True)))
    else:
        _place_varied(w, column, name, tuple(dict.fromkeys(flat)), rows)


def _place_columns(
    w: ShapeWriter, column: Column, tag: Tag, name: str, keys: tuple[str, ...], columns: Sequence[Sequence[Any]]
) -> None:
    if not keys and not _may_be_empty(w, column, tag, name):
        return
    depth = w.enter(column)
    if keys:
        w.pay(column, len(keys))
    w.node(tag)
    w.text(name)
    w.keys(keys)
    if len(column.values) == 1:
        w.push_singles([values[0] for values in columns], keys, depth, column, at_field)
        return
    for key, values in zip(reversed(keys), reversed(columns), strict=True):
        w.push(values, depth, column, at_field(key))


def _may_be_empty(w: ShapeWriter, column: Column, tag: Tag, name: str) -> bool:
    """Whether so many instances may be written in no bytes; objects that may not are written in another form."""
    n = len(column.values)
    if w.sink.may_expand(n):
        w.sink.expand(n)
        return True
    if tag is Tag.NAMED_TUPLE:
        raise w.refuse(column, 0, f"{n} of {name}, which has no fields: a reader would refuse so much out of nothing")
    _place_varied(w, column, name, (), [{}] * n)
    return False


def _place_varied(
    w: ShapeWriter, column: Column, name: str, keys: tuple[str, ...], rows: list[dict[str, Any]]
) -> None:
    depth = w.enter(column)
    met, codes, patterns = group_patterns(rows)
    numbers = {key: number for number, key in enumerate(keys)}
    w.node(Tag.VARIED_RECORD)
    w.text(name)
    w.keys(keys)
    w.patterns([[numbers[met[key]] for key in pattern] for pattern in patterns])
    w.slots.ints(codes)
    split = split_columns(keys, rows)
    for key in reversed(keys):
        w.push(split[key], depth, column, at_field(key, rows))


def place_placeholders(w: ShapeWriter, column: Column) -> None:
    """Write placeholders of one class and form as what they stand for."""
    _PLACE_FORM[column.values[0].form](w, column)


def _place_tuple_placeholders(w: ShapeWriter, column: Column) -> None:
    rows = [value.contents for value in column.values]
    keys = tuple(rows[0])
    columns = list(zip(*map(dict.values, rows), strict=True))
    _place_columns(w, column, Tag.NAMED_TUPLE, column.values[0].class_name, keys, columns)


def _place_object_placeholders(w: ShapeWriter, column: Column) -> None:
    first: Placeholder = column.values[0]
    rows = [value.contents for value in column.values]
    if first.keys is None:
        _place_rows(w, column, first.class_name, rows)
    else:
        _place_varied(w, column, first.class_name, first.keys, rows)


_PLACE_FORM: Final[dict[Form, Any]] = {
    "object": lambda w, column: place_fresh(w, column, _place_object_placeholders),
    "named tuple": _place_tuple_placeholders,
    "state": lambda w, column: place_fresh(w, column, place_state_placeholders),
    "enum": place_enum_placeholders,
}
