"""Which encoding a block of integers gets.

Strategy: rule out first, measure last. A sequence with one step is stored as that; a frame is priced from the lowest
and the highest value, and where that is cheap already, or a glance shows nothing else to gain, it is taken. Otherwise a
sample of windows of neighbours says which other encodings could beat it; only those look at all values and get an exact
price, and the cheapest plan writes.
Nested blocks get fewer choices the deeper they stand, so that none nests deeper than readers allow. A sink that may not
expand gets no encoding of (nearly) no bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from operator import sub
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from npser.blocks import ints
from npser.blocks.choose import costs
from npser.blocks.choose.codes import find_codes
from npser.blocks.choose.frames import (
    Column,
    Plan,
    frame_base,
    frame_cost,
    frame_width,
    plain_width,
    plan_frame,
    plan_tight_frame,
)
from npser.blocks.sink import Sink

__all__ = ["write_ints", "write_scaled_ints", "write_tight_ints"]

I64: TypeAlias = NDArray[np.int64]
MODULUS = 1 << 64
MASK = MODULUS - 1
SMALL_INTS = range(-5, 257)
"""Those that CPython has ready, so that sharing them saves nothing."""


Candidate: TypeAlias = Callable[[Column, float], Plan | None]
"""Says None, as soon as it can, if it cannot cost less than the limit."""


def write_ints(sink: Sink, values: I64) -> None:
    """(n,) int64 -> a block of them in the encoding that costs least to read and to keep.

    >>> sink = Sink()
    >>> write_ints(sink, np.arange(5, 5000, 5)); sink.out.hex()
    '000a0a'
    """
    _write(sink, np.ascontiguousarray(values, "<i8"), _ALL)


def write_tight_ints(sink: Sink, values: I64) -> None:
    """The same, but a frame has no unused bits: for numbers that have other costs, as those among None do."""
    _write(sink, np.ascontiguousarray(values, "<i8"), _ALL, plan_tight_frame)


def write_scaled_ints(sink: Sink, values: I64) -> None:
    """The same for the integers of decimals: what repeats or sticks out was looked for among the doubles already."""
    _write(sink, np.ascontiguousarray(values, "<i8"), (_plan_delta,))


def _write(
    sink: Sink, values: I64, candidates: tuple[Candidate, ...], plan: Callable[[Column], Plan] = plan_frame
) -> None:
    if values.size <= costs.FEW_ITEMS:
        _write_few(sink, values)
    elif not _write_ramp(sink, values):
        _choose(values, candidates, plan).write(sink)


def _write_few(sink: Sink, values: I64) -> None:
    """16 items or fewer: a sequence or a plain frame, found without numpy."""
    items: list[int] = values.tolist()
    n = len(items)
    low, high = (min(items), max(items)) if n else (0, 0)
    if low == high:
        ints.write_const(sink, low, n)
        return
    first, last = items[0], items[-1]
    step = items[1] - first
    if step and last - first == step * (n - 1) and items == list(range(first, last + (1 if step > 0 else -1), step)):
        ints.write_affine(sink, first, step, n)
        return
    width = plain_width(high - low)
    ints.write_frame(sink, values, frame_base(low, high, width), width)


def _write_ramp(sink: Sink, values: I64) -> bool:
    """Write the values as a sequence with one step, if that is what they are."""
    n = values.size
    first, second, middle, last = map(values.item, (0, 1, n >> 1, n - 1))
    step = second - first
    if (middle - first - step * (n >> 1)) & MASK or (last - first - step * (n - 1)) & MASK:
        return False
    for at in range(0, n - 1, costs.AFFINE_CHECK):
        chunk = values[at : at + costs.AFFINE_CHECK + 1].view("<u8")
        if (chunk[1:] - chunk[:-1] != np.uint64(step & MASK)).any():
            return False
    if step:
        ints.write_affine(sink, first, step, n)
    else:
        ints.write_const(sink, first, n)
    return True


def _choose(values: I64, candidates: tuple[Candidate, ...], plan: Callable[[Column], Plan]) -> Plan:
    """The cheapest plan; a frame unless another is worth its while."""
    column = Column(values)
    best = plan(column)
    limit = costs.WORTHWHILE * best.cost
    if limit > costs.NESTED_FLOOR_NS and not column.is_even:
        for candidate in candidates:
            other = candidate(column, limit)
            if other is not None and other.cost < limit:
                best, limit = other, other.cost
    return best


def _write_inner(sink: Sink, values: I64) -> None:
    """A block within RUNS, DICT and PATCHED, which may stand within DELTA."""
    _write(sink, values, _INNER)


def _plan_runs(column: Column, limit: float) -> Plan | None:
    n = column.n
    if costs.RUNS_BLOCK_NS + costs.RUNS_NS * n + 2 * costs.VIEW_BLOCK_NS >= limit:
        return None
    if np.count_nonzero(column.pairs) * costs.MIN_MEAN_RUN > 2 * column.pairs.size:
        return None
    starts = ints.run_starts(column.values)
    if starts.size * costs.MIN_MEAN_RUN > n:
        return None
    values = column.values[starts]
    lengths = np.diff(starts, append=n).astype(np.int64, copy=False)
    cost = costs.RUNS_BLOCK_NS + costs.RUNS_NS * n + costs.RUN_NS * starts.size
    cost += frame_width(starts.size, column.high - column.low)[0] + frame_width(starts.size, int(lengths.max()))[0]
    return Plan(cost, lambda sink: ints.write_runs(sink, values, lengths, _write_inner))


def _plan_delta(column: Column, limit: float) -> Plan | None:
    return _plan_differences(column, limit, _DELTAS)


def _plan_inner_delta(column: Column, limit: float) -> Plan | None:
    return _plan_differences(column, limit, ())


def _plan_differences(column: Column, limit: float, candidates: tuple[Candidate, ...]) -> Plan | None:
    n = column.n
    around = costs.DELTA_BLOCK_NS + costs.DELTA_NS * n
    if around + column.least >= limit:
        return None
    quarter = len(column.glance) // 4
    near = column.glance[-1 - quarter] - column.glance[quarter] >> 1
    if np.count_nonzero(np.abs(column.pairs) > near) > costs.FAR_STEPS * column.pairs.size:
        return None
    seen = sorted(column.pairs.tolist())
    left = int(len(seen) * costs.OUTLIER_SHARE) if candidates else 0
    estimate = frame_width(n, min(map(sub, seen[len(seen) - 1 - left :], seen)))[0]
    if candidates:
        estimate = min(estimate, _least_varint(n, seen))
    if around + estimate >= limit:
        return None
    deltas = column.values[1:] - column.values[:-1]
    inner = _choose(deltas, candidates, plan_frame)
    first = int(column.values[0])
    return Plan(
        around + inner.cost, lambda sink: ints.write_delta(sink, first, deltas, lambda sink, deltas: inner.write(sink))
    )


def _shortest(ordered: I64, share: float) -> tuple[int, int]:
    """The shortest span that holds all but this share of ordered values: its first value and its length."""
    left = int(ordered.size * share)
    spans = ordered[ordered.size - 1 - left :].view("<u8") - ordered[: left + 1].view("<u8")
    at = int(spans.argmin())
    return int(ordered[at]), int(spans[at])


def _plan_patched(column: Column, limit: float) -> Plan | None:
    n = column.n
    around = costs.PATCHED_BLOCK_NS + 2 * costs.VIEW_BLOCK_NS
    if around + column.least >= limit:
        return None
    each = costs.PATCH_NS + costs.PATCH_BYTES * costs.BYTE_NS
    outside = 1 + int(2 * costs.OUTLIER_SHARE * len(column.glance))
    most = column.glance[outside:-outside] or [0]
    if around + frame_width(n, most[-1] - most[0])[0] >= limit:
        return None
    guesses = []
    for share in (0.0, costs.OUTLIER_SHARE):
        start, span = _shortest(column.ordered, share)
        cost, width = frame_width(n, span)
        guesses.append((around + cost + share * n * each, start, span, width))
    cost, start, span, width = min(guesses)
    if cost >= limit:
        return None
    room = (1 << width) - 1
    base = 0 if start >= 0 and start + span <= room else max(column.low, start - (room - span) // 2)
    offsets = column.values.view("<u8") - np.uint64(base & MASK) if base else column.values.view("<u8")
    positions = np.flatnonzero(offsets > np.uint64(room)).astype(np.int64, copy=False)

    def write(sink: Sink) -> None:
        within = column.values.copy()
        within[positions] = base

        def write_part(sink: Sink, part: I64) -> None:
            if part is within:  # what it is, is known
                ints.write_frame(sink, within, base, width)
            else:
                _write_inner(sink, part)

        ints.write_patched(sink, positions, column.values[positions], within, write_part)

    return Plan(around + frame_cost(n, width) + positions.size * each, write)


def _plan_dict(column: Column, limit: float) -> Plan | None:
    n = column.n
    around = costs.DICT_BLOCK_NS + costs.DICT_NS * n
    if not SMALL_INTS.start <= column.low <= column.high < SMALL_INTS.stop:
        around -= costs.SHARED_NS * n
    if around + column.least >= limit:
        return None
    if len(set(column.glance)) > costs.GLANCE_DISTINCT * len(column.glance):
        return None
    ordered = column.ordered
    distinct = ordered[ints.run_starts(ordered)]
    if distinct.size > costs.DICT_MAX_SHARE * ordered.size or around + _dict_cost(n, distinct) >= limit:
        return None
    codes, lacking = find_codes(distinct, column.values)
    if lacking.size:
        distinct = np.union1d(distinct, lacking)
        if around + _dict_cost(n, distinct) >= limit:
            return None
        codes, _ = find_codes(distinct, column.values)
    return Plan(around + _dict_cost(n, distinct), lambda sink: ints.write_dict(sink, distinct, codes, _write_inner))


def _dict_cost(n: int, distinct: I64) -> float:
    span = int(distinct[-1]) - int(distinct[0])
    return frame_width(n, distinct.size - 1)[0] + frame_width(distinct.size, span)[0]


def _plan_varint(column: Column, limit: float) -> Plan | None:
    if limit <= costs.VARINT_BLOCK_NS:
        return None
    if _least_varint(column.n, column.glance) >= limit:
        return None
    cost = _varint_cost(column.n, column.ordered)
    return Plan(cost, lambda sink: ints.write_varint(sink, column.values)) if cost < limit else None


def _varint_cost(n: int, ordered: I64) -> float:
    """What n values like the sampled ones cost."""
    below = np.searchsorted(ordered, _VARINT_BOUNDS)
    half = below.size // 2
    return _varint_price(n, 1 + half + float(below[:half].sum() - below[half:].sum()) / ordered.size)


def _varint_price(n: int, size: float) -> float:
    """What n values cost that take so many bytes on average."""
    return costs.VARINT_BLOCK_NS + n * (costs.VARINT_NS + (costs.VARINT_BYTE_NS + costs.BYTE_NS) * size)


def _least_varint(n: int, ordered: list[int]) -> float:
    """What n values cost at least, if a few of them, in order, tell."""
    octiles = ordered[:: -(-len(ordered) // 8)]
    return _varint_price(n, sum(map(_least_bytes, pairwise(octiles))) / len(octiles))


def _least_bytes(ends: tuple[int, int]) -> int:
    """Bytes of the shortest varint of the values between two."""
    low, high = ends
    return 1 if low <= 0 <= high else (2 * min(abs(low), abs(high))).bit_length() // 7 + 1


_SEVENS = [1 << 7 * k - 1 for k in range(1, 10)]
_VARINT_BOUNDS = np.array([-bound for bound in _SEVENS] + _SEVENS, "<i8")
"""A zigzag varint grows by a byte beyond each: below the first nine, from the last nine on."""
_DELTAS: tuple[Candidate, ...] = (_plan_patched, _plan_varint)
_INNER: tuple[Candidate, ...] = (_plan_inner_delta,)
_ALL: tuple[Candidate, ...] = (_plan_runs, _plan_delta, _plan_patched, _plan_dict, _plan_varint)
