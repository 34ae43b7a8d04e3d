"""Arrays keep dtype, shape, byte order and memory order; bytes that are no array are one error."""

from __future__ import annotations

import contextlib
import io
import random
import warnings

import numpy as np
import pytest

from npser.cli.npy_file import read_npy, write_npy
from npser.cli.refusal import ConvertError
from npser.inspection.same import identical

ARRAYS = [
    np.array(1.5),
    np.zeros((0, 3), "<f4"),
    np.arange(6, dtype=">u2").reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array(["a", "bc"]),
    np.array(["2024-01-01", "NaT"], "M8[D]"),
    np.array([(1, 2.5)], [("a", "i1"), ("b", ">f8")]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.dtype))
def test_there_and_back(array: np.ndarray) -> None:
    back = read_npy(write_npy(array))
    assert identical(back, array) and back.flags.f_contiguous == array.flags.f_contiguous
    saved = io.BytesIO()
    np.save(saved, array)
    assert write_npy(array) == saved.getvalue()


def test_every_cut_is_refused() -> None:
    data = write_npy(np.arange(4, dtype="<i4"))
    for length in range(len(data)):
        with pytest.raises(ConvertError):
            read_npy(data[:length])


def test_a_header_that_asks_for_petabytes_is_refused() -> None:
    header = write_npy(np.zeros(1))[:128].replace(b"(1,)" + b" " * 16, b"(1000000000000000, )")
    with pytest.raises(ConvertError):
        read_npy(header)


def test_any_header_is_an_array_or_refused() -> None:
    dice = random.Random(5)
    data = write_npy(np.zeros((2, 3), [("a", "i1"), ("b", ">f8", (2,))]))
    headers = [b"{'descr': (", b"{'descr': (), 'fortran_order': False, 'shape': ()}", b'{"""', b"(" * 300, b"{[]: 1}", b"\n  x\n y"]
    for header in headers:
        with pytest.raises(ConvertError):
            read_npy(data[:10] + header.ljust(128 - 10) + data[128:])
    for _ in range(2000):
        broken = bytearray(data)
        for _ in range(dice.randint(1, 4)):
            broken[dice.randrange(8, len(data))] = dice.choice(b"(){}[]'\",:\n\\#x0\0\xff")
        with contextlib.suppress(ConvertError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_npy(bytes(broken))


def test_what_follows_the_array_and_python_objects_are_refused() -> None:
    with pytest.raises(ConvertError, match="2 bytes follow"):
        read_npy(write_npy(np.zeros(2)) + b"xx")
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ConvertError, match="Object arrays"):
        read_npy(pickled.getvalue())
    with pytest.raises(ConvertError, match="Object arrays"):
        write_npy(np.array([{}], dtype=object))


def test_only_an_array_is_written() -> None:
    with pytest.raises(ConvertError, match="this value is list"):
        write_npy([1, 2])
