"""Leaves in a row in a phpser payload, passed in one loop.

Strategy: what is common is passed here, with no call for each: constants, ints, doubles and strings whose lengths take
two bytes at most. Anything else, and anything that is wrong, is left to the readers that say so. A row of leaves is
one span, whatever their tags are.
"""

from __future__ import annotations

from typing import Final

from npser.inspection.phpplaces import PhpWalk, Place
from npser.phpser.tags import Tag

__all__ = ["pass_leaves"]

NAMES: Final = ("NULL", "FALSE", "TRUE", "LONG", "DOUBLE", "STRING_DICT", "STRING")
KINDS: Final = tuple(int(Tag[name]) for name in NAMES)
_LONG, _DOUBLE, _WORD, _STRING = KINDS[3:]
_LAST_CONSTANT = KINDS[2]

LONGEST = 9
"""Bytes of a varint that surely fits."""


def pass_leaves(w: PhpWalk, place: Place, n: int) -> int:
    """Pass up to n leaves of one place; gives how many there were.

    >>> from npser.limits import Limits
    >>> walk = PhpWalk(memoryview(bytes([0, 3, 2, 12, 1, 65, 7])), Limits())
    >>> pass_leaves(walk, walk.root, 4), walk.cursor.pos, walk.root.kinds
    (3, 6, {'NULL': 1, 'LONG': 1, 'STRING': 1})
    """
    cursor = w.cursor
    buf, end, start = cursor.buf, cursor.end, cursor.pos
    known, lengths = len(w.starts), w.lengths
    counts = [0] * (_STRING + 1)
    raw = words = 0
    pos, done = start, 0
    while done < n and pos < end:
        tag = buf[pos]
        at = pos + 1
        if tag <= _LAST_CONSTANT:
            raw += 1
        elif tag == _DOUBLE:
            raw += 8
            at += 8
        elif tag == _LONG:
            stop = min(end, at + LONGEST)
            while at < stop and buf[at] >= 0x80:
                at += 1
            if at >= stop:
                break
            at += 1
            raw += 8
        elif tag in (_WORD, _STRING):
            if at + 1 >= end:
                break
            size = buf[at]
            at += 1
            if size >= 0x80:
                if (high := buf[at]) >= 0x80:
                    break
                size += (high << 7) - 0x80
                at += 1
            if tag == _STRING:
                raw += size
                at += size
            elif size < known:
                raw += int(lengths[size])
                words += 1
            else:
                break
        else:
            break
        if at > end:
            break
        counts[tag] += 1
        pos = at
        done += 1
    if not done:
        return 0
    cursor.pos = pos
    w.used += words
    for name, kind in zip(NAMES, KINDS, strict=True):
        if counts[kind]:
            place.kinds[name] = place.kinds.get(name, 0) + counts[kind]
    place.nbytes += pos - start
    place.count += done
    place.raw += raw
    w.put(start, "values", place.path)
    return done
