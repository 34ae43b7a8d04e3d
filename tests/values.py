"""Example values of everything that design section 4 promises, and the traps of the field notes by name.

Strategy: a maker takes n and gives n values of one type: the awkward ones first, then enough others that a column of a
thousand is more than a pattern repeated. TRAPS are single values; what they are called says what goes wrong elsewhere.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import fractions
import hashlib
import ipaddress
import itertools
import pathlib
import random
import struct
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final, NamedTuple

import attrs
import numpy as np

import npser

__all__ = ["CLASSES", "MAKERS", "SIZES", "TRAPS", "Box", "hashable"]

SIZES: Final = (0, 1, 2, 7, 1000)

Maker = Callable[[int], list[Any]]


def cycled(*values: Any) -> Maker:
    """The values over and over."""
    return lambda n: list(itertools.islice(itertools.cycle(values), n))


def awkward(first: Iterable[Any], then: Callable[[random.Random], Any]) -> Maker:
    """The awkward values once, then random ones."""

    def make(n: int) -> list[Any]:
        rng = random.Random(n)
        values = list(itertools.islice(first, n))
        return values + [then(rng) for _ in range(n - len(values))]

    return make


def counted(one: Callable[[int], Any]) -> Maker:
    """A function of 0, 1, 2, …"""
    return lambda n: [one(i) for i in range(n)]


# -------------------------------------------------------------------------------------------------------------- numbers

EDGES: Final = [
    sign * (2**power + off)
    for power in (0, 7, 8, 15, 16, 31, 32, 53, 62, 63, 64, 127, 128)
    for off in (-1, 0, 1)
    for sign in (1, -1)
]

INT64_EDGES: Final = [value for value in EDGES if -(2**63) <= value < 2**63]


def double(bits: int) -> float:
    """The double of these bits."""
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


NANS: Final = [
    float("nan"),
    -float("nan"),
    double(0x7FF8_0000_0000_0001),
    double(0xFFFF_FFFF_FFFF_FFFF),
    double(0x7FF0_0000_0000_0001),
    double(0xFFF4_0000_DEAD_BEEF),
]
"""Quiet and signalling, both signs, with payloads."""

DOUBLES: Final = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.1,
    1 / 3,
    100000.0,
    1e30,
    65504.0,
    float(np.float32(0.1)),
    2.0**53 + 2,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    float("inf"),
    float("-inf"),
    *NANS,
]

DECIMALS: Final = [
    Decimal(text)
    for text in (
        "1.10", "1", "1.00", "0", "-0", "0E+3", "-0.00", "1E+5", "-1E-400", "Infinity", "-Infinity", "NaN", "sNaN",
        "-NaN", "NaN123", "-sNaN7", "123456789012345678901234567890.123456789", "9" * 400, "1E+999999999999",
        "-1E-999999999999",
    )
]  # fmt: skip

# ----------------------------------------------------------------------------------------------------------------- text

STRINGS: Final = [
    "", "\0", "a\0", "\0\0", "x", "köln", "日本", "😀", "\ud83d", "hi \ud83d", "\ud83d\ude02", "\udc7f", "\x7f", "\x1f\x1e",
    "".join(map(chr, range(33))), " ", "\n", "\r\n", "\ufeff", "\u2028", "e\u0301", "a" * 300, "'\"`$[{", "0", "None",
    "\U0010ffff", "\ue000\uffff",
]  # fmt: skip

BYTES: Final = [b"", b"\0", b"a\0", b"\0\0", b"\xff", b"\xc1\x01", b"\x80\x05.", b"x" * 300, bytes(range(256)), b"ab"]


def digest(i: int) -> bytes:
    """A digest; every other one ends in NUL."""
    return hashlib.sha256(b"%d" % i).digest()[: 31 + i % 2] + bytes(1 - i % 2)


# ---------------------------------------------------------------------------------------------------------------- times

BERLIN: Final = zoneinfo.ZoneInfo("Europe/Berlin")
NEW_YORK: Final = zoneinfo.ZoneInfo("America/New_York")
ZONES: Final = [
    None,
    datetime.UTC,
    BERLIN,
    NEW_YORK,
    zoneinfo.ZoneInfo("UTC"),
    datetime.timezone(datetime.timedelta(0), "UTC"),
    datetime.timezone(datetime.timedelta(hours=5)),
    datetime.timezone(datetime.timedelta(hours=-3, minutes=-30), "NST"),
    datetime.timezone(datetime.timedelta(seconds=1, microseconds=1)),
    datetime.timezone(-datetime.timedelta(hours=23, minutes=59), ""),
]
MOMENTS: Final = [
    datetime.datetime.min,
    datetime.datetime.max,
    datetime.datetime(1970, 1, 1),
    datetime.datetime(1969, 12, 31, 23, 59, 59, 500000),
    datetime.datetime(3000, 1, 1, 0, 0, 0, 999999),
    datetime.datetime(2100, 1, 1),
    datetime.datetime(2024, 2, 29, 12),
    datetime.datetime(2021, 11, 7, 1, 30),
    datetime.datetime(2021, 3, 14, 2, 30),
]


def moment(i: int) -> datetime.datetime:
    return datetime.datetime(2020, 1, 1) + datetime.timedelta(microseconds=i * 86_399_999_777)


def zoned(i: int) -> datetime.datetime:
    base = MOMENTS[i % len(MOMENTS)] if i < 2 * len(MOMENTS) else moment(i)
    return base.replace(tzinfo=ZONES[i % len(ZONES)], fold=i // 3 % 2)


# -------------------------------------------------------------------------------------------------------------- classes


class Colour(enum.Enum):
    RED = 1
    GREEN = "green"
    BLUE = (0, 0, 1.5)
    NOTHING = None
    CRIMSON = 1  # an alias


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Word(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Mode(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4
    ALL = 7


class Bits(enum.IntFlag):
    A = 1
    B = 2


class Point(NamedTuple):
    x: Any
    y: Any = 0


class Empty(NamedTuple):
    pass


@dataclasses.dataclass
class Box:
    value: Any
    number: int = 0


@dataclasses.dataclass(slots=True)
class Slotted:
    x: int
    name: str
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: int
    label: str = "none"


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlotted:
    x: float
    at: datetime.date | None = None


@dataclasses.dataclass
class Derived(Box):
    extra: bytes = b""


@dataclasses.dataclass
class Nothing:
    pass


@attrs.define
class Order:
    id: int
    lines: list[Any] = attrs.field(factory=list)
    _note: str = ""


@attrs.frozen
class FrozenOrder:
    id: int
    total: Decimal = Decimal("0.00")


@attrs.define(slots=False)
class OpenOrder:
    id: int


class Plain:
    def __init__(self, /, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class BareSlots:
    __slots__ = ("a", "b")

    def __init__(self, **attributes: Any) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)


class SlotsAndDict(BareSlots):
    """`__slots__` of the base, and a `__dict__`."""


class Stateful:
    def __init__(self, n: int) -> None:
        self.n = n

    def __getstate__(self) -> Any:
        return ("state", self.n)

    def __setstate__(self, state: Any) -> None:
        _, self.n = state


class Packed:
    """Owns its bytes."""

    def __init__(self, n: int) -> None:
        self.n = n

    def pack(self, stream: npser.BinaryStream) -> None:
        stream.write(struct.pack("<q", self.n))
        stream.write(b"x" * (self.n % 3))

    @classmethod
    def unpack(cls, stream: npser.BinaryStream) -> Packed:
        (n,) = struct.unpack("<q", stream.read_exactly(8))
        stream.read_exactly(n % 3)
        return cls(n)


class Gauge:
    """Is registered with what it is made of."""

    def __init__(self, low: Any, marks: Any) -> None:
        self.low, self.marks = low, marks


npser.register(
    Gauge,
    state=lambda gauge: {"low": gauge.low, "marks": gauge.marks},
    build=lambda state: Gauge(state["low"], state["marks"]),
)

CLASSES: Final = (
    Colour, Level, Word, Mode, Bits, Point, Empty, Box, Slotted, Frozen, FrozenSlotted, Derived, Nothing, Order,
    FrozenOrder, OpenOrder, Plain, BareSlots, SlotsAndDict, Stateful, Packed,
    Gauge,
)  # fmt: skip
"""Every class of an example."""


def plain(i: int) -> Plain:
    return Plain(**dict.fromkeys(("a", "b", "c")[i % 3:], i), **{f"only{i % 5}": str(i)})


def bare_slots(i: int) -> BareSlots:
    return BareSlots(**dict.fromkeys(("a", "b")[:i % 3], i))


def slots_and_dict(i: int) -> SlotsAndDict:
    thing = SlotsAndDict(**dict.fromkeys(("a", "b")[:i % 3], i))
    if i % 2:
        thing.free = [i]
    return thing


# --------------------------------------------------------------------------------------------------------------- arrays


def _record_array() -> Any:
    return np.rec.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f8")])[:0].dtype


def _noise(dtype: Any, count: int) -> Any:
    """Elements of any bits whatever, the gaps of structures included."""
    dtype = np.dtype(dtype)
    return np.random.default_rng(count).integers(0, 256, count * dtype.itemsize, "u1").view(dtype)


NUMBER_DTYPES: Final = [
    f"{order}{code}"
    for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
    for order in ("<", ">")
]

STRUCTURES: Final = [
    np.dtype([("a", "<i4"), ("b", ">f8")]),
    np.dtype([("x", "f4", (2,)), ("y", "i1", (2, 3))]),
    np.dtype([("a", "i1"), ("b", "f8")], align=True),
    np.dtype({"names": ["a", "b"], "formats": ["<i4", "<i2"], "offsets": [4, 0], "itemsize": 16}),
    np.dtype({"names": ["all", "low"], "formats": ["<i4", "<i2"], "offsets": [0, 0]}),
    np.dtype([(("a title", "a"), "i2"), ("b", "S3")]),
    np.dtype([("inner", [("u", "<U2"), ("v", "V3")]), ("t", "<M8[3D]")]),
    np.dtype([("ü", "i1"), ("", "i1")]),
    np.dtype([]),
]


def _zeros_of(dtype: Any) -> Any:
    array = np.zeros(3, dtype)
    if dtype.itemsize and not any(kind in str(dtype) for kind in ("U", "?")):
        array.view(f"V{dtype.itemsize}").view("u1")[:] = np.arange(array.nbytes) % 251
    return array


ARRAYS: Final[list[Any]] = [
    *[np.arange(-5, 7).astype(dtype) for dtype in NUMBER_DTYPES],
    *[_noise(dtype, 40) for dtype in ("<f2", ">f4", "<f8", "<c16", "<i8", ">u2")],
    np.array([True, False, True]),
    np.array(123),
    np.array(1.5, ">f4"),
    np.array(b"x\0"),
    np.zeros((0,)),
    np.zeros((4, 2, 0), "<i2"),
    np.zeros((2**40, 0), "u1"),
    np.arange(6).reshape(2, 3),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
    np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
    np.arange(20)[::-3],
    np.broadcast_to(np.float32(1), (5, 4)),
    np.array([0, 1, 0.4, 5.7], ">f8"),
    np.array(["a", "bc", ""]),
    np.array(["a", "b\ud800"]),
    np.array(["ab", "c"], ">U3"),
    np.array([b"a", b"bc\0"]),
    np.array([b""], "S0"),
    np.array([""], "U0"),
    np.zeros(3, "V5"),
    np.zeros(2, "V0"),
    np.array(["2020-01-01", "NaT", "1960-05-05"], "M8[D]"),
    np.array(["2020-01-01T00:00:00.123456789", "NaT"], ">M8[ns]"),
    np.array([1, 2, "NaT"], "m8[25s]"),
    np.array([1], "m8"),
    np.array(["NaT"], "M8"),
    np.array(["0001", "-290000"], "M8[213504D]"),
    np.array(["a", "x\0", "", "日本", "long enough to be outside of the arena" * 3], np.dtypes.StringDType()),
    np.array(["a", None], np.dtypes.StringDType(na_object=None)),
    np.array(["a", np.nan], np.dtypes.StringDType(na_object=np.nan)),
    np.array(["a", "?"], np.dtypes.StringDType(na_object="?")),
    np.array(["a"], np.dtypes.StringDType(coerce=False)),
    *map(_zeros_of, STRUCTURES),
    np.zeros((2, 2), STRUCTURES[2], order="F"),
    np.zeros(2, _record_array()),
    np.array([1, "a", None, [1, 2]], object),
    np.array([[1, 2], [3, 4]], object),
    np.asfortranarray(np.array([[1, "x", None], [3.5, b"", (1,)]], object)),
    np.array(None, object),
    np.zeros((2, 0), object),
    np.array([np.arange(2), np.arange(3)], object),
    np.arange(2000, dtype="<i4"),
    np.random.default_rng(0).random((70, 80)),
    np.cumsum(np.ones(3000, ">i8")),
    np.longdouble([1.5, -0.0]),
    np.array([1, 2], np.longlong),
    np.array([1, 2], np.ulonglong),
]


def _lists_in_object_array() -> Any:
    array = np.empty(2, object)
    array[:] = [[1, 2], [3, 4]]
    return array


ARRAYS.append(_lists_in_object_array())

SCALARS: Final[list[Any]] = [
    np.int8(1), np.int16(-2), np.int32(3), np.int64(4), np.uint8(5), np.uint16(6), np.uint32(7), np.uint64(2**63),
    np.longlong(8), np.float16(0.1), np.float32(0.1), np.float64(0.1), np.longdouble(0.1), np.complex64(1j),
    np.complex128(complex(-0.0, float("nan"))), np.bool_(True), np.bool_(False), np.str_("a\0"), np.str_("\ud800"),
    np.str_(""), np.bytes_(b"a\0"), np.datetime64("NaT"), np.datetime64("2020-01-01"), np.datetime64("2020", "Y"),
    np.datetime64(1, "ns"), np.datetime64("2020-01-01T05", "h"), np.timedelta64(3, "25s"), np.timedelta64("NaT"),
    np.timedelta64(-1, "us"), np.void(b"ab\0"), np.float64("nan"), np.float32(-0.0), np.zeros(1, STRUCTURES[0])[0],
    np.zeros(1, STRUCTURES[2])[0],
]  # fmt: skip


def array_of(i: int) -> Any:
    return ARRAYS[i % len(ARRAYS)].copy("K") if i >= len(ARRAYS) else ARRAYS[i]


# --------------------------------------------------------------------------------------------------------------- makers


def nested(i: int) -> Any:
    return {
        "id": i,
        "tags": [f"t{k}" for k in range(i % 4)],
        "at": (i / 3, -i),
        "more": {"a": None if i % 3 else [i], "b": {str(k): k for k in range(i % 2)}},
        **({"late": True} if i > 5 else {}),
    }


def default_dict(i: int) -> Any:
    factory = (list, int, None, dict, set, str)[i % 6]
    return defaultdict(factory, {k: k for k in range(i % 4)})


MAKERS: Final[dict[str, Maker]] = {
    "None": cycled(None),
    "bool": cycled(True, False, False),
    "False": cycled(False),
    "int": awkward(EDGES, lambda rng: rng.randrange(-(2**rng.randrange(1, 70)), 2**70)),
    "int64": awkward(INT64_EDGES, lambda rng: rng.randrange(-(2**63), 2**63)),
    "int/affine": counted(lambda i: 1000 + 7 * i),
    "int/constant": cycled(-123456789),
    "int/runs": counted(lambda i: i // 100 * 10**12),
    "int/few": counted(lambda i: (10**15, -5, 2**62)[i * i % 3]),
    "int/outliers": counted(lambda i: 2**40 if i % 97 == 13 else i % 10),
    "int/small": awkward((), lambda rng: rng.randrange(200)),
    "int/wide steps": counted(lambda i: (-(2**63), 2**63 - 1)[i % 2]),
    "int/large": counted(lambda i: 3**i if i < 100 else 10**30 + i),
    "float": awkward(DOUBLES, lambda rng: rng.random()),
    "float/prices": awkward((), lambda rng: round(rng.random() * 1000, 2)),
    "float/whole": counted(float),
    "float/f32": counted(lambda i: float(np.float32(i / 7))),
    "float/constant": cycled(0.1),
    "float/runs": counted(lambda i: i // 50 / 3),
    "float/outliers": counted(lambda i: float("nan") if i % 90 == 7 else i / 4),
    "float/noise": awkward((), lambda rng: double(rng.getrandbits(64))),
    "float/-0.0 and 0.0": cycled(0.0, -0.0, 0.0),
    "complex": awkward(
        [complex(x, y) for x in DOUBLES for y in (0.0, -0.0, NANS[2])], lambda rng: complex(rng.random(), rng.random())
    ),
    "str": awkward(STRINGS, lambda rng: "".join(map(chr, rng.choices(range(32, 0x3000), k=rng.randrange(12))))),
    "str/ids": counted(lambda i: f"user-{i * 7919 % 10**6}"),
    "str/few": counted(lambda i: ("red", "green", "blue", "")[i * i % 4]),
    "str/NULs": cycled("\0\0"),
    "str/surrogates": counted(lambda i: "ab" * i + "\ud83d"),
    "str/all controls": counted(lambda i: "".join(map(chr, range(32))) + str(i)),
    "bytes": awkward(BYTES, lambda rng: rng.randbytes(rng.randrange(12))),
    "bytes/digests": counted(digest),
    "bytes/few": cycled(b"a", b"b\0", b"a"),
    "bytearray": counted(lambda i: bytearray(BYTES[i % len(BYTES)])),
    "Ellipsis": cycled(...),
    "Decimal": awkward(DECIMALS, lambda rng: Decimal(rng.randrange(-(10**9), 10**9)).scaleb(-rng.randrange(5))),
    "Decimal/prices": counted(lambda i: Decimal(i * 37).scaleb(-2)),
    "Fraction": counted(lambda i: fractions.Fraction(i * i - 50, 2 * i + 1) if i % 5 else fractions.Fraction(3**i, 7)),
    "range": counted(lambda i: (range(i), range(0), range(5, -5, -1 - i), range(10**20, 10**20 + i, 3))[i % 4]),
    "slice": counted(lambda i: (slice(i), slice(None), slice(1, None, -1), slice("a", (1, 2), 2.5))[i % 4]),
    "date": awkward(
        (datetime.date.min, datetime.date.max, datetime.date(1970, 1, 1), datetime.date(1969, 12, 31)),
        lambda rng: datetime.date.fromordinal(rng.randrange(1, 3_000_000)),
    ),
    "datetime": counted(lambda i: MOMENTS[i] if i < len(MOMENTS) else moment(i)),
    "datetime/zoned": counted(zoned),
    "datetime/fold": counted(lambda i: datetime.datetime(2021, 11, 7, 1, 30, tzinfo=NEW_YORK, fold=i % 2)),
    "time": counted(lambda i: zoned(i).time()),
    "time/zoned": counted(lambda i: zoned(i).timetz()),
    "timedelta": awkward(
        (
            datetime.timedelta.min,
            datetime.timedelta.max,
            datetime.timedelta(0),
            datetime.timedelta(microseconds=-1),
            datetime.timedelta(days=106751991, seconds=14454, microseconds=775808),
        ),
        lambda rng: datetime.timedelta(seconds=rng.randrange(10**6), microseconds=rng.randrange(10**6)),
    ),
    "UUID": counted(lambda i: uuid.UUID(int=(2**128 - 1) // (i + 1), is_safe=list(uuid.SafeUUID)[i // 7 % 3])),
    "PurePath": counted(
        lambda i: (
            pathlib.PurePosixPath("/a", str(i)),
            pathlib.PureWindowsPath("C:/x", str(i)),
            pathlib.PosixPath("..", "ü", str(i)),
            pathlib.PurePosixPath(),
            pathlib.PureWindowsPath("//host/share/x"),
            pathlib.PurePosixPath("//net"),
            pathlib.PurePosixPath("a\udcff"),
            pathlib.PureWindowsPath("c:rel"),
        )[i % 8]
    ),
    "ipaddress": counted(
        lambda i: (
            ipaddress.IPv4Address(i),
            ipaddress.IPv6Address(2**127 + i),
            ipaddress.IPv6Address("fe80::1%eth0"),
            ipaddress.IPv4Network((i << 8, 24)),
            ipaddress.IPv6Network("2001:db8::/32"),
            ipaddress.IPv4Interface("10.1.2.3/8"),
            ipaddress.IPv6Interface("::1/127"),
            ipaddress.IPv4Network("0.0.0.0/0"),
        )[i % 8]
    ),
    "list": counted(lambda i: [i] * (i % 5)),
    "list/ragged": counted(lambda i: [[k, str(k)][: k % 3] for k in range(i % 4)]),
    "list/rows": counted(lambda i: [i, str(i), i / 2, None]),
    "list/coordinates": counted(lambda i: [i / 7, -i / 3]),
    "list/empty": counted(lambda i: []),
    "tuple": counted(lambda i: (i, str(i), None)[: i % 4]),
    "tuple/pairs": counted(lambda i: (i, f"v{i}")),
    "tuple/empty": counted(lambda i: ()),
    "dict": counted(lambda i: {"id": i, "name": f"n{i}", "ok": i % 2 == 0}),
    "dict/late and missing keys": counted(
        lambda i: {**({"a": i} if i % 20 else {}), "b": None if i % 7 else i, **({"c": i} if i % 300 == 299 else {})}
    ),
    "dict/other order": counted(lambda i: dict(sorted({"a": i, "b": i, "c": i}.items(), reverse=bool(i % 2)))),
    "dict/own keys": counted(lambda i: {f"k{i}": i, f"k{i + 1}": str(i)}),
    "dict/many keys": counted(lambda i: {f"k{k}": k for k in range(100)} if i < 7 else {}),
    "dict/any keys": counted(
        lambda i: {1: i, "1": i, (1, 2): i, None: 0, True and "t": 1, b"b": 2, 1.5: 3, frozenset({i}): 4, Colour.RED: 5}
    ),
    "dict/int keys": counted(lambda i: {i: "a", i + 1: "b"}),
    "dict/hostile keys": counted(lambda i: {"__class__": i, "": 0, "a.b": 1, "']": 2, "\ud800": 3, "x" * 300: 4}),
    "dict/empty": counted(lambda i: {}),
    "set": counted(lambda i: set(range(i % 6)) | {str(i), (i, None)}),
    "set/empty": counted(lambda i: set()),
    "frozenset": counted(lambda i: frozenset({i, f"f{i}", frozenset({i})})),
    "deque": counted(lambda i: deque(range(i % 5), maxlen=(None, 10, 4)[i % 3])),
    "deque/maxlen 0": counted(lambda i: deque(maxlen=0)),
    "OrderedDict": counted(lambda i: OrderedDict((str(k), k) for k in reversed(range(i % 5)))),
    "defaultdict": counted(default_dict),
    "Counter": counted(lambda i: Counter({"a": i, "b": -1, "z": 0, i: 1.5})),
    "nested": counted(nested),
    "Enum": cycled(Colour.RED, Colour.GREEN, Colour.BLUE, Colour.NOTHING, Colour.CRIMSON),
    "IntEnum": cycled(Level.LOW, Level.HIGH),
    "StrEnum": cycled(Word.YES, Word.NO),
    "Flag": counted(lambda i: Mode(i % 8)),
    "IntFlag": counted(lambda i: Bits(i % 4 + 8 * (i % 2))),
    "NamedTuple": counted(lambda i: Point(i, [i] if i % 3 else None)),
    "NamedTuple/empty": counted(lambda i: Empty()),
    "dataclass": counted(lambda i: Box({"n": i}, i)),
    "dataclass/slots": counted(lambda i: Slotted(i, str(i), ["a"] * (i % 3))),
    "dataclass/frozen": counted(lambda i: Frozen(i, f"l{i}")),
    "dataclass/frozen slots": counted(lambda i: FrozenSlotted(i / 2, datetime.date(2020, 1, 1 + i % 28))),
    "dataclass/derived": counted(lambda i: Derived(i, i, bytes([i % 256]))),
    "dataclass/empty": counted(lambda i: Nothing()),
    "attrs": counted(lambda i: Order(i, [i], "n")),
    "attrs/frozen": counted(lambda i: FrozenOrder(i, Decimal(i))),
    "attrs/open": counted(OpenOrder),
    "class": counted(plain),
    "class/slots": counted(bare_slots),
    "class/slots and dict": counted(slots_and_dict),
    "class/state": counted(Stateful),
    "class/own bytes": counted(Packed),
    "class/built": counted(lambda i: Gauge(i, [] if i % 3 else [str(i), None])),
    "ndarray": counted(array_of),
    "ndarray/one dtype": counted(lambda i: np.arange(i % 5, dtype="<f4")),
    "numpy scalars": counted(lambda i: SCALARS[i % len(SCALARS)]),
    "numpy scalars/float32": counted(lambda i: np.float32(i / 3)),
}
"""Name -> a function of n that gives n values."""


def hashable(values: list[Any]) -> list[Any]:
    """Those that may be keys."""
    found = []
    for value in values:
        try:
            hash(value)
        except TypeError:
            continue
        found.append(value)
    return found


# ---------------------------------------------------------------------------------------------------------------- traps


def _matrix(n: int) -> list[Any]:
    return [[i * j for j in range(n)] for i in range(n)]


TRAPS: Final[dict[str, Any]] = {
    "int beside bool": [1, True],
    "bool beside int": [True, 2],
    "enum beside int": [Level.LOW, 1],
    "int beside float": [1, 2.5],
    "large int beside float": [2**53 + 1, 0.5],
    "uint64 beside int": [2**63, 1],
    "uint64 beside negative": [2**63, -1],
    "numpy unsigned beside signed": [np.uint64(2**63), np.int64(-1)],
    "beyond uint64": [2**64, 1],
    "int beside str": [1, "a"],
    "bytes beside str": [b"a", "b"],
    "strings that end in NUL": ["a\0", "b"],
    "bytes that end in NUL": [b"a\0"],
    "one long string": ["a" * 10**6] + ["b"] * 1000,
    "float32 beside float": [np.float32(0.1), 0.1],
    "int8 beside int": [np.int8(1), 300],
    "tuples of one length": [(1, 2), (3, 4)],
    "arrays of one shape": [np.arange(2)] * 2,
    "lists of one length": [[1, 2], [3, 4]],
    "ragged lists": [[1], [1, 2]],
    "a fixed offset": [datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))],
    "date beside datetime": [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)],
    "datetime64 of several units": [np.datetime64("2020", "Y"), np.datetime64("2020-01-01T00", "h")],
    "all scalars at once": [1, True, 2.0, None],
    "None in every container": [None, [None], (None,), {"a": None}, {None: None}, {None}, [5, [5, None]]],
    "NaN is not None": [1.0, None, float("nan")],
    "int beside NaN": [1, float("nan"), None],
    "lists of NaN": [[float("nan")], [np.float64("nan")]],
    "decimals of several scales": [Decimal("1.10"), Decimal("1")],
    "values of every width": [100000.0, 1e30, -12.6, 65504.0, 1e-8],
    "unsigned 32": [4294967295, 2147483648, -1],
    "between 64 and 65 bits": [2**64 + 10**18 + 1, 19999999999999999999, 45234928034723904723906],
    "a large int": 10**5000,
    "keys that are 1": {1: "a", "1": "b"},
    "a key that is True": {True: "a"},
    "a key kept from int, its value from bool": {1: "a", True: "b"},
    "a NaN key": {float("nan"): 1},
    "a tuple key": {(1, 2): 0},
    "a surrogate key": {"\ud800": "\udfff"},
    "a frozenset key": {frozenset([1]): 1},
    "enum keys": {Level.LOW: 1, Word.YES: 2, Colour.BLUE: 3, Mode.READ | Mode.RUN: 4},
    "shared tuples in a set": {(1, 2), (2, 1), ((1, 2), (1, 2))},
    "a set in a tuple in a set": {(frozenset({1}), 2)},
    "texts that repeat parts": {"timestamp": datetime.datetime(2025, 2, 11), "a1": "abc", "a": "abc"},
    "user dicts that look like marks": [
        {b"nd": False, b"type": "<i4", b"data": b""},
        {"__type__": "decimal", "__value__": "1"},
        {"__class__": "x", "py/object": "y"},
    ],
    "a late key": [{"a": 1, "b": 2}, {"a": 3, "b": 4, "c": 5}],
    "a missing key": [{"a": 1, "b": 2, "c": 3}, {"a": 4, "b": 5}],
    "an empty row": [{"a": 1}, {}, {"a": None}],
    "only empty rows": [{}, {}, {}],
    "a key of several types": [{"a": 4}, {"a": "foo"}, {"a": None}, {"a": [1]}, {"a": {"b": 1}}, {"a": 2.5}],
    "deep lists of one item": [[[[[[[1]]]]]]],
    "a matrix": _matrix(20),
    "nested matrices": [_matrix(3), _matrix(4), []],
    "subclasses of dict": [OrderedDict(a=1), {"a": 1}, Counter("aab"), defaultdict(list, a=[1])],
    "containers of every kind": [[1], (1,), {1}, frozenset({1}), deque([1]), {1: 1}, slice(1), range(1)],
    "a moved OrderedDict": None,
    "equal arrays": [np.arange(1000), np.arange(1000), np.arange(1000.0)],
    "an empty list in lists": [[], [[]], [[], []], [[[]]]],
    "empties": [[], (), {}, set(), frozenset(), "", b"", bytearray(), deque(), OrderedDict(), 0, 0.0, False, None],
    "an empty list": [],
    "a dict of empties": {"a": [], "b": {}, "c": ()},
    "a thousand strings that are all empty": [""] * 1000,
    "a million equal items": [7] * 10**6,
    "many equal rows": [{"a": 1, "b": None, "c": "x"}] * 20_000,
    "nested equal rows": [((1,),)] * 20_000,
    "many equal objects": [Frozen(1, "x") for _ in range(12_000)],
    "rows of constant lists": [[0, 0, 0, True]] * 10_000,
    "a wide table": [{f"c{k}": k * i for k in range(200)} for i in range(5)],
    "a wide dict": {f"c{k}": [k] if k % 2 else k for k in range(200)},
    "many NaNs in a set": {float("nan") for _ in range(1000)},
    "many NaN keys": {float("nan"): i for i in range(1000)},
    "NaNs in tuples in a set": {(float("nan"), 1) for _ in range(100)},
    "NaNs of every kind in a set": {*NANS, Decimal("nan"), complex(float("nan"), 0), np.float64("nan")},
    "a batch of classes": [Box(1), Frozen(2), Box(3), Point(1, 2), Colour.RED, None, 1],
    "objects in objects": Box([Box(Box(None)), {"b": Box([])}]),
    "an object with an unset field": None,
    "zones that are alike": [datetime.datetime(2021, 7, 1, tzinfo=zone) for zone in ZONES],
    "one fold among many": [datetime.datetime(2021, 11, 7, 1, tzinfo=NEW_YORK, fold=i == 5) for i in range(50)],
}
"""Name -> one value."""


def _moved() -> Any:
    moved = OrderedDict(a=1, b=2, c=3)
    moved.move_to_end("a")
    return moved


def _unset() -> Any:
    boxes = [Slotted(1, "a"), Slotted(2, "b")]
    del boxes[0].x
    return boxes


TRAPS["a moved OrderedDict"] = _moved()
TRAPS["an object with an unset field"] = _unset()
