"""Advice on text that holds something else: numbers, dates, UUIDs, hex, JSON, or a number in a fixed phrase.

Strategy: a way is a pair of functions, from the text and back. It is a way for a column only if every single item comes
back as it was, character for character; the first few are asked first, so most ways cost nothing. Then the column is
encoded that way, and what is smaller by far is said.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from npser.inspection.hints import Hint, Subject, size_of, sizes, worth
from npser.inspection.parts import clip, plain

__all__ = ["TEXT_RULES", "Way", "way_for"]

LEAST_ITEMS = 8
FIRST = 32
"""Items that a way is tried on first."""

MAX_DIGITS = 18
"""Of an int that surely fits 64 bits."""


class Way(NamedTuple):
    """Another type for text.

    Parameters
    ----------
    what : str
        What the text holds, in the plural.
    how : str
    parse, show : callable
        Text to the other type, and back.
    """

    what: str
    how: str
    parse: Callable[[str], Any]
    show: Callable[[Any], str]


def _int(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError("too long")
    return int(text)


def _hex(text: str) -> bytes:
    if len(text) < 8:
        raise ValueError("too short")
    return bytes.fromhex(text)


def _decimal(text: str) -> Decimal:
    found = Decimal(text)
    if not found.is_finite():
        raise ValueError("not finite")
    return found


def _moment(text: str) -> datetime:
    if len(text) < 16:
        raise ValueError("no time of day")
    return datetime.fromisoformat(text)


def _document(text: str) -> Any:
    if text[:1] not in ("{", "["):
        raise ValueError("no document")
    return json.loads(text)


def _zulu(text: str) -> datetime:
    if text[-1:] != "Z":
        raise ValueError("no Z")
    return _moment(text[:-1])


def _moments() -> Iterator[Way]:
    how = "store datetime objects: datetime.fromisoformat"
    for separator in ("T", " "):
        for spec in ("auto", "seconds", "milliseconds", "microseconds", "minutes"):
            show = partial(datetime.isoformat, sep=separator, timespec=spec)
            yield Way("ISO datetimes", how, _moment, show)
            yield Way("ISO datetimes in UTC", how, _zulu, partial(_with_z, show))


def _with_z(show: Callable[[datetime], str], moment: datetime) -> str:
    return show(moment) + "Z"


WAYS: Final[tuple[Way, ...]] = (
    Way("ints", "store int: int(text)", _int, str),
    Way("floats", "store float: float(text)", float, repr),
    Way("decimal numbers", "store decimal.Decimal, or float where that is exact enough", _decimal, str),
    Way("ISO dates", "store date objects: date.fromisoformat", date.fromisoformat, date.isoformat),
    *_moments(),
    Way("UUIDs", "store uuid.UUID", uuid.UUID, str),
    Way("hex digits", "store bytes: bytes.fromhex", _hex, bytes.hex),
    Way("hex digits", "store bytes: bytes.fromhex", _hex, lambda raw: raw.hex().upper()),
    Way("JSON", "store what it holds: json.loads", _document, partial(json.dumps, separators=(",", ":"))),
    Way("JSON", "store what it holds: json.loads", _document, json.dumps),
    Way("JSON", "store what it holds: json.loads", _document, partial(json.dumps, ensure_ascii=False)),
)
"""What text may hold, the simplest first; the first one that gives all items back is it."""


def way_for(texts: list[str]) -> Way | None:
    """The other type that all of these texts could be, if there is one.

    >>> way_for(["2024-02-29", "2023-01-01"]).what, way_for(["007", "8"])
    ('ISO dates', None)
    """
    for way in WAYS:
        if _holds(way, islice(texts, FIRST)) and _holds(way, texts):
            return way
    return None


def _holds(way: Way, texts: Any) -> bool:
    try:
        return all(way.show(way.parse(text)) == text for text in texts)
    except (ValueError, InvalidOperation, RecursionError, OverflowError):
        return False


def another_type(subject: Subject) -> Iterator[Hint]:
    """Text that holds something else throughout."""
    if subject.kinds != {str} or len(subject.present) < LEAST_ITEMS:
        return
    way = way_for(subject.present)
    if way is None:
        return
    after = size_of(subject.mapped(way.parse))
    if after is not None and worth(subject.nbytes, after):
        text = f"{subject.name} holds {way.what} as text: {sizes(subject.nbytes, after)} as what they are"
        yield Hint(subject.path, "text holds something else", text, way.how, subject.nbytes, after)


def numbers_in_a_phrase(subject: Subject) -> Iterator[Hint]:
    """Text of which only an int changes: ``user:17``."""
    texts = subject.present
    if subject.kinds != {str} or len(texts) < LEAST_ITEMS:
        return
    head = _common(texts).rstrip("0123456789-")
    tail = _common([text[len(head) :][::-1] for text in texts])[::-1].lstrip("0123456789")
    if not head and not tail:
        return
    stop = -len(tail) or None
    try:
        numbers = [_int(text[len(head) : stop]) for text in texts]
    except ValueError:
        return
    if any(f"{head}{number}{tail}" != text for number, text in zip(numbers, texts, strict=True)):
        return
    following = iter(numbers)
    after = size_of(subject.mapped(lambda _: next(following)))
    if after is not None and worth(subject.nbytes, after):
        form = clip(plain(f"{head}<int>{tail}"), 40)
        what = f"{len(texts):,} keys" if subject.column.owner == "keys" else "texts"
        text = f"{subject.name} holds {what} of the form '{form}': {sizes(subject.nbytes, after)} as the int alone"
        how = "store the int, and add the rest of the text when it is read"
        yield Hint(subject.path, "text of one form", text, how, subject.nbytes, after)


def _common(texts: list[str]) -> str:
    """How all of them begin: what the first and the last in order have in common, all have."""
    low, high = min(texts), max(texts)
    at = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low[:at]


TEXT_RULES: Final = (another_type, numbers_in_a_phrase)
