"""Reading columns out of the pools; `pooled` writes them and says why they are there.

Strategy: one table says how a kind becomes a list, another how it becomes cells. Cells are whatever can be iterated
once (bytes, a range, a map): a table zips its columns and never needs them as lists.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from npser.columns.pools import I64, KIND_OF_POOL, POOLS, TEXT, U8, read_pools
from npser.tags import Kind

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor

__all__ = ["PoolReader", "read_cells", "read_list"]

MAX_READ_DIGITS = 22
"""10**22 is the largest power of ten that is a double."""

_POOL_OF_KIND: Final[dict[int, int]] = {int(kind): pool for pool, kind in enumerate(KIND_OF_POOL)}
_CONSTANTS: Final[dict[int, object]] = {int(Kind.NONE): None, int(Kind.FALSE): False, int(Kind.TRUE): True}
_BOOLS: Final = (False, True)
_CONSTANT_TAKERS: Final = tuple(repeat(value).__next__ for value in _CONSTANTS.values())


class PoolReader:
    """The pools of one payload while its slots are being read.

    Parameters
    ----------
    cursor : Cursor
        Stands at the pools; afterwards behind them. Also for the budget and for positions in errors.
    """

    __slots__ = ("_next", "cursor", "pools")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.pools = read_pools(cursor)
        # iterators are positions that C code moves: one item is a bare call of __next__
        self._next: list[Any] = [iter(items) for items in self.pools]

    @property
    def left(self) -> int:
        """Items that no slot has taken."""
        return sum([position.__length_hint__() for position in self._next])

    def takers(self) -> list[Any]:
        """By kind, NONE to POOL_TEXT, the function that gives the next single leaf, or raises StopIteration."""
        return [*_CONSTANT_TAKERS, *[position.__next__ for position in self._next]]

    def take(self, pool: int, n: int) -> Any:
        """The next n items of a pool: bytes of the pool of u8, a list of any other."""
        items, position = self.pools[pool], self._next[pool]
        start = len(items) - position.__length_hint__()
        stop = start + n
        if stop > len(items):
            raise self.cursor.fail(f"a slot needs {n} items of pool {pool}, which has {len(items) - start} left")
        position.__setstate__(stop)
        return items[start:stop]

    def take_kind(self, kind: int, last: int) -> Any:
        """The next item of the pool of a kind, which must not be beyond the pool `last`."""
        return self.take(self.pool(kind, last), 1)[0]

    def pool(self, kind: int, last: int) -> int:
        """The pool of a kind, which must not be beyond the pool `last`."""
        pool = _POOL_OF_KIND.get(kind)
        if pool is None or pool > last:
            raise self.cursor.fail(f"a kind that may not stand here: 0x{kind:02x}")
        return pool

    def expand(self, n: int) -> None:
        """Draw n items from the budget; a single one is free."""
        if n > 1:
            self.cursor.expand(n)


Read = Callable[[PoolReader, int], Any]


def read_list(pools: PoolReader, kind: int, n: int) -> list[Any]:
    """A column of n leaves of a kind that lives in the pools, as a list."""
    cells = read_cells(pools, kind, n)
    return cells if type(cells) is list else list(cells)


def read_cells(pools: PoolReader, kind: int, n: int) -> Iterable[Any]:
    """The same as something that can be iterated once."""
    if kind >= len(_READERS):
        raise pools.cursor.fail(f"no such kind of column: 0x{kind:02x}")
    cells: Iterable[Any] = _READERS[kind](pools, n)
    return cells


def _constant(value: object) -> Read:
    def read(pools: PoolReader, n: int) -> Iterable[Any]:
        pools.expand(n)
        return repeat(value, n)

    return read


def _plain(pool: int) -> Read:
    return lambda pools, n: pools.take(pool, n)


def _bools(pools: PoolReader, n: int) -> Iterable[bool]:
    raw = pools.take(U8, n)
    if n and max(raw) > 1:
        raise pools.cursor.fail("a bool that is neither 0 nor 1")
    return map(_BOOLS.__getitem__, raw)


def _mixed(pools: PoolReader, n: int) -> list[Any]:
    return [
        _CONSTANTS[kind] if kind in _CONSTANTS else pools.take_kind(kind, TEXT) for kind in pools.take(U8, n)
    ]


def _const(pools: PoolReader, n: int) -> Iterable[Any]:
    (kind,) = pools.take(U8, 1)
    pools.expand(n)
    item = pools.take_kind(kind, TEXT)
    return repeat(item, n) if item == item else _apart([item] * n)


def _steps(pools: PoolReader, n: int) -> range:
    of_first, of_step = pools.take(U8, 2)
    first, step = pools.take_kind(of_first, I64), pools.take_kind(of_step, I64)
    if not step or not -(1 << 63) <= first + step * (n - 1) < 1 << 63:
        raise pools.cursor.fail(f"{n} steps of {step} from {first}")
    pools.expand(n)
    return range(first, first + step * n, step)


def _frame(pools: PoolReader, n: int) -> list[int]:
    (kind,) = pools.take(U8, 1)
    base = pools.take_kind(kind, I64)
    values = [base + offset for offset in pools.take(U8, n)]
    if base + 0xFF >= 1 << 63 and max(values, default=0) >= 1 << 63:
        raise pools.cursor.fail("an int beyond 64 bits")
    return values


def _codes(pools: PoolReader, n: int) -> Iterable[Any]:
    kind, count = pools.take(U8, 2)
    distinct = pools.take(pools.pool(kind, TEXT), count)
    codes = pools.take(U8, n)
    if n and max(codes) >= count:
        raise pools.cursor.fail(f"a code that is not below {count}")
    cells = map(distinct.__getitem__, codes)
    return _apart(cells) if kind == Kind.POOL_F64 else cells


def _apart(cells: Iterable[float]) -> list[float]:
    """Each float an object of its own: a set holds as many NaNs as there are objects."""
    return array("d", cells).tolist()


def _decimal(pools: PoolReader, n: int) -> list[float]:
    kind, digits = pools.take(U8, 2)
    if digits > MAX_READ_DIGITS:
        raise pools.cursor.fail(f"10**{digits} is no double")
    scale = 10**digits
    return [value / scale for value in pools.take(pools.pool(kind, I64), n)]


def _some(pools: PoolReader, n: int) -> list[Any]:
    (kind,) = pools.take(U8, 1)
    present = pools.take(U8, n)
    if n and max(present) > 1:
        raise pools.cursor.fail("neither present nor absent")
    items = iter(pools.take(pools.pool(kind, TEXT), sum(present)))
    return [next(items) if there else None for there in present]


_READERS: Final[tuple[Read, ...]] = (
    *(_constant(value) for value in _CONSTANTS.values()),
    *(_plain(pool) for pool in range(POOLS)),
    _bools,
    _mixed,
    _const,
    _steps,
    _frame,
    _codes,
    _decimal,
    _some,
)
"""By kind, from NONE to POOL_SOME."""
