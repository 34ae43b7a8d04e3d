"""Key sets: the keys of a table or the fields of a record, with the code that makes dicts of them.

    wire:  for each key: uvarint nbytes | generalized UTF-8

Strategy: key sets come back far more often than whole shapes, so each is known by its bytes: a payload that nobody has
seen before finds its keys parsed, and, when they were met often, a generated constructor. The cache is bounded
and emptied when it is full, as that of shapes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from npser.blocks.cursor import Cursor
from npser.blocks.stretches import LONG, side_by_side
from npser.shapes.generated import build_one, build_rows

__all__ = ["KEY_SETS", "KeySet", "KeySets", "write_key_set"]

MAX_KEY_SETS = 2048
MAX_KEY_SET_BYTES = 1 << 18
"""Key sets are remembered, up to this many of them with this many bytes together."""

GENERATED_ROWS = 32
"""From this many rows on, binding the generated code to the keys of a table pays at once;
benchmarks/thresholds_shapes.py::sweep_rows."""

GENERATED_AFTER = 16
"""For fewer rows it pays when the key set was met as often as this."""


class KeySet:
    """The keys of one table.

    Attributes
    ----------
    keys : tuple of str
    size : int
        How many they are.
    leaves : bytes
        What follows them in a shape if all their values are leaves.
    build_one : callable or None
        The generated constructor of one dict, once there is one.

    >>> KeySet(("id", "name")).one([1, "a"])
    {'id': 1, 'name': 'a'}
    >>> KeySet(("id", "name")).rows([[1, 2], ["a", "b"]], 2)
    [{'id': 1, 'name': 'a'}, {'id': 2, 'name': 'b'}]
    """

    __slots__ = ("_build_rows", "_meetings", "build_one", "keys", "leaves", "size")

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.keys = keys
        self.size = len(keys)
        self.leaves = bytes(self.size)
        self._meetings = 0
        self.build_one: Callable[[Sequence[Any]], dict[str, Any]] | None = None if keys else _build_empty
        self._build_rows: Callable[[Sequence[Iterable[Any]]], list[dict[str, Any]]] | None = None

    def one(self, values: Sequence[Any]) -> dict[str, Any]:
        """The dict of one value a key."""
        if self.build_one is not None:
            return self.build_one(values)
        self._meetings += 1
        if self._meetings == GENERATED_AFTER:
            self.build_one = build_one(self.keys)
        return dict(zip(self.keys, values, strict=True))

    def rows(self, columns: Sequence[Any], n: int) -> list[dict[str, Any]]:
        """The n dicts of one column a key, of which there is at least one."""
        if self._build_rows is None:
            self._meetings += 1
            if n < GENERATED_ROWS and self._meetings < GENERATED_AFTER:
                return [dict(zip(self.keys, row, strict=True)) for row in zip(*columns, strict=True)]
            self._build_rows = build_rows(self.keys)
        if n < LONG:
            return self._build_rows(columns)
        rows: list[dict[str, Any]] = []
        for part in side_by_side(columns, n):
            rows += self._build_rows(part)
        return rows


def _build_empty(_values: Sequence[Any]) -> dict[str, Any]:
    return {}


class KeySets:
    """Key sets by their bytes.

    >>> sets = KeySets()
    >>> sets.find(b"\\x02id") is sets.find(b"\\x02id"), sets.find(b"\\x02id").keys
    (True, ('id',))
    """

    def __init__(self, *, count: int = MAX_KEY_SETS, nbytes: int = MAX_KEY_SET_BYTES) -> None:
        self._max_count = count
        self._max_bytes = nbytes
        self.known: dict[bytes, KeySet] = {}
        self._written: dict[tuple[str, ...], bytes] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.known)

    def find(self, data: bytes) -> KeySet:
        """The key set that these bytes are; a `DecodeError` counts its position from their start."""
        found = self.known.get(data)
        return self._add(data) if found is None else found

    def _add(self, data: bytes) -> KeySet:
        key_set = KeySet(_parse(data))
        if len(data) <= self._max_bytes // 8:
            with self._lock:
                if len(self.known) >= self._max_count or self._bytes + len(data) > self._max_bytes:
                    self._clear()
                self.known[data] = key_set
                self._bytes += len(data)
        return key_set

    def data(self, keys: tuple[str, ...]) -> bytes:
        """The bytes of a key set whose keys are exact strings."""
        found = self._written.get(keys)
        if found is None:
            found = write_key_set(keys)
            if len(found) <= self._max_bytes // 8:
                with self._lock:
                    if len(self._written) >= self._max_count or self._bytes + len(found) > self._max_bytes:
                        self._clear()
                    self._written[keys] = found
                    self._bytes += len(found)
        return found

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self.known.clear()
        self._written.clear()
        self._bytes = 0


KEY_SETS: Final = KeySets()
"""The key sets that this process has read and written."""


def _parse(data: bytes) -> tuple[str, ...]:
    cursor = Cursor(memoryview(data))
    keys = []
    while cursor.left:
        raw = cursor.take(cursor.uvarint())
        try:
            keys.append(str(raw, "utf-8", "surrogatepass"))
        except UnicodeDecodeError as error:
            raise cursor.fail(f"a key in the shape is not UTF-8: {error.reason}") from None
    if len(set(keys)) < len(keys):
        raise cursor.fail("a key stands twice in one key set")
    return tuple(keys)


def write_key_set(keys: Sequence[str]) -> bytes:
    """The bytes of a key set.

    >>> write_key_set(("id", "né"))
    b'\\x02id\\x03n\\xc3\\xa9'
    """
    out = bytearray()
    for key in keys:
        raw = key.encode("utf-8", "surrogatepass")
        n = len(raw)
        while n > 0x7F:
            out.append(n & 0x7F | 0x80)
            n >>= 7
        out.append(n)
        out += raw
    return bytes(out)
