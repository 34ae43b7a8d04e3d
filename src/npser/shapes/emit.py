"""The source of a hot shape's reader: what the two loops of `build` would do, written down node by node.

Strategy: first every `open` in pre-order, then every `close` in reverse. Single leaves become local variables that one
assignment unpacks from the numbers and one from the texts of the payload, tables a comprehension, single dicts a
display; any other node is called through its own `open` and `close`, so both ways build the same value. The source is
made of our own identifiers and numbers; keys are bound afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from npser.columns.bodies import ARRAY
from npser.columns.singles import I64, U8
from npser.shapes.emitrows import emit_row, emit_table
from npser.shapes.emitter import (
    ANY_LEAF,
    ARRAY_LEAF,
    NUMBER_LEAF,
    Context,
    Emit,
    Emitter,
    Place,
    each,
    function_source,
)
from npser.shapes.leaves import LeafRun, Nothing
from npser.shapes.sequences import Rows, Sequences
from npser.shapes.tables import Tables
from npser.tags import Node as Tag
from npser.weights import SHAPE_BYTE, SINGLE

if TYPE_CHECKING:
    from npser.shapes.node import Program
    from npser.shapes.templates import Generated

__all__ = ["emit_any", "emit_nothing", "emit_sequence", "is_plain", "reader_source", "write_nodes"]

MIN_RUN = 3
"""From this many columns side by side on, they are read in one call."""


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
        if node.weight and (n != "1" or (node.slots and node.weight > SINGLE + SHAPE_BYTE)):
            out.charge(n, node.weight)
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
        if ARRAY_LEAF in out.signature[start:stop]:
            out.opens.append(out.mismatch)  # what stands for it is where it is, not what it is
        elif ANY_LEAF in out.signature[start:stop]:
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
    if known == ANY_LEAF:
        out.opens += [f"if not {U8} <= k[{place.single}] <= {I64}:", f"    {out.mismatch}"]
    elif known != NUMBER_LEAF:
        out.opens.append(out.mismatch)  # an int in a body is none of structure
    out.opens += [
        f"{length} = {leaf}",
        f"if type({length}) is not int or {length} < 0:",
        f"    {out.mismatch}",
    ]
    make = "tuple" if place.node.tag == Tag.TUPLE else ""
    out.closes.append(lambda: [f"v{place.number} = {make}({out.columns(place)[0]})"])
    return [length]


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
        out.opens += [f"{name} = b.counts.pop()" for name in counts]

    def lines() -> list[str]:
        columns = each(out.columns(place))
        if node.single:
            return [f"v{number} = {name}.close_single(b, q{number}, [{columns}])"]
        return [f"v{number} = {name}.close(b, {place.n}, q{number}, [{columns}])"]

    out.closes.append(lines)
    return counts


_EMITTERS: Final[dict[type, Emit]] = {
    LeafRun: _emit_leaves,
    Nothing: emit_nothing,
    Sequences: emit_sequence,
    Tables: emit_table,
    Rows: emit_row,
}
