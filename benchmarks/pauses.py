"""What pausing the cyclic garbage collector gives: the same reads with npser's pause and without, in rotation.

Strategy: without means that npser finds a collector that says it is off already, so it neither stops nor starts the
real one, which runs as it does for every other codec. Both once in a small process and once beside many live
containers, because a full collection walks all of them. `thresholds_shapes.py::sweep_collector` is about the threshold.

    python benchmarks/pauses.py                # half a minute; writes results.json and RESULTS.md
    python benchmarks/pauses.py --quick
"""

from __future__ import annotations

import argparse
import gc
import pickle
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks import corpora, sections, store  # noqa: E402
from benchmarks.measure import Plan, rotate, warmed  # noqa: E402
from benchmarks.peers import CODECS  # noqa: E402
from benchmarks.shapes import SHAPES  # noqa: E402

__all__ = ["NAMES", "compared", "main"]

NAMES = ("rowset_1000", "dto_1000", "flights_10k", "citm")
ALIVE = 200_000
"""Lists and dicts alive in the process that is not small: what a small service has."""


class Idle:
    """A collector that is off, and that nobody can switch on."""

    @staticmethod
    def isenabled() -> bool:
        return False

    @staticmethod
    def disable() -> None:
        return None

    enable = disable


def unpaused(loads: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """The same read without npser's pause."""
    from npser.shapes import collector

    names = vars(collector)
    assert names["gc"] is gc

    def read(data: bytes) -> Any:
        names["gc"] = Idle
        try:
            return loads(data)
        finally:
            names["gc"] = gc

    return read


def collections(call: Callable[[bytes], Any], data: bytes) -> int:
    """How often the collector runs during one call."""
    gc.collect()
    before = sum(generation["collections"] for generation in gc.get_stats())
    result = call(data)
    after = sum(generation["collections"] for generation in gc.get_stats())
    del result
    return int(after - before)


def compared(name: str, plan: Plan) -> dict[str, float]:
    """Seconds a read: paused, running, and pickle's."""
    shape = SHAPES[name]
    value = shape.build()
    codec = CODECS["npser"](shape)
    data, pickled = codec.dumps(value), pickle.dumps(value, 5)
    running = unpaused(codec.loads)
    tasks = {
        "paused": warmed(codec.loads, data),
        "running": warmed(running, data),
        "pickle": warmed(partial(pickle.loads), pickled),
    }
    rotate(list(tasks.values()), plan)
    figures: dict[str, float] = {key: store.rounded(statistics.median(task.samples)) for key, task in tasks.items()}
    return figures | {"collections": collections(running, data), "collections_paused": collections(codec.loads, data)}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure what pausing the collector gives.")
    parser.add_argument("--quick", action="store_true", help="a few rounds; prints, and writes nothing")
    parser.add_argument("--into", type=Path, default=store.HERE, metavar="FOLDER", help="where the results are kept")
    options = parser.parse_args(arguments)
    plan = Plan(rounds=3, least=3, budget=0.3) if options.quick else Plan(rounds=25, least=9, budget=3.0)
    found: dict[str, Any] = {"alive": ALIVE, "small": {}, "large": {}}
    for process in ("small", "large"):
        alive = [[{"i": i}] for i in range(ALIVE // 2)] if process == "large" else []
        for name in NAMES:
            try:
                found[process][name] = compared(name, plan)
            except corpora.CorpusMissing as missing:
                print("not measured:", name, missing)
        del alive
    print(sections.collector(found))
    if options.quick:
        print("quick run: nothing was written")
    else:
        store.put("collector", found, options.into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
