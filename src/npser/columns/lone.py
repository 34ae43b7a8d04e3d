"""One leaf with a body of its own: what a column of one would be, written and read without numpy.

Strategy: a date in a document is a column of one, whose block is one number. Going through arrays for that costs ten
times what the number does. So each kind that documents hold has a writer here that gives the same bytes as the one of
columns, and a reader for bodies as that writer makes them. What is any other way goes through the columns, which say
what is wrong with it.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from npser.blocks.choose import write_bits
from npser.blocks.cursor import Cursor
from npser.blocks.flat_ints import write_const
from npser.blocks.sink import Sink
from npser.columns.bigints import size_of
from npser.columns.cutting import NotAsExpected, uvarint
from npser.columns.names import PLAIN_FORM, UUID_BYTES, uuid_of
from npser.columns.numbers import INTEGER_FORM, exact_context, integers_of
from npser.columns.temporal import DAY, EPOCH_ORDINAL, MAX_DAYS
from npser.columns.zones import KEY, UTC, read_zones, write_zones
from npser.tags import BytesCode, IntCode, Kind

if TYPE_CHECKING:
    Write = Callable[[Sink, Any], bool]
    Read = Callable[[bytes], Any]

__all__ = ["MAX_LONE", "READ_LONE", "WRITE_LONE", "read_lone_bodies"]

MAX_LONE = 256
"""Bodies of more bytes are read by the columns: what is long is not made much of by a few calls."""

CONST, BYTES_LENGTHS = int(IntCode.CONST), int(BytesCode.LENGTHS)
INT, BIGINT, BYTES = int(Kind.INT), int(Kind.BIGINT), int(Kind.BYTES)
DATE, DATETIME, DATETIME_ZONED = int(Kind.DATE), int(Kind.DATETIME), int(Kind.DATETIME_ZONED)
TIMEDELTA, DECIMAL, OF_UUID = int(Kind.TIMEDELTA), int(Kind.DECIMAL), int(Kind.UUID)

_EPOCH: Final = datetime.datetime(1970, 1, 1)
_UNKNOWN: Final = uuid.SafeUUID.unknown
_NO_FOLD: Final = np.zeros(1, np.bool_)
_INT64: Final = 1 << 63


# ------------------------------------------------------------------------------------------------------------- writing


def _write_date(sink: Sink, value: datetime.date) -> bool:
    sink.out.append(DATE)
    write_const(sink, value.toordinal(), 1)
    return True


def _write_datetime(sink: Sink, value: datetime.datetime) -> bool:
    if value.fold:
        return False
    zone = value.tzinfo
    if zone is None:
        sink.out.append(DATETIME)
    elif zone is datetime.UTC or type(zone) is ZoneInfo:
        start = _start_of_zone(zone)  # raises as `write_zones` does
        sink.out.append(DATETIME_ZONED)
        sink.out += start
        sink.expanded += 1  # the code of the zone
    else:
        return False
    minutes = ((value.toordinal() - EPOCH_ORDINAL) * 24 + value.hour) * 60 + value.minute
    write_const(sink, (minutes * 60 + value.second) * 1_000_000 + value.microsecond, 1)
    return True


@lru_cache(maxsize=64)  # zones are equal only if they are the same object
def _start_of_zone(zone: datetime.tzinfo) -> bytes:
    """What stands in front of the microseconds of a datetime in this zone, without a fold."""
    sink = Sink()
    write_zones(sink, (zone,))
    write_bits(sink, _NO_FOLD)
    return bytes(sink.out)


def _write_timedelta(sink: Sink, value: datetime.timedelta) -> bool:
    sink.out.append(TIMEDELTA)
    write_const(sink, value.days, 1)
    write_const(sink, value.seconds * 1_000_000 + value.microseconds, 1)
    return True


def _write_decimal(sink: Sink, value: decimal.Decimal) -> bool:
    parts = integers_of((_CONTEXT.to_sci_string(value),))
    if parts is None:
        return False
    (coefficient,), (exponent,) = parts
    if not -_INT64 <= coefficient < _INT64:
        return False
    sink.out += bytes((DECIMAL, INTEGER_FORM))
    write_const(sink, exponent, 1)
    sink.out.append(INT)
    write_const(sink, coefficient, 1)
    return True


def _write_uuid(sink: Sink, value: uuid.UUID) -> bool:
    if value.is_safe is not _UNKNOWN:
        return False
    sink.out += bytes((OF_UUID, PLAIN_FORM))
    sink.out += value.bytes
    return True


def _write_bytes(sink: Sink, value: bytes) -> bool:
    sink.out += bytes((BYTES, BYTES_LENGTHS))
    write_const(sink, len(value), 1)
    sink.out += value
    return True


def _write_int(sink: Sink, value: int) -> bool:
    if -_INT64 <= value < _INT64:
        return False
    size = size_of(value)
    sink.out += bytes((BIGINT, BYTES_LENGTHS))
    write_const(sink, size, 1)
    sink.out += value.to_bytes(size, "little", signed=True)
    return True


WRITE_LONE: Final[dict[type, Write]] = {
    datetime.date: _write_date,
    datetime.datetime: _write_datetime,
    datetime.timedelta: _write_timedelta,
    decimal.Decimal: _write_decimal,
    uuid.UUID: _write_uuid,
    bytes: _write_bytes,
    int: _write_int,
}
"""Exact type -> what writes one value of it, the kind in front; False, and nothing written, where a column has to."""

# ------------------------------------------------------------------------------------------------------------- reading


def _const_of(body: bytes, pos: int) -> tuple[int, int]:
    """One int64 as `write_const` writes it, and the position behind it."""
    if body[pos] != CONST:
        raise NotAsExpected
    code, pos = body[pos + 1], pos + 2
    if code > 0x7F:
        code, pos = uvarint(body, code, pos)
        if code >> 64:
            raise NotAsExpected
    return (code >> 1) ^ -(code & 1), pos


def _last_of(body: bytes, pos: int) -> int:
    """The same, where it is all that is left."""
    value, pos = _const_of(body, pos)
    if pos != len(body):
        raise NotAsExpected
    return value


def _read_date(body: bytes) -> datetime.date:
    return datetime.date.fromordinal(_last_of(body, 0))


def _read_datetime(body: bytes) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(0, 0, _last_of(body, 0))


def _read_zoned(body: bytes) -> datetime.datetime:
    form = body[1]
    if form == UTC:
        stop = 6
    elif form == KEY:
        stop = 7 + body[2]
    else:
        raise NotAsExpected
    return _epoch_of(body[:stop]) + datetime.timedelta(0, 0, _last_of(body, stop))


@lru_cache(maxsize=64)
def _epoch_of(start: bytes) -> datetime.datetime:
    """The epoch on the clock of the zone in front of a datetime; the opposite of `_start_of_zone`."""
    cursor = Cursor(memoryview(start), budget=1)
    (zone,), _ = read_zones(cursor, 1)
    if zone is None or _start_of_zone(zone) != start:
        raise NotAsExpected
    return datetime.datetime(1970, 1, 1, tzinfo=zone)


def _read_timedelta(body: bytes) -> datetime.timedelta:
    days, pos = _const_of(body, 0)
    micros = _last_of(body, pos)
    if not (-MAX_DAYS <= days <= MAX_DAYS and 0 <= micros < DAY):
        raise NotAsExpected
    return datetime.timedelta(days, 0, micros)


def _read_decimal(body: bytes) -> decimal.Decimal:
    if body[0] != INTEGER_FORM:
        raise NotAsExpected
    exponent, pos = _const_of(body, 1)
    if body[pos] != INT:
        raise NotAsExpected
    return _CONTEXT.scaleb(_CONTEXT.create_decimal(_last_of(body, pos + 1)), exponent)


def _read_uuid(body: bytes) -> uuid.UUID:
    if body[0] != PLAIN_FORM or len(body) != UUID_BYTES + 1:
        raise NotAsExpected
    return uuid_of(body[1:], _UNKNOWN)


def _read_bytes(body: bytes) -> bytes:
    if body[0] != BYTES_LENGTHS:
        raise NotAsExpected
    size, pos = _const_of(body, 1)
    if size != len(body) - pos:
        raise NotAsExpected
    return body[pos:]


def _read_int(body: bytes) -> int:
    raw = _read_bytes(body)
    value = int.from_bytes(raw, "little", signed=True)
    if size_of(value) != len(raw):
        raise NotAsExpected
    return value


READ_LONE: Final[dict[int, Read]] = {
    DATE: _read_date,
    DATETIME: _read_datetime,
    DATETIME_ZONED: _read_zoned,
    TIMEDELTA: _read_timedelta,
    DECIMAL: _read_decimal,
    OF_UUID: _read_uuid,
    BYTES: _read_bytes,
    BIGINT: _read_int,
}
"""Kind -> what reads a body of one leaf; any exception where the columns have to."""


def read_lone_bodies(buf: bytes, pos: int, kinds: bytes) -> tuple[list[Any], int]:
    """What stands in small bodies of one leaf each, and the position behind the last of them.

    Any exception where one of them is large, is another one again, or is made in another way.

    Parameters
    ----------
    pos : int
        Where the directory begins.
    kinds : bytes
        One a body.
    """
    start = pos + len(kinds)
    values = []
    for kind, entry in zip(kinds, buf[pos:start], strict=True):
        if entry & 0x81:
            raise NotAsExpected
        stop = start + (entry >> 1)
        values.append(READ_LONE[kind](buf[start:stop]))
        start = stop
    return values, start


_CONTEXT: Final = exact_context()
"""Its flags tell nobody anything; its traps do."""
