"""Integers of an array: LONGS, DELTA and AFFINE, both ways.

Strategy: numpy reads and writes the varints, and what is short goes through a loop. All arithmetic wraps at 64 bits.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from npser.blocks.cursor import Cursor
from npser.blocks.varint import encode_varints, zigzag
from npser.phpser.keys import LONG_MAX, LONG_MIN
from npser.phpser.shortvarints import fill_longs

__all__ = [
    "affine_step",
    "as_int64",
    "differences",
    "expand_affine",
    "plain_run",
    "read_delta",
    "read_longs",
    "sizes",
    "write_run",
]

FEW = 24
"""Up to this many, a plain loop is faster than numpy calls (benchmarks/thresholds_phpser.py::sweep_few)."""


def read_longs(cursor: Cursor, n: int) -> list[int]:
    """The next n zigzag varints.

    Raises
    ------
    DecodeError
        Where fewer are left, or one does not fit 64 bits.

    >>> read_longs(Cursor(memoryview(bytes([0, 1, 2, 3]))), 4)
    [0, -1, 1, -2]
    """
    if n <= FEW:
        return _read_few(cursor, n)
    values = np.empty(n, "<i8")
    fill_longs(cursor, values)
    return values.tolist()


def _read_few(cursor: Cursor, n: int) -> list[int]:
    raw = bytes(cursor.buf[cursor.pos : cursor.pos + n])
    if len(raw) == n and max(raw, default=0) < 0x80:
        cursor.pos += n
        return [(code >> 1) ^ -(code & 1) for code in raw]
    return [cursor.svarint() for _ in range(n)]


def read_delta(cursor: Cursor, n: int) -> list[int]:
    """The next n of a run of differences.

    >>> read_delta(Cursor(memoryview(bytes([20, 2, 2, 1]))), 4)
    [10, 11, 12, 11]
    """
    if n <= FEW:
        steps = np.array(_read_few(cursor, n), "<i8")
    else:
        steps = np.empty(n, "<i8")
        steps[0] = cursor.svarint()  # longer than the others, as a rule
        fill_longs(cursor, steps[1:])
    values: list[int] = np.cumsum(steps, out=steps).tolist()  # int64 wraps, as the wire wants it
    return values


def expand_affine(cursor: Cursor, n: int) -> list[int]:
    """The n items of ``base + i * step``, modulo 2**64, drawn from the payload's budget.

    >>> expand_affine(Cursor(memoryview(bytes([20, 2]))), 3)
    [10, 11, 12]
    """
    base, step = cursor.svarint(), cursor.svarint()
    cursor.expand(n)
    if not n:
        return []
    if not step:
        return [base] * n
    last = base + (n - 1) * step
    if LONG_MIN <= last <= LONG_MAX:
        return list(range(base, last + (1 if step > 0 else -1), step))
    values: list[int] = (np.arange(n, dtype="<i8") * np.int64(step) + np.int64(base)).tolist()
    return values


# Writing


def differences(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) int64 -> (n,) int64: the first item, then each difference, modulo 2**64."""
    steps = values.copy()
    np.subtract(values[1:], values[:-1], out=steps[1:])
    return steps


def affine_step(steps: NDArray[np.int64]) -> int | None:
    """The one difference that all items behind the first have, or None.

    >>> affine_step(np.array([7, 2, 2])), affine_step(np.array([7, 2, 3]))
    (2, None)
    """
    step = steps[1]
    return int(step) if bool((steps[1:] == step).all()) else None


def sizes(codes: NDArray[np.uint64]) -> int:
    """How many bytes the varints of the codes take.

    >>> sizes(np.array([0, 127, 128, 1 << 63], "<u8"))
    14
    """
    total = codes.size
    longest = int(codes.max()) if codes.size else 0
    for bits in range(7, longest.bit_length(), 7):
        total += int(np.count_nonzero(codes >> np.uint64(bits)))
    return total


def write_run(values: NDArray[np.int64]) -> tuple[bool, bytes]:
    """Whether differences are shorter, and the varints of the shorter of the two; a tie goes to the items.

    >>> write_run(np.array([1000, 1001, 1003, 1004]))[0], write_run(np.array([0, 1, 2, 4]))[0]
    (True, False)
    """
    plain, delta = zigzag(values), zigzag(differences(values))
    if sizes(delta) < sizes(plain):
        return True, encode_varints(delta)
    return False, encode_varints(plain)


def plain_run(values: NDArray[np.int64]) -> bytes:
    """The varints of the items.

    >>> plain_run(np.array([-1, 64])).hex()
    '018001'
    """
    return encode_varints(zigzag(values))


def as_int64(values: list[Any]) -> NDArray[np.int64]:
    """Ints -> (n,) int64; `struct.error` where one does not fit."""
    return np.frombuffer(struct.pack(f"<{len(values)}q", *values), "<i8")
