"""How files of frames end: sound, broken, or not ours; found from the end, however long the last frame is."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given

from npser.errors import DecodeError, ForeignBytesError, LimitError
from npser.stream.layout import MARKER, frame_bytes
from npser.stream.tail import End, find_end
from stream.damage import Dribble, join, payloads, starts_of

WANTED = (b"first", b"", MARKER + b"second", bytes(70_000))
DATA = join(WANTED)
STARTS = starts_of(WANTED)


def end_of(data: bytes) -> tuple[int, bool]:
    position, broken = find_end(io.BytesIO(data))
    return position, broken is not None


@given(payloads)
def test_sound_files(wanted: list[bytes]) -> None:
    data = join(wanted)
    assert find_end(io.BytesIO(data)) == End(len(data), None)


@given(payloads.filter(bool))
def test_cut_at_every_byte(wanted: list[bytes]) -> None:
    data, starts = join(wanted), starts_of(wanted)
    for size in range(len(data)):
        assert end_of(data[:size]) == (max(start for start in starts if start <= size), size not in starts)


@pytest.mark.parametrize("size", [65_536, 131_072, 140_000, 500_000])
def test_long_last_frames(size: int) -> None:
    for around in range(-30, 4):
        data = DATA + frame_bytes(b"\xc1" * (size + around))
        assert end_of(data) == (len(data), False)
        assert end_of(data[:-1]) == (len(DATA), True)


def test_flipped_bytes_in_the_last_frame() -> None:
    data = join(WANTED[:2]) + frame_bytes(b"third")
    for at in range(STARTS[2] + len(MARKER), len(data)):
        assert end_of(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]) == (STARTS[2], True)


def test_a_damaged_last_marker_is_not_guessed_at() -> None:
    data = join(WANTED[:3])
    for at in range(STARTS[2], STARTS[2] + len(MARKER)):
        with pytest.raises(DecodeError, match="bytes follow the last frame and are no frame") as caught:
            end_of(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert caught.value.pos == STARTS[2]


@pytest.mark.parametrize("zeros", [1, 23, 24, 200_000])
def test_zeros_that_a_lost_page_leaves(zeros: int) -> None:
    assert end_of(DATA + bytes(zeros)) == (len(DATA), True)
    with pytest.raises(DecodeError, match="no frame"):
        end_of(DATA + bytes(zeros) + b"x")


def test_zeros_inside_the_last_frame() -> None:
    assert end_of(DATA + frame_bytes(b"x" * 1000)[:30] + bytes(994)) == (len(DATA), True)


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (b"{}", ForeignBytesError, "JSON"),
        (b"\x80\x05.", ForeignBytesError, "pickle"),
        (b"\xc1\x01\x00", DecodeError, "try loads"),
        (b"\xc1\xfeF\x02" + bytes(30), DecodeError, "version 2"),
        (bytes(100), DecodeError, "not npser"),
        (b"junk " + DATA, DecodeError, "not npser"),
    ],
)
def test_what_is_not_ours(data: bytes, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        find_end(io.BytesIO(data))


def test_only_the_last_frame_is_given_up() -> None:
    data = bytearray(join([b"abc", b"def", b"ghi"]))
    data[40] ^= 1
    with pytest.raises(DecodeError, match="more than the last frame") as caught:
        find_end(io.BytesIO(data[:-1]))
    assert caught.value.pos == 54
    assert end_of(bytes(data)) == (81, False)  # damage further up is not looked for


def test_max_frame() -> None:
    with pytest.raises(LimitError):
        find_end(io.BytesIO(frame_bytes(b"abc")), max_frame=2)


def test_short_reads() -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 0, 1000) if size != -1 else -1)

    assert find_end(Slow(DATA)) == End(len(DATA), None)
    with pytest.raises(OSError, match="seek"):
        find_end(Dribble(DATA))  # type: ignore[arg-type]
