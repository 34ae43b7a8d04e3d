"""The options of loads and dumps, and the verbs around them."""

from __future__ import annotations

import numpy as np

import npser


def test_numbers_array() -> None:
    found = npser.loads(npser.dumps([1, 2, 3]), numbers="array")
    assert found.dtype == np.int64
    assert found.tolist() == [1, 2, 3]
