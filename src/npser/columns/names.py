"""UUIDs, paths and IP addresses. Layouts: `Kind.UUID`, `Kind.PATH`, `Kind.IP`.

Strategy: a UUID is sixteen bytes; paths and addresses are the text that their class writes and reads, with a code for
the class. The text of an address is not compared with what str() gives: Python has changed how it writes some IPv6
addresses, and old bytes must stay readable.
"""

from __future__ import annotations

import ipaddress
import os
import pathlib
import uuid
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.choose import write_ints, write_text
from npser.blocks.ints import read_int_list, read_ints
from npser.blocks.text import read_text
from npser.errors import EncodeError
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = [
    "PLAIN_FORM",
    "UUID_BYTES",
    "read_addresses",
    "read_paths",
    "read_uuids",
    "uuid_of",
    "write_addresses",
    "write_paths",
    "write_uuids",
]

UUID_BYTES = 16
PLAIN_FORM, SAFETY_FORM = 0, 1

# descriptors of the slots: a UUID refuses to be assigned to
_SET_INT: Final[Any] = vars(uuid.UUID)["int"].__set__
_SET_SAFE: Final[Any] = vars(uuid.UUID)["is_safe"].__set__
_NEW: Final[Any] = object.__new__

SAFETY: Final = (uuid.SafeUUID.safe, uuid.SafeUUID.unsafe, uuid.SafeUUID.unknown)

PATHS: Final[tuple[type[pathlib.PurePath], ...]] = (
    pathlib.PurePosixPath,
    pathlib.PureWindowsPath,
    pathlib.PosixPath,
    pathlib.WindowsPath,
)
"""Flavour code -> class. Codes 2 and 3 belong to a system; on the other one they are read as 0 and 1."""

BUILDABLE_PATHS: Final = (
    pathlib.PurePosixPath,
    pathlib.PureWindowsPath,
    pathlib.PurePosixPath if os.name == "nt" else pathlib.PosixPath,
    pathlib.WindowsPath if os.name == "nt" else pathlib.PureWindowsPath,
)

ADDRESSES: Final[tuple[Any, ...]] = (
    ipaddress.IPv4Address,
    ipaddress.IPv6Address,
    ipaddress.IPv4Network,
    ipaddress.IPv6Network,
    ipaddress.IPv4Interface,
    ipaddress.IPv6Interface,
)


def write_uuids(sink: Sink, values: Sequence[uuid.UUID]) -> None:
    """Write n exact UUIDs; `is_safe` only if one of them knows it.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_uuids(sink := Sink(), [uuid.UUID(int=7)])
    >>> read_uuids(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [UUID('00000000-0000-0000-0000-000000000007')]
    """
    safety = [SAFETY.index(value.is_safe) for value in values]
    known = any(value.is_safe is not uuid.SafeUUID.unknown for value in values)
    sink.u8(Kind.UUID)
    sink.u8(SAFETY_FORM if known else PLAIN_FORM)
    sink.out += b"".join([value.int.to_bytes(UUID_BYTES, "big") for value in values])
    if known:
        write_ints(sink, np.array(safety, "<i8"))


def read_uuids(cursor: Cursor, n: int) -> list[uuid.UUID]:
    """Read n UUIDs."""
    form = cursor.u8()
    if form > SAFETY_FORM:
        raise cursor.fail(f"no such form of a column of UUIDs: {form}")
    raws = np.frombuffer(cursor.take(n * UUID_BYTES), f"V{UUID_BYTES}").tolist()
    safety: Any = repeat(uuid.SafeUUID.unknown, n)
    if form == SAFETY_FORM:
        codes = read_ints(cursor, n)
        _check_codes(cursor, codes.tolist(), len(SAFETY))
        safety = map(SAFETY.__getitem__, codes.tolist())
    return list(map(uuid_of, raws, safety))


