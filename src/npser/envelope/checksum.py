"""Checked envelopes: a checksum behind the bytes, for where there is no key.

Strategy: one table from names to checksums. It covers the header of the envelope too, so every byte is under it. A
checksum finds damage, not malice: whoever changes the bytes can change it.

    checked := 0xC1 | "K" | u8 code | inner | checksum, little-endian, of everything before it
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from npser.blocks.cursor import Cursor
from npser.envelope.codes import ChecksumCode, EnvelopeCode
from npser.envelope.extras import missing
from npser.errors import DecodeError, TruncatedError
from npser.tags import MAGIC

__all__ = ["CHECKSUMS", "Checksum", "Checksums", "open_checked"]

Checksums = Literal["crc32", "crc32c", "xxh3"]

_HEADER: Final = 3


def _crc32(data: bytes | memoryview) -> int:
    return zlib.crc32(data)


def _crc32c(data: bytes | memoryview) -> int:
    try:
        import google_crc32c
    except ImportError:
        raise missing("crc32c", "checksum") from None
    return int(google_crc32c.value(bytes(data)))


def _xxh3(data: bytes | memoryview) -> int:
    try:
        import xxhash
    except ImportError:
        raise missing("xxh3", "checksum") from None
    return int(xxhash.xxh3_64_intdigest(data))


class _Way(NamedTuple):
    code: ChecksumCode
    size: int
    digest: Callable[[bytes | memoryview], int]


CHECKSUMS: Final[dict[str, _Way]] = {
    "crc32": _Way(ChecksumCode.CRC32, 4, _crc32),
    "crc32c": _Way(ChecksumCode.CRC32C, 4, _crc32c),
    "xxh3": _Way(ChecksumCode.XXH3, 8, _xxh3),
}
_BY_CODE: Final = {int(way.code): way for way in CHECKSUMS.values()}


class Checksum:
    """A writer of checked envelopes.

    Parameters
    ----------
    name : {"crc32", "crc32c", "xxh3"}
        One of `CHECKSUMS`.

    Raises
    ------
    ImportError
        The library is not installed; the message names the extra.

    >>> Checksum("crc32").close(bytes.fromhex("c1 01 00")).hex(" ")
    'c1 4b 01 c1 01 00 b9 af 9f 75'
    """

    __slots__ = ("_header", "_way")

    def __init__(self, name: str) -> None:
        self._way = CHECKSUMS[name]
        self._header = bytes((MAGIC, EnvelopeCode.CHECKED, self._way.code))
        self._way.digest(b"")  # so that a library that is missing is missed now

    def close(self, inner: bytes) -> bytes:
        """The inner bytes between header and checksum."""
        covered = self._header + inner
        return covered + self._way.digest(covered).to_bytes(self._way.size, "little")


def open_checked(buf: memoryview) -> memoryview:
    """The inner bytes of a checked envelope whose first two bytes the caller has seen.

    Raises
    ------
    DecodeError
        The checksum does not fit, is of an unknown code, or needs a library that is not installed.
    """
    cursor = Cursor(buf, 2)
    way = _BY_CODE.get(code := cursor.u8())
    if way is None:
        raise DecodeError(f"no such checksum: 0x{code:02x}", pos=2)
    end = len(buf) - way.size
    if end < _HEADER:
        raise TruncatedError("the checksum is cut off", pos=len(buf))
    try:
        found = way.digest(buf[:end])
    except ImportError as error:
        raise DecodeError(f"the payload has a checksum, and {error}", pos=2) from None
    if found != int.from_bytes(buf[end:], "little"):
        raise DecodeError("the checksum does not fit: these bytes are damaged", pos=end)
    return buf[_HEADER:end]
