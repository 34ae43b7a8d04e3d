"""Checksums: damage is a DecodeError, and never a wrong value."""

from __future__ import annotations

import sys
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from golden.corpus import NEEDS
from npser.envelope.checksum import CHECKSUMS, Checksum, open_checked
from npser.errors import DecodeError, TruncatedError
from same import difference
from strategies import values
from values import CLASSES

INSTALLED = [name for name in CHECKSUMS if NEEDS.get(name, True)]
EXTRAS = [("crc32c", "google_crc32c"), ("xxh3", "xxhash")]
VALUE = {"user": 7, "tags": ["a", "b"], "at": (1.5, None)}


@pytest.fixture(params=INSTALLED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@given(values, st.sampled_from(INSTALLED))
def test_round_trip(value: Any, name: str) -> None:
    codec = npser.Codec(checksum=name, classes=CLASSES)
    data = codec.dumps(value)
    assert difference(value, codec.loads(data)) is None
    assert difference(value, npser.loads(data, classes=CLASSES)) is None


CHECK_VALUES = {"crc32": 0xCBF43926, "crc32c": 0xE3069283, "xxh3": 0x72DCB18B67A17DFF}
"""Of the nine bytes "123456789", as the catalogues of checksums have it."""


def test_check_values(name: str) -> None:
    assert CHECKSUMS[name].digest(b"123456789") == CHECK_VALUES[name]
    assert CHECKSUMS[name].digest(memoryview(bytearray(b"x123456789"))[1:]) == CHECK_VALUES[name]


def test_layout() -> None:
    inner = npser.dumps(VALUE)
    data = Checksum("crc32").close(inner)
    assert data == b"\xc1K\x01" + inner + zlib.crc32(b"\xc1K\x01" + inner).to_bytes(4, "little")


def test_every_flipped_bit_and_every_changed_byte_is_an_error(name: str) -> None:
    data = Checksum(name).close(npser.dumps(VALUE))
    for at in range(len(data)):
        for change in (*(1 << bit for bit in range(8)), 0xFF, data[at]):
            if change:
                with pytest.raises(DecodeError):
                    npser.loads(data[:at] + bytes([data[at] ^ change]) + data[at + 1 :])


def test_every_change_of_a_byte_to_any_other_is_an_error() -> None:
    data = Checksum("crc32").close(npser.dumps([1, 2, 3]))
    for at in range(len(data)):
        for byte in range(256):
            if byte != data[at]:
                with pytest.raises(DecodeError):
                    npser.loads(data[:at] + bytes([byte]) + data[at + 1 :])


def test_every_cut_and_what_is_behind_is_an_error(name: str) -> None:
    data = Checksum(name).close(npser.dumps(VALUE))
    for cut in range(len(data)):
        with pytest.raises(DecodeError):
            npser.loads(data[:cut])
    for tail in (b"\0", b"\xff", data):
        with pytest.raises(DecodeError, match="damaged"):
            npser.loads(data + tail)


def test_errors() -> None:
    with pytest.raises(DecodeError, match="no such checksum: 0x09"):
        open_checked(memoryview(b"\xc1K\x09" + bytes(20)))
    for short in (b"\xc1K", b"\xc1K\x01", b"\xc1K\x01\0\0\0"):
        with pytest.raises(TruncatedError):
            open_checked(memoryview(short))
    with pytest.raises(DecodeError, match="the checksum does not fit: these bytes are damaged at byte 6"):
        open_checked(memoryview(b"\xc1K\x01\xc1\x01\x00" + bytes(4)))


@given(st.binary(max_size=60))
def test_garbage(data: bytes) -> None:
    with pytest.raises(DecodeError):
        npser.loads(b"\xc1K" + data)


@pytest.mark.parametrize(("name", "module"), EXTRAS)
def test_without_the_library(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\xc1K" + bytes([CHECKSUMS[name].code]) + npser.dumps(VALUE) + bytes(CHECKSUMS[name].size)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DecodeError, match=rf"{name} needs a library that is not installed: pip install 'npser\[checksum\]'"):
        npser.loads(data)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'npser\[checksum\]'"):
        npser.Codec(checksum=name)
    assert npser.loads(npser.Codec(checksum="crc32").dumps(VALUE)) == VALUE
