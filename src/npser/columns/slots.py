"""Slots: the columns of leaves of one payload, in the order in which the shape asks for them.

    wire:  a kind byte a slot | pools | directory | bodies
    directory: for each slot with a body, uvarint: nbytes << 1, or (number of an earlier body) << 1 | 1

Strategy: the shape says how many slots there are and never what they hold, so a leaf that is None today and text
tomorrow does not change the shape. Short columns live in the pools, the others in bodies whose lengths are known
before any is read (a view reads one of them alone); equal large bodies are stored once.
"""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.blocks.choose import write_ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import read_int_cells, read_int_list
from npser.columns.arrays import read_array_views, read_arrays
from npser.columns.kinds import NUMBER_READERS, READERS, write_column
from npser.columns.pooled import POOLED_ITEMS, PoolWriter
from npser.columns.pools import write_pools
from npser.columns.unpooled import PoolReader, read_cells, read_list
from npser.errors import DecodeError, EncodeError, TruncatedError
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from npser.blocks.sink import Sink

__all__ = ["SlotReader", "SlotWriter", "as_numbers"]

SHARED_BODY = 64
"""Bodies from this many bytes on are looked up among the earlier ones."""

LOOKED_AT = 32
"""Bytes of a body, at its ends and in the middle, by which an equal one is found: comparing all would be quadratic, and
hashing all costs as much as copying."""

ALIGNED_BODY = 4096
"""A body of arrays from this many bytes on starts at a multiple of `ALIGNMENT` bytes from the start of the payload."""

ALIGNMENT = 64

FIRST_BODY, ARRAY = int(Kind.INT), int(Kind.ARRAY)  # plain ints: comparing with an IntEnum member costs a call

_INT_KINDS: Final = frozenset(
    {Kind.POOL_U8, Kind.POOL_I16, Kind.POOL_I32, Kind.POOL_I64, Kind.POOL_STEPS, Kind.POOL_FRAME}
)
_EXPANDING: Final = frozenset({Kind.NONE, Kind.POOL_CONST, Kind.POOL_STEPS})


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
        self.pools = PoolWriter()
        self._bodies: list[tuple[int, bytes]] = []  # number of an earlier equal body or -1, bytes
        self._alike: dict[tuple[int, int, bytes, bytes, bytes], int] = {}

    def one(self, value: Any) -> None:
        """A slot of one leaf."""
        kind = self.pools.one(value)
        if kind is None:
            self._body([value], {type(value)})
        else:
            self.kinds.append(kind)

    def ones(self, values: Sequence[Any]) -> None:
        """A slot for each of the leaves."""
        put, kinds = self.pools.one, self.kinds
        for item, value in enumerate(values):
            kind = put(value)
            if kind is not None:
                kinds.append(kind)
                continue
            try:
                self._body([value], {type(value)})
            except EncodeError as error:
                error.item = item
                raise

    def many(self, values: Sequence[Any], types_met: set[type]) -> None:
        """A slot of n leaves, whose exact types the caller knows."""
        n = len(values)
        if n == 1:
            self.one(values[0])
        elif n > POOLED_ITEMS or not self.sink.may_expand(n) or not self._pooled(
            self.pools.many(values, types_met), n
        ):
            self._body(values, types_met)

    def ints(self, values: Sequence[int]) -> None:
        """A slot of structure: lengths and codes, int64 each."""
        n = len(values)
        if n > POOLED_ITEMS or not self.sink.may_expand(n) or not self._pooled(self.pools.ints(values), n):
            self.sink.u8(Kind.INT)
            write_ints(self.sink, np.fromiter(values, "<i8", n))
            self._close_body()

    def _pooled(self, kind: int | None, n: int) -> bool:
        if kind is None:
            return False
        self.kinds.append(kind)
        if kind in _EXPANDING:
            self.sink.expand(n)
        return True

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
        same = -1
        size = len(body)
        if size >= SHARED_BODY and self.sink.may_expand(size):
            middle = size >> 1
            about = (kind, size, body[:LOOKED_AT], body[middle : middle + LOOKED_AT], body[-LOOKED_AT:])
            earlier = self._alike.setdefault(about, len(self._bodies))
            if earlier < len(self._bodies) and self._bodies[earlier][1] == body:
                same = earlier
                self.sink.expand(size)
        self._bodies.append((same, body))

    def finish(self, head: Sink) -> None:
        """Append kinds, pools, directory and bodies to `head`, which holds the payload so far."""
        out = head.out
        out += self.kinds
        head.budget = self.sink.budget
        write_pools(head, self.pools.pools)
        self.sink.expand(head.expanded)
        for same, body in self._bodies:
            head.uvarint(len(body) << 1 if same < 0 else same << 1 | 1)
        body_kinds = [kind for kind in self.kinds if kind >= FIRST_BODY]
        for kind, (same, body) in zip(body_kinds, self._bodies, strict=True):
            if same < 0:
                if kind == ARRAY and len(body) >= ALIGNED_BODY:
                    out += bytes(-len(out) % ALIGNMENT)
                out += body


