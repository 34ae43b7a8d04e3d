"""phpser payload -> value.

Strategy: one loop over a stack of frames, so that nothing recurses. Single leaves are read in the loop, arrays of
one kind by numpy, and where a MIXED array holds many values of one tag in a row those, too, at once (`runs`).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, Literal

from npser.errors import DecodeError, LimitError, TruncatedError
from npser.limits import Limits
from npser.phpser.arrays import TYPED
from npser.phpser.keys import array_key
from npser.phpser.maps import MAPS, read_key
from npser.phpser.objects import OBJECTS, finish
from npser.phpser.runs import RUNS, Run
from npser.phpser.source import OPEN, Frame, Source
from npser.phpser.tags import KeyTag, Tag
from npser.shapes.collector import pause, resume
from npser.shapes.policy import Strings, Unknown
from npser.types.allow import NO_CLASSES, Allow

__all__ = ["Trailing", "read"]

Trailing = Literal["ignore", "refuse"]

DEFAULT_LIMITS: Final = Limits()

LITTLE = 8
"""A search that finds less than one in so many of the bytes that it looks at was not worth it."""

SMALL = 1 << 12
"""Payloads of fewer bytes do not hold enough containers for a pause of the collector to pay."""

_NO_RUN: Final[tuple[int, Run]] = (0, lambda _source, _n, _values: 1)

_F64: Final = struct.Struct("<d")
_NINE: Final = ord("9")
_CONSTANTS: Final = (None, False, True)
# plain ints: two of them compare faster than an int and an IntEnum
_NULL_TO_TRUE, _LONG, _DOUBLE = int(Tag.TRUE), int(Tag.LONG), int(Tag.DOUBLE)
_WORD, _STRING = int(Tag.STRING_DICT), int(Tag.STRING)
_LONG_KEY, _WORD_KEY, _STRING_KEY = int(KeyTag.LONG), int(KeyTag.STRING_DICT), int(KeyTag.STRING)


def read(
    buf: memoryview,
    *,
    allow: Allow = NO_CLASSES,
    limits: Limits = DEFAULT_LIMITS,
    strings: Strings = "text",
    trailing: Trailing = "ignore",
    unknown: Unknown = "placeholder",
) -> Any:
    """Decode one payload.

    Parameters
    ----------
    buf : memoryview of unsigned bytes
    allow : Allow
        The classes that may be built, by their PHP names; `npser.phpser` says what the others become.
    limits : Limits
        Half of ``items`` is what AFFINE runs may hold together: 2^20, as in phpser, by default.
    strings : {"text", "bytes"}
        Whether strings that are UTF-8 become str, or all strings, keys too, bytes.
    trailing : {"ignore", "refuse"}
        What to do about bytes behind the value; phpser ignores them unless the payload is signed.
    unknown : {"placeholder", "refuse"}
        What becomes of objects of classes that are not allowed.

    Raises
    ------
    DecodeError
        And nothing else, whatever the bytes are; ``pos`` and ``path`` say where.

    >>> read(memoryview(bytes.fromhex("020017040202")))
    [1, 2, 3, 4]
    """
    source = Source(buf, allow=allow, limits=limits, strings=strings, unknown=unknown)
    large = len(buf) >= SMALL
    if large:
        pause()
    try:
        source.header()
        value = _read_value(source)
        finish(source)
        if trailing == "refuse" and source.left:
            raise source.fail(f"{source.left} bytes behind the end of the payload")
        return value
    except IndexError:  # of `data`: the one index that nothing else checks
        error: DecodeError = TruncatedError("the payload is cut off", pos=len(buf))
        error.path = source.path()
        raise error from None
    except MemoryError as cause:
        raise LimitError("the payload asks for more memory than there is") from cause
    except DecodeError as refusal:
        if refusal.pos is None:
            refusal.pos = source.pos
        if refusal.path is None:
            refusal.path = source.path()
        raise
    finally:
        if large:
            resume()


def _read_value(source: Source) -> Any:
    """The one value behind the header."""
    data, words, text, unpack_double = source.data, source.words, source.text, _F64.unpack_from
    known, end = len(words), source.end
    stack = source.stack
    frame = Frame(1, _close_root, _at_root)
    stack.append(frame)
    tag = -1
    while True:
        values, need, key = frame.values, frame.need, frame.key
        have = len(values)
        stop = need if key is not None else min(need, have + frame.chunk)
        push, keys = values.append, frame.keys
        pos = source.pos
        opened: Any = None
        while have < stop:
            if key is not None:
                if key is not read_key or (length := data[pos + 1]) >= 0x80 or (kind := data[pos]) > _STRING_KEY:
                    source.pos = pos
                    keys.append(key(source))
                    pos = source.pos
                elif kind == _LONG_KEY:
                    keys.append((length >> 1) ^ -(length & 1))
                    pos += 2
                elif kind == _WORD_KEY:
                    if length >= known:
                        source.pos = pos + 1
                        source.index()
                    keys.append(source.keys[length])
                    pos += 2
                else:
                    start = pos + 2
                    pos = start + length
                    if pos > end:
                        source.pos = start
                        raise TruncatedError(f"need {length} bytes, {source.left} left", pos=start)
                    name = text(data[start:pos])
                    keys.append(name if length and data[start] > _NINE else array_key(name))
            tag = data[pos]
            have += 1
            if tag == _STRING and (length := data[pos + 1]) < 0x80:
                start = pos + 2
                pos = start + length
                if pos > end:
                    source.pos = start
                    raise TruncatedError(f"need {length} bytes, {source.left} left", pos=start)
                push(text(data[start:pos]))
            elif tag == _WORD and (index := data[pos + 1]) < 0x80 and index < known:
                push(words[index])
                pos += 2
            elif tag == _LONG:
                code = data[pos + 1]
                pos += 2
                if code >= 0x80:
                    source.pos = pos - 1
                    code = source.uvarint()
                    pos = source.pos
                push((code >> 1) ^ -(code & 1))
            elif tag <= _NULL_TO_TRUE:
                push(_CONSTANTS[tag])
                pos += 1
            elif tag == _DOUBLE and pos + 9 <= end:
                push(unpack_double(data, pos + 1)[0])
                pos += 9
            else:
                source.pos = pos + 1
                opened = READERS[tag](source)
                pos = source.pos
                if type(opened) is Frame:
                    break
                push(opened)
        source.pos = pos
        if type(opened) is Frame and len(values) < have:
            stack.append(opened)
            frame = opened
        elif have < need:
            ahead = data[pos]
            least, run = RUNS.get(ahead, _NO_RUN)
            if need - have < least or (ahead != tag and max(ahead, tag) > _NULL_TO_TRUE):
                frame.chunk *= 2
            else:
                looked = run(source, need - have, values)
                if LITTLE * (source.pos - pos) < looked:
                    frame.chunk *= 2
        else:
            done = frame.close(source, frame)
            if done is OPEN:
                continue
            stack.pop()
            if not stack:
                return done
            frame = stack[-1]
            frame.values.append(done)


def _close_root(_source: Source, frame: Frame) -> Any:
    return frame.values[0]


def _at_root(_frame: Frame) -> str:
    return ""


# Leaves


def _read_double(source: Source) -> float:
    value: float = _F64.unpack(source.take(8))[0]
    return value


# Lists


def _open_mixed(source: Source) -> Any:
    source.enter()
    frame = Frame(source.count(1), _close_mixed, _at_index)
    source.claim(frame.values)
    return frame


def _close_mixed(_source: Source, frame: Frame) -> list[Any]:
    return frame.values


def _at_index(frame: Frame) -> str:
    return f"[{len(frame.values)}]"


# References


def _open_reference(source: Source) -> Frame:
    source.enter()
    if source.is_held:
        raise source.fail("a reference that directly holds a reference")
    frame = Frame(1, _close_reference, _at_root)
    frame.ref = len(source.ids)
    source.ids.append(None)
    source.references.add(frame.ref)
    return frame


def _close_reference(source: Source, frame: Frame) -> Any:
    assert frame.ref is not None
    (value,) = frame.values
    source.ids[frame.ref] = value
    return value


def _read_reference(source: Source) -> Any:
    number = source.uvarint()
    if number >= len(source.ids):
        raise source.fail(f"a reference to number {number}, and {len(source.ids)} objects stand before it")
    if source.is_held and number in source.references:
        raise source.fail("a reference that directly holds a reference")
    return source.ids[number]


def _no_such_tag(source: Source) -> Any:
    source.pos -= 1
    raise source.fail(f"no such tag: 0x{source.data[source.pos]:02x}")


_KNOWN: Final[dict[int, Callable[[Source], Any]]] = {
    Tag.LONG: Source.svarint,
    Tag.DOUBLE: _read_double,
    Tag.STRING_DICT: Source.word,
    Tag.STRING: Source.string,
    Tag.MIXED: _open_mixed,
    Tag.REF: _read_reference,
    Tag.NEW_REF: _open_reference,
    **TYPED,
    **MAPS,
    **OBJECTS,
}
READERS: Final[tuple[Callable[[Source], Any], ...]] = tuple(_KNOWN.get(tag, _no_such_tag) for tag in range(256))
"""What reads each tag but the first three; gives the value, or the frame that will."""
