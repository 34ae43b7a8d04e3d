"""What a frame is, by hand: the header, the marker that stands nowhere else, and FORMAT.md's examples."""

from __future__ import annotations

import re
import struct
import zlib
from importlib.resources import files
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.errors import DecodeError, EncodeError, ForeignBytesError, LimitError
from npser.stream import layout
from npser.stream.layout import HEADER_SIZE, MARKER, MAX_FRAME, Header, frame_bytes, open_payload, read_header
from stream.damage import PAYLOADS

PAGE: Final = files("npser").joinpath("FORMAT.md").read_text(encoding="utf-8")
EXAMPLES: Final = re.findall(r"^```npser-frame\n(.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SIZES = (0, 1, 2, 3, 4, 7, 8, 9, 127, 128, 129, 1000, 1 << 14, (1 << 17) + 3)


def header_by_hand(stored: bytes, mask: int = 0) -> bytes:
    length = len(stored) ^ (mask | mask << 32)
    head = MARKER + length.to_bytes(8, "little") + mask.to_bytes(4, "little") + zlib.crc32(stored).to_bytes(4, "little")
    return head + zlib.crc32(head).to_bytes(4, "little")


def xor(data: bytes, mask: int) -> bytes:
    key = mask.to_bytes(4, "little")
    return bytes(byte ^ key[i % 4] for i, byte in enumerate(data))


def unframe(frame: bytes) -> bytes:
    header = read_header(frame[:HEADER_SIZE])
    assert header.length == len(frame) - HEADER_SIZE
    return open_payload(header, frame[HEADER_SIZE:])


def test_constants() -> None:
    assert bytes.fromhex("c1fe4601") == MARKER
    assert HEADER_SIZE == 24
    assert MAX_FRAME == 2**30
    assert not any(MARKER.startswith(MARKER[-n:]) for n in range(1, 4))  # markers cannot overlap


@pytest.mark.parametrize("size", SIZES)
def test_a_frame_by_hand(size: int) -> None:
    payload = bytes(i * 7 % 251 % 193 for i in range(size))
    assert frame_bytes(payload) == header_by_hand(payload) + payload
    assert unframe(frame_bytes(payload)) == payload


@pytest.mark.parametrize("payload", [bytearray(b"abcd"), memoryview(b"abcd"), np.frombuffer(b"abcd", "<u2")])
def test_any_buffer_is_a_payload(payload: Any) -> None:
    assert frame_bytes(payload) == frame_bytes(b"abcd")


def test_others_are_refused() -> None:
    for payload in ("abcd", 3, None, [1]):
        with pytest.raises(TypeError):
            frame_bytes(payload)


def test_max_frame() -> None:
    assert len(frame_bytes(b"abcd", max_frame=4)) == 28
    with pytest.raises(EncodeError, match="5 bytes is longer than max_frame, which is 4"):
        frame_bytes(b"abcde", max_frame=4)


@pytest.mark.parametrize("length", [5, 2**30, 2**32, 2**62, 2**64 - 1])
def test_huge_lengths_are_refused_by_the_header(length: int) -> None:
    head = MARKER + length.to_bytes(8, "little") + bytes(8)
    with pytest.raises(LimitError, match=f"a frame of {length} bytes") as caught:
        read_header(head + struct.pack("<I", zlib.crc32(head)), pos=9, max_frame=4)
    assert caught.value.pos == 9


def test_every_bit_of_the_header_counts() -> None:
    header = frame_bytes(b"abc")[:HEADER_SIZE]
    assert read_header(header) == Header(3, 0, zlib.crc32(b"abc"))
    for bit in range(8 * HEADER_SIZE):
        damaged = bytearray(header)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DecodeError) as caught:
            read_header(bytes(damaged), pos=5)
        assert caught.value.pos == 5


@pytest.mark.parametrize(
    ("head", "kind", "message"),
    [
        (b"\xc1\xfe\x46\x02", DecodeError, "version 2 of frames"),
        (b"\xc1\x01\x38\x03", DecodeError, "try loads"),
        (b"\x80\x05\x95", ForeignBytesError, "pickle"),
        (b'{"a": 1}', ForeignBytesError, "JSON"),
        (bytes(24), DecodeError, "begins with 0xC1"),
    ],
)
def test_what_is_not_ours(head: bytes, kind: type[DecodeError], message: str) -> None:
    with pytest.raises(kind, match=message):
        read_header(head.ljust(HEADER_SIZE, b" "))


# ---------------------------------------------------------------------------------------------------------- the marker


