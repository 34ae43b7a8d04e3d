"""The byte boundary: what npser asks of a thing that bytes are read from or written to.

Strategy: three questions of a file object have different answers everywhere, and here they have one. May a read be
short? `read` and `readinto` may, `read_exactly` never is. May a write be? Never. Where are we? `position`, also where
the file cannot tell. `MemoryStream` is an `io.BytesIO`, so that what moves the bytes is C and costs what it costs
there; `FileStream` holds any binary file object. Neither buffers: what was not asked for has not been read.
"""

from __future__ import annotations

import io
from types import TracebackType
from typing import IO, Any, Final, Protocol, Self, TypeAlias, runtime_checkable

from npser.errors import TruncatedError

__all__ = ["BinaryStream", "FileStream", "MemoryStream", "as_stream", "read_up_to"]

Buffer: TypeAlias = bytes | bytearray | memoryview

_READ: Final = io.BytesIO.read

PIECE: Final = 1 << 20
"""Bytes to ask for at once when nobody knows whether as many will come: what a lie about a length can cost."""


@runtime_checkable
class BinaryStream(Protocol):
    """Bytes in order, read or written or both.

    Every method may raise `OSError`, as the file below it does, and `ValueError` when it is closed.
    """

    def readable(self) -> bool:
        """Whether it can be read from."""
        ...

    def writable(self) -> bool:
        """Whether it can be written to."""
        ...

    @property
    def position(self) -> int:
        """Bytes before the next one that is read or written."""
        ...

    @property
    def length(self) -> int | None:
        """Bytes in all, or None where that is not known, as in a pipe."""
        ...

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes: at least one, except at the end."""
        ...

    def readinto(self, buffer: Any, /) -> int:
        """Fill a writable buffer, or a part of it: at least one byte, except at the end; how many is returned."""
        ...

    def read_exactly(self, size: int, /) -> bytes:
        """Exactly `size` bytes, or `TruncatedError`."""
        ...

    def write(self, data: Any, /) -> int:
        """All the bytes of a buffer; their number is returned."""
        ...

    def flush(self) -> None:
        """Hand on what was written."""
        ...

    def close(self) -> None:
        """Flush and end; closing twice does nothing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


def _check_size(size: int) -> None:
    if size < 0:
        raise ValueError(f"a number of bytes is not negative, and this is {size}")


def _cut_off(size: int, got: int, pos: int) -> TruncatedError:
    return TruncatedError(f"need {size} bytes, {got} left", pos=pos)


class MemoryStream(io.BytesIO):
    """A stream in memory that grows as it is written.

    Parameters
    ----------
    initial : buffer
        What it begins with, and stands at the start of. ``bytes`` are shared until the first write, other buffers are
        copied.

    `getvalue()` gives all its bytes, `getbuffer()` a view of them.

    >>> with MemoryStream() as stream:
    ...     stream.write(b"abc"), stream.position, stream.getvalue()
    (3, 3, b'abc')
    >>> stream = MemoryStream(b"abc")
    >>> stream.read_exactly(2), stream.position, stream.length
    (b'ab', 2, 3)
    >>> stream.read_exactly(2)
    Traceback (most recent call last):
        ...
    npser.errors.TruncatedError: need 2 bytes, 1 left at byte 2
    """

    __slots__ = ()

    # io's own finalizer looks up and calls close(), which takes as long as making the stream; memory needs no closing.
    __del__ = staticmethod(tuple)  # type: ignore[assignment]

    @property
    def position(self) -> int:
        """Bytes before the next one that is read or written."""
        return self.tell()

    @property
    def length(self) -> int:
        """Bytes in all."""
        here = self.tell()
        size = self.seek(0, io.SEEK_END)  # not by getbuffer(), which copies bytes that are shared
        self.seek(here)
        return size

    def read_exactly(self, size: int, /) -> bytes:
        """Exactly `size` bytes, or `TruncatedError`; then nothing is taken."""
        try:
            data = _READ(self, size)  # a look-up less than self.read
        except OverflowError:
            raise _cut_off(size, max(self.length - self.tell(), 0), self.tell()) from None
        if len(data) == size:
            return data
        pos = self.seek(-len(data), io.SEEK_CUR)
        _check_size(size)
        raise _cut_off(size, len(data), pos)


