"""What npser is to reach, as data, and whether it does.

Strategy: a target is a row of the table in the project's issue "Faster to read than anything compiled". It names its
shapes, each with its three limits: decoding over the fastest peer (whether or not that one gives the types back; over
pickle where the row says so), encoding over pickle, size over msgpack. A row shows the shape that is worst against
its limit, and passes a column if that one does. What is compared with the limit is the measured figure, not the
rounded one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from benchmarks.lines import Line, Results, lines
from benchmarks.tables import markdown, ratio

__all__ = [
    "ARRAY_SHAPES",
    "COLD_SHAPES",
    "HEAD",
    "TARGETS",
    "Figure",
    "Judgement",
    "Limit",
    "Target",
    "below_the_floor",
    "by_shape",
    "cells",
    "judge",
    "rowless",
    "summary",
    "table",
]


class Limit(NamedTuple):
    """What one shape may take at most; None where nothing is asked."""

    shape: str
    decode: float
    encode: float | None = None
    size: float | None = None


class Target(NamedTuple):
    """One row: its name, its shapes, and the figure of a `Line` that the decode limit is for."""

    row: str
    limits: tuple[Limit, ...]
    decode: str = "loads_best"


class Figure(NamedTuple):
    """A measured ratio beside its limit."""

    shape: str
    value: float
    limit: float

    @property
    def passes(self) -> bool:
        return self.value <= self.limit

    def __str__(self) -> str:
        """The figure, the limit, and which way round they stand; a digit more where rounding would hide that.

        >>> print(Figure("a", 0.7249, 0.8), "and", Figure("a", 0.8012, 0.8))
        0.72 ≤ 0.8 and 0.801 > 0.8
        """
        spellings = [ratio(self.value), *(f"{self.value:.{digits}f}" for digits in (3, 4, 6, 8))]
        shown = next((s for s in spellings if (float(s) <= self.limit) is self.passes), repr(self.value))
        return f"{shown} {'≤' if self.passes else '>'} {self.limit:g}"


class Judgement(NamedTuple):
    """One row as it came out: the figures of its shapes, and the shapes that were not measured."""

    row: str
    decode: list[Figure]
    encode: list[Figure]
    size: list[Figure]
    absent: list[str]

    @property
    def measured(self) -> bool:
        return bool(self.decode)

    @property
    def passes(self) -> bool:
        return all(figure.passes for column in COLUMNS for figure in getattr(self, column))


COLUMNS = ("decode", "encode", "size")


def _same(shapes: str, decode: float, encode: float, size: float) -> tuple[Limit, ...]:
    """Several shapes with the same limits."""
    return tuple(Limit(shape, decode, encode, size) for shape in shapes.split())


ARRAY_SHAPES = ("ints_random_10k", "ints_262144", "floats_262144", "prices_10k", "flags_10k")
"""Read with numbers="array", too."""

COLD_SHAPES = ("session_2_7kb", "webhook")
"""Read cold, too."""

TARGETS = (
    Target(
        "packed_1k, packed_10k, random ints, sorted IDs",
        (
            *_same("packed_1k packed_10k", 0.8, 1.3, 0.02),
            Limit("ints_random_10k", 0.8, 1.3, 0.65),
            Limit("ints_sorted_10k", 0.8, 1.3, 0.45),
        ),
    ),
    Target("floats (262k), prices", (Limit("floats_262144", 0.85, 1.8, 1.0), Limit("prices_10k", 0.85, 2.5, 0.40))),
    Target("flags", _same("flags_10k", 0.85, 0.8, 0.13)),
    Target("distinct strings (10k e-mails, 32k hex)", _same("strings_distinct_10k hex_32768", 1.15, 0.6, 1.0)),
    Target("40 categories", _same("strings_40_categories_10k strings_40_categories_distinct_10k", 0.4, 1.3, 0.09)),
    Target("buckets, counters", _same("buckets_5k counters_5k", 0.85, 1.2, 0.75)),
    Target("nullable ints", _same("ints_nullable_10k", 0.85, 1.5, 0.6)),
    Target(
        "rowset_100 / rowset_1000 / distinct",
        (Limit("rowset_100", 0.9, 1.2, 0.24), *_same("rowset_1000 rowset_distinct_1000", 0.6, 1.2, 0.24)),
    ),
    Target("products_100", _same("products_100", 0.8, 1.2, 0.5)),
    Target(
        "dto_100 / dto_1000 (vs pickle)",
        (Limit("dto_100", 0.45, 0.45, 0.33), Limit("dto_1000", 0.3, 0.45, 0.33)),
        "loads_pickle",
    ),
    Target("dto_mixed (vs pickle)", _same("dto_mixed", 0.45, 0.6, 0.30), "loads_pickle"),
    Target("deep_50, hot", _same("deep_50", 1.0, 1.3, 0.95)),
    Target("web session, hot", _same("session_2_7kb", 1.1, 1.5, 1.0)),
    Target("one webhook, hot", _same("webhook", 1.1, 1.3, 0.85)),
    Target("all webhooks, twitter", _same("webhooks_all twitter", 0.9, 1.2, 0.55)),
    Target("citm, canada", _same("citm canada", 0.6, 1.2, 0.6)),
    Target("10,000 flights as dicts", _same("flights_10k", 0.55, 0.8, 0.20)),
    Target(
        'any numeric column with `numbers="array"`',
        tuple(Limit(shape, 0.05) for shape in ARRAY_SHAPES),
        "array_best",
    ),
    Target("web session and webhook, cold (vs pickle)", tuple(Limit(s, 3.0) for s in COLD_SHAPES), "cold_pickle"),
)
"""The issue's table, in its order; the last row is from its text."""


