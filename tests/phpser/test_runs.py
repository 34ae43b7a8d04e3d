"""Runs of one tag are read as the same values that would be read one by one, and not one more."""

from __future__ import annotations

import random
from typing import Any

import pytest

from npser.errors import NpserError
from npser.phpser import read, reader, write
from npser.phpser.dictionary import varint
from same import same

SIZES = (0, 1, 2, 7, 8, 9, 31, 32, 33, 95, 96, 97, 127, 128, 129, 191, 192, 193, 255, 256, 1000, 5000)


def one_by_one(data: bytes, monkeypatch: pytest.MonkeyPatch, strings: Any = "text") -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(reader, "RUNS", {})
        return outcome(data, strings)


def outcome(data: bytes, strings: Any = "text") -> Any:
    try:
        return read(memoryview(data), strings=strings)
    except NpserError as error:
        return type(error), str(error)


MAKERS: dict[str, Any] = {
    "constants": lambda rng: rng.choice((None, True, False)),
    "strings": lambda rng: "ab" * rng.randrange(8),
    "of twelve": lambda rng: f"{rng.randrange(10**12):012}",
    "form feeds": lambda rng: "\x0c" * rng.randrange(14) + rng.choice(("", "x", "\x0c\x05\x0c")),
    "long strings": lambda rng: "y" * rng.choice((1, 126, 127, 128, 129, 300)),
    "not ascii": lambda rng: "é" * rng.randrange(5),
    "not utf8": lambda rng: rng.choice((b"\xff", "é", "a", b"\xc3")),
    "few": lambda rng: f"word{rng.randrange(9)}",
    "doubles": lambda rng: rng.choice((rng.random(), -0.0, 1e300)),
    "lists": lambda rng: [f"w{rng.randrange(5)}" for _ in range(3)],
    "lists of any": lambda rng: [f"w{rng.randrange(5)}" for _ in range(rng.randrange(3))],
    "ints": lambda rng: rng.randrange(-64, 64),
    "wide ints": lambda rng: rng.randrange(-(2**rng.randrange(1, 63)), 2**40),
    "nullable ints": lambda rng: rng.choice((None, 1, -2, 3, 5, 77, 1 << 20, True)),
    "nullable wide": lambda rng: rng.choice((None, 1, 1 << 40, -(1 << 61), 1 << 62, 1 << 63 >> 1, -3)),
    "mostly words": lambda rng: rng.choice((None, "w1", "w2", "w3", 1 << 13)),
    "anything": lambda rng: rng.choice((None, True, 1, -70, 0.5, "x", "word1", [], [1, 2], {"k": 1}, ["w1", "w2"])),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("other", [None, 1 << 40, [0.5], {"k": "v"}, "z" * 200], ids=["none", "int", "list", "dict", "text"])
def test_as_one_by_one(name: str, other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"{name} {other!r}")
    for n in SIZES[:: 1 if other is None else 3]:
        values = [MAKERS[name](rng) for _ in range(n)]
        values.insert(rng.randrange(n + 1), other)
        values.append(other)
        data = write(values, version=1)
        found = outcome(data)
        assert same(found, one_by_one(data, monkeypatch))
        assert same(found, values)
        as_bytes = outcome(data, "bytes")
        assert same(as_bytes, one_by_one(data, monkeypatch, "bytes"))


@pytest.mark.parametrize("name", MAKERS)
def test_cut_and_damaged_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(name)
    data = write([*(MAKERS[name](rng) for _ in range(400)), None, 0.5], version=1)
    for _ in range(60):
        broken = bytearray(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data)
        for _ in range(rng.randrange(1, 3)):
            if broken:
                broken[rng.randrange(len(broken))] = rng.choice((rng.randrange(256), 0x0C, 0x05, 0x0B))
        found, wanted = outcome(bytes(broken)), one_by_one(bytes(broken), monkeypatch)
        if type(found) is tuple and type(wanted) is tuple:
            assert issubclass(found[0], NpserError)
        else:
            assert same(found, wanted)


def test_a_run_of_words_past_the_dictionary() -> None:
    data = b"\x01\x01\x01a" + b"\x07" + varint(300) + b"\x05\x00" * 250 + b"\x05\x01" * 50
    kind, message = outcome(data)
    assert issubclass(kind, NpserError) and "string 1 of a dictionary of 1" in message
    assert "$[250]" in message


def test_runs_end_with_the_array(monkeypatch: pytest.MonkeyPatch) -> None:
    for body in (b"\x02", b"\x05\x00", b"\x0c\x01x", b"\x04" + bytes(8), b"\x0b\x01\x00", b"\x03\x05"):
        data = b"\x01\x01\x01a\x07\x02" + (b"\x07" + varint(500) + body * 500) * 2 + body * 100
        first, second = read(memoryview(data))
        assert first == second and len(first) == 500
        assert same([first, second], one_by_one(data, monkeypatch))
