"""Finding a plain container that holds itself.

Strategy: depth-first with an explicit stack over lists, tuples, dicts, sets and deques; each container is looked at
once. Objects end the search: they are numbered, so a cycle through one is written as a reference.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from npser.shapes.column import show_key

__all__ = ["find_cycle"]


def _sequence(value: Any) -> Iterator[tuple[str, Any]]:
    return ((f"[{at}]", item) for at, item in enumerate(value))


def _mapping(value: Any) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        if type(key) is tuple:
            yield f".keys()[{show_key(key)}]", key
        yield f"[{show_key(key)}]", item


def _slice(value: slice) -> Iterator[tuple[str, Any]]:
    return iter(((".start", value.start), (".stop", value.stop), (".step", value.step)))


_INSIDE: Final[dict[type, Callable[[Any], Iterator[tuple[str, Any]]]]] = {
    **dict.fromkeys((list, tuple, deque, set, frozenset), _sequence),
    **dict.fromkeys((dict, OrderedDict, defaultdict, Counter), _mapping),
    slice: _slice,
}


def _named_tuple(value: Any) -> Iterator[tuple[str, Any]]:
    return ((f".{name}", item) for name, item in zip(type(value)._fields, tuple.__iter__(value), strict=False))


def _explorer(kind: type) -> Callable[[Any], Iterator[tuple[str, Any]]] | None:
    known = _INSIDE.get(kind)
    if known is None and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _named_tuple
    return known


def find_cycle(root: Any) -> str | None:
    """The way from `root` to a container that contains itself, or None.

    >>> loop = [1, {"self": None}]
    >>> loop[1]["self"] = loop
    >>> find_cycle(loop), find_cycle([[1], [1]])
    ("[1]['self']", None)
    """
    explore = _explorer(type(root))
    if explore is None:
        return None
    open_now = {id(root)}
    finished: set[int] = set()
    walk = [(root, "", explore(root))]
    while walk:
        owner, _, inside = walk[-1]
        for step, value in inside:
            explore = _explorer(type(value))
            if explore is None or id(value) in finished:
                continue
            if id(value) in open_now:
                return "".join(text for _, text, _ in walk) + step
            open_now.add(id(value))
            walk.append((value, step, explore(value)))
            break
        else:
            open_now.discard(id(owner))
            finished.add(id(owner))
            walk.pop()
    return None
