"""The documents that a process has written: which sorts of dicts, tuples and objects are worth code of their own.

Strategy: they are counted by the keys of the whole value, its length, or its class. What comes back often enough is
looked at once, and kept; a value may be of one of a few sorts for one set of keys. What is known is bounded, and so is
the time spent on learning.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, Final

from npser.columns.texts import are_all
from npser.shapes.document import Document, Parts
from npser.shapes.documentcode import document_of
from npser.shapes.generated import forget
from npser.types.registry import ON_CHANGE

__all__ = ["DOCUMENTS", "Documents"]

LEARNED_AFTER = 16
"""Dicts of the same keys that are met before the next one is looked at;
benchmarks/thresholds_shapes.py::sweep_learned."""

MAX_LEARNED_AFTER = 1 << 12
"""It doubles up to this each time that more documents come than are kept, or generating code could cost more than it
ever saves."""

MAX_ROOTS = 256
"""Key sets of whole values that are counted."""

MAX_VARIANTS = 4
"""Documents known for one key set of the whole value."""

MAX_DOCUMENTS = 64
"""Documents known altogether."""

MAX_ROOT_KEYS = 256
"""A dict of more keys is data."""


Root = tuple[Any, ...] | int | type


class Documents:
    """The documents of this process, by the keys of the whole value, its length or its class."""

    def __init__(self) -> None:
        self._known: dict[Root, list[Document]] = {}
        self._misses: dict[Root, int] = {}
        self._lock = threading.Lock()
        self._count = 0
        self._learned_after = LEARNED_AFTER

    def __len__(self) -> int:
        return self._count

    def fitting(self, value: Any) -> Iterator[tuple[Document, Parts]]:
        """The documents that a value may be of, with its parts; whoever has asked for all of them has found none.

        Then the value is counted, and its keys may be known the next time.
        """
        root: Root = type(value)
        if root is dict or root is tuple:
            if len(value) > MAX_ROOT_KEYS:
                return
            root = tuple(value) if root is dict else len(value)
        known = self._known.get(root, ())
        for document in known:
            parts = document.take(value)
            if parts is not None:
                yield document, parts
        self._miss(root, value, len(known))

    def _miss(self, root: Root, value: Any, variants: int) -> None:
        if variants >= MAX_VARIANTS or (type(root) is tuple and not are_all(root, str)):
            return
        misses = self._misses.get(root, 0) + 1
        if misses < self._learned_after:
            if misses == 1 and len(self._misses) >= MAX_ROOTS:
                self._misses = {}
            self._misses[root] = misses
            return
        self._misses[root] = 0
        document = document_of(value)
        if document is None:
            return
        with self._lock:
            if self._count >= MAX_DOCUMENTS:
                self._clear()
                self._learned_after = min(2 * self._learned_after, MAX_LEARNED_AFTER)
            self._count += 1
            self._known[root] = [*self._known.get(root, ()), document]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        for documents in self._known.values():
            for document in documents:
                forget(document.generated)
        self._known = {}
        self._misses = {}
        self._count = 0


DOCUMENTS: Final = Documents()
"""The documents that this process has written."""

ON_CHANGE.append(lambda _cls: DOCUMENTS.clear())
