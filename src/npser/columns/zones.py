"""The zones of a column of datetimes or times: each once in a table, then a code an item.

    wire:  uvarint z | z * zone | int(n) codes, 0 <= code < z
    zone:  u8 0                                       naive
           u8 1                                       datetime.timezone.utc itself
           u8 2 | svarint microseconds                timezone(offset)
           u8 3 | svarint microseconds | short text   timezone(offset, name)
           u8 4 | uvarint nbytes | ASCII              ZoneInfo(key)

Strategy: a zone is named, never replaced by the offset that it has at the moment. A column holds few zone objects
and many references to them, so they are told apart by identity first and by their bytes after that; reading gives
one object a zone. The key of a ZoneInfo must look like one before `zoneinfo` is asked, which looks for files.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from typing import TYPE_CHECKING, Final

import numpy as np

from npser.blocks.choose import write_ints
from npser.blocks.ints import read_ints
from npser.blocks.sink import Sink
from npser.columns.shorttext import read_short_text, write_short_text
from npser.errors import EncodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from npser.blocks.cursor import Cursor

    Zone = datetime.tzinfo | None

__all__ = ["read_zones", "write_zones"]

NAIVE, UTC, OFFSET, NAMED, KEY = range(5)

KEY_BYTES = 64
"""A longer key is refused; the longest one known today has 32."""

_KEY: Final = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*")
_MICRO: Final = datetime.timedelta(microseconds=1)
_DAY: Final = datetime.timedelta(days=1) // _MICRO


def write_zones(sink: Sink, zones: Sequence[Zone]) -> None:
    """Write n zones. A tzinfo of another class is an `EncodeError` with its place.

    >>> from npser.blocks.cursor import Cursor
    >>> berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    >>> write_zones(sink := Sink(), [berlin, None, berlin])
    >>> read_zones(Cursor(memoryview(bytes(sink.out))), 3)
    ([zoneinfo.ZoneInfo(key='Europe/Berlin'), None], [0, 1, 0])
    """
    table: dict[bytes, int] = {}
    code_of: dict[int, int] = {}  # of the id of each zone object; `zones` keeps them alive
    for key, zone in dict(zip(map(id, zones), zones, strict=True)).items():
        try:
            raw = _zone_bytes(zone)
        except EncodeError as error:
            error.item = next(i for i, other in enumerate(zones) if other is zone)
            raise
        code_of[key] = table.setdefault(raw, len(table))
    sink.uvarint(len(table))
    for raw in table:
        sink.out += raw
    write_ints(sink, np.fromiter(map(code_of.__getitem__, map(id, zones)), "<i8", len(zones)))


def read_zones(cursor: Cursor, n: int) -> tuple[list[Zone], list[int]]:
    """Read n zones: one object a zone, and n places among them.

    A key that this machine does not know is a `DecodeError` that names it.
    """
    count = cursor.uvarint()
    if count > cursor.left:  # each takes a byte
        raise cursor.fail(f"{count} zones do not fit the bytes left")
    table = [_read_zone(cursor) for _ in range(count)]
    codes = read_ints(cursor, n)
    if n and not 0 <= int(codes.min()) <= int(codes.max()) < count:
        raise cursor.fail(f"code of a zone is out of range: there are {count}")
    return table, codes.tolist()


def _zone_bytes(zone: Zone) -> bytes:
    sink = Sink()
    if zone is None:
        sink.u8(NAIVE)
    elif zone is datetime.UTC:
        sink.u8(UTC)
    elif type(zone) is datetime.timezone:
        _write_offset(sink, zone)
    elif type(zone) is zoneinfo.ZoneInfo:
        _write_key(sink, zone)
    else:
        kind = type(zone)
        raise EncodeError(
            f"npser cannot give back a tzinfo of {kind.__module__}.{kind.__qualname__}; "
            "use datetime.timezone or zoneinfo.ZoneInfo"
        )
    return bytes(sink.out)


def _write_offset(sink: Sink, zone: datetime.timezone) -> None:
    # what timezone() was called with: timezone(x) and timezone(x, "UTC+01:00") differ in nothing else
    offset, *name = zone.__getinitargs__()  # type: ignore[attr-defined]
    sink.u8(NAMED if name else OFFSET)
    sink.svarint(offset // _MICRO)
    for text in name:
        write_short_text(sink, text)


def _write_key(sink: Sink, zone: zoneinfo.ZoneInfo) -> None:
    try:
        zone.__reduce__()  # which refuses a zone that was read from a file of the caller's, whatever key it bears
    except Exception:
        raise EncodeError("npser cannot give back a ZoneInfo that was read from a file; use ZoneInfo(key)") from None
    if not _is_key(zone.key):
        raise EncodeError(f"npser cannot give back a ZoneInfo with the key {zone.key!r}")
    sink.u8(KEY)
    write_short_text(sink, zone.key)


def _is_key(key: str) -> bool:
    return len(key) <= KEY_BYTES and _KEY.fullmatch(key) is not None


def _read_zone(cursor: Cursor) -> Zone:
    form = cursor.u8()
    reader = _ZONES.get(form)
    if reader is None:
        raise cursor.fail(f"no such form of a zone: {form}")
    return reader(cursor)


def _read_offset(cursor: Cursor) -> datetime.timedelta:
    micros = cursor.svarint()
    if not -_DAY < micros < _DAY:
        raise cursor.fail("the offset of a zone must be less than a day")
    return datetime.timedelta(microseconds=micros)


def _read_named(cursor: Cursor) -> datetime.timezone:
    offset = _read_offset(cursor)
    return datetime.timezone(offset, read_short_text(cursor))


def _read_key(cursor: Cursor) -> zoneinfo.ZoneInfo:
    key = read_short_text(cursor)
    if not _is_key(key):
        raise cursor.fail(f"this cannot be the key of a zone: {key[:KEY_BYTES]!r}")
    try:
        return zoneinfo.ZoneInfo(key)
    except (LookupError, ValueError, OSError, ImportError):  # not found, no zone file, a directory
        raise cursor.fail(f"this machine does not know the zone {key!r}; is the package tzdata installed?") from None


_ZONES: Final[dict[int, Callable[[Cursor], Zone]]] = {
    NAIVE: lambda cursor: None,
    UTC: lambda cursor: datetime.UTC,
    OFFSET: lambda cursor: datetime.timezone(_read_offset(cursor)),
    NAMED: _read_named,
    KEY: _read_key,
}
