"""Real documents and tables come back identical. Without the downloads these tests are skipped, and say how to get them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import npser
from same import difference

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import corpora

LARGE_TABLE = 336_776


def check(value: Any) -> bytes:
    data = npser.dumps(value)
    assert difference(value, npser.loads(data)) is None
    return data


@pytest.mark.parametrize("name", ["twitter", "citm", "canada", "github"])
def test_a_document_comes_back(name: str) -> None:
    corpora.need(name)
    document = corpora.load(name)
    data = check(document)
    assert npser.dumps(npser.loads(data)) == data


def test_every_webhook_comes_back_alone_and_together() -> None:
    corpora.need("webhooks")
    events = corpora.load("webhooks")
    assert len(events) > 300
    for event in events:
        check(event)
    check(events)


def test_a_webhook_of_a_hot_shape_comes_back() -> None:
    corpora.need("webhook")
    event = corpora.load("webhook")
    data = npser.dumps(event)
    for _ in range(40):
        assert difference(event, npser.loads(data)) is None


def test_the_flights_come_back_as_rows_and_as_columns() -> None:
    corpora.need("flights")
    rows = corpora.flight_rows()
    assert len(rows) == LARGE_TABLE
    data = npser.dumps(rows)
    back = npser.loads(data)
    assert back == rows
    for key in rows[0]:  # equality says nothing of types, and a comparison that does takes a minute on all of it
        assert [type(row[key]) for row in back] == [type(row[key]) for row in rows]
    assert all(tuple(row) == tuple(rows[0]) for row in back)
    columns = npser.loads(data, tables="columns")
    assert list(columns) == list(rows[0])
    assert all(len(column) == LARGE_TABLE for column in columns.values())
    assert columns["tailnum"] == [row["tailnum"] for row in rows]
