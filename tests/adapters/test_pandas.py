"""DataFrames, Series, indexes and scalars of pandas come back as they were, or are refused by a rule."""

from __future__ import annotations

import contextlib
import datetime
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas", reason="npser[pandas]")

import npser  # noqa: E402
from adapters.frames import CASES, PANDAS_3, PYARROW, described, same  # noqa: E402
from npser.adapters import pandas as adapter  # noqa: E402
from npser.adapters import pandas_frame  # noqa: E402

FRAMES = sorted(name for name, make in CASES.items() if isinstance(make(), pd.DataFrame))


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    adapter.register()
    yield


@pytest.mark.parametrize("name", CASES)
def test_round_trip(name: str) -> None:
    value = CASES[name]()
    back = npser.loads(npser.dumps(value))
    if isinstance(value, (list, dict)):
        assert type(back) is type(value)
        cells = (value.values(), back.values()) if isinstance(value, dict) else (value, back)
        assert all(map(same, *cells))
    else:
        assert same(value, back)


@pytest.mark.parametrize("name", FRAMES)
def test_what_comes_back_can_be_written_to(name: str) -> None:
    value = CASES[name]()
    back = npser.loads(npser.dumps(value))
    for at in range(back.shape[1]):
        back.isetitem(at, back.iloc[:, at].copy())
        if len(back):
            back.iloc[0, at] = back.iloc[-1, at]
    assert len(back) == len(value)


def test_one_frame_is_one_frame_again() -> None:
    frame = pd.DataFrame({"a": [1]})
    left, right = npser.loads(npser.dumps([frame, frame]))
    assert left is right


@pytest.mark.parametrize("name", ["plain", "large", "zoned", "multi", "nullable"])
def test_many_in_one_payload(name: str) -> None:
    values = [CASES[name]() for _ in range(5)]
    assert all(map(same, values, npser.loads(npser.dumps(values))))


@pytest.mark.parametrize("name", FRAMES)
def test_columns_out_of_a_payload(name: str) -> None:
    frame = CASES[name]()
    data = npser.dumps(frame)
    if not frame.columns.is_unique or (name == "big-endian" and not PANDAS_3):  # whose columns pandas 2 cannot select
        return
    for label in list(frame.columns)[:20]:
        if label == label and label is not None:
            expected = frame[[label]]
            got = adapter.read_columns(data, [label])
            assert same(expected.reset_index(drop=True).set_flags(allows_duplicate_labels=True).pipe(bare), bare(got.reset_index(drop=True)))


def bare(frame: Any) -> Any:
    frame = frame.copy()
    frame.attrs = {}
    return frame


def test_columns_that_come_twice() -> None:
    frame = CASES["duplicate names"]()
    assert same(frame[["x"]], adapter.read_columns(npser.dumps(frame), ["x"]))


@pytest.mark.parametrize(
    ("labels", "name", "places"),
    [
        ([0.5, np.nan, 1.5, float("nan")], np.nan, [1, 3]),
        (pd.Index([1, float("nan"), "a", True], dtype=object), float("nan"), [1]),
        ([3, 1, 2], np.int64(1), [1]),
        (pd.Index([np.int64(7), 7.0, 8], dtype=object), 7, [0]),
        (pd.Index([1, 1.0, True], dtype=object), np.bool_(True), [2]),
        (pd.MultiIndex.from_tuples([("a", 1.0), ("a", np.nan)]), ("a", float("nan")), [1]),
    ],
)  # fmt: skip
def test_columns_by_nan_and_by_numbers_of_numpy(labels: Any, name: Any, places: list[int]) -> None:
    frame = pd.DataFrame([range(len(labels))], columns=labels)
    assert same(frame.iloc[:, places], adapter.read_columns(npser.dumps(frame), [name]))


@pytest.mark.parametrize(("labels", "name"), [([1, 2], 1.0), ([1, 2], np.timedelta64(1, "ns")), (["1"], 1), ([1.5], np.nan)])
def test_labels_that_only_look_like_one(labels: list[Any], name: Any) -> None:
    with pytest.raises(KeyError, match="no column"):
        adapter.read_columns(npser.dumps(pd.DataFrame([labels], columns=pd.Index(labels, dtype=object))), [name])


