"""A fence around code that may hang or eat all memory: what goes over it fails, and the rest of the suite goes on."""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["OverTimeError", "fenced"]


class OverTimeError(AssertionError):
    """The code inside took too long."""


def _over(_signal: int, _frame: Any) -> None:
    raise OverTimeError("too slow")


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


@contextlib.contextmanager
def fenced(seconds: float, megabytes: int = 1024) -> Iterator[None]:
    """Raise `OverTimeError` after so many seconds, MemoryError (mostly) beyond so many megabytes more than now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, _over)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + (megabytes << 20), hard))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)
