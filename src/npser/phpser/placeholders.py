"""What stands for PHP objects that could not be built and that `Placeholder` alone cannot write back.

Strategy: a `Placeholder` has the property names of its object, but OBJECT_SLOTS stores values without names and a
Serializable object is a string of its own making. They are classes of their own, so that no writer mistakes one
for an object with names.
"""

from __future__ import annotations

from typing import Any

from npser.types.placeholder import Placeholder

__all__ = ["SerializedPlaceholder", "SlotsPlaceholder"]


class SlotsPlaceholder(Placeholder):
    """An object stored as its values in the order in which its class declares them; `contents` is their list.

    >>> SlotsPlaceholder("Point", [1, 2]).contents
    [1, 2]
    """

    __slots__ = ()

    def __init__(self, class_name: str, values: list[Any]) -> None:
        super().__init__(class_name, "object", values)


class SerializedPlaceholder(Placeholder):
    """An object of a PHP class that implements Serializable; `contents` is the string that its ``serialize`` gave.

    >>> SerializedPlaceholder("Legacy", b"L:abc").contents
    b'L:abc'
    """

    __slots__ = ()

    def __init__(self, class_name: str, payload: bytes) -> None:
        super().__init__(class_name, "state", payload)
