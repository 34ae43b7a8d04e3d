"""More rows than fit into memory, in frames of many rows each.

Strategy: a frame is a list of rows, long enough that its columns are worth having and short enough to be held. One list
is held at a time: it is let go before the next one is filled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from npser.errors import DecodeError
from npser.stream.files import FileWriter, Mode, PathLike, open_reader, open_writer
from npser.stream.layout import MARKER
from npser.stream.reader import bind_loads

__all__ = ["FRAME_ROWS", "Progress", "read_rows", "write_rows"]

FRAME_ROWS: Final = 100_000
"""Rows a frame: a list of as many dicts of six keys takes about 40 MB. See `benchmarks/streams.py --rows`."""


class Progress(NamedTuple):
    """How far writing has come."""

    rows: int
    frames: int
    position: int


def _ignore(_progress: Progress) -> None:
    pass


def write_rows(
    path: PathLike,
    rows: Iterable[Any],
    *,
    frame_rows: int = FRAME_ROWS,
    progress: Callable[[Progress], object] = _ignore,
    mode: Mode = "create",
    **options: Any,
) -> Progress:
    """Write rows, from a generator as well, to a file in frames of many rows each.

    Parameters
    ----------
    path : path
        Where the file will be, complete or not at all, unless it is appended to.
    rows : iterable
        Dicts, objects, or anything else that can be encoded.
    frame_rows : int
        Rows a frame.
    progress : callable, optional
        Called with a `Progress` after each frame: rows and frames so far, and where the next frame begins. What it
        raises stops the writing.
    mode : {"create", "append"}
        See `open_writer`.
    **options
        Those of `open_writer`, and so of `npser.dumps`.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/rows"
    >>> done = write_rows(path, ({"id": i} for i in range(1000)), frame_rows=300)
    >>> done.rows, done.frames, sum(row["id"] for row in read_rows(path))
    (1000, 4, 499500)
    >>> folder.cleanup()
    """
    if frame_rows < 1:
        raise ValueError(f"a frame has at least one row, not {frame_rows}")
    source = iter(rows)
    done = 0
    with open_writer(path, mode, **options) as writer:
        while count := _write_some(writer, source, frame_rows):
            done += count
            progress(Progress(done, writer.frames, writer.position))
        return Progress(done, writer.frames, writer.position)


def _write_some(writer: FileWriter, source: Iterator[Any], frame_rows: int) -> int:
    rows = list(islice(source, frame_rows))
    if rows:
        writer.write(rows)
    return len(rows)


def read_rows(path: PathLike, **options: Any) -> Iterator[Any]:
    """The rows of a file that `write_rows` or ``npser pack`` wrote, one frame in memory at a time.

    A file that is one bare payload of a list, as `npser.dumps` gives it, is read as well.

    Parameters
    ----------
    path : path
        Where the file is.
    **options
        Those of `open_reader`, and so of `npser.loads`; but ``tables="columns"`` leaves no rows to read.

    Raises
    ------
    DecodeError
        When a frame is no list.
    """
    with open_reader(path, **options) as reader:
        if options.get("damaged", "raise") == "raise" and _is_bare(path):
            yield from _rows_of(_load_bare(path, options), 0)
            return
        for rows in reader:
            yield from _rows_of(rows, reader.start)
            del rows  # not held while the next frame is decoded


def _rows_of(rows: Any, start: int) -> list[Any]:
    if type(rows) is not list:
        raise DecodeError(f"a frame of rows is a list, not a {type(rows).__name__}", pos=start)
    return rows


def _is_bare(path: PathLike) -> bool:
    with open(path, "rb") as file:
        return not MARKER[:2].startswith(file.read(2))


def _load_bare(path: PathLike, options: dict[str, Any]) -> Any:
    of_loads = {name: option for name, option in options.items() if name not in _OF_FRAMES}
    return bind_loads(options.get("codec"), of_loads)(Path(path).read_bytes())


_OF_FRAMES: Final = frozenset({"codec", "damaged", "max_frame", "tail"})
"""Options of `open_reader` that are none of `loads`."""
