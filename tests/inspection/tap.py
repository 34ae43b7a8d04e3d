"""A plugin that inspects every payload that the tests decode: `PYTHONPATH=tests pytest -p inspection.tap tests`.

Leave out `tests/test_trust.py`, which watches everything that runs, and would see this.

Strategy: whoever decodes has `decode` from `npser.decoder`, or `read` from `npser.phpser`; each module that has it gets
one that decodes and then, for bytes that it has not met, looks at the report. What decodes must be a report without an error, all of whose spans lie
end to end; what does not must be one as well, whatever its error. It ends with the number of payloads; failures are
printed with their bytes, and the run fails.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest

import npser
from inspection.tiles import check_tiles
from npser import decoder, phpser

LARGEST: Final = 1 << 20
"""Payloads of more bytes are left out."""

MOST: Final = 20

_met: set[bytes] = set()
_failed: list[str] = []
_REAL: Final = {"decode": decoder.decode, "read": phpser.read}


def _tapped(real: Callable[..., Any]) -> Callable[..., Any]:
    def tapped(data: Any, *arguments: Any, **options: Any) -> Any:
        try:
            value = real(data, *arguments, **options)
        except npser.NpserError:
            _look(data, whole=False)
            raise
        _look(data, whole=True)
        return value

    return tapped


def _look(data: Any, *, whole: bool) -> None:
    try:
        raw = bytes(memoryview(data))
    except (TypeError, BufferError):  # no buffer, or none that lies in one piece
        return
    if len(raw) > LARGEST:
        return
    key = hashlib.blake2b(raw, digest_size=16).digest()
    if key in _met or len(_failed) >= MOST:
        return
    _met.add(key)
    try:
        error = check_tiles(raw).error
        # limits of its own may have let it through, and classes may have refused it
        assert not whole or error is None or isinstance(error, npser.LimitError), error
    except Exception as reason:
        _failed.append(f"{type(reason).__name__}: {reason}: {raw[:200].hex(' ')}")


def pytest_configure() -> None:
    for name, module in list(sys.modules.items()):
        for what, real in _REAL.items():
            if name.startswith("npser") and module.__dict__.get(what) is real:
                module.__dict__[what] = _tapped(real)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"{len(_met):,} payloads were inspected, {len(_failed)} reports were wrong")
    for line in _failed:
        terminalreporter.write_line(line)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: Any) -> None:
    if _failed:
        session.exitstatus = 1
