"""`%load_ext npser`: the value of an expression, inspected and compared in a notebook or in IPython.

Strategy: `%npser expression` evaluates what the user wrote, as any cell does, and shows what `inspect`, `compare` and
`advise` give; `%%npser` takes a whole cell. The objects are shown as the front end likes them best, HTML or text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from npser.codec import dumps
from npser.inspection.advise import advise
from npser.inspection.compare import compare
from npser.inspection.report import inspect
from npser.inspection.tabulate import draw_table

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["VERBS", "load_ipython_extension", "show"]


def _inspected(value: Any) -> object:
    is_payload = isinstance(value, (bytes, bytearray, memoryview)) and inspect(value).wire
    return inspect(value if is_payload else dumps(value))


VERBS: Final[dict[str, Callable[[Any], object]]] = {
    "inspect": _inspected,
    "compare": compare,
    "advise": advise,
}
"""First word of a line -> what is shown of the value; without one of them, the first two."""

DEFAULT: Final = ("inspect", "compare")

HELP: Final = "\n".join(
    draw_table(
        ("%npser", "what is shown of the value"),
        [
            ("expression", "where its bytes go, and how other codecs do"),
            ("inspect expression", "where its bytes go; a payload is taken as it is"),
            ("compare expression", "bytes, times and exactness of other codecs"),
            ("advise expression", "what would make it smaller or faster"),
        ],
        numbers=frozenset(),
    )
)


def show(line: str, evaluate: Callable[[str], Any]) -> list[object]:
    """What there is to show of a line: a report, a comparison, advice.

    >>> [type(shown).__name__ for shown in show("inspect [1, 2]", lambda _: [1, 2])]
    ['Report']
    """
    first, _, rest = line.strip().partition(" ")
    verbs, expression = ((first,), rest) if first in VERBS and rest.strip() else (DEFAULT, line)
    value = evaluate(expression.strip())
    return [VERBS[verb](value) for verb in verbs]


def load_ipython_extension(ipython: Any) -> None:
    """Give IPython the magics ``%npser`` and ``%%npser``."""

    def npser(line: str, cell: str | None = None) -> None:
        from IPython import display as front_end

        display: Any = front_end.display
        text = f"{line} {cell}" if cell is not None else line
        if not text.strip():
            print(HELP)
            return
        for shown in show(text, ipython.ev):
            display(shown)

    npser.__doc__ = f"Inspect and compare the value of an expression.\n\n{HELP}"
    ipython.register_magic_function(npser, "line_cell", "npser")
