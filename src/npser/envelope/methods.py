"""The compressions: zlib, which Python has, and zstd and lz4, which are extras.

Strategy: a method is two functions. `compress` gives one stream or frame. `decompress` is told the size and asks the
library for no more than that and one byte, which only streams of another size fill; it gives None for whatever is not
exactly one well-formed stream.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from npser.envelope.codes import CompressionCode
from npser.envelope.extras import missing

__all__ = ["METHODS", "Method", "zlib_filled"]

_NOTHING: Final = b"\0\0\0\xff\xff"
"""A deflate block of no bytes (RFC 1951, section 3.2.4), where bytes begin."""


class Method(NamedTuple):
    """One compression.

    Parameters
    ----------
    code : CompressionCode
        Its number on the wire.
    levels : range
        The levels that its library takes.
    compress : callable
        ``compress(data, level)``; the level None is the library's own default.
    decompress : callable
        ``decompress(data, size)``: the bytes, or None. Whether there are `size` of them is for the caller to see.
    """

    code: CompressionCode
    levels: range
    compress: Callable[[bytes, int | None], bytes]
    decompress: Callable[[memoryview, int], bytes | None]


# ----------------------------------------------------------------------------------------------------------------- zlib


def _zlib_compress(data: bytes, level: int | None) -> bytes:
    return zlib.compress(data, -1 if level is None else level)


def _zlib_decompress(data: memoryview, size: int) -> bytes | None:
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, size + 1)
    except zlib.error:
        return None
    return None if stream.unused_data or not stream.eof else found


def zlib_filled(data: bytes, size: int) -> bytes:
    """A zlib stream of at least `size` bytes: what it lacks are blocks of nothing.

    >>> stream = zlib_filled(bytes(100_000), 3000)
    >>> len(stream) in range(3000, 3005), zlib.decompress(stream) == bytes(100_000)
    (True, True)
    """
    stream = zlib.compressobj()
    head = stream.compress(data) + stream.flush(zlib.Z_SYNC_FLUSH)
    tail = stream.flush()
    lack = max(0, size - len(head) - len(tail))
    return head + _NOTHING * -(-lack // len(_NOTHING)) + tail


# ----------------------------------------------------------------------------------------------------------------- zstd
# zstandard keeps its working memory from one call to the next, which is most of what a small payload costs, so it is
# asked before the zstd of Python 3.14. A working memory is good for one thread at a time.

_kept: Final = threading.local()


def _kept_zstd(name: str, **options: Any) -> Any:
    import zstandard

    key = (name, *options.values())
    made: dict[Any, Any] = _kept.__dict__
    if key not in made:
        made[key] = getattr(zstandard, name)(**options)
    return made[key]


def _zstandard_compress(data: bytes, level: int | None) -> bytes:
    return bytes(_kept_zstd("ZstdCompressor", level=3 if level is None else level).compress(data))


def _zstandard_decompress(data: memoryview, size: int) -> bytes | None:
    import zstandard

    try:
        if zstandard.frame_content_size(data) != size:  # it would allocate what the frame says, whatever we allow
            return None
        return bytes(_kept_zstd("ZstdDecompressor").decompress(data, allow_extra_data=False))
    except zstandard.ZstdError:
        return None


def _python_zstd() -> Any:
    try:
        from compression import zstd
    except ImportError:
        raise missing("zstd", "zstd") from None
    return zstd


def _python_zstd_compress(data: bytes, level: int | None) -> bytes:
    return bytes(_python_zstd().compress(data, level))


def _python_zstd_decompress(data: memoryview, size: int) -> bytes | None:
    zstd = _python_zstd()
    try:
        if zstd.get_frame_info(data).decompressed_size != size:  # with the size known, it needs no window besides it
            return None
        stream = zstd.ZstdDecompressor()
        found = bytes(stream.decompress(data, max_length=size + 1))
    except zstd.ZstdError:
        return None
    return None if stream.unused_data or not stream.eof else found


def _zstd_compress(data: bytes, level: int | None) -> bytes:
    try:
        return _zstandard_compress(data, level)
    except ImportError:
        return _python_zstd_compress(data, level)


def _zstd_decompress(data: memoryview, size: int) -> bytes | None:
    try:
        return _zstandard_decompress(data, size)
    except ImportError:
        return _python_zstd_decompress(data, size)


# ------------------------------------------------------------------------------------------------------------------ lz4


def _lz4_frame() -> Any:
    try:
        import lz4.frame
    except ImportError:
        raise missing("lz4", "lz4") from None
    return lz4.frame


def _lz4_compress(data: bytes, level: int | None) -> bytes:
    return bytes(_lz4_frame().compress(data, compression_level=0 if level is None else level))


def _lz4_decompress(data: memoryview, size: int) -> bytes | None:
    stream = _lz4_frame().LZ4FrameDecompressor()
    try:
        found = bytes(stream.decompress(data, max_length=size + 1))
    except RuntimeError:
        return None
    return None if stream.unused_data or not stream.eof else found


METHODS: Final[dict[str, Method]] = {
    "zlib": Method(CompressionCode.ZLIB, range(1, 10), _zlib_compress, _zlib_decompress),
    "zstd": Method(CompressionCode.ZSTD, range(1, 23), _zstd_compress, _zstd_decompress),
    "lz4": Method(CompressionCode.LZ4, range(17), _lz4_compress, _lz4_decompress),
}
