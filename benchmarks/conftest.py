"""Benchmarks run only when somebody asks for them: `pytest benchmarks/`.

Strategy: a plain `pytest` never comes here (testpaths), and `pytest .` is told to pass by.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that `benchmarks` can be imported whatever started pytest

NEEDS = {
    "dask_tasks.py": ("distributed", "pandas"),
    "dask_wire.py": ("distributed", "pandas"),
    "frames.py": ("pandas", "pyarrow"),
    "models.py": ("pydantic", "sqlalchemy"),
}
"""Scripts that import a framework, and so are left alone where it is not installed."""


def _named(argument: str, base: Path) -> bool:
    path = (base / argument.partition("::")[0]).resolve()
    return path == HERE or HERE in path.parents


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Everything in this folder, unless the command line names it; thresholds*.py are scripts in any case."""
    base = config.invocation_params.dir
    if collection_path.name.startswith("thresholds"):
        return True
    if not all(map(find_spec, NEEDS.get(collection_path.name, ()))):
        return True
    return None if any(_named(argument, base) for argument in config.args) else True