def judge(results: Results, targets: Iterable[Target] = TARGETS) -> list[Judgement]:
    """One a row; a row none of whose shapes was measured is left out."""
    measured = {line.shape: line for line in lines(results)}
    rows = (_judge(target, measured) for target in targets)
    return [row for row in rows if row.measured]


def _judge(target: Target, measured: dict[str, Line]) -> Judgement:
    found: dict[str, list[Figure]] = {column: [] for column in COLUMNS}
    absent = []
    sources = {"decode": target.decode, "encode": "dumps_pickle", "size": "size_ratio"}
    for limit in target.limits:
        line = measured.get(limit.shape)
        if line is None or getattr(line, target.decode) is None:
            absent.append(limit.shape)
            continue
        for column, source in sources.items():
            allowed, value = getattr(limit, column), getattr(line, source)
            if allowed is not None and value is not None:
                found[column].append(Figure(limit.shape, value, allowed))
    return Judgement(target.row, **found, absent=absent)


def _worst(figures: list[Figure]) -> Figure | None:
    return max(figures, key=lambda figure: figure.value / figure.limit, default=None)


def _cell(figure: Figure | None, bold: str) -> str:
    return "–" if figure is None else str(figure) if figure.passes else f"{bold}{figure}{bold}"


HEAD = ("shapes", "decode ÷ best peer", "encode ÷ pickle", "size ÷ msgpack", "")


def cells(row: Judgement, *, bold: str = "**") -> list[str]:
    """One row of the table; a figure over its limit is set in `bold`."""
    absent = ", ".join(row.absent) if len(row.absent) == 1 else f"{len(row.absent)} of its shapes"
    name = f"{row.row} (without {absent})" if row.absent else row.row
    return [name, *(_cell(_worst(getattr(row, c)), bold) for c in COLUMNS), "pass" if row.passes else "MISS"]


def table(results: Results) -> str:
    """The rows that were measured, in Markdown: the worst shape of each beside its limit."""
    return markdown(HEAD, map(cells, judge(results)))


FLOORS = {"loads_best": "floor_best", "loads_pickle": "floor_pickle"}
"""The decode figure of a row -> the floor in its place."""


def by_shape(results: Results) -> str:
    """The same with every shape on a line of its own, and the floor in npser's place."""
    measured = {line.shape: line for line in lines(results)}
    rows: list[list[str]] = []
    names: set[str] = set()
    for target in TARGETS:
        for limit in target.limits:
            for row in judge(results, [target._replace(limits=(limit,))]):
                line = measured[limit.shape]
                _, decode, encode, size, verdict = cells(row)
                floor = ratio(getattr(line, FLOORS[target.decode])) if target.decode in FLOORS else "–"
                name = "" if target.row in names else target.row  # once, at its first shape
                names.add(target.row)
                peer = "pickle" if target.decode.endswith("pickle") else line.best
                rows.append([name, limit.shape, decode, peer, floor, encode, size, verdict])
    return markdown(("row", "shape", "decode", "÷", "floor", "encode ÷ pickle", "size ÷ msgpack", ""), rows)


def below_the_floor(results: Results) -> list[Figure]:
    """Where the limit is less than the floor takes: a reader in Python cannot be expected to reach it."""
    measured = {line.shape: line for line in lines(results)}
    asked = [
        Figure(limit.shape, getattr(measured[limit.shape], FLOORS[target.decode]), limit.decode)
        for target in TARGETS
        if target.decode in FLOORS
        for limit in target.limits
        if limit.shape in measured and getattr(measured[limit.shape], FLOORS[target.decode]) is not None
    ]
    return [figure for figure in asked if not figure.passes]


def rowless(results: Results) -> list[str]:
    """Shapes that no row asks anything of."""
    asked = {limit.shape for target in TARGETS for limit in target.limits if limit.size is not None}
    return [shape for shape in results["shapes"] if shape not in asked]


def summary(results: Results) -> str:
    """How many rows pass, column by column."""
    rows = judge(results)

    def passing(column: str) -> tuple[int, int]:
        asked = [getattr(row, column) for row in rows if getattr(row, column)]
        return sum(all(figure.passes for figure in figures) for figures in asked), len(asked)

    (decode, of), *others = (passing(column) for column in COLUMNS)
    rest = ", ".join(f"{kept} of {all_} {column}" for (kept, all_), column in zip(others, COLUMNS[1:], strict=True))
    return f"{decode} of {of} rows pass decode, {rest}; {sum(row.passes for row in rows)} of {len(rows)} pass whole."
