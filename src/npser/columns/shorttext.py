"""One short string outside any block: the name of a zone or of a field.

    wire:  uvarint nbytes | UTF-8 (lone surrogates as three bytes each)

Strategy: such names come by the handful, and a text block for each would be all header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = ["read_short_text", "write_short_text"]


def write_short_text(sink: Sink, text: str) -> None:
    """Write one string.

    >>> from npser.blocks.sink import Sink
    >>> write_short_text(sink := Sink(), "né"); sink.out.hex(" ")
    '03 6e c3 a9'
    """
    raw = text.encode("utf-8", "surrogatepass")
    sink.uvarint(len(raw))
    sink.out += raw


def read_short_text(cursor: Cursor) -> str:
    """Read one string; bytes that are no UTF-8 are a `DecodeError`."""
    start = cursor.pos
    raw = cursor.take(cursor.uvarint())
    try:
        return str(raw, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        cursor.pos = start
        raise cursor.fail("a name is not valid UTF-8") from None
