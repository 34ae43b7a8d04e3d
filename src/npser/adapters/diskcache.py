"""diskcache: npser for the values, native numbers where diskcache counts with them, keys without pickle.

    cache = Cache("folder", disk=NpserDisk)

Strategy: what npser has encoded gets a mode of its own in diskcache's table, beside those for what SQLite holds
natively, for files and for pickles. So an entry says who wrote it, whatever its bytes look like, and those that a plain
Disk has written as they are come back as they are. A miss is the OSError that stands for a deleted file in diskcache.

Options belong to a class, for diskcache would write ``disk_*`` settings, the key among them, into the cache itself:

    class ShopDisk(NpserDisk, classes=[Order], key=KEY): ...
"""

from __future__ import annotations

import sqlite3
import sys
import types
from typing import Any, ClassVar, Final, NoReturn, Self

import diskcache
from diskcache.core import MODE_BINARY, MODE_PICKLE, MODE_RAW, MODE_TEXT, UNKNOWN

from npser.adapters.entries import Entries, is_exact_int
from npser.adapters.refusals import logged_entries
from npser.adapters.settings import codec_from
from npser.bound import Codec
from npser.errors import DecodeError, NpserError

__all__ = ["MODE_NPSER", "NpserDisk"]

MODE_NPSER: Final = 0xC1
"""The mode of what npser has encoded; diskcache's own are 0 to 4."""

_AS_IT_IS: Final = frozenset((MODE_RAW, MODE_BINARY, MODE_TEXT))
_MISS: Final = object()
_FOR_EVER: Final = frozenset(("peek", "peekitem"))  # these try again after an OSError, and meet the same entry again


def _is_native(value: object) -> bool:
    """Whether SQLite gives this number back exactly. (It has no NaN, and makes it NULL.)"""
    return (is_exact_int(value) and -(1 << 63) <= value < 1 << 63) or (type(value) is float and value == value)  # type: ignore[operator]


def _is_native_key(key: object) -> bool:
    if type(key) is str:
        return key.isascii() or key.encode("utf-8", "ignore").decode() == key  # no lone surrogates
    return type(key) is bytes or _is_native(key)


def _named(part: object) -> object:
    """What stands in a key for a class, as ``memoize(typed=True)`` puts them there: its name."""
    return ("<class>", part.__module__, part.__qualname__) if isinstance(part, type) else part


class NpserDisk(diskcache.Disk):  # type: ignore[misc]
    """The ``disk=`` of a Cache or FanoutCache, and through them of a Deque and an Index.

    Options are given to a subclass, in its line of bases: those of `Codec`, and ``foreign`` for entries of another
    serializer, see `entries_from`. Objects of a class that was not named are a miss, not a `Placeholder`.

    Ints of 64 bits and floats are SQLite's own, so that ``incr`` counts with them. Where there is a key, they are
    sealed as everything else, for a plain number could stand in the place of any value: keep what is counted in a cache
    without a key. The keys of entries are not sealed, nor are files stored with ``read=True``.

    A key that is no str, bytes or number is kept as npser's canonical bytes, so that equal keys are one key; a class
    in it (``memoize(typed=True)``) comes back as its name.
    """

    entries: ClassVar[Entries] = logged_entries({})
    _keys: ClassVar[Codec] = Codec(order="canonical", default=_named)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__()
        if options:
            cls.entries = logged_entries(options)
            cls._keys = codec_from({"order": "canonical", "default": _named, "classes": options.get("classes", ())})

    @classmethod
    def using(cls, **options: Any) -> type[Self]:
        """A subclass with these options, for one line; a Cache that is to be pickled needs one that has a name.

        >>> from diskcache import Cache
        >>> with Cache(disk=NpserDisk.using(compress="zlib")) as cache:
        ...     cache["rows"] = [(1, True), (2, None)]
        ...     cache["rows"], cache.incr("visits")
        ([(1, True), (2, None)], 1)
        """
        subclass: type[Self] = types.new_class(cls.__name__, (cls,), options)
        return subclass

    def put(self, key: Any) -> tuple[Any, bool]:
        """A key as SQLite holds it, and whether that is the key itself."""
        if _is_native_key(key):
            native: tuple[Any, bool] = super().put(key)
            return native
        return sqlite3.Binary(self._keys.dumps(key)), False

    def get(self, key: Any, raw: Any) -> Any:
        """The key again. One that pickle has written is read as ``foreign=`` says, and else comes as its bytes."""
        if raw or type(key) is not bytes:
            return super().get(key, True)
        try:
            return self._keys.loads(key)
        except NpserError:
            return self.entries.loads(key, miss=key)

    def store(self, value: Any, read: Any, key: Any = UNKNOWN) -> tuple[int, int, str | None, Any]:
        """A value as size, mode, file name and what stands in the table."""
        if read or (not self.entries.keyed and _is_native(value)):
            as_it_is: tuple[int, int, str | None, Any] = super().store(value, read, key=key)
            return as_it_is
        size, _, filename, stored = super().store(self.entries.dumps(value), False, key=key)  # noqa: FBT003
        return size, MODE_NPSER, filename, stored

    def fetch(self, mode: int, filename: str | None, value: Any, read: Any) -> Any:
        """The value again, or an OSError, which is a miss."""
        encoded = mode in (MODE_NPSER, MODE_PICKLE)
        if not encoded and (mode not in _AS_IT_IS or (self.entries.keyed and not (read and mode == MODE_BINARY))):
            self._missed(f"not sealed, or of mode {mode}")
        where = (MODE_BINARY if filename else MODE_RAW) if encoded else mode
        try:
            found = super().fetch(where, filename, value, read and not encoded)
        except (TypeError, ValueError) as error:  # a row that diskcache has not written
            self._missed(str(error))
        if encoded:
            found = self.entries.loads(found, miss=_MISS) if type(found) is bytes else _MISS
        return self._missed(self.entries.counters.last_refusal) if found is _MISS else found

    def _missed(self, why: str) -> NoReturn:
        frame = sys._getframe(1)
        while frame.f_code.co_name == "fetch" and frame.f_back is not None:
            frame = frame.f_back
        if frame.f_code.co_name in _FOR_EVER:
            raise DecodeError(why)
        raise OSError(why)
