"""What a cache counts: hits and misses, what was refused, bytes and seconds.

Strategy: numbers under one lock, so that threads lose none. All that one operation counts is counted at once.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, fields

__all__ = ["Counters"]


@dataclass
class Counters:
    """Counts since it was made or reset.

    Attributes
    ----------
    hits, misses : int
        Looks at entries that gave a value, and that did not. What is foreign and not read, or refused, is a miss, too;
        who waits for an entry counts once as a miss and then as a hit.
    foreign : int
        Entries of another serializer, read or not.
    refused : int
        Entries that were damaged, poisoned, or sealed with another key or for another place.
    made, waited : int
        Values that `get_or_set` made, and those that it waited for while somebody else made them.
    bytes_read, bytes_written : int
        Of entries.
    server_seconds, encode_seconds, decode_seconds : float
        Spent waiting for the server, encoding and decoding.
    last_refusal : str
        Why the last entry was foreign or refused; empty if none was.

    >>> counters = Counters()
    >>> counters.count(hits=3, misses=1)
    >>> counters.hits, counters.hit_rate
    (3, 0.75)
    """

    hits: int = 0
    misses: int = 0
    foreign: int = 0
    refused: int = 0
    made: int = 0
    waited: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    server_seconds: float = 0.0
    encode_seconds: float = 0.0
    decode_seconds: float = 0.0
    last_refusal: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def count(self, **more: float) -> None:
        """Add to counts by their names."""
        counts = self.__dict__
        with self._lock:
            for name, amount in more.items():
                counts[name] += amount

    def refuse(self, why: Exception, *, foreign: bool) -> None:
        """Count an entry that was not read, and keep the reason."""
        self.count(foreign=int(foreign), refused=int(not foreign))
        self.last_refusal = str(why)

    @property
    def hit_rate(self) -> float:
        """Hits among what was asked for, 0 to 1; 0 before anything was."""
        return self.hits / (self.hits + self.misses or 1)

    def as_dict(self) -> dict[str, int | float | str]:
        """All counts at one moment, by name, and the hit rate."""
        with self._lock:
            counts = {one.name: getattr(self, one.name) for one in fields(self) if not one.name.startswith("_")}
            return counts | {"hit_rate": self.hit_rate}

    def reset(self) -> None:
        """Begin again at zero."""
        with self._lock:
            for one in fields(self):
                if not one.name.startswith("_"):
                    setattr(self, one.name, one.default)
