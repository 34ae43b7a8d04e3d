"""Many single leaves at once: what to do with them, by their exact types.

Strategy: documents of one sort have the same types in the same places, so a tuple of types is looked up and finds where
the numbers, the texts and the bools stand. What is left for each leaf is one step of C code, but for the width of an
int. Plans are remembered by their types, a bounded number of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from npser.columns.kinds import LEAF_TYPES
from npser.columns.singles import F64, FALSE, I16, I32, I64, NONE, TEXT, U8
from npser.errors import EncodeError

if TYPE_CHECKING:
    from npser.columns.singles import SingleWriter

__all__ = ["LeafPlan", "write_leaves", "write_planned"]

MAX_PLANS = 512
MAX_PLANNED = 1024
"""Plans remembered, and the leaves that one may have."""

FEW_LEAVES = 8
"""Fewer are written one by one."""

_BODY: Final = 0xFF
_KIND_OF_TYPE: Final[dict[type, int]] = dict.fromkeys(LEAF_TYPES, _BODY) | {
    type(None): NONE,
    bool: FALSE,
    int: U8,
    float: F64,
    str: TEXT,
}
"""What each leaf has in a plan: the kind, where that is known, or the least one."""

_plans: dict[tuple[type, ...], LeafPlan] = {}


def _getter(positions: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    if not positions:
        return lambda _leaves: ()
    if len(positions) == 1:
        (only,) = positions
        return lambda leaves: (leaves[only],)
    return itemgetter(*positions)


def _are_small(values: Sequence[int]) -> bool:
    """Whether all ints are bytes, if the first and the last one are."""
    if not values or not (0 <= values[0] <= 0xFF and 0 <= values[-1] <= 0xFF):
        return False
    try:
        bytes(values)
    except ValueError:
        return False
    return True


class LeafPlan:
    """How to write leaves of these types."""

    __slots__ = ("_bodies", "_bools", "_ints", "_kinds", "_numbers", "_texts", "_values")

    def __init__(self, types: tuple[type, ...]) -> None:
        kinds = [_KIND_OF_TYPE[kind] for kind in types]
        self._kinds = bytes(kinds)
        self._bodies = [at for at, kind in enumerate(kinds) if kind == _BODY]
        self._bools = [at for at, kind in enumerate(kinds) if kind == FALSE]
        self._ints = [at for at, kind in enumerate(kinds) if kind == U8]
        self._values = _getter(self._ints)
        self._numbers = _getter([at for at, kind in enumerate(kinds) if kind in (U8, F64)])
        self._texts = _getter([at for at, kind in enumerate(kinds) if kind == TEXT])

    def write(self, w: SingleWriter, leaves: Sequence[Any]) -> bool:
        """Write the leaves; False, and nothing written, if an int has more than 64 bits.

        The error of a leaf that is refused knows its place as `item`.
        """
        kinds = bytearray(self._kinds)
        for at in self._bools:
            kinds[at] += leaves[at]
        values = self._values(leaves)
        for at, value in () if _are_small(values) else zip(self._ints, values, strict=True):
            if 0 <= value <= 0xFF:
                continue
            if -0x8000 <= value < 0x8000:
                kinds[at] = I16
            elif -0x80000000 <= value < 0x80000000:
                kinds[at] = I32
            elif -(1 << 63) <= value < 1 << 63:
                kinds[at] = I64
            else:
                return False
        for at in self._bodies:
            try:
                kinds[at] = w.body(leaves[at])
            except EncodeError as error:
                error.item = at
                raise
        w.kinds += kinds
        w.numbers += self._numbers(leaves)
        w.texts += self._texts(leaves)
        return True


def write_leaves(w: SingleWriter, leaves: Sequence[Any]) -> None:
    """Write single leaves of any type; the error of one that is refused knows its place as `item`."""
    if not write_planned(w, leaves):
        w.many(leaves)


def write_planned(w: SingleWriter, leaves: Sequence[Any]) -> bool:
    """Write single leaves by their plan; False, and nothing written, where they have none.

    They have none if they are few, very many, or if one is no leaf, or an int of more than 64 bits.
    """
    if FEW_LEAVES <= len(leaves) <= MAX_PLANNED:
        types = tuple(map(type, leaves))
        plan = _plans.get(types)
        if plan is None and _KIND_OF_TYPE.keys() >= set(types):
            if len(_plans) >= MAX_PLANS:
                _plans.clear()
            plan = _plans[types] = LeafPlan(types)
        if plan is not None:
            return plan.write(w, leaves)
    return False
