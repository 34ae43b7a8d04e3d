"""The state of one decoding: the position, the dictionary of strings, the numbered objects and the open containers.

Strategy: it is a `Cursor` that knows strings. Containers wait on an explicit stack of frames, one a container, so that
the depth of a payload costs heap and never the thread's stack; what a frame waits for is its number of values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks.cursor import Cursor
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.limits import Limits
from npser.phpser.keys import array_key, property_name
from npser.phpser.tags import AFFINE_ITEMS, VERSIONS

if TYPE_CHECKING:
    from npser.phpser.objects import Target
    from npser.shapes.policy import Strings, Unknown
    from npser.types.allow import Allow

__all__ = ["CHUNK", "MAX_LENGTH", "OPEN", "Frame", "Source"]


AFFINE_SHARE: Final = Limits().items // AFFINE_ITEMS
"""Cells that `Limits` allows for each item of AFFINE runs: by default these are as many as phpser itself reads."""

MAX_LENGTH: Final = 1 << 32
"""phpser refuses longer strings, and dictionaries of more of them."""


class _Open:
    """The one `OPEN`: what the close of a frame gives that waits for more values."""


OPEN: Final = _Open()


NO_KEYS: Final = ()

CHUNK: Final = 4
"""`Frame.chunk` at first; it doubles with each search that finds little."""


class Frame:
    """A container that waits for its values.

    Attributes
    ----------
    need : int
        How many values it takes.
    values : list
        Those that were read.
    close : callable
        From (source, frame) to the container, or `OPEN` after asking for more.
    step : callable
        From the frame to how its current value is reached, for the path of an error.
    key : callable | None
        Reads the key that stands in front of each value.
    keys : sequence
        Those that were read, or all if they stand in front of the values.
    made : object
        The container itself, where something inside may refer to it.
    ref : int | None
        The number of the PHP reference that the frame is.
    chunk : int
        How many values are read one by one before a run of one tag is looked for.
    extra : object
        What else `close` needs.
    """

    __slots__ = ("chunk", "close", "extra", "key", "keys", "made", "need", "ref", "step", "values")

    def __init__(
        self,
        need: int,
        close: Callable[[Source, Frame], Any],
        step: Callable[[Frame], str],
        *,
        key: Callable[[Source], Any] | None = None,
        extra: Any = None,
    ) -> None:
        self.need = need
        self.values: list[Any] = []
        self.close = close
        self.step = step
        self.key = key
        self.keys: Any = NO_KEYS if key is None else []
        self.chunk = CHUNK
        self.made: Any = None
        self.ref: int | None = None
        self.extra = extra


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


_CONVERT: Final[dict[Strings, Callable[[bytes], Any]]] = {"text": _text, "bytes": bytes}


class Source(Cursor):
    """One payload that is being read.

    Attributes
    ----------
    data : bytes
        All of it.
    text : callable
        From the bytes of a string to what it is in Python.
    raw : list of bytes, words : list of str or bytes
        The dictionary as it stands in the payload, and as Python has it.
    ids : list
        The numbered objects and references.
    references : set of int
        Which of them are references.
    stack : list of Frame
        The open containers, outermost first.
    """

    __slots__ = (
        "_key_sets",
        "_keys",
        "_lut",
        "_names",
        "allow",
        "data",
        "depth",
        "ids",
        "pending",
        "raw",
        "references",
        "stack",
        "strings",
        "targets",
        "text",
        "unknown",
        "words",
    )

    def __init__(
        self, buf: memoryview, *, allow: Allow, limits: Limits, strings: Strings, unknown: Unknown = "placeholder"
    ) -> None:
        super().__init__(buf, 0, None, limits.items // AFFINE_SHARE)
        whole = buf.obj
        self.data: bytes = whole if type(whole) is bytes and len(whole) == len(buf) else bytes(buf)
        self.allow = allow
        self.unknown = unknown
        self.depth = limits.depth
        self.strings: Strings = strings
        self.text = _CONVERT[strings]
        self.ids: list[Any] = []
        self.references: set[int] = set()
        self.stack: list[Frame] = []
        self.targets: dict[int, Target] = {}
        self.pending: dict[tuple[Target, Any], tuple[list[Any], list[Any]]] = {}
        self.raw: list[bytes] = []
        self.words: list[Any] = []
        self._keys: list[Any] | None = None
        self._names: dict[int, str] = {}
        self._key_sets: dict[Sequence[int], tuple[Any, ...]] = {}
        self._lut: NDArray[np.object_] | None = None

    def header(self) -> None:
        """Read the version and the dictionary."""
        if not self.data:
            raise TruncatedError("no bytes at all", pos=0)
        if self.data[0] not in VERSIONS:
            raise DecodeError(f"phpser wire {self.data[0]}; this npser reads wires 1 and 2", pos=0)
        self.pos = 1
        n = self.count(1)
        if n >= MAX_LENGTH:
            raise self.fail(f"a dictionary of {n} strings")
        raw = self.raw
        data, pos = self.data, self.pos
        for _ in range(n):
            length = data[pos]
            pos += 1
            if length >= 0x80:
                self.pos = pos - 1
                length = self.uvarint()
                pos = self.pos
            end = pos + length
            if length >= MAX_LENGTH or end > self.end:
                self.pos = pos
                raise TruncatedError(f"need {length} bytes, {self.left} left", pos=pos)
            raw.append(data[pos:end])
            pos = end
        self.pos = pos
        self.words = list(map(self.text, raw))

    def uvarint(self) -> int:
        """As in `Cursor`; most are one byte or two here."""
        pos = self.pos
        if pos + 1 < self.end:
            low, high = self.data[pos], self.data[pos + 1]
            if low < 0x80:
                self.pos = pos + 1
                return low
            if high < 0x80:
                self.pos = pos + 2
                return low & 0x7F | high << 7
        return super().uvarint()

    def svarint(self) -> int:
        """As in `Cursor`."""
        code = self.uvarint()
        return (code >> 1) ^ -(code & 1)

    def count(self, each: int) -> int:
        """A number of items that take at least so many bytes each."""
        n = self.uvarint()
        if n * each > self.left:
            raise TruncatedError(f"{n} items, {self.left} bytes left", pos=self.pos)
        return n

    def index(self) -> int:
        """A place in the dictionary."""
        index = self.uvarint()
        if index >= len(self.words):
            raise self.fail(f"string {index} of a dictionary of {len(self.words)}")
        return index

    def word(self) -> Any:
        """A string of the dictionary."""
        return self.words[self.index()]

    def string(self) -> Any:
        """A string in place."""
        length = self.uvarint()
        if length >= MAX_LENGTH:
            raise self.fail(f"a string of {length} bytes")
        self.take(length)
        return self.text(self.data[self.pos - length : self.pos])

    def name(self) -> str:
        """A name of a property or of an enum's case."""
        index = self.index()
        name = self._names.get(index)
        if name is None:
            name = self._names[index] = property_name(self.raw[index])
        return name

    @property
    def keys(self) -> list[Any]:
        """The dictionary as keys of arrays."""
        if self._keys is None:
            self._keys = list(map(array_key, self.words))
        return self._keys

    def key(self) -> Any:
        """A string of the dictionary as a key of an array."""
        return self.keys[self.index()]

    def key_set(self, n: int) -> tuple[Any, ...]:
        """The keys of a table or of a dict whose keys all come from the dictionary: different, and none an int."""
        indices: Sequence[int] = self.data[self.pos : self.pos + n]
        if len(indices) == n and max(indices) < 0x80:
            self.pos += n
        else:
            indices = tuple([self.index() for _ in range(n)])
        keys = self._key_sets.get(indices)
        if keys is None:
            if max(indices) >= len(self.words):
                raise self.fail(f"string {max(indices)} of a dictionary of {len(self.words)}")
            keys = tuple(map(self.words.__getitem__, indices))
            if len(set(keys)) < n:
                raise self.fail("a key set with a key twice")
            if any(type(array_key(key)) is int for key in keys):
                raise self.fail("a key set with a key that PHP has as an int")
            if n <= MAX_KEPT_KEYS and len(self._key_sets) < MAX_KEPT_SETS:
                self._key_sets[indices] = keys
        return keys

    @property
    def lut(self) -> NDArray[np.object_]:
        """The dictionary as an array, to take many strings from."""
        if self._lut is None:
            self._lut = np.empty(len(self.words), object)
            self._lut[:] = self.words
        return self._lut

    def enter(self) -> None:
        """Refuse a container that would stand too deep."""
        if len(self.stack) > self.depth:
            raise LimitError(f"containers are nested more than {self.depth} deep", pos=self.pos)

    def claim(self, made: Any) -> None:
        """Let the reference that holds a container name it while it is filled."""
        ref = self.stack[-1].ref
        if ref is not None:
            self.ids[ref] = made

    @property
    def is_held(self) -> bool:
        """Whether a reference holds what is being read, so that something inside it may refer to it."""
        return self.stack[-1].ref is not None

    def path(self) -> str:
        """Where in the value the reading stands."""
        return "$" + "".join(frame.step(frame) for frame in self.stack)


MAX_KEPT_KEYS = 64
MAX_KEPT_SETS = 256
"""Bounds on the key sets that are checked once: a key set costs a payload bytes, but a memory of it more."""
