"""What a frame is: a marker, a header with a check of its own, and a payload that never holds the marker.

    frame := C1 FE 46 01 | u64 length | u32 mask | u32 crc | u32 check | length bytes

Strategy: the three things that can go wrong are kept apart. `check` covers the header, so no reader ever trusts a
damaged length; `crc` covers the stored payload; and the marker stands nowhere but where a frame begins, so that whoever
is lost looks for the next one and cannot be led astray by what a payload holds, be it another file of frames or
something that an attacker had put into a value in the hope of a crash in the right place. A payload that does hold the
marker, which hardly ever happens, is XORed with a mask under which it does not, and its length is, too.

Both checks are CRC-32 as zlib computes it (ISO 3309). They tell accidents, not attacks: for those, seal the payload.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npser.errors import DecodeError, EncodeError, LimitError
from npser.foreign import recognise
from npser.tags import MAGIC

__all__ = [
    "HEADER_SIZE",
    "MARKER",
    "MAX_FRAME",
    "Header",
    "frame_bytes",
    "frame_parts",
    "open_payload",
    "read_header",
]

MARKER: Final = bytes([MAGIC, 0xFE, ord("F"), 1])
"""The magic, a version that no payload has, a letter, and the version of the frame. UTF-8 never holds the first."""

MAX_FRAME: Final = 1 << 30
"""Bytes that a payload may have unless the caller says otherwise."""

_HEADER: Final = struct.Struct("<4sQIII")
HEADER_SIZE: Final = _HEADER.size
_TWICE: Final = (1 << 32) + 1

_LARGE: Final = 1 << 14
"""Bytes from which on numpy looks for the marker faster than `bytes.find`; `benchmarks/streams.py --find`."""

_CHUNK: Final = 1 << 17
_BITS: Final = 8


class Header(NamedTuple):
    """What a sound header says."""

    length: int
    mask: int
    crc: int


# -------------------------------------------------------------------------------------------------------------- writing


def frame_bytes(payload: Any, *, max_frame: int = MAX_FRAME) -> bytes:
    """A payload as a frame.

    Raises
    ------
    EncodeError
        When it has more than `max_frame` bytes: a reader would refuse it.

    >>> frame_bytes(b"abc").hex(" ", -4)
    'c1fe4601 03000000 00000000 00000000 c2412435 aa78c152 616263'
    """
    return b"".join(frame_parts(payload, max_frame=max_frame))


def frame_parts(payload: Any, *, max_frame: int = MAX_FRAME) -> tuple[bytes, bytes | bytearray]:
    """The header of a frame, and the payload as it is stored; see `frame_bytes`."""
    data = payload if isinstance(payload, (bytes, bytearray)) else memoryview(payload).tobytes()
    if len(data) > max_frame:
        raise EncodeError(f"a payload of {len(data)} bytes is longer than max_frame, which is {max_frame}")
    if not _holds_marker(data):
        header = _header(data, 0)
        if _starts_alone(header, data):
            return header, data
    for mask in np.flatnonzero(_free_masks(data)).tolist():
        stored = _masked(data, mask)
        header = _header(stored, mask)
        if _starts_alone(header, stored):
            return header, stored
    raise AssertionError  # eleven masks or more are free, each with a check that ends like a marker one time in 256


def _header(stored: bytes | bytearray, mask: int) -> bytes:
    head = _HEADER.pack(MARKER, len(stored) ^ mask * _TWICE, mask, zlib.crc32(stored), 0)[:-4]
    return head + struct.pack("<I", zlib.crc32(head))


def _starts_alone(header: bytes, stored: bytes | bytearray) -> bool:
    """Whether no second marker begins in the header."""
    return MARKER not in header[len(MARKER) :] + stored[: len(MARKER) - 1]


def _holds_marker(data: bytes | bytearray) -> bool:
    """Whether the marker is in the data; large data are mostly cleared by looking for its first two bytes.

    >>> _holds_marker(bytes(200_000) + MARKER + b"x"), _holds_marker(MARKER[:3] * 99_999)
    (True, False)
    """
    if len(data) < _LARGE:
        return MARKER in data
    values = np.frombuffer(data, "<u1")
    for start in range(0, len(data), _CHUNK):
        part = values[start : start + _CHUNK + len(MARKER) - 1]
        suspect = (part[:-3] == MARKER[0]) & (part[1:-2] == MARKER[1])
        if suspect.any():
            at = np.flatnonzero(suspect)
            if ((part[at + 2] == MARKER[2]) & (part[at + 3] == MARKER[3])).any():
                return True
    return False


def _free_masks(data: bytes | bytearray) -> NDArray[np.bool_]:
    """(n + 8,) for n bytes: whether the data, XORed with the item's index as a mask, are without the marker.

    Each place of the data rules out one mask: the four bytes there, XORed with the marker, turned as the mask is there.
    There are fewer places than masks, so some are free.

    >>> _free_masks(MARKER + b"." * 9)[:3].tolist()
    [False, True, True]
    """
    free = np.ones(len(data) + 8, np.bool_)
    (marker,) = struct.unpack("<I", MARKER)
    for phase in range(min(len(MARKER), max(len(data) - len(MARKER) + 1, 0))):
        places = np.frombuffer(data, "<u4", (len(data) - phase) // len(MARKER), phase) ^ np.uint32(marker)
        turn = _BITS * phase
        taken = places << np.uint32(turn) | places >> np.uint32(32 - turn) if turn else places
        free[taken[taken < free.size]] = False
    return free


def _masked(data: bytes | bytearray, mask: int) -> bytes:
    """The data XORed with a mask of four bytes over and over, which is its own inverse.

    >>> _masked(_masked(b"abcde", 7), 7)
    b'abcde'
    """
    words = np.zeros(-(-len(data) // 4), "<u4")
    words.view("<u1")[: len(data)] = np.frombuffer(data, "<u1")
    words ^= np.uint32(mask)
    return words.view("<u1")[: len(data)].tobytes()


# -------------------------------------------------------------------------------------------------------------- reading


def read_header(data: bytes, *, pos: int = 0, max_frame: int = MAX_FRAME) -> Header:
    """What a header of exactly `HEADER_SIZE` bytes says; `pos` is where it stands, for the errors.

    Raises
    ------
    DecodeError
        When there is no header, or a damaged one; `LimitError` when the payload has more than `max_frame` bytes.
    """
    marker, length, mask, crc, check = _HEADER.unpack(data)
    if marker != MARKER:
        raise _no_marker(data, pos)
    if zlib.crc32(data[: HEADER_SIZE - 4]) != check:
        raise DecodeError("the header of a frame is damaged", pos=pos)
    length ^= mask * _TWICE
    if length > max_frame:
        raise LimitError(f"a frame of {length} bytes is longer than max_frame, which is {max_frame}", pos=pos)
    return Header(length, mask, crc)


def _no_marker(data: bytes, pos: int) -> DecodeError:
    if pos:
        return DecodeError("no frame begins here", pos=pos)
    if data[:3] == MARKER[:3]:
        return DecodeError(f"version {data[3]} of frames; this npser reads version {MARKER[3]}", pos=pos)
    if data[:1] == MARKER[:1]:
        return DecodeError("no frame begins here, but perhaps a payload that is not in a frame: try loads", pos=pos)
    return recognise(data)


def open_payload(header: Header, stored: bytes, *, pos: int = 0) -> bytes:
    """The payload of a frame, from what is stored after its header.

    Raises
    ------
    DecodeError
        When it is damaged.
    """
    if zlib.crc32(stored) != header.crc:
        raise DecodeError("the payload of a frame is damaged", pos=pos)
    return _masked(stored, header.mask) if header.mask else stored
