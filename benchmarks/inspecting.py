"""What `npser inspect FILE` takes on a large payload, as a process of its own: wall time and peak of resident memory.

    python benchmarks/inspecting.py            # 100 MB payloads, four minutes, most of it to make them
    python benchmarks/inspecting.py --mb 10
    python benchmarks/inspecting.py --only rows texts

Strategy: the payload is written to a file, by a process of its own, for a child begins with the peak of its parent.
Then the command that a person would type is run on it three times; the least processor time counts (wall time is
printed, too: it is what others on the machine leave), and the largest peak. The command maps the file, and pages of a
map that were touched count as resident, so a peak below that of the payload says that most of it was never looked at.
The peak of `npser --version`, which imports as much and reads nothing, is printed first.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import numpy as np  # noqa: E402

import npser  # noqa: E402
from benchmarks import corpora  # noqa: E402

__all__ = ["KINDS", "main", "run"]

SECONDS, MEGABYTES = 2.0, 100.0
"""The targets: of the whole process, and of its memory, the pages of the payload that it touched not counted."""

ROUNDS = 3


class Run(NamedTuple):
    """One process: how long, on how much of a processor, how much memory at its peak, and how it ended."""

    seconds: float
    processor: float
    peak: float
    code: int


def joined(part: bytes, nbytes: int) -> bytes:
    """Rows again and again, without building them."""
    return npser.concat([part] * max(1, round(nbytes / len(part))))


def rows(nbytes: int) -> bytes:
    return joined(npser.dumps(corpora.flight_rows(100_000)), nbytes)


def floats(nbytes: int) -> bytes:
    return npser.dumps(np.random.default_rng(1).random(nbytes // 8))


def prices(nbytes: int) -> bytes:
    return npser.dumps((np.random.default_rng(1).integers(0, 10**7, nbytes // 3) / 100).tolist())


def texts(nbytes: int) -> bytes:
    return npser.dumps([f"{i:07} {'x' * (nbytes // 1_000_000 - 9)}" for i in range(1_000_000)])


def categories(nbytes: int) -> bytes:
    names = [f"category {i}" for i in range(200)]
    return joined(npser.dumps([{"c": name} for name in names * 5000]), nbytes)


def changed(value: Any, mark: str) -> Any:
    """A document whose texts are its own."""
    if isinstance(value, dict):
        return {key: changed(item, mark) for key, item in value.items()}
    if isinstance(value, list):
        return [changed(item, mark) for item in value]
    return f"{value} {mark}" if isinstance(value, str) else value


def documents(nbytes: int) -> bytes:
    """Webhooks of all kinds, again and again with other texts."""
    events = corpora.load("webhooks")
    first = npser.dumps(changed(events, " " * 96))
    times = max(1, round(0.7 * nbytes / len(first)))
    return npser.dumps([event for i in range(times) for event in changed(events, f"{i:96}")])


def keyed(nbytes: int) -> bytes:
    """Documents of which no two have the same keys."""
    return npser.dumps([{f"a{i}": i, f"b{i}": [i, str(i)]} for i in range(nbytes // 40)])


KINDS: Final[dict[str, tuple[str, Callable[[int], bytes], str]]] = {
    "rows": ("flights, as rows", rows, "flights"),
    "floats": ("an array of random doubles", floats, ""),
    "prices": ("a list of prices", prices, ""),
    "texts": ("1,000,000 strings", texts, ""),
    "categories": ("200 strings, again and again", categories, ""),
    "documents": ("webhooks", documents, "webhooks"),
    "keyed": ("documents, each with keys of its own", keyed, ""),
}
"""Name -> what it is, how it is made, and the corpus that it needs."""


def run(arguments: list[str]) -> Run:
    """The command line of npser as a process, its output thrown away."""
    command = [sys.executable, "-m", "npser.cli", *arguments]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    environment: Any = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    start = time.perf_counter()
    child = os.posix_spawn(sys.executable, command, environment, file_actions=[(os.POSIX_SPAWN_DUP2, nowhere, 1)])
    _, status, used = os.wait4(child, 0)
    taken = time.perf_counter() - start
    os.close(nowhere)
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(taken, used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6, os.waitstatus_to_exitcode(status))


def main(arguments: list[str] | None = None) -> int:
    """Print a line a kind of payload; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description="Time and memory of `npser inspect` on large payloads.")
    parser.add_argument("--mb", type=float, default=100)
    parser.add_argument("--only", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--command", default="inspect", choices=("inspect", "du", "tree"))
    parser.add_argument("--make", type=Path, help="only write the first kind of payload to this file")
    wanted = parser.parse_args(arguments)
    if wanted.make is not None:
        wanted.make.write_bytes(KINDS[wanted.only[0]][1](int(wanted.mb * 1e6)))
        return 0
    missed = 0
    empty = run(["--version"])
    print(f"npser --version: {empty.seconds:.2f} s, peak {empty.peak:.0f} MB")
    for name in wanted.only:
        what, _, corpus = KINDS[name]
        if corpus and not corpora.available()[corpus]:
            print(f"{name}: left out, python benchmarks/corpora.py brings its data")
            continue
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "payload.npser"
            made = ["--mb", str(wanted.mb), "--only", name, "--make", str(file)]
            subprocess.run([sys.executable, __file__, *made], check=True)
            size = file.stat().st_size / 1e6
            runs = [run([wanted.command, str(file)]) for _ in range(ROUNDS)]
        processor, seconds = min(one.processor for one in runs), min(one.seconds for one in runs)
        peak = max(one.peak for one in runs)
        kept = processor <= SECONDS and peak <= size + MEGABYTES and not any(one.code for one in runs)
        missed += not kept
        print(
            f"{'ok  ' if kept else 'MISS'} {what}: {size:.0f} MB, {processor:.2f} s of a processor, "
            f"{seconds:.2f} s, peak {peak:.0f} MB"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
