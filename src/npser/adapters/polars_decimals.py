"""Decimals of a payload, before polars sees them.

Strategy: polars ends in a panic at what does not fit (a NaN, too many digits behind the point), and that is no
Exception. So each is brought to the scale of the dtype by Python's own decimals, which raise where anything
would be lost.
"""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any

__all__ = ["decimals_of"]

MOST = 38
"""Digits of a dtype that does not say how many."""


def decimals_of(items: Any, precision: int | None, scale: int) -> list[Decimal | None]:
    """Decimals and None, all of a scale; an error where they are others, or do not fit.

    >>> decimals_of([Decimal("1.5"), None], 10, 2)
    [Decimal('1.50'), None]
    """
    if type(items) is not list or not {Decimal, type(None)}.issuperset(map(type, items)):
        raise TypeError("decimals are a list of Decimal and None")
    if not all(item is None or item.is_finite() for item in items):
        raise ValueError("a decimal that is no number")
    exact = Context(precision or MOST, traps=[Inexact, InvalidOperation])  # more digits than the precision are invalid
    unit = Decimal((0, (1,), -scale))
    return [None if item is None else exact.quantize(item, unit) for item in items]
