"""CSV and back: a header line and rows <-> a list of same-key dicts, which npser stores as a table.

Strategy: read strictly (every row as long as the header, no header name twice, quotes where they belong), then type
column by column by the rule of `cells`. The content is what survives: cells and their order; quoting and line ends
are written one way. A header without rows has no dict to keep its names in and becomes a dict of empty columns;
both forms are written. A blank line is no row, except in a file of one column, where it is an empty cell.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from npser.cli.cells import COLUMN_RULES, Types, cell_text
from npser.cli.progress import watched
from npser.cli.refusal import ConvertError

__all__ = ["read_csv", "write_csv"]


NEEDS_QUOTES: Final = re.compile(r'[",\r\n]')


class Reader(Protocol):
    """What `csv.reader` returns, a type that the standard library does not name."""

    @property
    def line_num(self) -> int: ...
    def __iter__(self) -> Iterator[list[str]]: ...


def read_csv(text: str, types: Types) -> object:
    """The rows as dicts, keyed by the header. Raises ConvertError with the line where the text is no table.

    >>> read_csv("id,name\\n1,Ann\\n2,\\n", Types.INFER)
    [{'id': 1, 'name': 'Ann'}, {'id': 2, 'name': ''}]
    >>> read_csv("id,name\\n", Types.INFER)
    {'id': [], 'name': []}
    """
    header, rows = _parse(text)
    if not rows:
        return {name: [] for name in header}
    rule = COLUMN_RULES[types]
    columns = [rule(list(cells)) for cells in zip(*rows, strict=True)]
    return [dict(zip(header, row, strict=True)) for row in zip(*columns, strict=True)]


def _parse(text: str) -> tuple[list[str], list[list[str]]]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(watched(lines, "reading rows", len(text)), strict=True)
    try:
        with _cells_of_any_length():
            header = next(reader, [])
            _check_header(header)
            return header, list(_rows(reader, header))
    except csv.Error as error:
        raise ConvertError(f"not valid CSV: {error}", line=reader.line_num) from error


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _check_header(header: list[str]) -> None:
    if not header:
        raise ConvertError("no header: the first line must name the columns", line=1)
    seen: set[str] = set()
    for name in header:
        if name in seen:
            raise ConvertError(f"the header names {name!r} twice", line=1)
        seen.add(name)


def _rows(reader: Reader, header: list[str]) -> Iterator[list[str]]:
    blank = [[""]] if len(header) == 1 else []
    for row in reader:
        if not row:
            yield from blank
        elif len(row) != len(header):
            raise ConvertError(f"{_cells(row)} where the header has {len(header)}", line=reader.line_num)
        else:
            yield row


def _cells(row: list[str]) -> str:
    return f"{len(row)} cell{'' if len(row) == 1 else 's'}"


def write_csv(value: object) -> str:
    """The text of a list of same-key dicts, or of a dict of columns. Raises ConvertError for any other value.

    >>> write_csv([{"id": 1, "name": "Ann"}, {"id": None, "name": "B, C"}])
    'id,name\\n1,Ann\\n,"B, C"\\n'
    """
    for is_form, table in FORMS:
        if is_form(value):
            header, rows = table(value)
            return _print(header, rows)
    raise ConvertError("CSV holds a list of dicts or a dict of columns, and this value is neither: try --to json")


def _is_rows(value: object) -> bool:
    return type(value) is list and bool(value) and all(type(row) is dict for row in value)


def _is_columns(value: object) -> bool:
    return type(value) is dict and bool(value) and all(type(column) is list for column in value.values())


def _rows_table(rows: list[dict[object, object]]) -> tuple[list[object], Iterator[list[object]]]:
    header = list(rows[0])
    for i, row in enumerate(rows):
        if list(row) != header:
            raise ConvertError(f"$[{i}] has other keys than $[0], or in another order, so this is no CSV table")
    return header, (list(row.values()) for row in rows)


def _columns_table(columns: dict[object, list[object]]) -> tuple[list[object], Iterator[list[object]]]:
    if len(set(map(len, columns.values()))) > 1:
        raise ConvertError("the columns are not equally long, so this is no CSV table")
    return list(columns), (list(row) for row in zip(*columns.values(), strict=True))


Table = Callable[..., tuple[list[object], Iterator[list[object]]]]
FORMS: Final[tuple[tuple[Callable[[object], bool], Table], ...]] = (
    (_is_rows, _rows_table),
    (_is_columns, _columns_table),
)
"""How to tell a form of table, and how to take it apart."""


def _print(header: list[object], rows: Iterator[list[object]]) -> str:
    for name in header:
        if type(name) is not str:
            raise ConvertError(f"a CSV header holds text, and {name!r} is {type(name).__name__}")
    lines = [_line(list(map(str, header)))]
    for i, row in enumerate(rows):
        cells = [text for text in map(cell_text, row) if text is not None]
        if len(cells) != len(row):
            name, cell = next(pair for pair in zip(header, row, strict=True) if cell_text(pair[1]) is None)
            raise ConvertError(f"$[{i}][{name!r}] is {type(cell).__name__}, which no CSV cell holds")
        lines.append(_line(cells))
    return "".join(lines)


def _line(cells: list[str]) -> str:
    # csv.writer leaves a bare \r unquoted when lines end in \n, and csv.reader then ends the row there.
    return ",".join(map(_quoted, cells)) + "\n" if cells != [""] else '""\n'


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if NEEDS_QUOTES.search(cell) else cell
