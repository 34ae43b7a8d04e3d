"""Where the columns of a label are.

Strategy: labels are compared one by one, type and all; an index of pandas would first make a table of them all, in
which 1, 1.0 and True are one. A NaN is a NaN, and a number of numpy is the one of Python that it stands for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npser.adapters.pandas_text import KINDS, as_objects

__all__ = ["places_of", "plain_labels", "with_labels"]


def places_of(labels: list[Any], name: Any) -> list[int]:
    """All the places of a label, which may come twice; KeyError where it is not.

    >>> places_of([1, "a", float("nan"), 1.0, "a"], "a"), places_of([1, float("nan"), True], np.int64(1))
    ([1, 4], [0])
    >>> places_of([1, float("nan"), True], np.nan)
    [1]
    """
    wanted = _plain(name)
    if type(name) is str:  # most are, and may be thousands
        found = [at for at, label in enumerate(labels) if type(label) is str and label == name]
    else:
        found = [at for at, label in enumerate(labels) if label is name or _same(_plain(label), wanted)]
    if not found:
        raise KeyError(f"no column {name!r} among {labels[:12]!r}")
    return found


def _plain(label: Any) -> Any:
    """A number of numpy as one of Python; not its times, which would become any of ints, dates and times."""
    return label.item() if isinstance(label, np.generic) and label.dtype.kind in "biufc" else label


def _same(label: Any, name: Any) -> bool:
    if type(label) is not type(name):
        return False
    if type(label) is tuple:  # of a MultiIndex
        parts = zip(map(_plain, label), map(_plain, name), strict=False)
        return len(label) == len(name) and all(left is right or _same(left, right) for left, right in parts)
    return bool(label == name) or (type(label) is float and label != label and name != name)


def plain_labels(state: Any) -> list[str] | None:
    """The strings of a column of distinct ones of which none is missing, without an array; None for any other."""
    if type(state) is not dict or state["kind"] not in KINDS or "codes" in state:
        return None
    items: list[str] = as_objects(state, None).tolist()
    return None if None in items else items


def with_labels(state: dict[str, Any], items: list[str]) -> dict[str, Any]:
    """The state of a column of the same kind."""
    return {key: state[key] for key in ("kind", "storage", "missing", "nan") if key in state} | {"items": items}
