"""What pytest leaves alone where it cannot be imported; `--skipped-to FILE` and `--no-skips`.

Strategy: doctests are looked for in every file, and those of an adapter need its framework. Nobody keeps a list of
which needs what: the imports at the top of a file say so, and those of its doctests, and of the adapters it imports.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Generator, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

HERE: Final = Path(__file__).resolve().parent
ADAPTERS: Final = HERE / "src" / "npser" / "adapters"
MAY_NEED_MORE: Final = (ADAPTERS, HERE / "tests" / "adapters")
"""Folders with files that need what may not be installed. Their tests say so themselves, and are skipped."""

EXAMPLE_IMPORTS: Final = re.compile(r"^ *>>> (?:from|import) (.+?)(?: import |$)", re.MULTILINE)

NO_CI_HAS: Final = ("numpy 1 has no StringDType", "no x87 long double here")
"""What a test may say under `--no-skips` when it is skipped."""


def imports(path: Path) -> Iterator[str]:
    """Names of modules that a file, or one of its doctests, cannot do without; inner imports are for what it can."""
    source = path.read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "npser.adapters")
    for names in EXAMPLE_IMPORTS.findall(source):
        yield from (name.strip() for name in names.split(","))


@cache
def missing(path: Path) -> bool:
    """Whether something that a file needs is not installed."""
    for name in imports(path):
        adapter = ADAPTERS / f"{name.removeprefix('npser.adapters.')}.py"
        if name.startswith("npser.adapters.") and adapter != path and adapter.exists():
            if missing(adapter):
                return True
        elif find_spec(name.partition(".")[0]) is None:
            return True
    return False


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave alone what cannot be imported, but for tests."""
    path = collection_path
    ours = path.suffix == ".py" and path.parent in MAY_NEED_MORE and not path.name.startswith("test_")
    return True if ours and missing(path) else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """For CI, where each test must run once: first with little installed, then those that were skipped with all."""
    group = parser.getgroup("skips")
    group.addoption("--skipped-to", type=Path, metavar="FILE", help="write what was skipped, for a run of @FILE")
    group.addoption("--no-skips", action="store_true", help="a skipped test is a failure, with its reason")


def _is_given(reason: str) -> bool:
    return any(given in reason for given in NO_CI_HAS)


def _reason(report: Any) -> str:
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def _as_failure(report: Any, config: pytest.Config) -> None:
    if report.skipped and config.getoption("--no-skips") and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        if not _is_given(reason):
            report.outcome, report.longrepr = "failed", f"{report.nodeid}: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test that skips itself."""
    report = yield
    _as_failure(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """A file that skips itself."""
    report = yield
    _as_failure(report, collector.config)
    return report


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write a line for each test, or file of tests, that was skipped."""
    path: Path | None = config.getoption("--skipped-to")
    if path is not None:
        skipped = [one.nodeid for one in terminalreporter.stats.get("skipped", []) if not _is_given(_reason(one))]
        path.write_text("".join(f"{nodeid}\n" for nodeid in dict.fromkeys(skipped)), encoding="utf-8")
