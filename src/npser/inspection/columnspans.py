"""Where the bytes of a column go: the blocks that a kind of leaf is made of. Arrays are in `arrayspans`.

Strategy: most kinds are a few blocks one after the other, so their entries in the table say which; the rest have a
function. The raw size of a column is that of its blocks, where a code that only says which of a few (a kind, a zone)
counts a byte.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from npser.inspection.arrayspans import walk_arrays, walk_scalars
from npser.inspection.blockspans import (
    chunks_of,
    ones_of,
    taken,
    walk_bits,
    walk_bytes,
    walk_floats,
    walk_ints,
    walk_text,
)
from npser.inspection.intchunks import counts, total
from npser.tags import BytesCode, Kind

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor
    from npser.inspection.pieces import Piece

__all__ = ["COLUMNS", "DTYPES", "walk_body"]

Walk: TypeAlias = Callable[["Piece", "Cursor", int], None]
Block: TypeAlias = Callable[["Piece", "Cursor", int, str], "Piece"]

NESTED: Final = frozenset({Kind.NULLABLE, Kind.MIXED})
KINDS: Final = frozenset(map(int, Kind))

DTYPES: Final[dict[int, str]] = {
    Kind.NONE: "None",
    **dict.fromkeys((Kind.FALSE, Kind.TRUE, Kind.BOOL, Kind.POOL_BOOL), "bool"),
    **dict.fromkeys((Kind.POOL_U8, Kind.POOL_I16, Kind.POOL_I32, Kind.POOL_I64, Kind.INT, Kind.BIGINT), "int"),
    **dict.fromkeys((Kind.POOL_STEPS, Kind.POOL_FRAME, Kind.POOL_COPIES), "int"),
    **dict.fromkeys((Kind.POOL_F64, Kind.POOL_DECIMAL, Kind.FLOAT), "float"),
    **dict.fromkeys((Kind.POOL_TEXT, Kind.TEXT), "str"),
    **dict.fromkeys((Kind.POOL_MIXED, Kind.MIXED), "mixed"),
    **dict.fromkeys((Kind.POOL_CONST, Kind.POOL_CODES, Kind.POOL_SOME, Kind.NULLABLE), "any"),  # it says which itself
    Kind.BYTES: "bytes",
    Kind.BYTEARRAY: "bytearray",
    Kind.COMPLEX: "complex",
    Kind.DATE: "date",
    **dict.fromkeys((Kind.DATETIME, Kind.DATETIME_ZONED), "datetime"),
    **dict.fromkeys((Kind.TIME, Kind.TIME_ZONED), "time"),
    Kind.TIMEDELTA: "timedelta",
    Kind.DECIMAL: "Decimal",
    Kind.FRACTION: "Fraction",
    Kind.UUID: "UUID",
    Kind.PATH: "path",
    Kind.IP: "ip",
    Kind.RANGE: "range",
    Kind.ELLIPSIS: "ellipsis",
    Kind.SCALAR: "numpy scalar",
    Kind.ARRAY: "ndarray",
}
"""The type of the items of a kind; total."""


def walk_body(piece: Piece, cursor: Cursor, kind: int, n: int) -> None:
    """What stands behind a kind byte. The piece ends where reading it did, also on an error."""
    try:
        walk = COLUMNS.get(kind)
        if walk is None:
            raise cursor.fail(f"no such kind of column: 0x{kind:02x}")
        piece.n = n
        piece.code = Kind(kind)
        piece.dtype = DTYPES[kind]
        piece.raw = -1
        walk(piece, cursor, n)
    finally:
        if piece.raw < 0:
            piece.raw = sum(child.raw for child in piece.children)
        piece.stop = cursor.pos


def _blocks(*blocks: tuple[Block, str]) -> Walk:
    def walk(piece: Piece, cursor: Cursor, n: int) -> None:
        for block, what in blocks:
            block(piece, cursor, n, what)

    return walk


def _nothing(piece: Piece, cursor: Cursor, n: int) -> None:
    cursor.expand(n)
    piece.raw = n


def _codes(piece: Piece, cursor: Cursor, n: int, what: str = "codes") -> Piece:
    codes = walk_ints(piece, cursor, n, what)
    codes.raw = n
    return codes


def _any_int(piece: Piece, cursor: Cursor, n: int, what: str) -> Piece:
    part = piece.add(cursor.pos, what, n=n)
    kind = cursor.u8()
    if kind not in (Kind.INT, Kind.BIGINT):
        raise cursor.fail(f"integers of kind 0x{kind:02x}")
    walk_body(part, cursor, kind, n)
    return part


def _bigints(piece: Piece, cursor: Cursor, n: int) -> None:
    if cursor.u8() != BytesCode.LENGTHS:
        raise cursor.fail("no such encoding of big integers")
    sizes = walk_ints(piece, cursor, n, "lengths")
    piece.raw = total(chunks_of(cursor, sizes), 1, "size of an integer")
    taken(piece, cursor, piece.raw, "integers")


def _nullable(piece: Piece, cursor: Cursor, n: int) -> None:
    present = walk_bits(piece, cursor, n, "present")
    part = _part(piece, cursor, ones_of(cursor, present), "those present")
    piece.dtype = f"{part.dtype} | None"
    piece.label = f"{n - part.n} None"


def _mixed(piece: Piece, cursor: Cursor, n: int) -> None:
    m = cursor.u8()
    if m < 2:
        raise cursor.fail(f"a mixed column of {m} kinds")
    codes = _codes(piece, cursor, n)
    each = counts(chunks_of(cursor, codes), m, "kind").tolist()
    parts = [_part(piece, cursor, count, f"kind {code}") for code, count in enumerate(each)]
    piece.dtype = " | ".join(dict.fromkeys(part.dtype for part in parts))


def _part(piece: Piece, cursor: Cursor, n: int, what: str) -> Piece:
    part = piece.add(cursor.pos, what, n=n)
    kind = cursor.u8()
    if kind == Kind.NONE and what != "those present":  # each has its code already, so none is drawn from the budget
        part.stop, part.code, part.dtype, part.raw = cursor.pos, Kind.NONE, "None", n
        return part
    if kind in NESTED:
        raise cursor.fail(f"a kind that may not stand inside a mixed column: 0x{kind:02x}")
    walk_body(part, cursor, kind, n)
    return part


def _zoned(piece: Piece, cursor: Cursor, n: int) -> None:
    zones = piece.add(cursor.pos, "zones")
    try:
        count = cursor.uvarint()
        if count > cursor.left:
            raise cursor.fail(f"{count} zones do not fit the bytes left")
        for _ in range(count):
            form = cursor.u8()
            if form not in _ZONES:
                raise cursor.fail(f"no such form of a zone: {form}")
            _ZONES[form](cursor)
    finally:
        zones.stop = cursor.pos
    zones.n = count
    piece.label = f"{count} zones"
    _codes(piece, cursor, n, "zone of each")
    walk_bits(piece, cursor, n, "folds")
    walk_ints(piece, cursor, n, "microseconds")


def _short(cursor: Cursor) -> object:
    return cursor.take(cursor.uvarint())


_ZONES: Final[dict[int, Callable[[Cursor], object]]] = {
    0: lambda _: None,
    1: lambda _: None,
    2: lambda cursor: cursor.svarint(),
    3: lambda cursor: (cursor.svarint(), _short(cursor)),
    4: _short,
}


def _decimals(piece: Piece, cursor: Cursor, n: int) -> None:
    form = cursor.u8()
    if form == 0:
        walk_text(piece, cursor, n, "text")
    elif form == 1:
        walk_ints(piece, cursor, n, "exponents")
        _any_int(piece, cursor, n, "coefficients")
    else:
        raise cursor.fail(f"no such form of a column of Decimals: {form}")
    piece.label = ("as text", "as integers")[form]


def _uuids(piece: Piece, cursor: Cursor, n: int) -> None:
    form = cursor.u8()
    if form > 1:
        raise cursor.fail(f"no such form of a column of UUIDs: {form}")
    taken(piece, cursor, 16 * n, "16 bytes each")
    piece.raw = 16 * n
    if form:
        piece.raw += _codes(piece, cursor, n, "is_safe").raw


def _scalars(piece: Piece, cursor: Cursor, n: int) -> None:
    walk_scalars(piece, cursor, n, _codes)


def _arrays(piece: Piece, cursor: Cursor, n: int) -> None:
    walk_arrays(piece, cursor, n)


COLUMNS: Final[dict[int, Walk]] = {
    **dict.fromkeys((Kind.NONE, Kind.FALSE, Kind.TRUE), _nothing),
    Kind.INT: _blocks((walk_ints, "ints")),
    Kind.FLOAT: _blocks((walk_floats, "doubles")),
    Kind.BOOL: _blocks((walk_bits, "bits")),
    Kind.TEXT: _blocks((walk_text, "text")),
    Kind.BYTES: _blocks((walk_bytes, "bytes")),
    Kind.BYTEARRAY: _blocks((walk_bytes, "bytes")),
    Kind.BIGINT: _bigints,
    Kind.COMPLEX: _blocks((walk_floats, "real parts"), (walk_floats, "imaginary parts")),
    Kind.NULLABLE: _nullable,
    Kind.MIXED: _mixed,
    Kind.DATE: _blocks((walk_ints, "days")),
    Kind.DATETIME: _blocks((walk_ints, "microseconds")),
    Kind.DATETIME_ZONED: _zoned,
    Kind.TIME: _blocks((walk_ints, "microseconds")),
    Kind.TIME_ZONED: _zoned,
    Kind.TIMEDELTA: _blocks((walk_ints, "days"), (walk_ints, "microseconds")),
    Kind.DECIMAL: _decimals,
    Kind.FRACTION: _blocks((_any_int, "numerators"), (_any_int, "denominators")),
    Kind.UUID: _uuids,
    Kind.PATH: _blocks((_codes, "flavours"), (walk_text, "text")),
    Kind.IP: _blocks((_codes, "classes"), (walk_text, "text")),
    Kind.RANGE: _blocks((_any_int, "starts"), (_any_int, "stops"), (_any_int, "steps")),
    Kind.ELLIPSIS: _blocks((walk_bits, "ones")),
    Kind.SCALAR: _scalars,
    Kind.ARRAY: _arrays,
}
"""Kind -> what its body is made of; total over the kinds that have a body, and those that stand in mixed columns."""
