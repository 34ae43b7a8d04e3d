"""Long columns, which rows take a stretch at a time: the values are those of a list, and damage is told as ever."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

import npser
from npser import DecodeError
from npser.blocks.cursor import Cursor
from npser.blocks.ints import read_int_cells, read_int_list
from npser.blocks.sink import Sink
from npser.blocks.stretches import LONG, STRETCH, Stretches, evenly, side_by_side
from npser.blocks.text import read_text, read_text_cells
from npser.columns.kinds import BODY_CELLS, READERS, write_column
from npser.decoder import weigh
from npser.shapes.build import SHAPES
from npser.tags import Kind
from same import same

N = LONG + STRETCH + 5
Value = Callable[[random.Random, int], Any]

BITS = (1, 3, 8, 12, 16, 21, 33, 63)
VALUES: dict[str, Value] = {
    **{f"ints of {bits} bits": lambda dice, _, bits=bits: dice.getrandbits(bits) for bits in BITS},  # type: ignore[misc]
    "ints from a base": lambda dice, _: dice.randrange(-500, 3000),
    "ints far below zero": lambda dice, _: dice.randrange(-(1 << 63), -(1 << 63) + 100),
    "one int": lambda _, __: 7,
    "a range": lambda _, at: 3 * at - 7,
    "runs": lambda _, at: at // 100 * 37 % 5000,
    "rising": lambda dice, at: 10 * at + dice.randrange(10),
    "outliers": lambda dice, at: 1 << 40 if at % 5000 == 0 else dice.randrange(50),
    "few None": lambda dice, at: None if at % 500 == 0 else dice.randrange(9000),
    "many None": lambda dice, _: None if dice.random() < 0.4 else dice.randrange(2000),
    "floats and None": lambda dice, at: None if at % 3 == 0 else dice.random(),
    "texts and None": lambda dice, at: None if at % 3 == 0 else dice.choice("abc"),
    "two texts": lambda dice, _: dice.choice(["no", "yes"]),
    "forty texts": lambda dice, _: f"category {dice.randrange(40)}",
    "a thousand texts": lambda dice, _: f"Ünicode {dice.randrange(1000)}",
    "one text": lambda _, __: "same",
    "distinct texts": lambda _, at: f"{at * 7919:x}",
    "surrogates": lambda dice, _: dice.choice(["\ud800", "x"]),
    "floats": lambda dice, _: dice.random(),
    "bools": lambda dice, _: dice.random() < 0.5,
    "ints and texts": lambda _, at: at if at % 2 else "odd",
}


@cache
def column(name: str) -> list[Any]:
    """N values, made when a test wants them."""
    dice, value = random.Random(name), VALUES[name]
    return [value(dice, at) for at in range(N)]


@dataclass
class Pair:
    a: Any
    b: Any


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("n", [LONG - 1, LONG, N])
def test_cells_are_the_values_of_the_list(name: str, n: int):
    values = column(name)[:n]
    sink = Sink()
    write_column(sink, values, set(map(type, values)))
    data, kind = memoryview(bytes(sink.out)), sink.out[0]
    for reader in (READERS[kind], BODY_CELLS.get(kind, READERS[kind])):
        cursor = Cursor(data, 1)
        assert same(list(reader(cursor, n)), values)
        assert not cursor.left
    draws = []
    for readers in (READERS, BODY_CELLS):
        cursor = Cursor(data, 1, len(data), 1 << 40)
        readers.get(kind, READERS[kind])(cursor, n)
        draws.append(cursor.budget)
    assert draws[0] == draws[1]


def test_long_columns_are_not_lists():
    for name in ("ints of 12 bits", "few None", "many None", "forty texts", "a thousand texts"):
        sink = Sink()
        write_column(sink, column(name), set(map(type, column(name))))
        cells = BODY_CELLS[sink.out[0]](Cursor(memoryview(bytes(sink.out)), 1), N)
        assert type(cells) is Stretches, name


def zipped(*names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*map(column, names), strict=True)


ROWS: dict[str, Callable[[], Any]] = {
    "dicts": lambda: [dict(zip(VALUES, row, strict=True)) for row in zipped(*VALUES)],
    "one key": lambda: [{"a": value} for value in column("ints of 12 bits")],
    "tuples": lambda: list(zipped("ints of 12 bits", "few None", "forty texts")),
    "objects": lambda: [Pair(*row) for row in zipped("ints of 3 bits", "two texts")],
    "maps": lambda: dict(zipped("distinct texts", "ints of 12 bits")),
    "keys that vary": lambda: [{"a": value, "b": 1} if value else {"a": value} for value in column("ints of 3 bits")],
    "within": lambda: {"rows": [{"a": a, "b": {"c": b}} for a, b in zipped("runs", "few None")]},
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_come_back(name: str):
    value = ROWS[name]()
    payload = npser.dumps(value)
    SHAPES.clear()
    for _ in range(2):  # out of the outline, then by the loops
        assert same(npser.loads(payload, classes=[Pair]), value)
    columns = npser.loads(payload, classes=[Pair], tables="columns")
    if name == "one key":
        assert columns == {"a": column("ints of 12 bits")}


def test_weighing_draws_what_reading_draws():
    payload = npser.dumps(ROWS["dicts"]())
    drawn = weigh(payload)
    limit = npser.Limits(items=drawn, expansion=0)
    assert len(npser.loads(payload, limits=limit)) == N
    with pytest.raises(npser.LimitError):
        npser.loads(payload, limits=npser.Limits(items=drawn - 1, expansion=0))


def test_damage_in_a_long_column_is_an_error_with_its_place():
    rows = [{"a": at * 7919 % 1000, "b": 1.5} for at in range(N)]
    payload = bytearray(npser.dumps(rows))
    assert same(npser.loads(payload), rows)
    refused = 0
    for at in range(3, len(payload), 997):
        payload[at] ^= 0x80
        try:
            npser.loads(payload)
        except DecodeError as error:
            assert error.path is not None or error.pos is not None
            refused += 1
        payload[at] ^= 0x80
    assert refused
    sink = Sink()
    write_column(sink, column("ints of 3 bits"), {int})
    sink.out[-1] |= 0x80  # a bit behind the last value
    for reader in (read_int_list, read_int_cells):
        with pytest.raises(DecodeError, match="padding"):
            list(reader(Cursor(memoryview(bytes(sink.out)), 1), N))


def test_a_code_outside_of_the_dictionary_is_refused_before_the_first_cell():
    sink = Sink()
    write_column(sink, column("a thousand texts"), {str})
    assert sink.out[0] == Kind.TEXT
    sink.out[-2:] = b"\xff\xff"
    for reader in (read_text, read_text_cells):
        with pytest.raises(DecodeError):
            reader(Cursor(memoryview(bytes(sink.out)), 1), N)


def test_rows_take_less_than_half_of_themselves_beside_them():
    payload = npser.dumps([{"a": at % 4000, "b": at * 31 % 5000, "c": at * 17 % 3000, "d": at * 7 % 900} for at in range(N)])
    npser.loads(payload)
    tracemalloc.start()
    rows = npser.loads(payload)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows) == N
    assert peak < 1.25 * held


@pytest.mark.parametrize("sizes", [[], [1], [STRETCH], [STRETCH + 1], [3, STRETCH, 2 * STRETCH, 7], [0, 0, 5]])
def test_evenly(sizes: list[int]):
    lists = [[at] * size for at, size in enumerate(sizes)]
    parts = list(evenly(lists))
    assert [item for part in parts for item in part] == [item for part in lists for item in part]
    assert all(len(part) == STRETCH for part in parts[:-1])


def test_side_by_side_takes_any_cells():
    ints = list(range(N))
    stretches = Stretches(ints[at : at + STRETCH] for at in range(0, N, STRETCH))
    parts = list(side_by_side([range(N), stretches, ints, iter(ints)], N))
    assert all(len(set(map(tuple, part))) == 1 for part in parts)
    assert [cell for part in parts for cell in part[0]] == ints
