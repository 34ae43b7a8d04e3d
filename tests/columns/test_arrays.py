"""An array comes back with its dtype, shape, memory order and every bit; what is damaged is refused before it costs memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from columns.exact import check, check_garbage, encode, refused
from columns.test_dtypes import STRUCTS, String, deep, needs_strings
from npser.blocks.cursor import Cursor
from npser.blocks.flat_ints import write_frame
from npser.blocks.sink import Sink
from npser.columns import arraydata, rawitems
from npser.columns.anyints import write_any_ints
from npser.columns.arraydata import DataForm
from npser.columns.arrays import read_array_part, read_array_views, read_arrays, write_arrays
from npser.columns.dtypecodes import DtypeCode
from npser.errors import EncodeError
from npser.tags import IntCode, Kind

READERS: dict[int, Any] = {Kind.ARRAY: read_arrays}
VIEWS: dict[int, Any] = {Kind.ARRAY: read_array_views}
SIZES = (0, 1, 2, 7, 8, 9, 127, 128, 129, 1000)


def contents(array: np.ndarray[Any, Any]) -> object:
    if array.dtype.kind == "T":
        return repr(array.tolist())
    if not array.dtype.itemsize:
        return b""
    raw = np.ascontiguousarray(array.view(f"V{array.dtype.itemsize}")).tobytes()
    return rawitems.settled(array.dtype, raw)  # padding is not a value


def key(array: np.ndarray[Any, Any]) -> object:
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    return deep(array.dtype), array.shape, fortran, contents(array)


def both(arrays: list[Any]) -> bytes:
    """Through both readers; what they say of memory, too."""
    data = check(write_arrays, READERS, arrays, key)
    check(write_arrays, VIEWS, arrays, key)
    for array in read_arrays(Cursor(memoryview(data), 1), len(arrays)):
        assert array.flags.writeable and array.flags.owndata
        assert array.flags.aligned or not array.dtype.alignment  # numpy 1 has dtypes of alignment 0
        assert array.flags.c_contiguous or array.flags.f_contiguous
    for array in read_array_views(Cursor(memoryview(bytearray(data)), 1), len(arrays)):
        assert not array.flags.writeable
    return data


def form_of(array: Any) -> int:
    """The form of the data block of one array whose dtype is one byte and which has one dimension."""
    sink = Sink()
    flats = [array.reshape(-1)]
    arraydata.write_data(sink, 0, flats)
    return sink.out[0]


def noise(n: int) -> Any:
    return np.random.default_rng(n).integers(0, 256, n * 8, "u1").view("<u8")


PLAIN = ["?", "i1", "<i2", ">i2", "<i4", "<i8", ">i8", "q", "u1", "<u4", "<u8", "Q", "<f2", "<f4", "<f8", ">f8", "g", "<c8", ">c16", "G",
         "<M8[s]", ">M8[25us]", "m8[D]", "M8", "S5", "S1", "U3", ">U3", "V7"]  # fmt: skip


def sample(dtype: Any, n: int) -> Any:
    dtype = np.dtype(dtype)
    if dtype.kind in "?bU":
        return np.arange(n).astype(dtype)
    raw = noise(n * dtype.itemsize // 8 + 1).view("u1")[: n * dtype.itemsize]
    return raw.view(dtype) if n else np.zeros(0, dtype)


@pytest.mark.parametrize("dtype", PLAIN)
@pytest.mark.parametrize("n", SIZES)
def test_every_dtype_at_every_size(dtype: str, n: int) -> None:
    array = sample(dtype, n)
    both([array])
    both([np.zeros(n, dtype), array[::-1], array[: n // 2]])


@pytest.mark.parametrize("dtype", PLAIN)
def test_shapes_and_orders(dtype: str) -> None:
    base = sample(dtype, 24)
    cube = base.reshape(2, 3, 4)
    arrays = [base[:1].reshape(()), cube, cube.T, np.asfortranarray(cube), cube.transpose(1, 0, 2)]
    arrays += [
        cube[:, ::2],
        cube[:, :, ::-1],
        np.broadcast_to(base[:3], (2, 3)),
        base[:1].reshape((1,) * 20),
        base.reshape(6, 4).T,
    ]
    arrays += [
        cube[:, :, 1],
        cube[0:0],
        cube[:, 0:0].T,
        np.zeros((3, 0, 2**40), dtype),
        np.zeros((2**40, 0), dtype, order="F"),
    ]
    both(arrays)
    for array in arrays:
        both([array])


def test_no_arrays() -> None:
    both([])


def test_64_dimensions() -> None:
    ndim = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
    both([np.zeros((1,) * ndim), np.zeros((1,) * (ndim - 1) + (2,), order="F")])


@pytest.mark.parametrize("i", range(len(STRUCTS)))
def test_structures(i: int) -> None:
    dtype = np.dtype(STRUCTS[i])
    if dtype.itemsize > 1000:
        both([np.zeros(0, dtype), np.zeros((2, 0), dtype)])
        return
    both([np.zeros(3, dtype), np.zeros((2, 3), dtype).T, np.zeros((), dtype), np.zeros((4, 6), dtype)[::2, ::3]])


def test_the_bytes_between_fields() -> None:
    dtype = np.dtype([("a", "u1"), ("b", "<f8")], align=True)
    whole = np.arange(16 * 6, dtype="u1").view(dtype).reshape(2, 3)
    both([whole, whole.T, whole[:, ::2], whole[1:2, 1].reshape(())])


def test_dtypes_side_by_side() -> None:
    arrays = [sample(dtype, n) for n in (0, 1, 7) for dtype in (*PLAIN, "S0", "V0", "U0") if n == 0 or dtype[-1] != "0"]
    both(arrays)
    both([np.ndarray((3,), "S0"), np.ndarray((2, 2), "V0"), np.zeros(2)])


def test_longlong_stays_itself() -> None:
    for n in (3, 1000):
        values = [np.arange(n).astype(char) for char in "lqLQ"]
        got = read_arrays(Cursor(memoryview(encode(write_arrays, values)), 1), 4)
        assert [array.dtype.char for array in got] == list("lqLQ")
        for value in values:
            both([value])


@pytest.mark.parametrize(
    ("array", "form"),
    [
        (np.arange(1000, dtype="<i8"), DataForm.INTS),
        (np.arange(1000, dtype="<i8").view("<M8[ns]"), DataForm.INTS),
        (np.arange(1000, dtype="<u8") + np.uint64(2**63 - 500), DataForm.INTS),
        (np.arange(1000, dtype="<u2"), DataForm.INTS),
        (np.arange(1000, dtype=">u2"), DataForm.RAW),
        (noise(1000).view("i1")[:1000], DataForm.RAW),
        (noise(1000).view("<i2")[:1000] & 0x3FF, DataForm.RAW),
        (noise(1000), DataForm.RAW),
        (noise(100_000), DataForm.RAW),
        (noise(100_000) & np.uint64(0xFFFF), DataForm.INTS),
        (np.arange(3, dtype="<i8"), DataForm.RAW),
        (np.arange(1000) / 100, DataForm.FLOATS),
        ((np.arange(1000) / 100).astype(">f8"), DataForm.RAW),
        ((np.arange(1000) / 100).astype("<f4"), DataForm.RAW),
        (np.random.default_rng(1).random(1000), DataForm.RAW),
        (np.ones(9, "?"), DataForm.BITS),
        (np.ones(0, "?"), DataForm.RAW),
    ],
)
def test_the_form_of_the_data(array: Any, form: DataForm) -> None:
    assert form_of(array) == form
    both([array])


def test_unsigned_from_2_to_the_63() -> None:
    both([np.array([0, 2**63 - 1, 2**63, 2**64 - 1] * 300, "<u8")])
    both([np.full(1000, 2**64 - 1, "<u8")])


def test_every_bit_of_doubles() -> None:
    odd = np.array([0, 1 << 63, 0x7FF0000000000001, 0xFFF8000000000123, 0x7FF8 << 48, 0xFFF0 << 48], "<u8").view("<f8")
    both([odd, np.tile(odd, 500), np.concatenate([np.zeros(3000), odd])])


@pytest.mark.parametrize("shift", [0, 1, 37, 64])
def test_long_raw_data_is_aligned(shift: int) -> None:
    sink = Sink()
    sink.out += bytes(shift)
    write_arrays(sink, [noise(512), np.float32(range(7)), noise(700)])
    base = shift + 1
    data = memoryview(bytes(sink.out))
    start = bytes(data).find(noise(512).tobytes())
    assert (start - base) % 64 == 0
    views = read_array_views(Cursor(data, base), 3)
    place = np.frombuffer(data, "u1").__array_interface__["data"][0]
    assert views[0].__array_interface__["data"][0] == place + start
    assert views[2].__array_interface__["data"][0] == place + start + 4096
    assert (views[0] == noise(512)).all() and (views[2] == noise(700)).all()


def test_padding_is_zero() -> None:
    data = bytearray(encode(write_arrays, [noise(512)]))
    at = data.index(noise(512).tobytes())
    assert data[at - 1] == 0
    data[at - 1] = 1
    refused(read_arrays, bytes(data[1:]), 1, "padding")


def test_fresh_arrays_are_independent() -> None:
    data = bytearray(encode(write_arrays, [noise(600), noise(600)]))
    one, two = read_arrays(Cursor(memoryview(data), 1), 2)
    one[0] = 1
    data[:] = bytes(len(data))
    assert two[0] == noise(600)[0] and (two[1:] == one[1:]).all()


def test_views_keep_their_buffer() -> None:
    view = read_array_views(Cursor(memoryview(encode(write_arrays, [noise(600)])), 1), 1)[0]
    assert (view == noise(600)).all()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


@needs_strings
def test_strings() -> None:
    texts = np.array(["", "x\0", "\0", "é\U0001f600", "a" * 500, "NA"], dtype=String())
    forms = [String(), String(coerce=False), String(na_object="NA")]
    both([texts.astype(dtype) for dtype in forms])
    square = texts[:4].reshape(2, 2)
    both([square, square.T, texts[::2], np.zeros((0, 3), String()), np.zeros((), String()), texts[:1].reshape(())])
    for na in (None, math.nan):
        dtype = String(na_object=na)
        both([np.array(["a", na, "", na, "x\0"], dtype=dtype), np.array([na] * 40, dtype=dtype), np.zeros(0, dtype)])
    for n in SIZES:
        both([np.array([f"item {i % 5}" for i in range(n)], dtype=String())])
        both([np.array([None if i % 3 else str(i) for i in range(n)], dtype=String(na_object=None))])


def test_a_bool_that_is_neither() -> None:
    odd = np.frombuffer(bytes([0, 1, 2, 255]), "?")
    got = read_arrays(Cursor(memoryview(encode(write_arrays, [odd])), 1), 1)[0]
    assert got.view("u1").tolist() == [0, 1, 1, 1]


BAD_ITEMS = [
    np.frombuffer(b"\2", [("a", "?")]),
    np.frombuffer(b"\0\2", [("a", "?", (2,))]),
    np.frombuffer(b"\0\0\2", [("x", "u1"), ("in", [("y", "u1"), ("a", "?")])]),
    np.frombuffer(b"\0\0\x11\0", "<U1"),
    np.frombuffer(b"\0\x11\0\0", ">U1"),
    np.frombuffer(b"\xff" * 9, [("x", "u1"), ("u", "<U1", (2,))]),
]


@pytest.mark.parametrize("i", range(len(BAD_ITEMS)))
def test_bad_elements(i: int) -> None:
    bad = BAD_ITEMS[i]
    assert rawitems.find_flaw(bad) is not None and rawitems.find_flaw(np.zeros(3, bad.dtype)) is None
    with pytest.raises(EncodeError) as info:
        encode(write_arrays, [np.zeros(2), bad, bad])
    assert info.value.item == 1
    good = encode(write_arrays, [np.zeros(1, bad.dtype)])
    refused(read_arrays, good[1 : -bad.nbytes] + bad.tobytes(), 1, "bool|code point")


def test_lone_surrogates_are_code_points() -> None:
    both([np.array(["\ud800", "\U0010ffff"])])


def test_many_fields_over_the_same_bytes() -> None:
    def overlapping(count: int) -> Any:
        names = [f"f{i}" for i in range(count)]
        return np.zeros(3, {"names": names, "formats": ["U25"] * count, "offsets": [0] * count})

    both([overlapping(64)])
    with pytest.raises(EncodeError, match="overlap"):
        encode(write_arrays, [overlapping(65)])


@pytest.mark.parametrize("dtype", ["O", [("a", "O")], np.dtype("i4", metadata={"a": 1})])
def test_refused_with_their_place(dtype: Any) -> None:
    with pytest.raises(EncodeError) as info:
        encode(write_arrays, [np.zeros(1), np.zeros(2, dtype)])
    assert info.value.item == 1


def number(value: int) -> bytes:
    sink = Sink()
    sink.uvarint(value)
    return bytes(sink.out)


def ints(*values: int) -> bytes:
    return encode(write_any_ints, list(values))[1:]


def body(dtype: bytes, shape: tuple[int, ...], data: bytes) -> bytes:
    return b"\1" + dtype + ints(len(shape)) + ints(*shape) + b"\1\0" + data


def test_wire_by_hand() -> None:
    got = read_arrays(Cursor(memoryview(body(b"\2", (2, 1), b"\0\4\1\0\2\0"))), 1)[0]
    assert got.dtype == "<i2" and got.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [
        (b"\2", (2,), b"\0\3abc"), (b"\2", (2,), b"\0\5abcde"), (b"\2", (2,), b"\0\4abc"), (b"\2", (2,), b"\5"),
        (b"\2", (-1,), b"\0\0"), (b"\2", (2, -1), b"\0\0"), (b"\2", (1,) * 65, b"\0\2ab"),
        (b"\2", (2**62, 0), b"\0\0"), (b"\2", (2**40, 0, 2**40), b"\0\0"), (b"\2", (2**32, 2**32), b"\0\0"),
        (b"\2", (2**33, 2**33), b"\0" + number(2**63)), (b"\2", (2**60,), b"\0" + number(2**61) + b"abc"),
        (b"\x15\0", (2**62, 2), b"\0\0"),
        (b"\1", (2,), b"\1" + ints(1, 128)), (b"\1", (2,), b"\1" + ints(-129, 0)), (b"\5", (2,), b"\1" + ints(-1, 0)),
        (b"\7", (2,), b"\1" + ints(2**32, 0)), (b"\x82", (2,), b"\1" + ints(1, 2)), (b"\x0b", (2,), b"\1" + ints(1, 2)),
        (b"\0", (2,), b"\1" + ints(1, 1)), (b"\0", (2,), b"\0\2\1\2"), (b"\0", (2,), b"\0\2\1\xff"),
        (b"\4", (2**40,), b"\1\1\2"), (b"\4", (2**62,), b"\1\1\2"), (b"\4", (2**30, 2**30), b"\1\1\2"),
        (b"\x0a", (2,), b"\2" + bytes(17)), (b"\x8b", (2,), b"\2" + bytes(17)), (b"\x0b", (2**40,), b"\2\2" + bytes(8)),
        (b"\1", (2,), b"\4\1\0"), (b"\0", (2**40,), b"\4\1\0"),
        (b"\x14\1", (1,), b"\0\4\0\0\x11\0"), (b"\x94\1", (1,), b"\0\4\0\x11\0\0"),
        (b"\x18\1\2\2", (1,), b"\0\4abcd"),
        (b"\x16\0\0", (1,), b"\0\x10" + bytes(16)), (b"\x16\0\0", (1,), b"\2" + bytes(9)), (b"\1", (1,), b"\3" + bytes(9)),
        (b"\x16\0\0", (1,), b"\3\2" + ints(1) + b"\3\xed\xa0\x80"), (b"\x16\0\0", (2**62,), b"\3\1" + bytes(20)),
        (b"\x16\0\1", (2**62,), b"\3\1\0" + bytes(20)),
    ],
)  # fmt: skip
def test_bad_bytes(dtype: bytes, shape: tuple[int, ...], data: bytes) -> None:
    for read in (read_arrays, read_array_views):
        refused(read, body(dtype, shape, data), 1)


def test_bad_tables() -> None:
    two = b"\2\1\2" + ints(0, 2) + ints(0, 0) + ints() + b"\1\0" + b"\0\1a" + b"\0\2ab"
    refused(read_arrays, two, 2, "code")
    refused(read_arrays, b"\0" + ints(0) + ints() + b"\1\0", 1, "dtypes")
    refused(read_arrays, number(2**62), 1, "dtypes")
    refused(read_arrays, b"\1\1" + ints(65) + ints(), 1, "dimensions")
    refused(read_arrays, b"\1\1" + ints(-1) + ints(), 1, "dimensions")
    for n in (2**40, 2**62):
        refused(read_arrays, b"\1\1" + b"\1\0" + b"\1\0" + b"\1\0" + b"\0\0", n)


def test_zero_sized_arrays_that_are_legal() -> None:
    for shape in ((2**40, 0), (0, 2**62), (0,), (0, 0, 0)):
        got = read_arrays(Cursor(memoryview(body(b"\1", shape, b"\0\0"))), 1)[0]
        assert got.shape == shape


dtypes = hnp.scalar_dtypes() | hnp.array_dtypes(allow_subarrays=True) | hnp.nested_dtypes()
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


@st.composite
def any_array(draw: Any) -> Any:
    array = draw(hnp.arrays(draw(dtypes), draw(shapes)))
    array = draw(st.sampled_from([array, array.T, np.asfortranarray(array)]))
    if array.ndim:
        array = array[draw(hnp.basic_indices(array.shape, allow_newaxis=True, allow_ellipsis=False))]
    return np.asarray(array)


@settings(max_examples=150, deadline=None)
@given(st.lists(any_array(), max_size=4))
def test_anything(arrays: list[Any]) -> None:
    both(arrays)


def test_garbage() -> None:
    mixed = [sample(dtype, 5) for dtype in PLAIN] + [
        np.zeros((2, 3), STRUCTS[2]).T,
        np.zeros(3, STRUCTS[4]),
        np.arange(100),
        np.ones(50, "?"),
    ]
    if String is not None:
        mixed += [np.array(["a", None, "b"], dtype=String(na_object=None)), np.array(["a", "b"], dtype=String())]
    bodies = [
        encode(write_arrays, part)
        for part in (mixed, mixed[-6:-3], mixed[-3:], [np.arange(60.0).reshape(5, 12).T], [noise(512)])
    ]
    bodies += [encode(write_arrays, [array]) for array in mixed]
    check_garbage(READERS, bodies, 1500)
    check_garbage(VIEWS, bodies, 500)


@pytest.mark.parametrize("order", ["=", ">"])
def test_what_pads_a_long_double_does_not_leave_the_process(order: str) -> None:
    dtype = np.dtype(np.longdouble).newbyteorder(order)  # type: ignore[arg-type]
    if dtype.itemsize != 16 or np.finfo(np.longdouble).nmant != 63:
        pytest.skip("no x87 long double here")
    secret = b"\xaa" * 6
    number = np.array([1.5], np.longdouble).tobytes()[:10]
    raw = (number + secret) if dtype.isnative else (secret + number[::-1])
    for array in (np.frombuffer(raw * 2, dtype), np.frombuffer(raw * 600, dtype)):
        sink = Sink()
        write_arrays(sink, [array])
        assert secret not in sink.out
        (back,) = read_arrays(Cursor(memoryview(sink.out), 1), 1)
        assert back.dtype == dtype and (back == array).all()


# ---------------------------------------------------------------------------------------------------------------- parts

MANY = 5000  # elements of a part that is a block of its own


def columns(k: int) -> Any:
    """(k, MANY) int64 whose rows have little in common."""
    return np.stack([np.arange(MANY) * 7 % 13 + 10 ** (2 * row) for row in range(k)])


def first_form(arrays: list[Any], parts: int) -> int:
    sink = Sink()
    arraydata.write_data(sink, 0, [array.reshape(-1) for array in arrays], parts)
    return sink.out[0]


@pytest.mark.parametrize("dtype", ["<i8", "<i4", "<u8", "<f8", "<M8[s]", "<i2"])
def test_rows_and_arrays_that_are_blocks_of_their_own(dtype: str) -> None:
    table = (columns(6) % 30_000).astype(dtype)
    assert (first_form([table], 6) == DataForm.PARTS) == (table[0].nbytes >= arraydata.PART_BYTES)
    both([table])
    both([np.asfortranarray(table.T), table])
    both(list(table))
    both([*table, table[0].astype("<f4")])
    both([table.reshape(2, 3, MANY), table[:2]])
    both([np.asfortranarray(table)])


def test_bools_are_blocks_of_their_own() -> None:
    table = np.arange(4 * 2**15).reshape(4, -1) % 3 == 0
    assert first_form([table], 4) == DataForm.PARTS
    both([table])


def test_noise_is_one_run_of_bytes() -> None:
    table = noise(6 * MANY).reshape(6, MANY)
    assert first_form([table], 6) == DataForm.RAW
    both([table])


def test_noise_among_others_is_aligned() -> None:
    table = np.concatenate((columns(3).view("<u8"), noise(2 * MANY).reshape(2, MANY)))
    assert first_form([table], 5) == DataForm.PARTS
    data = both([table])
    raw = table[4].tobytes()
    assert (data.index(raw) - 1) % arraydata.ALIGNMENT == 0


def test_one_row_without_the_others() -> None:
    table = columns(5)
    for array, rows in ((table, table), (np.asfortranarray(table.T), table)):
        data = encode(write_arrays, [array])
        for number in (*range(5), -1):
            row = read_array_part(Cursor(memoryview(data), 1), number)
            assert row is not None
            assert row.tolist() == rows[number].tolist()
            assert row.flags.writeable and row.flags.owndata
        with pytest.raises(IndexError):
            read_array_part(Cursor(memoryview(data), 1), 5)
    for array in (table[0], table[:, :10], table.reshape(5, 2, -1)):
        assert read_array_part(Cursor(memoryview(encode(write_arrays, [array])), 1), 0) is None


def test_parts_that_do_not_fit_are_refused() -> None:
    data = encode(write_arrays, [columns(3)])
    at = data.index(bytes((DataForm.PARTS, 3)))
    assert len(read_arrays(Cursor(memoryview(data), 1), 1)) == 1
    for wrong in (0, 1, 2, 4, 7, 127):  # 15,000 elements are 2 or 4 parts, too, of other sizes
        refused(read_arrays, data[: at + 1] + bytes((wrong,)) + data[at + 2 :], 1)
    for size in (0, 2**62, 2**64 - 1):
        refused(read_arrays, data[: at + 2] + size.to_bytes(8, "little") + data[at + 10 :], 1)
    start = at + 2 + 24
    refused(read_arrays, data[:start] + bytes((DataForm.PARTS,)) + data[start + 1 :], 1)


def test_parts_cost_no_memory_before_they_are_there() -> None:
    dims = Sink()
    write_frame(dims, np.array([3, 2**40]), 0, 64)
    head = bytes((1, DtypeCode.INT64, IntCode.CONST, 4)) + bytes(dims.out) + bytes((0, 0))
    refused(read_arrays, head + bytes((DataForm.PARTS, 3)) + bytes(24), 1)
