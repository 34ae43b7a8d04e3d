"""Flask-Caching: its Redis, file system and memory caches over npser.

One line of an app's configuration, and one more for options, which may be left out::

    CACHE_TYPE = "npser.adapters.flask_caching.RedisCache"  # or FileSystemCache, SimpleCache, RedisSentinelCache, ...
    NPSER = {"classes": ["shop.models.Order"], "key": "SECRET_KEY", "compress": "zlib", "foreign": "miss"}

The options are those of `npser.Codec` and ``foreign`` of `npser.adapters.entries.Entries`; the key ``"SECRET_KEY"`` is
one derived from that of the app, and those in ``SECRET_KEY_FALLBACKS`` are accepted, too. All else is configured as it
is for the caches of the same names in Flask-Caching; ``CACHE_OPTIONS = {"npser": {...}}`` is for one cache alone.
Flask-Caching's memcached caches have no place for a serializer.

Strategy: each class is Flask-Caching's behind the one that `npser.adapters.cachelib` has for it. What cannot be read is
a miss, also for views with ``cache_none=True``, which ask ``has``: it looks into an entry, and not only for it.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Final

from flask import Flask
from flask_caching import backends

from npser.adapters.cachelib import NpserCache, NpserFileSystemCache, RedisSerializer
from npser.adapters.flask_values import options_of

__all__ = ["FileSystemCache", "RedisCache", "RedisClusterCache", "RedisSentinelCache", "SimpleCache"]

_MISS: Final = object()


class _FlaskCache(NpserCache):
    @classmethod
    def factory(cls, app: Flask, config: dict[str, Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The cache of an app by its configuration."""
        options = kwargs.pop("npser", None) or config.get("NPSER")
        return super().factory(app, config, args, {**kwargs, "npser": options_of(app, options)})  # type: ignore[misc]

    def has(self, key: str) -> bool:
        """Whether there is an entry that can be read."""
        strict = copy(self)
        strict.serializer = copy(self.serializer)
        strict.serializer.miss = _MISS
        return super().has(key) and strict.get(key) is not _MISS  # type: ignore[misc, attr-defined]


class RedisCache(_FlaskCache, backends.RedisCache):
    """Flask-Caching's cache in Redis over npser."""

    serializer_class = RedisSerializer


class RedisSentinelCache(_FlaskCache, backends.RedisSentinelCache):
    """Flask-Caching's cache in a Redis behind Sentinels over npser."""

    serializer_class = RedisSerializer


class RedisClusterCache(_FlaskCache, backends.RedisClusterCache):
    """Flask-Caching's cache in a Redis Cluster over npser."""

    serializer_class = RedisSerializer


class FileSystemCache(_FlaskCache, NpserFileSystemCache, backends.FileSystemCache):
    """Flask-Caching's cache in files over npser."""


class SimpleCache(_FlaskCache, backends.SimpleCache):
    """Flask-Caching's cache in memory over npser."""
