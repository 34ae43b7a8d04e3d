"""Compressed envelopes: the inner bytes made smaller, and made large again only as far as they may be.

Strategy: one table from names to methods. The reader learns the size first, holds it against `Limits.inflated` before
anything is allocated, and asks the library for not a byte more. The writer keeps the original where compressing does
not pay, and never writes what a reader would refuse.

    compressed := 0xC1 | "Z" | u8 code | uvarint size | the inner bytes, compressed
"""

from __future__ import annotations

from typing import Final, Literal

from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.envelope.codes import EnvelopeCode
from npser.envelope.methods import METHODS, zlib_filled
from npser.errors import DecodeError, LimitError
from npser.limits import INFLATION, Limits
from npser.tags import MAGIC

__all__ = ["COMPRESS_FROM", "Compressions", "Compressor", "open_compressed"]

Compressions = Literal["zlib", "zstd", "lz4"]

COMPRESS_FROM = 1024
"""Payloads of fewer bytes stay as they are. From here on documents shrink by a third, and reading takes a quarter more
time: benchmarks/thresholds_envelope.py, `sizes`."""

WORTH = 0.9
"""What compresses to more than this part of itself stays as it is. Here readers pay 30 ns of zlib for each byte that is
saved, and with less to save twice and four times that: benchmarks/thresholds_envelope.py, `worth`."""

_READERS_LIMITS: Final = Limits(bytes=1 << 64)
_BY_CODE: Final = {int(method.code): (name, method) for name, method in METHODS.items()}


class Compressor:
    """A writer of compressed envelopes.

    Parameters
    ----------
    name : {"zlib", "zstd", "lz4"}
        One of `METHODS`.
    level : int, optional
        As the library counts; its own default if there is none.
    at_least : int
        Payloads of fewer bytes stay as they are.

    Raises
    ------
    ImportError
        The library is not installed; the message names the extra.
    TypeError, ValueError
        For a level or size that is none.

    >>> compressor = Compressor("zlib", at_least=32)
    >>> payload = bytes.fromhex("c1 01 08") + 60 * b"a" + b"\\xff"
    >>> envelope = compressor.close(payload)
    >>> envelope[:4].hex(" "), len(payload), bytes(open_compressed(memoryview(envelope), Limits())) == payload
    ('c1 5a 01 40', 64, True)
    >>> compressor.close(payload[:16]) == payload[:16]
    True
    """

    __slots__ = ("_at_least", "_level", "_method")

    def __init__(self, name: str, level: int | None = None, at_least: int = COMPRESS_FROM) -> None:
        method = METHODS[name]
        if level is not None:
            if type(level) is not int:
                raise TypeError(f"a level is an int, not {type(level).__name__}")
            if level not in method.levels:
                raise ValueError(f"the levels of {name} are {method.levels[0]} to {method.levels[-1]}, not {level}")
        if type(at_least) is not int:
            raise TypeError(f"compress_from is an int, not {type(at_least).__name__}")
        if at_least < 0:
            raise ValueError(f"compress_from is a number of bytes, not {at_least}")
        self._method, self._level, self._at_least = method, level, at_least
        method.compress(b"", level)  # so that a library that is missing is missed now

    def close(self, inner: bytes) -> bytes:
        """The inner bytes compressed, or as they are if that does not pay."""
        if len(inner) < self._at_least:
            return inner
        code, packed = self._method.code, self._method.compress(inner, self._level)
        if len(inner) > _READERS_LIMITS.inflated(len(packed)):
            code = METHODS["zlib"].code
            packed = zlib_filled(inner, -(-(len(inner) - _READERS_LIMITS.inflated(0)) // INFLATION))
        sink = Sink()
        sink.out += bytes((MAGIC, EnvelopeCode.COMPRESSED, code))
        sink.uvarint(len(inner))
        sink.out += packed
        return bytes(sink.out) if len(sink.out) <= WORTH * len(inner) else inner


def open_compressed(buf: memoryview, limits: Limits) -> memoryview:
    """The inner bytes of a compressed envelope whose first two bytes the caller has seen.

    Raises
    ------
    LimitError
        The inner bytes are more than the limits allow for so few.
    DecodeError
        They are not of the size that the envelope says, malformed, of an unknown code, or need a library that is not
        installed.
    """
    cursor = Cursor(buf, 2)
    name, method = _BY_CODE.get(code := cursor.u8(), ("", None))
    if method is None:
        raise DecodeError(f"no such compression: 0x{code:02x}", pos=2)
    size = cursor.uvarint()
    packed = cursor.take(cursor.left)
    allowed = limits.inflated(len(packed))
    if size > allowed:
        raise LimitError(
            f"{len(packed)} bytes would be decompressed to {size}, and {allowed} are allowed; "
            "raise Limits(items=..., bytes=...) if the payload is your own",
            pos=3,
        )
    try:
        inner = method.decompress(packed, size)
    except ImportError as error:
        raise DecodeError(f"the payload is compressed, and {error}", pos=2) from None
    except MemoryError as error:
        raise LimitError("the payload asks for more memory than there is", pos=3) from error
    if inner is None or len(inner) != size:
        pos = cursor.end - len(packed)
        raise DecodeError(f"these bytes are damaged: they are not the {name} of {size} bytes", pos=pos)
    return memoryview(inner)
