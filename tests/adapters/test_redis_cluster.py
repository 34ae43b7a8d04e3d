"""Cache and AsyncCache over a Redis Cluster of three masters, all on the loopback."""

from __future__ import annotations

import asyncio
import math
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import npser
from npser.adapters.redis import Cache
from npser.adapters.redis_async import AsyncCache

redis = pytest.importorskip("redis", reason="the redis extra is not installed")

KEY = bytes(range(32))
NODES = 3
STARTS_WITHIN = 30


def free_ports() -> list[int]:
    """Ports whose cluster bus, 10,000 above, is free, too."""
    import socket

    found: list[int] = []
    for port in range(20_000 + os.getpid() % 97, 22_700, 97):  # both below those that systems hand out
        with socket.socket() as one, socket.socket() as bus:
            try:
                one.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
        found.append(port)
        if len(found) == NODES:
            return found
    return pytest.skip("no free ports for a cluster")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A port of a cluster that serves all slots."""
    import shutil

    program, cli = shutil.which("redis-server"), shutil.which("redis-cli")
    if program is None or cli is None:
        pytest.skip("redis-server and redis-cli are not installed")
    ports = free_ports()
    nodes = []
    for port in ports:
        folder: Path = tmp_path_factory.mktemp(f"node-{port}")
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
        command += ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"]
        nodes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    try:
        deadline = time.monotonic() + STARTS_WITHIN
        wait_for(lambda: all(redis.Redis(port=port).ping() for port in ports), deadline)
        addresses = [f"127.0.0.1:{port}" for port in ports]
        subprocess.run(
            [cli, "--cluster", "create", *addresses, "--cluster-yes"], check=True, capture_output=True, timeout=60
        )
        wait_for(lambda: all(is_ready(port) for port in ports), deadline)
        yield ports[0]
    finally:
        for node in nodes:
            node.kill()
            node.wait()


def is_ready(port: int) -> bool:
    facts = redis.Redis(port=port).cluster("info")
    return facts["cluster_state"] == "ok" and int(facts["cluster_known_nodes"]) == NODES


def wait_for(ready: Any, deadline: float) -> None:
    while time.monotonic() < deadline:
        try:
            if ready():
                return
        except redis.ConnectionError:
            pass
        time.sleep(0.02)
    pytest.fail("the cluster did not start")


@pytest.fixture
def client(cluster: int) -> Iterator[Any]:
    client = redis.RedisCluster(host="127.0.0.1", port=cluster)
    for node in client.get_primaries():
        client.flushall(target_nodes=node)
    yield client
    client.close()


KEYS = [f"key {i}" for i in range(50)]
PAGE = (files("npser") / "adapters" / "REDIS_CLUSTER.md").read_text(encoding="utf-8")


def test_what_the_page_shows(cluster: int, client: Any) -> None:
    found = re.search(r"<!-- run: cluster -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert found
    names: dict[str, Any] = {}
    exec(found[1], names)  # noqa: S102
    cache = names["cache_of"]("127.0.0.1", cluster)
    cache.set("a", (1, 2))
    assert Cache(client, namespace="shop").get("a") == (1, 2)
    cache.client.close()


def test_where_entries_are(client: Any) -> None:
    shop, tagged = Cache(client, namespace="shop"), Cache(client, namespace="{shop}")
    assert [cache.name("cart 7") for cache in (shop, tagged)] == [b"shop:cart 7", b"{shop}:cart 7"]
    assert slots(client, tagged, ["cart 7", "{x}", "y"]) == {client.keyslot("shop")}
    assert slots(client, shop, ["{user 7} cart", "{user 7} name"]) == {client.keyslot("user 7")}
    chosen = [("cart", f"{{x}} {i}") for i in range(50)]
    assert len(slots(client, shop, chosen)) > 40


def slots(client: Any, cache: Any, keys: list[Any]) -> set[int]:
    return {client.keyslot(cache.name(key)) for key in keys}


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "signed"])
def test_many_entries_across_slots(client: Any, key: bytes | None) -> None:
    cache = Cache(client, namespace="shop", key=key)
    assert len(slots(client, cache, KEYS)) > 40
    cache.mset({name: {"n": (i, None)} for i, name in enumerate(KEYS)}, ttl=60)
    assert cache.mget([*KEYS, "no"], "miss") == [*({"n": (i, None)} for i in range(50)), "miss"]
    assert 59 < (cache.ttl("key 7") or 0) <= 60
    assert sum(client.dbsize(target_nodes=node) > 0 for node in client.get_primaries()) == NODES
    assert cache.delete(*KEYS, "no") == 50
    assert cache.mget(KEYS[:2]) == [None, None]
    assert cache.mget([]) == []


def test_a_namespace_in_braces_is_one_slot(client: Any) -> None:
    cache = Cache(client, namespace="{shop}")
    keys = [*KEYS, ("a", 1)]
    assert len(slots(client, cache, keys)) == 1
    cache.mset((name, i) for i, name in enumerate(keys))
    assert cache.mget(keys) == list(range(51))
    assert client.mget([cache.name(name) for name in KEYS[:2]]) == [b"0", b"1"]  # which needs one slot
    assert cache.name("a") == b"{shop}:a"


def test_a_lock_is_in_the_slot_of_its_entry_under_a_tag(client: Any) -> None:
    cache = Cache(client, namespace="{shop}")
    assert client.keyslot(cache.lock_name(cache.name("a"))) == client.keyslot(cache.name("a"))


def test_all_other_verbs(client: Any) -> None:
    cache = Cache(client, namespace="shop")
    cache.set("a", [1], ttl=60)
    assert cache.get("a") == [1]
    assert cache.touch("a", ttl=None)
    assert cache.ttl("a") == math.inf
    assert cache.touch("a", ttl=5)
    assert not cache.touch("no")
    assert [cache.incr("n"), cache.incr("n", 4), cache.incr("m", ttl=60), cache.incr("m", -3)] == [1, 5, 1, -2]
    assert 59 < (cache.ttl("m") or 0) <= 60
    assert cache.get_or_set("b", lambda: {"made": True}) == cache.get_or_set("b", dict) == {"made": True}
    client.set("shop:a", npser.dumps([1])[:-1])
    assert cache.get("a", "miss") == "miss"


def test_twenty_threads_make_one_value(client: Any) -> None:
    cache = Cache(client, namespace="s")
    made: list[int] = []
    results: list[Any] = []

    def make() -> int:
        made.append(1)
        time.sleep(0.1)
        return len(made)

    threads = [threading.Thread(target=lambda: results.append(cache.get_or_set("a", make))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1] * 20
    assert made == [1]


def test_an_entry_under_another_name_is_a_miss(client: Any) -> None:
    cache = Cache(client, namespace="users", key=KEY)
    cache.set("admin", ["all"])
    client.set("users:guest", client.get("users:admin"))
    assert cache.mget(["guest", "admin"], "miss") == ["miss", ["all"]]


def test_slots_move_while_the_cache_is_in_use(cluster: int, client: Any) -> None:
    cache = Cache(client, namespace="moving", key=KEY)
    cache.mset({name: [i] for i, name in enumerate(KEYS)})
    moved = client.keyslot(cache.name(KEYS[0]))
    giver = client.nodes_manager.get_node_from_slot(moved)
    taker = next(node for node in client.get_primaries() if node.name != giver.name)
    ids = {node.name: client.cluster_myid(node) for node in (giver, taker)}
    ids = {name: one.decode() if isinstance(one, bytes) else one for name, one in ids.items()}
    with redis.Redis(port=giver.port) as old, redis.Redis(port=taker.port) as new:
        new.execute_command("CLUSTER SETSLOT", moved, "IMPORTING", ids[giver.name])
        old.execute_command("CLUSTER SETSLOT", moved, "MIGRATING", ids[taker.name])
        assert cache.get(KEYS[0]) == [0]
        old.migrate("127.0.0.1", taker.port, cache.name(KEYS[0]), 0, 5000)
        assert cache.get(KEYS[0]) == [0]  # ASK
        for node in (new, old):
            node.execute_command("CLUSTER SETSLOT", moved, "NODE", ids[taker.name])
        assert cache.get(KEYS[0]) == [0]  # MOVED
    assert cache.mget(KEYS) == [[i] for i in range(50)]


def test_a_client_that_decodes_is_refused(cluster: int) -> None:
    client = redis.RedisCluster(host="127.0.0.1", port=cluster, decode_responses=True)
    with pytest.raises(ValueError, match="decode_responses"):
        Cache(client)
    client.close()


def test_the_asynchronous_cache(cluster: int, client: Any) -> None:
    async def work() -> None:
        other = redis.asyncio.RedisCluster(host="127.0.0.1", port=cluster)
        cache = AsyncCache(other, namespace="shop", key=KEY, ttl=60)
        try:
            await cache.mset({name: {"n": (i, None)} for i, name in enumerate(KEYS)})
            assert await cache.mget([*KEYS, "no"], "miss") == [*({"n": (i, None)} for i in range(50)), "miss"]
            assert Cache(client, namespace="shop", key=KEY).get("key 7") == {"n": (7, None)}
            assert await cache.delete(*KEYS) == 50
            made: list[int] = []

            async def make() -> int:
                made.append(1)
                await asyncio.sleep(0.05)
                return len(made)

            assert await asyncio.gather(*(cache.get_or_set("a", make) for _ in range(20))) == [1] * 20
            assert 59 < (await cache.ttl("a") or 0) <= 60
            assert await cache.touch("a", ttl=None)
            plain = AsyncCache(other, namespace="n")
            assert [await plain.incr("m", ttl=60), await plain.incr("m", 2)] == [1, 3]
        finally:
            await getattr(other, "aclose", other.close)()

    asyncio.run(work())
