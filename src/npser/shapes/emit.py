"""The source of a hot shape's reader: what the two loops of `build` would do, written down node by node.

Strategy: first every `open` in pre-order, then every `close` in reverse. Single leaves become local variables that one
assignment unpacks from the numbers and one from the texts of the payload, tables a comprehension, single dicts a
display; any other node is called through its own `open` and `close`, so both ways build the same value. The source is
made of our own identifiers and numbers; keys are bound afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.sink import FREE_ITEMS
from npser.columns.bodies import ARRAY
from npser.columns.singles import F64, FALSE, I64, NONE, TEXT, TRUE, U8
from npser.shapes.generated import MAX_DISPLAY, can_share, new_row_class
from npser.shapes.leaves import LeafRun, Nothing
from npser.shapes.sequences import Rows, Sequences
from npser.shapes.tables import Tables
from npser.shapes.templates import Generated
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.shapes.node import Program

__all__ = [
    "ANY",
    "ARRAYS_OR_BODIES",
    "SIGNATURE",
    "TEXT_LEAF",
    "Context",
    "Emit",
    "Emitter",
    "Place",
    "each",
    "emit_any",
    "emit_nothing",
    "emit_row",
    "emit_sequence",
    "emit_table",
    "function_source",
    "has_bodies",
    "is_plain",
    "reader_source",
    "serves_any",
    "write_nodes",
]

MIN_RUN = 3
"""From this many columns side by side on, they are read in one call."""

_NONE, _BOOL, _NUMBER, _TEXT, _BODY, _ARRAY, _ANY = range(7)

ARRAYS_OR_BODIES: Final = frozenset((_BODY, _ARRAY, _ANY))
"""What code that has neither bodies nor spans at hand cannot read."""

TEXT_LEAF: Final = _TEXT


def _class_of(kind: int) -> int:
    if kind == NONE:
        return _NONE
    if kind in (FALSE, TRUE):
        return _BOOL
    if U8 <= kind <= F64:
        return _NUMBER
    if kind == ARRAY:
        return _ARRAY
    return _TEXT if kind == TEXT else _BODY


SIGNATURE: Final = bytes(map(_class_of, range(256)))
"""From the kinds of single leaves to what generated code must know of them; for `bytes.translate`."""

ANY: Final = bytes((_ANY,))
"""Times the number of single leaves: the signature of a function that serves whatever they are."""

_numbers = count(1)


def has_bodies(signature: bytes) -> bool:
    """Whether some single leaves have bodies."""
    return _BODY in signature or _ARRAY in signature


def serves_any(signature: bytes) -> bool:
    """Whether nothing is known of the single leaves."""
    return _ANY in signature


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
    """

    mismatch: str = "raise s.mismatch()"
    """What the source does with a slot that does not fit the shape."""

    def __init__(self, signature: bytes) -> None:
        self.scalars: dict[str, str] = {}
        self.late: dict[str, str] = {}
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
        for kinds, source in (((_NUMBER,), "x"), ((_TEXT,), "y"), ((_BODY, _ARRAY, _ANY), "z")):
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

    def closing(self) -> list[str]:
        """The lines of the second half."""
        return [line for lines in reversed(self.closes) for line in lines()]

    def seek(self, column: int) -> None:
        """Make a column the next one for a node's own `open`."""
        self.opens.append(f"s.next = {column}")

    def charge(self, n: Context) -> None:
        """Draw the instances of a container that has no slot from the budget."""
        self.opens += [f"if {n} > {FREE_ITEMS}:", f"    s.cursor.expand({n})"]


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
        The expressions of its children, once they are all known.
    """

    __slots__ = ("children", "column", "n", "node", "number", "single")

    def __init__(self, node: Any, number: int, single: int, column: int, n: Context) -> None:
        self.node = node
        self.number = number
        self.single = single
        self.column = column
        self.n = n
        self.children: list[str] = []


Emit = Callable[["Emitter", Place], list[Context]]
"""Writes one node down; gives over how many instances each of its children runs."""


def reader_source(program: Program, signature: bytes) -> tuple[Generated, Emitter]:
    """The source for a program and a signature, and what it is bound to."""
    out = Emitter(signature)
    write_nodes(out, program, lambda place: _EMITTERS.get(type(place.node), emit_any) if is_plain(place) else emit_any)
    builder = ["b = builder(None, s, s.cursor, p, program)"] if out.needs_builder else []
    check = ["s.close()"] if program.columns else []  # without columns that is known before
    body = [*builder, *out.unpacks, *out.opens, *check, *out.closing()]
    return function_source(out, "s, p, k, x, y, z, j", body), out


def write_nodes(out: Emitter, program: Program, emit_of: Callable[[Place], Emit]) -> None:
    """Write all nodes of a program down, in pre-order, each with what `emit_of` gives for it."""
    contexts: list[Context] = []
    above: list[tuple[Place, int]] = []  # a stack: parent, how many of its children are still to come
    single = column = 0
    for number, node in enumerate(program.nodes):
        n = "1"
        if not node.single:
            n = contexts.pop()
            if node.width > 1:
                del contexts[1 - node.width :]
        place = Place(node, number, single, column, n)
        if n != "1" and node.container and not node.slots:
            out.charge(n)
        contexts += reversed(emit_of(place)(out, place))
        if node.single:
            single += node.slots
            column += node.more
        else:
            column += node.slots + node.more
        if above:
            parent, left = above.pop()
            parent.children += _expressions(out, place)
            if left > node.width:
                above.append((parent, left - node.width))
        if node.children:
            above.append((place, node.children))


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


def _expressions(out: Emitter, place: Place) -> list[str]:
    if type(place.node) is LeafRun:
        if place.node.single:
            return out.leaves[place.single : place.single + place.node.width]
        return [f"v{place.number}_{leaf}" for leaf in range(place.node.width)]
    return [f"v{place.number}"]


def is_plain(place: Place) -> bool:
    """Whether a node's fast form holds where it runs over n instances."""
    node = place.node
    if isinstance(node, Sequences):
        return node.single and node.tag in (Tag.LIST, Tag.TUPLE)
    if isinstance(node, Rows):
        return node.tag != Tag.SLICE
    return not isinstance(node, Tables) or bool(node.keys) or node.single


