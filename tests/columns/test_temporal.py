"""Dates and times come back with every microsecond, zone and fold."""

from __future__ import annotations

import datetime as dt
import importlib.resources
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.exact import check, check_garbage, encode, refused
from npser.blocks.cursor import Cursor
from npser.columns import temporal, zones
from npser.columns.zones import read_zones, write_zones
from npser.errors import DecodeError, EncodeError
from npser.tags import Kind

READERS = {
    Kind.DATE: temporal.read_dates,
    Kind.DATETIME: temporal.read_datetimes,
    Kind.DATETIME_ZONED: temporal.read_zoned_datetimes,
    Kind.TIME: temporal.read_times,
    Kind.TIME_ZONED: temporal.read_zoned_times,
    Kind.TIMEDELTA: temporal.read_timedeltas,
}
SIZES = (0, 1, 2, 7, 8, 9, 127, 128, 129, 1000)

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
TZS = (
    None,
    dt.UTC,
    BERLIN,
    NEW_YORK,
    ZoneInfo("Etc/GMT+1"),
    dt.timezone(dt.timedelta(hours=5, minutes=30)),
    dt.timezone(dt.timedelta(microseconds=-1)),
    dt.timezone(dt.timedelta(days=1) - dt.timedelta(microseconds=1)),
    dt.timezone(dt.timedelta(0), "UTC"),
    dt.timezone(dt.timedelta(hours=1), "UTC+01:00"),
    dt.timezone(dt.timedelta(hours=1)),
    dt.timezone(dt.timedelta(hours=1), ""),
    dt.timezone(dt.timedelta(hours=1), "CET \ud800\0"),
)


def zone_key(zone: dt.tzinfo | None) -> object:
    if isinstance(zone, dt.timezone):
        return zone is dt.UTC, zone.__getinitargs__()  # type: ignore[attr-defined]
    return type(zone), getattr(zone, "key", None)


def wall_key(value: dt.datetime | dt.time) -> object:
    return str(value.replace(tzinfo=None)), value.fold, zone_key(value.tzinfo)


@pytest.mark.parametrize("n", SIZES)
def test_dates(n: int) -> None:
    days = [dt.date.fromordinal(1 + i * 3_652_058 // max(1, n - 1)) for i in range(n)]
    assert check(temporal.write_dates, READERS, days, str)[0] == Kind.DATE


def test_dates_at_the_ends() -> None:
    check(temporal.write_dates, READERS, [dt.date.min, dt.date.max, dt.date(1970, 1, 1), dt.date(1969, 12, 31)], str)


@pytest.mark.parametrize("last", [1, 731_000, dt.date.max.toordinal()])
@pytest.mark.parametrize("span", [1, 30, 125])
def test_dates_that_come_back_are_one_object_a_day(last: int, span: int) -> None:
    days = [dt.date.fromordinal(max(1, last - i * 7 % span)) for i in range(1000)]
    data = check(temporal.write_dates, READERS, days, str)
    made = temporal.read_dates(Cursor(memoryview(data), 1), 1000)
    assert len(set(map(id, made))) == len(set(days))


@pytest.mark.parametrize("n", SIZES)
def test_naive_datetimes(n: int) -> None:
    moments = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999) + dt.timedelta(microseconds=i**5) for i in range(n)]
    assert check(temporal.write_datetimes, READERS, moments, wall_key)[0] == Kind.DATETIME


def test_datetimes_at_the_ends() -> None:
    values = [dt.datetime.min, dt.datetime.max, dt.datetime(1969, 12, 31, 23, 59, 59, 500_000)]
    values += [dt.datetime(3000, 1, 1, 0, 0, 0, 999_999), dt.datetime(2100, 2, 28), dt.datetime(1970, 1, 1)]
    check(temporal.write_datetimes, READERS, values, wall_key)
    check(temporal.write_datetimes, READERS, [value.replace(tzinfo=BERLIN) for value in values], wall_key)


def test_fold_of_a_naive_datetime() -> None:
    values = [dt.datetime(2024, 10, 27, 2, 30), dt.datetime(2024, 10, 27, 2, 30, fold=1)]
    assert check(temporal.write_datetimes, READERS, values, wall_key)[0] == Kind.DATETIME_ZONED


