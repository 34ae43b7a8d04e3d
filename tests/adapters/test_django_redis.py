"""django-redis over npser: the serializer, the client, and what is still there of the serializer before."""

from __future__ import annotations

import datetime as dt
import pickle
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import npser

pytest.importorskip("django_redis", reason="the django-redis extra is not installed")

sys.path.insert(0, str(Path(__file__).parent / "django_project"))

import redis
from django.core.cache import caches
from django.core.exceptions import ImproperlyConfigured
from teashop.running import open_shop

VALUE = {"at": dt.datetime(2026, 5, 1, tzinfo=dt.UTC), (1, "a"): [Decimal("1.50"), {2, 3}, b"\x00", None, True]}


@pytest.fixture(autouse=True)
def shop(redis_url: str) -> None:
    open_shop(redis_url)


@pytest.fixture
def raw(redis_url: str) -> Any:
    with redis.Redis.from_url(redis_url) as client:
        yield client


def same(found: Any, value: Any) -> bool:
    return type(found) is type(value) and repr(found) == repr(value) and found == value


@pytest.fixture(params=["redis", "redis serializer", "redis signed", "redis compressed"])
def cache(request: pytest.FixtureRequest) -> Any:
    return caches[request.param]


def test_values_come_back_as_they_were(cache: Any) -> None:
    for value in (VALUE, None, True, False, 0, -1, 1 << 63, -(10**30), 0.5, "7", b"7", "", b"", [], {}, (), ["x" * 999]):
        cache.set("a", value)
        assert same(cache.get("a", "default"), value)
    assert cache.get("b") is None
    assert cache.get("b", 7) == 7


def test_many(cache: Any) -> None:
    cache.set_many({"a": VALUE, "b": 2, "c": True, "none": None})
    found = cache.get_many(["a", "b", "c", "d", "none"])
    assert found == {"a": VALUE, "b": 2, "c": True, "none": None}
    assert found["c"] is True
    assert cache.get_many([]) == {}
    cache.delete_many(["a", "b"])
    assert cache.get_many(["a", "b", "c"]) == {"c": True}
    cache.clear()
    assert cache.get("c") is None


def test_ints_are_counted(cache: Any, raw: Any) -> None:
    cache.set("n", 5)
    assert raw.get(cache.make_key("n")) == b"5"
    assert (cache.incr("n"), cache.incr("n", 10), cache.decr("n", 3), cache.get("n")) == (6, 16, 13, 13)
    with pytest.raises(ValueError):
        cache.incr("missing")
    cache.set("big", (1 << 63) - 1)
    assert cache.incr("big") == 1 << 63
    cache.set("flag", True)
    assert cache.get("flag") is True


def test_the_rest_of_the_interface(cache: Any) -> None:
    assert cache.add("a", VALUE)
    assert not cache.add("a", 1)
    assert same(cache.get("a"), VALUE)
    assert cache.set("x", VALUE, nx=True) and not cache.set("x", 1, nx=True)
    assert cache.set("x", [VALUE], xx=True) and not cache.set("y", 1, xx=True)
    assert cache.touch("a", 50) and not cache.touch("b", 50)
    assert 0 < cache.ttl("a") <= 50
    assert cache.persist("a") and cache.ttl("a") is None
    assert cache.expire("a", 30) and 0 < cache.ttl("a") <= 30
    assert cache.has_key("a") and "b" not in cache
    assert same(cache.get_or_set("c", lambda: VALUE), VALUE)
    assert same(cache.get_or_set("c", 1), VALUE)
    cache.set("v", VALUE, version=2)
    assert cache.get("v") is None
    assert cache.incr_version("v", version=2) == 3
    assert same(cache.get("v", version=3), VALUE)
    assert cache.delete("v", version=3) and not cache.delete("v", version=3)
    assert sorted(cache.keys("*")) == ["a", "c", "x"]
    assert cache.delete_pattern("*") == 3


def test_sets_lists_and_hashes(cache: Any) -> None:
    if not hasattr(cache, "sadd"):
        pytest.skip("django-redis 5 has no sets")
    assert cache.sadd("s", "tea", (1, 2), 3) == 3
    assert cache.sadd("s", (1, 2)) == 0
    assert cache.sismember("s", "tea") and not cache.sismember("s", "milk")
    assert cache.smembers("s") == {"tea", (1, 2), 3}
    cache.hset("h", "x", VALUE)
    assert (cache.hexists("h", "x"), cache.hlen("h"), cache.hkeys("h")) == (True, 1, ["x"])
    assert cache.zadd("z", {"tea": 1.0, 5: 2.0}) == 2
    assert cache.zrange("z", 0, -1) == ["tea", 5]


def test_a_lock_and_the_names_of_keys(cache: Any) -> None:
    with cache.lock("lock", timeout=5):
        assert "lock" in cache
    assert "lock" not in cache
    cache.set("a", VALUE)
    assert list(cache.iter_keys("*")) == ["a"]


# what cannot be read


