"""The comparison says what the codecs did, in figures that can be checked, and never more than was measured."""

from __future__ import annotations

import enum
import json
import pickle
import zlib
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest

import npser
from inspection.inert import BAD, check_inert
from npser.inspection.rivals import RIVALS

FIRST = ["npser", "pickle", "json"]


@dataclass
class Order:
    id: int
    name: str


class Colour(enum.Enum):
    RED = 1


ROWS = [{"id": i, "name": f"n{i % 9}", "price": i / 4} for i in range(300)]


def test_bytes_are_those_of_the_codecs() -> None:
    found = npser.compare(ROWS, against=["pickle", "json"], budget=0.2)
    text = json.dumps(ROWS, separators=(",", ":"))
    assert found["npser"].nbytes == len(npser.dumps(ROWS))
    assert found["pickle"].nbytes == len(pickle.dumps(ROWS, 5))
    assert found["json"].nbytes == len(text)
    assert found["json + zlib"].nbytes == len(zlib.compress(text.encode()))
    assert [one.name for one in found.contenders if not one.compression] == FIRST
    for one in found.contenders:
        assert one.exact and one.changes == ()
        assert one.encode is not None and one.decode is not None
        assert one.encode.seconds > 0 and one.decode.seconds > 0
        assert one.encode.rounds == one.decode.rounds >= 1


def test_a_compressed_one_costs_more_than_the_plain_one_of_the_same_rounds() -> None:
    found = npser.compare(ROWS, against=["json"], budget=0.2)
    plain, packed = found["json"], found["json + zlib"]
    assert plain.encode is not None and packed.encode is not None
    assert packed.encode.seconds > plain.encode.seconds
    assert packed.encode.rounds == plain.encode.rounds


def test_all_that_are_installed_take_part() -> None:
    names = [one.codec for one in npser.compare(ROWS, budget=0.3).contenders]
    assert set(names) <= set(RIVALS)
    for name in ("npser", "pickle", "json"):
        assert name in names
    for name in ("msgpack", "msgspec", "ormsgpack", "orjson", "cbor2"):
        try:
            __import__(name)
        except ImportError:
            assert name not in names
        else:
            assert name in names


def test_what_does_not_come_back_is_told() -> None:
    value = {"t": [(1, 2), (3, 4)], "k": {1: "a"}}
    found = npser.compare(value, against=["json", "pickle"], budget=0.1)
    assert found["npser"].exact and found["pickle"].exact
    assert found["json"].result == "changed"
    assert found["json"].changes == ("$['t'][0]: tuple -> list (2 places)", "$['k'].keys(): int -> str")
    assert "json: $['t'][0]: tuple -> list (2 places)" in repr(found)


def test_objects_need_no_classes() -> None:
    found = npser.compare([Order(1, "a"), Order(2, "b"), Colour.RED], against=["pickle", "json"], budget=0.1)
    assert found["npser"].exact
    assert found["json"].result.startswith("refused: TypeError: Object of type Order")
    assert found["json"].nbytes is None and found["json"].decode is None


def test_what_npser_refuses_is_told_too() -> None:
    found = npser.compare([lambda: 1], against=["json"], budget=0.1)
    assert found["npser"].result.startswith("refused: EncodeError")
    assert "refused" in repr(found)


def test_against() -> None:
    with pytest.raises(ValueError, match="no codec is known as 'yaml'"):
        npser.compare(1, against=["yaml"])
    own = npser.compare([1.5], against={"text": (lambda value: repr(value).encode(), lambda data: json.loads(data))}, budget=0.05)
    assert [one.codec for one in own.contenders if not one.compression] == ["npser", "text"]
    assert own["text"].exact
    failing = npser.compare([1], against={"bad": (lambda value: b"x", lambda data: 1 / 0)}, budget=0.05)
    assert failing["bad"].result == "unreadable: ZeroDivisionError: division by zero"
    with pytest.raises(KeyError):
        own["pickle"]


def test_time_is_bounded_and_that_is_told() -> None:
    found = npser.compare(ROWS, budget=0.0)
    results = {one.codec: one.result for one in found.contenders}
    assert results["pickle"] == "not tried: the time was up"
    assert found["npser"].nbytes == len(npser.dumps(ROWS))
    assert found["npser"].result in ("identical", "not compared to the end")


def test_tables_only() -> None:
    pytest.importorskip("pyarrow", reason="the codecs are pyarrow's")
    found = npser.compare([(1, 2)], against=["arrow", "parquet"], budget=0.1)
    assert found["arrow"].result == found["parquet"].result == "not a table"
    found = npser.compare(ROWS, against=["arrow", "parquet"], budget=0.5)
    assert found["arrow"].exact and found["parquet"].exact
    columns = {"a": [1, 2, 3], "b": ["x", "y", None]}
    assert npser.compare(columns, against=["arrow"], budget=0.2)["arrow"].exact
    ragged = npser.compare([{"a": 1}, {"b": 2}], against=["arrow"], budget=0.2)["arrow"]
    assert not ragged.exact
    changed = npser.compare([{"a": Decimal("1.0"), "b": (1, 2)}], against=["arrow"], budget=0.2)["arrow"]
    assert any("tuple -> list" in change for change in changed.changes)


def test_frames() -> None:
    pandas = pytest.importorskip("pandas", reason="a frame of pandas")
    pytest.importorskip("pyarrow", reason="the codecs are pyarrow's")
    frame = pandas.DataFrame({"a": np.arange(50), "b": ["x", "y"] * 25})
    found = npser.compare(frame, against=["pickle", "arrow", "parquet"], budget=0.5)
    assert found["pickle"].exact
    assert found["arrow"].exact
    assert found["parquet"].nbytes is not None


def test_text_html_and_data() -> None:
    value = {BAD: (1, 2), "x" * 500: {1: BAD}}
    found = npser.compare(value, against=["pickle", "json"], budget=0.1)
    lines = repr(found).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.isprintable() for line in lines)
    text, rows = check_inert(found._repr_html_())
    assert rows == 1 + len(found.contenders)
    assert "tuple -> list" in text
    data = json.loads(json.dumps(found.to_dict()))
    assert [row["codec"] for row in data["contenders"] if not row["compression"]] == FIRST
    assert {"bytes", "encode", "decode", "encode_spread", "decode_spread", "rounds", "changes", "exact"} <= set(found.to_rows()[0])
    assert "1.0K" in npser.compare(bytes(1023), against=["json"], budget=0.05).to_text(sizes="human")


def test_the_widest_table_fits() -> None:
    found = npser.compare([{"x" * 90: i * 10**9, "t": (i,)} for i in range(2000)], budget=0.5)
    assert max(map(len, repr(found).splitlines())) <= 100
