"""What README.md shows, runs; and where it points to, something is."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest

from npser.types import registry

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "CHANGELOG.md", *ROOT.glob("benchmarks/*.md"), *ROOT.glob("src/npser/**/*.md")]
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
ADAPTERS = [block for block in BLOCKS if "npser.adapters" in block]  # tests/adapters runs what needs a framework


def test_there_are_examples() -> None:
    assert len(BLOCKS) > 10


@pytest.mark.parametrize("block", [block for block in BLOCKS if block not in ADAPTERS])
def test_examples_run(block: str) -> None:
    # a module of its own: pickling and dataclasses look their classes up there
    module = types.ModuleType("readme_example")
    sys.modules[module.__name__] = module
    before = set(registry._by_class)
    try:
        exec(compile(block, "README.md", "exec"), vars(module))  # noqa: S102 - our own page
    finally:
        del sys.modules[module.__name__]
        for cls in set(registry._by_class) - before:
            registry.unregister(cls)


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
