"""`npser cat`: the rule for what JSON lacks."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import ipaddress
import json
import pathlib
import uuid
import zoneinfo
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import npser
import values
from npser.cli.app import app
from npser.cli.json_lines import json_lines


class Colour(enum.Enum):
    RED = 1


@dataclass
class Point:
    x: Any


def only(value: object) -> object:
    (line,) = json_lines(npser.loads(npser.dumps((value,), identity="preserve")))
    (lowered,) = json.loads(line)["$tuple"]
    return lowered


BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")

CASES: list[tuple[object, object]] = [
    (None, None),
    (True, True),
    ({"a": [1, "ü"]}, {"a": [1, "ü"]}),
    (2**53, 2**53),
    (2**53 + 1, {"$int": "9007199254740993"}),
    (1.5, 1.5),
    (float("nan"), {"$float": "nan"}),
    (float("-inf"), {"$float": "-inf"}),
    (1 - 2j, {"$complex": [1.0, -2.0]}),
    (b"x", {"$bytes": "eA=="}),
    (bytearray(b"x"), {"$bytearray": "eA=="}),
    ((1, 2), {"$tuple": [1, 2]}),
    ({5}, {"$set": [5]}),
    (frozenset({5}), {"$frozenset": [5]}),
    (collections.deque([1]), {"$deque": [1]}),
    ({1: "a"}, {"$dict": [[1, "a"]]}),
    ({"$set": 1}, {"$dict": [["$set", 1]]}),
    (collections.OrderedDict(a=1), {"$OrderedDict": [["a", 1]]}),
    (collections.Counter("a"), {"$Counter": [["a", 1]]}),
    (datetime.date(2024, 2, 29), {"$date": "2024-02-29"}),
    (datetime.datetime(2024, 2, 29, 12), {"$datetime": "2024-02-29T12:00:00"}),
    (datetime.datetime(2024, 2, 29, tzinfo=BERLIN), {"$datetime": "2024-02-29T00:00:00", "zone": "Europe/Berlin"}),
    (datetime.time(1, fold=1), {"$time": "01:00:00", "fold": 1}),
    (datetime.timedelta(seconds=1), {"$timedelta": 1000000}),
    (decimal.Decimal("1.10"), {"$Decimal": "1.10"}),
    (fractions.Fraction(1, 3), {"$Fraction": "1/3"}),
    (uuid.UUID(int=7), {"$UUID": "00000000-0000-0000-0000-000000000007"}),
    (pathlib.PurePosixPath("/a"), {"$PurePosixPath": "/a"}),
    (ipaddress.ip_address("10.0.0.1"), {"$IPv4Address": "10.0.0.1"}),
    (range(3), {"$range": [0, 3, 1]}),
    (slice(1, None), {"$slice": [1, None, None]}),
    (..., {"$ellipsis": True}),
    (np.int8(5), {"$numpy": "int8", "value": 5}),
    (np.array([[1, 2]], "i2"), {"$array": "int16", "shape": [1, 2], "items": [1, 2]}),
    ("\ud800", "\ud800"),
]


@pytest.mark.parametrize(("value", "lowered"), CASES, ids=repr)
def test_rule(value: object, lowered: object) -> None:
    assert only(value) == lowered


def test_objects_are_their_fields() -> None:
    name = f"{__name__}:Point"
    assert only(Point(Colour.RED)) == {"$object": name, "fields": {"x": {"$object": f"{__name__}:Colour", "value": "RED"}}}


def test_a_list_is_a_line_an_item() -> None:
    result = CliRunner().invoke(app, ["cat", "-"], input=npser.dumps([{"a": 1}, [2], "x"]))
    assert result.stdout == '{"a":1}\n[2]\n"x"\n'


def test_a_container_is_written_once() -> None:
    shared: list[object] = [1]
    loop: list[object] = [shared, shared]
    loop.append(loop)
    value = npser.loads(npser.dumps(loop, identity="preserve"))
    assert list(json_lines(value)) == ["[1]", '{"$same":"$[0]"}', '{"$same":"$"}']


def test_what_is_built_from_its_state_is_its_state() -> None:
    found = npser.loads(npser.dumps(npser.Placeholder("shop:Gauge", "built", {"low": 1, "marks": (2,)}, version=3)))
    assert list(json_lines(found)) == ['{"$object":"shop:Gauge@3","value":{"low":1,"marks":{"$tuple":[2]}}}']


@pytest.mark.parametrize("name", [name for name in values.MAKERS if name != "class/built"])  # it is registered here
def test_everything_that_can_be_read_can_be_printed(name: str) -> None:
    value = npser.loads(npser.dumps(values.MAKERS[name](7)))
    for line in json_lines(value):
        json.loads(line)
