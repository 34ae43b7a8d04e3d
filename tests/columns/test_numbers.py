"""complex, Decimal, Fraction and range come back exactly, whatever the caller's decimal context is."""

from __future__ import annotations

import decimal
import math
import struct
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.exact import check, check_garbage, encode, refused
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns import numbers
from npser.columns.anyints import write_any_ints
from npser.errors import EncodeError, LimitError
from npser.tags import Kind

READERS: dict[int, Any] = {
    Kind.COMPLEX: numbers.read_complexes,
    Kind.DECIMAL: numbers.read_decimals,
    Kind.FRACTION: numbers.read_fractions,
    Kind.RANGE: numbers.read_ranges,
}
SIZES = (0, 1, 2, 7, 8, 9, 127, 128, 129, 1000)


def bits(value: complex) -> bytes:
    return struct.pack("<2d", value.real, value.imag)


@pytest.mark.parametrize("n", SIZES)
def test_complexes(n: int) -> None:
    check(numbers.write_complexes, READERS, [complex(i / 7, -i) for i in range(n)], bits)


def test_every_bit_of_a_complex() -> None:
    parts = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324]
    parts += [struct.unpack("<d", struct.pack("<Q", raw))[0] for raw in (0x7FF0000000000001, 0xFFF8000000000123)]
    check(numbers.write_complexes, READERS, [complex(re, im) for re in parts for im in parts], bits)


def parts(value: Decimal) -> object:
    return value.as_tuple(), numbers.exact_context().to_sci_string(value)


@pytest.mark.parametrize("n", SIZES)
def test_prices(n: int) -> None:
    data = check(numbers.write_decimals, READERS, [Decimal(i * 7 - 500).scaleb(-2) for i in range(n)], parts)
    assert data[:2] == bytes([Kind.DECIMAL, 1])


