"""Which encoding a block of strings, or of byte strings, gets.

Strategy: a dictionary is what pays most, and proving that it does not pay costs most. So two samples are looked at
first: items spread over the list (few distinct values anywhere?) and neighbours (sorted, or grouped?). Only when one of
them shows repeats is the whole list numbered, by one look-up an item in a dict that numbers what it has not seen: one
`itemgetter` does thousands of them in half the time that `map` takes. Codes of few strings in no order are digits.
Distinct strings are joined by U+0000; how often that occurs in the result says whether an item contains it, and only
then are the other control characters tried. Nothing here looks at an item in Python, but for lists of a few.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from itertools import count
from operator import itemgetter
from struct import pack
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from npser.blocks import binary, text
from npser.blocks.choose import costs
from npser.blocks.choose.ints import write_ints
from npser.blocks.choose.stems import find_stem
from npser.blocks.radix import write_radix
from npser.blocks.sink import Sink

__all__ = ["REPEATED", "begin_text", "dict_costs", "sample", "write_bytes", "write_numbered_text", "write_text"]

T = TypeVar("T", str, bytes)
Codes = NDArray[np.unsignedinteger[Any]]

COMMON = 3  # times in the sample
REPEATED = 2  # times that a string of the sample is in it on average, from which all are numbered without more ado
PLACES: Final = np.arange(1.0, 4097.0) ** 2 * (np.sqrt(5.0) / 2 - 0.5) % 1
"""Where in its part of the list each of the sample is taken. Squares times the golden ratio: as random as this needs,
and always the same."""

GLANCE = 64  # items whose length is looked at
MAX_WHOLE = 1 << 22  # characters that are joined and encoded at once to save a copy
CHUNK_CODES = 1 << 14  # looked up at a time
BYTE_CODES = 256  # distinct items that a byte can number

RADIX_BASES: Final = range(5, 41)
"""Distinct strings that are digits: three to six of a word, where other codes are bits between bytes. Fewer strings
would need more steps than bits do; of more than 40, a word holds no more than bytes;
benchmarks/thresholds_text_floats.py::sweep_radix."""
RADIX_MIN_ITEMS = 2048
RADIX_MAX_RUN = 3.0
"""Items of one code in a row, on average, from which runs may be cheaper; where one code is more than 0.8 of all, so
are exceptions, and its runs are as long."""


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
        _write_coded(sink, *plan)


def begin_text(sink: Sink, values: list[str]) -> bytes:
    r"""The same bytes, but the last of them are not copied into the sink if they are many: they are given back.

    >>> sink = Sink()
    >>> begin_text(sink, ["a", "bc"]), bytes(sink.out)
    (b'a\x00bc', b'\x00\x00\x04')
    """
    plan = _plan_dict(values, costs.TEXT_CUT_NS)
    if plan is not None:
        _write_coded(sink, *plan)
        return b""
    some = values[:: 1 + len(values) // GLANCE]
    if sum(map(len, some)) * len(values) <= MAX_WHOLE * len(some):
        try:
            blob = None if find_stem(values) else text.begin_split(sink, values, "\0")
        except UnicodeEncodeError:
            blob = None
        if blob is not None:
            return blob
    _write_distinct(sink, values)
    return b""


def write_numbered_text(sink: Sink, spread: list[str], distinct: list[str], codes: Codes) -> bool:
    r"""The same bytes for n strings that are numbered already; nothing, and False, if a dictionary does not pay.

    `spread` is a sample of them that has each of its strings `REPEATED` times on average, or more often.

    >>> sink = Sink()
    >>> write_numbered_text(sink, ["abc"] * 9, ["abc"], np.zeros(999, "<u1")), sink.out.hex(" ")
    (True, '03 01 00 00 03 61 62 63 01 00')
    """
    pays = _dict_pays(codes.size, len(distinct), _mean_size(spread), costs.TEXT_CUT_NS)
    if pays:
        _write_coded(sink, distinct, codes)
    return pays


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
        distinct, codes = plan
        binary.write_dict(sink, distinct, codes.astype("<i8"), _write_lengths, write_ints)


def _write_lengths(sink: Sink, values: list[bytes]) -> None:
    binary.write_lengths(sink, values, write_ints)


def _write_distinct(sink: Sink, values: list[str]) -> None:
    start = len(sink.out)
    try:
        stem = find_stem(values)
        if stem is not None and text.write_stem(sink, values, stem):
            return
        if values and (text.write_split(sink, values, "\0") or _try_separators(sink, values)):
            return
        text.write_lengths(sink, values, write_ints)
    except UnicodeEncodeError:
        del sink.out[start:]
        text.write_wtf8(sink, values, write_ints)


def _write_coded(sink: Sink, distinct: list[str], codes: Codes) -> None:
    """d strings and (n,) codes: as digits, or as integers."""
    if _radix_pays(len(distinct), codes):
        write_radix(sink, distinct, codes, _write_distinct)
    else:
        text.write_dict(sink, distinct, codes.astype("<i8"), _write_distinct, write_ints)


def _try_separators(sink: Sink, values: list[str]) -> bool:
    """SPLIT at the first control character that no item contains, if there is one."""
    joined = "".join(values)
    separator = next((s for s in text.SEPARATORS if s not in joined), None)
    return separator is not None and text.write_split(sink, values, separator)


# ---------------------------------------------------------------------------------------------------------- dictionary


def _plan_dict(values: list[T], cut_ns: float) -> tuple[list[T], Codes] | None:
    """The distinct items and (n,) codes, if that is the cheaper way to store them.

    They are in the order in which they appear in the sample, and then in the list. `cut_ns` is what reading an item
    without a dictionary costs.
    """
    n = len(values)
    if n <= costs.FEW_ITEMS:
        return None
    spread = sample(values)
    size = _mean_size(spread)
    if not _dict_pays(n, 1, size, cut_ns):
        return None
    found = len(set(spread))
    if found * REPEATED > len(spread) and not _dict_pays(n, _guess_distinct(values, spread, found), size, cut_ns):
        return None
    known = {} if len(spread) == n else dict.fromkeys(spread)
    numbers: defaultdict[T, int] = defaultdict(count(len(known)).__next__, zip(known, count()))
    parts: list[Codes] = []
    for at in range(0, n, CHUNK_CODES):
        parts.append(_look_up(numbers, values[at : at + CHUNK_CODES]))
        if not _dict_pays(n, len(numbers), size, cut_ns):
            return None
    return list(numbers), parts[0] if len(parts) == 1 else np.concatenate(parts)


def _look_up(numbers: dict[T, int], values: list[T]) -> Codes:
    """The numbers of n values, as bytes while no more than 256 are numbered."""
    codes = itemgetter(*values)(numbers) if len(values) > 1 else (numbers[values[0]],)
    if len(numbers) <= BYTE_CODES:
        return np.frombuffer(bytes(codes), "<u1")
    return np.frombuffer(pack(f"<{len(codes)}I", *codes), "<u4")


def sample(values: list[T]) -> list[T]:
    """All of a few values, or some of many, from places without a pattern.

    >>> len(sample(["x"] * 100)), len(sample(["x"] * 10_000))
    (100, 239)
    """
    n = len(values)
    if n <= 2 * costs.TEXT_SAMPLE:
        return values
    return list(_picker(n)(values))


@lru_cache(maxsize=8)
def _picker(n: int) -> itemgetter[Any]:
    """What takes a sample of n values; the columns of a table all have one n."""
    size = min(PLACES.size, costs.TEXT_SAMPLE + n // costs.TEXT_SAMPLE_SHARE)
    bounds = np.arange(0, size * n + 1, n) // size
    places = bounds[:-1] + (PLACES[:size] * np.diff(bounds)).astype(np.intp)
    return itemgetter(*places.tolist())


def _mean_size(spread: list[T]) -> float:
    return sum(map(len, spread)) / len(spread) + 1


def _guess_distinct(values: list[T], spread: list[T], found: int) -> float:
    """About how many of the values are distinct: all unless a sample, with `found` distinct ones, shows otherwise.

    Method: what the sample has three times or more is common, and counted as it is ("" or "n/a" say nothing about the
    others). If the rest of n values are d evenly likely ones, of s of them about (1/d - 1/n) * s*s/2 are repeats, while
    that is a small part of s (the birthday problem). A sorted column shows its repeats only among neighbours.
    """
    n = len(values)
    if len(spread) == n:
        return found
    s, common = len(spread), 0
    if found < s:
        often = [times for times in Counter(spread).values() if times >= COMMON]
        common = len(often)
        s, found = s - sum(often), found - common
    rest = 1 / (2 * (s - found) / s**2 + len(spread) / (n * s)) if s else 0
    guess = common + max(found, rest)
    middle = values[n // 2 : n // 2 + costs.TEXT_NEIGHBOURS]
    grouped = len(set(middle))
    if grouped * 2 <= len(middle):
        guess = min(guess, n * grouped / len(middle))
    return guess


def dict_costs(n: int, distinct: float, size: float, cut_ns: float) -> tuple[float, float]:
    """What codes and `distinct` items cost, and what n items do, of `size` bytes each."""
    item_ns = cut_ns + size * costs.BYTE_NS
    code_ns = costs.TEXT_CODE_NS + max(1, int(distinct).bit_length()) / 8 * costs.BYTE_NS
    return costs.TEXT_DICT_BLOCK_NS + n * code_ns + distinct * (costs.TEXT_DISTINCT_NS + item_ns), n * item_ns


def _dict_pays(n: int, distinct: float, size: float, cut_ns: float) -> bool:
    """Whether codes and `distinct` items cost less than n items, of `size` bytes each."""
    coded, each = dict_costs(n, distinct, size, cut_ns)
    return coded < each


def _radix_pays(base: int, codes: Codes) -> bool:
    """Whether codes are many, in no order, and none of them is most of them."""
    n = codes.size
    if base not in RADIX_BASES or n < RADIX_MIN_ITEMS:
        return False
    return bool(np.count_nonzero(codes[1:] != codes[:-1]) * RADIX_MAX_RUN > n)
