"""What MIGRATION.md says about switching a live cache holds: its code is run, release by release, on one server."""

from __future__ import annotations

import json
import pickle
import re
import sys
import zlib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import npser
from npser.adapters.entries import Entries
from npser.adapters.redis import Cache
from same import same

redis = pytest.importorskip("redis", reason="the redis extra is not installed")

PAGE = (files("npser") / "adapters" / "MIGRATION.md").read_text(encoding="utf-8")
VALUE = {"ids": (1, 2), "ok": True, 3: "drei"}


def code(name: str) -> dict[str, Any]:
    """What the block of that name defines."""
    found = re.search(rf"<!-- run: {name} -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert found
    names: dict[str, Any] = {"__name__": f"migration_{name}"}
    exec(found[1], names)  # noqa: S102
    return names


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    with redis.Redis.from_url(redis_url) as client:
        yield client


def test_a_rolling_switch_from_pickle(client: Any) -> None:
    page = code("cache")
    client.set("before", pickle.dumps(VALUE))
    page["write_a"](client, "a", VALUE, 60)
    assert pickle.loads(client.get("a")) == VALUE  # so the release before reads what A writes
    b, c = page["cache_b"](client), page["cache_c"](client)
    b.set("b", VALUE)
    for key in ("before", "a", "b"):
        assert same(page["read_a"](client, key), VALUE)
        assert same(b.get(key), VALUE)
    assert b.counters.foreign == 2
    assert c.mget(["before", "a", "b"], "miss") == ["miss", "miss", VALUE]
    assert c.get_or_set("a", lambda: "anew") == "anew"
    assert b.get("a") == "anew"


def test_other_serializers(client: Any) -> None:
    client.set("json", json.dumps([1, "a"]))
    client.set("zlib", zlib.compress(pickle.dumps(VALUE)))
    client.set("unsealed", npser.dumps(VALUE))
    assert Cache(client, foreign=json.loads).get("json") == [1, "a"]
    assert same(Cache(client, foreign=lambda data: pickle.loads(zlib.decompress(data))).get("zlib"), VALUE)
    assert same(Cache(client, key=bytes(32), foreign=npser.Codec().loads).get("unsealed"), VALUE)


def test_msgpack_and_the_ten_ints_that_are_text(client: Any) -> None:
    msgpack = pytest.importorskip("msgpack", reason="msgpack is not installed")
    cache = Cache(client, foreign=msgpack.unpackb)
    for value in ({"a": [1, None]}, [], "", "text", b"", 0, 47, 58, 127, 128, 12345, -1, 1 << 40, 1.5, None, True):
        client.set("a", msgpack.packb(value))
        assert same(cache.get("a", "miss"), value)
    told = []
    for value in range(-200, 70_000, 1):
        entry = msgpack.packb(value)
        if entry.isdigit():
            told.append(value)
    assert told == list(range(48, 58))


def test_json_is_read_whatever_it_holds(client: Any) -> None:
    cache = Cache(client, foreign=json.loads)
    for value in ({"a": [1, None]}, [], "", "12", 0, 48, -5, 10**30, 1.5, 1e300, None, True, False):
        client.set("a", json.dumps(value))
        assert same(cache.get("a", "miss"), value)


@pytest.mark.parametrize("key", [None, bytes(32)], ids=["plain", "signed"])
@pytest.mark.parametrize("namespace", ["", "shop"])
def test_entries_without_a_time_to_live_are_walked_over(client: Any, namespace: str, key: bytes | None) -> None:
    walk = code("walk")["walk"]
    prefix = f"{namespace}:" if namespace else ""
    cache = Cache(client, namespace=namespace, foreign="pickle", key=key)
    client.set(f"{prefix}old", pickle.dumps(VALUE))
    client.set(f"{prefix}short", pickle.dumps([1]), ex=60)
    client.set(f"{prefix}garbage", b"\x80\x05garbage")
    client.set(f"{prefix}counter", b"12")
    client.rpush(f"{prefix}list", "a")
    cache.set("new", VALUE)
    cache.set((1, 2), VALUE)
    assert walk(cache, prefix) == 2
    assert walk(cache, prefix) == 0
    after = Cache(client, namespace=namespace, key=key)
    assert same(after.mget(["old", "short", "new", (1, 2), "garbage"], "miss"), [VALUE, [1], VALUE, VALUE, "miss"])
    assert 50 < (after.ttl("short") or 0) <= 60
    assert client.get(f"{prefix}counter") == b"12"


def test_what_the_table_says() -> None:
    json_entry, pickled = b'{"a": 1}', pickle.dumps(VALUE)
    assert Entries(npser.Codec()).loads(json_entry, miss="miss") == "miss"
    assert Entries(npser.Codec(), foreign=json.loads).loads(json_entry, miss="miss") == {"a": 1}
    assert same(Entries(npser.Codec(), foreign="pickle").loads(pickled, miss="miss"), VALUE)
    with pytest.raises(npser.ForeignBytesError):
        Entries(npser.Codec(), foreign="refuse").loads(pickled, miss="miss")
    with pytest.raises(pickle.UnpicklingError, match=r"invalid load key, '\\xc1'"):
        pickle.loads(npser.dumps(VALUE))


def test_cachelib(redis_server: Any, client: Any) -> None:
    cachelib = pytest.importorskip("cachelib", reason="cachelib is not installed")
    page = code("cachelib")
    address = redis_server.host, redis_server.port
    before, a, b, c = cachelib.RedisCache(*address), *(page[f"cache_{name}"](*address) for name in "abc")
    before.set("old", VALUE)
    before.set("n", 7)
    a.set("a", VALUE)
    a.set("m", 8)
    b.set("b", VALUE)
    client.set("damaged", npser.dumps(VALUE)[:-1])
    assert same([before.get("a"), before.get("m"), a.inc("m")], [VALUE, 8, 9])
    keys = ("old", "a", "b", "n", "m", "damaged", "no")
    for cache in (a, b):
        assert same([cache.get(key) for key in keys], [VALUE, VALUE, VALUE, 7, 9, None, None])
    assert same([c.get(key) for key in keys], [None, None, VALUE, 7, 9, None, None])


def open_shop(redis_url: str) -> None:
    """The Django project of the tests, since Django cannot be configured twice in a process."""
    pytest.importorskip("django", reason="Django is not installed")
    sys.path.insert(0, str(Path(__file__).parent / "django_project"))
    from teashop import running

    running.open_shop(redis_url)


def test_django(redis_url: str) -> None:
    open_shop(redis_url)
    from django.core.cache.backends.redis import RedisCache as Django
    from django.test.utils import override_settings

    from npser.adapters.django import RedisCache

    page = code("django")
    with override_settings(NPSER={"foreign": "pickle"}):
        before = Django(redis_url, {})
        a = RedisCache(redis_url, {"OPTIONS": {"serializer": page["StillWritesPickles"]}})
        b = RedisCache(redis_url, {})
        before.set("old", VALUE)
        a.set("a", VALUE)
        b.set("b", VALUE)
        a.set("n", 7)
        assert same([before.get("a"), before.get("n")], [VALUE, 7])
        for cache in (a, b):
            assert same([cache.get(key) for key in ("old", "a", "b", "n")], [VALUE, VALUE, VALUE, 7])
    with override_settings(NPSER={}):
        c = RedisCache(redis_url, {})
        assert same([c.get(key, "miss") for key in ("old", "a", "b", "n")], ["miss", "miss", VALUE, 7])


def test_django_redis(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_shop(redis_url)
    pytest.importorskip("django_redis", reason="django-redis is not installed")
    from django_redis.cache import RedisCache

    module = ModuleType("caching_of_release_a")
    vars(module).update(code("django_redis"))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    client = "npser.adapters.django_redis.Client"
    serializers = {"a": f"{module.__name__}.StillWritesPickles", "b": "npser.adapters.django_redis.Serializer"}

    def cache(name: str, **options: Any) -> Any:
        options |= {"CLIENT_CLASS": client, "SERIALIZER": serializers[name]}
        return RedisCache(redis_url, {"OPTIONS": options})

    before = RedisCache(redis_url, {"OPTIONS": {}})
    a, b, c = (cache("a", NPSER={"foreign": "pickle"}), cache("b", NPSER={"foreign": "pickle"}), cache("b"))
    before.set("old", VALUE)
    a.set("a", VALUE)
    b.set("b", VALUE)
    assert same(before.get("a"), VALUE)
    for cache_of_both in (a, b):
        assert same([cache_of_both.get(key) for key in ("old", "a", "b")], [VALUE] * 3)
    assert same([c.get(key, "miss") for key in ("old", "a", "b")], ["miss", "miss", VALUE])
