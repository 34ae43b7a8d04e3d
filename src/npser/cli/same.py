"""Identical, not equal: what `npser demo` compares with; see `npser.inspection.same`."""

from __future__ import annotations

from npser.inspection.same import difference, identical

__all__ = ["difference", "identical"]
