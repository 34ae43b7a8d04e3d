"""concat: payloads of one shape, end to end, column by column.

Strategy: a payload is looked at before it is read. Where all are tables of the same keys, or batches of one class with
the same fields, each gives its columns, which are joined and written under one shape; no row is ever made, and cells
that are objects stay placeholders, which are written as what they stand for. Lists of numbers are joined as arrays.
Whatever is alike but not that simple (rows that differ in their keys, objects that are referred to) is joined as lists.
Either way the result is what `dumps` gives for the joined lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from npser.blocks.cursor import Cursor
from npser.decoder import decode, open_buffer
from npser.encoder import encode, encode_numbers, encode_written
from npser.envelope.layers import open_layers
from npser.errors import DecodeError, EncodeError, LimitError
from npser.limits import Limits
from npser.shapes.build import PARSERS, build_value
from npser.shapes.collector import pause, resume
from npser.shapes.column import Column, at_field, at_key, in_lists, show_key
from npser.shapes.infer import write_columns
from npser.shapes.leaves import LeafRun, Nothing, Reference, Union
from npser.shapes.maps import Maps
from npser.shapes.node import read_shape
from npser.shapes.policy import Policy
from npser.shapes.records import NamedTuples, Records, VariedRecords
from npser.shapes.sequences import Rows, Sequences
from npser.shapes.tables import Tables, VariedTables
from npser.tags import MAGIC, VERSION, Lead
from npser.tags import Node as Tag
from npser.types.allow import Nobody
from npser.types.registry import stamp
from npser.types.shown import show_name
from npser.weights import OBJECT, row_weight

if TYPE_CHECKING:
    from npser.shapes.node import Node, Program
    from npser.shapes.writer import ShapeWriter

__all__ = ["concat"]

SHOWN_KEYS = 5
"""Keys that an error names."""


_COLUMNS: Final = Policy(Nobody(), tables="columns")
_ROWS: Final = Policy(Nobody())
_ARRAYS: Final = Policy(Nobody(), numbers="array")

_TAGS: Final[dict[type, Tag]] = {Tables: Tag.TABLE, Records: Tag.RECORD, NamedTuples: Tag.NAMED_TUPLE}
"""Nodes whose rows all have the same keys -> their tag."""


class _Part(NamedTuple):
    """One payload, before its data is read.

    Parameters
    ----------
    items : {"leaves", "dicts", "objects", "nothing"}
    name : str
        The class of objects, as the shape has it.
    keys : tuple of str | None
        Of dicts, or the fields of objects; None where the shape does not say.
    tag : Tag | None
        The node that all rows go into as columns, where they can.
    """

    number: int
    data: Any
    items: str
    name: str = ""
    keys: tuple[str, ...] | None = None
    tag: Tag | None = None

    @property
    def what(self) -> str:
        """What it holds, for an error."""
        return f"objects of {show_name(self.name)}" if self.items == "objects" else self.items


def concat(payloads: Iterable[Any], *, limits: Limits = Limits()) -> bytes:  # noqa: B008 - it cannot be changed
    """Join payloads of lists of one shape into one, without building their rows.

    Parameters
    ----------
    payloads : iterable of buffers
        Payloads of lists: of dicts with the same keys, of objects of one class with the same fields, or of leaves
        (numbers, strings, dates, …). Empty lists go with any of them. Compressed and checked ones are opened.
    limits : Limits
        What each payload may ask for.

    Returns
    -------
    bytes
        What `dumps` would give for the joined lists. An object that is met twice within one payload is one object
        again; nothing is shared between payloads.

    Raises
    ------
    EncodeError
        The payloads do not go together; the message says which one and why.
    DecodeError
        One of them is no payload.

    >>> from npser.decoder import decode
    >>> parts = [encode([{"id": 1}, {"id": 2}], default=None, preserve=False), encode([], default=None, preserve=False)]
    >>> decode(concat([*parts, parts[0]]), _ROWS, Limits())
    [{'id': 1}, {'id': 2}, {'id': 1}, {'id': 2}]
    """
    shapes: dict[bytes, Program] = {}
    parts = [_look(number, data, limits, shapes) for number, data in enumerate(payloads)]
    pause()  # many cells are containers, and none of them is garbage
    try:
        return _concat(parts, limits, shapes)
    finally:
        resume()


def _concat(parts: list[_Part], limits: Limits, shapes: dict[bytes, Program]) -> bytes:
    for part in parts:
        if part.items == "nothing":
            decode(part.data, _ROWS, limits)  # it should be sound, all the same
    parts = [part for part in parts if part.items != "nothing"]
    if not parts:
        return encode([], default=None, preserve=False)
    first = parts[0]
    for part in parts[1:]:
        _compare(first, part)
    if first.items == "leaves":
        return _join_leaves([decode(part.data, _ARRAYS, limits) for part in parts])
    if first.tag is not None and all(part.tag == first.tag and part.keys == first.keys for part in parts):
        columns, n = _join_columns([_read_columns(part, limits, shapes) for part in parts])
        if n > 1:  # one row is not written as a table of rows
            return encode_written(lambda w: _write_rows(w, first, columns, n))
    return encode(_join([decode(part.data, _ROWS, limits) for part in parts]), default=None, preserve=False)


# ------------------------------------------------------------------------------------------------------- looking


def _look(number: int, data: Any, limits: Limits, shapes: dict[bytes, Program]) -> _Part:
    buf = open_buffer(data)
    if len(buf) < 3 or buf[0] != MAGIC or buf[1] != VERSION:
        buf = open_layers(buf, limits)
    if len(buf) < 3 or buf[0] != MAGIC or buf[1] != VERSION:
        decode(buf, _ROWS, limits)  # raises
    if len(buf) > limits.bytes:
        raise LimitError(f"payload {number} has {len(buf)} bytes, and Limits(bytes={limits.bytes})")
    lead = buf[2]
    if Lead.LEAF_LIST <= lead < Lead.SHORT_BYTES:
        return _Part(number, buf, "leaves" if len(buf) > 3 and buf[3] else "nothing")
    if lead < Lead.SHORT_SHAPE:
        decode(buf, _ROWS, limits)  # which may have something worse to say
        raise _refusal(number, "no list")
    program = _open(buf, limits, shapes)[0]
    if program.preserve:
        raise EncodeError(f"payload {number} preserves identity, which joining it would lose")
    root = program.nodes[0]
    if type(root) is Rows and root.tag == Tag.LIST_ROW:  # one list of items of several sorts
        if len(program.nodes) == 2 and type(program.nodes[1]) is LeafRun:
            return _Part(number, buf, "leaves")
        raise _refusal(number, "a list of something else")
    if type(root) is not Sequences or root.tag != Tag.LIST:
        raise _refusal(number, "no list")
    return _describe(_Part(number, buf, "nothing"), program, program.nodes[1])


def _refusal(number: int, what: str) -> EncodeError:
    return EncodeError(
        f"payload {number} is {what}; concat joins lists of dicts, of objects of one class, or of leaves"
    )


def _describe(part: _Part, program: Program, node: Node) -> _Part:
    """What the items of a list are, by their node."""
    if type(node) is Union and node.children == 2 and _is_aside(node, program.nodes[-1]):
        return _describe(part, program, program.nodes[2])._replace(tag=None)
    if type(node) is Nothing:
        return part
    if type(node) is LeafRun:
        return part._replace(items="leaves")
    if type(node) is Maps and node.tag == Tag.DICT:
        return part._replace(items="dicts")
    tag = None if program.references else _TAGS.get(type(node))
    if isinstance(node, (Tables, VariedTables)):
        return part._replace(items="dicts", keys=node.keys, tag=tag)
    if isinstance(node, (Records, VariedRecords)):
        return part._replace(items="objects", name=stamp(*node.stored), keys=node.keys, tag=tag)
    raise _refusal(part.number, "a list of something else")


def _is_aside(union: Node, last: Node) -> bool:
    """Whether the second child of a union holds no rows of its own: none, or those that came before."""
    return last.parent is union and type(last) in (Nothing, Reference)


def _compare(first: _Part, part: _Part) -> None:
    """Make sure that two payloads hold items of one sort, with the same keys."""
    if (first.items, first.name) != (part.items, part.name):
        raise EncodeError(
            f"payload {part.number} is a list of {part.what}, and payload {first.number} one of {first.what}"
        )
    if first.keys is None or part.keys is None:
        return
    what = "field" if first.items == "objects" else "key"
    missing = [key for key in first.keys if key not in set(part.keys)]
    more = [key for key in part.keys if key not in set(first.keys)]
    if missing:
        raise EncodeError(f"payload {part.number} lacks {_named(what, missing)}, which payload {first.number} has")
    if more:
        raise EncodeError(f"payload {part.number} has {_named(what, more)}, which payload {first.number} lacks")


def _named(what: str, keys: Sequence[str]) -> str:
    shown = ", ".join(map(show_key, keys[:SHOWN_KEYS])) + ", …" * (len(keys) > SHOWN_KEYS)
    return f"the {what}{'s' * (len(keys) > 1)} {shown}"


# ------------------------------------------------------------------------------------------------------- reading


def _open(buf: memoryview, limits: Limits, shapes: dict[bytes, Program]) -> tuple[Program, Cursor]:
    """The shape of a payload, in nodes that nobody else has, and a cursor behind it; `shapes` has those of before."""
    lead, size = buf[2], len(buf)
    cursor = Cursor(buf, 3, size, limits.budget(size))
    length = lead & 0x7F if lead < Lead.LONG_SHAPE else cursor.uvarint()
    pos = cursor.pos
    raw = cursor.take(length).tobytes()
    known = shapes.get(raw)
    if known is not None:
        return known, cursor
    try:
        program = shapes[raw] = read_shape(raw, PARSERS, LeafRun, limits.depth)
        return program, cursor
    except DecodeError as error:
        error.pos = pos + (error.pos or 0)
        raise


def _read_columns(part: _Part, limits: Limits, shapes: dict[bytes, Program]) -> dict[str, list[Any]]:
    """The columns of the rows; lists of rows further in stay lists."""
    program, cursor = _open(part.data, limits, shapes)
    for node in program.nodes[1:]:
        if type(node) is Sequences:
            node.makes_lists = False  # which says no more than that tables and numbers in it may be something else
    columns: dict[str, list[Any]] = build_value(program, cursor, _COLUMNS)
    return columns


def _join_columns(tables: list[dict[str, list[Any]]]) -> tuple[list[list[Any]], int]:
    """Columns of several tables, joined, and how many rows they have; none where there are no columns to tell."""
    joined = [_join([table[key] for table in tables]) for key in tables[0]] if type(tables[0]) is dict else []
    return joined, len(joined[0]) if joined else 0


def _join(lists: Iterable[list[Any]]) -> list[Any]:
    return list(chain.from_iterable(lists))


def _join_leaves(parts: list[Any]) -> bytes:
    kinds = {part.dtype if isinstance(part, np.ndarray) else None for part in parts}
    if len(kinds) == 1 and None not in kinds:
        return encode_numbers(np.concatenate(parts))
    lists = [part.tolist() if isinstance(part, np.ndarray) else part for part in parts]
    return encode(_join(lists), default=None, preserve=False)


# ------------------------------------------------------------------------------------------------------- writing


def _write_rows(w: ShapeWriter, first: _Part, columns: list[list[Any]], n: int) -> None:
    """Write a list of n rows that all have the same keys, as `place_lists` and the placer of its items do."""
    assert first.keys is not None and first.tag is not None
    root = Column((), single=True)
    rows = Column(range(n), w.enter(root), root, in_lists([n]))
    w.node(Tag.LIST)
    w.ints(root, [n])
    depth = w.enter(rows)
    w.weigh(rows, (OBJECT if first.items == "objects" else 0) + row_weight(len(first.keys)))
    w.node(first.tag)
    if first.items == "objects":
        w.name(first.name)
    w.keys(first.keys)
    w.push_fields(columns, first.keys, depth, rows, at_field if first.items == "objects" else at_key)
    write_columns(w)
