"""How figures are spelled, and Markdown tables of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["BEGIN", "END", "count", "duration", "markdown", "ratio", "replaced"]

BEGIN = "<!-- benchmark:begin -->"
END = "<!-- benchmark:end -->"


def ratio(value: float | None) -> str:
    """Two digits after the point, four where it is tiny.

    >>> ratio(1.207), ratio(0.0027), ratio(None)
    ('1.21', '0.0027', '–')
    """
    return "–" if value is None or math.isnan(value) else f"{value:.2f}" if value >= 0.01 else f"{value:.4f}"


def count(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def duration(seconds: float) -> str:
    """Three digits with a unit.

    >>> duration(1.5e-6), duration(0.00123), duration(0.25), duration(2.5e-9)
    ('1.50 µs', '1.23 ms', '250 ms', '2.50 ns')
    """
    scale, unit = next((s, u) for s, u in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")) if seconds * s < 1000 or u == "ms")
    scaled = seconds * scale
    return f"{scaled:.{max(0, 2 - math.floor(math.log10(max(scaled, 1e-3))))}f} {unit}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and the others are figures.

    >>> print(markdown(["a", "b"], [["x", "1"]]))
    | a | b |
    | --- | ---: |
    | x | 1 |
    """
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def replaced(text: str, section: str, first: str = BEGIN, last: str = END) -> str | None:
    """The text with what stands between the markers replaced; None where it has no markers.

    >>> replaced(f"a {BEGIN} old {END} b", "new") == f"a {BEGIN}\\nnew\\n{END} b"
    True
    """
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    return f"{before}{first}\n{section.strip()}\n{last}{after}" if begin and end else None
