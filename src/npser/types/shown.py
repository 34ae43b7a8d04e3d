"""Names that come from a payload, for a message or a repr: one short line, whatever they are.

Strategy: what is shown ends up in logs and terminals. A name that is printable is shown as it is; any other as Python
would write it in ASCII, so that no name begins a line, turns the text around, or cannot be encoded.
"""

from __future__ import annotations

from typing import Final

__all__ = ["SHOWN_NAME", "show_name", "show_step"]

SHOWN_NAME: Final = 80
"""Characters of a name that are shown; the qualified names of classes are longer than keys."""


def show_name(name: str) -> str:
    """A name as text.

    >>> show_name("shop.models:Order"), show_name("a\\nb"), len(show_name("x" * 10_000))
    ('shop.models:Order', "'a\\\\nb'", 81)
    """
    shown = name[:SHOWN_NAME]
    return (shown if shown.isprintable() and shown else ascii(shown)) + "…" * (len(name) > SHOWN_NAME)


def show_step(name: str) -> str:
    """A field as a step of a path.

    >>> show_step("price"), show_step("__class__"), show_step("a b"), show_step("\\n")
    ('.price', '.__class__', "['a b']", "['\\\\n']")
    """
    shown = name[:SHOWN_NAME]
    return (f".{shown}" if shown.isidentifier() else f"[{shown!a}]") + "…" * (len(name) > SHOWN_NAME)
