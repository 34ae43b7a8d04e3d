"""Payload -> value. The layout is in `tags.Lead`; whatever the bytes are, the result is a value or an NpserError."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from npser.blocks.cursor import Cursor
from npser.blocks.ints import LIST_READERS as INT_LIST_READERS
from npser.blocks.ints import READERS as INT_READERS
from npser.columns.bigints import size_of
from npser.columns.kinds import NUMBER_READERS, READERS
from npser.envelope.layers import open_layers
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.foreign import recognise
from npser.limits import MAX_DEPTH, Limits
from npser.shapes.build import SHAPES, build_value, draw_all, load_shape, read_document
from npser.shapes.exactreader import EXACT_BYTES, meet_exact, read_exact
from npser.shapes.hot import UNREAD
from npser.shapes.policy import Policy
from npser.tags import MAGIC, VERSION, Kind, Lead
from npser.types.allow import Nobody
from npser.weights import ARRAY_ITEM, KINDS, SHAPE_BYTE, SINGLE

if TYPE_CHECKING:
    from npser.shapes.program import Program

__all__ = ["FRAME", "decode", "open_buffer", "weigh"]

_CHUNK = 256

FRAME = 0xFE
"""Second byte of a frame, which is the version of no payload."""

_HEADER: Final = bytes((MAGIC, VERSION))
_SHORTEST: Final = 3
_UNBOUNDED: Final = 1 << 62
_NOBODY: Final = Policy(Nobody())

SHORT_SHAPE, LONG_SHAPE = int(Lead.SHORT_SHAPE), int(Lead.LONG_SHAPE)  # comparing with a member costs a call


def open_buffer(data: Any) -> memoryview:
    """Any contiguous buffer as unsigned bytes.

    Raises
    ------
    DecodeError
        For a str, and for anything that is not a contiguous buffer.
    """
    if isinstance(data, str):
        raise DecodeError("loads takes bytes, not str; a client with decode_responses=True has decoded them already")
    try:
        return memoryview(data).cast("B")
    except (TypeError, ValueError, BufferError) as error:  # no buffer, released or of datetime64, not to be had
        raise DecodeError(f"loads takes bytes or a contiguous buffer, not {type(data).__name__}: {error}") from None


def decode(data: Any, policy: Policy, limits: Limits) -> Any:
    """Decode one payload that fills the buffer exactly, out of the envelopes that need no key.

    Raises
    ------
    DecodeError
        And nothing else, whatever the bytes are. `pos` counts from the start of the payload, so within an envelope
        it is not that of the buffer.
    """
    payload = data if type(data) is bytes and data[:2] == _HEADER else _open(data, limits)
    size = len(payload)
    if size > limits.bytes:
        raise LimitError(f"a payload of {size} bytes, and Limits(bytes={limits.bytes})")
    if size < _SHORTEST:
        raise _not_ours(memoryview(payload))
    lead = payload[2]
    try:
        if lead < SHORT_SHAPE:
            return _decoder(lead)(Cursor(memoryview(payload), 3, size, limits.budget(size)), lead, policy)
        if lead < LONG_SHAPE:  # most shapes are so short that nothing has to move along them
            pos, stop = 3, 3 + (lead & 0x7F)
        elif size > 4 and payload[3] >= 0x80 > payload[4]:
            pos, stop = 5, 5 + (payload[3] & 0x7F | payload[4] << 7)
        else:
            pos, stop = _long_shape(Cursor(memoryview(payload), 3, size))
        if stop > size:
            raise TruncatedError(f"need {stop - pos} bytes, {size - pos} left", pos=pos)
        are_bytes = type(payload) is bytes  # which are cut at half of what it costs to cut a memoryview
        shape: Any = payload[pos:stop]
        program = load_shape(shape if are_bytes else bytes(shape), pos, limits.depth)
        budget = limits.budget(size) - SHAPE_BYTE * (stop - pos) - SINGLE * program.singles
        value = UNREAD
        if policy.numbers == "list" and policy.tables == "rows" and (are_bytes or size <= EXACT_BYTES):
            raw: Any = payload if are_bytes else bytes(payload)
            if not program.columns:
                value = read_document(program, raw, stop, policy, budget)
            elif program.exact:
                value = read_exact(program, raw, stop, size, policy, budget)
        if value is UNREAD:
            value = _build(program, memoryview(payload), stop, policy, budget)
        return value
    except MemoryError as error:
        raise LimitError("the payload asks for more memory than there is") from error


def _open(data: Any, limits: Limits) -> memoryview:
    """The payload in a buffer, out of its envelopes."""
    buf = open_buffer(data)
    if bytes(buf[:2]) != _HEADER:
        buf = open_layers(buf, limits)
        if bytes(buf[:2]) != _HEADER:
            raise _not_ours(buf)
    return buf


def _long_shape(cursor: Cursor) -> tuple[int, int]:
    """Where a shape begins and ends whose length is next."""
    length = cursor.uvarint()
    return cursor.pos, cursor.pos + length


def _build(program: Program, buf: memoryview, pos: int, policy: Policy, budget: int) -> Any:
    """The value of a payload that nothing else has read."""
    value = build_value(program, Cursor(buf, pos, len(buf), budget), policy)
    if program.columns and program.readers:
        meet_exact(program, SHAPES, buf, pos, len(buf))
    return value


def _not_ours(buf: memoryview) -> DecodeError:
    if not len(buf):
        return TruncatedError("no bytes at all", pos=0)
    if buf[0] != MAGIC:
        return recognise(bytes(buf[:_CHUNK]))
    if len(buf) > 1 and buf[1] == FRAME:
        return DecodeError("a file of frames: load or StreamReader reads it", pos=1)
    if len(buf) > 1 and buf[1] != VERSION:
        return DecodeError(f"format version {buf[1]}; this npser reads version {VERSION}", pos=1)
    return TruncatedError("the header is cut off", pos=len(buf))


def weigh(payload: bytes) -> int:
    """The cells that reading a payload of our own draws from its budget.

    >>> weigh(bytes.fromhex("c10138030202"))  # [1, 2, 3], as a sequence
    21
    """
    size, lead = len(payload), payload[2]
    cursor = Cursor(memoryview(payload), 3, size, _UNBOUNDED)
    if lead < SHORT_SHAPE:
        _decoder(lead)(cursor, lead, _NOBODY)
        return _UNBOUNDED - cursor.budget
    pos, stop = _long_shape(cursor) if lead == LONG_SHAPE else (3, 3 + (lead & 0x7F))
    program = load_shape(payload[pos:stop], pos, MAX_DEPTH)
    cursor.pos = stop
    draw_all(program, cursor, _NOBODY)
    return _UNBOUNDED - cursor.budget + SHAPE_BYTE * (stop - pos) + SINGLE * program.singles


def _decode_short_bytes(cursor: Cursor, lead: int, _policy: Policy) -> bytes:
    length = (lead & 0x3F) << 8 | cursor.u8()
    value = bytes(cursor.take(length))
    cursor.close()
    return value


def _decode_short_int(cursor: Cursor, _lead: int, _policy: Policy) -> int:
    size = cursor.u8()
    raw = bytes(cursor.take(size))
    value = int.from_bytes(raw, "little", signed=True)
    if size != size_of(value):
        raise cursor.fail("an integer is not in its shortest form")
    cursor.close()
    return value


def _decode_single(cursor: Cursor, kind: int, _policy: Policy) -> Any:
    special = _SINGLES.get(kind)
    if special is not None:
        value = special(cursor)
    else:
        reader = READERS.get(kind)
        if reader is None:
            raise cursor.fail(f"no such kind of leaf: 0x{kind:02x}")
        value = reader(cursor, 1)[0]
    cursor.close()
    return value


def _decode_list(cursor: Cursor, lead: int, policy: Policy) -> Any:
    n = cursor.uvarint()
    wants_array = policy.numbers == "array"
    if lead == Lead.LEAF_LIST:
        kind = cursor.u8()
        reader = (NUMBER_READERS.get(kind) if wants_array else None) or READERS.get(kind)
        if reader is None:
            raise cursor.fail(f"no such kind of leaf: 0x{kind:02x}")
        values = reader(cursor, n)
    else:
        readers: Mapping[int, Any] = INT_READERS if wants_array else INT_LIST_READERS
        cursor.expand(n * (ARRAY_ITEM if wants_array else KINDS[Kind.INT]))
        values = readers[lead - Lead.INT_LIST](cursor, n, 1)
    cursor.close()
    return values


def _fixed(form: str) -> Callable[[Cursor], Any]:
    layout = struct.Struct(form)

    def read(cursor: Cursor) -> Any:
        return layout.unpack(cursor.take(layout.size))[0]

    return read


def _text(cursor: Cursor) -> str:
    raw = bytes(cursor.take(cursor.left))
    if not raw.endswith(b"\xff"):
        raise TruncatedError("a string without its end mark", pos=cursor.end)
    try:
        return raw[:-1].decode()
    except UnicodeDecodeError as error:
        raise cursor.fail(f"not UTF-8: {error.reason}") from None


_SINGLES: Final[dict[int, Callable[[Cursor], Any]]] = {
    Kind.NONE: lambda _: None,
    Kind.FALSE: lambda _: False,
    Kind.TRUE: lambda _: True,
    Kind.POOL_U8: Cursor.u8,
    Kind.POOL_I16: _fixed("<h"),
    Kind.POOL_I32: _fixed("<i"),
    Kind.POOL_I64: _fixed("<q"),
    Kind.POOL_F64: _fixed("<d"),
    Kind.POOL_TEXT: _text,
}


def _decoder(lead: int) -> Callable[[Cursor, int, Policy], Any]:
    if lead < Lead.SHORT_INT:
        return _decode_single
    if lead == Lead.SHORT_INT:
        return _decode_short_int
    return _decode_list if lead < Lead.SHORT_BYTES else _decode_short_bytes
