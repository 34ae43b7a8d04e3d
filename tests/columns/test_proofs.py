"""The proof of exact types that comes with the values: right where it answers, and silent everywhere else."""

from __future__ import annotations

import enum
import marshal
import struct
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from npser.columns import proofs
from npser.columns.proofs import Found, bools_of, floats_of, ints_of, optional_ints_of, wide_ints_of

LOW, HIGH = -(1 << 31), (1 << 31) - 1
SIZES = (1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 1000, 20_000)
N = ord("N")
PROOFS = (ints_of, optional_ints_of, wide_ints_of, floats_of, bools_of)


def fresh(n: int, bits: int = 31) -> list[int]:
    """n ints that nobody else refers to, but for the small ones."""
    rng = np.random.default_rng(n + bits)
    return rng.integers(-(1 << bits), 1 << bits, n).tolist()


def fresh_wide(n: int) -> list[int]:
    return np.random.default_rng(n).integers(1 << 40, 1 << 41, n).tolist()


def merged(found: Any) -> list[Any]:
    """What a result says that the list was."""
    if isinstance(found, Found):
        items = iter(found.dense.tolist())
        return [next(items) if there else None for there in found.present.tolist()]
    return found.tolist()


def check_ints(values: list[Any]) -> None:
    """As they are, and shared; as a list, and as a tuple."""
    for form in (list, tuple):
        assert merged(optional_ints_of(form(values))) == values
        found = ints_of(form(values))
        assert (found is None) == (None in values)
        assert found is None or (found.tolist() == values and found.dtype == np.int64 and found.flags.writeable)


class Colour(enum.IntEnum):
    RED = 1


class Whole(int):
    pass


class Real(float):
    pass


class Adds:
    """Can be added to a number, and gives one."""

    def __radd__(self, other: object) -> object:
        return other


class Raises:
    def __radd__(self, other: object) -> object:
        raise RuntimeError("not mine")


STRANGERS = [
    True,
    None,
    0.5,
    "1",
    b"1",
    1 << 31,
    -(1 << 31) - 1,
    1 << 70,
    Colour.RED,
    Whole(1),
    Real(1.0),
    np.int64(1),
    np.float64(1.0),
    np.bool_(True),
    np.arange(3),
    Fraction(1, 2),
    1j,
    ...,
    StopIteration,
    [],
    [1],
    (),
    (1,),
    {},
    {1: 2},
    set(),
    frozenset({1}),
    bytearray(b"x"),
    Adds(),
    Raises(),
    object(),
    (lambda: 0).__code__,
]


def test_it_is_in_use_here():
    assert proofs.usable


@pytest.mark.parametrize("n", SIZES)
def test_ints(n):
    check_ints(fresh(n))
    check_ints(fresh(n, 8))  # many of them the same objects
    check_ints(list(range(n)))
    check_ints(list(range(0, -3 * n, -3)))
    check_ints([1_000_000] * n)


def test_the_ends_of_32_bits():
    check_ints([LOW, HIGH, 0, -1, 1] * 20)
    for beyond in (LOW - 1, HIGH + 1):
        assert ints_of([1, beyond]) is None


@pytest.mark.parametrize("n", SIZES[1:])
@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("bits", [5, 20, 31])
def test_none_among_ints(n, share, bits):
    absent = np.random.default_rng(n).random(n) < share
    absent[0] = False
    check_ints([None if gone else value for gone, value in zip(absent.tolist(), fresh(n, bits), strict=True)])


def test_values_whose_bytes_look_like_none():
    looks = int.from_bytes(b"NNNN", "little")
    check_ints([None, looks, looks, None, None, looks, None] * 50)
    check_ints([looks + at if at % 3 else None for at in range(1000)])
    check_ints([int.from_bytes(b"iN\0N", "little") + at if at % 5 else None for at in range(1000)])
    check_ints([N << 24 | at if at % 2 else None for at in range(3000)])  # an impostor before every tag
    check_ints([None, *(int.from_bytes(bytes(word), "little") for word in [(N, 105, N, 105), (105, N, 114, N)] * 40)])


@given(st.lists(st.none() | st.integers(LOW, HIGH) | st.sampled_from([N, 0x4E4E4E4E, 0x694E694E]), max_size=60))
def test_any_ints_and_none(values):
    found = optional_ints_of(values)
    if all(value is None for value in values):
        assert found is None
    elif found is None:  # the sample met none that is an int
        assert all(value is None for value in values[: proofs.HEAD_SAMPLE])
    else:
        assert merged(found) == values


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("low", "high"), [((1 << 31) + 1, 1 << 45), (1 << 45, 1 << 60), (1 << 60, 1 << 63)])
def test_wide_ints(n, low, high):
    values = np.random.default_rng(n).integers(low, high, n, "<i8")
    values[:2] = [low, high - 1][:n]
    for array in (values, -values, np.where(np.arange(n) % 3, values, -values)):
        for items in (array.tolist(), tuple(array.tolist())):
            found = wide_ints_of(items)
            assert found.tolist() == list(items)
            assert found.dtype == np.int64
            assert ints_of(items) is None
    shared = [int(low)] * n
    assert wide_ints_of(shared) is None


