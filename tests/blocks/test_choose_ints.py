"""The choice of integer encodings: always right, and what it is for the columns that we care for."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blocks.checks import EDGES, check_read, written
from npser.blocks.choose import write_ints, write_tight_ints
from npser.blocks.choose.codes import find_codes
from npser.blocks.choose.ints import write_scaled_ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import MAX_NESTING, read_compact_ints, read_int_list, read_ints
from npser.blocks.sink import Sink
from npser.tags import IntCode

LOW, HIGH = -(1 << 63), (1 << 63) - 1


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def words(n: int) -> np.ndarray:
    return np.frombuffer(rng().bytes(8 * n), "<i8")


def encoded(values: np.ndarray, sink: Sink | None = None) -> bytes:
    return written(lambda out: write_ints(out, values), sink)


def check(values: np.ndarray) -> bytes:
    """Comes back, as an array and as a list."""
    values = values.astype("<i8")
    data = encoded(values)
    assert read_ints(Cursor(memoryview(data)), values.size).tobytes() == values.tobytes()
    assert read_int_list(Cursor(memoryview(data)), values.size) == values.tolist()
    return data


def levels(data: bytes, n: int) -> int:
    """How deep the blocks of `data` nest, found by reading them."""
    deepest = 0

    class Watched(Cursor):
        depth = 0

    from npser.blocks import ints

    original = ints._read

    def watched(cursor, n, depth):
        nonlocal deepest
        deepest = max(deepest, depth)
        return original(cursor, n, depth)

    ints._read = watched
    try:
        ints.read_ints(Watched(memoryview(data)), n)
    finally:
        ints._read = original
    return deepest


COLUMNS = {
    "zeros": lambda n: np.zeros(n, "<i8"),
    "highest": lambda n: np.full(n, HIGH),
    "ramp": lambda n: np.arange(n) * 3 - 7,
    "wrapping ramp": lambda n: np.arange(n) * (1 << 60) + HIGH,
    "nearly a ramp": lambda n: np.append(np.arange(n - 1) * 3, 5) if n else np.arange(0),
    "ramp with a dent": lambda n: np.where(np.arange(n) == n // 2, -1, np.arange(n) * 5),
    "bits": lambda n: rng().integers(0, 2, n),
    "bytes": lambda n: rng().integers(0, 256, n),
    "below zero": lambda n: rng().integers(-100, 100, n),
    "below a million": lambda n: rng().integers(0, 1_000_000, n),
    "far away": lambda n: rng().integers(1 << 50, (1 << 50) + 300, n),
    "words": words,
    "extremes": lambda n: np.where(words(n) < 0, LOW, HIGH),
    "sorted": lambda n: np.sort(rng().integers(0, 40 * n + 1, n)),
    "falling": lambda n: -np.sort(rng().integers(0, 1000 * n + 1, n)),
    "sorted with jumps": lambda n: np.cumsum(np.where(rng().random(n) < 0.01, 1 << 40, rng().integers(0, 200, n))),
    "heavy tail": lambda n: np.exp(rng().exponential(4, n).clip(0, 43)).astype("<i8"),
    "outliers": lambda n: np.where(rng().random(n) < 0.01, 1 << 45, rng().integers(0, 250, n)),
    "outliers both ways": lambda n: np.where(rng().random(n) < 0.01, words(n), rng().integers(-100, 100, n)),
    "one outlier": lambda n: np.where(np.arange(n) == n // 3, LOW, rng().integers(0, 250, n)),
    "runs": lambda n: np.repeat(words(n // 12 + 1), 12)[:n],
    "short runs": lambda n: np.repeat(rng().integers(0, 9, n // 2 + 1), 2)[:n],
    "few large": lambda n: rng().choice(words(50), n),
    "few large, one late": lambda n: np.append(rng().choice(words(50), max(0, n - 1)), [17])[:n],
    "few above a byte": lambda n: rng().integers(200, 500, 60)[rng().integers(0, 60, n)],
    "few within a byte": lambda n: rng().integers(0, 50, n) * 5,
    "sorted few": lambda n: np.sort(rng().choice(words(50), n)),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n", [*EDGES, 3, 255, 256, 513, 5000, 40_000])
def test_comes_back(name, n):
    check(COLUMNS[name](n))


@pytest.mark.parametrize("name", COLUMNS)
def test_nests_no_deeper_than_is_read(name):
    for n in (100, 5000, 40_000):
        assert levels(encoded(COLUMNS[name](n).astype("<i8")), n) <= MAX_NESTING


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n", [1, 17, 1000])
def test_cut_anywhere(name, n):
    values = COLUMNS[name](n).astype("<i8")
    check_read(read_ints, encoded(values), n, values)


def choice(values: np.ndarray) -> IntCode:
    return IntCode(encoded(values.astype("<i8"))[0])


@pytest.mark.parametrize(
    ("name", "n", "code"),
    [
        ("zeros", 1, IntCode.CONST),
        ("zeros", 1_000, IntCode.CONST),
        ("ramp", 2, IntCode.AFFINE),
        ("ramp", 16, IntCode.AFFINE),
        ("ramp", 40_000, IntCode.AFFINE),
        ("wrapping ramp", 40_000, IntCode.AFFINE),
        ("ramp with a dent", 100, IntCode.FRAME),
        ("bytes", 10_000, IntCode.FRAME),
        ("below zero", 10_000, IntCode.FRAME),
        ("below a million", 10_000, IntCode.FRAME),
        ("far away", 10_000, IntCode.FRAME),
        ("words", 10_000, IntCode.FRAME),
        ("sorted", 10_000, IntCode.DELTA),
        ("falling", 10_000, IntCode.DELTA),
        ("sorted with jumps", 10_000, IntCode.DELTA),
        ("outliers", 10_000, IntCode.PATCHED),
        ("outliers both ways", 10_000, IntCode.PATCHED),
        ("one outlier", 10_000, IntCode.PATCHED),
        ("runs", 10_000, IntCode.RUNS),
        ("few large", 10_000, IntCode.DICT),
        ("few above a byte", 10_000, IntCode.DICT),
        ("few within a byte", 10_000, IntCode.FRAME),
        ("few large, one late", 10_000, IntCode.DICT),
    ],
)
def test_choice(name, n, code):
    assert choice(COLUMNS[name](n)) == code


def test_varint_for_heavy_tails():
    bits = rng().exponential(9, 20_000).clip(1, 62).astype("<i8")
    assert choice(rng().integers(0, np.left_shift(1, bits))) == IntCode.VARINT


@pytest.mark.parametrize(
    ("low", "high", "n", "base", "width"),
    [
        (0, 255, 100, 0, 8),
        (5, 255, 100, 0, 8),
        (0, 256, 100, 0, 16),
        (250, 300, 100, 250, 8),
        (-1, 254, 100, -1, 8),
        (0, 999_999, 300, 0, 32),
        (0, 999_999, 1_000, 0, 24),
        (0, 999_999, 10_000, 0, 24),  # four bits unused, and quick to read
        (0, 262_143, 10_000, 0, 24),
        (0, 131_071, 10_000, 0, 20),
        (-(1 << 31), (1 << 31) - 1, 1_000, -(1 << 31), 32),
        (-7, 1 << 31, 1_000, -7, 32),
        (-7, 1 << 30, 1_000, -(1 << 31), 32),  # all of them int32, so that readers need no more
        (1 << 50, (1 << 50) + 200, 1_000, 1 << 50, 8),
        (0, 15, 1_000, 0, 8),  # bits do not pay here
        (0, 1, 100_000, 0, 1),  # and pay here
        (0, 63, 65_535, 0, 8),
        (0, 1023, 65_535, 0, 12),
        (0, 511, 65_535, 0, 12),
        (0, 63, 65_536, 0, 6),  # of so many, nothing is left unused
        (0, 511, 65_536, 0, 9),
        (0, 31, 100_000, 0, 5),
        (0, (1 << 15) - 1, 65_535, 0, 16),  # but not for one in sixteen
        (LOW, HIGH, 1_000, 0, 64),
    ],
)
def test_frames(low, high, n, base, width):
    values = rng().integers(low, high, n, "<i8", endpoint=True)
    values[:2] = low, high
    cursor = Cursor(memoryview(encoded(values)))
    assert (cursor.u8(), cursor.svarint(), cursor.u8()) == (IntCode.FRAME, base, width)


@pytest.mark.parametrize(("high", "tight", "roomy"), [(999_999, 20, 24), (63, 6, 8), (255, 8, 8), (1 << 40, 41, 48)])
def test_tight_frames(high, tight, roomy):
    values = rng().integers(0, high, 10_000, "<i8", endpoint=True)
    values[:2] = 0, high
    for write, width in ((write_tight_ints, tight), (write_ints, roomy)):
        cursor = Cursor(memoryview(written(lambda out: write(out, values))))  # noqa: B023
        assert (cursor.u8(), cursor.svarint(), cursor.u8()) == (IntCode.FRAME, 0, width)
        assert np.array_equal(read_ints(Cursor(cursor.buf), values.size), values)


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("n", [*EDGES, 5000])
@pytest.mark.parametrize("write", [write_tight_ints, write_scaled_ints])
def test_other_writers(name, n, write):
    values = COLUMNS[name](n).astype("<i8")
    data = written(lambda out: write(out, values))
    assert read_int_list(Cursor(memoryview(data)), n) == values.tolist()
    compact = read_compact_ints(Cursor(memoryview(data)), n)
    assert compact.tolist() == values.tolist()
    assert compact.flags.writeable


def test_decimals_have_no_exceptions_of_their_own():
    values = np.where(np.arange(5000) % 99 == 0, 1 << 30, rng().integers(0, 250, 5000))
    assert written(lambda out: write_scaled_ints(out, values))[0] == IntCode.FRAME
    assert encoded(values)[0] == IntCode.PATCHED


def test_sizes_that_are_published():
    assert len(encoded(np.arange(1_000))) == len(encoded(np.arange(10_000))) == 3


def test_a_reader_draws_no_more_than_was_counted():
    for n in (1, 17, 100, 1000, 20_000):
        for make in COLUMNS.values():
            values = make(n).astype("<i8")
            write_ints(sink := Sink(), values)
            cursor = Cursor(memoryview(bytes(sink.out)), budget=sink.expanded)
            assert read_int_list(cursor, n) == values.tolist()


def test_other_layouts_of_the_array():
    values = words(2000).reshape(1000, 2)[:, 1]
    assert encoded(values) == encoded(values.copy())
    assert encoded(values.astype(">i8")) == encoded(values.copy())


def test_the_values_are_left_alone():
    for make in COLUMNS.values():
        values = make(5000).astype("<i8")
        values.setflags(write=False)
        check(values)


# Anything

i64 = st.integers(LOW, HIGH)
anything = st.one_of(
    st.lists(i64, max_size=50),
    st.lists(
        st.integers(0, 64).flatmap(lambda bits: st.integers(-(1 << max(0, bits - 1)), (1 << max(0, bits - 1)) - 1)),
        max_size=50,
    ),
    st.tuples(i64, i64, st.integers(0, 50)).map(
        lambda t: [(t[0] + i * t[1] - LOW) % (1 << 64) + LOW for i in range(t[2])]
    ),
    st.lists(st.tuples(st.sampled_from([0, -1, LOW, HIGH, 5]), st.integers(1, 40)), max_size=8).map(
        lambda runs: [v for v, k in runs for _ in range(k)]
    ),
    st.lists(st.integers(0, 9) | i64, max_size=50),
    st.lists(i64, max_size=50).map(sorted),
)


@given(anything)
def test_any_few(items):
    check(np.array(items, "<i8"))


@given(anything, st.integers(2, 300), st.integers(0, 3), i64)
@settings(max_examples=150, deadline=None)
def test_any_many(items, times, spread, seed):
    """Repeated, with some noise: long enough for every plan."""
    values = np.tile(np.array(items, "<i8"), times)
    noise = np.random.default_rng(seed % (1 << 32)).integers(0, 1 << 8 * spread, values.size)
    check(values + noise)


def test_every_constant_names_a_sweep():
    root = Path(__file__).parents[2]
    source = (root / "src/npser/blocks/choose/costs.py").read_text()
    sweeps = set(re.findall(r"^def (sweep_\w+)", (root / "benchmarks/thresholds.py").read_text(), re.M))
    named = set(re.findall(r"benchmarks/thresholds\.py::(sweep_\w+)", source))
    assert named and named <= sweeps


@pytest.mark.parametrize("distinct", [1, 2, 50, 3000, 20_000])
def test_codes(distinct):
    table = np.unique(words(distinct))
    values = rng().choice(table, 40_000)
    codes, lacking = find_codes(table, values)
    assert table[codes].tolist() == values.tolist() and not lacking.size
    strange = np.array([LOW, HIGH, 0, 1, 2], "<i8")
    codes, lacking = find_codes(table, np.concatenate((values, strange)))
    assert table[codes[:-5]].tolist() == values.tolist() and lacking.tolist() == strange.tolist()
    assert 0 <= codes.min() <= codes.max() < table.size