@pytest.mark.parametrize("dtype", [object, "string[python]", "string[pyarrow]", None])
@pytest.mark.parametrize("labels", [["a", "b", "köln"], ["a", None, "b"], ["x", "y"] * 4, ["a" * 9, *map(str, range(600))]])
def test_columns_by_strings(dtype: Any, labels: list[Any]) -> None:
    if dtype == "string[pyarrow]" and not PYARROW:
        pytest.skip("pyarrow")
    frame = pd.DataFrame([range(len(labels))], columns=pd.Index(labels, dtype=dtype, name="labels"))
    data = npser.dumps(frame)
    for label in {*labels[:3], *labels[-3:]} - {None}:
        wanted = [at for at, other in enumerate(labels) if other == label]
        assert same(frame.iloc[:, wanted], adapter.read_columns(data, [label]))
    assert same(frame.iloc[:, []], adapter.read_columns(data, []))


def test_columns_out_of_damaged_bytes() -> None:
    rng = random.Random(1)
    rows = 2000
    frame = pd.DataFrame({"x": [1.5] * rows, "s": ["a", "b"] * (rows // 2), "t": [f"k{i % 600}" for i in range(rows)]}).convert_dtypes()
    data = npser.dumps(frame)
    for _ in range(2000):
        damaged = bytearray(data)
        damaged[rng.randrange(min(600, len(data)))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        try:
            adapter.read_columns(bytes(damaged), ["s"])
        except npser.NpserError:
            pass
        except KeyError as error:
            assert "no column 's'" in str(error)


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(KeyError, match="no column"):
        adapter.read_columns(npser.dumps(pd.DataFrame({"a": [1]})), ["a", "b"])


# ------------------------------------------------------------------------------------------------------------ refusals


class OwnFrame(pd.DataFrame):  # type: ignore[misc]
    pass


class OwnSeries(pd.Series):  # type: ignore[misc]
    pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (OwnFrame({"a": [1]}), "subclass of DataFrame"),
        (OwnSeries([1]), "subclass of DataFrame or Series"),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 1])}), "Sparse"),
        (pd.Series([object()], dtype=object), "builtins.object"),
        (pd.DataFrame({"a": [1]}, index=pd.Index([object()], dtype=object)), "builtins.object"),
        (pd.date_range("2024", periods=3, freq=pd.offsets.CustomBusinessDay(holidays=["2024-01-02"])), "frequency"),
        (pd.offsets.MonthEnd(), "MonthEnd"),
    ],
)  # fmt: skip
def test_refused(value: Any, message: str) -> None:
    with pytest.raises(npser.EncodeError, match=message):
        npser.dumps(value)


ALIKE = ["a", "a\0b", "a\0c", None, "\ud800", repr("\ud800"), "\udfff", "\0", ""] * 40
"""Strings that are equal to pandas where it makes codes of them."""


@pytest.mark.parametrize("dtype", ["object", "string[python]"])
@pytest.mark.parametrize("at", [slice(None), slice(0, 3), slice(4, 6)])
def test_strings_that_pandas_takes_for_each_other(dtype: str, at: slice) -> None:
    value = pd.Series([item for item in ALIKE if item in ALIKE[at]], dtype=dtype)
    assert npser.loads(npser.dumps(value)).tolist() == value.tolist()
    assert npser.loads(npser.dumps(pd.DataFrame({"a": value, "b": value})))["b"].tolist() == value.tolist()


def test_missing_ones_among_strings_that_repeat_are_none_or_nan() -> None:
    for missing in (None, np.nan):
        value = pd.Series(["a", missing, "b"] * 99, dtype=object)
        assert same(value, npser.loads(npser.dumps(value)))
        assert "codes" in pandas_frame.values_state(value.array)


def stale(unit: str = "s") -> Any:
    """An index that keeps its frequency in a unit that does not hold it."""
    return pd.date_range("2020-03-02", periods=2, freq="ms").as_unit(unit)


def test_a_frequency_that_the_labels_do_not_have_is_refused() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=stale())
    assert frame.index.freq is not None
    for value in (frame, frame["a"], frame.index):
        with pytest.raises(npser.EncodeError, match=r"the frequency <.*Milli.*> of an index.*index\.freq = None"):
            npser.dumps(value)
    frame.index.freq = None
    assert same(frame, npser.loads(npser.dumps(frame)))
    for index in (stale("us"), stale()[:0]):
        assert index.freq is not None
        assert same(index, npser.loads(npser.dumps(index)))


