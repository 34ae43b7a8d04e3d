"""The small parts of the caches over redis-py: marks, times to live, how long to wait, and what Redis runs as one step.

Strategy: two scripts, for what would go wrong if another client came in between.
"""

from __future__ import annotations

import math
from datetime import timedelta
from random import uniform
from typing import Final

__all__ = ["INCREMENT", "MISS", "OF_THE_CACHE", "RELEASE", "TimeToLive", "left", "milliseconds", "pause"]


class _Named:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


MISS: Final = _Named("miss")
OF_THE_CACHE: Final = _Named("that of the cache")

TimeToLive = float | timedelta | None | _Named
"""Seconds, a timedelta, or None for entries that stay until Redis evicts them."""

INCREMENT: Final = """
redis.call('SET', KEYS[1], '0', 'NX', 'PX', ARGV[2])
redis.call('INCRBY', KEYS[1], ARGV[1])
return redis.call('GET', KEYS[1])
"""
"""A counter begins with its time to live; the answer is text, for a number of Lua is a double."""

RELEASE: Final = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])"
"""A lock is only released by who holds it; another one may, if making took longer than the lock lasts."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.05


def milliseconds(ttl: TimeToLive) -> int | None:
    """A time to live as Redis takes it; ValueError if there would be nothing left of it."""
    seconds = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
    if seconds is None:
        return None
    if isinstance(seconds, (bool, _Named)) or not 0 < seconds < math.inf:
        raise ValueError(f"a ttl is seconds above 0, a timedelta, or None for entries that stay, not {ttl!r}")
    return max(1, round(seconds * 1000))


def pause(tries: int) -> float:
    """Seconds until the next look at what somebody else makes: more each time, and not the same for all who wait."""
    return uniform(0.5, 1.0) * min(_LONGEST_PAUSE, _FIRST_PAUSE * (1 << min(tries, 10)))


def left(answer: int) -> float | None:
    """What Redis answers to PTTL, in seconds: None for an entry that is not there, infinity for one that stays.

    >>> left(1500), left(-1), left(-2)
    (1.5, inf, None)
    """
    return answer / 1000 if answer >= 0 else {-1: math.inf}.get(answer)
