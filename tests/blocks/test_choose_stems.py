"""Stems: found where they pay, and what is written with them comes back."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.blocks import text
from npser.blocks.choose import write_text
from npser.blocks.choose.stems import MIN_ITEMS, MIN_SHARE, find_stem
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.errors import DecodeError
from npser.tags import TextCode
from npser.weights import TEXT_ITEM

URLS = [f"https://api.example.org/repos/someone/something/issues/{i}" for i in range(40)]


def round_trip(values: list[str]) -> int:
    """The code of the block that comes back as it was."""
    write_text(sink := Sink(), values)
    cursor = Cursor(memoryview(bytes(sink.out)))
    assert text.read_text(cursor, len(values)) == values
    assert cursor.left == 0
    return sink.out[0]


def test_the_stem_is_what_all_have_in_common() -> None:
    assert find_stem(URLS) == "https://api.example.org/repos/someone/something/issues/"
    assert find_stem(URLS[: MIN_ITEMS - 1]) is None
    assert find_stem([]) is None and find_stem([""] * 20) is None


def test_a_few_others_do_not_hide_it() -> None:
    values = [f"name {i}" for i in range(30)] + URLS
    random.Random(1).shuffle(values)
    assert find_stem(values) == "https://api.example.org/repos/someone/something/issues/"
    assert round_trip(values) == TextCode.STEM


def test_what_saves_too_little_is_no_stem() -> None:
    tails = [f"/shared/folder/x{i}" + "y" * 200 for i in range(20)]
    assert find_stem(tails) is None
    assert MIN_SHARE < 1


@pytest.mark.parametrize("n", [8, 9, 255, 256, 257, 1000, 5000])
def test_any_number_of_strings(n: int) -> None:
    assert round_trip([f"/var/lib/things/of/mine/{i * 7919 % n}" for i in range(n)]) in (TextCode.STEM, TextCode.DICT)


@pytest.mark.parametrize("odd", ["\0", "\1", "a\0b", "a\1b"])
def test_separators_and_marks_in_the_strings(odd: str) -> None:
    assert round_trip([*URLS, odd]) != TextCode.STEM


def test_stems_of_any_letters() -> None:
    assert round_trip([f"Straße nach Gößweinstein, Nummer {i}" for i in range(30)]) == TextCode.STEM
    assert round_trip([f"\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600"
                       f"\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600{i}"
                       for i in range(30)]) == TextCode.STEM
    assert round_trip([f"https://api.example.org/\ud800{i}" for i in range(30)]) == TextCode.WTF8


@given(st.text(max_size=40), st.lists(st.text(max_size=5), min_size=1, max_size=30))
def test_any_stem_and_any_tails(stem: str, tails: list[str]) -> None:
    values = [stem + tail for tail in tails]
    sink = Sink()
    try:
        written = text.write_stem(sink, values, stem)
    except UnicodeEncodeError:
        return
    if not written:
        assert not sink.out
        return
    cursor = Cursor(memoryview(bytes(sink.out)))
    assert text.read_text(cursor, len(values)) == values
    whole = bytes(sink.out)
    for cut in range(len(whole)):
        with pytest.raises(DecodeError):
            text.read_text(Cursor(memoryview(whole[:cut])), len(values))


def test_a_stem_draws_from_the_budget() -> None:
    write_text(sink := Sink(), URLS)
    data = memoryview(bytes(sink.out))
    drawn = Cursor(data, budget=1 << 20)
    text.read_text(drawn, len(URLS))
    spent = (1 << 20) - drawn.budget
    assert sink.expanded == 40 * len(find_stem(URLS) or "")
    assert spent == sink.expanded + TEXT_ITEM * len(URLS)
    with pytest.raises(DecodeError, match="raise Limits"):
        text.read_text(Cursor(data, budget=spent - 1), len(URLS))
