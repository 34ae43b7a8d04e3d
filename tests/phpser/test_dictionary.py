"""The dictionary by its plain rule, and many strings at once."""

from __future__ import annotations

import random
from typing import Any

import pytest

from npser.phpser.dictionary import Dictionary


def plainly(words: Dictionary, texts: list[Any]) -> bytes:
    return b"".join([words.value(text) for text in texts])


@pytest.mark.parametrize("seed", range(60))
def test_many_at_once_are_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    pool: list[Any] = [f"w{i}" for i in range(rng.choice((1, 3, 20, 200)))] + ["", "é", b"\xff", "x" * 200]
    fast, slow = Dictionary(), Dictionary()
    for words in (fast, slow):
        taste = random.Random(seed)
        for _ in range(taste.randrange(30)):
            text = taste.choice(pool)
            taste.choice((words.intern, words.value, words.key))(text)
    for _ in range(4):
        texts = [rng.choice(pool) for _ in range(rng.choice((0, 1, 5, 13, 60, 61, 100, 300)))]
        assert fast.values(texts) == plainly(slow, texts)
        assert fast.entries == slow.entries and fast.places == slow.places
        if texts:
            assert fast.indices(texts) == slow.indices(texts)
    assert fast.header(1) == slow.header(1)
