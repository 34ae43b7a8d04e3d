"""DataFrames and Series of polars come back equal, or are refused by their dtype."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pl = pytest.importorskip("polars", reason="npser[polars]")

import npser  # noqa: E402
from npser.adapters import polars as adapter  # noqa: E402


@pytest.fixture(autouse=True)
def _registered() -> None:
    adapter.register()


def same(left: Any, right: Any) -> bool:
    assert type(left) is type(right)
    if isinstance(left, pl.Series):
        assert left.name == right.name
        assert left.dtype == right.dtype
        assert left.null_count() == right.null_count()
        return bool(left.equals(right, check_dtypes=True, null_equal=True))
    assert left.schema == right.schema
    assert left.shape == right.shape
    return all(map(same, left.get_columns(), right.get_columns()))


N = 5000
D = decimal.Decimal
DAY = datetime.date(2024, 2, 29)
SERIES: dict[str, Callable[[], Any]] = {
    **{name: (lambda name=name: pl.Series("a", [1, None, 0, 1], getattr(pl, name), strict=False)) for name in (
        "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "Boolean",
    )},
    "largest": lambda: pl.Series([2**64 - 1, 0], dtype=pl.UInt64),
    "floats": lambda: pl.Series([0.5, float("nan"), None, -0.0, float("inf")]),
    "no nulls": lambda: pl.Series("x", np.arange(N) / 4),
    "dates": lambda: pl.Series([DAY, None]),
    "times": lambda: pl.Series([datetime.time(1, 2, 3), None]),
    "datetimes": lambda: pl.Series([datetime.datetime(2024, 1, 1, 2, 3, 4, 5), None]),
    "zoned": lambda: pl.Series([datetime.datetime(2024, 7, 1)], dtype=pl.Datetime("ns")).dt.replace_time_zone("Europe/Berlin"),
    "milliseconds": lambda: pl.Series([datetime.datetime(2024, 7, 1)], dtype=pl.Datetime("ms", "UTC")),
    "durations": lambda: pl.Series([datetime.timedelta(seconds=1), None], dtype=pl.Duration("ns")),
    "decimals": lambda: pl.Series([D("1.50"), None, D("-0.01")], dtype=pl.Decimal(10, 2)),
    "text": lambda: pl.Series(["a", None, "köln", "", "a\0"]),
    "text that repeats": lambda: pl.Series([f"k{i % 7}" for i in range(N)]),
    "text that repeats and lacks": lambda: pl.Series([None if i % 5 == 0 else f"k{i % 7}" for i in range(N)]),
    "text that does not repeat": lambda: pl.Series([None if i % 5 == 0 else f"key {i}" for i in range(N)]),
    "bytes": lambda: pl.Series([b"a", None, b"\xff", b""]),
    "categories": lambda: pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "enum": lambda: pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b", "c"])),
    "nulls": lambda: pl.Series([None, None]),
    "no text": lambda: pl.Series([], dtype=pl.String),
    "no ints": lambda: pl.Series([], dtype=pl.Int8),
    "no categories": lambda: pl.Series([None], dtype=pl.Categorical),
    "a slice": lambda: pl.Series(range(100))[10:20],
    "chunks": lambda: pl.Series([1, 2]).append(pl.Series([3])),
}  # fmt: skip


@pytest.mark.parametrize("name", SERIES)
def test_series(name: str) -> None:
    series = SERIES[name]()
    assert same(series, npser.loads(npser.dumps(series)))


def test_a_frame_of_everything() -> None:
    series = [make().extend_constant(None, 1).head(1).alias(name) for name, make in SERIES.items() if len(make())]
    frame = pl.DataFrame(series)
    assert same(frame, npser.loads(npser.dumps([frame, frame]))[1])


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(), pl.DataFrame({"a": []}), pl.DataFrame({f"c{i}": [i, i + 1] for i in range(300)}),
        pl.DataFrame({"": [1], "a b": ["x"]}), pl.DataFrame({"i": np.arange(N) % 100, "s": [f"k{i % 9}" for i in range(N)]}),
    ],
)  # fmt: skip
def test_frames(frame: Any) -> None:
    assert same(frame, npser.loads(npser.dumps(frame)))


@pytest.mark.parametrize(("precision", "scale"), [(1, 0), (1, 1), (10, 2), (38, 0), (38, 38), (18, 9)])
def test_decimals_of_all_digits(precision: int, scale: int) -> None:
    largest = D((0, (9,) * precision, -scale))
    least = D((0, (1,), -scale))
    series = pl.Series([largest, None, largest.copy_negate(), least, D(0)], dtype=pl.Decimal(precision, scale))
    assert same(series, npser.loads(npser.dumps(series)))


def test_text_is_stored_as_codes() -> None:
    assert len(npser.dumps(pl.Series([f"a rather long text {i % 9}" for i in range(N)]))) < N


@pytest.mark.parametrize(
    "value",
    [
        pl.Series([[1, 2]]), pl.Series([{"a": 1}]), pl.Series([[1, 2]], dtype=pl.Array(pl.Int8, 2)), pl.Series([2**100], dtype=pl.Int128),
        pl.Series([object()], dtype=pl.Object), pl.LazyFrame({"a": [1]}),
    ],
    ids=lambda value: str(getattr(value, "dtype", "lazy")),
)  # fmt: skip
def test_refused(value: Any) -> None:
    with pytest.raises(npser.EncodeError, match="does not keep"):
        npser.dumps(value)


# -------------------------------------------------------------------------------------------------------- hostile bytes


class Stand:
    """What is registered under the name of a Series, to write any state."""


def forged(state: Any) -> bytes:
    npser.unregister(pl.Series)
    npser.register(Stand, name="polars.Series", state=lambda stand: state, build=lambda state: Stand())
    data = npser.dumps(Stand())
    npser.unregister(Stand)
    adapter.register()
    return data


@pytest.mark.parametrize(
    "state",
    [
        None, {}, {"name": "a"}, {"name": "a", "dtype": "Nothing"}, {"name": "a", "dtype": "Int64"}, {"name": "a", "dtype": ("Datetime", "years", None)},
        {"name": "a", "dtype": "Int64", "values": np.zeros(2)}, {"name": "a", "dtype": "Int64", "values": np.zeros((2, 2), "i8")},
        {"name": "a", "dtype": "Int64", "values": [1]}, {"name": "a", "dtype": "Int64", "values": np.zeros(2, "i8"), "valid": np.zeros(3, "?")},
        {"name": "a", "dtype": "Int64", "values": np.zeros(2, "i8"), "valid": 1}, {"name": 7, "dtype": "Int64", "values": np.zeros(2, "i8")},
        {"name": "a", "dtype": "String", "texts": ["a"], "codes": np.array([0, 1], "i4")}, {"name": "a", "dtype": "String", "items": [1]},
        {"name": "a", "dtype": "String", "texts": ["a"], "codes": np.array([0, -2], "i4")}, {"name": "a", "dtype": "String", "texts": [1], "codes": np.array([0], "i4")},
        {"name": "a", "dtype": ("Enum", ["a", "a"]), "texts": ["a"], "codes": np.array([0], "i4")}, {"name": "a", "dtype": ("Decimal", 999, 0), "items": []},
        {"name": "a", "dtype": ("Enum", ["a"]), "texts": ["b"], "codes": np.array([0], "i4")}, {"name": "a", "dtype": "Null", "none": [1]},
        {"name": "a", "dtype": "Binary", "items": ["a"]},
        *({"name": "a", "dtype": ("Decimal", 10, 2), "items": items} for items in (
            [D("NaN")], [D("sNaN")], [D("-Infinity")], [D("1.555")], [D("1e-40")], [D("1e-999999")], [D("123456789")], [D("1e999999")],
            ["1"], [1], [1.5], None, D(1), (D(1),),
        )),
        *({"name": "a", "dtype": ("Decimal", *parameters), "items": [D(1)]} for parameters in ((10, None), (10, -1), (10, 11), (0, 0))),
    ],
    ids=lambda state: str(state)[:80],
)  # fmt: skip
def test_a_state_that_does_not_fit_is_a_decode_error(state: Any) -> None:
    data = forged(state)
    with pytest.raises(npser.DecodeError):
        npser.loads(data)


def test_damaged_bytes_are_a_value_or_an_error() -> None:
    draw = random.Random(3)
    for name in SERIES:
        data = npser.dumps(SERIES[name]())
        for _ in range(8):
            broken = bytearray(data)
            for _ in range(draw.randint(1, 3)):
                broken[draw.randrange(len(broken))] = draw.randrange(256)
            with contextlib.suppress(npser.NpserError):
                npser.loads(bytes(broken))


# --------------------------------------------------------------------------------------------------------------- views

ROWS = [{"id": i, "x": i / 4, "ok": i % 2 == 0, "name": f"n{i % 5}", "gap": None if i % 3 else i} for i in range(1000)]


def test_a_table_of_rows() -> None:
    frame = npser.view(npser.dumps(ROWS)).to_polars()
    assert frame.schema == {"id": pl.Int64, "x": pl.Float64, "ok": pl.Boolean, "name": pl.String, "gap": pl.Int64}
    assert frame.to_dicts() == ROWS


def test_what_a_row_does_not_have_is_null() -> None:
    frame = npser.view(npser.dumps([{"a": i, **({"b": "x"} if i % 2 else {})} for i in range(100)])).to_polars()
    assert frame["b"].null_count() == 50


def test_a_column_that_polars_has_no_dtype_for() -> None:
    with pytest.raises(TypeError, match="'a'"):
        npser.view(npser.dumps([{"a": 1}, {"a": "x"}])).to_polars()


def test_a_view_of_a_frame() -> None:
    frame = pl.DataFrame({"a": [1, 2]})
    assert same(frame, npser.view(npser.dumps(frame)).to_polars())


def test_what_has_an_arrow_stream() -> None:
    frame = pl.DataFrame({"a": [1, None], "l": [[1], None]})

    class Foreign:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return frame.__arrow_c_stream__(requested_schema)

    assert same(frame, adapter.from_stream(Foreign()))
    with pytest.raises(TypeError, match="Arrow"):
        adapter.from_stream([1])


def test_lists_and_structs_go_by_way_of_arrow() -> None:
    pytest.importorskip("pyarrow", reason="npser[arrow]")
    from npser.adapters import arrow

    arrow.register()
    frame = pl.DataFrame({"l": [[1, 2], None, []], "s": [{"x": 1}, {"x": 2}, None]})
    assert same(frame, adapter.from_stream(npser.loads(npser.dumps(arrow.from_stream(frame)))))
