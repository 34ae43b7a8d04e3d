"""complex, Decimal, Fraction and range. Layouts: `Kind.COMPLEX`, `DECIMAL`, `FRACTION`, `RANGE`.

Strategy: each is taken apart into the exact integers or doubles that it is made of. Decimals go through a context of
our own, wide enough that nothing ever rounds and with every trap set that would tell: the caller's context is
neither asked nor touched. Work that grows faster than the bytes (a large gcd, a large integer in base ten) is
bounded or drawn from the budget, because bytes are hostile.
"""

from __future__ import annotations

import decimal
from fractions import Fraction
from itertools import repeat
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from npser.blocks.choose import write_floats, write_ints
from npser.blocks.floats import read_floats
from npser.blocks.ints import read_int_list
from npser.columns.anyints import read_any_ints, write_any_ints
from npser.columns.copies import read_copied_text, write_copied_text
from npser.errors import EncodeError
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = [
    "INTEGER_FORM",
    "exact_context",
    "integers_of",
    "read_complexes",
    "read_decimals",
    "read_fractions",
    "read_ranges",
    "write_complexes",
    "write_decimals",
    "write_fractions",
    "write_ranges",
]

TEXT_FORM, INTEGER_FORM = 0, 1

MAX_DIGITS = 308
"""Decimals with more digits are stored as text: an integer takes quadratic time to change base."""

SAMPLED = 1024
REPEATED = 2
"""Decimals of one exponent are made once each where at most one in so many of the first ones is new;
benchmarks/thresholds.py::sweep_repeated."""

MAX_COEFFICIENT_BITS = 1024  # 10**308 has 1024

FREE_GCD_BITS = 1 << 14
"""Below this the gcd of two integers costs less than reading the rest of the payload."""

GCD_STEPS_A_CELL = 32
"""Above it every so many steps of 64 by 64 bits (6 ns each) draw one cell from the budget."""

TOO_LARGE = 1 << 21
"""Cells that no Fraction may draw: half a second."""


def write_complexes(sink: Sink, values: Sequence[complex]) -> None:
    """Write n exact complex numbers, every bit kept.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_complexes(sink := Sink(), [complex(-0.0, 1.5)])
    >>> read_complexes(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [(-0+1.5j)]
    """
    array = np.fromiter(values, "<c16", len(values))
    sink.u8(Kind.COMPLEX)
    write_floats(sink, np.ascontiguousarray(array.real))
    write_floats(sink, np.ascontiguousarray(array.imag))


def read_complexes(cursor: Cursor, n: int) -> list[complex]:
    """Read n complex numbers."""
    real = read_floats(cursor, n)
    imag = read_floats(cursor, n)
    # joined as pairs of doubles: arithmetic would lose the sign of a zero
    pairs: list[complex] = np.stack((real, imag), axis=1).view("<c16").ravel().tolist()
    return pairs


def exact_context() -> decimal.Context:
    """A context in which every Decimal that exists is exact; a new one each time, for it collects flags."""
    return decimal.Context(
        prec=decimal.MAX_PREC,
        Emin=decimal.MIN_EMIN,
        Emax=decimal.MAX_EMAX,
        capitals=1,
        clamp=0,
        traps=[decimal.InvalidOperation, decimal.Overflow, decimal.Inexact, decimal.Rounded, decimal.Clamped],
    )


def write_decimals(sink: Sink, values: Sequence[decimal.Decimal]) -> None:
    """Write n exact Decimals: coefficients and exponents, or as text if one is not finite, a negative zero or long.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_decimals(sink := Sink(), [decimal.Decimal("1.10"), decimal.Decimal("1E+5")])
    >>> read_decimals(Cursor(memoryview(bytes(sink.out)), 1), 2)
    [Decimal('1.10'), Decimal('1E+5')]
    """
    sink.u8(Kind.DECIMAL)
    texts = list(map(exact_context().to_sci_string, values))  # str() would ask the caller's context for capitals
    parts = integers_of(texts)
    if parts is None:
        sink.u8(TEXT_FORM)
        write_copied_text(sink, texts)
        return
    coefficients, exponents = parts
    sink.u8(INTEGER_FORM)
    write_ints(sink, np.array(exponents, "<i8"))
    write_any_ints(sink, coefficients)


def integers_of(texts: Iterable[str]) -> tuple[list[int], list[int]] | None:
    """Coefficients and exponents of n decimals as text, or None if they need the text."""
    coefficients, exponents = [], []
    for text in texts:
        mantissa, _, power = text.partition("E")
        whole, _, fraction = mantissa.partition(".")
        digits = whole + fraction
        if len(digits) > MAX_DIGITS or digits[-1] > "9":  # long, or the last letter of NaN and Infinity
            return None
        try:
            coefficient = int(digits)
        except ValueError:  # a NaN with a payload ends in a digit
            return None
        if not coefficient and digits[0] == "-":
            return None
        coefficients.append(coefficient)
        exponents.append(int(power or 0) - len(fraction))
    return coefficients, exponents


