"""Containers that hold one another in a chain so long that Python crashes when it lets go of it.

Strategy: CPython frees lists, dicts, tuples and objects that are nested very deep without recursion, but neither
numpy's object arrays nor deques, defaultdicts and slices: a chain of some thousand of them overflows the stack. Trees
are not as deep (`Limits.depth`), but references may make a chain of any length from a few bytes. So where a shape has
references and such containers, the longest chain is looked for before anybody gets the value, and whatever goes
wrong, the chain is taken apart first. Those who are in a cycle count as one behind another (R. Tarjan, Depth-first
search and linear graph algorithms, 1972, without recursion).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from npser.errors import LimitError
from npser.limits import MAX_DEPTH

if TYPE_CHECKING:
    from npser.blocks.cursor import Cursor

__all__ = ["break_chains", "longest_chain", "refuse_chains"]

_INSIDE: Final[dict[type, Callable[[Any], Iterable[Any]]]] = {
    np.ndarray: lambda array: array.ravel(order="K").tolist() if array.dtype.hasobject else (),
    deque: iter,
    defaultdict: dict.values,
    slice: lambda value: (value.start, value.stop, value.step),
}
"""From the types that are freed by recursion to what is inside of them."""


def refuse_chains(cursor: Cursor, things: list[Any]) -> None:
    """Raise a `LimitError` if containers that are freed by recursion hold one another in too long a chain.

    Parameters
    ----------
    things : list
        Every object that a reference may name.
    """
    if longest_chain(things) > MAX_DEPTH:
        raise LimitError(
            f"arrays of objects, deques or defaultdicts that hold one another in a chain of more than {MAX_DEPTH}",
            pos=cursor.pos,
        )


def break_chains(things: list[Any]) -> None:
    """Empty all containers that are freed by recursion, while `things` holds what they held."""
    for thing in things:
        if type(thing) is np.ndarray:
            if thing.dtype.hasobject:
                thing.fill(None)
        elif type(thing) in _INSIDE:
            thing.clear()


def longest_chain(things: Iterable[Any]) -> int:
    """How many containers that are freed by recursion are within each other, at most; or some number over `MAX_DEPTH`.

    >>> inner = deque()
    >>> longest_chain([inner, deque([inner, deque([inner])]), [1]])
    3
    >>> inner.append(inner)
    >>> longest_chain([inner])
    1
    """
    numbers: dict[int, int] = {}
    lowest: dict[int, int] = {}
    lengths: dict[int, int] = {}  # of those that are finished
    open_now: list[Any] = []
    longest = 0
    for root in _chained(things):
        if id(root) in numbers:
            continue
        numbers[id(root)] = lowest[id(root)] = len(numbers)
        open_now.append(root)
        walk: list[tuple[Any, list[Any], Iterator[Any]]] = [(root, inside := _inside(root), iter(inside))]
        while walk:
            thing, inside, rest = walk[-1]
            me = id(thing)
            for other in rest:
                if id(other) not in numbers:
                    numbers[id(other)] = lowest[id(other)] = len(numbers)
                    open_now.append(other)
                    walk.append((other, parts := _inside(other), iter(parts)))
                    break
                if id(other) not in lengths:
                    lowest[me] = min(lowest[me], numbers[id(other)])
            else:
                walk.pop()
                if walk:
                    above = id(walk[-1][0])
                    lowest[above] = min(lowest[above], lowest[me])
                if lowest[me] == numbers[me]:
                    longest = max(longest, _finish(open_now, thing, lengths))
                    if longest > MAX_DEPTH:
                        return longest
    return longest


def _finish(open_now: list[Any], first: Any, lengths: dict[int, int]) -> int:
    """Take those that are in a cycle with `first`, or it alone, off the stack; the length of a chain from there."""
    members = [open_now.pop()]
    while members[-1] is not first:
        members.append(open_now.pop())
    longest = len(members) + max(
        (lengths[id(other)] for member in members for other in _inside(member) if id(other) in lengths), default=0
    )
    lengths.update(dict.fromkeys(map(id, members), longest))
    return longest


def _chained(things: Iterable[Any]) -> list[Any]:
    return [thing for thing in things if type(thing) in _INSIDE]


def _inside(thing: Any) -> list[Any]:
    return _chained(_INSIDE[type(thing)](thing))
