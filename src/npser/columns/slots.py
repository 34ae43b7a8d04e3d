"""Slots: the leaves of one payload, in the order in which the shape asks for them: single ones, and columns.

    wire:  kinds of the singles | kinds of the columns | numbers of the singles | pools | directory | bodies

Strategy: the shape says how many slots there are and never what they hold, so a leaf that is None today and text
tomorrow does not change the shape. Singles are what stands in the value exactly once, whatever it holds: they all are
read before the shape is walked. Short columns live in the pools, the others in bodies.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any

from npser.columns.arrays import read_array_views, read_arrays
from npser.columns.bodies import ARRAY, FIRST_BODY, read_directory
from npser.columns.lone import MAX_LONE, READ_LONE
from npser.columns.pools import TEXT, read_pools
from npser.columns.singles import COMMON, I64, U8, read_numbers
from npser.columns.singles import TEXT as TEXT_KIND
from npser.columns.slotreader import LISTS, SlotReader
from npser.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from npser.blocks.cursor import Cursor

__all__ = ["Singles", "open_slots", "read_body", "read_leaves", "single_texts"]


def open_slots(
    cursor: Cursor, singles: int, columns: int, reader: type[SlotReader] = SlotReader
) -> tuple[bytes, tuple[Any, ...], SlotReader]:
    """Begin to read the slots of a payload.

    Parameters
    ----------
    cursor : Cursor
        Stands behind the shape; afterwards at the end of the payload.
    singles, columns : int
        How many slots of each sort the shape has.
    reader : type
        Of what reads the columns.

    Returns
    -------
    (kinds of the singles, numbers among the singles, reader of the columns)
        The texts among the singles are the first ones of the reader's text pool.
    """
    kinds = cursor.take(singles + columns).tobytes()
    single_kinds = kinds[:singles]
    numbers = read_numbers(cursor, single_kinds)
    pools = read_pools(cursor)
    spans = read_directory(cursor, kinds)
    texts = single_kinds.count(TEXT_KIND)
    return single_kinds, numbers, reader(cursor, pools, texts, kinds[singles:], spans)


_NONES, _FALSES, _TRUES = map(repeat, (None, False, True))


def read_leaves(kinds: bytes, numbers: tuple[Any, ...], slots: SlotReader) -> list[Any]:
    """All single leaves, in order, of a payload whose slots were just opened.

    In the place of an array is its span: only who asks for it knows whether to copy. The error of a leaf knows its
    number as `item`.
    """
    number = iter(numbers)
    text = iter(single_texts(slots))
    sources: list[Iterator[Any]] = [_NONES, _FALSES, _TRUES, number, number, number, number, number, text]
    if kinds.translate(None, COMMON):
        leaves: list[Any] = []
        try:
            for kind in kinds:
                leaves.append(read_body(slots, kind) if kind > TEXT_KIND else next(sources[kind]))
        except DecodeError as error:
            error.item = len(leaves)
            raise
        return leaves
    return list(map(next, map(sources.__getitem__, kinds)))


def single_texts(slots: SlotReader) -> list[str]:
    """The texts among the single leaves of a payload whose slots were just opened."""
    texts: list[str] = slots.pools[TEXT]
    count = slots.at[TEXT]
    if count == len(texts):
        return texts
    if count > len(texts):
        raise slots.cursor.fail(f"{count} single strings, and a pool of {len(texts)}")
    return texts[:count]


def read_body(slots: SlotReader, kind: int) -> Any:
    """The next single leaf that has a body, or the span of an array."""
    if kind == ARRAY:
        slots.next_span += 1
        return slots.spans[slots.next_span - 1]
    if kind < FIRST_BODY:
        raise slots.cursor.fail(f"a single leaf of the kind 0x{kind:02x}, which is one of columns")
    lone = READ_LONE.get(kind)
    if lone is not None:
        start, stop = slots.spans[slots.next_span]
        if stop - start <= MAX_LONE:
            try:
                value = lone(slots.cursor.buf[start:stop].tobytes())
            except Exception:  # a column may have made it in another way, and says so where it is wrong
                pass
            else:
                slots.next_span += 1
                return value
    return LISTS[kind](slots, 1)[0]


class Singles:
    """Hands out single leaves in order; the mirror of `SlotReader` for one instance.

    Parameters
    ----------
    kinds : bytes
        One a leaf.
    leaves : sequence
        What `read_leaves` gave.
    slots : SlotReader
        For bodies and for errors.
    """

    __slots__ = ("_leaves", "_next", "_slots", "kinds")

    def __init__(self, kinds: bytes, leaves: Sequence[Any], slots: SlotReader) -> None:
        self.kinds = kinds
        self._leaves = leaves
        self._slots = slots
        self._next = 0

    def take(self, k: int) -> list[Any]:
        """The next k leaves."""
        start = self._next
        self._next = stop = start + k
        if ARRAY in self.kinds[start:stop]:
            raise self._slots.cursor.fail("an array in the place of a leaf")
        return list(self._leaves[start:stop])

    def many(self, _n: int) -> list[Any]:
        """The next leaf, as a column of one."""
        return self.take(1)

    def ints(self, _n: int) -> list[int]:
        """The next leaf, which must be an int of 64 bits, as a column of one."""
        kind = self.kinds[self._next]
        if not U8 <= kind <= I64:
            raise self._slots.cursor.fail(f"expected an integer in a single slot, not kind 0x{kind:02x}")
        return self.take(1)

    def arrays(self, n: int) -> list[Any]:
        """The next leaf, which must be an array, as a writable array of its own, in a column of one."""
        return self._arrays(n, read_arrays)

    def views(self, n: int) -> list[Any]:
        """The same as a read-only array that looks into the payload where it can."""
        return self._arrays(n, read_array_views)

    def _arrays(self, n: int, reader: Callable[[Cursor, int], Any]) -> list[Any]:
        kind, span = self.kinds[self._next], self._leaves[self._next]
        if kind != ARRAY:
            raise self._slots.cursor.fail(f"expected an array in a single slot, not kind 0x{kind:02x}")
        self._next += 1
        arrays: list[Any] = self._slots.span(span, reader, n)
        return arrays
