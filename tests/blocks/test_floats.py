"""Doubles: each encoding by itself, as array and as list, and what is not one."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.checks import EDGES, HUGE, check_garbage, check_read, same, written
from npser.blocks import floats
from npser.blocks.choose import write_ints
from npser.blocks.cursor import Cursor
from npser.blocks.floats import read_float_list, read_floats
from npser.blocks.ints import MAX_NESTING
from npser.blocks.sink import Sink
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.tags import FloatCode, IntCode

QUIET, PAYLOAD, SIGNALLING = 0x7FF8_0000_0000_0000, 0xFFF8_0000_DEAD_BEEF, 0x7FF0_0000_0000_0001
ODD_WORDS = [
    0,
    1 << 63,
    1,
    (1 << 52) - 1,
    0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0 << 48,
    0xFFF0 << 48,
    QUIET,
    PAYLOAD,
    SIGNALLING,
]
ODD = np.array(ODD_WORDS, "<u8").view("<f8")


def ints(*values: int) -> bytes:
    return written(lambda sink: write_ints(sink, np.array(values, "<i8")))


def block(code: int, *parts: bytes) -> bytes:
    return bytes([code]) + b"".join(parts)


def f64(*values: float) -> bytes:
    return block(FloatCode.F64, struct.pack(f"<{len(values)}d", *values))


def check_both(data: bytes, expected: np.ndarray) -> None:
    check_read(read_floats, data, expected.size, expected)
    check_read(read_float_list, data, expected.size, expected.tolist())


def check_refused(data: bytes, n: int, error: type[DecodeError] = DecodeError) -> None:
    for read in (read_floats, read_float_list):
        with pytest.raises(error) as caught:
            read(Cursor(memoryview(data)), n)
        assert type(caught.value) is error


def some(n: int) -> np.ndarray:
    values = np.random.default_rng(n).normal(size=n)
    values[: min(n, ODD.size)] = ODD[:n]
    return values


def test_tables_are_total():
    assert set(floats.READERS) == set(floats.LIST_READERS) == set(FloatCode)


@pytest.mark.parametrize("n", EDGES)
def test_as_they_are(n):
    values = some(n)
    data = written(lambda sink: floats.write_f64(sink, values))
    assert data == b"\x00" + values.tobytes()
    check_both(data, values)


def test_every_other_value_of_an_array():
    values = some(40)[::2]
    assert written(lambda sink: floats.write_f64(sink, values))[1:] == values.tobytes()


@pytest.mark.parametrize("n", EDGES)
def test_float32(n):
    values = np.random.default_rng(n).normal(size=n).astype("<f4").astype("<f8")
    values[:6] = [-0.0, np.inf, -np.inf, np.nan, 2.0**-149, 3.4028234663852886e38][:n]
    data = written(lambda sink: floats.write_f32(sink, values))
    assert len(data) == 1 + 4 * n
    check_both(data, values)


def test_a_signalling_float32_is_some_nan():
    data = block(FloatCode.F32, struct.pack("<2I", 0x7F80_0001, 0xFF80_0001))
    assert np.isnan(read_floats(Cursor(memoryview(data)), 2)).all()
    assert all(value != value for value in read_float_list(Cursor(memoryview(data)), 2))


@pytest.mark.parametrize("word", ODD_WORDS)
def test_const_keeps_every_bit(word):
    values = np.full(1000, word, "<u8").view("<f8")
    data = written(lambda sink: floats.write_const(sink, values))
    assert len(data) == 9
    check_both(data, values)


def test_const_draws_from_the_budget():
    data = memoryview(f64(0.5).replace(b"\x00", b"\x02", 1))
    cursor = Cursor(data, budget=10)
    assert read_float_list(cursor, 10) == [0.5] * 10
    assert cursor.budget == 0
    for read in (read_floats, read_float_list):
        for n in (11, HUGE):
            with pytest.raises(LimitError):
                read(Cursor(data, budget=10), n)
    sink = Sink()
    floats.write_const(sink, np.zeros(7))
    assert sink.expanded == 7


@pytest.mark.parametrize("k", range(23))
def test_decimals_of_every_scale(k):
    numbers = np.array([0, 1, -1, 5, 19, 99, 101, -12345, 2**53, -(2**53), 2**53 - 1, 123456789012345], "<i8")
    expected = np.array([float(f"{number}e-{k}") for number in numbers.tolist()])  # correctly rounded by Python
    check_both(written(lambda sink: floats.write_decimal(sink, k, numbers, write_ints)), expected)


@pytest.mark.parametrize("n", [1, 100, 1000, 2047, 2048, 20_000, 40_000])
def test_decimals_of_few_digits_share_their_floats(n):
    numbers = np.random.default_rng(n).integers(-50, 50, n)
    data = written(lambda sink: floats.write_decimal(sink, 1, numbers.copy(), write_ints))
    check_both(data, numbers / 10.0)
    items = read_float_list(Cursor(memoryview(data)), n)
    assert len(set(map(id, items))) <= max(100, n if n < floats.MANY else 0)


def test_decimals_at_the_ends_of_int64():
    for low in (-(2**63), 2**63 - 3):
        numbers = np.array([low, low + 2] * 50, "<i8")
        check_both(
            written(lambda sink, numbers=numbers: floats.write_decimal(sink, 0, numbers, write_ints)),
            numbers.astype("<f8"),
        )


def test_scale_is_checked():
    for k in (23, 255):
        check_refused(block(FloatCode.DECIMAL, bytes([k]), ints(1, 2)), 2)


@pytest.mark.parametrize("length", [1, 3, 40])
def test_runs(length):
    values = some(30)
    lengths = np.random.default_rng(length).integers(1, 2 * length + 1, 30)
    data = written(lambda sink: floats.write_runs(sink, values, lengths, floats.write_f64, write_ints))
    check_both(data, np.repeat(values, lengths))


@pytest.mark.parametrize(
    ("r", "lengths", "n"),
    [
        (2, (1, 2), 4),
        (2, (1, 2), 2),
        (2, (0, 3), 3),
        (2, (-1, 4), 3),
        (0, (), 1),
        (3, (1, 1, 1), 2),
        (2, (2**62, 2**62), 2),
    ],
)
def test_runs_that_do_not_add_up(r, lengths, n):
    check_refused(block(FloatCode.RUNS, bytes([r]), f64(*range(r)), ints(*lengths)), n)


def test_runs_whose_sum_wraps():
    lengths = [2**62] * 4 + [3]
    data = block(FloatCode.RUNS, b"\x05", f64(1, 2, 3, 4, 5), ints(*lengths))
    for n in (3, 5, HUGE):
        with pytest.raises(DecodeError):
            read_floats(Cursor(memoryview(data), budget=1000), n)


def test_runs_are_bounded_by_the_budget():
    data = block(FloatCode.RUNS, b"\x01", f64(1.5), ints(HUGE))
    check_refused(data, HUGE, LimitError)


@pytest.mark.parametrize("n", EDGES)
def test_dictionary(n):
    codes = np.random.default_rng(n).integers(0, ODD.size, n)
    data = written(lambda sink: floats.write_dict(sink, ODD, codes, floats.write_f64, write_ints))
    check_both(data, ODD[codes])


def test_codes_are_checked():
    for codes in ((0, 2), (-1, 0), (0, 2**63 - 1), (-(2**63), 0)):
        check_refused(block(FloatCode.DICT, b"\x02", f64(1, 2), ints(*codes)), 2)
    check_refused(block(FloatCode.DICT, b"\x00", f64(), ints(0, 0)), 2)
    check_both(block(FloatCode.DICT, b"\x00", f64(), ints()), np.empty(0))
    check_both(block(FloatCode.DICT, b"\x01", f64(1), ints()), np.empty(0))


@pytest.mark.parametrize("step", [1, 2, 100])
def test_exceptions(step):
    expected = np.arange(1000) / 4.0
    positions = np.arange(0, 1000, step)
    expected[positions] = np.resize(ODD, positions.size)
    base = np.arange(1000) / 4.0
    data = written(
        lambda sink: floats.write_patched(
            sink,
            positions,
            expected[positions],
            lambda sink: floats.write_f64(sink, base),
            floats.write_f64,
            write_ints,
        )
    )
    check_both(data, expected)


def test_no_exceptions_and_no_items():
    check_both(block(FloatCode.PATCHED, b"\x00", ints(), f64(), f64(1, 2)), np.array([1.0, 2.0]))
    check_both(block(FloatCode.PATCHED, b"\x00", ints(), f64(), f64()), np.empty(0))


@pytest.mark.parametrize("positions", [(1, 1), (1, 0), (-1, 1), (0, 3), (0, 2**63 - 1), (-(2**63), 0), (0, 1, 2, 3)])
def test_positions_are_checked(positions):
    values = f64(*map(float, range(len(positions))))
    check_refused(block(FloatCode.PATCHED, bytes([len(positions)]), ints(*positions), values, f64(7, 8, 9)), 3)


def test_nesting_is_bounded():
    data, wrap = f64(1.5), block(FloatCode.PATCHED, b"\x00", ints(), f64())
    for depth in range(1, 8):
        if depth <= MAX_NESTING:
            check_both(data, np.array([1.5]))
        else:
            check_refused(data, 1)
        data = wrap + data
    data = f64(1.5)
    for depth in range(1, 8):
        if depth <= MAX_NESTING:
            check_both(data, np.array([1.5]))
        else:
            check_refused(data, 1)
        data = block(FloatCode.DICT, b"\x01", data, ints(0))


def test_unknown_codes():
    for code in range(256):
        if code not in set(FloatCode):
            check_refused(bytes([code]) + bytes(100), 1)
    check_refused(b"", 1, TruncatedError)


@pytest.mark.parametrize("code", [FloatCode.F64, FloatCode.F32])
def test_huge_counts(code):
    for n in (9, 1 << 32, HUGE, HUGE + 1):
        check_refused(block(code, bytes(32)), n, TruncatedError)


def test_huge_counts_inside():
    uvarint = b"\xff" * 9 + b"\x01"
    for code in (FloatCode.RUNS, FloatCode.DICT, FloatCode.PATCHED):
        for tail in (
            f64(1),
            bytes([FloatCode.CONST]) + bytes(8),
            bytes([IntCode.CONST, 0]),
            bytes([IntCode.FRAME, 0, 0]),
        ):
            for n in (1, HUGE, (1 << 64) - 1):
                check_refused_somehow(block(code, uvarint, tail * 4), n)


def check_refused_somehow(data: bytes, n: int) -> None:
    for read in (read_floats, read_float_list):
        with pytest.raises(DecodeError):
            read(Cursor(memoryview(data)), n)


@given(st.lists(st.floats(), max_size=40), st.data())
def test_any_floats(values, data):
    array = np.array(values, "<f8")
    check_both(written(lambda sink: floats.write_f64(sink, array)), array)
    at = data.draw(st.integers(0, len(values)))
    assert same(read_float_list(Cursor(memoryview(f64(*values[:at]))), at), values[:at])


@given(st.binary(max_size=200), st.sampled_from([0, 1, 2, 17, 1000, 1 << 40, HUGE]), st.sampled_from(list(FloatCode)))
def test_garbage(data, n, code):
    for read in (read_floats, read_float_list):
        check_garbage(read, bytes([code]) + data, n)
        check_garbage(read, data, n)


@given(st.binary(max_size=120), st.sampled_from(list(FloatCode)), st.integers(0, 20), st.sampled_from([1, 3, 40]))
def test_garbage_inside(data, code, count, n):
    for read in (read_floats, read_float_list):
        check_garbage(read, bytes([code, count]) + data, n)


@given(st.data())
def test_array_and_list_agree_on_garbage(data):
    raw, n = data.draw(st.binary(max_size=80)), data.draw(st.integers(0, 40))
    answers = []
    for read in (lambda cursor, n: read_floats(cursor, n).tolist(), read_float_list):
        cursor = Cursor(memoryview(raw), budget=1000)
        try:
            answers.append((read(cursor, n), cursor.pos, cursor.budget))
        except DecodeError as error:
            answers.append(type(error))
    assert same(answers[0], answers[1])
