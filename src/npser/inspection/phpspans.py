"""Where the bytes of a phpser payload are: every one of them, by place and by what it is.

Strategy: one loop over a stack of open containers, each a generator that reads what stands in front of its next value
and says at which place that is; a table, total over the tags, says what is behind each. Runs of varints are passed by
numpy, leaves in a row in one loop, other values one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import Final

import numpy as np

from npser.errors import DecodeError, LimitError, NpserError
from npser.inspection.parts import Part
from npser.inspection.phpleaves import pass_leaves
from npser.inspection.phpplaces import SHOWN_BYTES, PhpWalk, Place, php_parts
from npser.inspection.spans import Walked
from npser.limits import Limits
from npser.phpser.classes import demangle
from npser.phpser.keys import array_key, property_name
from npser.phpser.tags import ARRAY_TAGS, VERSIONS, KeyTag, Tag
from npser.shapes.column import show_key

__all__ = ["VALUES", "walk_phpser"]

MAX_KEYS = 64
"""Keys of one array that are places of their own; of more, all values are one place."""

MAC_SIZE = 32

BEHIND: Final = "behind the end"
SIGNATURE: Final = "behind the end, as long as a signature"


def walk_phpser(buf: memoryview, limits: Limits) -> tuple[Walked, Part, str]:
    """Walk through one payload of phpser: its spans, its parts, and what is to be said of it. It raises nothing.

    >>> walked, root, note = walk_phpser(memoryview(bytes.fromhex("020017040202")), Limits())
    >>> [(part.path, part.kind, part.count, part.nbytes) for part in root.leaves()]
    [('$', 'AFFINE', 1, 2), ('$[*]', 'AFFINE', 4, 2), ('(version)', '', 0, 1), ('(dictionary)', '', 0, 1)]
    """
    w = PhpWalk(buf, limits)
    try:
        _walk(w)
    except NpserError as error:
        w.walked.error = error
    except MemoryError:
        w.walked.error = LimitError("the payload asks for more memory than there is")
    note = f"{MAC_SIZE} bytes behind the value, as many as a signature; nothing was verified"
    return w.walked, php_parts(w, len(buf)), note if w.behind == MAC_SIZE else ""


def _walk(w: PhpWalk) -> None:
    _header(w)
    w.stack.append(iter((w.root,)))
    while w.stack:
        place = next(w.stack[-1], None)
        if place is None:
            w.stack.pop()
            continue
        _value(w, place)
    cursor = w.cursor
    if cursor.left:
        start = cursor.pos
        w.behind = len(cursor.take(cursor.left))
        w.put(start, BEHIND if w.behind != MAC_SIZE else SIGNATURE, "")


def _header(w: PhpWalk) -> None:
    cursor = w.cursor
    if cursor.u8() not in VERSIONS:
        raise DecodeError(f"phpser wire {cursor.buf[0]}; this npser reads wires 1 and 2", pos=0)
    w.version = cursor.pos
    w.put(0, "version", "")
    start = cursor.pos
    lengths = []
    try:
        for _ in range(w.size(1)):
            length = cursor.uvarint()
            w.starts.append(cursor.pos)
            cursor.take(length)
            lengths.append(length)
    finally:
        w.dictionary = cursor.pos - start
        w.lengths = np.array(lengths, "<i8")
        w.put(start, "dictionary", "")


def _value(w: PhpWalk, place: Place) -> None:
    """One value, or the container that is opened by it."""
    start = w.cursor.pos
    tag = w.cursor.u8()
    read = VALUES.get(tag)
    if read is None:
        w.cursor.pos = start
        raise w.cursor.fail(f"no such tag: 0x{tag:02x}")
    read(w, place, start)


Read = Callable[[PhpWalk, Place, int], None]


# -------------------------------------------------------------------------------------------------------------- leaves


def _constant(kind: str) -> Read:
    return lambda w, place, start: w.leaf(place, start, kind, 1)


def _long(w: PhpWalk, place: Place, start: int) -> None:
    w.cursor.uvarint()
    w.leaf(place, start, "LONG", 8)


def _double(w: PhpWalk, place: Place, start: int) -> None:
    w.cursor.take(8)
    w.leaf(place, start, "DOUBLE", 8)


def _word(w: PhpWalk, place: Place, start: int) -> None:
    index = w.index()
    w.leaf(place, start, "STRING_DICT", int(w.lengths[index]))


def _string(w: PhpWalk, place: Place, start: int) -> None:
    length = w.cursor.uvarint()
    w.cursor.take(length)
    w.leaf(place, start, "STRING", length)


def _reference(w: PhpWalk, place: Place, start: int) -> None:
    number = w.cursor.uvarint()
    if number >= w.ids:
        raise w.cursor.fail(f"a reference to number {number}, and {w.ids} objects stand before it")
    w.leaf(place, start, "REF", 0)


def _enum(w: PhpWalk, place: Place, start: int) -> None:
    w.class_name(place)
    w.index()
    w.ids += 1
    w.leaf(place, start, "ENUM", 1)


def _legacy(w: PhpWalk, place: Place, start: int) -> None:
    w.class_name(place)
    length = w.cursor.uvarint()
    w.cursor.take(length)
    w.ids += 1
    w.leaf(place, start, "LEGACY", length)


# ---------------------------------------------------------------------------------------------------------------- runs


def _longs(w: PhpWalk, n: int) -> int:
    w.run(n)
    return 8 * n


def _doubles(w: PhpWalk, n: int) -> int:
    w.cursor.take(8 * n)
    return 8 * n


def _strings(w: PhpWalk, n: int) -> int:
    return w.run(n, len(w.starts))


RUNS: Final[dict[int, tuple[int, Callable[[PhpWalk, int], int]]]] = {
    Tag.LONGS: (1, _longs),
    Tag.DOUBLES: (8, _doubles),
    Tag.STRINGS: (1, _strings),
    Tag.DELTA: (1, _longs),
}
"""Tag -> bytes that an item takes at least, and what passes n of them and gives their plain size."""


def _typed(tag: Tag) -> Read:
    each, pass_run = RUNS[tag]

    def typed(w: PhpWalk, place: Place, start: int) -> None:
        n = w.size(each)
        w.head(place, start, tag.name)
        start = w.cursor.pos
        raw = pass_run(w, n)
        if n:
            w.leaf(w.under(place, "[*]"), start, tag.name, raw, n)

    return typed


def _affine(w: PhpWalk, place: Place, start: int) -> None:
    n = w.cursor.uvarint()
    w.head(place, start, "AFFINE")
    start = w.cursor.pos
    w.run(2)
    w.cursor.expand(n)
    w.leaf(w.under(place, "[*]"), start, "AFFINE", 8 * n, n)


# ---------------------------------------------------------------------------------------------------------- containers


def _mixed(w: PhpWalk, place: Place, start: int) -> None:
    n = w.size(1)
    w.head(place, start, "MIXED")
    if n:
        w.open(_several(w, w.under(place, "[*]"), n))


def _several(w: PhpWalk, place: Place, n: int) -> Iterator[Place]:
    """n values of one place."""
    while n:
        n -= pass_leaves(w, place, n)
        if n:
            n -= 1
            yield place


def _step(key: str | bytes | int) -> str:
    return f"[{show_key(key)}]"


def _key_of(raw: bytes) -> str | bytes | int:
    try:
        return array_key(raw.decode())
    except UnicodeDecodeError:
        return raw


def _assoc(w: PhpWalk, place: Place, start: int) -> None:
    n = w.size(2)
    w.head(place, start, "ASSOC")
    w.open(_pairs(w, place, n))


def _pairs(w: PhpWalk, place: Place, n: int) -> Iterator[Place]:
    for _ in range(n):
        start = w.cursor.pos
        tag = w.cursor.u8()
        read = _KEYS.get(tag)
        if read is None:
            w.cursor.pos = start
            raise w.cursor.fail(f"no such tag of a key: 0x{tag:02x}")
        raw, key = read(w)
        w.key_bytes(place, start, raw)
        told = key is not None and n <= MAX_KEYS
        yield w.under(place, _step(_key_of(key)) if told and key is not None else "[*]")


def _long_key(w: PhpWalk) -> tuple[int, bytes | None]:
    w.cursor.uvarint()
    return 8, None


def _word_key(w: PhpWalk) -> tuple[int, bytes | None]:
    index = w.index()
    return int(w.lengths[index]), w.word(index)


def _string_key(w: PhpWalk) -> tuple[int, bytes | None]:
    length = w.cursor.uvarint()
    text = w.cursor.take(length)
    return length, bytes(text[:SHOWN_BYTES])


_KEYS: Final[dict[int, Callable[[PhpWalk], tuple[int, bytes | None]]]] = {
    KeyTag.LONG: _long_key,
    KeyTag.STRING_DICT: _word_key,
    KeyTag.STRING: _string_key,
}


def _key_set(w: PhpWalk, place: Place, n: int) -> list[str]:
    """Keys in front of their values, as steps."""
    start = w.cursor.pos
    indices = [w.index() for _ in range(n)]
    w.key_bytes(place, start, int(w.lengths.take(indices).sum()) if n else 0)
    return [_step(_key_of(w.word(index))) if n <= MAX_KEYS else "[*]" for index in indices]


def _assoc_dict(w: PhpWalk, place: Place, start: int) -> None:
    n = w.size(2)
    w.head(place, start, "ASSOC_DICT")
    steps = _key_set(w, place, n)
    w.open(w.under(place, step) for step in steps)


def _table_head(w: PhpWalk, place: Place, start: int, kind: str) -> tuple[int, list[Place]]:
    rows, columns = w.cursor.uvarint(), w.cursor.uvarint()
    if not columns:
        raise w.cursor.fail("a table without columns")
    if columns > w.cursor.left // 2 or rows > w.cursor.left // columns:
        raise w.cursor.fail(f"a table of {rows} rows and {columns} columns, {w.cursor.left} bytes left")
    w.head(place, start, kind)
    row = w.under(place, "[*]")
    row.count += rows
    row.kinds["row"] = row.kinds.get("row", 0) + rows
    return rows, [w.under(row, step) for step in _key_set(w, row, columns)]


def _rowset(w: PhpWalk, place: Place, start: int) -> None:
    rows, cells = _table_head(w, place, start, "ROWSET")
    w.open(chain.from_iterable(repeat(cells, rows)))


def _table(w: PhpWalk, place: Place, start: int) -> None:
    rows, cells = _table_head(w, place, start, "TABLE")
    w.open(_columns(w, rows, cells))


def _columns(w: PhpWalk, rows: int, cells: list[Place]) -> Iterator[Place]:
    for cell in cells:
        start = w.cursor.pos
        tag = w.cursor.u8()
        if tag == Tag.MIXED:
            w.leaf(cell, start, "MIXED", 0, 0)
            yield from _several(w, cell, rows)
            continue
        if tag not in RUNS:
            w.cursor.pos = start
            raise w.cursor.fail(f"no such tag of a column: 0x{tag:02x}")
        each, pass_run = RUNS[tag]
        if rows * each > w.cursor.left:
            raise w.cursor.fail(f"a column of {rows} items, {w.cursor.left} bytes left")
        w.leaf(cell, start, Tag(tag).name, pass_run(w, rows), rows)


def _object(w: PhpWalk, place: Place, start: int) -> None:
    w.class_name(place)
    n = w.size(2)
    w.ids += 1
    w.head(place, start, "OBJECT")
    w.open(_properties(w, place, n))


def _properties(w: PhpWalk, place: Place, n: int) -> Iterator[Place]:
    for _ in range(n):
        start = w.cursor.pos
        index = w.index()
        w.key_bytes(place, start, int(w.lengths[index]))
        name = show_key(demangle(property_name(w.word(index)))[1])[1:-1]
        yield w.under(place, f".{name}" if n <= MAX_KEYS else "[*]")


def _slots(w: PhpWalk, place: Place, start: int) -> None:
    w.class_name(place)
    n = w.size(1)
    w.ids += 1
    w.head(place, start, "SLOTS")
    w.open(w.under(place, f"[{at}]" if at < MAX_KEYS else "[*]") for at in range(n))


def _magic(w: PhpWalk, place: Place, start: int) -> None:
    w.class_name(place)
    if not w.cursor.left or w.cursor.buf[w.cursor.pos] not in ARRAY_TAGS:
        raise w.cursor.fail("what a __serialize gave is no array")
    w.ids += 1
    w.head(place, start, "MAGIC")
    w.open(iter((w.under(place, ".__getstate__()"),)))


def _new_reference(w: PhpWalk, place: Place, start: int) -> None:
    w.ids += 1
    place.heads += w.cursor.pos - start
    w.put(start, "NEW_REF head", place.path)
    w.open(iter((place,)))


VALUES: Final[dict[int, Read]] = {
    Tag.NULL: _constant("NULL"),
    Tag.FALSE: _constant("FALSE"),
    Tag.TRUE: _constant("TRUE"),
    Tag.LONG: _long,
    Tag.DOUBLE: _double,
    Tag.STRING_DICT: _word,
    Tag.STRING: _string,
    Tag.ASSOC: _assoc,
    Tag.MIXED: _mixed,
    **{tag: _typed(Tag(tag)) for tag in RUNS},
    Tag.AFFINE: _affine,
    Tag.OBJECT: _object,
    Tag.ENUM: _enum,
    Tag.MAGIC: _magic,
    Tag.LEGACY: _legacy,
    Tag.REF: _reference,
    Tag.NEW_REF: _new_reference,
    Tag.SLOTS: _slots,
    Tag.ASSOC_DICT: _assoc_dict,
    Tag.ROWSET: _rowset,
    Tag.TABLE: _table,
}
"""Tag -> what reads what is behind it; total."""
