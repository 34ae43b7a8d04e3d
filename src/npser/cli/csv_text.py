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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from npser.cli.batches import Batch, Source, batches
from npser.cli.cells import COLUMN_RULES, Cell, Types, as_numbers, cell_kind, cell_text, text
from npser.cli.progress import watched
from npser.cli.refusal import ConvertError

__all__ = ["csv_frames", "csv_pieces", "read_csv", "write_csv"]


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
    rows = _parse(watched(io.StringIO(text, newline=""), "reading rows", len(text)))
    header = next(rows)
    return _table(header, list(rows), [COLUMN_RULES[types]] * len(header))


Rule = Callable[[list[str]], list[Cell]]

_NO_ROWS: Final[Batch[list[str]]] = Batch([], more=False)


def _table(header: list[str], rows: list[list[str]], rules: list[Rule]) -> object:
    """The rows as dicts; they are taken out of `rows` on the way, so as not to stand twice in memory."""
    if not rows:
        return {name: [] for name in header}
    cells = list(zip(*rows, strict=True))
    rows.clear()
    columns = [rule(list(column)) for rule, column in zip(rules, cells, strict=True)]
    return [dict(zip(header, row, strict=True)) for row in zip(*columns, strict=True)]


def csv_frames(source: Source, types: Types, frame_rows: int) -> Iterator[object]:
    """What `read_csv` gives, in parts of so many rows at most, of which one is in memory at a time.

    The rule of a column depends on all its cells. So where there is more than one part, the file is read twice: first
    to see which columns are numbers, and then for the rows.
    """
    rules: list[Rule] = []
    if types is Types.INFER:
        header, parts = _parts(source, "looking at the columns", frame_rows)
        first = next(parts, _NO_ROWS)
        if not first.more:
            yield _table(header, first.items, [COLUMN_RULES[types]] * len(header))
            return
        rules = _rules(header, first.items, parts)
        del first
    header, parts = _parts(source, "packing rows", frame_rows)
    rules = rules or [text] * len(header)
    empty = True
    for part in parts:
        empty = False
        yield _table(header, part.items, rules)
    if empty:
        yield _table(header, [], rules)


def _parts(source: Source, label: str, frame_rows: int) -> tuple[list[str], Iterator[Batch[list[str]]]]:
    lines = source.lines("", label)
    rows = _parse(lines)
    return next(rows), batches(rows, frame_rows, lines)


def _rules(header: list[str], rows: list[list[str]], parts: Iterator[Batch[list[str]]]) -> list[Rule]:
    """The rule of each column, out of all its parts."""
    numbers, filled = [True] * len(header), [False] * len(header)
    while rows:
        for at, column in enumerate(zip(*rows, strict=True)):
            numbers[at] = numbers[at] and as_numbers(list(column)) is not None
            filled[at] = filled[at] or any(column)
        rows.clear()
        rows = next(parts, _NO_ROWS).items
    return [_as_numbers if both == (True, True) else text for both in zip(numbers, filled, strict=True)]


def _as_numbers(cells: list[str]) -> list[Cell]:
    return as_numbers(cells) or []


def _parse(lines: Iterable[str]) -> Iterator[list[str]]:
    """The header and then the rows."""
    reader = csv.reader(lines, strict=True)
    try:
        with _cells_of_any_length():
            header = next(reader, [])
            _check_header(header)
            yield header
            yield from _rows(reader, header)
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
            header, rows = table(value, 0)
            return "".join((_header_line(header), *_row_lines(header, rows, 0)))
    raise ConvertError("CSV holds a list of dicts or a dict of columns, and this value is neither: try --to json")


def _is_rows(value: object) -> bool:
    return type(value) is list and bool(value) and all(type(row) is dict for row in value)


def _is_columns(value: object) -> bool:
    return type(value) is dict and bool(value) and all(type(column) is list for column in value.values())


def csv_pieces(parts: Iterable[object]) -> Iterator[str]:
    """The text of a table whose rows come in parts. Raises ConvertError where they are none."""
    header: list[object] | None = None
    done = 0
    for part in parts:
        if not _is_rows(part):
            raise ConvertError(f"CSV holds rows that are dicts, and $[{done}] is none: try --to json")
        names, rows = _rows_table(part, done, header)  # type: ignore[arg-type]
        if header is None:
            header = names
            yield _header_line(header)
        yield "".join(_row_lines(header, rows, done))
        done += len(part)  # type: ignore[arg-type]


def _rows_table(
    rows: list[dict[object, object]], start: int, header: list[object] | None = None
) -> tuple[list[object], Iterator[list[object]]]:
    header = list(rows[0]) if header is None else header
    for i, row in enumerate(rows, start):
        if list(row) != header:
            raise ConvertError(f"$[{i}] has other keys than $[0], or in another order, so this is no CSV table")
    return header, (list(row.values()) for row in rows)


def _columns_table(columns: dict[object, list[object]], _start: int) -> tuple[list[object], Iterator[list[object]]]:
    if len(set(map(len, columns.values()))) > 1:
        raise ConvertError("the columns are not equally long, so this is no CSV table")
    return list(columns), (list(row) for row in zip(*columns.values(), strict=True))


Table = Callable[..., tuple[list[object], Iterator[list[object]]]]
FORMS: Final[tuple[tuple[Callable[[object], bool], Table], ...]] = (
    (_is_rows, _rows_table),
    (_is_columns, _columns_table),
)
"""How to tell a form of table, and how to take it apart."""


def _header_line(header: list[object]) -> str:
    for name in header:
        if type(name) is not str:
            raise ConvertError(f"a CSV header holds text, and {name!r} is {type(name).__name__}")
    return _line(list(map(str, header)))


def _row_lines(header: list[object], rows: Iterator[list[object]], start: int) -> Iterator[str]:
    for i, row in enumerate(rows, start):
        cells = [text for text in map(cell_text, row) if text is not None]
        if len(cells) != len(row):
            name, cell = next(pair for pair in zip(header, row, strict=True) if cell_text(pair[1]) is None)
            raise ConvertError(f"$[{i}][{name!r}] is {cell_kind(cell)}, which no CSV cell holds")
        yield _line(cells)


def _line(cells: list[str]) -> str:
    # csv.writer leaves a bare \r unquoted when lines end in \n, and csv.reader then ends the row there.
    return ",".join(map(_quoted, cells)) + "\n" if cells != [""] else '""\n'


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if NEEDS_QUOTES.search(cell) else cell
