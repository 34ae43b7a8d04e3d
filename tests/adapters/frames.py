"""Frames, Series and indexes of pandas that a serializer gets wrong, by name; and what is the same as what."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

__all__ = ["CASES", "PANDAS_3", "PYARROW", "described", "same"]

try:
    import pyarrow as pa
except ImportError:
    PYARROW = False
else:
    PYARROW = True

PANDAS_3: Final = int(pd.__version__.split(".")[0]) >= 3
NUMPY_DTYPES = (
    "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 M8[s] M8[ms] M8[ns] m8[us]".split()  # noqa: SIM905
)
NULLABLE = "Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float32 Float64 boolean".split()  # noqa: SIM905
DAYS: Final = pd.date_range("2024-02-27", periods=4, freq="D")


def cells_same(left: Any, right: Any) -> bool:
    """Whether two objects are the same, type and all; NaN is NaN, but None, NaN, NaT and NA are four things."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(cells_same, left, right))
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(left, (pd.DataFrame, pd.Series, pd.Index)):
        return same(left, right)
    if isinstance(left, pd.api.extensions.ExtensionArray):
        return same(pd.Series(left), pd.Series(right))
    if left is pd.NaT or left is pd.NA or left is None:
        return left is right
    if isinstance(left, float) and left != left:
        return bool(right != right)
    return bool(left == right) and repr(left) == repr(right)


def names_same(left: Any, right: Any) -> bool:
    return cells_same(list(left.names), list(right.names))


def index_same(left: Any, right: Any) -> bool:
    pd.testing.assert_index_equal(left, right, exact=True, check_exact=True)
    assert type(left) is type(right)
    assert names_same(left, right)
    assert getattr(left, "freq", None) == getattr(right, "freq", None)
    if isinstance(left, pd.MultiIndex):
        assert all(map(index_same, left.levels, right.levels))
        assert all(map(np.array_equal, left.codes, right.codes))
    elif isinstance(left, pd.RangeIndex):
        assert (left.start, left.stop, left.step) == (right.start, right.stop, right.step)
    else:
        assert column_same(left, right)
    return True


def dtype_same(left: Any, right: Any) -> bool:
    assert left == right
    assert type(left) is type(right)
    if isinstance(left, pd.CategoricalDtype):
        assert left.ordered == right.ordered
        return index_same(left.categories, right.categories)
    if isinstance(left, pd.StringDtype):
        assert left.storage == right.storage
        assert repr(left) == repr(right)
    return repr(left) == repr(right)


def column_same(left: Any, right: Any) -> bool:
    assert dtype_same(left.dtype, right.dtype)
    if left.dtype == object:
        assert all(map(cells_same, left.tolist(), right.tolist()))
    elif isinstance(left.dtype, np.dtype) and left.dtype.kind in "fc":
        assert left.to_numpy().tobytes() == right.to_numpy().tobytes()
    return True


def same(left: Any, right: Any) -> bool:
    """Whether two are the same in all that pandas compares, and in dtypes, flags, attributes, names and single cells."""
    assert type(left) is type(right)
    if isinstance(left, pd.Index):
        return index_same(left, right)
    if isinstance(left, pd.Series):
        pd.testing.assert_series_equal(left, right, check_exact=True, check_flags=True, check_freq=True, check_index_type=True)
        assert cells_same(left.name, right.name)
        assert column_same(left, right)
    elif isinstance(left, pd.DataFrame):
        pd.testing.assert_frame_equal(
            left, right, check_exact=True, check_flags=True, check_freq=True, check_index_type=True, check_column_type=True
        )
        assert index_same(left.columns, right.columns)
        assert all(column_same(left.iloc[:, at], right.iloc[:, at]) for at in range(left.shape[1]))
    else:
        return cells_same(left, right)
    assert left.attrs == right.attrs
    return index_same(left.index, right.index)


def described(value: Any) -> Any:
    """A value as JSON, the same for every version of pandas."""
    if isinstance(value, pd.DataFrame):
        return {
            "columns": described(value.columns),
            "index": described(value.index),
            "data": [described(value.iloc[:, at]) for at in range(value.shape[1])],
        }
    if isinstance(value, pd.Series):
        return {"dtype": str(value.dtype), "values": list(map(repr_of, value.tolist())), "name": repr(value.name)}
    if isinstance(value, pd.Index):
        names, freq = list(map(repr, value.names)), getattr(value, "freqstr", None)
        values = list(map(repr_of, value.tolist()))
        dtype = list(map(str, value.dtypes)) if isinstance(value, pd.MultiIndex) else str(value.dtype)
        return {"class": type(value).__name__, "dtype": dtype, "values": values, "names": names, "freq": freq}
    return repr_of(value)


def repr_of(cell: Any) -> str:
    return "missing" if pd.api.types.is_scalar(cell) and pd.isna(cell) else str(cell)


