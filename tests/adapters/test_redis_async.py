"""AsyncCache over redis.asyncio, against a real server."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import pickle
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import npser
from npser.adapters.redis import Cache
from npser.adapters.redis_async import AsyncCache
from same import same

redis = pytest.importorskip("redis", reason="the redis extra is not installed")

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))

VALUES: list[Any] = [
    None,
    True,
    0,
    1 << 63,
    "12",
    b"12",
    (),
    {3: (1, {2}, [True, None])},
    [{"id": i} for i in range(50)],
]

EITHER = pytest.mark.parametrize("key", [None, KEY], ids=["plain", "signed"])


@pytest.fixture
def run(redis_url: str) -> Callable[[Callable[[Any], Awaitable[None]]], None]:
    """Run an async function with a client."""

    async def with_client(work: Callable[[Any], Awaitable[None]]) -> None:
        retry = redis.asyncio.retry.Retry(redis.backoff.NoBackoff(), 1)  # else the first command after a restart fails
        client = redis.asyncio.Redis.from_url(redis_url, retry=retry, retry_on_error=[redis.ConnectionError])
        try:
            await work(client)
        finally:
            await client.connection_pool.disconnect()

    return lambda work: asyncio.run(with_client(work))


Run = Callable[[Callable[[Any], Awaitable[None]]], None]


def test_the_verbs_are_those_of_the_other_cache() -> None:
    def public(cls: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(method).parameters)
            for name, method in vars(cls).items()
            if callable(method) and not name.startswith("_")
        }

    assert public(AsyncCache) == public(Cache)


@EITHER
def test_what_goes_in_comes_out(run: Run, key: bytes | None) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client, namespace="test", key=key, codec=npser.Codec(compress="zlib"))
        for value in VALUES:
            await cache.set("one", value)
            assert same(await cache.get("one", "miss"), value)
        await cache.mset((i, value) for i, value in enumerate(VALUES))
        assert same(await cache.mget(range(len(VALUES)), "miss"), VALUES)
        assert await cache.mget([1, "no", 2], "miss") == [True, "miss", 0]
        assert await cache.get("no") is None
        assert await cache.delete(0, 1, "no") == 2
        assert await cache.delete() == 0
        assert await cache.mget([]) == []
        with pytest.raises(npser.EncodeError):
            await cache.set("one", object())
        assert same(await cache.get("one"), VALUES[-1])

    run(work)


@EITHER
def test_both_caches_read_each_other(run: Run, redis_url: str, key: bytes | None) -> None:
    async def work(client: Any) -> None:
        with redis.Redis.from_url(redis_url) as other:
            cache, plain = AsyncCache(client, namespace="n", key=key), Cache(other, namespace="n", key=key)
            for name in ("a", (1, 2)):
                await cache.set(name, {"n": (1,)})
                assert plain.get(name) == {"n": (1,)}
                plain.set(name, {"n": (2,)})
                assert await cache.get(name) == {"n": (2,)}

    run(work)


def test_time_to_live(run: Run) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client, ttl=60)
        await cache.set("default", 1)
        await cache.set("stays", 1, ttl=None)
        await cache.mset({"many": 1}, ttl=7200)
        assert 59 < (await cache.ttl("default") or 0) <= 60
        assert 7199 < (await cache.ttl("many") or 0) <= 7200
        assert (await cache.ttl("stays"), await cache.ttl("no")) == (math.inf, None)
        assert await cache.touch("many")
        assert 59 < (await cache.ttl("many") or 0) <= 60
        assert await cache.touch("many", ttl=None)
        assert await cache.touch("many", ttl=None)
        assert await cache.ttl("many") == math.inf
        assert not await cache.touch("no")
        assert not await cache.touch("no", ttl=None)

    run(work)


def test_counting(run: Run) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client)
        assert [await cache.incr("a"), await cache.incr("a", 5), await cache.incr("a", -7)] == [1, 6, -1]
        assert same(await cache.get("a"), -1)
        assert [await cache.incr("c", ttl=60), await cache.incr("c", (1 << 53) + 1)] == [1, (1 << 53) + 2]
        assert 59 < (await cache.ttl("c") or 0) <= 60
        with pytest.raises(TypeError, match="counts with ints"):
            await cache.incr("a", True)
        with pytest.raises(TypeError, match="without a key"):
            await AsyncCache(client, key=KEY).incr("a")

    run(work)


@EITHER
def test_poisoned_and_foreign_entries_are_a_miss(run: Run, key: bytes | None) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client, key=key)
        await cache.set("a", VALUES[-1])
        data = await client.get("a")
        entries = [data[:cut] for cut in range(0, len(data), 11)]
        entries += [pickle.dumps([1]), b'{"a": 1}', bytes.fromhex("81a16101"), npser.dumps_signed([1], OTHER)]
        for entry in entries:
            await client.set("a", entry)
            assert await cache.get("a", "miss") == "miss"
        assert cache.stats()["misses"] == len(entries)
        assert await cache.get_or_set("a", lambda: "made") == "made"
        await client.rpush("list", "x")
        assert await cache.get("list", "miss") == "miss"
        assert await cache.get_or_set("list", lambda: "made") == "made"
        await client.set("a", b'{"a": 1}')
        assert await AsyncCache(client, foreign=json.loads).get("a") == {"a": 1}
        with pytest.raises(npser.DecodeError):
            await AsyncCache(client, foreign="refuse").get("a")

    run(work)


def test_keys_are_rotated_and_entries_stay_in_their_place(run: Run) -> None:
    async def work(client: Any) -> None:
        old, both, new = (AsyncCache(client, namespace="n", key=key) for key in (KEY, [OTHER, KEY], OTHER))
        await old.set("a", [1])
        assert [await new.get("a"), await both.get("a")] == [None, [1]]
        await client.set("n:b", await client.get("n:a"))
        assert await both.get("b") is None

    run(work)


def test_clients_that_decode_or_are_of_the_other_kind_are_refused(redis_url: str) -> None:
    with pytest.raises(ValueError, match="decode_responses"):
        AsyncCache(redis.asyncio.Redis.from_url(redis_url, decode_responses=True))
    with pytest.raises(TypeError, match="AsyncCache"), redis.Redis.from_url(redis_url) as client:
        AsyncCache(client)


@pytest.mark.parametrize("kind", ["async", "plain"])
def test_twenty_tasks_make_one_value(run: Run, kind: str) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client, namespace="s")
        made: list[int] = []

        def plain() -> int:
            made.append(1)
            return len(made)

        async def slow() -> int:
            await asyncio.sleep(0.1)
            return plain()

        make = {"async": slow, "plain": plain}[kind]
        assert await asyncio.gather(*(cache.get_or_set("a", make, ttl=60) for _ in range(20))) == [1] * 20
        assert made == [1]
        assert cache.counters.made == 1
        assert await client.keys() == [b"s:a"]  # and no lock is left

    run(work)


def test_if_making_fails_the_next_one_makes(run: Run) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client)
        tries = iter(range(5))

        async def make() -> str:
            await asyncio.sleep(0.01)
            if next(tries) < 2:
                raise LookupError
            return "made"

        results = await asyncio.gather(*(cache.get_or_set("a", make) for _ in range(5)), return_exceptions=True)
        assert sorted(type(one).__name__ for one in results) == ["LookupError"] * 2 + ["str"] * 3

    run(work)


def test_a_lock_whose_holder_died_or_was_cancelled(run: Run) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client, wait_seconds=0.05)
        lock = cache.lock_name(cache.name("a"))
        await client.set(lock, b"somebody", px=60_000)
        assert await cache.get_or_set("a", lambda: "made") == "made"
        assert await client.get(lock) == b"somebody"
        started = asyncio.Event()

        async def make() -> None:
            started.set()
            await asyncio.sleep(60)

        task = asyncio.create_task(cache.get_or_set("b", make))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await client.get(cache.lock_name(cache.name("b"))) is None

    run(work)


async def double(number: int) -> int:
    return 2 * number


def triple(number: int) -> int:
    return 3 * number


def test_memoize(run: Run) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client)
        twice, thrice = cache.memoize(ttl=60)(double), cache.memoize()(triple)
        assert [await twice(2), await twice(2), await thrice(2), await thrice(2)] == [4, 4, 6, 6]
        assert cache.counters.made == 2
        with pytest.raises(ValueError, match="no name"):
            cache.memoize()(lambda: 1)

    run(work)


def test_a_server_restarted_in_mid_run(redis_server: Any, run: Run) -> None:
    async def work(client: Any) -> None:
        cache = AsyncCache(client, namespace="r", key=KEY)
        await cache.set("a", [1])
        await asyncio.to_thread(redis_server.stop)
        with pytest.raises(redis.ConnectionError):
            await cache.get("a")
        await asyncio.to_thread(redis_server.start)
        assert await cache.get("a", "miss") == "miss"
        assert await cache.get_or_set("b", lambda: "second") == "second"
        await asyncio.to_thread(redis_server.restart)  # while a connection is open
        assert await cache.mget(["a", "b"], "miss") == ["miss", "miss"]
        await cache.mset({"a": [3]})
        assert await cache.get("a") == [3]

    run(work)
