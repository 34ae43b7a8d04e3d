"""Django: a serializer for its Redis cache, one for sessions, and a Redis cache where what cannot be read is a miss.

In the settings, any of these lines::

    CACHES = {"default": {"BACKEND": "npser.adapters.django.RedisCache", "LOCATION": "redis://127.0.0.1:6379"}}
    CACHES = {"default": {..., "OPTIONS": {"serializer": "npser.adapters.django.Serializer"}}}  # with Django's own
    SESSION_SERIALIZER = "npser.adapters.django.SessionSerializer"

    NPSER = {"classes": ["shop.models.Order"], "key": "SECRET_KEY", "compress": "zlib", "foreign": "miss"}

``NPSER`` may be left out. Its options are those of `npser.Codec` and ``foreign`` of `npser.adapters.entries.Entries`;
the key ``"SECRET_KEY"`` is one derived from that setting, and those in ``SECRET_KEY_FALLBACKS`` are accepted, too.
A cache of npser's backend may have more in ``"OPTIONS": {"npser": {...}}``, and Django's takes ``Serializer(...)``.

Strategy: Django's client returns whatever its serializer gives, so a serializer alone can only say None for an entry
that cannot be read, and ``get_or_set`` takes that for a value. `RedisCache` is Django's with a client that knows
better, and replaces such an entry in `add`; ``in`` asks Redis alone. npser knows what Django itself caches: fragments,
pages, and instances of models that are listed (``list(queryset)``, not a queryset). Django's caches in a database, in
files and in memory pickle, and have no place for a serializer. With a key everything is sealed, ints too, so ``incr``
has nothing to count with: keep counters in a cache without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final

from django import conf
from django.core.cache.backends import redis as backend
from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.core.signing import JSONSerializer
from django.utils.crypto import salted_hmac

from npser.adapters.django_values import know_values, readers_of
from npser.adapters.entries import Entries, exact_int, is_exact_int
from npser.adapters.refusals import logged_entries

__all__ = ["RedisCache", "RedisCacheClient", "Serializer", "SessionSerializer", "forget_if"]

_MISS: Final = object()


def entries_of(options: Mapping[str, Any]) -> Entries:
    """Entries by the setting ``NPSER`` and more options."""
    know_values()
    options = {**getattr(conf.settings, "NPSER", {}), **options}
    if options.get("key") == "SECRET_KEY":
        secrets = (conf.settings.SECRET_KEY, *conf.settings.SECRET_KEY_FALLBACKS)
        options["key"] = [salted_hmac(__name__, "cache", one, algorithm="sha256").digest() for one in secrets]
    return logged_entries({**options, "classes": readers_of(options.get("classes", ()))})


class Serializer:
    """What Django's Redis cache calls a serializer. Its options go over those in the setting ``NPSER``."""

    def __init__(self, **options: Any) -> None:
        self._options = options

    @cached_property
    def entries(self) -> Entries:
        """What it reads and writes with; made when first used, for settings come before models."""
        return entries_of(self._options)

    def dumps(self, value: Any) -> Any:
        """An entry; without a key, ints that Redis can count with stay ints."""
        counts = is_exact_int(value) and value.bit_length() < 64 and not self.entries.keyed
        return value if counts else self.entries.dumps(value)

    def loads(self, data: Any, *, miss: Any = None) -> Any:
        """The value of an entry, or `miss` where it cannot be read."""
        number = exact_int(data) if isinstance(data, bytes) and not self.entries.keyed else None
        return self.entries.loads(data, miss=miss) if number is None else number


@lru_cache(maxsize=1)
def _session_entries() -> Entries:
    return entries_of({"key": None, "context": b"", "foreign": JSONSerializer().loads})


setting_changed.connect(lambda **_: _session_entries.cache_clear(), weak=False)


class SessionSerializer:
    """Without a key, for Django signs. It reads what Django's own one wrote: nobody is logged out by the switch."""

    def dumps(self, value: Any) -> bytes:
        """The bytes of a session."""
        return _session_entries().dumps(value)

    def loads(self, data: bytes) -> Any:
        """The session; an error, for which Django begins a new one, if there is none in the bytes."""
        return _session_entries().loads(data)


def forget_if(unreadable: Callable[[bytes], bool], client: Any, key: Any) -> bool:
    """Delete an entry that cannot be read, unless somebody replaces it in the meantime; says whether it is gone."""
    from redis import WatchError

    with client.pipeline() as pipe:
        pipe.watch(key)
        data = pipe.get(key)
        if data is None or not unreadable(data):
            return data is None
        pipe.multi()
        pipe.delete(key)
        try:
            pipe.execute()
        except WatchError:
            return False
    return True


class RedisCacheClient(backend.RedisCacheClient):
    """Django's client, for which an entry that cannot be read is not there."""

    def __init__(self, servers: Any, serializer: Any = Serializer, npser: Any = None, **options: Any) -> None:
        if options.get("decode_responses"):
            raise ImproperlyConfigured("npser's entries are bytes: leave out decode_responses")
        super().__init__(servers, serializer=serializer if npser is None else Serializer(**npser), **options)

    def get(self, key: Any, default: Any) -> Any:
        """The value, or the default."""
        data = self.get_client(key).get(key)
        return default if data is None else self._serializer.loads(data, miss=default)

    def get_many(self, keys: Any) -> dict[Any, Any]:
        """The values that can be read."""
        found = zip(keys, self.get_client(None).mget(keys), strict=True)
        values = {key: self._serializer.loads(data, miss=_MISS) for key, data in found if data is not None}
        return {key: value for key, value in values.items() if value is not _MISS}

    def add(self, key: Any, value: Any, timeout: Any) -> bool:
        """Set an entry unless there is one that can be read."""
        if super().add(key, value, timeout):
            return True
        gone = forget_if(self._unreadable, self.get_client(key, write=True), key)
        return gone and super().add(key, value, timeout)

    def _unreadable(self, data: bytes) -> bool:
        return self._serializer.loads(data, miss=_MISS) is _MISS


class RedisCache(backend.RedisCache):
    """Django's Redis cache over npser, for which an entry that cannot be read is a miss."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._class = RedisCacheClient
