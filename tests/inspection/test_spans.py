"""Every byte is in exactly one span, of every payload there is; and walking raises nothing but its own errors."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import npser
import strategies
import values
from golden.corpus import Vector, load
from inspection.tiles import check_tiles, check_whole
from npser.columns.arraydata import DataForm
from npser.inspection import arrayspans, blockspans, columnspans, intchunks, layers, nodespans, poolspans, spans, why
from npser.inspection.slotspans import MAX_SLOTS
from npser.limits import Limits
from npser.shapes import build
from npser.shapes.leaves import LeafRun
from npser.tags import BitCode, BytesCode, FloatCode, IntCode, Kind, Lead, TextCode
from test_structure import every_node

VECTORS = [vector for vector in load() if vector.is_for_here]


@pytest.mark.parametrize("vector", VECTORS, ids=str)
def test_golden_vectors(vector: Vector) -> None:
    if vector.value is None:
        check_tiles(vector.data)
    else:
        check_whole(vector.data)


@pytest.mark.parametrize("vector", [vector for vector in VECTORS if len(vector.data) <= 200][::4], ids=str)
def test_cut_anywhere_it_says_so(vector: Vector) -> None:
    for length in range(len(vector.data)):
        report = check_tiles(vector.data[:length])
        if vector.value is not None:
            assert report.error is not None


@pytest.mark.parametrize("name", values.MAKERS)
def test_columns_of_every_type(name: str) -> None:
    for size in values.SIZES:
        items = values.MAKERS[name](size)
        for value in (items, {"a": items, "b": [items, items[:3]]}, [{"a": item} for item in items]):
            try:
                data = npser.dumps(value)
            except npser.EncodeError:
                continue
            check_whole(data)


@pytest.mark.parametrize("name", values.TRAPS)
def test_traps(name: str) -> None:
    try:
        data = npser.dumps(values.TRAPS[name], identity="preserve")
    except npser.EncodeError:
        return
    check_whole(data)


@settings(max_examples=60, deadline=None)
@given(strategies.values)
def test_any_value(value: Any) -> None:
    try:
        data = npser.dumps(value)
    except npser.EncodeError:
        return
    check_whole(data)


def test_damaged_bytes_raise_nothing() -> None:
    """Any bytes give a report; drawing it gives text of the width that was promised."""
    dice = random.Random(7)
    for vector in VECTORS[::3]:
        if len(vector.data) > 2000:
            continue
        for _ in range(12):
            data = bytearray(vector.data)
            for _ in range(dice.randrange(1, 4)):
                if data:
                    data[dice.randrange(len(data))] = dice.randrange(256)
            report = check_tiles(bytes(data))
            assert max(map(len, repr(report).splitlines())) <= 100
            report._repr_html_()


@pytest.mark.parametrize("data", [b"", b"\xc1", b"\xc1\x01", b"\xc1\x07\x00", b"\x80\x05K\x01.", b"{}", b"\xc1\x01\xff"])
def test_what_is_no_payload(data: bytes) -> None:
    report = check_tiles(data)
    assert isinstance(report.error, npser.NpserError)


def test_buffers_of_all_sorts() -> None:
    data = npser.dumps([1.5, 2.5])
    for buffer in (bytearray(data), memoryview(data), np.frombuffer(data, "u1")):
        assert npser.inspect(buffer).size == len(data)
    with pytest.raises(npser.DecodeError):
        npser.inspect("text")


# -------------------------------------------------------------------------------------------------------------- hostile


def payload(shape: bytes, rest: bytes) -> bytes:
    size = len(shape)
    varint = bytearray()
    while size > 0x7F:
        varint.append(size & 0x7F | 0x80)
        size >>= 7
    varint.append(size)
    return b"\xc1\x01\xff" + varint + shape + rest


MANY = 70_000
ROW = b"\x08" + bytes([MANY & 0x7F | 0x80, MANY >> 7 & 0x7F | 0x80, MANY >> 14])

HOSTILE = {
    "singles": payload(ROW + bytes(MANY), b"\x03" * MANY + b"\x07" * MANY + b"\0"),
    "texts": payload(ROW + bytes(MANY), b"\x08" * MANY + b"\x20" + ROW[1:] + b"\0\0" + b"\xef\xa2\x04" + b"\0" * (MANY - 1)),
    "columns": payload(
        b"\x02" + ROW + bytes(MANY), b"\x03" + b"\x03" * MANY + b"\x02" + b"\x01" + b"\xe0\xc5\x08" + b"\x07" * 2 * MANY
    ),
    "bodies": payload(ROW + bytes(MANY), b"\x18" * MANY + b"\0" + b"\x04" * MANY + b"\x01\x02" * MANY),
    "lists": payload(ROW + b"\x02\0" * MANY, b"\x03" * MANY + b"\0" * MANY + b"\0" * MANY + b"\0"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_many_columns_are_bounded(name: str) -> None:
    report = check_tiles(HOSTILE[name])
    if name in ("singles", "columns", "bodies", "texts"):
        assert report.error is None
    assert sum(1 for _ in report.parts()) < 4 * MAX_SLOTS
    assert sum(1 for _ in report.spans()) < 8 * MAX_SLOTS
    assert len(repr(report).splitlines()) < 110
    assert len(report._repr_html_()) < 150_000
    more = [part for part in report.leaves() if part.path == "(more columns)"]
    assert len(more) == 1
    assert more[0].count > 0


def test_a_million_columns_are_passed_over_exactly() -> None:
    """Plain numbers beyond those that are told apart: in bulk, and with the same sums."""
    n = 1_000_000
    size = bytes([n & 0x7F | 0x80, n >> 7 & 0x7F | 0x80, n >> 14])
    kinds = bytes([0, 1, 2, 3, 4, 5, 6, 7] * (n // 8))
    data = payload(b"\x08" + size + bytes(n), kinds + b"\x01" * (n // 8 * 23) + b"\0")
    report = check_tiles(data)
    assert report.error is None
    (more,) = [part for part in report.leaves() if part.path == "(more columns)"]
    told = [part for part in report.leaves() if part.path.startswith("$")]
    assert more.count + sum(part.count for part in told) == n
    assert more.nbytes + sum(part.nbytes for part in told) == n // 8 * 23
    assert more.raw + sum(part.raw for part in told) == n // 8 * (5 * 8 + 3)


def test_a_count_of_items_out_of_nothing_is_refused() -> None:
    report = check_tiles(b"\xc1\x01\x39" + b"\xff" * 8 + b"\x7f" + b"\x00")  # 2**62 times 0
    assert isinstance(report.error, npser.LimitError)
    assert npser.inspect(b"\xc1\x01\x39\x80\x80\x80\x02\x00", limits=Limits(items=1 << 30)).error is None


def test_many_dtypes_in_one_body() -> None:
    n = 3000
    body = bytes([0xB8, 0x17]) + b"\x05" * n + b"\x01\x00" + b"\x07" * 1
    report = check_tiles(b"\xc1\x01\x37\x01\x2f" + body)
    assert report.error is None or isinstance(report.error, npser.DecodeError)
    assert sum(1 for _ in report.spans()) < 2000


# --------------------------------------------------------------------------------------------------------------- tables


def test_tables_are_total() -> None:
    assert set(blockspans.INTS) == set(IntCode)
    assert set(blockspans.FLOATS) == set(FloatCode)
    assert set(blockspans.BITS) == set(BitCode)
    assert set(blockspans.TEXTS) == set(TextCode)
    assert set(blockspans.BYTES) == set(BytesCode)
    assert set(intchunks.CHUNKS) <= set(IntCode)
    assert set(arrayspans.FORMS) == set(DataForm)
    assert set(columnspans.DTYPES) == set(Kind)
    pooled = {kind for kind in Kind if kind < Kind.INT}
    assert set(poolspans.TAKES) == pooled
    assert set(columnspans.COLUMNS) == set(Kind) - pooled | {Kind.NONE, Kind.FALSE, Kind.TRUE}
    assert set(spans.LEADS) == {0, *Lead}
    assert set(layers.LAYERS) == set(layers.EnvelopeCode)
    assert set(why.WAYS) == {IntCode, FloatCode, BitCode, TextCode, BytesCode}


def test_every_node_is_counted() -> None:
    assert set(nodespans.COUNTS) == {type(node) for node in every_node()} | {LeafRun}
    assert len(every_node()) == len(build.PARSERS) + 1


@pytest.mark.parametrize("n", [1, 2, 127, 1000, 200_000])
def test_chunks_are_the_values(n: int) -> None:
    dice = np.random.default_rng(n)
    from npser.blocks import ints
    from npser.blocks.choose import write_ints
    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

    for found in (
        dice.integers(-(2**62), 2**62, n),
        dice.integers(0, 200, n),
        dice.integers(0, 2**13, n) + 5,
        np.cumsum(dice.integers(0, 3, n)),
        np.arange(n) * 7 - 3,
        np.repeat(dice.integers(0, 2**40, n // 50 + 1), 50)[:n],
        np.where(dice.random(n) < 0.01, 2**50, dice.integers(0, 9, n)),
        dice.choice(dice.integers(0, 2**60, 20), n),
    ):
        write_ints(sink := Sink(), found.astype("<i8"))
        buf = memoryview(bytes(sink.out))
        chunks = [chunk.astype("<i8") for chunk in intchunks.int_chunks(buf, 0, len(buf), n)]
        assert (np.concatenate(chunks) == ints.read_ints(Cursor(buf, budget=1 << 60), n)).all()
