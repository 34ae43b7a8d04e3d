"""Types that own their bytes: whole or not at all, and an NpserError whatever the type's own code does."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.errors import DecodeError, EncodeError, LimitError, NpserError, TruncatedError
from npser.stream.boundary import BinaryStream, MemoryStream
from npser.stream.packable import Packable, Unpackable, pack, unpack


class Track:
    """A name and points, with the length of each in front of it."""

    def __init__(self, name: str, points: list[float]) -> None:
        self.name = name
        self.points = points

    def pack(self, stream: BinaryStream) -> None:
        name = self.name.encode()
        stream.write(struct.pack("<II", len(name), len(self.points)))
        stream.write(name)
        stream.write(struct.pack(f"<{len(self.points)}d", *self.points))

    @classmethod
    def unpack(cls, stream: BinaryStream) -> Self:
        letters, points = struct.unpack("<II", stream.read_exactly(8))
        name = stream.read_exactly(letters).decode()
        return cls(name, list(struct.unpack(f"<{points}d", stream.read_exactly(8 * points))))


def reader(read: Callable[[Any], Any]) -> type:
    return type("Reader", (), {"unpack": classmethod(lambda cls, stream: read(stream))})


def writer(write: Callable[[Any], Any]) -> Any:
    return type("Writer", (), {"pack": lambda self, stream: write(stream)})()


def test_protocols() -> None:
    track = Track("a", [])
    assert isinstance(track, Packable)
    assert isinstance(track, Unpackable)
    assert isinstance(writer(None), Packable)
    assert not isinstance(writer(None), Unpackable)


@given(st.text(), st.lists(st.floats(allow_nan=False)))
def test_round_trip(name: str, points: list[float]) -> None:
    data = pack(Track(name, points))
    for form in (data, bytearray(data), memoryview(data), np.frombuffer(data, "<u1")):
        again = unpack(Track, form)
        assert (again.name, again.points) == (name, points)


def test_cut_at_every_byte() -> None:
    data = pack(Track("köln", [1.0, 2.0]))
    for size in range(len(data)):
        with pytest.raises(TruncatedError):
            unpack(Track, data[:size])


def test_leftover_bytes() -> None:
    data = pack(Track("köln", [1.0]))
    with pytest.raises(DecodeError, match=r"Track.unpack left 2 of 23 bytes") as caught:
        unpack(Track, data + b"ab")
    assert caught.value.pos == len(data)
    assert not isinstance(caught.value, TruncatedError)


def test_huge_announced_lengths() -> None:
    for lengths in ((2**32 - 1, 0), (0, 2**32 - 1)):
        with pytest.raises(TruncatedError):
            unpack(Track, struct.pack("<II", *lengths) + b"abc")


@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_an_error(data: bytes) -> None:
    with contextlib.suppress(NpserError):
        unpack(Track, data)


@pytest.mark.parametrize(
    "error", [ValueError("v"), struct.error("s"), KeyError("k"), UnicodeError("u"), TypeError("t")]
)
def test_errors_of_the_type_are_the_cause(error: Exception) -> None:
    def fail(stream: Any) -> None:
        if stream.length:
            stream.read(1)
        raise error

    with pytest.raises(DecodeError, match=rf"Reader.unpack raised {type(error).__name__}") as reading:
        unpack(reader(fail), b"abc")
    assert reading.value.__cause__ is error
    assert reading.value.pos == 1
    with pytest.raises(EncodeError, match=rf"Writer.pack raised {type(error).__name__}") as writing:
        pack(writer(fail))
    assert writing.value.__cause__ is error


def test_its_own_end_of_file_is_a_truncation() -> None:
    def fail(stream: Any) -> None:
        raise EOFError("more")

    with pytest.raises(TruncatedError, match="more"):
        unpack(reader(fail), b"")


@pytest.mark.parametrize("error", [LimitError("l", pos=7), EncodeError("e"), MemoryError(), KeyboardInterrupt()])
def test_what_passes_unchanged(error: BaseException) -> None:
    def fail(stream: Any) -> None:
        raise error

    for call in (lambda: pack(writer(fail)), lambda: unpack(reader(fail), b"")):
        with pytest.raises(type(error)) as caught:
            call()
        assert caught.value is error


def test_closing_the_stream() -> None:
    with pytest.raises(EncodeError, match="closed the stream that it was lent"):
        pack(writer(lambda stream: stream.close()))
    with pytest.raises(DecodeError, match="closed the stream that it was lent"):
        unpack(reader(lambda stream: stream.close()), b"abc")


def test_pack_of_what_cannot() -> None:
    for thing in (1, None, object(), b"abc"):
        with pytest.raises(TypeError, match=r"pack takes an object with a method pack\(stream\)"):
            pack(thing)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not the class Track"):
        pack(Track)  # type: ignore[arg-type]


def test_unpack_of_what_cannot() -> None:
    with pytest.raises(TypeError, match="takes a class first"):
        unpack(Track("", []), b"")  # type: ignore[type-var, arg-type]
    with pytest.raises(TypeError, match="not the class int"):
        unpack(int, b"")  # type: ignore[type-var]
    for data in (None, "abc", 3, [1], np.zeros(3)[::2]):
        with pytest.raises(TypeError, match="bytes or a contiguous buffer"):
            unpack(Track, data)


def test_unpack_may_look_ahead_and_go_back() -> None:
    def look(stream: MemoryStream) -> bytes:
        stream.read(3)
        stream.seek(0)
        return stream.read_exactly(4)

    assert unpack(reader(look), b"abcd") == b"abcd"


def test_a_short_read_is_the_types_own_affair() -> None:
    assert unpack(reader(lambda stream: stream.read(100)), b"abc") == b"abc"
