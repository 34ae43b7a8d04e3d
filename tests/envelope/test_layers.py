"""Envelopes within each other: the legal nestings are read, all others refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import npser
from npser.envelope.checksum import Checksum
from npser.envelope.compression import Compressor
from npser.envelope.layers import INSIDE_A_SEAL, close_layers, open_layers
from npser.envelope.seal import Seal
from npser.errors import DecodeError, SignatureError
from npser.limits import Limits

KEY = bytes(range(16))
VALUE = {"text": "tea and milk " * 100}
PAYLOAD = npser.dumps(VALUE)

CLOSERS: dict[str, Any] = {
    "S": Seal(KEY).close,
    "K": Checksum("crc32").close,
    "Z": lambda inner: b"\xc1Z\x01" + _uvarint(len(inner)) + Compressor("zlib")._method.compress(inner, 1),
}
LEGAL = {"", "S", "K", "Z", "SZ", "KZ"}


def _uvarint(value: int) -> bytes:
    return bytes((value & 0x7F | 0x80, value >> 7)) if value < 1 << 14 else b""


def nested(letters: str) -> bytes:
    data = PAYLOAD
    for letter in reversed(letters):
        data = CLOSERS[letter](data)
    return data


def read(data: bytes, letters: str) -> Any:
    return npser.loads_signed(data, KEY) if letters.startswith("S") else npser.loads(data)


@pytest.mark.parametrize("letters", ["".join(letters) for n in range(4) for letters in product("SKZ", repeat=n)])
def test_nestings(letters: str) -> None:
    data = nested(letters)
    if letters in LEGAL:
        assert read(data, letters) == VALUE
        return
    with pytest.raises(DecodeError, match="inside of another where it may not be") as caught:
        read(data, letters)
    assert not isinstance(caught.value, SignatureError)


@pytest.mark.parametrize("letters", sorted(LEGAL))
def test_the_writer_nests_so(letters: str) -> None:
    options: dict[str, Any] = {}
    if "S" in letters:
        options["key"] = KEY
    if "K" in letters:
        options["checksum"] = "crc32"
    if "Z" in letters:
        options["compress"] = "zlib"
    data = npser.Codec(**options).dumps(VALUE)
    assert [chr(byte) for byte in (data[1], data[4]) if byte in b"SKZ"] == list(letters)
    assert read(data, letters) == VALUE


def test_sealed_bytes_open_with_their_key_only() -> None:
    for letters in ("S", "SZ"):
        with pytest.raises(SignatureError, match="these bytes are sealed"):
            npser.loads(nested(letters))
        with pytest.raises(SignatureError, match="these bytes are sealed"):
            open_layers(memoryview(nested(letters)), Limits())


def test_what_is_no_envelope_is_left_alone() -> None:
    for data in (b"", b"\xc1", PAYLOAD, b"\xc1\x02abc", b"\xc1Aabc", b"ZZZ", b"\x80\x05N."):
        for allowed in (INSIDE_A_SEAL, ()):
            assert bytes(open_layers(memoryview(data), Limits(), allowed)) == data


def test_close_layers() -> None:
    assert close_layers(PAYLOAD, None, None) is PAYLOAD
    assert close_layers(PAYLOAD, None, Seal(KEY)) == nested("S")
    closed = close_layers(PAYLOAD, Compressor("zlib"), Checksum("crc32"))
    assert bytes(open_layers(memoryview(closed), Limits())) == PAYLOAD
