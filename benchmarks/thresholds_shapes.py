"""What the constants above the blocks rest on: run `python -m benchmarks.thresholds_shapes [sweep]`.

Strategy: the same payload read in two ways that one constant decides between, in one process, best of several.
"""

from __future__ import annotations

import gc
import random
import sys
from typing import Any

import npser
from benchmarks.thresholds import best, run
from npser.columns import pooled, slots
from npser.shapes import build, collector, generated, templates
from npser.shapes.generated import build_rows
from npser.shapes.hot import compile_program

ROWS = (4, 8, 16, 32, 64, 128, 256, 512)


def _rows(n: int) -> list[dict[str, Any]]:
    rng = random.Random(n)
    return [
        {"id": i, "user": 1000 + rng.randrange(50), "name": f"row {i}", "state": rng.choice("abc"), "price": i * 1.07}
        for i in range(n)
    ]


def sweep_pooled() -> None:
    """POOLED_ITEMS: a table whose columns are in the pools, or each in a body of its own."""
    print(f"\n{'rows':>8}{'pooled':>10}{'bodies':>10}   us to read      bytes pooled / bodies")
    kept = pooled.POOLED_ITEMS, slots.POOLED_ITEMS
    for n in ROWS:
        payloads = []
        for items in (10**6, 1):
            pooled.POOLED_ITEMS = slots.POOLED_ITEMS = items
            payloads.append(npser.dumps({"rows": _rows(n)}))
        pooled.POOLED_ITEMS, slots.POOLED_ITEMS = kept
        times = [best(lambda data=data: npser.loads(data)) / 1000 for data in payloads]  # type: ignore[misc]
        print(f"{n:8}{times[0]:10.1f}{times[1]:10.1f}{len(payloads[0]):25} / {len(payloads[1])}")


def sweep_rows() -> None:
    """GENERATED_ROWS: dicts by generated code bound to the keys (binding included), or by a loop."""
    print(f"\n{'rows':>8}{'generated':>11}{'loop':>8}   us")
    keys = ("id", "user", "name", "state", "price")
    for n in ROWS:
        columns = [list(range(n))] * len(keys)
        generated = best(lambda columns=columns: build_rows(keys)(columns))  # type: ignore[misc]
        loop = best(lambda columns=columns: [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)])  # type: ignore[misc]
        print(f"{n:8}{generated / 1000:11.1f}{loop / 1000:8.1f}")


def sweep_shared() -> None:
    """MIN_SHARED, MAX_SHARED: dicts as displays, or as the dicts of objects, which share their keys."""
    print(f"\n{'keys':>8}{'displays':>10}{'shared':>9}   us for 1000 dicts     bytes each")
    for k in (2, 4, 6, 7, 8, 12, 19, 29):
        keys = tuple(f"key {i}" for i in range(k))
        columns = [list(range(1000, 2000))] * k
        display = generated.bind(generated._maker(templates.rows_template(k))(), keys)
        shared = generated.bind(generated._maker(templates.shared_rows_template(k))(generated.new_row_class()), keys)
        times = [best(lambda build=build, columns=columns: build(columns)) / 1000 for build in (display, shared)]  # type: ignore[misc]
        sizes = [sys.getsizeof(build(columns)[0]) for build in (display, shared)]
        print(f"{k:8}{times[0]:10.1f}{times[1]:9.1f}{sizes[0]:26} / {sizes[1]}")


def _document(leaves: int) -> dict[str, Any]:
    return {f"part {i}": {f"leaf {j}": f"text {i} {j}" for j in range(8)} | {"n": i} for i in range(leaves // 9)}


def sweep_hot() -> None:
    """HOT_AFTER: what compiling a shape costs, and after how many reads it has paid that back."""
    print(f"\n{'leaves':>8}{'loops':>9}{'hot':>9}   us to read{'compile':>10} us{'pays after':>12} reads")
    for leaves in (9, 27, 90, 270, 900):
        data = npser.dumps(_document(leaves))
        kept, build.HOT_AFTER = build.HOT_AFTER, 1 << 60
        build.SHAPES.clear()
        loops = best(lambda data=data: npser.loads(data)) / 1000  # type: ignore[misc]
        (program,) = build.SHAPES.programs
        compiling = best(lambda program=program: compile_program(program)) / 1000  # type: ignore[misc]
        build.HOT_AFTER = 1
        build.SHAPES.clear()
        npser.loads(data)
        hot = best(lambda data=data: npser.loads(data)) / 1000  # type: ignore[misc]
        build.HOT_AFTER = kept
        print(f"{leaves:8}{loops:9.1f}{hot:9.1f}{compiling:21.0f}{compiling / (loops - hot):15.0f}")
    build.SHAPES.clear()


def sweep_collector() -> None:
    """WORTH_PAUSING: reading with the collector paused or running, beside the objects that a small service has."""
    alive = [[{"i": i}] for i in range(200_000)]
    print(f"\n{'rows':>8}{'paused':>10}{'running':>10}   us to read, {len(alive):,} lists and dicts alive")
    for n in (100, 1000, 10_000, 100_000):
        data = npser.dumps([{"id": i, "tags": ["a", "b"], "at": {"x": i}} for i in range(n)])
        paused = best(lambda data=data: npser.loads(data), 0.5) / 1000  # type: ignore[misc]
        vars(collector)["gc"] = _Idle()
        running = best(lambda data=data: npser.loads(data), 0.5) / 1000  # type: ignore[misc]
        vars(collector)["gc"] = gc
        print(f"{n:8}{paused:10.0f}{running:10.0f}")
    gc.collect()


class _Idle:
    """A collector that cannot be paused."""

    def isenabled(self) -> bool:
        return False

    def disable(self) -> None:
        return None


SWEEPS = (sweep_pooled, sweep_rows, sweep_shared, sweep_hot, sweep_collector)

if __name__ == "__main__":
    run(SWEEPS, sys.argv[1:])
