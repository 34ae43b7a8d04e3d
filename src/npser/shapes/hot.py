"""Hot shapes: a function of its own for a shape that keeps coming back.

Strategy: `emit` writes down what the two loops of `build` would do; here the text is compiled and called. A function
serves one signature: which single leaves are None, a bool, a number, a text; so a leaf that is None today and text
tomorrow adds a second function and throws nothing away, and where too many signatures come one function serves them
all. Whatever goes wrong in here is thrown away: the loops run again and say what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat, starmap
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import Cursor
from npser.columns import pools
from npser.columns.cutting import read_texts
from npser.columns.lone import read_lone_bodies
from npser.columns.singles import COMMON, TEXT, form_of
from npser.columns.slotreader import CELLS, LISTS, SlotReader
from npser.columns.slots import Singles, read_body, read_leaves, single_texts
from npser.shapes.collector import pause, resume
from npser.shapes.emit import reader_source
from npser.shapes.emitter import ARRAY_LEAF, has_bodies, serves_any
from npser.shapes.generated import bind, compile_maker, may_bind
from npser.shapes.node import Builder
from npser.weights import TEXT_ITEM

if TYPE_CHECKING:
    from npser.shapes.node import Program
    from npser.shapes.policy import Policy
    from npser.shapes.templates import Generated

__all__ = [
    "MAX_HOT_NODES",
    "MAX_HOT_SINGLES",
    "UNREAD",
    "Reader",
    "compile_reader",
    "lone_form",
    "may_be_hot",
    "read_lone",
]

MAX_HOT_NODES = 1500
"""Larger shapes are never compiled: it takes about ten microseconds a node, and their loops cost less beside their
data; benchmarks/thresholds_shapes.py::sweep_hot."""

MAX_HOT_SINGLES = 4000
"""The same for single leaves."""

MAX_FORMS = 16
"""Mixtures of kinds of single leaves that a reader remembers the layout of: ints come in four widths."""

PAUSED_BYTES = 2048
"""Payloads from this size on may hold enough containers for a pause of the collector to pay."""


UNREAD: Final = object()
"""What `Reader.run_alone` gives where the payload has to go the usual way."""

_ONLY_TEXT = 1 << pools.TEXT
_NO_POOLS: Final[list[Any]] = [b"", *[[]] * (pools.POOLS - 1)]


class Reader:
    """A generated function and how to call it.

    Attributes
    ----------
    generated : Generated
        Its source.
    """

    __slots__ = (
        "_build",
        "_forms",
        "_has_bodies",
        "_has_columns",
        "_is_alone",
        "_needs_builder",
        "_serves_any",
        "generated",
    )

    def __init__(
        self, generated: Generated, build: Callable[..., Any], signature: bytes, columns: int, *, needs_builder: bool
    ) -> None:
        self.generated = generated
        self._build = build
        self._forms: dict[bytes, LoneForm] = {}
        self._has_bodies = has_bodies(signature)
        self._has_columns = columns > 0
        self._serves_any = serves_any(signature)
        self._is_alone = not (columns or ARRAY_LEAF in signature or self._serves_any)
        self._needs_builder = needs_builder

    def run(self, kinds: bytes, numbers: tuple[Any, ...], slots: SlotReader, policy: Policy) -> Any:
        """The value of a payload whose slots were just opened."""
        texts: Sequence[str] = ()
        bodies: Sequence[Any] = ()
        if self._serves_any:
            bodies = read_leaves(kinds, numbers, slots)
        else:
            texts = single_texts(slots)
            if self._has_bodies:
                bodies = [read_body(slots, kind) for kind in kinds if kind > TEXT]
        if not self._has_columns:
            slots.close()
        if not self._has_columns or slots.cursor.end < PAUSED_BYTES:
            return self._build(slots, policy, kinds, numbers, texts, bodies, slots.kinds)
        pause()
        try:
            return self._build(slots, policy, kinds, numbers, texts, bodies, slots.kinds)
        finally:
            resume()

    def run_alone(self, buf: bytes, pos: int, kinds: bytes, policy: Policy, budget: int) -> Any:
        """The value of a payload that holds nothing but single leaves, without any of what others need.

        Parameters
        ----------
        pos : int
            Where the numbers begin.

        Returns
        -------
        object
            `UNREAD` where the payload is of another sort, or not as it should be: the usual way will tell.
        """
        if not self._is_alone:
            return UNREAD
        try:
            form = self._forms.get(kinds)
            if form is None:
                form = self._form(kinds)
            numbers, texts, bodies = read_lone(buf, pos, form, budget)
            slots = None
            if self._needs_builder:  # whose nodes ask for nothing but the cursor
                slots = SlotReader(Cursor(memoryview(buf), len(buf), budget=budget), _NO_POOLS, 0, b"", [])
            return self._build(slots, policy, kinds, numbers, texts, bodies, b"")
        except Exception:
            return UNREAD

    def _form(self, kinds: bytes) -> LoneForm:
        """What stands where, remembered for the next time."""
        form = lone_form(kinds)
        if len(self._forms) < MAX_FORMS:
            self._forms[kinds] = form
        return form


LoneForm = tuple[Struct, int, bytes]
"""Of single leaves: the layout of the numbers, how many texts there are, and the kinds of those in bodies."""


def lone_form(kinds: bytes) -> LoneForm:
    """What `read_lone` has to know of single leaves of these kinds."""
    return form_of(kinds), kinds.count(TEXT), kinds.translate(None, COMMON)


def read_lone(
    buf: bytes, pos: int, form: LoneForm, budget: int
) -> tuple[tuple[Any, ...], list[str], Sequence[Any]]:
    """The numbers, the texts and what has bodies, which fill the rest of a payload.

    Any exception where something else is there, or another way of writing it.

    Parameters
    ----------
    pos : int
        Where the numbers begin.
    form : LoneForm
        What there is to be read.
    budget : int
        Cells that the texts may take.
    """
    layout, count, others = form
    numbers = layout.unpack_from(buf, pos)
    pos += layout.size
    mask = buf[pos]
    pos += 1
    texts: list[str] = []
    if count:
        if mask != _ONLY_TEXT or buf[pos] >= 0x80:
            raise ValueError("other pools")
        texts, pos, budget = read_texts(buf, pos + 1, buf[pos], budget - count * TEXT_ITEM)
        if len(texts) != count or budget < 0:
            raise ValueError("other texts")
    elif mask:
        raise ValueError("other pools")
    bodies: Sequence[Any] = ()
    if others:
        bodies, pos = read_lone_bodies(buf, pos, others)
    if pos != len(buf):
        raise ValueError("left over")
    return numbers, texts, bodies


def may_be_hot(program: Program) -> bool:
    """Whether a shape is small enough for a function of its own."""
    return program.size <= MAX_HOT_NODES and program.singles <= MAX_HOT_SINGLES


def compile_reader(program: Program, signature: bytes) -> Reader | None:
    """The function that builds a value of this shape and signature; None where its keys are too many by now."""
    generated, out = reader_source(program, signature)
    if not may_bind(out.keys):
        return None
    make = compile_maker(
        generated,
        {
            "int": int,
            "repeat": repeat,
            "starmap": starmap,
            "zip": zip,
            "list": list,
            "tuple": tuple,
            "type": type,
            "cells": CELLS,
            "lists": LISTS,
            "singles": Singles,
            "builder": Builder,
            "program": program,
        },
    )
    build = bind(make(out.things), out.keys)
    return Reader(generated, build, signature, program.columns, needs_builder=out.needs_builder)
