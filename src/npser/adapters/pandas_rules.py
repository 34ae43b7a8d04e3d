"""What the adapter of pandas refuses, besides what it does not know.

Strategy: an error says what it is about and by which rule, so that whoever meets it knows what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from npser.errors import EncodeError

__all__ = ["inner_index", "inner_state", "refuse"]

MAX_RANGE = 1 << 24
"""Labels of a range within a column: 128 MB of them."""


def refuse(what: str, rule: str) -> EncodeError:
    """The error for what would not come back; the caller raises it."""
    return EncodeError(f"npser.adapters.pandas does not keep {what}: {rule}")


def inner_index(state: Any, build_index: Callable[[Any], Any]) -> Any:
    """An index that pandas lays out in memory; a range of a few bytes may not ask for any amount of it."""
    if "range" in state and len(range(*state["range"])) > MAX_RANGE:
        raise ValueError(f"a range of more than {MAX_RANGE} labels inside of a column")
    return build_index(state)


def inner_state(index: Any, index_state: Callable[[Any], Any]) -> Any:
    """What such an index is made of."""
    if type(index) is pd.RangeIndex and len(index) > MAX_RANGE:
        raise refuse("categories or levels of so long a range", f"it has more than {MAX_RANGE} labels")
    return index_state(index)
