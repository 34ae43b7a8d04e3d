"""The command line: `npser` and a verb, such as `demo`, `pack`, `inspect`, `compare`, `advise`, `redis`.

Strategy: everything here stands on the public functions of npser (`dumps`, `loads`, `inspect`, `codegen`) and on the
`cli` extra (typer, rich). The entry point is the only part that must work without the extra: it says how to get it.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

MISSING_EXTRA = "npser: the command line needs the cli extra, install it with: pip install 'npser[cli]'"


def main() -> int:
    """Run the command line on ``sys.argv``; without the cli extra, say how to install it and return 2."""
    try:
        import rich
        import typer
    except ModuleNotFoundError:
        print(MISSING_EXTRA, file=sys.stderr)
        return 2
    del rich, typer
    from npser.cli.app import app

    app()
    return 0
