"""The clock: all codecs in rotation, many short samples, medians.

Strategy: a machine that does other things drifts, so codecs that are timed one after the other are not compared fairly.
Here every round times every codec's dumps and loads once, and what counts is the median over the rounds. The garbage
collector stays on for everybody, as it is where caches are read; a full collection falls on whoever is at work when it
is due, so the order is drawn anew each round (from a seed), and a sample makes at least four calls, and lasts at least
a millisecond. A result is freed within its sample. Before the first sample every call is made until it is warm; what
the very first call took is kept apart.
"""

from __future__ import annotations

import gc
import pickle
import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from benchmarks.peers import Codec, same

__all__ = ["AgainstPickle", "Extra", "Plan", "Result", "against_pickle", "measure", "rotate", "warmed"]

SAMPLE = 1e-3
"""Seconds that a sample lasts at least."""

LEAST_CALLS = 4
"""Calls in a sample at least: of a large value one call in a few pays for a full collection."""

WARM_CALLS = 250
"""Calls before the first sample, if they fit in `WARM_SECONDS`: compiled shapes and branch predictors are then warm."""

WARM_SECONDS = 0.25


class Plan(NamedTuple):
    """How long to measure a shape: `rounds` of them, or as many as fit in `budget` seconds, but `least` in any case."""

    rounds: int = 25
    least: int = 7
    budget: float = 8.0


class Result(NamedTuple):
    """What one codec did with one shape; times in seconds a call. `error` is set instead where it could not do it."""

    codec: str
    fidelity: str
    verified: bool = False
    size: int = 0
    dumps: float = 0.0
    loads: float = 0.0
    first_dumps: float = 0.0
    first_loads: float = 0.0
    spread: float = 0.0
    rounds: int = 0
    error: str = ""


class Extra(NamedTuple):
    """Something else to time in the same rotation."""

    name: str
    call: Callable[[Any], Any]
    argument: Any


class Task(NamedTuple):
    """One call to time, how often a sample repeats it, and the samples taken."""

    call: Callable[[Any], Any]
    argument: Any
    repeats: int
    samples: list[float]


def clock(call: Callable[[Any], Any], argument: Any, repeats: int) -> float:
    """Seconds a call, over `repeats` calls."""
    start = time.perf_counter()
    for _ in range(repeats):
        call(argument)
    return (time.perf_counter() - start) / repeats


def warmed(call: Callable[[Any], Any], argument: Any) -> Task:
    """The call as a task, after it was made often enough to be warm and to know how long it takes."""
    stop = time.perf_counter() + WARM_SECONDS
    calls = 0
    while calls < WARM_CALLS and time.perf_counter() < stop:
        call(argument)
        calls += 1
    repeats = LEAST_CALLS
    while (seconds := clock(call, argument, repeats)) * repeats < SAMPLE:
        repeats = max(repeats + 1, min(repeats * 10, round(1.2 * SAMPLE / max(seconds, 1e-9))))
    return Task(call, argument, repeats, [])


def rotate(tasks: Sequence[Task], plan: Plan) -> int:
    """Time every task once a round, in an order of the round's own; returns how many rounds there were."""
    start = time.perf_counter()
    order = list(tasks)
    draw = random.Random(len(order))
    for done in range(plan.rounds):
        if done >= plan.least and time.perf_counter() - start > plan.budget:
            return done
        draw.shuffle(order)
        for task in order:
            task.samples.append(clock(task.call, task.argument, task.repeats))
    return plan.rounds


class AgainstPickle(NamedTuple):
    """Seconds a call to write and to read, npser's and pickle's; the bytes of both; and what npser read."""

    write: float
    pickle_write: float
    read: float
    pickle_read: float
    size: int
    pickle_size: int
    back: Any


def against_pickle(
    value: Any, dumps: Callable[[Any], bytes], loads: Callable[[bytes], Any], plan: Plan
) -> AgainstPickle:
    """One value through npser and pickle, as it is called without options; they take turns."""
    data, pickled = dumps(value), pickle.dumps(value)
    tasks = [
        warmed(dumps, value),
        warmed(pickle.dumps, value),
        warmed(loads, data),
        warmed(pickle.loads, pickled),
    ]
    rotate(tasks, plan)
    write, pickle_write, read, pickle_read = (statistics.median(task.samples) for task in tasks)
    return AgainstPickle(write, pickle_write, read, pickle_read, len(data), len(pickled), loads(data))


def spread(samples: Sequence[float]) -> float:
    """Half of the samples lie within this fraction of the median (the interquartile range over it)."""
    low, middle, high = statistics.quantiles(samples, n=4)
    return (high - low) / middle


def measure(
    value: Any, codecs: Sequence[Codec], plan: Plan, extras: Callable[[], Iterable[Extra]] = tuple
) -> tuple[list[Result], dict[str, float]]:
    """One result a codec, in their order; and the seconds a call of each extra.

    `extras` is called once the first calls, which are timed on their own, are over.
    """
    gc.collect()
    pickle.loads(pickle.dumps(value, 5))  # walks the value once, so that the first codec does not pay for cold memory
    failures: dict[str, Result] = {}
    checked: dict[str, Result] = {}
    tasks: dict[str, tuple[Task, Task]] = {}
    for codec in codecs:
        try:
            checked[codec.name], data, prepared = _check(value, codec)
        except Exception as error:  # whatever a peer raises is a line in the table, not the end of the run
            failures[codec.name] = Result(codec.name, codec.fidelity, error=f"{type(error).__name__}: {error}")
            continue
        tasks[codec.name] = warmed(codec.dumps, prepared), warmed(codec.loads, data)
    beside = {extra.name: warmed(extra.call, extra.argument) for extra in extras()}
    rounds = rotate([*(task for pair in tasks.values() for task in pair), *beside.values()], plan)
    for name, (dumps, loads) in tasks.items():
        checked[name] = checked[name]._replace(
            dumps=statistics.median(dumps.samples),
            loads=statistics.median(loads.samples),
            spread=max(spread(dumps.samples), spread(loads.samples)),
            rounds=rounds,
        )
    found = [failures.get(codec.name) or checked[codec.name] for codec in codecs]
    return found, {name: statistics.median(task.samples) for name, task in beside.items()}


def _check(value: Any, codec: Codec) -> tuple[Result, bytes, Any]:
    """The first two calls, timed singly, and whether what came back is what must come back."""
    prepared = codec.prepare(value)
    start = time.perf_counter()
    data = codec.dumps(prepared)
    written = time.perf_counter()
    back = codec.loads(data)
    read = time.perf_counter()
    verified = same(codec.restores(value), back)
    first = Result(
        codec.name, codec.fidelity, verified, len(data), first_dumps=written - start, first_loads=read - written
    )
    return first, data, prepared
