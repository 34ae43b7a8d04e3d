"""What decoding costs and what a byte is worth: all thresholds of the choice of integer encodings.

Strategy: a plan costs its decode time (a fixed part a block, and a part an item) plus its bytes at `BYTE_NS` each. For
a cache the reader is the customer, so time comes first, and the price of a byte turns size into time. The figures are
nanoseconds, rounded, from decoding to an array on one machine, and only their proportions matter. Making Python ints
afterwards costs the same for every encoding; what a dictionary saves there counts for it. Each line names the sweep in
`benchmarks/thresholds.py` that it rests on; run that again before changing one.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "AFFINE_CHECK",
    "BITS_BLOCK_NS",
    "BITS_MIN_ITEMS",
    "BITS_NS",
    "BITS_PAIR_BLOCK_NS",
    "BITS_PAIR_NS",
    "BYTES_BLOCK_NS",
    "BYTES_NS",
    "BYTE_NS",
    "DELTA_BLOCK_NS",
    "DELTA_NS",
    "DICT_BLOCK_NS",
    "DICT_MAX_SHARE",
    "DICT_NS",
    "FAR_STEPS",
    "FEW_ITEMS",
    "GLANCE",
    "GLANCE_DISTINCT",
    "MIN_MEAN_RUN",
    "NESTED_FLOOR_NS",
    "OUTLIER_SHARE",
    "PATCHED_BLOCK_NS",
    "PATCH_BYTES",
    "PATCH_NS",
    "RUNS_BLOCK_NS",
    "RUNS_NS",
    "RUN_NS",
    "SAMPLE_WINDOW",
    "SAMPLE_WINDOWS",
    "SHARED_NS",
    "TIGHT_ITEMS",
    "UNUSED",
    "VARINT_BLOCK_NS",
    "VARINT_BYTE_NS",
    "VARINT_NS",
    "VIEW_BLOCK_NS",
    "VIEW_NS",
    "WIDE_BLOCK_NS",
    "WIDE_NS",
    "WORTHWHILE",
]

BYTE_NS: Final = 8.0
"""A stored byte: sent over a wire of one gigabit, copied and kept. Dear enough for bits to replace whole bytes where
that saves half a byte an item of a block of thousands; benchmarks/thresholds.py::sweep_frames."""

VIEW_BLOCK_NS: Final = 2300.0  # benchmarks/thresholds.py::sweep_frames, 8, 16, 32 and 64 bits
VIEW_NS: Final = 0.2
BYTES_BLOCK_NS: Final = 5300.0  # benchmarks/thresholds.py::sweep_frames, 24, 40, 48 and 56 bits
BYTES_NS: Final = 0.45
BITS_BLOCK_NS: Final = 6500.0  # benchmarks/thresholds.py::sweep_frames, the other widths up to 30 bits
BITS_NS: Final = 0.5
BITS_PAIR_BLOCK_NS: Final = 3300.0  # for each pair of values that begins at another place within the byte
BITS_PAIR_NS: Final = 0.2
WIDE_BLOCK_NS: Final = 20000.0  # benchmarks/thresholds.py::sweep_frames, 31, 41, 57 and 61 bits
WIDE_NS: Final = 2.3
UNUSED: Final = 4 / 3  # so much wider than its bits may a frame be to be coarser: whole bytes are read twice as fast as
# half bytes, and those as bits, and written so; benchmarks/thresholds.py::sweep_frames
TIGHT_ITEMS: Final = 1 << 16  # from here on nothing is left unused: 12 bits in the place of 16 are a quarter of what is
# most of the payload, and cost half a nanosecond an item; benchmarks/thresholds.py::sweep_frames
BITS_MIN_ITEMS: Final = 128  # below, even 40 bits in the place of 64 do not pay the block; sweep_frames

DELTA_BLOCK_NS: Final = 3500.0  # on top of the differences; benchmarks/thresholds.py::sweep_delta
DELTA_NS: Final = 0.6
FAR_STEPS: Final = 0.25  # neighbours further apart than half of what the middle half of the values spans: where there
# are more, the differences are as wide as the values; benchmarks/thresholds.py::sweep_chosen
VARINT_BLOCK_NS: Final = 22000.0  # benchmarks/thresholds.py::sweep_varint
VARINT_NS: Final = 1.5
VARINT_BYTE_NS: Final = 2.5
RUNS_BLOCK_NS: Final = 5000.0  # on top of values and lengths; benchmarks/thresholds.py::sweep_runs
RUNS_NS: Final = 0.15
RUN_NS: Final = 1.5
MIN_MEAN_RUN: Final = 4.0  # below, a frame of the values is nearly as small; benchmarks/thresholds.py::sweep_runs
DICT_BLOCK_NS: Final = 3500.0  # on top of distinct values and codes; benchmarks/thresholds.py::sweep_dict
DICT_NS: Final = 0.8
SHARED_NS: Final = 5.0  # saved an item as equal ints are one object; benchmarks/thresholds.py::sweep_dict, the lists
DICT_MAX_SHARE: Final = 0.25  # distinct values a sampled item above which no dictionary is tried; sweep_dict
PATCHED_BLOCK_NS: Final = 4000.0  # on top of the three blocks; benchmarks/thresholds.py::sweep_patched
PATCH_NS: Final = 3.0
PATCH_BYTES: Final = 10.0  # position and value, before they are packed
OUTLIER_SHARE: Final = 0.02  # sampled items that may stay outside the frame; benchmarks/thresholds.py::sweep_patched

NESTED_FLOOR_NS: Final = 5500.0  # no encoding but a frame costs less for a block; benchmarks/thresholds.py::sweep_delta
WORTHWHILE: Final = 0.8  # of a frame's cost; a smaller gain pays no encoder; benchmarks/thresholds.py::sweep_chosen
FEW_ITEMS: Final = 16  # up to this many, plans save less than they cost; benchmarks/thresholds.py::sweep_chosen
AFFINE_CHECK: Final = 1 << 14  # items compared at a time, so that a late mismatch costs no large temporary
GLANCE: Final = 64  # values, and pairs of neighbours, that rule out most; benchmarks/thresholds.py::sweep_chosen
GLANCE_DISTINCT: Final = 0.9  # of those, above which no dictionary is tried
SAMPLE_WINDOWS: Final = 16  # so many windows of so many neighbours are looked at before anything is tried on all items;
SAMPLE_WINDOW: Final = 32  # benchmarks/thresholds.py::sweep_chosen


# ------------------------------------------------------------------------------- doubles, booleans, text, byte strings
# Their sweeps are in benchmarks/thresholds_text_floats.py. What all encodings of a type have in common is left out.

__all__ += [
    "BITS_CONST_MIN_ITEMS",
    "BITS_MIN_MEAN_RUN",
    "BITS_RUNS_MIN_ITEMS",
    "BYTES_CUT_NS",
    "DECIMAL_BLOCK_NS",
    "DECIMAL_NS",
    "F32_BLOCK_NS",
    "F32_NS",
    "F64_NS",
    "FLOAT_DICT_BLOCK_NS",
    "FLOAT_DICT_NS",
    "FLOAT_DICT_SAMPLED",
    "FLOAT_DICT_SHARE",
    "FLOAT_MIN_ITEMS",
    "FLOAT_MIN_MEAN_RUN",
    "FLOAT_PATCHED_BLOCK_NS",
    "FLOAT_PATCH_BYTES",
    "FLOAT_PATCH_NS",
    "FLOAT_SAMPLE",
    "FLOAT_WHOLE",
    "MAX_EXCEPTIONS",
    "MAX_LIKE_EXCEPTIONS",
    "TEXT_CODE_NS",
    "TEXT_CUT_NS",
    "TEXT_DICT_BLOCK_NS",
    "TEXT_DISTINCT_NS",
    "TEXT_NEIGHBOURS",
    "TEXT_SAMPLE",
    "TEXT_SAMPLE_SHARE",
]

F64_NS: Final = 0.2  # to an array, as above; benchmarks/thresholds_text_floats.py::sweep_floats
F32_BLOCK_NS: Final = 1000.0
F32_NS: Final = 0.2
DECIMAL_BLOCK_NS: Final = 4500.0  # with the integers; benchmarks/thresholds_text_floats.py::sweep_decimals
DECIMAL_NS: Final = 0.7
FLOAT_DICT_BLOCK_NS: Final = 8000.0  # with both blocks; benchmarks/thresholds_text_floats.py::sweep_float_dict
FLOAT_DICT_NS: Final = 0.9
FLOAT_DICT_SAMPLED: Final = 4  # values of the sample for each distinct one, before a dictionary is tried
FLOAT_DICT_SHARE: Final = 8  # values of the block for each distinct one, and for each that the sample missed
FLOAT_PATCHED_BLOCK_NS: Final = 6000.0  # with the exceptions; benchmarks/thresholds_text_floats.py::sweep_exceptions
FLOAT_PATCH_NS: Final = 6.0
FLOAT_PATCH_BYTES: Final = 9.5  # a position and eight bytes
MAX_EXCEPTIONS: Final = 0.03  # of the items; more are a column of another kind; sweep_exceptions
MAX_LIKE_EXCEPTIONS: Final = 0.25  # if all have the same bits, like NaN for what is missing; sweep_exceptions
FLOAT_MIN_MEAN_RUN: Final = 8.0  # below, others are as fast; benchmarks/thresholds_text_floats.py::sweep_float_runs
FLOAT_MIN_ITEMS: Final = 192  # below, no block wins back what it costs; sweep_decimals
FLOAT_SAMPLE: Final = 256  # values looked at first; benchmarks/thresholds_text_floats.py::sweep_chosen_floats
FLOAT_WHOLE: Final = 1024  # up to here decimals are tried on all at once: numpy's calls cost more than the items

BITS_CONST_MIN_ITEMS: Final = 8  # up to a byte of bits nothing is saved
BITS_RUNS_MIN_ITEMS: Final = 512  # benchmarks/thresholds_text_floats.py::sweep_bits
BITS_MIN_MEAN_RUN: Final = 64.0  # a run is about two bytes: a quarter of the bits that it stands for; sweep_bits

TEXT_CUT_NS: Final = 22.0  # an item out of SPLIT; benchmarks/thresholds_text_floats.py::sweep_text
BYTES_CUT_NS: Final = 40.0  # an item out of LENGTHS; benchmarks/thresholds_text_floats.py::sweep_bytes
TEXT_CODE_NS: Final = 7.0  # an item out of DICT; benchmarks/thresholds_text_floats.py::sweep_text_dict
TEXT_DISTINCT_NS: Final = 20.0  # a distinct one, on top of cutting it
TEXT_DICT_BLOCK_NS: Final = 8000.0  # with both blocks
TEXT_SAMPLE: Final = 200  # items looked at first, and one in TEXT_SAMPLE_SHARE more
TEXT_SAMPLE_SHARE: Final = 256  # benchmarks/thresholds_text_floats.py::sweep_chosen_text
TEXT_NEIGHBOURS: Final = 64
