"""How the tests of the columns read what was written: exactly, with bytes behind it, and cut at every length."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.errors import DecodeError, NpserError

Writer = Callable[[Sink, Any], None]
Reader = Callable[[Cursor, int], list[Any]]

CUTS = 300


def encode(write: Writer, values: Sequence[Any]) -> bytes:
    sink = Sink()
    write(sink, values)
    return bytes(sink.out)


def check(write: Writer, readers: dict[int, Reader], values: Sequence[Any], key: Callable[[Any], Any]) -> bytes:
    """Write, read back, compare the types and `key` of each value; gives the bytes."""
    expected = [(type(value), key(value)) for value in values]
    n = len(values)
    data = encode(write, values)
    for tail in (b"", bytes(range(255, 235, -1))):
        cursor = Cursor(memoryview(data + tail), 1)
        got = readers[data[0]](cursor, n)
        assert cursor.pos == len(data)
        assert [(type(value), key(value)) for value in got] == expected
    for cut in range(1, len(data)) if len(data) < CUTS else random.Random(7).sample(range(1, len(data)), 100):
        with pytest.raises(DecodeError):
            readers[data[0]](Cursor(memoryview(data[:cut]), 1), n)
    return data


def check_garbage(readers: dict[int, Reader], bodies: Sequence[bytes], rounds: int = 300) -> None:
    """Damaged bytes give a list of n values or an NpserError."""
    rng = random.Random(len(bodies))
    for _ in range(rounds):
        body = bytearray(rng.choice(bodies))
        kind = body.pop(0)
        for _ in range(rng.randrange(1, 4)):
            if body:
                body[rng.randrange(len(body))] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        if rng.random() < 0.2:
            body = bytearray(rng.randbytes(rng.randrange(40)))
        survives(readers[kind], bytes(body), rng.choice((0, 1, 2, 3, 7, 1000, 2**40, 2**62)))


def survives(read: Reader, body: bytes, n: int) -> None:
    cursor = Cursor(memoryview(body), budget=20_000)
    try:
        got = read(cursor, n)
    except NpserError as error:
        assert error.pos is None or 0 <= error.pos <= len(body)
    else:
        assert len(got) == n
        assert cursor.pos <= len(body)


def refused(read: Reader, body: bytes, n: int, match: str | None = None) -> None:
    with pytest.raises(DecodeError, match=match):
        read(Cursor(memoryview(body), budget=20_000), n)