@pytest.mark.parametrize("freq", ["h", "90min", "s", "250ms", "-2h", "D"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_frequency_of_a_fixed_time_is_what_pandas_reads(freq: str, zone: str | None) -> None:
    index = pd.date_range("2024-03-30 12:00", periods=50, freq=freq, tz=zone)  # over the change of the clocks
    spans = pd.timedelta_range("0s", periods=50, freq=freq)
    for value in (index, index[::3], index[5:], index[:1], spans, spans[::-1], pd.Series(index).array, pd.DataFrame({"a": index}, index)):
        assert same(value, npser.loads(npser.dumps(value)))


@pytest.mark.parametrize("freq", ["MS", "QS", "W", "B", "D", "h"])
@pytest.mark.parametrize("periods", [0, 1, 2, 40])
def test_a_frequency_in_another_zone(freq: str, periods: int) -> None:
    index = pd.date_range("2020-03-01", periods=periods, freq=freq, tz="UTC", name="at").tz_convert("America/New_York")
    assert same(index, npser.loads(npser.dumps(index)))


def test_a_frequency_from_between_two_zones_is_refused() -> None:
    index = pd.date_range("2020-03-01", periods=9, freq="MS", tz="Asia/Tokyo").tz_convert("America/New_York")
    if index.freq is None:  # pandas 3 gives it up itself
        assert same(index, npser.loads(npser.dumps(index)))
        return
    with pytest.raises(npser.EncodeError, match="MonthBegin"):
        npser.dumps(index)


@pytest.mark.skipif(not PYARROW, reason="pyarrow")
def test_text_of_arrow_that_is_not_utf_8_is_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(np.array([0, 1])), pa.py_buffer(b"\xff")])
    for dtype in (pd.StringDtype("pyarrow"), pd.ArrowDtype(text.type)):
        with pytest.raises(npser.EncodeError, match="Invalid UTF8"):
            npser.dumps(pd.Series(dtype.__from_arrow__(text)))


def test_a_zone_of_somebody_else_is_refused() -> None:
    class Zone(datetime.tzinfo):
        def utcoffset(self, when: Any) -> datetime.timedelta:
            return datetime.timedelta(hours=1)

        def dst(self, when: Any) -> datetime.timedelta:
            return datetime.timedelta(0)

        def tzname(self, when: Any) -> str:
            return "own"

    with pytest.raises(npser.EncodeError, match="time zone"):
        npser.dumps(pd.Series(pd.DatetimeIndex(["2024-01-01"]).tz_localize(Zone())))


def test_pytz() -> None:
    pytz = pytest.importorskip("pytz", reason="zones of pytz")
    value = pd.Series(pd.DatetimeIndex(["2024-01-01", "2024-07-01"]).tz_localize(pytz.timezone("Europe/Berlin")))
    assert same(value, npser.loads(npser.dumps(value)))


# -------------------------------------------------------------------------------------------------------- hostile bytes


def state_of(frame: Any) -> Any:
    return pandas_frame.frame_state(frame)


class Stand:
    """What is registered under the name of a DataFrame, to write any state."""


def forged(state: Any) -> bytes:
    npser.unregister(pd.DataFrame)
    npser.register(Stand, name="pandas.DataFrame", state=lambda stand: state, build=lambda state: Stand())
    data = npser.dumps(Stand())
    npser.unregister(Stand)
    adapter.register()
    return data


GOOD = {"i": [1, 2], "f": [0.5, 1.5], "s": ["a", "b"], "c": pd.Categorical(["x", "y"])}


