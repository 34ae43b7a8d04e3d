"""CSV: strict on the way in, the same cells on the way out."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.cli.cells import Types
from npser.cli.csv_text import read_csv, write_csv
from npser.cli.refusal import ConvertError
from npser.inspection.same import identical


def test_rows_are_dicts_in_the_order_of_the_header() -> None:
    rows = read_csv('b,a\n1,"x ""y"", z"\n2,"two\nlines"\n', Types.INFER)
    assert identical(rows, [{"b": 1, "a": 'x "y", z'}, {"b": 2, "a": "two\nlines"}])


def test_types_text_converts_nothing() -> None:
    assert read_csv("a\n1\n", Types.TEXT) == [{"a": "1"}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_ends_a_row(end: str) -> None:
    assert read_csv(f"a,b{end}1,2{end}3,4", Types.INFER) == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_blank_lines_are_rows_only_where_a_row_can_be_blank() -> None:
    assert read_csv("a,b\n\n1,2\n\n", Types.INFER) == [{"a": 1, "b": 2}]
    assert read_csv("a\n1\n\n3\n", Types.INFER) == [{"a": 1}, {"a": None}, {"a": 3}]
    assert write_csv([{"a": None}, {"a": 1}]) == 'a\n""\n1\n'


def test_a_header_alone_keeps_its_names() -> None:
    assert read_csv("a,b\n", Types.INFER) == {"a": [], "b": []}
    assert write_csv({"a": [], "b": []}) == "a,b\n"


def test_a_dict_of_columns_is_a_table_too() -> None:
    assert write_csv({"a": [1, None], "b": ["x", "y"]}) == "a,b\n1,x\n,y\n"


def test_a_cell_longer_than_the_modules_own_limit() -> None:
    before = csv.field_size_limit()
    assert read_csv(f"a\n{'x' * 200_000}\n", Types.INFER) == [{"a": "x" * 200_000}]
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "no header"),
        ("\n1\n", 1, "no header"),
        ("a,b,a\n", 1, "the header names 'a' twice"),
        ("a,b\n1,2\n1,2,3\n", 3, "3 cells where the header has 2"),
        ('a,b\n"x\ny",1\n2\n', 4, "1 cell where the header has 2"),
        ('a,b\n1,"x"y\n', 2, "not valid CSV"),
        ('a,b\n1,"x\n', 2, "not valid CSV"),
    ],
)
def test_what_is_no_table_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ConvertError, match=said) as caught:
        read_csv(text, Types.INFER)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1, "neither"),
        ([], "neither"),
        ({}, "neither"),
        ([1], "neither"),
        ([{"a": 1}, {"b": 1}], r"\$\[1\] has other keys"),
        ([{"a": 1, "b": 2}, {"b": 1, "a": 2}], r"\$\[1\] has other keys"),
        ({"a": [1], "b": []}, "not equally long"),
        ([{"a": 1}, {"a": [1]}], r"\$\[1\]\['a'\] is list"),
        ([{1: 1}], "1 is int"),
        ([{"a": 1}, {"a": 10**5000}], r"\$\[1\]\['a'\] is int of more digits"),
    ],
)
def test_what_csv_does_not_hold_is_refused(value: object, said: str) -> None:
    with pytest.raises(ConvertError, match=said):
        write_csv(value)


cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=4) | st.sampled_from(
    ["", "1", "0.5", "a\nb", '"', "\r"]
)
tables = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        st.lists(cells, min_size=width, max_size=width, unique=True),
        st.lists(st.lists(cells, min_size=width, max_size=width), max_size=6),
    )
)


@given(tables, st.sampled_from(Types))
def test_any_table_gives_its_cells_back(table: tuple[list[str], list[list[str]]], types: Types) -> None:
    header, rows = table
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *rows])
    again = write_csv(read_csv(out.getvalue(), types))
    assert list(csv.reader(io.StringIO(again, newline=""))) == [header, *rows]
