"""What the constants of reading large arrays rest on: run `python benchmarks/thresholds_frames.py [sweep]`.

Strategy: `fresh` gives freed memory back to the system before each call, as for what is read once, and the clock then
counts the pages that are touched; `again` decodes into memory that was there. Milliseconds, best of several.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter_ns

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.thresholds import I64, RNG, run
from npser.adapters.arrow_rows import CHUNK, Pairs, Rows
from npser.blocks import filling, flat_ints, ints, packing, pages, scratch
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink

TURNS = 7
N = 336_776 * 9
WIDTHS = (5, 12, 21, 40)


def give_back() -> None:
    """Give freed memory back to the system, as far as the C library can."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)


def best(call: Callable[[], object], before: Callable[[], object]) -> float:
    """The fastest of some calls, in milliseconds."""
    taken = []
    for _ in range(TURNS):
        before()
        start = perf_counter_ns()
        made = call()
        taken.append(perf_counter_ns() - start)
        del made
    return min(taken) / 1e6


def _filled(data: memoryview, make: Callable[[], I64]) -> I64:
    out = make()
    filling.fill_ints(Cursor(data), out)
    return out


def sweep_chunks() -> None:
    """Values unpacked at a time, for 3 million of each width: scratch.CHUNK_GROUPS."""
    print(f"\n{'values':>8}" + "".join(f"{f'{width} bits':>18}" for width in WIDTHS) + "   fresh, again")
    blocks = {}
    for width in WIDTHS:
        sink = Sink()
        ints.write_frame(sink, RNG.integers(0, 1 << width, N), 0, width)
        blocks[width] = memoryview(bytes(sink.out))
    there = np.empty(N, "<i8")
    for bits in range(13, 19):
        packing.CHUNK_GROUPS = (1 << bits) // scratch.GROUP  # type: ignore[misc]
        scratch.CHUNK = packing.CHUNK = flat_ints.CHUNK = filling.CHUNK = 1 << bits  # type: ignore[misc]
        scratch.Scratch._spare.clear()
        row = []
        for block in blocks.values():
            row.append(best(partial(_filled, block, partial(pages.empty, N, "<i8")), give_back))
            row.append(best(partial(_filled, block, lambda: there), gc.collect))
        print(f"{1 << bits:8}" + "".join(f"{cell:9.2f}" for cell in row))


def _written(make: Callable[[int, str], I64], nbytes: int) -> I64:
    out = make(nbytes, "u1")
    out.fill(1)
    return out


def sweep_pages() -> None:
    """Memory asked for and written to once, by numpy and by pages.empty: pages.LARGE_PAGE, pages.ASKED."""
    print(f"\n{'MB':>8}{'numpy':>9}{'pages':>9}")
    halves = (1, 2, 3, 4, 5, 6, 8, 11, 16, 32, 48, 128)
    # first all of numpy's, from small to large: what was asked for in large pages once may stay so
    rows = [
        [best(partial(_written, make, half << 19), give_back) for half in halves] for make in (np.empty, pages.empty)
    ]
    for half, *cells in zip(halves, *rows, strict=True):
        print(f"{half / 2:8}" + "".join(f"{cell:9.3f}" for cell in cells))


def _taken(table: Rows | Pairs, codes: I64, out: I64, size: int) -> None:
    for at in range(0, codes.size, CHUNK):
        table.take(codes[at : at + CHUNK], out[at * size : (at + CHUNK) * size])


def sweep_rows() -> None:
    """336,776 rows by codes, one and two at a time, the table made anew: arrow_rows.FAST, MAX_PAIRS, WORTH_PAIRS."""
    print(f"\n{'bytes':>8}{'distinct':>10}{'pairs kB':>10}{'rows':>9}{'pairs':>9}")
    n = N // 9
    for size, distinct in [*((size, 40) for size in range(1, 33)), *((3, d) for d in (3, 20, 80, 105, 150, 200))]:
        rows, codes = RNG.integers(0, 256, (distinct, size), "u1"), RNG.integers(0, distinct, n, "<i4")
        out = np.empty(n * size, "u1")
        one, two = (best(lambda: _taken(made(rows), codes, out, size), gc.collect) for made in (Rows, Pairs))  # noqa: B023
        print(f"{size:8}{distinct:10}{2 * size * distinct**2 / 1024:10.1f}{one:9.2f}{two:9.2f}")


if __name__ == "__main__":
    run((sweep_chunks, sweep_pages, sweep_rows), sys.argv[1:])
