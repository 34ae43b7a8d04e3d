"""How fast the wire of phpser is read, against msgpack: ``python benchmarks/phpser.py``.

Strategy: the same value in both forms, read in turns in one process, medians; the two shapes that the project sets a
limit for, and the sizes that phpser publishes.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import msgpack

import npser
from benchmarks.shapes import make

CASES = (("packed_10k", "phpser1", 1.3), ("rowset_1000", "phpser", 0.8))
"""Shape, wire, and the most that reading may take of msgpack's time."""

ROUNDS, CALLS = 61, 5


def clock(call: Callable[[], Any]) -> float:
    """Seconds a call."""
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - start) / CALLS


def main() -> None:
    """Print a line a case."""
    for name, wire, limit in CASES:
        value = make(name)
        ours, theirs = npser.dumps(value, wire=wire), msgpack.packb(value)  # type: ignore[arg-type]
        assert npser.loads(ours) == value == msgpack.unpackb(theirs, strict_map_key=False)
        samples: tuple[list[float], list[float]] = ([], [])
        for _ in range(ROUNDS):
            samples[0].append(clock(lambda ours=ours: npser.loads(ours)))  # type: ignore[misc]
            samples[1].append(clock(lambda theirs=theirs: msgpack.unpackb(theirs, strict_map_key=False)))  # type: ignore[misc]
        npser_us, msgpack_us = (statistics.median(times) * 1e6 for times in samples)
        ratio = npser_us / msgpack_us
        print(
            f"{name:12} {wire:8} {len(ours):7,} bytes (msgpack {len(theirs):,}); "
            f"read {npser_us:6.0f} us, msgpack {msgpack_us:6.0f} us: {ratio:.2f} of at most {limit}"
        )


if __name__ == "__main__":
    main()
