"""What the caller of `loads` asked for, as one small value that every node can look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from npser.types.allow import NO_CLASSES, Allow

__all__ = ["Copies", "Numbers", "Policy", "Tables"]

Numbers = Literal["list", "array"]
Tables = Literal["rows", "columns"]
Copies = Literal["always", "never"]


@dataclass(frozen=True, slots=True)
class Policy:
    """How to build.

    Parameters
    ----------
    classes : Allow
        The classes that may be built.
    numbers : {"list", "array"}
        Whether lists of one kind of number become lists or numpy arrays.
    tables : {"rows", "columns"}
        Whether tables and record batches become lists of rows or dicts of columns.
    copy : {"always", "never"}
        Whether arrays are writable copies, or read-only views into the payload where it stores them raw.
    """

    classes: Allow = field(default=NO_CLASSES)
    numbers: Numbers = "list"
    tables: Tables = "rows"
    copy: Copies = "always"
