"""A list that may be all strings: prove it and write it, in as few passes as can be.

Strategy: nothing is asked of an item in Python. That every type is `str` is one `groupby`: a second group is an item of
another type, and ends it. Where few string objects come again and again (literals, what npser has read), not even that:
`marshal` writes an object that it has met as a reference of five bytes, so a list whose strings it was shown before
comes out as n records of one width, each with the number of its object. That is a proof of every type and the codes of
a dictionary in one pass. Its bytes are read here, on the side that made them; no payload is ever given to marshal.
Whatever looks different from what is expected takes the first way.
"""

from __future__ import annotations

from itertools import groupby
from marshal import dumps
from typing import TYPE_CHECKING, Any

import numpy as np

from npser.blocks.choose.text import REPEATED, begin_text, sample, write_numbered_text
from npser.tags import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from npser.blocks.sink import Sink

__all__ = ["are_all", "encode_if_text", "number_by_reference"]

SHARED_MIN_ITEMS = 1024
"""Shorter lists are not looked at for shared objects; benchmarks/thresholds_text_floats.py::sweep_shared."""

GLANCE = 64
"""Items that are looked at first."""

MAX_GLANCED = 40
"""Different objects among those above which sharing is not looked into: there are a hundred or more in all."""

MAX_OBJECTS = 200
"""Objects that are told apart: their codes are bytes."""

MAX_ODD = 16
"""Times that reading is taken up again behind a record of another width, which is the first of its object."""

VERSION = 4
"""Of marshal's format: references since 3, short forms of strings since 4."""

TUPLE, LIST, FLAG = ord(")"), ord("["), 0x80
HEADER = 5  # of a list: type, and number of items as four bytes
RECORD = 5  # of a reference: type, and number of the object as four bytes
REFERENCE = b"r"
SHORT, LONG = b"zZ", b"aAut"  # strings: their type, their length as a byte or as four, ASCII or UTF-8
UNKNOWN = 255
CHUNK = 1 << 13


def encode_if_text(sink: Sink, values: list[Any], n: int) -> bytes | None:
    """What is in the sink and a column of n >= 1 strings; None if `values` is not n objects of exactly `str`.

    The list may be the caller's own: whatever other threads do to it, what is written has been there. The sink is as
    it was only where the result is None.

    >>> from npser.blocks.sink import Sink
    >>> encode_if_text(Sink(), ["a", 1], 2), encode_if_text(Sink(), ["a", "b"], 2).hex(" ")
    (None, '1b 00 00 03 61 00 62')
    """
    sink.u8(Kind.TEXT)
    if n >= SHARED_MIN_ITEMS and _write_by_reference(sink, values, n):
        return bytes(sink.out)
    values = values[:]
    if len(values) != n or not are_all(values, str):
        sink.out.pop()
        return None
    tail = begin_text(sink, values)
    return b"".join((sink.out, tail))


