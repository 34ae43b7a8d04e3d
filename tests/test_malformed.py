"""Any bytes at all give a value or an NpserError, quickly, and in memory bounded by the input.

Strategy: a corpus with every node and every kind of column is cut, changed, lengthened and shortened in every way that is
cheap to enumerate and in random ways for the rest. The environment's NPSER_MUTATIONS says how many random ones;
`python tests/test_malformed.py 100000` runs as many and prints what it finds. The bombs are made by hand: counts and
lengths that no writer would write, each with the most that it may cost.
"""

from __future__ import annotations

import enum
import os
import random
import resource
import sys
import time
import tracemalloc
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parent)]

import numpy as np
import pytest
from numpy import dtypes

import npser
from golden.trace import name_of, tracing
from guard import fenced
from npser.blocks.choose import write_ints
from npser.blocks.sink import Sink
from npser.columns.bodies import ALIGNED_BODY, ALIGNMENT
from npser.columns.dtypes import dtype_bytes
from npser.errors import DecodeError, LimitError, NpserError, TruncatedError
from npser.shapes import build
from npser.shapes.build import PARSERS
from npser.shapes.keysets import write_key_set
from npser.shapes.leaves import LeafRun
from npser.shapes.node import read_shape
from npser.tags import BytesCode, FloatCode, IntCode, Kind, Lead, Node, TextCode
from npser.types.registry import class_name
from values import ARRAYS, CLASSES, MAKERS, SCALARS, Box

MUTATIONS: Final = int(os.environ.get("NPSER_MUTATIONS", "5000"))

SECONDS = 1.0
"""Nothing may take longer."""

ITEM_BYTES = 192
"""What an item may take that comes out of (nearly) nothing, on average."""

LIMITS: Final = npser.Limits(items=1 << 17)
"""An eighth of the default, so that the tests of what it allows are quick."""

HEADER: Final = b"\xc1\x01"

OPTIONS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"classes": CLASSES},
    {"numbers": "array", "tables": "columns"},
    {"copy": "never", "classes": CLASSES},
)


@lru_cache(maxsize=1)
def corpus() -> dict[str, bytes]:
    """Name -> a payload: every type alone and as a short and a longer column, and shapes of every node."""
    found: dict[str, bytes] = {}
    for name, maker in MAKERS.items():
        if not name.startswith(("ndarray", "numpy", "dict/many")):
            found[f"{name} x 3"] = npser.dumps(maker(3))
            found[f"{name} x 40"] = npser.dumps(maker(40))
            found[f"{name} alone"] = npser.dumps(maker(2)[1])
    for i, array in enumerate(ARRAYS):
        if array.nbytes < 2000:
            found[f"array {i} {array.dtype}"] = npser.dumps(array)
    found |= {f"scalar {i}": npser.dumps(scalar) for i, scalar in enumerate(SCALARS)}
    shared, loop = Box(1), []
    loop += [loop, {"in": loop}, {1, 2}]
    found |= {
        "references": npser.dumps([shared, [shared, {"x": shared}]]),
        "preserved": npser.dumps(loop, identity="preserve"),
        "arrays": npser.dumps({"a": [np.arange(9.0), np.arange(3), np.eye(2, order="F")], "b": np.array([1, "a"], object)}),
        "strings": npser.dumps([f"s{i}" for i in range(300)]),
        "table": npser.dumps([{"a": i, "b": str(i), "c": None if i % 3 else 0.5, "d": [i]} for i in range(30)]),
        "mixed": npser.dumps([1, "a", None, 2.5, b"x", True, 2**70] * 5),
        "with None": npser.dumps([[b"x" * (i % 4) if i % 3 else None for i in range(30)], {"x": 1}]),
        "offsets": npser.dumps({"at": [70_000, 70_003, 70_001, 70_007, 70_002]}),
        "copies": npser.dumps([{"tags": ["a", "b"] if i % 3 else ["c"]} for i in range(12)]),
        "document": npser.dumps({"id": 7, "x": -0.5, "name": "n", "no": None, "big": 2**70, "at": {"a": True, "b": [300, 1j]}}),
        "one int": npser.dumps(1234567),
        "one str": npser.dumps("npser"),
    }
    return found


# ----------------------------------------------------------------------------------------------------------- the promise


