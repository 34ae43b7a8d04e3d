"""Slots: single leaves and columns of one payload, written together and read back in their order."""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import pytest

from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns.leafplans import write_leaves
from npser.columns.slotreader import SlotReader
from npser.columns.slots import Singles, open_slots, read_leaves
from npser.columns.slotwriter import SlotWriter
from npser.errors import DecodeError, NpserError
from npser.tags import Kind
from npser.weights import STEP
from same import difference
from values import MAKERS

SIZES = [0, 1, 2, 4, 5, 7, 8, 9, 16, 17, 127, 128, 129, 1000]

LEAVES = ["None", "bool", "int", "float", "str", "bytes", "bytearray", "complex", "range", "date", "datetime", "timedelta"]


def written(singles: list[Any], columns: list[Any]) -> bytes:
    """Columns that are arrays of int64 are of structure."""
    slots = SlotWriter(Sink())
    write_leaves(slots.singles, singles)
    for column in columns:
        if isinstance(column, np.ndarray):
            slots.ints(column.tolist())
        else:
            slots.many(column, set(map(type, column)))
    return slots.finish(Sink())


def opened(data: bytes, singles: int, columns: int, budget: int = 1 << 20) -> tuple[Singles, SlotReader, list[Any]]:
    cursor = Cursor(memoryview(data), budget=budget)
    kinds, numbers, slots = open_slots(cursor, singles, columns)
    leaves = read_leaves(kinds, numbers, slots)
    return Singles(kinds, leaves, slots), slots, leaves


def check(singles: list[Any], columns: list[Any]) -> bytes:
    data = written(singles, columns)
    for way in ("many", "cells"):
        stream, slots, leaves = opened(data, len(singles), len(columns))
        assert difference(singles, leaves) is None
        assert difference(singles, stream.take(len(singles))) is None
        for column in columns:
            if isinstance(column, np.ndarray):
                assert slots.ints(len(column)) == column.tolist()
            else:
                found = getattr(slots, way)(len(column))
                assert difference(list(column), list(found)) is None
        slots.close()
    return data


@pytest.mark.parametrize("name", LEAVES)
@pytest.mark.parametrize("n", SIZES)
def test_a_column_between_singles(name: str, n: int) -> None:
    column = MAKERS[name](n)
    check([1, "a", None], [column, ["b"], column[:1] or [None]])


