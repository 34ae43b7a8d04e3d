"""`npser codegen` prints what npser.codegen gives for the class that the person names."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import npser
from npser.cli.app import app
from npser.cli.codegen import named_class
from npser.cli.demo_values import Plane
from npser.cli.refusal import ConvertError


def test_the_source_is_printed() -> None:
    result = CliRunner().invoke(app, ["codegen", "npser.cli.demo_values:Plane"])
    assert result.exit_code == 0, result.output
    assert result.stdout.rstrip("\n") == npser.codegen(Plane).rstrip("\n")
    assert "def " in result.stdout


def test_classes_are_found_in_the_current_directory_and_inside_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop_of_the_test.py").write_text("class Outer:\n    class Inner: ...\n")
    monkeypatch.chdir(tmp_path)
    assert named_class("shop_of_the_test:Outer.Inner").__qualname__ == "Outer.Inner"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fractions", "write it as module:Class"),
        (":Fraction", "write it as module:Class"),
        ("fractions:", "write it as module:Class"),
        ("no_such_module_here:A", "was not found"),
        ("fractions:Missing", "was not found"),
        ("math:pi", "is float, not a class"),
    ],
)
def test_what_is_no_class_is_refused(name: str, said: str) -> None:
    with pytest.raises(ConvertError, match=said):
        named_class(name)
    assert CliRunner().invoke(app, ["codegen", name]).exit_code == 1