class Broken(AssertionError):
    """The promise was not kept."""


def decode(data: bytes, options: dict[str, Any]) -> None:
    """Decode; raises `Broken` for anything but a value or an NpserError in time."""
    start = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        npser.loads(data, **options)
    except NpserError as error:
        if error.pos is not None and not 0 <= error.pos <= len(data):
            raise Broken(f"pos {error.pos} of {len(data)} bytes: {error}\n{data.hex()}") from error
        str(error)
    except BaseException as error:
        raise Broken(f"{type(error).__name__}: {error} with {options}\n{data.hex()}") from error
    taken = time.perf_counter() - start
    if taken > SECONDS:
        raise Broken(f"{taken:.1f} s with {options}\n{data.hex()}")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    if grown > 400:
        raise Broken(f"{grown} MB more with {options}\n{data.hex()}")


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Up to four small damages."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(2, len(out) + 1) if len(out) > 2 else len(out)
        way = rng.randrange(7)
        if way == 0 and at < len(out):
            out[at] = rng.randrange(256)
        elif way == 1 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif way == 2:
            out[at:at] = rng.randbytes(rng.choice((1, 1, 2, 8)))
        elif way == 3:
            del out[at : at + rng.choice((1, 1, 2, 8))]
        elif way == 4 and at < len(out):
            out[at] = rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF, 0x10, 0x14, 0x20))
        elif way == 5:
            out[at : at + 1] = bytes([0xFF] * rng.randrange(1, 9)) + b"\x01"
        else:
            other = rng.randrange(2, len(out) + 1) if len(out) > 2 else at
            out[at : at + 8] = out[other : other + 8]
    return bytes(out)


def test_the_corpus_has_every_node_and_every_kind() -> None:
    """Measured by what the readers are asked for while the corpus is read."""
    with tracing() as met:
        for data in corpus().values():
            npser.loads(data)
    assert not {name_of(code) for codes in (Node, Kind) for code in codes} - met
    assert len(corpus()) > 60


def test_every_prefix() -> None:
    for data in corpus().values():
        for end in range(len(data)):
            if len(data) < 400 or end % 7 == 0:
                with pytest.raises(DecodeError):
                    npser.loads(data[:end])


