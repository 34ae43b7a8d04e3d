"""What the second half of `npser.blocks.choose.costs` rests on.     python -m benchmarks.thresholds_text_floats [sweep]

Strategy: one sweep a question, as in `thresholds`. Each writes data that suits an encoding with that encoding's own
writer and prints bytes and nanoseconds an item (best of several) to write and to read in each way, at several sizes. A
block of n items costs fixed + n * slope; the fit over the sizes is the last line, and `costs` has both, rounded.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.thresholds import best, flat, run
from npser.blocks import binary, bits, floats, text
from npser.blocks.choose import stems, write_bits, write_bytes, write_floats, write_ints, write_text
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns import texts

F64 = NDArray[np.float64]
RNG = np.random.default_rng(21)
SIZES = (17, 64, 256, 1024, 4096, 16384, 65536, 262144)
FEWER = SIZES[:-2]
FLOATS = {"array": floats.read_floats, "list": floats.read_float_list}
BITS = {"array": bits.read_bits, "list": bits.read_bit_list}
TEXT = {"list": text.read_text}
BYTES = {"list": binary.read_bytes}
Readers = dict[str, Callable[[Cursor, int], Any]]


def measure(
    name: str,
    make: Callable[[int], Sequence[Any]],
    write: Callable[[Sink, Any], object],
    readers: Readers,
    sizes: Sequence[int] = SIZES,
) -> None:
    """Print one encoding at all sizes, and a fit for each way to read it."""
    print(f"\n{name:24}{'bytes':>8}{'write':>8}" + "".join(f"{way:>8}" for way in readers) + "   ns an item")
    times: dict[str, list[float]] = {way: [] for way in readers}
    for n in sizes:
        values = make(n)
        sink = Sink()
        write(sink, values)
        data = memoryview(bytes(sink.out))
        row = [len(data), best(lambda: write(Sink(), values))]  # noqa: B023
        for way, read in readers.items():
            times[way].append(best(lambda: read(Cursor(data, budget=1 << 40), n)))  # noqa: B023
            row.append(times[way][-1])
        print(f"{n:24}" + "".join(f"{cell / n:8.2f}" for cell in row))
    for way, taken in times.items():
        slope, fixed = np.polyfit(np.array(sizes, float), np.array(taken), 1, w=1 / np.array(taken))
        print(f"{way:>24}: {fixed:.0f} ns + {slope:.2f} ns an item")


def hundredths(n: int) -> F64:
    return np.round(RNG.random(n) * 300, 2)


def as_decimals(sink: Sink, values: F64) -> None:
    floats.write_decimal(sink, 2, np.rint(values * 100).astype("<i8"), flat)


def sweep_floats() -> None:
    """As they are, and as float32: F64_NS, F32_BLOCK_NS, F32_NS."""
    measure("F64", RNG.random, floats.write_f64, FLOATS)
    measure("F32", lambda n: RNG.random(n).astype("<f4").astype("<f8"), floats.write_f32, FLOATS)


def sweep_decimals() -> None:
    """Over a plain frame: DECIMAL_BLOCK_NS, DECIMAL_NS, FLOAT_MIN_ITEMS."""
    measure("DECIMAL of 16 bits", hundredths, as_decimals, FLOATS)
    measure("DECIMAL of few digits", lambda n: np.round(RNG.random(n), 2), as_decimals, FLOATS)


def sweep_float_dict() -> None:
    """FLOAT_DICT_BLOCK_NS, FLOAT_DICT_NS."""
    for d in (4, 200):
        table = np.sort(RNG.random(d))
        measure(
            f"DICT of {d}",
            partial(RNG.choice, table),
            lambda sink, values, table=table: floats.write_dict(
                sink, table, np.searchsorted(table, values), floats.write_f64, flat
            ),
            FLOATS,
        )


def sweep_float_runs() -> None:
    """FLOAT_MIN_MEAN_RUN: from where on runs beat doubles as they are, to an array and to a list."""
    for mean in (2, 4, 8, 16, 64):

        def write(sink: Sink, values: F64, mean: int = mean) -> None:
            starts = np.arange(0, values.size, mean)
            floats.write_runs(sink, values[starts], np.diff(starts, append=values.size), floats.write_f64, flat)

        measure(f"RUNS of {mean}", lambda n, mean=mean: np.repeat(RNG.random(n // mean + 1), mean)[:n], write, FLOATS)


def sweep_exceptions() -> None:
    """Over decimals: FLOAT_PATCHED_BLOCK_NS, FLOAT_PATCH_NS, MAX_EXCEPTIONS, MAX_LIKE_EXCEPTIONS."""
    for share in (0.01, 0.03, 0.1, 0.25):

        def write(sink: Sink, values: F64, share: float = share) -> None:
            odd = np.arange(0, values.size, round(1 / share))
            floats.write_patched(sink, odd, values[odd], partial(as_decimals, values=values), floats.write_f64, flat)

        measure(f"PATCHED, {share:.0%}", hundredths, write, FLOATS)


def sweep_bits() -> None:
    """Bits against runs of them: BITS_RUNS_MIN_ITEMS, BITS_MIN_MEAN_RUN."""
    measure("BITS", lambda n: RNG.random(n) < 0.5, bits.write_packed, BITS)
    for mean in (16, 64, 256):
        measure(
            f"RUNS of {mean}",
            lambda n, mean=mean: np.arange(n) // mean % 2 == 1,
            lambda sink, values, mean=mean: bits.write_runs(
                sink, 0, np.diff(np.arange(0, values.size, mean), append=values.size), flat
            ),
            BITS,
        )


def words(length: int, n: int) -> list[str]:
    """n distinct strings of one length."""
    return [f"{i:0{length}x}" for i in RNG.permutation(n).tolist()]


def sweep_text() -> None:
    """TEXT_CUT_NS; and what a separator saves over lengths."""
    for length in (8, 25, 72):
        measure(f"SPLIT, {length} letters", partial(words, length), partial(write_split, "\0"), TEXT, FEWER)
    measure("LENGTHS, 25 letters", partial(words, 25), lambda s, v: text.write_lengths(s, v, flat), TEXT, FEWER)


def write_split(separator: str, sink: Sink, values: list[str]) -> None:
    assert text.write_split(sink, values, separator)


def sweep_bytes() -> None:
    """BYTES_CUT_NS, with lengths that differ and with one length."""
    write = partial(binary.write_lengths, write_ints=flat)
    measure("LENGTHS, 0 to 49", lambda n: [bytes(i) for i in RNG.integers(0, 50, n).tolist()], write, BYTES, FEWER)
    measure("LENGTHS, 16", lambda n: [RNG.bytes(16) for _ in range(n)], write, BYTES, FEWER)


def sweep_text_dict() -> None:
    """TEXT_CODE_NS, TEXT_DISTINCT_NS, TEXT_DICT_BLOCK_NS."""
    for d in (4, 200, 5000):
        table = words(12, d)

        def write(sink: Sink, values: list[str], table: list[str] = table) -> None:
            places = {item: place for place, item in enumerate(table)}
            codes = np.array([places[item] for item in values], "<i8")
            text.write_dict(sink, table, codes, partial(write_split, "\0"), flat)

        def make(n: int, table: list[str] = table) -> list[str]:
            return [table[i] for i in RNG.integers(0, len(table), n).tolist()]

        measure(f"DICT of {d}", make, write, TEXT, FEWER)


def sweep_radix() -> None:
    """RADIX_BASES, RADIX_MIN_ITEMS: digits of words against the codes that `write_ints` chooses."""
    for d in (2, 3, 5, 6, 8, 12, 16, 20, 32, 40, 64, 200):
        table = words(12, d)

        def make(n: int, d: int = d) -> Any:
            return RNG.integers(0, d, n).astype("<u1")

        def as_digits(sink: Sink, codes: Any, table: list[str] = table) -> None:
            text.write_radix(sink, table, codes, partial(write_split, "\0"))

        def as_ints(sink: Sink, codes: Any, table: list[str] = table) -> None:
            text.write_dict(sink, table, codes.astype("<i8"), partial(write_split, "\0"), write_ints)

        sizes = (128, 512, 2048, 8192, 32768)
        measure(f"RADIX of {d}", make, as_digits, TEXT, sizes)
        measure(f"DICT of {d}", make, as_ints, TEXT, sizes)


def sweep_stem() -> None:
    """MIN_SHARE: strings of which a stem is so much, with the stem stored once and as they are."""
    print(f"\n{'share':>8}{'STEM':>10}{'SPLIT':>10}   ns an item to read      bytes an item")
    for stem, tail in ((16, 64), (16, 32), (32, 32), (32, 12), (48, 8)):
        values = ["s" * stem + word.ljust(tail, "t") for word in words(6, 200)]
        figures, sizes = [], []
        for write in (lambda sink, v, stem=stem: text.write_stem(sink, v, "s" * stem), partial(write_split, "\0")):
            sink = Sink()
            write(sink, values)
            data = memoryview(bytes(sink.out))
            figures.append(best(lambda data=data: text.read_text(Cursor(data), 200)) / 200)  # type: ignore[misc]
            sizes.append(len(data) / 200)
        print(
            f"{stem / (stem + tail):8.2f}{figures[0]:10.1f}{figures[1]:10.1f}{sizes[0]:30.1f} / {sizes[1]:.1f}"
        )


def sweep_stem_sample() -> None:
    """SAMPLED and MAX_SAMPLED of `stems`: how often the stem of four strings in ten is found."""
    kept = stems.SAMPLED, stems.MAX_SAMPLED
    print(f"\n{'strings':>8}{'sampled':>9}{'us':>8}{'found, of 50':>14}")
    for n in (32, 100, 300, 1000, 10000):
        rng = random.Random(n)
        for sampled in (16, 32, 64, 256):
            stems.SAMPLED = stems.MAX_SAMPLED = sampled
            found = 0
            for _ in range(50):
                values = ["s" * 40 + word if rng.random() < 0.4 else word for word in words(30, n)]
                rng.shuffle(values)
                found += stems.find_stem(values) is not None
            print(f"{n:8}{sampled:9}{best(lambda: stems.find_stem(values)) / 1000:8.1f}{found:14}")  # noqa: B023
        stems.SAMPLED, stems.MAX_SAMPLED = kept


def sweep_long_text() -> None:
    """LONG_ITEMS: `split` against `find`."""
    usual = text.LONG_ITEMS
    for length in (250, 500, 750, 1000, 2000, 8000):
        for name, text.LONG_ITEMS in (("split", 1 << 30), ("find", 0)):
            measure(f"{name}, {length} letters", partial(words, length), partial(write_split, "\0"), TEXT, (64, 1024))
    text.LONG_ITEMS = usual


def sweep_shared() -> None:
    """SHARED_MIN_ITEMS of `columns.texts`: codes by reference against a proof of types and a look-up."""
    for d in (4, 40, 200):
        table = words(12, d)

        def make(n: int, table: list[str] = table) -> list[str]:
            return [table[i] for i in RNG.integers(0, len(table), n).tolist()]

        def by_reference(sink: Sink, values: list[str]) -> None:
            sink.out += texts.encode_if_text(Sink(), values, len(values)) or b""

        def by_look_up(sink: Sink, values: list[str]) -> None:
            assert texts.are_all(values, str)
            write_text(sink, values)

        for way, write in (("by reference", by_reference), ("by look-up", by_look_up)):
            measure(f"{d} objects, {way}", make, write, {}, (512, 1024, 2048, 8192, 32768))


def sweep_split_chunks() -> None:
    """CHUNK_BYTES: how much is joined and encoded at a time."""
    usual, sizes = text.CHUNK_BYTES, (16384, 131072)
    for size in (1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24):
        text.CHUNK_BYTES = size
        for length in (12, 72):
            measure(f"{size >> 10} kB, {length}", partial(words, length), partial(write_split, "\0"), TEXT, sizes)
    text.CHUNK_BYTES = usual


def sweep_chosen_floats() -> None:
    """What the chooser makes of usual columns, and what choosing costs: FLOAT_SAMPLE."""
    columns: dict[str, Callable[[int], F64]] = {
        "random": RNG.random,
        "prices": hundredths,
        "prices, some NaN": lambda n: np.where(RNG.random(n) < 0.1, np.nan, hundredths(n)),
        "few distinct": partial(RNG.choice, RNG.random(30)),
        "runs": lambda n: np.repeat(RNG.random(n // 50 + 1), 50)[:n],
        "float32": lambda n: RNG.random(n).astype("<f4").astype("<f8"),
    }
    for name, make in columns.items():
        measure(name, make, write_floats, FLOATS)
    measure("bits", lambda n: RNG.random(n) < 0.5, write_bits, BITS)


def sweep_chosen_text() -> None:
    """What the chooser makes of usual columns, and what choosing costs: TEXT_SAMPLE, TEXT_SAMPLE_SHARE."""
    columns: dict[str, Callable[[int], list[str]]] = {
        "distinct": partial(words, 25),
        "40 categories": lambda n: [f"category {i}" for i in RNG.integers(0, 40, n).tolist()],
        "a third distinct": lambda n: [f"category {i}" for i in RNG.integers(0, n // 3, n).tolist()],
    }
    for name, make in columns.items():
        measure(name, make, write_text, TEXT, FEWER)
        measure(name + ", bytes", lambda n, make=make: [item.encode() for item in make(n)], write_bytes, BYTES, FEWER)


SWEEPS = (
    sweep_floats,
    sweep_decimals,
    sweep_float_dict,
    sweep_float_runs,
    sweep_exceptions,
    sweep_bits,
    sweep_text,
    sweep_bytes,
    sweep_text_dict,
    sweep_radix,
    sweep_stem,
    sweep_stem_sample,
    sweep_long_text,
    sweep_shared,
    sweep_split_chunks,
    sweep_chosen_floats,
    sweep_chosen_text,
)

if __name__ == "__main__":
    run(SWEEPS, sys.argv[1:])
