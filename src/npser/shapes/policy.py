"""What the caller of `loads` asked for, as one small value that every node can look at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from npser.types.allow import NO_CLASSES, Allow

__all__ = ["Copies", "ExtraFields", "Numbers", "Policy", "Strings", "Tables", "Unknown"]

Numbers = Literal["list", "array"]
Tables = Literal["rows", "columns"]
Copies = Literal["always", "never"]
Unknown = Literal["placeholder", "refuse"]
ExtraFields = Literal["drop", "refuse"]
Strings = Literal["text", "bytes"]


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
    unknown : {"placeholder", "refuse"}
        What becomes of an object whose class is not allowed.
    extra_fields : {"drop", "refuse"}
        What becomes of a stored field that its class has no more.
    strings : {"text", "bytes"}
        What becomes of the strings of phpser, which are bytes there.
    """

    classes: Allow = field(default=NO_CLASSES)
    numbers: Numbers = "list"
    tables: Tables = "rows"
    copy: Copies = "always"
    unknown: Unknown = "placeholder"
    extra_fields: ExtraFields = "drop"
    strings: Strings = "text"
