"""%load_ext npser, in a real IPython."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import npser

pytest.importorskip("IPython", reason="the magics are IPython's")


@pytest.fixture
def shell() -> Iterator[Any]:
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.run_line_magic("load_ext", "npser")
    yield shell
    InteractiveShell.clear_instance()


def run(shell: Any, code: str) -> list[Any]:
    """What a cell displays."""
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        result = shell.run_cell(code)
    result.raise_error()
    return [captured.stdout, *captured.outputs]


def test_the_extension_is_found() -> None:
    assert callable(npser.load_ipython_extension)  # type: ignore[attr-defined]
    assert "load_ipython_extension" not in npser.__all__


def test_a_line_inspects_and_compares(shell: Any) -> None:
    run(shell, "rows = [{'id': i} for i in range(50)]")
    _, report, comparison = run(shell, "%npser rows")
    size = len(npser.dumps([{"id": i} for i in range(50)]))
    assert f"npser payload, {size} bytes" in report.data["text/plain"]
    assert "<details" in report.data["text/html"]
    assert "pickle" in comparison.data["text/plain"]
    assert "<table" in comparison.data["text/html"]


@pytest.mark.parametrize(("verb", "said"), [("inspect", "payload"), ("compare", "came back"), ("advise", "nothing to gain")])
def test_one_verb(shell: Any, verb: str, said: str) -> None:
    _, shown = run(shell, f"%npser {verb} [1, 2, 3]")
    assert said in shown.data["text/plain"]


def test_a_cell_and_an_expression_with_spaces(shell: Any) -> None:
    _, shown = run(shell, "%%npser inspect\n[i * i\n for i in range(10)]")
    assert f"{len(npser.dumps([i * i for i in range(10)]))} bytes" in shown.data["text/plain"]
    _, shown = run(shell, "%npser inspect {'a': 1, 'b': [2]}")
    assert "['b']" in shown.data["text/plain"]


def test_a_payload_is_taken_as_it_is(shell: Any) -> None:
    run(shell, "import npser; data = npser.dumps({'a': [1, 2]})")
    _, shown = run(shell, "%npser inspect data")
    assert "['a']" in shown.data["text/plain"]


def test_errors_are_those_of_the_expression(shell: Any) -> None:
    with pytest.raises(NameError):
        run(shell, "%npser inspect no_such_name")
    with pytest.raises(npser.EncodeError):
        run(shell, "%npser inspect object()")


def test_nothing_gives_help(shell: Any) -> None:
    (text,) = run(shell, "%npser")
    assert "advise expression" in text
