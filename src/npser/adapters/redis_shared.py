"""What `Cache` and `AsyncCache` over redis-py share: the names of entries, their bytes, their times to live.

Strategy: nothing in here waits for a server. A name is UTF-8 text; what npser adds to it begins with the byte 0xC1,
which no UTF-8 has, so that no key of a caller is ever the name of something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import iscoroutinefunction
from time import perf_counter
from types import MethodType
from typing import Any, Final

from npser.adapters.entries import Entries, Foreign, exact_int, is_exact_int
from npser.adapters.redis_parts import MISS, OF_THE_CACHE, TimeToLive, milliseconds
from npser.adapters.refusals import LoggedCounters
from npser.bound import Codec
from npser.digests import digest
from npser.envelope.seal import Key

__all__ = ["Shared"]


_NOT_TEXT: Final = b"\xc1"
_DIGEST_SIZE: Final = 20


class Shared:
    """The half of a cache that needs no server; see `npser.adapters.redis.Cache` for the parameters."""

    asynchronous = False

    def __init__(
        self,
        client: Any,
        *,
        namespace: str = "",
        codec: Codec | None = None,
        key: Key | None = None,
        foreign: Foreign = "miss",
        ttl: TimeToLive = None,
        lock_seconds: float = 30.0,
        wait_seconds: float = 30.0,
    ) -> None:
        if client.get_connection_kwargs().get("decode_responses"):
            raise ValueError("entries are bytes: give the cache a client of its own, without decode_responses=True")
        if iscoroutinefunction(client.execute_command) is not self.asynchronous:
            raise TypeError("Cache is for clients of redis, AsyncCache for those of redis.asyncio")
        codec = Codec(unknown="refuse") if codec is None else codec
        if codec._seal is not None:
            raise ValueError("give the key to the cache and not to its Codec: then no entry can stand in for another")
        self.client = client
        self.namespace = namespace
        self.counters = LoggedCounters()
        self.entries = Entries(codec, foreign=foreign, key=key, counters=self.counters)
        self._prefix = f"{namespace}:".encode() if namespace else b""
        self._milliseconds = milliseconds(ttl)
        self._lock_milliseconds = milliseconds(lock_seconds)
        self._wait_seconds = wait_seconds

    def name(self, key: Any) -> bytes:
        """What an entry is called in Redis: the namespace, a colon, and the text or else the digest of the key."""
        try:
            return self._prefix + (key.encode() if type(key) is str else self._digest(key))
        except UnicodeEncodeError:  # a lone surrogate
            return self._prefix + self._digest(key)

    def _digest(self, key: Any) -> bytes:
        return _NOT_TEXT + digest(key, size=_DIGEST_SIZE).hex().encode()

    def lock_name(self, name: bytes) -> bytes:
        """What the lock of an entry is called."""
        return name + _NOT_TEXT + b"lock"

    def key(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> str:
        """A key for what a function gives for arguments: its name and the digest of them, in every process the same.

        `f(1)` and `f(x=1)` have two keys. Lambdas and functions within functions are refused: the same name may be
        that of another one.
        """
        name = getattr(function, "__qualname__", "<unnamed>")
        if "<" in name:
            raise ValueError(f"{function!r} has no name of its own: make a key of one you choose and the arguments")
        args = (function.__self__, *args) if isinstance(function, MethodType) else args
        return f"{function.__module__}:{name}:{digest((args, kwargs), size=_DIGEST_SIZE).hex()}"

    def stats(self) -> dict[str, int | float | str]:
        """The counters by name, and the hit rate."""
        return self.counters.as_dict()

    def _px(self, ttl: TimeToLive) -> int | None:
        return self._milliseconds if ttl is OF_THE_CACHE else milliseconds(ttl)

    def _encode(self, name: bytes, value: Any) -> bytes:
        started = perf_counter()
        if is_exact_int(value) and not self.entries.keyed and -(1 << 63) <= value < 1 << 63:
            data = b"%d" % value  # so that Redis can count with it
        else:
            data = self.entries.dumps(value, context=b"redis:" + name)
        self.counters.count(encode_seconds=perf_counter() - started, bytes_written=len(data))
        return data

    def _encode_all(self, values: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> list[tuple[bytes, bytes]]:
        pairs = values.items() if isinstance(values, Mapping) else values
        return [(name := self.name(key), self._encode(name, value)) for key, value in pairs]

    def _check_counting(self, by: object) -> None:
        if self.entries.keyed:
            raise TypeError("a server does not count in sealed entries: keep counters in a cache without a key")
        if not is_exact_int(by):
            raise TypeError(f"a counter counts with ints, not with {type(by).__name__}")

    def _decode(self, name: bytes, data: bytes | None, miss: Any, waited: float = 0.0) -> Any:
        if data is None:
            self.counters.count(misses=1, server_seconds=waited)
            return miss
        started = perf_counter()
        value: Any = None if self.entries.keyed else exact_int(data)
        if value is None:
            value = self.entries.loads(data, miss=MISS, context=b"redis:" + name)
        seconds, hit = perf_counter() - started, value is not MISS
        self.counters.count(
            hits=hit, misses=not hit, bytes_read=len(data), decode_seconds=seconds, server_seconds=waited
        )
        return value if hit else miss
