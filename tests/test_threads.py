"""Many threads at once: no state but caches, and caches that may be filled twice but never wrongly.

    python tests/test_threads.py 60          for so many seconds

Strategy: every thread does everything, in an order of its own, on values whose bytes and contents are known from
before, while the shared caches are small, forget what they hold, and learn it anew. A wrong value, other bytes and any
exception count.
"""

from __future__ import annotations

import dataclasses
import gc
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parent)]

import pytest

import npser
from npser import encoder
from npser.shapes import build, documents, node, writer
from npser.shapes.cache import ShapeCache
from npser.shapes.keysets import KeySets
from npser.types import registry
from same import difference
from values import CLASSES, MAKERS

SECONDS: Final = 4.0
THREADS: Final = 8


def values() -> list[Any]:
    made = [{"name": name, "column": make(7), "rows": [{"v": value} for value in make(3)]} for name, make in MAKERS.items()]
    sorts = [{f"key {i}": i, "note": note, "in": {"a": [i]}} for i in range(30) for note in (None, "x", 0.5, 1j)]
    rows = [{"name": "rows", "id": i, "tags": ["a", "b"]} for i in range(600)]
    return [*made, *[{"name": "document", **document} for document in sorts], rows, list(range(1000))]


@dataclasses.dataclass
class Moving:
    """A class about which something else is declared all the time."""

    x: int
    y: Any = None


def _renamed(fields: dict[str, Any], _version: int) -> dict[str, Any]:
    return {"x": fields.get("x", fields.get("old")), "y": fields.get("y")}


DECLARED: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"name": "moving:A"},
    {"name": "moving:A", "version": 2, "upgrade": _renamed},
    {"name": "moving:B", "version": 3, "renames": {"old": "x"}},
)


