"""The byte boundary over every sort of file: what may be short, what is never, where we are."""

from __future__ import annotations

import gzip
import io
import mmap
import os
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.errors import TruncatedError
from npser.stream.boundary import PIECE, BinaryStream, FileStream, MemoryStream, as_stream
from stream.damage import Dribble, Pipe

SIZES = (0, 1, 2, 7, 8, 9, 127, 128, 129, 1000, PIECE - 1, PIECE, PIECE + 1)
DATA = bytes(range(256)) * 5


def streams(data: bytes) -> dict[str, Any]:
    with tempfile.TemporaryFile(buffering=0) as raw:
        raw.write(data)
        raw.seek(0)
        number = os.dup(raw.fileno())
    return {
        "memory": MemoryStream(data),
        "bytearray": MemoryStream(bytearray(data)),
        "BytesIO": FileStream(io.BytesIO(data)),
        "raw": FileStream(open(number, "rb", buffering=0)),
        "buffered": FileStream(io.BufferedReader(io.BytesIO(data), 16)),
        "dribble": FileStream(Dribble(data)),
        "buffered dribble": FileStream(io.BufferedReader(Dribble(data), 16)),
        "bare": FileStream(Pipe(data)),
        "gzip": FileStream(gzip.open(io.BytesIO(gzip.compress(data)))),
    }


NAMES = tuple(streams(b""))


@pytest.mark.parametrize("name", NAMES)
def test_all_are_streams(name: str) -> None:
    stream = streams(DATA)[name]
    assert isinstance(stream, BinaryStream)
    assert as_stream(stream) is stream
    assert stream.readable()


@pytest.mark.parametrize("name", NAMES)
def test_read_exactly_is_never_short(name: str) -> None:
    with streams(DATA)[name] as stream:
        found = b""
        for size in (0, 1, 2, 7, 8, 9, 127, 128, 129):
            assert stream.position == len(found)
            part = stream.read_exactly(size)
            assert type(part) is bytes
            assert len(part) == size
            found += part
        assert found == DATA[: len(found)]
        assert stream.length in (None, len(DATA))
        at = stream.position
        with pytest.raises(TruncatedError, match="need 1280 bytes, 869 left") as caught:
            stream.read_exactly(len(DATA))
        assert caught.value.pos == at
        assert isinstance(caught.value, EOFError)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [2**31, 2**62, 2**63, 2**70])
def test_a_huge_size_takes_no_memory(name: str, size: int) -> None:
    with streams(b"abc")[name] as stream, pytest.raises(TruncatedError) as caught:
        stream.read_exactly(size)
    assert caught.value.pos == 0


@pytest.mark.parametrize("name", NAMES)
def test_reads_may_be_short_but_give_something(name: str) -> None:
    with streams(DATA)[name] as stream:
        found = b""
        while part := stream.read(100):
            assert len(part) <= 100
            found += part
        assert found == DATA
        assert stream.position == len(DATA)
        assert stream.read(1) == b""
        assert stream.read_exactly(0) == b""


@pytest.mark.parametrize("name", NAMES)
def test_readinto(name: str) -> None:
    with streams(DATA)[name] as stream:
        found, buffer = b"", bytearray(100)
        while got := stream.readinto(buffer):
            found += buffer[:got]
        assert found == DATA
        assert stream.position == len(DATA)


@pytest.mark.parametrize("name", NAMES)
def test_a_negative_size_is_refused(name: str) -> None:
    with streams(DATA)[name] as stream, pytest.raises(ValueError, match="not negative"):
        stream.read_exactly(-1)


@pytest.mark.parametrize("size", SIZES)
def test_read_exactly_of_all_sizes(size: int) -> None:
    data = os.urandom(size)
    for stream in (MemoryStream(data), FileStream(io.BytesIO(data)), FileStream(Dribble(data, 70_000))):
        assert stream.read_exactly(size) == data


@pytest.mark.parametrize("data", [b"abc", bytearray(b"abc"), memoryview(b"abc"), memoryview(bytes(24)).cast("d")])
@pytest.mark.parametrize("make", [MemoryStream, lambda: FileStream(io.BytesIO()), lambda: FileStream(Dribble())])
def test_writes_are_never_short(make: Any, data: Any) -> None:
    stream = make()
    assert stream.writable()
    size = memoryview(data).nbytes
    assert stream.write(data) == size
    assert stream.write(data) == size
    assert stream.position == 2 * size
    stream.flush()
    whole = bytes(data) * 2
    assert (stream.getvalue() if isinstance(stream, MemoryStream) else _content(stream)) == whole


