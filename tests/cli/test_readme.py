"""What README.md shows runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
PLAIN = [source for source in EXAMPLES if "npser.adapters" not in source]
FRAMES = [source for source in EXAMPLES if "import pandas" in source]


@pytest.mark.parametrize("source", PLAIN, ids=range(len(PLAIN)))
def test_an_example_runs(source: str, run_python: Callable[[str], str]) -> None:
    run_python(source)


@pytest.mark.parametrize("source", FRAMES, ids=range(len(FRAMES)))
def test_an_example_with_frames_runs(source: str, run_python: Callable[[str], str]) -> None:
    pytest.importorskip("pandas", reason="the pandas extra is not installed")
    run_python(source)


def test_there_are_examples_and_the_two_commands() -> None:
    assert len(PLAIN) > 10 and len(FRAMES) == 1
    for name, ending in ("demo", "npser demo"), ("test", "pytest"):
        (command,) = re.findall(rf"<!-- command:{name} -->\n```sh\n(.*)\n```", README)
        assert command.startswith("python3 -m venv .venv && ") and command.endswith(ending)
