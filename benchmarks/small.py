"""Small values against pickle: what a call costs where there is next to nothing to store.

    python benchmarks/small.py            # about ten seconds

Strategy: npser and pickle take turns, as in `compare`. Every value that comes back is compared with the one that went
in. npser is a `Codec` here, which a program that caches objects has.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import npser  # noqa: E402
from benchmarks.measure import Plan, against_pickle  # noqa: E402
from benchmarks.peers import same  # noqa: E402
from benchmarks.tables import count, duration, markdown, ratio  # noqa: E402

PLAN = Plan(rounds=25, least=9, budget=2.0)


@dataclass
class User:
    """Six fields."""

    id: int
    name: str
    email: str
    score: float
    active: bool
    tags: list[str]


USER = {"id": 7, "name": "Ada Becker", "email": "ada@example.com", "score": 1.5, "active": True}
JOINED = dt.datetime(2024, 5, 1, 9, 30)

VALUES: dict[str, Any] = {
    "an int": 48213,
    "a text of 15 letters": "ada@example.com",
    "a pair": ("ada@example.com", 48213),
    "five ints": [3, 1, 4, 1, 5],
    "a dict of 5": USER,
    "a dict of 5, a list in it": USER | {"tags": ["new", "red"]},
    "a dict of 5, two datetimes and a Decimal": USER | {"joined": JOINED, "seen": JOINED, "owes": Decimal("12.50")},
    "an object of 6 fields": User(**USER, tags=["new", "red"]),
    "ten rows of 5": [USER | {"id": i, "name": f"user {i}"} for i in range(10)],
    "ten objects of 6 fields": [User(**USER | {"id": i}, tags=["new", "red"][: i % 3]) for i in range(10)],
}


def lines() -> Iterator[list[str]]:
    """One a value."""
    codec = npser.Codec(classes=(User,))
    for name, value in VALUES.items():
        met = against_pickle(value, codec.dumps, codec.loads, PLAN)
        sizes = (count(met.size), ratio(met.size / met.pickle_size))
        times = map(duration, (met.write, met.pickle_write, met.read, met.pickle_read))
        yield [name if same(value, met.back) else f"{name} (NOT THE SAME)", *sizes, *times]


def main() -> int:
    print(markdown(("", "bytes", "÷ pickle", "write", "pickle", "read", "pickle"), lines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
