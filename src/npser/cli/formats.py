"""The file formats that `pack` reads and `unpack` writes, as one table.

Strategy: a format is its name, its suffixes and two functions between bytes and a value. A new format is one more
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any, Final

from npser.cli.batches import Source
from npser.cli.cells import Types
from npser.cli.csv_text import csv_frames, csv_pieces, read_csv, write_csv
from npser.cli.json_text import (
    json_line_frames,
    json_line_pieces,
    read_json,
    read_json_lines,
    write_json,
    write_json_lines,
)
from npser.cli.npy_file import read_npy, write_npy
from npser.cli.refusal import ConvertError

__all__ = ["FORMATS", "Format", "FormatName", "format_of", "text_bytes"]


class FormatName(StrEnum):
    """The formats by the names that --from and --to take."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    NPY = "npy"


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: the suffixes that mean it, its bytes to a value, and a value to its bytes.

    Formats of rows also have `frames`, from a file to lists of so many rows, and `pieces`, from such lists to text.
    """

    suffixes: tuple[str, ...]
    read: Callable[[bytes, Types], object]
    write: Callable[[object], bytes]
    frames: Callable[[Source, Types, int], Iterator[object]] | None = None
    pieces: Callable[[Iterable[list[Any]]], Iterator[str]] | None = None


def _text(data: bytes) -> str:
    """UTF-8, with or without a byte order mark. Raises ConvertError with the line."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConvertError(f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}", line=line) from error


FORMATS: Final[dict[FormatName, Format]] = {
    FormatName.JSON: Format(
        (".json",), lambda data, _: read_json(_text(data)), lambda value: write_json(value).encode()
    ),
    FormatName.JSONL: Format(
        (".jsonl", ".ndjson"),
        lambda data, _: read_json_lines(_text(data)),
        lambda value: write_json_lines(value).encode(),
        lambda source, _, rows: json_line_frames(source, rows),
        json_line_pieces,
    ),
    FormatName.CSV: Format(
        (".csv",),
        lambda data, types: read_csv(_text(data), types),
        lambda value: text_bytes(write_csv(value)),
        csv_frames,
        csv_pieces,
    ),
    FormatName.NPY: Format((".npy",), lambda data, _: read_npy(data), write_npy),
}

SUFFIXES: Final = {suffix: name for name, known in FORMATS.items() for suffix in known.suffixes}


def text_bytes(text: str) -> bytes:
    """UTF-8, or a ConvertError: JSON spells what has none, CSV cannot."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ConvertError("a lone surrogate has no place in a CSV file: try --to json") from error


def format_of(file: str, *, option: str) -> Format:
    """The format that the suffix of `file` means. Raises ConvertError, naming `option`, where it means none.

    >>> format_of("orders.CSV", option="--from") is FORMATS[FormatName.CSV]
    True
    """
    name = SUFFIXES.get(PurePath(file).suffix.lower())
    if name is None:
        known = ", ".join(SUFFIXES)
        raise ConvertError(f"no format is known by this name (known: {known}); say it with {option}", source=file)
    return FORMATS[name]