def objects(*items: Any) -> Any:
    out = np.empty(len(items), object)
    out[:] = items
    return pd.Series(out, dtype=object)


def many(function: Callable[[int], Any], n: int = 5000) -> list[Any]:
    return [function(i) for i in range(n)]


def with_attrs() -> Any:
    frame = pd.DataFrame({"a": [1, 2]})
    frame.attrs = {"unit": "m", "nested": {"when": datetime.date(2024, 1, 1)}, "at": pd.Timestamp("2024")}
    return frame


CASES: dict[str, Callable[[], Any]] = {
    # frames
    "plain": lambda: pd.DataFrame({"i": [1, 2], "f": [0.5, -0.0], "b": [True, False], "s": ["a", "b"]}),
    "every numpy dtype": lambda: pd.DataFrame(
        {dtype: np.array([0, 1, 1], dtype) for dtype in NUMPY_DTYPES}
    ),
    "big-endian": lambda: pd.DataFrame({"a": np.arange(3, dtype=">i4"), "b": np.arange(3, dtype=">f8")}),
    "empty": pd.DataFrame,
    "no rows": lambda: pd.DataFrame([], columns=["a", "b", "c"]),
    "no rows, dtypes": lambda: pd.DataFrame({"a": np.array([], "i2"), "b": pd.array([], "Int8"), "c": pd.Categorical([])}),
    "no columns": lambda: pd.DataFrame(index=[3, 4, 5]),
    "no columns, named": lambda: pd.DataFrame(index=pd.Index(["x"], name="n"), columns=pd.Index([], name="m")),
    "duplicate names": lambda: pd.DataFrame([[1, "a", 2.5, 3]], columns=["x", "x", "y", "x"]),
    "names of any type": lambda: pd.DataFrame([[1, 2, 3, 4, 5]], columns=[0, "0", None, (1, 2), pd.Timestamp("2024")]),
    "names that are floats": lambda: pd.DataFrame([[1, 2]], columns=[0.5, np.nan]),
    "columns of two levels": lambda: pd.DataFrame(
        np.arange(8.0).reshape(2, 4), columns=pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["l", None])
    ),
    "name of the axis": lambda: pd.DataFrame({"a": [1]}).rename_axis(columns="c", index=[("r", 1)]),
    "wide": lambda: pd.DataFrame(np.arange(3000).reshape(3, 1000)),
    "wide and mixed": lambda: pd.DataFrame({f"c{i}": [i, i + 1] if i % 3 else ["a", None] for i in range(300)}),
    "seventeen columns of strings": lambda: pd.DataFrame({i: [f"s{i}", "t"] for i in range(17)}),
    "large": lambda: pd.DataFrame(
        {"i": np.arange(9000) % 700, "j": np.arange(9000) * 3, "f": np.arange(9000) / 4, "s": many(lambda i: f"k{i % 50}", 9000),
         "t": many(lambda i: f"v{i % 9}", 9000)}
    ),
    "attrs": with_attrs,
    "unique labels": lambda: pd.DataFrame({"a": [1]}).set_flags(allows_duplicate_labels=False),
    "frame in a frame": lambda: pd.DataFrame({"f": objects(pd.DataFrame({"x": [1]}), pd.Series([2.5], name="s"), None)}),
    "sliced": lambda: pd.DataFrame(np.arange(40).reshape(10, 4), columns=list("abcd")).iloc[::2, 1:3],
    "nan payloads": lambda: pd.DataFrame({"f": np.array([0x7FF8000000000007, 0xFFF8000000000000, 0], "u8").view("f8")}),
    # strings
    "object strings": lambda: pd.DataFrame({"s": objects("a", "b", "a")}),
    "object strings and None": lambda: objects("a", None, "b"),
    "object strings and nan": lambda: objects("a", np.nan, "b"),
    "object strings, None and nan": lambda: objects("a", np.nan, None, pd.NA, pd.NaT),
    "object None": lambda: objects(None, None),
    "object strings that repeat": lambda: objects(*many(lambda i: None if i % 7 == 0 else f"s{i % 11}")),
    "object strings that do not": lambda: objects(*many(lambda i: np.nan if i % 7 == 0 else f"s{i}")),
    "object surrogates": lambda: objects("\ud800", "a"),
    "string": lambda: pd.Series(["a", None, "köln", ""], dtype="string"),
    "string python": lambda: pd.Series(["a", None, "köln", "\0"], dtype="string[python]"),
    "string python, none there": lambda: pd.Series([None, None], dtype="string[python]"),
    "string no rows": lambda: pd.Series([], dtype="string"),
    "strings that repeat": lambda: pd.Series(many(lambda i: f"s{i % 11}"), dtype="string"),
    "strings that repeat, of several lengths": lambda: pd.Series(many(lambda i: "s" * (i % 11)), dtype="string"),
    "strings that repeat and lack": lambda: pd.Series(many(lambda i: None if i % 5 == 0 else f"ü{i % 11}"), dtype="string"),
    "strings that do not": lambda: pd.Series(many(lambda i: None if i % 5 == 0 else f"ü{i}"), dtype="string"),
    "strings that do not, sliced": lambda: pd.Series(many(lambda i: f"ü{i}"), dtype="string").iloc[100:4000],
    "python strings that repeat": lambda: pd.Series(many(lambda i: None if i % 5 == 0 else f"s{i % 11}"), dtype="string[python]"),
    # pandas' own dtypes
    "nullable": lambda: pd.DataFrame(
        {dtype: pd.array([1, None, 0], dtype) for dtype in NULLABLE}
    ),
    "nullable, large": lambda: pd.Series(pd.array(many(lambda i: None if i % 3 else 2**62 + i), "Int64")),
    "categories": lambda: pd.Series(pd.Categorical(["b", None, "a"], ["b", "a", "c"])),
    "categories in order": lambda: pd.Series(pd.Categorical(["b", "a"], ["b", "a"], ordered=True)),
    "categories of ints": lambda: pd.Series(pd.Categorical([3, 1, 3])),
    "categories of a range": lambda: pd.Series(pd.Categorical.from_codes([0, 2], pd.RangeIndex(3))),
    "categories of days": lambda: pd.Series(pd.Categorical.from_codes([0, 2], DAYS)),
    "categories of intervals": lambda: pd.cut(pd.Series([1, 5, 9]), 3),
    "no categories": lambda: pd.Series(pd.Categorical([None, None], [])),
    "zoned": lambda: pd.DataFrame({"t": DAYS.tz_localize(ZoneInfo("Europe/Berlin")), "u": DAYS.tz_localize("UTC")}),
    "zoned, offset": lambda: pd.Series(DAYS.tz_localize(datetime.timezone(datetime.timedelta(hours=5, minutes=45)))),
    "zoned, seconds and NaT": lambda: pd.Series(DAYS.as_unit("s").tz_localize("UTC").insert(1, pd.NaT)),
    "periods": lambda: pd.Series(pd.period_range("2024-01", periods=3, freq="M")),
    "periods of all kinds": lambda: pd.DataFrame(
        {freq: pd.period_range("2024-01", periods=2, freq=freq) for freq in ("Y", "Q-NOV", "2M", "W-WED", "D", "h", "min", "s", "ms", "ns")}
    ),
    "periods and NaT": lambda: pd.Series(pd.PeriodIndex(["2024-01", pd.NaT], freq="M")),
    "intervals": lambda: pd.Series(pd.interval_range(0, 3)),
    "intervals of times": lambda: pd.Series(pd.interval_range(pd.Timestamp("2024"), periods=2, closed="both")),
    "intervals and NaN": lambda: pd.Series(pd.arrays.IntervalArray.from_tuples([(0.5, 1.5), None], closed="left")),
    # objects
    "objects": lambda: objects(1, 2.5, None, "a", b"b", (1, 2), [3], {"k": 4}, datetime.date(2024, 1, 1), decimal.Decimal("1.10")),
    "object scalars": lambda: objects(pd.Timestamp("2024-02-29 12:00:00.123456789"), pd.NaT, pd.NA, pd.Timedelta(1, "ns"), True),
    "object ints": lambda: objects(1, 2, 2**70),
    "object bools": lambda: objects(True, False, None),
    "object floats": lambda: objects(1.0, float("nan"), 1),
    "object arrays": lambda: objects(np.arange(3), np.array(["a"])),
    "object zones": lambda: objects(pd.Timestamp("2024", tz=ZoneInfo("Asia/Tokyo")), pd.Timestamp("2024", tz="UTC")),
    # indexes
    "range": lambda: pd.RangeIndex(10, 0, -3, name="r"),
    "index of ints": lambda: pd.Index(np.array([3, 1, 2], "i2"), name=("a", 1)),
    "index of floats": lambda: pd.Index([0.5, np.nan]),
    "index of bools": lambda: pd.Index([True, False]),
    "index of strings": lambda: pd.Index(["a", None, "b"]),
    "index of objects": lambda: pd.Index(["a", 1, None], dtype=object),
    "index of object strings": lambda: pd.Index(["a", "b"], dtype=object),
    "index of object times": lambda: pd.Index([pd.Timestamp("2024"), pd.Timestamp("2025")], dtype=object),
    "index of nullable ints": lambda: pd.Index(pd.array([1, None], "Int64")),
    "index of categories": lambda: pd.CategoricalIndex(["b", "a", "b"], ["b", "a"], ordered=True, name="c"),
    "index of days": lambda: DAYS.rename("d"),
    "index of zoned hours": lambda: pd.date_range("2024-03-30 22:00", periods=60, freq="h", tz=ZoneInfo("Europe/Berlin")),
    "index of business days": lambda: pd.date_range("2024", periods=5, freq="B"),
    "index of month ends": lambda: pd.date_range("2024", periods=5, freq="2ME"),
    "index of times without frequency": lambda: pd.DatetimeIndex(["2024-01-01", "2024-01-05", pd.NaT]),
    "index of timedeltas": lambda: pd.timedelta_range("1h", periods=3, freq="30min", name="t"),
    "index of periods": lambda: pd.period_range("2024", periods=3, freq="Q"),
    "index of intervals": lambda: pd.interval_range(0, 4, periods=8, closed="neither", name="i"),
    "no index": lambda: pd.Index([], dtype="M8[ns]"),
    "multi": lambda: pd.MultiIndex.from_tuples([("a", 1, DAYS[0]), ("b", 2, DAYS[1])], names=["x", None, "x"]),
    "multi with gaps": lambda: pd.MultiIndex(levels=[["a", "b"], [1, 2]], codes=[[0, -1, 1], [1, 0, -1]]),
    "multi with an unused level": lambda: pd.MultiIndex(levels=[["a", "b"], [1, 2]], codes=[[], []], names=["p", "q"]),
    "multi of categories": lambda: pd.MultiIndex.from_arrays([pd.Categorical(["b", "a"], ["b", "a"]), DAYS[:2]]),
    "frame over multi": lambda: pd.DataFrame({"v": [1.5, 2.5]}, pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])),
    "frame over days": lambda: pd.DataFrame({"v": np.arange(4)}, DAYS),
    # Series
    "series": lambda: pd.Series([1, 2], name=("n", 1)),
    "series without name": lambda: pd.Series([1.5], index=["a"]),
    "series of times": lambda: pd.Series(DAYS),
    "series of objects over days": lambda: pd.Series(["a", 1, None, 2.5], DAYS, dtype=object),
    "series with flags": lambda: pd.Series([1]).set_flags(allows_duplicate_labels=False),
    # scalars
    "Timestamp": lambda: pd.Timestamp("2024-02-29 12:34:56.123456789"),
    "Timestamp in seconds": lambda: pd.Timestamp("2024-02-29").as_unit("s"),
    "Timestamp, zoned": lambda: pd.Timestamp("2024-10-27 01:30", tz="UTC").tz_convert(ZoneInfo("Europe/Berlin")),
    "Timestamp, fold": lambda: pd.Timestamp("2024-10-27 02:30").replace(fold=1),
    "Timedelta": lambda: pd.Timedelta(-1, "ns"),
    "NaT and NA": lambda: [pd.NaT, pd.NA, {"k": pd.NaT}],
    "Period": lambda: pd.Period("2024-02", "M"),
    "Period of weeks": lambda: pd.Period("2024-02-01", "2W-WED"),
    "Interval": lambda: pd.Interval(pd.Timestamp("2024"), pd.Timestamp("2025"), "left"),
    "arrays": lambda: [pd.array([1, None]), pd.array(["a", None], "string[python]"), pd.Categorical(["a"]), DAYS.array, DAYS.tz_localize("UTC").array],
    "one frame twice": lambda: [pd.DataFrame({"a": [1]})] * 2,
    "frames in a dict": lambda: {"a": pd.DataFrame({"a": [1]}), "b": [pd.Series([1, 2]), pd.Index(["x"])]},
}

if PANDAS_3:
    CASES["str"] = lambda: pd.Series(["a", None, "b"], dtype="str")
    CASES["str python"] = lambda: pd.Series(["a", None, "b"], dtype=pd.StringDtype("python", na_value=np.nan))
    CASES["str no rows"] = lambda: pd.Series([], dtype="str")

if PYARROW:
    CASES["string pyarrow"] = lambda: pd.Series(["a", None, "köln", "\0"], dtype="string[pyarrow]")
    CASES["arrow ints"] = lambda: pd.Series([1, None, 3], dtype=pd.ArrowDtype(pa.int16()))
    CASES["arrow strings"] = lambda: pd.Series(["a", None], dtype=pd.ArrowDtype(pa.string()))
    CASES["arrow times"] = lambda: pd.Series([DAYS[0], None], dtype=pd.ArrowDtype(pa.timestamp("us", "UTC")))
    CASES["arrow decimals"] = lambda: pd.Series([decimal.Decimal("1.50")], dtype=pd.ArrowDtype(pa.decimal128(7, 2)))
    CASES["arrow lists"] = lambda: pd.Series([[1, 2], None, []], dtype=pd.ArrowDtype(pa.list_(pa.int64())))
