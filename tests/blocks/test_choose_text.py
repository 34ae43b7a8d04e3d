"""The choice of an encoding for strings and byte strings, and that they come back whatever is chosen."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.checks import EDGES, check_read, written
from npser.blocks.binary import read_bytes
from npser.blocks.choose import write_bytes, write_text
from npser.blocks.choose.text import begin_text, sample
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.blocks.text import SEPARATORS, read_text
from npser.tags import BytesCode, TextCode

CONTROLS = "".join(SEPARATORS)
CATEGORIES = [f"category {i}" for i in range(40)]
any_text = st.text(st.characters(exclude_categories=()), max_size=12)


def emails(n: int) -> list[str]:
    draw = random.Random(n)
    return [f"user{draw.randrange(10**6)}.{i}@example{i % 17}.com" for i in range(n)]


COLUMNS = {
    "emails": emails,
    "categories": lambda n: random.Random(n).choices(CATEGORIES, k=n),
    "sorted categories": lambda n: sorted(random.Random(n).choices(CATEGORIES, k=n)),
    "pairs": lambda n: [f"item {i // 5}" for i in range(n)],
    "one": lambda n: ["the same"] * n,
    "empty": lambda n: [""] * n,
    "one character": lambda n: [chr(97 + i % 26) for i in range(n)],
    "digests": lambda n: [f"{random.Random(i).getrandbits(256):064x}" for i in range(n)],
    "not ASCII": lambda n: [f"{'äß€😀'[i % 4]}{i}" for i in range(n)],
    "NUL": lambda n: [f"{i}\0" for i in range(n)],
    "most separators": lambda n: [CONTROLS[:-1] + str(i) for i in range(n)],
    "all separators": lambda n: [f"{i}" if i else CONTROLS for i in range(n)],
    "one lone surrogate": lambda n: [f"{i}" if i != n // 2 else "\ud800" for i in range(n)],
    "surrogates in categories": lambda n: [("\ud83d", "\ude02", "x")[i % 3] * 9 for i in range(n)],
    "rare repeats": lambda n: [f"{i if i % 9 else 0}" for i in range(n)],
    "half missing": lambda n: ["" if i % 3 else f"a longer text {i}" for i in range(n)],
    "growing": lambda n: ["x" * i for i in range(n)],
}


def block(values: list[str]) -> bytes:
    return written(lambda sink: write_text(sink, values))


@pytest.mark.parametrize("n", [*EDGES, 2000])
@pytest.mark.parametrize("name", COLUMNS)
def test_text_comes_back(name, n):
    values = COLUMNS[name](n)
    data = block(values)
    if n > 1000:
        assert read_text(Cursor(memoryview(data)), n) == values
    else:
        check_read(read_text, data, n, values)


@pytest.mark.parametrize("n", [*EDGES, 2000])
@pytest.mark.parametrize("name", COLUMNS)
def test_bytes_come_back(name, n):
    values = [item.encode("utf-8", "surrogatepass") for item in COLUMNS[name](n)]
    data = written(lambda sink: write_bytes(sink, values))
    if n > 1000:
        assert read_bytes(Cursor(memoryview(data)), n) == values
    else:
        check_read(read_bytes, data, n, values)


@pytest.mark.parametrize(
    ("name", "code", "second"),
    [
        ("emails", TextCode.SPLIT, 0),
        ("digests", TextCode.SPLIT, 0),
        ("not ASCII", TextCode.SPLIT, 0),
        ("NUL", TextCode.SPLIT, 1),
        ("most separators", TextCode.SPLIT, 31),
        ("all separators", TextCode.LENGTHS, None),
        ("one lone surrogate", TextCode.WTF8, None),
        ("surrogates in categories", TextCode.DICT, 3),
        ("categories", TextCode.RADIX, 40),
        ("sorted categories", TextCode.DICT, 40),
        ("pairs", TextCode.DICT, None),
        ("one", TextCode.DICT, 1),
        ("one character", TextCode.RADIX, 26),
        ("rare repeats", TextCode.SPLIT, 0),
        ("half missing", TextCode.DICT, None),
    ],
)
def test_what_is_chosen(name, code, second):
    data = block(COLUMNS[name](10_000))
    assert data[0] == code
    assert second is None or data[1] == second


def test_dictionaries_are_small_and_shared():
    values = COLUMNS["categories"](10_000)
    data = block(values)
    assert len(data) < 7_400
    assert len(set(map(id, read_text(Cursor(memoryview(data)), 10_000)))) == 40
    assert len(block(COLUMNS["one"](10_000))) < 20
    assert len(block(COLUMNS["sorted categories"](10_000))) < 800


@pytest.mark.parametrize("n", [2047, 2048, 10_000])
def test_when_codes_are_digits(n):
    draw = random.Random(n)

    def code(values: list[str]) -> int:
        data = block(values)
        assert read_text(Cursor(memoryview(data)), len(values)) == values
        return data[0]

    for d in (5, 17, 40):
        values = draw.choices(CATEGORIES[:d], k=n)
        assert code(values) == (TextCode.RADIX if n >= 2048 else TextCode.DICT)
        assert code(sorted(values)) == TextCode.DICT
    assert code(draw.choices(CATEGORIES[:4], k=n)) == TextCode.DICT
    assert code(draw.choices([*CATEGORIES, "one more"], k=n)) == TextCode.DICT
    assert code([item if draw.random() < 0.1 else "common" for item in draw.choices(CATEGORIES[:30], k=n)]) == TextCode.DICT


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_given_back_belongs_behind(name):
    for n in (0, 1, 3, 17, 500, 3000):
        values = COLUMNS[name](n)
        sink = Sink()
        sink.u8(7)
        tail = begin_text(sink, values)
        assert bytes(sink.out) + tail == b"\x07" + block(values)


def test_much_text_is_not_given_back():
    values = [f"{i}" + "x" * 1_000_000 for i in range(6)]
    sink = Sink()
    assert begin_text(sink, values) == b""
    assert bytes(sink.out) == block(values)


@pytest.mark.parametrize("n", [401, 1000, 9999, 100_000, 5_000_000])
def test_samples_are_spread(n):
    places = sample(range(n))  # anything with a length and items
    assert len(set(places)) == len(places) >= 200
    assert 0 <= min(places) < n / 100
    assert n > max(places) > n * 0.9


def test_bytes_chosen():
    def code(values: list[bytes]) -> int:
        return written(lambda sink: write_bytes(sink, values))[0]

    assert code([item.encode() for item in emails(5000)]) == BytesCode.LENGTHS
    assert code([item.encode() for item in COLUMNS["categories"](5000)]) == BytesCode.DICT
    assert code([]) == BytesCode.LENGTHS


def test_few_items():
    assert block([]) == bytes([TextCode.LENGTHS]) + block([])[1:-1] + b"\0"
    assert block([""]) == bytes([TextCode.SPLIT, 0, 0])
    assert block(["x"] * 16)[0] == TextCode.SPLIT
    for values in ([CONTROLS], [CONTROLS, ""], ["\ud800"], ["\0"], ["", ""], ["\ud83d", "\ude02"]):
        check_read(read_text, block(values), len(values), values)


def test_a_surrogate_at_the_end_of_many():
    values = [*emails(5000), "\udfff"]
    data = block(values)
    assert data[0] == TextCode.WTF8
    assert read_text(Cursor(memoryview(data)), 5001) == values
    values = [*emails(5000), "\0", "\udfff", CONTROLS]
    sink = Sink()
    sink.u8(7)
    write_text(sink, values)
    assert sink.out[:2] == bytes([7, TextCode.WTF8])
    assert read_text(Cursor(memoryview(bytes(sink.out)), 1), 5003) == values


def test_a_control_character_at_the_end_of_many():
    for tail in ("\0", "\0\1\2", CONTROLS[:31], CONTROLS):
        values = [*emails(5000), tail]
        data = block(values)
        assert data[0] == (TextCode.SPLIT if tail != CONTROLS else TextCode.LENGTHS)
        assert read_text(Cursor(memoryview(data)), 5001) == values


def test_strings_of_a_megabyte():
    values = ["a" * (1 << 20), "é" * (1 << 20), "", "\U0001f600" * (1 << 18)]
    assert read_text(Cursor(memoryview(block(values))), 4) == values
    values *= 6
    data = block(values)
    assert data[0] == TextCode.DICT
    assert read_text(Cursor(memoryview(data)), 24) == values


def test_more_distinct_than_a_byte_can_count():
    for d in (256, 257, 3000):
        values = [f"value number {i % d}" for i in range(20_000)]
        data = block(values)
        assert data[0] == TextCode.DICT
        assert read_text(Cursor(memoryview(data)), 20_000) == values


@given(st.lists(any_text, max_size=40), st.sampled_from([1, 1, 20]))
def test_any_text(values, repeats):
    values = values * repeats
    assert read_text(Cursor(memoryview(block(values))), len(values)) == values


@given(st.lists(st.text(st.sampled_from(CONTROLS), max_size=40), min_size=1, max_size=40))
def test_text_of_separators(values):
    check_read(read_text, block(values), len(values), values)


@given(st.lists(st.binary(max_size=12), max_size=40), st.sampled_from([1, 1, 20]))
def test_any_bytes(values, repeats):
    values = values * repeats
    data = written(lambda sink: write_bytes(sink, values))
    assert read_bytes(Cursor(memoryview(data)), len(values)) == values
