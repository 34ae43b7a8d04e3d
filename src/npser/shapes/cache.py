"""Shapes that were read before, by their bytes, and the code that was generated for them.

Strategy: looking up is one dict access without a lock. Adding takes one, and empties the cache when it is full: whoever
writes payloads chooses the shapes, so it is bounded in entries, in bytes and in generated functions, and keeping track
of which shape is the oldest would cost more than reading a few of them again.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from npser.shapes.generated import forget

if TYPE_CHECKING:
    from npser.shapes.node import Program
    from npser.shapes.templates import Generated

__all__ = ["ShapeCache"]

MAX_SHAPES = 512
MAX_SHAPE_BYTES = 1 << 19
"""Shapes are remembered, up to this many of them with this many bytes together. A byte of a shape can become a node of
a hundred bytes, and to a step, so this is 90 MB at the very most, and usually a tenth."""

MAX_HOT = 128
"""Shapes that may be compiled at a time."""


class ShapeCache:
    """The programs of shapes, by their bytes and the depth they were checked against.

    >>> cache = ShapeCache()
    >>> cache.find(b"", 512) is None, len(cache)
    (True, 0)
    """

    def __init__(self, *, shapes: int = MAX_SHAPES, nbytes: int = MAX_SHAPE_BYTES, hot: int = MAX_HOT) -> None:
        self._max_shapes = shapes
        self._max_bytes = nbytes
        self._max_hot = hot
        self._programs: dict[tuple[bytes, int], Program] = {}
        self._bytes = 0
        self._generated: list[Generated] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._programs)

    @property
    def programs(self) -> list[Program]:
        """What is remembered."""
        with self._lock:
            return list(self._programs.values())

    @property
    def hot(self) -> int:
        """How many functions were generated for what is remembered."""
        return len(self._generated)

    def find(self, data: bytes, depth: int) -> Program | None:
        """The program of a shape, if it is remembered."""
        return self._programs.get((data, depth))

    def add(self, data: bytes, depth: int, program: Program) -> None:
        """Remember a program, unless its shape is large."""
        if len(data) > self._max_bytes // 8:
            return
        with self._lock:
            if len(self._programs) >= self._max_shapes or self._bytes + len(data) > self._max_bytes:
                self._clear()
            self._programs[data, depth] = program
            self._bytes += len(data)

    def may_compile(self) -> bool:
        """Whether one more shape may have a function."""
        return len(self._generated) < self._max_hot

    def add_generated(self, generated: Generated) -> None:
        """Remember the source of a function, to drop it from linecache with the shapes."""
        with self._lock:
            self._generated.append(generated)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._programs.clear()
        self._bytes = 0
        while self._generated:
            forget(self._generated.pop())
