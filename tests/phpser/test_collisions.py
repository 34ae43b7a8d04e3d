"""PHP's chains."""

from __future__ import annotations

import itertools

from npser.phpser.collisions import chain_length, collides


def djb(text: bytes) -> int:
    found = 5381
    for byte in text:
        found = found * 33 + byte & 0xFFFFFFFF
    return found


def test_against_the_plain_hash() -> None:
    keys = ["", "a", "b", "id", "user_id", "été", *(f"key{i}" for i in range(300)), 5, -7, 1 << 40]
    mask = 511
    hashes = [djb(key.encode()) & mask if isinstance(key, str) else key & mask for key in keys]
    assert chain_length(keys, len(keys)) == max(map(hashes.count, hashes))


def test_colliding_strings() -> None:
    keys = ["".join(parts) for parts in itertools.product(("Ez", "FY"), repeat=7)]
    assert chain_length(keys, len(keys)) == 128
    assert collides(keys, len(keys)) and not collides(keys[:64], 64)


def test_usual_keys_do_not_collide() -> None:
    for keys in (list(range(5000)), list(range(-5000, 0)), [i * 10 for i in range(5000)], [f"k{i}" for i in range(5000)]):
        assert not collides(keys, len(keys))
