"""From measured results to tables: what the ratios are, what was promised, and whether it was kept.

Strategy: one pass turns the results into `Line`s (one a shape, all ratios in it), another into `Verdict`s (one a
promise, passed or missed, with the culprits named); what prints, to a terminal or to Markdown, only lays those out.
A ratio is npser over the other: under 1 is smaller or faster. Nothing is left out because it looks bad.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

__all__ = [
    "BEGIN",
    "END",
    "Line",
    "Verdict",
    "details",
    "geometric_mean",
    "lines",
    "replaced",
    "short",
    "standing",
    "table",
    "verdicts",
]

Results = dict[str, Any]
"""What `compare` writes as results.json."""

SIZE_GOAL = 0.6
SIZE_CEILING = 1.05
SEQUENCES = frozenset({"packed_1k", "packed_10k"})
"""Shapes that shrink to nothing and would flatter a mean; it is given with and without them."""

MARKS = {"exact": "", "plain": "†", "str keys": "‡"}
LEGEND = (
    "† comes back as something plainer (dicts for objects, a list for an array), and was given that, too, where the "
    "library takes nothing else; in brackets then the best peer that gives the same types back. "
    "‡ integer keys come back as strings."
)


class Line(NamedTuple):
    """One shape: npser's figures and its ratios to the others (None where there is nothing to compare with)."""

    shape: str
    about: str
    size: int
    msgpack: int | None
    phpser: int | None
    loads: float
    dumps: float
    best: str
    loads_best: float | None
    faithful: str
    loads_faithful: float | None
    loads_pickle: float | None
    dumps_best: float | None
    dumps_pickle: float | None
    exact: bool

    @property
    def size_ratio(self) -> float | None:
        return self.size / self.msgpack if self.msgpack else None


class Verdict(NamedTuple):
    promise: str
    kept: bool
    figure: str


def geometric_mean(ratios: Iterable[float | None]) -> float:
    """Of those that are there; NaN for none.

    >>> geometric_mean([0.5, None, 2.0]), geometric_mean([])
    (1.0, nan)
    """
    logs = [math.log(ratio) for ratio in ratios if ratio]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


# ----------------------------------------------------------------------------------------------------- results to lines


def _usable(codecs: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: figures for name, figures in codecs.items() if not figures["error"]}


def _line(name: str, shape: dict[str, Any]) -> Line | None:
    usable = _usable(shape["codecs"])
    own = usable.pop("npser", None)
    if own is None:
        return None

    def ratio(key: str, peer: str | None) -> float | None:
        return own[key] / usable[peer][key] if peer in usable else None

    def best(key: str) -> str | None:
        return min(usable, key=lambda peer: usable[peer][key], default=None)

    quickest = best("loads")
    exact = {peer: figures for peer, figures in usable.items() if figures["fidelity"] == "exact"}
    faithful = min(exact, key=lambda peer: exact[peer]["loads"], default=None)
    return Line(
        shape=name,
        about=shape["about"],
        size=own["bytes"],
        msgpack=usable.get("msgpack", {}).get("bytes"),
        phpser=shape["phpser"],
        loads=own["loads"],
        dumps=own["dumps"],
        best=quickest + MARKS[usable[quickest]["fidelity"]] if quickest else "",
        loads_best=ratio("loads", quickest),
        faithful=faithful or "",
        loads_faithful=ratio("loads", faithful),
        loads_pickle=ratio("loads", "pickle"),
        dumps_best=ratio("dumps", best("dumps")),
        dumps_pickle=ratio("dumps", "pickle"),
        exact=own["verified"] and own["fidelity"] == "exact",
    )


def lines(results: Results) -> list[Line]:
    """One a shape that npser could do, in the order of the table."""
    found = (_line(name, shape) for name, shape in results["shapes"].items())
    return [line for line in found if line is not None]


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


# ----------------------------------------------------------------------------------------------------------- formatting


def _ratio(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.2f}" if value >= 0.01 else f"{value:.4f}"


def _count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def duration(seconds: float) -> str:
    """Three digits with a unit.

    >>> duration(1.5e-6), duration(0.00123), duration(0.25)
    ('1.50 µs', '1.23 ms', '250 ms')
    """
    scaled, unit = (seconds * 1e6, "µs") if seconds < 1e-3 else (seconds * 1e3, "ms")
    return f"{scaled:.{max(0, 2 - math.floor(math.log10(max(scaled, 1e-3))))}f} {unit}"


SHORT_HEAD = (
    "shape", "bytes", "msgpack", "ratio", "phpser", "decode", "best peer", "ratio", "÷ pickle", "encode", "÷ pickle"
)  # fmt: skip


def _bracketed(line: Line, figure: str, faithful: str) -> str:
    """The same for the best peer that keeps the types, where that is another one."""
    return figure if line.best == line.faithful else f"{figure} ({faithful})"


