"""What a column of CSV cells becomes: integers, floats, numbers or text.

Strategy: a cell may only become a number if printing that number gives the cell back, character for character. Then
`unpack` restores what `pack` read, and "007", "1e5", "+1" and "1.50" stay the text that they are. A column has one
rule for all its cells: all canonical ints, or all canonical floats, or both mixed ("numbers": each cell as it is
written), else text. An empty cell is None in a column of numbers and '' in a column of text; both are printed as an
empty cell again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from math import isfinite
from typing import Final

__all__ = ["COLUMN_RULES", "Cell", "Types", "as_numbers", "cell_kind", "cell_text", "infer", "text"]

Cell = int | float | str | None
"""What one cell becomes."""


class Types(StrEnum):
    """How the cells of a CSV file are typed."""

    INFER = "infer"
    TEXT = "text"


def text(cells: list[str]) -> list[Cell]:
    """(n,) str -> the same: every cell stays the text that it is."""
    return list(cells)


def infer(cells: list[str]) -> list[Cell]:
    """(n,) str -> the column's cells as int, float or str, by the rule above.

    >>> infer(["1", "", "-20"]), infer(["1.5", "1e+16"]), infer(["77", "75.92"])
    ([1, None, -20], [1.5, 1e+16], [77, 75.92])
    >>> infer(["007", "1"]), infer(["1.50"]), infer(["nan"]), infer(["", "x"]), infer([""])
    (['007', '1'], ['1.50'], ['nan'], ['', 'x'], [''])
    """
    numbers = as_numbers(cells) if any(cells) else None
    return text(cells) if numbers is None else numbers


def as_numbers(cells: list[str]) -> list[Cell] | None:
    """(n,) str -> numbers, and None for empty cells; None where any cell is text.

    So parts of a column can be looked at one by one: it is one of numbers if all its parts are, and any has a number.

    >>> as_numbers(["1", "", "2.5"]), as_numbers(["", ""]), as_numbers(["1", "x"]) is None
    ([1, None, 2.5], [None, None], True)
    """
    numbers = _numbers([cell for cell in cells if cell])
    if numbers is None:
        return None
    following = iter(numbers)
    return [next(following) if cell else None for cell in cells]


def _numbers(present: list[str]) -> list[int] | list[float] | list[int | float] | None:
    for convert in (_all_ints, _all_floats, _mixed):
        numbers = convert(present)
        if numbers is not None:
            return numbers
    return None


def _all_ints(present: list[str]) -> list[int] | None:
    try:
        values = list(map(int, present))
        return values if list(map(str, values)) == present else None
    except ValueError:  # no number, or more digits than Python converts
        return None


def _all_floats(present: list[str]) -> list[float] | None:
    try:
        values = list(map(float, present))
    except ValueError:
        return None
    return values if list(map(repr, values)) == present and all(map(isfinite, values)) else None


def _mixed(present: list[str]) -> list[int | float] | None:
    values: list[int | float] = []
    for cell in present:
        number = _all_ints([cell]) or _all_floats([cell])
        if number is None:
            return None
        values += number
    return values


COLUMN_RULES: Final[dict[Types, Callable[[list[str]], list[Cell]]]] = {Types.INFER: infer, Types.TEXT: text}
"""The rule that each name on the command line stands for."""


def _int_text(value: object) -> str | None:
    try:
        return str(value)
    except ValueError:  # more digits than Python prints, and than it would read again
        return None


CELL_TEXTS: Final[dict[type, Callable[[object], str | None]]] = {
    type(None): lambda _: "",
    str: str,
    int: _int_text,
    float: repr,
    bool: lambda value: "true" if value else "false",
}


def cell_text(value: object) -> str | None:
    """The text of one cell, or None for a value that a cell cannot hold.

    >>> cell_text(None), cell_text(75.92), cell_text(True), cell_text([1])
    ('', '75.92', 'true', None)
    """
    to_text = CELL_TEXTS.get(type(value))
    return None if to_text is None else to_text(value)


def cell_kind(value: object) -> str:
    """What a value is that no cell can hold.

    >>> cell_kind([1]), cell_kind(10**5000)
    ('list', 'int of more digits than Python prints')
    """
    return f"{type(value).__name__}{' of more digits than Python prints' if type(value) is int else ''}"
