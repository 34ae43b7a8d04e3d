"""The numbers of the phpser wire and the layout behind each.

    wire:  u8 version | varint n | n * (varint length | bytes) | value

Strategy: the comment of a tag is its layout, as in `npser.tags`. A varint is LEB128, ``z`` a zigzag varint, ``idx`` a
varint that points into the dictionary of strings at the front. Tags from 0x12 on make a payload version 2.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = ["AFFINE_ITEMS", "ARRAY_TAGS", "FIRST_OF_V2", "VERSIONS", "KeyTag", "Tag"]


class Tag(IntEnum):
    """What a value is."""

    NULL = 0x00
    FALSE = 0x01
    TRUE = 0x02
    LONG = 0x03  # z
    DOUBLE = 0x04  # f64, little-endian
    STRING_DICT = 0x05  # idx
    ASSOC = 0x06  # varint n | n * (key | value)
    MIXED = 0x07  # varint n | n * value
    LONGS = 0x08  # varint n | n * z
    DOUBLES = 0x09  # varint n | n * f64
    OBJECT = 0x0A  # idx class | varint n | n * (idx name | value)
    STRINGS = 0x0B  # varint n | n * idx
    STRING = 0x0C  # varint length | bytes
    ENUM = 0x0D  # idx class | idx case
    MAGIC = 0x0E  # idx class | value, which is an array
    LEGACY = 0x0F  # idx class | varint length | bytes
    REF = 0x10  # varint id
    NEW_REF = 0x11  # value
    SLOTS = 0x12  # idx class | varint n | n * value
    ASSOC_DICT = 0x13  # varint n | n * idx key | n * value
    ROWSET = 0x14  # varint rows | varint columns | columns * idx key | rows * columns * value
    TABLE = 0x15  # varint rows | varint columns | columns * idx key | columns * (tag | what follows its n)
    DELTA = 0x16  # varint n | z first | (n - 1) * z difference, modulo 2**64
    AFFINE = 0x17  # varint n | z base | z step


class KeyTag(IntEnum):
    """What a key of ASSOC is."""

    LONG = 0x00  # z
    STRING_DICT = 0x01  # idx
    STRING = 0x02  # varint length | bytes


VERSIONS: Final = (1, 2)
FIRST_OF_V2: Final = Tag.SLOTS

ARRAY_TAGS: Final = frozenset(
    {
        Tag.ASSOC,
        Tag.MIXED,
        Tag.LONGS,
        Tag.DOUBLES,
        Tag.STRINGS,
        Tag.ASSOC_DICT,
        Tag.ROWSET,
        Tag.TABLE,
        Tag.DELTA,
        Tag.AFFINE,
    }
)
"""The tags of PHP arrays: what a ``__serialize`` may give."""

AFFINE_ITEMS: Final = 1 << 20
"""So many items a payload may hold in AFFINE runs, for the writer; for the reader it is `Limits.items`."""
