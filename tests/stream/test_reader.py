"""StreamReader: values from files, pipes, sockets and other processes, with or without damage."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.limits import Limits
from npser.stream.boundary import FileStream, MemoryStream
from npser.stream.layout import frame_bytes
from npser.stream.parser import Skipped
from npser.stream.reader import StreamReader
from same import same
from stream.damage import Dribble, Pipe, join

VALUES: Final = (None, 7, "text", [1, 2, 3], {"a": [1.5, None]}, list(range(0, 3000, 7)))
PARTS: Final = tuple(frame_bytes(npser.dumps(value)) for value in VALUES)
DATA: Final = b"".join(PARTS)
SOURCE: Final = Path(npser.__file__).parents[1]

values = st.lists(
    st.recursive(
        st.none() | st.integers() | st.floats() | st.text() | st.binary(), lambda inner: st.lists(inner), max_leaves=8
    ),
    max_size=5,
)


@given(values)
def test_round_trip(wanted: list[Any]) -> None:
    data = join(map(npser.dumps, wanted))
    for source in (io.BytesIO(data), Dribble(data), Pipe(data), MemoryStream(data)):
        reader = StreamReader(source)
        assert same(list(reader), wanted)
        assert (reader.frames, reader.position, reader.skipped) == (len(wanted), len(data), [])


def test_an_empty_file() -> None:
    reader = StreamReader(io.BytesIO())
    assert list(reader) == []
    assert (reader.frames, reader.position) == (0, 0)


def test_cut_at_every_byte() -> None:
    ends = [sum(map(len, PARTS[:n])) for n in range(len(PARTS) + 1)]
    for size in range(len(DATA)):
        whole = sum(end <= size for end in ends) - 1
        reader = StreamReader(io.BytesIO(DATA[:size]), tail="ignore")
        assert list(reader) == list(VALUES[:whole])
        assert reader.position == ends[whole]
        strict, found = StreamReader(io.BytesIO(DATA[:size])), []
        if size in ends:
            assert list(strict) == list(VALUES[:whole])
            continue
        with pytest.raises(TruncatedError) as caught:
            for value in strict:
                found.append(value)
        assert found == list(VALUES[:whole])
        assert caught.value.pos == strict.position == ends[whole]
        assert strict.frames == whole


def test_flip_every_byte() -> None:
    starts = [sum(map(len, PARTS[:n])) for n in range(len(PARTS))]
    for at in range(len(DATA)):
        hit = sum(start <= at for start in starts) - 1
        damaged = DATA[:at] + bytes([DATA[at] ^ 0x10]) + DATA[at + 1 :]
        reader = StreamReader(io.BytesIO(damaged), damaged="skip")
        assert list(reader) == [*VALUES[:hit], *VALUES[hit + 1 :]]
        assert [skipped[:2] for skipped in reader.skipped] == [(starts[hit], starts[hit] + len(PARTS[hit]))]
        with pytest.raises(DecodeError):
            list(StreamReader(io.BytesIO(damaged)))


def test_payloads() -> None:
    reader = StreamReader(io.BytesIO(DATA))
    assert next(reader) is None
    payload = next(reader.payloads())
    assert type(payload) is bytes
    assert payload == npser.dumps(7)
    assert next(reader) == "text"
    assert list(reader.payloads()) == [npser.dumps(value) for value in VALUES[3:]]


def test_values_that_cannot_be_decoded_are_no_damage() -> None:
    data = (
        frame_bytes(npser.dumps(1))
        + frame_bytes(b"\x80\x05.")
        + frame_bytes(npser.dumps([0] * 1000))
        + frame_bytes(npser.dumps(2))
    )
    reader = StreamReader(io.BytesIO(data), damaged="skip", limits=Limits(items=10, expansion=0))
    assert next(reader) == 1
    with pytest.raises(npser.ForeignBytesError) as caught:
        next(reader)
    assert caught.value.__notes__ == ["in the frame at byte 28"]
    with pytest.raises(LimitError):
        next(reader)
    assert list(reader) == [2]
    assert reader.skipped == []


def test_options_of_loads() -> None:
    data = join([npser.dumps([1, 2, 3]), npser.dumps([{"a": 1}, {"a": 2}])])
    first, second = StreamReader(io.BytesIO(data), numbers="array", tables="columns")
    assert same(first, np.array([1, 2, 3]))
    assert same(second, {"a": np.array([1, 2])})
    for wrong in ({"numbers": "arrays"}, {"damaged": "no"}, {"tail": "cut"}):
        with pytest.raises(ValueError, match="is one of"):
            StreamReader(io.BytesIO(), **wrong)
    with pytest.raises(TypeError):
        StreamReader(io.BytesIO(), colour="red")


def test_classes_from_an_iterator_serve_every_frame() -> None:
    payload = npser.dumps(Skipped(1, 2, "x"))
    reader = StreamReader(io.BytesIO(join([payload] * 3)), classes=iter([Skipped]))
    assert list(reader) == [Skipped(1, 2, "x")] * 3


def test_codec() -> None:
    class Upper:
        def loads(self, data: bytes) -> str:
            return data.decode().upper()

    assert list(StreamReader(io.BytesIO(frame_bytes(b"abc")), codec=Upper())) == ["ABC"]


def test_the_file_is_left_open_behind_the_frame() -> None:
    file = io.BytesIO(DATA)
    with StreamReader(file) as reader:
        next(reader)
        assert file.tell() == reader.position == len(PARTS[0])
        assert reader.start == 0
    assert not file.closed
    assert list(StreamReader(file)) == list(VALUES[1:])


def test_a_file_that_grows() -> None:
    file = io.BytesIO(DATA[:-5])
    reader = StreamReader(file, tail="ignore")
    assert list(reader) == list(VALUES[:-1])
    file.write(DATA[-5:])
    file.seek(-5, io.SEEK_CUR)
    assert list(reader) == list(VALUES[-1:])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with open(tmp_path / "file", "wb") as file, pytest.raises(TypeError, match="open for reading"):
        StreamReader(file)
    with pytest.raises(TypeError, match="binary"):
        StreamReader(io.StringIO())


# --------------------------------------------------------------------------------------------------------- two processes

WRITE = """
import socket, sys
from npser.stream.writer import StreamWriter
file = sys.stdout.buffer if sys.argv[1] == "-" else socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("wb")
with file, StreamWriter(file) as writer:
    for n in range(200):
        writer.write({"n": n, "values": list(range(0, n * 50, 3))})
