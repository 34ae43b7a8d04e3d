"""diskcache: what others put there, what is damaged, what another version wrote, and what SQLite holds that nobody wrote."""

from __future__ import annotations

import datetime as dt
import pickle
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("diskcache", reason="the diskcache extra is not installed")

import numpy as np
from diskcache import Cache, Disk, Index

import npser
from npser.adapters.diskcache import MODE_NPSER, NpserDisk
from same import same

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))


@dataclass(frozen=True)
class Order:
    id: int
    items: tuple[str, ...]


ROWS = [{"id": i, "note": None if i % 3 else "tea"} for i in range(3000)]

OLD: dict[str, Any] = {
    "none": None,
    "true": True,
    "int": -7,
    "big": 1 << 63,
    "float": 0.25,
    "text": "tea",
    "long text": "line\n" * 10_000,
    "bytes": b"\xc1\x01",
    "long bytes": bytes(range(256)) * 300,
    "tuple": (1, (True, {3}), 0.5),
    "rows": ROWS,
    "array": np.arange(30_000, dtype=">i4").reshape(100, 300),
    "when": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "order": Order(7, ("tea",)),
}


def table(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "cache.db", isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda data: data[:-3],
    "empty": lambda data: b"",
    "flipped": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "longer": lambda data: data + b"\0",
    "pickle": lambda data: pickle.dumps("from before"),
    "json": lambda data: b'"from before"',
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("options", [{}, {"key": KEY}, {"compress": "zlib", "checksum": "crc32"}], ids=str)
@pytest.mark.parametrize("value", [(1, 2), ROWS], ids=["in the table", "in a file"])
def test_what_is_poisoned_is_a_miss(tmp_path: Path, damage: str, options: dict[str, Any], value: Any) -> None:
    with Cache(tmp_path, disk=NpserDisk.using(**options), disk_min_file_size=2000) as cache:
        cache["key"] = value
        in_table = table(tmp_path).execute("SELECT value, mode FROM Cache").fetchone()
        assert in_table[1] == MODE_NPSER
        if in_table[0] is not None:
            poison = DAMAGES[damage](in_table[0])
            table(tmp_path).execute("UPDATE Cache SET value = ?", (poison,))
        else:
            (path,) = tmp_path.rglob("*.val")
            path.write_bytes(DAMAGES[damage](path.read_bytes()))
        assert cache.get("key", default="a miss") == "a miss"
        with pytest.raises(KeyError):
            cache["key"]
        for again in (cache.peekitem, lambda: Index.fromcache(cache).popitem()):
            with pytest.raises(npser.DecodeError):  # where diskcache would try again for ever
                again()
        assert list(cache) == ["key"]
        cache["key"] = value
        assert cache["key"] == value


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
def test_any_bytes_at_all_are_a_value_or_a_miss(tmp_path: Path, options: dict[str, Any]) -> None:
    with Cache(tmp_path, disk=NpserDisk.using(classes=[Order], **options)) as cache:
        cache["key"] = [ROWS[:5], Order(1, ("tea",))]
        rows = table(tmp_path)
        ((whole,),) = rows.execute("SELECT value FROM Cache")
        for changed in mutations(whole, 200):
            rows.execute("UPDATE Cache SET value = ?", (changed,))
            found = cache.get("key", default="a miss")
            assert not options or found == "a miss" or changed == whole


def test_poison_in_a_queue_is_passed_over(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=NpserDisk) as cache:
        for value in ((1,), (2,), (3,)):
            cache.push(value)
        table(tmp_path).execute("UPDATE Cache SET value = ? WHERE rowid = 1", (b"poison",))
        with pytest.raises(npser.DecodeError):
            cache.peek()
        assert cache.pull()[1] == (2,) and cache.peek()[1] == (3,)


@pytest.mark.parametrize("name", [None, "nowhere", 7, "a\0b", b"x"])
def test_rows_that_nobody_wrote_are_a_miss(tmp_path: Path, name: object) -> None:
    sealed, plain = NpserDisk.using(key=KEY), NpserDisk
    poisons = (7, 0.5, "text", b"bytes", None, pickle.dumps(1), npser.dumps(1))
    with Cache(tmp_path, disk=sealed) as cache:
        cache["key"] = (1, 2)
    for disk, mode in [
        (disk, mode) for disk in (sealed, plain) for mode in (-1, 0, 1, 2, 3, 4, 5, MODE_NPSER, "x", None)
    ]:
        with Cache(tmp_path, disk=disk) as cache:
            rows = table(tmp_path)
            for poison in poisons:
                rows.execute("UPDATE Cache SET mode = ?, filename = ?, value = ?", (mode, name, poison))
                found = cache.get("key", default="a miss")
                readable = disk is plain and (
                    mode == 1 or (name is None and mode in (4, MODE_NPSER) and poison == poisons[-1])
                )
                assert same(found, (1 if mode != 1 else poison) if readable else "a miss"), (disk, mode, poison)


@pytest.mark.parametrize("key", [1 << 40, 0.5, "text", b"poison", b"", pickle.dumps((1, 2)), npser.dumps([1])])
def test_keys_that_nobody_wrote_come_as_they_stand_there(tmp_path: Path, key: Any) -> None:
    with Cache(tmp_path, disk=NpserDisk) as cache:
        cache[1, 2] = "value"
        table(tmp_path).execute("UPDATE Cache SET key = ? WHERE raw = 0", (key,))
        assert same(list(cache), [[1] if key == npser.dumps([1]) else key])
        assert cache.get((1, 2)) is None


def test_a_missing_file_is_a_miss(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=NpserDisk) as cache:
        cache["key"] = OLD["array"]
        (path,) = tmp_path.rglob("*.val")
        path.unlink()
        assert cache.get("key") is None and cache.pop("key") is None and len(cache) == 0


def test_a_poisoned_result_of_a_function_is_made_anew(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=NpserDisk) as cache:
        twice = cache.memoize()(lambda number: (number, number))
        assert twice(2) == (2, 2)
        table(tmp_path).execute("UPDATE Cache SET value = ?", (b"\xc1\x01poison",))
        assert twice(2) == (2, 2)
        assert cache[twice.__cache_key__(2)] == (2, 2)


def test_the_wrong_key_opens_nothing_and_the_key_is_nowhere_in_the_folder(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=NpserDisk.using(key=OTHER)) as cache:
        cache["key"] = ROWS
        cache["count"] = 5
        with pytest.raises(TypeError):
            cache.incr("count")  # it is sealed
    for path in filter(Path.is_file, tmp_path.rglob("*")):
        assert OTHER not in path.read_bytes()
    for options, found in [({"key": KEY}, None), ({}, None), ({"key": [KEY, OTHER]}, 5), ({"key": OTHER}, 5)]:
        with Cache(tmp_path, disk=NpserDisk.using(**options)) as cache:
            assert cache.get("count") == found
            assert cache.get("key") == (ROWS if found else None)


def test_what_a_plain_disk_wrote(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=Disk) as cache:
        for name, value in OLD.items():
            cache[name] = value
        cache[1, 2] = "under a key of its own"
    native = {name for name, value in OLD.items() if type(value) in (int, float, str, bytes)} - {"big"}
    with Cache(tmp_path, disk=NpserDisk.using(classes=[Order])) as cache:
        for name, value in OLD.items():
            assert same(cache.get(name), value if name in native else None), name
        assert sum(type(key) is bytes for key in cache) == 1  # the pickled key, as it stands there
        assert (1, 2) not in cache
        cache["tuple"] = (1, 2)
        assert cache["tuple"] == (1, 2)
    with Cache(tmp_path, disk=NpserDisk.using(foreign="pickle")) as cache:
        assert all(same(cache[name], value) for name, value in OLD.items() if name != "tuple")
        assert (1, 2) in list(cache) and cache.get("tuple") == (1, 2)
    with Cache(tmp_path, disk=NpserDisk.using(foreign="refuse")) as cache, pytest.raises(npser.ForeignBytesError):
        cache.get("rows")


def cart(version: int) -> Any:
    """The class as this version of a program has it, and registers it."""
    if version == 1:

        @npser.register(name="diskcache.Cart", version=1)
        @dataclass
        class Cart:
            total: float
    else:

        @npser.register(
            name="diskcache.Cart", version=2, upgrade=lambda fields, _: {"cents": int(fields["total"] * 100)}
        )
        @dataclass
        class Cart:  # type: ignore[no-redef]
            cents: int
            currency: str = "EUR"

    return Cart


def test_two_versions_of_a_class_at_once(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=NpserDisk) as cache:
        cache["cart"] = cart(1)(1.5)
        new = cart(2)
        assert cache["cart"] == new(150, "EUR")
        cache["cart"] = new(1)
        cart(1)
        assert cache.get("cart") is None  # the old one has a field that is not stored, and no default for it


def test_an_object_of_a_class_that_was_not_named_is_a_miss(tmp_path: Path) -> None:
    with Cache(tmp_path, disk=NpserDisk) as cache:
        cache["order"] = Order(1, ())
        assert cache.get("order") is None
    with Cache(tmp_path, disk=NpserDisk.using(unknown="placeholder")) as cache:
        assert type(cache["order"]) is npser.Placeholder
