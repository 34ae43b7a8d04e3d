"""Many values of one tag in a row, inside MIXED: read at once.

Strategy: columns of bools and gaps, of strings and of short lists of strings are MIXED on this wire, an item after the
other with a tag each. Where the same tag came a few times, numpy looks how far that goes on, a window at a time: tags
at a fixed distance are compared in one step; strings are chained from each header to the next. What ends a run is left
to the caller, who is told how much was looked at, so that runs that end soon are not searched for again and again.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from npser.phpser.source import Source
from npser.phpser.tags import Tag
from npser.phpser.tokens import read_tokens

__all__ = ["RUNS", "Run"]

Step = Callable[[Source, int, list[Any]], int]
"""Reads up to n values from one window of the source and appends them; gives the bytes that it looked at."""

Run = Step
"""The same for as many windows as the run fills."""

BYTE: Final = np.dtype("<u1")
WINDOW = 1 << 14
"""Bytes at a time: the scratch stays in the cache, and little is looked at behind the end of a run."""

_CONSTANTS: Final = np.array([None, False, True], object)


def _run(step: Step) -> Run:
    def run(source: Source, n: int, values: list[Any]) -> int:
        want = len(values) + n
        looked = 0
        while len(values) < want:
            before = source.pos
            size = step(source, want - len(values), values)
            looked += size
            if 2 * (source.pos - before) <= size:
                break
        return looked

    return run


def _first_false(good: NDArray[np.bool_]) -> int:
    return good.size if good.all() else int(good.argmin())


def _constants(source: Source, n: int, values: list[Any]) -> int:
    raw = np.frombuffer(source.data, BYTE, min(n, source.left, WINDOW), source.pos)
    stop = _first_false(raw <= Tag.TRUE)
    values += _CONSTANTS.take(raw[:stop]).tolist()
    source.pos += stop
    return raw.size


def _records(source: Source, n: int, size: int) -> NDArray[np.uint8]:
    """Up to n records of `size` bytes -> (m, size) uint8."""
    m = min(n, min(source.left, WINDOW) // size)
    return np.frombuffer(source.data, BYTE, m * size, source.pos).reshape(m, size)


def _words(source: Source, n: int, values: list[Any]) -> int:
    if len(source.words) > 0x80:
        return read_tokens(source, n, values)
    records = _records(source, n, 2)
    stop = _first_false((records[:, 0] == Tag.STRING_DICT) & (records[:, 1] < min(0x80, len(source.words))))
    values += source.lut.take(records[:stop, 1]).tolist()
    source.pos += 2 * stop
    return records.size


def _doubles(source: Source, n: int, values: list[Any]) -> int:
    records = _records(source, n, 9)
    stop = _first_false(records[:, 0] == Tag.DOUBLE)
    values += records[:stop, 1:].copy().view("<f8").ravel().tolist()
    source.pos += 9 * stop
    return records.size


def _word_lists(source: Source, n: int, values: list[Any]) -> int:
    """Lists of strings of the dictionary, all of one length."""
    if source.left < 2 or not source.words:
        return 0
    k = source.data[source.pos + 1]
    if k >= 0x80:
        return 0
    records = _records(source, n, 2 + k)
    good = (records[:, 0] == Tag.STRINGS) & (records[:, 1] == k)
    for column in range(2, 2 + k):
        good &= records[:, column] < min(0x80, len(source.words))
    stop = _first_false(good)
    if stop and (records[1:stop] == records[0]).all():
        same: list[Any] = source.lut.take(records[0, 2:]).tolist()
        values += map(list.copy, repeat(same, stop))
    else:
        values += source.lut.take(records[:stop, 2:]).tolist()
    source.pos += (2 + k) * stop
    return records.size


def _strings(source: Source, n: int, values: list[Any]) -> int:
    """Strings in place, of less than 128 bytes each."""
    if source.left < 2:
        return 0
    size = min(source.left, WINDOW, (source.data[source.pos + 1] + 4) * n)
    raw = np.frombuffer(source.data, BYTE, size, source.pos)
    heads = np.flatnonzero(raw[:-1] == Tag.STRING)  # those of strings, and among them bytes that only look like it
    if not heads.size or heads[0]:
        return size
    lengths = raw[heads + 1]
    ends = heads + 2 + lengths
    ends[lengths >= 0x80] = size + 1
    follows = _first_false(ends[:-1] == heads[1:]) + 1
    stop = int(ends[follows - 1])
    if follows < min(n, heads.size) and stop < size and raw[stop] == Tag.STRING:
        chain = _chain(heads, ends)
        heads, ends = heads[chain], ends[chain]
    else:
        heads, ends = heads[:follows], ends[:follows]
    m = min(n, int(np.count_nonzero(ends <= size)))  # only the last of a chain can reach beyond the window
    if not m:
        return size
    stop = int(ends[m - 1])
    keep = np.ones(stop, np.bool_)
    keep[heads[:m] + 1] = False
    values += _cut(source, raw[:stop][keep].tobytes(), heads[:m] + 2, ends[:m])
    source.pos += stop
    return size


def _chain(heads: NDArray[np.intp], ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which of the heads are reached from the first, each from the end of the one before."""
    last = heads.size
    jump = np.full(last + 1, last)
    jump[:-1] = np.searchsorted(heads, ends)
    lost = jump[:-1] < last
    lost[lost] = heads[jump[:-1][lost]] != ends[lost]
    jump[:-1][lost] = last
    path = np.zeros(1, np.intp)
    while path[-1] != last:  # the first 2**k of the chain; jump takes 2**k steps
        path = np.concatenate((path, jump[path]))
        jump = jump[jump]
    return path[path < last]


def _cut(source: Source, marked: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> list[Any]:
    """The strings, from their bytes with a mark before each."""
    mark = bytes((Tag.STRING,))
    if marked.count(mark) == starts.size:
        if source.strings == "bytes":
            return marked.split(mark)[1:]
        try:
            return marked.decode().split(mark.decode())[1:]
        except UnicodeDecodeError:
            pass
    data, pos = source.data, source.pos
    return [
        source.text(data[start:end]) for start, end in zip((starts + pos).tolist(), (ends + pos).tolist(), strict=True)
    ]


RUNS: Final[dict[int, tuple[int, Run]]] = {
    Tag.NULL: (96, _run(_constants)),
    Tag.FALSE: (96, _run(_constants)),
    Tag.TRUE: (96, _run(_constants)),
    Tag.LONG: (192, _run(read_tokens)),
    Tag.DOUBLE: (64, _run(_doubles)),
    Tag.STRING_DICT: (128, _run(_words)),
    Tag.STRINGS: (16, _run(_word_lists)),
    Tag.STRING: (160, _run(_strings)),
}
"""Tag -> from how many values on the search pays (benchmarks/thresholds_phpser.py::sweep_runs), and what makes it."""
