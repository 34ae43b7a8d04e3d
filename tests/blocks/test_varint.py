"""Varints: against a loop, at every length, in every mix, and what is not one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.blocks.cursor import Cursor
from npser.blocks.varint import CHUNK, CHUNK_ITEMS, FEW, decode_varints, encode_varints, read_varints, unzigzag, zigzag
from npser.errors import DecodeError, NpserError, TruncatedError

EDGES = (0, 1, 2, 7, 8, 9, FEW, FEW + 1, 127, 128, 129, 1000)
WORDS = [*(1 << k for k in range(64)), *((1 << k) - 1 for k in range(65))]


def slow_encode(codes: list[int]) -> bytes:
    out = bytearray()
    for code in codes:
        while code > 127:
            out.append(code & 127 | 128)
            code >>= 7
        out.append(code)
    return bytes(out)


def of_size(n: int, size: int) -> np.ndarray:
    """n codes of `size` bytes, with the least and the greatest."""
    low, high = (1 << 7 * (size - 1)) * (size > 1), min(1 << 7 * size, 1 << 64) - 1
    codes = np.random.default_rng(size).integers(low, high, n, "<u8", endpoint=True)
    codes[:2] = [low, high][: min(n, 2)]
    return codes


def mixed(n: int, bits: int) -> np.ndarray:
    rng = np.random.default_rng(bits)
    return rng.integers(0, 1 << bits, n, "<u8") >> rng.integers(0, bits, n, "<u8")


def check(codes: np.ndarray) -> None:
    data = encode_varints(codes)
    assert data == slow_encode(codes.tolist())
    decoded = decode_varints(memoryview(data), codes.size)
    assert decoded.dtype == np.dtype("<u8") and decoded.tolist() == codes.tolist()
    cursor = Cursor(memoryview(data + b"\x01\x81"))
    assert read_varints(cursor, codes.size).tolist() == codes.tolist()
    assert cursor.pos == len(data)


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("size", range(1, 11))
def test_uniform_lengths(n, size):
    check(of_size(n, size))


@pytest.mark.parametrize("n", [*EDGES, CHUNK_ITEMS - 1, CHUNK_ITEMS, CHUNK_ITEMS + 1, 3 * CHUNK])
@pytest.mark.parametrize("bits", [8, 14, 20, 28, 50, 56, 57, 63])
def test_mixed_lengths(n, bits):
    check(mixed(n, bits))


def test_every_power_of_two():
    check(np.array(WORDS, "<u8"))
    check(np.array(WORDS * 3, "<u8")[::-1])


def test_long_items_at_the_borders_of_chunks():
    for gap in range(12):
        check(np.concatenate((of_size(gap, 1), of_size(CHUNK // 10 * 3, 10), of_size(3, 2))))


@pytest.mark.parametrize("n", [1, 50, 5000])
@pytest.mark.parametrize("size", range(2, 11))
def test_longer_forms_than_needed_are_read(n, size):
    for first, value in ((0x80, 0), (0x85, 5)):
        form = bytes([first, *[0x80] * (size - 2), 0])
        for tail in (b"", b"\x07"):
            data, want = form * n + tail, [value] * n + [7] * len(tail)
            assert decode_varints(memoryview(data), len(want)).tolist() == want
            assert read_varints(Cursor(memoryview(data)), len(want)).tolist() == want


@pytest.mark.parametrize("around", [0, 10, 100])
@pytest.mark.parametrize(
    "bad",
    [
        b"\x80" * 10 + b"\x00",
        b"\xff" * 9 + b"\x02",
        b"\xff" * 9 + b"\x7f",
        b"\xff" * 9 + b"\x81\x00",
        b"\x80" * 40 + b"\0",
    ],
)
def test_too_long_or_too_large(around, bad):
    data = memoryview(b"\x05" * around + bad + b"\x85\x01" * around)
    for read in (decode_varints, lambda data, n: read_varints(Cursor(data), n)):
        with pytest.raises(DecodeError):
            read(data, 2 * around + 1)


@pytest.mark.parametrize("n", [1, 2, 60, 5000, 50000])
def test_cut_and_counted_wrong(n):
    codes = mixed(n, 30)
    codes[-1] = 1 << 20
    data = encode_varints(codes)
    for cut in {0, 1, len(data) // 2, len(data) - 3, len(data) - 2, len(data) - 1} - {len(data)}:
        with pytest.raises(TruncatedError):
            decode_varints(memoryview(data[: max(0, cut)]), n)
        with pytest.raises(TruncatedError):
            read_varints(Cursor(memoryview(data[: max(0, cut)])), n)
    with pytest.raises(TruncatedError):
        decode_varints(memoryview(data), n + 1)
    with pytest.raises(DecodeError):
        decode_varints(memoryview(data), n - 1)
    with pytest.raises(DecodeError):
        decode_varints(memoryview(data + b"\x01"), n)


@pytest.mark.parametrize("n", [1 << 31, 1 << 62])
def test_huge_counts(n):
    for data in (b"", b"\x01" * 1000, b"\x80" * 200_000):
        with pytest.raises(TruncatedError):
            decode_varints(memoryview(data), n)
        with pytest.raises(TruncatedError):
            read_varints(Cursor(memoryview(data)), n)


@pytest.mark.parametrize("n", [0, 1, 1000, CHUNK_ITEMS + 1])
def test_zigzag(n):
    values = np.random.default_rng(1).integers(-(1 << 63), 1 << 63, n, "<i8", endpoint=False)
    codes = zigzag(values)
    assert codes.tolist() == [(v << 1 ^ v >> 63) & (1 << 64) - 1 for v in values.tolist()]
    assert unzigzag(codes).tolist() == values.tolist()


def test_zigzag_of_the_extremes():
    values = np.array([0, -1, 1, 2**63 - 1, -(2**63)], "<i8")
    assert zigzag(values).tolist() == [0, 1, 2, 2**64 - 2, 2**64 - 1]
    assert unzigzag(zigzag(values)).tolist() == values.tolist()


@given(st.lists(st.integers(0, 63).flatmap(lambda k: st.integers(0, 1 << k)), max_size=120))
def test_any_codes(codes):
    check(np.array(codes, "<u8"))


@given(
    st.binary(max_size=300) | st.lists(st.sampled_from([0, 1, 127, 128, 255]), max_size=300).map(bytes),
    st.integers(0, 300),
)
def test_any_bytes(data, n):
    def loop(cursor: Cursor) -> list[int]:
        return [cursor.uvarint() for _ in range(n)]

    try:
        expected = loop(Cursor(memoryview(data)))
    except NpserError:
        with pytest.raises(NpserError):
            read_varints(Cursor(memoryview(data)), n)
    else:
        cursor = Cursor(memoryview(data))
        assert read_varints(cursor, n).tolist() == expected
        assert decode_varints(memoryview(data[: cursor.pos]), n).tolist() == expected
