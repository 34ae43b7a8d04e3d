"""Which codes the reader meets: the literal tables of the reader, with every entry replaced by one that notes its code.

Strategy: every code of the wire has its entry in a table of readers, so nothing needs to be parsed a second time, and a
code that no table has cannot be met. Leaves have an entry of their own, for a run of them is one node. The kinds of
slots are taken from where they all stand together. The cache of shapes is put aside, for a shape out of it is not read
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any, Final

import pytest

from npser import decoder, wires
from npser.blocks import binary, bits, floats, ints, text
from npser.blocks.cursor import Cursor
from npser.columns import anyints, dtypes, kinds, slots
from npser.columns.dtypecodes import DtypeCode
from npser.shapes import build, node
from npser.shapes.cache import ShapeCache
from npser.tags import BitCode, BytesCode, FloatCode, IntCode, Kind, Lead, Node, TextCode

__all__ = ["ENUMS", "EVERY_CODE", "lead_of", "name_of", "tracing"]

Table = dict[int, Any]

TABLES: Final[tuple[tuple[Table, type[IntEnum]], ...]] = (
    (ints.READERS, IntCode),
    (ints.COMPACT_READERS, IntCode),
    (ints.LIST_READERS, IntCode),
    (floats.READERS, FloatCode),
    (floats.LIST_READERS, FloatCode),
    (bits.READERS, BitCode),
    (bits.LIST_READERS, BitCode),
    (text.READERS, TextCode),
    (binary.READERS, BytesCode),
    (kinds.READERS, Kind),
    (kinds.NUMBER_READERS, Kind),
    (kinds.DENSE_READERS, Kind),
    (anyints._READERS, Kind),
    (decoder._SINGLES, Kind),
    (build.PARSERS, Node),
    (dtypes._READERS, DtypeCode),
)

ENUMS: Final = (IntCode, FloatCode, BitCode, TextCode, BytesCode, Kind, Lead, Node, DtypeCode)


def name_of(code: IntEnum) -> str:
    """A code as text: members of different tables that are the same number are equal, their names are not.

    >>> name_of(IntCode.FRAME)
    'IntCode.FRAME'
    """
    return f"{type(code).__name__}.{code.name}"


EVERY_CODE: Final[frozenset[str]] = frozenset(name_of(code) for codes in ENUMS for code in codes)
"""All that there is to meet."""

KINDS: Final = frozenset(map(int, Kind))


def lead_of(byte: int) -> Lead | None:
    """What a payload's third byte announces; None for the kind of a single leaf.

    >>> lead_of(0x83), lead_of(0x03)
    (<Lead.SHORT_SHAPE: 128>, None)
    """
    return max((lead for lead in Lead if lead <= byte), default=None)


def _noting(met: set[str], code: IntEnum, read: Callable[..., Any]) -> Callable[..., Any]:
    def reader(*args: Any) -> Any:
        met.add(name_of(code))
        if code is Kind.BIGINT:
            met.add(name_of(BytesCode.LENGTHS))  # the only form it has, so it asks no table
        return read(*args)

    return reader


@contextmanager
def tracing() -> Iterator[set[str]]:
    """The names of the codes that the reader meets inside the `with`; it grows while the reader reads.

    >>> import npser
    >>> with tracing() as met:
    ...     _ = npser.loads(bytes.fromhex("c1 01 38 03 02 02"))
    >>> sorted(met)
    ['IntCode.AFFINE', 'Lead.INT_LIST']
    """
    met: set[str] = set()

    def load_shape(*args: Any) -> Any:
        program = build.load_shape(*args)
        if program.preserve:
            met.add(name_of(Node.PRESERVE))
        return program

    def open_slots(*args: Any) -> Any:
        singles, numbers, reader = slots.open_slots(*args)
        met.update(name_of(Kind(kind)) for kind in singles + reader.kinds if kind in KINDS)
        if Kind.BIGINT in singles + reader.kinds:
            met.add(name_of(BytesCode.LENGTHS))
        return singles, numbers, reader

    def read_shape(data: bytes, parsers: Any, leaves: Any, depth: int) -> Any:
        return node.read_shape(data, parsers, _noting(met, Node.LEAF, leaves), depth)

    def decode(data: Any, *args: Any) -> Any:
        head = bytes(memoryview(data)[:3])
        if len(head) > 2 and (lead := lead_of(head[2])) is not None:
            met.add(name_of(lead))
        return decoder.decode(data, *args)

    def read_codes(cursor: Cursor, n: int) -> Any:
        head = bytes(cursor.buf[cursor.pos : min(cursor.pos + 3, cursor.end)])
        if head in binary.PLAIN_CODES:
            met.add(name_of(IntCode.FRAME))
        return real_read_codes(cursor, n)

    real_read_codes = binary.read_codes
    with pytest.MonkeyPatch.context() as patch:
        for table, codes in TABLES:
            for code in set(table) & set(codes):
                patch.setitem(table, code, _noting(met, codes(code), table[code]))
        patch.setattr(build, "SHAPES", ShapeCache())
        for shortcut in ("outline_of", "open_few"):  # they ask no table
            patch.setattr(build, shortcut, lambda *_args: None)
        patch.setattr(slots, "READ_LONE", {})
        patch.setattr(build, "read_shape", read_shape)
        patch.setattr(build, "open_slots", open_slots)
        patch.setattr(decoder, "load_shape", load_shape)
        patch.setattr(wires, "decode", decode)
        for module in (binary, text):
            patch.setattr(module, "read_codes", read_codes)
        yield met
