"""Looking into payloads without building their values: where the bytes go, and why.

Strategy: `spans` walks a payload and tiles it, `parts` makes a tree of places out of that, `report` is what a caller
gets. Beside it stand `diff` of two reports, `compare` with other serializers, `advise`, and `plots`.
"""

from __future__ import annotations

from npser.inspection.parts import Part
from npser.inspection.pieces import Span
from npser.inspection.report import Report, inspect
from npser.inspection.why import Why

__all__ = ["Part", "Report", "Span", "Why", "inspect"]
