"""Names in groups: which parts of `user:17:cart` are a name, and which are one of many.

Strategy: names are split at the usual separators and told apart from the left. Where only few different words stand at
one place, each several times, they are names and divide the group; where there are many, those that come often are
names, and the others are ids and become ``*``. Nothing is assumed of what ids look like.

>>> names = [f"user:{i}:{what}" for i in range(50) for what in ("cart", "profile")] + ["motd"]
>>> sorted(set(prefixes(names)))
['motd', 'user:*:cart', 'user:*:profile']
"""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["prefixes"]

FEW_WORDS = 4
"""Different words at one place that are names even if each comes once."""

MAX_WORDS = 12
"""Different words at one place that are names if each comes twice, on average."""

MIN_OFTEN, MIN_SHARE = 5, 0.005
"""How often a word comes that is a name among many that are not; and in which share of the group."""

MOST_OFTEN = (64, 12)
"""So many such words, at the first place and further on; where there are more, they are ids that come often."""

SEPARATOR = re.compile(r"([:/.|]+)")


def prefixes(names: list[str]) -> list[str]:
    """The group of each of (n,) names, as a pattern that shows what they share."""
    split = [SEPARATOR.split(name) for name in names]  # words at even places, and what is between them
    waiting = [(0, list(range(len(names))))]
    while waiting:
        at, members = waiting.pop()
        named = _names(Counter(split[i][at] for i in members), MOST_OFTEN[at > 0])
        groups: dict[str, list[int]] = {}
        for i in members:
            word = split[i][at]
            split[i][at] = word if word in named else "*"
            if len(split[i]) > at + 1:
                groups.setdefault(split[i][at] + split[i][at + 1], []).append(i)
        waiting += [(at + 2, group) for group in groups.values()]
    return ["".join(words) for words in split]


def _names(words: Counter[str], most: int) -> set[str]:
    n = words.total()
    if len(words) <= FEW_WORDS or (len(words) <= MAX_WORDS and n >= 2 * len(words)):
        return set(words)
    often = {word for word, count in words.items() if count >= max(MIN_OFTEN, MIN_SHARE * n)}
    return often if len(often) <= most else set()
