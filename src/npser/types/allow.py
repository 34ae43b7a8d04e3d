"""Who may be built: the one gate between names on the wire and classes.

Strategy: a name is looked up among the classes that the caller handed over, then among those that the program
registered, and nowhere else. Nothing is imported, no module is searched, a subclass is not its base.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Mapping

from npser.types.registry import find_registered, wire_name

__all__ = ["NO_CLASSES", "Allow"]


class Allow:
    """The classes that a payload may have objects of.

    Parameters
    ----------
    classes : iterable of classes, or mapping of wire name to class
        An iterable allows each class under its own name.

    Raises
    ------
    TypeError
        For anything that is not a class, and for two classes of one name.
    """

    __slots__ = ("_classes",)

    def __init__(self, classes: Iterable[type] | Mapping[str, type] = ()) -> None:
        if isinstance(classes, (str, type)):
            raise TypeError(f"classes takes an iterable of classes or a mapping of names to classes, not {classes!r}")
        pairs = classes.items() if isinstance(classes, Mapping) else ((None, cls) for cls in classes)
        self._classes: dict[str, type] = {}
        for name, cls in pairs:
            if not isinstance(cls, type):
                raise TypeError(f"classes takes classes, not {cls!r}")
            key = wire_name(cls) if name is None else name
            if self._classes.setdefault(key, cls) is not cls:
                raise TypeError(f"two classes are named {key}; pass a mapping of wire names to classes")

    def items(self) -> ItemsView[str, type]:
        """The classes that the caller allowed, by their names."""
        return self._classes.items()

    def find(self, name: str) -> type | None:
        """The allowed class of that name, or None."""
        found = self._classes.get(name)
        return find_registered(name) if found is None else found


class Nobody(Allow):
    """No classes, not even registered ones: objects stay data."""

    __slots__ = ()

    def find(self, name: str) -> None:
        """None."""


NO_CLASSES = Allow()
"""The default: objects of classes that are not registered decode to placeholders."""