def uuid_of(raw: bytes, safe: uuid.SafeUUID) -> uuid.UUID:
    """A UUID out of its sixteen bytes: what `UUID.__init__` does after its checks, which take four times as long."""
    value: uuid.UUID = _NEW(uuid.UUID)
    _SET_INT(value, int.from_bytes(raw, "big"))
    _SET_SAFE(value, safe)
    return value


def write_paths(sink: Sink, values: Sequence[pathlib.PurePath]) -> None:
    """Write n exact paths of the four flavours. One whose text means another path is an `EncodeError`.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_paths(sink := Sink(), [pathlib.PureWindowsPath("C:/a")])
    >>> read_paths(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [PureWindowsPath('C:/a')]
    """
    texts = list(map(str, values))
    for i, value in enumerate(values):
        if isinstance(value, pathlib.PureWindowsPath):
            texts[i] = _windows_text(value, i)
    sink.u8(Kind.PATH)
    write_ints(sink, _codes(PATHS, values))
    write_text(sink, texts)


def _windows_text(path: pathlib.PureWindowsPath, item: int) -> str:
    # Python 3.11 writes the relative path .\c:x like the x of drive c:
    text = str(path)
    for candidate in (text, ".\\" + text):
        if pathlib.PureWindowsPath(candidate).parts == path.parts:
            return candidate
    raise EncodeError(f"the text of the path {path.parts!r} means another path", item=item)


def read_paths(cursor: Cursor, n: int) -> list[pathlib.PurePath]:
    """Read n paths; a PosixPath or WindowsPath of the other system comes back as its Pure class."""
    return _read_named(cursor, n, BUILDABLE_PATHS)


def write_addresses(sink: Sink, values: Sequence[Any]) -> None:
    """Write n exact addresses, networks and interfaces of `ipaddress`.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_addresses(sink := Sink(), [ipaddress.ip_address("fe80::1%eth0")])
    >>> read_addresses(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [IPv6Address('fe80::1%eth0')]
    """
    sink.u8(Kind.IP)
    write_ints(sink, _codes(ADDRESSES, values))
    write_text(sink, list(map(str, values)))


def read_addresses(cursor: Cursor, n: int) -> list[Any]:
    """Read n addresses; text that is not one of its class is a `DecodeError`."""
    return _read_named(cursor, n, (_ipv4_address, *ADDRESSES[1:]))


def _ipv4_address(text: str) -> ipaddress.IPv4Address:
    # a third of the time that the class takes to read it; what is not plain is left to the class to judge
    try:
        a, b, c, d = map(_OCTETS.__getitem__, text.split("."))
    except (KeyError, ValueError):
        return ipaddress.IPv4Address(text)
    return ipaddress.IPv4Address(a << 24 | b << 16 | c << 8 | d)


_OCTETS: Final = {str(octet): octet for octet in range(256)}


def _codes(classes: tuple[type, ...], values: Sequence[object]) -> np.ndarray[Any, np.dtype[np.int64]]:
    code_of = {cls: code for code, cls in enumerate(classes)}
    return np.fromiter(map(code_of.__getitem__, map(type, values)), "<i8", len(values))


def _read_named(cursor: Cursor, n: int, classes: tuple[Any, ...]) -> list[Any]:
    """Codes of classes, texts -> objects; equal ones are one object, for they cannot change."""
    codes = read_int_list(cursor, n)
    _check_codes(cursor, codes, len(classes))
    pairs = list(zip(codes, read_text(cursor, n), strict=True))
    try:
        made = {pair: classes[pair[0]](pair[1]) for pair in dict.fromkeys(pairs)}
    except ValueError:
        raise cursor.fail("text that is no address or path of its class") from None
    return list(map(made.__getitem__, pairs))


def _check_codes(cursor: Cursor, codes: list[int], count: int) -> None:
    if codes and not 0 <= min(codes) <= max(codes) < count:
        raise cursor.fail(f"a code is out of range 0..{count - 1}")
