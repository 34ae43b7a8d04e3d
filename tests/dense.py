"""Payloads made by hand whose shapes have as many nodes as the grammar allows, and what they take to read.

    python tests/dense.py                 all of them, at about 1 MB: bytes a byte of input, at the peak and of the value
    python tests/dense.py --nbytes 5e6 --only "table|chain" --ways rows,arrays,view

Strategy: a unit is the least that a node needs, with its slots. Units stand side by side in one row, singly or over
the items of a list; two kinds take turns so that no two alike are neighbours; and those of one child are also put
into each other, as deep as containers may be. What a payload takes beyond its value is the reader's own.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parent)]

import numpy as np

import npser
from npser.columns.dtypes import dtype_bytes
from npser.shapes.keysets import write_key_set
from npser.tags import Kind, Node

__all__ = ["BYTES_A_BYTE", "LEAST_BYTES", "PAYLOADS", "UNITS", "Unit", "held", "row", "rows", "taking_turns"]

MEGABYTE: Final = 1 << 20
BYTES_A_BYTE: Final = 64
LEAST_BYTES: Final = 16 * MEGABYTE

U8, NONE, FALSE = bytes([Kind.POOL_U8]), bytes([Kind.NONE]), bytes([Kind.FALSE])
ARRAY_KIND: Final = bytes([Kind.ARRAY])
NODE: Final = {node.name: bytes([node]) for node in Node}
LEAF, NOTHING = NODE["LEAF"], NODE["NOTHING"]


class Unit(NamedTuple):
    """A node as it stands in a shape, and its slots.

    Parameters
    ----------
    shape : bytes
    kinds : bytes
        Those of the slots that are single where the node is.
    small : bytes
        The numbers of these, a byte each.
    columns : bytes
        The kinds of the other slots; where the node is not single, `kinds` stand before them.
    depth : int
        Containers that stand one within the other.
    pooled : bytes
        What `columns` take out of the pool.
    """

    shape: bytes
    kinds: bytes = b""
    small: bytes = b""
    columns: bytes = b""
    depth: int = 1
    pooled: bytes = b""


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def name(number: int) -> bytes:
    """A name, or a key set, that stood in the shape before."""
    return uvarint(number << 1 | 1)


def keys(*names: str) -> bytes:
    raw = write_key_set(names)
    return uvarint(len(raw) << 1) + raw


FIRST: Final = Unit(
    b"".join(
        (
            NODE["RECORD"], uvarint(6), b"a:B", keys(),
            NODE["TABLE"], keys("x"), LEAF,
            NODE["ARRAY"],
        )
    ),
    NONE + ARRAY_KIND,
)  # fmt: skip
"""What stands in front of the units: a class name, the key sets of no key and of one, an object, and an array."""

NO_KEYS, ONE_KEY, CLASS = name(0), name(1), name(0)
ARRAY_BODY: Final = b"\1" + dtype_bytes(np.dtype("u1")) + b"\1\2" + b"\1\0" + b"\1\0\0\0"
"""One array of no bytes."""

UNITS: Final[dict[str, Unit]] = {
    "leaf": Unit(LEAF, NONE),
    "list of nothing": Unit(NODE["LIST"] + NOTHING, U8, b"\0"),
    "list": Unit(NODE["LIST"] + LEAF, U8, b"\0", NONE),
    "tuple": Unit(NODE["TUPLE"] + LEAF, U8, b"\0", NONE),
    "tuple of nothing": Unit(NODE["TUPLE"] + NOTHING, U8, b"\0"),
    "set": Unit(NODE["SET"] + NOTHING, U8, b"\0"),
    "frozenset": Unit(NODE["FROZENSET"] + LEAF, U8, b"\0", NONE),
    "deque": Unit(NODE["DEQUE"] + NOTHING, U8 + NONE, b"\0"),
    "list row": Unit(NODE["LIST_ROW"] + b"\1" + LEAF, NONE),
    "tuple row": Unit(NODE["TUPLE_ROW"] + b"\1" + LEAF, NONE),
    "slice": Unit(NODE["SLICE"] + LEAF * 3, NONE * 3),
    "dict": Unit(NODE["DICT"] + LEAF * 2, U8, b"\0", NONE * 2),
    "dict of nothing": Unit(NODE["DICT"] + NOTHING * 2, U8, b"\0"),
    "ordered dict": Unit(NODE["ORDERED_DICT"] + NOTHING * 2, U8, b"\0"),
    "counter": Unit(NODE["COUNTER"] + NOTHING * 2, U8, b"\0"),
    "default dict": Unit(NODE["DEFAULT_DICT"] + b"\0" + NOTHING * 2, U8, b"\0"),
    "table of no keys": Unit(NODE["TABLE"] + NO_KEYS),
    "table": Unit(NODE["TABLE"] + ONE_KEY + LEAF, NONE),
    "varied table of no keys": Unit(NODE["VARIED_TABLE"] + NO_KEYS + b"\1\0", U8, b"\0"),
    "varied table": Unit(NODE["VARIED_TABLE"] + ONE_KEY + b"\1\1\0" + LEAF, U8, b"\0", NONE),
    "varied table of many patterns": Unit(NODE["VARIED_TABLE"] + NO_KEYS + b"\x7f" + bytes(127), U8, b"\0"),
    "record of no fields": Unit(NODE["RECORD"] + CLASS + NO_KEYS),
    "record": Unit(NODE["RECORD"] + CLASS + ONE_KEY + LEAF, NONE),
    "varied record of no fields": Unit(NODE["VARIED_RECORD"] + CLASS + NO_KEYS + b"\1\0", U8, b"\0"),
    "varied record": Unit(NODE["VARIED_RECORD"] + CLASS + ONE_KEY + b"\1\1\0" + LEAF, U8, b"\0", NONE),
    "varied record of many patterns": Unit(NODE["VARIED_RECORD"] + CLASS + NO_KEYS + b"\x7f" + bytes(127), U8, b"\0"),
    "enum": Unit(NODE["ENUM"] + CLASS, U8, b"\0"),
    "state": Unit(NODE["STATE"] + CLASS + LEAF, NONE),
    "named tuple of no fields": Unit(NODE["NAMED_TUPLE"] + CLASS + NO_KEYS),
    "named tuple": Unit(NODE["NAMED_TUPLE"] + CLASS + ONE_KEY + LEAF, NONE),
    "built": Unit(NODE["BUILT"] + CLASS + LEAF, NONE),
    "union": Unit(NODE["UNION"] + b"\2" + LEAF + NOTHING, U8, b"\0", NONE),
    "reference": Unit(NODE["REFERENCE"], U8, b"\0"),
    "object array": Unit(NODE["OBJECT_ARRAY"] + LEAF, U8 + FALSE, b"\0", U8 + NONE),
    "array": Unit(NODE["ARRAY"], ARRAY_KIND),
}
"""By name; every node that is not the whole shape is among them."""


def chain(shape: bytes, inner: Unit, depth: int, kinds: bytes = b"", small: bytes = b"", columns: bytes = b"") -> Unit:
    """A node in itself, so deep, around another unit."""
    return Unit(shape * depth + inner.shape, kinds * depth + inner.kinds, small * depth + inner.small, columns * depth + inner.columns, depth)


DEEP: Final = 500
CHAINS: Final[dict[str, Unit]] = {
    "chain of list rows": chain(NODE["LIST_ROW"] + b"\1", UNITS["leaf"], DEEP),
    "chain of tuple rows": chain(NODE["TUPLE_ROW"] + b"\1", UNITS["leaf"], DEEP),
    "chain of tables": chain(NODE["TABLE"] + ONE_KEY, UNITS["leaf"], DEEP),
    "chain of records": chain(NODE["RECORD"] + CLASS + ONE_KEY, UNITS["leaf"], DEEP),
    "chain of named tuples": chain(NODE["NAMED_TUPLE"] + CLASS + ONE_KEY, UNITS["leaf"], DEEP),
    "chain of states": chain(NODE["STATE"] + CLASS, UNITS["leaf"], DEEP),
    "chain of built": chain(NODE["BUILT"] + CLASS, UNITS["leaf"], DEEP),
    "chain of slices": Unit((NODE["SLICE"] + LEAF * 2) * 250 + LEAF, NONE * 501, depth=250),
    "chain of lists": Unit(NODE["LIST"] * DEEP + LEAF, U8, b"\0", U8 * (DEEP - 1) + NONE, DEEP),
    "chain of sets": Unit(NODE["SET"] * DEEP + LEAF, U8, b"\0", U8 * (DEEP - 1) + NONE, DEEP),
    "chain of dicts": Unit((NODE["DICT"] + NOTHING) * DEEP + NOTHING, U8, b"\0", U8 * (DEEP - 1), DEEP),
    "chain of unions": Unit((NODE["UNION"] + b"\2" + NOTHING) * DEEP + LEAF, U8, b"\1", U8 * (DEEP - 1) + NONE, 1, b"\1" * (DEEP - 1)),
}  # fmt: skip
"""Nodes that hold one of their own kind."""


def _payload(shape: bytes, kinds: bytes, columns: bytes, small: bytes, pooled: bytes) -> bytes:
    bodies = (kinds + columns).count(Kind.ARRAY)
    directory = uvarint(len(ARRAY_BODY) << 1) + b"\1" * (bodies - 1) + ARRAY_BODY if bodies else b""
    pools = b"\1" + uvarint(len(pooled)) + pooled if pooled else b"\0"
    return b"\xc1\x01\xff" + uvarint(len(shape)) + shape + kinds + columns + small + pools + directory


def row(units: list[Unit], times: int, tag: str = "LIST_ROW") -> bytes:
    """A row of these units, so many times."""
    count = times * len(units) + 3
    shape = NODE[tag] + uvarint(count) + FIRST.shape + b"".join(unit.shape for unit in units) * times
    kinds = FIRST.kinds + b"".join(unit.kinds for unit in units) * times
    columns = b"".join(unit.columns for unit in units) * times
    small = b"".join(unit.small for unit in units) * times
    return _payload(shape, kinds, columns, small, b"".join(unit.pooled for unit in units) * times)


def rows(units: list[Unit], times: int, n: int) -> bytes:
    """A list of n such rows."""
    count = times * len(units) + 3
    shape = NODE["LIST"] + NODE["TUPLE_ROW"] + uvarint(count) + FIRST.shape
    shape += b"".join(unit.shape for unit in units) * times
    kinds = FIRST.kinds + b"".join(in_order(unit) for unit in units) * times
    small = b"".join(unit.small + unit.pooled for unit in units) * n * times
    return _payload(shape, U8, kinds, bytes([n]), small)


def in_order(unit: Unit) -> bytes:
    """The kinds of a unit that is not single."""
    if unit is UNITS["object array"]:
        return unit.kinds[:1] + unit.columns[:1] + unit.kinds[1:] + unit.columns[1:]
    return unit.kinds + unit.columns


def taking_turns() -> Iterator[tuple[str, list[Unit]]]:
    """Units alone, each with a leaf behind it, and each with the next one."""
    listed = list((UNITS | CHAINS).items())
    for number, (what, unit) in enumerate(listed):
        yield what, [unit]
        if unit.shape != LEAF:
            yield f"{what}, leaf", [unit, UNITS["leaf"]]
        other, following = listed[(number + 1) % len(listed)]
        yield f"{what}, {other}", [unit, following]


def _sized(make: Callable[[int], bytes], nbytes: int) -> bytes:
    few = len(make(100)) - len(make(50))
    return make(max(1, nbytes * 50 // few))


def payloads() -> Iterator[tuple[str, Callable[[int], bytes]]]:
    """Name -> function of (nbytes)."""
    for what, units in taking_turns():
        yield f"{what}", lambda nbytes, units=units: _sized(lambda times: row(units, times), nbytes)
        yield f"preserved {what}", lambda nbytes, units=units: _preserved(_sized(lambda times: row(units, times), nbytes))
        yield f"over none: {what}", lambda nbytes, units=units: _sized(lambda times: rows(units, times, 0), nbytes)
        if not any(unit.depth == DEEP and unit.columns for unit in units):
            yield f"over one: {what}", lambda nbytes, units=units: _sized(lambda times: rows(units, times, 1), nbytes)


def _preserved(data: bytes) -> bytes:
    """The same payload under `identity="preserve"`."""
    size, pos, shift = 0, 3, 0
    while True:
        size |= (data[pos] & 0x7F) << shift
        shift += 7
        pos += 1
        if data[pos - 1] < 0x80:
            break
    return data[:3] + uvarint(size + 1) + NODE["PRESERVE"] + data[pos:]


PAYLOADS: Final = dict(payloads())

WAYS: Final[dict[str, Callable[[bytes], Any]]] = {
    "rows": npser.loads,
    "arrays": lambda data: npser.loads(data, numbers="array", tables="columns"),
    "view": npser.view,
    "inspect": npser.inspect,
}


def held(data: bytes, way: str = "rows") -> tuple[int, int, Any]:
    """Bytes at the peak, and when the value is there; and what came of it: a value or an NpserError."""
    tracemalloc.start()
    try:
        came: Any = WAYS[way](data)
    except npser.NpserError as error:
        came = error.with_traceback(None)
    finally:
        kept, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak, kept, came


def _in_a_child(data: bytes, way: str, *, traced: bool) -> tuple[int, int, float, str]:
    """Peak and value in bytes, seconds, and the type of what came, in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        start = time.perf_counter()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if traced:
            peak, kept, came = held(data, way)
        else:
            try:
                came = WAYS[way](data)
            except npser.NpserError as error:
                came = error
            peak, kept = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10, 0
        what = f"{type(came).__name__}: {came}"[:60] if isinstance(came, Exception) else type(came).__name__
        os.write(writing, f"{peak} {kept} {time.perf_counter() - start} {what}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        told = file.read()
    os.waitpid(child, 0)
    if not told:
        return 0, 0, 0.0, "died"
    peak, kept, seconds, what = told.split(" ", 3)
    return int(peak), int(kept), float(seconds), what


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure what the densest shapes take.")
    parser.add_argument("--nbytes", type=float, default=1e6)
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default="rows")
    parser.add_argument("--rss", action="store_const", const=True, default=False)
    parser.add_argument("--all", action="store_const", const=True, default=False)
    given = parser.parse_args(arguments)
    wanted = [part for part in given.only.split("|") if part]
    over = 0
    for what, make in PAYLOADS.items():
        if wanted and not any(part in what for part in wanted):
            continue
        data = make(int(given.nbytes))
        for way in given.ways.split(","):
            peak, kept, seconds, came = _in_a_child(data, way, traced=not given.rss)
            allowed = BYTES_A_BYTE * len(data) + LEAST_BYTES
            over += peak > allowed
            mark = "OVER" if peak > allowed else "    "
            if given.all or peak > allowed or came.startswith(("Decode", "died", "Truncated")):
                own = (peak - kept) / len(data)
                print(f"{mark} {way:7} {what:50} {len(data) / 1e6:5.2f} MB: {peak / 1e6:6.1f} MB peak of {allowed / 1e6:6.1f}, {peak / len(data):6.1f} a byte, {kept / len(data):6.1f} of the value, {own:6.1f} own, {1e6 * seconds / len(data):5.2f} ms/kB {came}", flush=True)
    print(f"{over} over")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
