"""Each adapter in a fresh environment with npser's wheel, its own extra, pytest, and nothing else.

    python tests/adapters/matrix.py                          # all of them
    python tests/adapters/matrix.py redis kombu --wheel dist/npser-*.whl
    python tests/adapters/matrix.py --lowest                 # with the oldest releases that the extras allow

Prints what ran against which versions. A failure, or a test that was skipped although it need not be, is exit code 1:
CI has every server, so a skip there would be a test that nobody runs.

Strategy: tests are copied away from the source, so that only the wheel can be imported. Two environments at a time, the
slow ones first; uv makes them where it is installed, and pip where it is not or fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from zipfile import ZipFile

TESTS: Final = Path(__file__).resolve().parents[1]
ROOT: Final = TESTS.parent
AT_ONCE: Final = 2
LOG_LINES: Final = 60
PYTEST: Final = "pytest>=8.2"


@dataclass(frozen=True)
class Run:
    """What to install, what to run in there, and the reasons for which a test may be skipped in there."""

    tests: tuple[str, ...]
    extras: tuple[str, ...]
    more: tuple[str, ...] = ()
    may_skip: tuple[str, ...] = ()
    only: str = ""
    """What pytest's ``-k`` says."""


LOWEST: Final = {
    "aiomcache": "0.8", "attrs": "23.2", "dogpile.cache": "1.3", "flask-sqlalchemy": "3.1", "msgpack": "1.0.8",
    "pymemcache": "4", "pytz": "2024.1", "redis": "5.0.1",
}  # fmt: skip
"""What only tests want, in the lowest version that they do with."""


def run(*tests: str, extras: str, more: str = "", may_skip: Sequence[str] = (), only: str = "") -> Run:
    """A Run; extras and more are words."""
    names = tuple(f"adapters/test_{test}.py" for test in tests)
    wanted = tuple(f"{name}>={LOWEST[name]}" if name in LOWEST else name for name in more.split())
    return Run(names, tuple(extras.split()), wanted, tuple(may_skip), only)


NO_ARROW: Final = "pyarrow"
NO_PANDAS: Final = "the pandas extra is not installed"
NO_PANDAS_3: Final = "a dtype of pandas 3"

RUNS: Final[dict[str, Run]] = {
    "dask": run("dask", extras="dask", more="attrs", may_skip=[NO_PANDAS]),
    "redis": run("redis", "redis_async", "redis_cluster", extras="redis", more="msgpack"),
    "celery": run("celery", extras="celery", more="celery[redis] kombu[redis]>=5.3.4"),
    "pandas": run("pandas", extras="pandas", more="pytz", may_skip=[NO_ARROW]),
    "pandas, arrow": run("pandas", extras="pandas arrow", more="pytz"),
    "pandas 2": run("pandas", extras="pandas arrow", more="pytz pandas<3", may_skip=[NO_PANDAS_3]),
    "diskcache": run("diskcache", "diskcache_faults", extras="diskcache"),
    "joblib": run("joblib", extras="joblib"),
    "django": run("django", extras="django"),
    "flask-session": run("flask_session", extras="flask-session", more="flask-sqlalchemy pymemcache"),
    "migration": run("migration", extras="redis cachelib django django-redis", more="msgpack cachelib>=0.17"),
    "kombu": run("kombu", extras="kombu", more="kombu[redis]"),
    "aiocache": run("aiocache", extras="aiocache", more="redis aiomcache"),
    "django-redis": run("django_redis", extras="django-redis"),
    "flask-caching": run("flask_caching", extras="flask-caching"),
    "cachelib": run("cachelib", extras="cachelib"),
    "arrow": run("arrow", extras="arrow"),
    "polars": run("polars", extras="polars", may_skip=["npser[arrow]"]),
    "polars, arrow": run("polars", extras="polars arrow", only="by_way_of_arrow"),
    "dask, pandas": run("dask", extras="dask pandas", more="attrs", only="of_pandas"),
    "pydantic": run("pydantic", extras="pydantic"),
    "dogpile": run("dogpile", extras="dogpile", more="redis pymemcache"),
    "sqlalchemy": run("sqlalchemy", extras="sqlalchemy", more="dogpile.cache"),
}
"""Every adapter by its extra, and what there is between two. Slow ones first: they are begun in this order."""

WITHOUT: Final = {"adapters/test_entries.py"}
"""What needs no framework, so that it runs wherever npser is tested."""


def left_out() -> set[str]:
    """Files of tests that are in no Run, and so would be skipped everywhere."""
    there = {f"adapters/{path.name}" for path in (TESTS / "adapters").glob("test_*.py")}
    return there - WITHOUT - {name for plan in RUNS.values() for name in plan.tests}


@dataclass
class Outcome:
    """What came of a Run."""

    versions: str = ""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    unexpected: list[str] = field(default_factory=list)
    log: str = ""

    @property
    def is_good(self) -> bool:
        """Something ran, nothing failed, and nothing was skipped that could have run."""
        return bool(self.passed) and not self.failed and not self.unexpected


def find_uv() -> str | None:
    """The uv beside this Python, or on the path."""
    return shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")


def call(command: Sequence[str | os.PathLike[str]], **options: object) -> subprocess.CompletedProcess[str]:
    """A command with all that it prints in one text."""
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)  # type: ignore[call-overload,no-any-return]


def build_wheel(folder: Path) -> Path:
    """A wheel of the tree."""
    uv = find_uv()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    done = call([uv, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)] if uv else pip)
    if done.returncode:
        sys.exit(done.stdout)
    return next(folder.glob("npser-*.whl"))