@pytest.mark.parametrize(
    "poison", [b"", b"\xc1", b"rubbish", b"{}", b"\xff" * 40, pickle.dumps(VALUE), "truncated", "sealed"]
)
def test_what_cannot_be_read_is_a_miss(poison: Any, raw: Any) -> None:
    cache = caches["redis"]
    caches["redis signed" if poison == "sealed" else "redis"].set("a", VALUE)
    key = cache.make_key("a")
    if poison != "sealed":
        raw.set(key, raw.get(key)[:-3] if poison == "truncated" else poison)
    cache.set_many({"b": 2, "none": None})
    assert cache.get("a") is None
    assert cache.get("a", "default") == "default"
    assert cache.get("none", "default") is None
    assert cache.get_many(["a", "b", "none"]) == {"b": 2, "none": None}
    assert caches["redis serializer"].get("a", "default") is None
    with pytest.raises(ValueError):
        cache.incr_version("a")
    assert same(cache.get_or_set("a", lambda: VALUE), VALUE)
    assert same(cache.get("a"), VALUE)


def test_every_truncation_is_a_miss(raw: Any) -> None:
    for name in ("redis", "redis signed", "redis compressed"):
        cache = caches[name]
        cache.set("a", [VALUE] * 20)
        entry = raw.get(cache.make_key("a"))
        for cut in range(0, len(entry), max(1, len(entry) // 50)):
            raw.set(cache.make_key("a"), entry[:cut])
            assert cache.get("a", "miss") == "miss"


def test_add_leaves_what_can_be_read(raw: Any) -> None:
    for name in ("redis", "redis compressed"):
        cache = caches[name]
        for value in (7, 10**30, None, True, VALUE, ["x" * 999]):
            cache.set("a", value)
            assert not cache.add("a", 1)
            assert same(cache.get("a"), value)
        raw.set(cache.make_key("a"), b"rubbish", ex=1000)
        assert cache.add("a", 1, timeout=20)
        assert 0 < raw.ttl(cache.make_key("a")) <= 20


def test_a_sealed_cache_reads_nothing_else() -> None:
    caches["redis"].set("a", VALUE)
    assert caches["redis signed"].get("a", "miss") == "miss"
    caches["redis signed"].set("a", VALUE)
    assert caches["redis"].get("a", "miss") == "miss"
    assert same(caches["signed"].get("a"), VALUE)  # Django's own cache, with the same key


def test_a_switch_without_a_flush() -> None:
    old, new, reading = caches["redis pickle"], caches["redis"], caches["redis unpickling"]
    old.set_many({"a": VALUE, "n": 7, "none": None})
    assert new.get("a", "miss") == "miss"
    assert (new.get("n"), new.incr("n")) == (7, 8)
    assert same(reading.get("a"), VALUE)
    assert reading.get_many(["a", "n", "none"]) == {"a": VALUE, "n": 8, "none": None}
    assert not reading.add("a", 1)
    reading.set("a", [VALUE])
    assert new.get("a") == [VALUE]


# classes


def test_objects_of_listed_classes(raw: Any, caplog: pytest.LogCaptureFixture) -> None:
    from teashop.models import Grower, Steep, Tea

    tea = Tea(name="sencha", price=Decimal("3.10"), grower=Grower(name="Ann"))
    caches["redis"].set("a", [tea, Steep(2.5)])
    found, steep = caches["redis"].get("a")
    assert (type(found), found.name, found.price, found.grower.name, steep) == (
        Tea,
        "sencha",
        Decimal("3.10"),
        "Ann",
        Steep(2.5),
    )
    raw.set(caches["redis"].make_key("b"), npser.dumps(Foreigner()))
    assert caches["redis"].get("b", "miss") == "miss"
    assert "Foreigner" in caplog.text


class Foreigner:
    """Not listed."""


def test_two_versions_of_a_class_at_once() -> None:
    def first() -> type:
        @npser.register(name="teashop.Parcel", version=1)
        class Parcel:
            def __init__(self, grams: int) -> None:
                self.grams = grams

        return Parcel

    def second() -> type:
        @npser.register(name="teashop.Parcel", version=2, renames={"grams": "weight"})
        class Parcel:
            weight: int

        return Parcel

    old = first()
    try:
        caches["redis"].set("a", old(100))
        npser.unregister(old)
        new = second()
        found = caches["redis"].get("a")
        assert type(found) is new and vars(found) == {"weight": 100}
        caches["redis"].set("a", found)
        npser.unregister(new)
        old = first()
        assert vars(caches["redis"].get("a")) == {"weight": 100}
    finally:
        npser.unregister(old)


# faults of the server


def test_the_server_is_started_again(redis_server: Any) -> None:
    cache = caches["redis"]
    cache.set("a", VALUE)
    redis_server.restart()
    assert cache.get("a") is None
    cache.set("a", VALUE)
    assert same(cache.get("a"), VALUE)


def test_a_server_that_is_gone(redis_server: Any) -> None:
    cache, ignoring = caches["redis"], caches["redis ignoring"]
    cache.set("a", VALUE)
    redis_server.stop()
    try:
        with pytest.raises(redis.ConnectionError):
            cache.get("a", "default")
        with pytest.raises(redis.ConnectionError):
            cache.add("a", 1)
        assert ignoring.get("a", "default") == "default"
        assert not ignoring.add("a", 1)
        assert ignoring.get_many(["a"]) == {}
    finally:
        redis_server.start()
    assert cache.get("a", "default") == "default"


def test_text_instead_of_bytes_is_an_error_at_once() -> None:
    with pytest.raises(ImproperlyConfigured, match="decode_responses"):
        caches["redis text"].get("a")
