"""Arrays whose items have no tags of their own: LONGS, DOUBLES, STRINGS, DELTA, AFFINE, and the empty ones.

Strategy: each is one numpy call or two, whatever its length; a count is believed once the bytes behind it are there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from npser.blocks.varint import read_varints
from npser.phpser.longs import FEW, expand_affine, read_delta, read_longs
from npser.phpser.source import Source
from npser.phpser.tags import Tag

__all__ = ["TYPED", "UNCOUNTED"]

FEW_WORDS = 64
"""Up to this many indices, a plain loop is faster (benchmarks/thresholds_phpser.py::sweep_few)."""


def _read_doubles(source: Source, n: int) -> list[Any]:
    raw = source.take(8 * n)
    if n <= FEW:
        return list(struct.unpack(f"<{n}d", raw))
    values: list[Any] = np.frombuffer(raw, "<f8").tolist()
    return values


def _read_strings(source: Source, n: int) -> list[Any]:
    start = source.pos
    if n <= FEW_WORDS:
        raw = source.data[start : start + n]
        if len(raw) == n and max(raw, default=0) < min(0x80, len(source.words)):
            source.pos = start + n
            return list(map(source.words.__getitem__, raw))
        return [source.word() for _ in range(n)]
    raw8 = np.frombuffer(source.data, np.uint8, min(n, source.left), start)
    if raw8.size == n and int(raw8.max()) < min(0x80, len(source.words)):
        source.pos = start + n
        one_byte: list[Any] = source.lut.take(raw8).tolist()
        return one_byte
    indices = read_varints(source, n)
    if int(indices.max()) >= len(source.words):
        source.pos = start
        return [source.word() for _ in range(n)]  # which says where it is
    values: list[Any] = source.lut.take(indices.view("<i8")).tolist()
    return values


UNCOUNTED: Final[dict[int, tuple[int, Callable[[Source, int], list[Any]]]]] = {
    Tag.LONGS: (1, read_longs),
    Tag.DOUBLES: (8, _read_doubles),
    Tag.STRINGS: (1, _read_strings),
    Tag.DELTA: (1, read_delta),
}
"""Tag -> bytes that an item takes at least, and what reads n of them; TABLE columns have these, too."""


def _typed(tag: int) -> Callable[[Source], list[Any]]:
    each, read = UNCOUNTED[tag]

    def typed(source: Source) -> list[Any]:
        source.enter()
        values = read(source, source.count(each))
        source.claim(values)
        return values

    return typed


def _affine(source: Source) -> list[Any]:
    source.enter()
    values = expand_affine(source, source.uvarint())
    source.claim(values)
    return values


TYPED: Final[dict[int, Callable[[Source], list[Any]]]] = {
    **{tag: _typed(tag) for tag in UNCOUNTED},
    Tag.AFFINE: _affine,
}