@pytest.mark.parametrize("n", SIZES)
def test_zoned_datetimes(n: int) -> None:
    values = [dt.datetime(2024, 10, 27, 2, i % 60, fold=i % 2, tzinfo=TZS[i % len(TZS)]) for i in range(n)]
    check(temporal.write_datetimes, READERS, values, wall_key)


def test_every_zone_alone() -> None:
    for zone in TZS:
        check(temporal.write_datetimes, READERS, [dt.datetime(2024, 3, 31, 2, 30, tzinfo=zone)] * 3, wall_key)
        check(temporal.write_times, READERS, [dt.time(2, 30, 0, 7, tzinfo=zone)] * 3, wall_key)


def test_one_zone_object_a_zone() -> None:
    values = [dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=i % 2 + 1))) for i in range(20)]
    data = encode(temporal.write_datetimes, values)
    got = temporal.read_zoned_datetimes(Cursor(memoryview(data), 1), 20)
    assert len({id(value.tzinfo) for value in got}) == 2
    assert data[1] == 2


def test_a_zone_without_cache_is_the_zone_of_its_key() -> None:
    values = [dt.datetime(2024, 1, 1, tzinfo=ZoneInfo.no_cache("Europe/Berlin"))]
    check(temporal.write_datetimes, READERS, values, wall_key)


class Odd(dt.tzinfo):
    def utcoffset(self, when: object) -> dt.timedelta:
        return dt.timedelta(0)


class Sub(ZoneInfo):
    pass


def zone_files() -> list[ZoneInfo]:
    try:
        path = Path(str(importlib.resources.files("tzdata"))) / "zoneinfo/Europe/Berlin"
    except ModuleNotFoundError:
        path = Path("/usr/share/zoneinfo/Europe/Berlin")
    if not path.exists():
        return []
    with path.open("rb") as file, path.open("rb") as other:
        return [ZoneInfo.from_file(file, "Europe/Berlin"), ZoneInfo.from_file(other)]


def test_other_zones_are_refused_with_their_place() -> None:
    for zone in (Odd(), Sub("Europe/Berlin"), *zone_files()):
        values = [dt.datetime(2024, 1, 1, tzinfo=z) for z in (None, dt.UTC, zone, zone)]
        with pytest.raises(EncodeError) as info:
            encode(temporal.write_datetimes, values)
        assert info.value.item == 2
        assert "Odd" in str(info.value) or type(zone) is not Odd


@pytest.mark.parametrize("n", SIZES)
def test_times(n: int) -> None:
    values = [dt.time(i % 24, i % 60, (i * 7) % 60, i * 997 % 10**6) for i in range(n)]
    assert check(temporal.write_times, READERS, values, wall_key)[0] == Kind.TIME
    zoned = [value.replace(fold=i % 2, tzinfo=TZS[i % 5]) for i, value in enumerate(values)]
    check(temporal.write_times, READERS, zoned, wall_key)


def test_times_at_the_ends() -> None:
    check(temporal.write_times, READERS, [dt.time.min, dt.time.max, dt.time(12, fold=1)], wall_key)


@pytest.mark.parametrize("n", SIZES)
def test_timedeltas(n: int) -> None:
    values = [dt.timedelta(days=i - 500, microseconds=i**4) for i in range(n)]
    check(temporal.write_timedeltas, READERS, values, repr)


def test_timedeltas_at_the_ends() -> None:
    micro = dt.timedelta(microseconds=1)
    edges = [dt.timedelta(microseconds=2**63 - 1), dt.timedelta(microseconds=-(2**63))]
    near = [edge + k * micro for edge in edges for k in (-1, 0, 1)]
    for values in (near, [dt.timedelta.min, dt.timedelta.max, -micro, dt.timedelta(0)], *[[value] for value in near]):
        check(temporal.write_timedeltas, READERS, values, repr)