def install(wanted: Sequence[str], environment: Path, resolution: str) -> str:
    """Make an environment with these, and return "", or what went wrong."""
    uv, python = find_uv(), str(environment / "bin" / "python")
    if uv:
        with_uv = [uv, "pip", "install", "--quiet", "--python", python, "--resolution", resolution, *wanted]
        made = call([uv, "venv", "--quiet", "--python", sys.executable, environment])
        made = made if made.returncode else call(with_uv)
        if not made.returncode:
            return ""
    if resolution != "highest":
        return made.stdout if uv else "only uv can install the lowest versions"
    call([sys.executable, "-m", "venv", "--clear", environment])
    done = call([python, "-m", "pip", "install", "--quiet", *wanted])
    return done.stdout if done.returncode else ""


VERSIONS: Final = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"
"""A program that prints the versions of what it is told."""


def requirements(wheel: Path, extras: Sequence[str]) -> list[str]:
    """What npser and these extras of it require by themselves."""
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    pairs = [line.partition(": ")[2].partition(";")[::2] for line in lines if line.startswith("Requires-Dist: ")]
    wanted = {f"extra == {quote}{extra}{quote}" for extra in extras for quote in ("'", '"')} | {""}
    return [requirement for requirement, condition in pairs if condition.strip() in wanted]


def versions_of(python: Path, wanted: Sequence[str]) -> str:
    """Names and versions of what these requirements have led to."""
    names = list(dict.fromkeys(re.split("[^A-Za-z0-9._-]", one)[0] for one in wanted))
    return ", ".join(map(" ".join, zip(names, call([python, "-c", VERSIONS, *names]).stdout.split(), strict=False)))


def read_results(results: Path, plan: Run, outcome: Outcome) -> None:
    """Count what pytest's report says, and pick out the skips that nobody expects."""
    for suite in ElementTree.parse(results).getroot().iter("testsuite"):
        tests, failed = int(suite.get("tests", 0)), int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        outcome.passed, outcome.failed, outcome.skipped = tests - failed - skipped, failed, skipped
        for case in suite.iter("testcase"):
            for skip in case.iter("skipped"):
                reason = skip.get("message", "")
                if not any(allowed in reason for allowed in plan.may_skip):
                    outcome.unexpected.append(f"{case.get('name')}: {reason}")


def run_in(folder: Path, wheel: Path, plan: Run, resolution: str) -> Outcome:
    """Install, run, count."""
    outcome, begun = Outcome(), time.perf_counter()
    environment, python = folder / "venv", folder / "venv" / "bin" / "python"
    named = [*(one for one in requirements(wheel, plan.extras) if not one.startswith("numpy")), *plan.more]
    ours = f"npser[{','.join(plan.extras)}] @ {wheel.as_uri()}"
    outcome.log = install([ours, PYTEST, *named], environment, resolution)
    if not outcome.log:
        outcome.versions = versions_of(python, named)
        shutil.copytree(TESTS, folder / "tests", ignore=shutil.ignore_patterns("__pycache__", "corpus", "golden"))
        results = folder / "results.xml"
        tested = call(
            [
                python, "-m", "pytest", "-q", "--import-mode=importlib", "--confcutdir=tests/adapters", "--rootdir=.",
                "-o", "pythonpath=tests", "-p", "no:cacheprovider", f"--junitxml={results}",
                *(f"tests/{name}" for name in plan.tests), "-k", plan.only,
            ],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))},
        )  # fmt: skip
        outcome.log = tested.stdout
        if results.exists():
            read_results(results, plan, outcome)
        if tested.returncode and not outcome.failed:
            outcome.failed = 1  # pytest itself, or nothing was collected
    else:
        outcome.failed = 1
    outcome.seconds = time.perf_counter() - begun
    return outcome


def told(name: str, outcome: Outcome) -> str:
    """A line of the table."""
    counts = f"{outcome.passed:>7}{outcome.failed:>7}{outcome.skipped:>8}{outcome.seconds:>8.1f}"
    return f"{'ok  ' if outcome.is_good else 'FAIL'} {name:<14}{counts}  {outcome.versions}"


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help=f"which to run; all by default: {'; '.join(RUNS)}")
    parser.add_argument("--wheel", type=Path, help="a wheel of npser; by default one is built")
    parser.add_argument("--lowest", action="store_true", help="the oldest releases that the extras allow")
    asked = parser.parse_args()
    if unknown := set(asked.name) - set(RUNS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    return asked


def main() -> int:
    """Run what was asked for, and print the table."""
    asked = arguments()
    if forgotten := left_out():
        sys.exit(f"in no run: {', '.join(sorted(forgotten))}")
    resolution = "lowest-direct" if asked.lowest else "highest"
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="npser-matrix-") as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        wheel = asked.wheel.resolve() if asked.wheel else build_wheel(Path(folder))
        print(f"{'':<19}{'passed':>7}{'failed':>7}{'skipped':>8}{'seconds':>8}  with", flush=True)

        def one(name: str) -> None:
            place = Path(folder) / name.replace(", ", "-").replace(" ", "-")
            place.mkdir()
            outcomes[name] = run_in(place, wheel, RUNS[name], resolution)
            print(told(name, outcomes[name]), flush=True)
            shutil.rmtree(place, ignore_errors=True)

        list(pool.map(one, asked.name or RUNS))
    for name, outcome in outcomes.items():
        if asked.lowest:
            outcome.unexpected.clear()  # what they have not got yet
        if outcome.failed:
            print(f"\n--- {name}", *outcome.log.splitlines()[-LOG_LINES:], sep="\n")
        for skip in outcome.unexpected:
            print(f"\n--- {name}: skipped {skip}")
    bad = [name for name, outcome in outcomes.items() if not outcome.is_good]
    print(f"\n{sum(outcome.passed for outcome in outcomes.values())} tests in {len(outcomes)} environments;", end=" ")
    print(f"not good: {', '.join(bad)}" if bad else "all good")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
