"""What is shared while the source of a reader is being written: the lines so far, and the node that is being written.

Strategy: a node's code has two halves, for `open` and for `close`. The second half is written when everything below is
known, so it is kept as a function. A column need not be a variable: it may be one value for all, an expression that is
worth making only where it is used, or something that the loop of its parent makes row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, Final, NamedTuple

from npser.columns.bodies import ARRAY
from npser.columns.singles import F64, FALSE, NONE, TEXT, TRUE, U8
from npser.shapes.templates import Generated

__all__ = [
    "ANY",
    "ANY_LEAF",
    "ARRAYS_OR_BODIES",
    "ARRAY_LEAF",
    "NUMBER_LEAF",
    "SIGNATURE",
    "TEXT_LEAF",
    "Context",
    "Emit",
    "Emitter",
    "Inline",
    "Place",
    "each",
    "function_source",
    "has_bodies",
    "serves_any",
]

_NONE, _BOOL, NUMBER_LEAF, TEXT_LEAF, _BODY, ARRAY_LEAF, ANY_LEAF = range(7)

ARRAYS_OR_BODIES: Final = frozenset((_BODY, ARRAY_LEAF, ANY_LEAF))
"""What code that has neither bodies nor spans at hand cannot read."""


def _class_of(kind: int) -> int:
    if kind == NONE:
        return _NONE
    if kind in (FALSE, TRUE):
        return _BOOL
    if U8 <= kind <= F64:
        return NUMBER_LEAF
    if kind == ARRAY:
        return ARRAY_LEAF
    return TEXT_LEAF if kind == TEXT else _BODY


SIGNATURE: Final = bytes(map(_class_of, range(256)))
"""From the kinds of single leaves to what generated code must know of them; for `bytes.translate`."""

ANY: Final = bytes((ANY_LEAF,))
"""Times the number of single leaves: the signature of a function that serves whatever they are."""

_numbers = count(1)


def has_bodies(signature: bytes) -> bool:
    """Whether some single leaves have bodies."""
    return _BODY in signature or ARRAY_LEAF in signature


def serves_any(signature: bytes) -> bool:
    """Whether nothing is known of the single leaves."""
    return ANY_LEAF in signature


Context = str
"""Over how many instances a node runs: "1", or the name of a variable."""


class Place:
    """One node while its code is being written.

    Attributes
    ----------
    number : int
        Its place in the program; its value is in the variable of that number.
    single, column : int
        The numbers of its first single slot and of its first column.
    n : Context
        Over how many instances it runs.
    children : list of str
        The names of its children, once they are all known.
    """

    __slots__ = ("children", "column", "n", "node", "number", "single")

    def __init__(self, node: Any, number: int, single: int, column: int, n: Context) -> None:
        self.node = node
        self.number = number
        self.single = single
        self.column = column
        self.n = n
        self.children: list[str] = []


class Inline(NamedTuple):
    """A column that the loop of its parent makes, one value in each pass.

    Parameters
    ----------
    first : list of str
        Lines in front of the loop.
    zipped : dict of str to str
        Variables of the loop, and the expressions that they run over.
    lines : list of str
        What is done in each pass before the value is there.
    value : str
        The expression that the value is then.
    """

    first: list[str]
    zipped: dict[str, str]
    lines: list[str]
    value: str


class Emitter:
    """Collects the lines of one function.

    Attributes
    ----------
    opens : list of str
        The first half.
    closes : list of callables
        Give the second half, in reverse, once every node knows its children.
    things : list
        Nodes that are called through their own methods, and classes of rows; the source knows them as g0, g1, …
    keys : list of str
        The texts that take the place of 'f0', 'f1', …
    signature : bytes
        What each single leaf is.
    leaves : list of str
        For each single leaf the expression that it is.
    scalars : dict of str to str
        Columns whose cells are all one value, and the variable of that; such a column has no variable of its own.
    late : dict of str to str
        Columns that become what they are only where they are used, and the expressions for that.
    inline : dict of str to callable
        Columns that the loop of their parent makes, and what gives their `Inline`.
    levels : dict of int to int
        How many loops up the one is that makes the values of a node, by the node's id.
    """

    mismatch: str = "raise s.mismatch()"
    """What the source does with a slot that does not fit the shape."""

    def __init__(self, signature: bytes) -> None:
        self.scalars: dict[str, str] = {}
        self.late: dict[str, str] = {}
        self.inline: dict[str, Callable[[], Inline]] = {}
        self.levels: dict[int, int] = {}
        self.opens: list[str] = []
        self.closes: list[Callable[[], list[str]]] = []
        self.things: list[Any] = []
        self.keys: list[str] = []
        self.needs_builder = False
        self.signature = signature
        self.leaves = [
            ("None", f"k[{slot}] == {TRUE}", f"x{slot}", f"y{slot}", f"z{slot}", f"z{slot}", f"z{slot}")[kind]
            for slot, kind in enumerate(signature)
        ]
        self.unpacks = []
        for kinds, source in (((NUMBER_LEAF,), "x"), ((TEXT_LEAF,), "y"), ((_BODY, ARRAY_LEAF, ANY_LEAF), "z")):
            names = "".join(f"{source}{slot}, " for slot, found in enumerate(signature) if found in kinds)
            if names:
                self.unpacks.append(f"{names.rstrip()} = {source}")

    def key(self, text: str) -> str:
        """A placeholder for a key."""
        self.keys.append(text)
        return f"'f{len(self.keys) - 1}'"

    def bound(self, thing: Any) -> str:
        """A name for a node, or for another thing that the source uses."""
        self.things.append(thing)
        return f"g{len(self.things) - 1}"

    def columns(self, place: Place) -> list[str]:
        """The expressions of a node's children."""
        return [self.late.get(name, name) for name in place.children]

    def cell(self, name: str) -> Inline:
        """One cell of a column in each pass of a loop."""
        if name in self.scalars:
            return Inline([], {}, [], self.scalars[name])
        if name in self.inline:
            return self.inline[name]()
        return Inline([], {f"c{name[1:]}": self.late.get(name, name)}, [], f"c{name[1:]}")

    def closing(self) -> list[str]:
        """The lines of the second half."""
        return [line for lines in reversed(self.closes) for line in lines()]

    def seek(self, column: int) -> None:
        """Make a column the next one for a node's own `open`."""
        self.opens.append(f"s.next = {column}")

    def charge(self, n: Context, weight: int) -> None:
        """Draw instances of so many cells from the budget."""
        self.opens.append(f"s.cursor.expand({n} * {weight})")


Emit = Callable[[Emitter, Place], list[Context]]
"""Writes one node down; gives over how many instances each of its children runs."""


def function_source(out: Emitter, arguments: str, body: list[str]) -> Generated:
    """A function of these lines, which gives the value of the first node."""
    names = "".join(f"g{index}, " for index in range(len(out.things))).rstrip()
    unpack = f"    {names} = things\n" if names else ""
    source = (
        f"def make(things):\n{unpack}    def build({arguments}):\n"
        + "".join(f"        {line}\n" for line in body)
        + "        return v0\n    return build\n"
    )
    return Generated(f"shape_{next(_numbers)}", source)


def each(names: Iterable[str]) -> str:
    """Names with a comma behind each, as a tuple display or its target."""
    return "".join(f"{name}, " for name in names)