@pytest.mark.parametrize(
    "change",
    [
        {"columns": None}, {"index": {}}, {"index": {"range": (0, 9, 1), "name": None}}, {"index": {"range": (0, 1 << 70, 1), "name": None}},
        {"index": {"range": "abc", "name": None}}, {"index": {"range": (0, 2, 0), "name": None}}, {"index": {"range": (0, 2, 1), "name": [1]}},
        {"blocks": (1, (np.zeros(2),))}, {"blocks": (1, (np.zeros((2, 3)),))}, {"blocks": (2, (np.zeros((2, 2)),))}, {"blocks": 7},
        {"blocks": (1 << 80, ())}, {"blocks": (float("inf"), ())}, {"others": (float("inf"), ())},
        {"others": (2, ({"kind": "category", "codes": np.array([0, 1]), "categories": {"range": (0, 10**9, 1), "name": None}, "ordered": False},) * 2)},
        {"columns": {"levels": [{"range": (0, 10**9, 1), "name": None}], "codes": [np.zeros(4, "i1")], "names": [None]}},
        {"blocks": (-1, ())}, {"blocks": (1, (np.array([["a", "b"]] * 2, object),))},
        {"places": None}, {"places": np.zeros((4, 2))}, {"places": np.full((4, 2), 99)}, {"places": np.zeros((3, 2), "i4")},
        {"others": (2, (None, None))}, {"others": (2, ({"kind": "none"}, {"kind": "string"}))}, {"attrs": [1]},
        {"others": (2, ({"kind": "string", "storage": "python", "missing": "NA", "values": ["a"], "codes": np.array([0, 5], "i4")},) * 2)},
        {"others": (2, ({"kind": "string", "storage": "python", "missing": "NA", "values": ["a"], "codes": np.array([0, -2], "i4")},) * 2)},
        {"others": (2, ({"kind": "string", "storage": "python", "missing": "NA", "values": [1], "codes": np.array([0, 0], "i4")},) * 2)},
        {"others": (2, ({"kind": "string", "storage": "no", "missing": "NA", "items": ["a", "b"]},) * 2)},
        {"others": (2, ({"kind": "string", "storage": "python", "missing": "NA", "bytes": np.zeros(3, "u1"), "lengths": np.array([1, 9])},) * 2)},
        {"others": (2, ({"kind": "object", "items": [1, 2]},) * 2)}, {"others": (2, ({"kind": "masked", "values": np.zeros(2), "mask": np.zeros(3, "?")},) * 2)},
        {"others": (2, ({"kind": "masked", "values": 1, "mask": np.zeros(2, "?")},) * 2)},
        {"others": (2, ({"kind": "category", "codes": np.array([0, 9]), "categories": {"range": (0, 2, 1), "name": None}, "ordered": False},) * 2)},
        {"others": (2, ({"kind": "period", "ordinals": np.zeros(2, "i8"), "freq": "os.system"},) * 2)},
        {"others": (2, ({"kind": "zoned", "values": np.zeros(2, "M8[ns]"), "zone": {"pytz": "../../etc/passwd"}},) * 2)},
        {"others": (2, ({"kind": "interval", "left": {"range": (0, 2, 1), "name": None}, "right": {"range": (-5, -3, 1), "name": None}, "closed": "left"},) * 2)},
    ],
    ids=lambda change: str(change)[:60],
)  # fmt: skip
def test_a_state_that_does_not_fit_is_a_decode_error(change: dict[str, Any]) -> None:
    state = {**state_of(pd.DataFrame(GOOD)), **change}
    data = forged(state)
    with pytest.raises(npser.DecodeError):
        npser.loads(data)


@pytest.mark.skipif(not PYARROW, reason="pyarrow")
@pytest.mark.parametrize(
    "text",
    [
        {"values": ["a"], "codes": np.array([0, 5], "i4")}, {"values": ["a", "bb"], "codes": np.array([0, 5], "i4")},
        {"values": ["a"], "codes": np.array([-1, 5], "i4")}, {"values": [b"a"], "codes": np.array([0, 0], "i4")},
        {"bytes": np.zeros(3, "u1"), "lengths": np.array([1, 9])}, {"bytes": np.full(2, 255, "u1"), "lengths": np.array([1, 1])},
        {"bytes": np.zeros(3, "u1"), "lengths": np.array([2**62, 2**62 + 3])}, {"items": [1, 2]},
    ],
    ids=lambda text: str(text)[:60],
)  # fmt: skip
def test_strings_of_arrow_that_do_not_fit(text: dict[str, Any]) -> None:
    column = {"kind": "string", "storage": "pyarrow", "missing": "NA", **text}
    with pytest.raises(npser.DecodeError):
        npser.loads(forged({**state_of(pd.DataFrame(GOOD)), "others": (2, (column, column))}))


def test_damaged_bytes_are_a_value_or_an_error() -> None:
    draw = random.Random(7)
    for name in ("plain", "large", "nullable", "zoned", "categories", "index of days", "multi", "intervals", "strings that do not"):
        data = npser.dumps(CASES[name]())
        for _ in range(25):
            broken = bytearray(data)
            for _ in range(draw.randint(1, 4)):
                broken[draw.randrange(len(broken))] = draw.randrange(256)
            with contextlib.suppress(npser.NpserError):
                npser.loads(bytes(broken[: draw.randint(1, len(broken))] if draw.random() < 0.3 else broken))


# ----------------------------------------------------------------------------------------------------- generated frames


