"""JSON: nothing is lost in silence, in either direction."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npser.cli.json_text import read_json, read_json_lines, write_json, write_json_lines
from npser.cli.refusal import ConvertError
from npser.inspection.same import identical

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


@given(values)
def test_a_value_comes_back_identical(value: object) -> None:
    assert identical(read_json(write_json(value)), value)


@given(st.lists(values, max_size=4))
def test_lines_come_back_identical(items: list[object]) -> None:
    assert identical(read_json_lines(write_json_lines(items)), items)


def test_numbers_keep_their_type_sign_and_digits() -> None:
    value = read_json("[1, 1.0, 1E2, -0, -0.0, 12345678901234567890123456789]")
    assert identical(value, [1, 1.0, 100.0, -0.0, -0.0, 12345678901234567890123456789])


def test_a_lone_surrogate_is_spelled() -> None:
    assert write_json(["é", "\ud800"]) == '["\\u00e9","\\ud800"]\n'
    assert write_json(["é"]) == '["é"]\n'


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{"a": {"b": 1,\n"b": 2}}', 2, "the key 'b' stands twice"),
        ('[{"a": "}{\\""},\n{"x": "a", "a": 1},\n{"\\u0061": [{}], "a": 2}]', 3, "the key 'a' stands twice"),
        ("[1,\n\n-1e400]", 3, "-1e400 is more than a double holds"),
        ("[\n" + "9" * 5000 + "]", 2, "an integer of 5000 digits"),
        ("[\nNaN]", 2, "NaN is not JSON"),
        ('["NaN",\n"Infinity",\n-Infinity]', 3, "-Infinity is not JSON"),
        ("", 1, "not valid JSON"),
        ("[1]\n[2]", 2, "not valid JSON: Extra data"),
        ('{"a": 1,\n"b" 2}', 2, "not valid JSON"),
        ("[" * 100_000, 1, "nested too deeply"),
    ],
)
def test_what_would_be_lost_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(ConvertError, match=said) as caught:
        read_json(text)
    assert caught.value.line == line


def test_lines_are_counted_across_the_file() -> None:
    with pytest.raises(ConvertError, match="stands twice") as caught:
        read_json_lines('{"a": 1}\r\n\r\n{"a": 1, "a": 2}\r\n')
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [1, (2,)]}, r"\$\['a'\]\[1\] is tuple"),
        ({1: 2}, "has the key 1 of type int"),
        ([float("nan")], r"\$\[0\] is nan"),
        (float("-inf"), r"\$ is -inf"),
        (dt.date(2024, 1, 1), r"\$ is date"),
        (b"x", r"\$ is bytes"),
        ([10**5000], "no JSON"),
    ],
)
def test_what_json_does_not_have_is_refused_with_its_path(value: Any, said: str) -> None:
    with pytest.raises(ConvertError, match=said):
        write_json(value)


def test_lines_need_a_list() -> None:
    with pytest.raises(ConvertError, match="this value is dict"):
        write_json_lines({"a": 1})


def test_what_is_written_is_one_line_of_plain_json() -> None:
    text = write_json({"a": ["x\ny", 1]})
    assert text.count("\n") == 1 and json.loads(text) == {"a": ["x\ny", 1]}
