"""Single leaves one at a time: each is found by its number, and decoded when somebody asks for it.

Strategy: numbers and texts are there already; what costs is a body. So one pass over the kinds says which number, text
or body each leaf is, and nothing else happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from npser.columns.bodies import ARRAY, FIRST_BODY
from npser.columns.kinds import READERS
from npser.columns.singles import TEXT, U8
from npser.columns.slots import Singles, single_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from npser.blocks.cursor import Cursor
    from npser.columns.slotreader import SlotReader

__all__ = ["LazySingles", "SingleTable"]

_CONSTANTS: Final = (None, False, True)


class SingleTable:
    """Where the single leaves of a payload are.

    Attributes
    ----------
    kinds : bytes
        One a leaf.
    bodies : int
        How many of them have a body.
    """

    __slots__ = ("_numbers", "_order", "_texts", "arrays", "bodies", "kinds")

    def __init__(self, kinds: bytes, numbers: tuple[Any, ...], slots: SlotReader) -> None:
        self.kinds = kinds
        self._numbers = numbers
        self._texts = single_texts(slots)
        self.arrays: dict[int, tuple[int, int]] = {}
        self._order: list[int] = []
        number = text = body = 0
        for kind in kinds:
            if kind >= FIRST_BODY:
                if kind == ARRAY:
                    self.arrays[len(self._order)] = slots.spans[body]
                self._order.append(body)
                body += 1
            elif kind == TEXT:
                self._order.append(text)
                text += 1
            elif kind >= U8:
                self._order.append(number)
                number += kind < TEXT
            else:
                self._order.append(kind)
        self.bodies = body

    def leaf(self, at: int, slots: SlotReader) -> Any:
        """One leaf, which is no array."""
        kind, order = self.kinds[at], self._order[at]
        if kind >= FIRST_BODY:
            reader = READERS.get(kind)
            if reader is None:
                raise slots.cursor.fail("no such kind of column")
            return slots.span(slots.spans[order], reader, 1)[0]
        if kind > TEXT:
            raise slots.cursor.fail(f"a single leaf of the kind 0x{kind:02x}, which is one of columns")
        if kind == TEXT:
            return self._texts[order]
        return _CONSTANTS[kind] if kind < U8 else self._numbers[order]


class LazySingles(Singles):
    """Hands out single leaves in order, and decodes those that are taken.

    Attributes
    ----------
    at : int
        The number of the next one.
    """

    __slots__ = ("_table",)

    def __init__(self, table: SingleTable, slots: SlotReader, at: int = 0) -> None:
        super().__init__(table.kinds, table.arrays, slots)  # type: ignore[arg-type]
        self._table = table
        self._next = at

    @property
    def at(self) -> int:
        """The number of the next leaf."""
        return self._next

    def skip(self, k: int) -> None:
        """Go past k leaves."""
        self._next += k

    def take(self, k: int) -> list[Any]:
        """The next k leaves."""
        start = self._next
        self._next = stop = start + k
        if ARRAY in self.kinds[start:stop]:
            raise self._slots.cursor.fail("an array in the place of a leaf")
        return [self._table.leaf(at, self._slots) for at in range(start, stop)]

    def _arrays(self, n: int, reader: Callable[[Cursor, int], Any]) -> list[Any]:
        kind = self.kinds[self._next]
        if kind != ARRAY:
            raise self._slots.cursor.fail(f"expected an array in a single slot, not kind 0x{kind:02x}")
        return super()._arrays(n, reader)
