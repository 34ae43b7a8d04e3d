"""Going past a column without decoding it.

Strategy: a body is one number further in the directory. What a column takes of the pools depends on its kind, and for
some kinds on a few bytes of it (which pool, how many are present): a table by kind says how to find that out. Only what
is needed for counting is looked at, so what is wrong inside of a column is found by whoever asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from npser.columns.bodies import FIRST_BODY
from npser.columns.pools import I64, KIND_OF_POOL, TEXT, U8
from npser.columns.unpooled import FIRST_POOLED
from npser.tags import Kind

if TYPE_CHECKING:
    from npser.columns.slotreader import SlotReader

__all__ = ["SKIPS", "skip_column"]

Skip = Callable[["SlotReader", int], None]

NULLABLE = int(Kind.POOL_SOME)


def skip_column(slots: SlotReader, n: int) -> None:
    """Go past the next column, of n items.

    Raises
    ------
    DecodeError
        The pools do not hold what it takes, or there is no such kind.
    """
    kind = slots.kinds[slots.next]
    slots.next += 1
    if kind >= FIRST_BODY:
        slots.next_span += 1
        return
    skip = SKIPS.get(kind)
    if skip is None:
        raise slots.cursor.fail("no such kind of column")
    skip(slots, n)


def _leave(slots: SlotReader, pool: int, n: int) -> None:
    """Go past n items of a pool."""
    stop = slots.at[pool] + n
    if stop > len(slots.pools[pool]):
        slots.take(pool, n)  # raises
    slots.at[pool] = stop


def _nothing(_slots: SlotReader, _n: int) -> None:
    pass


def _plain(pool: int) -> Skip:
    return lambda slots, n: _leave(slots, pool, n)


def _mixed(slots: SlotReader, n: int) -> None:
    kinds = slots.take(U8, n)
    for kind in set(kinds):
        if kind >= FIRST_POOLED:
            _leave(slots, slots.pool(kind, TEXT), kinds.count(kind))


def _const(slots: SlotReader, _n: int) -> None:
    _leave(slots, slots.pool(slots.item(U8), TEXT), 1)


def _steps(slots: SlotReader, _n: int) -> None:
    for kind in slots.take(U8, 2):
        _leave(slots, slots.pool(kind, I64), 1)


def _frame(slots: SlotReader, n: int) -> None:
    _leave(slots, slots.pool(slots.item(U8), I64), 1)
    _leave(slots, U8, n)


def _codes(slots: SlotReader, n: int) -> None:
    kind, distinct = slots.take(U8, 2)
    _leave(slots, slots.pool(kind, TEXT), distinct)
    _leave(slots, U8, n)


def _decimal(slots: SlotReader, n: int) -> None:
    kind, _digits = slots.take(U8, 2)
    _leave(slots, slots.pool(kind, I64), n)


def _some(slots: SlotReader, n: int) -> None:
    kind = slots.item(U8)
    present = slots.take(U8, n)
    if not FIRST_POOLED <= kind < NULLABLE:
        raise slots.cursor.fail(f"a kind that may not stand here: 0x{kind:02x}")
    SKIPS[kind](slots, present.count(1))


SKIPS: Final[dict[int, Skip]] = {
    **{int(kind): _nothing for kind in (Kind.NONE, Kind.FALSE, Kind.TRUE)},
    **{int(kind): _plain(pool) for pool, kind in enumerate(KIND_OF_POOL)},
    Kind.POOL_BOOL: _plain(U8),
    Kind.POOL_MIXED: _mixed,
    Kind.POOL_CONST: _const,
    Kind.POOL_STEPS: _steps,
    Kind.POOL_FRAME: _frame,
    Kind.POOL_CODES: _codes,
    Kind.POOL_DECIMAL: _decimal,
    Kind.POOL_SOME: _some,
}
"""Kind -> how to go past a column of it; total over the kinds of leaves that live in the pools."""
