"""Single leaves: the kind of each, the numbers in their widths, what goes elsewhere."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import pytest

from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns import singles
from npser.columns.leafplans import FEW_LEAVES, write_leaves, write_planned
from npser.columns.singles import SingleWriter, form_of, read_numbers
from npser.errors import EncodeError, TruncatedError
from npser.tags import Kind

NUMBERS = [
    (0, Kind.POOL_U8),
    (255, Kind.POOL_U8),
    (256, Kind.POOL_I16),
    (-1, Kind.POOL_I16),
    (-(2**15), Kind.POOL_I16),
    (2**15 - 1, Kind.POOL_I16),
    (2**15, Kind.POOL_I32),
    (-(2**15) - 1, Kind.POOL_I32),
    (-(2**31), Kind.POOL_I32),
    (2**31 - 1, Kind.POOL_I32),
    (2**31, Kind.POOL_I64),
    (-(2**31) - 1, Kind.POOL_I64),
    (-(2**63), Kind.POOL_I64),
    (2**63 - 1, Kind.POOL_I64),
    (0.0, Kind.POOL_F64),
    (-0.0, Kind.POOL_F64),
    (math.inf, Kind.POOL_F64),
    (5e-324, Kind.POOL_F64),
]


class Number(int):
    pass


def collect(values: list[Any], *, at_once: bool = False) -> tuple[SingleWriter, list[Any]]:
    """What the writer made of the leaves, and which of them went into bodies."""
    bodies: list[Any] = []

    def body(value: Any) -> int:
        if isinstance(value, Number):
            raise EncodeError("a number of a class")
        bodies.append(value)
        return Kind.BYTES

    w = SingleWriter(body)
    if at_once:
        write_leaves(w, values)
    else:
        for value in values:
            w.one(value)
    return w, bodies


def numbers_of(w: SingleWriter) -> bytes:
    sink = Sink()
    w.finish(sink)
    return bytes(sink.out)


@pytest.mark.parametrize(("value", "kind"), NUMBERS)
def test_a_number_has_the_narrowest_kind(value: float, kind: Kind) -> None:
    w, bodies = collect([value])
    assert bytes(w.kinds) == bytes([kind])
    assert not bodies and not w.texts
    data = numbers_of(w)
    assert len(data) == {3: 1, 4: 2, 5: 4, 6: 8, 7: 8}[kind]
    (found,) = read_numbers(Cursor(memoryview(data)), bytes(w.kinds))
    assert type(found) is type(value)
    assert struct.pack("<d", found) == struct.pack("<d", value) if type(value) is float else found == value


def test_every_bit_of_a_double_comes_back() -> None:
    for bits in (0x7FF8000000000000, 0x7FF800000000BEEF, 0xFFF8000000000001, 0x8000000000000000, 1):
        value = struct.unpack("<d", struct.pack("<Q", bits))[0]
        data = numbers_of(collect([1, value])[0])
        found = read_numbers(Cursor(memoryview(data)), bytes((Kind.POOL_U8, Kind.POOL_F64)))[1]
        assert struct.pack("<d", found) == struct.pack("<Q", bits)


def test_what_is_no_number() -> None:
    w, bodies = collect([None, True, False, "a", "", "\ud83d", b"b", 2**63, -(2**63) - 1, 1j])
    assert list(w.kinds) == [0, 2, 1, 8, 8, 8, *[Kind.BYTES] * 4]
    assert w.texts == ["a", "", "\ud83d"] and not w.numbers
    assert bodies == [b"b", 2**63, -(2**63) - 1, 1j]
    assert numbers_of(w) == b""


def test_a_bool_is_no_int_and_an_int_of_a_class_no_int_either() -> None:
    assert list(collect([True, 1])[0].kinds) == [Kind.TRUE, Kind.POOL_U8]
    with pytest.raises(EncodeError):
        collect([Number(5)])


@pytest.mark.parametrize("k", [1, FEW_LEAVES - 1, FEW_LEAVES, 100, 2000])
def test_the_error_of_one_among_many_knows_its_place(k: int) -> None:
    for at in {0, k // 2, k - 1}:
        with pytest.raises(EncodeError) as caught:
            collect([*[1] * at, Number(1), *[None] * (k - 1 - at)], at_once=True)
        assert caught.value.item == at


def any_leaf(rng: random.Random) -> Any:
    return rng.choice(
        (None, True, False, rng.choice(NUMBERS)[0], "", "a", "\0", "\ud83d", b"b", 2**64, rng.randrange(-(2**40), 2**40), rng.random())
    )


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    rng = random.Random(1)
    for k in [*range(20), 200, 1024, 1025]:
        for _ in range(20 if k < 200 else 2):
            values = [any_leaf(rng) for _ in range(k)]
            for leaves in (values, [value for value in values if type(value) is not bytes]):
                one, apart = collect(leaves)
                many, together = collect(leaves, at_once=True)
                assert many.kinds == one.kinds and many.texts == one.texts
                assert numbers_of(many) == numbers_of(one)
                assert together == apart


def test_a_plan_serves_other_values_of_the_same_types() -> None:
    for number in (1, -1, 70_000, 2**40, 2**63, 2**64):
        for flag in (True, False):
            values = [number, flag, "x", None, 0.5, number, flag, "y", 3]
            assert collect(values, at_once=True)[0].kinds == collect(values)[0].kinds


def test_leaves_without_a_plan_are_left_alone() -> None:
    for values in ([1] * (FEW_LEAVES - 1), [1] * 8 + [2**63], [*range(8), Number(1)], [1] * 5000):
        w, _ = collect([])
        assert write_planned(w, values) is False
        assert not w.kinds and not w.numbers and not w.texts


def test_numbers_are_read_from_their_bytes_only() -> None:
    kinds = bytes(kind for _, kind in NUMBERS) + bytes((Kind.NONE, Kind.POOL_TEXT, Kind.ARRAY, 0xFF))
    data = numbers_of(collect([value for value, _ in NUMBERS])[0])
    cursor = Cursor(memoryview(data + b"tail"))
    assert read_numbers(cursor, kinds) == tuple(value for value, _ in NUMBERS)
    assert cursor.pos == len(data)
    for cut in range(len(data)):
        with pytest.raises(TruncatedError):
            read_numbers(Cursor(memoryview(data[:cut])), kinds)
    assert read_numbers(Cursor(memoryview(b"")), bytes((Kind.NONE, Kind.TRUE, Kind.POOL_TEXT))) == ()


def test_layouts_are_little_endian_and_without_gaps() -> None:
    layout = form_of(bytes(range(256)))
    assert layout.format == "<Bhiqd" and layout.size == 23


def test_a_bounded_number_of_layouts_is_remembered() -> None:
    rng = random.Random(2)
    for _ in range(3 * singles.MAX_LAYOUTS):
        form_of(bytes(rng.choices(range(3, 8), k=20)))
        assert len(singles._layouts) <= singles.MAX_LAYOUTS
    before = set(singles._layouts)
    form_of(bytes(rng.choices(range(3, 8), k=singles.MAX_LAYOUT + 1)))
    assert set(singles._layouts) == before
