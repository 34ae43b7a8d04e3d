"""What the constants in `npser.blocks.choose.costs` rest on: run `python benchmarks/thresholds.py [sweep]`.

Strategy: one sweep a question. Each writes data that suits an encoding with that encoding's own writer and prints
nanoseconds an item (best of several) to write, to read as an array and to read as a list, at several sizes. A block
of n items costs fixed + n * slope; the fit over the sizes is the last line, and the slope is what `costs` names.
"""

from __future__ import annotations

import datetime
import decimal
import gc
import sys
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npser.blocks import ints, shared_ints, stretches
from npser.blocks.choose.ints import write_ints
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns import absent, kinds, numbers, scalars, temporal
from npser.shapes.generated import build_rows

SIZES = (17, 64, 256, 1024, 4096, 16384, 65536, 262144)
I64 = NDArray[np.int64]
RNG = np.random.default_rng(20)


def best(call: Callable[[], object], seconds: float = 0.02) -> float:
    """The fastest of as many calls as fit, in nanoseconds."""
    end = perf_counter_ns() + int(seconds * 1e9)
    fastest = float("inf")
    while True:
        start = perf_counter_ns()
        call()
        stop = perf_counter_ns()
        fastest = min(fastest, stop - start)
        if stop > end:
            return fastest


def flat(sink: Sink, values: I64) -> None:
    """Nested blocks as a plain frame, so that only the encoding around them differs."""
    low, high = int(values.min()), int(values.max())
    base = low if low < 0 else 0
    ints.write_frame(sink, values, base, next(width for width in (8, 16, 32, 64) if high - base < 1 << width))


def measure(name: str, make: Callable[[int], I64], write: Callable[[Sink, I64], None]) -> None:
    """Print one encoding at all sizes, and the fit."""
    print(f"\n{name:24}{'bytes':>8}{'write':>8}{'array':>8}{'list':>8}   ns an item")
    rows = [measure_size(make(n), write) for n in SIZES]
    for n, row in zip(SIZES, rows, strict=True):
        print(f"{n:24}" + "".join(f"{cell / n:8.2f}" for cell in row))
    times = np.array([array for _, _, array, _ in rows])
    slope, fixed = np.polyfit(np.array(SIZES, float), times, 1, w=1 / times)
    print(f"{'array':>24}: {fixed:.0f} ns + {slope:.2f} ns an item")


def measure_size(values: I64, write: Callable[[Sink, I64], None]) -> tuple[float, float, float, float]:
    """Bytes, and nanoseconds to write, to read as an array, to read as a list."""
    sink = Sink()
    write(sink, values)
    data, n = memoryview(bytes(sink.out)), values.size
    assert ints.read_ints(Cursor(data), n).tobytes() == values.tobytes()
    return (
        len(data),
        best(lambda: write(Sink(), values)),
        best(lambda: ints.read_ints(Cursor(data), n)),
        best(lambda: ints.read_int_list(Cursor(data), n)),
    )


def below(bits: int, n: int) -> I64:
    """n random values below 2**bits, bits < 64."""
    return RNG.integers(0, 1 << bits, n, "<i8")


def below_from(base: int, bits: int, n: int) -> I64:
    """The same from a base."""
    return base + below(bits, n)


def below_mixed(bits: int, n: int) -> I64:
    """All lengths up to `bits` bits, equally often."""
    return below(bits, n) >> RNG.integers(0, bits, n)


