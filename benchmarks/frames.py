"""The flights frame through npser, pickle 5, Parquet and Feather: bytes, decode, encode, and one column of nineteen.

    python benchmarks/frames.py              # about a minute; prints the targets and the tables
    python benchmarks/frames.py --write      # and writes benchmarks/RESULTS_FRAMES.md

Strategy: the peers take turns in one process, in an order drawn anew each round, and medians count. What decoding costs
depends on memory more than on anything else: touching 62 MB for the first time takes longer than copying them. So there
are two tables: `fresh`, where the memory that the process has freed is given back to the system before each call, as
for a frame that is read once, and `again`, where a frame takes the place of the one before it. The targets are about
`fresh`. Times are of the clock on the wall; Parquet and Feather use all cores, the others one.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import io
import pickle
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import pandas as pd  # noqa: E402
import pyarrow as pa  # noqa: E402

import npser  # noqa: E402
from benchmarks import corpora  # noqa: E402
from benchmarks.tables import markdown, ratio  # noqa: E402
from npser.adapters import pandas as adapter  # noqa: E402

RESULTS = Path(__file__).with_name("RESULTS_FRAMES.md")
ROUNDS = 11
PICKLE, PARQUET, FEATHER, NPSER = "pickle 5", "Parquet zstd", "Feather lz4", "npser"

Times = dict[str, float]


def parquet(frame: Any) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out, compression="zstd")
    return out.getvalue()


def feather(frame: Any) -> bytes:
    out = io.BytesIO()
    frame.to_feather(out, compression="lz4")
    return out.getvalue()


DUMPS: dict[str, Callable[[Any], bytes]] = {
    NPSER: npser.dumps,
    PICKLE: lambda frame: pickle.dumps(frame, 5),
    PARQUET: parquet,
    FEATHER: feather,
}
LOADS: dict[str, Callable[[bytes], Any]] = {
    NPSER: npser.loads,
    PICKLE: pickle.loads,
    PARQUET: lambda data: pd.read_parquet(io.BytesIO(data)),
    FEATHER: lambda data: pd.read_feather(io.BytesIO(data)),
}


def give_back() -> None:
    """Give freed memory back to the system, as far as the C library and Arrow can."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def nothing() -> None:
    """Leave memory as it is."""


def turns(calls: dict[str, Callable[[], Any]], before: Callable[[], None], rounds: int = ROUNDS) -> tuple[Times, Times]:
    """Milliseconds of each of some calls that take turns, the result freed outside of the clock: median and least."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    order = list(calls)
    draw = random.Random(1)
    for _ in range(rounds):
        draw.shuffle(order)
        for name in order:
            before()
            start = time.perf_counter()
            found = calls[name]()
            taken[name].append(time.perf_counter() - start)
            del found
    middle = {name: statistics.median(times) * 1e3 for name, times in taken.items()}
    return middle, {name: min(times) * 1e3 for name, times in taken.items()}


def one_column(data: bytes, names: list[str], before: Callable[[], None]) -> dict[str, float]:
    """What a column costs, of what all of them do, by name."""
    calls: dict[str, Callable[[], Any]] = {name: lambda name=name: adapter.read_columns(data, [name]) for name in names}
    times, _ = turns(calls | {"": lambda: npser.loads(data)}, before, 7)
    return {name: times[name] / times[""] for name in names}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write benchmarks/RESULTS_FRAMES.md")
    write = parser.parse_args(arguments).write
    corpora.load("flights")  # says what to do if it is not there
    adapter.register()
    frame = pd.read_csv(corpora.DATA / "flights.csv")
    data = {name: dumps(frame) for name, dumps in DUMPS.items()}
    pd.testing.assert_frame_equal(frame, npser.loads(data[NPSER]), check_exact=True)
    decode = {name: (lambda name=name: LOADS[name](data[name])) for name in LOADS}
    encode = {name: (lambda name=name: DUMPS[name](frame)) for name in DUMPS}
    (fresh, least), (again, _) = turns(decode, give_back), turns(decode, nothing)
    written, _ = turns(encode, nothing, 5)
    parts = one_column(data[NPSER], list(frame.columns), give_back)
    size = {name: len(raw) for name, raw in data.items()}
    worst = max(parts, key=parts.__getitem__)
    targets = [
        ("bytes ÷ pickle 5", size[NPSER] / size[PICKLE], 0.35),
        ("bytes ÷ Parquet", size[NPSER] / size[PARQUET], 1.2),
        ("decode ÷ pickle 5, fresh", fresh[NPSER] / fresh[PICKLE], 0.6),
        ("decode ÷ Parquet, fresh", fresh[NPSER] / fresh[PARQUET], 0.6),
        ("one column ÷ all, median of 19", statistics.median(parts.values()), 0.1),
        (f"one column ÷ all, worst ({worst})", parts[worst], 0.1),
    ]
    lines = [
        f"# The flights frame: {frame.shape[0]:,} × {frame.shape[1]}",
        "",
        f"pandas {pd.__version__}, pyarrow {pa.__version__}; printed by `python benchmarks/frames.py`.",
        "",
        markdown(
            ("target", "measured", "at most", ""),
            [(name, ratio(found), str(most), "pass" if found <= most else "MISS") for name, found, most in targets],
        ),
        "",
        markdown(
            ("codec", "bytes", "decode, fresh", "at least", "decode, again", "encode"),
            [
                (name, f"{size[name]:,}", *(f"{times[name]:.1f} ms" for times in (fresh, least, again, written)))
                for name in DUMPS
            ],
        ),
        "",
        markdown(("column", "of decoding all"), [(name, ratio(part)) for name, part in parts.items()]),
    ]
    text = "\n".join(lines) + "\n"
    print(text)
    if write:
        RESULTS.write_text(text)
    return int(any(found > most for _, found, most in targets))


if __name__ == "__main__":
    sys.exit(main())
