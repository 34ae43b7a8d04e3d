"""The compressions by themselves: exactly one stream of exactly one size, or None."""

from __future__ import annotations

import sys
import threading
import types
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from golden.corpus import NEEDS
from npser.envelope.methods import METHODS, zlib_filled

INSTALLED = [name for name in METHODS if NEEDS.get(name, True)]
TEXT = b"tea and milk " * 100


@pytest.fixture(params=INSTALLED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def python_zstd(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The zstd of Python 3.14, or its backport, in the place of zstandard."""
    if sys.version_info >= (3, 14):
        zstd = pytest.importorskip("compression.zstd")
    else:
        zstd = pytest.importorskip("backports.zstd")
        compression = types.ModuleType("compression")
        compression.zstd = zstd  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "compression", compression)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    return zstd


@given(st.binary(max_size=300) | st.binary(max_size=5).map(lambda part: part * 500), st.sampled_from(INSTALLED))
def test_round_trip(data: bytes, name: str) -> None:
    method = METHODS[name]
    assert method.decompress(memoryview(method.compress(data, None)), len(data)) == data


def test_another_size_is_seen(name: str) -> None:
    method = METHODS[name]
    packed = memoryview(method.compress(TEXT, None))
    for size in (0, 1, len(TEXT) - 1, len(TEXT) + 1, 10 * len(TEXT)):
        found = method.decompress(packed, size)
        assert found is None or len(found) != size
        assert found is None or len(found) <= size + 1


def test_cut_or_followed_by_anything_is_none_or_of_another_size(name: str) -> None:
    method = METHODS[name]
    packed = method.compress(TEXT, None)
    for cut in range(len(packed)):
        found = method.decompress(memoryview(packed[:cut]), len(TEXT))
        assert found is None or len(found) != len(TEXT)
    for tail in (b"\0", packed, method.compress(b"", None)):
        assert method.decompress(memoryview(packed + tail), len(TEXT)) is None


@given(st.integers(0, 5000), st.binary(max_size=50), st.integers(0, 1000))
def test_zlib_filled(size: int, data: bytes, times: int) -> None:
    stream = zlib_filled(data * times, size)
    assert zlib.decompress(stream) == data * times
    assert len(stream) >= size
    assert len(stream) < max(size, len(zlib_filled(data * times, 0))) + 5


def test_the_zstd_of_python(python_zstd: Any) -> None:
    method = METHODS["zstd"]
    value = ["tea and milk"] * 3 + [str(i) for i in range(3000)]
    data = npser.Codec(compress="zstd", level=5).dumps(value)
    assert data[:3] == b"\xc1Z\x02"
    assert npser.loads(data) == value
    packed = method.compress(TEXT, None)
    assert python_zstd.decompress(packed) == TEXT
    assert method.decompress(memoryview(packed), len(TEXT)) == TEXT
    for size in (0, len(TEXT) - 1, len(TEXT) + 1):
        assert method.decompress(memoryview(packed), size) is None
    for bad in (*(packed[:cut] for cut in range(len(packed))), packed + b"\0", packed + packed, TEXT):
        assert method.decompress(memoryview(bad), len(TEXT)) is None
    bomb = method.compress(bytes(1 << 24), None)
    assert method.decompress(memoryview(bomb), 1000) is None


def test_each_of_the_two_zstds_reads_the_other(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("zstandard")
    method = METHODS["zstd"]
    by_zstandard = method.compress(TEXT, None)
    request.getfixturevalue("python_zstd")
    by_python = method.compress(TEXT, None)
    assert method.decompress(memoryview(by_zstandard), len(TEXT)) == TEXT
    monkeypatch.undo()
    assert method.decompress(memoryview(by_python), len(TEXT)) == TEXT


def test_zstd_keeps_its_memory_a_thread() -> None:
    pytest.importorskip("zstandard")
    method, wrong = METHODS["zstd"], []

    def run(seed: int) -> None:
        data = bytes(range(seed, seed + 50)) * 200
        for level in (None, 1, 7) * 20:
            if method.decompress(memoryview(method.compress(data, level)), len(data)) != data:
                wrong.append(seed)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_memory_out_of_a_header_alone() -> None:
    """A zstd frame that says it has a terabyte, with a window of as much; an LZ4 frame likewise."""
    zstd = b"\x28\xb5\x2f\xfd\xe0" + (1 << 40).to_bytes(8, "little") + b"\x01\x00\x00"
    lz4 = b"\x04\x22\x4d\x18\x68\x70" + (1 << 40).to_bytes(8, "little") + b"\x00" * 9
    for name, frame in (("zstd", zstd), ("lz4", lz4)):
        if name in INSTALLED:
            for size in (0, 5, 1000):
                assert METHODS[name].decompress(memoryview(frame), size) is None
