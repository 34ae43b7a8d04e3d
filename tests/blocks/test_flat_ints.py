"""Encodings of integers that hold no other block: by their own writers, read as an array and as a list."""

from __future__ import annotations

import numpy as np
import pytest

from blocks.checks import EDGES, array, check_ints, frame, refused, svarint, wrapped, written
from npser.blocks import flat_ints as ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import read_int_list, read_ints

LOW, HIGH = -(1 << 63), (1 << 63) - 1
RNG = np.random.default_rng(3)


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("step", [0, 1, -1, 7, -(1 << 40), HIGH, LOW])
@pytest.mark.parametrize("base", [0, -1, HIGH, LOW])
def test_affine(n, step, base):
    data = written(lambda sink: ints.write_affine(sink, base, step, n))
    assert data == b"\x00" + svarint(base) + svarint(step)
    check_ints(data, n, [wrapped(base + i * step) for i in range(n)])


def test_affine_step_is_taken_modulo():
    data = written(lambda sink: ints.write_affine(sink, 5, (1 << 64) - 2, 3))
    check_ints(data, 3, [5, 3, 1])


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("value", [0, -1, HIGH, LOW])
def test_const(n, value):
    data = written(lambda sink: ints.write_const(sink, value, n))
    assert data == b"\x01" + svarint(value)
    check_ints(data, n, [value] * n)


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
        check_ints(data, n, values)


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
        check_ints(data, values.size, values.tolist())


def test_a_frame_does_not_share_a_writable_buffer():
    data = bytearray(frame([1, 2, 3] * 10))
    read_ints(Cursor(memoryview(data)), 30)[:] = 0
    assert data == frame([1, 2, 3] * 10)


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("bits", [6, 7, 20, 48, 63])
def test_varint(n, bits):
    values = RNG.integers(-(1 << bits), 1 << bits, n, "<i8", endpoint=False) >> RNG.integers(0, bits, n)
    values[:2] = [HIGH, LOW][: min(n, 2)]
    data = written(lambda sink: ints.write_varint(sink, values))
    check_ints(data, n, values.tolist())


def test_long_varint():
    values = RNG.integers(-1000, 1000, 100_000)
    data = written(lambda sink: ints.write_varint(sink, values))
    assert read_ints(Cursor(memoryview(data)), values.size).tolist() == values.tolist()


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