class SlotReader:
    """Hands out the slots of one payload in order.

    Parameters
    ----------
    cursor : Cursor
        Stands behind the shape; afterwards at the end of the payload.
    count : int
        How many slots the shape has.

    Attributes
    ----------
    next : int
        The number of the next slot.
    """

    def __init__(self, cursor: Cursor, count: int) -> None:
        self._cursor = cursor
        self.kinds = bytes(cursor.take(count))
        self.next = 0
        self._pools = PoolReader(cursor)
        self._spans = self._read_directory()
        self._next_span = 0

    def _read_directory(self) -> list[tuple[int, int]]:
        cursor = self._cursor
        kinds = [kind for kind in self.kinds if kind >= FIRST_BODY]
        if not kinds:
            return []
        entries = cursor.uvarints(len(kinds))
        at = cursor.pos
        if ARRAY not in kinds and not [entry for entry in entries if entry & 1]:
            bounds = list(accumulate([entry >> 1 for entry in entries], initial=at))
            cursor.take(bounds[-1] - at)
            return list(pairwise(bounds))
        spans: list[tuple[int, int]] = []
        for kind, entry in zip(kinds, entries, strict=True):
            size = entry >> 1
            if entry & 1:
                if size >= len(spans):
                    raise cursor.fail(f"body {len(spans)} repeats body {size}, which is not before it")
                start, stop = spans[size]
                cursor.expand(stop - start)
                spans.append((start, stop))
                continue
            if kind == ARRAY and size >= ALIGNED_BODY:
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
        kind = self.kinds[self.next]
        self.next += 1
        return kind

    def many(self, n: int) -> list[Any]:
        """The next slot as a list of n values."""
        kind = self._kind()
        if kind < FIRST_BODY:
            return read_list(self._pools, kind, n)
        values: list[Any] = self._whole(READERS.get(kind), n)
        return values

    def takers(self) -> list[Any]:
        """By kind, the function that gives the next slot of one leaf, for code that knows which slot is next.

        It raises StopIteration where a pool has run out.
        """
        takers = self._pools.takers()
        known = len(takers)
        others = {kind for kind in self.kinds if kind >= known}
        if others:
            takers += _UNUSED
            for kind in others:
                takers[kind] = partial(self._single, kind)
        return takers

    def _single(self, kind: int) -> Any:
        if kind < FIRST_BODY:
            return read_list(self._pools, kind, 1)[0]
        return self._whole(READERS.get(kind), 1)[0]

    def cells(self, n: int) -> Iterable[Any]:
        """The next slot as n values that can be iterated once."""
        at = self.next
        kind = self.kinds[at]
        if kind < FIRST_BODY:
            self.next = at + 1
            return read_cells(self._pools, kind, n)
        if kind == FIRST_BODY:
            self.next = at + 1
            cells: Iterable[int] = self._whole(read_int_cells, n)
            return cells
        return self.many(n)

    def ints(self, n: int) -> list[int]:
        """The next slot as a list of n ints of structure: never None, never anything but an int64."""
        kind = self._kind()
        if kind in _INT_KINDS:
            return read_list(self._pools, kind, n)
        if kind == FIRST_BODY:
            values: list[int] = self._whole(read_int_list, n)
            return values
        if kind == Kind.POOL_CONST:
            values = read_list(self._pools, kind, n)
            if not values or type(values[0]) is int:
                return values
        raise self._cursor.fail(f"expected integers in slot {self.next - 1}, not kind 0x{kind:02x}")

    def numbers(self, n: int) -> Any:
        """The next slot as an array if it is all int, all float or all bool, else as a list.

        Returns
        -------
        numpy array of int64, float64 or bool, shape (n,), or list
        """
        kind = self.kinds[self.next]
        if kind < FIRST_BODY:
            return as_numbers(self.many(n))
        reader = NUMBER_READERS.get(kind)
        if reader is None:
            return self.many(n)
        self.next += 1
        return self._whole(reader, n)

    def arrays(self, n: int) -> list[Any]:
        """The next slot, which must hold arrays, as writable arrays of their own."""
        return self._arrays(n, read_arrays)

    def views(self, n: int) -> list[Any]:
        """The next slot, which must hold arrays, as read-only arrays that look into the payload where they can."""
        return self._arrays(n, read_array_views)

    def _arrays(self, n: int, reader: Callable[[Cursor, int], Any]) -> list[Any]:
        kind = self._kind()
        if kind != ARRAY:
            raise self._cursor.fail(f"expected arrays in slot {self.next - 1}, not kind 0x{kind:02x}")
        arrays: list[Any] = self._whole(reader, n)
        return arrays

    def _whole(self, reader: Callable[[Cursor, int], Any] | None, n: int) -> Any:
        """Read the body of the slot that was just begun, which must fill its span."""
        start, stop = self._spans[self._next_span]
        self._next_span += 1
        cursor = self._cursor
        body = Cursor(cursor.buf, start, stop, cursor.budget)
        if reader is None:
            raise body.fail(f"no such kind of column: 0x{self.kinds[self.next - 1]:02x}")
        values = reader(body, n)
        if body.pos != stop:
            raise body.fail(f"{body.left} bytes left over in a column")
        cursor.budget = body.budget
        return values

    def mismatch(self) -> DecodeError:
        """An error for code that knows the shape and meets a slot that does not fit; the caller raises it."""
        return self._cursor.fail("a slot that does not fit the shape")

    def close(self) -> None:
        """Check that the payload held nothing that no slot asked for."""
        left = self._pools.left
        if left or self._next_span != len(self._spans):
            raise self._cursor.fail(f"{left} pooled items and {len(self._spans) - self._next_span} columns left over")
        if self._cursor.left:
            raise self._cursor.fail(f"{self._cursor.left} bytes behind the end of the payload")


_UNUSED: Final = [None] * 256
_DTYPES: Final[dict[type, str]] = {int: "<i8", float: "<f8", bool: "?"}


def as_numbers(values: list[Any]) -> Any:
    """The array of a list that is all int (of 64 bits), all float or all bool; any other list as it is.

    >>> as_numbers([1, 2]), as_numbers([1, 2.0]), as_numbers([2**63]), as_numbers([])
    (array([1, 2]), [1, 2.0], [9223372036854775808], [])
    """
    dtype = _DTYPES.get(type(values[0])) if values else None
    if dtype is None or len(set(map(type, values))) > 1:
        return values
    try:
        return np.array(values, dtype)
    except OverflowError:  # an int beyond 64 bits
        return values
