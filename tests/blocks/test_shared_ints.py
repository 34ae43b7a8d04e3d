"""Lists of ints out of a table: the same values and the same type at every edge of it, and one object for each value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser import dumps, loads
from npser.blocks import shared_ints
from npser.blocks.shared_ints import (
    ANY,
    CHUNK,
    END,
    LOW,
    MIN_LOOKED_AT,
    MIN_RAMP,
    MIN_TAKEN,
    ramp_cells,
    ramp_list,
    to_list,
)

EDGES = (LOW - 1, LOW, -6, -5, 256, 257, END - 1, END)


@pytest.mark.parametrize("n", [0, 1, MIN_TAKEN - 1, MIN_TAKEN, MIN_LOOKED_AT, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
@pytest.mark.parametrize("low", EDGES)
@pytest.mark.parametrize("high", EDGES)
@pytest.mark.parametrize("dtype", ["<i4", "<i8"])
def test_lists_are_those_of_numpy(n: int, low: int, high: int, dtype: str):
    low, high = min(low, high), max(low, high)
    values = np.random.default_rng(n).integers(low, high + 1, n).astype(dtype)
    values[:1], values[-1:] = low, high
    for bounds in (ANY, (low, high), (low, low + (1 << (high - low).bit_length()) - 1)):
        items = to_list(values, bounds)
        assert items == values.tolist()
        assert set(map(type, items)) <= {int}


@pytest.mark.parametrize("dtype", ["<f8", "?", "<u8", "O"])
def test_what_is_no_signed_integer_is_made_by_numpy(dtype: str):
    values = np.arange(5000).astype(dtype)
    assert list(map(type, to_list(values))) == list(map(type, values.tolist()))
    assert to_list(values) == values.tolist()


@given(st.integers(-11_000, 11_000), st.integers(-300, 300).filter(bool), st.integers(1, 3 * MIN_RAMP))
def test_ramps(base: int, step: int, n: int):
    expected = list(range(base, base + step * n, step))
    assert ramp_list(base, step, n) == expected
    assert list(ramp_cells(base, step, n)) == expected


@pytest.mark.parametrize(
    "ramp",
    [range(LOW, END), range(END - 1, LOW - 1, -1), range(LOW, END + 1), range(LOW - 1, END), range(END, 0, -1), range(99, -1, -1)],
)
def test_ramps_at_the_ends_of_the_table(ramp: range):
    assert ramp_list(ramp.start, ramp.step, len(ramp)) == list(ramp)


@pytest.mark.parametrize(
    "values",
    [
        list(range(1000)),
        [at * 7919 % 4000 for at in range(3000)],
        [at * 7919 % 4000 - 1000 if at % 9 else None for at in range(5000)],
        [at * 7919 % 4000 if at % 99 else None for at in range(5000)],
        sorted(at * 7919 % 9000 for at in range(5000)),
        [at // 3 + 1000 for at in range(6000)],
    ],
    ids=["ramp", "frame", "many None", "few None", "sorted", "runs"],
)
def test_equal_ints_of_two_lists_are_one_object(values: list[int | None]):
    payload = dumps(values)
    one, other = loads(payload), loads(payload)
    assert one == other == values
    assert all(left is right for left, right in zip(one, other, strict=True))


def test_a_list_that_is_changed_leaves_the_table_alone():
    payload = dumps(list(range(100)))
    loads(payload).clear()
    assert loads(payload) == list(range(100))
    assert shared_ints._table().items == list(range(LOW, END))
