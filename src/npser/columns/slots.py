"""Slots: the columns of leaves of one payload, in the order in which the shape asks for them.

    wire:  a kind byte a slot | pools | directory | bodies
    directory: for each slot with a body, uvarint: nbytes << 1, or (number of an earlier body) << 1 | 1

Strategy: the shape says how many slots there are and never what they hold, so a leaf that is None today and text
tomorrow does not change the shape. Short columns live in the pools, the others in bodies whose lengths are known
before any is read (a view reads one of them alone); equal large bodies are stored once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.choose import write_ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import read_int_list
from npser.columns.arrays import read_array_views, read_arrays
from npser.columns.kinds import NUMBER_READERS, READERS, write_column
from npser.columns.pools import F64, I16, I32, I64, POOLS, TEXT, U8, narrowest, read_pools, write_pools
from npser.errors import DecodeError, TruncatedError
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from npser.blocks.sink import Sink

__all__ = ["POOLED_ITEMS", "SlotReader", "SlotWriter"]

POOLED_ITEMS = 16
"""Columns up to this long go into a pool: a body of its own costs about as much to read as slicing three of them
(benchmarks/thresholds.py::sweep_pooled)."""

POOLED_MIXED_ITEMS = 8
"""The same for columns of several kinds, whose items are taken from the pools one by one."""

SHARED_BODY = 64
"""Bodies from this many bytes on are looked up among the earlier ones."""

ALIGNED_BODY = 4096
"""A body of arrays from this many bytes on starts at a multiple of `ALIGNMENT` bytes from the start of the payload."""

ALIGNMENT = 64

_POOL_KINDS = {
    U8: Kind.POOL_U8,
    I16: Kind.POOL_I16,
    I32: Kind.POOL_I32,
    I64: Kind.POOL_I64,
    F64: Kind.POOL_F64,
    TEXT: Kind.POOL_TEXT,
}
_POOL_OF_KIND = {int(kind): pool for pool, kind in _POOL_KINDS.items()}
_NONE_TYPE = type(None)
_POOLABLE = frozenset({_NONE_TYPE, bool, int, float, str})


class SlotWriter:
    """Collects the slots of one payload while the shape is being written.

    Parameters
    ----------
    sink : Sink
        Scratch space for one body after another; its budget is the payload's.
    """

    def __init__(self, sink: Sink) -> None:
        self.kinds = bytearray()
        self.sink = sink
        self._pools: list[list[Any]] = [[] for _ in range(POOLS)]
        self._bodies: list[tuple[int, bytes]] = []  # number of an earlier equal body or -1, bytes
        self._by_length: dict[tuple[int, int], list[int]] = {}

    def one(self, value: Any) -> None:
        """A slot of one leaf."""
        write = _ONE.get(type(value))
        if write is not None and write(self, value):
            return
        self._body([value], {type(value)})

    def many(self, values: Sequence[Any], types_met: set[type]) -> None:
        """A slot of n leaves, whose exact types the caller knows."""
        n = len(values)
        if n == 1:
            self.one(values[0])
            return
        if n <= POOLED_ITEMS and self._pooled(values, types_met):
            return
        self._body(values, types_met)

    def ints(self, values: Sequence[int]) -> None:
        """A slot of structure: lengths and codes, int64 each."""
        n = len(values)
        if n <= POOLED_ITEMS and self._pooled_ints(values):
            return
        self.sink.u8(Kind.INT)
        write_ints(self.sink, np.fromiter(values, "<i8", n))
        self._close_body()

    def _pooled(self, values: Sequence[Any], types_met: set[type]) -> bool:
        if len(types_met) > 1:
            return len(values) <= POOLED_MIXED_ITEMS and types_met <= _POOLABLE and self._pooled_mixed(values)
        (only,) = types_met
        if only is str:
            self.kinds.append(Kind.POOL_TEXT)
            self._pools[TEXT].extend(values)
        elif only is int:
            return self._pooled_ints(values)
        elif only is float:
            self.kinds.append(Kind.POOL_F64)
            self._pools[F64].extend(values)
        elif only is bool:
            self.kinds.append(Kind.POOL_BOOL)
            self._pools[U8].extend(map(int, values))
        elif only is _NONE_TYPE:
            self.kinds.append(Kind.NONE)
            self.sink.expand(len(values))
        else:
            return False
        return True

    def _pooled_ints(self, values: Sequence[int]) -> bool:
        pool = narrowest(min(values), max(values)) if values else U8
        if pool is None:
            return False
        self.kinds.append(_POOL_KINDS[pool])
        self._pools[pool].extend(values)
        return True

    def _pooled_mixed(self, values: Sequence[Any]) -> bool:
        ints = [value for value in values if type(value) is int]
        if ints and narrowest(min(ints), max(ints)) is None:
            return False
        start = len(self.kinds)
        for value in values:
            _ONE[type(value)](self, value)
        self._mix(start)
        return True

    def _mix(self, start: int) -> None:
        """Turn the kinds written since `start` into one POOL_MIXED slot.

        The kinds of a mixed slot come from the pool of u8 before its items do, so ints that were pooled as u8
        move behind them.
        """
        kinds = self.kinds
        mixed = bytes(kinds[start:])
        del kinds[start:]
        kinds.append(Kind.POOL_MIXED)
        small = mixed.count(Kind.POOL_U8)
        pool = self._pools[U8]
        at = len(pool) - small
        pool[at:at] = mixed

    def _body(self, values: Sequence[Any], types_met: set[type]) -> None:
        write_column(self.sink, values, types_met)
        self._close_body()

    def _close_body(self) -> None:
        out = self.sink.out
        kind = out[0]
        body = bytes(memoryview(out)[1:])
        out.clear()
        self.kinds.append(kind)
        if kind == Kind.NONE:
            return
        number = len(self._bodies)
        same = -1
        if len(body) >= SHARED_BODY:
            alike = self._by_length.setdefault((kind, len(body)), [])
            same = next((earlier for earlier in alike if self._bodies[earlier][1] == body), -1)
            if same < 0:
                alike.append(number)
            else:
                self.sink.expand(len(body))
        self._bodies.append((same, body))

    def finish(self, head: Sink) -> None:
        """Append kinds, pools, directory and bodies to `head`, which holds the payload so far."""
        out = head.out
        out += self.kinds
        write_pools(head, self._pools)
        for same, body in self._bodies:
            head.uvarint(len(body) << 1 if same < 0 else same << 1 | 1)
        body_kinds = [kind for kind in self.kinds if kind >= Kind.INT]
        for kind, (same, body) in zip(body_kinds, self._bodies, strict=True):
            if same < 0:
                if kind == Kind.ARRAY and len(body) >= ALIGNED_BODY:
                    out += bytes(-len(out) % ALIGNMENT)
                out += body


def _one_none(slots: SlotWriter, _value: Any) -> bool:
    slots.kinds.append(Kind.NONE)
    return True


def _one_bool(slots: SlotWriter, value: bool) -> bool:  # noqa: FBT001 - the value itself, not a flag
    slots.kinds.append(Kind.TRUE if value else Kind.FALSE)
    return True


def _one_int(slots: SlotWriter, value: int) -> bool:
    pool = narrowest(value, value)
    if pool is None:
        return False
    slots.kinds.append(_POOL_KINDS[pool])
    slots._pools[pool].append(value)
    return True


def _one_float(slots: SlotWriter, value: float) -> bool:
    slots.kinds.append(Kind.POOL_F64)
    slots._pools[F64].append(value)
    return True


def _one_str(slots: SlotWriter, value: str) -> bool:
    slots.kinds.append(Kind.POOL_TEXT)
    slots._pools[TEXT].append(value)
    return True


_ONE: Final[dict[type, Callable[[SlotWriter, Any], bool]]] = {
    _NONE_TYPE: _one_none,
    bool: _one_bool,
    int: _one_int,
    float: _one_float,
    str: _one_str,
}


class SlotReader:
    """Hands out the slots of one payload in order.

    Parameters
    ----------
    cursor : Cursor
        Stands behind the shape; afterwards at the end of the payload.
    count : int
        How many slots the shape has.
    """

    def __init__(self, cursor: Cursor, count: int) -> None:
        self._cursor = cursor
        self.kinds = cursor.take(count)
        self._next = 0
        self._pools = read_pools(cursor)
        self._used = [0] * POOLS
        self._spans = self._read_directory()
        self._next_span = 0

    def _read_directory(self) -> list[tuple[int, int]]:
        cursor = self._cursor
        entries = [(kind, cursor.uvarint()) for kind in self.kinds if kind >= Kind.INT]
        spans: list[tuple[int, int]] = []
        at = cursor.pos
        for number, (kind, entry) in enumerate(entries):
            size = entry >> 1
            if entry & 1:
                if size >= number:
                    raise cursor.fail(f"body {number} repeats body {size}, which is not before it")
                start, stop = spans[size]
                cursor.expand(stop - start)
                spans.append((start, stop))
                continue
            if kind == Kind.ARRAY and size >= ALIGNED_BODY:
                padding = -at % ALIGNMENT
                if any(cursor.buf[at : min(at + padding, cursor.end)]):
                    raise DecodeError("padding is not zero", pos=at)
                at += padding
            if size > cursor.end - at:
                raise TruncatedError(f"need {size} bytes, {max(0, cursor.end - at)} left", pos=at)
            spans.append((at, at + size))
            at += size
        cursor.pos = at
        return spans

    def _kind(self) -> int:
        kind = self.kinds[self._next]
        self._next += 1
        return kind

    def many(self, n: int) -> list[Any]:
        """The next slot as a list of n values."""
        kind = self._kind()
        pool = _POOL_OF_KIND.get(kind)
        if pool is not None:
            return self._take(pool, n)
        special = _SPECIAL.get(kind)
        if special is not None:
            return special(self, n)
        values: list[Any] = self._whole(self._open_body(), READERS.get(kind), n)
        return values

    def one(self) -> Any:
        """The next slot, of one value."""
        return self.many(1)[0]

    def ints(self, n: int) -> list[int]:
        """The next slot as a list of n ints of structure: never None, never anything but an int64."""
        kind = self._kind()
        pool = _POOL_OF_KIND.get(kind)
        if pool is not None and pool <= I64:
            return self._take(pool, n)
        if kind != Kind.INT:
            raise self._cursor.fail(f"expected integers in slot {self._next - 1}, not kind 0x{kind:02x}")
        values: list[int] = self._whole(self._open_body(), read_int_list, n)
        return values

    def numbers(self, n: int) -> Any:
        """The next slot as an array if it is all int, all float or all bool, else as a list.

        Returns
        -------
        numpy array of int64, float64 or bool, shape (n,), or list
        """
        kind = self.kinds[self._next]
        dtype = _POOL_DTYPES.get(kind)
        if dtype is not None:
            return np.array(self.many(n), dtype)
        reader = NUMBER_READERS.get(kind)
        if reader is None:
            return self.many(n)
        self._next += 1
        return self._whole(self._open_body(), reader, n)

    def arrays(self, n: int) -> list[Any]:
        """The next slot, which must hold arrays, as writable arrays of their own."""
        return self._arrays(n, read_arrays)

    def views(self, n: int) -> list[Any]:
        """The next slot, which must hold arrays, as read-only arrays that look into the payload where they can."""
        return self._arrays(n, read_array_views)

    def _arrays(self, n: int, reader: Callable[[Cursor, int], Any]) -> list[Any]:
        kind = self._kind()
        if kind != Kind.ARRAY:
            raise self._cursor.fail(f"expected arrays in slot {self._next - 1}, not kind 0x{kind:02x}")
        arrays: list[Any] = self._whole(self._open_body(), reader, n)
        return arrays

    def _take(self, pool: int, n: int) -> list[Any]:
        start = self._used[pool]
        stop = start + n
        items = self._pools[pool]
        if stop > len(items):
            raise self._cursor.fail(f"a slot needs {n} items of pool {pool}, which has {len(items) - start} left")
        self._used[pool] = stop
        return items[start:stop]

    def _open_body(self) -> Cursor:
        kind = self.kinds[self._next - 1]
        if kind < Kind.INT:
            raise self._cursor.fail(f"no such kind of column: 0x{kind:02x}")
        start, stop = self._spans[self._next_span]
        self._next_span += 1
        return Cursor(self._cursor.buf, start, stop, self._cursor.budget)

    def _whole(self, body: Cursor, reader: Callable[[Cursor, int], Any] | None, n: int) -> Any:
        if reader is None:
            raise body.fail(f"no such kind of column: 0x{self.kinds[self._next - 1]:02x}")
        values = reader(body, n)
        if body.pos != body.end:
            raise body.fail(f"{body.left} bytes left over in a column")
        self._cursor.budget = body.budget
        return values

    def _constant(self, n: int) -> list[Any]:
        if n > 1:
            self._cursor.expand(n)
        return [_CONSTANTS[self.kinds[self._next - 1]]] * n

    def _bools(self, n: int) -> list[bool]:
        raw = self._take(U8, n)
        if raw and max(raw) > 1:
            raise self._cursor.fail("a bool that is neither 0 nor 1")
        return list(map(bool, raw))

    def _mixed(self, n: int) -> list[Any]:
        values = []
        for kind in self._take(U8, n):
            pool = _POOL_OF_KIND.get(kind)
            if pool is not None:
                values += self._take(pool, 1)
            elif kind in _CONSTANTS:
                values.append(_CONSTANTS[kind])
            else:
                raise self._cursor.fail(f"a kind that may not stand in a mixed slot: 0x{kind:02x}")
        return values

    def close(self) -> None:
        """Check that the payload held nothing that no slot asked for."""
        left = sum(map(len, self._pools)) - sum(self._used)
        if left or self._next_span != len(self._spans):
            raise self._cursor.fail(f"{left} pooled items and {len(self._spans) - self._next_span} columns left over")
        if self._cursor.left:
            raise self._cursor.fail(f"{self._cursor.left} bytes behind the end of the payload")


_CONSTANTS: Final[dict[int, object]] = {Kind.NONE: None, Kind.FALSE: False, Kind.TRUE: True}
_SPECIAL: Final[dict[int, Callable[[SlotReader, int], list[Any]]]] = {
    Kind.NONE: SlotReader._constant,
    Kind.FALSE: SlotReader._constant,
    Kind.TRUE: SlotReader._constant,
    Kind.POOL_BOOL: SlotReader._bools,
    Kind.POOL_MIXED: SlotReader._mixed,
}
_POOL_DTYPES: Final[dict[int, str]] = {
    Kind.POOL_U8: "<i8",
    Kind.POOL_I16: "<i8",
    Kind.POOL_I32: "<i8",
    Kind.POOL_I64: "<i8",
    Kind.POOL_F64: "<f8",
    Kind.POOL_BOOL: "?",
}
