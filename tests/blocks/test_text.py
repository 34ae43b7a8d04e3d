"""Strings: each encoding, one spelling a string, and what is not one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.checks import EDGES, HUGE, check_garbage, check_read, written
from npser.blocks import radix, text
from npser.blocks.choose import write_ints
from npser.blocks.cursor import Cursor
from npser.blocks.ints import MAX_NESTING
from npser.blocks.sink import Sink
from npser.blocks.text import SEPARATORS, read_text
from npser.errors import DecodeError, LimitError, TruncatedError
from npser.tags import TextCode

ODD = [
    "",
    "\0",
    "a\0",
    "\x7f",
    "\x80",
    "é",
    "\u07ff",
    "\u0800",
    "\uffff",
    "\U00010000",
    "\U0010ffff",
    "e\u0301",
    "\r\n",
    "\ufeff",
]
LONE = ["\ud800", "\udfff", "a\udc80b", "\ud83d\ude02", "\ud83d", "\ude02"]
any_text = st.text(st.characters(exclude_categories=()), max_size=20)


def ints(*values: int) -> bytes:
    return written(lambda sink: write_ints(sink, np.array(values, "<i8")))


def split_block(values: list[str], separator: str = "\0") -> bytes:
    def write(sink: Sink) -> None:
        assert text.write_split(sink, values, separator)

    return written(write)


def lengths_block(values: list[str]) -> bytes:
    return written(lambda sink: text.write_lengths(sink, values, write_ints))


def check_refused(data: bytes, n: int, error: type[DecodeError] = DecodeError) -> DecodeError:
    with pytest.raises(error) as caught:
        read_text(Cursor(memoryview(data)), n)
    assert type(caught.value) is error
    return caught.value


def some(n: int) -> list[str]:
    return [ODD[i % len(ODD)].replace("\0", "x") * (i % 5) for i in range(n)]


def test_table_is_total():
    assert set(text.READERS) == set(TextCode)
    assert tuple(chr(i) for i in range(32)) == SEPARATORS


@pytest.mark.parametrize("n", [*EDGES[1:], 1024, 1025, 3000, 10_000])
def test_split(n):
    values = some(n)
    data = split_block(values)
    blob = "\0".join(values).encode()
    assert data[:2] == bytes([TextCode.SPLIT, 0])
    assert data.endswith(blob)
    check_read(read_text, data, n, values)


@pytest.mark.parametrize("separator", SEPARATORS)
def test_split_at_every_separator(separator):
    others = "".join(SEPARATORS).replace(separator, "")
    values = ["", others, "", others * 2, "z"]
    check_read(read_text, split_block(values, separator), 5, values)
    assert not text.write_split(Sink(), ["a", separator], separator)


@pytest.mark.parametrize("at", [0, 1, 1023, 1024, 1500, 1999])
def test_split_writes_nothing_when_an_item_has_the_separator(at):
    values = ["x" * 60] * 2000
    values[at] += "\0"
    sink = Sink()
    sink.u8(7)
    assert not text.write_split(sink, values, "\0")
    assert bytes(sink.out) == b"\x07"
    assert text.write_split(sink, values, "\1")


def test_chunks_of_growing_items():
    values = ["x" * (i // 2) for i in range(3000)]  # the first chunk promises fewer bytes than come
    check_read(read_text, split_block(values), 3000, values)
    values.reverse()
    check_read(read_text, split_block(values), 3000, values)


def test_long_items():
    values = ["é" * (1 << 19), "", "a" * (1 << 20), "\U0001f600" * (1 << 18)] * 2
    assert read_text(Cursor(memoryview(split_block(values))), 8) == values
    assert read_text(Cursor(memoryview(lengths_block(values))), 8) == values


def test_the_parts_must_be_n():
    blob = b"a\0b\0c"
    for n in (1, 2, 4, 5, 6):
        check_refused(bytes([TextCode.SPLIT, 0, 5]) + blob, n)
    check_refused(bytes([TextCode.SPLIT, 1, 5]) + blob, 3)
    check_refused(bytes([TextCode.SPLIT, 0, 0]), 0)
    assert read_text(Cursor(memoryview(bytes([TextCode.SPLIT, 0, 0]))), 1) == [""]
    for separator in (0x20, 0x61, 0x80, 0xFF):
        check_refused(bytes([TextCode.SPLIT, separator, 5]) + blob, 1)


def test_huge_counts():
    for n in (7, 1 << 40, HUGE, (1 << 64) - 1):
        check_refused(bytes([TextCode.SPLIT, 0, 5]) + b"a\0b\0c", n)
        check_refused(bytes([TextCode.SPLIT, 0]) + b"\xff" * 9 + b"\x01" + b"a\0b\0c", n, TruncatedError)
    check_refused(bytes([TextCode.LENGTHS]) + ints(*[0] * 17) + b"\0", HUGE, LimitError)
    check_refused(bytes([TextCode.DICT]) + b"\xff" * 9 + b"\x01" + lengths_block([""] * 17), 1, LimitError)


@pytest.mark.parametrize("n", [*EDGES, 512, 513, 2000])
def test_lengths(n):
    values = [ODD[i % len(ODD)] * (i % 5) for i in range(n)]
    check_read(read_text, lengths_block(values), n, values)
    check_read(read_text, lengths_block(["ab"] * n), n, ["ab"] * n)


@pytest.mark.parametrize("code", [TextCode.LENGTHS, TextCode.WTF8])
def test_lengths_are_checked(code):
    for few in ((-1, 4), (1, 1), (1, 3), (2**63 - 1, 4), (-(2**63), 3)):
        check_refused(bytes([code]) + ints(*few) + b"\x03abc", 2)
        many = few + (0,) * 600
        check_refused(bytes([code]) + ints(*many) + b"\x03abc", 602)
    wrapping = (2**62,) * 4 + (3,) + (0,) * 600
    check_refused(bytes([code]) + ints(*wrapping) + b"\x03abc", 605)
    check_refused(bytes([code]) + ints(3) + "aé".encode().join([b"\x03", b""]), 1)  # code points, not bytes


@pytest.mark.parametrize(
    "blob",
    [
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xe0\x80\x80",
        b"\xf0\x80\x80\x80",
        b"\xf4\x90\x80\x80",
        b"\x80",
        b"\xff",
        b"\xc3",
        b"\xe2\x82",
    ],
)
def test_what_is_not_utf8(blob):
    size = bytes([len(blob) + 2])
    for n in range(1, 5):
        for code in (TextCode.LENGTHS, TextCode.WTF8):
            error = check_refused(bytes([code]) + ints(n + 2) + size + b"ab" + blob, 1)
            assert error.pos is not None
        error = check_refused(bytes([TextCode.SPLIT, 0]) + size + b"ab" + blob, 1)
        assert error.pos == 5


def test_surrogates_are_for_wtf8_only():
    for item in LONE:
        blob = item.encode("utf-8", "surrogatepass")
        size = bytes([len(blob)])
        check_refused(bytes([TextCode.SPLIT, 0]) + size + blob, 1)
        check_refused(bytes([TextCode.LENGTHS]) + ints(len(item)) + size + blob, 1)
        check_read(read_text, bytes([TextCode.WTF8]) + ints(len(item)) + size + blob, 1, [item])
        with pytest.raises(UnicodeEncodeError):
            text.write_split(Sink(), [item], "\0")


@pytest.mark.parametrize("n", EDGES)
def test_wtf8(n):
    values = [(ODD + LONE)[i % (len(ODD) + len(LONE))] for i in range(n)]
    check_read(read_text, written(lambda sink: text.write_wtf8(sink, values, write_ints)), n, values)


@pytest.mark.parametrize("n", EDGES)
def test_dictionary(n):
    codes = np.random.default_rng(n).integers(0, len(ODD), n)
    data = written(
        lambda sink: text.write_dict(
            sink, ODD, codes, lambda sink, values: text.write_lengths(sink, values, write_ints), write_ints
        )
    )
    check_read(read_text, data, n, [ODD[code] for code in codes])
    assert len(set(map(id, read_text(Cursor(memoryview(data)), n)))) <= len(ODD)


def test_codes_are_checked():
    head = bytes([TextCode.DICT, 2]) + split_block(["a", "b"])
    for codes in ((0, 2), (-1, 0), (0, 2**63 - 1)):
        check_refused(head + ints(*codes), 2)
    check_refused(bytes([TextCode.DICT, 0]) + lengths_block([]) + ints(0, 0), 2)
    assert read_text(Cursor(memoryview(bytes([TextCode.DICT, 0]) + lengths_block([]) + ints())), 0) == []


def test_nesting_is_bounded():
    data = split_block(["x"])
    for depth in range(1, 8):
        if depth <= MAX_NESTING:
            assert read_text(Cursor(memoryview(data)), 1) == ["x"]
        else:
            check_refused(data, 1)
        data = bytes([TextCode.DICT, 1]) + data + ints(0)


@pytest.mark.parametrize("n", [1, 2, 100])
@pytest.mark.parametrize("separator", ["\0", "\n", "\x1f"])
def test_long_items_are_found_one_by_one(n, separator):
    values = [("é" * 900, "a" * 1300, "", "\U0001f600" * 500)[i % 4] for i in range(n)]
    data = split_block(values, separator)
    check_read(read_text, data, n, values)
    check_read(read_text, split_block([""] * 3 + ["x" * 9000] * 2 + [""], separator), 6, [""] * 3 + ["x" * 9000] * 2 + [""])
    for wrong in {n - 1, n + 1}:
        check_refused(data, wrong)


def test_digits_of_a_word():
    assert len(radix.DIGITS) == 257
    for base in range(2, 257):
        assert base ** radix.DIGITS[base] <= 65536 < base ** (radix.DIGITS[base] + 1)


def words(*values: int) -> bytes:
    return np.array(values, "<u2").tobytes()


def radix_head(base: int) -> bytes:
    return bytes([TextCode.RADIX]) + written(lambda sink: sink.uvarint(base)) + split_block(list(map(str, range(base))))


def radix_block(base: int, codes: np.ndarray) -> bytes:
    distinct = list(map(str, range(base)))
    return written(lambda sink: radix.write_radix(sink, distinct, codes, lambda s, v: s.out.extend(split_block(v))))


@pytest.mark.parametrize("base", [2, 3, 4, 5, 6, 9, 16, 17, 40, 41, 255, 256])
@pytest.mark.parametrize("n", EDGES)
def test_radix(base, n):
    codes = np.random.default_rng(n).integers(0, base, n).astype("<u1")
    data = radix_block(base, codes)
    assert len(data) == len(radix_head(base)) + 2 * -(-n // radix.DIGITS[base])
    check_read(read_text, data, n, list(map(str, codes)))
    top = radix_block(base, np.full(n, base - 1, "<u1"))
    check_read(read_text, top, n, [str(base - 1)] * n)


@pytest.mark.parametrize("base", [5, 40, 200])
def test_radix_of_many(base):
    n = 100_001
    codes = np.random.default_rng(base).integers(0, base, n).astype("<u1")
    items = read_text(Cursor(memoryview(radix_block(base, codes))), n)
    assert items == list(map(str, codes))
    assert len(set(map(id, items))) == base


def test_radix_by_hand():
    data = radix_head(40) + words(3 + 39 * 40 + 7 * 1600, 12)
    check_read(read_text, data, 4, ["3", "39", "7", "12"])


def test_words_are_checked():
    head = radix_head(40)
    check_read(read_text, head + words(63_999), 3, ["39"] * 3)
    check_refused(head + words(64_000), 3)
    check_refused(head + words(64_000, 0), 4)
    check_read(read_text, head + words(0, 39), 4, ["0"] * 3 + ["39"])
    check_refused(head + words(0, 40), 4)  # a digit behind the last one
    check_refused(head + words(0, 1600), 5)
    check_read(read_text, radix_head(4) + words(65_535), 8, ["3"] * 8)
    assert read_text(Cursor(memoryview(head)), 0) == []
    for n in (7, 1 << 40, HUGE, (1 << 64) - 1):
        check_refused(head + words(0, 0), n, TruncatedError)


def test_bases_are_checked():
    for base in (0, 1, 257, 1 << 20, (1 << 64) - 1):
        size = written(lambda sink: sink.uvarint(base))  # noqa: B023
        check_refused(bytes([TextCode.RADIX]) + size + split_block(["a"] * 300) + words(0), 1)


def test_radix_nests():
    data = radix_head(2) + words(1)
    for depth in range(2, 8):
        data = bytes([TextCode.DICT, 1]) + data + ints(0)
        if depth <= MAX_NESTING - 1:
            assert read_text(Cursor(memoryview(data)), 1) == ["1"]
    check_refused(data, 1)


@pytest.mark.parametrize("width", [8, 16])
def test_plain_codes(width):
    head = bytes([TextCode.DICT, 3]) + split_block(["a", "b", "c"]) + bytes([2, 0, width])
    codes = np.array([0, 2, 1, 1], f"<u{width // 8}").tobytes()
    check_read(read_text, head + codes, 4, ["a", "c", "b", "b"])
    check_refused(head + np.array([0, 3], f"<u{width // 8}").tobytes(), 2)
    check_refused(head + b"\xff" * width, 4)
    check_refused(head + codes, HUGE, TruncatedError)


def test_unknown_codes():
    for code in range(5, 256):
        check_refused(bytes([code]) + bytes(100), 1)
    check_refused(b"", 1, TruncatedError)


@given(st.lists(any_text, max_size=60))
def test_any_text(values):
    check_read(read_text, written(lambda sink: text.write_wtf8(sink, values, write_ints)), len(values), values)


@given(st.binary(max_size=100), st.sampled_from([0, 1, 2, 17, 1000, 1 << 40, HUGE]), st.sampled_from(list(TextCode)))
def test_garbage(data, n, code):
    check_garbage(read_text, bytes([code]) + data, n)
    check_garbage(read_text, data, n)
    check_garbage(read_text, bytes([code, 1]) + data, n)
    check_garbage(read_text, bytes([code, 0, len(data)]) + data, 1 + data.count(0))
