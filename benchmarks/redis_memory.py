"""What values take in Redis, and how fast they are stored and read, under pickle, json, msgpack and npser.

    python benchmarks/redis_memory.py              # half a minute; writes results.json, RESULTS.md, README.md's section
    python benchmarks/redis_memory.py --quick      # a few rounds; prints, and writes nothing
    python benchmarks/redis_memory.py --layout     # measures nothing, lays out again what results.json holds

Strategy: it starts a redis-server of its own on a free port of the loopback, without persistence. Each serializer gets
a database and a connection, so that all entries have one name. Memory is what the server says (MEMORY USAGE). Times
are of whole round trips, in the rotation of `measure`: all serializers take turns, and what counts is the median. What
comes back is compared with what went in first. npser is measured through its own cache, the others through a bare
client.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import pickle
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from benchmarks import redis_tables, store  # noqa: E402
from benchmarks.measure import Plan, rotate, warmed  # noqa: E402
from benchmarks.peers import lowered, same  # noqa: E402
from benchmarks.shapes import OBJECTS, SHAPES, Shape  # noqa: E402
from benchmarks.tables import replaced  # noqa: E402

__all__ = ["main", "measure_value", "server"]

VALUES: Final = {"session_2_7kb": "a web session", "products_100": "100 products", "dto_1000": "1,000 objects"}
"""Name of the shape -> what it is called in the table."""

FULL: Final = Plan(rounds=151, least=11, budget=7.0)
QUICK: Final = Plan(rounds=3, least=3, budget=1.0)

NAME: Final = "benchmark:entry"
KEY: Final = bytes(range(32))


class Entry(NamedTuple):
    """One serializer over one connection, bound to one value: what stores it, what reads it, what must come back."""

    put: Callable[[Any], Any]
    fetch: Callable[[Any], Any]
    value: Any
    exact: bool


@contextmanager
def server() -> Iterator[int]:
    """A redis-server on a port of its own; the port."""
    program = shutil.which("redis-server")
    if program is None:
        raise SystemExit("redis-server is not installed (Debian: apt-get install redis-server)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline and process.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.02)
            yield port
        finally:
            process.kill()
            process.wait()


def _plain(client: Any, shape: Shape, dumps: Callable[[Any], Any], loads: Callable[[bytes], Any]) -> Entry:
    """A serializer that knows JSON's kinds of value; what it gets for objects was made before the clock starts."""
    value = shape.build()
    loses = bool(shape.traits & OBJECTS)
    return _bare(client, lowered(value) if loses else value, dumps, loads)._replace(exact=not loses)


def _bare(client: Any, value: Any, dumps: Callable[[Any], Any], loads: Callable[[bytes], Any]) -> Entry:
    return Entry(
        lambda given: client.set(NAME, dumps(given)), lambda _given: loads(client.get(NAME)), value, exact=True
    )


def _pickle(client: Any, shape: Shape) -> Entry:
    return _bare(client, shape.build(), partial(pickle.dumps, protocol=5), pickle.loads)


def _json(client: Any, shape: Shape) -> Entry:
    return _plain(client, shape, json.dumps, json.loads)


def _msgpack(client: Any, shape: Shape) -> Entry:
    import msgpack  # type: ignore[import-untyped]

    return _plain(client, shape, msgpack.packb, msgpack.unpackb)


def _npser(client: Any, shape: Shape, key: bytes | None = None) -> Entry:
    import npser
    from npser.adapters.redis import Cache

    cache = Cache(client, codec=npser.Codec(classes=shape.classes), key=key)
    return Entry(lambda given: cache.set(NAME, given), lambda _given: cache.get(NAME), shape.build(), exact=True)


SERIALIZERS: Final[dict[str, Callable[[Any, Shape], Entry]]] = {
    "pickle": _pickle,
    "json": _json,
    "msgpack": _msgpack,
    "npser": _npser,
    "npser, signed": partial(_npser, key=KEY),
}
"""Name -> what binds it, in the order of the table."""


def measure_value(port: int, shape: Shape, plan: Plan) -> dict[str, dict[str, Any]]:
    """What each serializer does with one value."""
    import redis

    clients = {name: redis.Redis(port=port, db=number) for number, name in enumerate(SERIALIZERS)}
    entries = {name: bind(clients[name], shape) for name, bind in SERIALIZERS.items()}
    found: dict[str, dict[str, Any]] = {}
    for name, entry in entries.items():
        entry.put(entry.value)
        found[name] = {
            "payload": clients[name].strlen(NAME),
            "memory": clients[name].memory_usage(NAME, samples=0),
            "exact": entry.exact,
            "same": same(entry.value, entry.fetch(None)),
        }
    tasks = {name: (warmed(entry.fetch, None), warmed(entry.put, entry.value)) for name, entry in entries.items()}
    rotate([task for pair in tasks.values() for task in pair], plan)
    for name, pair in tasks.items():
        for verb, task in zip(("get", "set"), pair, strict=True):
            found[name][verb] = store.rounded(statistics.median(task.samples))
        clients[name].close()
    return found


def run(plan: Plan) -> dict[str, Any]:
    import redis

    with server() as port, redis.Redis(port=port) as client:
        ping = warmed(lambda _: client.ping(), None)
        rotate([ping], plan)
        return {
            "server": client.info("server")["redis_version"],
            "client": redis.__version__,
            "parser": "with hiredis" if importlib.util.find_spec("hiredis") else "without hiredis",
            "ping": store.rounded(statistics.median(ping.samples)),
            "values": {about: measure_value(port, SHAPES[name], plan) for name, about in VALUES.items()},
        }


def write_readme(found: dict[str, Any], readme: Path = ROOT / "README.md") -> str:
    """Put the section between the markers of README.md; what was done."""
    text = readme.read_text(encoding="utf-8")
    text = replaced(text, redis_tables.section(found), redis_tables.BEGIN, redis_tables.END)
    if text is None:
        return f"README.md has no section between {redis_tables.BEGIN} and {redis_tables.END}: left alone"
    readme.write_text(text, encoding="utf-8")
    return "wrote the Redis section of README.md"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure what values take in Redis under several serializers.")
    parser.add_argument("--quick", action="store_true", help="a few rounds; prints, and writes nothing")
    parser.add_argument("--layout", action="store_true", help="measure nothing, lay out anew what results.json holds")
    parser.add_argument("--no-readme", action="store_true", help="leave README.md alone")
    parser.add_argument("--into", type=Path, default=store.HERE, metavar="FOLDER", help="where the results are kept")
    options = parser.parse_args(arguments)
    found = store.load(options.into)["redis"] if options.layout else run(QUICK if options.quick else FULL)
    print(redis_tables.section(found))
    if options.quick:
        print("quick run: nothing was written")
        return 0
    store.put("redis", found, options.into)
    if not options.no_readme and options.into == store.HERE:
        print(write_readme(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
