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
from npser.cli.convert import Sizes as Converted
from npser.cli.convert import pack as pack_file
from npser.cli.convert import unpack as unpack_file
from npser.cli.convert import values_of
from npser.cli.demo import demo as run_demo
from npser.cli.formats import FormatName
from npser.cli.json_lines import json_lines
from npser.cli.looking import (
    Sizes,
    as_json,
    as_tree,
    as_usage,
    as_why,
    open_report,
    usage_rows,
    verdict,
)
from npser.cli.refusal import ConvertError
from npser.cli.stored import Pickles
from npser.cli.survey import headline, survey_redis
from npser.cli.weighing import Peer, advise_file, code_of, compare_file, diff_files
from npser.cli.weighing import as_json as found_as_json
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
    """Convert a JSON, JSON lines, CSV or .npy file into an npser file: long files of rows into frames of many rows."""
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
    """Print a payload, or frames, as JSON lines: a line an item. What JSON lacks is {"$tuple": [...]} and the like."""
    with _one_line_errors():
        for value in values_of(file):
            for line in json_lines(value):
                typer.echo(line)


@app.command()
def verify(file: _File) -> None:
    """Decode a payload to its end, with no class allowed, and say whether it is whole."""
    with _one_line_errors():
        whole, text = verdict(file)
        typer.echo(text, err=not whole)
        if not whole:
            raise typer.Exit(1)


_Seconds = Annotated[float, typer.Option(help="Time to measure for.", min=0)]
_From = Annotated[FormatName | None, typer.Option("--from", help="The format of FILE; else its first bytes or suffix.")]
_AnyFile = Annotated[
    str, typer.Argument(metavar="FILE", help="An npser, JSON, JSON lines, CSV or .npy file; - is standard input.")
]


@app.command()
def compare(
    file: _AnyFile,
    *,
    against: Annotated[list[Peer] | None, typer.Option(help="A codec to compare with; may be given again.")] = None,
    seconds: _Seconds = 2.0,
    sizes: _SizesOption = Sizes.EXACT,
    name: _From = None,
    json: _Json = False,
) -> None:
    """Show what other codecs make of a value: bytes, times, and what does not come back as it was."""
    with _one_line_errors():
        peers = None if against is None else [str(peer.value) for peer in against]
        found = compare_file(file, against=peers, seconds=seconds, name=name)
        typer.echo(found_as_json(found) if json else found.to_text(sizes=sizes))
        if found["npser"].wrong:
            raise typer.Exit(1)


@app.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="An npser file; - is standard input.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Another; - is standard input.")],
    *,
    sizes: _SizesOption = Sizes.EXACT,
    json: _Json = False,
) -> None:
    """Show what changed in size between two payloads, by path."""
    with _one_line_errors():
        found = diff_files(before, after)
        typer.echo(found_as_json(found) if json else found.to_text(sizes=sizes))
        if found.before.error is not None or found.after.error is not None:
            raise typer.Exit(1)


@app.command()
def advise(file: _AnyFile, *, seconds: _Seconds = 5.0, name: _From = None, json: _Json = False) -> None:
    """Say what would make a value smaller or faster to read, with figures that are measured here."""
    with _one_line_errors():
        found = advise_file(file, seconds=seconds, name=name)
        typer.echo(found_as_json(found) if json else repr(found))


@app.command()
def codegen(
    what: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:CLASS|FILE",
            help="The class, as in shop.models:Order; or an npser file; - is standard input.",
        ),
    ],
) -> None:
    """Print the reader and writer that npser generates for a class, or the reader for the shape of a payload."""
    with _one_line_errors():
        source = code_of(what)
    if sys.stdout.isatty():
        Console().print(Syntax(source, "python"))
    else:
        typer.echo(source, nl=not source.endswith("\n"))


@app.command()
def redis(
    url: Annotated[str, typer.Argument(metavar="URL", help="redis://host:6379/0, rediss://…, unix://…")],
    pattern: Annotated[str, typer.Argument(metavar="[PATTERN]", help="The keys, as SCAN matches them.")] = "*",
    *,
    keys: Annotated[int, typer.Option("--keys", help="Keys to look at, up to so many.", min=1)] = 1000,
    nbytes: Annotated[int, typer.Option("--bytes", help="Bytes of values to read, up to so many.", min=0)] = 1 << 28,
    pickles: Annotated[
        Pickles, typer.Option("--pickles", help="trust: load them, which runs what they say.")
    ] = Pickles.LEAVE,
    sizes: _SizesOption = Sizes.EXACT,
    lines: _Lines = 40,
    json: _Json = False,
) -> None:
    """Sample a Redis (SCAN, read-only): bytes by prefix and codec, and what npser would make of them."""
    with _one_line_errors():
        found, about = survey_redis(url, pattern, keys=keys, nbytes=nbytes, pickles=pickles)
        typer.echo(found.to_json(**about) if json else f"{headline(found, about)}\n{found.to_text(sizes, lines)}")
