"""What a payload is made of, as a tree of byte ranges, and the spans that the tree tiles into.

Strategy: a piece is opened where its first byte is and closed where its reader stopped, also when that was because of
an error; what lies between its children is its own. So whatever happens, the spans of the whole tree lie end to end and
fill the payload exactly, and nothing has to be added up by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from enum import IntEnum

__all__ = ["Piece", "Span", "tile"]


class Span(NamedTuple):
    """So many bytes that mean one thing.

    Parameters
    ----------
    start, stop : int
        Where they are, in bytes from the start of the payload.
    what : str
        What they are, from the outside in: ``bodies / body / codes``.
    path : str
        Whose they are, where they belong to one place of the value.
    """

    start: int
    stop: int
    what: str
    path: str = ""

    @property
    def nbytes(self) -> int:
        """How many they are."""
        return self.stop - self.start


class Piece:
    """A range of bytes with a meaning, and the pieces in it.

    Attributes
    ----------
    start, stop : int
    what : str
        What it is within its parent.
    code : IntEnum | None
        The encoding, for a block.
    label : str
        The encoding as a person wants it: with a width, a number of distinct items.
    n : int
        Items.
    raw : int
        Bytes that its values would take plain: 8 an integer or double, 1 a bool or code, UTF-8, bytes as they are.
    distinct : int | None
        Entries of a dictionary.
    dtype : str
        The type of the items, for a body.
    path : str
        Where in the value, for what belongs to one place of it.
    gap : str
        What the bytes between its children are, if not what it is itself.
    """

    __slots__ = ("children", "code", "distinct", "dtype", "gap", "label", "n", "path", "raw", "start", "stop", "what")

    def __init__(self, start: int, what: str, stop: int | None = None, n: int = 0) -> None:
        self.start = start
        self.stop = start if stop is None else stop
        self.what = what
        self.n = n
        self.code: IntEnum | None = None
        self.label = ""
        self.raw = 0
        self.distinct: int | None = None
        self.dtype = ""
        self.path = ""
        self.gap = ""
        self.children: list[Piece] = []

    @property
    def nbytes(self) -> int:
        """Bytes from its first to its last."""
        return self.stop - self.start

    def add(self, start: int, what: str, stop: int | None = None, n: int = 0) -> Piece:
        """Open a piece in this one."""
        piece = Piece(start, what, stop, n)
        self.children.append(piece)
        return piece

    def count(self) -> int:
        """How many pieces there are in it, itself included."""
        n, rest = 0, [self]
        while rest:
            piece = rest.pop()
            n += 1
            rest += piece.children
        return n


def tile(root: Piece) -> Iterator[Span]:
    """The spans of a tree in their order; none is empty.

    >>> root = Piece(0, "payload", 10); _ = root.add(2, "shape", 5)
    >>> [(span.start, span.stop, span.what) for span in tile(root)]
    [(0, 2, 'payload'), (2, 5, 'payload / shape'), (5, 10, 'payload')]
    """
    at = root.start
    stack = [(root, root.what, root.path, iter(root.children))]
    while stack:
        piece, what, path, rest = stack[-1]
        own = f"{what} / {piece.gap}" if piece.gap else what
        child = next(rest, None)
        stop = piece.stop if child is None else child.start
        if stop > at:
            yield Span(at, stop, own, path)
            at = stop
        if child is None:
            stack.pop()
        else:
            stack.append((child, f"{what} / {child.what}", child.path or path, iter(child.children)))
