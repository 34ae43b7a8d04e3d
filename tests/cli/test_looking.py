"""`npser inspect|du|tree|verify`: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import npser
from npser.cli.app import app

runner = CliRunner()
VALUE = {"orders": [{"id": i, "name": f"name {i % 7}"} for i in range(1000)], "at": 1.5}
DATA = npser.dumps(VALUE)


def call(*arguments: object, code: int = 0, stdin: bytes = b"") -> str:
    result = runner.invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, result.output
    return result.stdout


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "orders.npser"
    path.write_bytes(DATA)
    return path


def test_inspect_shows_the_tree_and_why(file: Path) -> None:
    text = call("inspect", file)
    assert f"npser payload, {len(DATA):,} bytes" in text
    assert "next best" in text
    assert max(map(len, text.splitlines())) <= 100
    assert call("inspect", "-", stdin=DATA) == text


def test_du_is_sorted_and_adds_up(file: Path) -> None:
    lines = call("du", file).splitlines()
    sizes = [int(line.split()[0].replace(",", "")) for line in lines]
    assert lines[-1].split()[1:] == ["total"]
    assert sizes[:-1] == sorted(sizes[:-1])
    assert sum(sizes[:-1]) == sizes[-1] == len(DATA)
    assert "$['orders'][*]['name']" in lines[-2]
    few = call("du", file, "--lines", 2, "--sizes", "human").splitlines()
    assert len(few) == 4
    assert "smaller parts" in few[0]


def test_tree_goes_down_to_blocks(file: Path) -> None:
    text = call("tree", file)
    assert "distinct" in text
    assert "codes" in text


@pytest.mark.parametrize("command", ["inspect", "du", "tree"])
def test_json(command: str, file: Path) -> None:
    found = json.loads(call(command, file, "--json"))
    assert found["size"] == len(DATA)
    assert found["error"] is None


@pytest.mark.parametrize("command", ["inspect", "du", "tree"])
def test_damaged_bytes_are_shown_as_far_as_they_go(command: str) -> None:
    assert "name" in call(command, "-", stdin=DATA[:-40], code=1)
    assert json.loads(call(command, "-", "--json", stdin=DATA[:-40], code=1))["error"]


@pytest.mark.parametrize("command", ["inspect", "du", "tree", "cat", "verify"])
def test_what_is_no_npser_ends_with_1_and_no_usage_with_2(command: str) -> None:
    call(command, "-", stdin=b"\x80\x05K\x01.", code=1)
    call(command, "-", stdin=b"", code=1)
    call(command, "/nowhere/at/all", code=1)
    call(command, code=2)
    call(command, "-", "--no-such-option", code=2)


def test_sizes_is_a_choice(file: Path) -> None:
    call("du", file, "--sizes", "furlongs", code=2)


def test_verify(file: Path) -> None:
    assert call("verify", file) == f"{file}: ok, {len(DATA):,} bytes\n"
    result = runner.invoke(app, ["verify", "-"], input=DATA[:-1])
    assert result.exit_code == 1
    assert "TruncatedError" in result.stderr
    sealed = runner.invoke(app, ["verify", "-"], input=npser.dumps_signed(1, bytes(32)))
    assert sealed.exit_code == 1
    assert "SignatureError" in sealed.stderr


def test_keys_do_not_move_the_cursor() -> None:
    data = npser.dumps({"\x1b[31m\n": {"\x07": [1, 2]}})
    for command in ("inspect", "du", "tree"):
        assert all(line.isprintable() for line in call(command, "-", stdin=data).splitlines())


@pytest.mark.parametrize("command", ["inspect", "du", "tree", "cat", "verify"])
def test_an_empty_file_is_one_of_no_frames(command: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.npser"
    npser.write_rows(path, iter([]))
    text = call(command, path)
    assert ("no frames" in text) is (command in ("inspect", "tree", "verify"))
    if command in ("inspect", "du", "tree"):
        found = json.loads(call(command, path, "--json"))
        assert (found["size"], found["error"]) == (0, None)


def test_files_of_frames(tmp_path: Path) -> None:
    path = tmp_path / "rows.npser"
    npser.write_rows(path, ({"id": i} for i in range(300)), frame_rows=100)
    size = path.stat().st_size
    assert call("verify", path) == f"{path}: ok, {size:,} bytes in 3 frames\n"
    assert runner.invoke(app, ["verify", "-"], input=path.read_bytes()).stdout == f"-: ok, {size:,} bytes in 3 frames\n"
    path.write_bytes(path.read_bytes()[:-1])
    assert runner.invoke(app, ["verify", str(path)]).exit_code == 1
    assert "StreamReader gives the payloads in it" in runner.invoke(app, ["inspect", str(path)]).output
