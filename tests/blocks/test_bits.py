"""Booleans: each encoding, which one is chosen, and what is not one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.checks import EDGES, HUGE, check_garbage, check_read, written
from npser.blocks import bits
from npser.blocks.bits import read_bit_list, read_bits
from npser.blocks.choose import write_bits, write_ints
from npser.blocks.cursor import Cursor
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.tags import BitCode


def ints(*values: int) -> bytes:
    return written(lambda sink: write_ints(sink, np.array(values, "<i8")))


def check_both(data: bytes, expected: np.ndarray) -> None:
    check_read(read_bits, data, expected.size, expected)
    check_read(read_bit_list, data, expected.size, expected.tolist())


def check_refused(data: bytes, n: int, error: type[DecodeError] = DecodeError) -> None:
    for read in (read_bits, read_bit_list):
        with pytest.raises(error) as caught:
            read(Cursor(memoryview(data)), n)
        assert type(caught.value) is error


def some(n: int) -> np.ndarray:
    return np.random.default_rng(n).random(n) < 0.5


def test_tables_are_total():
    assert set(bits.READERS) == set(bits.LIST_READERS) == set(BitCode)


@pytest.mark.parametrize("n", EDGES)
def test_packed(n):
    values = some(n)
    data = written(lambda sink: bits.write_packed(sink, values))
    assert data == b"\x00" + sum(1 << i for i in np.flatnonzero(values).tolist()).to_bytes((n + 7) // 8, "little")
    check_both(data, values)


def test_the_items_are_the_two_booleans():
    for n in (3, 100):
        data = written(lambda sink, n=n: bits.write_packed(sink, some(n)))
        assert all(item is True or item is False for item in read_bit_list(Cursor(memoryview(data)), n))


def test_padding_bits_are_zero():
    for n in (1, 7, 9, 15, 100, 101):
        size = (n + 7) // 8
        for at in range(n, size * 8):
            check_refused(b"\x00" + (1 << at).to_bytes(size, "little"), n)


@pytest.mark.parametrize("bit", [0, 1])
def test_const(bit):
    for n in EDGES:
        data = written(lambda sink, n=n: bits.write_const(sink, bit, n))
        assert data == bytes([BitCode.CONST, bit])
        check_both(data, np.full(n, bit, np.bool_))
    check_refused(bytes([BitCode.CONST, bit + 2]), 5)
    check_refused(bytes([BitCode.CONST, bit]), HUGE, LimitError)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("r", [1, 2, 3, 50])
def test_runs(first, r):
    lengths = np.random.default_rng(r).integers(1, 40, r)
    data = written(lambda sink: bits.write_runs(sink, first, lengths, write_ints))
    check_both(data, np.repeat((np.arange(r) + first) % 2 == 1, lengths))


def test_no_runs():
    check_both(bytes([BitCode.RUNS, 1, 0]) + ints(), np.empty(0, np.bool_))


def test_runs_are_checked():
    for lengths, n in (((1, 2), 4), ((0, 3), 3), ((-1, 4), 3), ((1, 1, 1), 2), ((), 1)):
        check_refused(bytes([BitCode.RUNS, 0, len(lengths)]) + ints(*lengths), n)
    check_refused(bytes([BitCode.RUNS, 2, 1]) + ints(3), 3)
    check_refused(bytes([BitCode.RUNS, 0, 1]) + ints(HUGE), HUGE, LimitError)
    wrapping = bytes([BitCode.RUNS, 0, 5]) + ints(*[2**62] * 4, 3)
    for n in (3, 7):
        check_refused(wrapping, n)


def test_unknown_codes_and_huge_counts():
    for code in range(3, 256):
        check_refused(bytes([code]) + bytes(100), 1)
    check_refused(b"", 1, TruncatedError)
    check_refused(b"\x00" + bytes(10), HUGE, TruncatedError)
    check_refused(b"\x00" + bytes(10), 81, TruncatedError)


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("kind", ["random", "false", "true", "two runs", "sparse"])
def test_chosen_comes_back(n, kind):
    values = {
        "random": some(n),
        "false": np.zeros(n, np.bool_),
        "true": np.ones(n, np.bool_),
        "two runs": np.arange(n) < n // 3,
        "sparse": np.arange(n) == n // 2,
    }[kind]
    check_both(written(lambda sink: write_bits(sink, values)), values)


def test_what_is_chosen():
    def code(values: np.ndarray) -> int:
        return written(lambda sink: write_bits(sink, values))[0]

    assert code(some(1000)) == BitCode.BITS
    assert code(np.ones(8, np.bool_)) == BitCode.BITS
    assert code(np.ones(9, np.bool_)) == BitCode.CONST
    assert code(np.arange(10_000) < 5000) == BitCode.RUNS
    assert code(np.arange(10_000) % 20 < 10) == BitCode.BITS


def test_every_other_value_of_an_array():
    values = some(2000)[::2]
    check_both(written(lambda sink: write_bits(sink, values)), values.copy())


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 700)), max_size=12))
def test_any_booleans(runs):
    values = np.concatenate([np.full(n, bit) for bit, n in runs] or [np.empty(0, np.bool_)])
    data = written(lambda sink: write_bits(sink, values))
    assert read_bit_list(Cursor(memoryview(data)), values.size) == values.tolist()


@given(st.binary(max_size=100), st.sampled_from([0, 1, 2, 17, 1000, 1 << 40, HUGE]), st.sampled_from(list(BitCode)))
def test_garbage(data, n, code):
    for read in (read_bits, read_bit_list):
        check_garbage(read, bytes([code]) + data, n)
        check_garbage(read, data, n)
