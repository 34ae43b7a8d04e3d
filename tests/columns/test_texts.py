"""Lists that may be all strings: what proves it, the codes by reference, and that sharing never changes the bytes."""

from __future__ import annotations

import random
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.blocks.choose import write_text
from npser.blocks.choose.text import sample
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns import texts
from npser.columns.kinds import read_column
from npser.columns.texts import are_all, encode_if_text, number_by_reference

NAMES = [f"category {i}" for i in range(40)]
shares = pytest.mark.skipif(sys.implementation.name != "cpython", reason="marshal shares objects in its own way")


class Text(str):
    __slots__ = ()


class Number(int):
    pass


def own(values: list[str]) -> list[str]:
    """The same values, each an object of its own."""
    return [item.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass") for item in values]


def plain(values: list[str]) -> bytes:
    sink = Sink()
    sink.u8(0x1B)
    write_text(sink, values)
    return bytes(sink.out)


def encoded(values: list[str]) -> bytes | None:
    sink = Sink()
    sink.u8(7)
    payload = encode_if_text(sink, values, len(values))
    if payload is None:
        assert bytes(sink.out) == b"\x07"
        return None
    assert payload[0] == 7
    return payload[1:]


def numbered(values: list[str]) -> list[str] | None:
    """What the codes stand for, if there are any."""
    found = number_by_reference(values, sample(values))
    if found is None:
        return None
    distinct, codes = found
    assert len(set(distinct)) == len(distinct)
    assert codes.dtype == np.uint8
    return [distinct[code] for code in codes.tolist()]


COLUMNS = {
    "few": lambda n: random.Random(n).choices(NAMES, k=n),
    "two": lambda n: random.Random(n).choices(["yes", "no"], k=n),
    "one": lambda n: ["the same"] * n,
    "sorted": lambda n: sorted(random.Random(n).choices(NAMES, k=n)),
    "uneven": lambda n: random.Random(n).choices(NAMES, [2.0**-i for i in range(40)], k=n),
    "a rare one at the end": lambda n: [*["a", "b"] * (n // 2), "c"],
    "rare ones": lambda n: [f"{i}" if i % (n // 9 + 1) == 5 else "common" for i in range(n)],
    "rare ones, twice": lambda n: [NAMES[i % 7] if i % (n // 5 + 1) == 5 else "common" for i in range(n)],
    "many rare ones": lambda n: [f"{i}" if i % 30 == 5 else "common" for i in range(n)],
    "empty": lambda n: ["", "x"] * (n // 2),
    "long": lambda n: random.Random(n).choices(["a" * 255, "b" * 256, "c" * 1000, "é" * 300], k=n),
    "not ASCII": lambda n: random.Random(n).choices(["é", "€", "\U0001f600", "\0", "r\0\0\0\0"], k=n),
    "surrogates": lambda n: random.Random(n).choices(["\ud800", "\udfff", "a"], k=n),
    "of references": lambda n: random.Random(n).choices(["r\0\0\0\0" * i for i in range(9)], k=n),
    "150": lambda n: random.Random(n).choices([f"n{i:03}" for i in range(150)], k=n),
    "3000": lambda n: random.Random(n).choices([f"n{i:04}" for i in range(3000)], k=n),
    "distinct": lambda n: [f"user{i}" for i in range(n)],
}


@pytest.mark.parametrize("n", [1, 2, 17, 1023, 1024, 5000, 20_000])
@pytest.mark.parametrize("name", COLUMNS)
def test_sharing_never_changes_the_bytes(name, n):
    values = COLUMNS[name](n) or ["x"]
    expected = plain(values)
    assert encoded(values) == expected
    assert encoded(own(values)) == expected
    half = [a if i % 2 else b for i, (a, b) in enumerate(zip(values, own(values), strict=True))]
    assert encoded(half) == expected
    assert read_column(Cursor(memoryview(expected), budget=1 << 20), len(values)) == values


@shares
@pytest.mark.parametrize("name", ["few", "two", "one", "sorted", "rare ones", "long", "not ASCII", "surrogates"])
def test_few_objects_are_numbered(name):
    values = COLUMNS[name](5000)
    assert numbered(values) == values
    assert numbered(own(values)) in (None, values)


@shares
def test_objects_met_late():
    for extra in (1, 2, texts.MAX_ODD - 1):
        values = [*["a", "b"] * 3000, *(f"{i}" for i in range(extra)), "a"]
        assert numbered(values) == values
        values[5000:5000] = [values[-2], "0" + "", *own(["a", "b", "a"])]  # some again, some equal to what is known
        assert numbered(values) in (None, values)
        assert encoded(values) == plain(values)
    values = [*["a", "b"] * 3000, *(f"{i}" for i in range(400)), "a"]
    assert numbered(values) is None
    assert encoded(values) == plain(values)


@pytest.mark.parametrize("odd", [1, None, b"a", True, 1.5, Text("a"), [], ("a",), object(), Text, "a".join])
@pytest.mark.parametrize("at", [0, 700, 2999])
def test_one_that_is_no_string(odd, at):
    for values in (COLUMNS["few"](3000), COLUMNS["distinct"](3000), ["a"] * 3000):
        values[at] = odd
        assert encoded(values) is None
        assert numbered(values) is None
        values[at // 2] = odd
        assert encoded(values) is None


def test_subclasses_that_are_equal():
    values = ["a", "b"] * 2000
    values[1777] = Text("b")
    assert encoded(values) is None
    assert encoded([Text("a")] * 4000) is None
    assert encoded([Text("a")]) is None


def test_a_length_that_is_not_that_of_the_list():
    for values in (["a", "b"] * 2000, COLUMNS["distinct"](3000), ["a"]):
        for n in (len(values) - 1, len(values) + 1):
            if n > 0:
                assert encode_if_text(Sink(), values, n) is None


def test_lists_that_others_change():
    values = random.Random(1).choices(NAMES, k=40_000)
    stop = threading.Event()

    def change() -> None:
        draw = random.Random(2)
        while not stop.is_set():
            values[draw.randrange(1000)] = draw.choice(NAMES)
            values.append(f"{draw.random()}")
            values.pop()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(30):
            payload = encode_if_text(Sink(), values, 40_000)
            if payload is not None:
                items = read_column(Cursor(memoryview(payload), budget=1 << 20), 40_000)
                assert set(items) <= set(NAMES)
                assert items[1000:39_990] == values[1000:39_990]
    finally:
        stop.set()
        thread.join()


def test_are_all():
    assert are_all(["a"], str)
    assert are_all(iter("abc"), str)
    assert are_all({"a": 1, "b": 2}, str)
    assert not are_all([], str)
    assert not are_all(["a", Text("b")], str)
    assert not are_all([Text("b")], str)
    assert not are_all([True], int)
    assert not are_all([1, Number(2)], int)
    assert not are_all([1, True], int)


@given(
    st.lists(st.text(st.characters(exclude_categories=()), max_size=6), min_size=1, max_size=12),
    st.lists(st.text(st.sampled_from("r\0zZ\x01é"), max_size=6), max_size=6),
    st.randoms(use_true_random=False),
)
def test_any_text(few, rare, draw):
    values = draw.choices(few, k=1500)
    for item in rare:
        values[draw.randrange(1500)] = item
    expected = plain(values)
    assert encoded(values) == expected
    assert encoded(own(values)) == expected
