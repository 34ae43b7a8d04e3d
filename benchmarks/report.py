"""From measured results to tables: what was promised, whether it was kept, and how it is laid out.

Strategy: `lines` holds the ratios and `targets` the limits; here they become the section of the project's README (the
targets, and how many are met), RESULTS.md (everything), and the rows that `compare` prints. `sections` lays out
what the other tools measured. Nothing is left out because it looks bad.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks import sections, targets
from benchmarks.lines import MARKS, Line, Results, geometric_mean, lines
from benchmarks.tables import count, duration, markdown, ratio

__all__ = ["LEGEND", "Verdict", "details", "environment", "failures", "short", "standing", "table", "verdicts"]

SIZE_GOAL = 0.6
SIZE_CEILING = 1.05
FLOOR_GOAL = 1.5
SEQUENCES = frozenset({"packed_1k", "packed_10k"})
"""Shapes that shrink to nothing and would flatter a mean; it is given with and without them."""

LEGEND = (
    "† comes back as something plainer (dicts for objects, a list for an array), and was given that, too, where the "
    "library takes nothing else; in brackets then the best peer that gives the same types back. "
    "‡ integer keys come back as strings. ÷ floor: over the fastest Python found that builds it from ready columns."
)


class Verdict(NamedTuple):
    promise: str
    kept: bool
    figure: str


def verdicts(results: Results) -> list[Verdict]:
    """One a promise."""
    measured = lines(results)
    sizes = [line.size_ratio for line in measured]
    mean = geometric_mean(sizes)
    without = geometric_mean(line.size_ratio for line in measured if line.shape not in SEQUENCES)
    above = [f"{line.shape} {line.size_ratio:.2f}" for line in measured if (line.size_ratio or 0) > SIZE_CEILING]
    published = [line for line in measured if line.phpser]
    larger = [f"{line.shape} {line.size:,} > {line.phpser:,}" for line in published if line.size > (line.phpser or 0)]
    broken = [line.shape for line in measured if not line.exact]
    broken += [name for name in results["shapes"] if name not in {line.shape for line in measured}]
    return [
        Verdict(
            "every value comes back exactly",
            bool(measured) and not broken,
            ", ".join(broken) or f"{len(measured)} shapes",
        ),
        Verdict(
            f"size at most {SIZE_GOAL} of msgpack (geometric mean)",
            mean <= SIZE_GOAL,  # NaN, for nothing measured, is not
            f"{mean:.2f}; without arithmetic sequences {without:.2f}",
        ),
        Verdict(f"no shape above {SIZE_CEILING} of msgpack", bool(measured) and not above, ", ".join(above) or "none"),
        Verdict(
            "at or below the sizes that phpser publishes",
            not larger and bool(published),
            ", ".join(larger) or f"{len(published)} of {len(published)}",
        ),
    ]


def standing(results: Results) -> str:
    """On how many shapes npser is the faster one: facts, not promises."""
    measured = lines(results)

    def wins(key: str) -> str:
        ratios = [getattr(line, key) for line in measured]
        return f"{sum(ratio is not None and ratio < 1 for ratio in ratios)}"

    return (
        f"Of {len(measured)} shapes npser decodes {wins('loads_pickle')} faster than pickle and {wins('loads_best')} "
        f"faster than the best peer; it encodes {wins('dumps_pickle')} faster than pickle and {wins('dumps_best')} "
        "faster than the best peer."
    )


# --------------------------------------------------------------------------------------------------------------- tables

SHORT_HEAD = (
    "shape", "bytes", "msgpack", "ratio", "phpser", "decode", "best peer", "ratio", "÷ pickle", "÷ floor", "encode",
    "÷ pickle",
)  # fmt: skip


def _bracketed(line: Line, figure: str, faithful: str) -> str:
    """The same for the best peer that keeps the types, where that is another one."""
    return figure if line.best == line.faithful else f"{figure} ({faithful})"


def _cells(line: Line) -> list[str]:
    return [
        line.shape if line.exact else f"{line.shape} (NOT EXACT)",
        count(line.size),
        count(line.msgpack),
        ratio(line.size_ratio),
        count(line.phpser),
        duration(line.loads),
        _bracketed(line, line.best, line.faithful),
        _bracketed(line, ratio(line.loads_best), ratio(line.loads_faithful)),
        ratio(line.loads_pickle),
        ratio(line.loads_floor),
        duration(line.dumps),
        ratio(line.dumps_pickle),
    ]


def table(results: Results) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of all shapes, the geometric means last."""
    measured = lines(results)

    def mean(key: str) -> str:
        return ratio(geometric_mean(getattr(line, key) for line in measured))

    means = ["geometric mean", "", "", mean("size_ratio"), "", "", ""]
    means += [f"{mean('loads_best')} ({mean('loads_faithful')})", mean("loads_pickle"), mean("loads_floor")]
    means += ["", mean("dumps_pickle")]
    return list(SHORT_HEAD), [*map(_cells, measured), means]


def failures(results: Results) -> list[str]:
    """What went wrong: who, on which shape, and how."""
    return [
        f"{codec} on {name}: {figures['error'] or 'did not give the value back'}"
        for name, shape in results["shapes"].items()
        for codec, figures in shape["codecs"].items()
        if figures["error"] or not figures["verified"]
    ]


def _bullets(texts: list[str]) -> str:
    return "".join(f"- {text}\n" for text in texts)


def _notes(results: Results) -> str:
    """What passed and what did not, what was not measured, and what went wrong."""
    judged = [f"{'pass' if kept else 'MISS'}: {promise} ({figure})" for promise, kept, figure in verdicts(results)]
    skipped = [f"not measured: {name}: {reason}" for name, reason in results["skipped"].items()]
    return _bullets([*judged, *sections.headlines(results), *skipped, *failures(results)])


