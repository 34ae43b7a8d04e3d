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
from npser.cli.convert import Sizes
from npser.cli.convert import pack as pack_file
from npser.cli.convert import unpack as unpack_file
from npser.cli.demo import demo as run_demo
from npser.cli.formats import FormatName
from npser.cli.refusal import ConvertError
from npser.errors import NpserError

__all__ = ["app"]

app = typer.Typer(
    name="npser",
    help="A numpy-native columnar serializer: try it, convert files, look at what it generates.",
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


def _report(source: str, target: str, sizes: Sizes) -> None:
    share = f" ({sizes.written / sizes.read:.0%})" if sizes.read else ""
    typer.echo(f"{source}: {sizes.read:,} bytes -> {target}: {sizes.written:,} bytes{share}", err=True)


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
