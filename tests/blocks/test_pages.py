"""Memory of large pages is memory: of the size and dtype asked for, aligned, one's own."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from npser.blocks.pages import LARGE_PAGE, empty

SIZES = [
    0, 1, 4096, LARGE_PAGE - 8, LARGE_PAGE, LARGE_PAGE + 8, LARGE_PAGE * 3 // 2 - 8, LARGE_PAGE * 3 // 2,
    2 * LARGE_PAGE - 8, 2 * LARGE_PAGE, 5 * LARGE_PAGE + 1000,
]  # fmt: skip


@pytest.mark.parametrize("nbytes", SIZES)
@pytest.mark.parametrize("dtype", ["u1", "<i8", "V3", ">f4", "<M8[s]"])
def test_it_is_an_array_of_its_own(nbytes: int, dtype: str) -> None:
    count = nbytes // np.dtype(dtype).itemsize
    several = [empty(count, dtype) for _ in range(3)]
    for number, array in enumerate(several):
        assert array.shape == (count,) and array.dtype == np.dtype(dtype)
        assert array.flags.writeable and array.flags.aligned and array.flags.c_contiguous
        array.view("u1")[:] = number
    assert [set(array.view("u1")[:: max(1, nbytes // 64)].tolist()) for array in several] == [
        {number} if count else set() for number in range(3)
    ]


@pytest.mark.parametrize("nbytes", [size for size in SIZES if size >= LARGE_PAGE])
def test_it_begins_with_a_large_page_or_a_small_rest(nbytes: int) -> None:
    start = empty(nbytes, "u1").__array_interface__["data"][0]
    assert start % 64 == 0
    if sys.platform == "linux":
        assert -start % LARGE_PAGE <= LARGE_PAGE // 2
