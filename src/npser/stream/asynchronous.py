"""Frames from an asyncio StreamReader.

Strategy: the same parser, fed by `await reader.read(n)`. asyncio itself is not imported, because that takes longer than
importing npser: anything with such a `read` will do. The reader is told how many bytes are wanted and may give fewer,
so the memory that is held is that of one frame, and whoever sends faster than the frames are taken has to wait.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from npser.stream.boundary import PIECE
from npser.stream.choices import Damaged, Tail
from npser.stream.layout import MAX_FRAME
from npser.stream.parser import FrameParser
from npser.stream.reader import Decoder, bind_loads, decode_frame

__all__ = ["AsyncReader", "aiter_frames", "aiter_values"]


class AsyncReader(Protocol):
    """What frames are read from: an asyncio.StreamReader, or anything else with its `read`."""

    async def read(self, n: int, /) -> bytes:
        """Up to n bytes: at least one, except at the end."""
        ...


async def aiter_frames(
    reader: AsyncReader,
    *,
    damaged: Damaged = "raise",
    tail: Tail = "raise",
    max_frame: int = MAX_FRAME,
    parser: FrameParser | None = None,
) -> AsyncIterator[bytes]:
    """The payloads of the frames that come, each as soon as it is whole; the options are those of `StreamReader`.

    Parameters
    ----------
    parser : FrameParser, optional
        In place of the options; what it knows (`position`, `frames`, `skipped`) can so be looked at afterwards.

    >>> import asyncio
    >>> from npser.stream.layout import frame_bytes
    >>> async def example():
    ...     reader = asyncio.StreamReader()
    ...     reader.feed_data(frame_bytes(b"abc") + frame_bytes(b"d"))
    ...     reader.feed_eof()
    ...     return [payload async for payload in aiter_frames(reader)]
    >>> asyncio.run(example())
    [b'abc', b'd']
    """
    if parser is None:
        parser = FrameParser(max_frame=max_frame, damaged=damaged, tail=tail)
    while True:
        while (payload := parser.pop()) is None:
            data = await reader.read(min(parser.wanted, PIECE))
            if not data:
                parser.end()
                return
            parser.feed(data)
        yield payload


async def aiter_values(
    reader: AsyncReader,
    *,
    damaged: Damaged = "raise",
    tail: Tail = "raise",
    max_frame: int = MAX_FRAME,
    codec: Decoder | None = None,
    **options: Any,
) -> AsyncIterator[Any]:
    """The values of the frames that come; `codec` and `options` are those of `StreamReader`.

    Decoding is not awaited: a frame that takes long to decode should go to a thread, with `aiter_frames` and `loads`.
    """
    loads = bind_loads(codec, options)
    parser = FrameParser(max_frame=max_frame, damaged=damaged, tail=tail)
    async for payload in aiter_frames(reader, parser=parser):
        yield decode_frame(loads, payload, parser.start)
