"""How the time an item grows from ten items to a million: npser beside its peers, in rotation.

Strategy: four kinds of values, made for any size from a seed: integers, different strings, dicts of seven keys, and
objects of seven fields. At each size all codecs are timed in rotation, as in `measure`, with as many rounds as
fit in a bounded time; the largest get two. The slowest codecs leave where a call of theirs would take too
long. What comes back is compared item by item up to ten thousand items.

    python benchmarks/growth.py                # three minutes; writes results.json, RESULTS.md and growth.svg
    python benchmarks/growth.py --quick        # to ten thousand items, few rounds; prints and writes nothing
"""

from __future__ import annotations

import argparse
import gc
import io
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks import sections, store  # noqa: E402
from benchmarks.measure import SAMPLE, WARM_CALLS, Plan, Task, clock, rotate  # noqa: E402
from benchmarks.peers import Codec, codecs, same  # noqa: E402
from benchmarks.shapes import CITIES, OBJECTS, Shape, dice  # noqa: E402

__all__ = ["KINDS", "Record", "at_size", "main", "measured", "plot"]

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
COMPARED = 10_000
"""Items up to which what comes back is compared with what was written, item by item."""

PATIENCE = 1.0
"""Seconds that a codec's slower direction may take at one size to be taken along to the next."""

WARM_SECONDS = 0.1


@dataclass
class Record:
    id: int
    user_id: int
    name: str
    created_at: str
    amount: float
    active: bool
    city: str


def ints(n: int) -> list[int]:
    draw = dice("growth of ints")
    return [draw.randrange(10**6) for _ in range(n)]


def strings(n: int) -> list[str]:
    return [f"user{(i * 7_919) % 1_000_003}@{CITIES[i % 40].lower()}.example.com" for i in range(n)]


def rows(n: int) -> list[dict[str, Any]]:
    """Rows as a database driver hands them out: no string is shared but the city's."""
    draw = dice("growth of rows")
    return [
        {
            "id": 10_000 + i,
            "user_id": draw.randrange(n),
            "name": f"row_{i}",
            "created_at": f"2026-05-{1 + i % 28:02}T{draw.randrange(24):02}:{draw.randrange(60):02}:00Z",
            "amount": round(draw.lognormvariate(3.2, 1.1), 2),
            "active": draw.random() < 0.7,
            "city": CITIES[draw.randrange(40)],
        }
        for i in range(n)
    ]


def records(n: int) -> list[Record]:
    return [Record(**row) for row in rows(n)]


KINDS: dict[str, tuple[Callable[[int], Any], Shape]] = {
    "ints": (ints, Shape("ints", list, "integers below a million", "growth")),
    "strings": (strings, Shape("strings", list, "different mail addresses", "growth")),
    "rows": (rows, Shape("rows", list, "dicts of 7 keys", "growth")),
    "records": (
        records,
        Shape(
            "records",
            list,
            "dataclass objects of 7 fields",
            "growth",
            classes=(Record,),
            typed=list[Record],
            traits=OBJECTS,
        ),
    ),
}
"""Kind -> what makes n of them, and the facts that the codecs need."""


def plan_for(n: int, *, quick: bool) -> Plan:
    if quick:
        return Plan(rounds=3, least=2, budget=0.1)
    return Plan(rounds=15, least=5 if n <= 30_000 else 3 if n <= 100_000 else 2, budget=0.8)


def task_for(call: Callable[[Any], Any], argument: Any) -> Task:
    """The call, warm as far as a tenth of a second allows, and how often a sample repeats it."""
    stop = perf_counter() + WARM_SECONDS
    calls, seconds = 0, float("inf")
    while calls < 1 or (calls < WARM_CALLS and perf_counter() < stop):
        seconds = min(seconds, clock(call, argument, 1))
        calls += 1
    return Task(call, argument, max(1, round(SAMPLE / max(seconds, 1e-9))), [])


def at_size(value: Any, chosen: Sequence[Codec], plan: Plan) -> dict[str, tuple[float, float]]:
    """Codec -> seconds an item to read and to write."""
    gc.collect()
    n = len(value)
    tasks: dict[str, tuple[Task, Task]] = {}
    lowered = None
    for codec in chosen:
        if codec.prepare(value[:1]) != value[:1]:  # the same for whoever needs it: made once, for it takes a while
            lowered = codec.prepare(value) if lowered is None else lowered
            prepared = lowered
        else:
            prepared = value
        data = codec.dumps(prepared)
        back = codec.loads(data)
        if n <= COMPARED:
            assert same(codec.restores(value), back), f"{codec.name} gives something else"
        del back
        tasks[codec.name] = task_for(codec.loads, data), task_for(codec.dumps, prepared)
    rotate([task for pair in tasks.values() for task in pair], plan)
    return {
        name: (statistics.median(loads.samples) / n, statistics.median(dumps.samples) / n)
        for name, (loads, dumps) in tasks.items()
    }


