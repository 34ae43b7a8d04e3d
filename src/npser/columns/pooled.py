"""Writing columns into the pools: short ones as they are, middling ones in encodings that cost next to nothing to read.

Strategy: up to a hundred items or so, reading a block costs more than its items do. So such a column takes its parts
from the payload's pools, which are decoded by then: one item repeated, a first and a step, a base and small offsets,
codes into a few distinct items, integers over a power of ten. What fits none of these gets a body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack
from typing import Any, Final

import numpy as np

from npser.columns.pools import F64, I16, I64, KIND_OF_POOL, POOLS, TEXT, U8, narrowest
from npser.tags import Kind

__all__ = ["POOLED_ITEMS", "POOLED_TEXTS", "PoolWriter"]

POOLED_ITEMS = 128
"""Columns up to this long may live in the pools; benchmarks/thresholds_shapes.py::sweep_pooled."""

POOLED_TEXTS = 512
"""The same for columns with texts, which one split gives for the whole payload;
benchmarks/thresholds_shapes.py::sweep_pooled_texts."""

PLAIN_ITEMS = 4
"""Columns up to this long are pooled as they are: their parameters would be longer than themselves."""

MAX_CODED = 255
"""Distinct items of a column of codes: their number is a byte, and so is each code."""

MIXED_ITEMS = 8
"""Columns of several kinds up to this long are taken from the pools item by item."""

BOOL_ITEMS = 128
"""Bools up to this many are a byte each; more are bits in a body."""

DOUBLE_ITEMS = 16
"""Doubles that are no decimals are pooled up to this many; more get a body, which has more encodings to try."""

MAX_DIGITS = 4
"""Powers of ten that are tried for doubles: prices, percentages, coordinates of a short table."""

MAX_DECIMAL = 1e9

MINUS_ZERO = -(1 << 63)
"""The bits of -0.0, which no integer gives back."""

MINUS_ZERO_BYTES: Final = pack("<d", -0.0)
"""The same as bytes. Where they are found between two doubles, a decimal is only not seen as one."""

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
        put = _MANY.get(type(items[0]))
        if put is None:
            return None
        small = self.pools[U8]
        at = len(small)
        kind = put(self.pools, items)
        if kind is not None:
            # the kind and the marks come out of the pool before the items do, and some items are in the same pool
            small[at:at] = (kind, *[value is not None for value in values])
            return Kind.POOL_SOME
        return None


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
        if (
            step
            and values[-1] == first + step * (n - 1)
            and list(values) == list(range(first, first + step * n, step))
        ):
            return _put_steps(pools, first, step)
        if pool not in (U8, I16) and high - low <= 0xFF:
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
        distinct = dict.fromkeys(values)
        if len(distinct) == 1:
            pools[U8].append(Kind.POOL_TEXT)
            pools[TEXT].append(values[0])
            return Kind.POOL_CONST
        if len(distinct) * 2 <= n and len(distinct) <= MAX_CODED:
            pools[U8] += (Kind.POOL_TEXT, len(distinct))
            pools[TEXT].extend(distinct)
            codes = {value: code for code, value in enumerate(distinct)}
            pools[U8].extend(map(codes.__getitem__, values))
            return Kind.POOL_CODES
    pools[TEXT].extend(values)
    return Kind.POOL_TEXT


def _put_floats(pools: list[list[Any]], values: Sequence[float]) -> int | None:
    n = len(values)
    if n > PLAIN_ITEMS:
        raw = pack(f"<{n}d", *values)  # bits, not equality: 0.0 == -0.0
        if raw[:8] * n == raw:
            pools[U8].append(Kind.POOL_F64)
            pools[F64].append(values[0])
            return Kind.POOL_CONST
        kind = (_put_few_decimals if n <= DOUBLE_ITEMS else _put_decimals)(pools, values, raw)
        if kind is not None:
            return kind
    if n > DOUBLE_ITEMS:
        return None
    pools[F64].extend(values)
    return Kind.POOL_F64


def _put_few_decimals(pools: list[list[Any]], values: Sequence[float], raw: bytes) -> int | None:
    if not -MAX_DECIMAL < min(values) <= max(values) < MAX_DECIMAL or MINUS_ZERO_BYTES in raw:
        return None
    for digits in range(MAX_DIGITS + 1):
        scale = 10**digits
        if round(values[0] * scale) / scale != values[0]:
            continue
        try:
            ints = [round(value * scale) for value in values]
        except ValueError:  # NaN, which is neither least nor greatest
            return None
        if [value / scale for value in ints] == list(values):
            return _put_scaled(pools, ints, digits)
    return None


def _put_decimals(pools: list[list[Any]], values: Sequence[float], raw: bytes) -> int | None:
    array = np.frombuffer(raw, "<f8")
    if not float(np.abs(array).max()) < MAX_DECIMAL or (array.view("<i8") == MINUS_ZERO).any():  # nor any NaN
        return None
    sample = values[:SAMPLED]
    for digits in range(MAX_DIGITS + 1):
        scale = 10**digits
        if any(round(value * scale) / scale != value for value in sample):
            continue
        scaled = np.rint(array * scale)
        if (scaled / scale == array).all():
            break
    else:
        return None
    return _put_scaled(pools, scaled.astype("<i8").tolist(), digits)


def _put_scaled(pools: list[list[Any]], ints: list[int], digits: int) -> int | None:
    pool = narrowest(min(ints), max(ints))
    if pool is None or pool == I64:
        return None
    pools[U8] += (KIND_OF_POOL[pool], digits)
    pools[pool].extend(ints)
    return Kind.POOL_DECIMAL


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
