"""Single frames in files: nothing beyond a frame is read, and a bare payload can be told from one."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import npser
from npser.errors import DecodeError, EncodeError, ForeignBytesError, LimitError, TruncatedError
from npser.stream.boundary import FileStream, MemoryStream
from npser.stream.frames import read_frame, write_frame
from npser.stream.layout import frame_bytes
from stream.damage import Dribble, Pipe, join, payloads


@given(payloads)
def test_round_trip(wanted: list[bytes]) -> None:
    file = io.BytesIO()
    for payload in wanted:
        assert write_frame(file, payload) == len(frame_bytes(payload))
    assert file.getvalue() == join(wanted)
    for source in (
        io.BytesIO(file.getvalue()),
        Dribble(file.getvalue()),
        Pipe(file.getvalue()),
        MemoryStream(file.getvalue()),
    ):
        assert [read_frame(source) for _ in wanted] == wanted
        with pytest.raises(EOFError):
            read_frame(source)


@pytest.mark.parametrize("size", [0, 1, 1 << 16, (1 << 16) + 1, 3_000_000])
@pytest.mark.parametrize("make", [io.BytesIO, lambda: Dribble(most=100_000), Pipe])
def test_sizes(make: Any, size: int) -> None:
    file, payload = make(), os.urandom(size)
    assert write_frame(file, payload) == size + 24
    if isinstance(file, io.BytesIO):
        file.seek(0)
    assert read_frame(file) == payload


def test_it_reads_from_where_the_file_stands_and_stops_behind_the_frame() -> None:
    file = io.BytesIO(b"[true]" + frame_bytes(b"abc") + b"after")
    file.seek(6)
    assert read_frame(file) == b"abc"
    assert file.read() == b"after"
    file.seek(0)
    with pytest.raises(ForeignBytesError):
        read_frame(file)
    file.seek(5)
    with pytest.raises(DecodeError, match="no frame begins here") as caught:
        read_frame(file)
    assert caught.value.pos == 5


def test_cut_at_every_byte() -> None:
    frame = frame_bytes(b"abc")
    for size in range(len(frame)):
        for bare in ("raise", "rest"):
            with pytest.raises(TruncatedError) as caught:
                read_frame(io.BytesIO(frame[:size]), bare=bare)
            assert caught.value.pos == 0


@pytest.mark.parametrize("payload", [npser.dumps(7), npser.dumps("text"), b"\x80\x05.", b"x", b"\xc1", b"\xc1K1"])
def test_bare_payloads(payload: bytes) -> None:
    if payload != b"\xc1":  # which may be the beginning of a frame
        assert read_frame(io.BytesIO(payload), bare="rest") == payload
        assert read_frame(Dribble(payload, 1), bare="rest") == payload
    with pytest.raises(DecodeError):
        read_frame(io.BytesIO(payload))


def test_frames_are_no_bare_payloads() -> None:
    file = io.BytesIO(join([b"a", b"b"]))
    assert [read_frame(file, bare="rest") for _ in "ab"] == [b"a", b"b"]
    with pytest.raises(DecodeError, match="version 2 of frames"):
        read_frame(io.BytesIO(b"\xc1\xfeF\2" + bytes(20)), bare="rest")
    with pytest.raises(ValueError, match="bare is one of"):
        read_frame(file, bare="yes")  # type: ignore[arg-type]


def test_no_frame_is_a_payload() -> None:
    with pytest.raises(DecodeError, match="a file of frames"):
        npser.loads(frame_bytes(npser.dumps(7)))


def test_max_frame() -> None:
    with pytest.raises(EncodeError):
        write_frame(io.BytesIO(), b"abc", max_frame=2)
    with pytest.raises(LimitError):
        read_frame(io.BytesIO(frame_bytes(b"abc")), max_frame=2)
    assert read_frame(io.BytesIO(frame_bytes(b"abc")), max_frame=3) == b"abc"


def test_real_files(tmp_path: Path) -> None:
    for buffering in (0, -1):
        with open(tmp_path / "file", "wb", buffering) as file:
            write_frame(file, b"abc")
            write_frame(FileStream(file), bytes(100_000))
        with open(tmp_path / "file", "rb", buffering) as file:
            assert (read_frame(file), read_frame(file)) == (b"abc", bytes(100_000))


def test_what_is_no_file() -> None:
    for thing in (None, "path", io.StringIO()):
        with pytest.raises(TypeError):
            write_frame(thing, b"")
        with pytest.raises(TypeError):
            read_frame(thing)
