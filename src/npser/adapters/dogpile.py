"""dogpile.cache: npser in the place of pickle, and what others have written becomes a value to make anew.

    region = make_region(**serializers()).configure("dogpile.cache.redis")

Strategy: dogpile writes ``{"ct": ..., "v": ...}|`` before what the serializer gives, and asks it for the rest only. So
poisoned values are met in the deserializer, which says so in dogpile's own word, CantDeserializeException; poisoned
metadata is met by dogpile alone, and raises there, unless the region is configured with ``wrap=[Guard]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypedDict

from dogpile.cache.api import NO_VALUE, CantDeserializeException
from dogpile.cache.proxy import ProxyBackend

from npser.adapters.refusals import logged_entries

__all__ = ["Guard", "Serializers", "serializers"]

_MISS: Final = object()

LONGEST_METADATA: Final = 1024
"""Bytes of metadata that are looked at; dogpile 1.5 writes about forty."""


class Serializers(TypedDict):
    """The two arguments of ``make_region``."""

    serializer: Callable[[Any], bytes]
    deserializer: Callable[[bytes], Any]


def serializers(**options: Any) -> Serializers:
    """The arguments ``serializer`` and ``deserializer`` of ``make_region``.

    Parameters
    ----------
    **options
        Those of `Codec`, and ``foreign``, which says what becomes of entries of another serializer; see `entries_from`.
        Objects of a class that was not named are made anew, and never a `Placeholder`. A seal covers the value, and not
        what dogpile writes before it: the time at which the value was made.

    >>> both = serializers(classes=["fractions.Fraction"])
    >>> both["deserializer"](both["serializer"]((1, 2)))
    (1, 2)
    >>> both["deserializer"](b"[1, 2]")
    Traceback (most recent call last):
        ...
    dogpile.cache.api.CantDeserializeException: not npser: these bytes look like JSON or other text at byte 0
    """
    entries = logged_entries(options)

    def deserializer(data: bytes) -> Any:
        value = entries.loads(data, miss=_MISS)
        if value is _MISS:
            raise CantDeserializeException(entries.counters.last_refusal)
        return value

    return {"serializer": entries.dumps, "deserializer": deserializer}


class Guard(ProxyBackend):  # type: ignore[misc, unused-ignore]
    """For ``wrap=[Guard]``: an entry without metadata of dogpile is a miss, where dogpile raises an error of its JSON.

    >>> from dogpile.cache import make_region
    >>> cache = {"key": b"whatever"}
    >>> region = make_region(**serializers())
    >>> region = region.configure("dogpile.cache.memory", arguments={"cache_dict": cache}, wrap=[Guard])
    >>> region.get("key")
    <dogpile.cache.api.NoValue object>
    """

    def get_serialized(self, key: str) -> Any:
        """The entry, or NO_VALUE."""
        return _sound(self.proxied.get_serialized(key))

    def get_serialized_multi(self, keys: Iterable[str]) -> Sequence[Any]:
        """The entries, each of them or NO_VALUE."""
        return [_sound(entry) for entry in self.proxied.get_serialized_multi(list(keys))]


def _sound(entry: object) -> Any:
    """An entry that dogpile can take apart, or NO_VALUE."""
    if not isinstance(entry, bytes):
        return NO_VALUE
    try:
        metadata = json.loads(entry[:LONGEST_METADATA].partition(b"|")[0])
    except (ValueError, RecursionError):
        return NO_VALUE
    sound = isinstance(metadata, dict) and type(metadata.get("ct")) in (int, float) and type(metadata.get("v")) is int
    return entry if sound else NO_VALUE
