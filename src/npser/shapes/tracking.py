"""Identity of plain containers: allocate before the contents, fill after.

Strategy: where a payload preserves identity, a container exists (empty, and numbered) before anything inside it is
built, so that a reference from below can name it. The finished contents are moved into it at the end.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final

from npser.tags import Node as Tag

if TYPE_CHECKING:
    from npser.shapes.node import Builder

__all__ = ["TRACKED_TYPES", "allocate", "fill", "fill_late"]

TRACKED_TYPES: Final = frozenset({list, dict, set, deque, OrderedDict, defaultdict, Counter})
"""Types whose instances are numbered under ``identity="preserve"``."""

_FILL: Final[dict[int, Callable[[Any, Any], object]]] = {
    Tag.LIST: list.extend,
    Tag.LIST_ROW: list.extend,
    Tag.SET: set.update,
    Tag.DEQUE: deque.extend,
    Tag.DICT: dict.update,
    Tag.TABLE: dict.update,
    Tag.VARIED_TABLE: dict.update,
    Tag.ORDERED_DICT: OrderedDict.update,
    Tag.DEFAULT_DICT: dict.update,
    Tag.COUNTER: dict.update,
}


def allocate(b: Builder, make: Callable[[], Any] | None, n: int) -> list[Any] | None:
    """n empty containers, numbered, where the payload numbers them; else None."""
    if not b.preserve or make is None or make in (tuple, frozenset):
        return None
    made = [make() for _ in range(n)]
    b.numbered += made
    return made


def fill_late(
    late: list[tuple[Any, Callable[[Any, Any], object], list[Any]]], tag: int, made: list[Any], contents: list[Any]
) -> list[Any]:
    """Empty containers that will get their contents when everything else is complete, and can be hashed."""
    late += zip(made, repeat(_FILL[tag]), contents)
    return made


def fill(tag: int, allocated: list[Any] | None, done: list[Any]) -> list[Any]:
    """Move finished contents into the containers that were allocated for them."""
    if allocated is None:
        return done
    move = _FILL[tag]
    for container, contents in zip(allocated, done, strict=True):
        move(container, contents)
    return allocated
