"""The notebooks as they are committed: run from top to bottom, light, without traces of a machine, a picture at the end.

That they still run is for CI, which executes each.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
LARGEST = 200_000

TRACES = re.compile(r"/(?:home|root|tmp|usr|work|Users|opt)/|site-packages|[A-Z]:\\\\|0x[0-9a-f]{9,}")


def cells(name: str) -> list[dict[str, Any]]:
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def outputs(name: str) -> list[dict[str, Any]]:
    return [output for cell in cells(name) for output in cell.get("outputs", [])]


def test_there_are_notebooks() -> None:
    assert {"tour", "analytics_buckets", "page_of_dtos", "dataframe_in_a_cache"} <= set(NAMES)
    assert {"where_do_the_bytes_go", "reading_generated_code"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_light_and_tells_of_no_machine(name: str) -> None:
    assert (FOLDER / f"{name}.ipynb").stat().st_size < LARGEST
    for output in outputs(name):
        text = {kind: data for kind, data in output.get("data", {}).items() if not kind.startswith("image/")}
        assert not TRACES.search(json.dumps([text, output.get("text", "")]))
    assert not any("execution" in cell["metadata"] for cell in cells(name))


@pytest.mark.parametrize("name", NAMES)
def test_it_was_run_from_top_to_bottom(name: str) -> None:
    counts = [cell["execution_count"] for cell in cells(name) if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1))
    for output in outputs(name):
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_title_and_ends_with_a_conclusion_and_a_picture(name: str) -> None:
    found = cells(name)
    assert found[0]["source"][0].startswith("# ")
    (at,) = [i for i, cell in enumerate(found) if "".join(cell["source"]).startswith("## Conclusion")]
    assert any("image/png" in output.get("data", {}) for cell in found[at:] for output in cell.get("outputs", []))
