"""Options that are words: the refusal of one that is none of the choices.

Strategy: a wrong option is the caller's fault and not that of a value or of bytes, so it is a ValueError, and names
what there is.
"""

from __future__ import annotations

__all__ = ["one_of"]


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse what is not one of the choices, with ValueError.

    >>> one_of("tail", "ignroe", ("raise", "ignore"))
    Traceback (most recent call last):
        ...
    ValueError: tail is one of 'raise', 'ignore', not 'ignroe'
    """
    if value not in choices:
        raise ValueError(f"{name} is one of {', '.join(map(repr, choices))}, not {value!r}")
