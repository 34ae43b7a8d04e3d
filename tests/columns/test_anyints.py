"""Integers of any size, in the two kinds that there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from columns.exact import check_garbage, encode, refused
from npser.blocks.cursor import Cursor
from npser.columns.anyints import read_any_ints, write_any_ints
from npser.columns.shorttext import read_short_text, write_short_text
from npser.errors import TruncatedError
from npser.tags import Kind

EDGES = [s * (2**k + d) for k in (0, 7, 8, 31, 32, 53, 62, 63, 64, 127, 400) for d in (-1, 0, 1) for s in (1, -1)]


def back(values: list[int], kind: Kind) -> None:
    data = encode(write_any_ints, values)
    assert data[0] == kind
    cursor = Cursor(memoryview(data + b"\xff"))
    got = read_any_ints(cursor, len(values))
    assert got == values and set(map(type, got)) <= {int} and cursor.left == 1
    for cut in range(len(data)):
        refused(read_any_ints, data[:cut], len(values))


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 127, 128, 129, 1000])
def test_small(n: int) -> None:
    back([i * i - 50 for i in range(n)], Kind.INT)


def test_the_edge_between_the_kinds() -> None:
    back([2**63 - 1, -(2**63)], Kind.INT)
    back([2**63], Kind.BIGINT)
    back([-(2**63) - 1, 0], Kind.BIGINT)
    back(EDGES, Kind.BIGINT)


@given(st.lists(st.integers()))
def test_any(values: list[int]) -> None:
    back(values, Kind.INT if all(-(2**63) <= value < 2**63 for value in values) else Kind.BIGINT)


def test_other_kinds() -> None:
    for kind in set(range(256)) - {Kind.INT, Kind.BIGINT}:
        refused(read_any_ints, bytes([kind, 1, 0, 0]), 1, "kind")


def test_garbage() -> None:
    whole = [encode(write_any_ints, values) for values in ([1, 2, 3], EDGES, [5] * 20)]
    check_garbage({0: read_any_ints}, [b"\0" + data for data in whole])


@given(st.text(st.characters(codec=None)))
def test_short_text(text: str) -> None:
    data = encode(write_short_text, text)
    cursor = Cursor(memoryview(data + b"x"))
    assert read_short_text(cursor) == text and cursor.left == 1
    for cut in range(len(data)):
        with pytest.raises(TruncatedError):
            read_short_text(Cursor(memoryview(data[:cut])))
