"""Which encoding a block of integers gets.

Strategy: rule out first, measure last. A sequence with one step is stored as that; a frame is priced from the lowest
and the highest value, and where that is cheap already, it is taken. Otherwise a sample of windows of neighbours says
which other encodings could beat it; only those look at all values and get an exact price, and the cheapest plan writes.
Nested blocks get fewer choices the deeper they stand, so that none nests deeper than readers allow. A sink that may not
expand gets no encoding of (nearly) no bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from npser.blocks import ints
from npser.blocks.choose import costs
from npser.blocks.choose.codes import find_codes
from npser.blocks.packing import PLAIN
from npser.blocks.sink import Sink

__all__ = ["write_ints"]

I64: TypeAlias = NDArray[np.int64]
MODULUS = 1 << 64
MASK = MODULUS - 1
SMALL_INTS = range(-5, 257)
"""Those that CPython has ready, so that sharing them saves nothing."""


class Plan(NamedTuple):
    """A way to write a block, and what reading and keeping it costs."""

    cost: float
    write: Callable[[Sink], None]


class Column:
    """The values, and what is known of them; what costs a pass or a sample is found out when first asked for."""

    def __init__(self, values: I64, expandable: Callable[[int], bool]) -> None:
        self.values = values
        self.n = values.size
        self.low = int(values.min())
        self.high = int(values.max())
        self.expandable = expandable

    @cached_property
    def sample(self) -> I64:
        """(w, k) int64: w windows of k neighbours, spread over the column; of a short column all."""
        if self.n <= costs.SAMPLE_WINDOWS * costs.SAMPLE_WINDOW:
            return self.values[None, :]
        stride = (self.n - costs.SAMPLE_WINDOW) // (costs.SAMPLE_WINDOWS - 1)
        shape = (costs.SAMPLE_WINDOWS, costs.SAMPLE_WINDOW)
        return np.ndarray(shape, "<i8", self.values, 0, (8 * stride, 8))

    @cached_property
    def ordered(self) -> I64:
        """The sampled values in order."""
        return np.sort(self.sample, axis=None)

    @cached_property
    def steps(self) -> I64:
        """The differences of sampled neighbours."""
        return (self.sample[:, 1:] - self.sample[:, :-1]).reshape(-1)


Candidate: TypeAlias = Callable[[Column, float], Plan | None]
"""Says None, as soon as it can, if it cannot cost less than the limit."""


def write_ints(sink: Sink, values: I64) -> None:
    """(n,) int64 -> a block of them in the encoding that costs least to read and to keep.

    >>> sink = Sink()
    >>> write_ints(sink, np.arange(5, 5000, 5)); sink.out.hex()
    '000a0a'
    """
    _write(sink, np.ascontiguousarray(values, "<i8"), _ALL)


def _write(sink: Sink, values: I64, candidates: tuple[Candidate, ...]) -> None:
    if values.size <= costs.FEW_ITEMS:
        _write_few(sink, values)
    elif not _write_ramp(sink, values):
        _choose(values, sink.may_expand, candidates).write(sink)


def _write_few(sink: Sink, values: I64) -> None:
    """16 items or fewer: a sequence or a plain frame, found without numpy. Every sink lets so few expand."""
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
    width = _plain_width(high - low)
    ints.write_frame(sink, values, _base(low, high, width), width)


def _write_ramp(sink: Sink, values: I64) -> bool:
    """Write the values as a sequence with one step, if that is what they are and the sink may expand."""
    n = values.size
    if not sink.may_expand(n):
        return False
    first, second, third = values[:3].tolist()
    step = (second - first) & MASK
    if (third - second - step) & MASK or (int(values[-1]) - first - step * (n - 1)) & MASK:
        return False
    for at in range(0, n - 1, costs.AFFINE_CHECK):
        chunk = values[at : at + costs.AFFINE_CHECK + 1].view("<u8")
        if (chunk[1:] - chunk[:-1] != np.uint64(step)).any():
            return False
    if step:
        ints.write_affine(sink, first, step, n)
    else:
        ints.write_const(sink, first, n)
    return True


def _choose(values: I64, expandable: Callable[[int], bool], candidates: tuple[Candidate, ...]) -> Plan:
    """The cheapest plan; a frame unless another is worth its while."""
    column = Column(values, expandable)
    best = _plan_frame(column)
    limit = costs.WORTHWHILE * best.cost
    if limit > costs.NESTED_FLOOR_NS:
        for candidate in candidates:
            plan = candidate(column, limit)
            if plan is not None and plan.cost < limit:
                best, limit = plan, plan.cost
    return best


def _write_inner(sink: Sink, values: I64) -> None:
    """A block within RUNS, DICT and PATCHED, which may stand within DELTA."""
    _write(sink, values, _INNER)


# Frames


_PLAIN_WIDTHS = tuple(next(width for width in PLAIN if bits <= width) for bits in range(65))


def _plain_width(span: int) -> int:
    return _PLAIN_WIDTHS[span.bit_length()]


def _base(low: int, high: int, width: int) -> int:
    """0 where it will do, as it need not be added."""
    return 0 if width == 64 or (low >= 0 and high < 1 << width) else low


def _width(n: int, span: int) -> tuple[float, int]:
    """What n offsets of 0..span cost at the cheapest width, and that width."""
    bits = span.bit_length() or 1
    plain = _PLAIN_WIDTHS[bits]
    cheapest = _frame_cost(n, plain), plain
    if n < costs.BITS_MIN_ITEMS or bits == plain:
        return cheapest
    return min(cheapest, *((_frame_cost(n, width), width) for width in (-(-bits // 8) * 8, bits)))


def _least(n: int) -> float:
    """What any frame costs."""
    return _width(n, 1)[0]


def _frame_cost(n: int, width: int) -> float:
    if width in PLAIN:
        fixed, each = costs.VIEW_BLOCK_NS, costs.VIEW_NS
    elif width & 7 == 0:
        fixed, each = costs.BYTES_BLOCK_NS, costs.BYTES_NS
    else:
        fixed = costs.BITS_BLOCK_NS + costs.BITS_WIDTH_BLOCK_NS * width
        each = costs.BITS_NS + costs.BITS_WIDTH_NS * width
    return fixed + n * (each + costs.BYTE_NS * width / 8)


def _plan_frame(column: Column) -> Plan:
    cost, width = _width(column.n, column.high - column.low)
    base = _base(column.low, column.high, width)
    return Plan(cost, lambda sink: ints.write_frame(sink, column.values, base, width))


# The others


def _plan_runs(column: Column, limit: float) -> Plan | None:
    n = column.n
    if costs.RUNS_BLOCK_NS + costs.RUNS_NS * n + 2 * costs.VIEW_BLOCK_NS >= limit or not column.expandable(n):
        return None
    if np.count_nonzero(column.steps) * costs.MIN_MEAN_RUN > column.steps.size:
        return None
    starts = ints.run_starts(column.values)
    if starts.size * costs.MIN_MEAN_RUN > n:
        return None
    values = column.values[starts]
    lengths = np.diff(starts, append=n).astype(np.int64, copy=False)
    cost = costs.RUNS_BLOCK_NS + costs.RUNS_NS * n + costs.RUN_NS * starts.size
    cost += _width(starts.size, column.high - column.low)[0] + _width(starts.size, int(lengths.max()))[0]
    return Plan(cost, lambda sink: ints.write_runs(sink, values, lengths, _write_inner))


def _plan_delta(column: Column, limit: float) -> Plan | None:
    return _plan_differences(column, limit, _DELTAS)


def _plan_inner_delta(column: Column, limit: float) -> Plan | None:
    return _plan_differences(column, limit, ())


def _plan_differences(column: Column, limit: float, candidates: tuple[Candidate, ...]) -> Plan | None:
    n = column.n
    around = costs.DELTA_BLOCK_NS + costs.DELTA_NS * n
    if around + _least(n) >= limit:
        return None
    steps = np.sort(column.steps)
    span = _shortest(steps, costs.OUTLIER_SHARE)[1] if candidates else int(steps[-1]) - int(steps[0])
    estimate = _width(n, span)[0]
    if candidates:
        estimate = min(estimate, _varint_cost(n, steps))
    if around + estimate >= limit:
        return None
    deltas = column.values[1:] - column.values[:-1]
    inner = _choose(deltas, column.expandable, candidates)
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
    if around + _least(n) >= limit:
        return None
    each = costs.PATCH_NS + costs.PATCH_BYTES * costs.BYTE_NS
    guesses = []
    for share in (0.0, costs.OUTLIER_SHARE):
        start, span = _shortest(column.ordered, share)
        cost, width = _width(n, span)
        guesses.append((around + cost + share * n * each, start, span, width))
    cost, start, span, width = min(guesses)
    if cost >= limit:
        return None
    room = (1 << width) - 1
    base = 0 if start >= 0 and start + span <= room else max(column.low, start - (room - span) // 2)
    offsets = column.values.view("<u8") - np.uint64(base & MASK)
    positions = np.flatnonzero(offsets > np.uint64(room)).astype(np.int64, copy=False)

    def write(sink: Sink) -> None:
        within = column.values.copy()
        within[positions] = base
        ints.write_patched(sink, positions, column.values[positions], within, _write_inner)

    return Plan(around + _frame_cost(n, width) + positions.size * each, write)


def _plan_dict(column: Column, limit: float) -> Plan | None:
    n = column.n
    around = costs.DICT_BLOCK_NS + costs.DICT_NS * n
    if not SMALL_INTS.start <= column.low <= column.high < SMALL_INTS.stop:
        around -= costs.SHARED_NS * n
    if around + _least(n) >= limit:
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
    return _width(n, distinct.size - 1)[0] + _width(distinct.size, span)[0]


def _plan_varint(column: Column, limit: float) -> Plan | None:
    if limit <= costs.VARINT_BLOCK_NS:
        return None
    cost = _varint_cost(column.n, column.ordered)
    return Plan(cost, lambda sink: ints.write_varint(sink, column.values)) if cost < limit else None


def _varint_cost(n: int, ordered: I64) -> float:
    """What n values like the sampled ones cost."""
    below = np.searchsorted(ordered, _VARINT_BOUNDS)
    half = below.size // 2
    size = 1 + half + float(below[:half].sum() - below[half:].sum()) / ordered.size
    return costs.VARINT_BLOCK_NS + n * (costs.VARINT_NS + (costs.VARINT_BYTE_NS + costs.BYTE_NS) * size)


_SEVENS = [1 << 7 * k - 1 for k in range(1, 10)]
_VARINT_BOUNDS = np.array([-bound for bound in _SEVENS] + _SEVENS, "<i8")
"""A zigzag varint grows by a byte beyond each: below the first nine, from the last nine on."""
_DELTAS: tuple[Candidate, ...] = (_plan_patched, _plan_varint)
_INNER: tuple[Candidate, ...] = (_plan_inner_delta,)
_ALL: tuple[Candidate, ...] = (_plan_runs, _plan_delta, _plan_patched, _plan_dict, _plan_varint)
