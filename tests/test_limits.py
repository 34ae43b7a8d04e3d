"""10^8 items from a few bytes, by every way that the format has: refused before anything is allocated.

Strategy: one table of payloads made by hand, each a way to ask for n things that are not there. Asked for 10^8 or 2^40
of them, each is refused, and takes no more than 64 times its own size and 16 MB on the way. Asked for as many as a
budget allows, it takes what so many objects take and no more. Then the quadratic: payloads that are large and cost work
instead of memory. tracemalloc says what is taken; times are only ever compared with a second.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pytest
from numpy import dtypes

import npser
from guard import fenced
from npser.columns.dtypes import dtype_bytes
from npser.decoder import weigh
from npser.errors import DecodeError, LimitError
from npser.shapes import chains, collisions, maps
from npser.tags import BitCode, BytesCode, FloatCode, IntCode, Kind, Lead, TextCode
from npser.types.registry import class_name
from test_malformed import (
    HEADER,
    LEAF,
    LIST,
    NODE,
    NONE,
    Slot,
    bytes_dict,
    const,
    ints,
    keys,
    payload,
    pooled,
    string_array,
    text,
    text_dict,
    uvarint,
)

MANY: Final = 10**8
MEGABYTE: Final = 1 << 20

ALLOWANCE: Final = 16 * MEGABYTE
FACTOR: Final = 64
"""What decoding may take: so many bytes, and so many for each byte of the input."""


def held(data: bytes, **options: Any) -> tuple[int, float, Any]:
    """Bytes at the peak, seconds, and what came of it: a value or an NpserError."""
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with fenced(seconds=30, megabytes=2048):
            came: Any = npser.loads(data, **options)
    except npser.NpserError as error:
        came = error
    finally:
        taken = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak, taken, came


def is_within(data: bytes, peak: int) -> bool:
    return peak < FACTOR * len(data) + ALLOWANCE


# ------------------------------------------------------------------------------------------------------------- the ways


def affine(base: int, step: int) -> bytes:
    return bytes([IntCode.AFFINE]) + uvarint(base << 1) + uvarint(step << 1)


def runs(n: int) -> bytes:
    return bytes([IntCode.RUNS]) + uvarint(1) + const(5) + const(n)


INTS: Final[dict[str, Callable[[int], bytes]]] = {
    "affine": lambda _: affine(1000, 1),
    "constant": lambda _: const(7),
    "frame of no bits": lambda _: bytes([IntCode.FRAME, 0, 0]),
    "runs": runs,
    "dictionary": lambda _: bytes([IntCode.DICT]) + uvarint(1) + const(70_000) + const(0),
    "delta": lambda _: bytes([IntCode.DELTA, 0]) + const(3),
    "delta of runs": lambda n: bytes([IntCode.DELTA, 0]) + runs(n - 1),
    "patched": lambda _: bytes([IntCode.PATCHED, 0]) + const(0) + const(0) + const(3),
    "frame without its bytes": lambda _: bytes([IntCode.FRAME, 0, 8]),
    "varints without their bytes": lambda n: bytes([IntCode.VARINT]) + uvarint(n),
}

BODIES: Final[dict[str, tuple[int, Callable[[int], bytes]]]] = {
    **{f"ints, {name}": (Kind.INT, block) for name, block in INTS.items()},
    "floats, constant": (Kind.FLOAT, lambda _: bytes([FloatCode.CONST]) + bytes(8)),
    "floats, decimal": (Kind.FLOAT, lambda _: bytes([FloatCode.DECIMAL, 2]) + affine(1000, 1)),
    "floats, runs": (Kind.FLOAT, lambda n: bytes([FloatCode.RUNS]) + uvarint(1) + bytes([FloatCode.CONST]) + bytes(8) + const(n)),
    "floats, dictionary": (Kind.FLOAT, lambda _: bytes([FloatCode.DICT]) + uvarint(1) + bytes([FloatCode.CONST]) + bytes(8) + const(0)),
    "floats, without their bytes": (Kind.FLOAT, lambda _: bytes([FloatCode.F64])),
    "bools, constant": (Kind.BOOL, lambda _: bytes([BitCode.CONST, 1])),
    "bools, runs": (Kind.BOOL, lambda n: bytes([BitCode.RUNS, 1]) + uvarint(1) + const(n)),
    "text, dictionary": (Kind.TEXT, lambda _: text_dict("abc")),
    "text, empty": (Kind.TEXT, lambda _: bytes([TextCode.LENGTHS]) + const(0) + uvarint(0)),
    "text, radix": (Kind.TEXT, lambda _: bytes([TextCode.RADIX, 2, TextCode.SPLIT, 0, 3]) + b"a\0b"),
    "text, separators": (Kind.TEXT, lambda n: bytes([TextCode.SPLIT, 0]) + uvarint(n - 1)),
    "bytes, dictionary": (Kind.BYTES, lambda _: bytes_dict(b"abc")),
    "bytes, empty": (Kind.BYTES, lambda _: bytes([BytesCode.LENGTHS]) + const(0)),
    "bytearrays": (Kind.BYTEARRAY, lambda _: bytes_dict(b"")),
    "big ints": (Kind.BIGINT, lambda _: b"\0" + const(9)),
    "complex": (Kind.COMPLEX, lambda _: (bytes([FloatCode.CONST]) + bytes(8)) * 2),
    "nullable": (Kind.NULLABLE, lambda _: bytes([BitCode.CONST, 0, Kind.NONE])),
    "mixed": (Kind.MIXED, lambda _: b"\2" + const(1) + bytes([Kind.NONE, Kind.TRUE])),
    "dates": (Kind.DATE, lambda _: const(700_000)),
    "datetimes": (Kind.DATETIME, lambda _: affine(0, 1)),
    "datetimes with zones": (Kind.DATETIME_ZONED, lambda _: b"\1\1" + const(0) + bytes([BitCode.CONST, 0]) + affine(0, 1)),
    "times": (Kind.TIME, lambda _: const(5)),
    "timedeltas": (Kind.TIMEDELTA, lambda _: const(1) + affine(0, 1)),
    "decimals": (Kind.DECIMAL, lambda _: b"\1" + const(2) + bytes([Kind.INT]) + affine(1000, 1)),
    "decimals in text": (Kind.DECIMAL, lambda _: b"\0" + text_dict("1.5")),
    "fractions": (Kind.FRACTION, lambda _: bytes([Kind.INT]) + affine(1, 1) + bytes([Kind.INT]) + const(1)),
    "uuids": (Kind.UUID, lambda _: b"\0"),
    "paths": (Kind.PATH, lambda _: const(0) + text_dict("a")),
    "addresses": (Kind.IP, lambda _: const(1) + text_dict("::1")),
    "ranges": (Kind.RANGE, lambda _: (bytes([Kind.INT]) + const(1)) * 3),
    "ellipses": (Kind.ELLIPSIS, lambda _: bytes([BitCode.CONST, 1])),
    "numpy strings": (Kind.SCALAR, lambda _: b"\1" + dtype_bytes(np.dtype("U0")) + text_dict("x")),
    "numpy ints": (Kind.SCALAR, lambda _: b"\1" + dtype_bytes(np.dtype("<i8"))),
}

NOTHING_STORED: Final = Slot(Kind.INT, const(0))
"""Lengths, codes, numbers: all 0."""

ONES: Final = Slot(Kind.INT, const(1))
RECORD: Final = NODE["RECORD"] + text("a:B")

NODES: Final[dict[str, tuple[bytes, tuple[Slot, ...]]]] = {
    "None": (LEAF, (NONE,)),
    "True": (LEAF, (Slot(Kind.TRUE),)),
    "placeholders without fields": (RECORD + keys(), ()),
    "placeholders": (RECORD + keys("x") + LEAF, (NONE,)),
    "placeholders with lists": (RECORD + keys("x") + LIST + LEAF, (NOTHING_STORED, NONE)),
    "objects": (NODE["RECORD"] + text("values:Box") + keys("value") + LEAF, (NONE,)),
    "varied placeholders": (NODE["VARIED_RECORD"] + text("a:B") + keys("x") + b"\1\1\0" + LEAF, (NOTHING_STORED, NONE)),
    "varied placeholders without fields": (NODE["VARIED_RECORD"] + text("a:B") + keys("x") + b"\1\0" + LEAF, (NOTHING_STORED, NONE)),
    "states": (NODE["STATE"] + text("a:B") + LEAF, (NONE,)),
    "built": (NODE["BUILT"] + text("a:B") + LEAF, (NONE,)),
    "members": (NODE["ENUM"] + text("a:B"), (Slot(Kind.TEXT, text_dict("RED")),)),
    "flags": (NODE["ENUM"] + text("a:B"), (Slot(Kind.INT, affine(0, 1)),)),
    "named tuples": (NODE["NAMED_TUPLE"] + text("a:B") + keys("x") + LEAF, (NONE,)),
    "named tuples without fields": (NODE["NAMED_TUPLE"] + text("a:B") + keys(), ()),
    "empty tables": (NODE["TABLE"] + keys(), ()),
    "tables": (NODE["TABLE"] + keys("x") + LEAF, (NONE,)),
    "wide tables": (NODE["TABLE"] + keys(*map(str, range(100))) + LEAF * 100, (NONE,) * 100),
    "varied tables": (NODE["VARIED_TABLE"] + keys("x", "y") + b"\2\1\0\1\1" + LEAF + LEAF, (NOTHING_STORED, NONE, NONE)),
    "tuples of two": (NODE["TUPLE_ROW"] + b"\2" + LEAF + LEAF, (NONE, NONE)),
    "lists of one": (NODE["LIST_ROW"] + b"\1" + LEAF, (NONE,)),
    "slices": (NODE["SLICE"] + LEAF * 3, (NONE, NONE, NONE)),
    "empty lists": (LIST + LEAF, (NOTHING_STORED, NONE)),
    "lists": (LIST + LEAF, (ONES, NONE)),
    "empty tuples": (NODE["TUPLE"] + LEAF, (NOTHING_STORED, NONE)),
    "copies of a list": (LIST + LEAF, (Slot(Kind.POOL_COPIES, small=b"\1\1"), Slot(Kind.TEXT, text_dict("ab")))),
    "empty sets": (NODE["SET"] + LEAF, (NOTHING_STORED, NONE)),
    "sets": (NODE["SET"] + LEAF, (ONES, NONE)),
    "frozensets": (NODE["FROZENSET"] + LEAF, (ONES, NONE)),
    "deques": (NODE["DEQUE"] + LEAF, (NOTHING_STORED, NONE, NONE)),
    "empty dicts": (NODE["DICT"] + LEAF + LEAF, (NOTHING_STORED, NONE, NONE)),
    "dicts": (NODE["DICT"] + LEAF + LEAF, (ONES, NONE, NONE)),
    "ordered dicts": (NODE["ORDERED_DICT"] + LEAF + LEAF, (NOTHING_STORED, NONE, NONE)),
    "counters": (NODE["COUNTER"] + LEAF + LEAF, (NOTHING_STORED, NONE, NONE)),
    "default dicts": (NODE["DEFAULT_DICT"] + b"\1" + LEAF + LEAF, (NOTHING_STORED, NONE, NONE)),
    "unions": (NODE["UNION"] + b"\2" + LEAF + LIST + LEAF, (NOTHING_STORED, NONE, NOTHING_STORED, NONE)),
    "empty arrays": (NODE["ARRAY"], (Slot(Kind.ARRAY, b"\1\4" + const(1) + const(0) + b"\1\0\0\0"),)),
    "arrays of one": (NODE["ARRAY"], (Slot(Kind.ARRAY, b"\1\4" + const(0) + b"\1\0\0\0"),)),
    "object arrays": (NODE["OBJECT_ARRAY"] + LEAF, (NOTHING_STORED, pooled(), Slot(Kind.FALSE), NONE)),
}
"""What stands many times in a list: its shape and its slots."""


def at_depth(depth: int, n: int) -> bytes:
    """Lists within lists, each of so many that the innermost ones hold about n items together."""
    each = round(n ** (1 / depth))
    return payload(LIST * depth + LEAF, pooled(each), *[Slot(Kind.INT, const(each))] * (depth - 1), NONE)


def references(n: int) -> bytes:
    """One object, and a list of n references to it."""
    shape = NODE["TUPLE_ROW"] + b"\2" + RECORD + keys("x") + LEAF + LIST + NODE["REFERENCE"]
    return payload(shape, NONE, pooled(n), NOTHING_STORED)


OTHER_WAYS: Final[dict[str, Callable[[int], bytes]]] = {
    **{f"list of ints, {name}": (lambda n, block=block: list_of_ints(block(n), n)) for name, block in INTS.items()},
    **{
        f"list of leaves, {name}": (
            lambda n, kind=kind, body=body: HEADER + bytes([Lead.LEAF_LIST]) + uvarint(n) + bytes([kind]) + body(n)
        )
        for name, (kind, body) in BODIES.items()
    },
    "list of None": lambda n: HEADER + bytes([Lead.LEAF_LIST]) + uvarint(n) + bytes([Kind.NONE]),
    "references": references,
    "preserved references": lambda n: payload(
        NODE["PRESERVE"] + NODE["LIST_ROW"] + b"\2" + LIST + LEAF + LIST + NODE["REFERENCE"],
        pooled(0),
        NONE,
        pooled(n),
        NOTHING_STORED,
    ),
    **{f"lists {depth} deep": (lambda n, depth=depth: at_depth(depth, n)) for depth in (2, 3, 8, 25)},
    "a deque of nothing": lambda n: payload(NODE["DEQUE"] + LEAF, pooled(n), NONE, NONE),
    "a set of nothing": lambda n: payload(NODE["SET"] + LEAF, pooled(n), NONE),
    "an object array": lambda n: payload(NODE["OBJECT_ARRAY"] + LEAF, pooled(1), pooled(n), Slot(Kind.FALSE), NONE),
    "an object array of two dimensions": lambda n: payload(
        NODE["OBJECT_ARRAY"] + LEAF, pooled(2), pooled(n // 4, 4), Slot(Kind.FALSE), NONE
    ),
    "an array of no bytes": lambda n: payload(NODE["ARRAY"], Slot(Kind.ARRAY, b"\1\4" + const(1) + const(n) + b"\1\0\0")),
    "an array of strings": lambda n: payload(NODE["ARRAY"], string_array(dtypes.StringDType(), text_dict("x"), n)),
    "an array of wide strings": lambda n: payload(
        NODE["ARRAY"], Slot(Kind.ARRAY, b"\1" + dtype_bytes(np.dtype(f"S{MANY}")) + const(1) + const(n) + b"\1\0\0")
    ),
    "constant pool": lambda n: payload(LIST + LEAF, pooled(n), Slot(Kind.POOL_CONST, small=bytes([Kind.POOL_U8, 7]))),
    "steps in a pool": lambda n: payload(LIST + LEAF, pooled(n), Slot(Kind.POOL_STEPS, small=bytes([Kind.POOL_U8, Kind.POOL_U8, 7, 1]))),
    "codes in a pool": lambda n: payload(LIST + LEAF, pooled(n), Slot(Kind.POOL_CODES, small=bytes([Kind.POOL_U8, 1, 7]))),
    "a frame in a pool": lambda n: payload(LIST + LEAF, pooled(n), Slot(Kind.POOL_FRAME, small=bytes([Kind.POOL_U8, 7]))),
    "some of a pool": lambda n: payload(LIST + LEAF, pooled(n), Slot(Kind.POOL_SOME, small=bytes([Kind.POOL_CONST]))),
    "mixed in a pool": lambda n: payload(LIST + LEAF, pooled(n), Slot(Kind.POOL_MIXED)),
    "one body many times": lambda n: repeated_body(n),
}


def list_of_ints(block: bytes, n: int) -> bytes:
    return HEADER + bytes([Lead.INT_LIST + block[0]]) + uvarint(n) + block[1:]


def repeated_body(n: int) -> bytes:
    """A row of columns that all are the same body, of n bytes together."""
    width = 100
    body = bytes([BytesCode.LENGTHS]) + const(1000) + b"x" * 1000
    shape = NODE["TUPLE_ROW"] + bytes([width]) + (LIST + LEAF) * width
    lengths = b"".join(n.to_bytes(8, "little") for _ in range(width))
    out = HEADER + b"\xff" + uvarint(len(shape)) + shape + bytes([Kind.POOL_I64]) * width + bytes([Kind.BYTES]) * width
    return out + lengths + b"\0" + uvarint(len(body) << 1) + b"\1" * (width - 1) + body


WAYS: Final[dict[str, Callable[[int], bytes]]] = {
    **{name: (lambda n, shape=shape, slots=slots: payload(LIST + shape, pooled(n), *slots)) for name, (shape, slots) in NODES.items()},
    **{
        f"column of {name}": (lambda n, kind=kind, body=body: payload(LIST + LEAF, pooled(n), Slot(kind, body(n))))
        for name, (kind, body) in BODIES.items()
    },
    **OTHER_WAYS,
}
"""Name -> a payload that asks for n things."""

OPTIONS: Final[tuple[dict[str, Any], ...]] = ({}, {"tables": "columns", "numbers": "array", "copy": "never"})


@pytest.mark.parametrize("way", WAYS)
def test_a_hundred_million_items_from_a_few_bytes_are_refused(way: str) -> None:
    for n in (MANY, 1 << 40, (1 << 62) + 7):
        data = WAYS[way](n)
        assert len(data) < 3000
        for options in OPTIONS:
            peak, taken, came = held(data, **options)
            assert isinstance(came, DecodeError), type(came)
            assert is_within(data, peak), (n, peak / MEGABYTE, came)
            assert taken < 5, came


SMALL: Final = npser.Limits(items=1 << 16, expansion=0)

OF_A_DEQUE: Final = 48 * MEGABYTE
"""An empty deque has room for 64 items: 760 bytes."""


@pytest.mark.parametrize("way", WAYS)
def test_what_a_budget_allows_is_bounded(way: str) -> None:
    """The largest n that a small budget allows: where a payload gets the most for its bytes."""
    allowed = [n for n in (1 << 16, 65_000, 1 << 15, 32_000, 20_000, 1 << 14, 600) if is_allowed(WAYS[way](n))]
    for n in allowed[:1]:
        data = WAYS[way](n)
        for options in OPTIONS:
            peak, taken, came = held(data, limits=SMALL, **options)
            allowance = OF_A_DEQUE if way == "deques" else ALLOWANCE
            assert peak < FACTOR * len(data) + allowance, (n, peak / MEGABYTE, came)
            assert taken < 10


def is_allowed(data: bytes) -> bool:
    try:
        npser.loads(data, limits=SMALL)
    except npser.NpserError:
        return False
    return True


def test_most_ways_are_allowed_for_some_number() -> None:
    """So that the test above tests something."""
    assert sum(is_allowed(make(600)) for make in WAYS.values()) > 0.8 * len(WAYS)


def test_the_default_budget_is_for_the_whole_payload() -> None:
    """Each half is allowed, both together are not, however they are asked for."""
    half = npser.Limits().items * 3 // 5
    shape = NODE["TUPLE_ROW"] + b"\2" + (LIST + LEAF) * 2
    alone = payload(LIST + LEAF, pooled(half), NONE)
    assert len(npser.loads(alone)) == half
    for second in (NONE, Slot(Kind.INT, const(3)), Slot(Kind.BOOL, b"\1\1"), Slot(Kind.POOL_CONST, small=bytes([Kind.POOL_U8, 7]))):
        with pytest.raises(LimitError, match="raise Limits"):
            npser.loads(payload(shape, pooled(half), NONE, pooled(half), second))


# -------------------------------------------------------------------------------------------- one thing that is enormous


SINGLES: Final[dict[str, Any]] = {
    "range": range(-(10**18), 10**18),
    "huge range": range(10**400),
    "exponent": Decimal("1E+999999999999999999"),
    "small exponent": Decimal("-1E-1999999999999999997"),
    "exponents": [Decimal("1E+999999999999999999"), Decimal("1E-999999999999999999")] * 20,
    "exponent as a key": {Decimal("1E+999999999999999999"): 1, Decimal("1E+99999999"): 2},
    "exponent and ints of its hash": {Decimal("1E+999999999999999999"), hash(Decimal("1E+999999999999999999"))},
    "exponent and fractions of its hash": {Decimal("1E+999999999"): 1, Fraction(hash(Decimal("1E+999999999"))): 2},
    "zero of many dimensions": np.empty((0, 2**40, 2**10), "i1"),
    "zero of a wide type": np.empty(0, "S1000000000"),
    "zero of wide structures": np.empty((0, 5), [("a", "S100000000"), ("b", "f8", (1000, 1000))]),
    "one byte of a wide structure": np.zeros(1, {"names": ["a"], "formats": ["u1"], "offsets": [1000], "itemsize": 1001}),
    "zero objects": np.empty((0, 2**40), object),
    "one of zero width": np.zeros(1, "V0"),
}


@pytest.mark.parametrize("name", SINGLES)
def test_what_is_lazy_costs_nothing(name: str) -> None:
    """A huge range or exponent is a few bytes in Python, too, and stays that."""
    data = npser.dumps(SINGLES[name])
    assert len(data) < 2000
    for options in OPTIONS:
        peak, taken, came = held(data, **options)
        assert not isinstance(came, npser.NpserError)
        assert is_within(data, peak)
        assert taken < 5


@pytest.mark.parametrize("width", ["S", "U", "V"])
def test_arrays_of_no_elements_or_no_bytes(width: str) -> None:
    for count, itemsize in ((0, 2**31 - 1), (MANY, 0), (1 << 62, 0), (0, 0), (MANY, 1), (1, MANY)):
        dtype = bytes([{"S": 0x40, "U": 0x41, "V": 0x42}[width]]) + uvarint(itemsize)
        for codes in (range(0x10, 0x60) if count == 0 else (dtype[0],)):
            body = b"\1" + bytes([codes]) + dtype[1:] + const(1) + const(count) + b"\1\0\0"
            for data in (payload(NODE["ARRAY"], Slot(Kind.ARRAY, body)), HEADER + bytes([Kind.ARRAY]) + body):
                peak, taken, _ = held(data)
                assert is_within(data, peak)
                assert taken < 5


def test_a_maxlen_or_member_of_thousands_of_digits_is_refused_like_any_other() -> None:
    """Python refuses to write such ints in decimal, and so must nobody who makes a message."""
    for big in (10**5000, -(10**5000), 1 << 64):
        body = big.to_bytes(big.bit_length() // 8 + 1, "little", signed=True)
        slot = Slot(Kind.BIGINT, b"\0" + ints([len(body)]) + body)
        with pytest.raises(DecodeError):
            npser.loads(payload(NODE["DEQUE"] + LEAF, pooled(0), slot, NONE))
        for form, contents in (("enum", big), ("object", {"x": big}), ("state", [big]), ("named tuple", {"x": range(big)})):
            found = npser.loads(npser.dumps(npser.Placeholder("a:B", form, contents)))  # type: ignore[arg-type]
            assert len(repr(found)) < 500
            with pytest.raises(npser.NpserError) as caught:
                npser.loads(npser.dumps(found), unknown="refuse")
            assert len(str(caught.value)) < 500
        flags = npser.dumps(npser.Placeholder(class_name(Flags), "enum", big))
        with pytest.raises(DecodeError):
            npser.loads(flags, classes=[Flags])


class Flags(enum.Flag, boundary=enum.STRICT):
    A = 1


# -------------------------------------------------------------------------------------------------------------- options


def nested(depth: int) -> bytes:
    return payload(LIST * depth + LEAF, pooled(0), *[NOTHING_STORED] * (depth - 1), NONE)


def test_depth() -> None:
    for depth in (1, 2, 50, 512):
        for data in (nested(depth), payload((NODE["TUPLE_ROW"] + b"\1") * depth + LEAF, NONE)):
            npser.loads(data, limits=npser.Limits(depth=depth))
            for lower in {0, depth - 1}:
                with pytest.raises(LimitError, match=rf"(?s)more than {lower} containers.*Limits\(depth="):
                    npser.loads(data, limits=npser.Limits(depth=lower))
    with pytest.raises(LimitError, match=r"Limits\(depth="):
        npser.loads(nested(513))
    npser.loads(nested(2000), limits=npser.Limits(depth=2000))


def test_depth_is_not_forgotten_by_the_cache_of_shapes() -> None:
    data = nested(10)
    for _ in range(100):
        npser.loads(data)
        with pytest.raises(LimitError):
            npser.loads(data, limits=npser.Limits(depth=9))


def test_items_and_expansion() -> None:
    for n in (17, 1000, 1 << 16):
        data = payload(LIST + LEAF, pooled(n), NONE)
        size, cells = len(data), weigh(data)
        assert n <= cells < n + 100
        npser.loads(data, limits=npser.Limits(items=cells, expansion=0))
        npser.loads(data, limits=npser.Limits(items=cells - 8 * size, expansion=8))
        npser.loads(data, limits=npser.Limits(items=0, expansion=-(-cells // size)))
        for limits in (
            npser.Limits(items=cells - 1, expansion=0),
            npser.Limits(items=cells - 8 * size - 1, expansion=8),
            npser.Limits(items=0, expansion=(cells - 1) // size),
        ):
            with pytest.raises(LimitError, match=rf"{8 * n} bytes of memory.*raise Limits\(items="):
                npser.loads(data, limits=limits)


def test_items_beyond_the_default_can_be_allowed() -> None:
    n = 3 * npser.Limits().items
    data = payload(LIST + LEAF, pooled(n), NONE)
    with pytest.raises(LimitError, match=r"raise Limits\(items="):
        npser.loads(data)
    assert len(npser.loads(data, limits=npser.Limits(items=n))) == n


def test_bytes() -> None:
    data = npser.dumps(b"x" * 1000)
    npser.loads(data, limits=npser.Limits(bytes=len(data)))
    with pytest.raises(LimitError, match=r"Limits\(bytes="):
        npser.loads(data, limits=npser.Limits(bytes=len(data) - 1))


def test_honest_data_meets_no_limit() -> None:
    """The writer knows the budget: what would ask for too much is stored instead."""
    for n in (1 << 13, (1 << 14) + 1, 1 << 16, (1 << 20) + 1, 3 * (1 << 20)):
        for value in ([None] * n, [7] * n, list(range(n)), [True] * n, ["x"] * n, [0.5] * n):
            found = npser.loads(npser.dumps(value))
            assert found == value
    for value in ([[]] * 2_000_000, [{}] * 1_500_000, [()] * 1_500_000, [{"a": None}] * 1_200_000):
        assert npser.loads(npser.dumps(value)) == value


# ------------------------------------------------------------------------------------------------- work instead of memory


class Open:
    """Holds what it is given."""


def placeholders(rows: list[dict[str, Any]]) -> list[npser.Placeholder]:
    return [npser.Placeholder(class_name(Open), "object", row) for row in rows]


def rows_of_patterns(n: int, count: int = 0) -> list[dict[str, Any]]:
    """Rows of so many different patterns of three keys."""
    rng = random.Random(n)
    names = [f"{i:x}" for i in range(count or n // 8)]
    return [dict.fromkeys(rng.sample(names, 3)) for _ in range(n)]


WORK: Final[dict[str, tuple[Callable[[int], Any], dict[str, Any]]]] = {
    "fields": (lambda n: placeholders([{f"{i:x}": None for i in range(n)}]), {"classes": [Open]}),
    "patterns": (lambda n: placeholders(rows_of_patterns(n)), {"classes": [Open]}),
    "patterns of dicts": (rows_of_patterns, {}),
    "patterns as columns": (lambda n: rows_of_patterns(n, 50), {"tables": "columns"}),
    "classes": (lambda n: [npser.Placeholder(f"a:B{i}", "object", {"x": i}) for i in range(n // 2)], {}),
    "key sets": (lambda n: {str(i): {f"{i:x}": 1} for i in range(n // 2)}, {}),
    "lists of lists": (lambda n: [[i] * (i % 3) for i in range(n)], {"numbers": "array"}),
    "tuples in sets": (lambda n: {(i, (i, (i,))) for i in range(n)}, {}),
    "zones": (lambda n: [Decimal(i).scaleb(i % 50) for i in range(n)], {}),
    "mixed": (lambda n: [(i, str(i), None, 2.5, b"x", 2**70, 1j)[i % 7] for i in range(n)], {}),
    "shared": (lambda n: [box for box in placeholders([{"x": i} for i in range(n // 2)]) for _ in range(2)], {}),
    "chain": (lambda n: chained(n // 200), {"identity": "preserve"}),
    "arrays": (lambda n: [np.arange(i % 3) for i in range(n // 4)], {}),
    "object arrays": (lambda n: [np.array([i, None], object) for i in range(n // 8)], {}),
}


def chained(n: int) -> list[Any]:
    """Lists that share one another, so that as a tree they would be 2^n."""
    lists: list[Any] = [[1]]
    for _ in range(n):
        lists.append([lists[-1], lists[-1]])
    return lists


@pytest.mark.parametrize("name", WORK)
def test_work_is_proportional_to_the_input(name: str) -> None:
    """A payload of about a hundred kilobytes; what is quadratic would take many times the bound of 50 ms a kilobyte."""
    make, options = WORK[name]
    for n in (1_000, 20_000):
        value = make(n)
        data = npser.dumps(value, identity=options.get("identity", "objects"))
        peak, taken, came = held(data, **{key: option for key, option in options.items() if key != "identity"})
        assert not isinstance(came, npser.NpserError), came
        assert taken < 1 + 0.05 * len(data) / 1000
        assert peak < (1 << 26) + 1000 * len(data)


def nested_frozensets(depth: int, n: int) -> bytes:
    """Frozensets within each other, the innermost one of n objects that came before."""
    shape = NODE["TUPLE_ROW"] + b"\2" + LIST + RECORD + keys("x") + LEAF + NODE["FROZENSET"] * depth + NODE["REFERENCE"]
    return payload(shape, pooled(n), NONE, pooled(1), *[ONES] * (depth - 2), Slot(Kind.INT, const(n)), Slot(Kind.INT, affine(0, 1)))


@dataclasses.dataclass(frozen=True)
class Hashed:
    """Not hashed by identity."""

    x: Any


@pytest.mark.parametrize("classes", [{}, {"a:B": Hashed}])
def test_what_is_hashed_deep_inside_is_looked_at_once(classes: Any) -> None:
    n = 1 if classes else 10_000  # their hashes are all the same
    data = nested_frozensets(480, n)
    _, taken, came = held(data, classes=classes)
    assert type(came) is tuple
    assert taken < 2.5


PRIME: Final = (1 << 61) - 1
"""The hash of an int is its remainder by it."""

ALIKE: Final[dict[str, Callable[[int], Any]]] = {
    "ints in a set": lambda n: {i * PRIME for i in range(n)},
    "ints in a dict": lambda n: {i * PRIME + 5: i for i in range(n)},
    "tuples": lambda n: {(i * PRIME, "x"): None for i in range(n)},
    "fractions": lambda n: frozenset(Fraction(i * PRIME + 1, 1) for i in range(n)),
    "complex": lambda n: {complex(-1_000_003 * i, i): i for i in range(n)},
    "half of them": lambda n: {i * (PRIME if i % 2 else 1) for i in range(n)},
}


@pytest.mark.parametrize("sort", ALIKE)
def test_keys_that_all_have_one_hash_are_refused(sort: str) -> None:
    """Each would be compared with all others, for minutes."""
    make = ALIKE[sort]
    with pytest.MonkeyPatch.context() as patch:
        for module in (collisions, maps):
            patch.setattr(module, "MANY_KEYS", 2000)
        few, many = npser.dumps([make(600)]), npser.dumps([make(2500)])
        assert npser.loads(few) == [make(600)]
        for data in (many, npser.dumps([make(2500)], identity="preserve")):
            with pytest.raises(LimitError, match="keys have the same hash"):
                npser.loads(data)
    assert npser.loads(many) == [make(2500)]


def test_honest_keys_are_not_refused() -> None:
    n = collisions.MANY_KEYS + 1
    for value in (
        set(range(-n, n)),
        {i / 8: i for i in range(n)},
        {2**70 + i: None for i in range(n)},
        {(i % 100, i // 100) for i in range(n)},
        {complex(i % 100, i // 100) for i in range(n)},
        {Decimal(i).scaleb(-2) for i in range(n)},
        {Fraction(1, i + 1) for i in range(n)},
        {frozenset({i, i + 1}) for i in range(n)},
        {(float(i), None, str(i)): 1 for i in range(n)},
        {1 << i for i in range(n // 8)},
    ):
        assert npser.loads(npser.dumps(value)) == value


SAME_KEYS: dict[str, Callable[[int], object]] = {
    "sets": lambda i: {i % 2, "a"},
    "frozensets": lambda i: frozenset((i % 2, 2.5)),
    "dicts": lambda i: {i % 2: i, None: 1},
    "counters": lambda i: collections.Counter((i % 2, b"x")),
    "default dicts": lambda i: collections.defaultdict(list, {(i % 2, "a"): []}),
    "ordered dicts": lambda i: collections.OrderedDict({i % 2: 1, Decimal(7): 2}),
}


@pytest.mark.parametrize("sort", SAME_KEYS)
@pytest.mark.parametrize("identity", ["objects", "preserve"])
def test_many_that_hold_the_same_few_keys_are_not_refused(sort: str, identity: Any) -> None:
    """Each key is compared with those of its own dict or set."""
    value = [SAME_KEYS[sort](i) for i in range(collisions.MANY_KEYS)]
    back = npser.loads(npser.dumps(value, identity=identity))
    assert back == value
    assert list(map(type, back)) == list(map(type, value))


def test_keys_of_one_hash_are_refused_in_many_dicts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (collisions, maps):
        monkeypatch.setattr(module, "MANY_KEYS", 2000)
    data = npser.dumps([{i * PRIME: k for i in range(300)} for k in range(8)])
    with pytest.raises(LimitError, match="keys have the same hash"):
        npser.loads(data)


class Same:
    """A class of the caller may hash as it likes, slow as that is."""

    def __init__(self, x: int) -> None:
        self.x = x

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.x == other.x


def test_a_class_may_hash_as_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (collisions, maps):
        monkeypatch.setattr(module, "MANY_KEYS", 100)
    value = {Same(i) for i in range(300)}
    assert npser.loads(npser.dumps(value), classes=[Same]) == value


# ------------------------------------------------------------------------------------------------ chains that crash Python


def chain(sort: str, n: int, *, closed: bool = False) -> bytes:
    """So many containers, each of which holds the next one; the last one holds the first if the chain is closed."""
    lengths = Slot(Kind.INT, ints([1] * (n - 1) + [int(closed)]))
    first = 0 if sort == "arrays" else 1  # the list around them has a number of its own
    following = Slot(Kind.INT, ints([*range(first + 1, first + n), *([first] if closed else [])]))
    if sort == "arrays":
        return payload(LIST + NODE["OBJECT_ARRAY"] + NODE["REFERENCE"], pooled(n), ONES, lengths, Slot(Kind.FALSE), following)
    if sort == "deques":
        return payload(NODE["PRESERVE"] + LIST + NODE["DEQUE"] + NODE["REFERENCE"], pooled(n), lengths, NONE, following)
    shape = NODE["PRESERVE"] + LIST + NODE["DEFAULT_DICT"] + b"\1" + LEAF + NODE["REFERENCE"]
    return payload(shape, pooled(n), lengths, NONE, following)


READER: Final = """
import gc, sys
import npser
for line in sys.stdin.read().split():
    for options in ({}, {"tables": "columns", "numbers": "array"}):
        try:
            value = npser.loads(bytes.fromhex(line), limits=npser.Limits(items=1 << 25), **options)
        except npser.DecodeError as error:
            print(type(error).__name__)
            del error
        else:
            print(len(value))
            value[1:] = [None] * (len(value) - 1)
            del value
        gc.collect()
