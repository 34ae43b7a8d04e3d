"""A bar on standard error while a long input is worked on.

Strategy: nothing is shown unless somebody sits at a terminal and the input is long. Work that goes line by line
gets a bar that fills, work that is one call gets one that only moves. Neither is passed around: a reader wraps its
lines, that is all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

__all__ = ["LONG", "busy", "counted", "watched"]

_Line = TypeVar("_Line", bound=Sized)
_Item = TypeVar("_Item")

LONG = 4_000_000
"""Characters or bytes from which on an input takes long enough (about half a second) to show a bar."""

MANY = 100
"""Items that are asked for over a network from which on there is a bar."""

STEP = 100_000
"""Characters between two updates of the bar."""


def _shown(size: int) -> bool:
    return size >= LONG and sys.stderr.isatty()


def _bar() -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


def watched(lines: Iterable[_Line], label: str, size: int) -> Iterator[_Line]:
    """The lines unchanged, with a bar that fills as they are taken; `size` is the sum of their lengths.

    >>> list(watched(["a", "b"], "reading", 2))
    ['a', 'b']
    """
    if not _shown(size):
        yield from lines
        return
    with _bar() as bar:
        task = bar.add_task(label, total=size)
        taken = 0
        for line in lines:
            yield line
            taken += len(line)
            if taken >= STEP:
                bar.advance(task, taken)
                taken = 0


def counted(items: Iterable[_Item], label: str, most: int) -> Iterator[_Item]:
    """The items unchanged, with a bar that fills as they are taken; there are `most` of them, or fewer.

    >>> list(counted("ab", "asking", 2))
    ['a', 'b']
    """
    if most < MANY or not sys.stderr.isatty():
        yield from items
        return
    with _bar() as bar:
        yield from bar.track(items, total=most, description=label)


def busy(label: str, size: int) -> AbstractContextManager[None]:
    """A bar that moves for as long as the block runs.

    >>> with busy("encoding", 10): pass
    """
    return _moving(label) if _shown(size) else nullcontext()


@contextmanager
def _moving(label: str) -> Iterator[None]:
    with _bar() as bar:
        bar.add_task(label, total=None)
        yield
