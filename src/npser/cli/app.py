"""The commands: what they take, and how they speak to a person.

Strategy: a command only hands its arguments on. Results of one line go to standard error, so that '-' stays
pipeable; what is asked for goes to standard output. An expected failure is one line that begins with `npser:`, and
exit code 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.syntax import Syntax

import npser
from npser.cli.cells import Types
from npser.cli.codegen import generated_source
from npser.cli.convert import Sizes as Converted
from npser.cli.convert import pack as pack_file
from npser.cli.convert import unpack as unpack_file
from npser.cli.demo import demo as run_demo
from npser.cli.formats import FormatName
from npser.cli.json_lines import json_lines
from npser.cli.looking import (
    Sizes,
    as_json,
    as_tree,
    as_usage,
    as_why,
    map_bytes,
    open_report,
    usage_rows,
    verdict,
)
from npser.cli.refusal import ConvertError
from npser.errors import NpserError
from npser.inspection.report import Report

__all__ = ["app"]

app = typer.Typer(
    name="npser",
    help="A numpy-native columnar serializer: try it, convert files, look into them, look at what it generates.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except (ConvertError, NpserError) as error:
        typer.echo(f"npser: {error}", err=True)
        raise typer.Exit(1) from error


def _print_version(*, value: bool) -> None:
    if value:
        typer.echo(f"npser {npser.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command()
def demo(
    file: Annotated[
        str | None, typer.Argument(help="Your own .json, .jsonl, .csv or .npy file.", metavar="[FILE]")
    ] = None,
    *,
    seconds: Annotated[float, typer.Option(help="Time to measure for, all values together.", min=0)] = 3.0,
) -> None:
    """Encode and decode real data with npser, pickle and the other codecs installed, and prove what comes back."""
    with _one_line_errors():
        raise typer.Exit(run_demo(file, seconds=seconds, console=Console()))


@app.command()
def pack(
    source: Annotated[str, typer.Argument(metavar="IN", help="The file to read; - is standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The npser file to write; - is standard output.")],
    *,
    name: Annotated[
        FormatName | None, typer.Option("--from", help="The format of IN; else its suffix says it.")
    ] = None,
    types: Annotated[Types, typer.Option(help="CSV: numbers where that loses nothing, or all text.")] = Types.INFER,
) -> None:
    """Convert a JSON, JSON lines, CSV or .npy file into an npser file."""
    with _one_line_errors():
        _report(source, target, pack_file(source, target, name=name, types=types))


@app.command()
def unpack(
    source: Annotated[str, typer.Argument(metavar="IN", help="The npser file to read; - is standard input.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file to write; - is standard output.")],
    *,
    name: Annotated[FormatName | None, typer.Option("--to", help="The format of OUT; else its suffix says it.")] = None,
) -> None:
    """Convert an npser file into a JSON, JSON lines, CSV or .npy file."""
    with _one_line_errors():
        _report(source, target, unpack_file(source, target, name=name))


def _report(source: str, target: str, sizes: Converted) -> None:
    share = f" ({sizes.written / sizes.read:.0%})" if sizes.read else ""
    typer.echo(f"{source}: {sizes.read:,} bytes -> {target}: {sizes.written:,} bytes{share}", err=True)


_File = Annotated[str, typer.Argument(metavar="FILE", help="An npser file; - is standard input.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_SizesOption = Annotated[Sizes, typer.Option("--sizes", help="Bytes with all digits, or as people read them.")]
_Lines = Annotated[int, typer.Option("--lines", help="The largest parts, up to so many.", min=1)]


def _print_report(report: Report, text: str) -> None:
    """Print it, and end with 1 if the payload is damaged, or none."""
    typer.echo(text)
    if report.error is not None:
        raise typer.Exit(1)


@app.command()
def inspect(file: _File, *, json: _Json = False) -> None:
    """Show where the bytes of a payload go, and what else its largest blocks could have been."""
    with _one_line_errors():
        report = open_report(file)
        text = as_json(report) if json else "\n".join(filter(None, (repr(report), as_why(report))))
        _print_report(report, text)


@app.command()
def du(file: _File, *, sizes: _SizesOption = Sizes.EXACT, lines: _Lines = 200, json: _Json = False) -> None:
    """List the parts of a payload by their bytes, the largest last."""
    with _one_line_errors():
        report = open_report(file)
        _print_report(report, usage_rows(report, lines) if json else as_usage(report, sizes, lines))


@app.command()
def tree(file: _File, *, sizes: _SizesOption = Sizes.EXACT, lines: _Lines = 200, json: _Json = False) -> None:
    """Show a payload as a tree, down to blocks within blocks."""
    with _one_line_errors():
        report = open_report(file)
        _print_report(report, as_json(report) if json else as_tree(report, sizes, lines))


@app.command()
def cat(file: _File) -> None:
    """Print a payload as JSON lines: a line an item of a list. What JSON lacks is {"$tuple": [...]} and the like."""
    with _one_line_errors():
        for line in json_lines(npser.loads(map_bytes(file))):
            typer.echo(line)


@app.command()
def verify(file: _File) -> None:
    """Decode a payload to its end, with no class allowed, and say whether it is whole."""
    with _one_line_errors():
        whole, text = verdict(file)
        typer.echo(text, err=not whole)
        if not whole:
            raise typer.Exit(1)


@app.command()
def codegen(
    cls: Annotated[str, typer.Argument(metavar="MODULE:CLASS", help="The class, as in shop.models:Order.")],
) -> None:
    """Print the reader and writer that npser generates for a class."""
    with _one_line_errors():
        source = generated_source(cls)
    if sys.stdout.isatty():
        Console().print(Syntax(source, "python"))
    else:
        typer.echo(source, nl=not source.endswith("\n"))