def measured(kind: str, sizes: Sequence[int], *, quick: bool) -> dict[str, dict[str, dict[str, float]]]:
    """Direction -> codec -> size (as text, as JSON has it) -> seconds an item."""
    build, shape = KINDS[kind]
    chosen = codecs(shape)
    found: dict[str, dict[str, dict[str, float]]] = {"loads": {}, "dumps": {}}
    for n, following in zip(sizes, [*sizes[1:], 0], strict=True):
        value = build(n)
        times = at_size(value, chosen, plan_for(n, quick=quick))
        for name, pair in times.items():
            for direction, seconds in zip(("loads", "dumps"), pair, strict=True):
                found[direction].setdefault(name, {})[str(n)] = store.rounded(seconds)
        chosen = [c for c in chosen if c.name in ("npser", "pickle") or max(times[c.name]) * following <= PATIENCE]
    return found


TITLES = {"loads": "decode", "dumps": "encode"}


def plot(found: dict[str, Any], path: Path) -> None:
    """Eight panels, both scales logarithmic: a straight level line is linear growth."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "npser", "font.size": 9, "path.simplify": True, "axes.grid": True}
    )
    from matplotlib import pyplot, ticker

    figure, axes = pyplot.subplots(2, len(found), figsize=(3 * len(found), 6), sharex=True, layout="constrained")
    for column, (kind, directions) in enumerate(found.items()):
        for row, (direction, by_codec) in enumerate(directions.items()):
            axis = axes[row][column]
            for codec, times in by_codec.items():
                own = codec == "npser"
                nanoseconds = [seconds * 1e9 for seconds in times.values()]
                style = {"color": "black", "linewidth": 2.2, "zorder": 3} if own else {"linewidth": 1.0, "alpha": 0.85}
                axis.plot(list(map(int, times)), nanoseconds, label=codec, **style)
            axis.set(xscale="log", yscale="log", title=f"{kind}: {TITLES[direction]}")
            axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
            axis.minorticks_off()
            axis.grid(axis="x", visible=False)
            axis.grid(axis="y", alpha=0.3, linewidth=0.5)
            axis.set(**({"xlabel": "items"} if row else {}), **({} if column else {"ylabel": "ns an item"}))
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
    path.write_text(_short(text.getvalue()), encoding="utf-8")


def _short(svg: str) -> str:
    """The same picture in half the bytes: a tenth of a point is fine enough, and no group is referred to by its id.

    >>> _short('<a>\\n   <path d="M 10.123456 2.5"/>\\n</a>')
    '<a>\\n<path d="M 10.1 2.5"/>\\n</a>'
    """
    for pattern, instead in ((r"(\d\.\d)\d+", r"\1"), (r'<g id="[^"]*">', "<g>"), (r"\s*\n\s*", "\n")):
        svg = re.sub(pattern, instead, svg)
    return svg


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure how the time an item grows with the number of items.")
    parser.add_argument("--quick", action="store_true", help="to ten thousand items; prints, and writes nothing")
    parser.add_argument("--kinds", metavar="A,B", help=f"of {', '.join(KINDS)}; prints, and writes nothing")
    parser.add_argument("--into", type=Path, default=store.HERE, metavar="FOLDER", help="where the results are kept")
    options = parser.parse_args(arguments)
    kinds = options.kinds.split(",") if options.kinds else list(KINDS)
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"no kind {', '.join(unknown)}; there are {', '.join(KINDS)}")
    sizes = [n for n in SIZES if n <= COMPARED] if options.quick else SIZES
    found = {}
    for kind in kinds:
        start = perf_counter()
        found[kind] = measured(kind, sizes, quick=options.quick)
        print(f"{kind}: {perf_counter() - start:.0f} s", file=sys.stderr)
    print(sections.growth(found))
    if options.quick or options.kinds:
        print("quick or partial run: nothing was written")
        return 0
    store.put("growth", found, options.into)
    try:
        plot(found, options.into / "growth.svg")
    except ImportError:
        print("growth.svg was not drawn: it needs matplotlib, which the extra `bench` brings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
