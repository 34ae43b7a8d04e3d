"""A walk through a phpser payload: what it notes of spans and places, and the parts that come of it.

Strategy: places are those of a report (``$['orders'][*]['price']``), so all values of one form are one place with one
sum. Neighbours of one place and one sort are one span, and spans and places beyond a bound are not told apart, so a
payload of millions of values costs time and not memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from npser.blocks.cursor import Cursor
from npser.blocks.varint import read_varints
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.inspection.parts import SHOWN_PATH, SHOWN_STEP, Part, clip, plain
from npser.inspection.spans import Walked
from npser.limits import Limits
from npser.phpser.keys import property_name
from npser.phpser.source import AFFINE_SHARE

__all__ = ["MAX_PIECES", "MAX_PLACES", "SHOWN_BYTES", "PhpWalk", "Place", "php_parts"]

MAX_PIECES = 1 << 16
"""Spans that are told apart."""

MAX_PLACES = 1 << 14
"""Places that are told apart."""

MAX_KINDS = 4
"""Tags that are named at one place."""

CHUNK = 1 << 16
"""Varints that are passed at once."""

SHOWN_BYTES = 240
"""Bytes of a string that are looked at to name a place."""

ROLES: Final = (("tags and counts", "heads"), ("keys", "keys"), ("other values", "nbytes"))


class Place:
    """All values of one form of path."""

    __slots__ = ("below", "classes", "count", "heads", "keys", "kinds", "nbytes", "path", "raw")

    def __init__(self, path: str) -> None:
        self.path = path
        self.kinds: dict[str, int] = {}
        self.classes: dict[str, None] = {}
        self.count = 0
        self.nbytes = 0  # of leaves
        self.raw = 0
        self.heads = 0  # tags and counts of containers
        self.keys = 0
        self.below: dict[str, Place] = {}


class PhpWalk:
    """A walk through one payload."""

    def __init__(self, buf: memoryview, limits: Limits) -> None:
        self.walked = Walked(buf)
        self.cursor = Cursor(buf, 0, None, limits.items // AFFINE_SHARE)
        self.depth = limits.depth
        self.stack: list[Iterator[Place]] = []
        self.root = Place("$")
        self.places = 1
        self.pieces = 0
        self.last: tuple[str, str] | None = None
        self.starts: list[int] = []
        self.lengths = np.empty(0, "<i8")
        self.ids = 0
        self.used = 0  # strings taken from the dictionary
        self.version = self.dictionary = self.behind = 0

    # spans

    def put(self, start: int, what: str, path: str) -> None:
        """The bytes from there to here; they grow the last span if that is of the same sort and place."""
        children = self.walked.root.children
        stop = self.cursor.pos
        if stop == start:
            return
        if self.last == (what, path):
            children[-1].stop = stop
            return
        if self.pieces >= MAX_PIECES:
            what, path = "more values", ""
            if self.last == (what, path):
                children[-1].stop = stop
                return
        piece = self.walked.root.add(start, what, stop)
        piece.path = path
        self.pieces += 1
        self.last = (what, path)

    def head(self, place: Place, start: int, kind: str) -> None:
        """The tag and the counts of a container."""
        place.heads += self.cursor.pos - start
        place.count += 1
        place.kinds[kind] = place.kinds.get(kind, 0) + 1
        self.put(start, f"{kind} head", place.path)

    def leaf(self, place: Place, start: int, kind: str, raw: int, n: int = 1) -> None:
        """A value without values in it, or a run of them."""
        place.nbytes += self.cursor.pos - start
        place.count += n
        place.raw += raw
        place.kinds[kind] = place.kinds.get(kind, 0) + n
        self.put(start, kind, place.path)

    def key_bytes(self, place: Place, start: int, raw: int) -> None:
        """Keys of a container."""
        place.keys += self.cursor.pos - start
        place.raw += raw
        self.put(start, "key", place.path)

    def under(self, place: Place, step: str) -> Place:
        """A place in another; one that everything shares where there would be too many."""
        step = plain(clip(step, SHOWN_STEP))
        found = place.below.get(step)
        if found is None:
            if self.places >= MAX_PLACES:
                step = "[*]"
                if step in place.below:
                    return place.below[step]
            self.places += 1
            found = place.below[step] = Place(clip(place.path + step, SHOWN_PATH))
        return found

    # tokens

    def size(self, each: int) -> int:
        """A number of items that take at least so many bytes each."""
        n = self.cursor.uvarint()
        if n * each > self.cursor.left:
            raise TruncatedError(f"{n} items, {self.cursor.left} bytes left", pos=self.cursor.pos)
        return n

    def index(self) -> int:
        """A place in the dictionary."""
        pos = self.cursor.pos
        index = self.cursor.uvarint()
        if index >= len(self.starts):
            raise DecodeError(f"string {index} of a dictionary of {len(self.starts)}", pos=pos)
        self.used += 1
        return index

    def word(self, index: int) -> bytes:
        """The start of a string of the dictionary."""
        start = self.starts[index]
        return bytes(self.cursor.buf[start : start + min(int(self.lengths[index]), SHOWN_BYTES)])

    def class_name(self, place: Place) -> None:
        """The class that stands next, noted at the place of its object."""
        name = plain(clip(property_name(self.word(self.index())), SHOWN_STEP))
        if len(place.classes) < MAX_KINDS:
            place.classes[name] = None

    def run(self, n: int, most: int | None = None) -> int:
        """Pass n varints; of indices gives the length of the strings together."""
        raw = 0
        while n:
            k = min(n, CHUNK)
            start = self.cursor.pos
            codes = read_varints(self.cursor, k)
            if most is not None:
                if int(codes.max()) >= most:
                    raise DecodeError(f"string {int(codes.max())} of a dictionary of {most}", pos=start)
                raw += int(self.lengths.take(codes.view("<i8")).sum())
                self.used += k
            n -= k
        return raw

    def open(self, values: Iterator[Place]) -> None:
        """Go on with the values of a container."""
        if len(self.stack) > self.depth:
            raise LimitError(f"containers are nested more than {self.depth} deep", pos=self.cursor.pos)
        self.stack.append(values)


def php_parts(w: PhpWalk, size: int) -> Part:
    """The whole payload as a tree of parts."""
    root = Part("", "payload", nbytes=size)
    words = Part("(dictionary)", nbytes=w.dictionary, count=w.used)
    words.distinct = len(w.starts) or None
    value = _part_of(w.root)
    told = value.nbytes + w.version + w.dictionary + w.behind
    beside = [
        Part("(version)", nbytes=w.version),
        words,
        Part("(behind the end)", nbytes=w.behind),
        Part("(unread)", nbytes=size - told),
    ]
    root.children = [value] * bool(value.nbytes) + [part for part in beside if part.nbytes]
    root.raw = value.raw
    for _, part in root.walk():
        part.share = part.nbytes / size if size else 0.0
    return root


def _part_of(top: Place) -> Part:
    made = _own(top)
    order = [made]
    waiting: list[tuple[Place, Part]] = [(top, made)]
    while waiting:
        place, part = waiting.pop()
        for below in place.below.values():
            child = _own(below)
            part.children.append(child)
            order.append(child)
            waiting.append((below, child))
    for part in reversed(order):
        part.nbytes += sum(child.nbytes for child in part.children)
        part.raw += sum(child.raw for child in part.children)
    return made


def _own(place: Place) -> Part:
    """A place with its own bytes; of a container these are leaves of their own."""
    part = Part(place.path, " | ".join(list(place.kinds)[:MAX_KINDS]), count=place.count)
    part.dtype = " | ".join(place.classes)
    part.raw = place.raw
    if not place.below:
        part.nbytes = place.nbytes + place.heads + place.keys
        return part
    for role, name in ROLES:
        if nbytes := getattr(place, name):
            part.children.append(Part(place.path, part.kind, role=role, nbytes=nbytes, count=place.count))
    return part
