"""The fuzzer finds what is broken, and what it ever found stays mended. `fuzz.py` is the fuzzer."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import fuzz
import npser
from golden.trace import name_of, tracing
from npser.envelope.codes import EnvelopeCode
from npser.tags import Kind, Node

MUTATIONS = 3000


@pytest.fixture(scope="module")
def payloads() -> dict[str, bytes]:
    return fuzz.read_corpus()


def test_the_corpus_is_small() -> None:
    assert sum(path.stat().st_size for path in Path(fuzz.CORPUS).iterdir()) < 200_000


def test_the_corpus_has_every_node_kind_and_envelope(payloads: dict[str, bytes]) -> None:
    with tracing() as met:
        for data in payloads.values():
            if data[:2] == b"\xc1\1":
                try:
                    npser.loads(data)
                except npser.NpserError:
                    assert True
    assert not {name_of(code) for codes in (Node, Kind) for code in codes} - met
    assert {data[1] for data in payloads.values() if data[0] == 0xC1} >= {1, *map(int, EnvelopeCode)}
    assert {data[0] for data in payloads.values()} >= {1, 2, 0xC1}


def test_the_corpus_keeps_every_promise(payloads: dict[str, bytes]) -> None:
    for data in payloads.values():
        for way in range(len(fuzz.WAYS)):
            fuzz.examine(data, way, thorough=True)


def test_damage_breaks_no_promise(payloads: dict[str, bytes]) -> None:
    fuzzer = fuzz.Fuzzer(list(payloads.values()), seed=11)
    list(fuzzer.run(MUTATIONS))
    assert not fuzzer.failures, fuzzer.summary(1)
    assert fuzzer.outcomes["a value"] > MUTATIONS // 20
    assert len(fuzzer.inputs) > len(payloads)


def test_the_same_seed_tries_the_same(payloads: dict[str, bytes]) -> None:
    seeds = list(payloads.values())
    tried = []
    for _ in range(2):
        rng = random.Random(3)
        tried.append([fuzz.mutated(rng, rng.choice(seeds), lambda rng=rng: rng.choice(seeds)) for _ in range(200)])
    assert tried[0] == tried[1]


@pytest.mark.parametrize("broken", ["raises", "is wrong", "is slow", "is large", "never ends"])
def test_a_broken_promise_is_found_and_made_small(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true = fuzz._opened

    def opened(data: bytes, **options: Any) -> Any:
        if b"xyz" in data:
            if broken == "raises":
                raise IndexError("list index out of range")
            if broken == "is wrong":
                return [Unequal()]
            if broken == "is large":
                return bytearray(70 << 20)
            stop = fuzz.time.monotonic() + (0.03 if broken == "is slow" else 1e9)
            while fuzz.time.monotonic() < stop:
                pass
        return true(data, **options)

    monkeypatch.setattr(fuzz, "_opened", opened)
    monkeypatch.setattr(fuzz, "LEAST_SECONDS", 0.02)
    data = npser.dumps({"name": "wxyz", "other": [1, 2, 3]})
    if broken == "never ends":
        monkeypatch.setattr(fuzz, "fenced", lambda **_: fuzz_fence(0.2))
        assert fuzz.failure_of(data, 0) == "no end"
        return
    if broken == "is wrong":
        monkeypatch.setattr(fuzz, "_comes_back", lambda value, _: unequal(value))
    found = fuzz.failure_of(data, 0)
    assert found is not None
    small = fuzz.minimised(data, 0)
    assert b"xyz" in small
    assert len(small) < 8 or broken == "is slow"
    assert fuzz.failure_of(npser.dumps({"name": "w"}), 0) is None


class Unequal:
    """What no reader should give."""


def unequal(value: Any) -> None:
    assert type(value) is not list, "another value"


def fuzz_fence(seconds: float) -> Any:
    from guard import fenced

    return fenced(seconds=seconds)
