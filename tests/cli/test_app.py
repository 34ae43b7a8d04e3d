"""The commands as a person calls them: files in, files out, exit codes, one-line errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import npser
import npser.cli
from npser.cli.app import app

runner = CliRunner()


def call(*arguments: object, code: int = 0, stdin: bytes = b"") -> bytes:
    result = runner.invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, result.output
    return result.stdout_bytes


def complaint(*arguments: object, stdin: bytes = b"") -> str:
    result = runner.invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == 1 and result.stdout == "", result.output
    assert result.stderr.startswith("npser: ") and result.stderr.count("\n") == 1
    return result.stderr.removeprefix("npser: ").rstrip("\n")


FILES = {
    "orders.csv": b'id,name,price\n1,"Smith, Ann",2.5\n2,,10\n007 no,\xc3\xa9,\n',
    "events.jsonl": b'{"a":1,"b":[true,null]}\n{"a":-0.0,"c":"x"}\n',
    "page.json": b'{"id":123456789012345678901234567890,"tags":["a","b"],"score":1e+22}\n',
}


@pytest.mark.parametrize("name", FILES)
def test_pack_then_unpack_gives_the_file_back(tmp_path: Path, name: str) -> None:
    source, packed, back = tmp_path / name, tmp_path / "packed.npser", tmp_path / f"back-{name}"
    source.write_bytes(FILES[name])
    assert call("pack", source, packed) == b""
    call("unpack", packed, back)
    assert back.read_bytes() == FILES[name]


@pytest.mark.parametrize(
    "array", [np.arange(12, dtype=">i2").reshape(3, 4), np.asfortranarray(np.ones((2, 3))), np.array(7)]
)
def test_npy_there_and_back(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", array)
    call("pack", tmp_path / "a.npy", tmp_path / "a.npser")
    call("unpack", tmp_path / "a.npser", tmp_path / "b.npy")
    assert (tmp_path / "b.npy").read_bytes() == (tmp_path / "a.npy").read_bytes()


def test_the_packed_file_is_exactly_dumps_of_the_value(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"x": [1, 2, 3]}')
    call("pack", tmp_path / "a.json", tmp_path / "a.npser")
    assert (tmp_path / "a.npser").read_bytes() == npser.dumps({"x": [1, 2, 3]})


def test_standard_streams_with_formats_named() -> None:
    packed = call("pack", "-", "-", "--from", "csv", stdin=b"a,b\n1,x\n")
    assert npser.loads(packed) == [{"a": 1, "b": "x"}]
    assert call("unpack", "-", "-", "--to", "json", stdin=packed) == b'[{"a":1,"b":"x"}]\n'
    assert call("unpack", "-", "-", "--to", "jsonl", stdin=packed) == b'{"a":1,"b":"x"}\n'


def test_the_option_wins_over_the_suffix(tmp_path: Path) -> None:
    (tmp_path / "lines.json").write_text('1\n"a"\n')
    call("pack", tmp_path / "lines.json", tmp_path / "a.npser", "--from", "jsonl")
    assert npser.loads((tmp_path / "a.npser").read_bytes()) == [1, "a"]


def test_types_text_keeps_digits_text() -> None:
    packed = call("pack", "-", "-", "--from", "csv", "--types", "text", stdin=b"a\n1\n\n")
    assert npser.loads(packed) == [{"a": "1"}, {"a": ""}]


def test_sizes_are_said_on_standard_error(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    result = runner.invoke(app, ["pack", str(tmp_path / "a.json"), str(tmp_path / "a.npser")])
    assert "3 bytes -> " in result.stderr and result.stdout == ""


@pytest.mark.parametrize(
    ("format_", "data", "said"),
    [
        (
            "json",
            b'{"a": 1,\n"b": {"a": 2},\n"a": 3}',
            "standard input, line 3: the key 'a' stands twice in one object",
        ),
        ("json", b"[1,\n2,]", "standard input, line 2: not valid JSON: "),
        ("jsonl", b"1\n\n[NaN]\n", "standard input, line 3: NaN is not JSON"),
        ("csv", b"a,b\n1,2\n3\n", "standard input, line 3: 1 cell where the header has 2"),
        ("csv", b"a,b\n1,\xff\n", "standard input, line 2: not UTF-8: byte 0xff at offset 6"),
        ("npy", b"\x93NUMPY", "standard input: not a .npy array that can be read: "),
    ],
)
def test_errors_name_the_place(format_: str, data: bytes, said: str) -> None:
    assert complaint("pack", "-", "-", "--from", format_, stdin=data).startswith(said)


def test_a_missing_file_and_an_unknown_suffix(tmp_path: Path) -> None:
    assert complaint("pack", tmp_path / "no.json", "-") == f"{tmp_path / 'no.json'}: no such file or directory"
    assert "say it with --from" in complaint("pack", "a.xml", "-")
    assert "say it with --to" in complaint("unpack", "-", "a.xml")
    assert complaint("demo", tmp_path / "no.csv").endswith("no such file or directory")


def test_garbage_and_foreign_bytes_are_refused_in_one_line() -> None:
    for data in (b"", b"\x00", b"\xc1", b'{"a": 1}', b"\x80\x05N."):
        assert complaint("unpack", "-", "-", "--to", "json", stdin=data).startswith("standard input: ")


def test_a_failed_unpack_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.npser").write_bytes(npser.dumps({"when": (1, 2)}))
    (tmp_path / "a.json").write_text("old")
    assert "$['when'] is tuple, which JSON does not have" in complaint(
        "unpack", tmp_path / "a.npser", tmp_path / "a.json"
    )
    assert (tmp_path / "a.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.npser"]


def test_version_and_help() -> None:
    assert call("--version").decode() == f"npser {npser.__version__}\n"
    for command in ("demo", "pack", "unpack", "codegen"):
        assert b"Usage" in call(command, "--help")


def test_without_the_extra_one_sentence_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    assert npser.cli.main() == 2
    assert capsys.readouterr().err == npser.cli.MISSING_EXTRA + "\n"
    assert "pip install 'npser[cli]'" in npser.cli.MISSING_EXTRA


def test_importing_npser_imports_numpy_and_the_standard_library_only(run_python: Callable[[str], str]) -> None:
    code = """
import sys
before = set(sys.modules)
import npser
new = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(*sorted(name for name in new if "site-packages" in (getattr(sys.modules[name], "__file__", None) or "")))
"""
    assert set(run_python(code).split()) <= {"npser", "numpy"}
