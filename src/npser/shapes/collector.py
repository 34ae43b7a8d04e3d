"""Pausing the cyclic garbage collector while thousands of containers are built, or taken apart.

Strategy: CPython runs the collector after every few hundred new containers, and while a large value is being built
all of them are alive, so it finds nothing and only costs time. The pause is counted across threads: the first one to
begin switches the collector off if it was on, the last one to end switches it on again, on every path.
"""

from __future__ import annotations

import gc
import threading

__all__ = ["WORTH_PAUSING", "pause", "resume"]

WORTH_PAUSING = 500
"""Containers from which pausing pays: the collector's youngest generation is that large by default
(benchmarks/thresholds_shapes.py::sweep_collector)."""

_lock = threading.Lock()
_paused = 0
_was_enabled = False


def pause() -> None:
    """Switch the collector off until the matching `resume`."""
    global _paused, _was_enabled
    with _lock:
        if _paused == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _paused += 1


def resume() -> None:
    """End one pause; the last one restores what the first one found."""
    global _paused
    with _lock:
        _paused -= 1
        if _paused == 0 and _was_enabled:
            gc.enable()
