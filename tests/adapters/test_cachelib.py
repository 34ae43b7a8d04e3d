"""The caches of cachelib over npser: Redis, files, memory."""

from __future__ import annotations

import datetime as dt
import logging
import pickle
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import npser

pytest.importorskip("cachelib", reason="the cachelib extra is not installed")
pytest.importorskip("redis", reason="the cachelib extra is not installed")

import cachelib
import redis

from npser.adapters.cachelib import FileSystemCache, RedisCache, RedisSerializer, Serializer, SimpleCache

VALUE = {"at": dt.datetime(2026, 5, 1, tzinfo=dt.UTC), (1, "a"): [Decimal("1.50"), {2, 3}, b"\x00", None, True]}


@dataclass
class Order:
    id: int
    items: tuple[str, ...] = ()


def same(found: Any, value: Any) -> bool:
    return type(found) is type(value) and repr(found) == repr(value) and found == value


class Store:
    """A place for entries, and how to look at them and write into them from outside."""

    def __init__(self, kind: str, redis_url: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder
        self.client = redis.Redis.from_url(redis_url)

    def ours(self, **npser: Any) -> Any:
        if self.kind == "redis":
            return RedisCache(self.client, key_prefix="shop:", npser=npser)
        return FileSystemCache(str(self.folder), npser=npser)

    def theirs(self) -> Any:
        if self.kind == "redis":
            return cachelib.RedisCache(self.client, key_prefix="shop:")
        return cachelib.FileSystemCache(str(self.folder))

    def read(self, cache: Any, key: str) -> bytes:
        if self.kind == "redis":
            return self.client.get(f"shop:{key}")
        return Path(cache._get_filename(key)).read_bytes()[4:]

    def write(self, cache: Any, key: str, entry: bytes) -> None:
        if self.kind == "redis":
            self.client.set(f"shop:{key}", entry)
        else:
            path = Path(cache._get_filename(key))
            path.write_bytes(path.read_bytes()[:4] + entry)


@pytest.fixture(params=["redis", "files"])
def store(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> Any:
    store = Store(request.param, redis_url, tmp_path / "cache")
    yield store
    store.client.close()


@pytest.fixture(params=["redis", "files", "memory", "sealed", "compressed"])
def cache(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> Any:
    if request.param == "memory":
        return SimpleCache()
    store = Store("files" if request.param == "files" else "redis", redis_url, tmp_path / "cache")
    options = {"sealed": {"key": bytes(range(32))}, "compressed": {"compress": "zlib", "compress_from": 100}}
    return store.ours(**options.get(request.param, {}))


def test_values_come_back_as_they_were(cache: Any) -> None:
    for value in (VALUE, None, True, False, 0, -1, 1 << 63, -(10**30), 0.5, "7", b"7", "", b"", [], {}, (), ["x" * 999]):
        assert cache.set("a", value)
        assert same(cache.get("a"), value)
    assert cache.get("b") is None


def test_many(cache: Any) -> None:
    assert cache.set_many({"a": VALUE, "b": 2, "c": True}) == ["a", "b", "c"]
    assert cache.get_many("a", "b", "c", "d") == [VALUE, 2, True, None]
    assert cache.get_many("c")[0] is True
    assert cache.get_dict("a", "d") == {"a": VALUE, "d": None}
    assert len(cache.delete_many("a", "b")) == 2
    assert cache.get_many("a", "b", "c") == [None, None, True]
    assert cache.clear()
    assert cache.get("c") is None


@pytest.mark.parametrize("cache", ["redis", "files", "memory", "compressed"], indirect=True)
def test_ints_are_counted(cache: Any) -> None:
    cache.set("n", 5)
    assert (cache.inc("n"), cache.inc("n", 10), cache.dec("n", 3), cache.get("n")) == (6, 16, 13, 13)
    assert (cache.inc("new"), cache.get("new")) == (1, 1)
    assert (cache.dec("other", 2), cache.get("other")) == (-2, -2)
    cache.set("flag", True)
    assert cache.get("flag") is True


def test_with_a_key_ints_are_sealed_as_everything_is(redis_url: str, tmp_path: Path) -> None:
    store = Store("redis", redis_url, tmp_path)
    cache = store.ours(key=bytes(range(32)))
    cache.set("n", 5)
    assert store.read(cache, "n")[:1] == b"\xc1" and cache.get("n") == 5
    store.write(cache, "n", b"7")
    assert cache.get("n") is None, "anybody could have put it there"


def test_the_rest_of_the_interface(cache: Any) -> None:
    assert cache.add("a", VALUE)
    assert not cache.add("a", 1)
    assert same(cache.get("a"), VALUE)
    assert cache.has("a") and not cache.has("b")
    assert cache.delete("a")
    assert not cache.has("a")
    cache.set("ever", VALUE, timeout=0)
    assert same(cache.get("ever"), VALUE)
    cache.set("for a while", VALUE, timeout=30)
    assert same(cache.get("for a while"), VALUE)


def test_ints_are_text_in_redis_and_bools_are_not(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        cache = RedisCache(client)
        for value, text in ((7, b"7"), (-1, b"-1"), (0, b"0")):
            cache.set("n", value)
            assert client.get("n") == text
        for value in (True, 1.0, "7", 1 << 64):
            cache.set("n", value)
            assert client.get("n")[:1] == b"\xc1"
            with pytest.raises(redis.ResponseError):
                cache.inc("n")


def test_a_redis_of_its_own(redis_server: Any, redis_url: str) -> None:
    cache = RedisCache("127.0.0.1", redis_server.port, default_timeout=20, npser={"compress": "zlib"})
    cache.set("a", VALUE)
    assert same(cache.get("a"), VALUE)
    with redis.Redis.from_url(redis_url) as client:
        assert 0 < client.ttl("a") <= 20


def test_values_in_memory_are_copies() -> None:
    cache = SimpleCache(threshold=10)
    value = [1, [2]]
    cache.set("a", value)
    value[1].append(3)
    assert cache.get("a") == [1, [2]]
    for number in range(30):
        cache.set(str(number), number)
    assert cache.get("29") == 29


def test_files_are_counted_and_pruned(tmp_path: Path) -> None:
    cache = FileSystemCache(str(tmp_path), threshold=5)
    for number in range(20):
        cache.set(str(number), number)
    assert cache._file_count == len(list(cache._list_dir())) <= 7
    again = FileSystemCache(str(tmp_path), threshold=5)
    assert again._file_count == len(list(cache._list_dir()))


def test_what_cannot_be_encoded_is_an_error_and_leaves_nothing(store: Store) -> None:
    class Odd(str):
        pass

    cache = store.ours()
    with pytest.raises(npser.EncodeError, match="Odd"):
        cache.set("a", {"deep": [Odd("x")]})
    with pytest.raises(npser.EncodeError, match="Odd"):
        cache.add("a", Odd("x"))
    assert cache.get("a") is None and not cache.has("a")
    if store.kind == "files":
        assert not list(store.folder.glob("*.__wz_cache"))


# what cannot be read


@pytest.mark.parametrize("poison", [b"", b"\xc1", b"rubbish", b"!", b"!rubbish", b"{}", b"\xff" * 40, b" 12", b"1_0"])
def test_what_cannot_be_read_is_a_miss(store: Store, poison: bytes) -> None:
    cache = store.ours()
    cache.set_many({"a": VALUE, "b": 2})
    store.write(cache, "a", poison)
    assert cache.get("a") is None
    assert cache.get_many("a", "b") == [None, 2]
    cache.set("a", VALUE)
    assert same(cache.get("a"), VALUE)


@pytest.mark.parametrize("options", [{}, {"key": b"sixteen bytes or more"}, {"compress": "zlib"}, {"checksum": "crc32"}])
def test_every_truncation_is_a_miss(store: Store, options: dict[str, Any]) -> None:
    cache = store.ours(**options)
    cache.set("a", [VALUE] * 20)
    entry = store.read(cache, "a")
    for cut in range(0, len(entry), max(1, len(entry) // 40)):
        store.write(cache, "a", entry[:cut])
        assert cache.get("a") is None


def test_a_file_cut_short_in_its_head_is_a_miss(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = FileSystemCache(str(tmp_path))
    cache.set("a", VALUE)
    with caplog.at_level(logging.CRITICAL):
        for cut in range(4):
            Path(cache._get_filename("a")).write_bytes(b"\xff" * cut)
            assert cache.get("a") is None


def test_sealed_entries(store: Store) -> None:
    key, other = b"a key of 16 bytes", b"another such key"
    store.ours(key=key).set("a", VALUE)
    assert same(store.ours(key=key).get("a"), VALUE)
    assert same(store.ours(key=[other, key]).get("a"), VALUE)
    assert store.ours(key=other).get("a") is None
    assert store.ours().get("a") is None
    store.ours().set("a", VALUE)
    assert store.ours(key=key).get("a") is None


def test_the_reason_for_a_miss_is_logged(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    cache = store.ours()
    cache.set("a", VALUE)
    store.write(cache, "a", b"\xc1\xff\xff")
    assert cache.get("a") is None
    assert [(record.name, record.levelname) for record in caplog.records] == [("npser.adapters", "WARNING")]
    assert cache.serializer.entries.counters.refused == 1


# the serializer before


def test_a_switch_without_a_flush(store: Store) -> None:
    old = store.theirs()
    old.set_many({"a": VALUE, "n": 7, "flag": True})
    new, reading = store.ours(), store.ours(foreign="pickle")
    assert new.get("a") is None and new.get("flag") is None
    assert same(reading.get("a"), VALUE)
    assert reading.get_many("a", "n", "flag") == [VALUE, 7, True]
    if store.read(new, "n")[:2] != b"!\x80":  # as cachelib before 0.17 stored an int in Redis, and could not count it
        assert reading.inc("n") == 8
    with pytest.raises(npser.ForeignBytesError, match="pickle"):
        store.ours(foreign="refuse").get("a")
    reading.set("a", [VALUE])
    assert new.get("a") == [VALUE]
    assert old.get("flag") is True


def test_what_unpickles_reads_npser_first(store: Store) -> None:
    cache = store.ours(foreign="pickle", key=b"sixteen bytes or more")
    cache.set("a", VALUE)
    assert same(cache.get("a"), VALUE)
    store.write(cache, "a", pickle.dumps(VALUE)[:-4])
    assert cache.get("a") is None


def test_a_function_reads_the_entries_of_another_program(store: Store) -> None:
    cache = store.ours(foreign="json.loads")
    cache.set("a", 0.5)
    store.write(cache, "a", b'{"a": [1]}')
    assert cache.get("a") == {"a": [1]}


# classes


def test_objects_of_listed_classes(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    orders = [Order(1, ("tea",)), Order(2)]
    store.ours().set("a", orders)
    assert store.ours(classes=[Order]).get("a") == orders
    assert store.ours(classes={f"{__name__}:Order": Order}).get("a") == orders
    assert store.ours().get("a") is None
    assert "Order" in caplog.text
    assert type(store.ours(unknown="placeholder").get("a")[0]) is npser.Placeholder


def test_two_versions_of_a_class_at_once(store: Store) -> None:
    @dataclass
    class Old:
        id: int
        total: float

    @dataclass
    class New:
        id: int
        currency: str = "EUR"

    old = store.ours(classes={"test.Order": Old})
    new = store.ours(classes={"test.Order": New})
    npser.register(Old, name="test.Order")
    old.set("a", Old(1, 1.5))
    npser.unregister(Old)
    npser.register(New, name="test.Order")
    new.set("b", New(2, "CHF"))
    npser.unregister(New)
    assert new.get_many("a", "b") == [New(1, "EUR"), New(2, "CHF")]
    assert old.get("a") == Old(1, 1.5)
    assert old.get("b") is None  # there is no total, and none is made up


# faults of the server, and options


def test_the_server_is_started_again(redis_server: Any, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        cache = RedisCache(client)
        cache.set("a", VALUE)
        redis_server.restart()
        assert cache.get("a") is None
        cache.set("a", VALUE)
        assert same(cache.get("a"), VALUE)
        redis_server.stop()
        try:
            with pytest.raises(redis.ConnectionError):
                cache.get("a")
        finally:
            redis_server.start()
        assert cache.get("a") is None


def test_text_instead_of_bytes_is_an_error(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        cache = RedisCache(client)
        cache.set("n", 7)
        with pytest.raises(npser.DecodeError):
            cache.get("n")
    with pytest.raises(ValueError, match="decode_responses"):
        RedisCache("127.0.0.1", decode_responses=True)


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="compresss"):
        SimpleCache(npser={"compresss": "zlib"})
    with pytest.raises(ImportError, match="Nothing"):
        FileSystemCache(str(tmp_path), npser={"classes": ["fractions.Nothing"]})


def test_the_serializers_go_with_caches_of_ones_own(redis_url: str, tmp_path: Path) -> None:
    class Files(cachelib.FileSystemCache):
        serializer = Serializer(compress="zlib")

    class Redis(cachelib.RedisCache):
        serializer = RedisSerializer()

    with redis.Redis.from_url(redis_url) as client:
        for cache in (Files(str(tmp_path)), Redis(client)):
            cache.set("a", VALUE)
            assert same(cache.get("a"), VALUE)
            assert cache.inc("n") == 1
