"""JSON and JSON lines, read strictly and written only from what JSON has.

Strategy: Python's parser does the work, and its hooks refuse what would lose something in silence: a key twice in
one object, NaN and Infinity, numbers beyond a double. The hooks do not know where they are, so once one has
refused, `json_places` looks for the line. Integers are exact at any size; -0 becomes -0.0, since no int has that
sign. Writing walks the value first: a tuple or an int key would come out as something else, so they are refused
with their path.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from math import isfinite, isinf
from typing import Final

from npser.cli.batches import Source, batches
from npser.cli.json_places import first_refused_line
from npser.cli.progress import busy, watched
from npser.cli.refusal import ConvertError

__all__ = ["json_line_frames", "json_line_pieces", "read_json", "read_json_lines", "write_json", "write_json_lines"]


class _RefusedError(ValueError):
    """What a hook of the parser raises: the text is JSON, but not for us."""


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    built = dict(pairs)
    if len(built) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _RefusedError(f"the key {twice!r} stands twice in one object")
    return built


def _integer(digits: str) -> int | float:
    try:
        return -0.0 if digits == "-0" else int(digits)
    except ValueError as error:
        raise _RefusedError(f"an integer of {len(digits)} digits is more than Python converts") from error


def _float(digits: str) -> float:
    value = float(digits)
    if isinf(value):
        raise _RefusedError(f"{digits} is more than a double holds")
    return value


def _constant(name: str) -> float:
    raise _RefusedError(f"{name} is not JSON")


DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)


def read_json(text: str) -> object:
    """The value of one JSON text. Raises ConvertError with the line.

    >>> read_json('{"id": 12345678901234567890, "tags": ["a"]}')
    {'id': 12345678901234567890, 'tags': ['a']}
    """
    with busy("parsing", len(text)):
        return _parse(text, first_line=1)


def read_json_lines(text: str) -> list[object]:
    """A list of the values, one a line; blank lines are none. Raises ConvertError with the line.

    >>> read_json_lines('{"a": 1}\\n\\n[2]\\n')
    [{'a': 1}, [2]]
    """
    return list(_values(watched(io.StringIO(text, newline="\n"), "reading lines", len(text))))


def _values(lines: Iterable[str]) -> Iterator[object]:
    return (_parse(line, first_line=i) for i, line in enumerate(lines, start=1) if line.strip())


def json_line_frames(source: Source, frame_rows: int) -> Iterator[object]:
    """What `read_json_lines` gives, in parts of so many values at most, of which one is in memory at a time."""
    lines = source.lines("\n", "packing lines")
    empty = True
    for part in batches(_values(lines), frame_rows, lines):
        empty = False
        yield part.items
        del part  # not held while the next one is read
    if empty:
        yield []


def _parse(text: str, *, first_line: int) -> object:
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ConvertError(f"not valid JSON: {error.msg}", line=first_line + error.lineno - 1) from error
    except _RefusedError as error:
        raise ConvertError(str(error), line=first_line + first_refused_line(text) - 1) from error
    except RecursionError as error:
        raise ConvertError("nested too deeply", line=first_line) from error


def write_json(value: object) -> str:
    """One line of JSON. Raises ConvertError, with the path, for a part that JSON does not have.

    >>> write_json({"id": 1, "price": 1.0})
    '{"id":1,"price":1.0}\\n'
    """
    return _print(value)


def write_json_lines(value: object) -> str:
    """A line for each item of a list. Raises ConvertError for any other value, and as `write_json` does.

    >>> write_json_lines([1, {"a": None}])
    '1\\n{"a":null}\\n'
    """
    if type(value) is not list:
        raise ConvertError(
            f"JSON lines hold the items of a list, and this value is {type(value).__name__}: try --to json"
        )
    return "".join(map(_print, value))


def json_line_pieces(parts: Iterable[list[object]]) -> Iterator[str]:
    """The same for a list that comes in parts."""
    done = 0
    for part in parts:
        yield "".join(_print(value, f"$[{at}]") for at, value in enumerate(part, done))
        done += len(part)


def _print(value: object, path: str = "$") -> str:
    refusal = _not_json(value, path)
    if refusal is not None:
        raise ConvertError(refusal)
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        # A lone surrogate has no UTF-8, but JSON can spell it.
        return (text if _encodable(text) else json.dumps(value, separators=(",", ":"))) + "\n"
    except (ValueError, RecursionError) as error:
        raise ConvertError(f"no JSON: {error}") from error


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


PLAIN: Final = frozenset({type(None), bool, int, str})


def _not_json(value: object, whole: str) -> str | None:
    """The path and type of a part that JSON would not give back as it is; None where there is none."""
    stack: list[tuple[object, str]] = [(value, whole)]
    while stack:
        part, path = stack.pop()
        kind = type(part)
        if kind in PLAIN:
            continue
        if isinstance(part, float) and kind is float:
            if not isfinite(part):
                return f"{path} is {part}, which JSON does not have"
        elif isinstance(part, list) and kind is list:
            stack += [(item, f"{path}[{i}]") for i, item in enumerate(part) if type(item) not in PLAIN]
        elif isinstance(part, dict) and kind is dict:
            for key, item in part.items():
                if type(key) is not str:
                    return f"{path} has the key {key!r} of type {type(key).__name__}, and JSON keys are text"
                stack.append((item, f"{path}[{key!r}]"))
        else:
            return f"{path} is {kind.__name__}, which JSON does not have"
    return None
