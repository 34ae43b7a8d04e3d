"""cachelib: its Redis, file system and memory caches over npser, and serializers for the others.

One line, an import from here in the place of one from cachelib::

    from npser.adapters.cachelib import FileSystemCache, RedisCache, SimpleCache

    cache = RedisCache("127.0.0.1", npser={"classes": [Order], "key": key, "compress": "zlib", "foreign": "miss"})

``npser=`` may be left out; its options are those of `npser.Codec` and ``foreign`` of `npser.adapters.entries.Entries`.
A Valkey or DynamoDB cache takes a `RedisSerializer` as its ``serializer``, one of MongoDB or uWSGI a `Serializer`.
A memcached cache has no place for either: its client pickles by itself.

Strategy: what cannot be read is None, as cachelib says a miss. Redis counts with ints, so they are stored as text in
there, bools never; the other caches count by ``get`` and ``set``. What cannot be encoded is an error, and a file is
begun only when its entry is ready, so that none is left behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, NamedTuple

import cachelib
from cachelib.serializers import BaseSerializer

from npser.adapters.entries import exact_int, is_exact_int
from npser.adapters.refusals import logged_entries

__all__ = [
    "FileSystemCache",
    "NpserCache",
    "NpserFileSystemCache",
    "RedisCache",
    "RedisSerializer",
    "Serializer",
    "SimpleCache",
]


class _Ready(NamedTuple):
    """An entry that was encoded before its file was begun."""

    entry: bytes


class Serializer(BaseSerializer):
    """What a cache of cachelib calls a serializer.

    Parameters
    ----------
    miss : object
        What is given for an entry that cannot be read; cachelib takes None for a miss.
    **options
        As in ``npser=``.
    """

    def __init__(self, *, miss: Any = None, **options: Any) -> None:
        self.entries = logged_entries(options)
        self.miss = miss

    def dumps(self, value: Any, protocol: int = 0) -> bytes:
        """An entry; there are no protocols."""
        return self.entries.dumps(value)

    def loads(self, bvalue: Any) -> Any:
        """The value of an entry, or the miss."""
        return self.entries.loads(bvalue, miss=self.miss)

    def dump(self, value: Any, f: IO[bytes], protocol: int = 0) -> None:
        """Write an entry to the end of a file."""
        f.write(value.entry if type(value) is _Ready else self.dumps(value))

    def load(self, f: IO[bytes]) -> Any:
        """The value of the entry up to the end of a file, or the miss."""
        return self.loads(f.read())


class RedisSerializer(Serializer):
    """What a cache in Redis, Valkey or DynamoDB calls a serializer; its ints are text."""

    def dumps(self, value: Any, protocol: int = 0) -> bytes:
        """An entry; without a key, ints that Redis can count with are text."""
        if is_exact_int(value) and value.bit_length() < 64 and not self.entries.keyed:
            return b"%d" % value
        return super().dumps(value)

    def loads(self, value: Any) -> Any:
        """The value of an entry, or the miss; None, which is no entry, is None."""
        if value is None:
            return None
        number = exact_int(value) if isinstance(value, bytes) and not self.entries.keyed else None
        return super().loads(value) if number is None else number


class NpserCache:
    """In front of a cache of cachelib: its entries are npser's."""

    serializer_class: type[Serializer] = Serializer
    serializer: Any

    def __init__(self, *args: Any, npser: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        self.serializer = self.serializer_class(**(npser or {}))
        super().__init__(*args, **kwargs)


class NpserFileSystemCache(NpserCache):
    """In front of one in files."""

    def set(self, key: str, value: Any, *more: Any, **named: Any) -> Any:
        """Store a value; one that cannot be encoded is an error, and leaves no file."""
        return super().set(key, _Ready(self.serializer.dumps(value)), *more, **named)  # type: ignore[misc]


class RedisCache(NpserCache, cachelib.RedisCache):
    """`cachelib.RedisCache` over npser."""

    serializer_class = RedisSerializer


class FileSystemCache(NpserFileSystemCache, cachelib.FileSystemCache):
    """`cachelib.FileSystemCache` over npser."""


class SimpleCache(NpserCache, cachelib.SimpleCache):
    """`cachelib.SimpleCache` over npser: values are copies, as in the other caches."""
