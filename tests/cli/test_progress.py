"""The bar never changes what passes through, and shows only at a terminal."""

from __future__ import annotations

import io
import sys

import pytest

from npser.cli.progress import LONG, busy, watched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO, False), (Terminal, True)])
def test_lines_pass_unchanged(monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], *, shown: bool) -> None:
    monkeypatch.setattr(sys, "stderr", stream())
    lines = ["x" * 100_000] * (LONG // 100_000 + 1)
    assert list(watched(lines, "reading", LONG)) == lines
    with busy("encoding", LONG):
        pass
    assert bool(sys.stderr.getvalue()) == shown  # type: ignore[attr-defined]


def test_a_short_input_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(watched(["a"], "reading", 1)) == ["a"]
    with busy("encoding", 1):
        pass
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
