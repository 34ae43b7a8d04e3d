"""The options of loads and dumps, and the verbs around them."""

from __future__ import annotations

import array
import ctypes
import io
import mmap
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import npser
from guard import fenced
from npser import MISSING, Codec
from npser.decoder import weigh
from npser.errors import DecodeError, LimitError
from npser.tags import Kind
from same import difference
from test_malformed import LEAF, LIST, NODE, NONE, Slot, const, keys, payload, pooled, text
from values import CLASSES, MAKERS, SIZES, Box, Empty, Frozen, Nothing, Plain, Point, Stateful


def load(value: Any, **options: Any) -> Any:
    return npser.loads(npser.dumps(value), **options)


# -------------------------------------------------------------------------------------------------------- numbers="array"

NUMBERS: dict[str, tuple[list[Any], str]] = {
    "ints": ([3, 1, -(2**63), 2**63 - 1], "<i8"),
    "small ints": ([1, 2, 3], "<i8"),
    "one int": ([5], "<i8"),
    "affine": (list(range(0, 5000, 5)), "<i8"),
    "equal ints": ([7] * 1000, "<i8"),
    "runs": ([0] * 300 + [9] * 300, "<i8"),
    "floats": ([0.5, -0.0, float("nan"), 1e300], "<f8"),
    "equal floats": ([0.1] * 500, "<f8"),
    "prices": ([i / 100 for i in range(999)], "<f8"),
    "bools": ([True, False, True], "?"),
    "equal bools": ([True] * 100, "?"),
    "many bools": ([i % 3 == 0 for i in range(1000)], "?"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_lists_of_one_kind_of_number_become_arrays(name: str) -> None:
    values, dtype = NUMBERS[name]
    expected = np.array(values, dtype)
    for found in (
        load(values, numbers="array"),
        load({"a": values, "b": "x"}, numbers="array")["a"],
        load((values, 1), numbers="array")[0],
        load([values, "x"], numbers="array")[0],
        load([values, values[:1], values], numbers="array")[2],
        load([{"v": values, "n": 1}, {"v": values, "n": 2}], numbers="array")[1]["v"],
        npser.loads(npser.dumps(Box(values)), classes=[Box], numbers="array").value,
    ):
        assert difference(expected, found) is None
        found[:1] = 0  # writable
    assert difference(expected, load(values, numbers="array")) is None


@pytest.mark.parametrize(
    "values",
    [[], [1, 2.5], [1, True], [1, None], ["a"], [2**64, 1], [[1], ["a"]], [None], [1, [2]], [1.0, "x"], [{"a": 1}]],
    ids=str,
)
def test_other_lists_stay_lists(values: list[Any]) -> None:
    found = load([values, "x"], numbers="array")[0]
    assert type(found) is list
    if values != [[1], ["a"]] and values != [1, [2]]:
        assert difference(values, found) is None


def test_only_lists_become_arrays() -> None:
    value = {"t": (1, 2, 3), "s": {1, 2}, "d": {1: 2, 3: 4}, "l": [4, 5], "x": 6, "rows": [(1, 2.0), (3, 4.0)]}
    found = load(value, numbers="array")
    assert difference({**value, "l": np.array([4, 5])}, found) is None


def test_lists_of_lists_of_numbers() -> None:
    value = [[1, 2], [3], [], [4, 5, 6]]
    found = load(value, numbers="array")
    assert [np.asarray(part).tolist() for part in found] == value
    assert found[2] == []  # no numbers, so no kind of number
    found[0][:] = 9
    assert found[1].tolist() == [3]


def test_shared_lists_of_numbers_are_one_array_or_list() -> None:
    numbers = [1, 2, 3]
    found = npser.loads(npser.dumps([numbers, numbers], identity="preserve"), numbers="array")
    assert found[0] is found[1]


# ------------------------------------------------------------------------------------------------------- tables="columns"


def test_a_table_becomes_columns() -> None:
    rows = [{"id": i, "name": f"n{i}", "x": i / 2} for i in range(50)]
    found = load(rows, tables="columns")
    assert difference({"id": list(range(50)), "name": [f"n{i}" for i in range(50)], "x": [i / 2 for i in range(50)]}, found) is None
    arrays = load(rows, tables="columns", numbers="array")
    assert difference(np.arange(50), arrays["id"]) is None
    assert difference(np.arange(50) / 2, arrays["x"]) is None
    assert type(arrays["name"]) is list


@pytest.mark.parametrize("count", [2, 3, 7, 1000, 30_000])
def test_tables_of_every_size(count: int) -> None:
    rows = [{"id": i, "flag": True, "none": None} for i in range(count)]
    assert load(rows, tables="columns") == {"id": list(range(count)), "flag": [True] * count, "none": [None] * count}


def test_a_missing_cell_is_not_none() -> None:
    rows = [{"a": 1, "b": None}, {"a": 2}, {"b": 3, "c": 4}]
    for numbers in ("list", "array"):
        found = load(rows, tables="columns", numbers=numbers)
        assert found == {"a": [1, 2, MISSING], "b": [None, MISSING, 3], "c": [MISSING, MISSING, 4]}
        assert found["a"][2] is MISSING
    assert repr(MISSING) == "npser.MISSING"
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert copy.deepcopy(MISSING) is MISSING


def test_nested_tables() -> None:
    rows = [{"id": i, "lines": [{"n": k, "t": "x"} for k in range(i)]} for i in range(1, 4)]
    found = load(rows, tables="columns")
    assert found["id"] == [1, 2, 3]
    assert found["lines"] == [{"n": list(range(i)), "t": ["x"] * i} for i in range(1, 4)]
    found = load({"orders": rows, "one": {"a": 1}}, tables="columns")
    assert found["one"] == {"a": 1}
    assert found["orders"]["id"] == [1, 2, 3]


def test_nested_tables_of_arrays_are_their_own() -> None:
    rows = [{"lines": [{"n": k} for k in range(3)]} for _ in range(4)]
    found = load(rows, tables="columns", numbers="array")["lines"]
    found[0]["n"][:] = 9
    assert found[1]["n"].tolist() == [0, 1, 2]


def test_a_batch_of_objects_becomes_columns() -> None:
    found = npser.loads(npser.dumps([Frozen(i, "x") for i in range(20)]), tables="columns")
    assert found == {"x": list(range(20)), "label": ["x"] * 20}
    found = npser.loads(npser.dumps([Point(i, -i) for i in range(20)]), tables="columns", classes=CLASSES, numbers="array")
    assert found["y"].tolist() == [-i for i in range(20)]


def test_what_is_shared_stays_rows() -> None:
    """A reference counts objects, which columns do not have."""
    box = Box(1)
    found = npser.loads(npser.dumps([[box, Box(2)], box]), classes=[Box], tables="columns")
    assert found[0][0] is found[1]


@pytest.mark.parametrize("name", MAKERS)
def test_every_option_reads_every_type(name: str) -> None:
    """Not every value has an obvious answer, but none may be refused."""
    for n in SIZES[:4]:
        values = MAKERS[name](n)
        for value in (values, {"a": values, "b": [values]}, [{"a": item, "b": 1} for item in values]):
            data = npser.dumps(value)
            npser.loads(data, numbers="array", tables="columns", copy="never")
            npser.loads(data, numbers="array", classes=CLASSES)
            npser.loads(data, tables="columns", classes=CLASSES)
            assert difference(value, npser.loads(data, copy="never", classes=CLASSES)) is None


# ----------------------------------------------------------------------------------------------------------- copy="never"


def buffer_of(data: bytes, align: int = 64) -> tuple[Any, Any]:
    """The same bytes at an address that is a multiple of `align`, and what keeps them."""
    raw = np.empty(len(data) + align, "u1")
    start = -raw.ctypes.data % align
    view = raw[start : start + len(data)]
    view[:] = np.frombuffer(data, "u1")
    return memoryview(view), raw


@pytest.mark.parametrize("dtype", ["<f8", ">f4", "<i2", "<c16", "M8[us]"])
@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: [a], lambda a: {"x": a, "y": "text"}, lambda a: (1, [a, "z"])])
def test_views_share_memory_and_are_aligned(dtype: str, wrap: Any) -> None:
    noise = np.random.default_rng(1).integers(0, 2**62, 2000).view("u1")[: 2000 * 8]
    source = noise.view(dtype)[: 16_000 // np.dtype(dtype).itemsize]
    data, keep = buffer_of(npser.dumps(wrap(source)))
    found = npser.loads(data, copy="never")
    while not isinstance(found, np.ndarray):
        found = next(item for item in (found.values() if isinstance(found, dict) else found) if not isinstance(item, (int, str)))
    assert difference(source, found) is None
    assert np.shares_memory(found, keep)
    assert not found.flags.writeable
    assert found.flags.aligned
    assert found.ctypes.data % 64 == 0
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 0


def test_copies_are_writable_and_their_own() -> None:
    source = {"a": np.random.default_rng(1).random(1000), "b": np.arange(5), "c": np.eye(3)}
    data, keep = buffer_of(npser.dumps(source))
    found = npser.loads(data)
    for name, one in found.items():
        assert one.flags.writeable, name
        assert one.flags.owndata, name
        assert not np.shares_memory(one, keep)
        one[...] = 0
    assert difference(source, npser.loads(data)) is None


def test_views_keep_the_buffer_alive() -> None:
    source = np.random.default_rng(1).random(1000)
    found = npser.loads(bytearray(npser.dumps(source)), copy="never")
    assert difference(source, found) is None


def test_numbers_and_copy_never_together() -> None:
    found = load({"l": list(range(1000)), "a": np.random.default_rng(2).random(999)}, numbers="array", copy="never")
    assert difference(np.arange(1000), found["l"].copy()) is None
    assert not found["a"].flags.writeable


# ------------------------------------------------------------------------------------------------------------ decode_into

INTO: list[Any] = [
    [1, 2, 3],
    list(range(5000)),
    [0.5] * 300,
    [1.5, -0.0, float("nan")],
    [True, False],
    np.arange(7, dtype="<i2"),
    np.random.default_rng(0).random((30, 40)),
    np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    np.array(5),
    np.zeros((0, 3)),
    np.arange(5, dtype=">f4"),
    np.array(["2020", "NaT"], "M8[D]"),
    np.zeros(3, [("a", "<i4"), ("b", "S3")]),
]


@pytest.mark.parametrize("value", INTO, ids=lambda value: f"{type(value).__name__} {np.asarray(value).dtype} {np.shape(value)}")
def test_decode_into_fills_an_array(value: Any) -> None:
    expected = np.array(value)
    out = np.full(expected.shape, 7).astype(expected.dtype) if expected.dtype.kind in "iufb" else np.empty_like(expected)
    npser.decode_into(npser.dumps(value), out)
    assert out.tobytes() == expected.tobytes()
    strided = np.zeros((*expected.shape, 2), expected.dtype)[..., 0]
    npser.decode_into(npser.dumps(value), strided)
    assert strided.tobytes() == expected.tobytes()


def test_decode_into_an_empty_array() -> None:
    for dtype in ("<i8", "<f8", "?"):
        npser.decode_into(npser.dumps([]), np.zeros(0, dtype))


@pytest.mark.parametrize(
    ("value", "out"),
    [
        ([1, 2, 3], np.full(4, 7)),
        ([1, 2, 3], np.full(2, 7)),
        ([1, 2, 3], np.full((3, 1), 7)),
        ([1, 2, 3], np.full(3, 7.0)),
        ([1, 2, 3], np.full(3, 7, "<i4")),
        ([1, 2, 3], np.full(3, 7, ">i8")),
        ([1.5], np.full(1, 7)),
        ([True], np.full(1, 7)),
        ([1, None], np.full(2, 7)),
        (["a"], np.full(1, 7)),
        ([], np.full(1, 7)),
        ([[1, 2], [3, 4]], np.full((2, 2), 7)),
        (3, np.full((), 7)),
        (None, np.full(1, 7)),
        ({"a": [1]}, np.full(1, 7)),
        ((1, 2), np.full(2, 7)),
        (np.arange(3), np.full(3, 7, "<i4")),
        (np.arange(3), np.full(4, 7)),
        (np.arange(4), np.full((2, 2), 7)),
        (b"abcdefgh", np.full(1, 7)),
    ],
    ids=str,
)
def test_decode_into_the_wrong_array_writes_nothing(value: Any, out: Any) -> None:
    with pytest.raises(DecodeError):
        npser.decode_into(npser.dumps(value), out)
    assert (out == 7).all()


def test_decode_into_damaged_bytes_writes_nothing() -> None:
    source = np.random.default_rng(3).random(1000)
    data = npser.dumps(source.tolist())
    out = np.full(1000, 7.0)
    for cut in (5, len(data) // 2, len(data) - 1):
        with pytest.raises(DecodeError):
            npser.decode_into(data[:cut], out)
    with pytest.raises(DecodeError):
        npser.decode_into(data + b"\0", out)
    assert (out == 7.0).all()


def test_decode_into_needs_a_writable_array() -> None:
    locked = np.zeros(3, "<i8")
    locked.flags.writeable = False
    for out in (locked, [0, 0, 0], memoryview(bytearray(24)), None):
        with pytest.raises(DecodeError):
            npser.decode_into(npser.dumps([1, 2, 3]), out)
    assert locked.tolist() == [0, 0, 0]


# ----------------------------------------------------------------------------------------------------------------- limits


MORE_THAN_FREE = npser.Limits().items + 50_000


def test_limits_bound_what_comes_out_of_nothing() -> None:
    data = npser.dumps([7] * 10_000)
    assert len(data) < 20
    assert len(npser.loads(data)) == 10_000
    with pytest.raises(LimitError, match="Limits"):
        npser.loads(data, limits=npser.Limits(items=9_999, expansion=0))
    assert len(npser.dumps([7] * 1_000_000)) < 650_000, "a byte for 64 of memory, beyond 16 MB"


@pytest.mark.parametrize(
    "make",
    [
        lambda n: [None] * n,
        lambda n: [7] * n,
        lambda n: [0.1] * n,
        lambda n: ["same"] * n,
        lambda n: list(range(n)),
        lambda n: [True] * n,
        lambda n: [()] * n,
        lambda n: [[]] * n,
        lambda n: [{}] * n,
        lambda n: [(1,)] * n,
        lambda n: [(((None,),),)] * n,
        lambda n: [{"a": None, "b": 1}] * n,
        lambda n: [{"a": {"b": {"c": 1}}}] * n,
        lambda n: np.zeros(n),
        lambda n: b"\0" * n,
        lambda n: "x" * n,
    ],
    ids=[
        "None", "ints", "floats", "strings", "range", "bools", "tuples", "lists", "dicts", "pairs", "nested", "rows", "chains",
        "array", "bytes", "text",
    ],
)  # fmt: skip
def test_what_dumps_writes_loads_reads_however_large(make: Any) -> None:
    """The writer keeps to the default limits, even where it could say it all in a few bytes."""
    count = MORE_THAN_FREE
    value = make(count)
    found = npser.loads(npser.dumps(value))
    assert len(found) == count
    assert type(found) is type(value)
    assert difference(value[:3], found[:3]) is None
    assert difference(value[-1], found[-1]) is None


def test_many_objects_without_fields_come_back() -> None:
    class Bare:
        __slots__ = ()

    found = npser.loads(npser.dumps([Bare() for _ in range(MORE_THAN_FREE)]), classes=[Bare])
    assert len(found) == MORE_THAN_FREE
    assert {type(thing) for thing in found} == {Bare}


# ---------------------------------------------------------------------------------------------------------------- buffers


def test_loads_takes_any_contiguous_buffer(tmp_path: Path) -> None:
    value = {"a": list(range(100)), "b": np.arange(1000.0), "c": "text"}
    data = npser.dumps(value)
    path = tmp_path / "data"
    path.write_bytes(data)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert difference(value, npser.loads(mapped)) is None
    as_ctypes = (ctypes.c_char * len(data)).from_buffer_copy(data)
    padded = b"xx" + data + b"yy"
    for buffer in (
        data,
        bytearray(data),
        memoryview(data),
        memoryview(padded)[2:-2],
        array.array("B", data),
        np.frombuffer(data, "u1"),
        np.frombuffer(data, "i1"),
        as_ctypes,
        io.BytesIO(data).getbuffer(),
    ):
        assert difference(value, npser.loads(buffer)) is None
        assert difference(value, npser.loads(buffer, copy="never")) is None


def test_what_is_no_contiguous_buffer_is_a_decode_error() -> None:
    data = npser.dumps([1, 2, 3])
    released = memoryview(data)
    released.release()
    for wrong in (
        "text", None, 5, [1], object(), memoryview(data)[::2], np.zeros(4)[::2], released, np.array(["2020"], "M8[D]"),
        np.array([1], object), np.zeros((0, 3)), io.BytesIO(data), {"a": 1},
    ):  # fmt: skip
        with pytest.raises(DecodeError):
            npser.loads(wrong)


def test_a_str_says_what_to_do() -> None:
    with pytest.raises(DecodeError, match="decode_responses"):
        npser.loads("\xc1\x01\x00")


# ------------------------------------------------------------------------------------------------------------ dump, load


def test_dump_and_load(tmp_path: Path) -> None:
    value = [Box(1), {"a": np.arange(3)}]
    path = tmp_path / "file"
    with path.open("wb") as file:
        npser.dump(value, file)
    with path.open("rb") as file:
        assert difference(value, npser.load(file, classes=[Box])) is None
    with path.open("rb") as file:
        assert type(npser.load(file)[0]) is npser.Placeholder
    stream = io.BytesIO()
    npser.dump([1, 2], stream)
    stream.seek(0)
    assert npser.load(stream, numbers="array").tolist() == [1, 2]
    stream = io.BytesIO()
    loop: list[Any] = []
    loop.append(loop)
    npser.dump(loop, stream, identity="preserve")
    npser.dump({1: len}, io.BytesIO(), default=lambda thing: thing.__name__)
    assert npser.load(io.BytesIO(stream.getvalue()))[0] is not None


def test_a_refused_value_leaves_the_file_alone() -> None:
    stream = io.BytesIO(b"before")
    with pytest.raises(npser.EncodeError):
        npser.dump([object()], stream)
    assert stream.getvalue() == b"before"


# --------------------------------------------------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    "options", [{"numbers": "arrays"}, {"tables": True}, {"copy": False}, {"copy": "maybe"}, {"numbers": None}], ids=str
)
def test_wrong_options_of_loads(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is one of"):
        npser.loads(npser.dumps(1), **options)


def test_wrong_options_of_dumps() -> None:
    with pytest.raises(ValueError, match="identity"):
        npser.dumps(1, identity="always")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        npser.dumps(1, None)  # type: ignore[misc]
    with pytest.raises(TypeError):
        npser.loads(npser.dumps(1), ())  # type: ignore[misc]


# ----------------------------------------------------------------------------------------------------------------- threads


def test_many_threads_at_once() -> None:
    """The caches of shapes and classes are shared, nothing else is."""
    values = [MAKERS[name](40) for name in MAKERS]
    payloads = [npser.dumps(value) for value in values]
    wrong: list[str] = []

    def work(seed: int) -> None:
        for turn in range(3):
            for index in range(len(values)):
                at = (index * 7 + seed * 13 + turn) % len(values)
                said = difference(values[at], npser.loads(payloads[at], classes=CLASSES))
                if said is not None or (npser.dumps(values[at]) != payloads[at]):
                    wrong.append(f"{list(MAKERS)[at]}: {said}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_hot_shape_reads_like_a_new_one() -> None:
    """A shape that keeps coming back is compiled; what it builds must not differ."""
    for name in MAKERS:
        for values in (MAKERS[name](3), MAKERS[name](7), [{"v": value, "k": [value]} for value in MAKERS[name](5)]):
            data = npser.dumps({"values": values, "n": 1})
            for turn in range(40):
                found = npser.loads(data, classes=CLASSES)
                if turn in (0, 15, 16, 17, 25, 39):
                    assert difference({"values": values, "n": 1}, found) is None, (name, turn)


# ------------------------------------------------------------------------------- what each option gives, case by case

Forms = list[tuple[Any, Any]]


def plain(value: Any) -> Any:
    """Arrays as (dtype, list), everything else as it is."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    return {key: plain(item) for key, item in value.items()} if type(value) is dict else value


def ints(*values: int) -> tuple[str, list[int]]:
    return "int64", list(values)


def floats(*values: float) -> tuple[str, list[float]]:
    return "float64", list(values)


def bools(*values: bool) -> tuple[str, list[bool]]:
    return "bool", list(values)


LENGTHS = (1, 2, 7, 8, 9, 16, 17, 127, 128, 129, 1000)

VECTORS: dict[str, Any] = {
    "one int": lambda n: [7] * n,
    "zeros": lambda n: [0] * n,
    "steps": lambda n: list(range(-3, n - 3)),
    "small": lambda n: [i * 37 % 251 for i in range(n)],
    "large": lambda n: [(-1) ** i * (2**63 - 1 - i) for i in range(n)],
    "least": lambda n: [-(2**63)] * n,
    "one float": lambda n: [0.5] * n,
    "prices": lambda n: [i * 37 % 1000 / 100 for i in range(n)],
    "doubles": lambda n: [1 / (i + 1) for i in range(n)],
    "negative zeros": lambda n: [-0.0] * n,
    "True": lambda n: [True] * n,
    "False": lambda n: [False] * n,
    "bools": lambda n: [i % 3 == 0 for i in range(n)],
}


def dtype_of(values: list[Any]) -> str:
    return {int: "int64", float: "float64", bool: "bool"}[type(values[0])]


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", VECTORS)
def test_lists_of_numbers_in_every_place(name: str, n: int) -> None:
    values = VECTORS[name](n)
    expected = np.array(values, dtype_of(values))
    places = {
        "root": load(values, numbers="array"),
        "deep": load([[[values]]], numbers="array")[0][0][0],
        "rows": load([{"a": values, "b": "x"}] * 3, numbers="array")[2]["a"],
        "beside others": load([values, ["a"], None, {"b": values}], numbers="array")[3]["b"],
        "neighbours of other types": load([values, [1.5], [1], [True], ["a"], [None]], numbers="array")[0],
        "state": load(Stateful(values), numbers="array", classes=CLASSES).n,
        "element": load(np.array([values, 1, None], object), numbers="array")[0],
    }
    for place, found in places.items():
        assert difference(expected, found) is None, place
        assert found.flags.writeable, place


ARRAYS_OF: Forms = [
    ([], []),
    ([[]], [[]]),
    ({"a": [], "b": [1]}, {"a": [], "b": ints(1)}),
    ([[], [1], []], [[], ints(1), []]),
    ([[1.5], [], [2.5]], [floats(1.5), [], floats(2.5)]),
    ([{"a": []}, {"a": [True]}], [{"a": []}, {"a": bools(True)}]),
    ([[[1], []], []], [[ints(1), []], []]),
    ([[1, 2], [2**64]], [ints(1, 2), [2**64]]),
    ([-(2**63) - 1, 1], [-(2**63) - 1, 1]),
    ([[1, 2], [0.5], [True]], [ints(1, 2), floats(0.5), bools(True)]),
    ([[1, 2], [3, None]], [ints(1, 2), [3, None]]),
    ([[1, 2], [3, "a"], [4, "b"]], [ints(1, 2), [3, "a"], [4, "b"]]),
    ([[1, 2], [3.5, 4.5]], [ints(1, 2), floats(3.5, 4.5)]),
    ([[1, 2], [3, [4]]], [ints(1, 2), [3, ints(4)]]),
    ([[1, 2.5], [2, 3.5]], [[1, 2.5], [2, 3.5]]),
    ([[1, 2], (3, 4)], [ints(1, 2), (3, 4)]),
    ([{"a": [1]}, {"a": [0.5]}, {"a": [None]}], [{"a": ints(1)}, {"a": floats(0.5)}, {"a": [None]}]),
    ({1: [2], 3: [4, 5]}, {1: ints(2), 3: ints(4, 5)}),
]


@pytest.mark.parametrize(("value", "expected"), ARRAYS_OF, ids=str)
def test_which_lists_are_arrays(value: Any, expected: Any) -> None:
    assert difference(expected, plain(load(value, numbers="array"))) is None


def test_whether_a_list_is_an_array_does_not_depend_on_its_neighbours() -> None:
    lists: list[Any] = [[1, 2], [0.5], [True, False], [], [None, 1], ["a"], [1, 1.5], [2**70], [[1]], [(1,)], [3]]
    alone = [plain(load(values, numbers="array")) for values in lists]
    for start in range(len(lists)):
        for stop in range(start, len(lists) + 1):
            assert difference(alone[start:stop], plain(load(lists[start:stop], numbers="array"))) is None


M = MISSING

COLUMNS_OF: Forms = [
    ([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], {"a": [1, 2], "b": ["x", "y"]}),
    ([{"a": 1, "b": 2}, {"b": 3, "a": 4}], {"a": [1, 4], "b": [2, 3]}),
    ([{"a": 1}], {"a": [1]}),
    ([{"a": [1]}], {"a": [[1]]}),
    ([], []),
    ([{}], [{}]),
    ([{}, {}], [{}, {}]),
    ({"t": [{"a": 1}, {"a": 2}], "n": 1}, {"t": {"a": [1, 2]}, "n": 1}),
    ([[{"a": 1}, {"a": 2}], [{"a": 3}]], [{"a": [1, 2]}, {"a": [3]}]),
    ([[], [{"a": 1}]], [{"a": []}, {"a": [1]}]),
    ([{"a": 1}, {}], {"a": [1, M]}),
    ([{}, {"a": 1}], {"a": [M, 1]}),
    ([[{"a": 1}, {"b": 1}], [{"b": 2}]], [{"a": [1, M], "b": [M, 1]}, {"a": [M], "b": [2]}]),
    ([{"a": [{"b": 1}, {"c": 2}]}, {"a": []}], {"a": [{"b": [1, M], "c": [M, 2]}, {"b": [], "c": []}]}),
    ([{"a": {"b": 1}}, {"a": {"b": 2}}], {"a": [{"b": 1}, {"b": 2}]}),
    ([{"a": (1, 2)}, {"a": (3, 4)}], {"a": [(1, 2), (3, 4)]}),
    ({"a": 1}, {"a": 1}),
    (({"a": 1}, {"a": 2}), ({"a": 1}, {"a": 2})),
    ([{"a": 1}, {"a": 2}, 3], [{"a": 1}, {"a": 2}, 3]),
    ([{"a": 1}, None], [{"a": 1}, None]),
    ([{1: 1}, {1: 2}], [{1: 1}, {1: 2}]),
    ([Box(1), Box(2, 3)], {"value": [1, 2], "number": [0, 3]}),
    ({"x": [Frozen(1)]}, {"x": {"x": [1], "label": ["none"]}}),
    ([[Box(1)], [Box(2), Box(3)]], [{"value": [1], "number": [0]}, {"value": [2, 3], "number": [0, 0]}]),
    ([Plain(a=1, b=2), Plain(a=3, b=4)], {"a": [1, 3], "b": [2, 4]}),
    ([Plain(a=1), Plain(b=2)], {"a": [1, M], "b": [M, 2]}),
    ([Plain(a=[Plain(b=1)]), Plain()], {"a": [{"b": [1]}, M]}),
]


@pytest.mark.parametrize(("value", "expected"), COLUMNS_OF, ids=str)
def test_which_lists_are_columns(value: Any, expected: Any) -> None:
    """No class is needed, and with the class nothing is built either."""
    assert difference(expected, load(value, tables="columns")) is None
    assert difference(expected, load(value, tables="columns", classes=CLASSES)) is None


COLUMNS_OF_NUMBERS: Forms = [
    ([{"a": 1, "b": 0.5}, {"a": 2, "b": 1.5}], {"a": ints(1, 2), "b": floats(0.5, 1.5)}),
    ([{"a": 1}], {"a": ints(1)}),
    ([{"a": 1}, {"a": 0.5}], {"a": [1, 0.5]}),
    ([{"a": 1}, {"a": None}], {"a": [1, None]}),
    ([{"a": 2**63}, {"a": 1}], {"a": [2**63, 1]}),
    ([{"a": 1, "c": 1}, {"c": 2}], {"a": [1, M], "c": ints(1, 2)}),
    ([[{"a": 1}, {"a": 2}], [{"a": 3}]], [{"a": ints(1, 2)}, {"a": ints(3)}]),
    ([{"a": [1, 2]}, {"a": [3]}], {"a": [ints(1, 2), ints(3)]}),
    ([{"a": [{"b": 1}]}, {"a": [{"b": 2}, {"b": 3}]}], {"a": [{"b": ints(1)}, {"b": ints(2, 3)}]}),
    ([{"a": {"b": 1}}, {"a": {"b": 2}}], {"a": [{"b": 1}, {"b": 2}]}),
    ([Box(1), Box(2)], {"value": ints(1, 2), "number": ints(0, 0)}),
    ([Point(0.5, 1), Point(1.5, 2)], {"x": floats(0.5, 1.5), "y": ints(1, 2)}),
    ([Plain(a=1, c=1), Plain(c=2)], {"a": [1, M], "c": ints(1, 2)}),
    ([{"a": 1, "b": i} for i in range(500)], {"a": ints(*[1] * 500), "b": ints(*range(500))}),
    ({"x": [{"a": 1}], "y": [1, 2]}, {"x": {"a": ints(1)}, "y": ints(1, 2)}),
]


@pytest.mark.parametrize(("value", "expected"), COLUMNS_OF_NUMBERS, ids=lambda case: str(case)[:60])
def test_which_columns_are_arrays(value: Any, expected: Any) -> None:
    assert difference(expected, plain(load(value, tables="columns", numbers="array"))) is None


def test_objects_without_fields_are_not_lost_as_columns() -> None:
    found = load([Nothing(), Nothing()], tables="columns", classes=CLASSES)
    assert [type(thing) for thing in found] == [Nothing, Nothing]
    assert load([Empty(), Empty()], tables="columns", classes=CLASSES) == [Empty(), Empty()]


def test_rows_whose_cells_are_shared_stay_rows() -> None:
    box = Box(1)
    found = load([{"a": box}, {"a": box}], tables="columns", classes=CLASSES)
    assert found[0]["a"] is found[1]["a"]
    found = load({"x": [box], "t": [{"a": 1}, {"a": 2}], "y": box}, tables="columns", classes=CLASSES)
    assert found["t"] == [{"a": 1}, {"a": 2}]
    row = {"a": 1}
    data = npser.dumps([row, row, {"a": 2}], identity="preserve")
    found = npser.loads(data, tables="columns")
    assert found == [{"a": 1}, {"a": 1}, {"a": 2}]
    assert found[0] is found[1]


@pytest.mark.parametrize("node", [NODE["VARIED_TABLE"], NODE["VARIED_RECORD"] + text("a:B")], ids=["table", "record"])
def test_missing_cells_are_paid_for(node: bytes) -> None:
    """Many keys times many rows, all of them missing, out of 12 kB."""
    names = [f"{i:x}" for i in range(2000)]
    data = payload(
        LIST + node + keys(*names) + b"\1\0" + LEAF * len(names),
        pooled(500_000), Slot(Kind.INT, const(0)), *[NONE] * len(names),
    )  # fmt: skip
    with fenced(5, 512), pytest.raises(LimitError):
        npser.loads(data, tables="columns")


# --------------------------------------------------------------------------------------------------- views and their buffer


def test_small_arrays_are_views_too() -> None:
    for count in (1, 9, 100):
        source = np.random.default_rng(count).random(count)
        for wrap in (lambda a: a, lambda a: [a] * 1, lambda a: [a, a + 1, a + 2]):
            data, keep = buffer_of(npser.dumps(wrap(source)))
            found = npser.loads(data, copy="never")
            assert difference(wrap(source), found) is None
            for one in [found] if isinstance(found, np.ndarray) else found:
                assert np.shares_memory(one, keep)
                assert not one.flags.writeable


def test_views_of_a_buffer_that_is_not_aligned() -> None:
    source = np.random.default_rng(1).random(1000)
    data = npser.dumps(source)
    for offset in (1, 4, 8, 63):
        shifted, _ = buffer_of(bytes(offset) + data)
        assert difference(source, npser.loads(shifted[offset:], copy="never")) is None


def test_what_is_not_stored_as_it_is_is_read_only_all_the_same() -> None:
    for source in (np.arange(1000), np.zeros(5000), np.zeros(100, bool), np.array([], "f8"), np.zeros((3, 0))):
        found = load(source, copy="never")
        assert difference(source, found) is None
        assert not found.flags.writeable


def test_a_view_keeps_its_buffer_and_a_copy_does_not() -> None:
    class Owner(bytearray):
        """A bytearray that can be referred to weakly."""

    source = np.random.default_rng(1).random(1000)
    for options, held in (({"copy": "never"}, True), ({}, False)):
        owner = Owner(npser.dumps({"a": source}))
        alive = weakref.ref(owner)
        found: Any = npser.loads(owner, **options)  # type: ignore[arg-type]
        del owner
        assert (alive() is not None) is held
        assert difference(source, found["a"]) is None
        del found
        assert alive() is None



@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: [a, a + 1], lambda a: {"x": a, "n": 1}])
def test_memory_cannot_move_under_a_view(wrap: Any) -> None:
    """A bytearray that grew, or an mmap that was closed, would leave the array with memory that is not its own."""
    data = npser.dumps(wrap(np.random.default_rng(1).random(1000)))
    buffer = bytearray(data)
    found = npser.loads(buffer, copy="never")
    with pytest.raises(BufferError):
        buffer.extend(bytes(100))
    del found
    buffer.extend(bytes(100))
    mapped = mmap.mmap(-1, len(data))
    mapped[:] = data
    found = npser.loads(mapped, copy="never")
    with pytest.raises(BufferError):
        mapped.close()
    del found
    mapped.close()


def test_a_copy_lets_go_of_its_buffer() -> None:
    value = [np.random.default_rng(1).random(1000), [1, 2, 3], "text", {"a": b"x"}]
    buffer = bytearray(npser.dumps(value))
    found = npser.loads(buffer)
    buffer.extend(bytes(100))
    buffer[:] = bytes(len(buffer))
    assert difference(value, found) is None
    with pytest.raises(DecodeError):
        npser.loads(buffer)
    buffer.extend(b"x")  # not even an error keeps it


# --------------------------------------------------------------------------------------------------- decode_into, the rest


@pytest.mark.parametrize("n", [0, *LENGTHS])
@pytest.mark.parametrize("name", VECTORS)
def test_decode_into_lists_of_every_length(name: str, n: int) -> None:
    values = VECTORS[name](n)
    dtype = dtype_of(VECTORS[name](1))
    out = np.zeros(n, dtype)
    npser.decode_into(npser.dumps(values), out)
    assert difference(np.array(values, dtype), out) is None


def test_decode_into_another_memory_order() -> None:
    source = np.random.default_rng(1).random((5, 7))
    for stored in (source, np.asfortranarray(source), source[::2], source.T):
        for order in ("C", "F"):
            out = np.zeros(stored.shape, order=order)
            npser.decode_into(npser.dumps(stored), out)
            assert out.tolist() == stored.tolist()


def test_decode_into_a_part_of_an_array() -> None:
    space = np.zeros((10, 3))
    npser.decode_into(npser.dumps([0.5] * 10), space[:, 1])
    assert space.tolist() == [[0.0, 0.5, 0.0]] * 10
    npser.decode_into(npser.dumps([0.5, 1.5, 2.5]), space[4, ::-1])
    assert space[4].tolist() == [2.5, 1.5, 0.5]


def test_decode_into_the_buffer_of_the_payload() -> None:
    source = np.random.default_rng(1).integers(0, 2**62, 100)
    data = npser.dumps(source)
    view, _ = buffer_of(data + bytes(800))
    space = np.frombuffer(view, "u1")
    out = space[64:864].view("<i8")
    npser.decode_into(space[: len(data)], out)
    assert difference(source, out.copy()) is None


def test_decode_into_says_what_does_not_fit() -> None:
    with pytest.raises(DecodeError, match=r"float64 of shape \(2,\).*int64 of shape \(3,\)"):
        npser.decode_into(npser.dumps([0.5, 1.5]), np.zeros(3, "i8"))
    with pytest.raises(DecodeError, match="dict"):
        npser.decode_into(npser.dumps({"a": 1}), np.zeros(3))
    with pytest.raises(DecodeError, match="writable array"):
        npser.decode_into(npser.dumps([1.0]), np.broadcast_to(np.zeros(1), 3))
    with pytest.raises(LimitError):
        npser.decode_into(npser.dumps([7] * 1000), np.zeros(1000, "i8"), limits=npser.Limits(items=10, expansion=0))


# -------------------------------------------------------------------------------------------------------- limits, the rest


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_depth_lowered() -> None:
    for depth in (1, 2, 10, 511):
        data = npser.dumps(nested(depth + 1))
        assert npser.loads(data, limits=npser.Limits(depth=depth + 1)) == nested(depth + 1)
        with pytest.raises(LimitError, match=f"more than {depth} containers"):
            npser.loads(data, limits=npser.Limits(depth=depth))


def test_depth_raised() -> None:
    lists = 600
    data = payload(LIST * lists + LEAF, *[pooled(1)] * lists, Slot(Kind.TRUE))
    with pytest.raises(LimitError, match="more than 512"):
        npser.loads(data)
    found = npser.loads(data, limits=npser.Limits(depth=lists))
    for _ in range(lists):
        (found,) = found
    assert found is True


def test_depth_counts_containers_of_every_kind() -> None:
    for value in ({"a": [(Box(1),)]}, [{"a": Box([1])}], [Point(Stateful(1), 2)], [slice(1, {2: [3]}, 4)], [{frozenset([(1,)])}]):
        data = npser.dumps(value)
        npser.loads(data, limits=npser.Limits(depth=4))
        with pytest.raises(LimitError):
            npser.loads(data, limits=npser.Limits(depth=3))


def test_a_shape_that_was_allowed_once_is_not_allowed_to_the_next() -> None:
    data = npser.dumps(nested(20))
    for _ in range(40):
        npser.loads(data)
        with pytest.raises(LimitError):
            npser.loads(data, limits=npser.Limits(depth=19))


def test_items_and_expansion_raised_and_lowered() -> None:
    data = npser.dumps([7] * 1000)
    cells = weigh(data)
    assert 1000 < cells < 8000
    assert npser.loads(data, limits=npser.Limits(items=cells, expansion=0)) == [7] * 1000
    with pytest.raises(LimitError, match=r"Limits\(items="):
        npser.loads(data, limits=npser.Limits(items=cells - 1, expansion=0))
    assert npser.loads(data, limits=npser.Limits(items=0, expansion=2000)) == [7] * 1000
    with pytest.raises(LimitError):
        npser.loads(data, limits=npser.Limits(items=0, expansion=8))
    more = payload(LIST + LEAF, pooled(3 * 10**6), NONE)
    with pytest.raises(LimitError):
        npser.loads(more)
    assert npser.loads(more, limits=npser.Limits(items=5 * 10**6)) == [None] * (3 * 10**6)


def test_what_is_stored_costs_next_to_nothing() -> None:
    """Its own bytes pay for it."""
    rng = np.random.default_rng(1)
    for value in (
        rng.integers(-(2**62), 2**62, 5000).tolist(),
        rng.random(5000).tolist(),
        (rng.random(5000) < 0.5).tolist(),
        [f"{x:x}" for x in rng.integers(0, 2**62, 500).tolist()],
        rng.random(5000),
        "text" * 1000,
        b"bytes" * 1000,
    ):
        assert difference(value, load(value, limits=npser.Limits(items=5000))) is None


# ------------------------------------------------------------------------------------------------- buffers and files, the rest


@pytest.mark.parametrize("value", [1, "a", b"ab", None, [1, 2], [0.1], ["a", "b"], {"a": [1, "x"]}], ids=str)
def test_every_lead_is_read_from_every_buffer(value: Any) -> None:
    data = npser.dumps(value)
    for buffer in (
        bytearray(data),
        memoryview(bytearray(data)).toreadonly(),
        memoryview(data).cast("c"),
        memoryview(data).cast("b"),
        memoryview(data).cast("B", (1, len(data))),
        array.array("b", data),
        np.frombuffer(data, "S1"),
        np.frombuffer(data, "i1").reshape(1, -1),
        type("Sub", (bytes,), {})(data),
    ):
        assert difference(value, npser.loads(buffer)) is None


def test_items_of_a_buffer_may_be_wider_than_a_byte() -> None:
    wide = next(
        value
        for value in ([[i * 37 % 1009 for i in range(500)], "x" * extra] for extra in range(16))
        if len(npser.dumps(value)) % 16 == 0
    )
    data = npser.dumps(wide)
    for buffer in (
        array.array("q", data),
        memoryview(data).cast("d"),
        np.frombuffer(data, "<i8").reshape(2, -1),
        np.frombuffer(data, ">u2"),
        np.frombuffer(data, "V16"),
    ):
        assert npser.loads(buffer) == wide


def test_what_is_no_buffer_is_refused_by_name() -> None:
    data = npser.dumps([1, 2, 3])
    for strided in (memoryview(data * 2)[::2], memoryview(data)[::-1], np.frombuffer(data * 2, "u1")[::2]):
        with pytest.raises(DecodeError, match="contiguous"):
            npser.loads(strided)
    for wrong in (None, 1, 1.5, [1], (b"a",), {"a": 1}, object(), io.BytesIO(b"x")):
        with pytest.raises(DecodeError, match=type(wrong).__name__):
            npser.loads(wrong)
    with pytest.raises(TypeError, match="binary"):
        npser.load(io.StringIO("abc"))  # type: ignore[arg-type]


def test_load_begins_where_the_file_stands() -> None:
    file = io.BytesIO(b"head" + npser.dumps([1, 2]))
    file.seek(4)
    assert npser.load(file) == [1, 2]
    with pytest.raises(npser.TruncatedError):
        npser.load(file)  # nothing is left
    with tempfile.TemporaryFile(buffering=0) as raw:
        npser.dump([1], raw)
        raw.seek(0)
        assert npser.load(raw) == [1]


def test_load_passes_its_options_on() -> None:
    data = npser.dumps({"a": [1, 2], "b": [{"x": 1}], "c": np.zeros(9), "d": Box(1)})
    found = npser.load(io.BytesIO(data), numbers="array", tables="columns", copy="never", classes=[Box])
    assert plain(found["a"]) == ints(1, 2)
    assert plain(found["b"]) == {"x": ints(1)}
    assert not found["c"].flags.writeable
    assert type(found["d"]) is Box
    with pytest.raises(LimitError):
        npser.load(io.BytesIO(data), limits=npser.Limits(depth=1))


# ------------------------------------------------------------------------------------------------------ wrong use, the rest


@pytest.mark.parametrize(
    ("option", "choices"),
    [("numbers", ("list", "array")), ("tables", ("rows", "columns")), ("copy", ("always", "never"))],
)
@pytest.mark.parametrize("wrong", ["", "lists", "LIST", None, True, 0, 1.5, [], {}, ("list",), b"list"], ids=repr)
def test_a_wrong_option_is_told_the_choices(option: str, choices: tuple[str, ...], wrong: Any) -> None:
    for call in (lambda: npser.loads(npser.dumps([1]), **{option: wrong}),
                 lambda: npser.load(io.BytesIO(npser.dumps([1])), **{option: wrong})):  # fmt: skip
        with pytest.raises(ValueError, match=f"^{option} is one of") as caught:
            call()
        assert not isinstance(caught.value, npser.NpserError)
        assert all(repr(choice) in str(caught.value) for choice in choices)
        assert repr(wrong) in str(caught.value)


@pytest.mark.parametrize("wrong", ["", "object", None, True, [], b"objects"], ids=repr)
def test_a_wrong_identity_is_told_the_choices(wrong: Any) -> None:
    for call in (lambda: npser.dumps([1], identity=wrong), lambda: npser.dump([1], io.BytesIO(), identity=wrong)):
        with pytest.raises(ValueError, match=r"^identity is one of 'objects', 'preserve'"):
            call()


@pytest.mark.parametrize(
    "wrong", [Box, "Box", [1], ["Box"], [Box(1)], {"Box": "Box"}, {"a:B": None}, 1, [None], object()], ids=lambda w: str(w)[:30]
)
def test_classes_given_wrongly_are_a_type_error(wrong: Any) -> None:
    for value in ([Box(1)], 1, [1]):
        with pytest.raises(TypeError):
            npser.loads(npser.dumps(value), classes=wrong)


def test_classes_may_be_any_iterable_or_mapping() -> None:
    data = npser.dumps([Box(1)])
    for classes in ([Box], (Box,), {Box}, iter([Box]), (cls for cls in [Box]), {"values:Box": Box}, {Box: 1}.keys()):
        assert type(npser.loads(data, classes=classes)[0]) is Box
    for none in ((), [], {}, set(), iter([])):
        assert type(npser.loads(data, classes=none)[0]) is npser.Placeholder


def test_options_are_given_by_name() -> None:
    for call in (
        lambda: npser.dump([1], io.BytesIO(), "objects"),  # type: ignore[misc]
        lambda: npser.load(io.BytesIO(npser.dumps([1])), ()),  # type: ignore[misc]
        lambda: npser.decode_into(npser.dumps([1]), np.zeros(1, "i8"), npser.Limits()),  # type: ignore[misc]
    ):
        with pytest.raises(TypeError):
            call()


# -------------------------------------------------------------------------------------- the same options on every verb


def test_files_take_the_options_of_dumps_and_loads() -> None:
    rows = [{"id": i, "x": i / 2} for i in range(9)]
    file = io.BytesIO()
    npser.dump(rows, file)
    npser.dump({"b": 1, "a": 2}, file, order="canonical")
    npser.dump(["x", b"\xff"], file, wire="phpser")
    file.seek(0)
    assert npser.load(file, select=["x"]) == {"x": [i / 2 for i in range(9)]}
    assert list(npser.load(file)) == ["a", "b"]
    assert npser.load(file, strings="bytes") == [b"x", b"\xff"]
    file = io.BytesIO(npser.dumps(rows))  # a bare payload
    assert npser.load(file, select=["id"], numbers="array")["id"].tolist() == list(range(9))


def test_signed_payloads_take_the_options_of_dumps_and_loads() -> None:
    key = bytes(range(32))
    one = npser.dumps_signed({"b": 1, "a": {2, 1}}, key, order="canonical")
    assert one == npser.dumps_signed({"a": {1, 2}, "b": 1}, key, order="canonical")
    assert npser.loads_signed(one, key, select=["b"]) == {"b": 1}


def test_what_does_not_go_together_is_refused_everywhere() -> None:
    key = bytes(32)
    for verb in (
        lambda **options: npser.dumps(1, **options),
        lambda **options: npser.dump(1, io.BytesIO(), **options),
        lambda **options: npser.dumps_signed(1, key, **options),
        lambda **options: npser.StreamWriter(io.BytesIO(), **options),
        lambda **options: Codec(**options),
    ):
        for options in ({"order": "sorted"}, {"wire": "php"}, {"order": "canonical", "wire": "phpser"}):
            with pytest.raises(ValueError, match=r"order|wire"):
                verb(**options)


def test_streams_take_a_selection_for_every_frame() -> None:
    file = io.BytesIO()
    with npser.StreamWriter(file, order="canonical") as writer:
        for n in (3, 4):
            writer.write([{"x": i, "id": -i} for i in range(n)])
    for codec in (None, Codec()):
        reader = npser.StreamReader(io.BytesIO(file.getvalue()), codec=codec, select=iter(["id"]))
        assert [len(columns["id"]) for columns in reader] == [3, 4]
    with pytest.raises(TypeError, match="names of columns"):
        npser.StreamReader(file, select="id")
    with pytest.raises(TypeError, match="names of columns"):
        npser.StreamReader(file, select=[1])
