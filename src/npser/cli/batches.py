"""A file that is read line by line, more than once if need be, and its rows in parts that fit into memory.

Strategy: a part ends after so many rows, or when the lines that they were made of have so many characters, whichever
comes first, because rows may be long. Whether more is to come is known with each part, so that who gets the first one
knows whether it is all. What cannot be read twice (a pipe) is put into a temporary file first.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any, Final, Generic, NamedTuple, TypeVar

from npser.cli.files import STANDARD, reason, shown_name
from npser.cli.progress import watched
from npser.cli.refusal import ConvertError

__all__ = ["FRAME_CHARACTERS", "Batch", "Lines", "Source", "batches", "opened"]

FRAME_CHARACTERS: Final = 16_000_000
"""Characters that the rows of a part were made of, at most. In memory they take about ten times as much."""

_STEP: Final = 100

T = TypeVar("T")


class Batch(NamedTuple, Generic[T]):
    """A part of the rows, and whether there are more."""

    items: list[T]
    more: bool


class Lines:
    """An iterator of lines that counts their characters."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.taken = 0

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.taken += len(line)
        return line


class Source:
    """A binary file that can be read again from where it stands.

    Attributes
    ----------
    size : int
        Bytes from there to the end.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._start = file.tell()
        self.size = file.seek(0, os.SEEK_END) - self._start
        file.seek(self._start)

    def read(self) -> bytes:
        """All of it."""
        self.file.seek(self._start)
        return self.file.read()

    def starts_with(self, head: bytes) -> bool:
        """Whether these are the first bytes."""
        self.file.seek(self._start)
        found = self.file.read(len(head)) == head
        self.file.seek(self._start)
        return found

    def lines(self, newline: str, label: str) -> Lines:
        """Its lines as text, from the start; a long file shows a bar. `newline` is as in `open`."""
        return Lines(watched(self._text(newline), label, self.size))

    def _text(self, newline: str) -> Iterator[str]:
        self.file.seek(self._start)
        text = io.TextIOWrapper(self.file, "utf-8-sig", newline=newline)
        try:
            yield from text
        except UnicodeDecodeError as error:
            raise self._not_text() from error
        finally:
            if not self.file.closed:
                text.detach()  # or it would close the file

    def _not_text(self) -> ConvertError:
        self.file.seek(self._start)
        offset = 0
        for number, line in enumerate(self.file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                where = f"byte 0x{line[error.start]:02x} at offset {offset + error.start}"
                return ConvertError(f"not UTF-8: {where}", line=number)
            offset += len(line)
        return ConvertError("not UTF-8")


@contextmanager
def opened(name: str) -> Iterator[Source]:
    """A file, or standard input for '-', for reading more than once. Raises ConvertError where it cannot be read."""
    try:
        file: Any = sys.stdin.buffer if name == STANDARD else open(name, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise ConvertError(reason(error), source=name) from error
    spool: Any = None
    try:
        if not file.seekable():
            spool = tempfile.SpooledTemporaryFile(max_size=FRAME_CHARACTERS)  # noqa: SIM115 - closed below
            shutil.copyfileobj(file, spool)
            spool.seek(0)
        yield Source(file if spool is None else spool)
    except OSError as error:
        raise ConvertError(reason(error), source=shown_name(name, "standard input")) from error
    finally:
        if spool is not None:
            spool.close()
        if name != STANDARD:
            file.close()


def batches(rows: Iterator[T], most: int, lines: Lines, characters: int = FRAME_CHARACTERS) -> Iterator[Batch[T]]:
    """The rows in parts of at most so many of them, and of about so many characters of the lines that they come from.

    >>> lines = Lines(["a", "b", "c"])
    >>> list(batches(iter(lines), 2, lines))
    [Batch(items=['a', 'b'], more=True), Batch(items=['c'], more=False)]
    """
    nothing = object()
    ahead: Any = next(rows, nothing)
    while ahead is not nothing:
        items: list[T] = [ahead]
        start = lines.taken
        while len(items) < most and lines.taken - start < characters:
            few = list(islice(rows, min(_STEP, most - len(items))))
            if not few:
                break
            items += few
        ahead = next(rows, nothing)
        yield Batch(items, ahead is not nothing)
        del items
