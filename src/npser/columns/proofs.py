"""Lists of numbers as arrays, with the proof that every item is of exactly that type, in one pass of C.

Strategy: `marshal.dumps` walks a list in C and writes a record an item: a tag byte, and for an int of 32 bits four
bytes, for a larger one its digits of 15 bits and how many, for a float eight bytes, for True, False and None nothing
more (CPython, Python/marshal.c, `w_complex_object`). It knows exact types only, so the tags prove what `type(x) is int`
would, at half the price, and the values stand at a fixed stride, where numpy takes them. Nothing is ever read with
marshal, nor written into a payload.

What marshal must not be led into: it walks into containers, without end where they hold themselves or each other twice,
unless it keeps track of what it met (version 3), and then it looks up every object with more than one reference, which
is dear where the items of a list are shared. So ints that a sample shows to be unshared, and bools and None, which are
never looked up, take version 3. Others take version 2, behind `sum`: no container can be added to a number.

A sample of the types comes before any of that, so that a wrong guess is rare; whatever is wrong then shows in the
length or in the tags, and the answer is None: prove it some other way. Each list is walked within one call that runs no
Python code, so another thread cannot change it meanwhile. Where marshal writes another layout, `usable` is False, and
the answer is None for everything.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Found", "bools_of", "floats_of", "ints_of", "optional_ints_of", "usable", "wide_ints_of"]

Values: TypeAlias = list[Any] | tuple[Any, ...]
I64: TypeAlias = NDArray[np.int64]
F64: TypeAlias = NDArray[np.float64]
Bits: TypeAlias = NDArray[np.bool_]

TRACKED, PLAIN = 3, 2  # versions of marshal: with and without looking for objects that were met before
getrefcount: Callable[[object], int] = getattr(sys, "getrefcount", lambda _: 0)  # not every Python counts
HEAD = 5  # a tag and the number of items
INT_BYTES, FLOAT_BYTES = 5, 9  # of a record
INT, TRUE, FALSE, NONE, REFERENCE = b"iTFNr"
DIGIT_BITS, DIGIT_BYTES = 15, 2
MIN_DIGITS, MAX_DIGITS = 3, 5  # of ints beyond 32 bits, and up to 63
NO_DIGITS, UNLIKE = 0, -1
FIRST_MET = 0x80
"""Set in the tag of an object that later records may refer to; those hold its number, in the order of this bit."""
SAMPLE = 16  # items spread over the list, and before them
HEAD_SAMPLE = 4  # neighbours, as what alternates could hide from any step
SHARED_PART = 8  # where more than one sampled item in so many is shared, looking them all up costs more than `sum`
FEW_IMPOSTORS = 4  # bytes that look like the tag of None: so many passes over all take as long as a loop
INT32 = range(-(1 << 31), 1 << 31)
AFTER_NONE: Final = np.zeros(256, np.bool_)
AFTER_NONE[[INT, INT | FIRST_MET, NONE, REFERENCE]] = True  # and the last one is taken as followed by itself


class Found(NamedTuple):
    """Ints, some of them absent: which are there, and those that are."""

    present: Bits
    dense: I64


def ints_of(values: Values) -> I64 | None:
    """List or tuple of n ints -> (n,) int64; None unless all are exact ints of 32 bits, and n > 0.

    11 ns an item of thousands where few are shared, 16 where they are, as the cells of a column always are; of a tuple
    as of a list. A call is 6 us, so of 1,000 cells 21 ns each.

    >>> ints_of([3, 1, 2]), ints_of([3, True]), ints_of([2**31])
    (array([3, 1, 2]), None, None)
    """
    found = optional_ints_of(values)
    return None if isinstance(found, Found) else found


def optional_ints_of(values: Values) -> I64 | Found | None:
    """List or tuple of n ints or None -> (n,) int64 where none is None, else those that are there.

    None unless all are exact ints of 32 bits or None, and one is an int.

    >>> optional_ints_of([3, None, 2])
    Found(present=array([ True, False,  True]), dense=array([3, 2]))
    >>> optional_ints_of([3, None, False])
    """
    look = _look(values, _INT_OR_NONE)
    if look is None or look.digits != NO_DIGITS:
        return None
    if look.shared:
        values = values[:]  # so that what is walked is what was added
        data = (b"" if look.some_none else _guarded(values, values)) or _guarded(values, filter(None, values))
    else:
        data = _tracked(values)
    n, size = _sizes(data)
    count, odd = divmod(size - n, INT_BYTES - 1)
    if odd or not 0 < count <= n:
        return None
    return _from_records(data, HEAD, data[0] >> 7) if count == n else _without_nones(data, n, n - count)


def wide_ints_of(values: Values) -> I64 | None:
    """List or tuple of n ints -> (n,) int64; None unless all are exact ints of equally many digits of 15 bits, 3 to 5.

    What counts time since 1970 in milliseconds or less, for example: 20 ns an item. None where items are shared, too:
    there, it is no faster than asking each for its type.

    >>> wide_ints_of([2**40 + at for at in range(3)]), wide_ints_of([2**40, 1])
    (array([1099511627776, 1099511627777, 1099511627778]), None)
    """
    look = _look(values, _INT_OR_NONE)
    if look is None or look.shared or not MIN_DIGITS <= look.digits <= MAX_DIGITS:
        return None
    data = _tracked(values)
    n, size = _sizes(data)
    stride = INT_BYTES + DIGIT_BYTES * look.digits
    return _from_digits(data, n, look.digits) if n and size == stride * n else None


def floats_of(values: Values) -> F64 | None:
    """List or tuple of n floats -> (n,) float64; None unless all are exact floats, and n > 0.

    >>> floats_of([0.5, -0.0]), floats_of([0.5, 1])
    (array([ 0.5, -0. ]), None)
    """
    look = _look(values, _ONLY_FLOAT)
    if look is None:
        return None
    data = b"" if look.shared else _tracked(values)
    n, size = _sizes(data)
    if size != FLOAT_BYTES * n or not n:  # some are shared: their records are shorter
        values = values[:]
        data = _guarded(values, values)
        n, size = _sizes(data)
    if size != FLOAT_BYTES * n:
        return None
    if not _are_all(b"g", np.ndarray((n,), "<u1", data, HEAD, (FLOAT_BYTES,))):
        return None
    return np.ndarray((n,), "<f8", data, HEAD + 1, (FLOAT_BYTES,)).astype(np.float64)


def bools_of(values: Values) -> Bits | None:
    """List or tuple of n bools -> (n,) bool; None unless all are True or False, and n > 0.

    >>> bools_of([True, False]), bools_of([True, 0])
    (array([ True, False]), None)
    """
    if _look(values, _ONLY_BOOL) is None:
        return None
    data = _tracked(values)
    n, size = _sizes(data)
    if size != n:
        return None
    tags = np.frombuffer(data, "<u1", n, HEAD)
    bits: Bits = tags == TRUE
    return bits if np.count_nonzero(bits) + np.count_nonzero(tags == FALSE) == n else None


# ------------------------------------------------------------------------------------------------------ before the pass

_INT_OR_NONE: Final = frozenset({int, type(None)})
_ONLY_FLOAT: Final = frozenset({float})
_ONLY_BOOL: Final = frozenset({bool})


class _Look(NamedTuple):
    """What some of the items are like; it does not hold them, which would make them shared."""

    shared: bool
    digits: (
        int  # of the ints, if all have as many; NO_DIGITS for ints of 32 bits, and UNLIKE if there is no such number
    )
    some_none: bool


_ANY: Final = _Look(shared=True, digits=UNLIKE, some_none=False)


def _look(values: Values, types: frozenset[type]) -> _Look | None:
    """A look at a few of the items, spread over all of them; None if this is out of use, or one is of no such type."""
    sample = values[:: len(values) // SAMPLE + 1]
    head = values[:HEAD_SAMPLE]
    met = set(map(type, sample)).union(map(type, head))
    if not usable or not met or not met <= types:
        return None
    if types is _ONLY_BOOL:
        return _ANY
    del head  # or they would be shared
    counts = sorted(map(getrefcount, sample))
    if types is _ONLY_FLOAT:
        return _Look(counts[-1 - len(sample) // SHARED_PART] > _ALONE, UNLIKE, some_none=False)
    some_none = type(None) in met
    ints = [value for value in sample if value is not None] if some_none else sample
    if not ints:
        ints = [value for value in values[:HEAD_SAMPLE] if value is not None]
        return _Look(shared=True, digits=_digits(min(ints), max(ints)), some_none=True) if ints else None
    nones = len(sample) - len(ints)  # they have the highest counts of all
    return _Look(counts[-1 - nones - len(ints) // SHARED_PART] > _ALONE, _digits(min(ints), max(ints)), some_none)


def _digits(low: int, high: int) -> int:
    if INT32.start <= low and high < INT32.stop:
        return NO_DIGITS
    digits = -(-low.bit_length() // DIGIT_BITS)
    return digits if digits == -(-high.bit_length() // DIGIT_BITS) else UNLIKE


def _alone() -> int:
    """The references that an item of a list has that nobody else refers to, seen from `_look`."""
    items = [float(at) for at in range(SAMPLE)]
    sample = items[:]
    return max(map(getrefcount, sample))


_ALONE: Final = _alone()


def _tracked(values: Values) -> bytes:
    """The records, objects met before as references to them; no bytes if there are none."""
    try:
        return marshal.dumps(values, TRACKED)
    except ValueError:  # a type that marshal does not know, or nesting too deep
        return b""


def _guarded(values: Values, numbers: Iterable[Any]) -> bytes:
    """The records, each for itself; no bytes if there are none. Nothing that could hold anything gets past `sum`."""
    try:
        return marshal.dumps(values, PLAIN) if type(sum(numbers)) in (int, float) else b""
    except Exception:  # whatever the additions of other people's types raise
        return b""


def _sizes(data: bytes) -> tuple[int, int]:
    """The number of items, and the bytes of their records."""
    return int.from_bytes(data[1:HEAD], "little"), len(data) - HEAD


# ------------------------------------------------------------------------------------------------------- after the pass


def _from_records(data: bytes | bytearray, start: int, first: int) -> I64 | None:
    """Records of ints -> (n,) int64; None if there are others among them. The first one that is numbered is `first`."""
    n = (len(data) - start) // INT_BYTES
    tags = np.ndarray((n,), "<u1", data, start, (INT_BYTES,)).tobytes()
    found = np.ndarray((n,), "<i4", data, start + 1, (INT_BYTES,)).astype(np.int64)
    return found if tags == b"i" * n else _with_references(np.frombuffer(tags, "<u1"), found, first)


def _are_all(tag: bytes, tags: NDArray[np.uint8]) -> bool:
    """Whether all are this tag, numbered or not."""
    octets = tags.tobytes()
    return octets == tag * tags.size or bool((np.frombuffer(octets, "<u1") & FIRST_MET - 1 == tag[0]).all())


def _from_digits(data: bytes, n: int, digits: int) -> I64 | None:
    """Records of ints with so many digits each -> (n,) int64; None if there are others, or any beyond 63 bits."""
    strides = (INT_BYTES + DIGIT_BYTES * digits,)
    counts = np.ndarray((n,), "<i4", data, HEAD + 1, strides).astype("<i4")  # below zero for an int that is
    if not _are_all(b"l", np.ndarray((n,), "<u1", data, HEAD, strides)) or (np.abs(counts) != digits).any():
        return None
    found = np.zeros(n, np.int64)
    for at in reversed(range(digits)):
        digit = np.ndarray((n,), "<u2", data, HEAD + INT_BYTES + DIGIT_BYTES * at, strides)
        if at == MAX_DIGITS - 1 and int(digit.max()) >> 63 - DIGIT_BITS * at:
            return None
        found <<= DIGIT_BITS
        found |= digit
    if int(counts.min()) < 0:
        np.negative(found, out=found, where=counts < 0)
    return found


def _with_references(tags: NDArray[np.uint8], found: I64, first: int) -> I64 | None:
    """Put what is referred to in the place of the references."""
    references, numbered = np.flatnonzero(tags == REFERENCE), np.flatnonzero(tags == INT | FIRST_MET)
    if np.count_nonzero(tags == INT) + references.size + numbered.size != tags.size:
        return None
    if references.size:
        targets = found[references] - first
        if not 0 <= int(targets.min()) <= int(targets.max()) < numbered.size:  # the list within itself
            return None
        found[references] = found[numbered[targets]]
    return found


def _without_nones(data: bytes, n: int, absent: int) -> Found | None:
    """Records of ints with `absent` tags of None between them.

    Method: what looks like such a tag may be a byte of a value. With as many of those before it as there are tags, a
    record begins at a multiple of its length. Most impostors are not even followed by another tag.
    """
    octets = np.frombuffer(data, "<u1", len(data) - HEAD, HEAD)
    places = np.flatnonzero(octets == NONE)
    rest: bytes | bytearray
    if places.size == absent:
        rest = data[HEAD:].replace(b"N", b"")
    else:
        likely = AFTER_NONE[octets.take(places + 1, mode="clip")]
        few = np.count_nonzero(likely) - absent <= FEW_IMPOSTORS
        tags = _tags_among(places, likely, absent) if few else _one_by_one(places, likely)
        impostors, places = places[~tags], places[tags]
        if places.size != absent:
            return None
        rest = _without(octets, impostors, places)
    places += (INT_BYTES - 1) * np.arange(absent)  # with as many bytes for None as for an int
    present = np.ones(n, np.bool_)
    present[places // INT_BYTES] = False
    if (places % INT_BYTES).any() or len(rest) != INT_BYTES * (n - absent):
        return None
    dense = _from_records(rest, 0, data[0] >> 7)
    return None if dense is None else Found(present, dense)


def _tags_among(places: NDArray[np.intp], likely: Bits, absent: int) -> Bits:
    """Which of the bytes at these places are tags: those that are likely, but for the impostors among them.

    The first that does not begin a record, with as many tags before it as there are, is none.
    """
    for _ in range(np.count_nonzero(likely) - absent):
        chosen = np.flatnonzero(likely)
        strays = (places[chosen] - np.arange(chosen.size)) % INT_BYTES
        likely[chosen[np.flatnonzero(strays)[:1]]] = False
    return likely


def _one_by_one(places: NDArray[np.intp], likely: Bits) -> Bits:
    """The same where there are many impostors."""
    begin = []
    phase = 0
    for place in (places[likely] % INT_BYTES).tolist():
        begin.append(place == phase)
        if place == phase:
            phase = (phase + 1) % INT_BYTES
    tags = likely.copy()
    tags[likely] = begin
    return tags


def _without(octets: NDArray[np.uint8], impostors: NDArray[np.intp], places: NDArray[np.intp]) -> bytearray:
    """The bytes but for those at `places`, which are all that are alike except for the impostors."""
    scratch = bytearray(octets)
    np.frombuffer(scratch, "<u1")[impostors] = 0
    rest = scratch.replace(b"N", b"")
    np.frombuffer(rest, "<u1")[impostors - np.searchsorted(places, impostors)] = NONE
    return rest


def _is_as_expected(dumps: Callable[[Any, int], bytes]) -> bool:
    """Whether marshal writes the records that are taken for granted here."""
    one, half, wide = int("65536"), float("0.5"), -int("1099511660799")  # fresh, and so are known to nobody else
    words = [one.to_bytes(4, "little"), np.float64(half).tobytes()]
    try:
        plain = dumps([one, one, wide, half, True, False, None], PLAIN)
        tracked = dumps([one, None, one], TRACKED)
    except (TypeError, ValueError):
        return False
    digits = b"".join(((-wide >> shift) & 0x7FFF).to_bytes(2, "little") for shift in (0, 15, 30))
    numbered = bytes((tracked[:1] == b"\xdb", 0, 0, 0))  # whether the list, too, may be referred to
    return plain == b"[\7\0\0\0i%bi%bl\xfd\xff\xff\xff%bg%bTFN" % (words[0], words[0], digits, words[1]) and (
        tracked[1:] == b"\3\0\0\0\xe9%bNr%b" % (words[0], numbered)
    )


usable: Final = _is_as_expected(marshal.dumps)
"""Whether marshal writes what this module reads; if not, its answer is None for everything."""
