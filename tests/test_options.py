"""The options of loads and dumps, and the verbs around them."""

from __future__ import annotations

import array
import ctypes
import io
import mmap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import npser
from npser import MISSING
from npser.errors import DecodeError, LimitError
from same import difference
from values import CLASSES, MAKERS, SIZES, Box, Frozen, Point


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
    data = npser.dumps([7] * 1_000_000)
    assert len(data) < 20
    assert len(npser.loads(data)) == 1_000_000
    with pytest.raises(LimitError, match="Limits"):
        npser.loads(data, limits=npser.Limits(items=999_999, expansion=0))


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
