"""Sealed envelopes: a MAC that only the holders of a key can make, checked before anything inside is looked at.

Strategy: HMAC (RFC 2104) with SHA-256 over everything that has a meaning: what kind of thing this is, the header, the
context, the inner bytes. Each key is absorbed once, with all that stands before the inner bytes; a MAC is made from a
copy of that state. All keys are tried on every reading, so the time tells how many there are and not which one fits.

    sealed := 0xC1 | "S" | 0x01 | inner | 32 bytes, the MAC of
              "npser seal" | 0x00 | 0xC1 | "S" | 0x01 | u64 length of the context, little-endian | context | inner
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Sequence
from hmac import compare_digest
from typing import Final

from npser.envelope.codes import EnvelopeCode, SealCode
from npser.errors import SignatureError
from npser.tags import MAGIC

__all__ = ["KEY_SIZE", "Key", "Seal", "checked_keys"]

Key = bytes | Sequence[bytes]

KEY_SIZE = 16
"""Bytes that a key has at least: what is shorter can be searched for."""

_DOMAIN: Final = b"npser seal\0"
_HEADER: Final = bytes((MAGIC, EnvelopeCode.SEALED, SealCode.HMAC_SHA256))
_MAC_SIZE: Final = 32


def _checked_key(key: object) -> bytes:
    if not isinstance(key, bytes):
        raise TypeError(f"a key is bytes, not {type(key).__name__}")
    if len(key) < KEY_SIZE:
        raise ValueError(f"a key has {KEY_SIZE} bytes or more, not {len(key)}; secrets.token_bytes(32) makes one")
    return key


def checked_keys(key: object) -> list[bytes]:
    """The keys in what the caller gave; TypeError or ValueError for what is no key."""
    if isinstance(key, bytes):
        return [_checked_key(key)]
    if isinstance(key, (str, bytearray, memoryview)) or not isinstance(key, Sequence):
        raise TypeError(f"a key is bytes, or a sequence of bytes with the newest first, not {type(key).__name__}")
    if not key:
        raise ValueError("a sequence of keys with no key in it seals nothing")
    return [_checked_key(one) for one in key]


def _context_bytes(context: object) -> bytes:
    if isinstance(context, str):
        return context.encode()
    if isinstance(context, bytes):
        return context
    raise TypeError(f"a context is bytes or str, not {type(context).__name__}")


class Seal:
    """The keys that seal and open, bound to a context. It does not show them, and it cannot be pickled.

    Parameters
    ----------
    key : bytes, or sequence of bytes
        Of 16 bytes or more each. The first one seals, all of them open.
    context : bytes or str
        What the sealed bytes are for; text stands for its UTF-8.

    Raises
    ------
    TypeError, ValueError
        For a key that is no key. Neither is an `NpserError`: it is not the fault of the data.

    >>> sealed = Seal(bytes(32), "cart").close(bytes.fromhex("c1 01 00"))
    >>> sealed[:6].hex(" "), len(sealed)
    ('c1 53 01 c1 01 00', 38)
    >>> bytes(Seal([bytes(range(16)), bytes(32)], b"cart").open(sealed)).hex(" ")
    'c1 01 00'
    """

    __slots__ = ("_states",)

    def __init__(self, key: Key, context: bytes | str = b"") -> None:
        about = _context_bytes(context)
        head = _DOMAIN + _HEADER + struct.pack("<Q", len(about)) + about
        self._states = tuple(hmac.new(one, head, "sha256") for one in checked_keys(key))

    def __repr__(self) -> str:
        return f"<Seal of {len(self._states)} keys>"

    def __reduce__(self) -> str:
        raise TypeError("a seal is not pickled, for its keys would be in the pickle")

    def _mac(self, state: hmac.HMAC, inner: bytes | memoryview) -> bytes:
        state = state.copy()
        state.update(inner)
        return state.digest()

    def close(self, inner: bytes) -> bytes:
        """The inner bytes under the seal of the first key."""
        return b"".join((_HEADER, inner, self._mac(self._states[0], inner)))

    def open(self, data: bytes) -> memoryview:
        """The inner bytes. It takes bytes and no other buffer, so that they are the same ones when they are parsed.

        Raises
        ------
        SignatureError
            The bytes are not sealed, or not by any of the keys for this context.
        """
        if data[:2] != _HEADER[:2]:
            raise SignatureError("these bytes are not sealed, and only sealed ones are read with a key")
        if data[2:3] != _HEADER[2:] or len(data) < len(_HEADER) + _MAC_SIZE:
            raise SignatureError("the seal is cut off, or of a form that this npser does not know")
        view = memoryview(data)
        inner, mac = view[len(_HEADER) : -_MAC_SIZE], view[-_MAC_SIZE:]
        fits = 0
        for state in self._states:  # all of them, whichever fits
            fits |= compare_digest(self._mac(state, inner), mac)
        if not fits:
            raise SignatureError("the seal does not fit: another key, another context, or the bytes were changed")
        return inner