class FileStream:
    """A stream over a binary file object: buffered or raw, a socket's `makefile`, `io.BytesIO`, gzip and so on.

    Parameters
    ----------
    file : binary file object
        Needs `read` for reading and `write` for writing, and nothing else. It must block, and belongs to the stream as
        long as that is in use. `close` closes it.

    `position` is the file's own where it can tell it, else the bytes that were read and written so far.

    >>> stream = FileStream(io.BytesIO(b"abcdef"))
    >>> stream.read_exactly(4), stream.position, stream.length
    (b'abcd', 4, 6)
    """

    __slots__ = ("_file", "_fill", "_moved", "_read", "_start")

    def __init__(self, file: IO[bytes] | Any) -> None:
        if isinstance(file, io.TextIOBase) or not (hasattr(file, "read") or hasattr(file, "write")):
            raise TypeError(f"a binary file object is needed (open files with 'b' in the mode), not {_kind(file)}")
        self._file: Any = file
        self._fill: Any = getattr(file, "read", None)
        self._read: Any = getattr(file, "read1", None) or self._fill
        self._start = file.tell() if _seekable(file) else 0
        self._moved = 0

    def readable(self) -> bool:
        """Whether it can be read from."""
        return bool(_ask(self._file, "readable", "read"))

    def writable(self) -> bool:
        """Whether it can be written to."""
        return bool(_ask(self._file, "writable", "write"))

    def fileno(self) -> int:
        """The descriptor below the file; `OSError` where there is none."""
        if not hasattr(self._file, "fileno"):
            raise io.UnsupportedOperation("fileno")
        return int(self._file.fileno())

    @property
    def position(self) -> int:
        """Bytes before the next one that is read or written."""
        return self._start + self._moved

    @property
    def length(self) -> int | None:
        """Bytes in all, or None where the file cannot seek."""
        file = self._file
        if not _seekable(file):
            return None
        here = file.tell()
        try:
            return int(file.seek(0, io.SEEK_END) or file.tell())  # an mmap's seek gives None
        finally:
            file.seek(here)

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes: at least one, except at the end."""
        return self._take(self._read, size)

    def _take(self, read: Any, size: int) -> bytes:
        _check_size(size)
        if read is None:
            raise io.UnsupportedOperation("read")
        data = read(size)
        if not isinstance(data, bytes):
            raise _not_bytes(data)
        self._moved += len(data)
        return data

    def readinto(self, buffer: Any, /) -> int:
        """Fill a writable buffer, or a part of it: at least one byte, except at the end; how many is returned."""
        into = getattr(self._file, "readinto1", None) or getattr(self._file, "readinto", None)
        if into is None:
            with memoryview(buffer).cast("B") as view:
                data = self.read(len(view))
                view[: len(data)] = data
            return len(data)
        got = into(buffer)
        if got is None:
            raise _not_bytes(None)
        self._moved += got
        return int(got)

    def read_exactly(self, size: int, /) -> bytes:
        """Exactly `size` bytes, or `TruncatedError`; the bytes before the end are gone then.

        Memory is taken for bytes that have come, and not on the word of `size`.
        """
        pos = self.position
        data = self.read_up_to(size)
        if len(data) < size:
            raise _cut_off(size, len(data), pos)
        return data

    def read_up_to(self, size: int, /) -> bytes:
        """`size` bytes, or fewer at the end; memory is taken for bytes that have come."""
        trusted = size if size <= PIECE or self._is_there(size) else PIECE
        data = self._take(self._fill, trusted)
        if len(data) == size:
            return data
        parts, got = [data], len(data)
        while data and got < size:
            data = self._take(self._fill, min(size - got, max(PIECE, got)))
            parts.append(data)
            got += len(data)
        return b"".join(parts)

    def _is_there(self, size: int) -> bool:
        length = self.length
        return length is not None and size <= length - self.position

    def write(self, data: Any, /) -> int:
        """All the bytes of a buffer; their number is returned."""
        if not hasattr(self._file, "write"):
            raise io.UnsupportedOperation("write")
        size = len(data) if isinstance(data, (bytes, bytearray)) else memoryview(data).nbytes
        done = self._write_some(data)
        if done < size:
            with memoryview(data).cast("B") as rest:
                while done < size:
                    done += self._write_some(rest[done:])
        return size

    def _write_some(self, data: Any) -> int:
        done = self._file.write(data)
        if done is None:
            raise BlockingIOError("the file would block, and npser needs one that waits")
        self._moved += done
        return int(done)

    def flush(self) -> None:
        """Hand on what was written."""
        if hasattr(self._file, "flush"):
            self._file.flush()

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        if hasattr(self._file, "close"):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


def as_stream(file: Any) -> BinaryStream:
    """A stream as it is, a binary file object as a `FileStream`; anything else is a `TypeError`.

    >>> as_stream(io.BytesIO(b"ab")).read_exactly(2)
    b'ab'
    """
    return file if isinstance(file, (MemoryStream, FileStream)) or _is_stream(file) else FileStream(file)


def read_up_to(stream: BinaryStream, size: int) -> bytes:
    """`size` bytes of a stream, or fewer at its end, also where it gives them in pieces.

    >>> read_up_to(MemoryStream(b"abc"), 2), read_up_to(FileStream(io.BytesIO(b"abc")), 5)
    (b'ab', b'abc')
    """
    if isinstance(stream, FileStream):
        return stream.read_up_to(size)
    data = stream.read(min(size, PIECE))
    while len(data) < size and (more := stream.read(min(size - len(data), max(PIECE, len(data))))):
        data += more
    return data


def _is_stream(file: Any) -> bool:
    return hasattr(file, "read_exactly") and isinstance(file, BinaryStream)


def _seekable(file: Any) -> bool:
    """Whether a file can tell where it is and go elsewhere; what does not answer cannot."""
    return hasattr(file, "tell") and hasattr(file, "seek") and (not hasattr(file, "seekable") or bool(file.seekable()))


def _ask(file: Any, question: str, method: str) -> bool:
    return bool(getattr(file, question)()) if hasattr(file, question) else hasattr(file, method)


def _not_bytes(found: object) -> Exception:
    if found is None:
        return BlockingIOError("the file would block, and npser needs one that waits")
    return TypeError(f"bytes were to be read and the file gave {_kind(found)}; open files with 'b' in the mode")


def _kind(thing: object) -> str:
    return f"a {type(thing).__name__}"