def _emit_leaves(out: Emitter, place: Place) -> list[Context]:
    node, first = place.node, place.column
    if node.single:
        start, stop = place.single, place.single + node.width
        if _ARRAY in out.signature[start:stop]:
            out.opens.append(out.mismatch)  # what stands for it is where it is, not what it is
        elif _ANY in out.signature[start:stop]:
            out.opens += [f"if {ARRAY} in k[{start}:{stop}]:", f"    {out.mismatch}"]
        return []
    names = [f"v{place.number}_{leaf}" for leaf in range(node.width)]
    if node.in_row and node.width >= MIN_RUN:
        out.opens.append(f"{each(names).rstrip()} = s.run({first}, {first + node.width}, {place.n})")
    else:
        table = "cells" if node.in_row else "lists"
        out.opens += [f"{name} = {table}[j[{first + leaf}]](s, {place.n})" for leaf, name in enumerate(names)]
    return []


def emit_nothing(out: Emitter, place: Place) -> list[Context]:
    """The child of containers that are all empty."""
    out.opens += [f"if {place.n}:", f"    {out.mismatch}", f"v{place.number} = []"]
    return []


def emit_sequence(out: Emitter, place: Place) -> list[Context]:
    """A single list or tuple."""
    length, leaf = f"n{place.number}", out.leaves[place.single]
    known = out.signature[place.single]
    if known == _ANY:
        out.opens += [f"if not {U8} <= k[{place.single}] <= {I64}:", f"    {out.mismatch}"]
    elif known != _NUMBER:
        out.opens.append(out.mismatch)  # an int in a body is none of structure
    out.opens += [
        f"{length} = {leaf}",
        f"if type({length}) is not int or {length} < 0:",
        f"    {out.mismatch}",
    ]
    make = "tuple" if place.node.tag == Tag.TUPLE else ""
    out.closes.append(lambda: [f"v{place.number} = {make}({out.columns(place)[0]})"])
    return [length]


