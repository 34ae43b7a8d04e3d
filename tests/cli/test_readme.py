"""What README.md shows runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("source", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs(source: str, run_python: Callable[[str], str]) -> None:
    run_python(source)


def test_there_are_examples_and_the_two_commands() -> None:
    assert len(EXAMPLES) >= 2
    for name, ending in ("demo", "npser demo"), ("test", "pytest"):
        (command,) = re.findall(rf"<!-- command:{name} -->\n```sh\n(.*)\n```", README)
        assert command.startswith("python3 -m venv .venv && ") and command.endswith(ending)
