"""Writing columns into the pools: short ones as they are, middling ones in encodings that cost next to nothing to read.

Strategy: up to a hundred items or so, reading a block costs more than its items do. So such a column takes its parts
from the payload's pools, which are decoded by then: one item repeated, a first and a step, a base and small offsets,
codes into a few distinct items, integers over a power of ten. What fits none of these gets a body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from math import hypot
from operator import is_not, itemgetter
from struct import error as StructError  # noqa: N812 - a class, whatever its name
from struct import pack
from typing import Any, Final

import numpy as np

from npser.columns.pools import F64, I16, I64, KIND_OF_POOL, TEXT, U8, narrowest
from npser.tags import Kind

__all__ = ["POOLED", "POOLED_ITEMS", "POOLED_TEXTS", "PUT_MANY", "PoolWriter"]

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

COMPARED_INTS = 24
"""Of more ints than this, the extremes are not looked for; benchmarks/thresholds_shapes.py::sweep_compared_ints."""

BOOL_ITEMS = 128
"""Bools up to this many are a byte each; more are bits in a body."""

DOUBLE_ITEMS = 16
"""Doubles that are no decimals are pooled up to this many; more get a body, which has more encodings to try."""

MAX_DIGITS = 4
"""Powers of ten that are tried for doubles: prices, percentages, coordinates of a short table."""

SAMPLED_DOUBLES = 4
"""So many doubles are tried before all of them are; benchmarks/thresholds_shapes.py::sweep_sampled_doubles."""

MAX_DECIMAL = 1e9
SURELY_DECIMAL: Final = MAX_DECIMAL / 2
"""If the root of the sum of their squares is less, so is each of them."""

SCALES: Final = tuple(10**digits for digits in range(MAX_DIGITS + 1))

MINUS_ZERO: Final = pack("<d", -0.0)
"""The bytes of -0.0, which no integer gives back. Where they are found between two doubles, a decimal is only not seen
as one."""

# plain ints: a member of an IntEnum is slow to look up, and to turn into a byte
FALSE, NONE, TRUE = int(Kind.FALSE), int(Kind.NONE), int(Kind.TRUE)
OF_BOOL, OF_CODES, OF_CONST, OF_DECIMAL, OF_F64, OF_FRAME, OF_MIXED, OF_SOME, OF_STEPS, OF_TEXT, OF_U8 = (
    int(kind)
    for kind in (
        Kind.POOL_BOOL,
        Kind.POOL_CODES,
        Kind.POOL_CONST,
        Kind.POOL_DECIMAL,
        Kind.POOL_F64,
        Kind.POOL_FRAME,
        Kind.POOL_MIXED,
        Kind.POOL_SOME,
        Kind.POOL_STEPS,
        Kind.POOL_TEXT,
        Kind.POOL_U8,
    )
)

Pools = list[Any]

_FORMATS: Final = "Bhiq"
"""Of the pools of ints."""

_NONE_TYPE = type(None)
_MIXABLE = frozenset({_NONE_TYPE, bool, int, float, str})


class PoolWriter:
    """The pools of one payload while its slots are being written.

    Attributes
    ----------
    pools : list of a bytearray and five lists
        What is in each pool so far, in the order in which slots take it out again.
    """

    __slots__ = ("pools",)

    def __init__(self) -> None:
        self.pools: Pools = [bytearray(), [], [], [], [], []]

    def one(self, value: Any) -> int | None:
        """Put a single leaf into its pool; the kind of its slot, or None if it needs a body."""
        put = _ONE.get(type(value))
        return None if put is None else put(self.pools, value)

    def many(self, values: Sequence[Any], types_met: set[type]) -> int | None:
        """Put a column of 2 to `POOLED_ITEMS` leaves into the pools; the kind of its slot, or None."""
        if len(types_met) == 1:
            (only,) = types_met
            put = PUT_MANY.get(only)
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
        kinds: list[Any] = [_ONE[type(value)](self.pools, value) for value in values]
        small[at:at] = bytes(kinds)
        return OF_MIXED

    def _some(self, values: Sequence[Any]) -> int | None:
        items = [value for value in values if value is not None]
        put = PUT_MANY.get(type(items[0]))
        if put is None:
            return None
        small = self.pools[U8]
        at = len(small)
        kind = put(self.pools, items)
        if kind is not None:
            # the kind and the marks come out of the pool before the items do, and some items are in the same pool
            small[at:at] = bytes((kind, *map(is_not, values, repeat(None))))
            return OF_SOME
        return None


def _one_bool(_pools: Pools, value: Any) -> int:
    return TRUE if value else FALSE


def _one_int(pools: Pools, value: int) -> int | None:
    pool = narrowest(value, value)
    if pool is None:
        return None
    pools[pool].append(value)
    return KIND_OF_POOL[pool]


def _one_float(pools: Pools, value: float) -> int:
    pools[F64].append(value)
    return OF_F64


def _one_str(pools: Pools, value: str) -> int:
    pools[TEXT].append(value)
    return OF_TEXT


_ONE: Final[dict[type, Callable[[Pools, Any], int | None]]] = {
    _NONE_TYPE: lambda _pools, _value: NONE,
    bool: _one_bool,
    int: _one_int,
    float: _one_float,
    str: _one_str,
}


def _put_ints(pools: Pools, values: Sequence[int]) -> int | None:
    n = len(values)
    if not n:
        return OF_U8
    first, last = values[0], values[-1]
    if 0 <= first <= 0xFF and 0 <= last <= 0xFF:
        try:
            return _put_small_ints(pools, bytes(values))
        except ValueError:  # another one is larger
            pass
    pool = _narrowest_of(values, I16)
    if pool is None:
        return None
    if n > PLAIN_ITEMS:
        step = values[1] - first
        if last == first + step * (n - 1):
            if not step and values.count(first) == n:
                pools[U8].append(KIND_OF_POOL[pool])
                pools[pool].append(first)
                return OF_CONST
            if step and list(values) == list(range(first, first + step * n, step)):
                return _put_steps(pools, first, step)
        if pool != I16 and -0xFF <= last - first <= 0xFF:
            low = min(values)
            if max(values) - low <= 0xFF:
                pools[U8].append(KIND_OF_POOL[pool])
                pools[pool].append(low)
                pools[U8] += bytes([value - low for value in values])
                return OF_FRAME
    pools[pool].extend(values)
    return KIND_OF_POOL[pool]


def _narrowest_of(values: Sequence[int], least: int) -> int | None:
    """The narrowest pool from `least` on that holds all ints; None if not even that of int64 does.

    It is that of the first and the last one, or a wider one: of many, trying is quicker than to look for the extremes.
    """
    if len(values) <= COMPARED_INTS:
        of_all = narrowest(min(values), max(values))
        return None if of_all is None else max(of_all, least)
    first, last = values[0], values[-1]
    of_first, of_last = narrowest(first, first), narrowest(last, last)
    if of_first is None or of_last is None:
        return None
    for pool in range(max(of_first, of_last, least), F64):
        try:
            pack(f"<{len(values)}{_FORMATS[pool]}", *values)
        except StructError:
            continue
        return pool
    return None


def _put_small_ints(pools: Pools, raw: bytes) -> int:
    n = len(raw)
    if n > PLAIN_ITEMS:
        first, step = raw[0], raw[1] - raw[0]
        if not step and raw.count(first) == n:
            pools[U8] += bytes((OF_U8, first))
            return OF_CONST
        if step and raw[-1] == first + step * (n - 1) and raw == bytes(range(first, first + step * n, step)):
            _put_steps(pools, first, step)
            return OF_STEPS
    pools[U8] += raw
    return OF_U8


def _put_steps(pools: Pools, first: int, step: int) -> int | None:
    of_first, of_step = narrowest(first, first), narrowest(step, step)
    if of_first is None or of_step is None:
        return None
    pools[U8] += bytes((KIND_OF_POOL[of_first], KIND_OF_POOL[of_step]))
    pools[of_first].append(first)
    pools[of_step].append(step)
    return OF_STEPS


def _put_texts(pools: Pools, values: Sequence[str]) -> int | None:
    n = len(values)
    if n > PLAIN_ITEMS:
        first = values[0]
        if values[-1] == first and values.count(first) == n:
            pools[U8].append(OF_TEXT)
            pools[TEXT].append(first)
            return OF_CONST
        count = len(set(values))
        if count * 2 <= n and count <= MAX_CODED:
            distinct = dict.fromkeys(values)
            codes = itemgetter(*values)(dict(zip(distinct, range(count), strict=True)))
            pools[TEXT] += distinct
            pools[U8] += bytes((OF_TEXT, count, *codes))
            return OF_CODES
    pools[TEXT] += values
    return OF_TEXT


def _put_floats(pools: Pools, values: Sequence[float]) -> int | None:
    n = len(values)
    if n > PLAIN_ITEMS:
        raw = pack(f"<{n}d", *values)  # bits, not equality: 0.0 == -0.0
        if raw[-8:] == raw[:8] and raw[:8] * n == raw:
            pools[U8].append(OF_F64)
            pools[F64].append(values[0])
            return OF_CONST
        kind = (_put_few_decimals if n <= DOUBLE_ITEMS else _put_decimals)(pools, values, raw)
        if kind is not None:
            return kind
    if n > DOUBLE_ITEMS:
        return None
    pools[F64] += values
    return OF_F64


def _may_be_decimals(values: Sequence[float], raw: bytes) -> bool:
    low, high = min(values), max(values)
    return low > -MAX_DECIMAL and high < MAX_DECIMAL and not (low <= 0 <= high and MINUS_ZERO in raw)


def _put_few_decimals(pools: Pools, values: Sequence[float], raw: bytes) -> int | None:
    if not _may_be_decimals(values, raw):
        return None
    first, second, third = values[0], values[len(values) >> 1], values[-1]
    for digits, scale in enumerate(SCALES):
        try:
            if (
                round(first * scale) / scale != first
                or round(second * scale) / scale != second
                or round(third * scale) / scale != third
            ):
                continue
            ints = [round(value * scale) for value in values]
        except ValueError:  # NaN, which is neither least nor greatest
            return None
        if [value / scale for value in ints] == list(values):
            return _put_scaled(pools, ints, digits)
    return None


def _put_decimals(pools: Pools, values: Sequence[float], raw: bytes) -> int | None:
    n, array = len(values), np.frombuffer(raw, "<f8")
    # one call; NaN is less than nothing
    if not (hypot(*values) < SURELY_DECIMAL and MINUS_ZERO not in raw) and not _may_be_decimals(values, raw):
        return None
    digits = 0
    for value in values[:: n // SAMPLED_DOUBLES]:
        digits = _digits_of(value, digits)
    while digits <= MAX_DIGITS:
        scale = SCALES[digits]
        with np.errstate(all="ignore"):  # a signalling NaN
            scaled = np.rint(array * scale)
            alike = scaled / scale == array
        at = int(alike.argmin())
        if alike[at]:
            return _put_scaled(pools, scaled.astype("<i8").tolist(), digits)
        digits = _digits_of(values[at], digits + 1)
    return None


def _digits_of(value: float, least: int) -> int:
    """How many decimals a double has, no fewer than `least`; more than are tried where it has more, or is NaN."""
    for digits in range(least, MAX_DIGITS + 1):
        scale = SCALES[digits]
        if value == value and round(value * scale) / scale == value:
            return digits
    return MAX_DIGITS + 1


def _put_scaled(pools: Pools, ints: list[int], digits: int) -> int | None:
    pool = _narrowest_of(ints, U8)
    if pool is None or pool == I64:
        return None
    pools[U8] += bytes((KIND_OF_POOL[pool], digits))
    pools[pool].extend(ints)
    return OF_DECIMAL


def _put_bools(pools: Pools, values: Sequence[bool]) -> int | None:
    if len(values) > BOOL_ITEMS:
        return None
    pools[U8] += bytes(values)
    return OF_BOOL


PUT_MANY: Final[dict[type, Callable[[Pools, Any], int | None]]] = {
    bool: _put_bools,
    int: _put_ints,
    float: _put_floats,
    str: _put_texts,
}
"""Exact type -> what puts a column of 2 or more leaves of that type into the pools; it gives its kind, or None."""

POOLED: Final = {
    kind: (POOLED_TEXTS if kind is str else POOLED_ITEMS, put_many) for kind, put_many in PUT_MANY.items()
}
"""Exact type -> how long such a column may be, and what puts it there."""
