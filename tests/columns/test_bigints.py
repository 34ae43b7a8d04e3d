"""Integers of any size: the shortest form, and only that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.checks import EDGES, HUGE, check_garbage, check_read, written
from npser.blocks.choose import write_ints
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns.bigints import read_bigints, write_bigints
from npser.errors import DecodeError, NpserError

SIDES = [
    s * ((1 << k) + d)
    for k in (0, 7, 8, 15, 16, 31, 32, 53, 63, 64, 65, 127, 128, 1000)
    for d in (-1, 0, 1)
    for s in (1, -1)
]


def block(*items: bytes) -> bytes:
    sink = Sink()
    sink.u8(0)
    write_ints(sink, np.array([len(item) for item in items], "<i8"))
    return bytes(sink.out) + b"".join(items)


def test_both_sides_of_every_power():
    check_read(read_bigints, written(lambda sink: write_bigints(sink, SIDES)), len(SIDES), SIDES)
    for value in SIDES:
        data = written(lambda sink, value=value: write_bigints(sink, [value]))
        check_read(read_bigints, data, 1, [value])
        size = next(k for k in range(1, 200) if -(1 << 8 * k - 1) <= value < 1 << 8 * k - 1)
        assert data == block(value.to_bytes(size, "little", signed=True))


@pytest.mark.parametrize("n", EDGES)
def test_sizes(n):
    values = [(-3) ** (i % 150) for i in range(n)]
    check_read(read_bigints, written(lambda sink: write_bigints(sink, values)), n, values)


def test_four_hundred_thousand_bytes():
    value = -(1 << 3_200_000) + 12345
    check_read(read_bigints, written(lambda sink: write_bigints(sink, [value, value])), 2, [value, value])


@pytest.mark.parametrize(
    "form", [b"", b"\x00\x00", b"\x7f\x00", b"\xff\xff", b"\x80\xff", b"\x01" + b"\x00" * 20, b"\x81" + b"\xff" * 20]
)
def test_other_forms_are_refused(form):
    with pytest.raises(DecodeError):
        read_bigints(Cursor(memoryview(block(form))), 1)
    with pytest.raises(DecodeError):
        read_bigints(Cursor(memoryview(block(b"\x01", form, b"\x02"))), 3)


@pytest.mark.parametrize("form", [b"\x00", b"\xff", b"\x80\x00", b"\x7f\xff", b"\x80"])
def test_shortest_forms_are_read(form):
    assert read_bigints(Cursor(memoryview(block(form))), 1) == [int.from_bytes(form, "little", signed=True)]


def test_hostile_lengths():
    for lengths in ([-1], [1 << 62], [-5, 6], [1, 0], [1 << 62, 1 << 62]):
        sink = Sink()
        sink.u8(0)
        write_ints(sink, np.array(lengths, "<i8"))
        with pytest.raises(DecodeError):
            read_bigints(Cursor(memoryview(bytes(sink.out) + b"\x01")), len(lengths))
    for data in (b"", b"\x00", b"\x01\x01\x02", b"\x00\x01\x02", b"\x07"):
        with pytest.raises(NpserError):
            read_bigints(Cursor(memoryview(data)), HUGE)


@given(st.lists(st.integers() | st.integers(-(1 << 300), 1 << 300), max_size=40))
def test_any_integers(values):
    data = written(lambda sink: write_bigints(sink, values))
    assert read_bigints(Cursor(memoryview(data)), len(values)) == values


@given(st.binary(max_size=60), st.integers(0, 20))
def test_any_bytes(data, n):
    check_garbage(read_bigints, b"\x00" + data, n)
    check_garbage(read_bigints, data, n)
