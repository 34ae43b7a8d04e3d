"""diskcache: caches, queues and indexes on disk whose entries are npser's, whose numbers count."""

from __future__ import annotations

import datetime as dt
import io
import math
import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("diskcache", reason="the diskcache extra is not installed")

import numpy as np
from diskcache import Averager, Cache, Deque, FanoutCache, Index, RLock, memoize_stampede

import npser
from npser.adapters.diskcache import NpserDisk
from same import same


@dataclass(frozen=True)
class Order:
    id: int
    items: tuple[str, ...]


class ShopDisk(NpserDisk, classes=[Order], compress="zlib"):
    """A disk with options that a pickled cache finds again."""


ROWS = [{"id": i, "note": None if i % 3 else "tea\r\nmilk"} for i in range(3000)]

VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "int": -7,
    "least": -(1 << 63),
    "big": 1 << 63,
    "float": 0.25,
    "minus zero": -0.0,
    "nan": math.nan,
    "inf": math.inf,
    "text": "tea",
    "long text": "line\r\nline\n\ud800" * 5000,
    "bytes": b"\xc1\x01",
    "long bytes": bytes(range(256)) * 300,
    "bytearray": bytearray(b"x"),
    "tuple": (1, (True, {3}), 0.5),
    "rows": ROWS,
    "array": np.arange(30_000, dtype=">i4").reshape(100, 300),
    "when": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "order": Order(7, ("tea",)),
}

KEYS: list[Any] = [
    "text", "", "lone \ud800", "köln", b"bytes", b"", 7, -(1 << 63), 1 << 63, 0.5, math.inf, math.nan, True, None, (), (1,),
    (True,), (1.0,), ("a", "a"), ("a", ("b", None)), frozenset({1, 2}), dt.date(2026, 1, 1), Order(1, ("a",)),
]  # fmt: skip


