"""`pack` and `unpack`: a file of another format into a file of one npser payload, and back.

Strategy: bytes -> value -> bytes, each step from a table; nothing is written before everything is converted. The
payload is exactly what `npser.dumps` gives, so `npser.loads(path.read_bytes())` reads what `pack` wrote.
"""

from __future__ import annotations

from dataclasses import dataclass

import npser
from npser.cli.cells import Types
from npser.cli.files import read_bytes, shown_name, write_bytes
from npser.cli.formats import FORMATS, Format, FormatName, format_of
from npser.cli.progress import busy
from npser.cli.refusal import ConvertError
from npser.errors import NpserError

__all__ = ["Sizes", "pack", "read_value", "unpack"]


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a conversion read and wrote, in bytes."""

    read: int
    written: int


def _format(file: str, name: FormatName | None, *, option: str) -> Format:
    return FORMATS[name] if name is not None else format_of(file, option=option)


def read_value(source: str, name: FormatName | None, types: Types) -> tuple[object, int]:
    """The value that a file holds, and the file's size. Raises ConvertError with the file and the line."""
    format_ = _format(source, name, option="--from")
    data = read_bytes(source)
    try:
        return format_.read(data, types), len(data)
    except ConvertError as error:
        error.source = shown_name(source, "standard input")
        raise


def pack(source: str, target: str, *, name: FormatName | None = None, types: Types = Types.INFER) -> Sizes:
    """Write the value of the file `source` to the file `target` as one npser payload.

    The format is the one that `name` says, else the suffix of `source`. Raises ConvertError and
    leaves `target` as it was.
    """
    value, size = read_value(source, name, types)
    try:
        with busy("encoding", size):
            payload = npser.dumps(value)
    except NpserError as error:
        raise ConvertError(str(error), source=shown_name(source, "standard input")) from error
    write_bytes(target, payload)
    return Sizes(size, len(payload))


def unpack(source: str, target: str, *, name: FormatName | None = None) -> Sizes:
    """Write the value of the npser payload in the file `source` to the file `target`.

    The format is the one that `name` says, else the suffix of `target`. Raises ConvertError and
    leaves `target` as it was.
    """
    format_ = _format(target, name, option="--to")
    payload = read_bytes(source)
    try:
        with busy("decoding", len(payload)):
            value = npser.loads(payload)
        with busy("printing", len(payload)):
            data = format_.write(value)
    except (NpserError, ConvertError) as error:
        raise ConvertError(str(error), source=shown_name(source, "standard input")) from error
    write_bytes(target, data)
    return Sizes(len(payload), len(data))
