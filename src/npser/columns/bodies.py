"""Bodies: columns and leaves that are too long or too rare for the pools, each with bytes of its own.

    wire:  directory | bodies
    directory: for each body, uvarint: nbytes << 1, or (number of an earlier body) << 1 | 1

Strategy: all lengths stand together in front, so that one body can be read without the others. Equal large bodies are
stored once, and large arrays are aligned.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from npser.errors import DecodeError, TruncatedError
from npser.tags import Kind

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor
    from npser.blocks.sink import Sink

__all__ = ["ALIGNED_BODY", "ALIGNMENT", "ARRAY", "FIRST_BODY", "Bodies", "read_directory", "write_bodies"]

FIRST_BODY, ARRAY = int(Kind.INT), int(Kind.ARRAY)  # plain ints: comparing with an IntEnum member costs a call

SHARED_BODY = 64
"""Bodies from this many bytes on are looked up among the earlier ones."""

LOOKED_AT = 32
"""Bytes of a body, at its ends and in the middle, by which an equal one is found: comparing all would be quadratic, and
hashing all costs as much as copying."""

ALIGNED_BODY = 4096
"""A body of arrays from this many bytes on starts at a multiple of `ALIGNMENT` bytes from the start of the payload."""

ALIGNMENT = 64

Buffer = bytes | bytearray | memoryview
Bodies = list[tuple[int, bytes | memoryview]]
"""Kind and bytes of each."""

_WITHOUT_BODY: Final = bytes(range(FIRST_BODY))


def write_bodies(sink: Sink, bodies: Bodies) -> bytes:
    """Write the directory; gives all that is in the sink then, and the bodies behind it."""
    alike: dict[tuple[int, int, bytes, bytes, bytes], int] = {}
    own = []
    for number, (kind, body) in enumerate(bodies):
        size = len(body)
        if size >= SHARED_BODY:
            middle = size >> 1
            looked_at = (body[:LOOKED_AT], body[middle : middle + LOOKED_AT], body[-LOOKED_AT:])
            first, inner, last = map(bytes, looked_at)
            earlier = alike.setdefault((kind, size, first, inner, last), number)
            if earlier < number and bytes(bodies[earlier][1]) == bytes(body):
                sink.expanded += size
                sink.uvarint(earlier << 1 | 1)
                continue
        sink.uvarint(size << 1)
        own.append((kind, body))
    pieces: list[Buffer] = [sink.out]
    at = len(sink.out)
    for kind, body in own:
        size = len(body)
        if kind == ARRAY and size >= ALIGNED_BODY:
            padding = -at % ALIGNMENT
            pieces.append(bytes(padding))
            at += padding
        pieces.append(body)
        at += size
    return b"".join(pieces)


def read_directory(cursor: Cursor, kinds: bytes) -> list[tuple[int, int]]:
    """Where the bodies of slots of these kinds are, and the cursor behind them all."""
    kinds = kinds.translate(None, _WITHOUT_BODY)
    if not kinds:
        return []
    entries = cursor.uvarints(len(kinds))
    at = cursor.pos
    if ARRAY not in kinds and not [entry for entry in entries if entry & 1]:
        bounds = list(accumulate([entry >> 1 for entry in entries], initial=at))
        cursor.take(bounds[-1] - at)
        return list(pairwise(bounds))
    spans: list[tuple[int, int]] = []
    for kind, entry in zip(kinds, entries, strict=True):
        size = entry >> 1
        if entry & 1:
            if size >= len(spans):
                raise cursor.fail(f"body {len(spans)} repeats body {size}, which is not before it")
            start, stop = spans[size]
            cursor.expand(stop - start)
            spans.append((start, stop))
            continue
        if kind == ARRAY and size >= ALIGNED_BODY:
            padding = -at % ALIGNMENT
            if any(cursor.buf[at : min(at + padding, cursor.end)]):
                raise DecodeError("padding is not zero", pos=at)
            at += padding
        if size > cursor.end - at:
            raise TruncatedError(f"need {size} bytes, {max(0, cursor.end - at)} left", pos=at)
        spans.append((at, at + size))
        at += size
    cursor.pos = at
    return spans
