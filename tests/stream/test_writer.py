"""StreamWriter: what reaches the file when, and what an error leaves."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest

import npser
from npser.errors import EncodeError
from npser.stream.boundary import FileStream, MemoryStream
from npser.stream.layout import frame_bytes
from npser.stream.writer import StreamWriter
from stream.damage import Dribble, Pipe, join

VALUES: tuple[Any, ...] = (None, 7, "text", [1, 2, 3], {"a": [1.5, None]}, b"\xc1\xfeF\1" * 3)
DATA = join(map(npser.dumps, VALUES))


@pytest.mark.parametrize("make", [io.BytesIO, Dribble, Pipe, MemoryStream])
def test_values_are_frames(make: Any) -> None:
    file = make()
    with StreamWriter(file) as writer:
        for n, value in enumerate(VALUES):
            assert writer.frames == n
            writer.write(value)
            assert writer.position == len(join(map(npser.dumps, VALUES[: n + 1])))
    assert (file.getvalue() if isinstance(file, io.BytesIO) else bytes(file.data)) == DATA


def test_the_file_stays_open() -> None:
    file = io.BytesIO()
    with StreamWriter(file) as writer:
        writer.write(1)
    assert not file.closed
    writer.close()
    for use in (lambda: writer.write(1), writer.flush, lambda: writer.write_payload(b"")):
        with pytest.raises(ValueError, match="this StreamWriter is closed"):
            use()


def test_payloads() -> None:
    file = io.BytesIO()
    writer = StreamWriter(file)
    for payload in (b"abc", bytearray(b"abc"), memoryview(b"abc")):
        writer.write_payload(payload)
    assert file.getvalue() == frame_bytes(b"abc") * 3
    with pytest.raises(TypeError):
        writer.write_payload("abc")
    writer.write_payload(b"")
    assert writer.frames == 4


def test_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    path = tmp_path / "file"
    with open(path, "wb") as file:
        buffered = StreamWriter(file, sync="buffer")
        buffered.write(1)
        assert path.stat().st_size == 0
        buffered.flush()
        assert path.stat().st_size == 28
        buffered.write(1)
        buffered.close()
        assert path.stat().st_size == 56
        StreamWriter(file, sync="flush").write(1)
        assert path.stat().st_size == 84
        assert synced == []
        StreamWriter(FileStream(file), sync="fsync").write(1)
        StreamWriter(file, sync="fsync").write(1)
        assert synced == [file.fileno()] * 2
        assert path.stat().st_size == 140
    with pytest.raises(OSError, match="fileno"):
        StreamWriter(io.BytesIO(), sync="fsync")


def test_what_cannot_be_encoded_leaves_no_trace() -> None:
    file = io.BytesIO()
    writer = StreamWriter(file, max_frame=10)
    with pytest.raises(EncodeError):
        writer.write([object()])
    with pytest.raises(EncodeError, match="longer than max_frame"):
        writer.write("long enough for this")
    writer.write(1)
    assert file.getvalue() == frame_bytes(npser.dumps(1))


def test_after_a_failed_write_nothing_goes_on() -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            if self.tell() + len(data) > 40:
                super().write(data[: 40 - self.tell()])
                raise OSError(28, "No space left on device")
            return super().write(data)

    file = Full()
    writer = StreamWriter(file)
    writer.write(1)
    with pytest.raises(OSError, match="No space"):
        writer.write(2)
    with pytest.raises(ValueError, match="has failed before"):
        writer.write(3)
    writer.close()
    assert file.getvalue()[:28] == frame_bytes(npser.dumps(1))
    assert len(file.getvalue()) == 40
    assert writer.frames == 1


def test_options() -> None:
    file = io.BytesIO()
    row = [1]
    StreamWriter(file, identity="preserve").write([row, row])
    assert file.getvalue() == frame_bytes(npser.dumps([row, row], identity="preserve"))
    for wrong in ({"sync": "always"}, {"identity": "yes"}):
        with pytest.raises(ValueError, match="is one of"):
            StreamWriter(file, **wrong)
    with pytest.raises(TypeError):
        StreamWriter(file, colour="red")


def test_codec() -> None:
    class Upper:
        def dumps(self, value: str) -> bytes:
            return value.upper().encode()

    file = io.BytesIO()
    StreamWriter(file, codec=Upper()).write("abc")
    assert file.getvalue() == frame_bytes(b"ABC")


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with open(tmp_path / "file", "rb") as file, pytest.raises(TypeError, match="open for writing"):
        StreamWriter(file)
    with pytest.raises(TypeError, match="binary"):
        StreamWriter(io.StringIO())
