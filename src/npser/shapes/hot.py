"""Hot shapes: the two loops of `build`, unrolled into one function for a shape that keeps coming back.

Strategy: walk the program once and write down what the loops would do: first every `open` in pre-order, then every
`close` in reverse. Single leaves become a bare call of an iterator, tables a comprehension, single dicts a display; any
other node is called through its own `open` and `close`, so both ways build the same value. The source is made of our
own identifiers and numbers; keys are bound afterwards. Which leaf stands where is looked up while running, so a leaf
that is None today and text tomorrow runs the same function. Whatever goes wrong in here is thrown away: the loops run
again and say what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from npser.shapes.generated import bind, can_share, compile_maker, new_row_class
from npser.shapes.leaves import Leaf, Nothing
from npser.shapes.mappings import Tables
from npser.shapes.sequences import Rows, Sequences
from npser.shapes.templates import Generated
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.shapes.node import Node, Program

__all__ = ["MAX_HOT_NODES", "compile_program", "program_source"]

MAX_HOT_NODES = 1500
"""Larger shapes are never compiled: it takes about ten microseconds a node, and their loops cost less beside their
data; benchmarks/thresholds_shapes.py::sweep_hot."""

_numbers = count(1)


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
    """

    def __init__(self) -> None:
        self.opens: list[str] = []
        self.closes: list[Callable[[], list[str]]] = []
        self.things: list[Any] = []
        self.keys: list[str] = []

    def key(self, text: str) -> str:
        """A placeholder for a key."""
        self.keys.append(text)
        return f"'f{len(self.keys) - 1}'"

    def bound(self, thing: Any) -> str:
        """A name for a node, or for another thing that the source uses."""
        self.things.append(thing)
        return f"g{len(self.things) - 1}"


Context = str  # over how many instances a node runs: "1", or the name of a variable


def program_source(program: Program) -> tuple[Generated, Emitter]:
    """The source for a program, and what it is bound to."""
    out = Emitter()
    contexts: list[Context] = ["1"]
    children: list[list[int]] = []  # of each node, the numbers of its children
    places: list[tuple[int, int]] = []  # a stack: parent, how many of its children are still to come
    slot = 0
    for number, node in enumerate(program.nodes):
        children.append([])
        if places:
            parent, left = places.pop()
            children[parent].append(number)
            if left > 1:
                places.append((parent, left - 1))
        if node.children:
            places.append((number, node.children))
        n = contexts.pop()
        if n != "1" and node.container and not node.slots:
            out.opens.append(f"b.charge({n})")
        emit = _EMITTERS.get(type(node), _emit_any)
        if emit is not _emit_any and not _is_plain(node, n):
            emit = _emit_any
        contexts += reversed(emit(out, node, number, slot, n, children[number]))
        slot += node.slots
    names = "".join(f"g{index}, " for index in range(len(out.things))).rstrip()
    unpack = f"    {names} = things\n" if names else ""
    body = [*out.opens, "s.close()", *(line for lines in reversed(out.closes) for line in lines())]
    source = (
        f"def make(things):\n{unpack}    def build(b, s, t, k):\n"
        + "".join(f"        {line}\n" for line in body)
        + "        return v0\n    return build\n"
    )
    return Generated(f"shape_{next(_numbers)}", source), out


def compile_program(program: Program) -> tuple[Generated, Callable[..., Any]]:
    """The function that builds a value of this shape: build(builder, slots, takers, kinds)."""
    generated, out = program_source(program)
    make = compile_maker(generated, {"int": int, "zip": zip, "list": list, "tuple": tuple, "type": type})
    return generated, bind(make(out.things), out.keys)


def _is_plain(node: Node, n: Context) -> bool:
    """Whether a node's fast form holds where it runs over n instances."""
    if isinstance(node, Sequences):
        return n == "1" and node.tag in (Tag.LIST, Tag.TUPLE)
    if isinstance(node, Rows):
        return node.tag != Tag.SLICE
    return not isinstance(node, Tables) or bool(node.keys) or n == "1"


