"""What a part of a payload costs, measured against all of it: columns of the flights table, rows, a leaf.

    python benchmarks/partial.py            # all 336,776 rows, half a minute
    python benchmarks/partial.py 100000     # so many of them

Strategy: each part is read as a caller would, from bytes to result, and so is the whole; they take turns in one
process, and the least of the rounds counts. The whole comes as `loads` gives it by default, which is rows.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import npser  # noqa: E402
from benchmarks import corpora  # noqa: E402

LIST_TARGET, ARRAY_TARGET = 0.12, 0.02
"""Of what decoding it all costs: one of 19 columns as a list; a numeric one as an array."""

ROUNDS, WHOLE_ROUNDS = 9, 5


def seconds(call: Callable[[], Any]) -> float:
    """One call, and the result freed."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def least(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The least time of each of some calls that take turns."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(seconds(call))
    return {name: min(times) for name, times in taken.items()}


def look(data: bytes, name: str) -> Any:
    """One column, as a view gives it."""
    return npser.view(data)[name]


def main(arguments: list[str] | None = None) -> int:
    """Print a line a column, and the targets; 1 if one is missed."""
    parser = argparse.ArgumentParser(description="What a part of a payload costs, against all of it.")
    parser.add_argument("rows", type=int, nargs="?", default=None, help="rows of the flights table; all by default")
    limit = parser.parse_args(arguments).rows
    rows = corpora.flight_rows(limit)
    data = npser.dumps(rows)
    names = list(rows[0])
    n = len(rows)
    del rows
    gc.collect()
    whole = least(
        {"rows": lambda: npser.loads(data), "columns": lambda: npser.loads(data, tables="columns")}, WHOLE_ROUNDS
    )
    all_of_it = whole["rows"]
    print(f"{n:,} rows x {len(names)}, {len(data):,} bytes")
    print(f"all as rows {all_of_it * 1e3:.1f} ms, all as columns {whole['columns'] * 1e3:.1f} ms\n")
    print(f"{'column':16}{'select, list':>14}{'of all':>8}{'view, array':>14}{'of all':>8}")
    lists, arrays = {}, {}
    for name in names:
        took = least(
            {"list": partial(npser.loads, data, select=[name]), "array": partial(look, data, name)},
            ROUNDS,
        )
        lists[name] = took["list"] / all_of_it
        is_array = not isinstance(npser.view(data)[name], list)
        line = f"{name:16}{took['list'] * 1e3:11.2f} ms{lists[name]:8.3f}"
        if is_array:
            arrays[name] = took["array"] / all_of_it
            line += f"{took['array'] * 1e3:11.2f} ms{arrays[name]:8.3f}"
        print(line)
    others = least(
        {
            "view(data)": lambda: npser.view(data),
            "len(view(data))": lambda: len(npser.view(data)),
            "view(data)[1000:1010]": lambda: npser.view(data)[1000:1010],
        },
        ROUNDS,
    )
    print()
    for name, taken in others.items():
        print(f"{name:24}{taken * 1e3:10.3f} ms{taken / all_of_it:8.3f}")
    worst_list, worst_array = max(lists, key=lists.__getitem__), max(arrays, key=arrays.__getitem__)
    print(
        f"\na column as a list: at most {lists[worst_list]:.3f} ({worst_list}), "
        f"median {statistics.median(lists.values()):.3f}, target {LIST_TARGET}"
        f"\na numeric column as an array: at most {arrays[worst_array]:.3f} ({worst_array}), "
        f"median {statistics.median(arrays.values()):.3f}, target {ARRAY_TARGET}"
    )
    return int(lists[worst_list] > LIST_TARGET or arrays[worst_array] > ARRAY_TARGET)


if __name__ == "__main__":
    sys.exit(main())
