"""From measured results to one `Line` a shape: npser's figures, and its ratios to everything they are held against.

Strategy: one pass turns what `compare` measured into lines; whatever judges or prints takes its figures from there. A
ratio is npser over the other: under 1 is smaller or faster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["MARKS", "Line", "Results", "geometric_mean", "lines"]

Results = dict[str, Any]
"""What `compare` writes as results.json."""

MARKS = {"exact": "", "plain": "†", "str keys": "‡"}


class Line(NamedTuple):
    """One shape: npser's figures and its ratios to the others (None where there is nothing to compare with).

    `loads_floor` is over the floor of `floors`; `floor_best` and `floor_pickle` are the floor over the best peer and
    over pickle: the least that a reader in Python could reach. `array_best` is a read with numbers="array" over the
    best peer, `cold_pickle` a read of a shape that was never met over pickle.
    """

    shape: str
    about: str
    size: int
    msgpack: int | None
    phpser: int | None
    loads: float
    dumps: float
    best: str
    loads_best: float | None
    faithful: str
    loads_faithful: float | None
    loads_pickle: float | None
    loads_floor: float | None
    floor_best: float | None
    floor_pickle: float | None
    array_best: float | None
    cold_pickle: float | None
    dumps_best: float | None
    dumps_pickle: float | None
    exact: bool

    @property
    def size_ratio(self) -> float | None:
        return self.size / self.msgpack if self.msgpack else None


def geometric_mean(ratios: Iterable[float | None]) -> float:
    """Of those that are there; NaN for none.

    >>> geometric_mean([0.5, None, 2.0]), geometric_mean([])
    (1.0, nan)
    """
    logs = [math.log(ratio) for ratio in ratios if ratio]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def _over(figure: float | None, other: float | None) -> float | None:
    return figure / other if figure and other else None


def _line(name: str, shape: dict[str, Any]) -> Line | None:
    usable = {codec: figures for codec, figures in shape["codecs"].items() if not figures["error"]}
    own = usable.pop("npser", None)
    if own is None:
        return None

    def ratio(key: str, peer: str | None) -> float | None:
        return own[key] / usable[peer][key] if peer in usable else None

    def best(key: str) -> str | None:
        return min(usable, key=lambda peer: usable[peer][key], default=None)

    quickest = best("loads")
    exact = {peer: figures for peer, figures in usable.items() if figures["fidelity"] == "exact"}
    faithful = min(exact, key=lambda peer: exact[peer]["loads"], default=None)
    cold = shape.get("cold") or {}
    return Line(
        shape=name,
        about=shape["about"],
        size=own["bytes"],
        msgpack=usable.get("msgpack", {}).get("bytes"),
        phpser=shape["phpser"],
        loads=own["loads"],
        dumps=own["dumps"],
        best=quickest + MARKS[usable[quickest]["fidelity"]] if quickest else "",
        loads_best=ratio("loads", quickest),
        faithful=faithful or "",
        loads_faithful=ratio("loads", faithful),
        loads_pickle=ratio("loads", "pickle"),
        loads_floor=_over(own["loads"], shape.get("floor")),
        floor_best=_over(shape.get("floor"), usable[quickest]["loads"]) if quickest else None,
        floor_pickle=_over(shape.get("floor"), usable["pickle"]["loads"]) if "pickle" in usable else None,
        array_best=_over(shape.get("array"), usable[quickest]["loads"]) if quickest else None,
        cold_pickle=_over(cold.get("npser"), cold.get("pickle")),
        dumps_best=ratio("dumps", best("dumps")),
        dumps_pickle=ratio("dumps", "pickle"),
        exact=own["verified"] and own["fidelity"] == "exact",
    )


def lines(results: Results) -> list[Line]:
    """One a shape that npser could do, in the order of the table."""
    found = (_line(name, shape) for name, shape in results["shapes"].items())
    return [line for line in found if line is not None]
