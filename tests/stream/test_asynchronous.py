"""Frames over asyncio: in any pieces, over a real connection, and no more in memory than a frame."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from npser.errors import DecodeError, ForeignBytesError, TruncatedError
from npser.stream.asynchronous import aiter_frames, aiter_values
from npser.stream.boundary import PIECE
from npser.stream.layout import frame_bytes
from npser.stream.parser import FrameParser
from stream.damage import PAYLOADS, join, payloads


class Pieces:
    """A reader that gives a few bytes at a time and notes how many were asked for."""

    def __init__(self, data: bytes, most: int) -> None:
        self.data = data
        self.most = most
        self.asked = 0

    async def read(self, n: int, /) -> bytes:
        self.asked = max(self.asked, n)
        n = min(n, self.most)
        taken, self.data = self.data[:n], self.data[n:]
        return taken


def collect(frames: AsyncIterator[Any]) -> list[Any]:
    async def run() -> list[Any]:
        return [item async for item in frames]

    return asyncio.run(run())


@given(payloads, st.integers(1, 50))
def test_round_trip(wanted: list[bytes], most: int) -> None:
    assert collect(aiter_frames(Pieces(join(wanted), most))) == wanted


def test_cut_and_damaged() -> None:
    data = join(PAYLOADS)
    with pytest.raises(TruncatedError):
        collect(aiter_frames(Pieces(data[:-1], 9)))
    assert collect(aiter_frames(Pieces(data[:-1], 9), tail="ignore")) == list(PAYLOADS[:-1])
    with pytest.raises(DecodeError):
        collect(aiter_frames(Pieces(b"x" + data, 9)))
    parser = FrameParser(damaged="skip")
    assert collect(aiter_frames(Pieces(b"x" + data, 9), parser=parser)) == list(PAYLOADS)
    assert [skipped[:2] for skipped in parser.skipped] == [(0, 1)]


def test_little_is_asked_for_at_once() -> None:
    reader = Pieces(frame_bytes(bytes(3 * PIECE)), 1 << 30)
    assert collect(aiter_frames(reader)) == [bytes(3 * PIECE)]
    assert reader.asked == PIECE


def test_values() -> None:
    values = [1, [1.5, 2.5], {"a": "b"}]
    data = join(map(npser.dumps, values))
    assert collect(aiter_values(Pieces(data, 9))) == values
    assert collect(aiter_values(Pieces(data[1:], 9), damaged="skip")) == values[1:]
    (array,) = collect(aiter_values(Pieces(join([npser.dumps([1, 2])]), 9), numbers="array"))
    assert array.tolist() == [1, 2]
    with pytest.raises(ForeignBytesError) as caught:
        collect(aiter_values(Pieces(frame_bytes(b"{}"), 9)))
    assert caught.value.__notes__ == ["in the frame at byte 0"]
    with pytest.raises(ValueError, match="numbers is one of"):
        collect(aiter_values(Pieces(b"", 9), numbers="arrays"))


def test_a_real_connection() -> None:
    sent = [bytes([n]) * n * 1000 for n in range(100)]

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for payload in sent:
            writer.write(frame_bytes(payload))
            await writer.drain()
        writer.close()

    async def run() -> list[bytes]:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            found = [payload async for payload in aiter_frames(reader)]
            writer.close()
            return found

    assert asyncio.run(run()) == sent


def test_each_comes_as_soon_as_it_is_whole() -> None:
    async def run() -> None:
        reader = asyncio.StreamReader()
        frames = aiter_frames(reader)
        for payload in PAYLOADS:
            reader.feed_data(frame_bytes(payload))
            assert await asyncio.wait_for(anext(frames), 10) == payload

    asyncio.run(run())
