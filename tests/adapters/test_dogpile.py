"""dogpile.cache: regions over memory, a dbm file, Redis and memcached, whose entries are npser's; and what others put there."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("dogpile.cache", reason="the dogpile extra is not installed")

import numpy as np
from dogpile.cache import CacheRegion, make_region
from dogpile.cache.api import NO_VALUE, CantDeserializeException

import npser
from npser.adapters.dogpile import Guard, serializers
from same import same

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))


@dataclass
class Order:
    id: int
    items: tuple[str, ...]
    placed: dt.datetime


ORDER = Order(7, ("tea", "milk"), dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC))

VALUES: dict[str, Any] = {
    "none": None,
    "false": False,
    "int": 7,
    "big": 1 << 80,
    "bar": "a|b|c",
    "bytes": b"|",
    "rows": [{"id": i, "note": None if i % 3 else "-"} for i in range(50)],
    "tuple": (1, (2, {3}), 0.5),
    "array": np.arange(12, dtype=">u2").reshape(3, 4),
    "when": dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    "order": ORDER,
}


def region_in(cache: dict[str, Any], **options: Any) -> CacheRegion:
    region = make_region(**serializers(**options))
    return region.configure("dogpile.cache.memory", arguments={"cache_dict": cache}, wrap=[Guard])


def entry(payload: bytes) -> bytes:
    """What dogpile keeps, with this in the place of what the serializer gave."""
    return json.dumps({"ct": time.time(), "v": 2}).encode() + b"|" + payload


@pytest.fixture(params=["memory", "memory_pickle", "dbm", "redis", "memcached"])
def region(request: pytest.FixtureRequest, tmp_path: Path) -> CacheRegion:
    arguments: dict[str, Any] = {}
    if request.param == "dbm":
        arguments = {"filename": str(tmp_path / "cache.dbm")}
    if request.param == "redis":
        arguments = {"url": request.getfixturevalue("redis_url"), "distributed_lock": True, "thread_local_lock": False}
    backend = f"dogpile.cache.{request.param}"
    if request.param == "memcached":
        pytest.importorskip("pymemcache", reason="pymemcache is not installed")
        server = request.getfixturevalue("memcached_server")
        arguments, backend = {"url": f"{server.host}:{server.port}"}, "dogpile.cache.pymemcache"
    region = make_region(name=request.node.name, **serializers(classes=[Order]))
    return region.configure(backend, arguments=arguments, wrap=[Guard])


def test_values_come_back_as_they_were(region: CacheRegion) -> None:
    for name, value in VALUES.items():
        region.set(f"values:{name}", value)
    for name, value in VALUES.items():
        assert same(region.get(f"values:{name}"), value), name
    assert region.get("values:missing") is NO_VALUE


def test_many_at_once(region: CacheRegion) -> None:
    region.set_multi({f"many:{name}": value for name, value in VALUES.items()})
    names = [f"many:{name}" for name in VALUES]
    assert same(region.get_multi([*names, "many:missing"]), [*VALUES.values(), NO_VALUE])
    region.delete_multi(names)
    assert region.get_multi(names) == [NO_VALUE] * len(names)


def test_a_function_is_called_once(region: CacheRegion) -> None:
    calls: list[int] = []

    @region.cache_on_arguments(namespace="once")
    def order(number: int) -> Order:
        calls.append(number)
        return Order(number, ("tea",), ORDER.placed)

    assert [order(1), order(1), order(2)] == [order(1), order(1), order(2)]
    assert calls == [1, 2]
    order.invalidate(1)
    assert order(1).id == 1 and calls == [1, 2, 1]
    assert order.refresh(2).id == 2 and calls == [1, 2, 1, 2]
    order.set(Order(9, (), ORDER.placed), 3)
    assert order(3).id == 9 and order.get(3).id == 9


def test_many_of_a_function_at_once(region: CacheRegion) -> None:
    calls: list[tuple[int, ...]] = []

    @region.cache_multi_on_arguments(namespace="multi")
    def squares(*numbers: int) -> list[tuple[int, int]]:
        calls.append(numbers)
        return [(number, number * number) for number in numbers]

    assert squares(1, 2) == [(1, 1), (2, 4)]
    assert squares(2, 3) == [(2, 4), (3, 9)]
    assert calls == [(1, 2), (3,)]


def test_one_thread_makes_what_all_wait_for(region: CacheRegion) -> None:
    made: list[int] = []
    found: list[Any] = []

    def make() -> tuple[int, ...]:
        made.append(1)
        time.sleep(0.2)
        return (1, 2)

    threads = [threading.Thread(target=lambda: found.append(region.get_or_create("stampede", make))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1] and found == [(1, 2)] * 5


def test_an_old_value_is_made_anew() -> None:
    region = region_in({})
    region.set("key", "old")
    time.sleep(0.01)
    assert region.get_or_create("key", lambda: "new", expiration_time=0.001) == "new"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda payload: payload[:-3],
    "empty": lambda payload: b"",
    "flipped": lambda payload: bytes([payload[0] ^ 1]) + payload[1:],
    "longer": lambda payload: payload + b"\0",
    "pickle": lambda payload: pickle.dumps("from before"),
    "json": lambda payload: b'"from before"',
    "text": lambda payload: b"hello",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("options", [{}, {"key": KEY}, {"checksum": "crc32"}, {"compress": "zlib"}], ids=str)
def test_what_is_poisoned_is_made_anew(damage: str, options: dict[str, Any]) -> None:
    cache: dict[str, Any] = {}
    region = region_in(cache, **options)
    region.set("key", VALUES["rows"])
    head, _, payload = cache["key"].partition(b"|")
    cache["key"] = head + b"|" + DAMAGES[damage](payload)
    assert region.get("key") is NO_VALUE
    assert region.get_multi(["key", "missing"]) == [NO_VALUE, NO_VALUE]
    assert region.get_or_create("key", lambda: (1, 2)) == (1, 2)
    assert region.get("key") == (1, 2)


def mutations(data: bytes, n: int) -> Iterator[bytes]:
    """The bytes changed in some places, cut, or with others in the middle."""
    rng = random.Random(8)
    for _ in range(n):
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(changed))
            changed[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        yield bytes(changed[: rng.choice([len(changed), rng.randrange(len(changed))])])


def test_any_bytes_at_all_are_a_value_or_a_miss() -> None:
    cache: dict[str, Any] = {}
    plain, sealed = region_in(cache, classes=[Order]), region_in(cache, classes=[Order], key=KEY)
    for region in (plain, sealed):
        region.set("key", [VALUES["rows"], ORDER])
        whole = cache["key"]
        for changed in mutations(whole, 300):
            cache["key"] = changed
            found = region.get("key")
            payload = changed.partition(b"|")[2]
            assert region is plain or found is NO_VALUE or payload == whole.partition(b"|")[2]


def test_the_reason_is_said_in_dogpiles_word() -> None:
    deserialize = serializers(key=KEY)["deserializer"]
    with pytest.raises(CantDeserializeException, match="sealed"):
        deserialize(npser.dumps(1))


@pytest.mark.parametrize("stored", [b"", b"|", b"hello", b"[]|x", b"{}|x", b'{"ct": "x", "v": 2}|x', b'{"ct": 1}|x',
                                    b"\xff|x", pickle.dumps(1), npser.dumps(1), b"[" * 5000, ("a tuple", {})])  # fmt: skip
def test_without_metadata_it_is_a_miss_for_the_guard(stored: object) -> None:
    cache: dict[str, Any] = {"key": stored}
    region = region_in(cache)
    assert region.get("key") is NO_VALUE
    assert region.get_or_create("key", lambda: 5) == 5
    cache["key"] = stored
    assert region.get_or_create_multi(["key"], lambda *keys: [6 for _ in keys]) == [6]


def test_the_wrong_key_opens_nothing_and_an_old_one_still_does() -> None:
    cache: dict[str, Any] = {}
    region_in(cache, key=OTHER).set("key", (1, 2))
    assert region_in(cache, key=KEY).get("key") is NO_VALUE
    assert region_in(cache).get("key") is NO_VALUE
    assert region_in(cache, key=[KEY, OTHER]).get("key") == (1, 2)
    assert region_in(cache, key=OTHER, context="elsewhere").get("key") is NO_VALUE


def test_pickles_from_before_are_read_only_if_that_is_said(tmp_path: Path) -> None:
    path = str(tmp_path / "cache.dbm")
    make_region().configure("dogpile.cache.dbm", arguments={"filename": path}).set("key", ORDER)

    def region(**options: Any) -> CacheRegion:
        return make_region(**serializers(**options)).configure("dogpile.cache.dbm", arguments={"filename": path})

    assert region().get("key") is NO_VALUE
    assert region(foreign="pickle").get("key") == ORDER
    with pytest.raises(npser.ForeignBytesError, match="pickle"):
        region(foreign="refuse").get("key")
    assert region(foreign=lambda data: len(data)).get("key") == len(pickle.dumps(ORDER))


def test_json_from_before_is_read_through() -> None:
    cache = {"key": entry(b'{"user": 7}')}
    assert region_in(cache, foreign="json.loads").get("key") == {"user": 7}
    assert region_in(cache).get("key") is NO_VALUE


def test_an_object_of_a_class_that_was_not_named_is_made_anew() -> None:
    cache: dict[str, Any] = {}
    region_in(cache, classes=[Order]).set("key", ORDER)
    assert region_in(cache).get("key") is NO_VALUE
    assert type(region_in(cache, unknown="placeholder").get("key")) is npser.Placeholder


def test_two_versions_of_a_class_at_once() -> None:
    def version(number: int) -> type:
        if number == 1:

            @npser.register(name="dogpile.Cart", version=1)
            @dataclass
            class Cart:
                total: float
        else:

            @npser.register(
                name="dogpile.Cart", version=2, upgrade=lambda fields, _: {"cents": int(fields["total"] * 100)}
            )
            @dataclass
            class Cart:  # type: ignore[no-redef]
                cents: int
                currency: str = "EUR"

        return Cart

    cache: dict[str, Any] = {}
    region = region_in(cache)
    old = version(1)
    region.set("key", old(1.5))
    assert region.get("key") == old(1.5)
    new = version(2)
    assert region.get("key") == new(150, "EUR")
    region.set("key", new(7, "USD"))
    version(1)
    assert region.get("key") is NO_VALUE  # the old one has a field that is not stored, and no default for it


def test_redis_that_starts_again_in_the_middle_is_empty(redis_server: Any, redis_url: str) -> None:
    region = make_region(**serializers()).configure("dogpile.cache.redis", arguments={"url": redis_url})
    region.set("key", (1, 2))
    assert region.get("key") == (1, 2)
    redis_server.restart()
    assert region.get_or_create("key", lambda: (3, 4)) == (3, 4)
    assert region.get("key") == (3, 4)


def test_a_client_that_decodes_answers_is_found_out(redis_url: str) -> None:
    arguments = {"url": redis_url, "connection_kwargs": {"decode_responses": True}}
    region = make_region(**serializers()).configure("dogpile.cache.redis", arguments=arguments, wrap=[Guard])
    region.set("key", (1, 2))
    with pytest.raises(UnicodeDecodeError):  # by redis-py, before anybody else sees the bytes
        region.get("key")


def test_unknown_options_are_refused() -> None:
    with pytest.raises(TypeError, match="no option 'compres'"):
        serializers(compres="zlib")
