"""Compression: the same value back, only where it pays, and no more than the limits allow."""

from __future__ import annotations

import os
import sys
import tracemalloc
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from golden.corpus import NEEDS
from guard import fenced
from npser.blocks.sink import Sink
from npser.envelope import compression
from npser.envelope.compression import COMPRESS_FROM, WORTH, Compressor, open_compressed
from npser.envelope.methods import METHODS
from npser.errors import DecodeError, LimitError
from npser.limits import INFLATION, Limits
from npser.tags import BitCode, IntCode, Kind, Lead
from same import difference
from strategies import values
from values import CLASSES

INSTALLED = [name for name in METHODS if NEEDS.get(name, True)]
SIZES = (0, 1, 2, 7, 8, 9, 127, 128, 129, 1000, 100_000)
BASE = Limits().inflated(0)


@pytest.fixture(params=INSTALLED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def envelope(packed: bytes, size: int, code: int = 1) -> bytes:
    sink = Sink()
    sink.out += bytes((0xC1, 0x5A, code))
    sink.uvarint(size)
    sink.out += packed
    return bytes(sink.out)


def packed(name: str, inner: bytes, size: int | None = None) -> bytes:
    method = METHODS[name]
    return envelope(method.compress(inner, None), len(inner) if size is None else size, method.code)


# ----------------------------------------------------------------------------------------------------------- round trips


@given(values, st.sampled_from(INSTALLED))
def test_round_trip(value: Any, name: str) -> None:
    codec = npser.Codec(compress=name, compress_from=0, classes=CLASSES)
    assert difference(value, codec.loads(codec.dumps(value))) is None
    payload = npser.dumps(value)
    assert difference(value, npser.loads(packed(name, payload), classes=CLASSES)) is None


@pytest.mark.parametrize("size", SIZES)
def test_sizes(name: str, size: int) -> None:
    for value in (b"tea " * size, os.urandom(size), "köln" * size, list(range(0, 7 * size, 7)), np.arange(size) % 5):
        data = npser.Codec(compress=name, compress_from=0).dumps(value)
        assert difference(value, npser.loads(data)) is None
        assert len(data) <= len(npser.dumps(value))


def test_every_level(name: str) -> None:
    payload = npser.dumps(" ".join(f"tea {i} and milk {i * 7 % 13}" for i in range(500)))
    for level in METHODS[name].levels:
        data = Compressor(name, level).close(payload)
        assert data[:3] == bytes((0xC1, 0x5A, METHODS[name].code))
        assert bytes(open_compressed(memoryview(data), Limits())) == payload


def test_views_into_what_was_decompressed_stay(name: str) -> None:
    array = np.arange(5000, dtype="<i8") % 1000 * 1_000_003
    data = npser.Codec(compress=name).dumps(array)
    back = npser.loads(data, copy="never")
    assert back.tobytes() == array.tobytes()
    out = np.zeros_like(array)
    npser.decode_into(data, out)
    assert out.tobytes() == array.tobytes()


# ------------------------------------------------------------------------------------------------------- where it pays


def test_short_payloads_stay_as_they_are(name: str) -> None:
    payload = npser.dumps("a" * (COMPRESS_FROM - 4))
    assert len(payload) == COMPRESS_FROM
    assert Compressor(name).close(payload[:-1]) == payload[:-1]
    assert len(Compressor(name).close(payload)) < len(payload)
    assert len(Compressor(name, at_least=100).close(payload[:100])) < 100
    assert Compressor(name, at_least=101).close(payload[:100]) == payload[:100]


def test_what_does_not_shrink_stays_as_it_is(name: str) -> None:
    payload = npser.dumps(os.urandom(5000))
    assert Compressor(name).close(payload) == payload
    for size in range(1000, 10_000, 500):
        data = Compressor(name).close(payload + b"a" * size)
        assert data == payload + b"a" * size or len(data) <= WORTH * (5003 + size)


def test_what_shrinks_to_nine_tenths_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = npser.dumps(b"tea " * 500)
    shrunk = len(Compressor("zlib").close(payload))
    monkeypatch.setattr(compression, "WORTH", shrunk / len(payload))
    assert len(Compressor("zlib").close(payload)) == shrunk
    monkeypatch.setattr(compression, "WORTH", (shrunk - 1) / len(payload))
    assert Compressor("zlib").close(payload) == payload


# ------------------------------------------------------------------------------------------------------------ the limits


@pytest.mark.parametrize("size", [BASE - 10, BASE, BASE + 1, 1 << 18, 1 << 20, 10_000_000])
def test_what_compresses_too_well_is_still_read(name: str, size: int) -> None:
    payload = npser.dumps(bytes(size))
    data = Compressor(name).close(payload)
    assert len(data) <= len(payload) / 30 or len(payload) < 2 * BASE
    assert npser.loads(data) == bytes(size)


def test_a_bomb_is_not_decompressed(name: str) -> None:
    for megabytes in (1, 16):
        bomb = packed(name, npser.dumps(bytes(megabytes << 20)))
        with fenced(1.0, 64), pytest.raises(LimitError, match="would be decompressed to"):
            npser.loads(bomb)


def test_a_bomb_that_lies_about_its_size_is_not_decompressed(name: str) -> None:
    inner = npser.dumps(bytes(64 << 20))
    for size in (0, 3, 1000, BASE):
        bomb = packed(name, inner, size)
        tracemalloc.start()
        with fenced(1.0, 64), pytest.raises(DecodeError, match="damaged"):
            npser.loads(bomb)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < len(bomb) * 2 + 2 * BASE + (1 << 20)


def test_sizes_that_nobody_has() -> None:
    for size in (Limits().inflated(9) + 1, 1 << 30, 1 << 62, (1 << 64) - 1):
        with pytest.raises(LimitError):
            npser.loads(envelope(bytes(9), size))


def test_the_limit_is_exact() -> None:
    inner = npser.dumps(bytes(200_000))
    stream = zlib.compress(inner)
    data = envelope(stream, len(inner))
    items = 1024 * (len(inner) - INFLATION * len(stream))
    assert npser.loads(data, limits=Limits(items=items)) == bytes(200_000)
    with pytest.raises(LimitError):
        npser.loads(data, limits=Limits(items=items - 1024))
    assert npser.loads(data, limits=Limits(items=1 << 30, bytes=len(inner))) == bytes(200_000)
    with pytest.raises(LimitError):
        npser.loads(data, limits=Limits(items=1 << 30, bytes=len(inner) - 1))


def test_items_out_of_a_compressed_payload_are_bounded_by_what_was_received() -> None:
    """10**8 bools, one bit each, and 10**8 equal items: neither comes out of a few kilobytes."""
    stored = bytes((0xC1, 1, Lead.LEAF_LIST, 0x80, 0xC2, 0xD7, 0x2F, Kind.BOOL, BitCode.BITS)) + bytes(10**8 // 8)
    constant = bytes((0xC1, 1, Lead.INT_LIST + IntCode.CONST, 0x80, 0xC2, 0xD7, 0x2F, 2)) + bytes(10**7)
    for payload in (stored, constant):
        with fenced(2.0, 128), pytest.raises(LimitError):
            npser.loads(packed("zlib", payload))
    assert Limits().budget(Limits().inflated(1000)) == 2**21 + 8 * (2**11 + INFLATION * 1000)


def test_plain_payloads_have_a_largest_size() -> None:
    data = npser.dumps([1.5, 2.5, -7.25])
    assert npser.loads(data, limits=Limits(bytes=len(data))) == [1.5, 2.5, -7.25]
    for wrapped in (data, npser.Codec(checksum="crc32").dumps([1.5, 2.5, -7.25])):
        with pytest.raises(LimitError, match=f"a payload of {len(data)} bytes"):
            npser.loads(wrapped, limits=Limits(bytes=len(data) - 1))
    assert Limits().bytes == 1 << 32


# --------------------------------------------------------------------------------------------------------------- hostile


@pytest.fixture
def data(name: str) -> bytes:
    return packed(name, npser.dumps([{"id": i, "name": f"item {i}"} for i in range(20)]))


def test_every_cut_is_an_error(data: bytes) -> None:
    for cut in range(len(data)):
        with pytest.raises(DecodeError):
            npser.loads(data[:cut])


def test_every_tail_is_an_error(name: str, data: bytes) -> None:
    for tail in (b"\0", b"\xff", METHODS[name].compress(b"", None), METHODS[name].compress(b"x", None), data):
        with pytest.raises(DecodeError):
            npser.loads(data + tail)


def test_every_changed_byte_is_a_value_or_an_error(data: bytes) -> None:
    for at in range(len(data)):
        for change in (1, 8, 0x80, 0xFF):
            try:
                npser.loads(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])
            except npser.NpserError as error:
                assert isinstance(error, DecodeError)


@given(st.sampled_from(sorted(METHODS)), st.integers(0, 1000), st.binary(max_size=60))
def test_garbage(name: str, size: int, garbage: bytes) -> None:
    heads = {"zlib": b"\x78\x9c", "zstd": b"\x28\xb5\x2f\xfd", "lz4": b"\x04\x22\x4d\x18"}
    for start in (b"", heads[name]):
        with pytest.raises(DecodeError):
            npser.loads(envelope(start + garbage, size, METHODS[name].code))


def test_a_size_that_is_wrong_by_one(name: str) -> None:
    inner = npser.dumps("tea " * 40)
    for size in (len(inner) - 1, len(inner) + 1, 0):
        with pytest.raises(DecodeError, match=f"they are not the {name} of {size} bytes"):
            npser.loads(packed(name, inner, size))


def test_errors() -> None:
    with pytest.raises(DecodeError, match="no such compression: 0x04"):
        npser.loads(envelope(b"abc", 10, 4))
    with pytest.raises(npser.TruncatedError):
        npser.loads(b"\xc1Z\x01\x80")


# ------------------------------------------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"level": 0}, ValueError),
        ({"level": 10}, ValueError),
        ({"level": -1}, ValueError),
        ({"level": True}, TypeError),
        ({"level": "6"}, TypeError),
        ({"level": 6.0}, TypeError),
        ({"compress_from": -1}, ValueError),
        ({"compress_from": None}, TypeError),
        ({"compress_from": True}, TypeError),
        ({"compress": "gzip"}, ValueError),
        ({"compress": True}, ValueError),
        ({"compress": None, "level": 3}, ValueError),
    ],
    ids=repr,
)
def test_options_that_make_no_sense(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        npser.Codec(**{"compress": "zlib", **options})


@pytest.mark.parametrize(("name", "modules"), [("zstd", ("zstandard", "compression")), ("lz4", ("lz4", "lz4.frame"))])
def test_without_the_library(name: str, modules: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DecodeError, match=rf"compressed, and {name} needs a library that is not installed: pip install 'npser\[{name}\]'"):
        npser.loads(envelope(b"abc", 10, METHODS[name].code))
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'npser\[{name}\]'"):
        npser.Codec(compress=name)
    assert npser.loads(packed("zlib", npser.dumps(7))) == 7
