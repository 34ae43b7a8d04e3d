"""What to say where an optional library is not installed.

Strategy: a library is imported in the function that uses it. The writer's caller asked for it and gets an ImportError;
the reader's caller asked for nothing, so there the same sentence is a DecodeError.
"""

from __future__ import annotations

__all__ = ["missing"]


def missing(what: str, extra: str) -> ModuleNotFoundError:
    """An error that names the extra; the caller raises it.

    >>> str(missing("zstd", "zstd"))
    "zstd needs a library that is not installed: pip install 'npser[zstd]'"
    """
    return ModuleNotFoundError(f"{what} needs a library that is not installed: pip install 'npser[{extra}]'")
