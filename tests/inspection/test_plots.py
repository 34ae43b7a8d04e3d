"""The pictures: they hold all bytes, whatever the payload, and no text of it is a formula."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import Any

import pytest

import npser
from inspection.inert import BAD
from npser.inspection import plots
from npser.inspection.plots import MAX_SHOWN

pytest.importorskip("matplotlib", reason="the pictures are matplotlib's")

HOSTILE = {BAD: {"$\\frac{$": ["$x^{", "x" * 5000, "\u202e"]}, "$": [1, 2]}


def drawn(figure: Any) -> Any:
    figure.savefig(BytesIO(), format="png", dpi=30)
    return figure


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts] + [label.get_text() for label in axes.get_yticklabels()]


def test_a_report() -> None:
    report = npser.inspect(npser.dumps({"rows": [{"a": i * i, "b": str(i)} for i in range(500)], "c": "x" * 900}))
    figure = drawn(report.plot())
    tree, bars = figure.axes
    widths = [bar.get_width() for bar in bars.patches]
    assert sum(widths) == report.size
    assert widths[0] == max(part.nbytes for part in report.leaves())
    top = [bar for bar in tree.patches if bar.get_y() < 0.1]
    assert sum(bar.get_width() for bar in top) == pytest.approx(1)
    second = [bar for bar in tree.patches if 1 < bar.get_y() < 1.1]
    assert sum(bar.get_width() for bar in second) == pytest.approx(1)
    assert "$['c']" in texts(bars)


def test_the_bars_are_as_many_as_asked_for_and_the_rest() -> None:
    report = npser.inspect(npser.dumps([{f"k{i}": i * j for i in range(40)} for j in range(50)]))
    _, bars = drawn(report.plot(top=5)).axes
    assert len(bars.patches) == 6
    assert any(text.startswith("the rest:") for text in texts(bars))
    assert sum(bar.get_width() for bar in bars.patches) == report.size


def test_hostile_text_is_no_formula() -> None:
    figure = drawn(npser.inspect(npser.dumps(HOSTILE)).plot())
    for axes in figure.axes:
        assert all(text.isprintable() for text in texts(axes))


def test_many_columns_are_bounded() -> None:
    report = npser.inspect(npser.dumps([{f"key {i}": [i, "x"][i % 2] for i in range(50_000)}] * 2))
    figure = drawn(report.plot())
    assert len(figure.axes[0].patches) <= 2 * MAX_SHOWN
    assert len(figure.axes[1].patches) <= 21


@pytest.mark.parametrize("data", [b"", b"\x80\x05K\x01.", npser.dumps(None), npser.dumps([1])[:-1], npser.dumps({"a": [1]}, wire="phpser")])
def test_any_report_has_a_picture(data: bytes) -> None:
    drawn(npser.inspect(data).plot())


def test_a_deep_one() -> None:
    value: object = "x" * 100
    for _ in range(300):
        value = [value]
    drawn(npser.inspect(npser.dumps(value)).plot())


def test_a_comparison() -> None:
    found = npser.compare([(i, str(i)) for i in range(50)], against=["pickle", "json"], budget=0.1)
    figure = drawn(found.plot())
    nbytes, encode, decode = figure.axes
    timed = [one for one in found.contenders if one.decode is not None]
    assert [bar.get_width() for bar in nbytes.patches] == [one.nbytes for one in timed]
    assert [bar.get_width() for bar in decode.patches] == [1000 * one.decode.seconds for one in timed]  # type: ignore[union-attr]
    assert len(encode.patches) == len(timed)
    drawn(npser.compare([lambda: 1], against=[], budget=0.0).plot())


def test_a_notebook_shows_it() -> None:
    assert npser.inspect(npser.dumps({"a": [1, 2]})).plot()._repr_png_()[:4] == b"\x89PNG"  # type: ignore[attr-defined]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    plots._picture.cache_clear()
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"npser\[plot\]"):
        npser.inspect(npser.dumps(1)).plot()