def check_alone(payload: bytes) -> None:
    frame = frame_bytes(payload)
    assert frame.rfind(MARKER) == 0
    assert len(frame) == HEADER_SIZE + len(payload)
    assert unframe(frame) == payload
    _, _, mask, _, _ = struct.unpack("<4sQIII", frame[:HEADER_SIZE])
    stored = xor(payload, mask)
    assert frame == header_by_hand(stored, mask) + stored
    if MARKER not in payload:
        assert mask == 0


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_marker_is_nowhere_else(payload: bytes) -> None:
    check_alone(payload)


@given(st.lists(st.sampled_from([MARKER, *(MARKER[:n] for n in (1, 2, 3)), b"\0", b"\1\0", b"x", b"abcd"])))
def test_the_marker_is_nowhere_else_whatever_the_payload(parts: list[bytes]) -> None:
    check_alone(b"".join(parts))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3))))
def test_payloads_that_rule_masks_out(places: list[tuple[int, int]]) -> None:
    """Whatever masks the payload makes impossible, at every phase: the least that is possible is taken."""
    payload = MARKER + b"".join(
        bytes(4 + phase) + xor(bytes(phase) + MARKER, mask)[phase:] + bytes(4 - phase) for mask, phase in places
    )
    check_alone(payload)
    frame = frame_bytes(payload)
    (mask,) = struct.unpack_from("<I", frame, 12)
    assert mask == next(mask for mask in range(10**6) if MARKER not in xor(payload, mask))


def test_every_mask_of_one_byte_is_ruled_out() -> None:
    payload = b"".join(xor(MARKER, mask) for mask in range(256))
    check_alone(payload)
    assert struct.unpack_from("<I", frame_bytes(payload), 12) == (256,)


@pytest.mark.parametrize(
    "place", [0, 1, 2, 3, (1 << 17) - 4, (1 << 17) - 3, (1 << 17) - 1, 1 << 17, (1 << 18) - 1, 299_996]
)
def test_markers_in_large_payloads(place: int) -> None:
    payload = bytearray(300_000)
    assert not layout._holds_marker(payload)
    payload[place : place + 4] = MARKER
    assert layout._holds_marker(payload)
    assert MARKER not in frame_bytes(payload)[4:]
    assert unframe(frame_bytes(payload)) == payload
    payload[place + 3] = 0
    assert not layout._holds_marker(payload)


def test_a_header_that_would_hold_a_marker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that ends like a marker, before a payload that goes on like one."""
    payload = MARKER[1:] + b"rest"
    crc32 = zlib.crc32

    def crc(data: bytes, value: int = 0) -> int:
        found = crc32(data, value)
        return found & 0x00FFFFFF | 0xC1000000 if data[:4] == MARKER and data[12:16] == bytes(4) else found

    monkeypatch.setattr(layout.zlib, "crc32", crc)
    frame = frame_bytes(payload)
    assert frame[12:16] == b"\1\0\0\0"
    assert frame.rfind(MARKER) == 0
    assert unframe(frame) == payload
    for short in (b"", b"a", b"abc"):
        monkeypatch.setattr(layout, "_starts_alone", lambda header, stored: header[12:16] != bytes(4))
        assert unframe(frame_bytes(short)) == short


def test_a_length_that_looks_like_a_marker() -> None:
    """The mask covers the length, so that even a frame of just so many bytes has one marker."""
    payload = bytes(int.from_bytes(MARKER, "little"))
    frame = frame_bytes(payload)
    assert frame.rfind(MARKER) == 0
    assert unframe(frame) == payload


@given(st.binary(min_size=1, max_size=60), st.data())
def test_a_flipped_bit_is_found(payload: bytes, data: st.DataObject) -> None:
    frame = bytearray(frame_bytes(payload))
    bit = data.draw(st.integers(0, 8 * len(frame) - 1))
    frame[bit // 8] ^= 1 << bit % 8
    with pytest.raises(DecodeError):
        unframe(bytes(frame))


# ---------------------------------------------------------------------------------------------------------- FORMAT.md


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2


@pytest.mark.parametrize(("payloads", "lines"), EXAMPLES)
def test_format_page(payloads: str, lines: str) -> None:
    data = bytes.fromhex("".join(line.partition("#")[0] for line in lines.splitlines()))
    assert b"".join(map(frame_bytes, map(bytes.fromhex, payloads.split(",")))).hex(" ") == data.hex(" ")


def test_numbers_of_the_format_page() -> None:
    (section,) = re.findall(r"^## \d+ Frames\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert MARKER.hex(" ").upper() in section
    assert f"{HEADER_SIZE} bytes" in section
    assert "2^30" in section
