"""The clock of `compare` and `advise`: what is compared is timed in turns, and medians are what counts.

Strategy: a machine does other things, too, so calls that are timed one after the other are not compared fairly. Each
round makes every call once, in an order of its own (from a seed); short calls are repeated until a sample is long
enough to be timed. Rounds end when the time is up. The garbage collector stays as the caller has it.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

__all__ = ["Timing", "once", "rounds_of", "timing"]

SAMPLE = 2e-4
"""Seconds that a sample lasts at least."""

MAX_REPEATS = 1000
MAX_ROUNDS = 200


class Timing(NamedTuple):
    """What samples say.

    Parameters
    ----------
    seconds : float
        Their median.
    spread : float
        Half of them lie within this fraction of it: the interquartile range over the median; 0 for fewer than four.
    rounds : int
        How many there are.
    """

    seconds: float
    spread: float
    rounds: int


def timing(samples: Sequence[float]) -> Timing:
    """The median and spread of some samples.

    >>> timing([1.0, 2.0, 3.0, 4.0, 50.0])
    Timing(seconds=3.0, spread=8.5, rounds=5)
    """
    middle = statistics.median(samples)
    if len(samples) < 4 or not middle:
        return Timing(middle, 0.0, len(samples))
    low, _, high = statistics.quantiles(samples, n=4)
    return Timing(middle, (high - low) / middle, len(samples))


def once(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = perf_counter()
    call()
    return perf_counter() - start


def rounds_of(calls: Sequence[Callable[[], object]], *, until: float, most: int = MAX_ROUNDS) -> list[list[float]]:
    """Samples of each call, in seconds a call, all of the same number.

    Parameters
    ----------
    calls : sequence of callables
        Each was called before, so it is warm.
    until : float
        As `perf_counter` tells it. There is always one round, and no round begins that would hardly end in time.
    most : int
        Rounds at most.

    >>> [len(samples) for samples in rounds_of([list, dict], until=0.0)]
    [1, 1]
    """
    samples: list[list[float]] = [[] for _ in calls]
    repeats = [0] * len(calls)
    draw = random.Random(len(calls))
    order = list(range(len(calls)))
    last = 0.0
    for done in range(most if calls else 0):
        if done and perf_counter() + last >= until:
            break
        start = perf_counter()
        for at in order:
            samples[at].append(_sample(calls[at], repeats, at))
        last = perf_counter() - start
        draw.shuffle(order)
    return samples


def _sample(call: Callable[[], object], repeats: list[int], at: int) -> float:
    if not repeats[at]:
        took = once(call)
        repeats[at] = max(1, min(MAX_REPEATS, int(SAMPLE / max(took, 1e-8))))
        if repeats[at] == 1:
            return took
    n = repeats[at]
    start = perf_counter()
    for _ in range(n):
        call()
    return (perf_counter() - start) / n
