"""Bytes from a path and to a path, where '-' is standard input or output.

Strategy: a file is written beside its final place under a temporary name and renamed when it is whole, so that a
crash leaves the old file, or none, and never half of one. What is no regular file (a pipe, a device) is written to
directly.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from npser.cli.refusal import ConvertError
from npser.stream.writer import StreamWriter

__all__ = ["STANDARD", "frames_to", "read_bytes", "reason", "shown_name", "write_bytes", "writing"]

STANDARD = "-"
"""The name that means standard input where bytes are read, and standard output where they are written."""


def shown_name(name: str, standard: str) -> str:
    """How errors name a file: its path, or `standard` for '-'.

    >>> shown_name("-", "standard input"), shown_name("a.csv", "standard input")
    ('standard input', 'a.csv')
    """
    return standard if name == STANDARD else name


def read_bytes(name: str) -> bytes:
    """All the bytes of a file, or of standard input for '-'. Raises ConvertError where it cannot be read."""
    try:
        return sys.stdin.buffer.read() if name == STANDARD else Path(name).read_bytes()
    except OSError as error:
        raise ConvertError(reason(error), source=shown_name(name, "standard input")) from error


def write_bytes(name: str, data: bytes) -> None:
    """Write a whole file, or to standard output for '-'. Raises ConvertError where it cannot be written."""
    with writing(name) as file:
        file.write(data)


@contextmanager
def writing(name: str) -> Iterator[BinaryIO]:
    """A file to write to, or standard output for '-'; one that is replaced is there when it is whole."""
    try:
        target = Path(os.path.realpath(name))
        if name == STANDARD:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        elif _is_special(target):
            with target.open("wb") as file:
                yield file
        else:
            with _renamed_when_whole(target) as file:
                yield file
    except OSError as error:
        raise ConvertError(reason(error), source=shown_name(name, "standard output")) from error


@contextmanager
def frames_to(name: str) -> Iterator[StreamWriter]:
    """The same for frames."""
    with writing(name) as file, StreamWriter(file, sync="buffer") as writer:
        yield writer


def _is_special(target: Path) -> bool:
    return target.exists() and not stat.S_ISREG(target.stat().st_mode)


def reason(error: OSError) -> str:
    """What the system says, for a message."""
    return (error.strerror or str(error)).lower()


@contextmanager
def _renamed_when_whole(target: Path) -> Iterator[BinaryIO]:
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
