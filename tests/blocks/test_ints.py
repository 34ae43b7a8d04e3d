"""Blocks of integers: every encoding by its own writer, read as an array and as a list; hostile bytes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from blocks.checks import EDGES, HUGE, check_garbage, check_read, written
from hypothesis import given, settings
from hypothesis import strategies as st

from npser.blocks import ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import LIST_READERS, MAX_NESTING, READERS, read_int_list, read_ints, run_starts
from npser.blocks.sink import Sink
from npser.errors import DecodeError, LimitError, NpserError
from npser.tags import IntCode

LOW, HIGH = -(1 << 63), (1 << 63) - 1
RNG = np.random.default_rng(3)


def array(items) -> np.ndarray:
    return np.array(items, "<i8")


def frame64(sink: Sink, values: np.ndarray) -> None:
    """The plainest writer of nested blocks."""
    ints.write_frame(sink, values, 0, 64)


def wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def uvarint(value: int) -> bytes:
    return written(lambda sink: sink.uvarint(value))


def svarint(value: int) -> bytes:
    return written(lambda sink: sink.svarint(value))


def frame(items: list[int]) -> bytes:
    return written(lambda sink: frame64(sink, array(items)))


def check_both(data: bytes, n: int, expected: list[int]) -> None:
    check_read(read_ints, data, n, array(expected))
    check_read(read_int_list, data, n, expected)
    assert all(type(item) is int for item in read_int_list(Cursor(memoryview(data)), n))


def refused(data: bytes, n: int, error: type[NpserError] = DecodeError) -> None:
    for read in (read_ints, read_int_list):
        with pytest.raises(error):
            read(Cursor(memoryview(data)), n)


def test_tables_are_total():
    assert set(READERS) == set(LIST_READERS) == set(IntCode)


# Each encoding


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("step", [0, 1, -1, 7, -(1 << 40), HIGH, LOW])
@pytest.mark.parametrize("base", [0, -1, HIGH, LOW])
def test_affine(n, step, base):
    data = written(lambda sink: ints.write_affine(sink, base, step, n))
    assert data == b"\x00" + svarint(base) + svarint(step)
    check_both(data, n, [wrapped(base + i * step) for i in range(n)])


def test_affine_step_is_taken_modulo():
    data = written(lambda sink: ints.write_affine(sink, 5, (1 << 64) - 2, 3))
    check_both(data, 3, [5, 3, 1])


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("value", [0, -1, HIGH, LOW])
def test_const(n, value):
    data = written(lambda sink: ints.write_const(sink, value, n))
    assert data == b"\x01" + svarint(value)
    check_both(data, n, [value] * n)


@pytest.mark.parametrize("width", range(65))
@pytest.mark.parametrize("base", [0, 1, -1, 1000, HIGH, LOW, HIGH - 100])
def test_frame(width, base):
    for n in (0, 1, 2, 7, 8, 9, 16, 17, 129):
        offsets = [int.from_bytes(RNG.bytes(8), "little") % (1 << width) for _ in range(n)]
        offsets[:2] = [(1 << width) - 1, 0][: min(n, 2)]
        values = [wrapped(base + offset) for offset in offsets]
        data = written(lambda sink, values=values: ints.write_frame(sink, array(values), base, width))
        assert data[: 2 + len(svarint(base))] == b"\x02" + svarint(base) + bytes([width])
        assert len(data) == 2 + len(svarint(base)) + (n * width + 7) // 8
        check_both(data, n, values)


@pytest.mark.parametrize("width", [1, 8, 12, 16, 24, 57, 63, 64])
def test_long_frame(width):
    values = RNG.integers(0, 1 << width - 1, 70_000, "<i8")
    for base in (0, -5):
        data = written(lambda sink, base=base: ints.write_frame(sink, values + base, base, width))
        assert read_ints(Cursor(memoryview(data)), values.size).tolist() == (values + base).tolist()
        assert read_int_list(Cursor(memoryview(data)), values.size) == (values + base).tolist()


def test_frame_of_strided_values():
    values = np.arange(100, dtype="<i8")[::3]
    for width in (8, 12, 64):
        data = written(lambda sink, width=width: ints.write_frame(sink, values, 0, width))
        check_both(data, values.size, values.tolist())


def test_a_frame_does_not_share_a_writable_buffer():
    data = bytearray(frame([1, 2, 3] * 10))
    read_ints(Cursor(memoryview(data)), 30)[:] = 0
    assert data == frame([1, 2, 3] * 10)


@pytest.mark.parametrize("n", EDGES[1:])
@pytest.mark.parametrize("step", [0, 1, -3, HIGH, LOW])
def test_delta(n, step):
    values = [wrapped(LOW + 5 + i * i * step) for i in range(n)]
    deltas = array([wrapped(b - a) for a, b in pairwise(values)])
    data = written(lambda sink: ints.write_delta(sink, values[0], deltas, frame64))
    assert data == b"\x03" + svarint(values[0]) + frame(deltas.tolist())
    check_both(data, n, values)


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("bits", [6, 7, 20, 48, 63])
def test_varint(n, bits):
    values = RNG.integers(-(1 << bits), 1 << bits, n, "<i8", endpoint=False) >> RNG.integers(0, bits, n)
    values[:2] = [HIGH, LOW][: min(n, 2)]
    data = written(lambda sink: ints.write_varint(sink, values))
    check_both(data, n, values.tolist())


def test_long_varint():
    values = RNG.integers(-1000, 1000, 100_000)
    data = written(lambda sink: ints.write_varint(sink, values))
    assert read_ints(Cursor(memoryview(data)), values.size).tolist() == values.tolist()


@pytest.mark.parametrize("lengths", [[], [1], [3], [1, 1], [1, 129, 2], [1000], [5] * 20, [1] * 20])
def test_runs(lengths):
    values = [(LOW + i * 7) if i % 2 else HIGH - i for i in range(len(lengths))]
    expected = [value for value, length in zip(values, lengths, strict=True) for _ in range(length)]
    data = written(lambda sink: ints.write_runs(sink, array(values), array(lengths), frame64))
    assert data == b"\x05" + uvarint(len(lengths)) + frame(values) + frame(lengths)
    check_both(data, len(expected), expected)


@pytest.mark.parametrize(("distinct", "n"), [(0, 0), (1, 0), (1, 1), (1, 129), (2, 9), (300, 1000)])
def test_dict(distinct, n):
    table = [wrapped(LOW + i * (1 << 60) + i) for i in range(distinct)]
    codes = [(i * i + 3) % distinct for i in range(n)]
    data = written(lambda sink: ints.write_dict(sink, array(table), array(codes), frame64))
    assert data == b"\x06" + uvarint(distinct) + frame(table) + frame(codes)
    check_both(data, n, [table[code] for code in codes])


def test_equal_items_of_a_dict_are_one_object():
    data = b"\x06" + uvarint(1) + frame([1 << 40]) + frame([0, 0])
    first, second = read_int_list(Cursor(memoryview(data)), 2)
    assert first is second


@pytest.mark.parametrize(("n", "positions"), [(0, []), (1, [0]), (9, [0, 8]), (9, [4]), (1000, [0, 1, 500, 999]), (3, [0, 1, 2])])
def test_patched(n, positions):
    base = [i % 5 for i in range(n)]
    values = [wrapped(HIGH + i) for i in range(len(positions))]
    expected = list(base)
    for position, value in zip(positions, values, strict=True):
        expected[position] = value
    data = written(lambda sink: ints.write_patched(sink, array(positions), array(values), array(base), frame64))
    assert data == b"\x07" + uvarint(len(positions)) + frame(positions) + frame(values) + frame(base)
    check_both(data, n, expected)


def test_run_starts():
    for items in ([], [1], [1, 1], [1, 2, 2, 1], [5] * 9 + [6]):
        expected = [i for i in range(len(items)) if not i or items[i] != items[i - 1]]
        assert run_starts(array(items)).tolist() == expected


# What is not a block


@pytest.mark.parametrize("code", [*range(8, 16), 0x7F, 0x80, 0xF0, 0xFF])
def test_unknown_code(code):
    with pytest.raises(DecodeError, match="0x") as caught:
        read_ints(Cursor(memoryview(bytes([2, code])), 1), 3)
    assert caught.value.pos == 1
    refused(bytes([code]), 0)


@pytest.mark.parametrize("width", [65, 66, 128, 255])
def test_frame_too_wide(width):
    refused(b"\x02\x00" + bytes([width]) + b"\0" * 300, 2)


@pytest.mark.parametrize("n", [1, 3, 7, 9, 15, 17, 100])
@pytest.mark.parametrize("width", [1, 3, 5, 12, 13, 57, 63])
def test_frame_padding(n, width):
    data = bytearray(written(lambda sink: ints.write_frame(sink, array([0] * n), 0, width)))
    data[-1] |= 0x80
    if n * width % 8:
        refused(bytes(data), n)


def test_delta_of_nothing():
    refused(b"\x03\x00" + frame([]), 0)


@pytest.mark.parametrize("lengths", [[0, 4], [-1, 5], [2, 1], [2, 3], [4, HIGH], [LOW, 4], [HIGH, HIGH, 6], [1 << 62] * 4 + [4]])
def test_run_lengths(lengths):
    n = len(lengths)
    refused(b"\x05" + uvarint(n) + frame([0] * n) + frame(lengths), 4)


def test_run_lengths_that_wrap_to_the_right_sum():
    lengths = [1 << 61] * 8 + [1 << 60]
    for n in (1 << 60, 1 << 61):
        data = b"\x05" + uvarint(len(lengths)) + frame([0] * len(lengths)) + frame(lengths)
        with pytest.raises(DecodeError):
            read_ints(Cursor(memoryview(data), budget=1 << 62), n)


@pytest.mark.parametrize("code", [-1, 2, 100, HIGH, LOW])
def test_codes_outside_the_dictionary(code):
    refused(b"\x06\x02" + frame([7, 8]) + frame([0, 1, code]), 3)
    refused(b"\x06\x00" + frame([]) + frame([code]), 1)


@pytest.mark.parametrize("positions", [[-1], [3], [0, 0], [1, 0], [HIGH], [LOW, 0], [0, 1, 2, 3]])
def test_positions_of_patches(positions):
    k = len(positions)
    refused(b"\x07" + uvarint(k) + frame(positions) + frame([0] * k) + frame([0] * 3), 3)


# Hostile sizes


def shells(depth: int, code: int) -> bytes:
    """Blocks of one or no item within each other."""
    wraps = {
        IntCode.DELTA: (b"\x03\x00", b""),
        IntCode.RUNS: (b"\x05\x01", b"\x01\x02"),
        IntCode.DICT: (b"\x06\x01", b"\x01\x00"),
        IntCode.PATCHED: (b"\x07\x00\x01\x00\x01\x00", b""),
    }
    head, tail = wraps[code]
    return head * depth + b"\x01\x02" + tail * depth


@pytest.mark.parametrize("code", [IntCode.DELTA, IntCode.RUNS, IntCode.DICT, IntCode.PATCHED])
def test_nesting(code):
    n = MAX_NESTING if code == IntCode.DELTA else 1
    for read in (read_ints, read_int_list):
        deep = shells(MAX_NESTING - 1, code)
        cursor = Cursor(memoryview(deep))
        assert len(read(cursor, n)) == n and cursor.left == 0
        for depth in (MAX_NESTING, 100, 50_000):
            with pytest.raises(DecodeError, match="nest"):
                read(Cursor(memoryview(shells(depth, code))), n)


@pytest.mark.parametrize("n", [1 << 31, HUGE, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize("code", [*IntCode, 0x55])
def test_huge_counts(n, code):
    tails = (
        b"", b"\x00", b"\x00\x00\x00", b"\x02\x01\x02\x02\x02", b"\x00\x01\xff", b"\x00\x40" + b"\0" * 64, b"\xff" * 40,
        b"\x01\x01\x02\x01\x02\x01\x02", b"\x80\x80\x80\x80\x20\x01\x00\x01\x02", uvarint(n) + b"\x01\x02\x01\x02\x01\x02",
    )  # fmt: skip
    for tail in tails:
        refused(bytes([code]) + tail, n)


@pytest.mark.parametrize("inner", [HUGE, 1 << 40, (1 << 64) - 1])
def test_huge_counts_within(inner):
    const = b"\x01\x02"
    refused(b"\x05" + uvarint(inner) + const * 2, 4)
    refused(b"\x06" + uvarint(inner) + const * 2, 4)
    refused(b"\x07" + uvarint(inner) + const * 3, 4)
    refused(b"\x04" + uvarint(inner) + b"\x01" * 4, 4)


def test_what_expands_is_drawn_from_the_budget():
    n = 100
    runs = b"\x05\x01" + frame([5]) + frame([n])
    for data in (b"\x00\x00\x02", b"\x01\x05", b"\x02\x00\x00", runs):
        for read in (read_ints, read_int_list):
            cursor = Cursor(memoryview(data), budget=n)
            read(cursor, n)
            assert cursor.budget == 0
            with pytest.raises(LimitError):
                read(Cursor(memoryview(data), budget=n - 1), n)


def test_what_is_stored_is_not():
    for data in (frame([5] * 20), b"\x02\x00\x01\xff\xff\x0f", b"\x04\x14" + b"\x01" * 20):
        for read in (read_ints, read_int_list):
            read(Cursor(memoryview(data), budget=0), 20)


# Anything


@given(st.binary(max_size=80), st.sampled_from([0, 1, 2, 3, 8, 17, 100, 5000, HUGE]))
@settings(max_examples=300)
def test_any_bytes(data, n):
    for code in (b"", *(bytes([code]) for code in IntCode)):
        check_garbage(read_ints, code + data, n)
        check_garbage(read_int_list, code + data, n)


SMALL = st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 8, 17, 127, 128, 255])


@given(st.lists(SMALL, max_size=60).map(bytes), st.integers(0, 40))
@settings(max_examples=500)
def test_likely_bytes(data, n):
    """Array and list agree, on values and on what is refused."""
    results = []
    for read in (read_ints, read_int_list):
        cursor = Cursor(memoryview(data), budget=10_000)
        try:
            results.append((list(map(int, read(cursor, n))), cursor.pos, cursor.budget))
        except NpserError as error:
            results.append(type(error))
    assert results[0] == results[1]
