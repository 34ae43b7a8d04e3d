"""Dates, datetimes, times and timedeltas <-> integers. Layouts: `Kind.DATE` to `Kind.TIMEDELTA`.

Strategy: every one of them is an exact integer (or two) of the unit that it is made of, and numpy's `M8` and `m8`
build the Python objects in C. Nothing passes through a float, and nothing through an offset from UTC: what is
stored is what the clock on the wall showed, the fold, and the zone by name. The writer takes the fields apart
rather than subtract an epoch, because that works alike with and without a zone.
"""

from __future__ import annotations

import datetime
from itertools import repeat
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.binary import objects, pick
from npser.blocks.bits import read_bits
from npser.blocks.choose import write_bits, write_ints
from npser.blocks.ints import read_ints
from npser.columns.zones import read_zones, write_zones
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

    I64 = NDArray[np.int64]

__all__ = [
    "read_dates",
    "read_datetimes",
    "read_timedeltas",
    "read_times",
    "read_zoned_datetimes",
    "read_zoned_times",
    "write_dates",
    "write_datetimes",
    "write_timedeltas",
    "write_times",
]

EPOCH_ORDINAL: Final = datetime.date(1970, 1, 1).toordinal()
MAX_ORDINAL: Final = datetime.date.max.toordinal()
DAY: Final = 86_400_000_000
"""Microseconds in a day."""

MIN_MICROS: Final = (1 - EPOCH_ORDINAL) * DAY
MAX_MICROS: Final = (MAX_ORDINAL + 1 - EPOCH_ORDINAL) * DAY - 1
MAX_DAYS: Final = datetime.timedelta.max.days
FEW_DATES: Final = 256
"""Fewer are made one by one; benchmarks/thresholds.py::sweep_repeated."""

REPEATED: Final = 8
"""A column of dates makes each day of its span once, where the span has at most one in so many days of its length."""

M8_DAYS: Final = 2**63 // DAY - 1
"""A timedelta within this many days fits one int64 of microseconds."""


def write_dates(sink: Sink, values: Sequence[datetime.date]) -> None:
    """Write n exact dates.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_dates(sink := Sink(), [datetime.date(2024, 2, 29)])
    >>> read_dates(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [datetime.date(2024, 2, 29)]
    """
    sink.u8(Kind.DATE)
    write_ints(sink, np.fromiter(map(datetime.date.toordinal, values), "<i8", len(values)))


def read_dates(cursor: Cursor, n: int) -> list[datetime.date]:
    """Read n dates."""
    ordinals = read_ints(cursor, n)
    _check_range(cursor, ordinals, 1, MAX_ORDINAL)
    ordinals -= EPOCH_ORDINAL
    if n < FEW_DATES:
        return _objects(ordinals, "<M8[D]")
    first, last = int(ordinals.min()), int(ordinals.max())
    if (last - first) * REPEATED > n:
        return _objects(ordinals, "<M8[D]")
    days = objects(_objects(np.arange(first, last + 1, dtype="<i8"), "<M8[D]"))
    return pick(days, ordinals - first)


def write_datetimes(sink: Sink, values: Sequence[datetime.datetime]) -> None:
    """Write n exact datetimes: DATETIME if all are naive with fold 0, else DATETIME_ZONED.

    A tzinfo that npser cannot give back is an `EncodeError` with its place.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_datetimes(sink := Sink(), [datetime.datetime(1969, 12, 31, 23, 59, 59, 500000)])
    >>> read_datetimes(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [datetime.datetime(1969, 12, 31, 23, 59, 59, 500000)]
    """
    days = np.fromiter(map(datetime.datetime.toordinal, values), "<i8", len(values))
    days -= EPOCH_ORDINAL
    micros = days * DAY + _clock(values)
    _write_wall(sink, values, micros, Kind.DATETIME, Kind.DATETIME_ZONED)


def read_datetimes(cursor: Cursor, n: int) -> list[datetime.datetime]:
    """Read n naive datetimes."""
    micros = read_ints(cursor, n)
    _check_range(cursor, micros, MIN_MICROS, MAX_MICROS)
    return _objects(micros, "<M8[us]")


def read_zoned_datetimes(cursor: Cursor, n: int) -> list[datetime.datetime]:
    """Read n datetimes with their zones (None is one) and folds."""
    return _read_wall(cursor, n, MIN_MICROS, MAX_MICROS)


