"""`npser compare|diff|advise`, and `codegen` of a file: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import npser
from npser.cli.app import app

runner = CliRunner()
ROWS = [{"id": i * i, "at": f"2024-01-{1 + i % 28:02d}T{i % 24:02d}:00:{i % 60:02d}"} for i in range(2000)]
DATA = npser.dumps(ROWS)


def call(*arguments: object, code: int = 0, stdin: bytes = b"") -> str:
    result = runner.invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.npser"
    path.write_bytes(DATA)
    return path


def compare(*arguments: object, code: int = 0, stdin: bytes = b"") -> str:
    return call("compare", *arguments, "--seconds", 0.1, "--against", "pickle", "--against", "json", code=code, stdin=stdin)


def test_compare(file: Path, tmp_path: Path) -> None:
    found = json.loads(compare(file, "--json"))["contenders"]
    assert [row["codec"] for row in found if not row["compression"]] == ["npser", "pickle", "json"]
    assert found[0]["bytes"] == len(DATA)
    text = compare("-", stdin=DATA)
    assert f"{len(DATA):,}" in text and max(map(len, text.splitlines())) <= 100
    assert "K" in compare("-", "--sizes", "human", stdin=DATA)
    other = tmp_path / "rows.json"
    other.write_text(json.dumps(ROWS))
    assert json.loads(compare(other, "--json"))["contenders"][0]["bytes"] == len(DATA)
    assert json.loads(compare("-", "--from", "json", "--json", stdin=other.read_bytes()))["contenders"][0]["bytes"] == len(DATA)


def test_frames_and_phpser_are_read_too(tmp_path: Path) -> None:
    frames = tmp_path / "rows.frames"
    with npser.open_writer(frames) as writer:
        for at in range(0, len(ROWS), 500):
            writer.write(ROWS[at : at + 500])
    assert json.loads(compare(frames, "--json"))["contenders"][0]["bytes"] == len(DATA)
    php = npser.dumps(ROWS, wire="phpser")
    assert json.loads(compare("-", "--json", stdin=php))["contenders"][0]["bytes"] == len(DATA)


def test_diff(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.npser"
    other.write_bytes(npser.dumps(ROWS[:1000]))
    found = json.loads(call("diff", file, other, "--json"))
    assert found["delta"] == other.stat().st_size - len(DATA)
    assert sum(row["delta"] for row in found["changes"]) == found["delta"]
    text = call("diff", file, "-", stdin=other.read_bytes())
    assert f"{len(DATA):,} -> {other.stat().st_size:,} bytes" in text
    assert "K" in call("diff", file, other, "--sizes", "human")
    assert "error" not in call("diff", file, file)
    call("diff", "-", "-", code=1)
    assert "damaged" in call("diff", file, "-", code=1, stdin=DATA[:-9])


def test_advise(file: Path) -> None:
    found = json.loads(call("advise", file, "--json", "--seconds", 3))
    assert "text holds something else" in {hint["rule"] for hint in found["hints"]}
    assert found["bytes"] == len(DATA)
    text = call("advise", "-", "--seconds", 3, stdin=DATA)
    assert "ISO datetimes" in text and max(map(len, text.splitlines())) <= 100
    assert "nothing to gain" in call("advise", "-", "--from", "json", stdin=b"[1, 2]")


def test_codegen_of_a_file(file: Path) -> None:
    text = call("codegen", file)
    assert "# f0 = 'id'" in text and "def build(" in text
    assert call("codegen", "-", stdin=DATA).replace("shape_", "") .splitlines()[0] == text.splitlines()[0]
    assert "no code is generated" in call("codegen", "-", stdin=npser.dumps([1, 2]))
    assert "def " in call("codegen", "npser.cli.demo_values:Plane")
    call("codegen", "-", code=1, stdin=DATA[:20])


def test_hostile_keys_are_comments() -> None:
    text = call("codegen", "-", stdin=npser.dumps([{"'\n) import os": 1, "\x1b[2J\u202e": "x"}] * 3))
    assert all(line.isprintable() for line in text.splitlines())
    compile(text, "codegen", "exec")
    assert not [line for line in text.splitlines() if "import os" in line and not line.startswith("# ")]


@pytest.mark.parametrize("command", ["compare", "advise", "codegen"])
def test_what_cannot_be_read_ends_with_1_and_no_usage_with_2(command: str) -> None:
    call(command, "/nowhere/at/all.json", code=1)
    call(command, "-", code=1, stdin=DATA[:-3])
    call(command, code=2)
    call(command, "-", "--no-such-option", code=2)


def test_diff_of_what_is_none() -> None:
    call("diff", "/nowhere", "/nowhere", code=1)
    call("diff", "-", code=2)
    call("compare", "-", "--against", "yaml", code=2)
