"""django-redis: a serializer, and a client for which an entry that cannot be read is a miss.

In ``OPTIONS`` of a cache with ``"BACKEND": "django_redis.cache.RedisCache"``, the first line, and better both::

    "SERIALIZER": "npser.adapters.django_redis.Serializer",
    "CLIENT_CLASS": "npser.adapters.django_redis.Client",
    "NPSER": {"classes": ["shop.models.Order"], "key": "SECRET_KEY", "foreign": "miss"},

``NPSER`` may be left out; its options are those of the setting ``NPSER`` (see `npser.adapters.django`), which it goes
over. A ``COMPRESSOR`` of django-redis compresses what npser wrote: leave out either that or ``"compress"``.

Strategy: django-redis keeps ints to itself, so that Redis counts with them, and asks its serializer for all else. What
that cannot read is None. The client looks again at what came back as None, which is rare: one that is not None in
Redis is a miss. `add` replaces such an entry, and so does ``get_or_set``; ``in`` asks Redis alone.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import cached_property
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured
from django_redis.client import DefaultClient
from django_redis.client.default import DEFAULT_TIMEOUT
from django_redis.exceptions import CompressorError, ConnectionInterrupted
from django_redis.serializers.base import BaseSerializer
from redis.exceptions import RedisError

from npser.adapters.django import entries_of, forget_if
from npser.adapters.entries import Entries

__all__ = ["Client", "Serializer"]

_MISS: Final = object()


class Serializer(BaseSerializer):
    """For ``SERIALIZER``; what it cannot read is None."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        if (options.get("CONNECTION_POOL_KWARGS") or {}).get("decode_responses"):
            raise ImproperlyConfigured("npser's entries are bytes: leave out decode_responses")
        self._options = options.get("NPSER", {})

    @cached_property
    def entries(self) -> Entries:
        """What it reads and writes with; made when first used, for settings come before models."""
        return entries_of(self._options)

    def dumps(self, value: Any) -> bytes:
        """An entry."""
        return self.entries.dumps(value)

    def loads(self, value: bytes, *, miss: Any = None) -> Any:
        """The value of an entry, or `miss`."""
        return self.entries.loads(value, miss=miss)


class Client(DefaultClient):
    """The client of django-redis, for which an entry that cannot be read is not there."""

    def get(self, key: Any, default: Any = None, version: Any = None, client: Any = None) -> Any:
        """The value, or the default."""
        value = super().get(key, default, version, client)
        if value is not None or default is None:
            return value
        return None if self._read_as_none([key], version, client) else default

    def get_many(self, keys: Collection[Any], version: Any = None, client: Any = None) -> dict[Any, Any]:
        """The values that can be read."""
        found = super().get_many(keys, version, client)
        nones = [key for key, value in found.items() if value is None]
        there = self._read_as_none(nones, version, client) if nones else ()
        return {key: value for key, value in found.items() if value is not None or key in there}

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: Any = None, client: Any = None
    ) -> bool:
        """Set an entry unless there is one that can be read."""
        client = client or self.get_client(write=True)
        if super().add(key, value, timeout, version, client):
            return True
        try:
            gone = forget_if(self._unreadable, client, self.make_key(key, version=version))
        except (RedisError, OSError) as error:
            raise ConnectionInterrupted(connection=client) from error
        return gone and super().add(key, value, timeout, version, client)

    def _read_as_none(self, keys: list[Any], version: Any, client: Any) -> list[Any]:
        """Those of the keys whose entry is a None."""
        client = client or self.get_client(write=False)
        try:
            entries = client.mget([self.make_key(key, version=version) for key in keys])
        except (RedisError, OSError) as error:
            raise ConnectionInterrupted(connection=client) from error
        pairs = zip(keys, entries, strict=True)
        return [key for key, data in pairs if data is not None and not self._unreadable(data)]

    def _unreadable(self, data: bytes) -> bool:
        with suppress(ValueError):  # as the client tells ints
            int(data)
            return False
        with suppress(CompressorError):  # an entry that was too short to be compressed
            data = self._compressor.decompress(data)
        return self._serializer.loads(data, miss=_MISS) is _MISS