def _cells(line: Line) -> list[str]:
    return [
        line.shape if line.exact else f"{line.shape} (NOT EXACT)",
        _count(line.size),
        _count(line.msgpack),
        _ratio(line.size_ratio),
        _count(line.phpser),
        duration(line.loads),
        _bracketed(line, line.best, line.faithful),
        _bracketed(line, _ratio(line.loads_best), _ratio(line.loads_faithful)),
        _ratio(line.loads_pickle),
        duration(line.dumps),
        _ratio(line.dumps_pickle),
    ]


def table(results: Results) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the short table, the geometric means last."""
    measured = lines(results)
    means = ["geometric mean", "", "", _ratio(geometric_mean(line.size_ratio for line in measured)), "", "", ""]
    best, faithful, to_pickle = (
        _ratio(geometric_mean(getattr(line, key) for line in measured))
        for key in ("loads_best", "loads_faithful", "loads_pickle")
    )
    means += [f"{best} ({faithful})", to_pickle]
    means += ["", _ratio(geometric_mean(line.dumps_pickle for line in measured))]
    return list(SHORT_HEAD), [*map(_cells, measured), means]


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and the others are figures.

    >>> print(markdown(["a", "b"], [["x", "1"]]))
    | a | b |
    | --- | ---: |
    | x | 1 |
    """
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def _verdict_lines(results: Results) -> str:
    return "\n".join(
        f"- {'pass' if kept else 'MISS'}: {promise} ({figure})" for promise, kept, figure in verdicts(results)
    )


def _skipped_lines(results: Results) -> str:
    return "".join(f"- not measured: {name}: {reason}\n" for name, reason in results["skipped"].items())


def _failures(results: Results) -> str:
    failed = [
        f"- {codec} on {name}: {figures['error'] or 'did not give the value back'}\n"
        for name, shape in results["shapes"].items()
        for codec, figures in shape["codecs"].items()
        if figures["error"] or not figures["verified"]
    ]
    return "".join(failed)


def environment(results: Results) -> str:
    facts = results["environment"]
    libraries = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    return f"{facts['python']} on {facts['machine']} with {facts['cores']} cores; {libraries}."


def short(results: Results) -> str:
    """The section for README.md, without the markers."""
    return "\n".join(
        [
            "Ratios are npser over the other: under 1 is smaller or faster. Times are medians with hot caches and the",
            "garbage collector on. The best peer is the one of pickle, msgpack, msgspec, ormsgpack, orjson and cbor2",
            f"that reads this shape fastest. {LEGEND}",
            "",
            markdown(*table(results)),
            "",
            _verdict_lines(results),
            "",
            standing(results),
            _skipped_lines(results) + _failures(results),
            environment(results),
        ]
    )


# -------------------------------------------------------------------------------------------------------------- details


def _matrix(results: Results, key: str, show: Any) -> str:
    names = list(dict.fromkeys(codec for shape in results["shapes"].values() for codec in shape["codecs"]))

    def cell(shape: dict[str, Any], codec: str) -> str:
        figures = shape["codecs"].get(codec)
        return "–" if figures is None or figures["error"] else show(figures[key]) + MARKS[figures["fidelity"]]

    rows = [[name, *(cell(shape, codec) for codec in names)] for name, shape in results["shapes"].items()]
    return markdown(["shape", *names], rows)


def _by_group(results: Results) -> str:
    groups: dict[str, list[Line]] = {}
    for line in lines(results):
        groups.setdefault(results["shapes"][line.shape]["group"], []).append(line)
    keys = ("size_ratio", "loads_best", "loads_faithful", "loads_pickle", "dumps_best", "dumps_pickle")
    rows = [
        [group, str(len(members)), *(_ratio(geometric_mean(getattr(line, key) for line in members)) for key in keys)]
        for group, members in groups.items()
    ]
    head = [
        "group",
        "shapes",
        "size to msgpack",
        "decode to best",
        "to best exact",
        "to pickle",
        "encode to best",
        "to pickle",
    ]
    return markdown(head, rows)


def details(results: Results) -> str:
    """All of RESULTS.md."""
    about = "\n".join(f"- `{name}`: {shape['about']}" for name, shape in results["shapes"].items())
    return "\n\n".join(
        [
            "# Results",
            "Written by `python benchmarks/compare.py`; README.md in this folder says how it measures.",
            short(results),
            "## Geometric means by group",
            _by_group(results),
            "## Bytes",
            _matrix(results, "bytes", _count),
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


BEGIN = "<!-- benchmark:begin -->"
END = "<!-- benchmark:end -->"


def replaced(text: str, section: str) -> str | None:
    """The text with what stands between the markers replaced; None where it has no markers.

    >>> replaced(f"a {BEGIN} old {END} b", "new") == f"a {BEGIN}\\nnew\\n{END} b"
    True
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{BEGIN}\n{section.strip()}\n{END}{after}" if begin and end else None
