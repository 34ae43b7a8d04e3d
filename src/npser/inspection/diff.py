"""What changed in size between two payloads, by path: `npser.diff`.

Strategy: both are inspected, not decoded. The leaves of the two reports are matched by path and role, where an item of
a dict and a field of an object count as one step, so that rows which became objects stay comparable. All bytes of
both are in the list, so the changes add up to the difference of the sizes, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from npser.inspection.parts import Part, plain
from npser.inspection.report import Report, inspect
from npser.inspection.tabulate import draw_table, html_table
from npser.inspection.text import SIZES, exact
from npser.limits import Limits

__all__ = ["Difference", "SizeChange", "diff"]

LINES = 40
"""Changes that are shown as text and in HTML."""

FIELD: Final = re.compile(r"\['([A-Za-z_][A-Za-z_0-9]*)'\]")
"""A step by a key that could be the name of a field."""

DEFAULT_LIMITS: Final = Limits()


class SizeChange(NamedTuple):
    """One place in both payloads.

    Parameters
    ----------
    path, role : str
        As in a report; of what stands in both, as the second has it.
    before, after : int
        Bytes.
    items_before, items_after : int
    encoding_before, encoding_after : str
        ``""`` where it is not there.
    change : str
        ``added``, ``removed``, ``grown``, ``shrunk``, ``recoded`` (other encoding, same bytes) or ``same``.
    note : str
        What else changed: the kind, or the class of objects.
    """

    path: str
    role: str
    before: int
    after: int
    items_before: int
    items_after: int
    encoding_before: str
    encoding_after: str
    change: str
    note: str = ""

    @property
    def delta(self) -> int:
        """Bytes more than before."""
        return self.after - self.before


def diff(a: Any, b: Any, *, limits: Limits = DEFAULT_LIMITS) -> Difference:
    """Which places of a payload take more bytes than they did in another, and which fewer.

    Parameters
    ----------
    a, b : buffer, or Report
        The payload before, and after. Envelopes are opened as by `inspect`.
    limits : Limits
        What a payload may ask for.

    Raises
    ------
    DecodeError
        If one of them is no buffer at all. Damaged payloads are compared as far as they can be read.

    >>> import npser
    >>> found = diff(npser.dumps({"a": 1, "b": "x"}), npser.dumps({"a": 1, "b": "x" * 60}))
    >>> found.delta, [(one.path, one.delta) for one in found.changes if one.delta]
    (59, [("$['b']", 59)])
    """
    before, after = (one if isinstance(one, Report) else inspect(one, limits=limits) for one in (a, b))
    return Difference(before, after)


def _key(part: Part) -> tuple[str, str]:
    return FIELD.sub(r".\1", part.path), part.role


class _Sum:
    """All parts of one key."""

    __slots__ = ("encodings", "items", "nbytes", "part")

    def __init__(self) -> None:
        self.part: Part | None = None
        self.items = self.nbytes = 0
        self.encodings: dict[str, None] = {}

    def add(self, part: Part) -> None:
        if self.part is None or part.nbytes > self.part.nbytes:
            self.part = part
        self.items += part.count
        self.nbytes += part.nbytes
        self.encodings[part.encoding or part.kind] = None

    @property
    def encoding(self) -> str:
        return ", ".join(filter(None, self.encodings))


def _sums(report: Report) -> dict[tuple[str, str], _Sum]:
    found: dict[tuple[str, str], _Sum] = {}
    for part in report.leaves():
        found.setdefault(_key(part), _Sum()).add(part)
    return found


NOTHING: Final = _Sum()


def _kinds(report: Report) -> dict[tuple[str, str], tuple[str, str]]:
    """What stands at each place, and how the place is written: the class of objects, and the kind of containers."""
    paths: dict[tuple[str, str], str] = {}
    kinds: dict[tuple[str, str], dict[str, None]] = {}
    for part in report.parts():
        if part.path.startswith("$") and not part.role:
            key = _key(part)
            paths.setdefault(key, part.path)
            kind = part.dtype if part.is_leaf else f"{part.kind} {part.dtype}".strip()
            kinds.setdefault(key, {})[kind or "?"] = None
    return {key: (path, " | ".join(kinds[key])) for key, path in paths.items()}


def _changes(before: Report, after: Report) -> Iterator[SizeChange]:
    olds, news = _sums(before), _sums(after)
    for key in {**olds, **news}:
        old, new = olds.get(key, NOTHING), news.get(key, NOTHING)
        part = new.part or old.part
        assert part is not None
        yield SizeChange(
            part.path,
            part.role,
            old.nbytes,
            new.nbytes,
            old.items,
            new.items,
            old.encoding,
            new.encoding,
            _word(old, new),
            _note(old.part, new.part),
        )


def _word(old: _Sum, new: _Sum) -> str:
    if old.part is None:
        return "added"
    if new.part is None:
        return "removed"
    if new.nbytes != old.nbytes:
        return "grown" if new.nbytes > old.nbytes else "shrunk"
    return "same" if old.encoding == new.encoding else "recoded"


def _note(old: Part | None, new: Part | None) -> str:
    if old is None or new is None or old.dtype == new.dtype:
        return ""
    return f"{old.dtype or '?'} -> {new.dtype or '?'}"


HEAD: Final = ("where", "change", "before", "after", "bytes", "items", "encoding")
NUMBERS: Final = frozenset({2, 3, 4, 5})


class Difference:
    """What changed; as text, HTML, a dict, or rows.

    Attributes
    ----------
    before, after : Report
    changes : tuple of SizeChange
        Every place of both, the largest change first, those without any at the end. Their deltas add up to `delta`.
    classes : tuple of str
        Where a container or a class is another one: ``$[*]: TABLE -> RECORD shop:Order``.
    """

    def __init__(self, before: Report, after: Report) -> None:
        self.before = before
        self.after = after
        self.changes = tuple(
            sorted(_changes(before, after), key=lambda one: (-abs(one.delta), one.change == "same", one.path))
        )
        olds, news = _kinds(before), _kinds(after)
        self.classes = tuple(
            f"{path}: {olds[key][1]} -> {kind}"
            for key, (path, kind) in news.items()
            if key in olds and olds[key][1] != kind
        )

    @property
    def delta(self) -> int:
        """How many bytes the second payload has more, without envelopes."""
        return self.after.size - self.before.size

    def to_rows(self) -> list[dict[str, object]]:
        """A dict for each place, the largest change first."""
        return [{**one._asdict(), "delta": one.delta} for one in self.changes]

    def to_dict(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {
            "before": _summary(self.before),
            "after": _summary(self.after),
            "delta": self.delta,
            "classes": list(map(plain, self.classes)),
            "changes": self.to_rows(),
        }

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self, *, sizes: str = "exact") -> str:
        """As text; with ``sizes="human"``, bytes in the unit in which they are read."""
        rows, rest = self._cells(SIZES[sizes])
        table = draw_table(HEAD, rows, numbers=NUMBERS, widest=36) if rows else []
        return "\n".join([*self._lines(), *table, *rest])

    def _repr_html_(self) -> str:
        rows, rest = self._cells(exact)
        most = max((abs(one.delta) for one in self.changes), default=0)
        bars = [abs(one.delta) / most if most else 0.0 for one in self.changes[: len(rows)]]
        return html_table(self._lines(), HEAD, rows, numbers=NUMBERS, bars=bars, notes=rest)

    def _lines(self) -> list[str]:
        share = f" ({self.delta / self.before.size:+.1%})" if self.before.size else ""
        lines = [f"{self.before.size:,} -> {self.after.size:,} bytes, {self.delta:+,}{share}"]
        if self.before.nbytes != self.before.size or self.after.nbytes != self.after.size:
            lines.append(f"in their envelopes {self.before.nbytes:,} -> {self.after.nbytes:,} bytes")
        for name, report in (("before", self.before), ("after", self.after)):
            if report.error is not None:
                lines.append(f"{name} is damaged: {report.error}")
        lines += self.classes[:5]
        if len(self.classes) > 5:
            lines.append(f"{len(self.classes) - 5:,} more places hold something else")
        return [_cut(plain(line)) for line in lines]

    def _cells(self, size_text: Callable[[int], str]) -> tuple[list[tuple[str, ...]], list[str]]:
        """Rows to show, and what is to be said of the others."""
        changed = [one for one in self.changes if one.change != "same"]
        shown, left = changed[:LINES], changed[LINES:]
        rest = []
        if left:
            rest.append(f"{len(left):,} smaller changes, {sum(one.delta for one in left):+,} bytes")
        same = len(self.changes) - len(changed)
        if same:
            rest.append(f"{same:,} places as before")
        return [_row(one, size_text) for one in shown], rest


def _row(one: SizeChange, size_text: Callable[[int], str]) -> tuple[str, ...]:
    items = f"{one.items_after - one.items_before:+,}" if one.items_after != one.items_before else ""
    encodings: Iterable[str] = dict.fromkeys(filter(None, (one.encoding_before, one.encoding_after)))
    text = " -> ".join(encodings)
    note = f"; {one.note}" if one.note else ""
    where = f"{one.path} {one.role}".strip()
    delta = ("-" if one.delta < 0 else "+") + size_text(abs(one.delta))
    return where, one.change, size_text(one.before), size_text(one.after), delta, items, text + note


def _cut(line: str) -> str:
    return line if len(line) <= 100 else line[:99] + "…"


def _summary(report: Report) -> dict[str, object]:
    return {
        "wire": report.wire,
        "nbytes": report.nbytes,
        "size": report.size,
        "error": None if report.error is None else plain(str(report.error)),
    }
