"""What many strings begin with: the addresses of one host, the paths of one folder, the ids of one kind.

Strategy: heads of one length are counted in a sample. The commonest one says which strings belong together, and what
those have in common is the stem, if it saves enough. Strings that are short, or begin in many ways, cost a pass.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

__all__ = ["find_stem"]

HEADS: Final = (32, 16)
"""Lengths of heads that are counted: the first one that saves enough will do."""

MIN_ITEMS = 8
"""Fewer strings are not looked at."""

MIN_TIMES = 4
"""Strings that must have a head in common."""

SAMPLED = 24
MAX_SAMPLED = 256
"""Strings that are looked at: so many, and one in `SAMPLED_SHARE` more;
benchmarks/thresholds_text_floats.py::sweep_stem_sample."""

SAMPLED_SHARE = 32

MIN_SHARE = 0.25
"""The part of all characters that a stem must save: reading it costs another pass over the text;
benchmarks/thresholds_text_floats.py::sweep_stem."""


def find_stem(values: list[str]) -> str | None:
    """What the strings have in common at their beginning, if storing it once saves enough.

    >>> find_stem([f"https://example.org/item/{i}" for i in range(9)])
    'https://example.org/item/'
    >>> find_stem([f"item {i}" for i in range(9)]) is None
    True
    """
    n = len(values)
    if n < MIN_ITEMS:
        return None
    some = values[:: 1 + (n - 1) // min(SAMPLED + n // SAMPLED_SHARE, MAX_SAMPLED)]
    shortest = HEADS[-1]
    heads = [value[:shortest] for value in some if len(value) > shortest]
    if len(heads) - len(set(heads)) < MIN_TIMES - 1:
        return None  # none of them comes so often
    least = MIN_SHARE * sum(map(len, some))
    for size in HEADS:
        longer = heads if size == shortest else [value[:size] for value in some if len(value) > size]
        if len(longer) < MIN_TIMES or len(longer) * size < least:
            continue
        times = Counter(longer)
        head = max(times, key=times.__getitem__)
        if times[head] < MIN_TIMES:
            continue
        group = [value for value in some if value.startswith(head)]
        stem = _common(min(group), max(group))
        if (len(stem) - 1) * len(group) >= least:
            return stem
    return None


def _common(low: str, high: str) -> str:
    """What two strings begin with; if they are the least and the greatest of some, all begin with it."""
    least, most = 0, min(len(low), len(high))
    while least < most:
        middle = (least + most + 1) // 2
        if low.startswith(high[:middle]):
            least = middle
        else:
            most = middle - 1
    return low[:least]
