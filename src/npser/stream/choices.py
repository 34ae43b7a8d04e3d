"""The options of streams that are words."""

from __future__ import annotations

from typing import Literal

__all__ = ["Damaged", "Tail"]

Damaged = Literal["raise", "skip"]
"""What happens at bytes that are no sound frame: an error, or the next sound frame."""

Tail = Literal["raise", "ignore"]
"""What happens at a last frame that is cut off: an error, or the end."""
