"""What digests and merging cost: `digest` against hashing a pickle, `concat` against decoding and encoding again.

    python benchmarks/canonical.py

Strategy: both sides of a ratio take turns in one process, and the median of the rounds counts. A hash of a pickle is
no content hash (it tells equal dicts apart by the order of their keys, and equal strings by whether they are one
object), and JSON with sorted keys does not tell (6,) from [6]; they are what a program does without `digest`, and
so what it costs is held against them. Every digest is checked to be that of an equal value in another order first.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import npser  # noqa: E402
from benchmarks import fixtures  # noqa: E402

SECONDS = 0.6
"""For one line, both sides together."""

MIN_ROUNDS = 7


def hash_pickle(value: Any) -> bytes:
    """What most programs do."""
    return hashlib.blake2b(pickle.dumps(value, 5), digest_size=32).digest()


def hash_json(value: Any) -> bytes:
    """What careful ones do, where the value is JSON."""
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=32).digest()


def medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds a call: the median over rounds in which all calls take turns."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    counts = {}
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        counts[name] = max(1, int(0.002 / (time.perf_counter() - start)))
    stop = time.perf_counter() + SECONDS
    while time.perf_counter() < stop or len(taken[name]) < MIN_ROUNDS:
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            taken[name].append((time.perf_counter() - start) / counts[name])
    return {name: statistics.median(times) for name, times in taken.items()}


def disguised(value: Any) -> Any:
    """An equal value whose dicts have their keys in the opposite order."""
    if type(value) is dict:
        return {key: disguised(item) for key, item in reversed(value.items())}
    return [disguised(item) for item in value] if type(value) is list else value


def digests() -> None:
    """A line a value."""
    arguments = {"user": 7, "query": "tea", "page": 2, "filters": {"price": [1.5, 20.0], "tags": {"green", "loose"}}}
    plain = {"user": 7, "query": "tea", "page": 2, "filters": {"price": [1.5, 20.0], "tags": ["green", "loose"]}}
    values: dict[str, tuple[Any, bool]] = {
        "an int": (123456, True),
        "arguments of a call, with a set": (arguments, False),
        "the same without the set": (plain, True),
        "1,000 rows of seven keys": (fixtures.rowset(1000), True),
        "1,000 objects of eight fields": (fixtures.dto_users(1000), False),
        "10,000 ints": (list(range(0, 70_000, 7)), True),
        "a set of 10,000 ints": (set(range(0, 70_000, 7)), False),
        "a dict of 10,000 keys": ({f"key {i}": i for i in range(10_000)}, True),
        "an array of 1,000,000 doubles": (np.random.default_rng(0).random(1_000_000), False),
    }
    print("npser.digest against BLAKE2b of a pickle, and of JSON with sorted keys")
    print(f"{'':36}{'digest':>12}{'pickle':>12}{'ratio':>8}{'JSON':>12}{'ratio':>8}")
    for name, (value, is_json) in values.items():
        assert npser.digest(value) == npser.digest(disguised(value))
        calls: dict[str, Callable[[], Any]] = {
            "digest": lambda value=value: npser.digest(value),
            "pickle": lambda value=value: hash_pickle(value),
        }
        if is_json:
            calls["json"] = lambda value=value: hash_json(value)
        found = medians(calls)
        line = f"{name:<36}" + "".join(f"{found[side] * 1e6:>9.1f} µs" for side in ("digest", "pickle"))
        line += f"{found['digest'] / found['pickle']:>8.1f}"
        if is_json:
            line += f"{found['json'] * 1e6:>9.1f} µs{found['digest'] / found['json']:>8.1f}"
        print(line)


def again(pages: list[bytes]) -> bytes:
    """What joins pages without `concat`."""
    return npser.dumps([row for page in pages for row in npser.loads(page)])


def pickled_again(pages: list[bytes]) -> bytes:
    """The same with pickle."""
    return pickle.dumps([row for page in pages for row in pickle.loads(page)], 5)


def merging() -> None:
    """A line a way to cut a table into pages."""
    print("\nnpser.concat of pages of one table, against decoding all of them and encoding the rows again")
    print(f"{'':36}{'concat':>12}{'again':>12}{'ratio':>8}{'pickle':>12}{'ratio':>8}")
    rows = fixtures.rowset(20_000)
    numbers = [{"id": i, "x": i / 7, "y": i % 100} for i in range(200_000)]
    cases = {
        "10 pages of 100 rows": (rows[:1000], 100),
        "10 pages of 1,000 rows": (rows[:10_000], 1000),
        "200 pages of 100 rows": (rows, 100),
        "4 pages of 50,000 rows of numbers": (numbers, 50_000),
    }
    for name, (table, size) in cases.items():
        parts = [table[at : at + size] for at in range(0, len(table), size)]
        pages, pickles = [npser.dumps(part) for part in parts], [pickle.dumps(part, 5) for part in parts]
        assert npser.loads(npser.concat(pages)) == table
        found = medians(
            {
                "concat": lambda pages=pages: npser.concat(pages),
                "again": lambda pages=pages: again(pages),
                "pickle": lambda pickles=pickles: pickled_again(pickles),
            }
        )
        line = f"{name:<36}" + "".join(f"{found[side] * 1e3:>9.2f} ms" for side in ("concat", "again"))
        line += f"{found['concat'] / found['again']:>8.2f}{found['pickle'] * 1e3:>9.2f} ms"
        print(line + f"{found['concat'] / found['pickle']:>8.2f}")


def main() -> None:
    """Print both tables."""
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    print(f"npser {npser.__version__}, Python {sys.version.split()[0]}, numpy {np.__version__}\n")
    digests()
    merging()


if __name__ == "__main__":
    main()
