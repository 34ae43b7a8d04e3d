"""Running Python in a process of its own, where what is imported already does not count; and a Redis."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from servers import redis_server, redis_url

__all__ = ["redis_server", "redis_url", "run_python"]


@pytest.fixture
def run_python() -> Callable[[str], str]:
    """Run source, with the module path of the tests, and give its standard output; fails where it fails."""

    def run(source: str) -> str:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
