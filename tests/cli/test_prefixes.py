"""Which parts of a key are its name."""

from __future__ import annotations

import random
import uuid
from collections import Counter

import pytest

from npser.cli.prefixes import prefixes

DICE = random.Random(4)

CASES = {
    "ids": ([f"session:{uuid.UUID(int=DICE.getrandbits(128))}" for _ in range(50)], {"session:*": 50}),
    "fields of ids": (
        [f"user:{i}:{name}" for i in range(50) for name in ("cart", "mail")],
        {"user:*:cart": 50, "user:*:mail": 50},
    ),
    "many fields of ids": (
        [f"user:{i}:f{name}" for i in range(50) for name in range(10)],
        {f"user:*:f{name}": 50 for name in range(10)},
    ),
    "django": ([f":1:views.page.{i}" for i in range(20)], {":1:views.page.*": 20}),
    "paths": ([f"view//shop/{i}" for i in range(20)], {"view//shop/*": 20}),
    "nothing in common": ([f"key{i}" for i in range(20)], {"*": 20}),
    "a few names": (["motd", "visits", "motd:de"], {"motd": 1, "visits": 1, "motd:de": 1}),
    "one among many": (["config", *(f"a:{i}" for i in range(90))], {"config": 1, "a:*": 90}),
    "many kinds": (
        [f"kind{k}:{i}" for k in range(40) for i in range(20)],
        {f"kind{k}:*": 20 for k in range(40)},
    ),
    "none": ([], {}),
    "empty": ([""], {"": 1}),
}


@pytest.mark.parametrize("name", CASES)
def test_prefixes(name: str) -> None:
    names, expected = CASES[name]
    DICE.shuffle(names)
    assert Counter(prefixes(names)) == expected


def test_each_name_fits_its_prefix() -> None:
    from fnmatch import fnmatchcase

    names = ["".join(DICE.choice("ab:/.1") for _ in range(DICE.randrange(12))) for _ in range(2000)]
    assert all(fnmatchcase(name, prefix) for name, prefix in zip(names, prefixes(names), strict=True))


def test_hostile_names() -> None:
    names = [":" * 10_000, ":".join("abc" * 2000), *(f"a{i}:" * 20 for i in range(1000))]
    found = prefixes(names)
    assert [name.count(":") for name in found] == [name.count(":") for name in names]
