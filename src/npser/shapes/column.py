"""A column that waits to be written, and where in the value it came from.

Strategy: success pays one small object a column. The path of a culprit is worked out only when there is one,
by walking from its column up to the root.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from itertools import accumulate
from typing import Any

from npser.types.shown import show_step

__all__ = [
    "Column",
    "Keys",
    "Leaves",
    "Step",
    "at_field",
    "at_item",
    "at_key",
    "at_position",
    "chosen",
    "find_owner",
    "in_lists",
    "in_map_keys",
    "in_maps",
    "show_key",
]

Step = Callable[[int], tuple[int, str]]
"""Index of an item in the child column -> (index of its owner in the parent column, how it is reached)."""


class Column:
    """n values, found at one place of the value.

    Parameters
    ----------
    values : sequence of n objects
    depth : int
        Containers above.
    parent : Column | None
        The column of their owners.
    step : Step | None
        From an item to its owner.
    single : bool
        Whether it has one item whatever the value holds.
    """

    __slots__ = ("depth", "parent", "single", "step", "values")

    def __init__(
        self,
        values: Sequence[Any],
        depth: int = 0,
        parent: Column | None = None,
        step: Step | None = None,
        *,
        single: bool = False,
    ) -> None:
        self.single = single
        self.values = values
        self.depth = depth
        self.parent = parent
        self.step = step

    def path(self, item: int) -> str:
        """Where in the value an item stands, like ``$['orders'][3].price``."""
        column, steps = self, []
        while column.parent is not None and column.step is not None:
            item, text = column.step(item)
            steps.append(text)
            column = column.parent
        return "$" + "".join(reversed(steps))


class Keys(Column):
    """Values that are hashed: keys of mappings, members of sets, laid end to end.

    Parameters
    ----------
    lengths : sequence of int
        How many of them each container has.
    """

    __slots__ = ("lengths",)

    def __init__(
        self, values: Sequence[Any], depth: int, parent: Column, step: Step, lengths: Sequence[int]
    ) -> None:
        super().__init__(values, depth, parent, step)
        self.lengths = lengths


class Leaves(Column):
    """Single leaves that stand next to each other in one container: the columns of a document, n = 1 each.

    Parameters
    ----------
    values : sequence of k leaves
    names : sequence of k
        How each is reached, as `make_step` takes it.
    make_step : callable
        From a name to the `Step`.
    """

    __slots__ = ("make_step", "names")

    def __init__(
        self,
        values: Sequence[Any],
        names: Sequence[Any],
        depth: int,
        parent: Column,
        make_step: Callable[[Any], Step],
    ) -> None:
        super().__init__(values, depth, parent, self._step, single=parent.single)
        self.names = names
        self.make_step = make_step

    def _step(self, item: int) -> tuple[int, str]:
        return self.make_step(self.names[item])(0)

    def singles(self) -> list[Column]:
        """The same leaves as a column each."""
        return [
            Column((value,), self.depth, self.parent, self.make_step(name), single=self.single)
            for value, name in zip(self.values, self.names, strict=True)
        ]


SHOWN_KEY = 60
"""Characters of a key that a path shows."""


def show_key(key: object) -> str:
    """A key for a path: short, and never running the code of a foreign ``__repr__``.

    >>> show_key("id"), show_key((1, 2))
    ("'id'", '<tuple>')
    """
    if type(key) not in (str, bytes, int, float, bool, type(None)):
        return f"<{type(key).__name__}>"
    if isinstance(key, int) and key.bit_length() > 8 * SHOWN_KEY:
        return "<int>"
    text = repr(key[:SHOWN_KEY] if isinstance(key, (str, bytes)) else key)
    return text if len(text) <= 2 * SHOWN_KEY else text[: 2 * SHOWN_KEY]


def at_key(key: object, rows: Sequence[Container[Any]] | None = None, order: Sequence[int] = ()) -> Step:
    """The values of one key in every row, or in those of the given ones that have it, in the given order."""
    return lambda item: (_row_of(key, item, rows, order), f"[{show_key(key)}]")


def at_field(name: str, rows: Sequence[Container[Any]] | None = None, order: Sequence[int] = ()) -> Step:
    """The values of one field in every object, or in those of the given ones that have it, in the given order."""
    return lambda item: (_row_of(name, item, rows, order), show_step(name))


def _row_of(key: object, item: int, rows: Sequence[Container[Any]] | None, order: Sequence[int]) -> int:
    return item if rows is None else [index for index in order if key in rows[index]][item]


def at_position(position: int) -> Step:
    """The items at one position of sequences of one length."""
    return lambda item: (item, f"[{position}]")


def at_item(text: str) -> Step:
    """One value an owner, reached in the way that `text` says."""
    return lambda item: (item, text)


def chosen(indices: Sequence[int]) -> Step:
    """Some of the parent's items themselves."""
    return lambda item: (indices[item], "")


def in_lists(lengths: Sequence[int]) -> Step:
    """The items of sequences that were laid end to end."""

    def step(item: int) -> tuple[int, str]:
        owner, start = find_owner(lengths, item)
        return owner, f"[{item - start}]"

    return step


def in_maps(lengths: Sequence[int], keys: Sequence[object]) -> Step:
    """The values of mappings that were laid end to end."""
    return lambda item: (find_owner(lengths, item)[0], f"[{show_key(keys[item])}]")


def in_map_keys(lengths: Sequence[int]) -> Step:
    """The keys of mappings that were laid end to end."""

    def step(item: int) -> tuple[int, str]:
        owner, start = find_owner(lengths, item)
        return owner, f".keys()[{item - start}]"

    return step


def find_owner(lengths: Sequence[int], item: int) -> tuple[int, int]:
    """Which of the containers that were laid end to end has an item, and where it begins."""
    start = 0
    for owner, end in enumerate(accumulate(lengths)):
        if item < end:
            return owner, start
        start = end
    raise IndexError(item)
