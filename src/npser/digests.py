"""Digests: hashes of what values are, to be keys of caches.

Strategy: two values have one digest if and only if they have one canonical payload, so the digest is the hash of that.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from npser.canonical import encode_canonical
from npser.tags import VERSION

if TYPE_CHECKING:
    from npser.canonical import Default

__all__ = ["CANONICAL", "digest"]

CANONICAL = 1
"""Goes up when a release gives other canonical bytes for the same value; the digests of before are then of no use."""

MAX_SIZE = 64
"""Bytes of the longest digest (BLAKE2b, RFC 7693)."""

_PERSON: Final = b"npser digest" + bytes((VERSION, CANONICAL))


def digest(value: Any, *, size: int = 32, default: Default = None) -> bytes:
    """A hash of what a value is: equal values have equal digests in every process, and different ones different ones.

    Values are equal here if they would come back equal from a payload to the last type and bit, but for the order of
    dicts and sets, for which objects are shared, and for the payload of a NaN: ``1``, ``1.0`` and ``True`` differ, so
    do ``(6,)`` and ``[6]``, ``0.0`` and ``-0.0``, arrays of int32 and of int64, in C order and in Fortran order. A
    release that writes other canonical payloads says so, and its digests are all others.

    Parameters
    ----------
    size : int
        Bytes of the digest, 1 to 64.
    default : callable, optional
        As in `dumps`.

    Returns
    -------
    bytes
        BLAKE2b (RFC 7693) of the canonical payload, personalised with the version of the format and that of the rules.

    Raises
    ------
    EncodeError
        For what npser does not encode, and for what holds itself.

    >>> digest({"user": 7, "tags": {"a", "b"}}) == digest({"tags": {"b", "a"}, "user": 7})
    True
    >>> digest([1], size=8).hex() == digest([True], size=8).hex()
    False
    """
    if type(size) is not int or not 1 <= size <= MAX_SIZE:
        raise ValueError(f"size is a number of bytes from 1 to {MAX_SIZE}, not {size!r}")
    return blake2b(encode_canonical(value, default), digest_size=size, person=_PERSON).digest()
