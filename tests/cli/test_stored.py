"""What a stored value is taken for: real bytes of each library, near misses, and bombs."""

from __future__ import annotations

import bz2
import gzip
import json
import pickle
import random
import zlib

import pytest

import npser
from npser.cli.stored import MAX_INSIDE, UNREAD, Pickles, begun, look


def test_text_that_looks_like_magic_is_text() -> None:
    for text in ("x^2 + 1", "BZhello", "PAR1", "ARROW1", "PK is not a zip", "{not json", "[1, 2", "1.5", "nan", "007x"):
        assert look(text.encode()).codec == "text"
    assert look(b"x" * 30).value is UNREAD


def test_numbers() -> None:
    assert [look(data).codec for data in (b"0", b"-5", b"007", b"1" * 19, b"1" * 20)] == ["int"] * 4 + ["text"]


def test_json_is_decoded() -> None:
    value = {"a": [1, None, "ü"], "b": {"c": 1.5}}
    assert look(json.dumps(value).encode()).value == value
    assert look(b'"text"').value == "text"
    assert look(b"[" * 100_000).codec == "text"


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(protocol: int) -> None:
    data = pickle.dumps({"a": 1}, protocol)
    assert look(data).codec == "pickle"
    assert look(data).value is UNREAD
    assert look(data, Pickles.TRUST).value == {"a": 1}
    assert "does not load" in look(data[:-2], Pickles.TRUST).note


def test_msgpack() -> None:
    msgpack = pytest.importorskip("msgpack", reason="msgpack is not installed")
    for value in ({"a": [1, 2]}, [None] * 40, {1: b"\xff"}, list(range(100_000))):
        assert look(msgpack.packb(value)).value == value
        assert look(msgpack.packb(value)).codec == "MessagePack"
    assert look(msgpack.packb({"a": [1, 2]})[:-1] + b"\xc1").codec == "binary"


def test_compressed_is_opened_and_bounded() -> None:
    inner = json.dumps([1, 2, 3]).encode()
    assert look(gzip.compress(inner)) == look(inner)._replace(codec="gzip(JSON)")
    assert look(zlib.compress(zlib.compress(inner))).codec == "zlib(zlib(JSON))"
    assert look(zlib.compress(zlib.compress(zlib.compress(inner)))).codec == "zlib(zlib(zlib))"
    assert look(zlib.compress(inner)[:-1]).note == "zlib: damaged, or too much inside"
    bomb = look(zlib.compress(bytes(MAX_INSIDE + 1)))
    assert (bomb.codec, bomb.note) == ("zlib", "zlib: damaged, or too much inside")
    assert look(bz2.compress(inner)).codec == "bzip2"


def test_zstd_is_opened() -> None:
    zstandard = pytest.importorskip("zstandard", reason="the zstd extra is not installed")
    inner = json.dumps([1, 2, 3]).encode()
    assert look(zstandard.compress(inner)).codec == "zstd(JSON)"
    assert look(zstandard.compress(bytes(MAX_INSIDE + 1))).value is UNREAD


def test_npser_is_what_it_is() -> None:
    assert look(npser.dumps([1])).codec == "npser"
    assert look(npser.Codec(checksum="crc32").dumps([1] * 99)).codec == "npser checked"
    assert look(b"\xc1\xff\xff").codec in ("binary", "npser, damaged")


def test_arrays_of_objects_stay_unread() -> None:
    import io

    import numpy as np

    file = io.BytesIO()
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    assert look(file.getvalue()).value is UNREAD


def test_a_damaged_array_stays_unread() -> None:
    assert look(b"\x93NUMPY\x01\x00\x0b\x00{'descr': (" + bytes([0xFF])).note == "npy: of Python objects, or damaged"


def test_any_bytes_at_all() -> None:
    dice = random.Random(3)
    starts = (b"", b"\xc1", b"\x01", b"\x80\x05", b"\x1f\x8b\x08", b"x\x9c", b"\x93NUMPY\x01\x00", b"\x28\xb5\x2f\xfd", b"\x82", b"{")
    for _ in range(3000):
        data = dice.choice(starts) + dice.randbytes(dice.randrange(30))
        assert look(data).codec
        assert begun(data)


def test_the_first_bytes() -> None:
    assert begun("ü".encode() * 32)[:4] == "text"
    assert begun(b"[1, 2, ") == "JSON?"
    assert begun(gzip.compress(b"a")[:20]) == "gzip"
