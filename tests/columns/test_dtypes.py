"""A dtype comes back equal, and alike in what `==` does not see: alignment, byte order, type, titles."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from columns.exact import refused
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns import dtypecodes
from npser.columns.dtypecodes import DtypeCode
from npser.columns.dtypes import dtype_bytes, read_dtype, write_dtype
from npser.errors import DecodeError, EncodeError, NpserError

String: Any = getattr(np.dtypes, "StringDType", None)
needs_strings = pytest.mark.skipif(String is None, reason="numpy 2")


def deep(dtype: Any) -> object:
    """Everything about a dtype, recursively."""
    dtype = np.dtype(dtype)
    order = {"=": "<" if np.little_endian else ">"}.get(dtype.byteorder, dtype.byteorder)
    own = (
        dtype.type,
        dtype.kind,
        dtype.char,
        order,
        dtype.itemsize,
        dtype.alignment,
        dtype.isalignedstruct,
        dtype.metadata,
    )
    if dtype.subdtype is not None:
        return own, deep(dtype.subdtype[0]), dtype.subdtype[1]
    if dtype.names is not None:
        return own, [(name, deep(dtype.fields[name][0]), dtype.fields[name][1:]) for name in dtype.names]  # type: ignore[index]
    if dtype.kind in "mM":
        return own, np.datetime_data(dtype)
    if dtype.kind == "T":
        return own, dtype.coerce, repr(getattr(dtype, "na_object", ...))  # type: ignore[attr-defined]
    return own


def back(dtype: Any) -> bytes:
    dtype = np.dtype(dtype)
    write_dtype(sink := Sink(), dtype)
    data = bytes(sink.out)
    assert data == dtype_bytes(dtype)
    for tail in (b"", b"\xff\0"):
        cursor = Cursor(memoryview(data + tail))
        got = read_dtype(cursor)
        assert cursor.pos == len(data)
        assert got == dtype and deep(got) == deep(dtype)
    for cut in range(len(data)):
        refused(lambda cursor, n: [read_dtype(cursor)], data[:cut], 1)
    return data


@pytest.mark.parametrize("char", list("?bBhHiIlLqQpPefdgFDGSUVmM"))
def test_every_char(char: str) -> None:
    back(char)
    back(np.dtype(char).newbyteorder(">"))


def test_common_dtypes_are_one_byte() -> None:
    assert [back(name).hex() for name in ("?", "i1", "<i8", "<f8", ">f8", ">u2", "<c16")] == [
        "00",
        "01",
        "04",
        "0b",
        "8b",
        "86",
        "0d",
    ]


def test_longlong_is_not_int64() -> None:
    assert np.dtype("l") == np.dtype("q")
    assert back("l") != back("q") or np.dtype("l").type is np.dtype("q").type


@pytest.mark.parametrize("unit", [*dtypecodes.UNITS[:-1], "generic"])
def test_units(unit: str) -> None:
    for kind in "mM":
        back(f"{kind}8[{unit}]")
        back(f">{kind}8[{unit}]")
        if unit != "generic":
            back(f"{kind}8[25{unit}]")
            back(f"{kind}8[{2**31 - 1}{unit}]")


@pytest.mark.parametrize(
    "name", ["S0", "S1", "S127", "S128", "U0", "U1", ">U9", "V0", "V1", "V300", f"V{2**31 - 1}", f"S{2**31 - 1}"]
)
def test_lengths(name: str) -> None:
    back(name)
    back([("x", name)] if not name.endswith(str(2**31 - 1)) else name)


RECORD = np.dtype((np.record, [("x", "<i4"), ("y", ">f8")]))
STRUCTS: list[Any] = [
    [],
    [("", "i4"), ("x", "i4")],
    [("a", "i1"), ("b", ">f8"), ("c", "M8[25s]"), ("d", "U3"), ("e", "S0")],
    [(("A title", "name"), "i4"), ("\ud800\0é", "V3")],
    [("m", "f8", (3, 3)), ("n", "i1", (1,)), ("o", "u2", (0, 2)), ("p", [("q", "S3")], (2,))],
    {"names": ["late", "early"], "formats": ["i4", "i2"], "offsets": [8, 0], "itemsize": 40},
    {"names": ["whole", "low", "high"], "formats": ["<u8", "<u4", ">u4"], "offsets": [0, 0, 4]},
    {"names": ["a", "b"], "formats": ["i4", "i4"], "titles": [None, "only one"]},
    {"names": [], "formats": [], "itemsize": 12},
    {"names": ["a"], "formats": ["i1"], "offsets": [2**31 - 2], "itemsize": 2**31 - 1},
    np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True),
    np.dtype([("a", "i1"), ("in", np.dtype([("b", "i1"), ("c", "f8")], align=True))]),
    np.dtype([("a", "i1"), ("in", np.dtype([("b", "i1"), ("c", "f8")], align=True), (2,))], align=True),
    *([np.dtype([], align=True)] if np.dtype([], align=True).alignment else []),
    RECORD,
    [("r", RECORD), ("s", RECORD, (2, 2))],
    np.dtype((np.record, np.dtype([("a", "i1"), ("b", "f8")], align=True))),
]


@pytest.mark.parametrize("i", range(len(STRUCTS)))
def test_structures(i: int) -> None:
    back(STRUCTS[i])


def test_fields_taken_out_of_a_structure() -> None:
    whole = np.zeros(2, np.dtype([("a", "i1"), ("b", "f8"), ("c", "i2")], align=True))
    part = whole[["a", "c"]].dtype
    got = read_dtype(Cursor(memoryview(dtype_bytes(part))))
    assert got == part and got.isalignedstruct == part.isalignedstruct
    back(np.zeros(2, STRUCTS[2])[["e", "b"]].dtype)


def test_subarrays() -> None:
    back(("i4", (2, 3)))
    back((np.dtype(("i4", (2,))), (3,)))
    back((">f8", (1,) * 32))
    back(([("x", "i4")], (0,)))


def nested(depth: int) -> Any:
    dtype: Any = "i4"
    for _ in range(depth):
        dtype = [("in", dtype)]
    return dtype


def test_depth() -> None:
    back(nested(8))
    with pytest.raises(EncodeError, match="deeper"):
        dtype_bytes(np.dtype(nested(9)))
    head = dtype_bytes(np.dtype(nested(1)))[:-1]
    refused(lambda cursor, n: [read_dtype(cursor)], head * 9 + b"\3", 1, "deeper")
    refused(lambda cursor, n: [read_dtype(cursor)], head * 100_000 + b"\3", 1, "deeper")
    refused(lambda cursor, n: [read_dtype(cursor)], b"\x18\1\1" * 100_000 + b"\3", 1, "deeper")


@needs_strings
def test_strings() -> None:
    for coerce in (True, False):
        back(String(coerce=coerce))
        for na in (None, math.nan, np.nan, "", "NA", "\0é"):
            back(String(coerce=coerce, na_object=na))
    inside = []
    for parts in ((String(), (2,)), {"names": ["a"], "formats": [String()]}):
        with contextlib.suppress(TypeError):  # newer numpy refuses to make it
            inside.append(np.dtype(parts))  # type: ignore[call-overload]
    for dtype in (*inside, [("a", inside[0])]):
        with pytest.raises(EncodeError, match="inside"):
            dtype_bytes(np.dtype(dtype))
    for na in (pytest, 7, np.float64("nan"), -math.nan, float):
        with pytest.raises(EncodeError, match="na_object"):
            dtype_bytes(String(na_object=na))


class Mine(np.void):
    pass


@pytest.mark.parametrize(
    "dtype",
    [
        "O",
        [("a", "i4"), ("b", "O")],
        [("a", [("b", "O")], (2,))],
        np.dtype("i4", metadata={"a": 1}),
        np.dtype([("a", np.dtype("i4", metadata={"a": 1}))]),
        np.dtype((Mine, [("a", "i4")])),
        np.dtype((Mine, 8)),
        np.dtype((np.record, 8)),
        np.dtype({"names": ["a"], "formats": ["i4"], "titles": [5]}),
        "M8[0s]",
    ],
)
def test_what_does_not_come_back_is_refused(dtype: Any) -> None:
    with pytest.raises(EncodeError):
        dtype_bytes(np.dtype(dtype))


def number(value: int) -> bytes:
    sink = Sink()
    sink.uvarint(value)
    return bytes(sink.out)


def struct_bytes(size: int, *fields: bytes, flags: int = 0) -> bytes:
    return bytes([DtypeCode.STRUCT, flags]) + number(size) + number(len(fields)) + b"".join(fields)


def field(name: bytes, offset: int, dtype: bytes) -> bytes:
    return b"\0" + number(len(name)) + name + number(offset) + dtype


@pytest.mark.parametrize(
    "raw",
    [
        b"\x19", b"\x7f", b"\xff",
        b"\x80", b"\x81", b"\x93\1", b"\x95\1", b"\x96\0\0", b"\x97\0\0\0", b"\x98\1\1\3",
        b"\x10\0", b"\x10\x0e", b"\x10\x84",
        b"\x0e\x08\x34", b"\x0e\x10\x70", b"\x0f\x10\x3f",
        b"\x11\x0e\1", b"\x11\0\0", b"\x11\x0d\2", b"\x11\0" + number(2**31), b"\x12\xff\1",
        b"\x13" + number(2**31), b"\x14" + number(2**29), b"\x14" + number(2**31), b"\x15" + number(2**63),
        b"\x16\2\0", b"\x16\0\4", b"\x16\0\3\1\xff", b"\x16\0\3\3\xed\xa0\x80",
        struct_bytes(4, flags=4), struct_bytes(2**31),
        struct_bytes(4, field(b"a", 1, b"\3")), struct_bytes(4, field(b"a", 2**64 - 4, b"\3")),
        struct_bytes(8, field(b"a", 0, b"\3"), field(b"a", 4, b"\3")),
        struct_bytes(8, field(b"\xff", 0, b"\3")),
        struct_bytes(8, field(b"a", 1, b"\3"), flags=1), struct_bytes(5, field(b"a", 0, b"\3"), flags=1),
        struct_bytes(8, b"\2\1a\0\3"), struct_bytes(8, b"\1\1a\1b\0\3", field(b"b", 4, b"\3")),
        struct_bytes(16, field(b"a", 0, b"\x16\0\0")),
        bytes([DtypeCode.STRUCT, 0, 4]) + number(2**62),
        b"\x18\0\3", b"\x18\x41" + b"\1" * 65 + b"\3", b"\x18\1" + number(2**31) + b"\3", b"\x18\1" + number(2**29) + b"\3",
        b"\x18\2" + number(2**16) * 2 + b"\3", b"\x18\2\0" + number(2**40) + b"\3", b"\x18\1\1\x16\0\0", b"\x18\1\3\x13\0",
    ],
)  # fmt: skip
def test_bad_bytes(raw: bytes) -> None:
    refused(lambda cursor, n: [read_dtype(cursor)], raw, 1)


def test_an_aligned_structure_without_fields() -> None:
    # numpy 1 gives it the alignment 0 and then divides by it
    for size in (0, 8):
        raw = struct_bytes(size, flags=1)
        for data in (raw, struct_bytes(size, field(b"a", 0, raw), flags=1)):
            if np.dtype([], align=True).alignment:
                assert dtype_bytes(read_dtype(Cursor(memoryview(data)))) == data
            else:
                refused(lambda cursor, n: [read_dtype(cursor)], data, 1, "numpy 2")


units = st.tuples(st.sampled_from(dtypecodes.UNITS[:-1]), st.integers(1, 2**31 - 1))
moments = st.builds(
    lambda kind, order, unit: np.dtype(f"{order}{kind}8[{unit[1]}{unit[0]}]"),
    st.sampled_from("mM"),
    st.sampled_from("<>"),
    units,
)
plain = hnp.scalar_dtypes() | moments | st.integers(1, 70).map("V{}".format).map(np.dtype)
structs = st.recursive(
    plain,
    lambda inner: (
        hnp.array_dtypes(inner, max_size=4, allow_subarrays=True)
        | st.lists(
            st.tuples(st.text(min_size=1), inner), min_size=1, max_size=4, unique_by=lambda pair: pair[0]
        ).flatmap(lambda fields: st.booleans().map(lambda align: np.dtype(fields, align=align)))
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None)
@given(structs)
def test_any_dtype(dtype: np.dtype[Any]) -> None:
    back(dtype)


@settings(max_examples=400, deadline=None)
@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from([b"\x17", b"\0", b"\1", b"\2", b"\3", b"\x18", b"\x16", b"a", b"\x84"])).map(b"".join)
)
def test_garbage_is_a_dtype_or_an_error(data: bytes) -> None:
    try:
        dtype = read_dtype(Cursor(memoryview(data)))
    except NpserError as error:
        assert isinstance(error, DecodeError)
    else:
        assert dtype.itemsize <= dtypecodes.MAX_ITEMSIZE and (dtype.kind == "T" or not dtype.hasobject)
