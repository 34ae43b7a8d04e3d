"""Which encoding a block gets. Blocks themselves know only what bytes mean.

Strategy: one module a family of types, each picking the plan with the lowest cost by the constants in `costs`.
A reader never imports this package.
"""

from __future__ import annotations

from npser.blocks.choose.bits import write_bits
from npser.blocks.choose.floats import write_floats
from npser.blocks.choose.ints import write_ints, write_tight_ints
from npser.blocks.choose.text import write_bytes, write_text

__all__ = ["write_bits", "write_bytes", "write_floats", "write_ints", "write_text", "write_tight_ints"]
