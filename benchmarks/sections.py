"""The parts of RESULTS.md that tools of their own measure: memory, growth, the collector. Data in, Markdown out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from benchmarks import redis_tables
from benchmarks.lines import Results
from benchmarks.tables import duration, markdown, ratio

__all__ = ["bodies", "cluster", "collector", "growth", "headlines", "memory", "steps", "wins_from"]

STEEP = 1.4
"""A steep step: from one size to the next the time an item rises by more than this factor."""

SHARED = 1.25
"""A cliff: a steep step that is steeper than pickle's there by more than this factor. Where pickle's is about as steep,
the processor's caches end, or the machine was busy."""

DIRECTIONS = {"loads": "decode", "dumps": "encode"}

Times = dict[str, dict[str, float]]
"""Codec -> size -> seconds an item."""


# --------------------------------------------------------------------------------------------------------------- memory


def _megabytes(nbytes: float) -> str:
    return f"{nbytes / 1e6:.2f} MB"


def memory(found: dict[str, Any]) -> str:
    """The peaks beside what they may be.

    >>> part = {"peak": 15_000_000, "of": 10_000_000, "allowed": 14_000_000, "kept": False, "pickles": 20_000_000}
    >>> print(memory({"numbers": {"decode": part}}))
    | value | direction | finished value, payload | ÷ pickle's value | peak | peak ÷ it | allowed |  |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | numbers | decode | 10.00 MB | 0.50 | 15.00 MB | 1.50 | 14.00 MB | MISS |
    """
    rows = [
        [
            case,
            direction,
            _megabytes(part["of"]),
            ratio(part["of"] / part["pickles"]) if "pickles" in part else "–",
            _megabytes(part["peak"]),
            ratio(part["peak"] / part["of"]),
            _megabytes(part["allowed"]),
            "pass" if part["kept"] else "MISS",
        ]
        for case, directions in found.items()
        for direction, part in directions.items()
    ]
    head = ("value", "direction", "finished value, payload", "÷ pickle's value", "peak", "peak ÷ it", "allowed", "")
    return markdown(head, rows)


def _memory_headline(found: dict[str, Any]) -> str:
    parts = [(f"{direction} {case}", part) for case, both in found.items() for direction, part in both.items()]
    over = [f"{name} {part['peak'] / part['of']:.2f}" for name, part in parts if not part["kept"]]
    verdict = "MISS" if over else "pass"
    smaller = [(case, both["decode"]) for case, both in found.items() if "pickles" in both["decode"]]
    shares = ", ".join(f"{case} {ratio(part['of'] / part['pickles'])}" for case, part in smaller)
    return (
        f"{verdict}: peak memory at most 1.4 times the finished value to decode, 2.5 times the payload and 16 MB to "
        f"encode ({', '.join(over) or f'{len(parts)} of {len(parts)}'}); the finished value over pickle's: {shares}"
    )


def _memory_body(found: dict[str, Any]) -> str:
    return (
        "Bytes that Python and numpy hold at the peak (tracemalloc), beside the finished value when decoding (at most "
        "1.4 times that), and the payload when encoding (at most 2.5 times that, and 16 MB; it is counted itself). "
        "What pickle gives back has an object for each cell; npser's values share small ints and many strings.\n\n"
        + memory(found)
    )


# --------------------------------------------------------------------------------------------------------------- growth


def _sizes(times: Times) -> list[str]:
    return sorted(times["npser"], key=int)


def _best(times: Times, size: str) -> tuple[float, str]:
    """The fastest peer at one size."""
    return min((by_size[size], codec) for codec, by_size in times.items() if codec != "npser" and size in by_size)


def wins_from(times: Times, rival: Callable[[str], float]) -> int | None:
    """The smallest size from which npser is faster at every size.

    >>> own = {"npser": {"10": 3.0, "30": 1.0, "100": 1.0}}
    >>> wins_from(own, lambda size: 2.0), wins_from(own, lambda size: 0.5)
    (30, None)
    """
    smallest = None
    for size in reversed(_sizes(times)):
        if times["npser"][size] >= rival(size):
            break
        smallest = int(size)
    return smallest


