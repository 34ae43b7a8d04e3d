"""Documents: dicts within dicts whose keys come back, taken apart by generated code.

Strategy: the mirror of `hot`. A dict that was met often enough is looked at once: which dicts are in it, with which
keys. Generated code then takes the next one of the same keys apart into its leaves, which are written many at a
time, and into what is neither a leaf nor such a dict, which is written as ever. The types of leaves are not looked at
here, so a leaf that is None today and text tomorrow takes the same way. What does not have the expected keys is
written as ever, too; either way gives the same bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import count, repeat
from operator import countOf
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.sink import Sink
from npser.columns.kinds import LEAF_TYPES
from npser.columns.leafplans import write_planned
from npser.columns.texts import are_all
from npser.shapes.column import Column
from npser.shapes.generated import compile_maker, forget
from npser.shapes.infer import write_columns
from npser.shapes.keysets import KEY_SETS
from npser.shapes.quick import write_list
from npser.shapes.tables import UNIFORM_MAP_KEYS, is_table, is_varied
from npser.shapes.templates import Generated
from npser.shapes.writer import CYCLE_CHECK_DEPTH
from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.shapes.writer import ShapeWriter

__all__ = ["DOCUMENTS", "Document", "Documents", "MisfitError", "document_of"]

LEARNED_AFTER = 16
"""Dicts of the same keys that are met before the next one is looked at;
benchmarks/thresholds_shapes.py::sweep_learned."""

MAX_LEARNED_AFTER = 1 << 12
"""It doubles up to this each time that more documents come than are kept, or generating code could cost more than it
ever saves."""

MAX_ROOTS = 256
"""Key sets of whole values that are counted."""

MAX_VARIANTS = 4
"""Documents known for one key set of the whole value."""

MAX_DOCUMENTS = 64
"""Documents known altogether."""

MAX_ROOT_KEYS = 256
"""A dict of more keys is data."""

MAX_KEYS = 2000
"""Documents of more keys are written as ever: generating code takes about ten microseconds for each."""

MAX_LOOKED_UP = 3
"""Keys of a dict up to which looking them up is faster than unpacking its values;
benchmarks/thresholds_shapes.py::sweep_looked_up."""

MAX_LOOKED_UP_TEXT = 64
"""Characters of a key in generated code."""

_numbers = count(1)
_LEAF: Final = bytes((Tag.LEAF,))
TABLE: Final = int(Tag.TABLE)


class Document:
    """How to write values of one sort.

    Parameters
    ----------
    generated : Generated
        The source of `take`.
    take : callable
        From a value to its parts: a tuple of leaves, or what is no leaf, in the order of the shape. None, a KeyError
        or a ValueError where the keys are others.
    steps : list of (callable, argument)
        What to write for each table and each part, in that order.
    """

    __slots__ = ("_steps", "_take", "generated")

    def __init__(
        self,
        generated: Generated,
        take: Callable[[Any], tuple[Any, ...] | None],
        steps: Sequence[tuple[Step, Any]],
    ) -> None:
        self.generated = generated
        self._take = take
        self._steps = steps

    def take(self, value: dict[str, Any]) -> tuple[Any, ...] | None:
        """The parts of a value, or None where it is of another sort."""
        try:
            return self._take(value)
        except (KeyError, ValueError):  # other keys; more, or fewer
            return None

    def write(self, w: ShapeWriter, parts: tuple[Any, ...]) -> None:
        """Write the shape and the slots of a value that was taken apart.

        Raises
        ------
        MisfitError
            There is something else in the place of a leaf; what was written is of no use.
        """
        part = iter(parts)
        for step, argument in self._steps:
            step(w, argument, part)


Step = Callable[["ShapeWriter", Any, Iterator[Any]], None]


class MisfitError(Exception):
    """There is something else in the place of a leaf."""


class Stretch:
    """Tables and leaves that stand next to each other in the shape, with nothing else between them.

    Attributes
    ----------
    nodes : list of (bytes or int)
        The key set of a table, or how many leaves.
    first : bool
        Whether nothing stands before it, so that its bytes and the numbers of its key sets are always the same.
    """

    __slots__ = ("_key_sets", "_new", "_shape", "first", "nodes")

    def __init__(self, *, first: bool) -> None:
        self.nodes: list[bytes | int] = []
        self.first = first
        self._new: list[tuple[bytes | None, bytes]] = []  # key set of each node, and what is written of a new one
        self._shape = b""
        self._key_sets: dict[bytes, int] = {}

    def close(self) -> None:
        """All nodes are there."""
        for node in self.nodes:
            if isinstance(node, int):
                self._new.append((None, _LEAF * node))
            else:
                sink = Sink()
                sink.u8(TABLE)
                sink.uvarint(len(node) << 1)
                self._new.append((node, bytes(sink.out) + node))

    def write(self, w: ShapeWriter) -> None:
        """Write the nodes."""
        if self._shape:
            w.shape.out += self._shape
            w.key_sets.update(self._key_sets)
            return
        out, key_sets = w.shape.out, w.key_sets
        for node, new in self._new:
            if node is None:  # leaves
                out += new
            elif node in key_sets:
                out.append(TABLE)
                w.key_set(node)
            else:
                key_sets[node] = len(key_sets)
                out += new
        if self.first:
            self._shape, self._key_sets = bytes(w.shape.out), dict(w.key_sets)


def _write_stretch(w: ShapeWriter, stretch: Stretch, part: Iterator[Any]) -> None:
    stretch.write(w)
    leaves = next(part)
    if not write_planned(w.slots.singles, leaves):
        if not LEAF_TYPES.issuperset(map(type, leaves)):
            raise MisfitError
        w.slots.singles.many(leaves)


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
    """One look at a value: the lines of its code, and the steps of its document."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.parts: list[str] = []
        self.keys: list[str] = []
        self.steps: list[tuple[Step, Any]] = []
        self._tables: list[str] = []
        self._stretch = Stretch(first=True)
        self._leaves: list[str] = []
        self._run = 0
        self._variables = count(1)

    def over(self, value: dict[str, Any]) -> bool:
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
            else:
                self._end_stretch()
                self.parts.append(name)
                self.steps.append((_write_child, depth))
            if len(self.keys) > MAX_KEYS:
                return False
        self._end_stretch()
        return True

    def _table(self, name: str, row: dict[str, Any]) -> list[str]:
        self._end_run()
        keys = tuple(row)
        self.keys += keys
        self._tables.append(name)
        self._stretch.nodes.append(KEY_SETS.data(keys))
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

    def _end_run(self) -> None:
        if self._run:
            self._stretch.nodes.append(self._run)
            self._run = 0

    def _end_stretch(self) -> None:
        self._end_run()
        if self._stretch.nodes:
            self._stretch.close()
            self.parts.append(f"({''.join(f'{name}, ' for name in self._leaves)})")
            self.steps.append((_write_stretch, self._stretch))
        self._stretch = Stretch(first=False)
        self._leaves = []

    def source(self) -> Generated:
        """The code that takes a value apart; `keys` are all keys in the order in which they are met.

        Every dict has at least the keys that are looked up in it, or exactly as many as are unpacked. So if the keys of
        all of them, end to end, are those that are expected, then so are those of each.
        """
        lines = [
            *self.lines,
            f"k = [{''.join(f'*{name}, ' for name in self._tables)}]",
            "if k != keys or count_of(map(type, k), str) != len(k):",
            "    return None",
            f"return ({''.join(f'{part}, ' for part in self.parts)})",
        ]
        body = "".join(f"        {line}\n" for line in lines)
        return Generated(f"document_{next(_numbers)}", f"def make(keys):\n    def take(v0):\n{body}    return take\n")


