"""`npser demo`: real values go through every codec, and a table and one sentence say what came of it.

Strategy: `race` measures, this module prints. The closing sentence is made of the figures above it and nothing
else; its claim is npser's own (everything came back identical), so the exit code is 1 as soon as anything did not.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log
from statistics import fmean

from rich.console import Console
from rich.table import Table
from rich.text import Text

from npser.cli.demo_values import Sample, file_sample, samples
from npser.cli.peers import codecs
from npser.cli.race import Result, race

__all__ = ["demo"]

Race = tuple[Sample, list[Result]]


def demo(source: str | None, *, seconds: float, console: Console) -> int:
    """Run the demo on the packaged values, or on the file `source`.

    Returns 0 where all came back identical from npser, else 1. Raises ConvertError for a file that cannot be read.
    """
    values = samples() if source is None else [file_sample(source)]
    # A line and no spinner: its thread would run inside what is timed.
    console.print(f"encoding and decoding for about {seconds:g} seconds ...", style="dim", highlight=False)
    races = [(sample, race(sample, codecs(sample), seconds=seconds / len(values))) for sample in values]
    title = "one day of flights" if source is None else values[0].name
    console.print(_table(f"{title} through each codec", races))
    wrong = [(sample, results[0]) for sample, results in races if results[0].wrong is not None]
    for sample, result in wrong:
        console.print(f"{sample.name}: {result.wrong}", style="red", highlight=False, markup=False)
    console.print(_failure(wrong, len(races)) if wrong else _proved(races), highlight=False)
    return 1 if wrong else 0


def _table(title: str, races: Iterable[Race]) -> Table:
    table = Table(title=Text(title), title_justify="left")
    table.add_column("value")
    table.add_column("codec")
    for name in ("bytes", "write µs", "read µs"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("came back")
    for sample, results in races:
        for i, result in enumerate(results):
            first = (sample.name, sample.what)[i] if i < 2 else ""
            # Text and not str: a path such as $[0] must not be read as markup.
            cells = map(Text, (first, *_cells(result)))
            table.add_row(*cells, style="bold" if i == 0 else "", end_section=i == len(results) - 1)
    return table


def _cells(result: Result) -> tuple[str, str, str, str, str]:
    figures = (_figure(result.nbytes, 0), _figure(result.write, 1), _figure(result.read, 1))
    return (result.codec, *figures, "identical" if result.wrong is None else result.wrong)


def _figure(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _failure(wrong: list[tuple[Sample, Result]], count: int) -> str:
    return f"[red]NOT PROVED[/red]: {len(wrong)} of {count} values did not come back identical from npser."


def _proved(races: list[Race]) -> str:
    rounds = min(results[0].rounds for _, results in races)
    pairs = [(results[0], results[1]) for _, results in races if results[1].wrong is None]
    count = f"all {len(races)} values" if len(races) > 1 else "the value"
    proved = f"[green]Proved[/green]: {count} came back from npser identical in type, order and every bit"
    if not pairs:
        return f"{proved}."
    size = sum(ours.nbytes or 0 for ours, _ in pairs) / sum(theirs.nbytes or 0 for _, theirs in pairs)
    read = _mean_ratio((ours.read, theirs.read) for ours, theirs in pairs)
    write = _mean_ratio((ours.write, theirs.write) for ours, theirs in pairs)
    return (
        f"{proved}, in {size:.0%} of pickle's bytes, "
        f"read in {read:.2f} and written in {write:.2f} of pickle's time "
        f"(geometric mean of medians of at least {rounds} interleaved rounds)."
    )


def _mean_ratio(pairs: Iterable[tuple[float | None, float | None]]) -> float:
    return exp(fmean(log((ours or 1) / (theirs or 1)) for ours, theirs in pairs))
