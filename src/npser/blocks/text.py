"""Strings: one blob of UTF-8, cut by a separator or by lengths; or each distinct string once, then codes.

Strategy: one decode for the whole block, and one C call that cuts it. `str.split` at a control character that no item
contains costs 15-40 ns an item, lengths are a slice an item (80 ns); so lengths are only for text that uses up all 32
separators, or that holds lone surrogates: WTF8 admits those, as three bytes each. Everything else is strict UTF-8, so a
string has one spelling. Lengths count code points. Joining and encoding at once what fits a few megabytes costs least.
Few distinct strings are codes; `radix` has the shortest of those.
No numpy string type is used: those drop trailing NULs, and take four bytes a character of the longest item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice, repeat
from typing import Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks.binary import (
    FEW,
    lengths_of,
    look_up,
    look_up_cells,
    read_codes,
    read_few_lengths,
    total_length,
)
from npser.blocks.cursor import Cursor
from npser.blocks.ints import MAX_NESTING, read_int_cells, read_ints
from npser.blocks.radix import look_up_digits, read_base, read_words
from npser.blocks.sink import Sink
from npser.blocks.stretches import LONG, Stretches, evenly
from npser.errors import DecodeError
from npser.tags import TextCode
from npser.weights import TEXT_ITEM

__all__ = [
    "READERS",
    "SEPARATORS",
    "begin_split",
    "read_few",
    "read_text",
    "read_text_cells",
    "write_dict",
    "write_lengths",
    "write_split",
    "write_stem",
    "write_wtf8",
]

Reader = Callable[[Cursor, int, int], list[str]]
WriteInts = Callable[[Sink, NDArray[np.int64]], None]
WriteText = Callable[[Sink, list[str]], None]

SPLIT = int(TextCode.SPLIT)

SEPARATORS: Final = tuple(map(chr, range(0x20)))
"""What may stand between items: the control characters, of which text rarely holds any but tab and newline."""

CHUNK_ITEMS = 256  # joined and encoded first: they tell how long the items are
CHUNK_BYTES = 1 << 20  # joined and encoded at a time then; benchmarks/thresholds_text_floats.py::sweep_split_chunks
NUMPY_MIN_BYTES = 1024

LONG_ITEMS = 600
"""Bytes an item, on average, from which finding the separators one by one pays a call for each;
benchmarks/thresholds_text_floats.py::sweep_long_text."""

def write_split(sink: Sink, values: list[str], separator: str) -> bool:
    r"""n >= 1 strings joined by `separator`; False, and nothing written, if one of them contains it.

    Raises UnicodeEncodeError, maybe with the block half written, at a lone surrogate.

    >>> sink = Sink()
    >>> write_split(sink, ["a", "b\0"], "\0"), write_split(sink, ["a", "b\0"], "\1"), bytes(sink.out)
    (False, True, b'\x00\x01\x04a\x01b\x00')
    """
    if len(values) > CHUNK_ITEMS:
        return _write_chunks(sink, values, separator)
    blob = begin_split(sink, values, separator)
    if blob is None:
        return False
    sink.out += blob
    return True


def begin_split(sink: Sink, values: list[str], separator: str) -> bytes | None:
    r"""All of that but the strings themselves, which are given back: what is large should be copied once, not twice.

    >>> sink = Sink()
    >>> begin_split(sink, ["a", "b"], "\0"), bytes(sink.out)
    (b'a\x00b', b'\x00\x00\x03')
    """
    blob = separator.join(values).encode()
    if _count(blob, separator) != len(values) - 1:
        return None
    sink.u8(TextCode.SPLIT)
    sink.u8(ord(separator))
    sink.uvarint(len(blob))
    return blob


def write_stem(sink: Sink, values: list[str], stem: str) -> bool:
    r"""n >= 1 strings joined by U+0000, with U+0001 for the stem; False, and nothing written, if one contains these.

    Raises like `write_split`.

    >>> sink = Sink()
    >>> write_stem(sink, ["/usr/a", "/usr/b"], "/usr/"), bytes(sink.out)
    (True, b'\x05\x00\x01\x05/usr/\x05\x01a\x00\x01b')
    """
    joined = "\0".join(values)
    raw, blob = stem.encode(), joined.replace(stem, "\1").encode()
    if joined.count("\0") >= len(values) or "\1" in joined:
        return False
    sink.expand(blob.count(b"\1") * len(raw))
    sink.out += bytes((TextCode.STEM, 0, 1))
    for part in (raw, blob):
        sink.uvarint(len(part))
        sink.out += part
    return True


def write_lengths(sink: Sink, values: list[str], write_ints: WriteInts) -> None:
    """n strings as code points each, and all of them encoded. Raises like `write_split`."""
    sink.u8(TextCode.LENGTHS)
    _write_sized(sink, values, "strict", write_ints)


def write_wtf8(sink: Sink, values: list[str], write_ints: WriteInts) -> None:
    """n strings, of which some hold lone surrogates."""
    sink.u8(TextCode.WTF8)
    _write_sized(sink, values, "surrogatepass", write_ints)


def write_dict(
    sink: Sink, distinct: list[str], codes: NDArray[np.int64], write_text: WriteText, write_ints: WriteInts
) -> None:
    """n strings as d distinct ones and (n,) int64 codes."""
    sink.u8(TextCode.DICT)
    sink.uvarint(len(distinct))
    write_text(sink, distinct)
    write_ints(sink, codes)


def read_text(cursor: Cursor, n: int) -> list[str]:
    r"""A block of n strings -> list of n str.

    Raises
    ------
    DecodeError, TruncatedError, LimitError
        The block is malformed, cut off, or larger than the limits.

    >>> read_text(Cursor(memoryview(bytes([TextCode.SPLIT, 0, 3]) + b"a\0b")), 2)
    ['a', 'b']
    """
    return _read(cursor, n, 1)


def read_text_cells(cursor: Cursor, n: int) -> Iterable[str]:
    r"""A block of n strings -> n str that can be iterated once; raises what `read_text` raises.

    >>> read_text_cells(Cursor(memoryview(bytes([TextCode.SPLIT, 0, 3]) + b"a\0b")), 2)
    ['a', 'b']
    """
    read = _CELL_READERS.get(cursor.buf[cursor.pos]) if cursor.left and n >= LONG else None
    if read is None:
        return read_text(cursor, n)
    cursor.u8()
    return read(cursor, n)


def read_few(buf: bytes | memoryview, pos: int, n: int) -> tuple[list[str], int]:
    """The same for a few strings, and the position behind them; a wrong block is any exception, or a wrong number."""
    code = buf[pos]
    separator, size = buf[pos + 1], buf[pos + 2]
    if code == SPLIT and size < 0x80:
        pos += 3
        return str(buf[pos : pos + size], "utf-8").split(SEPARATORS[separator]), pos + size
    if code == SPLIT and buf[pos + 3] < 0x80:
        size = size & 0x7F | buf[pos + 3] << 7
        pos += 4
        return str(buf[pos : pos + size], "utf-8").split(SEPARATORS[separator]), pos + size
    if code == SPLIT and buf[pos + 4] < 0x80:
        size = size & 0x7F | (buf[pos + 3] & 0x7F) << 7 | buf[pos + 4] << 14
        pos += 5
        return str(buf[pos : pos + size], "utf-8").split(SEPARATORS[separator], n), pos + size  # they may be many
    cursor = Cursor(memoryview(buf), pos)
    return read_text(cursor, n), cursor.pos


def _read(cursor: Cursor, n: int, depth: int) -> list[str]:
    reader = READERS.get(cursor.u8())
    if reader is None:
        raise cursor.fail("unknown encoding of text")
    if depth > MAX_NESTING:
        raise cursor.fail(f"more than {MAX_NESTING} blocks within each other")
    return reader(cursor, n, depth)


def _read_split(cursor: Cursor, n: int, depth: int) -> list[str]:
    separator, nbytes = cursor.u8(), cursor.uvarint()
    if separator >= len(SEPARATORS):
        raise cursor.fail(f"{separator:#04x} is no separator")
    if not 0 < n <= nbytes + 1:
        raise cursor.fail(f"{n} items cannot be split out of {nbytes} bytes")
    text, mark = _read_blob(cursor, nbytes, "strict"), SEPARATORS[separator]
    cursor.expand(n * TEXT_ITEM)
    items = text.split(mark, n) if nbytes <= LONG_ITEMS * n else _split_long(text, mark, n)  # at most n+1 parts
    if len(items) != n:
        raise cursor.fail(f"the separators do not make {n} items")
    return items


def _read_stem(cursor: Cursor, n: int, depth: int) -> list[str]:
    separator, mark, size = cursor.u8(), cursor.u8(), cursor.uvarint()
    if separator >= len(SEPARATORS) or mark >= len(SEPARATORS) or mark == separator:
        raise cursor.fail(f"{separator:#04x} and {mark:#04x} are no separator and mark")
    at = cursor.pos
    stem, nbytes = cursor.take(size).tobytes(), cursor.uvarint()
    if separator in stem or mark in stem:
        raise cursor.fail("a stem with a separator or a mark")
    if not 0 < n <= nbytes + 1:
        raise cursor.fail(f"{n} items cannot be split out of {nbytes} bytes")
    blob, one = cursor.take(nbytes).tobytes(), bytes((mark,))
    cursor.expand(n * TEXT_ITEM + blob.count(one) * size)
    try:  # as bytes: what is replaced is one byte, and never part of a longer character
        stem.decode()
        items = blob.replace(one, stem).decode().split(SEPARATORS[separator], n)
    except UnicodeDecodeError as error:
        raise DecodeError(f"not UTF-8: {error.reason}", pos=at) from None
    if len(items) != n:
        raise cursor.fail(f"the separators do not make {n} items")
    return items


def _split_long(text: str, separator: str, most: int) -> list[str]:
    """As `str.split`, which looks at one character after the other where `str.find` looks at many at once."""
    parts: list[str] = []
    start = 0
    while len(parts) < most:
        stop = text.find(separator, start)
        if stop < 0:
            break
        parts.append(text[start:stop])
        start = stop + 1
    parts.append(text[start:])
    return parts


def _read_lengths(cursor: Cursor, n: int, depth: int, errors: str = "strict") -> list[str]:
    cursor.expand(n * TEXT_ITEM)
    if n <= FEW:
        return _cut_few(cursor, n, errors)
    lengths = read_ints(cursor, n)
    return _cut(_read_sized(cursor, total_length(cursor, lengths, 0), errors), lengths)


def _read_dict(cursor: Cursor, n: int, depth: int) -> list[str]:
    distinct = _read_distinct(cursor, n, depth)
    return distinct * n if len(distinct) == 1 else look_up(cursor, distinct, read_codes(cursor, n))


def _read_dict_cells(cursor: Cursor, n: int) -> Iterable[str]:
    distinct = _read_distinct(cursor, n, 1)
    return repeat(distinct[0], n) if len(distinct) == 1 else look_up_cells(cursor, distinct, read_codes(cursor, n))


def _read_distinct(cursor: Cursor, n: int, depth: int) -> list[str]:
    """The distinct strings; if it is one for all, as in the commonest dictionary, the codes, too, which are all 0."""
    distinct = _read(cursor, cursor.uvarint(), depth + 1)
    if len(distinct) == 1:
        codes = read_int_cells(cursor, n)
        if any(islice(codes, 1) if type(codes) is repeat else codes):
            raise cursor.fail("a code that is not below 1")
    return distinct


def _read_radix(cursor: Cursor, n: int, depth: int) -> list[str]:
    lists = _digit_lists(cursor, n, depth)
    items = next(lists, [])
    for part in lists:
        items += part
    return items


def _read_radix_cells(cursor: Cursor, n: int) -> Iterable[str]:
    return Stretches(evenly(_digit_lists(cursor, n, 1)))


def _digit_lists(cursor: Cursor, n: int, depth: int) -> Iterator[list[str]]:
    base = read_base(cursor)
    distinct = _read(cursor, base, depth + 1)
    return look_up_digits(n, distinct, read_words(cursor, n, base))


def _uvarint(value: int) -> bytearray:
    sink = Sink()
    sink.uvarint(value)
    return sink.out


def _write_chunks(sink: Sink, values: list[str], separator: str) -> bool:
    out, n = sink.out, len(values)
    start = len(out)
    out += bytes((TextCode.SPLIT, ord(separator)))
    room, done, step = 0, 0, CHUNK_ITEMS
    while done < n:
        items = values[done : done + step]
        blob = separator.join(items).encode()
        if _count(blob, separator) != len(items) - 1:
            del out[start:]
            return False
        if done:
            out += separator.encode()
        else:  # the size of the whole is known at the end: leave room for what it is likely to be
            room = len(_uvarint(len(blob) * n // len(items)))
            out += bytes(room)
        out += blob
        done += len(items)
        step = len(items) * CHUNK_BYTES // (len(blob) + 1) or 1
    at = start + 2
    out[at : at + room] = _uvarint(len(out) - at - room)
    return True


def _count(blob: bytes, separator: str) -> int:
    """How often a control character occurs in UTF-8."""
    if len(blob) < NUMPY_MIN_BYTES or separator != "\0":
        return blob.count(separator.encode())
    return len(blob) - int(np.count_nonzero(np.frombuffer(blob, "<u1")))  # no search to start anew at each


def _write_sized(sink: Sink, values: list[str], errors: str, write_ints: WriteInts) -> None:
    write_ints(sink, lengths_of(values))
    blob = "".join(values).encode("utf-8", errors)
    sink.uvarint(len(blob))
    sink.out += blob


def _read_blob(cursor: Cursor, nbytes: int, errors: str) -> str:
    blob = cursor.take(nbytes)
    try:
        return str(blob, "utf-8", errors)
    except UnicodeDecodeError as error:
        raise DecodeError(f"not UTF-8: {error.reason}", pos=cursor.pos - nbytes + error.start) from None


def _read_sized(cursor: Cursor, total: int, errors: str) -> str:
    text = _read_blob(cursor, cursor.uvarint(), errors)
    if len(text) != total:
        raise cursor.fail(f"the lengths add up to {total}, the text has {len(text)} code points")
    return text


def _cut_few(cursor: Cursor, n: int, errors: str) -> list[str]:
    lengths = read_few_lengths(cursor, n)
    text = _read_sized(cursor, sum(lengths), errors)
    start = 0
    return [text[start : (start := start + length)] for length in lengths]


def _cut(text: str, lengths: NDArray[np.int64]) -> list[str]:
    ends = lengths.cumsum().tolist()
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


READERS: Final[dict[int, Reader]] = {
    TextCode.SPLIT: _read_split,
    TextCode.LENGTHS: _read_lengths,
    TextCode.WTF8: partial(_read_lengths, errors="surrogatepass"),
    TextCode.DICT: _read_dict,
    TextCode.RADIX: _read_radix,
    TextCode.STEM: _read_stem,
}

_CELL_READERS: Final[dict[int, Callable[[Cursor, int], Iterable[str]]]] = {
    TextCode.DICT: _read_dict_cells,
    TextCode.RADIX: _read_radix_cells,
}