def _two_types(values: list[Any]) -> tuple[int, int]:
    """Where two values of different types are, apart from None; some of which there are."""
    kinds = list(map(type, values))
    one = next(at for at, kind in enumerate(kinds) if kind is not type(None))
    return one, next((at for at, kind in enumerate(kinds) if kind not in (kinds[one], type(None))), one)


def document_of(value: dict[str, Any]) -> Document | None:
    """How to write dicts like this one; None where they are too large for generated code, or are no table."""
    walk = _Walk()
    if not is_table(value) or not walk.over(value):
        return None
    generated = walk.source()
    make = compile_maker(
        generated,
        {"dict": dict, "type": type, "str": str, "len": len, "map": map, "count_of": countOf, "varied": is_varied},
    )
    return Document(generated, make(list(walk.keys)), walk.steps)


class Documents:
    """The documents of this process, by the keys of the whole value."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], list[Document]] = {}
        self._misses: dict[tuple[str, ...], int] = {}
        self._lock = threading.Lock()
        self._count = 0
        self._learned_after = LEARNED_AFTER

    def __len__(self) -> int:
        return self._count

    def write(self, value: dict[Any, Any], new_writer: Callable[[], ShapeWriter]) -> ShapeWriter | None:
        """A writer that has written the value, or None where it is not known; then it may be the next time."""
        if len(value) > MAX_ROOT_KEYS:
            return None
        keys = tuple(value)
        known = self._known.get(keys, ())
        for document in known:
            parts = document.take(value)
            if parts is not None:
                w = new_writer()
                try:
                    document.write(w, parts)
                except MisfitError:
                    continue
                return w
        self._miss(keys, value, len(known))
        return None

    def _miss(self, keys: tuple[Any, ...], value: dict[Any, Any], variants: int) -> None:
        if variants >= MAX_VARIANTS or not are_all(keys, str):
            return
        misses = self._misses.get(keys, 0) + 1
        if misses < self._learned_after:
            if misses == 1 and len(self._misses) >= MAX_ROOTS:
                self._misses = {}
            self._misses[keys] = misses
            return
        self._misses[keys] = 0
        document = document_of(value)
        if document is None:
            return
        with self._lock:
            if self._count >= MAX_DOCUMENTS:
                self._clear()
                self._learned_after = min(2 * self._learned_after, MAX_LEARNED_AFTER)
            self._count += 1
            self._known[keys] = [*self._known.get(keys, ()), document]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        for documents in self._known.values():
            for document in documents:
                forget(document.generated)
        self._known = {}
        self._misses = {}
        self._count = 0


DOCUMENTS: Final = Documents()
"""The documents that this process has written."""