def _from(size: int | None) -> str:
    return "never" if size is None else f"{size:,}"


def steps(found: dict[str, dict[str, Times]]) -> tuple[list[str], list[str]]:
    """Where npser's time an item rises steeply: by itself, which is a cliff, and together with pickle's.

    >>> times = {"npser": {"10": 1.0, "30": 2.0, "100": 4.0}, "pickle": {"10": 1.0, "30": 1.0, "100": 2.0}}
    >>> steps({"ints": {"loads": times}})
    (['decode ints, 10 to 30: 2.00 (pickle 1.00)'], ['decode ints, 30 to 100: 2.00 (pickle 2.00)'])
    """
    cliffs: list[str] = []
    shared: list[str] = []
    for kind, directions in found.items():
        for direction, times in directions.items():
            for small, large in pairwise(_sizes(times)):
                own, other = (times[codec][large] / times[codec][small] for codec in ("npser", "pickle"))
                if own > STEEP:
                    place = f"{DIRECTIONS[direction]} {kind}, {int(small):,} to {int(large):,}"
                    (cliffs if own > SHARED * other else shared).append(f"{place}: {own:.2f} (pickle {other:.2f})")
    return cliffs, shared


def growth(found: dict[str, dict[str, Times]]) -> str:
    """From which size npser wins, the time an item at every size, and where there is a cliff."""
    firsts = [
        [
            kind,
            *(
                cell
                for times in directions.values()
                for cell in (
                    _from(wins_from(times, lambda size, t=times: t["pickle"][size])),  # type: ignore[misc]
                    _from(wins_from(times, lambda size, t=times: _best(t, size)[0])),  # type: ignore[misc]
                )
            ),
        ]
        for kind, directions in found.items()
    ]
    head = ("npser wins from", "decode: pickle", "decode: best peer", "encode: pickle", "encode: best peer")
    tables = [
        markdown(("decode, time an item", *_all_sizes(found)), _time_rows(found, "loads")),
        markdown(("encode, time an item", *_all_sizes(found)), _time_rows(found, "dumps")),
    ]
    return "\n\n".join([markdown(head, firsts), *tables, _said(found)])


def _said(found: dict[str, dict[str, Times]]) -> str:
    """The cliffs in words."""
    cliffs, shared = (("\n".join(f"- {step}" for step in part)) for part in steps(found))
    asked = f"from one size to the next, more than {STEEP} times the time an item"
    alone = f"Cliffs ({asked}, and more than {SHARED} times what pickle's rises by):\n\n{cliffs}"
    both = f"Steps as steep that pickle makes, too, so that they are the machine's:\n\n{shared}"
    none = f"There is no cliff ({asked}, and more than {SHARED} times what pickle's rises by)."
    return "\n\n".join([alone if cliffs else none, *([both] if shared else [])])


def _all_sizes(found: dict[str, dict[str, Times]]) -> list[str]:
    return [f"{int(size):,}" for size in _sizes(next(iter(found.values()))["loads"])]


def _time_rows(found: dict[str, dict[str, Times]], direction: str) -> Iterable[list[str]]:
    for kind, directions in found.items():
        times = directions[direction]
        sizes = _sizes(times)
        for codec in ("npser", "pickle"):
            yield [f"{kind}: {codec}", *(duration(times[codec][size]) for size in sizes)]
        yield [f"{kind}: best peer", *(f"{duration(t)} {c}" for t, c in (_best(times, s) for s in sizes))]


def _growth_headline(found: dict[str, dict[str, Times]]) -> str:
    wins = {kind: wins_from(both["loads"], both["loads"]["pickle"].__getitem__) for kind, both in found.items()}
    first = [f"{size:,} {kind}" for kind, size in wins.items() if size is not None]
    never = [kind for kind, size in wins.items() if size is None]
    cliffs, _ = steps(found)
    return (
        f"npser decodes faster than pickle from {', '.join(first) or 'no size'}"
        + (f" (never: {', '.join(never)})" if never else "")
        + f"; up to a million items there is {'a cliff at ' + ', '.join(cliffs) if cliffs else 'no cliff'}"
    )


