"""Which encoding a block of strings, or of byte strings, gets.

Strategy: a dictionary is what pays most, and proving that it does not pay costs most. So two samples are looked at
first: items spread over the list (few distinct values anywhere?) and neighbours (sorted, or grouped?). Only when one of
them shows repeats is the whole list numbered, by one `map` over a dict that numbers what it has not seen.
Distinct strings are joined by U+0000; how often that occurs in the result says whether an item contains it, and only
then are the other control characters tried. Nothing here looks at an item in Python, but for lists of a few.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import count
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from npser.blocks import binary, text
from npser.blocks.choose import costs
from npser.blocks.choose.ints import write_ints
from npser.blocks.sink import Sink

__all__ = ["write_bytes", "write_text"]

T = TypeVar("T", str, bytes)
Ints = NDArray[np.int64]

COMMON = 3  # times in the sample
PLACES: Final = np.arange(1.0, 4097.0) ** 2 * (np.sqrt(5.0) / 2 - 0.5) % 1
"""Where the spread sample is taken. Squares times the golden ratio: as random as this needs, and always the same."""


def write_text(sink: Sink, values: list[str]) -> None:
    r"""n strings, each exactly a `str`: write them in the cheapest encoding.

    >>> sink = Sink()
    >>> write_text(sink, ["a", "bc"]); bytes(sink.out)
    b'\x00\x00\x04a\x00bc'
    """
    plan = _plan_dict(values, costs.TEXT_CUT_NS)
    if plan is None:
        _write_distinct(sink, values)
    else:
        text.write_dict(sink, *plan, _write_distinct, write_ints)


def write_bytes(sink: Sink, values: list[bytes]) -> None:
    r"""n byte strings, each exactly `bytes`: write them in the cheapest encoding.

    >>> sink = Sink()
    >>> write_bytes(sink, [b"abc"] * 1000); len(sink.out) < 16
    True
    """
    plan = _plan_dict(values, costs.BYTES_CUT_NS)
    if plan is None:
        _write_lengths(sink, values)
    else:
        binary.write_dict(sink, *plan, _write_lengths, write_ints)


def _write_lengths(sink: Sink, values: list[bytes]) -> None:
    binary.write_lengths(sink, values, write_ints)


def _write_distinct(sink: Sink, values: list[str]) -> None:
    start = len(sink.out)
    try:
        if values and (text.write_split(sink, values, "\0") or _try_separators(sink, values)):
            return
        text.write_lengths(sink, values, write_ints)
    except UnicodeEncodeError:
        del sink.out[start:]
        text.write_wtf8(sink, values, write_ints)


def _try_separators(sink: Sink, values: list[str]) -> bool:
    """SPLIT at the first control character that no item contains, if there is one."""
    joined = "".join(values)
    separator = next((s for s in text.SEPARATORS if s not in joined), None)
    return separator is not None and text.write_split(sink, values, separator)


# ---------------------------------------------------------------------------------------------------------- dictionary


def _plan_dict(values: list[T], cut_ns: float) -> tuple[list[T], Ints] | None:
    """The distinct items in order of appearance and (n,) codes, if that is the cheaper way to store them.

    `cut_ns` is what reading an item without a dictionary costs.
    """
    n = len(values)
    if n <= costs.FEW_ITEMS:
        return None
    spread = _spread(values)
    size = sum(map(len, spread)) / len(spread) + 1
    if not (_dict_pays(n, 1, size, cut_ns) and _dict_pays(n, _guess_distinct(values, spread), size, cut_ns)):
        return None
    numbers: defaultdict[T, int] = defaultdict(count().__next__)
    codes = list(map(numbers.__getitem__, values))
    if not _dict_pays(n, len(numbers), size, cut_ns):
        return None
    return list(numbers), binary.small_ints(codes)


def _spread(values: list[T]) -> list[T]:
    """All of a few values, or some of many, from places without a pattern."""
    n = len(values)
    if n <= 2 * costs.TEXT_SAMPLE:
        return values
    places = set((PLACES[: costs.TEXT_SAMPLE + n // costs.TEXT_SAMPLE_SHARE] * n).astype(np.intp).tolist())
    return list(map(values.__getitem__, places))


def _guess_distinct(values: list[T], spread: list[T]) -> float:
    """About how many of the values are distinct: all of them unless a sample shows otherwise.

    Method: what the sample has three times or more is common, and counted as it is ("" or "n/a" say nothing about the
    others). If the rest of n values are d evenly likely ones, of s of them about (1/d - 1/n) * s*s/2 are repeats, while
    that is a small part of s (the birthday problem). A sorted column shows its repeats only among neighbours.
    """
    n = len(values)
    counts = Counter(spread)
    if len(spread) == n:
        return len(counts)
    common = [times for times in counts.values() if times >= COMMON]
    s, found = len(spread) - sum(common), len(counts) - len(common)
    rest = 1 / (2 * (s - found) / s**2 + len(spread) / (n * s)) if s else 0
    guess = len(common) + max(found, rest)
    middle = values[n // 2 : n // 2 + costs.TEXT_NEIGHBOURS]
    grouped = len(set(middle))
    if grouped * 2 <= len(middle):
        guess = min(guess, n * grouped / len(middle))
    return guess


def _dict_pays(n: int, distinct: float, size: float, cut_ns: float) -> bool:
    """Whether codes and `distinct` items cost less than n items, of `size` bytes each."""
    item_ns = cut_ns + size * costs.BYTE_NS
    code_ns = costs.TEXT_CODE_NS + max(1, int(distinct).bit_length()) / 8 * costs.BYTE_NS
    return costs.TEXT_DICT_BLOCK_NS + n * code_ns + distinct * (costs.TEXT_DISTINCT_NS + item_ns) < n * item_ns
