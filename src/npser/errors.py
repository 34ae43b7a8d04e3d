"""The errors: one root, leaf classes named for the reason, position and path as attributes.

Strategy: a block reader knows only where it stands in the bytes (`pos`); the walk above it knows where in
the value that is (`path`) and adds it while the error unwinds, so that nothing is paid when nothing fails.
Every class also inherits the builtin that callers already catch (TypeError, ValueError, EOFError).
"""

from __future__ import annotations

__all__ = [
    "ClassNotAllowedError",
    "DecodeError",
    "EncodeError",
    "ForeignBytesError",
    "LimitError",
    "NpserError",
    "SignatureError",
    "TruncatedError",
]


class NpserError(Exception):
    """Root of everything that npser raises on purpose.

    Attributes
    ----------
    message : str
        What was wrong and what to do about it.
    path : str | None
        Where in the value, written like ``$['orders'][3].price``.
    pos : int | None
        Where in the payload, in bytes from its start (decoding only).

    >>> error = DecodeError("need 8 bytes, 3 left", pos=41)
    >>> error.path = "$['price']"
    >>> str(error)
    "need 8 bytes, 3 left at byte 41 in $['price']"
    """

    def __init__(self, message: str, *, path: str | None = None, pos: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.pos = pos

    def __str__(self) -> str:
        where = "" if self.pos is None else f" at byte {self.pos}"
        return f"{self.message}{where}" + ("" if self.path is None else f" in {self.path}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.message, self.path, self.pos)


def _rebuild(cls: type[NpserError], message: str, path: str | None, pos: int | None) -> NpserError:
    return cls(message, path=path, pos=pos)


class EncodeError(NpserError, TypeError):
    """The value holds something that npser could not give back exactly, so it is refused.

    A writer of columns knows the place of the culprit only as `item`, its index in the column; the encoder,
    which knows where the column came from, turns that into `path`.
    """

    def __init__(
        self, message: str, *, path: str | None = None, pos: int | None = None, item: int | None = None
    ) -> None:
        super().__init__(message, path=path, pos=pos)
        self.item = item


class DecodeError(NpserError, ValueError):
    """The bytes are not a well-formed payload.

    A reader of columns side by side knows the one at fault only as `item`, its index among them; the decoder turns that
    into `path`.
    """

    item: int = 0


class TruncatedError(DecodeError, EOFError):
    """The bytes end before the payload does."""


class LimitError(DecodeError):
    """Decoding would go over one of the `Limits`."""


class SignatureError(DecodeError):
    """The seal does not verify."""


class ClassNotAllowedError(DecodeError):
    """The payload holds an object of a class that the caller did not allow."""


class ForeignBytesError(DecodeError):
    """The bytes were written by another serializer; the message says by which."""
