"""`pack` and `unpack`: a file of another format into an npser file, and back.

Strategy: bytes -> value -> bytes, each step from a table. What is no longer than `WHOLE` becomes one payload, exactly
what `npser.dumps` gives, so `npser.loads(path.read_bytes())` reads it. Longer files of rows become frames of many rows
each, as `npser.write_rows` writes them and `npser.read_rows` reads them; then one frame is in memory at a time, both
ways. The file that is written is there when it is whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final

import npser
from npser.cli.batches import FRAME_CHARACTERS, Source, opened
from npser.cli.cells import Types
from npser.cli.files import STANDARD, frames_to, read_bytes, shown_name, write_bytes, writing
from npser.cli.formats import FORMATS, Format, FormatName, format_of, text_bytes
from npser.cli.progress import busy, watched
from npser.cli.refusal import ConvertError
from npser.errors import NpserError
from npser.stream.layout import MARKER
from npser.stream.reader import StreamReader
from npser.stream.rows import FRAME_ROWS

__all__ = ["WHOLE", "Sizes", "pack", "read_value", "unpack", "values_of"]

WHOLE: Final = FRAME_CHARACTERS
"""Bytes up to which a file of rows becomes one payload."""

WHOLE_ROWS: Final = 1_000_000
"""And so many rows, which would take more memory than their text."""

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
    """Write what the file `source` holds to the file `target`: one npser payload, or frames of rows.

    The format is the one that `name` says, else the suffix of `source`. Raises ConvertError and
    leaves `target` as it was.
    """
    format_ = _format(source, name, option="--from")
    if format_.frames is None:
        value, size = read_value(source, name, types)
        with _blamed(source), busy("encoding", size):
            payload = npser.dumps(value)
        write_bytes(target, payload)
        return Sizes(size, len(payload))
    with opened(source) as file, _blamed(source):
        frames = format_.frames(file, types, WHOLE_ROWS if file.size <= WHOLE else FRAME_ROWS)
        return Sizes(file.size, _write_payloads(target, map(npser.dumps, frames)))


def _write_payloads(target: str, payloads: Iterator[bytes]) -> int:
    """Write one payload as it is, several as frames; the number of bytes written."""
    first = next(payloads)
    second = next(payloads, None)
    if second is None:
        write_bytes(target, first)
        return len(first)
    with frames_to(target) as writer:
        start = writer.position
        for payload in chain((first, second), payloads):
            writer.write_payload(payload)
        return writer.position - start


@contextmanager
def _blamed(source: str) -> Iterator[None]:
    """Errors name the file that is read, unless they name another one already."""
    try:
        yield
    except ConvertError as error:
        error.source = error.source or shown_name(source, "standard input")
        raise
    except NpserError as error:
        raise ConvertError(str(error), source=shown_name(source, "standard input")) from error


def unpack(source: str, target: str, *, name: FormatName | None = None) -> Sizes:
    """Write what the npser file `source` holds, a payload or frames, to the file `target`.

    The format is the one that `name` says, else the suffix of `target`. Raises ConvertError and
    leaves `target` as it was.
    """
    format_ = _format(target, name, option="--to")
    with opened(source) as file:
        if _of_frames(source, file):
            with _blamed(source):
                return Sizes(file.size, _unpack_frames(file, target, format_))
        payload = file.read()
    with _blamed(source):
        with busy("decoding", len(payload)):
            value = npser.loads(payload)
        with busy("printing", len(payload)):
            data = format_.write(value)
    write_bytes(target, data)
    return Sizes(len(payload), len(data))


def _unpack_frames(file: Source, target: str, format_: Format) -> int:
    payloads = watched(StreamReader(file.file).payloads(), "unpacking", file.size)
    first = list(islice(payloads, 2))
    if len(first) == 1:  # as if it were no frame
        data = format_.write(npser.loads(first[0]))
        write_bytes(target, data)
        return len(data)
    rows = map(_rows_of, chain(first, payloads))
    if format_.pieces is None:
        data = format_.write([row for part in rows for row in part])
        write_bytes(target, data)
        return len(data)
    written = 0
    with writing(target) as out:
        for piece in format_.pieces(rows):
            written += out.write(text_bytes(piece))
    return written


def _of_frames(source: str, file: Source) -> bool:
    """Whether a file is one of frames, of which an empty one has none; nothing on standard input is no file."""
    return file.starts_with(MARKER) or (source != STANDARD and not file.size)


def values_of(source: str) -> Iterator[Any]:
    """The value of an npser file, or those of its frames, one at a time."""
    with opened(source) as file:
        if _of_frames(source, file):
            yield from StreamReader(file.file)
        else:
            yield npser.loads(file.read())


def _rows_of(payload: bytes) -> list[Any]:
    """The rows of one of several frames: of a list its items, anything else is one row."""
    value = npser.loads(payload)
    return value if type(value) is list else [value]
