"""Key sets: the same bytes are the same key set, however often, from wherever, and never too many of them."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
import strategies
from npser.errors import DecodeError, TruncatedError
from npser.shapes.keysets import GENERATED_AFTER, GENERATED_ROWS, KEY_SETS, KeySet, KeySets, write_key_set

SETS = [
    (),
    ("",),
    ("a",),
    ("id", "name"),
    ("né", "\ud83d", "\ude02", "\U0001f600", "\0", "'\"\n"),
    ("k" * 127, "k" * 128, "k" * 129),
    ("x" * 20_000,),
    tuple(f"key {i}" for i in range(1000)),
    ("__class__", "__dict__", "f0", "f1", "values", "v0", "zip"),
]


@pytest.mark.parametrize("keys", SETS, ids=repr)
def test_written_and_found(keys: tuple[str, ...]) -> None:
    sets = KeySets()
    data = write_key_set(keys)
    found = sets.find(data)
    assert found.keys == keys
    assert all(type(key) is str for key in found.keys)
    assert sets.find(bytes(bytearray(data))) is found
    assert sets.data(keys) == data == sets.data((*keys,))


@given(strategies.keysets)
def test_any_keys_come_back(keys: list[str]) -> None:
    assert KeySets().find(write_key_set(keys)).keys == tuple(keys)


def test_a_length_may_have_more_bytes_than_it_needs() -> None:
    assert KeySets().find(b"\x81\0a\x80\x80\0").keys == ("a", "")


@pytest.mark.parametrize(
    ("data", "error", "pos"),
    [
        (b"\1", TruncatedError, 1),
        (b"\2a", TruncatedError, 1),
        (b"\1a\3bc", TruncatedError, 3),
        (b"\1a\x80", TruncatedError, 2),
        (b"\xff" * 9 + b"\1", TruncatedError, 10),
        (b"\xff" * 9 + b"\2", DecodeError, 0),
        (b"\x80" * 10 + b"\0", DecodeError, 0),
        (b"\1\x80", DecodeError, 2),
        (b"\1a\2\xc0\x80", DecodeError, 5),
        (b"\4\xf4\x90\x80\x80", DecodeError, 5),
        (b"\1a\1a", DecodeError, 4),
        (b"\0\1a\0", DecodeError, 4),
        (b"\1a\x81\0a", DecodeError, 5),
    ],
)
def test_refused(data: bytes, error: type[DecodeError], pos: int) -> None:
    sets = KeySets()
    for _ in range(2):
        with pytest.raises(DecodeError) as caught:
            sets.find(data)
        assert type(caught.value) is error
        assert caught.value.pos == pos
    assert len(sets) == 0


@given(st.binary(max_size=30))
def test_any_bytes_are_keys_or_an_error(data: bytes) -> None:
    try:
        keys = KeySets().find(data).keys
    except DecodeError as error:
        assert error.pos is not None and 0 <= error.pos <= len(data)
    else:
        assert len(set(keys)) == len(keys)
        assert KeySets().find(write_key_set(keys)).keys == keys


def test_an_error_in_a_payload_has_the_place_in_the_payload() -> None:
    data = npser.dumps([{"id": 1, "name": 2}])
    at = data.index(b"\x04name")
    with pytest.raises(DecodeError) as caught:
        npser.loads(data[:at] + b"\x05" + data[at + 1 :])
    assert caught.value.pos == at + 1


# ------------------------------------------------------------------------------------------------------------ the cache


def test_no_more_are_remembered_than_so_many() -> None:
    sets = KeySets(count=10)
    for i in range(100):
        assert sets.find(write_key_set([f"k{i}"])).keys == (f"k{i}",)
        assert 1 <= len(sets) <= 10
    for i in range(100):
        assert sets.data((f"k{i}",)) == write_key_set([f"k{i}"])
        assert len(sets._written) <= 10


def test_no_more_are_remembered_than_of_so_many_bytes() -> None:
    sets = KeySets(nbytes=800)
    for i in range(200):
        sets.find(write_key_set([f"{i:050}"]))
        sets.data((f"{i:050}",))
        assert sum(map(len, sets.known)) + sum(map(len, sets._written.values())) <= 800
    large = write_key_set(["x" * 200])
    before = len(sets)
    assert sets.find(large) is not sets.find(large)
    assert sets.data(("x" * 200,)) == large
    assert len(sets) == before


def test_cleared() -> None:
    sets = KeySets()
    found = sets.find(b"\1a")
    sets.data(("a",))
    sets.clear()
    assert len(sets) == 0 and not sets._written
    assert sets.find(b"\1a") is not found
    assert sets.find(b"\1a").keys == ("a",)


def test_the_process_remembers_a_bounded_number() -> None:
    KEY_SETS.clear()
    for i in range(3000):
        npser.loads(npser.dumps({f"key {i}": i, "x": [{"y": i, f"z{i}": 1}]}))
    assert len(KEY_SETS) <= 2048
    assert KEY_SETS._bytes <= 1 << 18


def test_one_key_set_serves_tables_records_and_rows_that_vary() -> None:
    KEY_SETS.clear()
    for value in ({"a": 1, "b": "x"}, [{"a": 1, "b": 2}] * 3, [{"a": 1}, {"a": 1, "b": 2}]):
        assert npser.loads(npser.dumps(value)) == value
    assert len(KEY_SETS) == 1


def test_threads_share_it() -> None:
    sets = KeySets(count=20, nbytes=2000)
    wrong: list[Any] = []

    def run(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(3000):
            keys = tuple(f"k{rng.randrange(60)}" for _ in range(1))
            key_set = sets.find(sets.data(keys))
            if key_set.keys != keys or key_set.one([1]) != {keys[0]: 1}:
                wrong.append(keys)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --------------------------------------------------------------------------------------------------------------- dicts


@pytest.mark.parametrize("keys", SETS, ids=repr)
def test_one_dict(keys: tuple[str, ...]) -> None:
    key_set = KeySet(keys)
    values = [[i] for i in range(len(keys))]
    for _ in range(2 * GENERATED_AFTER):
        found = key_set.one(values)
        assert type(found) is dict
        assert list(found) == list(keys)
        assert all(found[key] is value for key, value in zip(keys, values, strict=True))


@pytest.mark.parametrize("keys", SETS[1:], ids=repr)
@pytest.mark.parametrize("n", [0, 1, 2, GENERATED_ROWS - 1, GENERATED_ROWS, 1000])
def test_rows(keys: tuple[str, ...], n: int) -> None:
    if len(keys) * n > 100_000:
        n = 50
    key_set = KeySet(keys)
    columns = [[(k, i) for i in range(n)] for k in range(len(keys))]
    for _ in range(GENERATED_AFTER + 2 if n < 100 else 2):
        rows = key_set.rows([iter(column) for column in columns], n)
        assert len(rows) == n and all(type(row) is dict and list(row) == list(keys) for row in rows)
        assert [list(row.values()) for row in rows] == [[column[i] for column in columns] for i in range(n)]
    assert len(set(map(id, rows))) == n


def test_a_row_that_is_changed_changes_no_other() -> None:
    keys = tuple(f"k{i}" for i in range(10))
    rows = KeySet(keys).rows([range(100)] * 10, 100)
    rows[0]["new"] = 1
    del rows[1]["k0"]
    assert list(rows[2]) == list(keys) and rows[2] == dict.fromkeys(keys, 2)
