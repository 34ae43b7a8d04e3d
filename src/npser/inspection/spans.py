"""One payload, walked without building its value: a tree of pieces that tiles it, and its slots with their figures.

Strategy: the layout is the one of `decoder`, lead by lead, in one table. Whatever goes wrong, what was read so far
stays, the error says where it ended, and the bytes behind are the tree's own. The time is that of the headers, and of
adding up lengths and codes; memory is bounded by what is told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import Cursor
from npser.decoder import FRAME, open_buffer
from npser.errors import DecodeError, LimitError, NpserError, TruncatedError
from npser.foreign import recognise
from npser.inspection.blockspans import walk_int_body
from npser.inspection.columnspans import DTYPES, walk_body
from npser.inspection.labels import distinct_of, label_of
from npser.inspection.nodespans import NodeWalk, ShapeNotes, open_shape
from npser.inspection.pieces import Piece, Span, tile
from npser.inspection.slotspans import NUMBER_SIZES, Slot, Slots
from npser.limits import Limits
from npser.shapes.node import Program
from npser.tags import MAGIC, VERSION, IntCode, Kind, Lead

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LEADS", "Walked", "payload_spans", "walk_payload"]

_CHUNK = 256


class Walked:
    """What a walk through one payload found.

    Attributes
    ----------
    root : Piece
        Tiles the payload.
    error : NpserError | None
        Where it ended, or the first thing that was wrong.
    program, notes, nodes : of the shape, if there is one
    owned : dict of str to int
        Bytes of a section that belong to slots.
    slots : list of Slot
        All that are told apart, in the order of the shape.
    rest : Slot | None
        The others.
    is_list : bool
        Whether the only slot is the items of a list, and there is no shape to say so.
    """

    def __init__(self, buf: memoryview) -> None:
        self.buf = buf
        self.root = Piece(0, "payload", len(buf))
        self.root.gap = "unread"
        self.error: NpserError | None = None
        self.program: Program | None = None
        self.notes: ShapeNotes | None = None
        self.nodes: NodeWalk | None = None
        self.slots: list[Slot] = []
        self.owned: dict[str, int] = {}
        self.rest: Slot | None = None
        self.is_list = False


def payload_spans(data: Any, *, limits: Limits | None = None) -> Iterator[Span]:
    """The spans of one payload, in order, end to end.

    >>> import npser
    >>> for span in payload_spans(npser.dumps([5, 1, 3])): print(span.start, span.stop, span.what)
    0 4 payload / header
    4 6 payload / body
    6 9 payload / body / offsets
    """
    return tile(walk_payload(open_buffer(data), limits or Limits()).root)


def walk_payload(buf: memoryview, limits: Limits) -> Walked:
    """Walk through one payload that fills the buffer. It raises nothing; the error is in what it gives."""
    walked = Walked(buf)
    try:
        _walk(walked, limits)
    except NpserError as error:
        walked.error = error
    except MemoryError:
        walked.error = LimitError("the payload asks for more memory than there is")
    return walked


def _walk(w: Walked, limits: Limits) -> None:
    buf, size = w.buf, len(w.buf)
    if not size:
        raise TruncatedError("no bytes at all", pos=0)
    if buf[0] != MAGIC:
        raise recognise(bytes(buf[:_CHUNK]))
    if size > 1 and buf[1] != VERSION:
        if buf[1] == FRAME:
            raise DecodeError("a file of frames: StreamReader gives the payloads in it, one by one", pos=1)
        raise DecodeError(f"format version {buf[1]}; this npser reads version {VERSION}", pos=1)
    header = w.root.add(0, "header", min(3, size))
    if size < header.nbytes or size < 3:
        raise TruncatedError("the header is cut off", pos=size)
    if size > limits.bytes:
        raise LimitError(f"a payload of {size} bytes, and Limits(bytes={limits.bytes})")
    lead = buf[2]
    cursor = Cursor(buf, 3, size, limits.budget(size))
    start = max((code for code in LEADS if code <= lead), default=0)
    LEADS[start](w, cursor, lead, limits)
    if cursor.left and w.error is None:
        w.root.add(cursor.pos, "padding", size)
        cursor.close()


def _only(w: Walked, cursor: Cursor, kind: int, what: str, n: int = 1) -> Slot:
    """The only slot of a payload without a shape, and its piece."""
    slot = Slot(None, 0, "", kind, n)
    slot.dtype = DTYPES.get(kind, "")
    slot.body = w.root.add(cursor.pos, what, n=n)
    slot.pieces.append(slot.body)
    w.slots.append(slot)
    return slot


def _close(slot: Slot, cursor: Cursor, raw: int, label: str) -> None:
    body = slot.pieces[0]
    body.stop = cursor.pos
    slot.nbytes, slot.raw, slot.label = body.nbytes, raw, label


def _single(w: Walked, cursor: Cursor, kind: int, _limits: Limits) -> None:
    if kind > Kind.SCALAR or Kind.POOL_TEXT < kind < Kind.INT:
        raise cursor.fail(f"no such kind of leaf: 0x{kind:02x}")
    slot = _only(w, cursor, kind, "body" if kind >= Kind.INT else "value")
    if kind >= Kind.INT:
        _body(slot, cursor, kind, 1)
        return
    slot.body = None
    raw = 1
    if kind == Kind.POOL_TEXT:
        raw = len(cursor.take(cursor.left)) - 1
        if raw < 0 or cursor.buf[cursor.end - 1] != 0xFF:
            raise TruncatedError("a string without its end mark", pos=cursor.end)
    elif kind in NUMBER_SIZES:
        cursor.take(NUMBER_SIZES[kind])
        raw = 8
    _close(slot, cursor, raw, Kind(kind).name)


def _body(slot: Slot, cursor: Cursor, kind: int, n: int) -> None:
    body = slot.pieces[0]
    try:
        walk_body(body, cursor, kind, n)
    finally:
        _close(slot, cursor, max(0, body.raw), label_of(body))
        slot.dtype, slot.distinct = body.dtype, distinct_of(body)


def _short_int(w: Walked, cursor: Cursor, _lead: int, _limits: Limits) -> None:
    size = cursor.u8()
    w.root.children[0].stop = cursor.pos
    slot = _only(w, cursor, Kind.BIGINT, "value")
    slot.body = None
    cursor.take(size)
    _close(slot, cursor, size, Lead.SHORT_INT.name)


def _short_bytes(w: Walked, cursor: Cursor, lead: int, _limits: Limits) -> None:
    size = (lead & 0x3F) << 8 | cursor.u8()
    w.root.children[0].stop = cursor.pos
    slot = _only(w, cursor, Kind.BYTES, "value")
    slot.body = None
    cursor.take(size)
    _close(slot, cursor, size, Lead.SHORT_BYTES.name)


def _leaf_list(w: Walked, cursor: Cursor, _lead: int, _limits: Limits) -> None:
    header = w.root.children[0]
    w.is_list = True
    n = cursor.uvarint()
    kind = cursor.u8()
    header.stop = cursor.pos
    slot = _only(w, cursor, kind, "body", n)
    if kind == Kind.ARRAY:
        raise cursor.fail(f"no such kind of leaf: 0x{kind:02x}")
    _body(slot, cursor, kind, n)


def _int_list(w: Walked, cursor: Cursor, lead: int, _limits: Limits) -> None:
    w.is_list = True
    n = cursor.uvarint()
    w.root.children[0].stop = cursor.pos
    slot = _only(w, cursor, Kind.INT, "body", n)
    body = slot.pieces[0]
    try:
        walk_int_body(body, cursor, lead - Lead.INT_LIST, n)
    finally:
        outer = Piece(body.start, "body", body.stop)
        outer.children.append(body)
        body.what = "ints"
        _close(slot, cursor, body.raw, label_of(outer))
        body.what = "body"


def _shape(w: Walked, cursor: Cursor, lead: int, limits: Limits) -> None:
    header = w.root.children[0]
    length = lead & 0x7F if lead < Lead.LONG_SHAPE else cursor.uvarint()
    header.stop = cursor.pos
    shape = w.root.add(cursor.pos, "shape")
    try:
        data = cursor.take(length).tobytes()
        shape.stop = cursor.pos
        shape.gap = "unread"
        w.program, w.notes = open_shape(shape, data, limits.depth)
    finally:
        shape.stop = cursor.pos
    try:
        slots = Slots(w.root, cursor, w.program.singles, w.program.columns)
    except DecodeError as error:
        error.path = error.path or "$"
        raise
    w.slots, w.rest, w.owned = slots.all, slots.rest, slots.owned
    w.nodes = NodeWalk(w.program, slots)
    try:
        w.nodes.run()
    except DecodeError as error:
        w.error = slots.error or error  # what was wrong with a body comes before what that led to
    else:
        w.error = slots.error
    finally:
        slots.settle()


LEADS: Final[Mapping[int, Callable[[Walked, Cursor, int, Limits], None]]] = {
    0x00: _single,
    Lead.SHORT_INT: _short_int,
    Lead.LEAF_LIST: _leaf_list,
    Lead.INT_LIST: _int_list,
    Lead.SHORT_BYTES: _short_bytes,
    Lead.SHORT_SHAPE: _shape,
    Lead.LONG_SHAPE: _shape,
}
"""The lowest of a range of leads -> what they announce; total over `Lead`, and the kinds of single leaves at 0."""

assert len(IntCode) == Lead.SHORT_BYTES - Lead.INT_LIST