def test_every_value_of_every_byte_of_small_payloads() -> None:
    small = sorted((data for data in corpus().values() if len(data) < 60), key=len)
    chosen = [small[i] for i in range(0, len(small), max(1, len(small) // 8))]
    for data in chosen:
        for at in range(2, len(data)):
            for byte in range(256):
                if byte != data[at]:
                    decode(data[:at] + bytes([byte]) + data[at + 1 :], OPTIONS[(at + byte) % len(OPTIONS)])


def test_bytes_inserted_and_deleted_everywhere() -> None:
    for number, data in enumerate(corpus().values()):
        for at in range(2, len(data), 1 + len(data) // 30):
            options = OPTIONS[(number + at) % len(OPTIONS)]
            decode(data[:at] + data[at + 1 :], options)
            decode(data[:at] + bytes([at % 256]) + data[at:], options)


def test_trailing_bytes_are_refused() -> None:
    for name, data in corpus().items():
        for tail in (b"\0", b"\xff", HEADER, data):
            with pytest.raises(DecodeError):
                raise AssertionError(f"{name}: {npser.loads(data + tail)!r:.100}")


def test_random_bytes_behind_a_header() -> None:
    rng = random.Random(7)
    for _ in range(MUTATIONS // 3):
        decode(HEADER + rng.randbytes(rng.randrange(40)), rng.choice(OPTIONS))
        decode(HEADER + bytes(rng.choices((0, 1, 2, 3, 4, 8, 16, 18, 0x7F, 0x80, 0xFF), k=rng.randrange(30))), {})


def test_random_bytes_behind_a_shape() -> None:
    rng = random.Random(8)
    nodes = [int(node) for node in Node]
    for _ in range(MUTATIONS // 3):
        shape = bytes(rng.choices([*nodes, 0, 0, 0, 1, 2, 4], k=rng.randrange(1, 12)))
        decode(HEADER + bytes([0x80 | len(shape)]) + shape + rng.randbytes(rng.randrange(40)), rng.choice(OPTIONS))


def mutate_all(count: int, seed: int) -> Iterator[bytes]:
    rng = random.Random(seed)
    payloads = list(corpus().values())
    for _ in range(count):
        yield mutated(rng, rng.choice(payloads))


def test_random_damage() -> None:
    rng = random.Random(9)
    for data in mutate_all(MUTATIONS, 10):
        decode(data, rng.choice(OPTIONS))


def test_random_bytes_without_a_header() -> None:
    rng = random.Random(11)
    for _ in range(2000):
        with pytest.raises(NpserError):
            npser.loads(rng.randbytes(rng.randrange(20)))


# ---------------------------------------------------------------------------------------------------------------- bombs


HUGE = 2**62
MANY = 10**6
LONG = 100_000
"""Bytes of an item that stands once in a payload."""


def uvarint(value: int) -> bytes:
    sink = Sink()
    sink.uvarint(value)
    return bytes(sink.out)


def text(value: str) -> bytes:
    """The name of a class in a shape, the first time."""
    return uvarint(len(value.encode()) << 1) + value.encode()


def keys(*names: str) -> bytes:
    """A key set in a shape, the first time."""
    key_set = write_key_set(names)
    return uvarint(len(key_set) << 1) + key_set


class Slot(NamedTuple):
    """A single leaf or a column: its kind, and its body (for kinds with one) or its int64s, and its pooled bytes."""

    kind: int
    body: bytes = b""
    pooled: tuple[int, ...] = ()
    small: bytes = b""


def pooled(*values: int) -> Slot:
    return Slot(Kind.POOL_I64, pooled=values)


def are_single(shape: bytes) -> list[bool]:
    """For each slot of a shape whether it is single; nothing for a shape that cannot be read.

    >>> are_single(LIST + LEAF), are_single(NODE["OBJECT_ARRAY"] + LEAF), are_single(LIST)
    ([True, False], [True, False, True, False], [])
    """
    try:
        nodes = read_shape(shape, PARSERS, LeafRun, len(shape)).nodes
    except NpserError:
        return []
    return [
        node.single and not (more and slot == 1)
        for node in nodes
        for more in [node.more]
        for slot in range(node.slots + more)
    ]


def payload(shape: bytes, *slots: Slot) -> bytes:
    """A payload put together by hand, of slots in the order of the shape."""
    single = are_single(shape)
    singles = [slot for slot, alone in zip(slots, single, strict=False) if alone]
    columns = [slot for slot, alone in zip(slots, [*single, *[False] * len(slots)], strict=False) if not alone]
    out = bytearray(HEADER)
    out += bytes([0x80 | len(shape)]) if len(shape) < 0x7F else b"\xff" + uvarint(len(shape))
    out += shape
    out += bytes(slot.kind for slot in singles + columns)
    out += int64s(singles)
    ints = int64s(columns)
    small = b"".join(slot.small for slot in columns)
    out += bytes([bool(small) | bool(ints) << 3])
    out += b"".join(uvarint(count) for count in (len(small), len(ints) // 8) if count) + small + ints
    bodies = [slot for slot in singles + columns if slot.kind >= Kind.INT]
    out += b"".join(uvarint(len(slot.body) << 1) for slot in bodies)
    for slot in bodies:
        if slot.kind == Kind.ARRAY and len(slot.body) >= ALIGNED_BODY:
            out += bytes(-len(out) % ALIGNMENT)
        out += slot.body
    return bytes(out)


def int64s(slots: list[Slot]) -> bytes:
    return b"".join(value.to_bytes(8, "little", signed=True) for slot in slots for value in slot.pooled)


def ints(values: Any) -> bytes:
    sink = Sink()
    write_ints(sink, np.array(values, "<i8"))
    return bytes(sink.out)


def const(value: int) -> bytes:
    return bytes([IntCode.CONST]) + uvarint(value << 1)


def bytes_dict(item: bytes) -> bytes:
    """Any number of times the same bytes."""
    distinct = bytes([BytesCode.LENGTHS]) + const(len(item)) + item
    return bytes([BytesCode.DICT]) + uvarint(1) + distinct + const(0)


def text_dict(item: str) -> bytes:
    """Any number of times the same text."""
    raw = item.encode()
    distinct = bytes([TextCode.LENGTHS]) + const(len(item)) + uvarint(len(raw)) + raw
    return bytes([TextCode.DICT]) + uvarint(1) + distinct + const(0)


def string_array(dtype: Any, block: bytes, count: int = MANY // 2) -> Slot:
    """One array of so many strings."""
    return Slot(Kind.ARRAY, b"\1" + dtype_bytes(dtype) + const(1) + const(count) + b"\1\0" + b"\3" + block)


WIDE = np.dtype([(f"f{i}", "?") for i in range(300)])
NODE = {node.name: bytes([node]) for node in Node}
LEAF, LIST = NODE["LEAF"], NODE["LIST"]
NONE = Slot(Kind.NONE)

def many(kind: int, body: bytes, count: int = MANY // 2) -> bytes:
    """A list of so many items in a column of that body."""
    return payload(LIST + LEAF, pooled(count), Slot(kind, body))


BOMBS: Final[dict[str, bytes]] = {
    **{
        f"{count} x {name}": payload(LIST + shape, pooled(count), *slots)
        for count in (2**31, 2**40, HUGE, 2**63 - 1)
        for name, shape, slots in (
            ("None", LEAF, (NONE,)),
            ("True", LEAF, (Slot(Kind.TRUE),)),
            ("empty record", NODE["RECORD"] + text("a:B") + keys(), ()),
            ("record", NODE["RECORD"] + text("a:B") + keys("x") + LEAF, (NONE,)),
            ("known record", NODE["RECORD"] + text("values:Box") + keys("value") + LEAF, (NONE,)),
            ("named tuple", NODE["NAMED_TUPLE"] + text("a:B") + keys("x") + LEAF, (NONE,)),
            ("empty named tuple", NODE["NAMED_TUPLE"] + text("a:B") + keys(), ()),
            ("varied record", NODE["VARIED_RECORD"] + text("a:B") + keys("x") + b"\1\1\0" + LEAF, (pooled(), NONE)),
            ("state", NODE["STATE"] + text("a:B") + LEAF, (NONE,)),
            ("built", NODE["BUILT"] + text("a:B") + LEAF, (NONE,)),
            ("known built", NODE["BUILT"] + text("values:Gauge") + LEAF, (NONE,)),
            ("enum", NODE["ENUM"] + text("a:B"), (NONE,)),
            ("empty table", NODE["TABLE"] + keys(), ()),
            ("table", NODE["TABLE"] + keys("x") + LEAF, (NONE,)),
            ("row", NODE["TUPLE_ROW"] + b"\2" + LEAF + LEAF, (NONE, NONE)),
            ("list row", NODE["LIST_ROW"] + b"\1" + LEAF, (NONE,)),
            ("slice", NODE["SLICE"] + LEAF * 3, (NONE, NONE, NONE)),
            ("list", LIST + LEAF, (Slot(Kind.INT, const(0)), NONE)),
            ("set", NODE["SET"] + LEAF, (Slot(Kind.INT, const(1)), NONE)),
            ("deque", NODE["DEQUE"] + LEAF, (Slot(Kind.INT, const(0)), NONE, NONE)),
            ("dict", NODE["DICT"] + LEAF + LEAF, (Slot(Kind.INT, const(1)), NONE, NONE)),
            ("union", NODE["UNION"] + b"\2" + LEAF + LEAF, (Slot(Kind.INT, const(0)), NONE, NONE)),
            ("reference", NODE["REFERENCE"], (Slot(Kind.INT, const(0)),)),
            ("array", NODE["ARRAY"], (Slot(Kind.ARRAY, b"\1\4" + const(0) + const(0) + b"\1\0\0\0"),)),
            ("object array", NODE["OBJECT_ARRAY"] + LEAF, (Slot(Kind.INT, const(0)), pooled(), NONE, NONE)),
        )
    },
    **{
        f"{count} x {kind.name} out of nothing": many(kind, body, count)
        for count in (2**40, HUGE)
        for kind in Kind
        if kind >= Kind.INT
        for body in (b"", b"\0", b"\0\0\0\0", const(0), b"\1\1\1\1\1\1", const(0) * 3, b"\x10" + const(0) + b"\x10" + const(0))
    },
    **{
        f"preserved {name}": payload(NODE["PRESERVE"] + LIST + shape + LEAF, pooled(2**40), NONE)
        for name, shape in (("row", NODE["LIST_ROW"] + b"\1"), ("table", NODE["TABLE"] + keys("x")))
    },
    "rows in rows": payload(LIST + (NODE["TUPLE_ROW"] + b"\1") * 500 + LEAF, pooled(MANY // 9), NONE),
    "lists in rows": payload(LIST + (NODE["LIST_ROW"] + b"\1") * 500 + LEAF, pooled(MANY // 9), NONE),
    "tables in tables": payload(LIST + NODE["TABLE"] + keys("x") + (NODE["TABLE"] + b"\1") * 500 + LEAF, pooled(MANY // 9), NONE),
    "records in records": payload(
        LIST + NODE["RECORD"] + text("a:B") + keys("x") + (NODE["RECORD"] + b"\1\1") * 500 + LEAF, pooled(MANY // 9), NONE
    ),
    "states in states": payload(LIST + NODE["STATE"] + text("a:B") + (NODE["STATE"] + b"\1") * 500 + LEAF, pooled(MANY // 9), NONE),
    "built in built": payload(LIST + NODE["BUILT"] + text("a:B") + (NODE["BUILT"] + b"\1") * 500 + LEAF, pooled(MANY // 9), NONE),
    "slices in slices": payload(LIST + (NODE["SLICE"] + LEAF + LEAF) * 250 + LEAF, pooled(MANY // 9), *[NONE] * 501),
    "lists that are copies": payload(LIST + LIST + LEAF, pooled(MANY // 9), Slot(Kind.POOL_COPIES, small=b"\1\1"), NONE),
    "lists that are copies of nothing": payload(LIST + LIST + NODE["NOTHING"], pooled(2**40), Slot(Kind.POOL_COPIES, small=b"\1\0")),
    "long lists that are copies": payload(LIST + LIST + LEAF, pooled(MANY), Slot(Kind.POOL_COPIES, small=b"\1\xff"), NONE),
    "copies of wide tables": payload(
        LIST + LIST + NODE["TABLE"] + keys(*WIDE.names) + LEAF * 300, pooled(MANY // 9), Slot(Kind.POOL_COPIES, small=b"\1\1"), *[NONE] * 300
    ),
    "wide tables without rows": payload(
        LIST + LIST + NODE["TABLE"] + keys(*WIDE.names) + LEAF * 300, pooled(MANY // 9), Slot(Kind.INT, const(0)), *[NONE] * 300
    ),
    "single leaves without end": payload(NODE["TUPLE_ROW"] + uvarint(60_000) + LEAF * 60_000, *[NONE] * 60_000),
    "object arrays of huge shape": payload(
        NODE["OBJECT_ARRAY"] + LEAF, pooled(40), Slot(Kind.INT, const(HUGE)), Slot(Kind.FALSE), NONE
    ),
    "bytearrays of one": many(Kind.BYTEARRAY, bytes_dict(b"x" * LONG)),
    "decimals of one": many(Kind.DECIMAL, b"\0" + text_dict("7" * LONG)),
    "not-numbers of one": many(Kind.DECIMAL, b"\0" + text_dict("NaN" + "7" * LONG)),
    "paths of one": many(Kind.PATH, const(0) + text_dict("/" + "a/" * (LONG // 2) + "b")),
    "addresses of one": many(Kind.IP, const(1) + text_dict("fe80::1%" + "a" * LONG)),
    "numpy strings of one": many(Kind.SCALAR, b"\1" + dtype_bytes(np.dtype("U0")) + text_dict("x" * LONG)),
    "numpy byte strings of one": many(Kind.SCALAR, b"\1" + dtype_bytes(np.dtype("S0")) + bytes_dict(b"x" * LONG)),
    "an array of one string": payload(NODE["ARRAY"], string_array(dtypes.StringDType(), text_dict("x" * LONG))),
    "a fraction of two long ints": HEADER
    + bytes([Kind.FRACTION])
    + (bytes([Kind.BIGINT, 0]) + const(200_000) + b"\x35" * 200_000) * 2,
    "a decimal of a huge exponent": HEADER + bytes([Kind.DECIMAL, 1]) + const(999999999999999999) + bytes([Kind.INT]) + const(1),
    "a long decimal": npser.dumps(Decimal("3" * 1_000_000)),
    "a long int": npser.dumps(3**2_000_000),
    "a string array out of nothing": payload(NODE["ARRAY"], string_array(dtypes.StringDType(), text_dict(""))),
    "structures of many fields": payload(NODE["ARRAY"], Slot(Kind.ARRAY, b"\1" + dtype_bytes(WIDE) + const(1) + const(0) + b"\1\0\0\0")),
    "runs within runs": many(Kind.INT, (bytes([IntCode.RUNS]) + uvarint(MANY)) * 5 + const(1), HUGE),
    "a dictionary of dictionaries": many(Kind.TEXT, (bytes([TextCode.DICT]) + uvarint(MANY)) * 9, MANY),
    "patches on patches": many(Kind.FLOAT, (bytes([FloatCode.PATCHED]) + uvarint(MANY)) * 9, MANY),
    "one body a hundred times": b"".join(
        (
            HEADER,
            b"\xe6" + NODE["TUPLE_ROW"] + bytes([100]) + LEAF * 100,
            bytes([Kind.BYTES]) * 100,
            b"\0",
            uvarint(LONG + 20 << 1) + b"\1" * 99,
            bytes([BytesCode.LENGTHS]) + const(LONG) + b"x" * (LONG + 20),
        )
    ),
    "a shape of 2**62 keys": payload(NODE["TABLE"] + uvarint(HUGE << 1)),
    "a name of 2**62 bytes": payload(NODE["ENUM"] + uvarint(HUGE << 1)),
    "a row of 2**62 items": payload(NODE["TUPLE_ROW"] + uvarint(HUGE)),
    "a union of 2**62": payload(NODE["UNION"] + uvarint(HUGE)),
    "2**62 patterns": payload(NODE["VARIED_TABLE"] + keys("x") + uvarint(HUGE)),
    "a shape of 2**62 bytes": HEADER + b"\xff" + uvarint(HUGE) + LEAF,
    "pools of 2**62": HEADER + b"\x81" + LEAF + bytes([Kind.POOL_U8, 63]) + uvarint(HUGE) * 6,
    "a body of 2**62 bytes": HEADER + b"\x81" + LEAF + bytes([Kind.INT, 0]) + uvarint(HUGE << 1),
    "a body that is body 2**62": HEADER + b"\x81" + LEAF + bytes([Kind.INT, 0]) + uvarint(HUGE << 1 | 1),
}
"""Name -> a payload that asks for far more than it brings."""


def _held(data: bytes, options: dict[str, Any]) -> tuple[float, float, object]:
    """Seconds, megabytes at the peak, and what came of it."""
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with fenced(seconds=8 * SECONDS):
            came: object = type(npser.loads(data, limits=LIMITS, **options)).__name__
    except NpserError as error:
        came = error
    finally:
        taken = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
    return taken, peak, came


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_do_not_go_off(name: str) -> None:
    data = BOMBS[name]
    for options in OPTIONS:
        taken, peak, came = _held(data, options)
        assert peak < 1 + (LIMITS.budget(len(data)) * ITEM_BYTES + 10 * len(data)) / 2**20, came
        assert taken < 4 * SECONDS, came  # tracing costs about three quarters of it


def test_the_cache_of_shapes_stays_small() -> None:
    """A node takes a hundred bytes, and whoever writes payloads chooses the shapes."""
    for number in range(10):
        row = NODE["LIST_ROW"] + uvarint(60_000) + LEAF * 60_000
        with pytest.raises(DecodeError):
            npser.loads(payload(NODE["TABLE"] + keys(str(number)) + row))
        assert sum(len(program.nodes) for program in build.SHAPES.programs) < 600_000


def test_shapes_that_are_met_often_are_no_less_safe() -> None:
    """A shape that keeps coming back is read by code of its own."""
    rng = random.Random(12)
    names = ["nested x 3", "table", "mixed", "dict x 3", "tuple x 3", "list/rows x 3", "dataclass x 3", "references", "arrays"]
    for name in names:
        data = corpus()[name]
        for options in OPTIONS:
            for _ in range(60):
                npser.loads(data, **options)
        head = len(data) // 3
        for _ in range(MUTATIONS // 20):
            tail = mutated(rng, HEADER + data[head:])[2:]
            decode(data[:head] + tail, rng.choice(OPTIONS))


@pytest.mark.parametrize("code", [code for code in range(256) if code not in set(Kind)])
def test_unknown_kinds_are_refused(code: int) -> None:
    for data in (HEADER + bytes([code]), payload(LEAF, Slot(code)), payload(LIST + LEAF, pooled(5), Slot(code, b"abc"))):
        if data[2] < Lead.LEAF_LIST or len(data) > 3:
            with pytest.raises(DecodeError):
                npser.loads(data)


@pytest.mark.parametrize("code", [code for code in range(256) if code not in set(Node)])
def test_unknown_nodes_are_refused(code: int) -> None:
    with pytest.raises(DecodeError, match="no such node"):
        npser.loads(payload(bytes([code]), NONE))


def test_truncation_is_called_so() -> None:
    for value in (1, "abc", 2.5, b"abc", 2**70):
        data = npser.dumps(value)
        for end in range(len(data)):
            with pytest.raises(TruncatedError):
                npser.loads(data[:end])


CONTENTS: Final[dict[str, list[Any]]] = {
    "object": [{}, {"a": 1}, {"x": 1, "y": 2}, {"value": 1, "zzz": 2}, {"__class__": 1, "__dict__": 2}, {"n": 1, "x": None}],
    "named tuple": [{}, {"x": 1}, {"x": 1, "y": 2, "z": 3}],
    "state": [None, 5, {"a": 1}, {"zzz": 2}, {1: 2}, ("state", 3), ({"a": 1}, {"zzz": 1}), [], {"__class__": 1}],
    "enum": ["RED", "", "__class__", "_member_map_", "mro", 0, 7, -1, 2**70, 10**30],
}


class Missing(enum.Flag):
    """Looking a member up runs code of the class, which may raise anything."""

    A = 1

    @classmethod
    def _missing_(cls, value: object) -> Any:
        raise KeyError(value)


@pytest.mark.parametrize("form", CONTENTS)
def test_no_class_takes_what_it_cannot_hold(form: Any) -> None:
    for cls in (*CLASSES, Missing, npser.Placeholder, dict, int, type, object, Exception, np.ndarray):
        name = class_name(cls)
        batches = [[npser.Placeholder(name, form, contents)] * 1 for contents in CONTENTS[form]]
        if form == "object":
            varied = [npser.Placeholder(name, form, contents) for contents in CONTENTS[form]]
            batches += [varied, [npser.Placeholder(name, form, {}, ("a", "b"))]]
        for batch in batches:
            data = npser.dumps(batch)
            for options in ({"classes": [cls]}, {"classes": [cls], "tables": "columns", "numbers": "array"}):
                for _ in range(20):  # until the shape is hot
                    decode(data, options)


def test_a_duplicate_key_is_refused() -> None:
    pair = npser.dumps({1: "a", 2: "b"})
    assert pair.count(b"\1\2") == 1
    with pytest.raises(DecodeError, match="twice"):
        npser.loads(pair.replace(b"\1\2", b"\1\1"))


def test_a_duplicate_member_of_a_set_is_refused() -> None:
    pair = npser.dumps({7, 9})
    assert sorted(pair[-2:]) == [7, 9]
    with pytest.raises(DecodeError, match="twice"):
        npser.loads(pair[:-1] + pair[-2:-1])


def test_an_unhashable_key_is_refused() -> None:
    for node, slots in (("SET", 1), ("FROZENSET", 1), ("DICT", 2)):
        shape = NODE[node] + LIST + LEAF + LEAF * (slots - 1)
        with pytest.raises(DecodeError, match="cannot hold"):
            npser.loads(payload(shape, pooled(1), pooled(0), NONE, *[NONE] * (slots - 1)))


def test_lowered_limits_hold() -> None:
    data = npser.dumps([None] * 1000)
    with pytest.raises(LimitError):
        npser.loads(data, limits=npser.Limits(items=10, expansion=0))


def main(count: int) -> int:
    """Random damage, as a script; the number of broken promises."""
    rng = random.Random(count)
    broken = 0
    for done, data in enumerate(mutate_all(count, count + 1)):
        try:
            decode(data, rng.choice(OPTIONS))
        except Broken as error:
            broken += 1
            print(error)
        if done % 20_000 == 19_999:
            print(f"{done + 1} of {count}")
    print(f"{count} damaged payloads: {broken} that gave neither a value nor an NpserError in time")
    return broken


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1])), 1))
