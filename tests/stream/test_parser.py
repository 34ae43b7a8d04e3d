"""Frames out of damaged bytes: every cut, every flipped byte, lies about lengths, and frames inside frames."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.errors import DecodeError, LimitError, NpserError, TruncatedError
from npser.stream.layout import HEADER_SIZE, MARKER, frame_bytes
from npser.stream.parser import FrameParser, Skipped
from stream.damage import PAYLOADS, join, parse, payloads, starts_of

DATA = join(PAYLOADS)
STARTS = starts_of(PAYLOADS)


def lie(length: int, payload: bytes = b"", mask: int = 0) -> bytes:
    """A sound header that announces what is not there."""
    head = struct.pack("<4sQII", MARKER, length, mask, zlib.crc32(payload))
    return head + struct.pack("<I", zlib.crc32(head))


@given(payloads, st.integers(1, 60))
def test_round_trip_in_pieces(wanted: list[bytes], piece: int) -> None:
    found, parser = parse(join(wanted), piece)
    assert found == wanted
    assert parser.frames == len(wanted)
    assert parser.position == starts_of(wanted)[-1]
    assert parser.skipped == []


@pytest.mark.parametrize("damaged", ["raise", "skip"])
def test_nothing_beyond_a_frame_is_wanted(damaged: Any) -> None:
    parser = FrameParser(damaged=damaged)
    rest, found = DATA, []
    while rest:
        payload = parser.pop()
        if payload is not None:
            found.append(payload)
            assert len(DATA) - len(rest) == STARTS[len(found)] == parser.position
            assert parser.start == STARTS[len(found) - 1]
            continue
        take = parser.wanted
        assert 0 < take <= len(rest)
        parser.feed(rest[:take])
        rest = rest[take:]
    assert (*found, parser.pop(), parser.pop()) == (*PAYLOADS, None)


@pytest.mark.parametrize("damaged", ["raise", "skip"])
@pytest.mark.parametrize("piece", [1, 1 << 30])
def test_cut_at_every_byte(damaged: Any, piece: int) -> None:
    for size in range(len(DATA)):
        whole = sum(stop <= size for stop in STARTS[1:])
        found, parser = parse(DATA[:size], piece, damaged=damaged, tail="ignore")
        assert found == list(PAYLOADS[:whole])
        assert parser.position == STARTS[whole]
        assert parser.skipped == []
        parser = FrameParser(damaged=damaged)
        parser.feed(DATA[:size])
        assert [parser.pop() for _ in range(whole + 1)] == [*PAYLOADS[:whole], None]
        if size in STARTS:
            parser.end()
        else:
            with pytest.raises(TruncatedError, match="the last frame is cut off") as caught:
                parser.end()
            assert caught.value.pos == parser.position == STARTS[whole]


@pytest.mark.parametrize("piece", [7, 1 << 30])
def test_flip_every_byte(piece: int) -> None:
    for at in range(len(DATA)):
        hit = sum(start <= at for start in STARTS) - 1
        for flip in (0x01, 0xFF):
            damaged = DATA[:at] + bytes([DATA[at] ^ flip]) + DATA[at + 1 :]
            found, parser = parse(damaged, piece, damaged="skip")
            assert found == [*PAYLOADS[:hit], *PAYLOADS[hit + 1 :]]
            (skipped,) = parser.skipped
            assert skipped[:2] == (STARTS[hit], STARTS[hit + 1])
            assert parser.position == len(DATA)
            parser = FrameParser()
            parser.feed(damaged)
            assert [parser.pop() for _ in range(hit)] == list(PAYLOADS[:hit])
            for _ in range(2):  # and it stays there
                with pytest.raises(DecodeError) as caught:
                    parser.pop()
                assert caught.value.pos == parser.position == STARTS[hit]


@pytest.mark.parametrize("piece", [5, 1 << 30])
def test_bytes_that_are_missing_in_the_middle(piece: int) -> None:
    """Also when the frame that lost them then reaches over the sound ones behind it."""
    for start in range(STARTS[1]):
        for size in (1, 5, 20):
            damaged = DATA[:start] + DATA[start + size :]
            found, parser = parse(damaged, piece, damaged="skip")
            sound = len(PAYLOADS) - sum(begin < start + size for begin in STARTS[:-1])
            assert found[-sound:] == list(PAYLOADS[-sound:])
            assert all(payload in PAYLOADS for payload in found)
            assert parser.position == len(damaged)


@given(payloads, st.binary(max_size=60).filter(lambda junk: MARKER not in junk), st.integers(1, 40), st.data())
def test_junk_between_frames(wanted: list[bytes], junk: bytes, piece: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(wanted)))
    before, after = join(wanted[:at]), join(wanted[at:])
    found, parser = parse(before + junk + after, piece, damaged="skip", tail="ignore")
    assert found == wanted
    if after and junk:
        assert [skipped[:2] for skipped in parser.skipped] == [(len(before), len(before) + len(junk))]
        assert parser.position == len(before + junk + after)


@given(
    st.lists(st.binary(max_size=30) | st.just(MARKER) | st.binary(max_size=9).map(frame_bytes) | st.just(lie(40))),
    st.integers(1, 50),
)
def test_any_bytes_are_payloads_or_an_error(parts: list[bytes], piece: int) -> None:
    data = b"".join(parts)
    found, parser = parse(data, piece, damaged="skip", tail="ignore")
    assert (found, parser.skipped) == parse_whole(data)
    covered = sum(len(frame_bytes(payload)) for payload in found) + sum(
        stop - start for start, stop, _ in parser.skipped
    )
    assert covered == parser.position <= len(data)
    try:
        assert parse(data, piece)[0] == found
    except NpserError as error:
        assert 0 <= (error.pos or 0) <= len(data)


def parse_whole(data: bytes) -> tuple[list[bytes], list[Skipped]]:
    found, parser = parse(data, damaged="skip", tail="ignore")
    return found, parser.skipped


@pytest.mark.parametrize("cut", range(len(frame_bytes(frame_bytes(b"secret")))))
def test_a_frame_inside_a_payload_never_comes_out(cut: int) -> None:
    """Also not when a crash cuts the frame around it anywhere, and others were appended."""
    outer = frame_bytes(frame_bytes(b"secret"))
    found, _ = parse(outer[:cut] + join([b"a", b"b"]), damaged="skip")
    assert found == [b"a", b"b"]


@pytest.mark.parametrize("length", [100, 2**30, 2**31, 2**62, 2**64 - 1])
def test_lies_about_the_length(length: int) -> None:
    data = lie(length) + join([b"a", b"b"])
    found, parser = parse(data, damaged="skip")
    assert found == [b"a", b"b"]
    assert [skipped[:2] for skipped in parser.skipped] == [(0, HEADER_SIZE)]
    with pytest.raises(TruncatedError if length <= 2**30 else LimitError):
        parse(data)
    with pytest.raises(LimitError):
        parse(data, max_frame=50)


def test_a_lie_takes_no_memory() -> None:
    data = lie(2**30) + b"x" * 100
    tracemalloc.start()
    try:
        with pytest.raises(TruncatedError, match=r"124 of 1073741848 bytes"):
            parse(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_lie_holds_nothing_up() -> None:
    """The frame behind it comes out as soon as it is whole: nobody waits for the gigabyte."""
    parser = FrameParser(damaged="skip")
    parser.feed(lie(2**30) + b"x" * 100)
    assert parser.pop() is None
    parser.feed(frame_bytes(b"abc"))
    assert parser.pop() == b"abc"


def test_many_lies_take_linear_time() -> None:
    """Each announces a megabyte, and there are ten thousand: read to the end each, that would be ten gigabytes."""
    data = lie(10**6) * 10_000 + frame_bytes(b"abc")
    found, parser = parse(data, 1 << 16, damaged="skip")
    assert found == [b"abc"]
    assert len(parser.skipped) == 1


def test_long_frames_are_skipped_without_being_held() -> None:
    data = frame_bytes(bytes(100_000)) + frame_bytes(b"abc")
    found, parser = parse(data, 1000, damaged="skip", max_frame=100)
    assert found == [b"abc"]
    assert parser.skipped == [Skipped(0, 100_024, "a frame of 100000 bytes is longer than max_frame, which is 100")]


def test_the_first_reason_counts() -> None:
    damaged = bytearray(join([b"abc", b"def", b"ghi"]))
    damaged[26] ^= 1
    damaged[30] ^= 1
    _, parser = parse(bytes(damaged), damaged="skip")
    assert parser.skipped == [Skipped(0, 54, "the payload of a frame is damaged")]


def test_junk_at_the_end() -> None:
    data = frame_bytes(b"abc")
    for junk in (b"junk", b"long junk that is longer than a header of a frame", b"\0", b"x" + MARKER[:2]):
        found, parser = parse(data + junk, damaged="skip", tail="ignore")
        assert found == [b"abc"]
        assert sum(stop - start for start, stop, _ in parser.skipped) == len(junk) - 2 * junk.endswith(MARKER[:2])
        with pytest.raises(DecodeError, match="no frame begins here") as caught:
            parse(data + junk)
        assert caught.value.pos == 27
        assert not isinstance(caught.value, TruncatedError)


def test_nothing_at_all() -> None:
    found, parser = parse(b"")
    assert (found, parser.position, parser.frames, parser.skipped) == ([], 0, 0, [])


def test_positions_count_from_where_it_begins() -> None:
    parser = FrameParser(position=100, damaged="skip")
    parser.feed(b"x" + frame_bytes(b"abc"))
    assert parser.pop() == b"abc"
    assert parser.skipped == [Skipped(100, 101, "no frame begins here")]
    assert (parser.start, parser.position) == (101, 128)


def test_wrong_options() -> None:
    for options in ({"damaged": "ignore"}, {"tail": "skip"}, {"damaged": True}):
        with pytest.raises(ValueError, match="is one of"):
            FrameParser(**options)  # type: ignore[arg-type]
