"""Single leaves: those that stand in the value exactly once, whatever it holds. What documents are made of.

    wire:  a kind byte each | the numbers among them, each as wide as its kind says (the strings are in the text pool)

Strategy: a document is a hundred leaves of any kind, so one `struct` call reads all its numbers and one split all its
strings; the kinds say from which of the two each leaf comes. The kinds come first, so that the numbers have no count.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = [
    "COMMON",
    "F64",
    "FALSE",
    "I16",
    "I32",
    "I64",
    "NONE",
    "TEXT",
    "TRUE",
    "U8",
    "SingleWriter",
    "form_of",
    "read_numbers",
]

# plain ints: comparing with an IntEnum member costs a call
U8, I16, I32, I64, F64, TEXT = (
    int(kind)
    for kind in (Kind.POOL_U8, Kind.POOL_I16, Kind.POOL_I32, Kind.POOL_I64, Kind.POOL_F64, Kind.POOL_TEXT)
)
NONE, FALSE, TRUE = int(Kind.NONE), int(Kind.FALSE), int(Kind.TRUE)

COMMON: Final = bytes(range(TEXT + 1))
"""The kinds of single leaves that have no body."""

_FORMAT_OF_KIND: Final = {U8: b"B", I16: b"h", I32: b"i", I64: b"q", F64: b"d"}
_TO_FORMAT: Final = bytes([_FORMAT_OF_KIND.get(kind, b"?")[0] for kind in range(256)])
_NOT_NUMBERS: Final = bytes(set(range(256)) - set(_FORMAT_OF_KIND))

MAX_LAYOUTS = 512
MAX_LAYOUT = 512
"""Layouts remembered, and their length; payloads of strangers can not grow it further."""

_layouts: dict[bytes, struct.Struct] = {}


def form_of(kinds: bytes) -> struct.Struct:
    """The layout of the numbers among leaves of these kinds.

    >>> form_of(bytes((Kind.POOL_U8, Kind.POOL_TEXT, Kind.POOL_F64))).format
    '<Bd'
    """
    form = kinds.translate(_TO_FORMAT, _NOT_NUMBERS)
    layout = _layouts.get(form)
    if layout is None:
        layout = struct.Struct(b"<" + form)
        if len(form) <= MAX_LAYOUT:
            if len(_layouts) >= MAX_LAYOUTS:
                _layouts.clear()
            _layouts[form] = layout
    return layout


class SingleWriter:
    """Collects the single leaves of one payload while the shape is being written.

    Parameters
    ----------
    body : callable
        Writes a leaf into a body of its own and gives its kind.

    Attributes
    ----------
    kinds : bytearray
        One a leaf.
    numbers : list
        What goes into the layout of numbers.
    texts : list of str
        What goes to the front of the text pool.
    """

    __slots__ = ("body", "kinds", "numbers", "texts")

    def __init__(self, body: Callable[[Any], int]) -> None:
        self.kinds = bytearray()
        self.numbers: list[int | float] = []
        self.texts: list[str] = []
        self.body = body

    def many(self, values: Sequence[Any]) -> None:
        """Leaves of any kind, one after the other; the error of one that is refused knows its place."""
        put = self.kinds.append
        item = 0
        try:
            for item, value in enumerate(values):  # noqa: B007 - for the error
                writer = _WRITERS.get(type(value))
                put(self.body(value) if writer is None else writer(self, value))
        except Exception as error:
            if hasattr(error, "item"):
                error.item = item
            raise

    def one(self, value: Any) -> None:
        """One leaf."""
        writer = _WRITERS.get(type(value))
        self.kinds.append(self.body(value) if writer is None else writer(self, value))

    def finish(self, sink: Sink) -> None:
        """Write the numbers; the kinds stand in front of them and the texts behind."""
        sink.out += form_of(bytes(self.kinds)).pack(*self.numbers)


def _put_int(w: SingleWriter, value: int) -> int:
    if 0 <= value <= 0xFF:
        kind = U8
    elif -0x8000 <= value < 0x8000:
        kind = I16
    elif -0x80000000 <= value < 0x80000000:
        kind = I32
    elif -(1 << 63) <= value < 1 << 63:
        kind = I64
    else:
        return w.body(value)
    w.numbers.append(value)
    return kind


def _put_float(w: SingleWriter, value: float) -> int:
    w.numbers.append(value)
    return F64


def _put_str(w: SingleWriter, value: str) -> int:
    w.texts.append(value)
    return TEXT


_WRITERS: Final[dict[type, Callable[[SingleWriter, Any], int]]] = {
    type(None): lambda _w, _value: NONE,
    bool: lambda _w, value: TRUE if value else FALSE,
    int: _put_int,
    float: _put_float,
    str: _put_str,
}


def read_numbers(cursor: Cursor, kinds: bytes) -> tuple[int | float, ...]:
    """Read the numbers among single leaves of these kinds."""
    layout = form_of(kinds)
    return layout.unpack(cursor.take(layout.size))
