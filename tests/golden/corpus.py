"""The golden vectors: what is in the `.jsonl` files beside this module, checked while it is read. See README.md.

Strategy: a vector is data and nothing computes it. The files are read here and written nowhere; `make` prints a line for
a person to look at and to put there by hand.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from npser.columns.dtypecodes import MANTISSA, TWINS

__all__ = ["NEEDS", "Vector", "load", "options_of", "parse"]

FOLDER: Final = Path(__file__).parent


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


NEEDS: Final = {
    "numpy2": hasattr(np.dtypes, "StringDType"),
    "x87": MANTISSA == 63,
    "twins": bool(TWINS),
    "posix": os.name == "posix",
    "zstd": _is_installed("zstandard") or _is_installed("compression"),
    "lz4": _is_installed("lz4"),
    "crc32c": _is_installed("google_crc32c"),
    "xxh3": _is_installed("xxhash"),
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
    codec : mapping
        Of a payload in an envelope: the options of the Codec that reads and writes it.
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
    codec: Mapping[str, Any] = field(default_factory=dict)

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
    "codec": dict,
}


def parse(line: str) -> Vector:
    """One line of a file.

    >>> parse('{"name": "a/b", "since": "0.1", "value": "None", "hex": "c10100", "canonical": true}').data
    b'\\xc1\\x01\\x00'
    """
    found: dict[str, Any] = json.loads(line)
    for name, given in found.items():
        if type(given) is not FIELDS[name]:
            raise TypeError(f"{name} of the vector {found.get('name')!r} is {given!r}")
    if ("value" in found) is ("error" in found):
        raise ValueError(f"the vector {found['name']!r} has a value or an error, not both and not neither")
    data, needs = bytes.fromhex(found.pop("hex")), tuple(found.pop("needs", ()))
    return Vector(data=data, needs=needs, codec=options_of(found.pop("codec", {})), **found)


def options_of(codec: Mapping[str, Any]) -> dict[str, Any]:
    """The field `codec` as arguments of a Codec."""
    return {name: bytes.fromhex(value) if name == "key" else value for name, value in codec.items()}


def load() -> tuple[Vector, ...]:
    """All vectors, file by file."""
    return tuple(
        parse(line)
        for file in sorted(FOLDER.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    )
