"""A small cache over redis-py: values in, values out, and a miss for whatever cannot be trusted.

Strategy: all that is not waiting for the server is in `Shared`; `npser.adapters.redis_async` has the same verbs with
await. What is read from Redis is data: without a key it can be wrong but not run, with a key it cannot even be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from secrets import token_hex
from time import monotonic, perf_counter, sleep
from typing import Any

from npser.adapters.redis_parts import INCREMENT, MISS, OF_THE_CACHE, RELEASE, TimeToLive, left, pause
from npser.adapters.redis_shared import Shared

__all__ = ["Cache"]


class Cache(Shared):
    """A cache in Redis, through a client that the caller has made. Threads may share it.

    A key is a str, or any other value that `npser.digest` takes. Exact ints are stored as Redis counts with them,
    unless they are sealed. An entry that is damaged, poisoned or foreign is a miss, and logged to ``npser.adapters``.
    What redis-py raises, such as for a server that is not there, is raised.

    Parameters
    ----------
    client : redis.Redis or redis.RedisCluster
        Without decode_responses=True.
    namespace : str
        In front of all names, with a colon after it; ``"{shop}"`` keeps them on one node of a cluster.
    codec : Codec
        Encodes and decodes: classes, compression, limits and so on, without a key. Without one, or by its option
        ``unknown="refuse"``, an object of a class that is not listed makes an entry a miss.
    key : bytes, or sequence of bytes
        Seals each entry for its name: nobody without the key can write one, or put one in the place of another. Only
        an older entry of the same name can come back.
    foreign : {"miss", "refuse", "pickle"} or callable
        What becomes of entries of another serializer; see `Entries`. READ THERE WHAT ``"pickle"`` DOES.
    ttl : float, timedelta or None
        How long entries live for which nothing else is said: in seconds, or None for until Redis evicts them.
    lock_seconds, wait_seconds : float
        Of `get_or_set`: after how long a lock ends by itself, and others make the value themselves.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of an entry, or `default`."""
        name = self.name(key)
        started = perf_counter()
        (data,) = self.client.mget(name)  # for which a list under the name is no error
        return self._decode(name, data, default, perf_counter() - started)

    def set(self, key: Any, value: Any, *, ttl: TimeToLive = OF_THE_CACHE) -> None:
        """Store a value. What npser refuses is an EncodeError, and the entry stays as it was."""
        name = self.name(key)
        data, px, started = self._encode(name, value), self._px(ttl), perf_counter()
        self.client.set(name, data, px=px)
        self.counters.count(server_seconds=perf_counter() - started)

    def get_or_set(self, key: Any, make: Callable[[], Any], *, ttl: TimeToLive = OF_THE_CACHE) -> Any:
        """The value of an entry, or else what `make` gives, which is stored.

        However many ask at once, in whatever processes, one of them makes it, and the others wait. If making fails, the
        next one tries.
        """
        name, started = self.name(key), perf_counter()
        (seen,) = self.client.mget(name)
        value = self._decode(name, seen, MISS, perf_counter() - started)
        if value is not MISS:
            return value
        lock, token, deadline, tries = self.lock_name(name), token_hex().encode(), monotonic() + self._wait_seconds, 0
        while monotonic() < deadline:
            if self.client.set(lock, token, nx=True, px=self._lock_milliseconds):
                try:
                    value = self._peek(name, seen)  # somebody may have made it between the miss and the lock
                    return self._make(key, make, ttl) if value is MISS else value
                finally:
                    self.client.eval(RELEASE, 1, lock, token)
            sleep(pause(tries := tries + 1))
            value = self._peek(name, seen)
            if value is not MISS:
                self.counters.count(waited=1)
                return value
        return self._make(key, make, ttl)

    def _peek(self, name: bytes, seen: bytes | None) -> Any:
        (data,) = self.client.mget(name)
        return MISS if data in (None, seen) else self._decode(name, data, MISS)

    def _make(self, key: Any, make: Callable[[], Any], ttl: TimeToLive) -> Any:
        value = make()
        self.counters.count(made=1)
        self.set(key, value, ttl=ttl)
        return value

    def mget(self, keys: Iterable[Any], default: Any = None) -> list[Any]:
        """The values of many entries in the order of the keys, with `default` for those that are not there."""
        names = [self.name(key) for key in keys]
        if not names:
            return []
        started = perf_counter()
        found = getattr(self.client, "mget_nonatomic", self.client.mget)(names)  # the former in a cluster
        self.counters.count(server_seconds=perf_counter() - started)
        return [self._decode(name, data, default) for name, data in zip(names, found, strict=True)]

    def mset(self, values: Mapping[Any, Any] | Iterable[tuple[Any, Any]], *, ttl: TimeToLive = OF_THE_CACHE) -> None:
        """Store many values, of a mapping or of pairs, in one round trip. All are encoded before the first is sent."""
        entries, px, started = self._encode_all(values), self._px(ttl), perf_counter()
        with self.client.pipeline(transaction=False) as pipe:
            for name, data in entries:
                pipe.set(name, data, px=px)
            pipe.execute()
        self.counters.count(server_seconds=perf_counter() - started)

    def delete(self, *keys: Any) -> int:
        """Delete entries; how many there were."""
        return int(self.client.delete(*map(self.name, keys))) if keys else 0

    def ttl(self, key: Any) -> float | None:
        """The seconds that an entry has left: infinity for one that stays, None for one that is not there."""
        return left(self.client.pttl(self.name(key)))

    def touch(self, key: Any, *, ttl: TimeToLive = OF_THE_CACHE) -> bool:
        """Give an entry another time to live; whether it is there."""
        name, px = self.name(key), self._px(ttl)
        if px is None:
            return bool(self.client.persist(name) or self.client.exists(name))
        return bool(self.client.pexpire(name, px))

    def incr(self, key: Any, by: int = 1, *, ttl: TimeToLive = OF_THE_CACHE) -> int:
        """Add to a counter, and give what it is then. A new one begins at 0, and only that gets the time to live."""
        name, px = self.name(key), self._px(ttl)
        self._check_counting(by)
        return int(self.client.incrby(name, by) if px is None else self.client.eval(INCREMENT, 1, name, by, px))

    def memoize(self, *, ttl: TimeToLive = OF_THE_CACHE) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: what a function gives is kept under its `key`; see there and `get_or_set`."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            self.key(function)  # one that has no name of its own is refused here

            @wraps(function)
            def kept(*args: Any, **kwargs: Any) -> Any:
                return self.get_or_set(self.key(function, *args, **kwargs), lambda: function(*args, **kwargs), ttl=ttl)

            return kept

        return decorate
