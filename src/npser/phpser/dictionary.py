"""The dictionary of strings that a payload collects while it is written.

Strategy: phpser writes a string in place the first time, and the second time moves it into the dictionary and refers to
it from then on; names of classes, cases and properties and the keys of tables are put there at once. phpser tells
strings apart by where they lie in memory; equal strings are one string here, as literals are in PHP. A whole list is
one pass: which of its strings were met before, and where each is met for the first and the second time.

    rule                                             golden vectors
    in place, then dictionary; no shortest length    strs_3_same, strs_dup_empty, strs_mixture, dict_130_entries
    keys and values share it                         assoc_key_is_value, assoc_key_is_value2, assoc_repeat_nested
    at once: class, case, property, key of a table   class_name_as_value, enum_backed, prop_name_as_key, rows_3
    what was in place before is moved at that time   enum_case_name_as_value, rows_ragged
"""

from __future__ import annotations

from itertools import chain
from operator import add
from typing import Any, Final

import numpy as np

from npser.blocks.varint import encode_varints
from npser.phpser.tags import KeyTag, Tag

__all__ = ["IN_PLACE", "Dictionary", "varint", "zigzag_varint"]

IN_PLACE: Final = -1
"""Was written once, and is not in the dictionary yet."""

FEW = 60
"""Up to so many strings, a plain loop is faster (benchmarks/thresholds_phpser.py::sweep_few)."""

_SMALL: Final = [bytes((n,)) for n in range(0x80)]


def varint(n: int) -> bytes:
    """LEB128.

    >>> varint(300).hex()
    'ac02'
    """
    if n < 0x80:
        return _SMALL[n]
    out = bytearray()
    while n > 0x7F:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def zigzag_varint(n: int) -> bytes:
    """Zigzag LEB128 of an int64.

    >>> zigzag_varint(-1).hex()
    '01'
    """
    return varint(n << 1 if n >= 0 else ~n << 1 | 1)


class Dictionary:
    """The strings of one payload.

    Attributes
    ----------
    places : dict
        String -> its index, or `IN_PLACE`. A bytes object that is UTF-8 is the same string as that str.
    entries : list of bytes
        What the dictionary holds.
    """

    __slots__ = ("entries", "places")

    def __init__(self) -> None:
        self.places: dict[str | bytes, int] = {}
        self.entries: list[bytes] = []

    def header(self, version: int) -> bytes:
        """The version and the dictionary, as they stand in front of the value."""
        lengths = map(varint, map(len, self.entries))
        entries = chain.from_iterable(zip(lengths, self.entries, strict=True))
        return b"".join((bytes((version,)), varint(len(self.entries)), *entries))

    def _append(self, text: str | bytes, raw: bytes) -> int:
        index = self.places[text] = len(self.entries)
        self.entries.append(raw)
        return index

    def intern(self, text: str | bytes) -> bytes:
        """The index of a string that has to be in the dictionary."""
        index = self.places.get(text, IN_PLACE)
        return varint(self._append(text, raw_bytes(text)) if index == IN_PLACE else index)

    def value(self, text: str | bytes) -> bytes:
        """A string as a value."""
        return self._string(text, Tag.STRING, Tag.STRING_DICT)

    def key(self, text: str | bytes) -> bytes:
        """A string as a key of ASSOC."""
        return self._string(text, KeyTag.STRING, KeyTag.STRING_DICT)

    def _string(self, text: str | bytes, in_place: int, by_index: int) -> bytes:
        index = self.places.get(text)
        if index is None:
            raw = raw_bytes(text)
            self.places[text] = IN_PLACE
            return _SMALL[in_place] + varint(len(raw)) + raw
        if index == IN_PLACE:
            index = self._append(text, raw_bytes(text))
        return _SMALL[by_index] + varint(index)

    def indices(self, texts: list[Any]) -> bytes | None:
        """The indices of strings, or None where one of them is not in the dictionary.

        >>> words = Dictionary()
        >>> words.indices(["a"]) is None, words.intern("a"), words.indices(["a", "a"])
        (True, b'\\x00', b'\\x00\\x00')
        """
        if self.places.get(texts[0], IN_PLACE) == IN_PLACE:
            return None
        found = [self.places.get(text, IN_PLACE) for text in texts]
        return None if min(found) == IN_PLACE else _varints(found)

    def values(self, texts: list[Any]) -> bytes:
        """Strings as values, one after the other: what `value` gives for each."""
        if len(texts) <= FEW:
            return b"".join(map(self.value, texts))
        return b"".join(self._many(texts, _SMALL[Tag.STRING], _SMALL[Tag.STRING_DICT]))

    def keys(self, texts: list[Any]) -> list[bytes]:
        """Strings as keys of ASSOC: what `key` gives for each."""
        if len(texts) <= FEW:
            return list(map(self.key, texts))
        return self._many(texts, _SMALL[KeyTag.STRING], _SMALL[KeyTag.STRING_DICT])

    def _many(self, texts: list[Any], in_place: bytes, by_index: bytes) -> list[bytes]:
        fresh = dict.fromkeys(texts, IN_PLACE)
        if len(fresh) == len(texts) and self.places.keys().isdisjoint(fresh):
            self.places |= fresh
            return _written(texts, in_place)
        distinct = list(fresh)
        numbers = dict(zip(distinct, range(len(distinct)), strict=True))
        codes = np.fromiter(map(numbers.__getitem__, texts), np.intp, len(texts))
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes, minlength=len(distinct))
        firsts = np.cumsum(counts) - counts
        new = np.array([text not in self.places for text in distinct])
        self._move(distinct, order, firsts, counts, new)
        indices = map(self.places.__getitem__, distinct)
        words = [by_index + varint(index) if index != IN_PLACE else b"" for index in indices]
        parts = list(map(words.__getitem__, codes.tolist()))
        news = np.flatnonzero(new)
        raws = _written([distinct[number] for number in news.tolist()], in_place)
        for place, raw in zip(order[firsts[news]].tolist(), raws, strict=True):
            parts[place] = raw
        return parts

    def _move(self, distinct: list[Any], order: Any, firsts: Any, counts: Any, new: Any) -> None:
        """Move strings into the dictionary in the order in which each is met for the second time."""
        known = np.array([self.places.get(text, IN_PLACE) != IN_PLACE for text in distinct])
        moving = np.flatnonzero(~known & (counts > new))
        second = order[firsts[moving] + new[moving]]
        for number in moving[np.argsort(second)].tolist():
            self._append(distinct[number], raw_bytes(distinct[number]))
        for number in np.flatnonzero(new & (counts == 1)).tolist():
            self.places[distinct[number]] = IN_PLACE


def raw_bytes(text: str | bytes) -> bytes:
    """The bytes of a string; UnicodeEncodeError for a lone surrogate."""
    return text.encode() if isinstance(text, str) else text


def _written(texts: list[Any], in_place: bytes) -> list[bytes]:
    """Strings in place."""
    raws = list(map(str.encode, texts)) if set(map(type, texts)) == {str} else list(map(raw_bytes, texts))
    lengths = list(map(len, raws))
    heads = {length: in_place + varint(length) for length in set(lengths)}
    return list(map(add, map(heads.__getitem__, lengths), raws))


def _varints(codes: list[int]) -> bytes:
    return bytes(codes) if max(codes) < 0x80 else encode_varints(np.array(codes, "<u8"))