@pytest.mark.parametrize("exponent", [-2, 0, 3, -400])
@pytest.mark.parametrize("different", [1, 2, 300, 2000])
def test_decimals_that_come_back_are_one_object_each(exponent: int, different: int) -> None:
    values = [Decimal(i * 7919 % different - different // 2).scaleb(exponent) for i in range(3000)]
    values = [value if value else abs(value) for value in values]
    data = check(numbers.write_decimals, READERS, values, parts)
    made = numbers.read_decimals(Cursor(memoryview(data), 1), 3000)
    assert len(set(map(id, made))) == (len(set(values)) if different <= 300 else 3000)


def test_equal_decimals_with_other_exponents_stay_apart() -> None:
    values = [Decimal("1.0"), Decimal("1.00"), Decimal(1), Decimal("0.10"), Decimal("1E-1")] * 500
    check(numbers.write_decimals, READERS, values, parts)


def test_a_long_coefficient_among_many_is_refused() -> None:
    sink = Sink()
    sink.u8(1)
    numbers.write_ints(sink, numbers.np.zeros(2000, "<i8"))
    write_any_ints(sink, [1, 1 << 1025] * 1000)
    refused(numbers.read_decimals, bytes(sink.out), 2000, "bits")


@pytest.mark.parametrize(
    "texts",
    [
        (
            "1.10",
            "1.1",
            "1",
            "1.00",
            "0",
            "0.00",
            "0E+5",
            "1E+5",
            "-1E-7",
            "1.5E+3",
            "123456789012345678901234567890.5",
        ),
        ("1E-1999999999999999997", "1E+999999999999999999", "9.99E+999999999999999999", "0E-1999999999999999997"),
        ("0E+999999999999999999",),
        ("9" * 308, "-" + "9" * 307, "0." + "1" * 300),
    ],
)
def test_finite_decimals_are_integers(texts: tuple[str, ...]) -> None:
    data = check(numbers.write_decimals, READERS, list(map(Decimal, texts)), parts)
    assert data[1] == 1


@pytest.mark.parametrize(
    "text",
    [
        "-0",
        "-0.00",
        "-0E+5",
        "NaN",
        "-NaN",
        "sNaN",
        "-sNaN123",
        "NaN7",
        "Infinity",
        "-Infinity",
        "9" * 309,
        "1." + "1" * 5000,
    ],
)
def test_other_decimals_are_text(text: str) -> None:
    data = check(numbers.write_decimals, READERS, [Decimal("1.10"), Decimal(text), Decimal("1E+5")], parts)
    assert data[1] == 0


def test_a_long_decimal_is_no_matter_of_squares() -> None:
    value = Decimal("7" * 1_000_000)
    data = encode(numbers.write_decimals, [value])
    assert numbers.read_decimals(Cursor(memoryview(data), 1), 1)[0].as_tuple() == value.as_tuple()


def hostile_contexts() -> list[decimal.Context]:
    traps = [decimal.Inexact, decimal.Rounded, decimal.Subnormal, decimal.FloatOperation, decimal.Clamped]
    return [
        decimal.Context(prec=1, Emin=0, Emax=0, capitals=0, clamp=1, traps=[]),
        decimal.Context(prec=2, Emin=-1, Emax=1, capitals=0, traps=traps),
    ]


@pytest.mark.parametrize("i", [0, 1])
def test_the_callers_context_is_neither_asked_nor_touched(i: int) -> None:
    values = list(map(Decimal, ("1.10", "1E+500", "-12345.678"))), list(map(Decimal, ("sNaN1", "1E+500", "0.0001")))
    plain = [encode(numbers.write_decimals, column) for column in values]
    with decimal.localcontext(hostile_contexts()[i]) as context:
        context.clear_flags()
        for column, data in zip(values, plain, strict=True):
            assert encode(numbers.write_decimals, column) == data
            got = numbers.read_decimals(Cursor(memoryview(data), 1), 3)
            assert list(map(parts, got)) == list(map(parts, column))
        refused(numbers.read_decimals, text_form("zero"), 1)
        assert not any(context.flags.values())


def test_short_integer_strings_of_the_interpreter() -> None:
    old = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        check(numbers.write_decimals, READERS, [Decimal("1" * 5000), Decimal("1" * 300)], parts)
        check(
            numbers.write_fractions,
            READERS,
            [Fraction(10**5000, 7)],
            lambda value: (value.numerator, value.denominator),
        )
        with pytest.raises(EncodeError):
            encode(numbers.write_fractions, [unreduced(10**5000, 10)])
    finally:
        sys.set_int_max_str_digits(old)


def text_form(*texts: str) -> bytes:
    from npser.blocks.choose import write_text

    return b"\0" + encode(write_text, list(texts))


def int_form(coefficients: list[int], exponents: list[int]) -> bytes:
    return b"\1" + encode(write_any_ints, exponents)[1:] + encode(write_any_ints, coefficients)


@pytest.mark.parametrize(
    "text",
    ["", " 1", "1 ", "1_0", "+1", "01", "1.", ".5", "1e5", "1E5", "1E+05", "nan", "NaN0", "inf", "Inf", "١", "1\0", "\ud800",
     "0x1", "1E+1000000000000000000", "1E-1999999999999999998", "0E+9999999999999999999", "100E+3", "--1"],
)  # fmt: skip
def test_text_that_str_would_not_write(text: str) -> None:
    refused(numbers.read_decimals, text_form("1.5", text), 2)


def test_bad_decimals() -> None:
    refused(numbers.read_decimals, b"\2" + text_form("1")[1:], 1, "form")
    for coefficient, exponent in (
        (1, 10**18),
        (10, 10**18 - 1),
        (0, 10**18),
        (1, -2 * 10**18),
        (5, -(2**63)),
        (0, 2**63 - 1),
    ):
        refused(numbers.read_decimals, int_form([1, coefficient], [0, exponent]), 2, "exponent")
    refused(numbers.read_decimals, int_form([1 << 1024], [0]), 1, "bits")


def pair(value: Fraction) -> tuple[int, int]:
    return value.numerator, value.denominator


@pytest.mark.parametrize("n", SIZES)
def test_fractions(n: int) -> None:
    check(numbers.write_fractions, READERS, [Fraction(i - 50, i % 13 + 1) for i in range(n)], pair)


def test_large_fractions() -> None:
    check(
        numbers.write_fractions, READERS, [Fraction(2**64, 3**50), Fraction(0), Fraction(-(10**400), 10**400 - 1)], pair
    )


def unreduced(numerator: int, denominator: int) -> Fraction:
    value = object.__new__(Fraction)
    value._numerator, value._denominator = numerator, denominator  # type: ignore[attr-defined]
    return value


def test_fractions_out_of_terms() -> None:
    for numerator, denominator in ((2, 4), (1, -2), (0, 2), (1, 0), (0, 0), (-6, 3)):
        with pytest.raises(EncodeError, match="lowest") as info:
            encode(numbers.write_fractions, [Fraction(1, 2), unreduced(numerator, denominator)])
        assert info.value.item == 1
        raw = encode(write_any_ints, [1, numerator]) + encode(write_any_ints, [2, denominator])
        refused(numbers.read_fractions, raw, 2, "Fraction")


def test_the_work_of_a_large_fraction_is_drawn_from_the_budget() -> None:
    value = Fraction(3**20_000, 2**30_000)
    sink = Sink()
    numbers.write_fractions(sink, [value])
    cost = (value.numerator.bit_length() >> 6) * (30_001 >> 6) // 32
    assert 1000 < cost <= sink.expanded < cost + 10
    data = memoryview(bytes(sink.out))
    assert numbers.read_fractions(Cursor(data, 1, budget=sink.expanded), 1) == [value]
    with pytest.raises(LimitError):
        numbers.read_fractions(Cursor(data, 1, budget=sink.expanded - 1), 1)
    numbers.write_fractions(Sink(), [Fraction(3**20_000, 7)])


def test_a_fraction_that_would_take_its_reader_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "TOO_LARGE", 1000)
    with pytest.raises(EncodeError, match="too long") as info:
        numbers.write_fractions(Sink(), [Fraction(1), Fraction(3**20_000, 2**30_000)])
    assert info.value.item == 1


def ends(value: range) -> tuple[int, int, int]:
    return value.start, value.stop, value.step


@pytest.mark.parametrize("n", SIZES)
def test_ranges(n: int) -> None:
    check(numbers.write_ranges, READERS, [range(i, i * i, i % 5 - 7) for i in range(n)], ends)


def test_large_and_empty_ranges() -> None:
    values = [
        range(0),
        range(10, 0),
        range(-(2**70), 2**70, 2**65),
        range(5, 5, -(2**63)),
        range(0, 3, 2),
        range(0, 4, 2),
    ]
    check(numbers.write_ranges, READERS, values, ends)


def test_no_step() -> None:
    raw = b"".join(encode(write_any_ints, column) for column in ([1, 1], [2, 2], [1, 0]))
    refused(numbers.read_ranges, raw, 2, "step")


decimals = st.decimals() | st.builds(
    lambda sign, digits, exponent: Decimal((sign, digits or (0,), exponent)),
    st.integers(0, 1),
    st.lists(st.integers(0, 9), max_size=40).map(tuple),
    st.integers(-100, 100) | st.integers(-(10**18), 10**17) | st.sampled_from(["n", "N", "F"]),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(decimals, max_size=8),
    st.lists(st.fractions(), max_size=8),
    st.lists(st.complex_numbers(allow_nan=True, allow_infinity=True), max_size=8),
    st.lists(st.builds(range, st.integers(), st.integers(), st.integers().filter(bool)), max_size=8),
)
def test_anything(decs: list, fracs: list, comps: list, ranges: list) -> None:
    check(numbers.write_decimals, READERS, decs, parts)
    check(numbers.write_fractions, READERS, fracs, pair)
    check(numbers.write_complexes, READERS, comps, bits)
    check(numbers.write_ranges, READERS, ranges, ends)


def test_garbage() -> None:
    decs = [Decimal(f"{i}.{i:02}") for i in range(40)]
    bodies = [encode(numbers.write_decimals, decs[:k]) for k in (1, 3, 40)]
    bodies += [encode(numbers.write_decimals, [*decs, Decimal("-sNaN12"), Decimal("-0E+7"), Decimal(2**2000)])]
    bodies += [encode(numbers.write_fractions, [Fraction(i, 7) for i in range(30)])]
    bodies += [encode(numbers.write_fractions, [Fraction(3**80, 2**90)])]
    bodies += [encode(numbers.write_ranges, [range(i, 10**25, 3) for i in range(10)])]
    bodies += [encode(numbers.write_complexes, [complex(i, 0.1) for i in range(30)])]
    check_garbage(READERS, bodies, 600)
