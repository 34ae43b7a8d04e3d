"""Exact readers: which ones a shape has, when one is made, and when it is given up.

Strategy: a shape that has a reader of its own (`hot`) and is met again and again with the same kinds of columns, in
small payloads, gets one more for just those. What such a reader does not expect goes the usual way; one that is
disappointed too often is dropped, so that no payload can make reading cost much more than it would.
"""

from __future__ import annotations

from itertools import repeat, starmap
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import Cursor
from npser.columns import cutting
from npser.columns.singles import form_of
from npser.shapes.collector import pause, resume
from npser.shapes.emitter import SIGNATURE
from npser.shapes.exact import exact_source
from npser.shapes.exactcolumns import NotExactError
from npser.shapes.generated import bind, compile_maker, may_bind
from npser.shapes.hot import UNREAD
from npser.shapes.leaves import count_codes
from npser.shapes.node import Builder
from npser.shapes.patterns import count_patterns
from npser.shapes.sequences import Copies, cut

if TYPE_CHECKING:
    from collections.abc import Callable

    from npser.shapes.cache import ShapeCache
    from npser.shapes.node import Program
    from npser.shapes.policy import Policy
    from npser.shapes.templates import Generated

__all__ = ["ExactReader", "meet_exact", "read_exact"]

EXACT_BYTES = 1 << 18
"""Larger payloads are too dear to be read twice when a reader is disappointed."""

EXACT_AFTER = 64
"""Meetings after which an exact reader is made, of a shape that has a reader already;
benchmarks/thresholds_shapes.py::sweep_exact."""

MAX_EXACT = 4
"""Exact readers a shape may have."""

MAX_COUNTED = 16
"""Mixtures of columns that are counted a shape, and mixtures of all slots that are remembered."""

MAX_MIXTURE = 512
"""Slots of a mixture that is remembered: layouts of numbers take memory."""

PATIENCE = 8
"""So often an exact reader may be disappointed; then it has to be right four times out of five."""

_NEVER = -1
"""In the place of a count: this mixture of columns is left to the usual way."""

_MASKS: Final = [bytes((mask,)) for mask in range(256)]


Mixture = tuple[bytes, Struct, bytes]
"""Of a payload: the kinds of its single leaves, the layout of the numbers among them, and what an exact reader is found
by, but for the pools that are there."""


class ExactReader:
    """A generated function for one mixture of columns, and how it does.

    Attributes
    ----------
    generated : Generated
        Its source.
    build : callable
        Gives the value out of the payload, where its pools begin, its size, the policy, the kinds of its single leaves,
        the numbers among them, and the budget.
    hits, failures : int
        How often it was right, and how often it was not.
    """

    __slots__ = ("build", "failures", "generated", "hits")

    def __init__(self, generated: Generated, build: Callable[..., Any]) -> None:
        self.generated = generated
        self.build = build
        self.hits = 0
        self.failures = 0

    @property
    def disappoints(self) -> bool:
        """Whether it fails too often to be worth the attempt."""
        return self.failures > PATIENCE and self.failures * 4 > self.hits


def read_exact(program: Program, buf: bytes, pos: int, size: int, policy: Policy, budget: int) -> Any:
    """The value of a payload as lists and rows, if its shape has an exact reader for its columns.

    Parameters
    ----------
    pos : int
        Where the shape ends.

    Returns
    -------
    object
        `UNREAD` where the payload has to be read the usual way.
    """
    if size > EXACT_BYTES:
        return UNREAD
    start = pos + program.singles + program.columns
    if start >= size:
        return UNREAD
    mixture = buf[pos:start]
    known = program.mixtures.get(mixture)
    if known is None:
        known = _meet_mixture(program, mixture)
    kinds, layout, key = known
    at = start + layout.size
    if at >= size:
        return UNREAD
    key += _MASKS[buf[at]]
    reader = program.exact.get(key)
    if type(reader) is not ExactReader:
        return UNREAD
    try:
        value = reader.build(buf, at + 1, size, policy, kinds, layout.unpack_from(buf, start), budget)
    except Exception:  # the usual way tells
        reader.failures += 1
        if reader.disappoints:
            program.exact[key] = _NEVER
        return UNREAD
    reader.hits += 1
    return value


def _meet_mixture(program: Program, mixture: bytes) -> Mixture:
    """What is the same in all payloads whose slots are of these kinds, remembered for the next time."""
    kinds, columns = mixture[: program.singles], mixture[program.singles :]
    met = kinds, form_of(kinds), kinds.translate(SIGNATURE) + columns
    if len(program.mixtures) < MAX_COUNTED and len(mixture) <= MAX_MIXTURE:
        program.mixtures[mixture] = met
    return met


def meet_exact(program: Program, shapes: ShapeCache, buf: memoryview, pos: int, size: int) -> None:
    """Count one more payload that was read the usual way, and make an exact reader when it is time."""
    if size > EXACT_BYTES or program.references:
        return
    first = pos + program.singles
    start = first + program.columns
    kinds = buf[pos:first].tobytes()
    mask = buf[start + form_of(kinds).size]
    signature, columns = kinds.translate(SIGNATURE), buf[first:start].tobytes()
    key = signature + columns + _MASKS[mask]
    met = program.exact.get(key, 0)
    if type(met) is not int or met < 0 or (not met and len(program.exact) >= MAX_COUNTED):
        return
    program.exact[key] = met + 1
    if met + 1 < EXACT_AFTER:
        return
    made = sum([type(reader) is ExactReader for reader in list(program.exact.values())])  # others may add one
    if made >= MAX_EXACT or not shapes.may_compile():
        return
    try:
        reader = _compile(program, signature, columns, mask)
    except NotExactError:
        program.exact[key] = _NEVER
        return
    program.exact[key] = reader
    shapes.add_generated(reader.generated)


def _compile(program: Program, signature: bytes, columns: bytes, mask: int) -> ExactReader:
    generated, out = exact_source(program, signature, columns, mask)
    if not may_bind(out.keys):
        raise NotExactError
    make = compile_maker(
        generated,
        {
            "dict": dict,
            "int": int,
            "len": len,
            "list": list,
            "map": map,
            "min": min,
            "range": range,
            "sum": sum,
            "tuple": tuple,
            "type": type,
            "zip": zip,
            "repeat": repeat,
            "bad": cutting.NotAsExpected,
            "bools": cutting.BOOLS,
            "bools_of": cutting.bools_of,
            "both": cutting.BITS,
            "builder": Builder,
            "copies": Copies,
            "count_codes": count_codes,
            "count_copies": cutting.count_copies,
            "count_patterns": count_patterns,
            "cursor": Cursor,
            "cut": cut,
            "decimals_of": cutting.decimals_of,
            "frame_of": cutting.frame_of,
            "none": cutting.NO_NUMBERS,
            "numbers_of": cutting.numbers_of,
            "other_cells": cutting.other_cells,
            "pause": pause,
            "program": program,
            "read_span": cutting.read_span,
            "read_texts": cutting.read_texts,
            "resume": resume,
            "scales": cutting.SCALES,
            "starmap": starmap,
            "uvarint": cutting.uvarint,
            "view": memoryview,
        },
    )
    return ExactReader(generated, bind(make(out.things), out.keys))
