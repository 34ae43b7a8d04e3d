"""Whose the bytes of the pools are: each pool as a run of items, and what each kind of slot takes of them.

Strategy: slots take from the front, so what one slot takes of one pool is one range of it, wherever the items of a
mixed column lie otherwise. A table, total over the pooled kinds, says how many of which pool; bytes follow from that.
Of a pool of texts, an item is its own bytes and the separator behind it. If the pool is a dictionary, whose strings
belong to nobody in particular, it is its share of the codes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from npser.columns.pools import POOLS, TEXT, U8
from npser.inspection.blockspans import walk_text
from npser.inspection.columnspans import DTYPES
from npser.inspection.intchunks import CHUNK, repeated, steps
from npser.inspection.textsizes import split_sizes, text_sizes
from npser.tags import Kind, TextCode

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor
    from npser.inspection.intchunks import Chunks
    from npser.inspection.pieces import Piece

__all__ = ["NAMES", "TAKES", "Pools", "Taken"]

NAMES: Final = ("u8 pool", "i16 pool", "i32 pool", "i64 pool", "f64 pool", "text pool")
TYPES: Final = ("<u1", "<i2", "<i4", "<i8", "<f8")
SIZES: Final = (1, 2, 4, 8, 8)
I64, F64 = 3, 4
FIRST: Final = int(Kind.POOL_U8)
MAX_POWER = 22


class Taken:
    """What a pooled slot is, besides its bytes.

    Attributes
    ----------
    raw, distinct, dtype, label
        As a `Piece` has them.
    ints : callable | None
        Gives its values in chunks, if they are integers.
    """

    __slots__ = ("distinct", "dtype", "ints", "label", "raw")

    def __init__(self, kind: int, raw: int = 0, ints: Callable[[], Chunks] | None = None) -> None:
        self.raw = raw
        self.distinct: int | None = None
        self.dtype = DTYPES[kind]
        self.label = Kind(kind).name
        self.ints = ints


class Pools:
    """The pools of one payload, and how far they are taken.

    Attributes
    ----------
    at : list of six ints
        Items taken.
    pieces : list of six
        The piece of each pool that is there.
    """

    def __init__(self, parent: Piece, cursor: Cursor) -> None:
        self.cursor = cursor
        self.counts = [0] * POOLS
        self.at = [0] * POOLS
        self.pieces: list[Piece | None] = [None] * POOLS
        self.items: list[NDArray[Any]] = [np.empty(0, form) for form in TYPES]
        self._ends = np.zeros(1, "<i8")
        self._bound: Callable[[int], int] = lambda _item: 0
        mask = cursor.u8()
        if mask >> POOLS:
            raise cursor.fail(f"no such pool: mask 0x{mask:02x}")
        present = [pool for pool in range(POOLS) if mask >> pool & 1]
        for pool in present:
            self.counts[pool] = cursor.uvarint()
        for pool in present:
            piece = parent.add(cursor.pos, NAMES[pool], n=self.counts[pool])
            try:
                self._open(pool, piece)
            finally:
                piece.stop = cursor.pos
            self.pieces[pool] = piece

    def _open(self, pool: int, piece: Piece) -> None:
        cursor, n = self.cursor, self.counts[pool]
        if pool != TEXT:
            self.items[pool] = np.frombuffer(cursor.take(n * SIZES[pool]), TYPES[pool])
            return
        block = walk_text(piece, cursor, n, "texts")
        sizes = text_sizes(cursor.buf, block)
        self._ends = _ends(sizes)
        piece.label = block.label
        if block.code in (TextCode.DICT, TextCode.RADIX):
            codes = block.children[1]
            self._bound = lambda item: codes.start + codes.nbytes * item // (n or 1)
        else:
            text = block.children[-1]
            apart = block.code in (TextCode.SPLIT, TextCode.STEM)
            stored = self._ends if block.code is not TextCode.STEM else _ends(split_sizes(cursor.buf, block))
            self._bound = lambda item: min(text.stop, text.start + int(stored[item]) + item * apart)
        # its parts stand in the place of the block, so that what slots take can stand among them
        piece.children = [part for part in block.children if part.stop <= self._bound(0)]

    def bound(self, pool: int, item: int) -> int:
        """Where in the payload an item begins, or the last one ends."""
        if pool == TEXT:
            return self._bound(item)
        piece = self.pieces[pool]
        return 0 if piece is None else piece.start + item * SIZES[pool]

    def take(self, pool: int, n: int) -> int:
        """Take n items; the number of the first."""
        at = self.at[pool]
        if at + n > self.counts[pool]:
            left = self.counts[pool] - at
            raise self.cursor.fail(f"a slot needs {n} items of the {NAMES[pool]}, which has {left} left")
        self.at[pool] = at + n
        return at

    def bytes(self, n: int) -> NDArray[Any]:
        """Take n of the u8."""
        at = self.take(U8, n)
        return self.items[U8][at : at + n]

    def pool(self, kind: int, last: int) -> int:
        """The pool of a kind, which must not be beyond the pool `last`."""
        if not 0 <= kind - FIRST <= last:
            raise self.cursor.fail(f"a kind that may not stand here: 0x{kind:02x}")
        return kind - FIRST

    def one(self, kind: int, last: int) -> int:
        """Take one item of the pool of a kind; its number."""
        return self.take(self.pool(kind, last), 1)

    def int_at(self, kind: int, item: int) -> int:
        """An integer that was taken."""
        return int(self.items[kind - FIRST][item])

    def expand(self, n: int) -> None:
        """Draw n items from the budget; a single one is free."""
        if n > 1:
            self.cursor.expand(n)

    def raw(self, pool: int, start: int, n: int) -> int:
        """What n items would take plain."""
        return int(self._ends[start + n] - self._ends[start]) if pool == TEXT else 8 * n

    def chunks(self, pool: int, start: int, n: int, base: int = 0) -> Chunks:
        """The integers of a pool, with something added."""
        items = self.items[pool][start : start + n]
        for at in range(0, n, CHUNK):
            chunk = items[at : at + CHUNK]
            yield chunk + np.int64(base) if base else chunk

    @property
    def left(self) -> int:
        """Items that nobody took."""
        return sum(self.counts) - sum(self.at)


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) -> (n + 1,) where each begins, and where the last one ends."""
    return np.concatenate((np.zeros(1, "<i8"), sizes.cumsum()))


