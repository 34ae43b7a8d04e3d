"""Lists and dicts, by the rules of the extension.

    rule                                                          golden vectors
    no items: ASSOC of none, for list and dict                    arr_empty, rows_empty_row
    all ints, fewer than 4, or wire 1: LONGS                      longs_3, affine_len_one_below, range_0_9
    all ints, one difference, within the budget: AFFINE           longs_4_affine, longs_4_const, longs_affine_wrap
    the budget of 2**20 is one for the payload                    affine_budget_exhausted, affine_over_budget_single
    else DELTA where that is shorter; a tie is LONGS              longs_delta, longs_delta_tie, longs_delta_loses
    all floats: DOUBLES                                           doubles_5, doubles_nonfinite, long_then_double
    all strings, each in the dictionary already: STRINGS          strs_nested_then_mixed
    two rows or more of the same keys in the same order: TABLE    rows_3, rows_key_order_differs, rows_ragged
    ... with string keys, none of them empty or a reference       rows_empty_row, rows_int_key, rowset_distinct_refs_3
    column of ints: LONGS, or DELTA from 4 on, never AFFINE       rows_3, rows_4_delta, table_types
    column of strings: STRINGS, if all are in the dictionary      table_str_equals_key
    ... or at most 8 and fewer than rows: those enter it          rows_3, table_str_1_unique, table_str_2_unique_of_2
    any other column: MIXED; true and false are two types         table_bool_same, table_types, rowset_10
    dict whose keys are in the dictionary already: ASSOC_DICT     assoc_repeat_nested, prop_name_as_key, rows_ragged
    else ASSOC, keys and values in turn                           assoc_key_is_value2, assoc_mixed_keys
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from npser.phpser.collisions import COLLIDING, collides
from npser.phpser.dictionary import zigzag_varint
from npser.phpser.keys import LONG_MAX, LONG_MIN, array_key
from npser.phpser.longs import affine_step, differences, plain_run, write_run
from npser.phpser.tags import KeyTag, Tag
from npser.phpser.writing import (
    LEAVES,
    Refused,
    Walk,
    Writer,
    canonical_text,
    int64_of,
    is_utf8,
    items,
)

__all__ = ["check_depth", "place_dict", "place_list"]

FIRST_RUN = 4
"""Fewer ints are always LONGS."""

FEW_STRINGS = 8
"""Distinct strings up to which a column goes into the dictionary."""

_STRINGS: Final = frozenset({str, bytes})


def place_list(w: Writer, values: list[Any]) -> Walk | None:
    """Write a list, or give the walk that will."""
    if not values:
        w.head(Tag.ASSOC, 0)
        return None
    values = w.substituted(list(values))
    kinds = set(map(type, values))
    if kinds == _INT:
        _place_longs(w, values)
    elif kinds == _FLOAT:
        w.head(Tag.DOUBLES, len(values))
        w.out.append(_doubles(values))
    elif (indices := _indices(w, values, kinds)) is not None:
        w.head(Tag.STRINGS, len(values))
        w.out.append(indices)
    elif (keys := _table_keys(w, values, kinds)) is not None:
        return _table(w, values, keys)
    else:
        return _mixed(w, values, kinds)
    return None


_INT: Final = {int}
_FLOAT: Final = {float}


def check_depth(w: Writer, values: Collection[Any]) -> None:
    """Refuse values that would stand too deep: here a leaf with a tag counts as much as a container."""
    if values and len(w.stack) >= w.depth:
        raise Refused(f"nested more than {w.depth} deep", next(iter(values)))


def _mixed(w: Writer, values: list[Any], kinds: set[type]) -> Walk:
    check_depth(w, values)
    w.head(Tag.MIXED, len(values))
    yield from items(w, values, kinds)


# Arrays of one kind


def _place_longs(w: Writer, values: list[Any]) -> None:
    n = len(values)
    numbers = int64_of(values)
    if w.version >= 2 and FIRST_RUN <= n <= w.affine:
        step = affine_step(differences(numbers))
        if step is not None:
            w.affine -= n
            w.head(Tag.AFFINE, n)
            w.out.append(zigzag_varint(values[0]) + zigzag_varint(step))
            return
    tag, run = _run(w, numbers)
    w.head(tag, n)
    w.out.append(run)


def _run(w: Writer, numbers: NDArray[np.int64]) -> tuple[Tag, bytes]:
    """LONGS or DELTA, and what follows the count."""
    if w.version >= 2 and numbers.size >= FIRST_RUN:
        is_delta, run = write_run(numbers)
        return Tag.DELTA if is_delta else Tag.LONGS, run
    return Tag.LONGS, plain_run(numbers)


def _doubles(values: list[Any]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


def _texts(values: list[Any], kinds: set[type]) -> list[Any]:
    """Strings as the dictionary knows them."""
    return list(map(canonical_text, values)) if bytes in kinds else values


def _indices(w: Writer, values: list[Any], kinds: set[type]) -> bytes | None:
    """The indices of strings that are all in the dictionary already."""
    return w.words.indices(_texts(values, kinds)) if kinds <= _STRINGS else None


# Rows


def _table_keys(w: Writer, rows: list[Any], kinds: set[type]) -> tuple[Any, ...] | None:
    """The keys that all rows have, or None where the rows make no table."""
    if kinds != {dict} or len(rows) < 2 or w.version < 2:
        return None
    keys = tuple(rows[0])
    if not keys or not set(map(type, keys)) <= _STRINGS or set(map(len, rows)) != {len(keys)}:
        return None
    flat = list(chain.from_iterable(rows))
    if flat != list(keys) * len(rows) or not set(map(type, flat)) <= _STRINGS:
        return None
    if not w.referenced.isdisjoint(map(id, rows)):
        return None
    if any(refuses_key(key) for key in keys) or any(type(array_key(key)) is int for key in keys):
        return None
    return keys


def _table(w: Writer, rows: list[Any], keys: tuple[Any, ...]) -> Walk:
    _check_collisions(keys, rows[0])
    w.head(Tag.TABLE, len(rows), len(keys))
    w.out.append(b"".join(map(w.words.intern, keys)))
    columns = list(zip(*map(dict.values, rows), strict=True))
    for column in columns:
        yield from _column(w, w.substituted(list(column)))


def _column(w: Writer, values: list[Any]) -> Walk:
    kinds = set(map(type, values))
    if kinds == _INT:
        tag, run = _run(w, int64_of(values))
    elif kinds == _FLOAT:
        tag, run = Tag.DOUBLES, _doubles(values)
    elif (indices := _column_indices(w, values, kinds)) is not None:
        tag, run = Tag.STRINGS, indices
    else:
        check_depth(w, values)
        w.head(Tag.MIXED)
        yield from items(w, values, kinds)
        return
    w.head(tag)
    w.out.append(run)


def _column_indices(w: Writer, values: list[Any], kinds: set[type]) -> bytes | None:
    """The indices of a column of strings, which enter the dictionary where they are few."""
    if not kinds <= _STRINGS:
        return None
    texts = _texts(values, kinds)
    found = w.words.indices(texts)
    if found is None:
        distinct = dict.fromkeys(texts)
        if len(distinct) <= FEW_STRINGS and len(distinct) < len(texts):
            for text in distinct:
                w.words.intern(text)
            found = w.words.indices(texts)
    return found


# Dicts


def place_dict(w: Writer, mapping: dict[Any, Any]) -> Walk | None:
    """Write a dict, or give the walk that will."""
    if not mapping:
        w.head(Tag.ASSOC, 0)
        return None
    keys = _php_keys(w, list(mapping))
    _check_collisions(keys, mapping)
    return _dict(w, keys, w.substituted(list(mapping.values())))


def _dict(w: Writer, keys: list[Any], values: list[Any]) -> Walk:
    check_depth(w, values)
    if w.version >= 2 and set(map(type, keys)) <= _STRINGS:
        indices = w.words.indices(keys)
        if indices is not None:
            w.head(Tag.ASSOC_DICT, len(keys))
            w.out.append(indices)
            yield from items(w, values, set(map(type, values)))
            return
    w.head(Tag.ASSOC, len(keys))
    out, leaves, key_of = w.out, LEAVES, w.words.key
    kinds = set(map(type, values))
    if kinds <= _NOT_STRINGS:  # then keys and values do not depend on each other
        heads = _key_heads(w, keys)
        out += chain.from_iterable(zip(heads, [leaves[type(value)](w, value) for value in values], strict=True))
        return
    for key, value in zip(keys, values, strict=True):
        out.append(_LONG_KEY + zigzag_varint(key) if type(key) is int else key_of(key))
        leaf = leaves.get(type(value))
        if leaf is None:
            yield value
        else:
            out.append(leaf(w, value))


_LONG_KEY: Final = bytes((KeyTag.LONG,))
_NOT_STRINGS: Final = frozenset(LEAVES) - _STRINGS


def _key_heads(w: Writer, keys: list[Any]) -> list[bytes]:
    if all(type(key) is not int for key in keys):
        return w.words.keys(keys)
    return [_LONG_KEY + zigzag_varint(key) if type(key) is int else w.words.key(key) for key in keys]


def _php_keys(w: Writer, keys: list[Any]) -> list[Any]:
    """Keys as PHP has them: ints, and strings that spell none."""
    original, keys = keys, w.substituted(keys, refuses_key)
    if keys is original and set(map(type, keys)) == {str} and all(map(str.isidentifier, keys)):
        return keys  # none spells a number, and none has a surrogate
    for key in keys:
        reason = refuses_key(key)
        if reason is not None:
            raise Refused(reason, key)
    found = [key if type(key) is int else array_key(key) for key in keys]
    if len(set(found)) < len(found):
        seen: set[Any] = set()
        for key, php in zip(keys, found, strict=True):
            if php in seen:
                raise Refused(f"two keys of one dict are the same key in PHP: {php!r}", key)
            seen.add(php)
    return found


def _check_collisions(keys: Collection[Any], culprit: Any) -> None:
    if collides(keys, len(keys)):
        raise Refused(COLLIDING, culprit)


def refuses_key(key: Any) -> str | None:
    """Why PHP cannot have such a key, or None."""
    refuse = _KEY_RULES.get(type(key))
    if refuse is None:
        return f"a key of type {type(key).__name__}; PHP has int and string keys"
    return refuse(key)


def _refuses_long(key: int) -> str | None:
    return None if LONG_MIN <= key <= LONG_MAX else "an int key outside 64 bits"


def _refuses_text(key: str) -> str | None:
    return None if is_utf8(key) else "a key with a lone surrogate, which is not UTF-8"


def _refuses_bytes(key: bytes) -> str | None:
    is_text = type(canonical_text(key)) is str
    return "a bytes key that is UTF-8, which in PHP is the same key as the str" if is_text else None


_KEY_RULES: Final[dict[type, Callable[[Any], str | None]]] = {
    int: _refuses_long,
    str: _refuses_text,
    bytes: _refuses_bytes,
}
