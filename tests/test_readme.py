"""Where README.md and the other pages point to, something is; cli/test_readme.py runs the examples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", *ROOT.glob("benchmarks/*.md"), *ROOT.glob("src/npser/**/*.md")]


@pytest.mark.parametrize("path", sorted(set(re.findall(r"npser\.adapters\.([a-z_]+)", README))))
def test_adapters_that_are_named_are_there(path: str) -> None:
    assert (ROOT / "src" / "npser" / "adapters" / f"{path}.py").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`python (?:-m )?((?:benchmarks|tests)[./][\w./]+)", README))))
def test_commands_that_are_named_are_there(command: str) -> None:
    path = command if command.endswith(".py") else command.replace(".", "/") + ".py"
    assert (ROOT / path).exists()
