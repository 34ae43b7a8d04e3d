"""Where in a value something stands that was refused.

Strategy: nothing is noted while all goes well. Afterwards the containers that were open are known, and of each the one
that follows is looked for by identity; rows of tables and substitutes are open without being on the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from npser.phpser.sharing import children
from npser.phpser.writing import Held
from npser.shapes.column import show_key

__all__ = ["find_path"]


def find_path(containers: Sequence[Any], culprit: Any, origins: dict[int, Any]) -> str:
    """The path of a value or a key, like ``$['orders'][3].price``.

    Parameters
    ----------
    containers : sequence
        From the root to the one that holds the culprit.
    origins : dict of int to object
        id() of a substitute -> what it stands for.

    >>> find_path([root := {"a": [1, 2**70]}, root["a"]], root["a"][1], {})
    "$['a'][1]"
    """
    chain = [thing.value if type(thing) is Held else thing for thing in (*containers, culprit)]
    return "$" + "".join(_step(owner, inner, origins) for owner, inner in pairwise(chain))


def _step(owner: Any, inner: Any, origins: dict[int, Any]) -> str:
    wanted = {id(inner), id(origins.get(id(inner), inner))}
    if id(owner) in wanted:
        return ""
    for way, child in children(owner):
        if id(child) in wanted:
            return way
    for way, child in children(owner):  # a cell of a table: rows are written column by column
        if type(child) is dict:
            for below, cell in children(child):
                if id(cell) in wanted:
                    return way + below
            if any(id(key) in wanted for key in child):
                return f"{way}.keys()[{show_key(inner)}]"
    if type(owner) is dict and any(id(key) in wanted for key in owner):
        return f".keys()[{show_key(inner)}]"
    return ".__getstate__()" if type(inner) in (list, dict) else ""
