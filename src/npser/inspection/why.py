"""Why a block has the encoding that it has, and what the next best one would have cost.

Strategy: the writer is asked again. The block is decoded, every encoding that the writer weighs is written and priced
by its own model, and what the payload has is found among them. That decodes values, so it is done on demand, one block
at a time, and only up to a bound on the items and on what they take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from npser.blocks.binary import read_bytes
from npser.blocks.bits import read_bits
from npser.blocks.choose.alternatives import Alternative, bit_ways, byte_ways, float_ways, int_ways, text_ways
from npser.blocks.cursor import Cursor
from npser.blocks.floats import read_floats
from npser.blocks.ints import READERS as INT_READERS
from npser.blocks.ints import read_ints
from npser.blocks.text import read_text
from npser.tags import BitCode, BytesCode, FloatCode, IntCode, TextCode

if TYPE_CHECKING:
    from enum import IntEnum

    from npser.inspection.pieces import Piece

__all__ = ["MAX_ITEMS", "WAYS", "Why", "explain", "main_block"]

MAX_ITEMS = 1 << 20
"""Blocks of more items are not weighed again."""

MAX_RAW = 1 << 26
"""Nor are blocks whose items would take more bytes plain: a few of them may be in a dictionary a million times."""

BUDGET = (MAX_ITEMS << 4) + MAX_RAW
"""Cells that decoding the block, and those inside it, may draw."""


class Why(NamedTuple):
    """The choice of one encoding.

    Parameters
    ----------
    encoding, nbytes
        What the payload has.
    cost : float | None
        Nanoseconds by the writer's model, its bytes included; None where a rule decides, or the writer would not
        write this today.
    others : tuple of Alternative
        The next best first.
    """

    encoding: str
    nbytes: int
    cost: float | None
    others: tuple[Alternative, ...]

    def __str__(self) -> str:
        return f"{_shown(self.encoding, self.nbytes, self.cost)}{self._next()}"

    def _next(self) -> str:
        if not self.others:
            return "; nothing else was worth weighing"
        best = self.others[0]
        return f"; next best {_shown(*best)}"

    def to_dict(self) -> dict[str, object]:
        """The same for JSON."""
        others = [way._asdict() for way in self.others]
        return {"encoding": self.encoding, "nbytes": self.nbytes, "cost": self.cost, "others": others}


def _shown(encoding: str, nbytes: int, cost: float | None) -> str:
    price = "by rule" if cost is None else f"{cost / 1000:,.1f} µs"
    return f"{encoding} {nbytes:,} bytes, {price}"


Read = Callable[[Cursor, int], Any]
Ways = Callable[[Any], list[Alternative]]

WAYS: Final[dict[type[IntEnum], tuple[Read, Ways]]] = {
    IntCode: (read_ints, int_ways),
    FloatCode: (read_floats, float_ways),
    BitCode: (read_bits, bit_ways),
    TextCode: (read_text, text_ways),
    BytesCode: (read_bytes, byte_ways),
}
"""The codes of a family of blocks -> its reader, and what else such a block could be; total over the families."""


def main_block(piece: Piece) -> Piece | None:
    """The block that has most of the bytes of a body, of those that are not inside other blocks.

    >>> from npser.inspection.pieces import Piece
    >>> main_block(Piece(0, "body")) is None
    True
    """
    if type(piece.code) in WAYS:
        return piece
    found = [block for child in piece.children if (block := main_block(child)) is not None]
    return max(found, key=lambda block: (block.nbytes, block.n), default=None)


def explain(buf: memoryview, piece: Piece) -> Why | None:
    """Weigh a block again; None for what is no block, or too many items. Raises DecodeError if it is damaged."""
    block = main_block(piece)
    if block is None or block.code is None or not 0 < block.n <= MAX_ITEMS or block.raw > MAX_RAW:
        return None
    read, ways = WAYS[type(block.code)]
    cursor = Cursor(buf, block.start, block.stop, BUDGET)
    # the code of an INT_LIST stands in the lead
    values = INT_READERS[block.code](cursor, block.n, 1) if block.what == "body" else read(cursor, block.n)
    name = block.code.name
    found = ways(values)
    cost = next((way.cost for way in found if way.encoding == name), None)
    return Why(name, block.nbytes, cost, tuple(way for way in found if way.encoding != name))
