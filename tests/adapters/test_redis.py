"""Cache over redis-py, against a real server."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

import npser
from npser.adapters.redis import Cache
from same import same

redis = pytest.importorskip("redis", reason="the redis extra is not installed")

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))

VALUES: list[Any] = [
    None, True, False, 0, -7, (1 << 63) - 1, -(1 << 63), 1 << 63, 10**50, 1.0, -0.0, "", "12", "köln", b"", b"12", [], (), {},
    {"a": (1, {2}, [True, None]), 3: datetime(2026, 11, 30, 12)}, [{"id": i, "price": i / 4} for i in range(50)],
]  # fmt: skip

FOREIGN = {
    "pickle": pickle.dumps({"a": 1}),
    "json": b'{"a": 1}',
    "json text": b'"a"',
    "msgpack": bytes.fromhex("81a16101"),
    "unknown": b"\xf7\x00\x01",
    "a float": b"1.5",
    "nothing": b"",
}

EITHER = pytest.mark.parametrize("key", [None, KEY], ids=["plain", "signed"])


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


@EITHER
def test_what_goes_in_comes_out(client: Any, key: bytes | None) -> None:
    cache = Cache(client, namespace="test", key=key, codec=npser.Codec(compress="zlib"))
    for value in VALUES:
        cache.set("one", value)
        assert same(cache.get("one", "miss"), value)
    cache.mset((i, value) for i, value in enumerate(VALUES))
    assert same(cache.mget(range(len(VALUES)), "miss"), VALUES)
    assert cache.mget([1, "no", 2], "miss") == [True, "miss", False]
    assert cache.get("no") is None
    assert cache.delete(0, 1, "no") == 2
    assert cache.mget([0, 1]) == [None, None]
    assert cache.mget([]) == []
    assert cache.delete() == 0
    cache.mset({})


def test_what_npser_refuses_leaves_the_entry_as_it_was(client: Any) -> None:
    cache = Cache(client)
    cache.set("a", 1)
    with pytest.raises(npser.EncodeError):
        cache.set("a", object())
    with pytest.raises(npser.EncodeError):
        cache.mset({"a": 2, "b": object()})
    assert cache.get("a") == 1


def test_names_are_namespaces_and_text_or_digests(client: Any) -> None:
    cache, bare = Cache(client, namespace="shop"), Cache(client)
    cache.set("köln", 1)
    bare.set("köln", 2)
    assert (client.get("shop:köln"), client.get("köln")) == (b"1", b"2")
    assert (cache.get("köln"), bare.get("köln"), Cache(client, namespace="other").get("köln")) == (1, 2, None)
    keys = ["1", 1, True, 1.0, (1,), [1], {"b": 1, "a": 2}, b"1", None, "\ud800", datetime(2026, 1, 1), ""]
    cache.mset((key, i) for i, key in enumerate(keys))
    assert cache.mget(keys) == list(range(len(keys)))
    assert cache.get({"a": 2, "b": 1}) == 6
    assert cache.name((1,)) == b"shop:\xc1" + npser.digest((1,), size=20).hex().encode()
    with pytest.raises(npser.EncodeError):
        cache.get(object())


def total(prices: list[float], rate: float = 1.0) -> float:
    return sum(prices) * rate


class Shop:
    def __init__(self, town: str) -> None:
        self.town = town

    def sign(self) -> str:
        return f"shop of {self.town}"


def test_keys_of_calls(client: Any) -> None:
    cache = Cache(client)
    key = cache.key(total, [1.0, 2.0], rate=2.0)
    assert key.startswith(f"{__name__}:total:")
    assert key == Cache(client, namespace="other").key(total, [1.0, 2.0], rate=2.0)
    different = [
        cache.key(total, [1.0, 2.0]), cache.key(total, [1.0], 2.0), cache.key(total, (1.0, 2.0), rate=2.0),
        cache.key(total, [1.0, 2.0], 2.0), cache.key(Shop("a").sign), cache.key(Shop("b").sign),
    ]  # fmt: skip
    assert len({key, *different}) == 7
    for unnamed in (lambda: 1, partial(total, [1.0])):
        with pytest.raises(ValueError, match="no name of its own"):
            cache.key(unnamed)


def test_memoize(client: Any) -> None:
    cache = Cache(client, namespace="memo")
    kept = cache.memoize(ttl=60)(total)
    assert kept.__name__ == "total"
    assert [kept([1.5, 2.0]), kept([1.5, 2.0]), kept([1.5], rate=2.0), kept([1.5], rate=2.0)] == [3.5, 3.5, 3.0, 3.0]
    assert cache.counters.made == 2
    assert 50 < (cache.ttl(cache.key(total, [1.5, 2.0])) or 0) <= 60
    with pytest.raises(ValueError, match="no name"):
        cache.memoize()(lambda: 1)


def test_time_to_live(client: Any) -> None:
    cache = Cache(client, ttl=timedelta(minutes=1))
    cache.set("default", 1)
    cache.set("stays", 1, ttl=None)
    cache.set("hour", 1, ttl=3600)
    cache.mset({"many": 1}, ttl=7200)
    cache.mset({"many default": 1})
    assert 59 < (cache.ttl("default") or 0) <= 60
    assert 59 < (cache.ttl("many default") or 0) <= 60
    assert 3599 < (cache.ttl("hour") or 0) <= 3600
    assert 7199 < (cache.ttl("many") or 0) <= 7200
    assert (cache.ttl("stays"), cache.ttl("no")) == (math.inf, None)
    assert cache.touch("hour")
    assert 59 < (cache.ttl("hour") or 0) <= 60
    assert cache.touch("hour", ttl=None)
    assert cache.touch("stays", ttl=None)
    assert cache.ttl("hour") == math.inf
    assert not cache.touch("no")
    assert not cache.touch("no", ttl=None)
    cache.set("short", 1, ttl=0.001)
    deadline = time.monotonic() + 5
    while cache.get("short") is not None:
        assert time.monotonic() < deadline


@pytest.mark.parametrize("ttl", [0, -1, math.nan, math.inf, True, timedelta(0)])
def test_a_time_to_live_of_nothing_is_refused(client: Any, ttl: Any) -> None:
    with pytest.raises(ValueError, match="a ttl is"):
        Cache(client).set("a", 1, ttl=ttl)
    with pytest.raises(ValueError, match="a ttl is"):
        Cache(client, ttl=ttl)


def test_counting(client: Any) -> None:
    cache = Cache(client, namespace="n")
    assert [cache.incr("a"), cache.incr("a", 5), cache.incr("a", -7)] == [1, 6, -1]
    assert same(cache.get("a"), -1)
    assert cache.ttl("a") == math.inf
    cache.set("b", (1 << 62))
    assert cache.incr("b", (1 << 62) - 1, ttl=60) == (1 << 63) - 1
    assert cache.ttl("b") == math.inf
    assert [cache.incr("c", ttl=60), cache.incr("c", (1 << 53) + 1, ttl=1)] == [1, (1 << 53) + 2]
    assert 59 < (cache.ttl("c") or 0) <= 60
    for by in (True, 1.0, "1"):
        with pytest.raises(TypeError, match="counts with ints"):
            cache.incr("a", by)  # type: ignore[arg-type]
    cache.set("bool", True)
    with pytest.raises(redis.ResponseError):
        cache.incr("bool")
    assert cache.get("bool") is True


def test_nobody_counts_in_sealed_entries(client: Any) -> None:
    cache = Cache(client, key=KEY)
    with pytest.raises(TypeError, match="without a key"):
        cache.incr("a")
    client.set("a", "12")
    assert cache.get("a", "miss") == "miss"
    cache.set("a", 12)
    assert same(cache.get("a"), 12)


@EITHER
@pytest.mark.parametrize("entry", FOREIGN.values(), ids=FOREIGN)
def test_foreign_bytes_are_a_miss(client: Any, entry: bytes, key: bytes | None) -> None:
    cache = Cache(client, key=key)
    client.set("a", entry)
    assert cache.get("a", "miss") == "miss"
    assert cache.mget(["a"], "miss") == ["miss"]
    assert cache.get_or_set("a", lambda: "made") == "made"
    assert cache.get("a") == "made"


def test_foreign_bytes_are_read_where_that_is_asked_for(client: Any) -> None:
    client.set("json", b'{"a": 1}')
    client.set("pickle", pickle.dumps({"a": (1,)}))
    assert Cache(client, foreign=json.loads).mget(["json", "pickle"], "miss") == [{"a": 1}, "miss"]
    assert Cache(client, foreign="pickle").mget(["json", "pickle"], "miss") == ["miss", {"a": (1,)}]
    assert Cache(client, foreign="pickle").get_or_set("pickle", lambda: "made") == {"a": (1,)}
    with pytest.raises(npser.ForeignBytesError):
        Cache(client, foreign="refuse").get("json")
    msgpack = pytest.importorskip("msgpack", reason="msgpack is not installed")
    client.set("msgpack", msgpack.packb({"a": [1, 2]}))
    assert Cache(client, foreign=msgpack.unpackb).get("msgpack") == {"a": [1, 2]}


def test_what_is_no_string_in_redis_is_a_miss(client: Any) -> None:
    cache = Cache(client)
    client.rpush("a", "x")
    client.hset("b", "x", "y")
    assert cache.get("a", "miss") == "miss"
    assert cache.mget(["a", "b"], "miss") == ["miss", "miss"]
    assert cache.get_or_set("a", lambda: "made") == "made"
    cache.set("b", [1])
    assert cache.mget(["a", "b"]) == ["made", [1]]


def test_who_waits_refuses_an_entry_once(client: Any) -> None:
    cache = Cache(client)
    client.set("a", npser.dumps([1, 2, 3])[:-1])

    def make() -> str:
        time.sleep(0.3)
        return "made"

    assert run_in_threads(4, lambda: cache.get_or_set("a", make)) == ["made"] * 4
    assert cache.counters.refused == cache.counters.misses == 4


@EITHER
def test_truncated_entries_are_a_miss(client: Any, key: bytes | None) -> None:
    cache = Cache(client, key=key)
    cache.set("a", VALUES[-1])
    data = client.get("a")
    for cut in range(0, len(data), 7):
        client.set("a", data[:cut])
        assert cache.get("a", "miss") == "miss"
    assert cache.counters.refused + cache.counters.foreign == cache.counters.misses > 5
    assert cache.stats()["last_refusal"]


def test_a_wrong_key_is_a_miss_and_keys_are_rotated(client: Any) -> None:
    old, both, new, none = (Cache(client, key=key) for key in (KEY, [OTHER, KEY], OTHER, None))
    old.set("a", [1])
    assert (new.get("a"), none.get("a"), both.get("a")) == (None, None, [1])
    assert (new.counters.refused, none.counters.refused) == (1, 1)
    both.set("a", [2])
    assert (new.get("a"), old.get("a")) == ([2], None)
    none.set("a", [3])
    assert both.get("a") is None
    assert both.counters.foreign == 1


def test_an_entry_under_another_name_is_a_miss(client: Any) -> None:
    cache = Cache(client, namespace="users", key=KEY)
    cache.set("admin", {"rights": ["all"]})
    cache.set("guest", {"rights": []})
    client.set("users:guest", client.get("users:admin"))
    client.set("others:admin", client.get("users:admin"))
    client.set("admin", client.get("users:admin"))
    assert cache.get("admin") == {"rights": ["all"]}
    assert cache.mget(["guest"], "miss") == ["miss"]
    assert Cache(client, namespace="others", key=KEY).get("admin") is None
    assert Cache(client, key=KEY).get("admin") is None
    assert npser.loads_signed(client.get("users:admin"), KEY, context="redis:users:admin") == {"rights": ["all"]}


def test_clients_that_decode_are_refused(redis_url: str) -> None:
    with (
        redis.Redis.from_url(redis_url, decode_responses=True) as client,
        pytest.raises(ValueError, match="decode_responses"),
    ):
        Cache(client)
    pool = redis.ConnectionPool.from_url(f"{redis_url}?decode_responses=True")
    with redis.Redis(connection_pool=pool) as client, pytest.raises(ValueError, match="decode_responses"):
        Cache(client)


def test_clients_of_the_other_kind_are_refused(redis_url: str) -> None:
    from redis import asyncio

    with pytest.raises(TypeError, match="AsyncCache"):
        Cache(asyncio.Redis.from_url(redis_url))


def test_a_codec_with_a_seal_of_its_own_is_refused(client: Any) -> None:
    with pytest.raises(ValueError, match="give the key to the cache"):
        Cache(client, codec=npser.Codec(key=KEY))


def test_two_versions_of_a_class_at_once(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    @dataclass
    class Old:
        name: str
        age: int = 0

    @dataclass
    class New:
        name: str
        mails: tuple[str, ...] = ()
        active: bool = True

    Old.__qualname__ = New.__qualname__ = "User"
    old, new = (Cache(client, codec=npser.Codec(classes=[cls])) for cls in (Old, New))
    for key in ("one", "two"):
        old.set(key, [Old("ann", 7)] if key == "one" else Old("ann", 7))
        assert new.get(key) == ([New("ann")] if key == "one" else New("ann"))
        new.set(key, [New("bob", ("b@x",), False)] if key == "one" else New("bob", ("b@x",), False))
        assert old.get(key) == ([Old("bob")] if key == "one" else Old("bob"))
    none = Cache(client)
    with caplog.at_level("WARNING", "npser.adapters"):
        assert none.get("one", "miss") == "miss"
    assert "User" in str(none.stats()["last_refusal"])
    assert "User" in caplog.text
    assert type(Cache(client, codec=npser.Codec()).get("two")) is npser.Placeholder


def run_in_threads(count: int, work: Callable[[], Any]) -> list[Any]:
    results: list[Any] = []
    barrier = threading.Barrier(count)

    def run() -> None:
        barrier.wait()
        try:
            results.append(work())
        except Exception as error:
            results.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_twenty_threads_make_one_value(client: Any) -> None:
    caches = [Cache(client, namespace="s"), Cache(client, namespace="s")]
    made: list[int] = []

    def make() -> dict[str, int]:
        made.append(1)
        time.sleep(0.1)
        return {"n": len(made)}

    turn = iter(range(20))
    results = run_in_threads(20, lambda: caches[next(turn) % 2].get_or_set("a", make, ttl=60))
    assert results == [{"n": 1}] * 20
    assert sum(cache.counters.made for cache in caches) == 1
    assert sum(cache.counters.hits for cache in caches) == 19
    assert sum(cache.counters.waited for cache in caches) > 0
    assert client.keys() == [b"s:a"]  # and no lock is left


def test_none_is_a_value_that_is_kept(client: Any) -> None:
    cache = Cache(client)
    assert [cache.get_or_set("a", lambda: None) for _ in range(3)] == [None] * 3
    assert cache.counters.made == 1


def test_if_making_fails_the_next_one_makes(client: Any) -> None:
    cache = Cache(client)
    tries = iter(range(5))

    def make() -> str:
        if next(tries) < 2:
            raise LookupError("no")
        return "made"

    results = run_in_threads(5, lambda: cache.get_or_set("a", make))
    assert sorted(map(repr, results)) == ["'made'"] * 3 + ["LookupError('no')"] * 2
    assert client.keys() == [b"a"]


def test_a_lock_whose_holder_died_ends(client: Any) -> None:
    cache = Cache(client, lock_seconds=30, wait_seconds=0.05)
    client.set(cache.lock_name(cache.name("a")), b"somebody", px=60_000)
    assert cache.get_or_set("a", lambda: "made") == "made"  # by itself, after the wait
    assert cache.get("a") == "made"
    assert client.get(cache.lock_name(cache.name("a"))) == b"somebody"
    patient = Cache(client, wait_seconds=30)
    client.set(cache.lock_name(cache.name("b")), b"somebody", px=50)
    assert patient.get_or_set("b", lambda: "made") == "made"


def test_a_lock_of_somebody_else_is_not_released(client: Any) -> None:
    cache = Cache(client, lock_seconds=0.02)
    lock = cache.lock_name(cache.name("a"))

    def make() -> str:
        deadline = time.monotonic() + 5
        while client.get(lock) is not None:
            assert time.monotonic() < deadline
        client.set(lock, b"somebody")
        return "made"

    assert cache.get_or_set("a", make) == "made"
    assert client.get(lock) == b"somebody"


def test_a_server_restarted_in_mid_run(redis_server: Any, client: Any) -> None:
    cache = Cache(client, namespace="r", key=KEY)
    cache.set("a", [1])
    assert cache.get_or_set("b", lambda: "first") == "first"
    redis_server.stop()
    with pytest.raises(redis.ConnectionError):
        cache.get("a")
    with pytest.raises(redis.ConnectionError):
        cache.get_or_set("b", lambda: "never")
    redis_server.start()
    assert cache.get("a", "miss") == "miss"
    assert cache.get_or_set("b", lambda: "second") == "second"  # the script is new to this server, too
    cache.set("a", [2])
    redis_server.restart()  # while connections are open
    assert cache.mget(["a", "b"], "miss") == ["miss", "miss"]
    cache.mset({"a": [3]})
    assert cache.get("a") == [3]


def test_what_is_counted(client: Any) -> None:
    cache = Cache(client)
    cache.mset({"a": [1, 2], "b": "x"})
    cache.mget(["a", "b", "no"])
    stats = cache.stats()
    size = client.strlen("a") + client.strlen("b")
    assert (stats["hits"], stats["misses"], stats["hit_rate"]) == (2, 1, 2 / 3)
    assert stats["bytes_written"] == stats["bytes_read"] == size
    assert all(float(stats[name]) > 0 for name in ("server_seconds", "encode_seconds", "decode_seconds"))
    cache.counters.reset()
    assert set(cache.stats().values()) == {0, ""}


def test_the_adapter_imports_no_client() -> None:
    source = "import sys, npser.adapters.redis, npser.adapters.redis_async; print('redis' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