"""


def read_elsewhere(*payloads: bytes) -> list[str]:
    """What another process says of payloads; it may die of them."""
    done = subprocess.run(
        [sys.executable, "-c", READER], input="\n".join(data.hex() for data in payloads), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-1000:])
    return done.stdout.split()


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("sort", ["arrays", "deques", "defaultdicts"])
def test_no_chain_is_so_long_that_freeing_it_overflows_the_stack(sort: str, closed: bool) -> None:
    short = [chain(sort, n, closed=closed) for n in (2, 100, 512)]
    long = [chain(sort, n, closed=closed) for n in (513, 5000, 200_000)]
    assert read_elsewhere(*short) == [str(n) for n in (2, 100, 512) for _ in range(2)]
    assert read_elsewhere(*long) == ["LimitError"] * 6


def test_a_chain_is_taken_apart_when_something_else_is_wrong() -> None:
    """The chain is complete when the error is found, and nobody may let go of it."""
    n = 100_000
    shape = NODE["TUPLE_ROW"] + b"\3" + NODE["SET"] + LIST + LEAF + LIST + NODE["OBJECT_ARRAY"] + NODE["REFERENCE"] + LEAF
    lengths = Slot(Kind.INT, ints([1] * (n - 1) + [0]))
    data = payload(
        *(shape, pooled(1), ONES, NONE, pooled(n), ONES, lengths, Slot(Kind.FALSE)),
        *(Slot(Kind.INT, ints(range(1, n))), NONE),
    )
    assert read_elsewhere(data) == ["DecodeError"] * 2


def test_chains_are_measured_right() -> None:
    """Against the plain definition, on small graphs."""
    rng = random.Random(5)
    for _ in range(300):
        n = rng.randrange(1, 8)
        made: list[Any] = [rng.choice((collections.deque, lambda: collections.defaultdict(int), lambda n=n: np.empty(n, object)))() for _ in range(n)]
        holds = {at: set(rng.sample(range(n), rng.randrange(min(3, n + 1)))) for at in range(n)}
        for at, others in holds.items():
            for number, other in enumerate(others):
                item = slice(None, made[other]) if rng.random() < 0.2 else made[other]
                if isinstance(made[at], collections.deque):
                    made[at].append(item)
                else:
                    made[at][number] = item
        found, longest = chains.longest_chain(made), longest_path(holds)
        assert found >= longest
        if not is_cyclic(holds) and not any(isinstance(item, slice) for thing in made for item in inside(thing)):
            assert found == longest
        chains.break_chains(made)
        assert chains.longest_chain(made) == 1


def inside(thing: Any) -> list[Any]:
    return list(thing.values()) if isinstance(thing, dict) else list(thing)


def longest_path(holds: dict[int, set[int]]) -> int:
    def walk(at: int, seen: frozenset[int]) -> int:
        return 1 + max((walk(other, seen | {other}) for other in holds[at] - seen), default=0)

    return max(walk(at, frozenset({at})) for at in holds)


def is_cyclic(holds: dict[int, set[int]]) -> bool:
    def reaches(at: int, goal: int, seen: set[int]) -> bool:
        return any(other == goal or (other not in seen and (seen.add(other) or reaches(other, goal, seen))) for other in holds[at])

    return any(reaches(at, at, set()) for at in holds)
