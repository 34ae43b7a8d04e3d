"""Every number that an envelope gives a meaning, with its layout beside it. FORMAT.md is the prose.

Strategy: an envelope begins like a payload, with the magic, and has a letter where a payload has the version, so two
bytes tell them apart. `inner` is what stands inside: a payload, or an envelope where section 12 allows one.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["ChecksumCode", "CompressionCode", "EnvelopeCode", "SealCode"]


class EnvelopeCode(IntEnum):
    """Byte 1 of an envelope: an ASCII letter."""

    CHECKED = 0x4B  # "K": u8 ChecksumCode | inner | the checksum of all bytes before it, little-endian
    SEALED = 0x53  # "S": u8 SealCode | inner | MAC
    COMPRESSED = 0x5A  # "Z": u8 CompressionCode | uvarint size of inner | inner, compressed


class SealCode(IntEnum):
    """How a seal is made."""

    HMAC_SHA256 = 0x01  # 32 bytes


class CompressionCode(IntEnum):
    """How the inner bytes are compressed."""

    ZLIB = 0x01  # one zlib stream (RFC 1950)
    ZSTD = 0x02  # one zstd frame that says its content size (RFC 8878)
    LZ4 = 0x03  # one LZ4 frame


class ChecksumCode(IntEnum):
    """Which checksum."""

    CRC32 = 0x01  # u32, the CRC of zlib and gzip
    CRC32C = 0x02  # u32, the CRC of Castagnoli (RFC 3720)
    XXH3 = 0x03  # u64, XXH3 of 64 bits without a seed