"""


def wanted() -> list[Any]:
    return [{"n": n, "values": list(range(0, n * 50, 3))} for n in range(200)]


def start(argument: str, **options: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.Popen([sys.executable, "-c", WRITE, argument], env=environment, **options)


def test_two_processes_and_a_pipe() -> None:
    with start("-", stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert list(StreamReader(child.stdout)) == wanted()
    assert child.returncode == 0


def test_two_processes_and_a_socket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        with start(str(server.getsockname()[1])) as child:
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as file:
                assert list(StreamReader(file)) == wanted()
        assert child.returncode == 0


def test_a_conversation_over_one_socket() -> None:
    """Nobody waits for more than the frame that was sent."""
    left, right = socket.socketpair()
    with left, right, FileStream(left.makefile("rwb")) as near, FileStream(right.makefile("rwb")) as far:
        from npser.stream.writer import StreamWriter

        ask, answer = StreamWriter(near), StreamWriter(far)
        asked, answered = StreamReader(far), StreamReader(near)
        for n in range(5):
            ask.write(n)
            assert next(asked) == n
            answer.write([n])
            assert next(answered) == [n]


def test_damage_on_a_live_connection_holds_nothing_up() -> None:
    left, right = socket.socketpair()
    with left, right, right.makefile("rb") as file:
        reader = StreamReader(file, damaged="skip")
        left.sendall(b"junk" + PARTS[3])
        assert next(reader) == VALUES[3]
        left.sendall(PARTS[2])
        assert next(reader) == VALUES[2]


def test_a_codec_of_npser() -> None:
    from npser.stream.writer import StreamWriter

    key = b"k" * 32
    file = io.BytesIO()
    StreamWriter(file, codec=npser.Codec(key=key, compress="zlib")).write([1, 2, 3])
    assert list(StreamReader(io.BytesIO(file.getvalue()), codec=npser.Codec(key=key))) == [[1, 2, 3]]
    with pytest.raises(npser.SignatureError):
        list(StreamReader(io.BytesIO(file.getvalue()), codec=npser.Codec(key=b"x" * 32)))
