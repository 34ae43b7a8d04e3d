"""Objects: RECORD, VARIED_RECORD, NAMED_TUPLE by the names of their fields.

Strategy: a batch of objects of one class is a table whose class name stands once in the shape. Objects exist before
their contents do, so that anything inside may refer to them; their attributes are set from columns in one pass.
A class that the caller did not allow leaves a placeholder and never runs.
"""

from __future__ import annotations

from operator import countOf
from typing import TYPE_CHECKING, Any, Final

from npser.shapes.built import build_objects, place_built, place_built_placeholders
from npser.shapes.column import Column, at_field
from npser.shapes.enums import place_enum_placeholders, place_enums
from npser.shapes.gate import find_class, is_built, read_class, refuse_references
from npser.shapes.leaves import place_fresh
from npser.shapes.node import Node
from npser.shapes.patterns import cut_patterns, group_patterns, open_patterns, split_columns, spread
from npser.shapes.plans import Plan, extractor, new_objects, plan_objects, plan_tuples, refuse_dropped, upgrade_of
from npser.shapes.states import place_state_placeholders, place_states
from npser.shapes.tables import wants_columns
from npser.tags import Node as Tag
from npser.types.placeholder import Form, Placeholder
from npser.types.registry import VERSION_MARK
from npser.types.schema import Schema, schema_of
from npser.types.shown import show_step
from npser.weights import OBJECT, VARIED, row_weight

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npser.shapes.gate import Stored
    from npser.shapes.node import Builder, ShapeReader
    from npser.shapes.writer import ShapeWriter

__all__ = ["NamedTuples", "Records", "VariedRecords", "place_objects", "place_placeholders"]


class Records(Node):
    """Objects of one class that have the same fields; a child a field."""

    __slots__ = ("keys", "stored")
    makes_columns = True
    zips = True
    passes = True

    def __init__(self, stored: Stored, keys: tuple[str, ...]) -> None:
        super().__init__(len(keys))
        self.stored = stored
        self.keys = keys

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> Records:
        """The class name and the key set."""
        return cls(read_class(reader), reader.keys().keys)

    def weigh(self, _tag: int) -> int:
        """An object, or a placeholder, with a dict."""
        return OBJECT + row_weight(self.children)

    def open(self, b: Builder, n: int) -> Any:
        """Make the objects, empty."""
        self.pass_on(b, n)
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
            objects = _build_values(self, b, cls, columns, n)
        elif n:
            _fill_objects(self, b, cls, objects, self.keys, columns)
        return objects

    def objects(self, frame: Any) -> list[Any]:
        """Those of the batch."""
        return (frame and frame[1]) or []

    def step(self, edge: int) -> str:
        """One field."""
        return show_step(self.keys[edge])


def _checked(b: Builder, cls: type, plan: Plan) -> Plan:
    """The plan, if the caller does not mind what it drops."""
    refuse_dropped(b, cls, plan.dropped)
    return plan


def _fill_objects(
    node: Records | VariedRecords,
    b: Builder,
    cls: type,
    objects: Sequence[Any],
    names: tuple[str, ...],
    columns: list[Any],
) -> None:
    """Set the attributes of objects that all have the fields `names`."""
    upgrade = upgrade_of(cls, node.stored.version)
    if upgrade is None:
        _checked(b, cls, plan_objects(cls, names)).apply(objects, columns)
        return
    rows = zip(*columns, strict=True) if columns else [()] * len(objects)
    for thing, row in zip(objects, rows, strict=True):
        fields = upgrade(dict(zip(names, row, strict=True)))
        cells: list[Any] = [[value] for value in fields.values()]
        _checked(b, cls, plan_objects(cls, tuple(fields))).apply([thing], cells)


def _build_values(node: Records, b: Builder, cls: type, columns: list[Any], n: int) -> list[Any]:
    """Named tuples out of their fields, or what is built out of the dict of its fields by now."""
    if is_built(cls):
        rows = zip(*columns, strict=True) if columns else [()] * n
        return build_objects(b, cls, node.stored.version, [dict(zip(node.keys, row, strict=True)) for row in rows])
    upgrade = upgrade_of(cls, node.stored.version)
    if upgrade is None:
        build, dropped = plan_tuples(cls, node.keys)
        refuse_dropped(b, cls, dropped)
        return build(columns, n)
    done: list[Any] = []
    for row in zip(*columns, strict=True):
        fields = upgrade(dict(zip(node.keys, row, strict=True)))
        build, dropped = plan_tuples(cls, tuple(fields))
        refuse_dropped(b, cls, dropped)
        done += build([[value] for value in fields.values()], 1)
    return done


