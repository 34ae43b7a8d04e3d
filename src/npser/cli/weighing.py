"""`npser compare`, `diff`, `advise`, and `codegen` of a file: the value that a file holds, weighed.

Strategy: all stand on the public functions of npser. What they take is an npser file, a payload of phpser, or any
format that `pack` reads; bytes that begin as a payload does are one, whatever the file is called.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Any

import npser
from npser.cli.cells import Types
from npser.cli.codegen import generated_source
from npser.cli.files import STANDARD, read_bytes, shown_name
from npser.cli.formats import FORMATS, FormatName, format_of
from npser.cli.looking import open_report
from npser.cli.refusal import ConvertError
from npser.errors import NpserError
from npser.inspection.advise import Advice
from npser.inspection.compare import Comparison
from npser.inspection.diff import Difference
from npser.inspection.rivals import RIVALS
from npser.inspection.shapecode import shape_source
from npser.stream.layout import MARKER
from npser.stream.reader import StreamReader
from npser.tags import MAGIC

__all__ = ["Peer", "advise_file", "as_json", "code_of", "compare_file", "diff_files", "read_any"]

PHPSER = (1, 2)

Peer = StrEnum("Peer", {name.upper(): name for name in RIVALS if name != "npser"})  # type: ignore[misc]
"""The codecs that `compare --against` takes."""


def read_any(file: str, name: FormatName | None = None) -> Any:
    """The value that a file holds, whatever its format. Raises ConvertError or NpserError where it cannot be read."""
    data = read_bytes(file)
    try:
        if name is None and _is_payload(data):
            return _of_npser(data)
        known = FORMATS[name] if name is not None else format_of(file, option="--from")
        return known.read(data, Types.INFER)
    except ConvertError as error:
        error.source = shown_name(file, "standard input")
        raise
    except NpserError as error:
        raise ConvertError(str(error), source=shown_name(file, "standard input")) from error


def _is_payload(data: bytes) -> bool:
    return data[:1] == bytes((MAGIC,)) or (data[:1] in map(_byte, PHPSER) and npser.inspect(data).error is None)


def _byte(value: int) -> bytes:
    return bytes((value,))


def _of_npser(data: bytes) -> Any:
    """The value of a payload; of frames, all rows together."""
    if not data.startswith(MARKER):
        return npser.loads(data)
    values = list(StreamReader(io.BytesIO(data)))
    if len(values) == 1:
        return values[0]
    return list(chain.from_iterable(value if type(value) is list else [value] for value in values))


def compare_file(file: str, *, against: list[str] | None, seconds: float, name: FormatName | None) -> Comparison:
    """What `npser.compare` says of the value in a file."""
    value = read_any(file, name)
    with _blamed(file):
        return npser.compare(value, against=against or None, budget=seconds)


def advise_file(file: str, *, seconds: float, name: FormatName | None) -> Advice:
    """What `npser.advise` says of the value in a file."""
    value = read_any(file, name)
    with _blamed(file):
        return npser.advise(value, budget=seconds)


@contextmanager
def _blamed(file: str) -> Iterator[None]:
    try:
        yield
    except NpserError as error:
        raise ConvertError(str(error), source=shown_name(file, "standard input")) from error


def diff_files(before: str, after: str) -> Difference:
    """What `npser.diff` says of two npser files, of which one may be standard input."""
    if before == after == STANDARD:
        raise ConvertError("only one of the two files can be standard input")
    return npser.diff(open_report(before), open_report(after))


def code_of(name: str) -> str:
    """The code for a class that is named, or for the shape of the payload in a file."""
    if name == STANDARD or Path(name).is_file():
        report = open_report(name)
        if report.error is not None:
            raise report.error
        return shape_source(report)
    return generated_source(name)


def as_json(found: Comparison | Difference | Advice) -> str:
    """All of it."""
    return json.dumps(found.to_dict(), indent=1)
