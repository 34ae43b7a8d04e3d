"""Reading columns out of the pools; `pooled` writes them and says why they are there.

Strategy: one table says how a kind becomes cells, another how it becomes a list. Cells are whatever can be iterated
once (bytes, a range, a map): a table zips its columns and never needs them as lists. Bytes are checked by what is left
of them without the allowed ones, at the speed of C.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.columns.pools import I64, KIND_OF_POOL, POOLS, TEXT, U8
from npser.tags import Kind
from npser.weights import STEP

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor

__all__ = [
    "BITS",
    "BYTES",
    "CELL_READERS",
    "FIRST_POOLED",
    "MAX_READ_DIGITS",
    "PoolReader",
    "bools_of",
    "count_copies",
    "decimals_of",
    "frame_of",
]

MAX_READ_DIGITS = 22
"""10**22 is the largest power of ten that is a double."""

NUMPY_ITEMS, NUMPY_DECIMALS = 96, 48
"""From this many numbers, or decimals, on, numpy makes up for what a call of it costs;
benchmarks/thresholds_shapes.py::sweep_numpy_items."""

FIRST_POOLED, NULLABLE = int(Kind.POOL_U8), int(Kind.POOL_SOME)
NUMBER_TYPES: Final = ("<u1", "<i2", "<i4")
assert [kind - FIRST_POOLED for kind in KIND_OF_POOL] == list(range(POOLS))

_CONSTANTS: Final[dict[int, object]] = {int(Kind.NONE): None, int(Kind.FALSE): False, int(Kind.TRUE): True}
BITS: Final = b"\x00\x01"
"""The only bytes that are bools, or say whether something is there."""

BYTES: Final = bytes(range(256))


class PoolReader:
    """The pools of one payload while its columns are being read.

    Parameters
    ----------
    cursor : Cursor
        For the budget and for positions in errors.
    pools : list of six sequences
        What `read_pools` gave.
    texts : int
        How many texts are taken already.
    """

    __slots__ = ("at", "cursor", "pools")

    def __init__(self, cursor: Cursor, pools: list[Any], texts: int) -> None:
        self.cursor = cursor
        self.pools = pools
        self.at = [0, 0, 0, 0, 0, texts]

    @property
    def left(self) -> int:
        """Items that no column has taken."""
        return sum(map(len, self.pools)) - sum(self.at)

    def take(self, pool: int, n: int) -> Any:
        """The next n items of a pool, as the part of it that they are."""
        items = self.pools[pool]
        start = self.at[pool]
        stop = start + n
        if stop > len(items):
            raise self.cursor.fail(f"a slot needs {n} items of pool {pool}, which has {len(items) - start} left")
        self.at[pool] = stop
        return items[start:stop]

    def item(self, pool: int) -> Any:
        """The next item of a pool."""
        at = self.at[pool]
        items = self.pools[pool]
        if at >= len(items):
            raise self.cursor.fail(f"a slot needs an item of pool {pool}, which has none left")
        self.at[pool] = at + 1
        return items[at]

    def take_kind(self, kind: int, last: int) -> Any:
        """The next item of the pool of a kind, which must not be beyond the pool `last`."""
        return self.item(self.pool(kind, last))

    def pool(self, kind: int, last: int) -> int:
        """The pool of a kind, which must not be beyond the pool `last`."""
        pool = kind - FIRST_POOLED
        if not 0 <= pool <= last:
            raise self.cursor.fail(f"a kind that may not stand here: 0x{kind:02x}")
        return pool

    def expand(self, n: int) -> None:
        """Draw n items from the budget; a single one is free."""
        if n > 1:
            self.cursor.expand(n)


Read = Callable[[Any, int], Iterable[Any]]


def _constant(value: object) -> Read:
    def read(pools: PoolReader, n: int) -> Iterable[Any]:
        pools.expand(n)
        return repeat(value, n)

    return read


def _plain(pool: int) -> Read:
    def read(pools: PoolReader, n: int) -> Any:
        items, at = pools.pools[pool], pools.at
        start = at[pool]
        stop = start + n
        if stop > len(items):
            return pools.take(pool, n)  # raises
        at[pool] = stop
        return items[start:stop]

    return read


def _numbers(pool: int) -> Read:
    def read(pools: PoolReader, n: int) -> Any:
        return pools.take(pool, n).tolist()

    return read


def bools_of(raw: bytes) -> list[bool]:
    """Bools out of a byte each.

    Raises
    ------
    ValueError
        For any other byte than 0 and 1.

    >>> bools_of(bytes([1, 0]))
    [True, False]
    """
    if raw.strip(BITS):
        raise ValueError("a bool that is neither 0 nor 1")
    return memoryview(raw).cast("?").tolist()  # type: ignore[return-value]


def _bools(pools: PoolReader, n: int) -> list[bool]:
    raw = pools.take(U8, n)
    try:
        return bools_of(raw)
    except ValueError as error:
        raise pools.cursor.fail(str(error)) from None


def _mixed(pools: PoolReader, n: int) -> list[Any]:
    return [
        _CONSTANTS[kind] if kind in _CONSTANTS else pools.take_kind(kind, TEXT) for kind in pools.take(U8, n)
    ]


def _const(pools: PoolReader, n: int) -> Iterable[Any]:
    kind = pools.item(U8)
    item = pools.take_kind(kind, TEXT)
    pools.expand(n if item == item else n * STEP)
    return repeat(item, n) if item == item else _apart([item] * n)


def _steps(pools: PoolReader, n: int) -> range:
    of_first, of_step = pools.take(U8, 2)
    first, step = pools.take_kind(of_first, I64), pools.take_kind(of_step, I64)
    if not step or not -(1 << 63) <= first + step * (n - 1) < 1 << 63:
        raise pools.cursor.fail(f"{n} steps of {step} from {first}")
    pools.expand(n * STEP)
    return range(first, first + step * n, step)


def frame_of(base: int, offsets: bytes) -> list[int]:
    """A base and a byte for each int.

    Raises
    ------
    ValueError
        For an int beyond 64 bits.

    >>> frame_of(1000, bytes([0, 7]))
    [1000, 1007]
    """
    if len(offsets) >= NUMPY_ITEMS and base + 0xFF < 1 << 63:
        wide: list[int] = np.add(np.frombuffer(offsets, "<u1"), base, dtype="<i8").tolist()
        return wide
    values = [base + offset for offset in offsets]
    if base + 0xFF >= 1 << 63 and max(values, default=0) >= 1 << 63:
        raise ValueError("an int beyond 64 bits")
    return values


def _frame(pools: PoolReader, n: int) -> list[int]:
    kind = pools.item(U8)
    base = pools.take_kind(kind, I64)
    offsets = pools.take(U8, n)
    try:
        return frame_of(base, offsets)
    except ValueError as error:
        raise pools.cursor.fail(str(error)) from None


def _codes(pools: PoolReader, n: int) -> Iterable[Any]:
    kind, count = pools.take(U8, 2)
    distinct = pools.take(pools.pool(kind, TEXT), count)
    codes = pools.take(U8, n)
    if codes.translate(None, BYTES[:count]):
        raise pools.cursor.fail(f"a code that is not below {count}")
    cells = map(distinct.__getitem__, codes)
    return _apart(cells) if kind == Kind.POOL_F64 else cells


def _apart(cells: Iterable[float]) -> list[float]:
    """Each float an object of its own: a set holds as many NaNs as there are objects."""
    return array("d", cells).tolist()


_SCALES: Final = tuple(np.array(10.0**digits) for digits in range(MAX_READ_DIGITS + 1))
"""As arrays: a scalar is turned into one at each division."""


def decimals_of(ints: Any, kind: int, digits: int) -> list[float]:
    """Doubles out of the part of a pool of ints that they are when multiplied by 10**digits.

    Raises
    ------
    ValueError
        For a power of ten that is no double.

    >>> decimals_of(bytes([5, 12]), Kind.POOL_U8, 1)
    [0.5, 1.2]
    """
    if digits > MAX_READ_DIGITS:
        raise ValueError(f"10**{digits} is no double")
    if len(ints) < NUMPY_DECIMALS or kind == Kind.POOL_I64:  # narrower ints are doubles, so either way divides alike
        scale = 10**digits
        return [value / scale for value in ints]
    floats: list[float] = (np.frombuffer(ints, NUMBER_TYPES[kind - FIRST_POOLED]) / _SCALES[digits]).tolist()
    return floats


def _decimal(pools: PoolReader, n: int) -> list[float]:
    kind, digits = pools.take(U8, 2)
    ints = pools.take(pools.pool(kind, I64), n)
    try:
        return decimals_of(ints, kind, digits)
    except ValueError as error:
        raise pools.cursor.fail(str(error)) from None


def count_copies(pool: bytes, at: int, n: int) -> tuple[Iterable[int], Sequence[int], int, int]:
    """n sequences of which only the distinct ones are stored, as a pool of bytes has them from a position on.

    Returns
    -------
    (n codes, d lengths, items of all n, position behind them)
        Which is beyond the end of the pool if that is too short.

    Raises
    ------
    ValueError
        For a code that is too large.

    >>> codes, lengths, items, at = count_copies(bytes([2, 0, 1, 0, 3, 5]), 0, 3)
    >>> list(codes), list(lengths), items, at
    ([0, 1, 0], [3, 5], 11, 6)
    """
    distinct = pool[at]
    at += 1
    if distinct == 1:
        length = pool[at]
        return repeat(0, n), (length,), n * length, at + 1
    codes = pool[at : at + n]
    if codes.translate(None, BYTES[:distinct]):
        raise ValueError(f"a code that is not below {distinct}")
    at += n
    lengths = pool[at : at + distinct]
    items = sum([codes.count(code) * length for code, length in enumerate(lengths)])
    return codes, lengths, items, at + distinct


def _some(pools: PoolReader, n: int) -> list[Any]:
    kind = pools.item(U8)
    present = pools.take(U8, n)
    if present.strip(BITS):
        raise pools.cursor.fail("neither present nor absent")
    if not FIRST_POOLED <= kind < NULLABLE:
        raise pools.cursor.fail(f"a kind that may not stand here: 0x{kind:02x}")
    cells: list[Any] = [None] * n
    for place, item in zip(compress(range(n), present), CELL_READERS[kind](pools, present.count(1)), strict=True):
        cells[place] = item
    return cells


CELL_READERS: Final[dict[int, Read]] = {
    **{kind: _constant(value) for kind, value in _CONSTANTS.items()},
    **{int(kind): _numbers(pool) for pool, kind in enumerate(KIND_OF_POOL)},
    Kind.POOL_U8: _plain(U8),
    Kind.POOL_TEXT: _plain(TEXT),
    Kind.POOL_BOOL: _bools,
    Kind.POOL_MIXED: _mixed,
    Kind.POOL_CONST: _const,
    Kind.POOL_STEPS: _steps,
    Kind.POOL_FRAME: _frame,
    Kind.POOL_CODES: _codes,
    Kind.POOL_DECIMAL: _decimal,
    Kind.POOL_SOME: _some,
}
"""Kind -> the function of (reader, n) that gives the cells of a column; total over the kinds that live in the pools."""

assert len(CELL_READERS) == POOLS + 11
