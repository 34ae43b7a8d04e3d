"""How much memory reading and writing take at their peak, beside what they leave.

Strategy: tracemalloc, because it counts every block that Python and numpy allocate, to the byte and the same in every
run, and can begin to count when everything else is in place. The resident size of a process tells of pages, of what
the allocator keeps for later, and of whatever the process did before; its peak only grows, so every figure would need a
process of its own. What tracemalloc does not see is the allocator's own waste, which the finished value has, too.
Each call is made once before it is measured, so that imports and caches are in place.

    python benchmarks/memory.py                # a minute; writes results.json and RESULTS.md
    python benchmarks/memory.py --quick        # small values, prints and writes nothing
    python benchmarks/memory.py --where        # also says where each peak is, and what is alive there
"""

from __future__ import annotations

import argparse
import gc
import pickle
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from benchmarks import corpora, sections, store  # noqa: E402
from benchmarks.shapes import make  # noqa: E402

__all__ = ["CASES", "Case", "main", "measure_case", "where"]

DECODE_LIMIT = 1.4
"""Peak over the finished value."""

ENCODE_LIMIT = 2.5
ENCODE_ALLOWANCE = 16_000_000
"""Peak, the payload included: so many times the payload, and so many bytes."""


class Case(NamedTuple):
    """A value, whole and small."""

    name: str
    build: Callable[[], Any]
    quick: Callable[[], Any]


CASES = (
    Case("262,144 ints", partial(make, "ints_262144"), lambda: make("ints_262144")[:20_000]),
    Case("262,144 floats", partial(make, "floats_262144"), lambda: make("floats_262144")[:20_000]),
    Case("336,776 flights as dicts", corpora.flight_rows, lambda: corpora.flight_rows(2_000)),
    Case("canada", partial(corpora.load, "canada"), lambda: corpora.load("canada")["features"][0]["geometry"]),
)


def traced(call: Callable[[], Any]) -> tuple[int, int]:
    """Bytes at the peak of a call, and bytes that its result holds."""
    gc.collect()
    tracemalloc.start()
    try:
        result = call()
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    del result
    return peak, held


def measure_case(value: Any) -> dict[str, dict[str, float]]:
    """Both directions: the peak, what it may be, and whether it is; and what the value that pickle gives back holds."""
    import npser

    payload = npser.dumps(value)
    peak, _ = traced(lambda: npser.dumps(value))
    allowed = ENCODE_LIMIT * len(payload) + ENCODE_ALLOWANCE
    encode = {"peak": peak, "of": len(payload), "allowed": allowed, "kept": peak <= allowed}
    npser.loads(payload)
    peak, held = traced(lambda: npser.loads(payload))
    allowed = DECODE_LIMIT * held
    pickled = pickle.dumps(value, 5)
    _, pickles = traced(lambda: pickle.loads(pickled))
    decode = {"peak": peak, "of": held, "allowed": allowed, "kept": peak <= allowed, "pickles": pickles}
    return {"decode": decode, "encode": encode}


def where(call: Callable[[], Any], lines: int = 6) -> list[str]:
    """Where the peak of a call is, and the lines whose blocks are alive just before: found by running it twice.

    A hook looks at the peak on every call and return; the last one that finds it raised is where it came from. The
    second run counts along to there, and takes stock.
    """
    call()
    raised = _find_peak(call)
    alive: list[str] = []
    step = 0

    def take_stock(frame: Any, event: str, argument: Any) -> None:
        nonlocal step
        step += 1
        if step >= raised["step"] - 1:
            sys.setprofile(None)
            statistics = tracemalloc.take_snapshot().statistics("lineno")
            alive.extend(
                f"{stat.size / 1e6:.1f} MB by {_short(stat.traceback[0].filename)}:{stat.traceback[0].lineno}"
                for stat in statistics[:lines]
            )

    _hooked(call, take_stock)
    return [f"{raised['peak'] / 1e6:.1f} MB at {raised['place']}", *alive]


def _find_peak(call: Callable[[], Any]) -> dict[str, Any]:
    raised: dict[str, Any] = {"peak": 0, "step": 0, "place": ""}
    step, before = 0, "the start"

    def look(frame: Any, event: str, argument: Any) -> None:
        nonlocal step, before
        step += 1
        peak = tracemalloc.get_traced_memory()[1]
        here = frame.f_back if event == "call" and frame.f_back else frame  # the line that calls
        does = f" in {argument.__qualname__}" if event.startswith("c_") else ""
        place = f"{_short(here.f_code.co_filename)}:{here.f_lineno} {here.f_code.co_name}{does}"
        if peak > raised["peak"]:
            raised.update(peak=peak, step=step, place=f"{place}, or after {before}")
        before = place

    _hooked(call, look)
    return raised


def _hooked(call: Callable[[], Any], hook: Callable[[Any, str, Any], None]) -> None:
    gc.collect()
    tracemalloc.start()
    try:
        sys.setprofile(hook)
        try:
            call()
        finally:
            sys.setprofile(None)
    finally:
        tracemalloc.stop()


def _short(filename: str) -> str:
    """The path from the package on."""
    parts = Path(filename).parts
    top = next((i for i, part in enumerate(parts) if part in ("npser", "benchmarks", "numpy")), len(parts) - 1)
    return "/".join(parts[top:])


def _explain(case: Case, value: Any) -> None:
    import npser

    payload = npser.dumps(value)
    directions = {"decode": lambda: npser.loads(payload), "encode": lambda: npser.dumps(value)}
    for direction, call in directions.items():
        print(f"{case.name}, {direction}:", *where(call), sep="\n    ")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the peak memory of reading and writing.")
    parser.add_argument("--quick", action="store_true", help="small values; prints, and writes nothing")
    parser.add_argument("--where", action="store_true", help="say where each peak is; prints, and writes nothing")
    parser.add_argument("--cases", metavar="WORD", default="", help="only cases with this word in their name")
    parser.add_argument("--into", type=Path, default=store.HERE, metavar="FOLDER", help="where the results are kept")
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    for case in CASES:
        if options.cases not in case.name:
            continue
        try:
            value = case.quick() if options.quick else case.build()
        except corpora.CorpusMissing as missing:
            print("not measured:", case.name, missing)
            continue
        if options.where:
            _explain(case, value)
        else:
            found[case.name] = measure_case(value)
        del value
    if options.where:
        return 0
    print(sections.memory(found))
    if options.quick or options.cases:
        print("quick or partial run: nothing was written")
    else:
        store.put("memory", found, options.into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
