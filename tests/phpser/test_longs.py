"""Integers, both ways, at every width and count."""

from __future__ import annotations

import random

import numpy as np
import pytest

from npser.blocks.cursor import Cursor
from npser.blocks.varint import zigzag
from npser.errors import DecodeError, LimitError
from npser.phpser import longs
from npser.phpser.dictionary import varint, zigzag_varint

EDGES = (0, 1, 2, 7, 8, 9, 23, 24, 25, 40, 41, 127, 128, 129, 1000, 16384, 16385, 20000)
LIMITS = [0, -1, 1, 63, 64, -64, -65, 8191, 8192, 2**20, 2**27 - 1, 2**27, -(2**27), -(2**27) - 1, 2**62, 2**63 - 1, -(2**63)]


def run(values: list[int]) -> bytes:
    return b"".join(map(zigzag_varint, values))


def check(values: list[int]) -> None:
    data = run(values)
    for tail in (b"", b"\x00", b"\xff" * 20):
        cursor = Cursor(memoryview(b"\x07" + data + tail), 1)
        assert longs.read_longs(cursor, len(values)) == values
        assert cursor.pos == len(data) + 1
    array = np.array(values, "<i8")
    assert longs.plain_run(array) == data
    steps = longs.differences(array) if len(values) else array
    delta = run(steps.tolist())
    cursor = Cursor(memoryview(delta + b"\x80"))
    assert longs.read_delta(cursor, len(values)) == values
    assert cursor.pos == len(delta)
    assert longs.sizes(zigzag(array)) == len(data)
    if values:
        assert longs.write_run(array) == ((True, delta) if len(delta) < len(data) else (False, data))


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize("bits", [1, 6, 7, 13, 14, 20, 27, 28, 35, 62])
def test_round_trip(n: int, bits: int) -> None:
    rng = random.Random(n * 64 + bits)
    check([rng.randrange(-(1 << bits), 1 << bits) for _ in range(n)])


@pytest.mark.parametrize("n", [1, 2, 8, 25, 41, 1000])
@pytest.mark.parametrize("value", LIMITS)
def test_extremes(n: int, value: int) -> None:
    check([value] * n)
    check([0] * (n - 1) + [value])
    check([value] + [5] * (n - 1))


@pytest.mark.parametrize("n", [5, 30, 1000])
def test_cut_at_every_length(n: int) -> None:
    data = run([i * 77 for i in range(n)])
    for cut in range(0, len(data), max(1, len(data) // 40)):
        for read in (longs.read_longs, longs.read_delta):
            with pytest.raises(DecodeError):
                read(Cursor(memoryview(data[:cut])), n)


def test_longer_forms_than_needed() -> None:
    for n in (3, 100):
        data = (b"\x82\x00" + b"\x82\x80\x80\x00" + b"\x82\x80\x80\x80\x80\x80\x80\x80\x80\x00") * n
        assert longs.read_longs(Cursor(memoryview(data)), 3 * n) == [1] * (3 * n)
        with pytest.raises(DecodeError):
            longs.read_longs(Cursor(memoryview(data[:-3] + b"\x80" * 20)), 3 * n)
        with pytest.raises(DecodeError):
            longs.read_longs(Cursor(memoryview(data[:-1] + b"\x02")), 3 * n)


@pytest.mark.parametrize(
    ("base", "step", "n", "wanted"),
    [
        (5, 0, 4, [5, 5, 5, 5]),
        (10, -3, 4, [10, 7, 4, 1]),
        (2**63 - 2, 1, 4, [2**63 - 2, 2**63 - 1, -(2**63), -(2**63) + 1]),
        (-(2**63), -(2**63), 4, [-(2**63), 0, -(2**63), 0]),
        (2**63 - 1, 5, 1, [2**63 - 1]),
        (7, 7, 0, []),
    ],
)
def test_affine(base: int, step: int, n: int, wanted: list[int]) -> None:
    data = zigzag_varint(base) + zigzag_varint(step)
    assert longs.expand_affine(Cursor(memoryview(data)), n) == wanted
    with pytest.raises(DecodeError):
        longs.expand_affine(Cursor(memoryview(data[:-1])), n)
    if n:
        with pytest.raises(LimitError):
            longs.expand_affine(Cursor(memoryview(data), budget=n - 1), n)


def test_varints() -> None:
    for code in (0, 1, 127, 128, 16383, 16384, 2**63, 2**64 - 1):
        assert Cursor(memoryview(varint(code))).uvarint() == code
