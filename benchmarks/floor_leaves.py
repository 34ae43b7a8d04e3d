"""The fastest way to make a list of leaves from ready data: the part of `floors` that races column by column.

Strategy: leaves of one type come out of the narrowest array, a range, bytes, or one joined text that is split; leaves
that are few different ones are also made once and looked up; leaves of several types are made as if all were of the
most frequent one, and the others are put over it. Whichever takes the least time for this very column wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

__all__ = ["LEAVES", "SINGLETONS", "Columns", "Way", "compiled", "identity", "quickest", "separator", "small"]

SEPARATORS = "\n\0\x1f\x1e\x1d\x1c"

RACE = 0.02
COLUMN_RACE = 0.001
"""Seconds that each whole function, and each way to make a column, gets in its race, but three calls in any case."""

LEAVES = frozenset({type(None), bool, int, float, str})
SINGLETONS = frozenset({type(None), bool})


def identity(leaf: Any) -> tuple[type, Any]:
    """What tells leaves apart: 1 is not 1.0 nor True, 0.0 is not -0.0."""
    return type(leaf), leaf.hex() if type(leaf) is float else leaf


def small(value: int) -> bool:
    return -(2**63) <= value < 2**63


def _narrow(values: list[int]) -> np.ndarray[Any, Any]:
    """The narrowest array; the least and the greatest item say which."""
    kind = np.promote_types(np.min_scalar_type(min(values)), np.min_scalar_type(max(values)))
    return np.array(values, kind if kind.kind in "iu" else "<i8")


def _view(array: np.ndarray[Any, Any]) -> Any:
    """The same as a view of bytes, whose `tolist` is sometimes the quicker one."""
    kind: Any = array.dtype.char
    return memoryview(array.tobytes()).cast(kind)


def separator(texts: Iterable[str]) -> str | None:
    """A character that is in none of the texts, if there is one among a few."""
    joined = "".join(texts)
    return next((mark for mark in SEPARATORS if mark not in joined), None)


class Way(NamedTuple):
    """One way to make a column: statements, the expression that is the list, and the ready data they name."""

    lines: list[str]
    expression: str
    bound: dict[str, Any]


def compiled(source: str, bound: dict[str, Any]) -> Callable[[Any], Any]:
    space = dict(bound)
    exec(compile(source, "<floor>", "exec"), space)  # noqa: S102 (our own source, from our own values)
    build: Callable[[Any], Any] = space["build"]
    return build


def quickest(build: Callable[[Any], Any], seconds: float = RACE) -> float:
    """The quickest of three calls, or of as many as fit."""
    stop = perf_counter() + seconds
    best, calls = float("inf"), 0
    while calls < 3 or perf_counter() < stop:
        start = perf_counter()
        build(None)
        best = min(best, perf_counter() - start)
        calls += 1
    return best


class Columns:
    """The winners of the races so far; the same column is raced once, whichever function it is for.

    >>> from itertools import count
    >>> Columns(count()).best([None] * 3).expression
    '[None] * 3'
    """

    def __init__(self, names: Iterator[int]) -> None:
        self.names = names
        self.known: dict[tuple[Any, ...], Way] = {}

    def name(self, stem: str) -> str:
        return f"{stem}{next(self.names)}"

    def best(self, values: list[Any]) -> Way:
        """The way that wins the race."""
        key = tuple(map(identity, values))
        if key not in self.known:
            ways = list(self._ways(values))
            self.known[key] = ways[0] if len(ways) == 1 else min(ways, key=_time_way)
        return self.known[key]

    def _ways(self, values: list[Any]) -> Iterator[Way]:
        kinds = set(map(type, values))
        distinct = list({identity(value): value for value in values}.values())
        if len(distinct) == 1 and type(values[0]) in SINGLETONS:
            yield Way([], f"[{values[0]!r}] * {len(values)}", {})
            return
        yield from self._uniform(values) if len(kinds) == 1 else self._mixed(values)
        if len(distinct) * 2 <= len(values) and kinds != {bool}:
            yield from self._looked_up(values, distinct)

    def _uniform(self, values: list[Any]) -> Iterator[Way]:
        """Leaves of one type."""
        kind, name = type(values[0]), self.name("A")
        if kind is str:
            mark = separator(values)
            assert mark is not None, "the texts hold every separator"
            yield Way([], f"{name}.decode().split({mark!r})", {name: mark.join(values).encode()})
        elif kind is not int:
            array = np.array(values, "<f8" if kind is float else "?")
            yield Way([], f"{name}.tolist()", {name: array})
            yield Way([], f"{name}.tolist()", {name: _view(array)})
        elif not all(map(small, values)):
            yield Way([], f"[{', '.join(map(repr, values))}]", {})
        else:
            array = _narrow(values)
            yield Way([], f"{name}.tolist()", {name: array})
            yield Way([], f"{name}.tolist()", {name: _view(array)})
            steps = set(np.diff(np.array(values, "<i8")).tolist())
            if len(steps) == 1 and steps != {0}:
                (step,) = steps
                yield Way([], f"list(range({values[0]}, {values[-1] + (1 if step > 0 else -1)}, {step}))", {})
            if array.dtype == np.uint8:
                yield Way([], f"list({name})", {name: array.tobytes()})

    def _looked_up(self, values: list[Any], distinct: list[Any]) -> Iterator[Way]:
        """The different ones made once, then looked up."""
        lut = self.best(distinct)
        places = {identity(value): i for i, value in enumerate(distinct)}
        codes = np.array([places[identity(value)] for value in values], np.intp)
        name, array = self.name("I"), self.name("lut")
        yield Way(
            [*lut.lines, f"{array} = _array({lut.expression}, object)"],
            f"{array}.take({name}).tolist()",
            {**lut.bound, name: codes, "_array": np.array},
        )
        short = codes.astype(np.uint8).tobytes() if len(distinct) <= 256 else codes
        yield Way(
            lut.lines,
            f"list(map(({lut.expression}).__getitem__, {name}{'' if len(distinct) <= 256 else '.tolist()'}))",
            {**lut.bound, name: short},
        )

    def _mixed(self, values: list[Any]) -> Iterator[Way]:
        """Leaves of several types: the most frequent type everywhere, and the others over it; or all put in order."""
        by_kind: dict[type, list[int]] = {}
        for i, value in enumerate(values):
            by_kind.setdefault(type(value), []).append(i)
        base = max(by_kind, key=lambda kind: (kind is not type(None), len(by_kind[kind])))
        filler = values[by_kind[base][0]]
        under = self.best([value if type(value) is base else filler for value in values])
        listed, arrayed, bound = [*under.lines], [*under.lines], dict(under.bound)
        out, array = self.name("c"), self.name("c")
        listed.append(f"{out} = {under.expression}")
        arrayed.append(f"{array} = _array({under.expression}, object)")
        for kind, places in by_kind.items():
            if kind is base:
                continue
            name = self.name("P")
            bound[name] = np.array(places, np.intp)
            if kind is type(None):
                listed += [f"for i in {name}.tolist(): {out}[i] = None"]
                arrayed += [f"{array}[{name}] = None"]
            else:
                over = self.best([values[i] for i in places])
                bound |= over.bound
                listed += [*over.lines, f"for i, x in zip({name}.tolist(), {over.expression}): {out}[i] = x"]
                arrayed += [*over.lines, f"{array}[{name}] = {over.expression}"]
        yield Way(listed, out, bound)
        yield Way(arrayed, f"{array}.tolist()", {**bound, "_array": np.array})


def _time_way(way: Way) -> float:
    body = "".join(f"    {line}\n" for line in [*way.lines, f"return {way.expression}"])
    return quickest(compiled(f"def build(_):\n{body}", way.bound), COLUMN_RACE)
