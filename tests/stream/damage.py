"""What the tests of frames share: frames to damage, and what must be found in them."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from npser.stream.layout import MARKER, frame_bytes
from npser.stream.parser import FrameParser

__all__ = ["Dribble", "Pipe", "join", "parse", "payloads", "starts_of"]

PAYLOADS = (b"first", b"", b"\xc1\xfe", bytes(range(256)), MARKER + b" inside", frame_bytes(b"a frame in a frame"))


def join(payloads: Iterable[bytes]) -> bytes:
    return b"".join(map(frame_bytes, payloads))


def starts_of(payloads: Iterable[bytes]) -> list[int]:
    """Where each frame begins, and where the last one ends."""
    starts = [0]
    for payload in payloads:
        starts.append(starts[-1] + len(frame_bytes(payload)))
    return starts


def parse(data: bytes, piece: int = 1 << 30, **options: Any) -> tuple[list[bytes], FrameParser]:
    """All payloads of the data, given to the parser piece by piece."""
    parser = FrameParser(**options)
    found: list[bytes] = []
    for start in range(0, len(data), piece):
        parser.feed(data[start : start + piece])
        while (payload := parser.pop()) is not None:
            found.append(payload)
    parser.end()
    return found, parser


payloads = st.lists(
    st.binary(max_size=40)
    | st.binary(max_size=8).map(lambda rest: MARKER + rest)
    | st.binary(max_size=8).map(lambda rest: frame_bytes(rest) + rest)
    | st.sampled_from(PAYLOADS),
    max_size=6,
)


class Dribble(io.RawIOBase):
    """A raw file that gives and takes a few bytes at a time, and cannot seek."""

    def __init__(self, data: bytes = b"", most: int = 3) -> None:
        self.data = bytearray(data)
        self.most = most

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = min(len(buffer), self.most, len(self.data))
        buffer[:n] = self.data[:n]
        del self.data[:n]
        return n

    def write(self, data: Any) -> int:
        taken = bytes(data)[: self.most]
        self.data += taken
        return len(taken)


class Pipe:
    """A file object that has nothing but read and write."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data

    def read(self, size: int) -> bytes:
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def write(self, data: bytes) -> int:
        self.data += data
        return len(data)