zoned = st.datetimes(timezones=st.sampled_from(TZS), allow_imaginary=True)
naive = st.datetimes()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dates(), max_size=20),
    st.lists(st.tuples(zoned | naive, st.integers(0, 1)), max_size=20),
    st.lists(st.times(timezones=st.sampled_from(TZS)), max_size=20),
    st.lists(st.timedeltas(), max_size=20),
)
def test_anything(dates: list, moments: list, times: list, spans: list) -> None:
    check(temporal.write_dates, READERS, dates, str)
    check(temporal.write_datetimes, READERS, [moment.replace(fold=fold) for moment, fold in moments], wall_key)
    check(temporal.write_times, READERS, times, wall_key)
    check(temporal.write_timedeltas, READERS, spans, repr)


def ints(*values: int) -> bytes:
    from npser.columns.anyints import write_any_ints

    return encode(write_any_ints, list(values))[1:]


def test_numbers_out_of_range() -> None:
    for low, high, read in (
        (1, dt.date.max.toordinal(), temporal.read_dates),
        (temporal.MIN_MICROS, temporal.MAX_MICROS, temporal.read_datetimes),
        (0, temporal.DAY - 1, temporal.read_times),
    ):
        assert len(read(Cursor(memoryview(ints(low, high))), 2)) == 2
        for bad in (low - 1, high + 1, -(2**63), 2**63 - 1):
            refused(read, ints(low, bad), 2, "range")
    for days, micros in ((10**9, 0), (-(10**9), 0), (-(2**63), 0), (0, -1), (0, temporal.DAY)):
        refused(temporal.read_timedeltas, ints(0, days) + ints(0, micros), 2, "range")


def zone(raw: bytes) -> bytes:
    return b"\1" + raw + ints(0)


def test_zones_on_the_wire() -> None:
    assert encode(write_zones, [None, dt.UTC])[:3] == b"\2\0\1"
    read = read_zones
    assert read(Cursor(memoryview(zone(b"\4\x0dEurope/Berlin"))), 1) == ([BERLIN], [0])
    assert read(Cursor(memoryview(zone(b"\2\0"))), 1)[0][0] is dt.UTC


@pytest.mark.parametrize(
    "key",
    ["", "../x", "Europe/..", "/etc/passwd", "a//b", "Europe/", "a.b", "Ärger", "Europe\0", "a\n", "x" * 65, "a b"],
)
def test_what_is_no_key_is_not_looked_for(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(key: str) -> None:
        raise AssertionError(key)

    monkeypatch.setattr(zones.zoneinfo, "ZoneInfo", asked)
    raw = key.encode()
    refused(read_zones, zone(b"\4" + bytes([len(raw)]) + raw), 1, "cannot be the key")


def test_unknown_zones_are_named() -> None:
    for key in (b"Mars/Olympus", b"Europe", b"zone.tab".replace(b".", b"_"), b"x" * 64):
        refused(read_zones, zone(b"\4" + bytes([len(key)]) + key), 1, key.decode())


def test_bad_zones() -> None:
    day = encode(lambda sink, _: sink.svarint(zones._DAY), [])
    for raw in (b"\5", b"\2" + day, b"\3" + day + b"\0", b"\3\0\1\xff", b"\4\1\xff"):
        refused(read_zones, zone(raw), 1)
    refused(read_zones, b"\1\0" + ints(1), 1, "code")
    refused(read_zones, b"\1\0" + ints(-1), 1, "code")
    refused(read_zones, b"\0" + ints(0), 1, "code")
    refused(read_zones, b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 1, "zones")


def test_garbage() -> None:
    moments = [dt.datetime(2024, 1, i % 28 + 1, i % 24, tzinfo=TZS[i % len(TZS)], fold=i % 2) for i in range(40)]
    bodies = [encode(temporal.write_datetimes, moments[:k]) for k in (1, 3, 40)]
    bodies += [encode(temporal.write_times, [moment.timetz() for moment in moments])]
    bodies += [encode(temporal.write_times, [moment.time() for moment in moments])]
    bodies += [encode(temporal.write_dates, [moment.date() for moment in moments])]
    bodies += [encode(temporal.write_timedeltas, [dt.timedelta(i, i**3) for i in range(30)])]
    check_garbage(READERS, bodies)
    with pytest.raises(DecodeError):
        temporal.read_zoned_times(Cursor(memoryview(b"")), 2**62)
