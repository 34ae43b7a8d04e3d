"""What the command line says when it cannot do what it was asked: one sentence, with the file and the line."""

from __future__ import annotations

__all__ = ["ConvertError"]


class ConvertError(Exception):
    """A file or a value that cannot be converted.

    Parameters
    ----------
    message : str
        What was wrong, and what to do about it where that is known.
    source : str | None
        The file as the user named it; whoever reads the bytes may leave that to whoever knows it.
    line : int | None
        The line in it, counted from 1.

    >>> print(ConvertError("5 cells where the header has 6", source="orders.csv", line=7))
    orders.csv, line 7: 5 cells where the header has 6
    """

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line

    def __str__(self) -> str:
        where = [] if self.source is None else [self.source]
        where += [] if self.line is None else [f"line {self.line}"]
        return f"{', '.join(where)}: {self.message}" if where else self.message