def _content(stream: FileStream) -> bytes:
    file: Any = stream._file
    return file.getvalue() if isinstance(file, io.BytesIO) else bytes(file.data)


@given(st.lists(st.binary(max_size=20) | st.integers(0, 30)))
def test_memory_stream_is_a_bytes_io(steps: list[bytes | int]) -> None:
    stream, model = MemoryStream(b"something"), io.BytesIO(b"something")
    for step in steps:
        if isinstance(step, bytes):
            assert stream.write(step) == model.write(step)
        else:
            assert stream.read(step) == model.read(step)
        assert stream.position == model.tell()
        assert stream.length == len(model.getvalue())
    assert stream.getvalue() == model.getvalue()


def test_memory_stream_takes_nothing_when_it_is_cut_off() -> None:
    stream = MemoryStream(b"abc")
    with pytest.raises(TruncatedError):
        stream.read_exactly(4)
    assert stream.position == 0


def test_memory_stream_leaves_its_source_alone() -> None:
    for source in (b"abc", bytearray(b"abc")):
        stream = MemoryStream(source)
        stream.write(b"xyz!")
        assert source == b"abc"
        assert stream.getvalue() == b"xyz!"


def test_a_stream_may_begin_in_the_middle_of_a_file() -> None:
    file = io.BytesIO(b"abcdef")
    file.seek(2)
    stream = FileStream(file)
    assert (stream.position, stream.length) == (2, 6)
    assert stream.read_exactly(2) == b"cd"
    assert (stream.position, file.tell()) == (4, 4)


def test_mmap(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(DATA)
    with open(tmp_path / "file", "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        stream = FileStream(mapped)
        assert stream.length == len(DATA)
        assert stream.read_exactly(300) == DATA[:300]
        assert stream.readinto(bytearray(10)) == 10
        assert stream.position == 310


def test_socket() -> None:
    left, right = socket.socketpair()
    with left, right, FileStream(left.makefile("rwb")) as near, FileStream(right.makefile("rwb")) as far:
        assert near.length is None
        near.write(b"hello")
        near.flush()
        assert far.read_exactly(5) == b"hello"
        far.write(b"you")
        far.flush()
        assert near.read(100) == b"you"  # and does not wait for more


def test_one_way_files() -> None:
    class Source:
        def read(self, size: int) -> bytes:
            return b"x" * size

    class Drain:
        def write(self, data: bytes) -> int:
            return len(data)

    source, drain = FileStream(Source()), FileStream(Drain())
    assert (source.readable(), source.writable(), drain.readable(), drain.writable()) == (True, False, False, True)
    assert source.read_exactly(3) == b"xxx"
    assert drain.write(b"abc") == 3
    source.flush()
    drain.close()
    with pytest.raises(OSError, match="write"):
        source.write(b"")
    with pytest.raises(OSError, match="read"):
        drain.read(1)
    with pytest.raises(OSError, match="fileno"):
        drain.fileno()


def test_text_files_are_refused() -> None:
    for file in (io.StringIO("abc"), object(), None, 3, "path"):
        with pytest.raises(TypeError, match="binary file object"):
            FileStream(file)

    class Text:
        def read(self, size: int) -> str:
            return "abc"

    with pytest.raises(TypeError, match="bytes were to be read and the file gave a str"):
        FileStream(Text()).read_exactly(3)


def test_files_that_would_block_are_refused() -> None:
    class Never(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> None:
            return None

        def write(self, data: Any) -> None:
            return None

    for use in (lambda s: s.read_exactly(1), lambda s: s.readinto(bytearray(1)), lambda s: s.write(b"x")):
        with pytest.raises(BlockingIOError):
            use(FileStream(Never()))


def test_closing() -> None:
    file = io.BytesIO(b"abc")
    with FileStream(file) as stream:
        assert not file.closed
    assert file.closed
    stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.read(1)
    memory = MemoryStream(b"abc")
    memory.close()
    memory.close()
    with pytest.raises(ValueError, match="closed"):
        memory.read_exactly(1)
