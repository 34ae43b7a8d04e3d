"""What all views have in common, and what they are handed to: pandas, Arrow, polars.

Strategy: npser knows none of these. Their adapters put a function into `HANDERS` when they are imported, and until then
a view says which import is lacking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from npser.errors import DecodeError
from npser.shapes.column import show_key

__all__ = ["HANDERS", "NoSuchKeyError", "View", "no_such"]

MAX_SHOWN = 12
"""Names that a message lists."""

HANDERS: Final[dict[str, Callable[[View], Any]]] = {}
"""Name of an adapter -> what makes its kind of table out of a view."""


class NoSuchKeyError(DecodeError, KeyError):
    """The payload does not hold the key, or the column, that was asked for."""


def no_such(what: str, key: object, there: tuple[Any, ...]) -> NoSuchKeyError:
    """The error, which lists what there is; the caller raises it."""
    names = ", ".join(map(show_key, there[:MAX_SHOWN]))
    more = f" and {len(there) - MAX_SHOWN} more" if len(there) > MAX_SHOWN else ""
    return NoSuchKeyError(f"no {what} {show_key(key)}; there are {names or 'none'}{more}")


class View:
    """A part of a payload that is not decoded.

    ``view[key]`` goes to what a dict, an object or a row holds: to another view, to a column, or to a leaf. A column is
    a numpy array if it is one of numbers, else a list. ``view[3]`` and ``view[10:20]`` are items of a list, or rows of
    a table, as `loads` gives them. ``len``, iteration, ``keys()``, ``columns`` and ``value()`` do what they say.
    """

    __slots__ = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of a table; of anything else there are none."""
        return ()

    def keys(self) -> tuple[Any, ...]:
        """The keys of a dict, or the fields of an object; the columns of a table."""
        return self.columns

    def value(self) -> Any:
        """All of it, as `loads` gives it."""
        raise NotImplementedError

    def table(self) -> Any:
        """What adapters make a table of: the columns of a table, or the columns that a dict is, as a dict of name to
        array or list. A view of a frame gives that.

        Raises
        ------
        TypeError
            There are no columns here.
        """
        raise TypeError(f"a {type(self).__name__} without columns is no table")

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame; ``import npser.adapters.pandas`` first."""
        return hand_over(self, "pandas")

    def to_arrow(self) -> Any:
        """The table as a pyarrow Table; ``import npser.adapters.arrow`` first."""
        return hand_over(self, "arrow")

    def to_polars(self) -> Any:
        """The table as a polars DataFrame; ``import npser.adapters.polars`` first."""
        return hand_over(self, "polars")

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.keys()[:MAX_SHOWN]))
        return f"<{type(self).__name__} of {len(self)}{': ' * bool(shown)}{shown}>"

    def __reduce__(self) -> str:
        raise TypeError("a view is not pickled: it belongs to the bytes that it looks into")


def hand_over(view: View, adapter: str) -> Any:
    """What an adapter makes of a view; ImportError where it has not been imported."""
    hand = HANDERS.get(adapter)
    if hand is None:
        raise ImportError(f"to_{adapter}() needs `import npser.adapters.{adapter}`", name=f"npser.adapters.{adapter}")
    return hand(view)
