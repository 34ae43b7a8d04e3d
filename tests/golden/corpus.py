"""The golden vectors: what is in the `.jsonl` files beside this module, checked while it is read. See README.md.

Strategy: a vector is data and nothing computes it. The files are read here and written nowhere; `make` prints a line for
a person to look at and to put there by hand.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from npser.columns.dtypecodes import MANTISSA, TWINS

__all__ = ["NEEDS", "Vector", "load", "parse"]

FOLDER: Final = Path(__file__).parent

NEEDS: Final = {
    "numpy2": hasattr(np.dtypes, "StringDType"),
    "x87": MANTISSA == 63,
    "twins": bool(TWINS),
    "posix": os.name == "posix",
}
"""What a vector may ask of the machine."""


@dataclass(frozen=True)
class Vector:
    """One payload, and what it is.

    Parameters
    ----------
    name : str
        `area/what is special about it`.
    since : str
        The release from which on readers must read it so.
    data : bytes
        The payload.
    value : str | None
        The value, as an expression in the words of `demo`; None if the payload is malformed.
    canonical : bool
        Whether today's writer writes exactly this.
    preserve : bool
        Whether it was written with ``identity="preserve"``.
    check : str | None
        An expression that must be true of the `value` that comes out, for what comparing does not see.
    error, pos, rule : str, int, str | None
        Of a malformed payload: the exact class of the error, its position, and the rule of FORMAT.md that it breaks.
    needs : tuple of str
        Keys of `NEEDS`.
    """

    name: str
    since: str
    data: bytes
    value: str | None = None
    canonical: bool = False
    preserve: bool = False
    check: str | None = None
    error: str | None = None
    pos: int | None = None
    rule: str | None = None
    needs: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def is_for_here(self) -> bool:
        """Whether this machine has what it needs."""
        return all(NEEDS[need] for need in self.needs)


FIELDS: Final = {
    "name": str,
    "since": str,
    "hex": str,
    "value": str,
    "canonical": bool,
    "preserve": bool,
    "check": str,
    "error": str,
    "pos": int,
    "rule": str,
    "needs": list,
}


def parse(line: str) -> Vector:
    """One line of a file.

    >>> parse('{"name": "a/b", "since": "0.1", "value": "None", "hex": "c10100", "canonical": true}').data
    b'\\xc1\\x01\\x00'
    """
    found: dict[str, Any] = json.loads(line)
    for name, field in found.items():
        if type(field) is not FIELDS[name]:
            raise TypeError(f"{name} of the vector {found.get('name')!r} is {field!r}")
    if ("value" in found) is ("error" in found):
        raise ValueError(f"the vector {found['name']!r} has a value or an error, not both and not neither")
    return Vector(data=bytes.fromhex(found.pop("hex")), **{**found, "needs": tuple(found.get("needs", ()))})


def load() -> tuple[Vector, ...]:
    """All vectors, file by file."""
    return tuple(
        parse(line)
        for file in sorted(FOLDER.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    )
