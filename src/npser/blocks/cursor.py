"""The one place that reads the input: every bounds check is here.

Strategy: a reader asks for bytes and gets a view of exactly that many, or `TruncatedError`; it asks for n
cells of memory (`weights`) and gets the right to them, or `LimitError`. So nothing is allocated on the word of a count.
"""

from __future__ import annotations

from typing import Final

from npser.errors import DecodeError, LimitError, TruncatedError
from npser.weights import CELL

__all__ = ["PADDING_MARK", "Cursor"]

VARINT_MAX_BYTES = 10  # ceil(64 / 7)
PADDING_MARK: Final = 8
"""Bytes behind padding, which say how many bytes of it there are."""


class Cursor:
    """A position in a buffer, with what is left of the payload's budget.

    Parameters
    ----------
    buf : memoryview
        The payload, as unsigned bytes.
    pos, end : int
        The span to read; `pos` moves, `end` does not.
    budget : int
        Cells that may still be made (see `Limits.budget`).

    >>> cursor = Cursor(memoryview(bytes([0xAC, 0x02, 7])))
    >>> cursor.uvarint(), cursor.u8(), cursor.left
    (300, 7, 0)
    """

    __slots__ = ("budget", "buf", "end", "pos")

    def __init__(self, buf: memoryview, pos: int = 0, end: int | None = None, budget: int = 1 << 24) -> None:
        self.buf = buf
        self.pos = pos
        self.end = len(buf) if end is None else end
        self.budget = budget

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return self.end - self.pos

    def u8(self) -> int:
        """One unsigned byte."""
        pos = self.pos
        if pos >= self.end:
            raise TruncatedError("need 1 byte, 0 left", pos=pos)
        self.pos = pos + 1
        return self.buf[pos]

    def take(self, n: int) -> memoryview:
        """The next `n` bytes, as a view of the input."""
        pos = self.pos
        if n > self.end - pos:
            raise TruncatedError(f"need {n} bytes, {self.end - pos} left", pos=pos)
        self.pos = pos + n
        return self.buf[pos : pos + n]

    def uvarint(self) -> int:
        """An unsigned LEB128 integer below 2**64 (DWARF 5, section 7.6)."""
        pos, end, buf = self.pos, self.end, self.buf
        value = shift = 0
        for at in range(pos, min(end, pos + VARINT_MAX_BYTES)):
            byte = buf[at]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> 64:
                    raise DecodeError("varint does not fit 64 bits", pos=pos)
                self.pos = at + 1
                return value
            shift += 7
        if end - pos < VARINT_MAX_BYTES:
            raise TruncatedError("varint is cut off", pos=pos)
        raise DecodeError(f"varint is longer than {VARINT_MAX_BYTES} bytes", pos=pos)

    def uvarints(self, k: int) -> list[int]:
        """`k` unsigned LEB128 integers; what a header is made of, so it does not pay a call for each."""
        values: list[int] = []
        value = shift = 0
        pos = self.pos
        for byte in bytes(self.buf[pos : min(self.end, pos + VARINT_MAX_BYTES * k)]):
            if len(values) == k:
                break
            pos += 1
            if byte < 0x80:
                values.append(value | byte << shift)
                value = shift = 0
            else:
                value |= (byte & 0x7F) << shift
                shift += 7
        if len(values) < k or max(values, default=0) >> 64:
            return [self.uvarint() for _ in range(k)]  # one of them is wrong, and this says which and where
        self.pos = pos
        return values

    def svarint(self) -> int:
        """A zigzag LEB128 integer in the range of int64."""
        code = self.uvarint()
        return (code >> 1) ^ -(code & 1)

    def expand(self, n: int) -> None:
        """Draw `n` cells from the payload's budget, or raise `LimitError`."""
        if n > self.budget and n:
            raise LimitError(
                f"{CELL * n} bytes of memory would be taken, and {CELL * max(0, self.budget)} are left for a payload "
                "of this size; raise Limits(items=...) if it is your own",
                pos=self.pos,
            )
        self.budget -= n

    def close(self) -> None:
        """Refuse whatever is left, if it is not padding: zeros, and how many they are in eight bytes."""
        zeros = self.left - PADDING_MARK
        if self.left and (
            zeros <= 0
            or int.from_bytes(self.buf[self.end - PADDING_MARK : self.end], "little") != zeros
            or self.buf[self.pos : self.pos + zeros].tobytes().strip(b"\0")
        ):
            raise self.fail(f"{self.left} bytes behind the end of the payload")
        self.pos = self.end

    def fail(self, message: str) -> DecodeError:
        """A `DecodeError` that knows the position; the caller raises it."""
        return DecodeError(message, pos=self.pos)
