"""`npser redis`: a sample of the keys of a Redis, read without disturbing it.

Strategy: SCAN, which goes through the hash table and so gives keys in no order that means anything; what it gives first
is the sample. Keys are asked about a batch at a time in one round trip: type, length, memory. Then the values, by
range, so that one that has grown meanwhile is not read beyond what was planned. The number of keys, of bytes and of
keys that SCAN passes over are bounded. Nothing is written, and where the server can, reading does not count as use
(CLIENT NO-TOUCH), so that what it evicts stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, Final, NamedTuple

from npser.cli.refusal import ConvertError

__all__ = ["BATCH", "MAX_PASSED", "Entry", "Store", "open_store"]

MISSING: Final = "npser redis needs redis-py, install it with: pip install 'npser[redis]'"

BATCH = 100
"""Keys asked about in one round trip."""

SCAN_COUNT = 1000
MAX_PASSED = 2_000_000
"""Keys that SCAN may pass over for the sake of a pattern that few fit."""

HEAD = 64
"""Bytes of a value that is too large for what is left of the budget: enough to recognise it."""


class Entry(NamedTuple):
    """One key.

    Parameters
    ----------
    name : bytes
    kind : str
        Its type in Redis: ``string``, ``hash``, …
    nbytes : int | None
        Of the value; None for what is not a string.
    memory : int | None
        That the server needs for it, name and all; None where it does not say.
    data : bytes | None
        The value, or its beginning.
    """

    name: bytes
    kind: str
    nbytes: int | None
    memory: int | None
    data: bytes | None

    @property
    def whole(self) -> bool:
        """Whether all of the value was read."""
        return self.data is not None and len(self.data) == self.nbytes


class Store:
    """One database of a Redis.

    Attributes
    ----------
    passed : int
        About how many keys SCAN has gone through.
    complete : bool
        Whether it came to the end.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.passed = 0
        self.complete = False

    def size(self) -> int:
        """All keys of the database."""
        return int(self._client.dbsize())

    def entries(self, pattern: str, keys: int, nbytes: int) -> Iterator[Entry]:
        """Up to so many keys that fit the pattern, and of their values up to so many bytes."""
        left = nbytes
        batch: list[bytes] = []
        for name in self._names(pattern, keys):
            batch.append(name)
            if len(batch) == BATCH:
                for entry in self._read(batch, left):
                    left -= len(entry.data or b"")
                    yield entry
                batch = []
        yield from self._read(batch, left)

    def _names(self, pattern: str, keys: int) -> Iterator[bytes]:
        met: set[bytes] = set()
        cursor = 0
        while len(met) < keys and self.passed < MAX_PASSED:
            cursor, names = self._client.scan(cursor, match=pattern, count=SCAN_COUNT)
            self.passed += SCAN_COUNT
            for name in names:
                if name not in met and len(met) < keys:
                    met.add(name)
                    yield name
            if cursor == 0:
                self.complete = len(met) < keys
                return

    def _read(self, names: list[bytes], left: int) -> Iterator[Entry]:
        if not names:
            return
        asked = self._client.pipeline(transaction=False)
        for name in names:
            asked.type(name)
            asked.strlen(name)
            asked.memory_usage(name)
        facts = asked.execute(raise_on_error=False)
        kinds = [_kind(fact) for fact in facts[::3]]
        lengths = zip(kinds, facts[1::3], strict=True)
        sizes = [length if kind == "string" and type(length) is int else None for kind, length in lengths]
        wanted = self._client.pipeline(transaction=False)
        for name, size in zip(names, sizes, strict=True):
            if size is not None:
                room = size if size <= left else min(HEAD, size)
                left -= room
                wanted.getrange(name, 0, max(0, room - 1))
        found = iter(wanted.execute(raise_on_error=False))
        for name, kind, size, memory in zip(names, kinds, sizes, facts[2::3], strict=True):
            data = next(found) if size is not None else None
            if kind != "none":  # it has expired since
                known = memory if type(memory) is int else None
                yield Entry(name, kind, size, known, data if type(data) is bytes else None)


def _kind(fact: Any) -> str:
    return fact.decode("ascii", "replace") if isinstance(fact, bytes) else "unknown"


@contextmanager
def open_store(url: str) -> Iterator[Store]:
    """Connect. Whatever goes wrong inside becomes a ConvertError, without the URL: it may hold a password."""
    try:
        library: Any = import_module("redis")
    except ModuleNotFoundError as error:
        raise ConvertError(MISSING) from error
    try:
        with library.Redis.from_url(url, single_connection_client=True) as client:
            with suppress(library.ResponseError):  # a server before 7.2: reading counts as use
                client.execute_command("CLIENT", "NO-TOUCH", "ON")
            yield Store(client)
    except ValueError as error:
        raise ConvertError("not the URL of a Redis: redis://HOST:PORT/DATABASE, rediss://… or unix://…") from error
    except (library.RedisError, OSError) as error:
        raise ConvertError(f"the Redis does not answer as it should: {error}") from error
