"""Rows out of columns, however many columns there are.

Strategy: zipping all columns at once takes an iterator for each. Where a column is a cell or two, that is more than all
that it was read from, so many columns are zipped in parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["MAX_ZIPPED", "extend_rows", "zip_columns"]

MAX_ZIPPED = 1 << 12
"""Columns that are zipped at a time; an iterator takes about 64 bytes, and no row of a real table is as wide."""


def zip_columns(columns: list[Any], n: int) -> Iterable[tuple[Any, ...]]:
    """The n rows of columns of n cells.

    >>> list(zip_columns([[1, 2], "ab"], 2))
    [(1, 'a'), (2, 'b')]
    """
    if len(columns) <= MAX_ZIPPED:
        return zip(*columns, strict=True)
    rows: list[list[Any]] = [[] for _ in range(n)]
    extend_rows(rows, columns)
    return map(tuple, rows)


def extend_rows(rows: list[list[Any]], columns: list[Any]) -> None:
    """Add to each row its cells of more columns."""
    for start in range(0, len(columns), MAX_ZIPPED):
        parts = zip(*columns[start : start + MAX_ZIPPED], strict=True)
        for row, part in zip(rows, parts, strict=True):
            row += part
