"""Weights and padding: what a value takes in memory, and payloads that are longer than their values need.

Strategy: values of one sort, as many and as much alike as there can be, are written in almost nothing and padded. Each
comes back, takes no more memory than its bytes allow, and is refused with a cell less. That a writer counts at least
what a reader draws is a property of any value.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import re
import tracemalloc
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings

import npser
from npser import encoder, weights
from npser.decoder import weigh
from npser.limits import Limits
from npser.tags import Kind, Node
from same import difference
from strategies import values

MEGABYTE: Final = 1 << 20
N: Final = 100_000


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


@dataclasses.dataclass(slots=True)
class Slotted:
    x: Any


class Pair(NamedTuple):
    a: Any
    b: Any


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


CLASSES: Final = (Point, Slotted, Pair, Colour)
NAMES: Final = [f"k{number}" for number in range(60)]

SORTS: Final[dict[str, Callable[[int], Any]]] = {
    "ints": lambda i: 1000 + i % 2,
    "steps": lambda i: 1000 + i,
    "int, constant": lambda i: 1000,
    "bigints": lambda i: 2**70 + i % 2,
    "floats": lambda i: i / 4,
    "bools": lambda i: i % 3 == 0,
    "nones": lambda i: None,
    "nullable": lambda i: None if i % 2 else 1000,
    "mixed": lambda i: 1.5 if i % 2 else 1000,
    "texts": lambda i: "yes" if i % 2 else "no",
    "short texts": lambda i: f"{i:x}",
    "bytes": lambda i: b"yes" if i % 2 else b"no",
    "bytearrays": lambda i: bytearray(i % 2),
    "complex": lambda i: complex(i % 2, 1),
    "dates": lambda i: datetime.date(2020, 1, 1 + i % 2),
    "datetimes": lambda i: datetime.datetime(2020, 1, 1, 0, 0, i % 2),
    "aware datetimes": lambda i: datetime.datetime(2020, 1, 1, 0, 0, i % 2, tzinfo=datetime.UTC),
    "times": lambda i: datetime.time(0, 0, i % 2),
    "timedeltas": lambda i: datetime.timedelta(1 + i % 2),
    "decimals": lambda i: decimal.Decimal(100 + i % 2),
    "odd decimals": lambda i: decimal.Decimal("NaN") if i % 2 else decimal.Decimal(1),
    "fractions": lambda i: fractions.Fraction(100 + i % 2),
    "uuids": lambda i: uuid.UUID(int=i),
    "paths": lambda i: pathlib.PurePosixPath("ab"[i % 2]),
    "addresses": lambda i: ipaddress.ip_address(i % 2),
    "ranges": lambda i: range(i % 2),
    "numpy scalars": lambda i: np.int8(i % 2),
    "ellipses": lambda i: ...,
    "arrays": lambda i: np.zeros(i % 2, "i1"),
    "object arrays": lambda i: np.array([None, i % 2], object),
    "lists": lambda i: [],
    "lists of one": lambda i: [i % 2],
    "rows": lambda i: [i % 2, "a"],
    "tuples": lambda i: (i % 2,) * (i % 3),
    "tuples of one": lambda i: (i % 2,),
    "sets": lambda i: {i % 2},
    "frozensets": lambda i: frozenset(),
    "deques": lambda i: collections.deque(),
    "slices": lambda i: slice(i % 2),
    "dicts of none": lambda i: {},
    **{f"dicts of {k}": (lambda i, k=k: dict.fromkeys(NAMES[:k], i % 2)) for k in (1, 5, 6, 7, 29, 30, 43)},
    "dicts that vary": lambda i: {"a": i} if i % 2 else {"b": i},
    "maps": lambda i: {1000 + i % 2: 1},
    "ordered dicts": lambda i: collections.OrderedDict(a=i % 2),
    "default dicts": lambda i: collections.defaultdict(int, a=i % 2),
    "counters": lambda i: collections.Counter((i % 2,)),
    "objects": lambda i: Point(i % 2, None),
    "objects with slots": lambda i: Slotted(i % 2),
    "named tuples": lambda i: Pair(i % 2, None),
    "enums": lambda i: Colour(1 + i % 2),
    "text scalars": lambda i: np.str_("ab"[i % 2]),
    "empty text scalars": lambda _: np.str_(""),
    "wide text scalars": lambda _: np.str_("😀"),
    "different text scalars": lambda i: np.str_(i),
    "byte scalars": lambda i: np.bytes_(b"ab"[i % 2 : i % 2 + 1]),
    "empty byte scalars": lambda _: np.bytes_(b""),
    "number scalars": lambda i: np.int64(i % 2),
    "voids": lambda i: np.void(bytes(1 + i % 2)),
    "voids of eight bytes": lambda _: np.void(bytes(8)),
    "empty voids": lambda _: np.void(b""),
    "structures": lambda i: np.array(i % 2, [("a", "i1")])[()],
    "structures of two fields": lambda i: np.array((i % 2, i), [("a", "i1"), ("b", "<i8")])[()],
    "empty structures": lambda _: np.zeros((), [])[()],
    "of two sorts": lambda i: {"a": 1} if i % 2 else [1],
}
"""Name -> a value of the sort, which hardly differs from the others."""


def padding(data: bytes) -> int:
    """How many bytes of padding a payload has, with the mark."""
    zeros = int.from_bytes(data[-8:], "little")
    return zeros + 8 if 0 < zeros <= len(data) - 12 and not data[-8 - zeros : -8].strip(b"\0") else 0


@pytest.mark.parametrize("sort", SORTS)
def test_a_value_takes_what_its_bytes_allow(sort: str) -> None:
    make = SORTS[sort]
    value = [make(i) for i in range(N)]
    data = npser.dumps(value)
    for classes in (CLASSES, ()):
        tracemalloc.start()
        try:
            back = npser.loads(data, classes=classes)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 8 * weigh(data) * 1.05 + MEGABYTE
        assert peak < 64 * len(data) + 16 * MEGABYTE
        if classes:
            assert difference(value, back) is None


@pytest.mark.parametrize("megabytes", [0.5, 1, 1.5, 1.9])
def test_many_arrays_of_a_few_bytes_take_no_more_than_themselves(megabytes: float) -> None:
    n = int(megabytes * (1 << 17))
    payload = npser.dumps([np.full(n, at) for at in range(int(15 / megabytes))])
    npser.loads(payload)
    tracemalloc.start()
    try:
        npser.loads(payload)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 16_000_000 + 64 * len(payload)


@pytest.mark.parametrize("sort", ["lists", "dicts of 7", "texts", "sets", "deques", "objects", "steps"])
def test_padding_is_what_is_lacking(sort: str) -> None:
    data = npser.dumps([SORTS[sort](i) for i in range(4 * N)])
    padded, cells = padding(data), weigh(data)
    budget = Limits().budget(len(data))
    assert cells <= budget
    if padded:
        assert budget - cells < 8 * 8
    else:
        assert sort == "texts"
    with pytest.raises(npser.LimitError, match="raise Limits"):
        npser.loads(data, limits=Limits(items=(1 << 21) - (budget - cells) - 1))
    assert npser.loads(data, limits=Limits(items=(1 << 21) - (budget - cells)), classes=CLASSES) is not None


LISTS: Final = [[i % 7] * (i % 3) for i in range(500_000)]


@pytest.fixture(scope="module")
def padded() -> bytes:
    data = npser.dumps(LISTS)
    assert padding(data) > 100_000
    return data


def test_padding_may_be_read_in_every_way(padded: bytes) -> None:
    assert npser.loads(padded) == LISTS
    assert npser.view(padded)[77_777] == LISTS[77_777]
    assert npser.view(padded).value() == LISTS
    report = npser.inspect(padded)
    assert report.error is None
    assert f"{padding(padded):,}" in next(line for line in str(report).splitlines() if "(padding)" in line)
    rows = npser.dumps([{"a": i % 2} for i in range(200_000)])
    assert padding(rows)
    assert npser.loads(npser.concat([rows, rows])) == 2 * npser.loads(rows)
    assert npser.loads(rows, select=["a"])["a"] == [i % 2 for i in range(200_000)]
    for options in ({"key": bytes(16)}, {"compress": "zlib"}, {"checksum": "crc32", "compress": "zlib"}):
        codec = npser.Codec(**options)
        assert codec.loads(codec.dumps(LISTS)) == LISTS
    assert npser.loads(npser.dumps(npser.loads(padded), order="canonical")) == LISTS


def test_padding_that_is_not_as_it_should_be_is_refused(padded: bytes) -> None:
    zeros = padding(padded) - 8
    for wrong in (
        padded + b"\0",
        padded + bytes(16),
        padded[:-1],
        padded[: -zeros // 2],
        padded[:-8] + (zeros + 1).to_bytes(8, "little"),
        padded[:-8] + (zeros - 1).to_bytes(8, "little"),
        padded[:-9] + b"\1" + padded[-8:],
        padded[: -zeros - 8],
    ):
        with pytest.raises(npser.DecodeError):
            npser.loads(wrong)
    small = npser.dumps([1, 2, 3])
    assert npser.loads(small + bytes(3) + (3).to_bytes(8, "little")) == [1, 2, 3]
    for behind in (b"\0", bytes(8), bytes(9), bytes(8) + bytes(8)):
        with pytest.raises(npser.DecodeError, match="behind the end"):
            npser.loads(small + behind)


@given(values)
@settings(max_examples=300)
def test_a_writer_counts_what_a_reader_draws(value: Any) -> None:
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoder, "_within_budget", lambda payload, cells: drawn.append(cells) or payload)
        data = npser.dumps(value)
    if drawn:
        assert drawn[0] * encoder.MARGIN >= weigh(data)


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("n", [1, 2, 100, 2000])
def test_a_writer_counts_what_a_reader_draws_of_many(sort: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(encoder, "_within_budget", lambda payload, cells: drawn.append(cells) or payload)
    items = [SORTS[sort](i) for i in range(n)]
    for value in (items, {"a": items}, [{"x": item, "y": [item]} for item in items]):
        drawn.clear()
        data = npser.dumps(value)
        assert drawn[0] * encoder.MARGIN >= weigh(data)


def test_weights_are_those_of_the_text() -> None:
    text = (Path(npser.__file__).parent / "FORMAT.md").read_text(encoding="utf-8")
    section = text[text.index("## 8 Limits") : text.index("## 9 Rules")]
    told: dict[str, int] = {}
    for name, cells in re.findall(r"`([A-Z_]+)` \| (\d+)", section):
        told.setdefault(name, int(cells))
    for numbers, names in ((weights.KINDS, Kind), (weights.NODES, Node)):
        for number, cells in numbers.items():
            assert told[names(number).name] == cells, names(number)
    for k in range(100):
        rule = 10 if not k else 24 if k < 6 else 34 if k == 6 else 12 + k if k < 30 else 5 * k
        assert weights.row_weight(k) == rule
    assert f"| {', '.join(map(str, (weights.SCALARS['U'], weights.SCALARS['S'], weights.STRUCTURE, weights.SCALARS['V'])))} |" in section
    assert (weights.OBJECT, weights.VARIED, weights.ENTRY, weights.MEMBER) == (14, 4, 16, 8)
    assert (weights.SHAPE_BYTE, weights.SINGLE, set(weights.POOLED[:5]), weights.STEP, weights.TEXT_ITEM) == (6, 8, {6}, 5, 8)
