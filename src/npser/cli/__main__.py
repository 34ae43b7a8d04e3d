"""`python -m npser.cli`: the same command line where the `npser` script is not on the path."""

from __future__ import annotations

import sys

from npser.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
