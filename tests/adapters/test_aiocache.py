"""aiocache: caches in memory, in Redis and in memcached whose entries are npser's, whose ints count, and what others put there."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import json
import pickle
import random
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("aiocache", reason="the aiocache extra is not installed")

import numpy as np
from aiocache import Cache, cached, caches, multi_cached
from aiocache.lock import OptimisticLock, RedLock

import npser
from npser.adapters.aiocache import NpserSerializer
from same import same

pytestmark = pytest.mark.filterwarnings("ignore:Call to deprecated:DeprecationWarning")  # of redis-py, by aiocache

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))


@dataclass
class Order:
    id: int
    items: tuple[str, ...]


VALUES: dict[str, Any] = {
    "true": True,
    "int": 7,
    "zero": 0,
    "least": -(1 << 63),
    "big": 1 << 63,
    "float": 7.0,
    "text": "7",
    "bytes": b"7",
    "empty": b"",
    "tuple": (1, (True, {3}), 0.5),
    "rows": [{"id": i, "note": None if i % 3 else "tea"} for i in range(100)],
    "array": np.arange(12, dtype=">u2").reshape(3, 4),
    "when": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "order": Order(7, ("tea",)),
}

Make = Callable[..., Any]


@pytest.fixture(params=["memory", "redis", "memcached"])
def make(request: pytest.FixtureRequest) -> Make:
    """Makes a cache, whose serializer has these options."""
    if request.param == "memory":
        return lambda **options: Cache(Cache.MEMORY, serializer=NpserSerializer(**options))
    library = {"redis": "redis", "memcached": "aiomcache"}[request.param]
    pytest.importorskip(library, reason=f"{library}, which aiocache needs for {request.param}, is not installed")
    if request.param == "redis":
        request.getfixturevalue("redis_url")
    server = request.getfixturevalue(f"{request.param}_server")

    def on_server(**options: Any) -> Any:
        kind = {"redis": Cache.REDIS, "memcached": Cache.MEMCACHED}[request.param]
        return Cache(kind, endpoint=server.host, port=server.port, serializer=NpserSerializer(**options))

    return on_server


def run(test: Callable[[Any], Coroutine[Any, Any, None]], cache: Any) -> None:
    async def whole() -> None:
        async with cache:
            await cache.clear()
            await test(cache)

    asyncio.run(whole())


def test_values_come_back_as_they_were(make: Make) -> None:
    async def test(cache: Any) -> None:
        for name, value in VALUES.items():
            await cache.set(name, value)
        for name, value in VALUES.items():
            assert same(await cache.get(name), value), name
        assert await cache.get("missing") is None
        assert await cache.get("missing", default="a miss") == "a miss"
        assert await cache.exists("tuple") and await cache.delete("tuple") == 1
        assert await cache.get("tuple") is None

    run(test, make(classes=[Order]))


def test_many_at_once(make: Make) -> None:
    async def test(cache: Any) -> None:
        await cache.multi_set(list(VALUES.items()))
        found = await cache.multi_get([*VALUES, "missing"])
        assert same(found, [*VALUES.values(), None])
        await cache.add("new", (1, 2))
        with pytest.raises(ValueError, match="already exists"):
            await cache.add("new", (3,))
        assert await cache.get("new") == (1, 2)

    run(test, make(classes=[Order], compress="zlib", compress_from=10))


def test_ints_count(make: Make) -> None:
    async def test(cache: Any) -> None:
        await cache.set("visits", 9)
        assert await cache.increment("visits") == 10
        assert same(await cache.get("visits"), 10)
        assert await cache.increment("visits", -1) == 9  # memcached keeps it as "9 "
        assert same(await cache.get("visits"), 9)
        assert await cache.increment("new", 5) == 5
        assert same(await cache.multi_get(["new", "visits"]), [5, 9])
        for no_number in (True, "5", None):
            await cache.set("other", no_number)
            with pytest.raises(TypeError):
                await cache.increment("other")
            assert same(await cache.get("other"), no_number)

    run(test, make())


def test_with_a_key_nothing_is_plain(make: Make) -> None:
    async def test(cache: Any) -> None:
        await cache.set("visits", 9)
        assert same(await cache.get("visits"), 9)
        with pytest.raises(TypeError):
            await cache.increment("visits")
        await cache.increment("plain", 7)
        assert await cache.get("plain") is None  # as anybody could have put it there

    run(test, make(key=KEY))


def test_expiry(make: Make) -> None:
    async def test(cache: Any) -> None:
        await cache.set("short", (1, 2), ttl=1)
        await cache.set("long", (1, 2), ttl=100)
        await cache.expire("long", 1)
        await cache.multi_set([("many", (3,))], ttl=1)
        assert await cache.get("short") == (1, 2) and await cache.get("many") == (3,)
        await asyncio.sleep(2.1 if cache.NAME == "memcached" else 1.1)  # which counts whole seconds
        assert await cache.multi_get(["short", "long", "many"]) == [None, None, None]

    run(test, make())


def test_a_function_is_called_once(make: Make) -> None:
    calls: list[Any] = []

    async def test(cache: Any) -> None:
        where = {name: getattr(cache, name) for name in ("endpoint", "port") if hasattr(cache, name)}
        options = {"cache": type(cache), "serializer": NpserSerializer(classes=[Order]), **where}

        @cached(key_builder=lambda function, number: f"order:{number}", **options)
        async def order(number: int) -> Order:
            calls.append(number)
            return Order(number, ("tea",))

        assert [await order(1), await order(1), await order(2)] == [Order(n, ("tea",)) for n in (1, 1, 2)]
        assert calls == [1, 2]
        await order.cache.close()

        @multi_cached(keys_from_attr="ids", **options)
        async def squares(*, ids: list[str]) -> dict[str, tuple[int, ...]]:
            calls.append(ids)
            return {name: (int(name), int(name) ** 2) for name in ids}

        assert await squares(ids=["1", "2"]) == {"1": (1, 1), "2": (2, 4)}
        assert await squares(ids=["2", "3"]) == {"2": (2, 4), "3": (3, 9)}
        assert calls[2:] == [["1", "2"], ["3"]]
        await squares.cache.close()

    run(test, make())


def test_locks(make: Make) -> None:
    async def test(cache: Any) -> None:
        first = 1 if cache.NAME == "redis" else (1, 2)  # there, aiocache reads what is to be compared as text
        await cache.set("key", first)
        async with OptimisticLock(cache, "key") as lock:
            assert await lock.cas((3, 4))
        assert await cache.get("key") == (3, 4)
        async with RedLock(cache, "key", lease=5):
            assert await cache.get("key") == (3, 4)

    run(test, make())


DAMAGES: dict[str, bytes] = {
    "cut off": npser.dumps((1, "two", 0.5))[:-3],
    "empty": b"",
    "flipped": bytes([npser.dumps((1, 2))[0] ^ 1]) + npser.dumps((1, 2))[1:],
    "longer": npser.dumps((1, 2)) + b"\0",
    "pickle": pickle.dumps("from before"),
    "json": b'"from before"',
    "nearly an int": b"1_0",
    "an int with zeros": b"007",
    "blanks": b"   ",
    "not sealed by this key": npser.dumps_signed(1, OTHER),
}


@pytest.mark.parametrize("options", [{}, {"key": KEY}, {"compress": "zlib"}], ids=str)
def test_what_is_poisoned_is_a_miss(make: Make, options: dict[str, Any]) -> None:
    async def test(cache: Any) -> None:
        for damage, poison in DAMAGES.items():
            await cache.set("key", poison, dumps_fn=bytes)
            assert await cache.get("key", default="a miss") == "a miss", damage
            await cache.set("whole", (1, 2))
            assert await cache.multi_get(["key", "whole"]) == [None, (1, 2)], damage
        await cache.set("key", (1, 2))
        assert await cache.get("key") == (1, 2)

    run(test, make(**options))


def mutations(data: bytes, n: int) -> Iterator[bytes]:
    """The bytes changed in some places, cut, or with others in the middle."""
    rng = random.Random(8)
    for _ in range(n):
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(changed))
            changed[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        yield bytes(changed[: rng.choice([len(changed), rng.randrange(len(changed))])])


@pytest.mark.parametrize("options", [{}, {"key": KEY}], ids=["plain", "sealed"])
def test_any_bytes_at_all_are_a_value_or_a_miss(options: dict[str, Any]) -> None:
    serializer = NpserSerializer(classes=[Order], **options)
    whole = serializer.dumps([VALUES["rows"], VALUES["order"]])

    async def test(cache: Any) -> None:
        for changed in mutations(whole, 300):
            await cache.set("key", changed, dumps_fn=bytes)
            found = await cache.get("key")
            assert not options or found is None or changed == whole

    run(test, Cache(Cache.MEMORY, serializer=serializer))


def test_a_poisoned_result_of_a_function_is_made_anew() -> None:
    calls: list[int] = []

    @cached(key="key", serializer=NpserSerializer())
    async def pair(number: int) -> tuple[int, int]:
        calls.append(number)
        return (number, number)

    async def test() -> None:
        assert await pair(1) == (1, 1)
        await pair.cache.set("key", b"poison", dumps_fn=bytes)
        assert await pair(1) == (1, 1) == await pair(1) and calls == [1, 1]

    asyncio.run(test())


def test_the_wrong_key_opens_nothing(make: Make) -> None:
    async def test(cache: Any) -> None:
        await cache.set("key", (1, 2))
        for options, found in [({"key": KEY}, None), ({}, None), ({"key": [KEY, OTHER]}, (1, 2))]:
            cache.serializer = NpserSerializer(**options)
            assert await cache.get("key") == found

    run(test, make(key=OTHER))


def test_entries_from_before(make: Make) -> None:
    async def test(cache: Any) -> None:
        await cache.set("pickle", (1, 2), dumps_fn=pickle.dumps)
        await cache.set("json", {"user": 7}, dumps_fn=lambda value: json.dumps(value).encode())
        for options, found in [
            ({}, [None, None]),
            ({"foreign": "pickle"}, [(1, 2), None]),
            ({"foreign": "json.loads"}, [None, {"user": 7}]),
        ]:
            cache.serializer = NpserSerializer(**options)
            assert await cache.multi_get(["pickle", "json"]) == found
        cache.serializer = NpserSerializer(foreign="refuse")
        with pytest.raises(npser.ForeignBytesError, match="pickle"):
            await cache.get("pickle")

    run(test, make())


def cart(version: int) -> Any:
    """The class as this version of a program has it, and registers it."""
    if version == 1:

        @npser.register(name="aiocache.Cart", version=1)
        @dataclass
        class Cart:
            total: float
    else:

        @npser.register(
            name="aiocache.Cart", version=2, upgrade=lambda fields, _: {"cents": int(fields["total"] * 100)}
        )
        @dataclass
        class Cart:  # type: ignore[no-redef]
            cents: int
            currency: str = "EUR"

    return Cart


def test_classes(make: Make) -> None:
    async def test(cache: Any) -> None:
        await cache.set("order", Order(1, ()))
        assert await cache.get("order") is None  # a class that was not named
        cache.serializer = NpserSerializer(unknown="placeholder")
        assert type(await cache.get("order")) is npser.Placeholder
        await cache.set("cart", cart(1)(1.5))
        new = cart(2)
        assert await cache.get("cart") == new(150, "EUR")
        await cache.set("cart", new(1))
        cart(1)
        assert await cache.get("cart") is None  # the old one has a field that is not stored, and no default for it

    run(test, make())


@pytest.mark.parametrize("kind", ["redis", "memcached"])
def test_a_server_that_starts_again_in_the_middle_is_empty(kind: str, request: pytest.FixtureRequest) -> None:
    pytest.importorskip(
        {"redis": "redis", "memcached": "aiomcache"}[kind], reason="what aiocache needs is not installed"
    )
    server = request.getfixturevalue(f"{kind}_server")

    async def test(cache: Any) -> None:
        await cache.set("key", (1, 2))
        assert await cache.get("key") == (1, 2)
        server.restart()
        for _ in range(5):  # each open connection finds out for itself
            with contextlib.suppress(Exception):  # of the client; they have no common base
                found = await cache.get("key")
                await cache.set("key", (3, 4))
                break
        assert found is None
        assert await cache.get("key") == (3, 4)

    run(test, Cache({"redis": Cache.REDIS, "memcached": Cache.MEMCACHED}[kind], endpoint=server.host, port=server.port,
                    serializer=NpserSerializer()))  # fmt: skip


def test_settings() -> None:
    caches.set_config({
        "default": {
            "cache": "aiocache.SimpleMemoryCache",
            "serializer": {
                "class": "npser.adapters.aiocache.NpserSerializer",
                "classes": ["fractions.Fraction"],
                "key": "a key of text, out of a file",
                "compress": "zlib",
            },
        }
    })  # fmt: skip

    async def test() -> None:
        cache = caches.get("default")
        await cache.set("key", (1, 2))
        assert await cache.get("key") == (1, 2)
        stored = await cache.raw("get", "key")
        assert npser.loads_signed(stored, b"a key of text, out of a file") == (1, 2)

    asyncio.run(test())
    with pytest.raises(TypeError, match="no option 'encoding'"):
        NpserSerializer(encoding="utf-8")


def test_an_answer_that_was_decoded_is_found_out() -> None:
    with pytest.raises(npser.DecodeError, match="decode_responses"):
        NpserSerializer().loads("text")
