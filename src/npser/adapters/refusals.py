"""Refused entries are logged: a framework shows a miss, and the reason would be lost.

Strategy: `Entries` hands every reason to its counters, so counters that also log are all it takes. Entries of the
serializer before are no incident, and are logged as details only.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from npser.adapters.counters import Counters
from npser.adapters.entries import Entries
from npser.adapters.settings import entries_from

__all__ = ["LoggedCounters", "logged_entries"]

_logger: Final = logging.getLogger("npser.adapters")

_CAREFUL: Final = {"unknown": "refuse"}
"""A placeholder in the place of an object would travel far before it fails: an entry with one is a miss."""


@dataclass
class LoggedCounters(Counters):
    """Counts, and logs what is refused: to ``npser.adapters``, as a warning, foreign entries at the level of debugging.

    >>> counters = LoggedCounters()
    >>> counters.refuse(ValueError("these bytes look like JSON"), foreign=True)
    >>> counters.foreign, counters.last_refusal
    (1, 'these bytes look like JSON')
    """

    def refuse(self, why: Exception, *, foreign: bool) -> None:
        """Count an entry that was not read, keep the reason and log it."""
        super().refuse(why, foreign=foreign)
        _logger.log(logging.DEBUG if foreign else logging.WARNING, "an entry of the cache is a miss: %s", why)


def logged_entries(options: Mapping[str, Any]) -> Entries:
    """`entries_from`, where refused entries are logged, and an object of a class that was not listed is refused.

    >>> logged_entries({"compress": "zlib"})
    Entries(Codec(compress='zlib', unknown='refuse'), foreign='miss')
    """
    entries = entries_from({**_CAREFUL, **options})
    entries.counters = LoggedCounters()
    return entries
