"""The choice of an encoding for doubles: what is chosen for which column, and that every bit comes back whatever is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.checks import EDGES, check_read, written
from npser.blocks.choose import costs, write_floats
from npser.blocks.cursor import Cursor
from npser.blocks.floats import read_float_list, read_floats
from npser.blocks.sink import Sink
from npser.tags import FloatCode, IntCode

ODD = np.array(
    [1 << 63, 1, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, 0xFFF8_0000_DEAD_BEEF, 0x7FF0_0000_0000_0001], "<u8"
).view("<f8")


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def prices(n: int) -> np.ndarray:
    return np.round(rng(n).random(n) * 1000, 2)


def holding(values: np.ndarray, odd: np.ndarray, count: int) -> np.ndarray:
    values = values.copy()
    values[rng(7).choice(values.size, count, replace=False)] = np.resize(odd, count)
    return values


COLUMNS = {
    "prices": prices,
    "negative prices": lambda n: -prices(n),
    "counts": lambda n: rng(n).integers(0, 300, n).astype("<f8"),
    "percentages": lambda n: np.round(rng(n).random(n) * 100, 1),
    "coordinates": lambda n: np.round(rng(n).random(n) * 360 - 180, 6),
    "tiny decimals": lambda n: rng(n).integers(0, 500, n) / 1e9,
    "random": lambda n: rng(n).random(n),
    "normal": lambda n: rng(n).normal(size=n),
    "huge": lambda n: rng(n).integers(2**60, 2**62, n).astype("<f8"),
    "float32": lambda n: rng(n).normal(size=n).astype("<f4").astype("<f8"),
    "few distinct": lambda n: rng(n).choice(rng(5).random(30), n),
    "few odd": lambda n: np.resize(ODD, n),
    "runs": lambda n: np.repeat(rng(n).random(n // 50 + 1), 50)[:n],
    "constant": lambda n: np.full(n, 0.1),
    "zeros of both signs": lambda n: np.where(rng(n).random(n) < 0.5, 0.0, -0.0),
    "ramp": lambda n: np.arange(n) / 4,
    "any bits": lambda n: np.frombuffer(rng(n).bytes(8 * n), "<f8"),
    "NaN": lambda n: np.full(n, np.nan),
    "NaN among prices": lambda n: holding(prices(n), np.array([np.nan]), n // 5),
    "odd among prices": lambda n: holding(prices(n), ODD, n // 50),
    "odd among all": lambda n: holding(rng(n).random(n), ODD, n // 20),
    "short, then long": lambda n: np.where(np.arange(n) < n * 0.99, prices(n), rng(n).random(n)),
}


def check_both(data: bytes, expected: np.ndarray) -> None:
    check_read(read_floats, data, expected.size, expected)
    check_read(read_float_list, data, expected.size, expected.tolist())


def block(values: np.ndarray) -> bytes:
    return written(lambda sink: write_floats(sink, values))


@pytest.mark.parametrize("n", [*EDGES, costs.FLOAT_MIN_ITEMS, costs.FLOAT_SAMPLE, costs.FLOAT_SAMPLE + 1, 10_000])
@pytest.mark.parametrize("name", COLUMNS)
def test_every_bit_comes_back(name, n):
    values = COLUMNS[name](n).astype("<f8")
    data = block(values)
    check_both(data, values)
    assert len(data) <= 8 * n + 9
    write_floats(sink := Sink(), values)
    read_floats(Cursor(memoryview(data), budget=sink.expanded), n)


@pytest.mark.parametrize("name", ["prices", "odd among prices", "float32", "few odd", "runs"])
def test_more_than_one_chunk(name):
    values = COLUMNS[name](40_000)
    check_both(block(values), values)


@pytest.mark.parametrize(
    ("name", "code", "nbytes"),
    [
        ("prices", FloatCode.DECIMAL, 4.1),
        ("negative prices", FloatCode.DECIMAL, 4.1),
        ("counts", FloatCode.DECIMAL, 2.1),
        ("percentages", FloatCode.DECIMAL, 2.1),
        ("coordinates", FloatCode.DECIMAL, 4.1),
        ("tiny decimals", FloatCode.DECIMAL, 2.1),
        ("ramp", FloatCode.DECIMAL, 0.1),
        ("random", FloatCode.F64, 8.1),
        ("normal", FloatCode.F64, 8.1),
        ("any bits", FloatCode.F64, 8.1),
        ("odd among all", FloatCode.F64, 8.1),
        ("float32", FloatCode.F32, 4.1),
        ("few distinct", FloatCode.DICT, 1.1),
        ("few odd", FloatCode.DICT, 1.1),
        ("zeros of both signs", FloatCode.DICT, 1.1),
        ("runs", FloatCode.RUNS, 0.5),
        ("constant", FloatCode.CONST, 0.1),
        ("NaN", FloatCode.CONST, 0.1),
        ("NaN among prices", FloatCode.PATCHED, 4.6),
        ("odd among prices", FloatCode.PATCHED, 4.6),
        ("short, then long", FloatCode.PATCHED, 4.6),
    ],
)
def test_what_is_chosen(name, code, nbytes):
    data = block(COLUMNS[name](10_000))
    assert data[0] == code
    assert len(data) <= 10_000 * nbytes


@pytest.mark.parametrize("k", range(1, 16))
def test_scales(k):
    values = np.array([float(f"{i}e-{k}") for i in rng(k).integers(1, 10_000, 2000).tolist()])
    data = block(values)
    assert data[:2] == bytes([FloatCode.DECIMAL, k])
    check_both(data, values)


def test_decimals_of_numbers_below_a_ten_thousandth():
    values = rng(1).integers(1, 100, 2000) / 1e7  # repr writes these with an exponent
    assert block(values)[:2] == bytes([FloatCode.DECIMAL, 7])


def test_a_digit_that_the_sample_missed():
    values = np.round(rng(3).random(50_000) * 100, 1)
    values[1234] = 3.25
    values[40_000] = 2.75
    data = block(values)
    check_both(data, values)
    assert len(data) < 2.5 * values.size
    values[1000:1400] = np.round(rng(4).random(400) * 100, 3)  # more of them, all in one place
    data = block(values)
    check_both(data, values)
    assert len(data) < 4.5 * values.size


def test_a_sample_that_was_wrong_in_all_it_saw():
    values = rng(9).random(50_000)
    seen = np.unique((np.sort(np.arange(1, 257) * (np.sqrt(5.0) / 2 - 0.5) % 1) * values.size).astype(np.intp))
    for column in (prices(50_000), np.full(50_000, 0.5), prices(50_000).astype("<f4").astype("<f8")):
        values[seen] = column[seen]
        data = block(values)
        assert data[0] == FloatCode.F64
        check_both(data, values)


def test_exceptions_at_the_edges():
    values = prices(1000)
    for odd in ([0], [999], [0, 1, 2], [997, 998, 999], [0, 999], list(range(25))):
        column = values.copy()
        column[odd] = -0.0
        data = block(column)
        assert data[0] == FloatCode.PATCHED
        check_both(data, column)


def test_few_items_are_not_looked_into():
    for n in range(1, 17):
        assert block(np.full(n, 2.5))[0] == (FloatCode.CONST if n > 1 else FloatCode.F64)
        assert block(np.arange(n) / 4 + 1)[0] == FloatCode.F64
        assert block(np.resize([0.0, -0.0], n))[0] == FloatCode.F64
    assert block(np.empty(0)) == bytes([FloatCode.F64])


def test_other_layouts_of_the_array():
    values = prices(2000)
    for same in (values[::2], values[::-1], values.astype(">f8"), np.asfortranarray(values.reshape(2, -1))[0]):
        check_both(block(same), np.ascontiguousarray(same, "<f8"))


def test_integers_inside_are_chosen_too():
    values = np.arange(5000) / 100
    assert block(values)[:3] == bytes([FloatCode.DECIMAL, 2, IntCode.AFFINE])


@given(
    st.lists(st.floats() | st.integers(-1000, 1000).map(lambda i: i / 100) | st.just(0.5), max_size=30),
    st.sampled_from([1, 1, 10, 40]),
)
def test_any_floats(values, repeats):
    array = np.array(values * repeats, "<f8")
    check_both(block(array), array)
