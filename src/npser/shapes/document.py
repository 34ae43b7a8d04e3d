"""Documents: dicts and tuples within each other whose keys come back, taken apart by generated code.

Strategy: the mirror of `hot`. A dict or a tuple that was met often enough is looked at once: which ones are in it, with
which keys. Generated code then takes the next one of the same sort apart into its leaves, which are written many at a
time, and into what is neither a leaf nor such a container, which is written as ever. The types of leaves are not
looked at here, so a leaf that is None today and text tomorrow takes the same way. What does not have the expected keys
is written as ever, too; either way gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count, repeat
from operator import countOf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from npser.blocks.sink import Sink
from npser.columns.kinds import LEAF_TYPES
from npser.columns.leafplans import write_planned
from npser.limits import MAX_DEPTH
from npser.shapes.column import Column
from npser.shapes.generated import compile_maker
from npser.shapes.infer import write_columns
from npser.shapes.keysets import KEY_SETS
from npser.shapes.quick import are_quick, write_items, write_list
from npser.shapes.sequences import MAX_SINGLE_ROW
from npser.shapes.tables import UNIFORM_MAP_KEYS, is_table, is_varied
from npser.shapes.templates import Generated
from npser.shapes.writer import CYCLE_CHECK_DEPTH, ShapeWriter
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.columns.singles import SingleWriter

__all__ = ["Document", "MisfitError", "Parts", "document_of", "write_all"]

MAX_KEYS = 2000
"""Documents of more keys are written as ever: generating code takes about ten microseconds for each."""

MAX_LOOKED_UP = 3
"""Keys of a dict up to which looking them up is faster than unpacking its values;
benchmarks/thresholds_shapes.py::sweep_looked_up."""

MAX_LOOKED_UP_TEXT = 64
"""Characters of a key in generated code."""

_numbers = count(1)
_LEAF: Final = bytes((Tag.LEAF,))
TABLE, TUPLE_ROW = int(Tag.TABLE), int(Tag.TUPLE_ROW)

Parts = tuple[Any, ...]


class Document:
    """How to write values of one sort.

    Parameters
    ----------
    generated : Generated
        The source of `take`.
    take : callable
        From a value to its parts: tuples of leaves, and what is no leaf, in the order of the steps. None, a KeyError
        or a ValueError where the keys are others.
    steps : list of (callable, argument)
        What to write, in that order.

    Attributes
    ----------
    alone : bytes or None
        The shape, where nothing but tables and leaves is in it; then the only part are the leaves.
    """

    __slots__ = ("_steps", "_take", "alone", "generated")

    def __init__(
        self,
        generated: Generated,
        take: Callable[[Any], Parts | None],
        steps: Sequence[tuple[Step, Any]],
    ) -> None:
        self.generated = generated
        self._take = take
        self._steps = steps
        what = [step for step, _ in steps]
        self.alone: bytes | None = steps[1][1].nodes if what == [_write_leaves, _write_stretch] else None

    def take(self, value: dict[Any, Any] | tuple[Any, ...]) -> Parts | None:
        """The parts of a value, or None where it is of another sort."""
        try:
            return self._take(value)
        except (KeyError, ValueError):  # other keys; more, or fewer
            return None

    def write(self, w: ShapeWriter, parts: Parts) -> None:
        """Write the shape and the slots of a value that was taken apart.

        Raises
        ------
        MisfitError
            There is something else in the place of a leaf or a list; what was written is of no use.
        """
        part = iter(parts)
        for step, argument in self._steps:
            step(w, argument, part)


Step = Callable[["ShapeWriter", Any, Iterator[Any]], None]


class MisfitError(Exception):
    """There is something else in the place of a leaf, or of a list."""


class Row(NamedTuple):
    """A tuple, whose items stand one by one in the shape."""

    size: int


class Stretch:
    """Tables, rows and leaves that stand next to each other in the shape, with nothing else between them.

    Attributes
    ----------
    nodes : bytes
        Those nodes, as they are where nothing stands before them.
    """

    __slots__ = ("_key_sets", "_new", "first", "nodes")

    def __init__(self, nodes: Sequence[bytes | int | Row], *, first: bool) -> None:
        self.first = first
        self._new: list[tuple[bytes | None, bytes]] = []  # key set of each node, and what is written of a new one
        for node in nodes:
            if isinstance(node, Row):
                self._new.append((None, bytes((TUPLE_ROW, node.size))))
            elif isinstance(node, int):
                self._new.append((None, _LEAF * node))
            else:
                sink = Sink()
                sink.u8(TABLE)
                sink.uvarint(len(node) << 1)
                self._new.append((node, bytes(sink.out) + node))
        self.nodes, self._key_sets = b"", {}
        w = ShapeWriter(Sink(), None, preserve=False)
        self._write(w)
        self.nodes, self._key_sets = bytes(w.shape.out), w.key_sets

    def write(self, w: ShapeWriter) -> None:
        """Write the nodes."""
        if self.first:
            w.shape.out += self.nodes
            w.key_sets.update(self._key_sets)
        else:
            self._write(w)

    def _write(self, w: ShapeWriter) -> None:
        out, key_sets = w.shape.out, w.key_sets
        for node, new in self._new:
            if node is None:
                out += new
            elif node in key_sets:
                out.append(TABLE)
                w.key_set(node)
            else:
                key_sets[node] = len(key_sets)
                out += new


def write_all(w: SingleWriter, leaves: tuple[Any, ...]) -> None:
    """Write the leaves of a document; MisfitError where one of them is something else."""
    if not write_planned(w, leaves):
        if not LEAF_TYPES.issuperset(map(type, leaves)):
            raise MisfitError
        w.many(leaves)


def _write_leaves(w: ShapeWriter, _argument: None, part: Iterator[Any]) -> None:
    write_all(w.slots.singles, next(part))


def _write_stretch(w: ShapeWriter, stretch: Stretch, _part: Iterator[Any]) -> None:
    stretch.write(w)


def _write_list(w: ShapeWriter, depth: int, part: Iterator[Any]) -> None:
    """What is a list, or a leaf: its length, or the leaf, is among the leaves that were written."""
    value, size = next(part), next(part)
    if type(value) is not list:
        w.shape.out += _LEAF
        return
    items = value.copy()
    if len(items) != size or not are_quick(items, depth):
        raise MisfitError
    write_items(w, items, depth)


def _write_child(w: ShapeWriter, depth: int, part: Iterator[Any]) -> None:
    value = next(part)
    if type(value) is list and write_list(w, value, depth):
        return
    column = Column((value,), depth, single=True)
    if depth >= CYCLE_CHECK_DEPTH:
        w.check_cycles(column)
    w.stack.append(column)
    write_columns(w)


class _Walk:
    """One look at a value: the lines of its code, and the steps of its document.

    Leaves are gathered across the lists between them, whose lengths are leaves as well; other containers may be
    anything, and have leaves of their own, so the leaves before one of those are a part, and those behind it another.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.parts: list[str] = []
        self.keys: list[str] = []
        self.steps: list[tuple[Step, Any]] = []
        self._tables: list[str] = []
        self._nodes: list[bytes | int | Row] = []  # of the stretch: the key set of a table, so many leaves, a row
        self._leaves: list[str] = []
        self._later: tuple[list[str], list[tuple[Step, Any]]] = ([], [])  # parts and steps that follow the leaves
        self._first = True
        self._run = 0
        self._items = 0  # of rows
        self._variables = count(1)

    def over(self, value: dict[Any, Any] | tuple[Any, ...]) -> bool:
        """Look at everything; False where it is too much."""
        stack: list[tuple[str, Any, int]] = [("v0", value, 0)]
        while stack:
            name, item, depth = stack.pop()
            if type(item) in LEAF_TYPES:
                self._leaves.append(name)
                self._run += 1
            elif type(item) is dict and is_table(item):
                variables = self._table(name, item)
                stack += zip(reversed(variables), reversed(item.values()), repeat(depth + 1))
            elif type(item) is tuple and 0 < len(item) <= MAX_SINGLE_ROW:
                variables = self._row(name, item)
                stack += zip(reversed(variables), reversed(item), repeat(depth + 1))
            elif type(item) is list and are_quick(item, depth):
                self._list(name, depth)
            else:
                self._end_leaves()
                self.parts.append(name)
                self.steps.append((_write_child, depth))
            if len(self.keys) + self._items > MAX_KEYS or depth >= MAX_DEPTH:
                return False
        self._end_leaves()
        return True

    def _list(self, name: str, depth: int) -> None:
        self._end_stretch()
        size = f"n{name[1:]}"
        self.lines.append(f"{size} = len({name}) if type({name}) is list else {name}")
        self._leaves.append(size)
        parts, steps = self._later
        parts += (name, size)
        steps.append((_write_list, depth))

    def _table(self, name: str, row: dict[str, Any]) -> list[str]:
        self._end_run()
        keys = tuple(row)
        self.keys += keys
        self._tables.append(name)
        self._nodes.append(KEY_SETS.data(keys))
        if name != "v0":
            self.lines += [f"if type({name}) is not dict:", "    return None"]
        if not keys:
            self.lines += [f"if {name}:", "    return None"]
            return []
        variables = [f"v{next(self._variables)}" for _ in keys]
        if len(keys) <= MAX_LOOKED_UP and max(map(len, keys)) <= MAX_LOOKED_UP_TEXT:
            self.lines += [f"{each} = {name}[{key!a}]" for each, key in zip(variables, keys, strict=True)]
        else:
            self.lines.append(f"{''.join(f'{each}, ' for each in variables)} = {name}.values()")
        if len(keys) > UNIFORM_MAP_KEYS:
            one, other = _two_types(list(row.values()))
            glance = f"type({variables[one]}) is type({variables[other]})"
            glance += f" or {variables[one]} is None or {variables[other]} is None"
            self.lines += [f"if ({glance}) and not varied({name}.values()):", "    return None"]
        return variables

    def _row(self, name: str, row: tuple[Any, ...]) -> list[str]:
        self._end_run()
        self._items += len(row)
        self._nodes.append(Row(len(row)))
        variables = [f"v{next(self._variables)}" for _ in row]
        self.lines += [
            f"if type({name}) is not tuple:",
            "    return None",
            f"{''.join(f'{each}, ' for each in variables)} = {name}",
        ]
        return variables

    def _end_run(self) -> None:
        if self._run:
            self._nodes.append(self._run)
            self._run = 0

    def _end_stretch(self) -> None:
        self._end_run()
        if self._nodes:
            self._later[1].append((_write_stretch, Stretch(self._nodes, first=self._first)))
            self._nodes = []
        self._first = False

    def _end_leaves(self) -> None:
        self._end_stretch()
        parts, steps = self._later
        if self._leaves:
            parts.insert(0, f"({''.join(f'{name}, ' for name in self._leaves)})")
            steps.insert(0, (_write_leaves, None))
        self.parts += parts
        self.steps += steps
        self._leaves = []
        self._later = ([], [])

    def source(self) -> Generated:
        """The code that takes a value apart; `keys` are all keys in the order in which they are met.

        Every dict has at least the keys that are looked up in it, or exactly as many as are unpacked. So if the keys of
        all of them, end to end, are those that are expected, then so are those of each.
        """
        lines = self.lines.copy()
        if self._tables:
            lines += [
                f"k = [{''.join(f'*{name}, ' for name in self._tables)}]",
                "if k != keys or count_of(map(type, k), str) != len(k):",
                "    return None",
            ]
        lines.append(f"return ({''.join(f'{part}, ' for part in self.parts)})")
        body = "".join(f"        {line}\n" for line in lines)
        return Generated(f"document_{next(_numbers)}", f"def make(keys):\n    def take(v0):\n{body}    return take\n")


def _two_types(values: list[Any]) -> tuple[int, int]:
    """Where two values of different types are, apart from None; some of which there are."""
    kinds = list(map(type, values))
    one = next(at for at, kind in enumerate(kinds) if kind is not type(None))
    return one, next((at for at, kind in enumerate(kinds) if kind not in (kinds[one], type(None))), one)


def document_of(value: dict[Any, Any] | tuple[Any, ...]) -> Document | None:
    """How to write values like this one; None where they are too large for generated code, or are data."""
    walk = _Walk()
    if (type(value) is dict and not is_table(value)) or not walk.over(value):
        return None
    generated = walk.source()
    make = compile_maker(
        generated,
        {
            "dict": dict,
            "list": list,
            "tuple": tuple,
            "type": type,
            "str": str,
            "len": len,
            "map": map,
            "count_of": countOf,
            "varied": is_varied,
        },
    )
    return Document(generated, make(list(walk.keys)), walk.steps)
