"""Pictures of a payload and of a comparison, with matplotlib, which is imported here and nowhere else.

Strategy: an icicle, where each part stands under its parent and is as wide as its bytes, needs no layout but that of
the tree; beside it a bar for each of the largest columns. What is too small to be seen is one box, "the rest", so a
picture of any payload is as large as that of another. No text is read as a formula, for paths begin with a dollar sign.
Figures are made without pyplot: nothing is kept, and no window opens.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from npser.inspection.chosen import Shown, choose_parts
from npser.inspection.parts import clip, plain
from npser.inspection.text import label_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from npser.inspection.compare import Comparison, Contender
    from npser.inspection.parts import Part
    from npser.inspection.report import Report

__all__ = ["plot_comparison", "plot_report"]

MAX_SHOWN = 200
"""Parts of an icicle."""

MAX_DEPTH = 8
"""Levels of an icicle; what is deeper is not told apart."""

TOP = 20
"""Columns that get a bar."""

NAMED = 0.015
"""Boxes of a smaller share get no name: it would not fit."""

CHARACTERS = 130
"""That fit the width of the icicle."""

REST_COLOUR: Final = "#c4ccd4"
INK: Final = "#1b1f24"


@cache
def _picture() -> type[Figure]:
    """The class of the figures: a notebook shows them whether pyplot was imported or not."""
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that is shown where a cell ends with it."""

        def _repr_png_(self) -> bytes:
            out = BytesIO()
            self.savefig(out, format="png")
            return out.getvalue()

    return Picture


def _figure(width: float, height: float) -> Figure:
    try:
        return _picture()(figsize=(width, height), layout="constrained")
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with: pip install 'npser[plot]'") from error


def plot_report(report: Report, *, top: int = TOP) -> Figure:
    """An icicle of a payload, and a bar for each of its largest columns.

    Parameters
    ----------
    report : Report
    top : int
        So many bars; what is left is one more.

    Raises
    ------
    ImportError
        Without matplotlib.
    """
    figure = _figure(13, 2.4 + 0.26 * min(top, 40))
    tree, bars = figure.subplots(1, 2, width_ratios=(3, 2))
    _icicle(tree, report)
    _bars(bars, report, max(1, top))
    title = f"{report.wire or 'unknown'} payload, {report.size:,} bytes"
    figure.suptitle(title, parse_math=False, fontsize="medium")
    return figure


def _colours() -> Any:
    from matplotlib import colormaps

    return colormaps["tab20"](range(1, 20, 2))  # the light ones: names are written on them


def _icicle(axes: Axes, report: Report) -> None:
    size = max(1, report.size)
    colours = _colours()
    deepest = 0
    waiting: list[tuple[Shown, Part | None, float, int]] = [
        (choose_parts(report.root, MAX_SHOWN, blocks=False), None, 0.0, 0)
    ]
    number = 0
    while waiting:
        shown, parent, left, depth = waiting.pop()
        part = shown.part
        deepest = max(deepest, depth)
        colour = REST_COLOUR if not depth or part.path.startswith("(") else colours[number % len(colours)]
        _box(axes, left / size, part.nbytes / size, depth, label_below(part, parent), colour)
        number += 1
        if depth + 1 >= MAX_DEPTH:
            continue
        for child in shown.children:
            waiting.append((child, part, left, depth + 1))
            left += child.part.nbytes
        if shown.left_out and shown.left_bytes:
            _box(axes, left / size, shown.left_bytes / size, depth + 1, f"… {shown.left_out:,} more", REST_COLOUR)
            deepest = max(deepest, depth + 1)
    axes.set_xlim(0, 1)
    axes.set_ylim(deepest + 1, 0)
    axes.set_yticks([])
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("share of the bytes, each part under what it is in")
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)


def _box(axes: Axes, left: float, width: float, depth: int, label: str, colour: Any) -> None:
    axes.barh(depth + 0.5, width, left=left, height=0.96, color=colour, edgecolor="white", linewidth=0.6)
    if width < NAMED:
        return
    text = clip(plain(label), max(1, int(width * CHARACTERS)))
    axes.text(
        left + width / 2,
        depth + 0.5,
        text,
        ha="center",
        va="center",
        fontsize="small",
        color=INK,
        clip_on=True,
        parse_math=False,
    )


def _bars(axes: Axes, report: Report, top: int) -> None:
    found = [part for part in report.leaves() if part.nbytes]
    found.sort(key=lambda part: -part.nbytes)
    shown, rest = found[:top], found[top:]
    names = [clip(plain(f"{part.path} {part.role}".strip()), 44) for part in shown]
    sizes = [part.nbytes for part in shown]
    colours = ["#2f7bbf"] * len(shown)
    if rest:
        names.append(f"the rest: {len(rest):,} parts")
        sizes.append(sum(part.nbytes for part in rest))
        colours.append(REST_COLOUR)
    _horizontal(axes, names, sizes, colours, [f" {size:,}" for size in sizes])
    axes.set_xlabel("bytes")


def _horizontal(axes: Axes, names: list[str], sizes: list[Any], colours: Any, texts: list[str]) -> None:
    places = range(len(names))
    axes.barh(list(places), sizes, color=colours)
    axes.set_yticks(list(places), names, fontsize="small")
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.invert_yaxis()
    axes.margins(x=0.18)
    for at, (size, text) in enumerate(zip(sizes, texts, strict=True)):
        axes.text(size, at, text, va="center", fontsize="small", parse_math=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def plot_comparison(comparison: Comparison) -> Figure:
    """Bytes, encode and decode times of each codec that gave bytes; what did not come back identical is grey.

    Raises
    ------
    ImportError
        Without matplotlib.
    """
    found = [one for one in comparison.contenders if one.encode is not None and one.decode is not None]
    figure = _figure(13, 1.6 + 0.27 * max(4, len(found)))
    panels = figure.subplots(1, 3, sharey=True)
    names = [clip(plain(one.name), 24) for one in found]
    colours = [_colour(one) for one in found]
    columns: tuple[tuple[str, list[Any], str], ...] = (
        ("bytes", [one.nbytes or 0 for one in found], " {:,.0f}"),
        ("encode, ms", [1000 * one.encode.seconds if one.encode else 0.0 for one in found], " {:,.3g}"),
        ("decode, ms", [1000 * one.decode.seconds if one.decode else 0.0 for one in found], " {:,.3g}"),
    )
    for axes, (title, sizes, form) in zip(panels, columns, strict=True):
        _horizontal(axes, names, sizes, colours, [form.format(size) for size in sizes])
        axes.set_xlabel(title)
    panels[0].set_ylim(max(1, len(found)) - 0.5, -0.5)
    figure.suptitle("grey: not everything came back identical", parse_math=False, fontsize="small")
    return figure


def _colour(one: Contender) -> str:
    if not one.exact:
        return REST_COLOUR
    return "#d1662b" if one.codec == "npser" else "#2f7bbf"
