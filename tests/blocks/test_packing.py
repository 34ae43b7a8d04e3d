"""Packed integers: every width, every size, against an implementation bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.blocks import packing
from npser.blocks.packing import HALF, PLAIN, check_packed, unpack_bits, unpack_piece
from npser.blocks.scratch import CHUNK, CHUNK_GROUPS, GROUP, WORD, Scratch
from npser.errors import DecodeError, NpserError, TruncatedError

EDGES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 1000)


def pack_bits(values: np.ndarray, width: int) -> bytes:
    return bytes(packing.pack_bits(values, width))


def slow_pack(values: list[int], width: int) -> bytes:
    bits = sum(value << i * width for i, value in enumerate(values))
    return bits.to_bytes((len(values) * width + 7) // 8, "little")


def some(n: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(width * 1000 + n)
    values = rng.integers(0, 1 << width, n, "<u8") if width < 64 else np.frombuffer(rng.bytes(8 * n), "<u8").copy()
    values[:2] = [(1 << width) - 1, 0][: min(n, 2)]
    return values


@pytest.mark.parametrize("width", range(1, 65))
def test_every_width_and_size(width):
    for n in EDGES:
        values = some(n, width)
        data = pack_bits(values, width)
        assert data == slow_pack(values.tolist(), width)
        unpacked = unpack_bits(memoryview(data), n, width)
        assert unpacked.tolist() == values.tolist()
        assert unpacked.dtype == PLAIN.get(width, HALF if width <= 32 else WORD)
        assert unpack_bits(memoryview(data), n, width, WORD).tolist() == values.tolist()


@pytest.mark.parametrize("width", [1, 3, 8, 10, 13, 20, 24, 29, 30, 31, 33, 56, 57, 58, 63, 64])
@pytest.mark.parametrize("extra", [-1, 0, 1, 9])
def test_more_than_a_chunk(width, extra):
    n = CHUNK_GROUPS * GROUP + extra
    values = some(n, width)
    data = pack_bits(values, width)
    assert len(data) == (n * width + 7) // 8
    assert unpack_bits(memoryview(data), n, width).tolist() == values.tolist()


@pytest.mark.parametrize("width", range(1, 65))
@pytest.mark.parametrize("n", [1, 63, CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 77, 2 * CHUNK])
def test_piece_by_piece(width, n):
    values = some(n, width)
    data = memoryview(pack_bits(values, width))
    check_packed(data, n, width)
    scratch = Scratch.borrow()
    for at in range(0, n, CHUNK):
        piece = unpack_piece(data, at, min(CHUNK, n - at), width, scratch)
        assert np.array_equal(piece, values[at : at + CHUNK])
    scratch.give_back()


@pytest.mark.parametrize("width", [1, 5, 8, 12, 24, 40, 57, 61, 64])
def test_strided_values_and_odd_addresses(width):
    values = some(200, width)[::2]
    data = pack_bits(values, width)
    assert data == slow_pack(values.tolist(), width)
    for shift in range(1, 8):
        view = memoryview(b"\xff" * shift + data + b"\xff")[shift:-1]
        assert unpack_bits(view, 100, width).tolist() == values.tolist()


@pytest.mark.parametrize("width", range(1, 65))
def test_wrong_length(width):
    data = pack_bits(some(9, width), width)
    with pytest.raises(TruncatedError):
        unpack_bits(memoryview(data[:-1]), 9, width)
    with pytest.raises(DecodeError):
        unpack_bits(memoryview(data + b"\0"), 9, width)
    with pytest.raises(TruncatedError):
        unpack_bits(memoryview(data), 1 << 62, width)


@pytest.mark.parametrize("width", [w for w in range(1, 65) if w % 8])
def test_padding_must_be_zero(width):
    for n in (1, 3, 7, 9):
        data = bytearray(pack_bits(some(n, width), width))
        for bit in range(n * width % 8 or 8, 8):
            data[-1] ^= 1 << bit
            with pytest.raises(DecodeError, match="padding"):
                unpack_bits(memoryview(data), n, width)
            data[-1] ^= 1 << bit


@given(st.integers(1, 64).flatmap(lambda w: st.tuples(st.just(w), st.lists(st.integers(0, (1 << w) - 1), max_size=40))))
def test_any_values(case):
    width, values = case
    data = pack_bits(np.array(values, "<u8"), width)
    assert data == slow_pack(values, width)
    assert unpack_bits(memoryview(data), len(values), width).tolist() == values


@given(st.binary(max_size=80), st.integers(0, 100), st.integers(1, 64))
def test_any_bytes(data, n, width):
    try:
        values = unpack_bits(memoryview(data), n, width)
    except NpserError:
        return
    assert pack_bits(values.astype("<u8"), width) == data
