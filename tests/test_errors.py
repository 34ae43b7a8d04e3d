"""What is refused, and what the refusal says."""

from __future__ import annotations

import pytest

import npser


def test_an_error_says_where() -> None:
    with pytest.raises(npser.EncodeError, match=r"\$\['a'\]"):
        npser.dumps({"a": object()})
