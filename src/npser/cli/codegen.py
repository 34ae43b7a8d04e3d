"""`npser codegen module:Class`: the reader and writer that npser generates for a class, as source to look at.

Strategy: the class is named by the person at the keyboard, so its module is imported here, as `python -m` would,
from the current directory or the installed packages. No name from a payload ever comes this way.
"""

from __future__ import annotations

import sys
from importlib import import_module

import npser
from npser.cli.refusal import ConvertError

__all__ = ["generated_source", "named_class"]


def named_class(name: str) -> type:
    """The class that `module:Class` names (`module:Outer.Inner` too). Raises ConvertError where there is none.

    >>> named_class("fractions:Fraction")
    <class 'fractions.Fraction'>
    """
    module_name, colon, qualified = name.partition(":")
    if not (module_name and colon and qualified):
        raise ConvertError(f"{name!r} names no class: write it as module:Class")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: object = import_module(module_name)
        for part in qualified.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConvertError(f"{name!r} was not found: {error}") from error
    if not isinstance(found, type):
        raise ConvertError(f"{name!r} is {type(found).__name__}, not a class")
    return found


def generated_source(name: str) -> str:
    """The source that `npser.codegen` gives for the class named.

    Raises ConvertError where there is no such class, and EncodeError for a class that npser refuses.
    """
    return npser.codegen(named_class(name))