def write_times(sink: Sink, values: Sequence[datetime.time]) -> None:
    """Write n exact times: TIME if all are naive with fold 0, else TIME_ZONED.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_times(sink := Sink(), [datetime.time(23, 59, fold=1)])
    >>> read_zoned_times(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [datetime.time(23, 59, fold=1)]
    """
    _write_wall(sink, values, _clock(values), Kind.TIME, Kind.TIME_ZONED)


def read_times(cursor: Cursor, n: int) -> list[datetime.time]:
    """Read n naive times."""
    micros = read_ints(cursor, n)
    _check_range(cursor, micros, 0, DAY - 1)
    # the time of day of a datetime is built in C; time(h, m, s, us) is not half as fast
    return list(map(datetime.datetime.time, _objects(micros, "<M8[us]")))


def read_zoned_times(cursor: Cursor, n: int) -> list[datetime.time]:
    """Read n times with their zones (None is one) and folds."""
    return list(map(datetime.datetime.timetz, _read_wall(cursor, n, 0, DAY - 1)))


def write_timedeltas(sink: Sink, values: Sequence[datetime.timedelta]) -> None:
    """Write n exact timedeltas.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_timedeltas(sink := Sink(), [datetime.timedelta.min, datetime.timedelta(microseconds=-1)])
    >>> read_timedeltas(Cursor(memoryview(bytes(sink.out)), 1), 2)
    [datetime.timedelta(days=-999999999), datetime.timedelta(days=-1, seconds=86399, microseconds=999999)]
    """
    sink.u8(Kind.TIMEDELTA)
    write_ints(sink, _field(values, "days"))
    write_ints(sink, _field(values, "seconds") * 1_000_000 + _field(values, "microseconds"))


def read_timedeltas(cursor: Cursor, n: int) -> list[datetime.timedelta]:
    """Read n timedeltas."""
    days = read_ints(cursor, n)
    _check_range(cursor, days, -MAX_DAYS, MAX_DAYS)
    micros = read_ints(cursor, n)
    _check_range(cursor, micros, 0, DAY - 1)
    if n and int(days.min()) >= -M8_DAYS and int(days.max()) <= M8_DAYS:
        days *= DAY
        days += micros
        return _objects(days, "<m8[us]")
    return list(map(datetime.timedelta, days.tolist(), repeat(0), micros.tolist()))


def _field(values: Sequence[Any], name: str) -> I64:
    return np.fromiter(map(attrgetter(name), values), "<i8", len(values))


def _clock(values: Sequence[Any]) -> I64:
    """Microseconds since midnight of n datetimes or times."""
    micros = _field(values, "hour")
    for name, parts in (("minute", 60), ("second", 60), ("microsecond", 1_000_000)):
        micros *= parts
        micros += _field(values, name)
    return micros


def _objects(ints: I64, dtype: str) -> list[Any]:
    """(n,) int64 in the range that Python's datetime has -> n objects; beyond it numpy would give ints."""
    made: list[Any] = ints.view(dtype).tolist()
    return made


def _check_range(cursor: Cursor, ints: I64, low: int, high: int) -> None:
    if ints.size and not (low <= int(ints.min()) and int(ints.max()) <= high):
        raise cursor.fail(f"a date or time out of range {low}..{high}")


def _write_wall(sink: Sink, values: Sequence[Any], micros: I64, naive: Kind, zoned: Kind) -> None:
    zones = [value.tzinfo for value in values]
    folds = [value.fold for value in values]
    if not any(folds) and set(map(id, zones)) <= {id(None)}:
        sink.u8(naive)
    else:
        sink.u8(zoned)
        write_zones(sink, zones)
        write_bits(sink, np.fromiter(folds, np.bool_, len(folds)))
    write_ints(sink, micros)


def _read_wall(cursor: Cursor, n: int, low: int, high: int) -> list[datetime.datetime]:
    zones, codes = read_zones(cursor, n)
    folds = read_bits(cursor, n)
    micros = read_ints(cursor, n)
    _check_range(cursor, micros, low, high)
    # adding a timedelta moves the wall clock and keeps the zone: 100 ns, where replace(tzinfo=...) takes 600
    epochs = [datetime.datetime(1970, 1, 1, tzinfo=zone) for zone in zones]
    out = list(map(add, map(epochs.__getitem__, codes), _objects(micros, "<m8[us]")))
    for i in np.flatnonzero(folds).tolist():
        out[i] = out[i].replace(fold=1)
    return out
