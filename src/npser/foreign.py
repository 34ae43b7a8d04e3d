"""Whose bytes are these? Other serializers by their first bytes, so that an error can say what to do.

Strategy: a literal table of prefixes, longest first. MessagePack and CBOR have no magic; their usual first bytes are
guessed last, and the message says so.
"""

from __future__ import annotations

from typing import Final

from npser.errors import DecodeError, ForeignBytesError

__all__ = ["recognise"]

PREFIXES: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x93NUMPY", "a .npy file (numpy.load reads it)"),
    (b"ARROW1", "an Arrow file"),
    (b"PAR1", "a Parquet file"),
    (b"\xfd7zXZ\x00", "xz-compressed"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
    (b"\x04\x22\x4d\x18", "lz4-compressed"),
    (b"\xff\xff\xff\xff", "an Arrow IPC stream"),
    (b"\x00\x00\x00\x01", "igbinary (PHP)"),
    (b"\x00\x00\x00\x02", "igbinary (PHP)"),
    (b"PK\x03\x04", "a zip file (.npz is one)"),
    (b"BZh", "bzip2-compressed"),
    (b"\x1f\x8b", "gzip-compressed"),
    (b"\x78\x01", "zlib-compressed"),
    (b"\x78\x5e", "zlib-compressed"),
    (b"\x78\x9c", "zlib-compressed"),
    (b"\x78\xda", "zlib-compressed"),
    (b"\x80\x02", "a pickle (never load one from a store that others can write to)"),
    (b"\x80\x03", "a pickle (never load one from a store that others can write to)"),
    (b"\x80\x04", "a pickle (never load one from a store that others can write to)"),
    (b"\x80\x05", "a pickle (never load one from a store that others can write to)"),
    (b"!\x80", "a pickle as cachelib marks it"),
    (b"\x01", "phpser (PHP)"),
    (b"\x02", "phpser (PHP)"),
)

_JSON_STARTS: Final = frozenset(b'{["-0123456789tfn \t\r\n')


def _is_msgpack_container(first: int) -> bool:
    return 0x80 <= first <= 0x9F or 0xDC <= first <= 0xDF


def recognise(head: bytes) -> DecodeError:
    """An error that says what bytes that are not npser's look like; the caller raises it.

    >>> recognise(b"\\x80\\x05\\x95").message
    'not npser: these bytes look like a pickle (never load one from a store that others can write to)'
    """
    for prefix, name in PREFIXES:
        if head.startswith(prefix):
            return ForeignBytesError(f"not npser: these bytes look like {name}", pos=0)
    if head[0] in _JSON_STARTS:
        return ForeignBytesError("not npser: these bytes look like JSON or other text", pos=0)
    if _is_msgpack_container(head[0]):
        return ForeignBytesError("not npser: these bytes look like MessagePack", pos=0)
    return DecodeError(f"not npser: a payload begins with 0xC1, these bytes with 0x{head[0]:02X}", pos=0)
