"""Lists of strings that come again and again, as tags do: which ones are stored.

Strategy: looking whether all are one costs next to nothing, and whether they are few is asked of a sample first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from marshal import dumps
from operator import countOf, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from npser.columns.texts import HEADER, VERSION, are_all
from npser.tags import Node as Tag
from npser.weights import NODES

if TYPE_CHECKING:
    from npser.shapes.writer import ShapeWriter

__all__ = ["MIN_COPIED", "Distinct", "find_alike", "find_copies"]

MIN_COPIED = 8
"""From this many lists of strings on, equal ones may be stored once."""

MAX_COPIED = 255
"""Distinct ones, and their length: both are bytes in the pool."""


class Distinct(NamedTuple):
    """The distinct ones of many lists.

    Parameters
    ----------
    codes : bytes
        For each list which one it is; nothing if all are one.
    lengths : bytes
    items : list
        Those of the distinct ones, end to end.
    """

    codes: bytes
    lengths: bytes
    items: list[Any]


def find_alike(w: ShapeWriter, values: Sequence[list[Any]]) -> Distinct | None:
    """What `find_copies` gives for many lists, if it is quick to see that all of them hold the same strings.

    `columns.texts` and `tables.are_named` have more about what marshal proves.
    """
    n = len(values)
    first = values[0]
    m = len(first)
    if w.preserve or not (0 < m <= MAX_COPIED and are_all(first, str)):
        return None
    middle = values[n >> 1]
    if len(middle) != m or not are_all(middle, str) or middle != first:
        return None
    some, every = [first, middle, values[-1]], [*values]  # both have a name, and so a number in what is written
    try:
        start, three = len(dumps(some[:1], VERSION)), dumps(some, VERSION)
        again = three[(start + len(three)) >> 1 :]
        if three[start:] != 2 * again or dumps(every, VERSION)[HEADER:] != three[HEADER:start] + again * (n - 1):
            return None
    except ValueError:  # something that marshal cannot write
        return None
    w.sink.expand(n * (NODES[Tag.LIST] + m + 1))
    return Distinct(b"", bytes((m,)), first[:])


def find_copies(w: ShapeWriter, values: Sequence[list[Any]], items: list[Any]) -> Distinct | None:
    """What is stored of many lists with these items, if they are few lists of strings."""
    n = len(values)
    if w.preserve or not are_all(items, str):
        return None
    first = values[0]
    alike = values[-1] == first and countOf(values, first) == n
    distinct = {tuple(first): 0} if alike else _distinct(values)
    if distinct is None or max(map(len, distinct)) > MAX_COPIED:
        return None
    codes = b"" if alike else bytes(itemgetter(*map(tuple, values))(distinct))
    w.sink.expand(n * (NODES[Tag.LIST] + 1) + len(items))
    return Distinct(codes, bytes(map(len, distinct)), list(chain.from_iterable(distinct)))


def _distinct(values: Sequence[list[Any]]) -> dict[tuple[Any, ...], int] | None:
    """The distinct ones of many lists with their numbers, or None if they are not few, or too long."""
    n = len(values)
    sample = set(map(tuple, values[:: max(1, n // MIN_COPIED)]))
    if len(sample) > MIN_COPIED // 2:
        return None
    distinct = {row: code for code, row in enumerate(dict.fromkeys(map(tuple, values)))}
    return None if len(distinct) * 2 > n or len(distinct) > MAX_COPIED else distinct
