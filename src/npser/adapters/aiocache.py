"""aiocache: a serializer whose entries are npser's, and ints those that servers count with.

    cache = Cache(Cache.REDIS, serializer=NpserSerializer())

Strategy: ints are the decimal text that Redis and memcached increment; everything else is an entry. aiocache asks for
the value of a missing entry, too, as None; damaged, poisoned and foreign entries are None, which is its miss.
"""

from __future__ import annotations

from typing import Any, Final

from aiocache.serializers import BaseSerializer

from npser.adapters.entries import Entries, exact_int, is_exact_int
from npser.adapters.refusals import logged_entries

__all__ = ["NpserSerializer"]

_LONGEST: Final = 20  # characters of the longest int of 64 bits, with its sign


class NpserSerializer(BaseSerializer):  # type: ignore[misc]
    """The ``serializer=`` of a cache, or the ``"class"`` in the settings of `aiocache.caches`, with options beside it.

    Parameters
    ----------
    **options
        Those of `Codec`, and ``foreign`` for entries of another serializer; see `entries_from`. Objects of a class that
        was not named are a miss, not a `Placeholder`. Where there is a key, ints are sealed as everything else, for a
        plain one could stand in the place of any value: keep what is counted in a cache without a key.

    >>> serializer = NpserSerializer(classes="fractions.Fraction", compress="zlib")
    >>> serializer.loads(serializer.dumps({"seen": (1, 2)})), serializer.dumps(7), serializer.dumps(True)[:1]
    ({'seen': (1, 2)}, b'7', b'\\xc1')
    >>> serializer.loads(None), serializer.loads(b"cut off")
    (None, None)
    """

    DEFAULT_ENCODING = None  # for others, aiocache decodes bytes as text

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.entries: Entries = logged_entries(options)

    def dumps(self, value: Any) -> bytes:
        """An entry, or the text of an int."""
        if not self.entries.keyed and is_exact_int(value) and -(1 << 63) <= value < 1 << 63:
            return b"%d" % value
        return self.entries.dumps(value)

    def loads(self, value: Any) -> Any:
        """The value of an entry, or None: for a missing one, too.

        The cache in memory counts with ints, and memcached leaves blanks behind a number that has lost digits.
        """
        if value is None:
            return None
        if is_exact_int(value):
            return None if self.entries.keyed else value
        if not self.entries.keyed and isinstance(value, bytes) and len(value) <= _LONGEST:
            count = exact_int(value.rstrip(b" "))
            if count is not None:
                return count
        return self.entries.loads(value, miss=None)