def _allocate(node: Records | VariedRecords, b: Builder, n: int) -> Any:
    """(class, its empty objects), (None, placeholders), (named tuple class, None), or None where columns stay."""
    if wants_columns(node, b):
        return None
    name, version = node.stored
    cls = find_class(b, node.stored, ("object", "named tuple", "state", "built"))
    if cls is None:
        objects = [Placeholder(name, "object", {}, None, version) for _ in range(n)]
    elif is_built(cls) or issubclass(cls, tuple):
        refuse_references(b, node.stored, "built from its state" if is_built(cls) else "a named tuple")
        return cls, None
    else:
        objects = new_objects(cls, n)
    b.numbered += objects
    return cls, objects


class VariedRecords(Node):
    """Objects of one class that differ in the fields they have.

    slot(n) pattern codes; child k over the objects that have field k, pattern by pattern.
    """

    __slots__ = ("keys", "patterns", "stored")
    slots = 1
    makes_columns = True

    def __init__(self, stored: Stored, keys: tuple[str, ...], patterns: list[tuple[int, ...]]) -> None:
        super().__init__(len(keys))
        self.stored = stored
        self.keys = keys
        self.patterns = patterns

    @classmethod
    def parse(cls, _tag: int, reader: ShapeReader) -> VariedRecords:
        """The class name, the key set and the patterns."""
        stored, keys = read_class(reader), reader.keys().keys
        return cls(stored, keys, reader.patterns(len(keys)))

    def weigh(self, _tag: int) -> int:
        """An object, or a placeholder, with a dict of all fields."""
        return VARIED + OBJECT + row_weight(self.children)

    def open(self, b: Builder, n: int) -> Any:
        """Count the objects of each field and make them, empty."""
        rows = open_patterns(self, b, n, self.patterns)
        if wants_columns(self, b):
            return rows, None, []
        name, version = self.stored
        cls = find_class(b, self.stored, ("object", "state", "built"))
        if cls is None:
            objects: list[Any] = [Placeholder(name, "object", {}, self.keys, version) for _ in range(n)]
        elif is_built(cls):
            refuse_references(b, self.stored, "built from its state")
            objects = [{} for _ in range(n)]
        else:
            objects = new_objects(cls, n)
        b.numbered += objects
        return rows, cls, objects

    def close(self, b: Builder, n: int, frame: Any, columns: list[Any]) -> Any:
        """Set the attributes that each object has."""
        rows, cls, objects = frame
        if wants_columns(self, b):
            return dict(zip(self.keys, spread(b, columns, rows, self.patterns, self.weight), strict=True))
        members: list[list[Any]] = [[] for _ in self.patterns]
        for thing, code in zip(objects, rows.codes, strict=True):
            members[code].append(thing)
        cells = cut_patterns(columns, rows, self.patterns)
        builds = cls is not None and is_built(cls)
        upgrades = cls is not None and upgrade_of(cls, self.stored.version) is not None
        if cls is not None and n and not upgrades and not builds:
            # fields that no object of this payload has must have defaults
            _checked(b, cls, plan_objects(cls, self.keys))
        for pattern, chosen, own in zip(self.patterns, members, cells, strict=True):
            if not chosen:
                continue
            names = tuple([self.keys[key] for key in pattern])
            if cls is None:
                for at, thing in enumerate(chosen):
                    thing.fill({name: column[at] for name, column in zip(names, own, strict=True)})
            elif builds:
                for at, fields in enumerate(chosen):
                    fields.update((name, column[at]) for name, column in zip(names, own, strict=True))
            elif upgrades:
                _fill_objects(self, b, cls, chosen, names, own)
            else:
                plan_objects(cls, names, complete=True).apply(chosen, own)
        return build_objects(b, cls, self.stored.version, objects) if builds else objects

    def objects(self, frame: Any) -> list[Any]:
        """Those of the batch."""
        return frame[2]  # type: ignore[no-any-return]

    def step(self, edge: int) -> str:
        """One field."""
        return show_step(self.keys[edge])


