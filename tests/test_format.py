"""FORMAT.md against the code: every example is run, every code has one, every table has the code's numbers.

Strategy: the page is the only thing that is read here; see its "How to read the examples" for the form. A comment that
names a code is held twice against the bytes: the number stands in that line, and the reader met exactly the codes that
the comments of the example name.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest

import npser
from golden.corpus import NEEDS
from golden.demo import CLASSES, evaluate
from golden.trace import ENUMS, EVERY_CODE, lead_of, name_of, tracing
from npser.blocks import binary, bits, floats, ints, radix, text
from npser.blocks.choose import write_bytes, write_floats, write_ints, write_text
from npser.blocks.choose.stems import find_stem
from npser.blocks.cursor import Cursor
from npser.blocks.ints import MAX_NESTING
from npser.blocks.sink import Sink
from npser.columns.arraydata import DataForm
from npser.columns.dtypecodes import MANTISSA, TWINS, UNITS, DtypeCode
from npser.columns.dtypes import dtype_bytes, read_dtype
from npser.envelope.checksum import CHECKSUMS
from npser.envelope.codes import ChecksumCode, CompressionCode, EnvelopeCode, SealCode
from npser.envelope.methods import METHODS
from npser.envelope.seal import KEY_SIZE
from npser.limits import INFLATION, MAX_DEPTH, Limits
from npser.shapes.maps import FACTORIES
from npser.tags import MAGIC, VERSION, BitCode, BytesCode, FloatCode, IntCode, Kind, Lead, Node, TextCode
from same import difference

PAGE: Final = files("npser").joinpath("FORMAT.md").read_text(encoding="utf-8")

ENVELOPES: Final = (EnvelopeCode, SealCode, CompressionCode, ChecksumCode)
NAMED: Final = (*ENUMS, DataForm, *ENVELOPES)
CODES: Final[dict[str, IntEnum]] = {name_of(code): code for codes in NAMED for code in codes}

FENCE: Final = re.compile(r"^```npser(?P<sort>\S*)(?P<words>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
BYTE: Final = re.compile(r"([0-9a-f]{2})(?:\*(\d+))?")
CODE: Final = re.compile(rf"\b(?:{'|'.join(codes.__name__ for codes in NAMED)})\.[A-Z0-9_]+\b")


@dataclass(frozen=True)
class Example:
    """One worked example: where it stands, what it is, and its lines of bytes and comment."""

    line: int
    sort: str
    words: tuple[str, ...]
    expression: str
    lines: tuple[tuple[bytes, str], ...]

    @property
    def data(self) -> bytes:
        return b"".join(raw for raw, _ in self.lines)

    @property
    def names(self) -> set[str]:
        return {name for _, comment in self.lines for name in CODE.findall(comment)}

    def __str__(self) -> str:
        return f"{self.line}:{self.expression[:40]}"


def unhex(line: str) -> bytes:
    """The bytes of a line.

    >>> unhex("c1 00*3")
    b'\\xc1\\x00\\x00\\x00'
    """
    found = [BYTE.fullmatch(word) for word in line.split()]
    assert all(found), line
    return b"".join(bytes.fromhex(match[1]) * int(match[2] or 1) for match in found if match)


def parse(line: int, sort: str, words: str, part: str) -> Example:
    expression, *rest = part.splitlines()
    split = [row.partition("#") for row in rest]
    assert split, f"line {line} of FORMAT.md has no bytes"
    lines = tuple((unhex(raw), comment) for raw, _, comment in split)
    return Example(line, sort, tuple(words.split()), expression, lines)


def examples() -> Iterator[Example]:
    for fence in FENCE.finditer(PAGE):
        line = PAGE.count("\n", 0, fence.start("body")) + 1
        for part in fence["body"].split("\n\n"):
            yield parse(line, fence["sort"], fence["words"], part)
            line += part.count("\n") + 2


EXAMPLES: Final = tuple(examples())


def of_sort(sort: str) -> Any:
    return pytest.mark.parametrize("example", [example for example in EXAMPLES if example.sort == sort], ids=str)


def skip_where_numpy_lacks(example: Example) -> None:
    if "StringDType" in example.expression and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("numpy 1 has no StringDType")


# ------------------------------------------------------------------------------------------------------------- payloads


@of_sort("")
def test_payload(example: Example) -> None:
    skip_where_numpy_lacks(example)
    value = evaluate(example.expression)
    identity: Any = "preserve" if "preserve" in example.words else "objects"
    assert npser.dumps(value, identity=identity).hex(" ") == example.data.hex(" ")
    assert difference(value, npser.loads(example.data, classes=CLASSES)) is None


@of_sort("")
def test_payload_meets_the_codes_that_its_comments_name(example: Example) -> None:
    skip_where_numpy_lacks(example)
    with tracing() as met:
        npser.loads(example.data, classes=CLASSES)
    assert {name for name in example.names if type(CODES[name]) is not DataForm} == met


# --------------------------------------------------------------------------------------------------------------- blocks
# The writer of one code, from the values; what they leave open (a width, a separator) is taken out of the example.

Maker = Callable[[Sink, Any, Cursor], None]


def cut_runs(values: Any) -> tuple[Any, Any]:
    starts = ints.run_starts(values)
    return values[starts], np.diff(starts, append=values.size).astype("<i8")


def number(values: Any) -> tuple[Any, Any]:
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes.astype("<i8")


def number_items(values: list[Any]) -> tuple[list[Any], Any]:
    distinct = list(dict.fromkeys(values))
    return distinct, np.array([distinct.index(value) for value in values], "<i8")


def make_frame(sink: Sink, values: Any, cursor: Cursor) -> None:
    ints.write_frame(sink, values, cursor.svarint(), cursor.u8())


def make_patched_ints(sink: Sink, values: Any, cursor: Cursor) -> None:
    positions = ints.read_ints(cursor, cursor.uvarint())
    ints.read_ints(cursor, positions.size)
    ints.write_patched(sink, positions, values[positions], ints.read_ints(cursor, values.size), write_ints)


def make_decimal(sink: Sink, values: Any, cursor: Cursor) -> None:
    k = cursor.u8()
    floats.write_decimal(sink, k, np.rint(values * 10**k).astype("<i8"), write_ints)


def make_patched_floats(sink: Sink, values: Any, cursor: Cursor) -> None:
    positions = ints.read_ints(cursor, cursor.uvarint())
    floats.read_floats(cursor, positions.size)
    base = cursor.take(cursor.left)

    def write_base(sink: Sink) -> None:
        sink.out += base

    floats.write_patched(sink, positions, values[positions], write_base, write_floats, write_ints)


def make_bit_runs(sink: Sink, values: Any, _cursor: Cursor) -> None:
    bits.write_runs(sink, int(values[0]), cut_runs(values)[1], write_ints)


def make_split(sink: Sink, values: list[str], cursor: Cursor) -> None:
    assert text.write_split(sink, values, chr(cursor.u8()))


def make_radix(sink: Sink, values: list[str], _cursor: Cursor) -> None:
    distinct, codes = number_items(values)
    radix.write_radix(sink, distinct, codes.astype("<u1"), write_text)


MAKERS: Final[dict[str, Maker]] = {
    "IntCode.AFFINE": lambda sink, v, _: ints.write_affine(sink, int(v[0]), int(v[1] - v[0]), v.size),
    "IntCode.CONST": lambda sink, v, _: ints.write_const(sink, int(v[0]), v.size),
    "IntCode.FRAME": make_frame,
    "IntCode.DELTA": lambda sink, v, _: ints.write_delta(sink, int(v[0]), np.diff(v), write_ints),
    "IntCode.VARINT": lambda sink, v, _: ints.write_varint(sink, v),
    "IntCode.RUNS": lambda sink, v, _: ints.write_runs(sink, *cut_runs(v), write_ints),
    "IntCode.DICT": lambda sink, v, _: ints.write_dict(sink, *number(v), write_ints),
    "IntCode.PATCHED": make_patched_ints,
    "FloatCode.F64": lambda sink, v, _: floats.write_f64(sink, v),
    "FloatCode.F32": lambda sink, v, _: floats.write_f32(sink, v),
    "FloatCode.CONST": lambda sink, v, _: floats.write_const(sink, v),
    "FloatCode.DECIMAL": make_decimal,
    "FloatCode.RUNS": lambda sink, v, _: floats.write_runs(sink, *cut_runs(v), write_floats, write_ints),
    "FloatCode.DICT": lambda sink, v, _: floats.write_dict(sink, *number(v), write_floats, write_ints),
    "FloatCode.PATCHED": make_patched_floats,
    "BitCode.BITS": lambda sink, v, _: bits.write_packed(sink, v),
    "BitCode.CONST": lambda sink, v, _: bits.write_const(sink, int(v[0]), v.size),
    "BitCode.RUNS": make_bit_runs,
    "TextCode.SPLIT": make_split,
    "TextCode.LENGTHS": lambda sink, v, _: text.write_lengths(sink, v, write_ints),
    "TextCode.WTF8": lambda sink, v, _: text.write_wtf8(sink, v, write_ints),
    "TextCode.DICT": lambda sink, v, _: text.write_dict(sink, *number_items(v), write_text, write_ints),
    "TextCode.RADIX": make_radix,
    "TextCode.STEM": lambda sink, v, _: text.write_stem(sink, v, find_stem(v)),
    "BytesCode.LENGTHS": lambda sink, v, _: binary.write_lengths(sink, v, write_ints),
    "BytesCode.DICT": lambda sink, v, _: binary.write_dict(sink, *number_items(v), write_bytes, write_ints),
}


@dataclass(frozen=True)
class Sort:
    """A type of block: its codes, what a writer takes, and the readers of it."""

    codes: type[IntEnum]
    prepare: Callable[[list[Any]], Any]
    readers: tuple[Callable[[Cursor, int], Any], ...]


SORTS: Final = {
    "int": Sort(IntCode, lambda v: np.array(v, "<i8"), (ints.read_ints, ints.read_int_list)),
    "float": Sort(FloatCode, lambda v: np.array(v, "<f8"), (floats.read_floats, floats.read_float_list)),
    "bit": Sort(BitCode, lambda v: np.array(v, "?"), (bits.read_bits, bits.read_bit_list)),
    "text": Sort(TextCode, list, (text.read_text,)),
    "bytes": Sort(BytesCode, list, (binary.read_bytes,)),
}


def as_list(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


@of_sort("-block")
def test_block(example: Example) -> None:
    kind, n = example.words
    sort, values = SORTS[kind], evaluate(example.expression)
    assert len(values) == int(n)
    prepared = sort.prepare(values)
    for read in sort.readers:
        cursor = Cursor(memoryview(example.data))
        with tracing() as met:
            found = read(cursor, int(n))
        assert cursor.left == 0
        assert met == example.names
        assert difference(as_list(prepared), as_list(found)) is None
    code = sort.codes(example.data[0])
    MAKERS[name_of(code)](sink := Sink(), prepared, Cursor(memoryview(example.data), 1))
    assert sink.out.hex(" ") == example.data.hex(" ")


@of_sort("-dtype")
def test_dtype(example: Example) -> None:
    skip_where_numpy_lacks(example)
    cursor = Cursor(memoryview(example.data))
    if "LONGDOUBLE" in "".join(example.names) and example.data[2] != MANTISSA:
        with pytest.raises(npser.DecodeError):
            read_dtype(cursor)
        return
    dtype = evaluate(example.expression)
    with tracing() as met:
        found = read_dtype(cursor)
    assert cursor.left == 0
    assert met == example.names
    assert found == dtype
    assert found.isalignedstruct == dtype.isalignedstruct
    if "DtypeCode.TWIN" not in example.names or example.data[1] in TWINS:
        assert found.type is dtype.type
        assert dtype_bytes(dtype).hex(" ") == example.data.hex(" ")


# ------------------------------------------------------------------------------------------------------------ envelopes


def options_of(example: Example) -> dict[str, Any]:
    """The arguments of the Codec that wrote an example, out of the words behind its mark."""
    options: dict[str, Any] = dict(word.split("=") for word in example.words)
    for name in {options.get("compress"), options.get("checksum")} & set(NEEDS):
        if not NEEDS[name]:
            pytest.skip(f"needs {name}")
    if "key" in options:
        options["key"] = bytes.fromhex(options["key"])
    return options


@of_sort("-envelope")
def test_envelope(example: Example) -> None:
    options = options_of(example)
    codec = npser.Codec(compress_from=0, **options)
    value = evaluate(example.expression)
    assert difference(value, codec.loads(example.data)) is None
    if "compress" not in options:
        assert codec.dumps(value).hex(" ") == example.data.hex(" ")


@pytest.mark.parametrize("example", [example for example in EXAMPLES if "SealCode.HMAC_SHA256" in example.names], ids=str)
def test_a_seal_is_the_mac_that_the_page_says(example: Example) -> None:
    options = options_of(example)
    inner, mac, context = example.data[3:-32], example.data[-32:], options.get("context", "").encode()
    covered = b"npser seal\0" + bytes.fromhex("c1 53 01") + struct.pack("<Q", len(context)) + context + inner
    assert hmac.new(options["key"], covered, hashlib.sha256).digest() == mac


# ------------------------------------------------------------------------------------------------------------- comments


def holds(raw: int, code: IntEnum) -> bool:
    """Whether a byte is a code: leads have ranges, and a dtype may be marked as big-endian."""
    if isinstance(code, Lead):
        return lead_of(raw) is code
    return raw & 0x7F == code if isinstance(code, DtypeCode) else raw == code


def check_names(raw: bytes, comment: str) -> None:
    """Every code that a comment names is a byte of its line, in the order of the bytes."""
    rest = iter(raw)
    for first, second in re.findall(rf"({CODE.pattern})(?: \+ ({CODE.pattern}))?", comment):
        if second:
            assert CODES[first] + CODES[second] in rest, comment
        else:
            assert any(holds(byte, CODES[first]) for byte in rest), comment


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_comments_name_the_bytes_of_their_lines(example: Example) -> None:
    for raw, comment in example.lines:
        check_names(raw, comment)


def test_every_code_has_an_example() -> None:
    shown = {name for example in EXAMPLES for name in example.names}
    assert shown == EVERY_CODE | {name_of(code) for codes in (DataForm, *ENVELOPES) for code in codes}


# --------------------------------------------------------------------------------------------------------------- tables

ROW: Final = re.compile(r"^\| ([0-9A-F]{1,2}(?:(?:, |\.\.)[0-9A-F]{1,2})*) \| ((?:`[A-Z0-9_]+`(?:, | )?)+) \|", re.MULTILINE)


def rows(title: str) -> dict[str, int]:
    """The names and numbers in the tables of the section of that title.

    >>> rows("6.3 Bits")
    {'BITS': 0, 'CONST': 1, 'RUNS': 2}
    """
    (start,) = re.finditer(rf"^(#+) {re.escape(title)}.*$", PAGE, re.MULTILINE)
    section = re.split(rf"^#{{1,{len(start[1])}}} ", PAGE[start.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    found: dict[str, int] = {}
    for numbers, names in ROW.findall(section):
        first, *_ = re.split(r", |\.\.", numbers)
        for offset, name in enumerate(re.findall(r"`(\w+)`", names)):
            assert name not in found
            found[name] = int(first, 16) + offset
    return found


def numbers_of(codes: type[IntEnum]) -> dict[str, int]:
    return {code.name: int(code) for code in codes}


@pytest.mark.parametrize(
    ("title", "codes"),
    [
        ("3 Shapes", Node),
        ("6.1 Integers", IntCode),
        ("6.2 Doubles", FloatCode),
        ("6.3 Bits", BitCode),
        ("6.4 Text", TextCode),
        ("6.5 Byte strings", BytesCode),
        ("7.1 dtypes", DtypeCode),
        ("7.2 The kind", DataForm),
        ("12.1 Checksums", ChecksumCode),
        ("12.2 Seals", SealCode),
        ("12.3 Compression", CompressionCode),
    ],
)
def test_tables_have_the_numbers_of_the_code(title: str, codes: type[IntEnum]) -> None:
    assert rows(title) == numbers_of(codes)


def test_kinds_and_leads_have_the_numbers_of_the_code() -> None:
    pooled, columns, leads = rows("4 Slots"), rows("5 Columns"), rows("2 Payload")
    assert pooled | columns == numbers_of(Kind)
    assert set(pooled) & set(columns) == {"NONE", "FALSE", "TRUE"}
    assert leads.items() >= numbers_of(Lead).items()
    assert (leads.keys() - Lead.__members__.keys()) <= Kind.__members__.keys()
    assert all(Kind[name] == number for name, number in leads.items() if name in Kind.__members__)


def test_numbers_in_the_text() -> None:
    text = " ".join(PAGE.split())
    size = 1000
    assert "2^21 + 8 * size cells" in text
    assert Limits().budget(size) == 2**21 + 8 * size
    assert f"within containers: {MAX_DEPTH} (R5)" in text
    assert f"within each other: {MAX_NESTING} (R6)" in text
    assert f"payload := 0x{MAGIC:02X} | 0x{VERSION:02X} | u8 lead" in text
    assert ", ".join(f"{code} {unit}" for code, unit in enumerate(UNITS[:-1])) in text
    names = [getattr(factory, "__name__", str(factory)) for factory in FACTORIES]
    assert ", ".join(f"{code} {name}" for code, name in enumerate(names)) in text


def test_numbers_of_envelopes_in_the_text() -> None:
    text = " ".join(PAGE.split())
    for code, name in ((EnvelopeCode.CHECKED, "checked"), (EnvelopeCode.SEALED, "sealed"), (EnvelopeCode.COMPRESSED, "compressed")):
        assert f'{name} := 0x{MAGIC:02X} | 0x{code:02X} "{chr(code)}" | u8 code | ' in text
    assert "a size above 2^11 + 32 * k" in text
    assert (Limits().inflated(0), INFLATION) == (2**11, 32)
    assert "a payload of up to 2^32 bytes" in text
    assert Limits().bytes == 2**32
    assert f"a key of less than {KEY_SIZE} bytes" in text
    assert {way.code for way in CHECKSUMS.values()} == set(ChecksumCode)
    assert {method.code for method in METHODS.values()} == set(CompressionCode)


# ---------------------------------------------------------------------------------------------------------------- rules


@pytest.mark.parametrize("letter", ["R", "W", "E"])
def test_rules_are_numbered_and_every_mention_has_its_rule(letter: str) -> None:
    defined = [int(found) for found in re.findall(rf"^- \*\*{letter}(\d+)\*\* ", PAGE, re.MULTILINE)]
    assert defined == list(range(1, len(defined) + 1))
    assert {int(found) for found in re.findall(rf"\b{letter}(\d+)\b", PAGE)} == set(defined)


def test_links_lead_somewhere() -> None:
    titles = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([^)]*)\)", PAGE)) <= anchors


def test_sections_are_in_order() -> None:
    numbers = [tuple(map(int, found.split("."))) for found in re.findall(r"^#+ (\d+(?:\.\d+)?) ", PAGE, re.MULTILINE)]
    assert all(earlier < later for earlier, later in pairwise(numbers))


def test_doubles_are_little_endian_in_the_examples() -> None:
    (example,) = [example for example in EXAMPLES if example.expression == "0.5"]
    assert example.data[3:] == struct.pack("<d", 0.5)