def test_ints_that_are_not_equally_wide():
    ends = [(1 << 31) + 1, (1 << 45) - 1, 1 << 45, (1 << 60) - 1, 1 << 60, (1 << 63) - 1, 1 << 63, 1 << 75, 1 << 200]
    for value in ends:
        own = -(-value.bit_length() // 15)
        for other in [*ends, 0, HIGH]:
            alike = own == -(-other.bit_length() // 15) and other > HIGH and max(value, other) < 1 << 63
            for share in ([0, 1] * 100, [0] * 99 + [1], [1, 0, -1] * 9):
                values = [int(str(at * other if at else value)) for at in share]  # each an object of its own
                found = wide_ints_of(values)
                assert (found is None) == (not alike)
                assert found is None or found.tolist() == values
    assert wide_ints_of([int(str(-(1 << 63))) for _ in range(9)]) is None
    assert wide_ints_of([int(str(1 << 40)) for _ in range(40)] + [None]) is None


@pytest.mark.parametrize("n", SIZES)
def test_floats(n):
    values = np.random.default_rng(n).random(n).tolist()
    for items in (values, [0.1] * n, [-0.0, float("nan"), float("-inf"), 5e-324] * n):
        for form in (list, tuple):
            found = floats_of(form(items))
            assert found.tobytes() == struct.pack(f"<{len(items)}d", *items)
            assert found.flags.writeable and found.dtype == np.float64


def test_floats_of_which_few_are_shared():
    values = np.random.default_rng(1).random(5000).tolist()
    values[777] = values[778]
    assert floats_of(values).tolist() == values


@pytest.mark.parametrize("n", SIZES)
def test_bools(n):
    values = (np.random.default_rng(n).random(n) < 0.5).tolist()
    for items in (values, [True] * n, [False] * n, tuple(values)):
        assert bools_of(items).tolist() == list(items)


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("at", [0, 1, 333, 998, 999])
@pytest.mark.parametrize(
    "make",
    [
        lambda: fresh(1000),
        lambda: [5] * 1000,
        lambda: np.random.rand(1000).tolist(),
        lambda: [True] * 1000,
        lambda: fresh_wide(1000),
    ],
)
def test_one_stranger(stranger, at, make):
    values = make()
    kinds = {int: ints_of, float: floats_of, bool: bools_of}
    own = type(values[0])
    values[at] = stranger
    for kind, prove in kinds.items():
        if kind is not type(stranger) or own is not kind or (kind is int and not all(LOW <= x <= HIGH for x in values)):
            assert prove(values) is None
    equally_wide = all(type(x) is int and 31 < x.bit_length() <= 45 for x in values)
    assert (wide_ints_of(values) is None) == (not equally_wide)
    found = optional_ints_of(values)
    if own is int and stranger is None and abs(values[at - 1]) <= HIGH:
        assert merged(found) == values
    elif own is not int or type(stranger) is not int or not all(LOW <= x <= HIGH for x in values):
        assert found is None


@pytest.mark.parametrize("prove", PROOFS)
def test_nothing_to_prove(prove):
    for values in ([], (), [None], [None] * 1000, ["a"] * 1000):
        assert prove(values) is None


def test_lists_that_hold_themselves():
    """Walked without a memory of what was met, each of these would take until the end of time."""
    for own in (fresh(1000), [7] * 1000, [float(at) for at in range(1000)], [True] * 1000, [None, 10**6] * 500):
        values: list[Any] = own
        values[501] = values[502] = values[711] = values
        for prove in PROOFS:
            assert prove(values) is None


def test_lists_that_hold_a_bomb():
    bomb: list[Any] = []
    for _ in range(100):
        bomb = [bomb, bomb]
    for own in (fresh(1000), [7] * 1000, [0.5] * 1000, [True] * 1000, [None, 10**6] * 500):
        values: list[Any] = own
        values[501] = bomb
        for prove in PROOFS:
            assert prove(values) is None


def test_deep_nesting():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    values = [*fresh(1000), deep]
    assert optional_ints_of(values[:500] + [deep] + values[500:1000]) is None
    while deep:
        deep = deep.pop()


def _with(change: Any) -> Any:
    def dumps(value: Any, version: int) -> bytes:
        return change(marshal.dumps(value, version))

    return dumps


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"i", b"j"),
        lambda data: data.replace(b"r", b"R"),
        lambda data: data.replace(b"T", b"t"),
        lambda data: data.replace(b"l", b"L"),
        lambda data: data.replace(b"\xfd\xff\xff\xff", b"\xfe\xff\xff\xff"),
        lambda data: b"\0" + data,
        lambda data: data[:1] + data[4:0:-1] + data[5:],
        lambda data: b"",
    ],
)
def test_another_layout_is_noticed(change):
    assert proofs._is_as_expected(marshal.dumps)
    assert not proofs._is_as_expected(_with(change))


def test_a_marshal_without_versions_is_noticed():
    def dumps(value: Any) -> bytes:
        return marshal.dumps(value)

    assert not proofs._is_as_expected(dumps)  # type: ignore[arg-type]


def test_out_of_use(monkeypatch):
    lists: list[list[Any]] = [fresh(1000), [None, *fresh(999)], [0.5, 1.25] * 500, [True, False] * 500]
    payloads = [npser.dumps(values) for values in lists]
    monkeypatch.setattr(proofs, "usable", False)
    for values in lists:
        for prove in PROOFS:
            assert prove(values) is None
    for values, payload in zip(lists, payloads, strict=True):
        assert npser.loads(npser.dumps(values)) == npser.loads(payload) == values


def test_a_list_that_changes_meanwhile():
    """What comes out was the list at some moment, however long it was then."""
    values: list[Any] = list(range(1000, 5000))
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            values.append(values[-1] + 1)
            values.pop(0)
            values[5:5] = [True, [values]]
            del values[5:7]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(200):
            found = ints_of(values)
            assert found is None or (np.diff(found) == 1).all()
    finally:
        stop.set()
        thread.join()
