"""Columns of leaves: numbers that come with their proof, and numbers among None."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import npser
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns import kinds, proofs
from npser.columns.kinds import PROVED_ITEMS, number_column, read_column, write_column
from npser.tags import Kind
from same import same

SIZES = (PROVED_ITEMS, PROVED_ITEMS + 1, 1000, 1024, 5000)


def numbers(n: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(n)
    small = rng.integers(0, 1_000_000, n).tolist()
    return {
        "ints": small,
        "signed": rng.integers(-(1 << 31), 1 << 31, n).tolist(),
        "wide": rng.integers(1 << 40, 1 << 41, n).tolist(),
        "range": list(range(n)),
        "one value": [7] * n,
        "floats": rng.random(n).tolist(),
        "prices": np.round(rng.random(n) * 100, 2).tolist(),
        "bools": (rng.random(n) < 0.5).tolist(),
        "some None": [None if at % 50 == 7 else value for at, value in enumerate(small)],
        "many None": [value if at % 3 == 0 else None for at, value in enumerate(small)],
        "None first": [None, *small[1:]],
    }


NAMES = tuple(numbers(1))


def column_of(values: list[Any]) -> bytes:
    found = number_column(values)
    assert found is not None
    n, write = found
    assert n == len(values)
    write(sink := Sink())
    return bytes(sink.out)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_the_same_bytes_as_without_a_proof(name, n):
    values = numbers(n)[name]
    sink = Sink()
    write_column(sink, values, set(map(type, values)))
    assert column_of(values) == bytes(sink.out)
    if name != "wide":
        assert column_of([*values]) == bytes(sink.out)  # shared items are proved another way
    assert same(read_column(Cursor(memoryview(bytes(sink.out)), budget=1 << 20), n), values)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_payloads(name, n, monkeypatch):
    values = numbers(n)[name]
    payload = npser.dumps(values)
    assert same(npser.loads(payload), values)
    monkeypatch.setattr(proofs, "usable", False)
    assert npser.dumps(values) == payload


@pytest.mark.parametrize("name", NAMES)
def test_short_lists_have_no_proof(name):
    assert number_column(numbers(PROVED_ITEMS - 1)[name]) is None


@pytest.mark.parametrize(
    "values", [["a"] * 1000, [1, "a"] * 500, [True, 1] * 500, [1.5, 1] * 500, [None] * 1000, [[]] * 1000]
)
def test_anything_else_has_no_proof(values):
    assert number_column(values) is None
    assert same(npser.loads(npser.dumps(values)), values)


@pytest.mark.parametrize("n", [1, 2, 16, 17, 100, 1000])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.07, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("dense", [[3], [1 << 20, -5], [1 << 62, -(1 << 62)], [0.5, float("nan"), -0.0]])
def test_numbers_among_none(n, share, dense):
    """Spread as numbers where few are absent, as objects where many are."""
    rng = np.random.default_rng(n)
    values = [None if rng.random() < share else dense[at % len(dense)] for at in range(n)]
    if None not in values or len(set(map(type, values))) < 2:
        values += [None, dense[0]]
    sink = Sink()
    write_column(sink, values, set(map(type, values)))
    assert sink.out[0] == Kind.NULLABLE
    data = bytes(sink.out)
    assert same(read_column(Cursor(memoryview(data), budget=1 << 20), len(values)), values)
    for length in range(len(data)):
        with pytest.raises(npser.DecodeError):
            read_column(Cursor(memoryview(data[:length])), len(values))


def test_each_nan_among_none_is_an_object_of_its_own():
    values = [float("nan"), None, float("nan")] * 40
    back = npser.loads(npser.dumps(values))
    found = [value for value in back if value is not None]
    assert all(one is not other for one, other in pairwise(found))


def test_tables_are_total():
    assert set(kinds.DENSE_READERS) <= set(kinds.NUMBER_READERS) <= set(kinds.READERS)
