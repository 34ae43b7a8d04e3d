"""What would make a value smaller or faster to read: `npser.advise`.

Strategy: the value is taken apart into columns, the largest first, and each rule looks at each column and measures what
it proposes. Rules know nothing of each other; what is not worth saying they do not say. Time is bounded: what was not
looked at is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from time import perf_counter
from typing import Any, Final

from npser.codec import Classes, dumps, loads
from npser.decoder import open_buffer
from npser.errors import DecodeError, EncodeError
from npser.inspection.facts import facts_of, pickle_of
from npser.inspection.hints import LEAST_BYTES, Hint, Rule, Subject
from npser.inspection.members import class_names, classes_of
from npser.inspection.numberhints import NUMBER_RULES
from npser.inspection.parts import plain
from npser.inspection.report import inspect
from npser.inspection.tabulate import WIDTH, html_table
from npser.inspection.texthints import TEXT_RULES
from npser.inspection.valuecolumns import Column, columns_of
from npser.inspection.wholehints import MAX_BYTES, WHOLE_RULES, Whole
from npser.limits import Limits
from npser.phpser.tags import VERSIONS
from npser.tags import MAGIC

__all__ = ["Advice", "advise"]

BUDGET = 5.0

DEFAULT_LIMITS: Final = Limits()

COLUMN_RULES: Final[tuple[Rule, ...]] = (*TEXT_RULES, *NUMBER_RULES)

LEAST_PART = 0.002
"""Of the payload, that a hint about bytes saves."""

MAX_HINTS = 40
"""That are shown."""


def advise(value: Any, *, classes: Classes = (), budget: float = BUDGET, limits: Limits = DEFAULT_LIMITS) -> Advice:
    """What would make a value smaller, or faster to read, each with figures that were measured here.

    Parameters
    ----------
    value : object, or a payload
        Bytes that begin as a payload does are taken for one, and decoded.
    classes : iterable of classes, or mapping of wire name to class
        For a payload, as in `loads`. Objects of other classes are looked at as placeholders.
    budget : float
        Seconds; no rule begins after that.
    limits : Limits
        What a payload may ask for.

    Returns
    -------
    Advice

    Raises
    ------
    EncodeError
        For a value that npser refuses.
    DecodeError
        For a payload that is damaged, or sealed.

    >>> advice = advise([{"at": f"2024-01-02T{i % 24:02d}:{i % 60:02d}:{i % 59:02d}"} for i in range(1000)])
    >>> [hint.rule for hint in advice if hint.path == "$[*]['at']"]
    ['text holds something else']
    >>> len(advise([1, 2, 3]))
    0
    """
    start = perf_counter()
    until = start + budget
    if _is_payload(value):
        value = loads(value, classes=classes, limits=limits)
    data = dumps(value)
    report = inspect(data, limits=limits)
    known = classes_of(value, class_names(report))
    columns = list(columns_of(value, until=start + budget / 4))
    columns.sort(key=lambda column: -len(column.items))
    left = iter(columns)
    hints = _of_columns(left, len(data), start + budget / 2)
    hints += _of_whole(Whole(value, data, report, columns, known), until)
    hints += _of_columns(left, len(data), until)
    skipped = sum(1 for _ in left)
    facts = [*pickle_of(value, len(data)), *facts_of(report)]
    return Advice(_ordered(hints), facts, len(data), skipped)


def _is_payload(value: object) -> bool:
    if not hasattr(value, "__buffer__") and not isinstance(value, (bytes, bytearray, memoryview)):
        return False
    try:
        first = open_buffer(value)
    except DecodeError:
        return False
    if len(first) < 3 or first[0] not in (MAGIC, *VERSIONS):
        return False
    return first[0] == MAGIC or inspect(value).error is None


def _of_columns(columns: Iterator[Column], size: int, until: float) -> list[Hint]:
    """What the rules say of the next columns, as long as there is time."""
    hints: list[Hint] = []
    while perf_counter() < until and (column := next(columns, None)) is not None:
        hints += _of_column(column, size)
    return hints


def _of_whole(whole: Whole, until: float) -> list[Hint]:
    hints: list[Hint] = []
    if len(whole.data) <= MAX_BYTES:
        for rule in WHOLE_RULES:
            if perf_counter() < until:
                hints += rule(whole)
    return hints


def _of_column(column: Column, size: int) -> Iterator[Hint]:
    subject = Subject(column)
    for rule in COLUMN_RULES:
        try:
            for hint in rule(subject):
                if hint.seconds_before is not None or hint.saved >= max(LEAST_BYTES, LEAST_PART * size):
                    yield hint
        except EncodeError:  # an alternative that npser refuses
            continue


def _ordered(hints: Iterable[Hint]) -> list[Hint]:
    """The most bytes first, then what saves time."""
    return sorted(hints, key=lambda hint: (-hint.saved, -_gain(hint)))


def _gain(hint: Hint) -> float:
    return (hint.seconds_before or 0.0) - (hint.seconds_after or 0.0)


HEAD: Final = ("where", "what", "bytes", "instead of", "how")
NUMBERS: Final = frozenset({2, 3})


class Advice:
    """Hints, the one that saves most first; as text, HTML, a dict, or rows.

    Attributes
    ----------
    hints : tuple of Hint
        What would make the value smaller or faster; none, where there is nothing to gain.
    facts : tuple of Hint
        What npser does already.
    nbytes : int
        Of the payload.
    skipped : int
        Columns that were not looked at, for the time was up.
    """

    def __init__(self, hints: Iterable[Hint], facts: Iterable[Hint], nbytes: int, skipped: int) -> None:
        self.hints = tuple(hints)
        self.facts = tuple(facts)
        self.nbytes = nbytes
        self.skipped = skipped

    def __len__(self) -> int:
        return len(self.hints)

    def __iter__(self) -> Iterator[Hint]:
        return iter(self.hints)

    def to_rows(self) -> list[dict[str, object]]:
        """A dict for each hint."""
        rows = [hint._asdict().items() for hint in self.hints]
        return [{key: plain(value) if isinstance(value, str) else value for key, value in row} for row in rows]

    def to_dict(self) -> dict[str, object]:
        """All of it, for JSON."""
        facts = [{"path": plain(fact.path), "sentence": plain(fact.sentence)} for fact in self.facts]
        return {"bytes": self.nbytes, "hints": self.to_rows(), "facts": facts, "skipped": self.skipped}

    def __repr__(self) -> str:
        lines = [self._title()]
        for number, hint in enumerate(self.hints[:MAX_HINTS], 1):
            lines += _wrapped(f"{number}. ", hint.sentence)
            lines += _wrapped("   -> ", hint.how)
        lines += self._rest()
        if self.facts:
            lines.append("npser already:")
            for fact in self.facts:
                lines += _wrapped("   ", fact.sentence)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = self.hints[:MAX_HINTS]
        rows = [
            (hint.path, hint.sentence, _number(hint.bytes_after), _number(hint.bytes_before), hint.how)
            for hint in shown
        ]
        most = max((hint.saved for hint in shown), default=0)
        bars = [hint.saved / most if most else 0.0 for hint in shown]
        notes = [f"npser already: {fact.sentence}" for fact in self.facts]
        return html_table([self._title(), *self._rest()], HEAD, rows, numbers=NUMBERS, bars=bars, notes=notes)

    def _title(self) -> str:
        if not self.hints:
            return f"nothing to gain: {self.nbytes:,} bytes, and no rule found better ones"
        count = f"{len(self.hints)} hints" if len(self.hints) > 1 else "1 hint"
        return f"{count} on a payload of {self.nbytes:,} bytes"

    def _rest(self) -> list[str]:
        lines = []
        if len(self.hints) > MAX_HINTS:
            lines.append(f"{len(self.hints) - MAX_HINTS} more hints")
        if self.skipped:
            lines.append(f"the time was up: {self.skipped:,} columns were not looked at")
        return lines


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _wrapped(start: str, text: str) -> list[str]:
    lines = wrap(plain(text), WIDTH - len(start)) or [""]
    return [(start if at == 0 else " " * len(start)) + line for at, line in enumerate(lines)]
