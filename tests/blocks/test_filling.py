"""Filling an array that exists gives what reading gives, in every encoding, and refuses what reading refuses."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from npser.blocks import choose, floats, ints
from npser.blocks.cursor import Cursor
from npser.blocks.filling import fill_floats, fill_ints
from npser.blocks.floats import read_floats
from npser.blocks.ints import read_ints
from npser.blocks.sink import Sink
from npser.errors import DecodeError
from npser.tags import FloatCode, IntCode

N = 70_000  # more than two pieces
RNG = np.random.default_rng(5)


def frame(sink: Sink, values: Any) -> None:
    ints.write_frame(sink, values, 0, 64)


INTS: dict[str, Any] = {
    "ramp": np.arange(N) * 3,
    "constant": np.full(N, 7),
    "bits": RNG.integers(0, 2, N),
    "3 bits below zero": RNG.integers(-3, 4, N),
    "12 bits": RNG.integers(0, 4000, N),
    "bytes": RNG.integers(0, 200, N),
    "wide": RNG.integers(-(2**62), 2**62, N),
    "41 bits": RNG.integers(0, 2**41, N),
    "long runs": np.repeat(RNG.integers(0, 10**9, N // 1000), 1000),
    "short runs": np.repeat(RNG.integers(0, 10**9, N // 20), 20),
    "walk": RNG.integers(-3, 4, N).cumsum() * 1000,
    "outliers": np.where(np.arange(N) % 500 == 3, 2**50, RNG.integers(0, 9, N)),
    "few values": RNG.choice(RNG.integers(0, 2**60, 9), N),
    "magnitudes": (2.0 ** RNG.uniform(0, 40, N)).astype("i8"),
    "short": np.array([5, 1, 5]),
    "one": np.array([9]),
    "none": np.array([], "i8"),
}

FLOATS: dict[str, Any] = {
    "random": RNG.random(N),
    "prices": RNG.integers(0, 10**4, N) / 100,
    "counts": RNG.integers(0, 900, N).astype("f8"),
    "counts that lack": np.where(RNG.random(N) < 0.02, np.nan, RNG.integers(-40, 900, N)),
    "float32": RNG.random(N).astype("f4").astype("f8"),
    "few values": RNG.choice(RNG.random(9), N),
    "runs": np.repeat(RNG.random(N // 100), 100),
    "constant": np.full(N, 0.1),
    "short": np.array([0.5, -0.0, np.nan]),
    "none": np.array([]),
}


def check(values: Any, write: Any, fill: Any, read: Any) -> int:
    sink = Sink()
    write(sink, values)
    out = np.full(values.size + 2, 77, values.dtype)
    for tail in (b"", b"\xff"):
        cursor = Cursor(memoryview(bytes(sink.out) + tail), 0, budget=10 * N)
        fill(cursor, out[1:-1])
        other = Cursor(memoryview(bytes(sink.out)), 0, budget=10 * N)
        assert read(other, values.size).tobytes() == out[1:-1].tobytes() == values.tobytes()
        assert (cursor.pos, cursor.budget) == (other.pos, other.budget)
        assert out[0] == out[-1] == 77
    for cut in (0, 1, 2, len(sink.out) // 2, len(sink.out) - 1):
        if cut < len(sink.out):
            with pytest.raises(DecodeError):
                fill(Cursor(memoryview(bytes(sink.out[:cut])), 0, budget=10 * N), out[1:-1])
    return sink.out[0]


@pytest.mark.parametrize("name", INTS)
def test_ints(name: str) -> None:
    check(INTS[name].astype("<i8"), choose.write_ints, fill_ints, read_ints)


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    check(FLOATS[name], choose.write_floats, fill_floats, read_floats)


def test_every_encoding_was_met() -> None:
    met = {check(values.astype("<i8"), choose.write_ints, fill_ints, read_ints) for values in INTS.values()}
    assert met >= set(IntCode) - {IntCode.PATCHED, IntCode.VARINT, IntCode.DICT}
    met = {check(values, choose.write_floats, fill_floats, read_floats) for values in FLOATS.values()}
    assert met == set(FloatCode) - {FloatCode.F64} | {FloatCode.F64}


@pytest.mark.parametrize(
    "write",
    [
        lambda sink, values: ints.write_delta(sink, int(values[0]), values[1:] - values[:-1], frame),
        lambda sink, values: ints.write_patched(sink, np.array([3, N - 1]), values[[3, N - 1]], np.where(np.isin(np.arange(N), [3, N - 1]), 0, values), frame),
        lambda sink, values: ints.write_dict(sink, np.unique(values), np.searchsorted(np.unique(values), values), frame),
        ints.write_varint,
        functools.partial(ints.write_frame, base=-(2**63), width=64),
    ],
)  # fmt: skip
def test_encodings_by_hand(write: Any) -> None:
    check(RNG.integers(0, 10**6, N), write, fill_ints, read_ints)


@pytest.mark.parametrize("width", [*range(1, 34), 40, 41, 57, 58, 63, 64])
def test_every_width(width: int) -> None:
    values = RNG.integers(0, 2**width - 1, N, dtype="u8", endpoint=True).view("i8")
    check(values, functools.partial(ints.write_frame, base=0, width=width), fill_ints, read_ints)


def test_a_frame_of_no_bits() -> None:
    check(np.full(N, -5), functools.partial(ints.write_frame, base=-5, width=0), fill_ints, read_ints)


def test_padding_bits_are_refused_with_their_place() -> None:
    block = bytes([IntCode.FRAME, 0, 3, 0xFF])
    with pytest.raises(DecodeError, match="padding") as filled:
        fill_ints(Cursor(memoryview(block)), np.empty(2, "<i8"))
    with pytest.raises(DecodeError) as read:
        read_ints(Cursor(memoryview(block)), 2)
    assert filled.value.pos == read.value.pos


def test_blocks_nest_no_deeper_than_readers_allow() -> None:
    block = bytes([IntCode.DELTA, 0] * 3 + [IntCode.CONST, 2])
    fill_ints(Cursor(memoryview(block)), np.empty(9, "<i8"))
    with pytest.raises(DecodeError, match="deeper"):
        fill_ints(Cursor(memoryview(bytes([IntCode.DELTA, 0]) + block)), np.empty(9, "<i8"))


def test_the_decimal_of_other_integers() -> None:
    sink = Sink()
    floats.write_decimal(sink, 2, np.arange(N), choose.write_ints)
    out = np.empty(N)
    fill_floats(Cursor(memoryview(bytes(sink.out)), 0, budget=N), out)
    assert out.tolist() == (np.arange(N) / 100).tolist()
