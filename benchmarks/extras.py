"""What is measured of npser alone, beside the peers: the floor, arrays instead of lists, and a shape never met before.

Strategy: the floor and the read with numbers="array" are timed in the same rotation as the codecs. Cold reads cannot
be: before each the shapes that the process remembers are forgotten, off the clock, so single calls alternate with
pickle's. The interpreter and whatever npser keeps per set of keys are warm: cold is a payload whose shape is new, in
a process that has been reading for a while.
"""

from __future__ import annotations

import statistics
from time import perf_counter
from typing import Any

from benchmarks.floors import floor_of
from benchmarks.measure import Extra
from benchmarks.peers import Codec, same
from benchmarks.targets import ARRAY_SHAPES, COLD_SHAPES

__all__ = ["cold", "extras"]

COLD_CALLS = 301
QUICK_COLD_CALLS = 31


def extras(name: str, value: Any) -> list[Extra]:
    """What to time beside the codecs for one shape."""
    found = [Extra("floor", floor_of(value).build, None)]
    if name in ARRAY_SHAPES:
        found.append(_array(value))
    return found


def _array(value: Any) -> Extra:
    import npser

    data = npser.dumps(value)

    def read(payload: bytes) -> Any:
        return npser.loads(payload, numbers="array")

    assert same(read(data).tolist(), value), 'numbers="array" gives something else'
    return Extra("array", read, data)


def cold(name: str, value: Any, codecs: list[Codec], calls: int = COLD_CALLS) -> dict[str, float] | None:
    """Seconds a call of npser and of pickle, npser's with no shape remembered; None for shapes that nobody asks for."""
    if name not in COLD_SHAPES:
        return None
    from npser.shapes.build import SHAPES

    readers = {codec.name: (codec.loads, codec.dumps(value)) for codec in codecs if codec.name in ("npser", "pickle")}
    samples: dict[str, list[float]] = {reader: [] for reader in readers}
    for _ in range(calls):
        for reader, (loads, data) in readers.items():
            SHAPES.clear()
            start = perf_counter()
            back = loads(data)
            samples[reader].append(perf_counter() - start)
            del back
    return {reader: statistics.median(times) for reader, times in samples.items()}
