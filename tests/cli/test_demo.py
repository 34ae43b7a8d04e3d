"""The demo: its exit code is the claim that it makes."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import npser
from npser.cli.app import app
from npser.cli.demo import demo
from npser.cli.demo_values import FIRST_ROW, Plane, samples
from npser.inspection.same import difference


def shown(source: str | None = None) -> tuple[int, str]:
    console = Console(file=io.StringIO(), width=100)
    code = demo(source, seconds=0, console=console)
    assert isinstance(console.file, io.StringIO)
    return code, " ".join(console.file.getvalue().split())


def test_every_packaged_value_comes_back_identical() -> None:
    for sample in samples():
        assert difference(sample.value, npser.loads(npser.dumps(sample.value), classes=sample.classes)) is None


def test_the_demo_proves_it_and_says_so() -> None:
    code, text = shown()
    assert code == 0
    assert "Proved: all 6 values came back from npser identical in type, order and every bit" in text
    assert "pickle" in text and "flights" in text and "of pickle's bytes" in text


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.json", '{"a": [1, 2.5, null]}'), ("a.jsonl", "1\n2\n"), ("a.csv", "id,name\n1,Ann\n")],
)
def test_the_demo_on_a_file_of_ones_own(tmp_path: Path, name: str, data: str) -> None:
    (tmp_path / name).write_text(data)
    code, text = shown(str(tmp_path / name))
    assert code == 0
    assert "Proved: the value came back" in text and f"{len(data)} bytes" in text


def test_the_exit_code_is_1_as_soon_as_one_value_is_not_identical(monkeypatch: pytest.MonkeyPatch) -> None:
    real = npser.loads

    def forgetful(data: bytes, **options: tuple[type, ...]) -> object:
        value = real(data, **options)
        return dict(reversed(value.items())) if isinstance(value, dict) and "2013-07-10T00:00" in value else value

    monkeypatch.setattr(npser, "loads", forgetful)
    code, text = shown()
    assert code == 1
    assert "NOT PROVED: 1 of 6 values did not come back identical" in text and "minutes: $ key" in text


def test_the_exit_code_is_1_when_npser_raises(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(value: object) -> bytes:
        raise npser.EncodeError("no")

    monkeypatch.setattr(npser, "dumps", broken)
    (tmp_path / "a.json").write_text("[]")
    result = CliRunner().invoke(app, ["demo", str(tmp_path / "a.json"), "--seconds", "0"])
    assert result.exit_code == 1 and "refused: EncodeError" in result.stdout


def test_the_packaged_day_is_what_its_provenance_says() -> None:
    by_name = {sample.name: sample.value for sample in samples()}
    flights, minutes, ids, late = (by_name[name] for name in ("flights", "minutes", "row ids", "late ids"))
    assert len(flights) == 1004 and all(len(row) == 19 for row in flights)
    assert Counter(row["dep_time"] is None for row in flights)[True] == 121
    assert Counter(row["origin"] for row in flights) == {"EWR": 359, "JFK": 331, "LGA": 314}
    assert {type(row["flight"]) for row in flights} == {int} and {type(row["time_hour"]) for row in flights} == {str}
    assert len(minutes) == 1440 and sum(minutes.values()) == 1004 and minutes["2013-07-10T06:00"] > 5
    assert ids[0] == FIRST_ROW and ids == sorted(set(ids)) and len(late) == 413
    planes = by_name["planes"]
    assert len(planes) == 609 and {type(plane) for plane in planes} == {Plane} and planes[0].tailnum == "N10156"
    airports = by_name["report"]["airports"]
    legs = [leg for airport in airports.values() for line in airport["airlines"].values() for leg in line["flights"]]
    assert len(legs) == 1004 and all(len(airport["weather"]) == 24 for airport in airports.values())
