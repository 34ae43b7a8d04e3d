"""Entries of a cache: a Codec, and what becomes of entries that are not its own. Every adapter of a cache uses it.

Strategy: an entry is decoded at once; only one that fails is looked at again. One that is no npser at all (or, where
there is a key, is not sealed) is foreign: that of the serializer before, in most cases, and the caller says what
becomes of it. Every other one is damaged or poisoned, which is a miss wherever the caller has a value for a miss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal

from npser.adapters.counters import Counters
from npser.choices import one_of
from npser.codec import RAISE
from npser.decoder import open_buffer
from npser.envelope.codes import EnvelopeCode
from npser.envelope.seal import Key, Seal
from npser.errors import DecodeError, NpserError, SignatureError
from npser.tags import MAGIC

if TYPE_CHECKING:
    from npser.bound import Codec

__all__ = ["RAISE", "Entries", "Foreign", "exact_int", "is_exact_int"]

Foreign = Literal["miss", "refuse", "pickle"] | Callable[[bytes], Any]

_LONGEST: Final = len(str(-(1 << 63)))
"""Characters of the longest number that a server counts to."""


def is_exact_int(value: object) -> bool:
    """Whether a value is an int, and no bool or other subclass: what a framework may count with, and give back.

    >>> is_exact_int(7), is_exact_int(True)
    (True, False)
    """
    return type(value) is int


def exact_int(data: bytes) -> int | None:
    """The int whose decimal text the bytes are, as servers that count write it, or None. Never what only looks like it.

    >>> exact_int(b"-12"), exact_int(b" 12"), exact_int(b"1_0"), exact_int(b"012")
    (-12, None, None, None)
    """
    if not data or len(data) > _LONGEST or not data.removeprefix(b"-").isdigit():
        return None
    value = int(data)
    return value if b"%d" % value == data else None


def _unpickle(entry: bytes) -> Any:
    """UNPICKLING RUNS WHATEVER THE BYTES SAY. WHO CAN WRITE TO THE CACHE CAN THEN RUN CODE IN THIS PROCESS."""
    import pickle

    entry = entry.removeprefix(b"!")  # the mark of cachelib; no pickle begins so
    if entry[:1] != b"\x80":  # npser's 0xC1 least of all
        raise DecodeError("neither npser nor a pickle of protocol 2 or later", pos=0)
    return pickle.loads(entry)  # noqa: S301


_READERS: Final[dict[str, Callable[[bytes], Any]]] = {"pickle": _unpickle}


class Entries:
    """What a cache stores: values that a `Codec` encodes, and entries of other serializers that are still there.

    Parameters
    ----------
    codec : Codec
        Encodes and decodes.
    foreign : {"miss", "refuse", "pickle"} or callable
        What becomes of an entry that is no npser, or that is not sealed where there is a key: ``"miss"`` gives the
        value for a miss, ``"refuse"`` always raises, a callable gets the bytes and gives the value.
        ``"pickle"`` UNPICKLES IT, WHICH RUNS WHATEVER THE BYTES SAY: WHO CAN WRITE TO THE CACHE CAN THEN RUN CODE IN
        THIS PROCESS, AND A KEY DOES NOT PROTECT FROM THAT, since what is not sealed is what gets unpickled. For the
        days of a switch, if at all; npser's own entries are never unpickled.
    key : bytes, or sequence of bytes, optional
        Seals each entry with a context of its own. (The key of a Codec seals all entries with one context.)
    counters : Counters, optional
        Counts foreign and refused entries; one of its own if there is none.

    >>> from npser import Codec
    >>> import json
    >>> entries = Entries(Codec(), foreign=json.loads)
    >>> entries.loads(entries.dumps((1, 2))), entries.loads(b"[1, 2]"), entries.loads(b"", miss="a miss")
    ((1, 2), [1, 2], 'a miss')
    """

    def __init__(
        self, codec: Codec, *, foreign: Foreign = "miss", key: Key | None = None, counters: Counters | None = None
    ) -> None:
        if not callable(foreign):
            one_of("foreign", foreign, ("miss", "refuse", "pickle"))
        if key is not None and (codec._outer is not None or codec._wire != "npser"):
            raise ValueError("with a key for each entry, leave out the key=, the checksum= and the wire= of the Codec")
        self.codec = codec
        self.foreign = foreign
        self.counters = Counters() if counters is None else counters
        self._reader = foreign if callable(foreign) else _READERS.get(foreign)
        self._key = key
        self.keyed = codec._seal is not None or key is not None
        if key is not None:
            Seal(key)  # a wrong key is an error now, and not a miss later

    def __repr__(self) -> str:
        key = "" if self._key is None else ", key=<hidden>"
        return f"{type(self).__name__}({self.codec!r}, foreign={self.foreign!r}{key})"

    def dumps(self, value: object, *, context: bytes = b"") -> bytes:
        """An entry. The context says where it belongs, and counts only where these Entries have a key."""
        data = self.codec.dumps(value)
        return data if self._key is None else Seal(self._key, context).close(data)

    def loads(self, data: Any, *, miss: Any = RAISE, context: bytes = b"") -> Any:
        """The value of an entry, or `miss` for one that is damaged, poisoned or foreign; without a `miss`, an error.

        A str is always an error: a client with decode_responses=True would have nothing but misses.
        """
        try:
            if self._key is None:
                return self.codec.loads(data)
            # bytes, so that nobody who shares the buffer changes it between verifying and parsing
            sealed = data if type(data) is bytes else bytes(open_buffer(data))
            return self.codec.loads(bytes(Seal(self._key, context).open(sealed)))
        except NpserError as error:
            return self._not_ours(bytes(open_buffer(data)), error, miss)

    def _not_ours(self, entry: bytes, error: NpserError, miss: Any) -> Any:
        sealed = entry[:2] == bytes((MAGIC, EnvelopeCode.SEALED))
        foreign = bool(entry) and (entry[0] != MAGIC or (self.keyed and not sealed))
        if foreign and self._reader is not None:
            try:
                value = self._reader(entry)
            except Exception as failure:  # whatever the reader of another serializer raises
                error = DecodeError(f"a foreign entry, and reading it failed: {type(failure).__name__}: {failure}")
                error.__cause__ = failure
            else:
                self.counters.count(foreign=1)
                return value
        if foreign and isinstance(error, SignatureError):
            error = SignatureError(f"{error.message}; foreign= says what becomes of others")
        self.counters.refuse(error, foreign=foreign)
        if miss is RAISE or (foreign and self.foreign == "refuse"):
            raise error
        return miss
