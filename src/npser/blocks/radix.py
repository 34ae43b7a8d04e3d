"""Few distinct strings as digits: several codes to a word of sixteen bits.

    wire:  uvarint base | text(base) | u16 a word, the first code its lowest digit

Strategy: of up to 40 strings three or more fit a word, which is less than a bit width could do for most counts, and one
division of a whole array gets each of them out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from npser.blocks.binary import objects, pick
from npser.blocks.cursor import Cursor
from npser.blocks.sink import Sink
from npser.tags import TextCode

__all__ = ["DIGITS", "look_up_digits", "read_base", "read_words", "write_radix"]

WriteText = Callable[[Sink, list[str]], None]

WORD: Final = np.dtype("<u2")
WORDS = 1 << 16  # values that a word has
CHUNK_WORDS = 1 << 13  # turned into strings at a time


def _digits(base: int) -> int:
    digits = 1
    while base ** (digits + 1) <= WORDS:
        digits += 1
    return digits


MAX_BASE = 256
DIGITS: Final = (0, 0, *map(_digits, range(2, MAX_BASE + 1)))
"""By the number of distinct strings, how many codes a word of RADIX holds."""


def write_radix(sink: Sink, distinct: list[str], codes: NDArray[np.uint8], write_text: WriteText) -> None:
    r"""n strings as 2 to 256 distinct ones and (n,) codes below that, several to a word of sixteen bits.

    >>> sink = Sink()
    >>> write_radix(sink, ["no", "yes", "?"], np.array([0, 2, 1], "<u1"), lambda sink, values: None)
    >>> sink.out.hex(" ")  # 0 + 2 * 3 + 1 * 9
    '04 03 0f 00'
    """
    base = len(distinct)
    digits = DIGITS[base]
    sink.u8(TextCode.RADIX)
    sink.uvarint(base)
    write_text(sink, distinct)
    lacking = -codes.size % digits
    if lacking:
        codes = np.concatenate((codes, np.zeros(lacking, codes.dtype)))
    places = codes.reshape(-1, digits)
    words = places[:, -1].astype(WORD)
    for place in range(digits - 2, -1, -1):
        words *= np.uint16(base)
        words += places[:, place]
    sink.out += words.data.cast("B") if words.size else b""


def read_base(cursor: Cursor) -> int:
    """How many distinct strings there are."""
    base = cursor.uvarint()
    if not 2 <= base <= MAX_BASE:
        raise cursor.fail(f"{base} distinct strings have no digits")
    return base


def read_words(cursor: Cursor, n: int, base: int) -> NDArray[np.uint16]:
    """Words of n digits to a base, which are in range: (m,) uint16, perhaps a view of the input."""
    digits = DIGITS[base]
    count = -(-n // digits)
    words: NDArray[np.uint16] = np.frombuffer(cursor.take(count * WORD.itemsize), WORD)
    if n and (int(words.max()) >= base**digits or int(words[-1]) >= base ** (n - (count - 1) * digits)):
        raise cursor.fail(f"a word that does not hold digits to the base {base}")
    return words


def look_up_digits(n: int, distinct: list[str], words: NDArray[np.uint16]) -> Iterator[list[str]]:
    """The n strings that the digits stand for, some thousands at a time."""
    table, base, digits = objects(distinct), len(distinct), DIGITS[len(distinct)]
    for at in range(0, words.size, CHUNK_WORDS):
        items = pick(table, _codes(words[at : at + CHUNK_WORDS], base, digits))
        del items[n - at * digits :]
        yield items


def _codes(words: NDArray[np.uint16], base: int, digits: int) -> NDArray[np.intp]:
    """(m,) words -> (m * digits,) codes."""
    codes = np.empty((words.size, digits), np.intp)
    divisor = np.uint16(base)
    for place in range(digits - 1):
        rest = words // divisor
        np.subtract(words, rest * divisor, out=codes[:, place])  # a remainder costs five times as much
        words = rest
    codes[:, -1] = words
    return codes.reshape(-1)
