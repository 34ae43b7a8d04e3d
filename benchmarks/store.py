"""Where figures are kept: results.json holds all of them, RESULTS.md is laid out from it.

Strategy: every tool measures its own part and puts it into results.json; the whole of RESULTS.md is then written anew,
so that no table is ever edited by hand and a part that was not measured today stays as it was.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.lines import Results

__all__ = ["HERE", "PARTS", "load", "put", "rounded", "save"]

HERE = Path(__file__).resolve().parent

PARTS = ("memory", "growth", "collector", "dask", "redis")
"""What other tools than `compare` measure, by its key in results.json."""


def load(folder: Path = HERE) -> Results:
    """All that is kept; nothing where nothing is."""
    path = folder / "results.json"
    found: Results = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def save(results: Results, folder: Path = HERE) -> None:
    """Write both files, with the parts of the other tools as they were where `results` does not have them."""
    kept = load(folder)
    results |= {part: kept[part] for part in PARTS if part in kept and part not in results}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if "shapes" in results:
        (folder / "RESULTS.md").write_text(report.details(results), encoding="utf-8")


def put(part: str, figures: dict[str, Any], folder: Path = HERE) -> None:
    """Replace one part and write both files."""
    save(load(folder) | {part: figures}, folder)


def rounded(seconds: float) -> float:
    """Four digits: more are noise in a file that is kept.

    >>> rounded(0.000123456)
    0.0001235
    """
    return float(f"{seconds:.4g}")
