"""What stands for an object whose class the caller did not allow: its class name and contents, as data.

Strategy: nothing of a payload may look like an attribute or a method of the placeholder, so contents live behind
three fixed names. It encodes back to the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from itertools import islice
from typing import Any, Literal

from npser.types.registry import stamp
from npser.types.shown import show_name

__all__ = ["Form", "Placeholder", "kinds_of"]

Form = Literal["object", "named tuple", "state", "enum", "built"]


class Placeholder:
    """An object that was not built.

    Attributes
    ----------
    class_name : str
        Its class, as ``module:qualified name``.
    form : {"object", "named tuple", "state", "enum", "built"}
        How its class is stored.
    contents : dict of str to object, or object
        Its fields; for a state what ``__getstate__`` gave, for what is built what it is built from; for an enum the
        member's name (or a flag's value).
    version : int
        The version of the class that stored it.

    >>> Placeholder("shop.models:Order", "object", {"id": 7})
    <shop.models:Order(id=7), not built: pass classes=[Order] to build it>
    """

    __slots__ = ("_class_name", "_contents", "_form", "_keys", "_version")

    def __init__(
        self, class_name: str, form: Form, contents: Any, keys: tuple[str, ...] | None = None, version: int = 0
    ) -> None:
        self._class_name = class_name
        self._version = version
        self._form: Form = form
        self._contents = contents
        self._keys = keys

    @property
    def class_name(self) -> str:
        """Its class, as ``module:qualified name``."""
        return self._class_name

    @property
    def version(self) -> int:
        """The version of its class."""
        return self._version

    @property
    def stamp(self) -> str:
        """Name and version of its class, as the shape has them."""
        return stamp(self._class_name, self._version)

    @property
    def form(self) -> Form:
        """How its class is stored."""
        return self._form

    @property
    def contents(self) -> Any:
        """Its fields, its state, or its member's name."""
        return self._contents

    @property
    def keys(self) -> tuple[str, ...] | None:
        """All fields that objects of its batch have, where it may lack some of them; else None."""
        return self._keys

    def fill(self, contents: Any) -> None:
        """Set the contents of a placeholder that references could already name."""
        self._contents = contents

    def __repr__(self) -> str:
        if self._form in ("object", "named tuple") and isinstance(self._contents, dict):
            inside = _listed(self._contents)
        else:
            inside = _short(self._contents)
        last = show_name(self._class_name.rpartition(":")[2].rpartition(".")[2])
        return f"<{show_name(self._class_name)}({inside}), not built: pass classes=[{last}] to build it>"


SHOWN = 60
SHOWN_FIELDS = 20


def _listed(contents: dict[Any, Any]) -> str:
    shown = [
        f"{show_name(name) if type(name) is str else _short(name)}={_short(value)}"
        for name, value in islice(contents.items(), SHOWN_FIELDS)
    ]
    return ", ".join(shown + ["…"] * (len(contents) > SHOWN_FIELDS))


def _short(value: object) -> str:
    """A value for a repr: contents may be large, or hold the placeholder itself."""
    if isinstance(value, Placeholder):
        return f"<{show_name(value.class_name)}>"
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return f"<{type(value).__name__} of {len(value)}>"
    try:
        text = repr(value)
    except ValueError:  # an int of too many digits
        return f"<{type(value).__name__}>"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def kinds_of(values: Collection[Any]) -> set[Hashable]:
    """The types of values, where a placeholder counts as the class that it stands for.

    >>> len(kinds_of([1, Placeholder("a:B", "enum", "X"), Placeholder("a:C", "enum", "X"), 2]))
    3
    """
    met: set[Any] = set(map(type, values))
    if Placeholder in met:
        met = {(value.form, value.stamp) if type(value) is Placeholder else type(value) for value in values}
    return met