def read_decimals(cursor: Cursor, n: int) -> list[decimal.Decimal]:
    """Read n Decimals; text that str(Decimal) would not write is a `DecodeError`."""
    form = cursor.u8()
    if form == TEXT_FORM:
        return _read_decimal_texts(cursor, n)
    if form == INTEGER_FORM:
        return _read_decimal_integers(cursor, n)
    raise cursor.fail(f"no such form of a column of Decimals: {form}")


def _read_decimal_texts(cursor: Cursor, n: int) -> list[decimal.Decimal]:
    texts = read_copied_text(cursor, n)
    context = exact_context()
    try:
        values = list(map(context.create_decimal, texts))
    except decimal.DecimalException:
        raise cursor.fail("text that is no Decimal") from None
    if list(map(context.to_sci_string, values)) != texts:  # it also accepts blanks, underscores, other digits
        raise cursor.fail("text of a Decimal that is not as str() writes it")
    return values


def _read_decimal_integers(cursor: Cursor, n: int) -> list[decimal.Decimal]:
    exponents = read_int_list(cursor, n)
    coefficients = read_any_ints(cursor, n)
    sample = coefficients[:SAMPLED]
    if not sample or len(set(sample)) * REPEATED > len(sample) or exponents.count(exponents[0]) < n:
        return _make_decimals(cursor, coefficients, exponents)
    distinct = set(coefficients)
    made = dict(zip(distinct, _make_decimals(cursor, distinct, repeat(exponents[0])), strict=True))
    return list(map(made.__getitem__, coefficients))


def _make_decimals(
    cursor: Cursor, coefficients: Collection[int], exponents: Iterable[int]
) -> list[decimal.Decimal]:
    if max(map(int.bit_length, coefficients), default=0) > MAX_COEFFICIENT_BITS:
        raise cursor.fail(f"a coefficient of more than {MAX_COEFFICIENT_BITS} bits is stored as text")
    context = exact_context()
    try:
        return list(map(context.scaleb, map(context.create_decimal, coefficients), exponents))
    except decimal.DecimalException:
        raise cursor.fail("exponent of a Decimal out of range") from None


def write_fractions(sink: Sink, values: Sequence[Fraction]) -> None:
    """Write n exact Fractions. One that is not in lowest terms is an `EncodeError` with its place.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_fractions(sink := Sink(), [Fraction(-1, 3)])
    >>> read_fractions(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [Fraction(-1, 3)]
    """
    sink.u8(Kind.FRACTION)
    numerators = [value.numerator for value in values]
    denominators = [value.denominator for value in values]
    for i, cost in _gcd_costs(numerators, denominators):
        if cost > TOO_LARGE:
            raise EncodeError("a Fraction this large would take its reader too long", item=i)
        sink.expand(cost)
    for i, divisor in enumerate(map(gcd, numerators, denominators)):
        if divisor != 1 or denominators[i] < 1:
            raise EncodeError("a Fraction is not in lowest terms, so reading could not tell it from damage", item=i)
    write_any_ints(sink, numerators)
    write_any_ints(sink, denominators)


def read_fractions(cursor: Cursor, n: int) -> list[Fraction]:
    """Read n Fractions; one that is not in lowest terms is a `DecodeError`."""
    numerators = read_any_ints(cursor, n)
    denominators = read_any_ints(cursor, n)
    if n and min(denominators) < 1:
        raise cursor.fail("the denominator of a Fraction is not positive")
    for _, cost in _gcd_costs(numerators, denominators):
        cursor.expand(cost)
    values = list(map(Fraction, numerators, denominators))
    if [value.denominator for value in values] != denominators:
        raise cursor.fail("a Fraction is not in lowest terms")
    return values


def _gcd_costs(numerators: list[int], denominators: list[int]) -> list[tuple[int, int]]:
    """(item, items of the budget) for each pair whose gcd is a lot of work: it is quadratic."""
    bits = np.fromiter(map(int.bit_length, numerators), "<i8", len(numerators))
    other = np.fromiter(map(int.bit_length, denominators), "<i8", len(denominators))
    large = np.flatnonzero(np.minimum(bits, other) > FREE_GCD_BITS).tolist()
    return [(i, (int(bits[i]) >> 6) * (int(other[i]) >> 6) // GCD_STEPS_A_CELL) for i in large]


def write_ranges(sink: Sink, values: Sequence[range]) -> None:
    """Write n exact ranges, as the three numbers that they were made of.

    >>> from npser.blocks.cursor import Cursor
    >>> from npser.blocks.sink import Sink
    >>> write_ranges(sink := Sink(), [range(0, 10**20, 7)])
    >>> read_ranges(Cursor(memoryview(bytes(sink.out)), 1), 1)
    [range(0, 100000000000000000000, 7)]
    """
    sink.u8(Kind.RANGE)
    write_any_ints(sink, [value.start for value in values])
    write_any_ints(sink, [value.stop for value in values])
    write_any_ints(sink, [value.step for value in values])


def read_ranges(cursor: Cursor, n: int) -> list[range]:
    """Read n ranges; a step of 0 is a `DecodeError`."""
    starts = read_any_ints(cursor, n)
    stops = read_any_ints(cursor, n)
    steps = read_any_ints(cursor, n)
    if 0 in steps:
        raise cursor.fail("the step of a range is 0")
    return list(map(range, starts, stops, steps))
