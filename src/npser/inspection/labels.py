"""What the encoding of a body is called: that of its main block, and of the blocks within.

Strategy: a body has the names of its blocks, so the main one is found by name, and within it the one that holds the
items. What is not named there has a label of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from npser.inspection.pieces import Piece

__all__ = ["distinct_of", "label_of"]

MAIN: Final = ("ints", "doubles", "bits", "text", "bytes", "data", "elements", "those present", "microseconds", "days")
WITHIN: Final = ("differences", "codes", "base", "integers", "elements")


def label_of(body: Piece) -> str:
    """How the items of a body are encoded, from the outside in: ``DELTA + FRAME 8``."""
    parts = [body.label] if body.label else []
    piece: Piece | None = next((child for what in MAIN for child in body.children if child.what == what), None)
    while piece is not None and len(parts) < 4:
        if piece.label:
            parts.append(piece.label)
        within = next((child for child in piece.children if child.what in (*MAIN, *WITHIN)), None)
        piece = within if within is not None and (within.code is not None or within.children) else None
    return " + ".join(parts)


def distinct_of(body: Piece) -> int | None:
    """The entries of the dictionary that a body of strings is, if it is one."""
    for child in body.children:
        if child.distinct is not None:
            return child.distinct
        if child.what in ("those present", "data"):
            return distinct_of(child)
    return None