class Storm:
    """What the threads do.

    Attributes
    ----------
    wrong : list of str
        What went wrong; all stop when it has anything.
    done : list of int
        How often each thing was done.
    """

    def __init__(self) -> None:
        self.work = [(value, npser.dumps(value)) for value in values()]
        self.codecs = [
            npser.Codec(classes=CLASSES),
            npser.Codec(classes=CLASSES, key=[bytes(32), b"k" * 16], context="threads", compress="zlib", compress_from=64),
            npser.Codec(classes=CLASSES, checksum="crc32", compress="zlib", identity="preserve"),
        ]
        self.sealed = [
            (number, value, self.codecs[number].dumps(value)) for value, _ in self.work[::5] for number in range(len(self.codecs))
        ]
        self.damaged = [data[: len(data) * 2 // 3] for _, data in self.work[::7]]
        self.moving = [
            npser.dumps([npser.Placeholder(name, "object", fields, None, version)] * 1)
            for name in ("moving:A", "moving:B")
            for version in (0, 1, 2, 3)
            for fields in ({"x": 5, "y": [1]}, {"old": 5, "y": [1]}, {"y": [1], "x": 5, "gone": 2})
        ]
        self.ways: list[Callable[[random.Random], str | None]] = [
            *[self.load] * 6,
            *[self.dump] * 6,
            *[self.use_codec] * 3,
            self.load_columns,
            self.learn,
            self.learn,
            self.damage,
            self.declare,
            self.write_moving,
            self.read_moving,
            self.forget,
        ]
        self.wrong: list[str] = []
        self.done = [0] * len(self.ways)

    def load(self, rng: random.Random) -> str | None:
        value, data = rng.choice(self.work)
        return difference(value, npser.loads(data, classes=CLASSES))

    def load_columns(self, rng: random.Random) -> str | None:
        value, data = self.work[-2]
        found = npser.loads(data, tables="columns", numbers="array")
        return None if found["id"].tolist() == list(range(600)) and found["tags"] == [["a", "b"]] * 600 else f"columns of {len(value)}"

    def dump(self, rng: random.Random) -> str | None:
        value, data = rng.choice(self.work)
        # states with sets are made anew each time, and so may be in another order
        return None if npser.dumps(value) == data or "set" in value["name"] else f"other bytes for {value['name']}"

    def use_codec(self, rng: random.Random) -> str | None:
        number, value, data = rng.choice(self.sealed)
        codec = self.codecs[number]
        if rng.random() < 0.5:
            data = codec.dumps(value)
        return difference(value, codec.loads(data))

    def learn(self, rng: random.Random) -> str | None:
        """A document, a table and a batch of keys that few have met before."""
        names = [f"{rng.randrange(300)} {i}" for i in range(rng.choice((2, 8, 20)))]
        row = {name: rng.choice((None, 1, "x", 0.5, [1])) for name in names}
        for value in (row, {"in": row}, [row] * 40, [row, {names[0]: 1}]):
            for _ in range(rng.choice((1, 5))):
                found = difference(value, npser.loads(npser.dumps(value)))
                if found:
                    return found
        return None

    def damage(self, rng: random.Random) -> str | None:
        try:
            npser.loads(rng.choice(self.damaged), classes=CLASSES)
        except npser.DecodeError:
            return None
        return "a part of a payload is a value"

    def declare(self, rng: random.Random) -> str | None:
        try:
            npser.register(Moving, **rng.choice(DECLARED))
            if rng.random() < 0.3:
                npser.unregister(Moving)
        except ValueError as error:
            return f"declare: {error}"
        return None

    def write_moving(self, _rng: random.Random) -> str | None:
        """Name and version are those of one declaration, whichever."""
        found = npser.loads(npser.dumps([Moving(5, [1])] * 1), unknown="placeholder")[0]
        if type(found) is Moving:
            return difference(Moving(5, [1]), found)
        known = {("moving:A", 0), ("moving:A", 2), ("moving:B", 3), (registry.class_name(Moving), 0)}
        return None if (found.class_name, found.version) in known else f"{found.class_name}, version {found.version}"

    def read_moving(self, rng: random.Random) -> str | None:
        try:
            (found,) = npser.loads(rng.choice(self.moving))
        except npser.DecodeError as error:  # a field `old` that nobody has renamed
            return None if "without a default" in str(error) else str(error)
        if type(found) is npser.Placeholder:
            return None if found.contents["y"] == [1] else repr(found)
        return None if (type(found), found.x, found.y) == (Moving, 5, [1]) else repr(found)

    def forget(self, rng: random.Random) -> str | None:
        caches: list[Any] = [build.SHAPES, node.KEY_SETS, documents.DOCUMENTS]
        if rng.random() < 0.2:
            rng.choice(caches).clear()
        return None

    def run(self, seed: int, stop: float) -> None:
        rng = random.Random(seed)
        while time.monotonic() < stop and not self.wrong:
            number = rng.randrange(len(self.ways))
            try:
                found = self.ways[number](rng)
            except Exception as error:
                found = f"{self.ways[number].__name__}: {error!r}"
            self.done[number] += 1
            if found:
                self.wrong.append(found)


@contextmanager
def small_caches() -> Iterator[None]:
    """So that shapes, key sets and documents are forgotten while others use them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "HOT_AFTER", 3)
        patch.setattr(build, "SHAPES", ShapeCache(shapes=16))
        patch.setattr(documents, "LEARNED_AFTER", 3)
        patch.setattr(documents, "MAX_DOCUMENTS", 8)
        fresh = documents.Documents()
        for module in (documents, encoder):
            patch.setattr(module, "DOCUMENTS", fresh)
        key_sets = KeySets(count=8)
        for module in (node, writer):
            patch.setattr(module, "KEY_SETS", key_sets)
        switch = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            yield
        finally:
            sys.setswitchinterval(switch)
            npser.unregister(Moving)


def storm(seconds: float, threads: int = THREADS) -> Storm:
    """Let so many threads run for so long."""
    shared = Storm()
    stop = time.monotonic() + seconds
    with small_caches():
        running = [threading.Thread(target=shared.run, args=(seed, stop)) for seed in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    return shared


def test_threads_do_not_disturb_each_other() -> None:
    found = storm(SECONDS)
    assert not found.wrong
    assert min(found.done) > 0
    assert gc.isenabled()


@pytest.mark.parametrize("first", [True, False])
def test_what_is_declared_while_a_class_is_looked_at_counts(first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that was worked out before a class was registered is not kept after it."""
    from npser.types import schema

    class Late:
        def __init__(self) -> None:
            self.x = 1

    true = schema._describe
    if first:
        npser.register(Late, name="late:First", version=1)

    def describe_slowly(cls: type, name: str) -> Any:
        described = true(cls, name)
        if cls is Late:
            monkeypatch.setattr(schema, "_describe", true)
            npser.register(Late, name="late:Second", version=2)  # as another thread might, right now
        return described

    monkeypatch.setattr(schema, "_describe", describe_slowly)
    try:
        schema.schema_of(Late)
        found = schema.schema_of(Late)
        assert found is not None
        assert (found.name, found.version) == ("late:Second", 2)
    finally:
        npser.unregister(Late)


def test_the_collector_stays_off_for_those_who_switched_it_off() -> None:
    data = npser.dumps([{"a": i} for i in range(1000)])
    gc.disable()
    try:
        npser.loads(data)
        npser.dumps(npser.loads(data))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_collector_is_on_again_after_an_error() -> None:
    rows: list[Any] = [{"a": i} for i in range(1000)]
    with pytest.raises(npser.EncodeError):
        npser.dumps([*rows, {"a": object()}])
    data = npser.dumps(rows)
    with pytest.raises(npser.DecodeError):
        npser.loads(data[:-1])
    assert gc.isenabled()


def main(seconds: float) -> int:
    """A longer storm, as a script; the number of things that went wrong."""
    found = storm(seconds)
    done: Counter[str] = Counter()
    for way, count in zip(found.ways, found.done, strict=True):
        done[way.__name__] += count
    for name, count in done.most_common():
        print(f"{count:9} {name}")
    print(f"{THREADS} threads for {seconds:g} s, {sum(found.done)} things done: {len(found.wrong)} wrong", *found.wrong, sep="\n")
    return min(len(found.wrong), 1)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
