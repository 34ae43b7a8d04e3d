"""One leaf in a body of its own: the bytes of a column of one, and the same value as the column gives."""

from __future__ import annotations

import datetime
import decimal
import random
import uuid
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npser
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns.kinds import READERS, write_column
from npser.columns.lone import READ_LONE, WRITE_LONE
from npser.errors import DecodeError, EncodeError
from same import difference

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = st.sampled_from(
    [None, datetime.UTC, BERLIN, ZoneInfo("UTC"), ZoneInfo.no_cache("Europe/Berlin")]
    + [datetime.timezone(datetime.timedelta(0)), datetime.timezone(datetime.timedelta(0), "UTC")]
    + [datetime.timezone(datetime.timedelta(hours=-3, microseconds=1)), datetime.timezone.max]
)
DATETIMES = st.builds(
    lambda value, zone, fold: value.replace(tzinfo=zone, fold=fold), st.datetimes(), ZONES, st.sampled_from([0, 0, 0, 1])
)
LEAVES = st.one_of(
    DATETIMES,
    st.dates(),
    st.timedeltas(),
    st.decimals(),
    st.decimals(places=2, min_value=-(10**9), max_value=10**9),
    st.builds(decimal.Decimal, st.sampled_from(["-0", "1E+5", "1E-400", "sNaN12", "-Infinity", "9" * 19, "9" * 400, "0E+3"])),
    st.uuids(),
    st.builds(lambda value, safe: uuid.UUID(int=value.int, is_safe=safe), st.uuids(), st.sampled_from(list(uuid.SafeUUID))),
    st.binary(max_size=300),
    st.integers(),
    st.integers(-(2**200), 2**200),
    st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 0]),
    st.sampled_from([datetime.datetime.min, datetime.datetime.max, datetime.date.min, datetime.date.max]),
    st.sampled_from([datetime.timedelta.min, datetime.timedelta.max, datetime.timedelta(microseconds=-1)]),
)


def of_column(value: Any) -> Sink:
    sink = Sink()
    write_column(sink, [value], {type(value)})
    return sink


@settings(max_examples=600, deadline=None)
@given(LEAVES)
def test_the_bytes_of_a_column_of_one(value: Any) -> None:
    expected = of_column(value)
    sink = Sink()
    if WRITE_LONE[type(value)](sink, value):
        assert sink.out == expected.out
        assert sink.expanded == expected.expanded
    else:
        assert not sink.out
        assert not sink.expanded


@pytest.mark.parametrize(
    "value",
    [
        datetime.datetime(2024, 2, 29, 12, 30, 59, 999999),
        datetime.datetime(1969, 7, 20, 20, 17, 40, tzinfo=datetime.UTC),
        datetime.datetime(2024, 7, 1, 12, tzinfo=BERLIN),
        datetime.date(2024, 2, 29),
        datetime.timedelta(days=-3, microseconds=7),
        decimal.Decimal("1234.50"),
        decimal.Decimal("-1E+7"),
        uuid.UUID(int=2**127 + 5),
        b"\0bytes",
        -(2**77),
    ],
    ids=repr,
)
def test_common_leaves_need_no_column(value: Any) -> None:
    sink = Sink()
    assert WRITE_LONE[type(value)](sink, value)
    assert difference(value, READ_LONE[sink.out[0]](bytes(sink.out[1:]))) is None


def both_ways(kind: int, body: bytes) -> tuple[Any, Any]:
    """What the reader of one leaf gives and what the column gives; an error of either is its class."""
    cursor = Cursor(memoryview(body), budget=100)
    slow: Any
    try:
        (slow,) = READERS[kind](cursor, 1)
        if cursor.left:
            slow = DecodeError
    except DecodeError:
        slow = DecodeError
    try:
        return READ_LONE[kind](body), slow
    except Exception:
        return Exception, slow


@settings(max_examples=600, deadline=None)
@given(LEAVES, st.integers(0, 2**32))
def test_what_the_column_refuses_is_not_read(value: Any, seed: int) -> None:
    draw = random.Random(seed)
    sink = of_column(value)
    kind, body = sink.out[0], bytearray(sink.out[1:])
    if kind not in READ_LONE:
        return
    for _ in range(20):
        found, expected = both_ways(kind, bytes(body))
        assert found is Exception or difference(expected, found) is None
        change = draw.randrange(4)
        if change == 0 and body:
            body[draw.randrange(len(body))] = draw.randrange(256)
        elif change == 1:
            body.insert(draw.randrange(len(body) + 1), draw.choice([0, 1, 0x80, 0xFF]))
        elif change == 2 and body:
            del body[draw.randrange(len(body))]
        else:
            body = bytearray(sink.out[1:])


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (0x23, "01 81 80 80 80 80 80 80 80 80 02"),  # more than 64 bits
        (0x23, "01 ff ff ff ff ff ff ff ff ff 01"),  # beyond the year 9999
        (0x23, "01 80 00"),  # a varint that is longer than it need be
        (0x22, "01 00"),  # the ordinal 0
        (0x27, "01 00 01 01"),  # microseconds below 0
        (0x26, ""),
        (0x24, "01 04 03 2e 2e 2f 01 00 00 00 01 00"),  # a key that would be a path
        (0x1E, "00 01 04 01 00"),  # an integer that is longer than it need be
    ],
)
def test_hostile_bodies(kind: int, body: str) -> None:
    if kind in READ_LONE:
        found, expected = both_ways(kind, bytes.fromhex(body))
        assert found is Exception or difference(expected, found) is None


class Zone(datetime.tzinfo):
    """One that npser does not know."""


def test_a_zone_that_is_refused_says_where() -> None:
    value = {"id": 1, "at": [datetime.datetime(2024, 1, 1, tzinfo=Zone())], "x": datetime.datetime(2024, 1, 1, tzinfo=Zone())}
    for _ in range(40):
        with pytest.raises(EncodeError) as caught:
            npser.dumps(value)
        assert caught.value.path == "$['at'][0]"
        with pytest.raises(EncodeError) as caught:
            npser.dumps({"id": 1, "x": value["x"]})
        assert caught.value.path == "$['x']"