@pytest.fixture(params=["cache", "fanout"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    made = (
        Cache(tmp_path, disk=ShopDisk) if request.param == "cache" else FanoutCache(tmp_path, shards=3, disk=ShopDisk)
    )
    with made:
        yield made


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back_as_they_were(cache: Any, name: str, tmp_path: Path) -> None:
    value = VALUES[name]
    cache["key"] = value
    assert same(cache["key"], value)
    assert same(cache.get("key", tag=True, expire_time=True), (value, None, None))
    assert cache.add("key", "other") is False
    assert same(cache.pop("key"), value)
    assert "key" not in cache and cache.get("key", default="none") == "none"
    assert not list(cache.check())
    assert not list(tmp_path.rglob("*.val"))  # popped with its file


def test_keys_are_told_apart_and_come_back(cache: Any) -> None:
    for number, key in enumerate(KEYS):
        cache[key] = number
    for number, key in enumerate(KEYS):
        assert cache[key] == number, key
        assert key in cache
    found = sorted(cache, key=repr)
    assert same(found, sorted(KEYS, key=repr))
    assert len(cache) == len(KEYS)
    for key in KEYS:
        del cache[key]
    assert len(cache) == 0


def test_equal_keys_are_one_key(cache: Any) -> None:
    word = "".join(["a", "b"])
    cache[(word, word)] = "the same object twice"  # pickle writes this one in another way than the next
    assert cache["ab", "".join(["a", "b"])] == "the same object twice"
    cache[frozenset(["x", "y", "z"])] = 1
    assert cache[frozenset(["z", "y", "x"])] == 1


def test_numbers_count(cache: Any) -> None:
    cache["visits"] = 5
    assert cache.incr("visits") == 6
    assert cache.incr("visits", 10) == 16
    assert cache.decr("visits", 20) == -4
    assert same(cache["visits"], -4)
    assert cache.incr("new", default=100) == 101
    assert same(cache["new"], 101)
    cache["share"] = 0.5
    assert cache.incr("share", 0.25) == 0.75
    with pytest.raises(KeyError):
        cache.incr("none", default=None)
    for no_number in (True, "5", None):
        cache["other"] = no_number
        with pytest.raises(TypeError):
            cache.incr("other")


def test_expiry_tags_and_touch(cache: Any) -> None:
    cache.set("short", ROWS, expire=0.05, tag="rows")
    cache.set("long", (1, 2), expire=100, tag="rows")
    cache.set("other", (3,), tag=7)
    assert cache.get("other", tag=True) == ((3,), 7)
    value, expires, tag = cache.get("long", expire_time=True, tag=True)
    assert value == (1, 2) and tag == "rows" and 90 < expires - time.time() <= 100
    assert cache.touch("long", expire=1000)
    time.sleep(0.06)
    assert cache.get("short") is None
    assert cache.expire() == 1
    assert cache.evict("rows") == 1
    assert cache.get("other") == (3,)
    assert cache.clear() == 1


def test_files_go_in_and_out_as_they_are(cache: Any) -> None:
    content = b"\x80\x05 no pickle, only looks like one" * 4000
    assert cache.set("file", io.BytesIO(content), read=True)
    with cache.read("file") as reader:
        assert reader.read() == content
    with cache.get("file", read=True) as reader:
        assert reader.read() == content
    assert cache["file"] == content
    cache["value"] = ROWS
    assert cache.get("value", read=True) == ROWS  # was no file
    with pytest.raises(KeyError):
        cache.read("missing")


def test_a_function_is_called_once(cache: Any) -> None:
    calls: list[Any] = []

    @cache.memoize(tag="orders")
    def order(number: Any, *, items: tuple[str, ...] = ()) -> Order:
        calls.append(number)
        return Order(number, items)

    assert [order(1), order(1), order(1, items=("tea",))] == [Order(1, ()), Order(1, ()), Order(1, ("tea",))]
    assert calls == [1, 1]
    assert order.__cache_key__(1) in cache
    order(Order(1, ())), order(Order(1, ())), order(np.int64(1))
    assert calls == [1, 1, Order(1, ()), 1]


def test_a_function_is_called_once_for_each_type(cache: Any) -> None:
    calls: list[Any] = []

    @cache.memoize(typed=True, name="kind")
    def kind(value: Any) -> str:
        calls.append(value)
        return type(value).__name__

    assert [kind(1), kind(True), kind(1.0), kind(1), kind(True)] == ["int", "bool", "float", "int", "bool"]
    assert len(calls) == 3
    assert kind.__cache_key__(1) == ("kind", 1, None, int)
    keys = list(cache)
    assert ("kind", True, None, ("<class>", "builtins", "bool")) in keys
    assert all(key in cache for key in keys)  # the names stand for the classes


def test_recipes(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=ShopDisk) as cache:
        average = Averager(cache, "latency")
        average.add(0.25)
        average.add(0.75)
        assert average.get() == 0.5 and average.pop() == 0.5
        with RLock(cache, "lock"):
            assert cache.get("lock") is not None

        @memoize_stampede(cache, expire=10)
        def rows(n: int) -> list[dict[str, Any]]:
            return ROWS[:n]

        assert rows(3) == ROWS[:3] == rows(3)
        with cache.transact():
            cache["a"], cache["b"] = (1,), (2,)
        assert cache["a"] == (1,) and cache.peekitem() == ("b", (2,))


def test_queues(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=ShopDisk) as cache:
        for value in ((1, 2), Order(3, ()), ROWS):
            cache.push(value)
            cache.push(value, prefix="jobs", side="front", tag="t")
        assert cache.peek()[1] == (1, 2)
        assert [cache.pull()[1] for _ in range(3)] == [(1, 2), Order(3, ()), ROWS]
        assert cache.pull() == (None, None)
        assert cache.pull(prefix="jobs", side="back", tag=True)[0][1] == (1, 2)
        assert cache.peek(prefix="jobs")[1] == ROWS


def test_deque_and_index(tmp_path: Path) -> None:
    deque = Deque.fromcache(Cache(tmp_path / "deque", disk=ShopDisk, eviction_policy="none"), [(1, 2), "two", 3])
    deque.appendleft(Order(0, ()))
    assert list(deque) == [Order(0, ()), (1, 2), "two", 3]
    deque.rotate(1)
    assert deque[0] == 3 and deque.peek() == "two" and deque.popleft() == 3 and deque.pop() == "two"
    index = Index.fromcache(
        Cache(tmp_path / "index", disk=ShopDisk, eviction_policy="none"), {("a", 1): (1, 2), "b": None}
    )
    assert list(index.items()) == [(("a", 1), (1, 2)), ("b", None)]
    assert index.popitem(last=False) == (("a", 1), (1, 2)) and index.peekitem() == ("b", None)
    assert index.setdefault("c", Order(1, ())) == Order(1, ()) and len(index) == 2

    @index.memoize()
    def twice(number: int) -> tuple[int, ...]:
        return (number, number)

    assert twice(1) == (1, 1) == twice(1)


def test_parts_of_a_fanout_cache_have_the_same_disk(tmp_path: Path) -> None:
    with FanoutCache(tmp_path, shards=2, disk=ShopDisk) as cache:
        cache.deque("queue").append(Order(1, ()))
        cache.index("index")[("a", 1)] = Order(2, ())
        cache.cache("part")["key"] = Order(3, ())
        assert cache.deque("queue").pop() == Order(1, ())
        assert cache.index("index")[("a", 1)] == Order(2, ()) and cache.cache("part")["key"] == Order(3, ())


def test_a_cache_in_another_process_is_the_same_one(cache: Any) -> None:
    cache["key"] = Order(7, ("tea",))
    with pickle.loads(pickle.dumps(cache)) as other:  # as multiprocessing hands it over
        assert other["key"] == Order(7, ("tea",))
        assert type(other.disk) is ShopDisk if isinstance(other, Cache) else True


def test_what_cannot_be_kept_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=NpserDisk) as cache:
        with pytest.raises(npser.EncodeError, match="function"):
            cache["key"] = {"call": len, "back": test_queues}
        with pytest.raises(npser.EncodeError):
            cache[(test_queues,)] = 1
        assert len(cache) == 0
    with pytest.raises(TypeError, match="no option 'compres'"):
        NpserDisk.using(compres="zlib")
