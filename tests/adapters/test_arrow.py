"""Tables, record batches and arrays of pyarrow come back equal, or are refused by their type."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="npser[arrow]")

import npser  # noqa: E402
from npser.adapters import arrow as adapter  # noqa: E402


@pytest.fixture(autouse=True)
def _registered() -> None:
    adapter.register()


def same(left: Any, right: Any) -> bool:
    assert type(left) is type(right)
    if isinstance(left, pa.Table | pa.RecordBatch):
        assert left.schema.equals(right.schema, check_metadata=True)
        assert left.num_rows == right.num_rows
        return all(map(same_values, left.columns, right.columns))
    return same_values(left, right)


def same_values(left: Any, right: Any) -> bool:
    assert left.type == right.type
    right.validate(full=True)
    assert left.null_count == right.null_count
    return left.equals(right) or repr(left.to_pylist()) == repr(right.to_pylist())  # NaN


N = 5000
D = decimal.Decimal
ARRAYS: dict[str, Callable[[], Any]] = {
    **{str(kind): (lambda kind=kind: pa.array([1, None, 0, 1], kind)) for kind in (
        pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64(),
        pa.date32(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.duration("s"), pa.duration("ns"),
        pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "Europe/Berlin"),
    )},
    "half": lambda: pa.array(np.array([1.5, -0.0, np.nan], "f2")),
    "date64": lambda: pa.array([datetime.date(2024, 1, 1), None], pa.date64()),
    "bools": lambda: pa.array([True, None, False] * 5),
    "bools, none lacking": lambda: pa.array([True, False] * 9),
    "nothing": lambda: pa.nulls(5),
    "floats": lambda: pa.array([0.5, float("nan"), None, -0.0, float("inf")]),
    "decimals": lambda: pa.array([D("1.50"), None, D("-0.01")], pa.decimal128(10, 2)),
    "wide decimals": lambda: pa.array([D(10) ** 60, None], pa.decimal256(70, 0)),
    "fixed": lambda: pa.array([b"ab", None, b"\0\1"], pa.binary(2)),
    "spans": lambda: pa.array([pa.MonthDayNano([1, 2, 3]), None], pa.month_day_nano_interval()),
    **{f"text {kind}": (lambda kind=kind: pa.array(["a", None, "köln", "", "a"], kind)) for kind in (pa.string(), pa.large_string(), pa.string_view())},
    **{f"bytes {kind}": (lambda kind=kind: pa.array([b"a", None, b"\xff", b""], kind)) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())},
    "text that repeats": lambda: pa.array([f"k{i % 7}" for i in range(N)]),
    "text that repeats and lacks": lambda: pa.array([None if i % 5 == 0 else f"k{i % 7}" for i in range(N)]),
    "text that does not repeat": lambda: pa.array([None if i % 5 == 0 else f"key {i}" for i in range(N)]),
    "bytes that repeat": lambda: pa.array([b"k%d" % (i % 7) for i in range(N)]),
    "a slice of text": lambda: pa.array([f"key {i}" for i in range(N)])[100:200],
    "a slice of ints": lambda: pa.array([None if i % 5 == 0 else i for i in range(N)])[101:200],
    "a slice of bools": lambda: pa.array([None if i % 5 == 0 else i % 2 == 0 for i in range(N)])[3:200],
    "no text": lambda: pa.array([], pa.string()),
    "no ints": lambda: pa.array([], pa.int32()),
    "only nulls": lambda: pa.array([None, None], pa.int32()),
    "dictionary": lambda: pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "ordered dictionary": lambda: pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int8()), pa.array(["x", "y"]), ordered=True),
    "dictionary of ints": lambda: pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.uint16()), pa.array([7, 9])),
    "lists": lambda: pa.array([[1, 2], None, [], [None, 3]]),
    "a slice of lists": lambda: pa.array([[1, 2], None, [], [None, 3], [4]])[1:4],
    "large lists of text": lambda: pa.array([["a"], None, ["b", "c"]], pa.large_list(pa.string())),
    "lists of lists": lambda: pa.array([[[1], []], None, [[2, 3], None]]),
    "structs": lambda: pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}]),
    "a slice of structs": lambda: pa.array([{"a": i, "b": [i]} for i in range(9)])[3:5],
    "structs of nothing": lambda: pa.array([{}, {}, None], pa.struct([])),
    "no structs": lambda: pa.array([], pa.struct([("a", pa.int8())])),
}  # fmt: skip

TABLES: dict[str, Callable[[], Any]] = {
    "table": lambda: pa.table({"i": [1, None], "s": ["a", "b"], "f": [0.5, 1.5]}),
    "chunks": lambda: pa.concat_tables([pa.table({"i": [1, 2], "d": pa.array(["a", "b"]).dictionary_encode()}),
                                        pa.table({"i": [3], "d": pa.array(["c"]).dictionary_encode()})]),
    "no chunks": lambda: pa.table({"i": pa.chunked_array([], pa.int8()), "s": pa.chunked_array([], pa.string())}),
    "no rows": lambda: pa.table({"i": pa.array([], pa.int8())}),
    "no columns": lambda: pa.table({}),
    "rows without columns": lambda: pa.table({"a": [1, 2, 3]}).select([]),
    "one name twice": lambda: pa.Table.from_arrays([pa.array([1]), pa.array(["a"])], ["x", "x"]),
    "metadata": lambda: pa.table({"a": [1]}, schema=pa.schema([pa.field("a", pa.int64(), nullable=False, metadata={"unit": "m"})], {"k": "v"})),
    "many columns": lambda: pa.table({f"c{i}": [i, i + 1] for i in range(300)}),
    "large": lambda: pa.table({"i": np.arange(N) % 100, "x": np.arange(N) / 4, "s": [f"k{i % 9}" for i in range(N)]}),
    "batch": lambda: pa.record_batch({"i": [1, None], "s": ["a", "b"]}),
    "batch without columns": lambda: pa.record_batch({"a": [1, 2]}).select([]),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name: str) -> None:
    array = ARRAYS[name]()
    assert same(array, npser.loads(npser.dumps(array)))
    chunked = pa.chunked_array([array, array])
    assert same(chunked, npser.loads(npser.dumps(chunked)))


@pytest.mark.parametrize("name", TABLES)
def test_tables(name: str) -> None:
    table = TABLES[name]()
    assert same(table, npser.loads(npser.dumps(table)))


@pytest.mark.parametrize("name", ARRAYS)
def test_every_array_in_a_table(name: str) -> None:
    array = ARRAYS[name]()
    table = pa.table({"x": array, "y": array})
    assert same(table, npser.loads(npser.dumps([table, table]))[1])


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[(1, 2)]], pa.map_(pa.int8(), pa.int8())),
        pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array([7])),
        pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])]),
        pa.array([[1, 2]], pa.list_(pa.int8(), 2)),
    ],
    ids=lambda array: str(array.type)[:20],
)
def test_types_that_are_refused(array: Any) -> None:
    with pytest.raises(npser.EncodeError, match="does not keep the type|cannot encode"):
        npser.dumps(pa.table({"a": array}))


def raw(kind: Any, values: Any) -> Any:
    """An array of values that pyarrow does not look at."""
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


UNSOUND: dict[str, Callable[[], Any]] = {
    "a time of the next day": lambda: raw(pa.time32("s"), np.array([86400], "i4")),
    "a negative time": lambda: raw(pa.time32("ms"), np.array([-1], "i4")),
    "a long time": lambda: raw(pa.time64("ns"), np.array([86400 * 10**9])),
    "a part of a day": lambda: raw(pa.date64(), np.array([5])),
    "too many digits": lambda: pa.Array.from_buffers(pa.decimal128(3), 1, [None, pa.py_buffer(np.array([5000, 0]))]),
    "no UTF-8": lambda: pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], "i4")), pa.py_buffer(b"\xff")]),
    "no UTF-8, and often": lambda: pa.concat_arrays([UNSOUND["no UTF-8"]()] * 9),
    "a code of nothing": lambda: pa.DictionaryArray.from_arrays(pa.array([5]), pa.array(["a"]), safe=False),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSOUND)
def test_what_pyarrow_itself_refuses_is_refused_before_it_is_written(name: str) -> None:
    array = UNSOUND[name]()
    with pytest.raises(pa.ArrowInvalid) as said:
        array.validate(full=True)
    nested = pa.StructArray.from_arrays([pa.ListArray.from_arrays([0, len(array)], array)], ["x"])
    for value in (array, pa.chunked_array([array[:0], array]), pa.table({"fine": [1], "odd": nested}), pa.record_batch({"odd": nested})):
        with pytest.raises(npser.EncodeError) as refused:
            npser.dumps(value)
        assert str(said.value) in str(refused.value)
        assert ("'odd'" in str(refused.value)) is hasattr(value, "schema")


def test_what_a_null_or_a_slice_hides_is_not_looked_at() -> None:
    times = np.array([5, 86400], "i4")
    hidden = pa.Array.from_buffers(pa.time32("s"), 2, [pa.py_buffer(b"\1"), pa.py_buffer(times)])
    sliced = pa.ListArray.from_arrays([0, 1, 2], raw(pa.time32("s"), times))[:1]
    for array in (hidden, sliced):
        assert npser.loads(npser.dumps(array)).to_pylist() == array.to_pylist()


def half(*numbers: float) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(range(len(numbers)), pa.int8()), pa.array(np.array(numbers, "f2")))


@pytest.mark.parametrize(
    "inside",
    [
        lambda array: array,
        lambda array: pa.StructArray.from_arrays([array], ["x"]),
        lambda array: pa.LargeListArray.from_arrays([0, len(array)], array),
        lambda array: pa.StructArray.from_arrays([pa.ListArray.from_arrays([0, len(array)], array)], ["x"]),
    ],
    ids=["plain", "struct", "list", "struct of lists"],
)
def test_chunks_of_codes_of_half_floats_are_refused(inside: Callable[[Any], Any]) -> None:
    one, two = inside(half(1.5, 2.5)), inside(half(3.5))
    if "list" in str(one.type):
        with pytest.raises(npser.EncodeError, match="nor lists of such"):
            npser.dumps(one)
    else:
        assert same(pa.chunked_array([one]), npser.loads(npser.dumps(pa.chunked_array([one]))))
    with pytest.raises(npser.EncodeError, match="several chunks of .*halffloat"):
        npser.dumps(pa.table({"x": pa.chunked_array([one, two])}))


def test_codes_of_nulls() -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([0, None, 1], pa.int8()), pa.nulls(2))
    for array in (codes, pa.StructArray.from_arrays([codes], ["x"])):
        back = npser.loads(npser.dumps(array))
        assert back.type == array.type
        found = back if array is codes else back.field(0)
        assert (found.indices.to_pylist(), len(found.dictionary)) == ([0, None, 1], 2)


def test_text_is_stored_as_codes() -> None:
    table = pa.table({"s": [f"a rather long text {i % 9}" for i in range(N)]})
    assert len(npser.dumps(table)) < N


@pytest.mark.parametrize("make", ["{:05}", "{}", "é{:05}", ""], ids=["even", "uneven", "of two bytes", "empty"])
@pytest.mark.parametrize("distinct", [3, 600])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary()])
def test_text_that_repeats(make: str, distinct: int, kind: Any) -> None:
    cells = [make.format(i * 97 % distinct) for i in range(N)]
    for column in (cells, [None if i % 9 == 2 else cell for i, cell in enumerate(cells)]):
        table = pa.table({"s": pa.array(column, pa.string()).cast(kind)})
        assert same(table, npser.loads(npser.dumps(table)))


# -------------------------------------------------------------------------------------------------------- hostile bytes


class Stand:
    """What is registered under the name of a Table, to write any state."""


def forged(state: Any) -> bytes:
    npser.unregister(pa.Table)
    npser.register(Stand, name="arrow.Table", state=lambda stand: state, build=lambda state: Stand())
    data = npser.dumps(Stand())
    npser.unregister(Stand)
    adapter.register()
    return data


def one(array: Any, kind: Any = "int64", rows: int = 2) -> dict[str, Any]:
    return {"fields": [("a", kind, True, None)], "metadata": None, "rows": rows, "columns": (1, ({"type": kind, **array},))}


INTS = {"type": "int64", "values": np.arange(2)}
CODES = np.array([0, 1], "i4")


@pytest.mark.parametrize(
    "state",
    [
        None, {}, [], one({}), one({"values": np.arange(2)}, "no such type"), one({"values": np.arange(3)}), one({"values": np.zeros((2, 2), "i8")}),
        one({"values": np.zeros(2, "f4")}), one({"values": [1, 2]}), one({"values": np.arange(2), "valid": np.zeros(3, "?")}),
        one({"values": np.arange(2), "valid": np.zeros(2)}), one({"values": np.arange(2), "valid": 7}), {**one(INTS), "rows": 3},
        {**one(INTS), "fields": []}, {**one(INTS), "fields": [("a", "int8", True, None)]}, {**one(INTS), "columns": (2, (INTS,))},
        {"fields": [], "metadata": None, "rows": -1, "columns": (0, ())}, {"fields": [], "metadata": None, "rows": 1 << 70, "columns": (0, ())},
        {"fields": [("a", ("list", 7), True, None)], "metadata": None, "rows": 1, "columns": (1, (INTS,))},
        one({"values": ["a"], "codes": np.array([0, 1], "i4")}, "string"), one({"values": [b"a"], "codes": np.array([0, 0], "i4")}, "string"),
        one({"values": ["a", "bb"], "codes": np.array([0, 2], "i4")}, "string"), one({"values": ["a"], "codes": np.array([-1, 2], "i4")}, "string"),
        one({"values": {"bytes": np.full(2, 255, "u1"), "lengths": np.array([1, 1])}, "codes": CODES}, "string"),
        one({"values": {"bytes": np.frombuffer(b"\xc3\xa9", "u1"), "lengths": np.array([1, 1])}, "codes": CODES}, "string"),
        one({"values": {"bytes": np.zeros(2, "u1"), "lengths": np.array([1, 2])}, "codes": CODES}, "string"),
        one({"values": {"bytes": np.zeros(2, "u1"), "lengths": np.array([3, -1])}, "codes": CODES}, "string"),
        one({"values": {"bytes": np.zeros(2, "u1"), "lengths": np.array([2**62] * 4)}, "codes": CODES}, "binary"),
        one({"values": {"bytes": np.zeros(2, "u1"), "lengths": np.array([2])}, "codes": CODES}, "binary"),
        one({"values": {"bytes": [0], "lengths": np.array([1])}, "codes": CODES}, "string"), one({"values": {}, "codes": CODES}, "string"),
        one({"bytes": np.full(2, 255, "u1"), "lengths": np.array([1, 1])}, "string"), one({"bytes": np.zeros(2, "u1"), "lengths": np.array([1, 2])}, "string"),
        one({"bytes": np.zeros(2, "u1"), "lengths": np.array([2**62, 2**62])}, "binary"), one({"items": [1, 2]}, "string"),
        one({"codes": {"type": "int8", "values": np.array([0, 9], "i1")}, "dictionary": {"type": "string", "items": ["a"]}}, ("dictionary", "int8", "string", False)),
        one({"codes": INTS, "dictionary": {"type": "string", "items": ["a", "b"]}}, ("dictionary", "int8", "string", False)),
        one({"lengths": np.array([1, 2]), "items": INTS}, ("list", ("item", "int64", True, None))),
        one({"lengths": np.array([3, -1]), "items": INTS}, ("list", ("item", "int64", True, None))),
        one({"lengths": np.array([1, 1]), "items": {"type": "int8", "values": np.zeros(2, "i1")}}, ("list", ("item", "int64", True, None))),
        one({"n": 2, "fields": []}, ("struct", ("a", "int64", True, None))), one({"n": 3, "fields": [INTS]}, ("struct", ("a", "int64", True, None))),
        one({"n": 2, "fields": [{"type": "int8", "values": np.zeros(2, "i1")}]}, ("struct", ("a", "int64", True, None))),
        one({"values": np.zeros(2, "i8")}, ("timestamp", "years", None)), one({"values": np.zeros(2, "V16")}, ("decimal128", 999, 0)),
        one({"none": 2}, "null"), one({"none": [1, 2]}, "null"),
    ],
    ids=lambda state: str(state)[:80],
)  # fmt: skip
def test_a_state_that_does_not_fit_is_a_decode_error(state: Any) -> None:
    data = forged(state)
    with pytest.raises(npser.DecodeError):
        npser.loads(data)


def test_damaged_bytes_are_a_value_or_an_error() -> None:
    draw = random.Random(3)
    for name in ARRAYS:
        data = npser.dumps(pa.table({"a": ARRAYS[name]()}))
        for _ in range(8):
            broken = bytearray(data)
            for _ in range(draw.randint(1, 3)):
                broken[draw.randrange(len(broken))] = draw.randrange(256)
            with contextlib.suppress(npser.NpserError):
                found = npser.loads(bytes(broken))
                if isinstance(found, pa.Table):
                    found.validate(full=True)


# --------------------------------------------------------------------------------------------------------------- views

ROWS = [{"id": i, "x": i / 4, "ok": i % 2 == 0, "name": f"n{i % 5}", "gap": None if i % 3 else i} for i in range(1000)]


def test_a_table_of_rows() -> None:
    table = npser.view(npser.dumps(ROWS)).to_arrow()
    assert table.schema.equals(pa.schema([("id", pa.int64()), ("x", pa.float64()), ("ok", pa.bool_()), ("name", pa.string()), ("gap", pa.int64())]))
    assert table.to_pylist() == ROWS


def test_text_that_lacks() -> None:
    rows = [{"s": None if i % 4 == 0 else f"k{i % 3}"} for i in range(1000)]
    assert npser.view(npser.dumps(rows)).to_arrow().to_pylist() == rows


def test_a_nan_is_no_null() -> None:
    table = npser.view(npser.dumps([{"x": float("nan")}, {"x": 1.5}])).to_arrow()
    assert table["x"].null_count == 0


def test_what_a_row_does_not_have_is_null() -> None:
    table = npser.view(npser.dumps([{"a": i, **({"b": "x"} if i % 2 else {})} for i in range(100)])).to_arrow()
    assert table["b"].null_count == 50


def test_a_dict_of_columns() -> None:
    table = npser.view(npser.dumps({"a": np.arange(3, dtype="u1"), "b": ["x", None, "z"]})).to_arrow()
    assert table.schema.field("a").type == pa.uint8()
    assert table.to_pydict() == {"a": [0, 1, 2], "b": ["x", None, "z"]}


def test_a_column_that_arrow_has_no_type_for() -> None:
    with pytest.raises(TypeError, match="'a'"):
        npser.view(npser.dumps([{"a": 1}, {"a": "x"}])).to_arrow()


def test_a_view_of_a_table() -> None:
    table = TABLES["large"]()
    assert same(table, npser.view(npser.dumps(table)).to_arrow())


def test_what_has_an_arrow_stream() -> None:
    table = TABLES["large"]()

    class Foreign:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return table.__arrow_c_stream__(requested_schema)

    assert same(table, npser.loads(npser.dumps(adapter.from_stream(Foreign()))))
    assert same(pa.array([1, None]), adapter.from_stream(pa.array([1, None])))
    with pytest.raises(TypeError, match="Arrow"):
        adapter.from_stream([1])
