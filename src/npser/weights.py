"""What values weigh: the memory that a reader takes for them, in cells of eight bytes.

Strategy: a payload may make as many cells as its size allows, and a few million beyond (`Limits.budget`). So whoever
makes n values of a sort draws n times their weight first, whatever they are stored as: bits, constants, sequences. The
weights are those of CPython on 64 bits with the place of a value in its list, and with what is needed while it is made;
they are part of the format, because a writer adds bytes where a reader would refuse (FORMAT.md, section 8).
tests/test_weights.py compares them with what is really taken.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from npser.tags import Kind, Node

__all__ = [
    "ARRAY_ITEM",
    "CELL",
    "ENTRY",
    "KINDS",
    "MEMBER",
    "NODES",
    "OBJECT",
    "POOLED",
    "SCALARS",
    "SHAPE_BYTE",
    "SINGLE",
    "STEP",
    "STRING",
    "STRUCTURE",
    "TEXT_ITEM",
    "VARIED",
    "row_weight",
]

CELL: Final = 8
"""Bytes."""

SHAPE_BYTE: Final = 6
"""A byte of a shape: what is single there is as many nodes as bytes, if not fewer."""

SINGLE: Final = 8
"""A single leaf."""

POOLED: Final = (6, 6, 6, 6, 6, 8)
"""An item of each of the pools."""

STEP: Final = 5
"""An int of a sequence that is stored as first and step."""

ARRAY_ITEM: Final = 2
"""A number that comes as an item of an array."""

KINDS: Final[dict[int, int]] = {
    Kind.NONE: 1,
    Kind.FALSE: 1,
    Kind.TRUE: 1,
    Kind.INT: 6,
    Kind.FLOAT: 6,
    Kind.BOOL: 2,
    Kind.TEXT: 3,
    Kind.BYTES: 3,
    Kind.BYTEARRAY: 10,
    Kind.BIGINT: 13,
    Kind.COMPLEX: 9,
    Kind.NULLABLE: 3,
    Kind.MIXED: 4,
    Kind.DATE: 7,
    Kind.DATETIME: 8,
    Kind.DATETIME_ZONED: 16,
    Kind.TIME: 13,
    Kind.TIME_ZONED: 16,
    Kind.TIMEDELTA: 9,
    Kind.DECIMAL: 27,
    Kind.FRACTION: 16,
    Kind.UUID: 20,
    Kind.PATH: 13,
    Kind.IP: 42,
    Kind.RANGE: 14,
    Kind.ELLIPSIS: 2,
    Kind.SCALAR: 5,
}
"""A leaf of each kind that has a body; for NULLABLE and MIXED what comes on top of the leaves inside."""

SCALARS: Final[dict[str, int]] = {"U": 9, "S": 3, "V": 6}
"""What comes on top for a numpy scalar whose dtype is of one of these kinds."""

STRUCTURE: Final = 25
"""The same for one that has fields, or could have them."""

TEXT_ITEM: Final = 8
"""A string, or byte string, that is stored for itself, and not as the code of another one."""

STRING: Final = 6
"""An element of an array of StringDType."""

NODES: Final[dict[int, int]] = {
    Node.LIST: 10,
    Node.TUPLE: 9,
    Node.SET: 30,
    Node.FROZENSET: 30,
    Node.DEQUE: 107,
    Node.LIST_ROW: 10,
    Node.TUPLE_ROW: 9,
    Node.SLICE: 12,
    Node.DICT: 12,
    Node.ORDERED_DICT: 30,
    Node.COUNTER: 16,
    Node.DEFAULT_DICT: 16,
    Node.ENUM: 12,
    Node.STATE: 36,
    Node.BUILT: 36,
    Node.UNION: 2,
    Node.REFERENCE: 6,
    Node.OBJECT_ARRAY: 40,
    Node.ARRAY: 36,
}
"""A container of each sort, but for those of keys (`row_weight`); what is in it is weighed for itself."""

ENTRY: Final = 16
"""A key and its value in one of the containers of `NODES`."""

MEMBER: Final = 8
"""A member of a set."""

OBJECT: Final = 14
"""An object, or the placeholder of one, beside the dict of its fields."""

VARIED: Final = 4
"""What comes on top for a dict or an object of a table whose rows differ in their keys."""

_FEW_KEYS = 5  # of a dict that is no larger for them
_MANY_KEYS = 30  # from here on a dict has keys of its own


@lru_cache(maxsize=256)
def row_weight(keys: int) -> int:
    """A dict of so many keys that are names.

    >>> [row_weight(keys) for keys in (0, 1, 6, 7, 30)]
    [10, 24, 34, 19, 150]
    """
    if keys <= _FEW_KEYS:
        return 24 if keys else 10
    if keys >= _MANY_KEYS:
        return 5 * keys
    return 34 if keys == _FEW_KEYS + 1 else 12 + keys
