"""A numpy scalar comes back as the same type with the same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from columns.exact import check, check_garbage, encode, refused
from columns.test_dtypes import deep
from npser.blocks.cursor import Cursor
from npser.columns.anyints import write_any_ints
from npser.columns.npscalars import read_scalars, write_scalars
from npser.columns.rawitems import settled
from npser.errors import EncodeError
from npser.tags import Kind

READERS: dict[int, Any] = {Kind.SCALAR: read_scalars}

NUMBERS = sorted({kind for kind in np.sctypeDict.values() if issubclass(kind, (np.number, np.bool_))}, key=str)


def key(value: np.generic) -> object:
    if isinstance(value, str):
        return str.encode(value, "utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value.tobytes()
    return deep(value.dtype), settled(value.dtype, value.tobytes())  # padding is not a value


def patterns(kind: type[np.generic]) -> list[np.generic]:
    dtype = np.dtype(kind)
    if kind is np.bool_:
        return [np.True_, np.False_]
    size = dtype.itemsize
    raw = (
        bytes(size)
        + b"\xff" * size
        + bytes(range(1, size + 1))
        + bytes(size - 1)
        + b"\x80"
        + b"\1"
        + bytes(size - 3 if size > 2 else 0)
    )
    raw += b"\xf0\x7f" if size > 1 else b""
    return list(np.frombuffer(raw[: len(raw) // size * size], dtype))


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 127, 128, 129, 1000])
def test_numbers(kind: type[np.generic], n: int) -> None:
    some = patterns(kind)
    check(write_scalars, READERS, [some[i % len(some)] for i in range(n)], key)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 9, 127, 128, 129, 1000])
def test_a_mixture(n: int) -> None:
    values = [value for kind in NUMBERS for value in patterns(kind)]
    values += [np.str_("a\0"), np.bytes_(b"\0"), np.datetime64("NaT"), np.datetime64(5, "ns"), np.void(b"abc")]
    check(write_scalars, READERS, [values[i * 7 % len(values)] for i in range(n)], key)


def test_signaling_nans() -> None:
    for kind, raw in ((np.float16, 0x7C01), (np.float32, 0x7F800001), (np.float64, 0x7FF0000000000001)):
        size = np.dtype(kind).itemsize
        value = np.frombuffer(raw.to_bytes(size, "little"), f"<f{size}")[0]
        data = check(write_scalars, READERS, [value], key)
        assert data[-size:] == raw.to_bytes(size, "little")


def test_strings() -> None:
    texts = ["", "\0", "a\0\0", "é\U0001f600", "\ud800", "x" * 300]
    check(write_scalars, READERS, list(map(np.str_, texts)), key)
    check(write_scalars, READERS, [np.bytes_(text.encode("utf-8", "surrogatepass")) for text in texts], key)


def test_moments() -> None:
    values = [
        np.datetime64("NaT"),
        np.datetime64("NaT", "D"),
        np.datetime64(-1, ("s", 25)),
        np.datetime64(2**63 - 1, "as"),
    ]
    values += [np.timedelta64("NaT"), np.timedelta64(3), np.timedelta64(3, "Y"), np.timedelta64(3, ("us", 7))]
    check(write_scalars, READERS, values, key)


ALIGNED = np.dtype([("a", "i1"), ("b", ">f8"), ("c", "U2"), ("d", "?")], align=True)


def test_structures() -> None:
    some = np.frombuffer((bytes([1]) * 16 + "aé".encode("utf-32-le") + bytes([1, 7, 7, 7, 7, 7, 7, 7])) * 3, ALIGNED)
    records = np.zeros(2, np.dtype((np.record, [("x", "i4"), ("y", "f8", (2,))])))
    check(write_scalars, READERS, [*some, *records, np.void(b"\0\1"), np.void(b"")], key)
    check(write_scalars, READERS, list(some), key)


def test_structures_are_independent_and_writable() -> None:
    data = encode(write_scalars, list(np.zeros(3, "i4,f8")))
    got = read_scalars(Cursor(memoryview(data), 1), 3)
    got[0]["f0"] = 7
    assert [value["f0"] for value in got] == [7, 0, 0]


def test_structures_without_bytes() -> None:
    for n in (1, 16, 17, 100):
        check(write_scalars, READERS, list(np.zeros(n, np.dtype([]))), key)


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros(1, [("a", "O")])[0],
        np.zeros(1, np.dtype([("a", "i4")], metadata={"x": 1}))[0],
        np.frombuffer(b"\2", [("a", "?")])[0],
        np.frombuffer(b"\xff" * 4, [("a", "<U1")])[0],
    ],
)
def test_refused_with_their_place(bad: np.generic) -> None:
    with pytest.raises(EncodeError) as info:
        encode(write_scalars, [np.int8(1), bad, bad])
    assert info.value.item == 1


def test_bad_bytes() -> None:
    codes = encode(write_any_ints, [0, 2])[1:]
    refused(read_scalars, b"\2\1\2" + codes + bytes(9), 2, "code")
    refused(read_scalars, b"\0", 1, "dtypes")
    refused(read_scalars, b"\xff\xff\xff\x7f", 1, "dtypes")
    refused(read_scalars, b"\1\0\2", 1, "bool")
    refused(read_scalars, b"\1\x14\1abcd", 1, "no scalar")
    refused(read_scalars, b"\1\x13\1a", 1, "no scalar")
    refused(read_scalars, b"\1\x16\0\0" + bytes(16), 1, "no scalar|numpy 2")
    refused(read_scalars, b"\1\x18\1\2\1ab", 1, "no scalar")
    refused(read_scalars, b"\1\x15\0", 2**62)
    refused(read_scalars, b"\1\1" + bytes(100), 2**62)
    assert read_scalars(Cursor(memoryview(b"\0")), 0) == []


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        (hnp.scalar_dtypes() | hnp.array_dtypes()).flatmap(lambda dtype: hnp.arrays(dtype, ()).map(lambda a: a[()])),
        max_size=8,
    )
)
def test_anything(values: list[Any]) -> None:
    check(write_scalars, READERS, values, key)


def test_garbage() -> None:
    mixed = [value for kind in NUMBERS for value in patterns(kind)] + [
        np.datetime64("NaT", "D"),
        np.str_("a"),
        np.bytes_(b"b"),
    ]
    mixed += list(np.zeros(2, ALIGNED))
    bodies = [
        encode(write_scalars, part)
        for part in (mixed, mixed[:1], mixed[-4:], [np.float64(0.5)] * 9, [np.str_("x")] * 3)
    ]
    check_garbage(READERS, bodies, 800)
