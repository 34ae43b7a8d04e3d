"""The measurement of `npser inspect` runs and prints a line a kind; no time is judged here."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks import inspecting


def test_a_line_a_kind(capfd: pytest.CaptureFixture[str]) -> None:
    inspecting.main(["--mb", "0.2", "--only", "floats"])
    first, line = capfd.readouterr().out.splitlines()
    assert re.fullmatch(r"npser --version: \d+\.\d\d s, peak \d+ MB", first)
    assert re.fullmatch(r"(ok  |MISS) an array of random doubles: 0 MB, .* of a processor, .* s, peak \d+ MB", line)


def test_a_process_that_fails_is_seen() -> None:
    assert inspecting.run(["inspect", "/nowhere/at/all"]).code == 1