def _growth_body(found: dict[str, dict[str, Times]]) -> str:
    return (
        "![Time an item from ten items to a million](growth.svg)\n\nFrom ten items to a million: integers below a "
        "million, different strings, dicts of 7 keys, dataclass objects of 7 fields. A codec that would take too long "
        f"at a size is left out from there on.\n\n{growth(found)}"
    )


# ------------------------------------------------------------------------------------------------------------ collector


def collector(found: dict[str, Any]) -> str:
    """Reads with and without the pause, in a small process and in one with many containers."""
    rows = [
        [
            name,
            f"{found['alive']:,}" if process == "large" else "few",
            duration(figures["paused"]),
            duration(figures["running"]),
            ratio(figures["paused"] / figures["running"]),
            f"{figures['collections_paused']} / {figures['collections']}",
            ratio(figures["paused"] / figures["pickle"]),
            ratio(figures["running"] / figures["pickle"]),
        ]
        for process in ("small", "large")
        for name, figures in found[process].items()
    ]
    head = ("shape", "containers alive", "with the pause", "without", "with ÷ without", "collections", "÷ pickle with")
    return markdown((*head, "÷ pickle without"), rows)


def _collector_body(found: dict[str, Any]) -> str:
    return (
        "Decoding with npser's pause of the cyclic garbage collector, and without it, in rotation; pickle never pauses "
        "it. Collections are those during one read, with the pause and without.\n\n" + collector(found)
    )


# -------------------------------------------------------------------------------------------------------------- cluster


def cluster(found: dict[str, Any]) -> str:
    """What each way to move the flights between two workers takes, over the first way of its form.

    >>> way = {"seconds": 0.5, "bytes": 2_000_000, "same": True}
    >>> print(cluster({"rows": 10, "forms": {"records": {"Dask": way, "npser": way | {"seconds": 0.25}}}}))
    | 10 flights as | families | on the wire | ÷ first | time | ÷ first |
    | --- | ---: | ---: | ---: | ---: | ---: |
    | records | Dask | 2.00 MB | 1.00 | 500 ms | 1.00 |
    |  | npser | 2.00 MB | 1.00 | 250 ms | 0.50 |
    """
    rows = [
        [
            "" if number else form,
            way if figures["same"] else f"{way} (NOT THE SAME)",
            _megabytes(figures["bytes"]),
            ratio(figures["bytes"] / first["bytes"]),
            duration(figures["seconds"]),
            ratio(figures["seconds"] / first["seconds"]),
        ]
        for form, ways in found["forms"].items()
        for first in [next(iter(ways.values()))]
        for number, (way, figures) in enumerate(ways.items())
    ]
    head = (f"{found['rows']:,} flights as", "families", "on the wire", "÷ first", "time", "÷ first")
    return markdown(head, rows)


def _cluster_body(found: dict[str, Any]) -> str:
    return (
        "From one worker of a Dask LocalCluster to the other, from asking for the value to the answer of a task that "
        f"has got it: `python benchmarks/dask_wire.py`.\n\n{cluster(found)}"
    )


# ------------------------------------------------------------------------------------------------------------- together

PARTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "memory": ("Peak memory", _memory_body),
    "growth": ("How it grows", _growth_body),
    "collector": ("The pause of the collector", _collector_body),
    "dask": ("Across a cluster", _cluster_body),
    "redis": ("In Redis", redis_tables.body),
}

HEADLINES: dict[str, Callable[[Any], str]] = {
    "memory": _memory_headline,
    "growth": _growth_headline,
    "redis": redis_tables.headline,
}


def bodies(results: Results) -> list[str]:
    """A heading and a section for each part that was measured."""
    measured = [(title, body(results[part])) for part, (title, body) in PARTS.items() if results.get(part)]
    return [text for title, section in measured for text in (f"## {title}", section)]


def headlines(results: Results) -> list[str]:
    """One line for each part that was measured."""
    return [line(results[part]) for part, line in HEADLINES.items() if results.get(part)]
