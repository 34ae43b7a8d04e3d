"""Byte strings: each encoding, the helpers for lengths and codes, and what is not one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.checks import EDGES, HUGE, check_garbage, check_read, written
from npser.blocks import binary
from npser.blocks.binary import look_up, read_bytes, small_ints, total_length
from npser.blocks.choose import write_ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import MAX_NESTING
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.tags import BytesCode

NOWHERE = Cursor(memoryview(b""))


def ints(*values: int) -> bytes:
    return written(lambda sink: write_ints(sink, np.array(values, "<i8")))


def lengths_block(values: list[bytes]) -> bytes:
    return written(lambda sink: binary.write_lengths(sink, values, write_ints))


def check_refused(data: bytes, n: int, error: type[DecodeError] = DecodeError) -> None:
    with pytest.raises(error) as caught:
        read_bytes(Cursor(memoryview(data)), n)
    assert type(caught.value) is error


def some(n: int) -> list[bytes]:
    return [bytes([i % 7] * (i % 11)) for i in range(n)]


def test_table_is_total():
    assert set(binary.READERS) == set(BytesCode)


@pytest.mark.parametrize("n", [*EDGES, 512, 513, 3000])
def test_lengths(n):
    values = some(n)
    data = lengths_block(values)
    assert data.endswith(b"".join(values))
    check_read(read_bytes, data, n, values)


@pytest.mark.parametrize("length", [0, 1, 2, 16, 72, 1000])
@pytest.mark.parametrize("n", [1, 17, 600])
def test_items_of_one_length_keep_their_zeros(length, n):
    values = [bytes(length - 1) + bytes([i % 2]) if length else b"" for i in range(n)]
    values[0] = bytes(length)
    check_read(read_bytes, lengths_block(values), n, values)


def test_long_items():
    values = [bytes(1 << 20), b"", b"\xff" * (1 << 20)] * 2
    data = memoryview(lengths_block(values))
    assert read_bytes(Cursor(data), 6) == values
    values = [bytes(1 << 17)] * 600  # longer than a row may be
    assert read_bytes(Cursor(memoryview(lengths_block(values))), 600) == values


def test_lengths_are_checked():
    for few in ((-1,), (3, -1), (-(2**63),)):
        check_refused(bytes([BytesCode.LENGTHS]) + ints(*few) + bytes(10), len(few))
        many = few + (0,) * 600
        check_refused(bytes([BytesCode.LENGTHS]) + ints(*many) + bytes(10), len(many))
    check_refused(bytes([BytesCode.LENGTHS]) + ints(5, 6) + bytes(10), 2, TruncatedError)
    for n in (4, 1024):
        check_refused(bytes([BytesCode.LENGTHS]) + ints(*[2**62] * n) + bytes(10), n, TruncatedError)


@pytest.mark.parametrize("n", EDGES)
def test_dictionary(n):
    distinct = [b"", b"\0", b"a\0", b"abc"]
    codes = np.random.default_rng(n).integers(0, 4, n)
    data = written(lambda sink: binary.write_dict(sink, distinct, codes, write_plain, write_ints))
    check_read(read_bytes, data, n, [distinct[code] for code in codes])
    assert len(set(map(id, read_bytes(Cursor(memoryview(data)), n)))) <= 4


def write_plain(sink, values):
    binary.write_lengths(sink, values, write_ints)


def test_codes_are_checked():
    head = bytes([BytesCode.DICT, 2]) + lengths_block([b"a", b"b"])
    for codes in ((0, 2), (-1, 0), (0, 2**63 - 1)):
        check_refused(head + ints(*codes), 2)
    check_refused(bytes([BytesCode.DICT, 0]) + lengths_block([]) + ints(0, 0), 2)
    assert read_bytes(Cursor(memoryview(bytes([BytesCode.DICT, 0]) + lengths_block([]) + ints())), 0) == []


def test_nesting_is_bounded():
    data = lengths_block([b"x"])
    for depth in range(1, 8):
        if depth <= MAX_NESTING:
            assert read_bytes(Cursor(memoryview(data)), 1) == [b"x"]
        else:
            check_refused(data, 1)
        data = bytes([BytesCode.DICT, 1]) + data + ints(0)


def test_unknown_codes_and_huge_counts():
    for code in range(2, 256):
        check_refused(bytes([code]) + bytes(100), 1)
    check_refused(b"", 1, TruncatedError)
    check_refused(bytes([BytesCode.LENGTHS]) + ints(*[0] * 17), HUGE, LimitError)
    check_refused(bytes([BytesCode.DICT]) + b"\xff" * 9 + b"\x01" + lengths_block([b""] * 17), 1, LimitError)


def test_total_length():
    def total(values: list[int], least: int) -> int:
        return total_length(NOWHERE, np.array(values, "<i8"), least)

    assert total([], 1) == 0
    assert total([1, 2, 3], 1) == 6
    assert total([2**63 - 1] * 5, 0) == 5 * (2**63 - 1)
    for values, least in (([0], 1), ([5, -1], 0), ([-(2**63)], 0)):
        with pytest.raises(DecodeError):
            total(values, least)


def test_look_up_shares_the_objects():
    distinct = ["a", "b" * 50]
    items = look_up(NOWHERE, distinct, np.array([1, 0, 1], "<i8"))
    assert items == [distinct[1], "a", distinct[1]]
    assert items[0] is distinct[1] and items[2] is distinct[1]


@pytest.mark.parametrize("values", [[], [0], [255] * 3, [256], [0, 2**62], list(range(1000))])
def test_small_ints(values):
    array = small_ints(values)
    assert array.dtype == np.dtype("<i8")
    assert array.tolist() == values


@given(st.lists(st.binary(max_size=30), max_size=60))
def test_any_bytes(values):
    check_read(read_bytes, lengths_block(values), len(values), values)


@given(st.binary(max_size=100), st.sampled_from([0, 1, 2, 17, 1000, 1 << 40, HUGE]), st.sampled_from(list(BytesCode)))
def test_garbage(data, n, code):
    check_garbage(read_bytes, bytes([code]) + data, n)
    check_garbage(read_bytes, data, n)
    check_garbage(read_bytes, bytes([code, 1]) + data, n)
