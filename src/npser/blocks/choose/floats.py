"""Which encoding a block of doubles gets.

Strategy: a sample of 256 values, spread over the block, is tried with each encoding, so that doubles with all their
bits in use (the common hard case) cost little more than a copy. Each encoding that the sample admits, at an estimated
cost below those before it, is a candidate; the cheapest one is then tried on the whole block, bit for bit, and if the
sample was wrong the next candidate gets its turn. The last one, as they are, always works.
Equality is equality of the 64 bits, so -0.0 and NaN payloads need no case of their own: they just do not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from npser.blocks import floats as blocks
from npser.blocks.choose import costs
from npser.blocks.choose.codes import find_codes
from npser.blocks.choose.ints import write_ints, write_scaled_ints
from npser.blocks.ints import run_starts
from npser.blocks.sink import Sink

__all__ = ["write_floats"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FRACTIONS: Final = np.sort(np.arange(1, costs.FLOAT_SAMPLE + 1) * (np.sqrt(5.0) / 2 - 0.5) % 1)
"""Where the sample is taken: multiples of the golden ratio, spread evenly but without a period of their own."""

SCALES: Final = frozenset(range(len(blocks.POWERS)))
POWERS: Final = np.array(blocks.POWERS, "<f8")
EXACT: Final = 2.0**53  # up to here every integer is a double
NOT_F32: Final = np.uint64((1 << 29) - 1)  # mantissa bits that a float32 lacks
LOOKED_AT = 8  # values whose digits are counted
REFUSED = 2  # of which so many may have too many digits
DIGITS = 16  # more do not fit an exact integer
FEW = 32  # values among which a dictionary gives itself away
CHUNK = 1 << 13
HOPELESS: Final = float("inf")


class Candidate(NamedTuple):
    """What reading and keeping it would cost, and a try to write it."""

    cost: float
    attempt: Callable[[Sink, Floats], bool]


def write_floats(sink: Sink, values: Floats) -> None:
    """(n,) float64: write them in the cheapest encoding.

    >>> sink = Sink()
    >>> write_floats(sink, np.array([1.25, 19.99, 3.5, 0.99] * 500)); len(sink.out) < 5000
    True
    """
    values = np.ascontiguousarray(values, "<f8")
    if values.size < costs.FLOAT_MIN_ITEMS:
        _write_plain(sink, values)
    elif not _try_runs(sink, values):
        _write_varied(sink, values)


def _write_plain(sink: Sink, values: Floats) -> None:
    """One for all, or as they are."""
    n, data = values.size, values.tobytes()
    if n > 1 and data == data[:8] * n:
        blocks.write_const(sink, values)
    else:
        blocks.write_f64(sink, values)


def _try_runs(sink: Sink, values: Floats) -> bool:
    n, words = values.size, values.view("<u8")
    step = -(-n // costs.FLOAT_SAMPLE)
    pairs = words[: n - 1 : step] == words[1::step]
    if 2 * np.count_nonzero(pairs) < pairs.size:  # runs of 8 would give 7 of 8
        return False
    starts = run_starts(words)
    if starts.size == 1:
        blocks.write_const(sink, values)
        return True
    if starts.size * costs.FLOAT_MIN_MEAN_RUN > n:
        return False
    lengths = np.diff(starts, append=n).astype("<i8", copy=False)
    blocks.write_runs(sink, values[starts], lengths, _write_varied, write_ints)
    return True


def _write_varied(sink: Sink, values: Floats) -> None:
    """Values that do not come in runs."""
    n = values.size
    if n < costs.FLOAT_MIN_ITEMS:
        _write_plain(sink, values)
        return
    sample = values if n <= costs.FLOAT_SAMPLE else values.take((FRACTIONS * n).astype(np.intp))
    candidates: list[Candidate] = []
    limit = _cost_as_they_are(n)
    for propose in PROPOSALS:
        found = propose(values, sample, limit)
        if found is not None and found.cost < limit:
            candidates.append(found)
            limit = found.cost
    for candidate in reversed(candidates):
        if candidate.attempt(sink, values):
            return
    blocks.write_f64(sink, values)


def _cost_as_they_are(n: int) -> float:
    return n * (costs.F64_NS + 8 * costs.BYTE_NS)


# ------------------------------------------------------------------------------------------------------------- float32


def _propose_f32(values: Floats, sample: Floats, limit: float) -> Candidate | None:
    cost = costs.F32_BLOCK_NS + values.size * (costs.F32_NS + 4 * costs.BYTE_NS)
    if (
        cost >= limit
        or int(sample.view("<u8")[0]) & int(NOT_F32)
        or (sample.view("<u8") & NOT_F32).any()
        or not _are_f32(sample)
    ):
        return None
    return Candidate(cost, _try_f32)


def _are_f32(values: Floats) -> bool:
    with np.errstate(all="ignore"):
        return bool((values.astype("<f4").astype("<f8").view("<u8") == values.view("<u8")).all())


def _try_f32(sink: Sink, values: Floats) -> bool:
    if not all(_are_f32(values[start : start + CHUNK]) for start in range(0, values.size, CHUNK)):
        return False
    blocks.write_f32(sink, values)
    return True


# ---------------------------------------------------------------------------------------------------------- dictionary


def _propose_dict(values: Floats, sample: Floats, limit: float) -> Candidate | None:
    if _dict_cost(values.size, 1) >= limit:
        return None
    words = sample.view("<i8")
    few = words[:FEW].tolist()
    if len(set(few)) == FEW:  # with as few different ones as a dictionary needs, some come twice
        return None
    table = _distinct(words)
    if table.size * costs.FLOAT_DICT_SAMPLED > sample.size:
        return None
    return Candidate(_dict_cost(values.size, table.size), partial(_try_dict, table))


def _dict_cost(n: int, distinct: int) -> float:
    nbytes = n * distinct.bit_length() / 8 + 8 * distinct
    return costs.FLOAT_DICT_BLOCK_NS + n * costs.FLOAT_DICT_NS + nbytes * costs.BYTE_NS


def _distinct(words: Ints) -> Ints:
    """(n,) -> (d,) in order. For a few hundred, np.unique takes several times as long."""
    ordered = np.sort(words)
    return ordered[run_starts(ordered)]


def _try_dict(table: Ints, sink: Sink, values: Floats) -> bool:
    words = values.view("<i8")
    codes, lacking = find_codes(table, words)
    if lacking.size:
        if lacking.size * costs.FLOAT_DICT_SHARE > words.size:
            return False
        table = _distinct(np.concatenate((table, lacking)))
        if table.size * costs.FLOAT_DICT_SHARE > words.size:
            return False
        codes, _ = find_codes(table, words)
    blocks.write_dict(sink, table.view("<f8"), codes, _write_plain, write_ints)
    return True


# ------------------------------------------------------------------------------------------------------------ decimals


class Trial(NamedTuple):
    """What a block looks like as decimals of one scale."""

    cost: float
    k: int
    ints: Ints
    odd: NDArray[np.intp]
    """Positions of the values that do not come back: exceptions."""


def _propose_decimal(values: Floats, sample: Floats, limit: float) -> Candidate | None:
    scales = _likely_scales(sample)
    if values.size <= costs.FLOAT_WHOLE or len(scales) == 1:
        trials = [_trial(k, values) for k in scales]
        found = [Candidate(trial.cost, partial(_write_decimals, trial)) for trial in trials]
    else:
        found = [_estimate(sample, values.size, k) for k in scales]
    return min(found, key=lambda candidate: candidate.cost, default=None)


def _estimate(sample: Floats, n: int, k: int) -> Candidate:
    ints, fits = _decimals(sample, k)
    good = ints[fits]
    missed = n * (1 - good.size / sample.size)
    cost = _cost(n, good, missed, costs.FLOAT_PATCH_BYTES) if missed <= n * costs.MAX_LIKE_EXCEPTIONS else HOPELESS
    return Candidate(cost, partial(_try_decimal, k))


def _likely_scales(values: Floats) -> set[int]:
    """How many decimals a few of the values have: the most that any of them has, and the most common number.

    Method: `repr` of a float is the shortest decimal that gives it back, so its digits are the integer and its
    point is the scale. Doubles that come out of arithmetic have 16 or 17 digits and are refused after three.
    """
    scales: list[int] = []
    refused = 0
    for value in values[:: -(-values.size // LOOKED_AT)].tolist():
        if not isfinite(value):
            continue
        mantissa, _, exponent = repr(abs(value)).partition("e")
        whole, _, fraction = mantissa.removesuffix(".0").partition(".")
        if len(whole) + len(fraction) <= DIGITS:
            scales.append(max(0, len(fraction) - int(exponent or 0)))
        elif refused == REFUSED:
            return set()
        else:
            refused += 1
    return {max(scales), max(scales, key=scales.count)} & SCALES if scales else set()


def _decimals(values: Floats, k: int) -> tuple[Ints, NDArray[np.bool_]]:
    """(n,) -> (n,) nearest integers to values * 10**k, and (n,) which of them give back the value, bit for bit."""
    scaled = np.empty(values.size)
    fits = _round(values, k, scaled, np.empty(values.size))
    return scaled.astype("<i8"), np.ones(values.size, np.bool_) if fits is None else fits


def _round(values: Floats, k: int, scaled: Floats, back: Floats) -> NDArray[np.bool_] | None:
    """Nearest integers to values * 10**k into `scaled`, 0 beyond 2**53; which fit, None for all. `back` is scratch.

    An integer of that range is a double, so dividing the double is what the reader does with the integer; but for the
    sign of zero, which the integer does not have.
    """
    with np.errstate(all="ignore"):
        np.multiply(values, POWERS[k], out=scaled)
        np.rint(scaled, out=scaled)
        scaled += 0.0  # -0.0 becomes 0.0
        np.divide(scaled, POWERS[k], out=back)
        fits: NDArray[np.bool_] = back.view("<u8") == values.view("<u8")
        if scaled.min() >= -EXACT and scaled.max() <= EXACT:  # neither holds if there is a NaN
            return None if fits.all() else fits
        within = np.abs(scaled) <= EXACT
        scaled[~within] = 0.0
        fits &= within
    return fits


def _cost(n: int, good: Ints, odd: float, odd_bytes: float) -> float:
    """Nanoseconds for n items, if `good` has the range of their integers and `odd` of them are exceptions."""
    bits = (int(good.max()) - int(good.min())).bit_length()
    cost = costs.DECIMAL_BLOCK_NS + n * (costs.DECIMAL_NS + bits / 8 * costs.BYTE_NS)
    if odd:
        cost += costs.FLOAT_PATCHED_BLOCK_NS + odd * (costs.FLOAT_PATCH_NS + odd_bytes * costs.BYTE_NS)
    return cost


def _try_decimal(k: int, sink: Sink, values: Floats) -> bool:
    return _write_decimals(_trial(k, values), sink, values)


def _write_decimals(trial: Trial, sink: Sink, values: Floats) -> bool:
    if trial.odd.size:
        more = max(_likely_scales(values[trial.odd]), default=0)  # those looked at may have been the shorter ones
        if more > trial.k:
            trial = min(trial, _trial(more, values), key=lambda trial: trial.cost)
    if trial.cost >= _cost_as_they_are(values.size):
        return False
    write_base = partial(blocks.write_decimal, k=trial.k, ints=trial.ints, write_ints=write_scaled_ints)
    if trial.odd.size:
        odd = trial.odd.astype("<i8", copy=False)
        blocks.write_patched(sink, odd, values[odd], write_base, _write_plain, write_ints)
    else:
        write_base(sink)
    return True


def _trial(k: int, values: Floats) -> Trial:
    """All of the values as decimals, given up when there are too many exceptions."""
    n = values.size
    ints = np.empty(n, "<i8")
    places: list[NDArray[np.intp]] = []
    scaled, back = np.empty(min(n, CHUNK)), np.empty(min(n, CHUNK))
    for start in range(0, n, CHUNK):
        chunk = values[start : start + CHUNK]
        m = chunk.size
        fits = _round(chunk, k, scaled[:m], back[:m])
        ints[start : start + m] = scaled[:m]
        if fits is not None:
            places.append(np.flatnonzero(~fits) + start)
            if sum(part.size for part in places) > (start + m) * costs.MAX_LIKE_EXCEPTIONS:
                return Trial(HOPELESS, k, ints, np.concatenate(places))
    if not places:
        return Trial(_cost(n, ints, 0, 0), k, ints, np.empty(0, np.intp))
    odd = np.concatenate(places)
    words = values[odd].view("<u8")
    alike = bool((words == words[0]).all())
    if not alike and odd.size > n * costs.MAX_EXCEPTIONS:
        return Trial(HOPELESS, k, ints, odd)
    regular = odd != np.arange(odd.size)
    ints[odd] = ints[int(regular.argmax()) if regular.any() else odd.size]  # the first that is no exception
    return Trial(_cost(n, ints, odd.size, costs.FLOAT_PATCH_BYTES - 8 * alike), k, ints, odd)


PROPOSALS: Final = (_propose_decimal, _propose_f32, _propose_dict)
