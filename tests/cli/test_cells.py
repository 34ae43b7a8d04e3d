"""A cell becomes a number only if the number prints as the cell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.cli.cells import cell_kind, cell_text, infer, text
from npser.inspection.same import identical

COLUMNS = [
    (["1", "-20", "0"], [1, -20, 0]),
    (["1", "", "3"], [1, None, 3]),
    (["12345678901234567890123"], [12345678901234567890123]),
    (["0.5", "-0.0", "1e+16", "5e-324"], [0.5, -0.0, 1e16, 5e-324]),
    (["77", "75.92", ""], [77, 75.92, None]),
    (["", ""], ["", ""]),
    ([], []),
]
TEXT_COLUMNS = [
    ["007"], ["-0"], ["+1"], ["1_000"], [" 1"], ["1 "], ["１"], ["1.50"], ["1e5"], [".5"], ["5."], ["nan"], ["inf"], ["-inf"],
    ["1e999"], ["True"], ["1", "x"], ["0.5", "", "n/a"], ["1", "01"], ["9" * 5000], ["0x10"], ["1,5"], ["١"],
]  # fmt: skip


@pytest.mark.parametrize(("cells", "column"), COLUMNS, ids=repr)
def test_canonical_numbers_become_numbers(cells: list[str], column: list[object]) -> None:
    assert identical(infer(cells), column)


@pytest.mark.parametrize("cells", TEXT_COLUMNS, ids=lambda cells: repr(cells)[:20])
def test_anything_else_leaves_the_whole_column_text(cells: list[str]) -> None:
    assert identical(infer(cells), cells) and identical(text(cells), cells)


def test_an_int_that_python_does_not_print_is_no_cell() -> None:
    assert cell_text(10**4299) == "1" + "0" * 4299
    for value in (10**4300, -(10**5000)):
        assert cell_text(value) is None
        assert cell_kind(value) == "int of more digits than Python prints"


digits = st.integers().map(str) | st.floats().map(repr) | st.text("0123456789.e+-_ ", max_size=6) | st.text(max_size=3)


@given(st.lists(digits, max_size=5))
def test_every_column_prints_as_the_cells_it_was_made_of(cells: list[str]) -> None:
    assert [cell_text(cell) for cell in infer(cells)] == cells
