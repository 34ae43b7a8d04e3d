"""The cache of `npser.adapters.redis` over redis.asyncio: the same verbs, with await.

Strategy: line by line the synchronous one, for what there is to think about is in `Shared`. Encoding and decoding
happen in the event loop; `stats` tells how long they take.
"""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import wraps
from inspect import isawaitable
from secrets import token_hex
from time import monotonic, perf_counter
from typing import Any

from npser.adapters.redis_parts import INCREMENT, MISS, OF_THE_CACHE, RELEASE, TimeToLive, left, pause
from npser.adapters.redis_shared import Shared

__all__ = ["AsyncCache"]


class AsyncCache(Shared):
    """A cache in Redis, through a client of redis.asyncio; see `npser.adapters.redis.Cache` for the parameters."""

    asynchronous = True

    async def get(self, key: Any, default: Any = None) -> Any:
        """The value of an entry, or `default`."""
        name = self.name(key)
        started = perf_counter()
        (data,) = await self.client.mget(name)  # for which a list under the name is no error
        return self._decode(name, data, default, perf_counter() - started)

    async def set(self, key: Any, value: Any, *, ttl: TimeToLive = OF_THE_CACHE) -> None:
        """Store a value. What npser refuses is an EncodeError, and the entry stays as it was."""
        name = self.name(key)
        data, px, started = self._encode(name, value), self._px(ttl), perf_counter()
        await self.client.set(name, data, px=px)
        self.counters.count(server_seconds=perf_counter() - started)

    async def get_or_set(self, key: Any, make: Callable[[], Any], *, ttl: TimeToLive = OF_THE_CACHE) -> Any:
        """The value of an entry, or else what `make` gives, or what comes of awaiting that; see `Cache.get_or_set`."""
        name, started = self.name(key), perf_counter()
        (seen,) = await self.client.mget(name)
        value = self._decode(name, seen, MISS, perf_counter() - started)
        if value is not MISS:
            return value
        lock, token, deadline, tries = self.lock_name(name), token_hex().encode(), monotonic() + self._wait_seconds, 0
        while monotonic() < deadline:
            if await self.client.set(lock, token, nx=True, px=self._lock_milliseconds):
                try:
                    value = await self._peek(name, seen)  # somebody may have made it between the miss and the lock
                    return await self._make(key, make, ttl) if value is MISS else value
                finally:
                    await self.client.eval(RELEASE, 1, lock, token)
            await sleep(pause(tries := tries + 1))
            value = await self._peek(name, seen)
            if value is not MISS:
                self.counters.count(waited=1)
                return value
        return await self._make(key, make, ttl)

    async def _peek(self, name: bytes, seen: bytes | None) -> Any:
        (data,) = await self.client.mget(name)
        return MISS if data in (None, seen) else self._decode(name, data, MISS)

    async def _make(self, key: Any, make: Callable[[], Any], ttl: TimeToLive) -> Any:
        value = make()
        if isawaitable(value):
            value = await value
        self.counters.count(made=1)
        await self.set(key, value, ttl=ttl)
        return value

    async def mget(self, keys: Iterable[Any], default: Any = None) -> list[Any]:
        """The values of many entries in the order of the keys, with `default` for those that are not there."""
        names = [self.name(key) for key in keys]
        if not names:
            return []
        started = perf_counter()
        found = await getattr(self.client, "mget_nonatomic", self.client.mget)(names)  # the former in a cluster
        self.counters.count(server_seconds=perf_counter() - started)
        return [self._decode(name, data, default) for name, data in zip(names, found, strict=True)]

    async def mset(
        self, values: Mapping[Any, Any] | Iterable[tuple[Any, Any]], *, ttl: TimeToLive = OF_THE_CACHE
    ) -> None:
        """Store many values, of a mapping or of pairs, in one round trip. All are encoded before the first is sent."""
        entries, px, started = self._encode_all(values), self._px(ttl), perf_counter()
        async with self.client.pipeline(transaction=False) as pipe:
            for name, data in entries:
                pipe.set(name, data, px=px)
            await pipe.execute()
        self.counters.count(server_seconds=perf_counter() - started)

    async def delete(self, *keys: Any) -> int:
        """Delete entries; how many there were."""
        return int(await self.client.delete(*map(self.name, keys))) if keys else 0

    async def ttl(self, key: Any) -> float | None:
        """The seconds that an entry has left: infinity for one that stays, None for one that is not there."""
        return left(await self.client.pttl(self.name(key)))

    async def touch(self, key: Any, *, ttl: TimeToLive = OF_THE_CACHE) -> bool:
        """Give an entry another time to live; whether it is there."""
        name, px = self.name(key), self._px(ttl)
        if px is None:
            return bool(await self.client.persist(name) or await self.client.exists(name))
        return bool(await self.client.pexpire(name, px))

    async def incr(self, key: Any, by: int = 1, *, ttl: TimeToLive = OF_THE_CACHE) -> int:
        """Add to a counter, and give what it is then. A new one begins at 0, and only that gets the time to live."""
        name, px = self.name(key), self._px(ttl)
        self._check_counting(by)
        if px is None:
            return int(await self.client.incrby(name, by))
        return int(await self.client.eval(INCREMENT, 1, name, by, px))

    def memoize(
        self, *, ttl: TimeToLive = OF_THE_CACHE
    ) -> Callable[[Callable[..., Any]], Callable[..., Awaitable[Any]]]:
        """A decorator: what a function, async or not, gives is kept under its `key`; see there and `get_or_set`."""

        def decorate(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
            self.key(function)  # one that has no name of its own is refused here

            @wraps(function)
            async def kept(*args: Any, **kwargs: Any) -> Any:
                return await self.get_or_set(
                    self.key(function, *args, **kwargs), lambda: function(*args, **kwargs), ttl=ttl
                )

            return kept

        return decorate