def repeated(mean: int, n: int) -> I64:
    """Runs of `mean` items."""
    return np.repeat(below(20, n // mean + 1), mean)[:n]


def random_words(n: int) -> I64:
    """n values of 64 random bits."""
    return np.frombuffer(RNG.bytes(8 * n), "<i8")


def frame(width: int, base: int, sink: Sink, values: I64) -> None:
    ints.write_frame(sink, values, base, width)


def sweep_frames() -> None:
    """Plain widths, whole bytes, half bytes, bits: VIEW_NS, BYTES_NS, BITS_NS, WIDE_NS, their fixed costs, UNUSED.

    UNUSED is what random integers below a million, and prices, gain from whole bytes, to write and to read.
    """
    for width in (8, 16, 24, 32, 48, 64, 4, 12, 20, 10, 18, 22, 1, 5, 17, 31, 41, 57, 61):
        make = random_words if width == 64 else partial(below, width)
        measure(f"FRAME of {width} bits", make, partial(frame, width, 0))


def sweep_bases() -> None:
    """A base that is not zero costs one more pass."""
    for width in (8, 16, 32):
        make = partial(below_from, -7, width)
        measure(f"FRAME of {width} bits from -7", make, partial(frame, width, -7))


def sweep_expanded() -> None:
    """Nearly no bytes: CONST_NS, AFFINE_NS."""
    measure("CONST", lambda n: np.full(n, 12345), lambda sink, values: ints.write_const(sink, 12345, values.size))
    measure("AFFINE", lambda n: np.arange(n) * 3, lambda sink, values: ints.write_affine(sink, 0, 3, values.size))


def sweep_delta() -> None:
    """A running sum over a frame of 8 bits: DELTA_NS."""

    def write_delta(sink: Sink, values: I64) -> None:
        ints.write_delta(sink, int(values[0]), values[1:] - values[:-1], flat)

    measure("DELTA", lambda n: np.cumsum(RNG.integers(0, 200, n)), write_delta)


def sweep_varint() -> None:
    """Mixed lengths: VARINT_NS, VARINT_BYTE_NS."""
    for bits in (13, 20, 27, 55, 63):
        measure(f"VARINT up to {bits} bits", partial(below_mixed, bits), ints.write_varint)


def sweep_runs() -> None:
    """Runs of a mean length: RUNS_NS, RUN_NS."""

    def write_runs(sink: Sink, values: I64) -> None:
        starts = ints.run_starts(values)
        ints.write_runs(sink, values[starts], np.diff(starts, append=values.size), flat)

    for mean in (2, 4, 8, 32):
        measure(f"RUNS of {mean}", partial(repeated, mean), write_runs)


def choices(table: I64, n: int) -> I64:
    """n of the values of a table."""
    return RNG.choice(table, n)


def write_codes(table: I64, sink: Sink, values: I64) -> None:
    """DICT with a table that is known."""
    ints.write_dict(sink, table, np.searchsorted(table, values), flat)


def sweep_dict() -> None:
    """Few distinct large values: DICT_NS; the lists against those of frames: SHARED_NS."""
    for distinct in (4, 200, 5000):
        table = np.sort(below(60, distinct))
        measure(f"DICT of {distinct}", partial(choices, table), partial(write_codes, table))


def sweep_patched() -> None:
    """One outlier in a hundred: PATCHED_NS, PATCH_NS."""

    def make(n: int) -> I64:
        values = below(8, n)
        values[::100] = 1 << 40
        return values

    def write(sink: Sink, values: I64) -> None:
        positions = np.flatnonzero(values > 255)
        base = values.copy()
        base[positions] = 0
        ints.write_patched(sink, positions, values[positions], base, flat)

    measure("PATCHED", make, write)


def sweep_chosen() -> None:
    """What the chooser makes of usual columns, and what choosing costs."""
    columns: dict[str, Callable[[int], I64]] = {
        "ramp": lambda n: np.arange(n) * 7 + 3,
        "below a million": lambda n: RNG.integers(0, 1_000_000, n),
        "sorted ids": lambda n: np.sort(RNG.integers(0, 40 * n, n)),
        "random words": random_words,
        "heavy tail": lambda n: np.exp(RNG.exponential(4, n).clip(0, 43)).astype("<i8"),
        "outliers": lambda n: np.where(RNG.random(n) < 0.01, 1 << 45, RNG.integers(0, 1000, n)),
        "runs": lambda n: np.repeat(RNG.integers(0, 1000, n), 12)[:n],
        "few large": lambda n: RNG.choice(random_words(50), n),
    }
    for name, make in columns.items():
        measure(name, make, write_ints)


def sweep_proofs() -> None:
    """Values that come with a proof of their types, against asking each for its type: PROVED_ITEMS, SHARED_PART.

    Nanoseconds an item, for ints that nobody else refers to, for an eighth of them shared, and for all.
    """

    def asked(values: list[int]) -> None:
        set(map(type, values))
        scalars.write_int_column(Sink(), values)

    def proved(values: list[int]) -> None:
        found = kinds.number_column(values)
        assert found is not None
        found[1](Sink())

    print(f"\n{'':12}{'asked':>8}{'proved':>8}{'1 in 8':>8}{'shared':>8}{'None':>8}")
    for n in (128, 256, 512, 1024, 4096, 16384, 65536):
        kinds.PROVED_ITEMS = 0
        values = below(20, n).tolist()
        row = [best(partial(asked, values)), best(partial(proved, values))]
        some = values[::8]
        row.append(best(partial(proved, values)))
        del some
        row.append(best(partial(proved, values[:])))
        row.append(best(partial(proved, [value if at % 9 else None for at, value in enumerate(below(20, n).tolist())])))
        print(f"{n:12}" + "".join(f"{cell / n:8.2f}" for cell in row))


def sweep_none() -> None:
    """None among ints, spread as numbers or made objects at once: FEW_ABSENT_NUMBERS."""
    print(f"\n{'one in':>12}{'numbers':>8}{'objects':>8}")
    for one in (100, 32, 24, 16, 12, 8, 4, 2):
        present = np.arange(10_000) % one > 0
        dense = below(20, int(present.sum())).astype("<i4")
        row = []
        for few in (0, 1 << 20):
            absent.FEW_ABSENT_NUMBERS = few
            row.append(best(partial(absent.spread, dense, present)))
        print(f"{one:12}" + "".join(f"{cell / present.size:8.2f}" for cell in row))


def sweep_shared() -> None:
    """Ints that are made, or taken out of the table: MIN_TAKEN, MIN_LOOKED_AT and END of `shared_ints`; MIN_RAMP."""
    ends = (300, 1000, 4000, 10_000, 40_000)
    print(f"\n{'below':>12}" + "".join(f"{end:16}" for end in ends) + f"{'ramp':>16}")
    for n in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536):
        row = []
        for end in ends:
            values = RNG.integers(0, end, n).astype("<i4")
            shared_ints._table.cache_clear()
            shared_ints.END = max(end, 10_240)
            for least in (1 << 62, 0):
                shared_ints.MIN_TAKEN = least
                row.append(best(partial(shared_ints.to_list, values, (0, end - 1))))
        for least in (1 << 62, 0):
            shared_ints.MIN_RAMP = least
            row.append(best(partial(shared_ints.ramp_list, 0, 1, min(n, 10_000))))
        print(f"{n:12}" + "".join(f"{cell / n:8.2f}" for cell in row))


def sweep_repeated() -> None:
    """Dates and Decimals, one by one and once each: FEW_DATES, SAMPLED and REPEATED of `temporal` and `numbers`."""
    print(f"\n{'n':>12}{'of each':>8}{'dates':>16}{'Decimals':>16}")
    for n in (64, 256, 1024, 16384):
        for share in (64, 16, 8, 4, 2, 1):
            codes = [at * 7919 % (n // share) for at in range(n)]
            days = [datetime.date.fromordinal(730_000 + code) for code in codes]
            prices = [decimal.Decimal(code).scaleb(-2) for code in codes]
            cells = one_by_one(temporal, temporal.write_dates, temporal.read_dates, days)
            cells += one_by_one(numbers, numbers.write_decimals, numbers.read_decimals, prices)
            print(f"{n:12}{share:8}" + "".join(f"{cell / n:8.1f}" for cell in cells))


def one_by_one(module: Any, write: Callable[..., None], read: Callable[..., Any], values: list[Any]) -> list[float]:
    """Nanoseconds to read them one by one, and as `module` does."""
    sink, usual = Sink(), module.REPEATED
    write(sink, values)
    data = memoryview(bytes(sink.out))
    row = []
    for repeated in (1 << 40, usual):
        module.REPEATED = repeated
        row.append(best(lambda: read(Cursor(data, 1), len(values))))
    return row


def sweep_stretches() -> None:
    """Rows out of columns, whole or a stretch at a time: STRETCH and LONG of `stretches`."""
    build = build_rows(tuple(f"key {at}" for at in range(16)))

    def in_stretches(columns: list[list[int]]) -> None:
        rows: list[Any] = []
        for part in stretches.side_by_side(columns, len(columns[0])):
            rows += build(part)

    steps = (256, 1024, 4096, 16384)
    print(f"\n{'rows':>12}{'whole':>8}" + "".join(f"{step:8}" for step in steps) + "   ns a row")
    for n in (4096, 16384, 65536, 262144):
        columns = [below(12, n).tolist() for _ in range(16)]
        gc.disable()  # as it is while many rows are made
        row = [best(partial(build, columns), 0.5)]
        for step in steps:
            stretches.STRETCH = step
            row.append(best(partial(in_stretches, columns), 0.5))
        gc.enable()
        print(f"{n:12}" + "".join(f"{cell / n:8.1f}" for cell in row))


SWEEPS = (
    sweep_frames,
    sweep_bases,
    sweep_expanded,
    sweep_delta,
    sweep_varint,
    sweep_runs,
    sweep_dict,
    sweep_patched,
    sweep_chosen,
    sweep_proofs,
    sweep_none,
    sweep_shared,
    sweep_repeated,
    sweep_stretches,
)


def run(sweeps: Sequence[Callable[[], None]], wanted: Sequence[str]) -> None:
    """Run the sweeps that are named, with or without their prefix; all if none is."""
    names = [name.removeprefix("sweep_") for name in wanted]
    for sweep in sweeps:
        if not names or sweep.__name__.removeprefix("sweep_") in names:
            print(f"\n== {sweep.__name__}: {sweep.__doc__}")
            sweep()


if __name__ == "__main__":
    run(SWEEPS, sys.argv[1:])