def drawn_column(draw: random.Random, n: int) -> Any:
    kind = draw.choice(["i8", "f8", "u1", "bool", "str", "text", "Int64", "category", "time", "zoned", "period", "object", "nan"])
    numbers = [draw.randint(0, 200) for _ in range(n)]
    gaps = [None if draw.random() < 0.3 else number for number in numbers]
    match kind:
        case "str":
            return pd.array([None if gap is None else f"k{gap % 9}" for gap in gaps], dtype="string")
        case "text":
            return [None if gap is None else "é" * (gap % 7) for gap in gaps]
        case "Int64":
            return pd.array(gaps, "Int64")
        case "category":
            return pd.Categorical(gaps, ordered=draw.random() < 0.5)
        case "time":
            return np.array(numbers, "M8[s]")
        case "zoned":
            return pd.DatetimeIndex(np.array(numbers, "M8[ms]")).tz_localize("UTC")
        case "period":
            return pd.PeriodIndex(pd.arrays.PeriodArray(np.array(numbers, "i8"), dtype=pd.PeriodDtype("D")))
        case "object":
            return pd.Series([draw.choice([1, "a", None, 2.5, (1,)]) for _ in range(n)], dtype=object).array
        case "nan":
            return np.array([np.nan if gap is None else gap / 8 for gap in gaps])
    return np.array(numbers).astype(kind)


@pytest.mark.parametrize("seed", range(60))
def test_generated_frames(seed: int) -> None:
    draw = random.Random(seed)
    n = draw.choice([0, 1, 2, 17, 300, 5000])
    columns = [drawn_column(draw, n) for _ in range(draw.randint(0, 20))]
    frame = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(n))
    frame.columns = pd.Index([draw.choice(["a", "b", 1, None, 2.5]) for _ in columns], dtype=object)
    if n and columns and draw.random() < 0.4:
        frame = frame.set_index(frame.columns[0], append=True) if frame.columns.is_unique else frame
    assert same(frame, npser.loads(npser.dumps(frame)))


# --------------------------------------------------------------------------------------------------------------- views


ROWS = [{"id": i, "x": i / 4, "ok": i % 2 == 0, "name": f"n{i % 5}", "gap": None if i % 3 else i} for i in range(1000)]


def test_a_table_becomes_a_frame() -> None:
    frame = npser.view(npser.dumps(ROWS)).to_pandas()
    assert list(frame.columns) == ["id", "x", "ok", "name", "gap"]
    assert [str(frame[name].dtype) for name in ("id", "x", "ok")] == ["int64", "float64", "bool"]
    assert frame["id"].tolist() == [row["id"] for row in ROWS]
    assert frame["name"].tolist() == [row["name"] for row in ROWS]
    assert frame["gap"].tolist() == [row["gap"] for row in ROWS]


def test_some_columns_of_a_table() -> None:
    frame = adapter.read_columns(npser.dumps(ROWS), ["x", "id"])
    assert list(frame.columns) == ["x", "id"]
    assert frame["x"].tolist() == [row["x"] for row in ROWS]


def test_a_dict_of_columns_becomes_a_frame() -> None:
    frame = npser.view(npser.dumps({"a": [1, 2, 3], "b": np.array([0.5, 1.5, 2.5]), "c": ["x", None, "z"]})).to_pandas()
    assert frame["a"].tolist() == [1, 2, 3]
    assert frame["b"].dtype == "f8"
    assert frame["c"].tolist()[0] == "x"


def test_rows_with_other_keys() -> None:
    frame = npser.view(npser.dumps([{"a": i, **({"b": "x"} if i % 2 else {})} for i in range(100)])).to_pandas()
    assert frame["b"].isna().sum() == 50


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, {"a": [1], "b": [1, 2]}, "text", (1, [2])])
def test_what_is_no_table(value: Any) -> None:
    with pytest.raises(TypeError, match="table"):
        npser.view(npser.dumps(value)).to_pandas()


def test_a_view_of_a_frame() -> None:
    frame = CASES["large"]()
    view = npser.view(npser.dumps(frame))
    assert view.kind == "pandas.DataFrame"
    assert set(view.keys()) >= {"columns", "index", "blocks"}
    assert same(frame, view.value())
    assert same(frame, view.to_pandas())


# ------------------------------------------------------------------------------------------------------- golden payloads


GOLDEN = [json.loads(line) for line in (Path(__file__).parent / "pandas.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("vector", GOLDEN, ids=lambda vector: f"{vector['pandas']}: {vector['name']}")
def test_frames_that_another_pandas_wrote(vector: dict[str, Any]) -> None:
    if "pyarrow" in vector["needs"] and not PYARROW:
        pytest.skip("pyarrow")
    if "str" in vector["needs"] and not PANDAS_3:
        pytest.skip("a dtype of pandas 3")
    value = npser.loads(bytes.fromhex(vector["hex"]))
    assert described(value) == vector["value"]


def test_there_are_golden_frames_of_both_versions() -> None:
    assert {vector["pandas"].split(".")[0] for vector in GOLDEN} == {"2", "3"}
    assert len(GOLDEN) >= 100