def _write_by_reference(sink: Sink, values: list[Any], n: int) -> bool:
    if len(set(map(id, values[:: n // GLANCE]))) > MAX_GLANCED:
        return False
    try:
        spread = sample(values)
    except IndexError:  # somebody takes items out of the list
        return False
    numbered = number_by_reference(values, spread)
    return numbered is not None and numbered[1].size == n and write_numbered_text(sink, spread, *numbered)


def are_all(values: Iterable[Any], kind: type) -> bool:
    """Whether there are values, each of exactly this type.

    >>> are_all([1, 2], int), are_all([1, True], int), are_all([], int)
    (True, False, False)
    """
    groups = groupby(values, type)
    return next(groups, (None,))[0] is kind and next(groups, None) is None


def number_by_reference(values: list[Any], spread: list[Any]) -> tuple[list[str], NDArray[np.uint8]] | None:
    """The distinct strings and (n,) codes of a list of few objects that come again and again.

    They are in the order in which they appear in `spread`, a sample of the list, and then in the list. None if the
    sample does not look like that; if any value is not exactly a `str`; or if marshal does not write what it should.

    >>> texts, codes = number_by_reference(["no", "yes", "no"] * 400, ["yes", "no", "no", "yes"])
    >>> texts, codes[:4].tolist(), codes.size
    (['yes', 'no'], [1, 0, 1, 1], 1200)
    """
    if not are_all(spread, str):
        return None
    known = list(dict.fromkeys(spread))
    if len(known) > MAX_OBJECTS or len(known) * REPEATED > len(spread):
        return None
    # the first of the two introduces the objects, the second says their numbers: those are then known
    try:
        raw = dumps(([*known], [*known], values), VERSION)
    except ValueError:  # something that marshal cannot write
        return None
    at = 2 + len(dumps([*known], VERSION))
    if raw[0] & ~FLAG != TUPLE or raw[at] != LIST:
        return None
    start = at + HEADER + RECORD * len(known)
    numbers = _numbers(raw, at + HEADER, len(known))
    if numbers != bytes(range(len(known))) or raw[start] & ~FLAG != LIST:
        return None
    # the list itself has a number if others refer to it
    return _read_records(raw, start, known, len(known) + (raw[start] > FLAG))


def _numbers(raw: bytes, at: int, count: int) -> bytes:
    """The numbers of the references from `at` on, up to the first record that is none.

    Fewer than 256 objects have numbers, so the lowest byte of a number is all of it.
    """
    kinds = raw[at : at + RECORD * count : RECORD]
    if kinds != REFERENCE * count:
        count = len(kinds) - len(kinds.lstrip(REFERENCE))
    return raw[at + 1 : at + 1 + RECORD * count : RECORD]


def _read_records(
    raw: bytes, start: int, known: list[str], following: int
) -> tuple[list[str], NDArray[np.uint8]] | None:
    """Read a list. Each record begins where the one before it ends, so that none is taken for another.

    Object i < `following` is string i of those that are known, or the list.
    """
    n, at = int.from_bytes(raw[start + 1 : start + HEADER], "little"), start + HEADER
    done, lonely = 0, UNKNOWN
    others: dict[int, str] = {}
    parts: list[bytes] = []
    for _ in range(MAX_ODD):
        while done < n:
            numbers = _numbers(raw, at, min(n - done, CHUNK))
            parts.append(numbers)
            done += len(numbers)
            at += RECORD * len(numbers)
            if len(numbers) < CHUNK:
                break
        if done == n:
            break
        first = _read_string(raw, at)  # of an object that is met for the first time
        if first is None or following >= lonely:
            return None
        if raw[at] & FLAG:
            number, following = following, following + 1
        else:  # and, as far as marshal knows, for the last time: it has no number
            number = lonely = lonely - 1
        others[number], at = first
        parts.append(bytes((number,)))
        done += 1
    return _codes(b"".join(parts), known, others) if at == len(raw) and done == n else None


def _codes(numbers: bytes, known: list[str], others: dict[int, str]) -> tuple[list[str], NDArray[np.uint8]] | None:
    """n numbers of objects -> distinct strings and (n,) codes."""
    if others:  # of which some may be equal to those that are known, or to each other
        codes = {text: code for code, text in enumerate(known)}
        code_of = bytearray((UNKNOWN,)) * 256
        code_of[: len(known)] = bytes(range(len(known)))
        for number, text in others.items():
            code_of[number] = codes.setdefault(text, len(codes))
        numbers, known = numbers.translate(code_of), list(codes)
    array = np.frombuffer(numbers, "<u1")
    return None if array.size and int(array.max()) >= len(known) else (known, array)


def _read_string(raw: bytes, at: int) -> tuple[str, int] | None:
    """A string that marshal wrote as itself, and where the next record begins."""
    kind = raw[at] & ~FLAG
    start = at + (2 if kind in SHORT else HEADER)
    if kind not in SHORT and kind not in LONG:
        return None
    stop = start + int.from_bytes(raw[at + 1 : start], "little")
    return raw[start:stop].decode("utf-8", "surrogatepass"), stop
