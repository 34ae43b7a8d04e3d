"""Rows that differ in their keys: which keys each has, in which order.

Strategy: rows of one pattern are alike, so cells stand pattern by pattern: all rows of the first pattern, then all
of the second. Each pattern is then a table like any other, out of slices of the columns, and the rows take turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from npser.shapes.node import Builder, Node

__all__ = [
    "MISSING",
    "Pattern",
    "VariedRows",
    "count_patterns",
    "cut_patterns",
    "group_patterns",
    "open_patterns",
    "split_columns",
    "spread",
]

Pattern = tuple[int, ...]
"""The numbers of the keys that a row has, in its order."""


class Missing:
    """The one `MISSING`: a cell of a row that does not have the key, where a table is read as columns."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "npser.MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


class VariedRows(NamedTuple):
    """How rows differ.

    Parameters
    ----------
    codes : sequence of int
        The pattern of each row.
    counts : list of int
        How many rows each pattern has.
    """

    codes: Sequence[int]
    counts: list[int]


def open_patterns(node: Node, b: Builder, n: int, patterns: Sequence[Pattern]) -> VariedRows:
    """Read a node's slot of n pattern codes and push how many instances have each key."""
    codes = node.stream(b).ints(n)
    try:
        rows, counts = count_patterns(codes, patterns, node.children)
    except ValueError as error:
        raise b.cursor.fail(str(error)) from None
    b.counts += reversed(counts)
    return rows


def count_patterns(codes: Sequence[int], patterns: Sequence[Pattern], keys: int) -> tuple[VariedRows, list[int]]:
    """How the rows with these pattern codes differ, and how many have each of the keys.

    Raises
    ------
    ValueError
        For a code of no pattern.

    >>> count_patterns([0, 1, 0], [(0,), (1, 0)], 2)
    (VariedRows(codes=[0, 1, 0], counts=[2, 1]), [3, 1])
    """
    if codes and (min(codes) < 0 or max(codes) >= len(patterns)):
        raise ValueError(f"code of a pattern out of range 0..{len(patterns) - 1}")
    met = Counter(codes)
    counts = [0] * keys
    for code, rows in met.items():
        for key in patterns[code]:
            counts[key] += rows
    return VariedRows(codes, [met[code] for code in range(len(patterns))]), counts


def cut_patterns(
    columns: Sequence[list[Any]], rows: VariedRows, patterns: Sequence[Pattern]
) -> Iterator[list[list[Any]]]:
    """For each pattern its cells, one column a key: the next ones of each column.

    >>> list(cut_patterns([[1, 3, 4], [2]], VariedRows([0, 1, 0], [2, 1]), [(0,), (1, 0)]))
    [[[1, 3]], [[2], [4]]]
    """
    at = [0] * len(columns)
    for pattern, count in zip(patterns, rows.counts, strict=True):
        cells = []
        for key in pattern:
            start = at[key]
            at[key] = stop = start + count
            cells.append(columns[key][start:stop])
        yield cells


def spread(
    b: Builder, columns: Sequence[Any], rows: VariedRows, patterns: Sequence[Pattern], weight: int
) -> list[Any]:
    """Columns pattern by pattern -> columns with a cell a row, MISSING where the row does not have the key.

    What is missing was not stored, so it is drawn from the budget, but for what rows of this weight have drawn already.
    """
    codes = np.array(rows.codes, "<i8")
    b.cursor.expand(max(0, sum([len(codes) - len(column) for column in columns]) - len(codes) * weight))
    order = np.argsort(codes, kind="stable")  # the rows pattern by pattern
    codes_in_order = codes[order]
    those_with: list[list[int]] = [[] for _ in columns]
    for code, pattern in enumerate(patterns):
        for key in pattern:
            those_with[key].append(code)
    has = np.zeros(len(patterns), np.bool_)
    out: list[Any] = []
    for those, column in zip(those_with, columns, strict=True):
        has[those] = True
        places = order[has[codes_in_order]]
        has[those] = False
        missing = len(codes) - len(column)
        if missing or type(column) is list:
            cells = np.full(len(codes), MISSING, object)
            items = column if type(column) is list else column.tolist()
            cells[places] = np.fromiter(items, object, len(items))
            out.append(cells.tolist())
        else:
            array = np.empty_like(column)
            array[places] = column
            out.append(array)
    return out


def group_patterns(rows: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], list[int], list[Pattern]]:
    """All keys in the order they are met, each row's pattern, and each pattern's key numbers.

    >>> group_patterns([{"a": 1}, {"b": 2, "a": 3}, {"a": 4}])
    (('a', 'b'), [0, 1, 0], [(0,), (1, 0)])
    """
    known: dict[tuple[str, ...], int] = {}
    codes = [known.setdefault(tuple(row), len(known)) for row in rows]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(chain.from_iterable(known)))}
    return tuple(numbers), codes, [tuple([numbers[key] for key in pattern]) for pattern in known]


def split_columns(
    count: int, rows: Sequence[dict[str, Any]], codes: Sequence[int], patterns: Sequence[Pattern]
) -> tuple[list[list[Any]], list[int]]:
    """For each of `count` keys its values pattern by pattern, and the rows in that order.

    >>> split_columns(2, [{"a": 1}, {"b": 2, "a": 4}, {"a": 3}], [0, 1, 0], [(0,), (1, 0)])
    ([[1, 3, 4], [2]], [0, 2, 1])
    """
    order = sorted(range(len(rows)), key=codes.__getitem__)
    split: list[list[Any]] = [[] for _ in range(count)]
    met = Counter(codes)
    start = 0
    for code, pattern in enumerate(patterns):
        stop = start + met[code]
        columns = zip(*[rows[index].values() for index in order[start:stop]], strict=True)
        for key, values in zip(pattern, columns, strict=True):
            split[key] += values
        start = stop
    return split, order
