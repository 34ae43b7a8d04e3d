"""Which parts of a large report are shown: the largest ones, and for each parent what was left out.

Strategy: a parent has at least the bytes of each of its children, so the n largest parts, parents first, are a tree. No
payload, however many columns it has, makes a picture larger than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from npser.inspection.parts import Part

__all__ = ["Shown", "choose_parts"]


class Shown(NamedTuple):
    """A part that is shown.

    Parameters
    ----------
    part : Part
    depth : int
    children : list of Shown
    left_out, left_bytes : int
        Its children that are not, and their bytes.
    """

    part: Part
    depth: int
    children: list[Shown]
    left_out: int
    left_bytes: int


def choose_parts(root: Part, most: int, *, blocks: bool) -> Shown:
    """A tree of at most so many parts.

    Parameters
    ----------
    blocks : bool
        Whether the blocks within bodies count as parts.
    """
    order: list[Part] = []
    stack = [root]
    while stack:
        part = stack.pop()
        order.append(part)
        if blocks or part.block is None:
            stack += reversed(part.children)
    largest = sorted(range(len(order)), key=lambda at: (-order[at].nbytes, at))[:most]
    kept = {id(order[at]) for at in largest} | {id(root)}
    top = Shown(root, 0, [], 0, 0)
    waiting = [top]
    out: dict[int, Shown] = {}
    while waiting:
        shown = waiting.pop()
        inside = shown.part.children if blocks or shown.part.block is None else []
        for child in inside:
            if id(child) in kept:
                below = Shown(child, shown.depth + 1, [], 0, 0)
                shown.children.append(below)
                waiting.append(below)
        left = [child for child in inside if id(child) not in kept]
        out[id(shown.children)] = shown._replace(left_out=len(left), left_bytes=sum(child.nbytes for child in left))
    for shown in reversed(out.values()):
        shown.children[:] = [out[id(child.children)] for child in shown.children]
    return out[id(top.children)]
