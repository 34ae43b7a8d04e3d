"""Measure npser beside its peers and write the tables.

Strategy: this file only connects: `shapes` makes the values, `peers` sets the codecs up, `measure` holds the clock,
`targets` knows what is to be reached, `report` lays out. A full run writes results.json (every figure), RESULTS.md (all
tables) and the section between the markers in the README.md of the project. A run of some shapes or a quick one prints
and writes nothing, because figures from different runs do not belong in one table.

    python benchmarks/compare.py                        # everything, a few minutes
    python benchmarks/compare.py --shapes dto_100,twitter --rounds 51
    python benchmarks/compare.py --quick
    python benchmarks/compare.py --all                  # memory.py, pauses.py and growth.py first: seven minutes
    python benchmarks/compare.py --layout               # measures nothing, lays out anew what results.json holds
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))  # so that `python benchmarks/compare.py` finds its own package

from benchmarks import corpora, peers, report, store, targets  # noqa: E402
from benchmarks.extras import COLD_CALLS, QUICK_COLD_CALLS, cold, extras  # noqa: E402
from benchmarks.lines import Results  # noqa: E402
from benchmarks.measure import Plan, Result, measure  # noqa: E402
from benchmarks.shapes import SHAPES, Shape  # noqa: E402
from benchmarks.tables import BEGIN, END, replaced  # noqa: E402

__all__ = ["main", "run"]

QUICK = Plan(rounds=5, least=3, budget=1.0)
OTHERS = ("memory.py", "pauses.py", "growth.py")
PIPE_WIDTH = 160
"""Columns of the printed table where the output is not a terminal."""


def _environment() -> dict[str, Any]:
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "versions": peers.versions(),
    }


def _figures(result: Result) -> dict[str, Any]:
    figures = result._asdict()
    figures["bytes"] = figures.pop("size")
    del figures["codec"]
    return figures


def _shape(shape: Shape, plan: Plan) -> dict[str, Any]:
    value, codecs = shape.build(), peers.codecs(shape)
    results, beside = measure(value, codecs, plan, partial(extras, shape.name, value))
    return {
        "about": shape.about,
        "group": shape.group,
        "phpser": shape.phpser,
        "floor": beside.get("floor"),
        "array": beside.get("array"),
        "cold": cold(shape.name, value, codecs, QUICK_COLD_CALLS if plan == QUICK else COLD_CALLS),
        "codecs": {result.codec: _figures(result) for result in results},
    }


def run(names: list[str], plan: Plan, console: Console) -> Results:
    """Measure the named shapes; a document that is not here is noted and left out."""
    results: Results = {
        "environment": _environment(),
        "plan": plan._asdict(),
        "skipped": {},
        "shapes": {},
    }
    for name in track(names, description="measuring", console=console, transient=True):
        try:
            results["shapes"][name] = _shape(SHAPES[name], plan)
        except corpora.CorpusMissing as missing:
            results["skipped"][name] = str(missing)
    return results


def show(results: Results, console: Console) -> None:
    """The table of the shapes, the targets and the verdicts, on the terminal."""
    head, rows = report.table(results)
    table = Table(title="npser beside its peers (ratios: npser over the other)", caption=report.LEGEND)
    for column in head:
        table.add_column(column, justify="left" if column in ("shape", "best peer") else "right", no_wrap=True)
    for row in rows[:-1]:
        table.add_row(*row)
    table.add_section()
    table.add_row(*rows[-1], style="bold")
    console.print(table)
    _show_targets(results, console)
    for promise, kept, figure in report.verdicts(results):
        console.print("[green]pass[/]" if kept else "[red]MISS[/]", promise, f"[dim]({figure})[/]")
    console.print(report.standing(results))
    for failure in report.failures(results):
        console.print("[red]failed[/]", failure)
    for name, reason in results["skipped"].items():
        console.print("[yellow]not measured[/]", name, reason)
    console.print(report.environment(results), style="dim")


def _show_targets(results: Results, console: Console) -> None:
    """The rows that the measured shapes belong to."""
    judged = targets.judge(results)
    if not judged:
        return
    table = Table(title="the targets: the worst shape of each row beside its limit")
    for column in targets.HEAD:
        table.add_column(column, justify="left" if column == targets.HEAD[0] else "right")
    for row in judged:
        *cells, verdict = targets.cells(row, bold="")
        marked = [f"[red]{cell}[/]" if ">" in cell else cell for cell in cells]
        table.add_row(*marked, f"[green]{verdict}[/]" if row.passes else f"[red]{verdict}[/]")
    console.print(table)
    console.print(targets.summary(results))


def write_readme(results: Results, console: Console) -> None:
    """The section between the markers of the project's README.md."""
    readme = ROOT / "README.md"
    text = replaced(readme.read_text(encoding="utf-8"), report.short(results)) if readme.is_file() else None
    if text is None:
        console.print(f"README.md has no section between {BEGIN} and {END}: left alone")
        return
    readme.write_text(text, encoding="utf-8")
    console.print("wrote the benchmark section of README.md")


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure npser beside its peers.")
    parser.add_argument("--shapes", metavar="A,B", help="only these shapes; prints, and writes nothing")
    parser.add_argument("--rounds", type=int, default=Plan().rounds, help="rounds a shape (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="a few short rounds; prints, and writes nothing")
    parser.add_argument("--no-readme", action="store_true", help="leave README.md alone")
    parser.add_argument("--all", action="store_true", help=f"run {', '.join(OTHERS)} first")
    parser.add_argument("--layout", action="store_true", help="measure nothing, lay results.json out anew")
    parser.add_argument("--into", type=Path, default=store.HERE, metavar="FOLDER", help="where the results are kept")
    options = parser.parse_args(arguments)
    options.names = options.shapes.split(",") if options.shapes else list(SHAPES)
    unknown = [name for name in options.names if name not in SHAPES]
    if unknown:
        parser.error(f"no shape {', '.join(unknown)}; there are {', '.join(SHAPES)}")
    if options.rounds < 2:
        parser.error("a spread needs 2 rounds or more")
    return options


def _run_others(options: argparse.Namespace) -> None:
    """The other tools, each in a process of its own, so that what they do to the heap stays there."""
    for name in OTHERS:
        quick = ["--quick"] if options.quick else []
        subprocess.run([sys.executable, str(store.HERE / name), "--into", str(options.into), *quick], check=True)


def main(arguments: list[str] | None = None) -> int:
    options = _arguments(arguments)
    if options.all:
        _run_others(options)
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_WIDTH)
    if options.layout:
        results = store.load(options.into)
    else:
        results = run(options.names, QUICK if options.quick else Plan(rounds=options.rounds), console)
    show(results, console)
    if options.quick or options.shapes:
        console.print("quick or partial run: nothing was written")
        return 0
    store.save(results, options.into)
    console.print(f"wrote results.json and RESULTS.md in {options.into.name}")
    if not options.no_readme and options.into == store.HERE:
        write_readme(results, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