Take: TypeAlias = Callable[[Pools, int], Taken]


def _constant(kind: int) -> Take:
    def take(pools: Pools, n: int) -> Taken:
        pools.expand(n)
        return Taken(kind, n)

    return take


def _plain(kind: int) -> Take:
    pool = kind - FIRST

    def take(pools: Pools, n: int) -> Taken:
        at = pools.take(pool, n)
        ints = partial(pools.chunks, pool, at, n) if pool <= I64 else None
        return Taken(kind, pools.raw(pool, at, n), ints)

    return take


def _bools(pools: Pools, n: int) -> Taken:
    pools.bytes(n)
    return Taken(Kind.POOL_BOOL, n)


def _mixed(pools: Pools, n: int) -> Taken:
    each = np.bincount(pools.bytes(n), minlength=FIRST + POOLS).tolist()
    if any(each[FIRST + POOLS :]):
        raise pools.cursor.fail("a kind that may not stand in a mixed slot")
    taken = Taken(Kind.POOL_MIXED, n)
    for kind, count in enumerate(each):
        if kind >= FIRST and count:
            pool = kind - FIRST
            taken.raw += pools.raw(pool, pools.take(pool, count), count)
    taken.dtype = " | ".join(dict.fromkeys(DTYPES[kind] for kind, count in enumerate(each) if count)) or "mixed"
    return taken


def _const(pools: Pools, n: int) -> Taken:
    (kind,) = pools.bytes(1).tolist()
    pools.expand(n)
    item = pools.one(kind, TEXT)
    pool = kind - FIRST
    ints = (lambda: repeated(pools.int_at(kind, item), n)) if pool <= I64 else None
    taken = Taken(Kind.POOL_CONST, n * pools.raw(pool, item, 1), ints)
    taken.dtype = DTYPES[kind]
    return taken


