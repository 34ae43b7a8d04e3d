"""Advice on columns of numbers, arrays, and columns of more than one type.

Strategy: as in `hints`: the alternative is made, and encoded or timed. What an alternative would change in the value
(the type of an int among floats, the order of a set) is in the sentence, for only the caller knows whether it matters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from npser.codec import dumps, loads
from npser.errors import EncodeError
from npser.inspection.hints import Hint, Rule, Subject, human_time, race, size_of, sizes, worth

__all__ = ["NUMBER_RULES"]

LEAST_ITEMS = 32

FEW = 0.05
"""Items of another type are few up to this share."""

LEAST_ARRAY = 1000
"""Items from which on a list of numbers is timed as an array."""

FASTER = 1.5
"""Times faster from which on it is said."""

EXACT_INT = 1 << 53


def whole_floats(subject: Subject) -> Iterator[Hint]:
    """Floats that are all whole numbers."""
    if subject.kinds != {float} or len(subject.present) < LEAST_ITEMS:
        return
    if not all(map(_is_whole, subject.present)):
        return
    after = size_of(subject.mapped(int))
    if after is not None and worth(subject.nbytes, after):
        text = f"{subject.name} is float and holds only whole numbers: {sizes(subject.nbytes, after)} as int"
        yield Hint(subject.path, "float holds ints", text, "store int", subject.nbytes, after)


def _is_whole(number: float) -> bool:
    return number.is_integer() and abs(number) < EXACT_INT and (number != 0 or math.copysign(1, number) > 0)


def unsorted_ints(subject: Subject) -> Iterator[Hint]:
    """Distinct ints in one list, in no order."""
    items = subject.items
    column = subject.column
    if subject.kinds != {int} or column.owner != "list" or len(column.owners) > 1 or len(items) < LEAST_ITEMS:
        return
    if len(subject.present) < len(items) or len(set(items)) < len(items):
        return
    after = size_of(sorted(items))
    if after is not None and worth(subject.nbytes, after):
        text = f"{subject.name} holds {len(items):,} different ints: sorted, {sizes(subject.nbytes, after)}"
        how = "sort them, if their order means nothing"
        yield Hint(subject.path, "ids in no order", text, how, subject.nbytes, after)


def few_of_another_type(subject: Subject) -> Iterator[Hint]:
    """A column that is mixed because of a few items."""
    items = subject.items
    if len(subject.kinds) < 2 or len(items) < LEAST_ITEMS:
        return
    counts = Counter(map(type, subject.present))
    main, most = counts.most_common(1)[0]
    few = len(subject.present) - most
    if few > FEW * len(items):
        return
    names = ", ".join(sorted(cls.__name__[:40] for cls in counts if cls is not main))
    said = f"{subject.name} is mixed because of {few:,} of {len(items):,} items ({names})"
    if main is float and set(counts) == {float, int} and all(abs(x) < EXACT_INT for x in subject.present):
        alone = subject.mapped(float)
        how = "convert them: float(x)"
        end = f"all as {main.__name__}"
    else:
        alone = [item if type(item) is main else None for item in items]
        how = f"make all of them {main.__name__[:40]}, or None"
        end = "with None in their place"
    yield from _better(subject, "mixed column", said, end, how, alone)


def nullable(subject: Subject) -> Iterator[Hint]:
    """None among numbers or text."""
    fill = _FILL.get(next(iter(subject.kinds), object))
    missing = len(subject.items) - len(subject.present)
    if len(subject.kinds) != 1 or fill is None or not missing or len(subject.items) < LEAST_ITEMS:
        return
    said = f"{subject.name} has None in {missing:,} of {len(subject.items):,} places"
    full = [fill if item is None else item for item in subject.items]
    how = f"store {fill!r} for None, if it means the same"
    yield from _better(subject, "nullable column", said, f"with {fill!r} instead", how, full)


_FILL: Final[dict[type, Any]] = {int: 0, float: 0.0, str: "", bool: False}


def _better(subject: Subject, rule: str, said: str, end: str, how: str, other: list[Any]) -> Iterator[Hint]:
    """A hint if another column is smaller, or faster to decode."""
    try:
        old, new = dumps(subject.items), dumps(other)
    except EncodeError:
        return
    before, after = race(partial(loads, old), partial(loads, new))
    smaller, faster = worth(len(old), len(new)), before >= FASTER * after
    if smaller or (faster and len(new) <= len(old)):
        gains = [sizes(len(old), len(new))] * smaller + [f"decoded {before / after:.1f} times faster"] * faster
        text = f"{said}: {end}, {' and '.join(gains)}"
        yield Hint(subject.path, rule, text, how, len(old), len(new), before, after)


def as_array(subject: Subject) -> Iterator[Hint]:
    """A list of numbers that could be an array."""
    column = subject.column
    dtype = _DTYPES.get(next(iter(subject.kinds), object))
    if len(subject.kinds) != 1 or dtype is None or column.owner != "list" or len(column.owners) > 1:
        return
    if len(subject.items) < LEAST_ARRAY or len(subject.present) < len(subject.items) or subject.cut:
        return
    try:
        array = np.array(subject.items, dtype)
    except OverflowError:
        return
    old, new = dumps(subject.items), dumps(array)
    before, after = race(partial(loads, old), partial(loads, new))
    if before < FASTER * after or len(new) > 1.1 * len(old) + LEAST_ITEMS:
        return
    text = (
        f"{subject.name} is a list of {len(array):,} numbers: as an array it is decoded {before / after:.1f} times "
        f"faster ({human_time(after)} instead of {human_time(before)}), in {len(new):,} bytes instead of {len(old):,}"
    )
    how = f"store np.array(values, {str(np.dtype(dtype))!r}), or read with loads(data, numbers='array')"
    yield Hint(subject.path, "store as array", text, how, len(old), len(new), before, after)


_DTYPES: Final[dict[type, Any]] = {int: np.int64, float: np.float64, bool: np.bool_}


# -------------------------------------------------------------------------------------------------------------- arrays


def narrower_arrays(subject: Subject) -> Iterator[Hint]:
    """Arrays whose elements fit a smaller dtype, or that hold plain numbers as objects."""
    if not subject.kinds or not all(issubclass(cls, np.ndarray) for cls in subject.kinds):
        return
    arrays = subject.present
    dtypes = {array.dtype for array in arrays}
    narrow = _NARROW.get(next(iter(dtypes)).kind)
    if len(dtypes) != 1 or narrow is None:
        return
    dtype = next(iter(dtypes))
    found = narrow(arrays)
    if found is None or found == dtype:
        return
    after = size_of([array.astype(found) for array in arrays])
    if after is not None and worth(subject.nbytes, after):
        text = f"{subject.name} is {dtype} and fits {found}: {sizes(subject.nbytes, after)}"
        yield Hint(subject.path, "narrower dtype", text, f"store array.astype({str(found)!r})", subject.nbytes, after)


def _narrow_ints(arrays: list[Any]) -> np.dtype[Any] | None:
    full = [array for array in arrays if array.size]
    if not full:
        return None
    low, high = min(int(array.min()) for array in full), max(int(array.max()) for array in full)
    found: np.dtype[Any] = np.result_type(np.min_scalar_type(low), np.min_scalar_type(high))
    return found


def _narrow_floats(arrays: list[Any]) -> np.dtype[Any] | None:
    with np.errstate(over="ignore", invalid="ignore"):
        fits = all(array.astype("<f4").astype(array.dtype).tobytes() == array.tobytes() for array in arrays)
    return np.dtype("<f4") if fits and arrays[0].dtype.itemsize > 4 else None


def _narrow_objects(arrays: list[Any]) -> np.dtype[Any] | None:
    kinds = {type(item) for array in arrays for item in array.ravel().tolist()}
    found = _DTYPES.get(next(iter(kinds), object))
    if len(kinds) != 1 or found is None:
        return None
    try:
        for array in arrays:
            array.astype(found)
    except OverflowError:
        return None
    dtype: np.dtype[Any] = np.dtype(found)
    return dtype


_NARROW: Final[dict[str, Callable[[list[Any]], np.dtype[Any] | None]]] = {
    "i": _narrow_ints,
    "u": _narrow_ints,
    "f": _narrow_floats,
    "O": _narrow_objects,
}

NUMBER_RULES: Final[tuple[Rule, ...]] = (
    whole_floats,
    unsorted_ints,
    few_of_another_type,
    nullable,
    as_array,
    narrower_arrays,
)
