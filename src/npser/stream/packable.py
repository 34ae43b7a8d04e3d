"""Types that own their bytes: `pack` writes a value into a stream, `unpack` reads it back.

Strategy: the type decides what its bytes are, npser that they are whole. What `unpack` did not read is an error, and so
is what was not there. Whatever else goes wrong inside a type's own code comes out as an `NpserError`, whose `__cause__`
is the exception itself: bytes are hostile, and a caller that handles NpserError has handled them all. An NpserError
from inside passes unchanged, and so does what is no `Exception` (KeyboardInterrupt) or not about the bytes
(MemoryError).
"""

from __future__ import annotations

from typing import Any, NoReturn, Protocol, Self, TypeVar, runtime_checkable

from npser.errors import DecodeError, EncodeError, NpserError, TruncatedError
from npser.stream.boundary import BinaryStream, MemoryStream

__all__ = ["Packable", "Unpackable", "pack", "unpack"]


@runtime_checkable
class Packable(Protocol):
    """A type that writes its own bytes.

    With a class method `unpack` as well, each of one argument, `dumps` stores its objects as what `pack` writes, and
    `loads` hands exactly these bytes to the `unpack` of a class that the caller allowed. A class with other methods of
    these names (``pack(self)`` that gives bytes, say) or with only one of them is stored by its fields, as ever; one
    that names this protocol as its base and has no `unpack` is refused.
    """

    def pack(self, stream: BinaryStream, /) -> None:
        """Write everything that `unpack` needs, wherever the stream stands; do not keep or close the stream."""
        ...


@runtime_checkable
class Unpackable(Protocol):
    """A type that reads its own bytes."""

    @classmethod
    def unpack(cls, stream: BinaryStream, /) -> Self:
        """Read what `pack` wrote and not a byte more; do not keep or close the stream."""
        ...


T = TypeVar("T", bound=Unpackable)


def pack(obj: Packable) -> bytes:
    """The bytes that a value writes of itself.

    Raises
    ------
    EncodeError
        When its `pack` raises something (which is the ``__cause__``) or closes the stream. It is a TypeError too.
    TypeError
        When it has no `pack`, or is a class.

    >>> class Point:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    ...     def pack(self, stream):
    ...         stream.write(bytes([self.x, self.y]))
    ...     @classmethod
    ...     def unpack(cls, stream):
    ...         return cls(*stream.read_exactly(2))
    >>> pack(Point(3, 4))
    b'\\x03\\x04'
    >>> unpack(Point, b"\\3\\4").y
    4
    >>> unpack(Point, b"\\3")
    Traceback (most recent call last):
        ...
    npser.errors.TruncatedError: need 2 bytes, 1 left at byte 0
    >>> unpack(Point, b"\\3\\4\\5")
    Traceback (most recent call last):
        ...
    npser.errors.DecodeError: Point.unpack left 1 of 3 bytes at byte 2
    """
    stream = MemoryStream()
    try:
        obj.pack(stream)
        return stream.getvalue()
    except (NpserError, MemoryError):
        raise
    except Exception as error:
        if isinstance(obj, type) or not hasattr(obj, "pack"):
            raise TypeError(f"pack takes an object with a method pack(stream), not {_name(obj)}") from None
        raise EncodeError(f"{type(obj).__name__}.pack {_what(error, stream)}") from error


def unpack(cls: type[T], data: Any) -> T:
    """The value that a class reads from its bytes, all of them.

    Parameters
    ----------
    cls : class
        With a class method ``unpack(stream)``.
    data : buffer
        What `pack` gave: bytes, bytearray, memoryview, mmap.

    Raises
    ------
    TruncatedError
        When `unpack` needs more bytes than there are.
    DecodeError
        When it leaves some, or raises something, which is the ``__cause__``.
    TypeError
        When `cls` is no such class, or `data` no buffer.
    """
    try:
        size = len(data) if type(data) is bytes else memoryview(data).nbytes
        stream = MemoryStream(data)
    except (TypeError, BufferError, ValueError):
        _check_class(cls)
        raise TypeError(f"unpack takes bytes or a contiguous buffer second, not {_name(data)}") from None
    try:
        value = cls.unpack(stream)
        pos = stream.tell()
    except (NpserError, MemoryError):
        _check_class(cls)
        raise
    except Exception as error:
        _check_class(cls)
        if not hasattr(cls, "unpack"):
            raise TypeError(f"unpack takes a class with a class method unpack(stream), not {_name(cls)}") from None
        _failed(cls, stream, error)
    if value.__class__ is not cls:  # which may be right, but a class it must be
        _check_class(cls)
    if pos != size:
        raise DecodeError(f"{cls.__name__}.unpack left {size - pos} of {size} bytes", pos=pos)
    return value


def _check_class(cls: object) -> None:
    """Make sure that it is a class. Asked only where something is odd: small types feel every step."""
    if not isinstance(cls, type):
        raise TypeError(f"unpack takes a class first, not {_name(cls)}") from None


def _failed(cls: type, stream: MemoryStream, error: Exception) -> NoReturn:
    pos = None if stream.closed else stream.tell()
    kind = TruncatedError if isinstance(error, EOFError) else DecodeError
    raise kind(f"{cls.__name__}.unpack {_what(error, stream)}", pos=pos) from error


def _what(error: Exception, stream: MemoryStream) -> str:
    if stream.closed:
        return "closed the stream that it was lent"
    return f"raised {type(error).__name__}: {error}"


def _name(obj: object) -> str:
    return f"the class {obj.__name__}" if isinstance(obj, type) else f"a {type(obj).__name__}"
