"""Options that are words, and the refusal of a wrong one."""

from __future__ import annotations

from typing import Literal

__all__ = ["Damaged", "Tail", "one_of"]

Damaged = Literal["raise", "skip"]
"""What happens at bytes that are no sound frame: an error, or the next sound frame."""

Tail = Literal["raise", "ignore"]
"""What happens at a last frame that is cut off: an error, or the end."""


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices, with ValueError.

    >>> one_of("tail", "ignroe", ("raise", "ignore"))
    Traceback (most recent call last):
        ...
    ValueError: tail is one of 'raise', 'ignore', not 'ignroe'
    """
    if value not in choices:
        raise ValueError(f"{name} is one of {', '.join(map(repr, choices))}, not {value!r}")
