"""Some instances of a node out of parts of its children's columns.

Strategy: what runs over its own instances (rows, tables, objects) takes the same range of every child; sequences and
mappings take what lies between two of their bounds; a union takes of each child as many as its codes say. The nodes
themselves then make the values out of these, as always. Every other node is built whole and then cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from npser.shapes.built import Built
from npser.shapes.leaves import Union
from npser.shapes.maps import Maps
from npser.shapes.records import NamedTuples, Records
from npser.shapes.sequences import Rows, Sequences
from npser.shapes.states import States
from npser.shapes.tables import Tables

if TYPE_CHECKING:
    from npser.partial.parts import Parts
    from npser.shapes.node import Builder

__all__ = ["RANGES"]


def _passes(parts: Parts, b: Builder, node: int, start: int, stop: int, level: int) -> list[Any] | None:
    parent, n = parts.nodes[node], stop - start
    parent.charge(b.cursor, n)
    frame = parent.open(b, n)
    b.counts.clear()
    columns = [parts.part(b, child, item, start, stop, level) for child, item in parts.children(node)]
    made: list[Any] = parent.close(b, n, frame, columns)
    return made


def _lengths(parts: Parts, b: Builder, node: int, start: int, stop: int, level: int) -> list[Any] | None:
    bounds = parts.bounds(node)
    if bounds is None:
        return None
    parent = parts.nodes[node]
    lengths = [bounds[at + 1] - bounds[at] for at in range(start, stop)]
    first, last = bounds[start], bounds[stop]
    columns = [parts.part(b, child, item, first, last, level) for child, item in parts.children(node)]
    made: list[Any] = parent.close(b, stop - start, (lengths, None), columns)
    return made


def _union(parts: Parts, b: Builder, node: int, start: int, stop: int, level: int) -> list[Any] | None:
    codes = parts.codes(node)
    chosen = codes[start:stop]
    before, own = Counter(codes[:start]), Counter(chosen)
    columns = []
    for code, (child, item) in enumerate(parts.children(node)):
        first = before[code]
        columns.append(parts.part(b, child, item, first, first + own[code], level))
    made: list[Any] = parts.nodes[node].close(b, stop - start, chosen, columns)
    return made


Range = Callable[["Parts", "Builder", int, int, int, int], "list[Any] | None"]

RANGES: Final[dict[type[Any], Range]] = {
    Rows: _passes,
    Tables: _passes,
    Records: _passes,
    NamedTuples: _passes,
    States: _passes,
    Built: _passes,
    Sequences: _lengths,
    Maps: _lengths,
    Union: _union,
}
"""Class of node -> the function of (parts, builder, node, start, stop, level) that makes some of its instances, or None
where it cannot; the others are built whole."""
