"""What a frame or a Series of pandas has besides its data: attributes, and whether labels may come twice.

Strategy: only what is not as always is stored.
"""

from __future__ import annotations

from typing import Any

__all__ = ["about", "finish"]


def about(thing: Any) -> dict[str, Any]:
    """Attributes and flags of a frame or a Series, where there are any."""
    attrs = {"attrs": thing.attrs} if thing.attrs else {}
    return attrs if thing.flags.allows_duplicate_labels else {**attrs, "unique": True}


def finish(thing: Any, state: Any) -> Any:
    """Give it those."""
    if "attrs" in state:
        if type(state["attrs"]) is not dict:
            raise TypeError("attrs are a dict")
        thing.attrs = state["attrs"]
    return thing.set_flags(allows_duplicate_labels=False) if state.get("unique") is True else thing
