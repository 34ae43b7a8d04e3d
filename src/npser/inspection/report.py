"""Where the bytes of a payload are: what `npser.inspect` gives.

Strategy: the report is data (a tree of parts with figures) and a few ways to look at it; text and HTML are drawn
elsewhere. It keeps the bytes that it was made of, so that a question that needs values decoded, such as why a block has
its encoding, is answered when it is asked and costs nothing before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from npser.decoder import open_buffer
from npser.errors import NpserError
from npser.inspection.html import draw_html
from npser.inspection.layers import Layer, open_envelopes
from npser.inspection.parts import Part, build_parts, plain
from npser.inspection.phpspans import walk_phpser
from npser.inspection.pieces import Span, tile
from npser.inspection.spans import Walked, walk_payload
from npser.inspection.text import draw_report
from npser.inspection.why import Why, explain
from npser.limits import Limits
from npser.phpser.tags import VERSIONS
from npser.tags import MAGIC

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Report", "inspect"]

DEEPEST = 100
"""Levels of `to_dict`: what nests deeper, JSON libraries refuse."""

MAX_WEIGHED_ITEMS, MAX_WEIGHED_RAW = 1 << 17, 1 << 21
"""What `reasons` weighs: so many items and plain bytes, all blocks together, which takes some tens of milliseconds."""

DEFAULT_LIMITS: Final = Limits()

FIGURES: Final[dict[str, Callable[[Part], object]]] = {
    "path": lambda part: part.path,
    "role": lambda part: part.role,
    "kind": lambda part: part.kind,
    "encoding": lambda part: part.encoding,
    "dtype": lambda part: part.dtype,
    "count": lambda part: part.count,
    "bytes": lambda part: part.nbytes,
    "bytes_per_item": lambda part: part.per_item,
    "share": lambda part: part.share,
    "raw": lambda part: part.raw,
    "ratio": lambda part: part.ratio,
    "shape_bytes": lambda part: part.shape_bytes,
    "distinct": lambda part: part.distinct,
    "hit_rate": lambda part: part.hit_rate,
    "note": lambda part: plain(part.note),
}
"""The figures of a part, as `to_rows` and `to_dict` name them."""


def inspect(data: Any, *, limits: Limits = DEFAULT_LIMITS) -> Report:
    """Where the bytes of a payload go, without building its value.

    Parameters
    ----------
    data : buffer
        A payload, in any envelopes: sealed ones are looked into without a key, and nothing of them is verified.
    limits : Limits
        What the payload may ask for, as in `loads`.

    Returns
    -------
    Report
        Of damaged bytes, what could be read; its `error` says what was wrong, and where.

    Raises
    ------
    DecodeError
        If `data` is no buffer at all.

    >>> import npser
    >>> report = npser.inspect(npser.dumps({"ids": list(range(1000)), "name": "köln"}))
    >>> report.size, report.raw, report.error
    (36, 8013, None)
    >>> report.top(1)
    [<(shape): , 4 items in 14 bytes>]
    """
    return Report(open_buffer(data), limits)


class Report:
    """Every byte of a payload, by what it is for.

    Attributes
    ----------
    nbytes : int
        Of what was inspected.
    size : int
        Of the payload itself, when all envelopes are open: shares are of this.
    raw : int
        What its values would take plain: 8 bytes an integer or double, 1 a bool, UTF-8 for text.
    shape_bytes : int
        Of `size`, those that say which containers, keys and classes there are.
    wire : str
        ``"npser"``, ``"phpser"``, or ``""`` if nobody knows.
    layers : tuple of Layer
        The envelopes, from the outside in.
    root : Part
        The payload as a tree; its children add up to it, and so do theirs.
    error : NpserError | None
        Where reading ended, or the first thing that was wrong.
    note : str
        What is to be said of the whole.
    """

    def __init__(self, data: memoryview, limits: Limits = DEFAULT_LIMITS) -> None:
        opened = open_envelopes(data, limits)
        payload = opened.payload
        self.nbytes = len(data)
        self.layers: tuple[Layer, ...] = opened.layers
        self._payload = payload if payload is not None else memoryview(b"")
        self.wire, self.note, self._walked, self.root = _walk(self._payload, limits)
        found = self._walked.error if payload is not None else None
        self.error: NpserError | None = opened.error or found
        self.size = len(self._payload)
        self.raw = self.root.raw
        self.shape_bytes = sum(part.nbytes for part in self.root.children if part.path == "(shape)")

    def spans(self) -> Iterator[Span]:
        """The spans of the payload, in order and end to end."""
        return tile(self._walked.root)

    def parts(self) -> Iterator[Part]:
        """All parts, parents before children."""
        return (part for _, part in self.root.walk())

    def leaves(self) -> Iterator[Part]:
        """The parts that have bytes of their own; together they are the payload."""
        return self.root.leaves()

    def find(self, path: str) -> list[Part]:
        """The parts at a path, as ``$['orders'][*]['price']``; more than one where a place needs more than one."""
        return [part for part in self.leaves() if part.path == path]

    def top(self, n: int = 10) -> list[Part]:
        """The n parts with the most bytes of their own, the largest first."""
        return sorted(self.leaves(), key=lambda part: -part.nbytes)[: max(0, n)]

    def why(self, part: Part) -> Why | None:
        """Why the main block of a part has its encoding, and what others would have cost; None for what has no block.

        Raises
        ------
        DecodeError
            The block is damaged.

        >>> import npser
        >>> report = inspect(npser.dumps([i * i % 1000 for i in range(1000)]))
        >>> report.why(report.find("$[*]")[0]).encoding
        'FRAME'
        """
        return None if part.block is None else explain(self._payload, part.block)

    def reasons(self, n: int = 8) -> Iterator[tuple[Part, Why]]:
        """For the n largest parts, why they are stored so, as far as that is quickly weighed.

        Blocks of very many items, and damaged ones, are left out: `why` takes the time that it takes.
        """
        items, raw = MAX_WEIGHED_ITEMS, MAX_WEIGHED_RAW
        for part in self.top(n):
            if part.block is None or part.count > items or part.raw > raw:
                continue
            items, raw = items - part.count, raw - part.raw
            try:
                why = self.why(part)
            except NpserError:
                continue
            if why is not None:
                yield part, why

    def to_rows(self) -> list[dict[str, object]]:
        """A flat table: a dict of figures for each part, in the order of the tree, with its depth."""
        return [{"depth": depth} | _figures(part) for depth, part in self.root.walk()]

    def to_dict(self) -> dict[str, object]:
        """All of it, for JSON; what nests deeper than 100 levels is left out, and counted."""
        return {
            "wire": self.wire,
            "nbytes": self.nbytes,
            "size": self.size,
            "raw": self.raw,
            "shape_bytes": self.shape_bytes,
            "envelopes": [{"name": one.name, "nbytes": one.nbytes, "note": plain(one.note)} for one in self.layers],
            "note": self.note,
            "error": None if self.error is None else plain(str(self.error)),
            "parts": _nested(self.root),
        }

    def plot(self, *, top: int = 20) -> Figure:
        """A picture: an icicle of the payload, and a bar for each of its `top` largest columns. Needs matplotlib."""
        from npser.inspection.plots import plot_report

        return plot_report(self, top=top)

    def __repr__(self) -> str:
        return draw_report(self)

    def _repr_html_(self) -> str:
        return draw_html(self)


def _figures(part: Part) -> dict[str, object]:
    return {name: figure(part) for name, figure in FIGURES.items()}


def _nested(root: Part) -> dict[str, object]:
    top = _figures(root)
    waiting = [(0, root, top)]
    while waiting:
        depth, part, figures = waiting.pop()
        if depth == DEEPEST:
            figures["left_out"] = len(part.children)
            continue
        children = [_figures(child) for child in part.children]
        figures["children"] = children
        waiting += [(depth + 1, child, found) for child, found in zip(part.children, children, strict=True)]
    return top


def _walk(payload: memoryview, limits: Limits) -> tuple[str, str, Walked, Part]:
    """The wire, what is to be said, what the walk found, and the parts."""
    first = payload[0] if len(payload) else None
    if first in VERSIONS:
        walked, root, note = walk_phpser(payload, limits)
        return "phpser", note, walked, root
    walked = walk_payload(payload, limits)
    return "npser" if first == MAGIC else "", "", walked, build_parts(walked)
