"""Exact readers: which ones a shape has, when one is made, and when it is given up.

Strategy: a shape that has a reader of its own (`hot`) and is met again and again with the same kinds of columns, in
small payloads, gets one more for just those. What such a reader does not expect goes the usual way; one that is
disappointed too often is dropped, so that no payload can make reading cost much more than it would.
"""

from __future__ import annotations

from itertools import repeat, starmap
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import Cursor
from npser.columns import cutting
from npser.columns.singles import form_of
from npser.shapes.collector import pause, resume
from npser.shapes.emitter import SIGNATURE
from npser.shapes.exact import exact_source
from npser.shapes.exactcolumns import NotExactError
from npser.shapes.generated import bind, compile_maker, may_bind
from npser.shapes.hot import PAUSED_BYTES, UNREAD
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
"""Mixtures of columns that are counted a shape."""

PATIENCE = 8
"""So often an exact reader may be disappointed; then it has to be right four times out of five."""

_NEVER = -1
"""In the place of a count: this mixture of columns is left to the usual way."""

_MASKS: Final = [bytes((mask,)) for mask in range(256)]


class ExactReader:
    """A generated function for one mixture of columns, and how it does."""

    __slots__ = ("_build", "_failures", "_hits", "generated")

    def __init__(self, generated: Generated, build: Callable[..., Any]) -> None:
        self.generated = generated
        self._build = build
        self._hits = 0
        self._failures = 0

    def run(
        self, buf: bytes, at: int, size: int, policy: Policy, kinds: bytes, numbers: tuple[Any, ...], budget: int
    ) -> Any:
        """The value of a payload whose pools begin at `at` + 1, or `UNREAD`."""
        try:
            if size < PAUSED_BYTES:
                value = self._build(buf, at + 1, size, policy, kinds, numbers, budget)
            else:
                pause()
                try:
                    value = self._build(buf, at + 1, size, policy, kinds, numbers, budget)
                finally:
                    resume()
        except Exception:  # the usual way tells
            self._failures += 1
            return UNREAD
        self._hits += 1
        return value

    @property
    def disappoints(self) -> bool:
        """Whether it fails too often to be worth the attempt."""
        return self._failures > PATIENCE and self._failures * 4 > self._hits


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
    first = pos + program.singles
    start = first + program.columns
    if start >= size:
        return UNREAD
    kinds = buf[pos:first]
    layout = form_of(kinds)
    at = start + layout.size
    if at >= size:
        return UNREAD
    key = kinds.translate(SIGNATURE) + buf[first:start] + _MASKS[buf[at]]
    reader = program.exact.get(key)
    if type(reader) is not ExactReader:
        return UNREAD
    value = reader.run(buf, at, size, policy, kinds, layout.unpack_from(buf, start), budget)
    if value is UNREAD and reader.disappoints:
        program.exact[key] = _NEVER
    return value


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
            "program": program,
            "read_span": cutting.read_span,
            "read_texts": cutting.read_texts,
            "scales": cutting.SCALES,
            "starmap": starmap,
            "uvarint": cutting.uvarint,
            "view": memoryview,
        },
    )
    return ExactReader(generated, bind(make(out.things), out.keys))