def _emit_leaf(
    out: Emitter, node: Node, number: int, slot: int, n: Context, _children: list[int]
) -> list[Context]:
    if n == "1":
        out.opens.append(f"v{number} = t[k[{slot}]]()")
    else:
        out.opens += [f"s.next = {slot}", f"v{number} = s.{'cells' if node.in_row else 'many'}({n})"]
    return []


def _emit_nothing(
    out: Emitter, node: Node, number: int, _slot: int, n: Context, _children: list[int]
) -> list[Context]:
    if n == "1":
        return _emit_any(out, node, number, _slot, n, _children)
    out.opens += [f"if {n}:", "    raise s.mismatch()", f"v{number} = []"]
    return []


def _emit_sequence(
    out: Emitter, node: Node, number: int, slot: int, _n: Context, children: list[int]
) -> list[Context]:
    length = f"n{number}"
    out.opens += [
        f"{length} = t[k[{slot}]]()",
        f"if type({length}) is not int or {length} < 0:",
        "    raise s.mismatch()",
    ]
    assert isinstance(node, Sequences)
    make = "tuple" if node.tag == Tag.TUPLE else ""
    out.closes.append(lambda: [f"v{number} = {make}(v{children[0]})"])
    return [length]


def _emit_table(
    out: Emitter, node: Node, number: int, _slot: int, n: Context, children: list[int]
) -> list[Context]:
    assert isinstance(node, Tables)
    keys = [out.key(key) for key in node.keys]
    shared = out.bound(new_row_class()) if n != "1" and can_share(node.keys) else ""

    def lines() -> list[str]:
        if n == "1":
            return [f"v{number} = {{{_pairs(keys, children, 'v')}}}"]
        if shared:
            stores = [f"    o.{key[1:-1]} = c{child}" for key, child in zip(keys, children, strict=True)]
            return [
                f"v{number} = []",
                f"push = v{number}.append",
                f"for {_each(children, 'c')} in zip({_each(children, 'v')}):",
                f"    o = {shared}()",
                *stores,
                "    push(o.__dict__)",
            ]
        row = f"{{{_pairs(keys, children, 'c')}}}"
        return [f"v{number} = [{row} for {_each(children, 'c')} in zip({_each(children, 'v')})]"]

    out.closes.append(lines)
    return [n] * node.children


def _emit_row(out: Emitter, node: Node, number: int, _slot: int, n: Context, children: list[int]) -> list[Context]:
    assert isinstance(node, Rows)
    is_list = node.tag == Tag.LIST_ROW

    def lines() -> list[str]:
        if n == "1":
            row = f"[{_each(children, 'v')}]" if is_list else f"({_each(children, 'v')})"
            return [f"v{number} = {row}"]
        columns = _each(children, "v")
        if is_list:
            return [f"v{number} = [[{_each(children, 'c')}] for {_each(children, 'c')} in zip({columns})]"]
        return [f"v{number} = list(zip({columns}))"]

    out.closes.append(lines)
    return [n] * node.children


def _emit_any(out: Emitter, node: Node, number: int, slot: int, n: Context, children: list[int]) -> list[Context]:
    """Through the node's own `open` and `close`; how many instances its children have is known when running."""
    name = out.bound(node)
    out.opens += [f"s.next = {slot}", f"q{number} = {name}.open(b, {n})"]
    counts = [f"n{number}_{child}" for child in range(node.children)]
    out.opens += [f"{each} = b.counts.pop()" for each in counts]
    last = "[0]" if n == "1" else ""

    def lines() -> list[str]:
        columns = "".join(f"v{child}, " for child in children)
        return [f"v{number} = {name}.close(b, {n}, q{number}, [{columns}]){last}"]

    out.closes.append(lines)
    return counts


def _each(children: list[int], prefix: str) -> str:
    return "".join(f"{prefix}{child}, " for child in children)


def _pairs(keys: list[str], children: list[int], prefix: str) -> str:
    return ", ".join(f"{key}: {prefix}{child}" for key, child in zip(keys, children, strict=True))


Emit = Callable[[Emitter, "Node", int, int, Context, list[int]], list[Context]]

_EMITTERS: Final[dict[type, Emit]] = {
    Leaf: _emit_leaf,
    Nothing: _emit_nothing,
    Sequences: _emit_sequence,
    Tables: _emit_table,
    Rows: _emit_row,
}