class NamedTuples(Records):
    """Named tuples, which are values: nothing refers to them."""

    __slots__ = ()

    def open(self, b: Builder, n: int) -> Any:
        """Find the class."""
        self.pass_on(b, n)
        if wants_columns(self, b):
            return None
        name, version = self.stored
        cls = find_class(b, self.stored, ("named tuple", "object", "built"))
        if cls is None:
            return None, [Placeholder(name, "named tuple", {}, None, version) for _ in range(n)]
        if is_built(cls):
            refuse_references(b, self.stored, "built from its state")
            return cls, None
        return cls, None if issubclass(cls, tuple) else new_objects(cls, n)


def _claim(w: ShapeWriter, column: Column, cls: type, name: str) -> None:
    """Make sure that one name means one class in a payload, and that a reader takes it for a name."""
    if VERSION_MARK in name:
        raise w.refuse(column, 0, f"a class whose name has a NUL: {name!r}; register it under another one")
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
        place_fresh(w, column, _PLACE_NUMBERED[schema.form])


def _place_named_tuples(w: ShapeWriter, column: Column, schema: Schema) -> None:
    fields = schema.fields or ()
    for index, value in enumerate(column.values):
        if len(value) != len(fields) or getattr(value, "__dict__", None):
            raise w.refuse(column, index, f"{schema.name} with attributes or items beyond its fields")
    columns = list(zip(*map(tuple.__iter__, column.values), strict=True))
    _place_columns(w, column, Tag.NAMED_TUPLE, schema.stamp, fields, columns)


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
        _place_varied(w, column, schema.stamp, schema.fields, rows)
        return
    _place_columns(w, column, Tag.RECORD, schema.stamp, schema.fields, columns)


def _place_open_records(w: ShapeWriter, column: Column, schema: Schema) -> None:
    rows = [vars(value) for value in column.values]
    if schema.slots:
        rows = [
            {name: getattr(value, name) for name in schema.slots if hasattr(value, name)} | row
            for value, row in zip(column.values, rows, strict=True)
        ]
    _place_rows(w, column, schema.stamp, rows)


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
    depth = w.enter(column)
    w.weigh(column, OBJECT + row_weight(len(keys)))
    w.node(tag)
    w.name(name)
    w.keys(keys)
    if len(column.values) == 1:
        w.push_singles([values[0] for values in columns], keys, depth, column, at_field)
        return
    w.push_fields(columns, keys, depth, column, at_field)


def _place_varied(
    w: ShapeWriter, column: Column, name: str, keys: tuple[str, ...], rows: list[dict[str, Any]]
) -> None:
    depth = w.enter(column)
    w.weigh(column, VARIED + OBJECT + row_weight(len(keys)))
    met, codes, patterns = group_patterns(rows)
    numbers = {key: number for number, key in enumerate(keys)}
    w.node(Tag.VARIED_RECORD)
    w.name(name)
    w.keys(keys)
    numbered = [tuple([numbers[met[key]] for key in pattern]) for pattern in patterns]
    w.patterns(numbered)
    w.ints(column, codes)
    split, order = split_columns(len(keys), rows, codes, numbered)
    for number in range(len(keys) - 1, -1, -1):
        w.push(split[number], depth, column, at_field(keys[number], rows, order))


def place_placeholders(w: ShapeWriter, column: Column) -> None:
    """Write placeholders of one class and form as what they stand for."""
    _PLACE_FORM[column.values[0].form](w, column)


def _place_tuple_placeholders(w: ShapeWriter, column: Column) -> None:
    rows = [value.contents for value in column.values]
    keys = tuple(rows[0])
    columns = list(zip(*map(dict.values, rows), strict=True))
    _place_columns(w, column, Tag.NAMED_TUPLE, column.values[0].stamp, keys, columns)


def _place_object_placeholders(w: ShapeWriter, column: Column) -> None:
    first: Placeholder = column.values[0]
    rows = [value.contents for value in column.values]
    if first.keys is None:
        _place_rows(w, column, first.stamp, rows)
    else:
        _place_varied(w, column, first.stamp, first.keys, rows)


_PLACE_NUMBERED: Final[dict[Form, Any]] = {"object": _place_records, "state": place_states, "built": place_built}

_PLACE_FORM: Final[dict[Form, Any]] = {
    "object": lambda w, column: place_fresh(w, column, _place_object_placeholders),
    "named tuple": _place_tuple_placeholders,
    "state": lambda w, column: place_fresh(w, column, place_state_placeholders),
    "enum": place_enum_placeholders,
    "built": lambda w, column: place_fresh(w, column, place_built_placeholders),
}