def emit_table(out: Emitter, place: Place) -> list[Context]:
    """Dicts of the same keys."""
    node = place.node
    keys = [out.key(key) for key in node.keys]
    shared = out.bound(new_row_class()) if can_share(node.keys) else ""
    blank = out.bound(dict.fromkeys(node.keys)) if not shared and len(keys) > MAX_DISPLAY else ""

    def dict_lines(cells: list[str]) -> tuple[list[str], str]:
        """How to make one dict of these cells: some lines, and the expression that it is."""
        if shared:
            stores = [f"o.{key[1:-1]} = {cell}" for key, cell in zip(keys, cells, strict=True)]
            return [f"o = {shared}()", *stores], "o.__dict__"
        if blank:
            stores = [f"d[{key}] = {cell}" for key, cell in zip(keys, cells, strict=True)]
            return [f"d = {blank}.copy()", *stores], "d"
        return [], f"{{{_pairs(keys, cells)}}}"

    def lines() -> list[str]:
        if node.single:
            before, made = dict_lines(out.columns(place))
            return [*before, f"v{place.number} = {made}"]
        before, made = dict_lines([out.scalars.get(name, f"c{at}") for at, name in enumerate(place.children)])
        zipped = {
            f"c{at}": out.late.get(name, name) for at, name in enumerate(place.children) if name not in out.scalars
        }
        loop = f"for {each(zipped)} in zip({each(zipped.values())})" if zipped else f"for _ in repeat(None, {place.n})"
        if not before:
            return [f"v{place.number} = [{made} {loop}]"]
        return [
            f"v{place.number} = []",
            f"push = v{place.number}.append",
            f"{loop}:",
            *[f"    {line}" for line in before],
            f"    push({made})",
        ]

    out.closes.append(lines)
    return [] if node.single else [place.n] * node.children


def emit_row(out: Emitter, place: Place) -> list[Context]:
    """Lists or tuples of one length."""
    node = place.node
    is_list = node.tag == Tag.LIST_ROW

    def lines() -> list[str]:
        columns = out.columns(place)
        if node.single:
            row = f"[{each(columns)}]" if is_list else f"({each(columns)})"
            return [f"v{place.number} = {row}"]
        cells = [f"c{at}" for at in range(len(columns))]
        if is_list:
            return [f"v{place.number} = [[{each(cells)}] for {each(cells)} in zip({each(columns)})]"]
        return [f"v{place.number} = list(zip({each(columns)}))"]

    out.closes.append(lines)
    return [] if node.single else [place.n] * node.children


def emit_any(out: Emitter, place: Place) -> list[Context]:
    """Through the node's own `open` and `close`; how many instances its children have is known when running."""
    node, number = place.node, place.number
    name = out.bound(node)
    out.needs_builder = True
    if node.single and node.slots:
        start, stop = place.single, place.single + node.slots
        out.opens.append(f"b.singles = singles(k[{start}:{stop}], [{each(out.leaves[start:stop])}], s)")
    if not node.single or node.more:
        out.seek(place.column)
    out.opens.append(f"q{number} = {name}.open(b, {place.n})")
    if node.passes and not node.single:
        out.opens.append("b.counts.clear()")
        counts = [place.n] * node.children
    else:
        counts = [] if node.passes else [f"n{number}_{child}" for child in range(node.children)]
        out.opens += [f"{each} = b.counts.pop()" for each in counts]

    def lines() -> list[str]:
        columns = each(out.columns(place))
        if node.single:
            return [f"v{number} = {name}.close_single(b, q{number}, [{columns}])"]
        return [f"v{number} = {name}.close(b, {place.n}, q{number}, [{columns}])"]

    out.closes.append(lines)
    return counts


def each(names: Iterable[str]) -> str:
    """Names with a comma behind each, as a tuple display or its target."""
    return "".join(f"{name}, " for name in names)


def _pairs(keys: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in zip(keys, values, strict=True))


_EMITTERS: Final[dict[type, Callable[[Emitter, Place], list[Context]]]] = {
    LeafRun: _emit_leaves,
    Nothing: emit_nothing,
    Sequences: emit_sequence,
    Tables: emit_table,
    Rows: emit_row,
}
