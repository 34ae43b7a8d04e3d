"""How a file of frames ends, which is all that matters to whoever wants to append to it.

Strategy: no payload holds the marker, so the last marker of the file is where its last frame begins, and it is found
from the end, however long the file is. What is there is one of four things: nothing, a sound frame that fills the file,
the beginning of a frame (or a frame that the machine lost before it was on the disk), or bytes that nobody who writes
frames leaves behind. Only the third may be cut off, and only once: more than the last frame is never given up.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

from npser.errors import DecodeError, LimitError
from npser.stream.layout import HEADER_SIZE, MARKER, MAX_FRAME, Header, read_header

__all__ = ["End", "find_end"]

_PIECE: Final = 1 << 16


class End(NamedTuple):
    """Where the last sound frame ends, and what is wrong with the bytes behind it, if there are any."""

    position: int
    broken: DecodeError | None


def find_end(file: IO[bytes], *, max_frame: int = MAX_FRAME) -> End:
    """Look at the end of a file that can seek; where it stands afterwards is not said.

    Raises
    ------
    DecodeError
        When the file does not begin with a frame (`ForeignBytesError` where it is known whose bytes these are), or its
        end is more than one broken frame.

    >>> import io
    >>> from npser.stream.layout import frame_bytes
    >>> one = frame_bytes(b"abc")
    >>> find_end(io.BytesIO(one + one[:20]))
    End(position=27, broken=DecodeError('the last frame is cut off'))
    """
    size = file.seek(0, os.SEEK_END)
    _check_start(file, size, max_frame)
    start, broken = _judge(file, size, max_frame)
    if broken is None:
        return End(size, None)
    if start and _judge(file, start, max_frame)[1] is not None:
        raise DecodeError("more than the last frame of this file is damaged", pos=start)
    return End(start, broken)


def _check_start(file: IO[bytes], size: int, max_frame: int) -> None:
    head = _read(file, 0, min(size, HEADER_SIZE))
    if not MARKER.startswith(head[: len(MARKER)]):
        read_header(head.ljust(HEADER_SIZE, b"\0"), max_frame=max_frame)  # which says what it is instead


def _judge(file: IO[bytes], size: int, max_frame: int) -> tuple[int, DecodeError | None]:
    """Where what ends at `size` begins, and what is wrong with it. A file without a byte is as it should be."""
    if not size:
        return 0, None
    start = _last_marker(file, size)
    if size - start < HEADER_SIZE:
        return start, DecodeError("the last frame is cut off", pos=start)
    try:
        header = read_header(_read(file, start, HEADER_SIZE), pos=start, max_frame=max_frame)
    except LimitError:
        raise
    except DecodeError as error:
        return start, error
    end = start + HEADER_SIZE + header.length
    if end > size:
        return start, DecodeError("the last frame is cut off", pos=start)
    if not _is_sound(file, start, header):
        return start, DecodeError("the payload of the last frame is damaged", pos=start)
    if end < size:
        return end, _judge_rest(file, end, size)
    return start, None


def _judge_rest(file: IO[bytes], end: int, size: int) -> DecodeError:
    """What follows the last sound frame and has no marker: a cut-off marker, or a page that the disk never got."""
    rest = _read(file, end, min(size - end, HEADER_SIZE))
    if MARKER.startswith(rest):
        return DecodeError("the last frame is cut off", pos=end)
    if all(not any(piece) for piece in _pieces(file, end, size)):
        return DecodeError("the last frame is all zeros", pos=end)
    raise DecodeError(f"{size - end} bytes follow the last frame and are no frame", pos=end)


def _is_sound(file: IO[bytes], start: int, header: Header) -> bool:
    crc = 0
    body = start + HEADER_SIZE
    for piece in _pieces(file, body, body + header.length):
        crc = zlib.crc32(piece, crc)
    return crc == header.crc


def _last_marker(file: IO[bytes], size: int) -> int:
    """Where the last marker begins, or 0: `_check_start` has seen that one, or as much of it as there is."""
    step, stop = _PIECE, size
    while stop > 0:
        start = max(stop - step, 0)
        at = _read(file, start, min(stop + len(MARKER) - 1, size) - start).rfind(MARKER)
        if at >= 0:
            return start + at
        stop, step = start, min(step * 2, 1 << 24)
    return 0


def _pieces(file: IO[bytes], start: int, stop: int) -> Iterator[bytes]:
    for at in range(start, stop, _PIECE):
        yield _read(file, at, min(_PIECE, stop - at))


def _read(file: IO[bytes], start: int, size: int) -> bytes:
    """Bytes that are there, whether or not the file object gives them all at once."""
    file.seek(start)
    data = file.read(size)
    while len(data) < size and (more := file.read(size - len(data))):
        data += more
    return data
