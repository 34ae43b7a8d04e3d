"""Blocks of integers: every encoding by its own writer, read as an array and as a list; hostile bytes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.checks import (
    EDGES,
    HUGE,
    array,
    check_garbage,
    check_ints,
    frame,
    frame64,
    refused,
    svarint,
    uvarint,
    wrapped,
    written,
)
from npser.blocks import ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import LIST_READERS, MAX_NESTING, READERS, read_int_list, read_ints, run_starts
from npser.errors import DecodeError, LimitError, NpserError
from npser.tags import IntCode

LOW, HIGH = -(1 << 63), (1 << 63) - 1
RNG = np.random.default_rng(3)


def test_tables_are_total():
    assert set(READERS) == set(LIST_READERS) == set(IntCode)


# Each encoding


@pytest.mark.parametrize("n", EDGES[1:])
@pytest.mark.parametrize("step", [0, 1, -3, HIGH, LOW])
def test_delta(n, step):
    values = [wrapped(LOW + 5 + i * i * step) for i in range(n)]
    deltas = array([wrapped(b - a) for a, b in pairwise(values)])
    data = written(lambda sink: ints.write_delta(sink, values[0], deltas, frame64))
    assert data == b"\x03" + svarint(values[0]) + frame(deltas.tolist())
    check_ints(data, n, values)


@pytest.mark.parametrize("lengths", [[], [1], [3], [1, 1], [1, 129, 2], [1000], [5] * 20, [1] * 20])
def test_runs(lengths):
    values = [(LOW + i * 7) if i % 2 else HIGH - i for i in range(len(lengths))]
    expected = [value for value, length in zip(values, lengths, strict=True) for _ in range(length)]
    data = written(lambda sink: ints.write_runs(sink, array(values), array(lengths), frame64))
    assert data == b"\x05" + uvarint(len(lengths)) + frame(values) + frame(lengths)
    check_ints(data, len(expected), expected)


@pytest.mark.parametrize(("distinct", "n"), [(0, 0), (1, 0), (1, 1), (1, 129), (2, 9), (300, 1000)])
def test_dict(distinct, n):
    table = [wrapped(LOW + i * (1 << 60) + i) for i in range(distinct)]
    codes = [(i * i + 3) % distinct for i in range(n)]
    data = written(lambda sink: ints.write_dict(sink, array(table), array(codes), frame64))
    assert data == b"\x06" + uvarint(distinct) + frame(table) + frame(codes)
    check_ints(data, n, [table[code] for code in codes])


def test_equal_items_of_a_dict_are_one_object():
    data = b"\x06" + uvarint(1) + frame([1 << 40]) + frame([0, 0])
    first, second = read_int_list(Cursor(memoryview(data)), 2)
    assert first is second


@pytest.mark.parametrize(
    ("n", "positions"), [(0, []), (1, [0]), (9, [0, 8]), (9, [4]), (1000, [0, 1, 500, 999]), (3, [0, 1, 2])]
)
def test_patched(n, positions):
    base = [i % 5 for i in range(n)]
    values = [wrapped(HIGH + i) for i in range(len(positions))]
    expected = list(base)
    for position, value in zip(positions, values, strict=True):
        expected[position] = value
    data = written(lambda sink: ints.write_patched(sink, array(positions), array(values), array(base), frame64))
    assert data == b"\x07" + uvarint(len(positions)) + frame(positions) + frame(values) + frame(base)
    check_ints(data, n, expected)


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


def test_delta_of_nothing():
    refused(b"\x03\x00" + frame([]), 0)


@pytest.mark.parametrize(
    "lengths", [[0, 4], [-1, 5], [2, 1], [2, 3], [4, HIGH], [LOW, 4], [HIGH, HIGH, 6], [1 << 62] * 4 + [4]]
)
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
