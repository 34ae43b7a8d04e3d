"""What moving the flights table from one Dask worker to another takes, under npser and under Dask's own families.

    pip install -e ".[dask,pandas]"
    python benchmarks/dask_wire.py                 # all 336,776 rows, three minutes; writes results and sections
    python benchmarks/dask_wire.py --rows 20000    # fewer; prints, and writes nothing
    python benchmarks/dask_wire.py --arrays        # what a frame of its own gives an array, by size; a few seconds

Strategy: a LocalCluster of two worker processes. One holds the table, a task on the other asks for it, and the clock
of the client runs from submitting that task to its answer, a number. The families take turns. Bytes are those that
the giving worker has written to its socket. Before that, each form is moved once and compared with what the receiver
has built itself.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import numpy as np  # noqa: E402
from distributed import Client, LocalCluster, wait  # noqa: E402
from distributed.protocol.serialize import deserialize, serialize  # noqa: E402

import npser.adapters.dask  # noqa: E402
from benchmarks import corpora, dask_tasks, sections, store  # noqa: E402
from benchmarks.measure import Plan, rotate, warmed  # noqa: E402
from benchmarks.tables import duration, markdown, replaced  # noqa: E402
from npser.adapters.dask import FAMILIES  # noqa: E402

ROUNDS: Final = 3

BUDGET: Final = 20.0
"""Seconds a way and form: what takes longer is not moved again."""

ALL_ROWS: Final = 336_776

DEFAULT: Final = None

PAGES: Final = (ROOT / "README.md", ROOT / "src/npser/adapters/DASK.md")
MARKERS: Final = ("<!-- dask:begin -->", "<!-- dask:end -->")


class Way(NamedTuple):
    """One way to move a form: its name in the table, how the giver wraps it, and the families."""

    name: str
    wrap: str
    families: tuple[str, ...] | None


DEFAULTS: Final = Way("Dask's families", "bare", DEFAULT)
WHOLE: Final = Way("Dask's families, within another list", "nested", DEFAULT)

WAYS: Final[dict[str, tuple[Way, ...]]] = {
    "list of dicts": (DEFAULTS, WHOLE, Way("npser, Rows", "rows", FAMILIES)),
    "records": (DEFAULTS, WHOLE, Way("npser, Rows", "rows", FAMILIES)),
    "DataFrame": (DEFAULTS, Way("npser", "bare", FAMILIES)),
    "array of its numbers": (DEFAULTS, Way("npser", "bare", FAMILIES)),
}


def move(client: Any, form: str, way: Way, giver: str, taker: str, task: Any) -> tuple[float, int, Any]:
    """Move a form once: seconds, bytes, and what the task on the taker gave."""
    client.run(dask_tasks.use, way.families)
    value = client.submit(dask_tasks.give, form, way.wrap, workers=[giver], pure=False)
    wait(value)
    start = time.perf_counter()
    found = client.submit(*task, value, workers=[taker], pure=False).result()
    return time.perf_counter() - start, client.run(dask_tasks.moved_bytes, workers=[giver])[giver], found


def measure(client: Any, form: str, limit: int) -> dict[str, dict[str, Any]]:
    """Seconds, bytes and exactness of each way to move a form."""
    giver, taker = sorted(client.scheduler_info()["workers"])
    for worker in (giver, taker):
        client.submit(dask_tasks.hold, form, limit, workers=[worker], pure=False).result()
    ways = WAYS[form]
    same = {way: move(client, form, way, giver, taker, (dask_tasks.is_same, form))[2] for way in ways}
    taken: dict[Way, list[float]] = {way: [] for way in ways}
    nbytes: dict[Way, int] = {}
    for _ in range(ROUNDS):
        for way in (way for way in ways if sum(taken[way]) < BUDGET):
            seconds, nbytes[way], _ = move(client, form, way, giver, taker, (dask_tasks.count,))
            taken[way].append(seconds)
    return {
        way.name: {
            "seconds": store.rounded(statistics.median(taken[way])),
            "bytes": nbytes[way],
            "same": same[way],
        }
        for way in ways
    }


def arrays() -> str:
    """Both ways to send an array, by its size: its memory as a frame, or encoded; without a network."""
    draw = np.random.default_rng(1)
    lines = []
    for size in (1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22):
        for kind, array in (("floats", draw.random(size // 8)), ("ints < 1000", draw.integers(0, 1000, size // 8))):
            figures = [f"{size >> 10:,} kB of {kind}"]
            for limit in (1, 1 << 60):
                with mock.patch.object(npser.adapters.dask, "RAW_BYTES", limit):
                    header, frames = serialize(array, serializers=["npser"], on_error="raise")
                    received = [memoryview(bytearray(frame)) for frame in frames]
                    tasks = [
                        warmed(lambda value: serialize(value, serializers=["npser"]), array),
                        warmed(lambda parts, header=header: deserialize(header, parts), received),
                    ]
                    rotate(tasks, Plan(rounds=9, least=5, budget=0.5))
                figures += [duration(statistics.median(task.samples)) for task in tasks]
                figures.append(f"{sum(frame.nbytes for frame in received):,}")
            lines.append(figures)
    return markdown(("array", "frame: write", "read", "bytes", "encoded: write", "read", "bytes"), lines)


def run(rows: int) -> dict[str, Any]:
    """All forms of so many rows."""
    found: dict[str, Any] = {}
    for form in WAYS:  # a new cluster each: what one form leaves in the workers' memory is no burden of the next
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
            Client(cluster) as client,
        ):
            found[form] = measure(client, form, rows)
        print(form, "done", flush=True)
    return {"rows": rows, "forms": found}


def write_sections(found: dict[str, Any]) -> None:
    """Put the table between the markers of the pages that have them."""
    for page in PAGES:
        text = replaced(page.read_text(encoding="utf-8"), sections.cluster(found), *MARKERS)
        if text is None:
            print(f"{page.name} has no section between {' and '.join(MARKERS)}: left alone")
        else:
            page.write_text(text, encoding="utf-8")
            print("wrote the section of", page.name)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Move the flights table between two Dask workers.")
    parser.add_argument("--rows", type=int, default=ALL_ROWS, help="so many rows; prints, and writes nothing")
    parser.add_argument("--layout", action="store_true", help="measure nothing, lay out anew what results.json holds")
    parser.add_argument("--no-pages", action="store_true", help="leave README.md and DASK.md alone")
    parser.add_argument("--into", type=Path, default=store.HERE, metavar="FOLDER", help="where the results are kept")
    parser.add_argument("--arrays", action="store_true", help="only arrays, by size; prints, and writes nothing")
    options = parser.parse_args(arguments)
    if options.arrays:
        npser.adapters.dask.register()
        print(arrays())
        return 0
    if not options.layout and not corpora.available()["flights"]:
        print("the flights are not here; run: python benchmarks/corpora.py flights")
        return 1
    found = store.load(options.into)["dask"] if options.layout else run(options.rows)
    print(sections.cluster(found))
    if found["rows"] != ALL_ROWS:
        print("partial run: nothing was written")
        return 0
    store.put("dask", found, options.into)
    if not options.no_pages and options.into == store.HERE:
        write_sections(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
