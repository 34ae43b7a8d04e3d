"""Writing columns into the pools: short ones as they are, middling ones in encodings that cost next to nothing to read.

Strategy: up to a hundred items or so, reading a block costs more than its items do. So such a column takes its parts
from the payload's pools, which are decoded by then: one item repeated, a first and a step, a base and small offsets,
codes into a few distinct items, integers over a power of ten. What fits none of these gets a body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from npser.columns.pools import F64, I64, KIND_OF_POOL, POOLS, TEXT, U8, narrowest
from npser.tags import Kind

__all__ = ["POOLED_ITEMS", "PoolWriter"]

POOLED_ITEMS = 128
"""Columns up to this long may live in the pools; benchmarks/thresholds_shapes.py::sweep_pooled."""

PLAIN_ITEMS = 4
"""Columns up to this long are pooled as they are: their parameters would be longer than themselves."""

MIXED_ITEMS = 8
"""Columns of several kinds up to this long are taken from the pools item by item."""

BOOL_ITEMS = 16
"""Bools up to this many are a byte each; more are bits in a body."""

DOUBLE_ITEMS = 16
"""Doubles that are no decimals are pooled up to this many; more get a body, which has more encodings to try."""

MAX_DIGITS = 4
"""Powers of ten that are tried for doubles: prices, percentages, coordinates of a short table."""

SAMPLED = 4
"""Doubles that are tried before all of them are."""

_NONE_TYPE = type(None)
_MIXABLE = frozenset({_NONE_TYPE, bool, int, float, str})


class PoolWriter:
    """The pools of one payload while its slots are being written.

    Attributes
    ----------
    pools : list of six lists
        What is in each pool so far, in the order in which slots take it out again.
    """

    def __init__(self) -> None:
        self.pools: list[list[Any]] = [[] for _ in range(POOLS)]

    def one(self, value: Any) -> int | None:
        """Put a single leaf into its pool; the kind of its slot, or None if it needs a body."""
        put = _ONE.get(type(value))
        return None if put is None else put(self.pools, value)

    def many(self, values: Sequence[Any], types_met: set[type]) -> int | None:
        """Put a column of 2 to `POOLED_ITEMS` leaves into the pools; the kind of its slot, or None."""
        if len(types_met) == 1:
            (only,) = types_met
            put = _MANY.get(only)
            return None if put is None else put(self.pools, values)
        if len(values) <= MIXED_ITEMS:
            return self._mixed(values) if types_met <= _MIXABLE else None
        if len(types_met) == 2 and _NONE_TYPE in types_met:
            return self._some(values)
        return None

    def ints(self, values: Sequence[int]) -> int | None:
        """Put a column of 0 to `POOLED_ITEMS` ints into the pools."""
        return _put_ints(self.pools, values)

    def _mixed(self, values: Sequence[Any]) -> int | None:
        ints = [value for value in values if type(value) is int]
        if ints and narrowest(min(ints), max(ints)) is None:
            return None
        small = self.pools[U8]
        at = len(small)
        # every kind comes out of the pool before the first item does, and some items are in the same pool
        kinds = [_ONE[type(value)](self.pools, value) for value in values]
        small[at:at] = kinds
        return Kind.POOL_MIXED

    def _some(self, values: Sequence[Any]) -> int | None:
        items = [value for value in values if value is not None]
        pool = _pool_of(items)
        if pool is None or (pool == F64 and len(items) > DOUBLE_ITEMS):
            return None
        self.pools[U8].append(KIND_OF_POOL[pool])
        self.pools[U8].extend([int(value is not None) for value in values])
        self.pools[pool].extend(items)
        return Kind.POOL_SOME


def _pool_of(items: Sequence[Any]) -> int | None:
    """The pool of items of one type."""
    kind = type(items[0])
    if kind is int:
        return narrowest(min(items), max(items))
    return {str: TEXT, float: F64}.get(kind)


def _one_bool(_pools: list[list[Any]], value: Any) -> int:
    return Kind.TRUE if value else Kind.FALSE


def _one_int(pools: list[list[Any]], value: int) -> int | None:
    pool = narrowest(value, value)
    if pool is None:
        return None
    pools[pool].append(value)
    return KIND_OF_POOL[pool]


def _one_float(pools: list[list[Any]], value: float) -> int:
    pools[F64].append(value)
    return Kind.POOL_F64


def _one_str(pools: list[list[Any]], value: str) -> int:
    pools[TEXT].append(value)
    return Kind.POOL_TEXT


_ONE: Final[dict[type, Callable[[list[list[Any]], Any], int | None]]] = {
    _NONE_TYPE: lambda _pools, _value: Kind.NONE,
    bool: _one_bool,
    int: _one_int,
    float: _one_float,
    str: _one_str,
}


def _put_ints(pools: list[list[Any]], values: Sequence[int]) -> int | None:
    n = len(values)
    if not n:
        return Kind.POOL_U8
    low, high = min(values), max(values)
    pool = narrowest(low, high)
    if pool is None:
        return None
    if n > PLAIN_ITEMS:
        if low == high:
            pools[U8].append(KIND_OF_POOL[pool])
            pools[pool].append(low)
            return Kind.POOL_CONST
        first, step = values[0], values[1] - values[0]
        if step and values[-1] == first + step * (n - 1) and list(values) == list(
            range(first, first + step * n, step)
        ):
            return _put_steps(pools, first, step)
        if pool != U8 and high - low <= 0xFF:
            pools[U8].append(KIND_OF_POOL[pool])
            pools[pool].append(low)
            pools[U8].extend([value - low for value in values])
            return Kind.POOL_FRAME
    pools[pool].extend(values)
    return KIND_OF_POOL[pool]


def _put_steps(pools: list[list[Any]], first: int, step: int) -> int | None:
    of_first, of_step = narrowest(first, first), narrowest(step, step)
    if of_first is None or of_step is None:
        return None
    pools[U8] += (KIND_OF_POOL[of_first], KIND_OF_POOL[of_step])
    pools[of_first].append(first)
    pools[of_step].append(step)
    return Kind.POOL_STEPS


def _put_texts(pools: list[list[Any]], values: Sequence[str]) -> int | None:
    n = len(values)
    if n > PLAIN_ITEMS:
        codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
        if len(codes) == 1:
            pools[U8].append(Kind.POOL_TEXT)
            pools[TEXT].append(values[0])
            return Kind.POOL_CONST
        if len(codes) * 2 <= n:
            pools[U8] += (Kind.POOL_TEXT, len(codes))
            pools[TEXT].extend(codes)
            pools[U8].extend(map(codes.__getitem__, values))
            return Kind.POOL_CODES
    pools[TEXT].extend(values)
    return Kind.POOL_TEXT


def _put_floats(pools: list[list[Any]], values: Sequence[float]) -> int | None:
    n = len(values)
    if n > PLAIN_ITEMS:
        if len(set(map(float.hex, values))) == 1:  # bits, not equality: 0.0 == -0.0
            pools[U8].append(Kind.POOL_F64)
            pools[F64].append(values[0])
            return Kind.POOL_CONST
        kind = _put_decimals(pools, values)
        if kind is not None:
            return kind
    if n > DOUBLE_ITEMS:
        return None
    pools[F64].extend(values)
    return Kind.POOL_F64


def _put_decimals(pools: list[list[Any]], values: Sequence[float]) -> int | None:
    low, high = min(values), max(values)
    if not -1e9 < low <= high < 1e9:  # also refuses NaN at either end; one in the middle is no decimal below
        return None
    if 0.0 in values and any(str(value) == "-0.0" for value in values):
        return None
    for digits in range(MAX_DIGITS + 1):
        if _scaled(values[:SAMPLED], digits) is not None:
            ints = _scaled(values, digits)
            if ints is not None:
                break
    else:
        return None
    pool = narrowest(min(ints), max(ints))
    if pool is None or pool == I64:
        return None
    pools[U8] += (KIND_OF_POOL[pool], digits)
    pools[pool].extend(ints)
    return Kind.POOL_DECIMAL


def _scaled(values: Sequence[float], digits: int) -> list[int] | None:
    """The ints that give the values back when they are divided by 10**digits, if there are such."""
    scale = 10**digits
    try:
        ints = [round(value * scale) for value in values]
    except ValueError:  # NaN
        return None
    return ints if [value / scale for value in ints] == list(values) else None


def _put_bools(pools: list[list[Any]], values: Sequence[bool]) -> int | None:
    if len(values) > BOOL_ITEMS:
        return None
    pools[U8].extend(map(int, values))
    return Kind.POOL_BOOL


_MANY: Final[dict[type, Callable[[list[list[Any]], Any], int | None]]] = {
    bool: _put_bools,
    int: _put_ints,
    float: _put_floats,
    str: _put_texts,
}
