"""Bodies and their directory: where they are, which ones repeat others, what is refused."""

from __future__ import annotations

import random

import pytest

from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.columns.bodies import ALIGNED_BODY, ALIGNMENT, SHARED_BODY, read_directory, write_bodies
from npser.errors import DecodeError, LimitError, NpserError, TruncatedError
from npser.tags import Kind

TEXT, ARRAY = int(Kind.TEXT), int(Kind.ARRAY)


def written(bodies: list[tuple[int, bytes]], head: bytes = b"") -> tuple[bytes, int]:
    sink = Sink()
    sink.out += head
    data = write_bodies(sink, [(kind, body) for kind, body in bodies])
    return data, sink.expanded


def read(data: bytes, kinds: list[int], pos: int = 0, budget: int = 1 << 20) -> list[bytes]:
    cursor = Cursor(memoryview(data), pos, budget=budget)
    spans = read_directory(cursor, bytes(kinds))
    assert cursor.pos == max([pos, *(stop for _, stop in spans)])
    return [data[start:stop] for start, stop in spans]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 129])
def test_bodies_come_back(count: int) -> None:
    rng = random.Random(count)
    bodies = [(rng.choice((TEXT, ARRAY)), rng.randbytes(rng.choice((0, 1, 63, 64, 200)))) for _ in range(count)]
    data, again = written(bodies)
    assert again == 0
    assert read(data, [kind for kind, _ in bodies]) == [body for _, body in bodies]


def test_kinds_without_a_body_have_no_entry() -> None:
    data, _ = written([(TEXT, b"ab")])
    assert data == b"\x04ab"
    assert read(data, [Kind.NONE, Kind.POOL_U8, TEXT, Kind.POOL_SOME]) == [b"ab"]
    assert read(b"", [Kind.NONE, Kind.POOL_COPIES]) == []
    assert read(b"", []) == []


def test_an_equal_large_body_is_stored_once() -> None:
    large, short = b"x" * SHARED_BODY, b"y" * (SHARED_BODY - 1)
    bodies = [(TEXT, large), (TEXT, short), (TEXT, large), (TEXT, short), (ARRAY, large), (TEXT, large)]
    data, again = written(bodies)
    assert again == 2 * SHARED_BODY
    assert len(data) == sum(len(body) for _, body in bodies) - again + 6 + sum(len(body) > 63 for body in (large, large))
    assert read(data, [kind for kind, _ in bodies]) == [body for _, body in bodies]


def test_bodies_that_only_look_alike_are_two() -> None:
    first = b"a" * 40 + b"b" + b"a" * 200
    second = b"a" * 40 + b"c" + b"a" * 200
    data, again = written([(TEXT, first), (TEXT, second), (TEXT, first)])
    assert again == len(first)
    assert read(data, [TEXT] * 3) == [first, second, first]


def test_repeating_draws_from_the_budget() -> None:
    data, again = written([(TEXT, b"x" * 100)] * 5)
    assert again == 400
    assert read(data, [TEXT] * 5, budget=again) == [b"x" * 100] * 5
    with pytest.raises(LimitError):
        read(data, [TEXT] * 5, budget=again - 1)


@pytest.mark.parametrize("head", [0, 1, 62, 63, 64, 200])
def test_large_arrays_are_aligned(head: int) -> None:
    bodies = [(ARRAY, b"a" * ALIGNED_BODY), (TEXT, b"b"), (ARRAY, b"c" * (ALIGNED_BODY - 1)), (TEXT, b"d" * ALIGNED_BODY), (ARRAY, b"e" * 5000)]
    data, _ = written(bodies, head=bytes(head))
    cursor = Cursor(memoryview(data), head)
    spans = read_directory(cursor, bytes(kind for kind, _ in bodies))
    assert [data[start:stop] for start, stop in spans] == [body for _, body in bodies]
    assert cursor.left == 0
    assert spans[0][0] % ALIGNMENT == spans[4][0] % ALIGNMENT == 0
    assert spans[1][0] == spans[0][1] and spans[2][0] == spans[1][1] and spans[3][0] == spans[2][1]
    for at in range(spans[3][1], spans[4][0]):
        with pytest.raises(DecodeError, match="padding"):
            read_directory(Cursor(memoryview(data[:at] + b"\1" + data[at + 1 :]), head), bytes(kind for kind, _ in bodies))


@pytest.mark.parametrize(
    ("directory", "kinds", "error", "why"),
    [
        (b"\1", [TEXT], DecodeError, "not before it"),
        (b"\3\0", [TEXT] * 2, DecodeError, "not before it"),
        (b"\0\3", [TEXT] * 2, DecodeError, "not before it"),
        (b"\2", [TEXT], TruncatedError, "need 1 byte"),
        (b"", [TEXT], TruncatedError, "cut off"),
        (b"\2\2a", [TEXT] * 2, TruncatedError, "need"),
        (b"\xff" * 9 + b"\1", [TEXT], DecodeError, "not before it"),
        (b"\xfe" + b"\xff" * 8 + b"\1", [TEXT], TruncatedError, "need"),
        (b"\xfe" + b"\xff" * 8 + b"\1", [ARRAY], TruncatedError, "need"),
        (b"\x80" * 10 + b"\0", [TEXT], DecodeError, "varint"),
    ],
)
def test_refused(directory: bytes, kinds: list[int], error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        read(directory, kinds)


def test_cut_at_every_length() -> None:
    bodies = [(TEXT, b"ab"), (ARRAY, b"x" * ALIGNED_BODY), (TEXT, b"y" * 70), (TEXT, b"y" * 70)]
    data, _ = written(bodies)
    for cut in [*range(100), *range(100, len(data), 97), len(data) - 1]:
        with pytest.raises(TruncatedError):
            read(data[:cut], [kind for kind, _ in bodies])


def test_any_bytes_give_spans_or_an_error() -> None:
    rng = random.Random(3)
    for _ in range(2000):
        data = bytes(rng.choices((0, 1, 2, 3, 4, 5, 8, 0x80, 0xFF), k=rng.randrange(30)))
        kinds = bytes(rng.choices((TEXT, ARRAY, 0, 0xFF), k=rng.randrange(6)))
        cursor = Cursor(memoryview(data), budget=1000)
        try:
            spans = read_directory(cursor, kinds)
        except NpserError as error:
            assert error.pos is not None and 0 <= error.pos <= len(data)
        else:
            assert all(0 <= start <= stop <= cursor.pos <= len(data) for start, stop in spans)
            assert len(spans) == sum(kind >= Kind.INT for kind in kinds)