VALUES: list[Any] = [
    None, True, False, 0, 255, -1, 2**15, -(2**40), 2**63, 0.5, -0.0, float("nan"), "", "a", "\0", "\ud83d", b"b", 1j, ..., range(3), bytearray(b"c"),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_any_leaves_and_any_columns(seed: int) -> None:
    rng = random.Random(seed)
    singles = rng.choices(VALUES, k=rng.choice((0, 1, 2, 7, 8, 9, 100)))
    columns: list[Any] = []
    for _ in range(rng.choice((0, 1, 2, 9))):
        n = rng.choice(SIZES)
        kind = rng.randrange(5)
        if kind == 0:
            columns.append(np.array(rng.choices(range(-300, 70_000), k=n), "<i8"))
        elif kind == 1:
            columns.append([rng.choice(VALUES)] * n)
        else:
            columns.append(rng.choices(rng.choices(VALUES, k=kind), k=n))
    check(singles, columns)


def test_everything_of_the_singles_comes_first() -> None:
    data = written([1, "x", b"y"], [["a", "b"], [b"z"], [700, 800]])
    assert data.hex(" ") == " ".join(
        (
            "03 08 1c",  # kinds of the singles: POOL_U8, POOL_TEXT, BYTES
            "08 1c 04",  # kinds of the columns: POOL_TEXT, BYTES, POOL_I16
            "01",  # numbers of the singles
            "22 02 03",  # pools: 2 i16, 3 texts
            "bc 02 20 03",  # 700 800
            "00 00 05 78 00 61 00 62",  # x, then a b
            "08 08",  # directory: two bodies of 4 bytes
            "00 01 02 79",  # of a single: y
            "00 01 02 7a",  # of a column: z
        )
    )


def test_a_single_costs_a_kind_and_its_number() -> None:
    assert written([7], []).hex() == "03" "07" "00"
    assert written([None, True, False], []).hex() == "000201" "00"
    assert written([], []).hex() == "00"


def test_a_repeated_body_may_be_that_of_a_single() -> None:
    large = b"x" * 100
    data = check([large, large], [[large]])
    assert len(data) < 2 * len(large)


def test_an_expanding_column_draws_from_the_budget() -> None:
    data = written([], [[None] * 100, [7] * 100, np.arange(100)])
    _, slots, _ = opened(data, 0, 3)
    before = slots.cursor.budget
    assert (slots.many(100), slots.many(100), slots.ints(100)) == ([None] * 100, [7] * 100, list(range(100)))
    drawn = before - slots.cursor.budget
    assert drawn == 100 + 100 + 100 * STEP
    slots.rewind()
    slots.cursor.budget = drawn - 1
    slots.many(100), slots.many(100)
    with pytest.raises(NpserError, match="raise Limits"):
        slots.ints(100)


# ------------------------------------------------------------------------------------------------------------ the readers


def test_structure_is_ints_and_nothing_else() -> None:
    for value in (None, True, False, 0.5, "a", b"a", 2**63):
        stream, _, _ = opened(written([value], []), 1, 0)
        with pytest.raises(DecodeError, match="expected an integer in a single slot"):
            stream.ints(1)
        for n in (1, 3, 9, 200):
            _, slots, _ = opened(written([], [[value] * n]), 0, 1)
            with pytest.raises(DecodeError, match="expected integers in column 0"):
                slots.ints(n)
    for number in (0, 255, -1, 2**20, -(2**63), 2**63 - 1):
        stream, _, _ = opened(written([number], []), 1, 0)
        assert stream.ints(1) == [number]


def test_an_int_in_a_body_is_no_single_of_structure() -> None:
    data = bytes([Kind.INT]) + b"\0" + b"\4" + b"\1\x0a"
    stream, slots, leaves = opened(data, 1, 0)
    assert leaves == [5]
    slots.close()
    with pytest.raises(DecodeError, match="expected an integer in a single slot"):
        stream.ints(1)
    assert stream.many(1) == [5]


@pytest.mark.parametrize("kind", [*range(Kind.POOL_BOOL, Kind.INT), 0x31, 0x80, 0xFF])
def test_kinds_that_no_single_has(kind: int) -> None:
    for data in (bytes([kind]) + b"\0", bytes([kind]) + b"\1\3\3\1\1", bytes([kind]) + b"\0\2\0"):
        with pytest.raises(DecodeError):
            opened(data, 1, 0)


def test_texts_of_singles_that_are_not_there() -> None:
    data = written(["a", "b"], [["c"]])
    opened(data, 2, 1)
    kinds = bytes([Kind.POOL_TEXT]) * 3
    assert data[:3] == kinds
    with pytest.raises(DecodeError, match="4 single strings, and a pool of 3"):
        opened(kinds + bytes([Kind.POOL_TEXT]) + data[3:], 4, 0)
    _, slots, leaves = opened(data, 3, 0)
    assert leaves == ["a", "b", "c"]
    slots.close()


def test_arrays_are_spans_until_somebody_asks_for_them() -> None:
    array = np.arange(5, dtype="<i2")
    slots = SlotWriter(Sink())
    slots.singles.one(array)
    slots.many([array, array[:2]], {np.ndarray})
    data = slots.finish(Sink())
    for ask in ("arrays", "views"):
        stream, reader, leaves = opened(data, 1, 1)
        start, stop = leaves[0]
        assert 0 < start < stop <= len(data)
        (found,) = getattr(stream, ask)(1)
        assert found.dtype == array.dtype and found.tolist() == array.tolist()
        assert found.flags.writeable is (ask == "arrays")
        assert [part.tolist() for part in getattr(reader, ask)(2)] == [array.tolist(), [0, 1]]
        reader.close()
    for read in (SlotReader.many, SlotReader.cells, SlotReader.ints, SlotReader.numbers):
        stream, reader, _ = opened(data, 1, 1)
        with pytest.raises(DecodeError):
            read(reader, 2)
        with pytest.raises(DecodeError, match="an array in the place of a leaf"):
            stream.take(1)
    for value in (1, "a", b"a"):
        stream, reader, _ = opened(written([value], [[value]]), 1, 1)
        for ask in (stream.arrays, stream.views, reader.arrays):
            with pytest.raises(DecodeError, match="expected an array|expected arrays"):
                ask(1)


def test_copies_are_lengths_only() -> None:
    slots = SlotWriter(Sink())
    slots.copies(bytes((0, 1, 1)), bytes((2, 0)))
    slots.copies(bytes(3), bytes((1,)))
    slots.ints([5, 6])
    data = slots.finish(Sink())
    _, reader, _ = opened(data, 0, 3)
    codes, lengths = reader.copies(3) or ((), [])
    assert (list(codes), lengths) == ([0, 1, 1], [2, 0])
    codes, lengths = reader.copies(3) or ((), [])
    assert (list(codes), lengths) == ([0, 0, 0], [1])
    assert reader.copies(2) is None
    assert reader.ints(2) == [5, 6]
    reader.close()
    for read in (SlotReader.many, SlotReader.cells, SlotReader.ints, SlotReader.numbers, SlotReader.arrays):
        _, reader, _ = opened(data, 0, 3)
        with pytest.raises(DecodeError):
            read(reader, 3)


def test_again_from_the_beginning() -> None:
    data = written(["a"], [["b", "c"], [1, 2, 3], [b"d"]])
    _, slots, _ = opened(data, 1, 3)
    first = [slots.many(n) for n in (2, 3, 1)]
    slots.rewind()
    assert [slots.many(n) for n in (2, 3, 1)] == first == [["b", "c"], [1, 2, 3], [b"d"]]
    slots.close()


def test_what_no_slot_asked_for_is_left_over() -> None:
    data = written(["a"], [["b", "c"], [b"d"]])
    for taken in ([], [2], [1, 1]):
        _, slots, _ = opened(data, 1, 2)
        for n in taken:
            slots.many(n)
        with pytest.raises(DecodeError, match="left over"):
            slots.close()
    _, slots, _ = opened(data + b"\0", 1, 2)
    slots.many(2), slots.many(1)
    with pytest.raises(DecodeError, match="1 bytes behind the end"):
        slots.close()


def test_cut_at_every_length() -> None:
    data = written([1, 2**40, 0.5, "a", b"b", None], [["c", "d"], [1j], list(range(300)), np.arange(5)])
    for cut in range(len(data)):
        with pytest.raises(DecodeError):
            opened(data[:cut], 6, 4)


def test_any_bytes_give_leaves_or_an_error() -> None:
    rng = random.Random(4)
    for _ in range(4000):
        singles, columns = rng.randrange(4), rng.randrange(3)
        kinds = bytes(rng.choices((0, 2, 3, 5, 7, 8, 0x0B, 0x11, 0x18, 0x1B, 0x30, rng.randrange(256)), k=singles + columns))
        data = kinds + bytes(rng.choices((0, 1, 2, 3, 4, 8, 0x20, 0x21, 0xFF, rng.randrange(256)), k=rng.randrange(25)))
        try:
            stream, slots, _ = opened(data, singles, columns)
            stream.take(singles)
            for _ in range(columns):
                n = rng.choice((0, 1, 2, 40, 2**40))
                list(rng.choice((slots.many, slots.cells, slots.ints, slots.numbers))(n))
            slots.close()
        except NpserError as error:
            assert error.pos is None or 0 <= error.pos <= len(data)


@pytest.mark.parametrize("n", [9, 17, 49, 128, 129, 600])
def test_signalling_nans_raise_no_warning(n: int) -> None:
    """Not even where numpy was told to raise."""
    values = [1.5] * n
    values[n // 2] = struct.unpack("<d", (0x7FF0000000000001).to_bytes(8, "little"))[0]
    with np.errstate(all="raise"):
        check([], [values])
