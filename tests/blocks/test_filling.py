"""Filling an array that exists gives what reading gives, in every encoding, and refuses what reading refuses."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from npser.blocks import choose, floats, ints
from npser.blocks.cursor import Cursor
from npser.blocks.filling import fill_floats, fill_ints
from npser.blocks.flat_ints import frame_pieces
from npser.blocks.floats import read_floats
from npser.blocks.ints import read_ints
from npser.blocks.sink import Sink
from npser.errors import DecodeError
from npser.tags import FloatCode, IntCode

N = 140_000  # more than two pieces
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


NARROW: dict[str, Any] = {
    "frame": RNG.integers(-3, 120, N),
    "bytes": RNG.integers(0, 127, N),
    "walk": np.clip(RNG.integers(-1, 2, N).cumsum(), -128, 127),
    "runs": np.repeat(RNG.integers(0, 100, N // 100), 100),
    "constant": np.full(N, -7),
    "one": np.array([9]),
    "none": np.array([], "i8"),
}


@pytest.mark.parametrize("dtype", ["<i1", "<i2", "<i4", "<u4", "<i8"])
@pytest.mark.parametrize("name", NARROW)
def test_integers_of_fewer_bytes(name: str, dtype: str) -> None:
    values = NARROW[name] if dtype[1] == "i" else np.abs(NARROW[name])
    for write in (choose.write_ints, _as_differences):
        sink = Sink()
        write(sink, values)
        out = np.full(values.size + 2, 77, dtype)
        fill_ints(Cursor(memoryview(bytes(sink.out)), 0, budget=N), out[1:-1])
        assert out[1:-1].tolist() == values.tolist()
        assert out[0] == out[-1] == 77


def _as_differences(sink: Sink, values: Any) -> None:
    if values.size:
        ints.write_delta(sink, int(values[0]), values[1:] - values[:-1], choose.write_ints)
    else:
        choose.write_ints(sink, values)


@pytest.mark.parametrize("dtype", ["<i1", "<u1", "<i2", "<u2", "<i4", "<u4"])
@pytest.mark.parametrize("write", [choose.write_ints, _as_differences, frame])
@pytest.mark.parametrize("where", [0, N // 2, N - 1])
def test_integers_out_of_range_are_refused(dtype: str, write: Any, where: int) -> None:
    info = np.iinfo(dtype)
    for odd in (int(info.min) - 1, int(info.max) + 1, -(2**63), 2**63 - 1):
        values = RNG.integers(0, 100, N)
        values[where] = odd
        sink = Sink()
        write(sink, values)
        with pytest.raises(DecodeError, match="out of the range"):
            fill_ints(Cursor(memoryview(bytes(sink.out)), 0, budget=N), np.empty(N, dtype))


def test_codes_outside_of_a_dictionary_are_refused() -> None:
    for codes in (np.full(N, 2), np.full(N, -1)):
        sink = Sink()
        ints.write_dict(sink, np.array([5, 6]), codes, frame)
        with pytest.raises(DecodeError, match="dictionary"):
            fill_ints(Cursor(memoryview(bytes(sink.out)), 0, budget=N), np.empty(N, "<i8"))


def test_who_fills_while_another_does_has_a_scratch_of_its_own() -> None:
    values = RNG.integers(0, 4000, (2, N))
    cursors = []
    for row in values:
        sink = Sink()
        ints.write_frame(sink, row, 0, 12)
        cursors.append(Cursor(memoryview(bytes(sink.out[1:]))))
    pieces = [frame_pieces(cursor, N, 1) for cursor in cursors]
    met: list[list[int]] = [[], []]
    for both in zip(*pieces, strict=True):
        for row, piece in zip(met, both, strict=True):
            row.extend(piece.tolist())
    assert met == values.tolist()