def _steps(pools: Pools, n: int) -> Taken:
    of_first, of_step = pools.bytes(2).tolist()
    first = pools.int_at(of_first, pools.one(of_first, I64))
    step = pools.int_at(of_step, pools.one(of_step, I64))
    if not step or not -(1 << 63) <= first + step * (n - 1) < 1 << 63:
        raise pools.cursor.fail(f"{n} steps of {step} from {first}")
    pools.expand(n)
    return Taken(Kind.POOL_STEPS, 8 * n, lambda: steps(first, step, n))


def _frame(pools: Pools, n: int) -> Taken:
    (kind,) = pools.bytes(1).tolist()
    base = pools.int_at(kind, pools.one(kind, I64))
    at = pools.take(U8, n)
    if base + 0xFF >= 1 << 63 and base + int(pools.items[U8][at : at + n].max(initial=0)) >= 1 << 63:
        raise pools.cursor.fail("an int beyond 64 bits")
    return Taken(Kind.POOL_FRAME, 8 * n, lambda: pools.chunks(U8, at, n, base))


def _codes(pools: Pools, n: int) -> Taken:
    kind, count = pools.bytes(2).tolist()
    pool = pools.pool(kind, TEXT)
    at = pools.take(pool, count)
    codes = pools.bytes(n)
    if n and int(codes.max()) >= count:
        raise pools.cursor.fail(f"a code that is not below {count}")
    each = np.bincount(codes, minlength=count).tolist()
    taken = Taken(Kind.POOL_CODES, sum(times * pools.raw(pool, at + code, 1) for code, times in enumerate(each)))
    taken.distinct, taken.dtype = count, DTYPES[kind]
    taken.label += f" {count}"
    return taken


def _decimal(pools: Pools, n: int) -> Taken:
    kind, power = pools.bytes(2).tolist()
    if power > MAX_POWER:
        raise pools.cursor.fail(f"10**{power} is no double")
    pools.take(pools.pool(kind, I64), n)
    taken = Taken(Kind.POOL_DECIMAL, 8 * n)
    taken.label += f" {power}"
    return taken


def _some(pools: Pools, n: int) -> Taken:
    (kind,) = pools.bytes(1).tolist()
    present = pools.bytes(n)
    if n and int(present.max()) > 1:
        raise pools.cursor.fail("neither present nor absent")
    if not FIRST <= kind < Kind.POOL_SOME:
        raise pools.cursor.fail(f"a kind that may not stand here: 0x{kind:02x}")
    taken = TAKES[kind](pools, int(np.count_nonzero(present)))
    taken.raw += n
    taken.dtype += " | None"
    taken.label = f"SOME {taken.label}"
    taken.ints = None
    return taken


def _copies(pools: Pools, n: int) -> Taken:
    (distinct,) = pools.bytes(1).tolist()
    codes = pools.bytes(n) if distinct != 1 else None
    if codes is not None and n and int(codes.max()) >= distinct:
        raise pools.cursor.fail(f"a code that is not below {distinct}")
    at = pools.take(U8, distinct)
    lengths = pools.items[U8][at : at + distinct].astype("<i8")
    items = n * int(lengths[0]) if codes is None else int(lengths.take(codes).sum())
    pools.cursor.expand(n + items)
    taken = Taken(Kind.POOL_COPIES, 8 * n, lambda: iter((lengths,)))
    taken.distinct = distinct
    taken.label += f" {distinct}"
    return taken


TAKES: Final[dict[int, Take]] = {
    **{int(kind): _constant(kind) for kind in (Kind.NONE, Kind.FALSE, Kind.TRUE)},
    **{kind: _plain(kind) for kind in range(FIRST, FIRST + POOLS)},
    Kind.POOL_BOOL: _bools,
    Kind.POOL_MIXED: _mixed,
    Kind.POOL_CONST: _const,
    Kind.POOL_STEPS: _steps,
    Kind.POOL_FRAME: _frame,
    Kind.POOL_CODES: _codes,
    Kind.POOL_DECIMAL: _decimal,
    Kind.POOL_SOME: _some,
    Kind.POOL_COPIES: _copies,
}
"""Kind -> what a column slot of it takes; total over the kinds that live in the pools."""

assert F64 == TEXT - 1
