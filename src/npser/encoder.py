"""Value -> payload.

    wire:  0xC1 | version | lead | what the lead announces (tags.Lead)

Strategy: infer the shape, collect the slots, put both behind a header of three bytes. What caches hold most, a single
leaf or one list of leaves, needs no shape and skips all that.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Set
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import PADDING_MARK
from npser.blocks.sink import Sink
from npser.columns.bigints import size_of
from npser.columns.bodies import Bodies, write_bodies
from npser.columns.kinds import LEAF_TYPES, number_column, write_array_column, write_column
from npser.columns.pools import I16, I32, I64, KIND_OF_POOL, U8, narrowest, write_text_pool
from npser.columns.singles import SingleWriter
from npser.columns.slotwriter import leaf_weight, write_lone
from npser.columns.texts import encode_if_text
from npser.decoder import weigh
from npser.errors import EncodeError
from npser.limits import Limits
from npser.shapes.document import MisfitError, write_all
from npser.shapes.documents import DOCUMENTS, MAX_DOCUMENTS
from npser.shapes.infer import CHOOSY, PLACERS, write_shape
from npser.shapes.leaves import OpenBatchError
from npser.shapes.quick import write_fields, write_list
from npser.shapes.writer import ShapeWriter
from npser.tags import MAGIC, VERSION, Kind, Lead
from npser.weights import SHAPE_BYTE, SINGLE, TEXT_ITEM

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["HEADER", "MAX_SHORT_BYTES", "encode", "encode_numbers", "encode_written"]

HEADER: Final = bytes((MAGIC, VERSION))
_LEAF_LIST: Final = HEADER + bytes((Lead.LEAF_LIST,))
_LIMITS: Final = Limits()

MAX_SHORT_BYTES = 0x3FFF

MAX_SHORT_INT = 0xFF

FIT_48 = 1 << 47
"""Ints of up to 48 bits, but more than 32, are shorter with their length than as eight bytes."""

LONG_SHAPE = 0x7F

MARGIN = 1.25
"""What is drawn is counted exactly before it could be too much."""

NUMBERS: Final = frozenset({type(None), int, float, bool})

END_OF_TEXT: Final = b"\xff"
"""Ends a single string: 0xFF never occurs in UTF-8, so a string that was cut is always noticed."""


def _single_none(_value: None) -> bytes:
    return HEADER + bytes((Kind.NONE,))


def _single_bool(value: bool) -> bytes:  # noqa: FBT001 - the value itself, not a flag
    return HEADER + bytes((Kind.TRUE if value else Kind.FALSE,))


_INT_FORMS: Final = {
    U8: struct.Struct("<2sBB"),
    I16: struct.Struct("<2sBh"),
    I32: struct.Struct("<2sBi"),
    I64: struct.Struct("<2sBq"),
}


def _single_int(value: int) -> bytes:
    width = narrowest(value, value)
    if width is None or (width == I64 and -FIT_48 <= value < FIT_48):
        return _short_int(value)
    return _INT_FORMS[width].pack(HEADER, KIND_OF_POOL[width], value)


def _short_int(value: int) -> bytes:
    size = size_of(value)
    if size > MAX_SHORT_INT:
        return _single_column(value)
    return HEADER + bytes((Lead.SHORT_INT, size)) + value.to_bytes(size, "little", signed=True)


def _single_float(value: float) -> bytes:
    return struct.pack("<2sBd", HEADER, Kind.POOL_F64, value)


def _single_str(value: str) -> bytes:
    try:
        return HEADER + bytes((Kind.POOL_TEXT,)) + value.encode() + END_OF_TEXT
    except UnicodeEncodeError:  # a lone surrogate
        return _single_column(value)


def _single_bytes(value: bytes) -> bytes:
    n = len(value)
    if n > MAX_SHORT_BYTES:
        return _single_column(value)
    return HEADER + bytes((Lead.SHORT_BYTES | n >> 8, n & 0xFF)) + value


def _single_column(value: Any) -> bytes:
    sink = Sink()
    sink.out += HEADER
    try:
        write_column(sink, [value], {type(value)})
    except EncodeError as error:
        error.path = "$"
        raise
    return bytes(sink.out)


_SINGLES: Final[dict[type, Callable[[Any], bytes]]] = {
    type(None): _single_none,
    bool: _single_bool,
    int: _single_int,
    float: _single_float,
    str: _single_str,
    bytes: _single_bytes,
}


_NO_DOCUMENTS: Final = frozenset(PLACERS) - {dict, tuple}


def encode(value: Any, *, default: Callable[[Any], Any] | None, preserve: bool) -> bytes:
    """Encode one value.

    Parameters
    ----------
    default : callable | None
        Called with whatever npser refuses; gives a substitute.
    preserve : bool
        Whether lists, dicts, sets and deques keep their identity.

    Raises
    ------
    EncodeError
        For anything that would not come back as it went in.
    """
    if type(value) in LEAF_TYPES and (default is None or type(value) not in CHOOSY):
        return _SINGLES.get(type(value), _single_column)(value)
    may_be_known = default is None and not preserve and type(value) not in _NO_DOCUMENTS
    found = _encode_document(value) if may_be_known else None
    return _within_budget(*(found or _encode_container(value, Sink(), default, preserve=preserve)))


def _within_budget(payload: bytes, drawn: int) -> bytes:
    """The payload, padded if a reader would refuse so much memory for so few bytes.

    Parameters
    ----------
    drawn : int
        Cells that a reader draws, or more.
    """
    size = len(payload)
    if MARGIN * drawn > _LIMITS.budget(size):
        lacking = weigh(payload) - _LIMITS.budget(size)
        if lacking > 0:
            zeros = max(1, -(-lacking // _LIMITS.expansion) - PADDING_MARK)
            payload = b"".join((payload, bytes(zeros), zeros.to_bytes(PADDING_MARK, "little")))
    return payload


def encode_numbers(array: NDArray[Any]) -> bytes:
    """What `encode` gives for ``array.tolist()``: (n,) int64, float64 or bool, n > 0."""
    sink = Sink()
    payload = _encode_list(array.size, partial(write_array_column, array), sink)
    return _within_budget(payload, sink.expanded)


def encode_written(write: Callable[[ShapeWriter], None]) -> bytes:
    """A payload of the nodes and slots that `write` writes."""
    w = ShapeWriter(Sink(), None, preserve=False)
    write(w)
    return _within_budget(_finish(w), w.sink.expanded)


def _encode_container(
    value: Any, sink: Sink, default: Callable[[Any], Any] | None, *, preserve: bool
) -> tuple[bytes, int]:
    if type(value) is list:
        numbers = number_column(value)
        if numbers is not None:
            return _encode_list(*numbers, sink), sink.expanded
        kind = type(next(iter(value), None))
        if kind is str:
            payload = _encode_text_list(value, sink)
            if payload is not None:
                return payload, sink.expanded + len(value) * leaf_weight(Kind.TEXT, {str})
        met = set(map(type, value)) if kind in LEAF_TYPES else {kind}
        if (
            met <= LEAF_TYPES
            and (len(met) <= 1 or (len(met) == 2 and type(None) in met))
            and (default is None or met.isdisjoint(CHOOSY))
        ):
            return _encode_leaf_list(list(value), met, sink), sink.expanded
    return _encode_shaped(value, sink, default, preserve=preserve), sink.expanded


def _encode_text_list(values: list[Any], sink: Sink) -> bytes | None:
    """A list of strings, or None if any item is something else."""
    n = len(values)
    sink.out += HEADER
    sink.u8(Lead.LEAF_LIST)
    sink.uvarint(n)
    payload = encode_if_text(sink, values, n)
    if payload is None:
        sink.out.clear()
    return payload


def _encode_leaf_list(values: list[Any], met: set[type], sink: Sink) -> bytes:
    try:
        return _encode_list(len(values), partial(_write_leaves, values, met), sink, met)
    except EncodeError as error:
        error.path = f"$[{error.item or 0}]"
        raise


def _write_leaves(values: list[Any], met: set[type], sink: Sink) -> None:
    if values:
        write_column(sink, values, met)
    else:
        sink.u8(Kind.NONE)


def _encode_list(n: int, write: Callable[[Sink], None], sink: Sink, met: Set[type] = NUMBERS) -> bytes:
    """n leaves of some types, which `write` writes as a column."""
    out = sink.out
    out += _LEAF_LIST
    sink.uvarint(n)
    start = len(out)
    write(sink)
    sink.expand(n * leaf_weight(out[start], met))
    if out[start] == Kind.INT:  # the lead says that, and the code of the block: the head moves up, over those two
        head = out[:start]
        head[2] = Lead.INT_LIST + out[start + 1]
        out[2 : start + 2] = head
        del out[:2]
    return bytes(out)


def _encode_shaped(
    value: Any, sink: Sink, default: Callable[[Any], Any] | None, *, preserve: bool
) -> bytes:
    start = sink.expanded
    if default is None and not preserve:
        try:
            w = _quick_writer(sink)
            if type(value) is not list or not write_list(w, value, 0):
                write_shape(w, value)
            return _finish(w)
        except Exception:  # the other way says what is wrong, and where
            sink.out.clear()
            sink.expanded = start
    w = ShapeWriter(sink, default, preserve=preserve)
    try:
        write_shape(w, value)
    except OpenBatchError:
        sink.out.clear()
        sink.expanded = start
        w = ShapeWriter(sink, default, preserve=preserve, apart=True)
        write_shape(w, value)
    return _finish(w)


def _quick_writer(sink: Sink) -> ShapeWriter:
    w = ShapeWriter(sink, None, preserve=False)
    w.quick = write_fields
    return w


def _encode_document(value: Any) -> tuple[bytes, int] | None:
    """A dict, tuple or object of a sort that was met often, or None where it has to go the other way."""
    try:
        for document, parts in DOCUMENTS.fitting(value):
            try:
                if document.alone is not None:
                    return _encode_alone(document.alone, *parts)
                sink = Sink()
                w = _quick_writer(sink)
                document.write(w, parts)
                return _finish(w), sink.expanded
            except MisfitError:
                continue
    except Exception:  # the other way says what is wrong
        pass
    return None


def _encode_alone(shape: bytes, leaves: tuple[Any, ...]) -> tuple[bytes, int]:
    """What `_finish` gives for single leaves and nothing else."""
    sink = Sink()
    bodies: Bodies = []
    singles = SingleWriter(partial(write_lone, sink, bodies))
    write_all(singles, leaves)
    sink.out += _head_of_document(shape)
    sink.out += singles.kinds
    singles.finish(sink)
    write_text_pool(sink, singles.texts)
    sink.expand(SHAPE_BYTE * len(shape) + (SINGLE + TEXT_ITEM) * len(leaves))
    return write_bodies(sink, bodies) if bodies else bytes(sink.out), sink.expanded


def _finish(w: ShapeWriter) -> bytes:
    head = Sink()
    shape = bytes(w.shape.out)
    head.out += _head(shape)
    head.expand(SHAPE_BYTE * len(shape))
    return w.slots.finish(head)


def _head(shape: bytes) -> bytes:
    """What a payload begins with."""
    sink = Sink()
    sink.out += HEADER
    if len(shape) < LONG_SHAPE:
        sink.u8(Lead.SHORT_SHAPE | len(shape))
    else:
        sink.u8(Lead.LONG_SHAPE)
        sink.uvarint(len(shape))
    return bytes(sink.out) + shape


_head_of_document: Final = lru_cache(maxsize=MAX_DOCUMENTS)(_head)