def environment(results: Results) -> str:
    facts = results["environment"]
    libraries = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return f"{facts['python']} on {facts['machine']} with {facts['cores']} cores; {libraries}."


def _out_of_reach(results: Results) -> str:
    names = ", ".join(figure.shape for figure in targets.below_the_floor(results)) or "no shape"
    return f"Even the floor, the fastest Python found for ready columns, is over the decode limit on: {names}."


def short(results: Results) -> str:
    """The section for README.md, without the markers."""
    return "\n".join(
        [
            "Each row is a target that npser has set itself: its worst shape beside the limit, a miss in bold. Ratios",
            "are npser over the other: under 1 is faster or smaller. Times are medians with hot caches and the garbage",
            "collector on; the best peer is whichever of pickle, msgpack, msgspec, ormsgpack, orjson and cbor2 reads",
            "the shape fastest, even if it gives something plainer back.",
            "",
            targets.table(results),
            "",
            targets.summary(results),
            standing(results),
            _out_of_reach(results),
            "",
            _notes(results),
            "Every shape and codec, the floor, memory and growth: [benchmarks/RESULTS.md](benchmarks/RESULTS.md).",
            environment(results),
        ]
    )


# -------------------------------------------------------------------------------------------------------------- details


def _matrix(results: Results, key: str, show: Callable[[Any], str]) -> str:
    names = list(dict.fromkeys(codec for shape in results["shapes"].values() for codec in shape["codecs"]))

    def cell(shape: dict[str, Any], codec: str) -> str:
        figures = shape["codecs"].get(codec)
        return "–" if figures is None or figures["error"] else show(figures[key]) + MARKS[figures["fidelity"]]

    rows = [[name, *(cell(shape, codec) for codec in names)] for name, shape in results["shapes"].items()]
    return markdown(["shape", *names], rows)


GROUP_FIGURES = {
    "size to msgpack": "size_ratio",
    "decode to best": "loads_best",
    "to best exact": "loads_faithful",
    "to pickle": "loads_pickle",
    "to the floor": "loads_floor",
    "encode to best": "dumps_best",
    "encode to pickle": "dumps_pickle",
}


def _by_group(results: Results) -> str:
    groups: dict[str, list[Line]] = {}
    for line in lines(results):
        groups.setdefault(results["shapes"][line.shape]["group"], []).append(line)
    rows = [
        [group, str(len(members))]
        + [ratio(geometric_mean(getattr(line, key) for line in members)) for key in GROUP_FIGURES.values()]
        for group, members in groups.items()
    ]
    return markdown(["group", "shapes", *GROUP_FIGURES], rows)


def _over_the_floor(results: Results) -> str:
    """The shapes that are read in more than `FLOOR_GOAL` of the floor, the worst first."""
    measured = [line for line in lines(results) if line.loads_floor is not None]
    above = sorted(
        (line for line in measured if (line.loads_floor or 0) > FLOOR_GOAL), key=lambda line: -(line.loads_floor or 0)
    )
    if not above:
        return f"All {len(measured)} shapes are read within {FLOOR_GOAL} times the floor."
    rows = [
        [line.shape, duration(results["shapes"][line.shape]["floor"]), duration(line.loads), ratio(line.loads_floor)]
        for line in above
    ]
    return f"{len(above)} of {len(measured)} shapes:\n\n" + markdown(["shape", "floor", "decode", "÷ floor"], rows)


def _below_the_floor(results: Results) -> str:
    found = ", ".join(f"{figure.shape} ({figure})" for figure in targets.below_the_floor(results))
    return f"Shapes on which even the floor is over the decode limit: {found or 'none'}."


def details(results: Results) -> str:
    """All of RESULTS.md."""
    about = "\n".join(f"- `{name}`: {shape['about']}" for name, shape in results["shapes"].items())
    rowless = ", ".join(targets.rowless(results)) or "none"
    return "\n\n".join(
        [
            "# Results",
            "Written by the tools of this folder; README.md beside it says how they measure. Ratios are npser over the "
            "other: under 1 is smaller or faster.",
            environment(results),
            "## The targets",
            targets.table(results),
            f"{targets.summary(results)} The worst shape of each row is shown. All of them follow; under floor stands "
            "the same ratio for the fastest Python that was found to build the value from ready columns:",
            targets.by_shape(results),
            _below_the_floor(results),
            f"In no row: {rowless}.",
            "## All shapes",
            LEGEND,
            markdown(*table(results)),
            standing(results),
            _notes(results).strip(),
            f"## Where decoding takes more than {FLOOR_GOAL} times the floor",
            "The floor is the fastest Python that was found to build the same value from ready columns; floors.py says "
            "how.",
            _over_the_floor(results),
            *sections.bodies(results),
            "## Geometric means by group",
            _by_group(results),
            "## Bytes",
            _matrix(results, "bytes", count),
            "## Decode",
            _matrix(results, "loads", duration),
            "## Encode",
            _matrix(results, "dumps", duration),
            "## The very first decode of a shape in the process",
            "No warm-up, no cached shape, one sample: read it as an order of magnitude.",
            _matrix(results, "first_loads", duration),
            "## The very first encode",
            _matrix(results, "first_dumps", duration),
            "## Spread of the samples",
            "The interquartile range over the median, the worse of encode and decode: how much the machine shook.",
            _matrix(results, "spread", lambda value: f"{value:.0%}"),
            "## The shapes",
            about,
            "",
        ]
    )
