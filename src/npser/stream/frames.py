"""Single frames into and out of a stream.

Strategy: a frame is written with one call where it is short, so that a file object which does not buffer has it in one
piece, and with two where joining the parts would copy much. It is read by asking the parser what it wants, unless
the parser would only hand on what comes: then header and payload are read as they are, and nothing is copied.
"""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

from npser.choices import one_of
from npser.errors import TruncatedError
from npser.stream.boundary import PIECE, BinaryStream, as_stream, read_up_to
from npser.stream.layout import HEADER_SIZE, MARKER, MAX_FRAME, frame_parts
from npser.stream.parser import FrameParser

__all__ = ["next_payload", "read_frame", "write_frame", "write_parts"]

Bare = Literal["raise", "rest"]

_JOINED: Final = 1 << 16
"""Bytes up to which header and payload are written as one."""


def write_frame(file: Any, payload: Any, *, max_frame: int = MAX_FRAME) -> int:
    """Write a payload as a frame to a binary file object or stream; the number of bytes written is returned.

    Raises
    ------
    EncodeError
        When the payload has more than `max_frame` bytes.

    >>> import io
    >>> file = io.BytesIO()
    >>> write_frame(file, b"abc"), write_frame(file, b"")
    (27, 24)
    >>> file.seek(0), read_frame(file), read_frame(file)
    (0, b'abc', b'')
    """
    return write_parts(as_stream(file), *frame_parts(payload, max_frame=max_frame))


def write_parts(stream: BinaryStream, header: bytes, stored: bytes | bytearray) -> int:
    """Write what `frame_parts` gives; the number of bytes written is returned."""
    if len(stored) <= _JOINED:
        return stream.write(header + stored)
    return stream.write(header) + stream.write(stored)


def read_frame(file: Any, *, max_frame: int = MAX_FRAME, bare: Bare = "raise") -> bytes:
    """The payload of the frame that begins where a binary file object or stream stands; nothing behind it is read.

    Parameters
    ----------
    max_frame : int
        Longer payloads are refused before anything is read of them.
    bare : {"raise", "rest"}
        What happens where no frame begins. ``"rest"`` takes it for a payload that is not in a frame, and gives
        everything from here to the end; so it is for who decodes it to refuse.

    Raises
    ------
    TruncatedError
        When the file ends before the frame does, or before it begins. It is an EOFError.
    DecodeError
        When no frame begins here, or it is damaged.
    """
    one_of("bare", bare, get_args(Bare))
    stream = as_stream(file)
    parser = FrameParser(position=stream.position, max_frame=max_frame)
    if bare == "rest":
        head = read_up_to(stream, len(MARKER))
        if not MARKER[:2].startswith(head[:2]):
            return head + _rest(stream)
        parser.feed(head)
    payload = next_payload(stream, parser)
    if payload is None:
        raise TruncatedError("no frame, the end is here", pos=parser.position)
    return payload


def next_payload(stream: BinaryStream, parser: FrameParser) -> bytes | None:
    """The next payload of a stream, or None at its end; the parser knows what to do about damage and the tail."""
    if parser.at_rest:
        payload = _next_sound(stream, parser)
        if payload is not None:
            return payload
    while (payload := parser.pop()) is None:
        data = stream.read(min(parser.wanted, PIECE))
        if not data:
            parser.end()
            return None
        parser.feed(data)
    return payload


def _next_sound(stream: BinaryStream, parser: FrameParser) -> bytes | None:
    """The next payload, without a copy of it; where anything is wrong, None, and the parser has what was read."""
    head = read_up_to(stream, HEADER_SIZE)
    header = parser.header_of(head)
    if header is None:
        parser.feed(head)
        return None
    stored = read_up_to(stream, header.length)
    payload = parser.accept(header, stored)
    if payload is None:
        parser.feed(head)
        parser.feed(stored)
    return payload


def _rest(stream: BinaryStream) -> bytes:
    return b"".join(iter(lambda: stream.read(PIECE), b""))
