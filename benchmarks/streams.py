"""What streams and frames cost: the byte boundary over a bare io.BytesIO, frames over bare payloads, rows in memory.

    python benchmarks/streams.py                    # the boundary and frames, half a minute
    python benchmarks/streams.py --rows 10000000    # rows from a generator into a file and back: time, peak memory
    python benchmarks/streams.py --pack 1000000     # `npser pack` and `unpack` of so many rows of CSV: the same
    python benchmarks/streams.py --find             # where numpy finds a marker faster than bytes.find

Strategy: both sides of a ratio are timed in one process, in turns, and the least of many rounds counts, because the
machine is never quiet. Each side runs a compiled copy of its own of the same source: the interpreter adapts code to the
types that it meets there, and a shared copy would be adapted to neither. Peak memory is that of a process of its own,
as the system counts it, so that nothing that ran before is in it.

What the boundary cannot do without: a stream that knows where it stands is a subclass of io.BytesIO, whose methods are
the same C functions, but CPython has no fast way to call those of a subclass (13 ns a call more); and a read that is
checked is one call of Python (50 ns), here as in the type that checks it itself. So types that read or write a field in
one call and do nothing else stay above the limit, and so do those that are read without any check.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

import npser  # noqa: E402
from npser.stream import layout, packable  # noqa: E402
from npser.stream.boundary import MemoryStream  # noqa: E402
from npser.stream.layout import frame_bytes  # noqa: E402
from npser.stream.reader import StreamReader  # noqa: E402
from npser.stream.rows import FRAME_ROWS, Progress, read_rows, write_rows  # noqa: E402
from npser.stream.writer import StreamWriter  # noqa: E402

ROUNDS = 41
ROUND_SECONDS = 0.004
LIMITS = {1_000: 1.3, 100_000: 1.05}

BOUNDARY = '''
def pack_bare(value):
    stream = Stream()
    value.pack(stream)
    return stream.getvalue()


def unpack_bare(cls, data):
    return cls.unpack(Stream(data))


class Track:
    """What a type that owns its bytes looks like: a head, a name, an array."""

    def __init__(self, number, name, points):
        self.number, self.name, self.points = number, name, points

    def pack(self, stream):
        name = self.name.encode()
        stream.write(HEAD.pack(self.number, len(name), len(self.points)))
        stream.write(name)
        stream.write(self.points)

    @classmethod
    def unpack(cls, stream):
        number, letters, points = HEAD.unpack(READ(16))
        return cls(number, READ(letters).decode(), np.frombuffer(READ(8 * points), "<f8"))


class Order:
    def __init__(self, number, price, name):
        self.number, self.price, self.name = number, price, name


class Orders:
    """Objects of 50 bytes each, one by one: a head and a name."""

    def __init__(self, orders):
        self.orders = orders

    def pack(self, stream):
        stream.write(len(self.orders).to_bytes(4, "little"))
        for order in self.orders:
            name = order.name.encode()
            stream.write(HEAD2.pack(order.number, order.price, len(name)) + name)

    @classmethod
    def unpack(cls, stream):
        orders = []
        for _ in range(int.from_bytes(READ(4), "little")):
            number, price, letters = HEAD2.unpack(READ(20))
            orders.append(Order(number, price, READ(letters).decode()))
        return cls(orders)


class Blob:
    """One field: nothing but the cost of the boundary."""

    def __init__(self, data):
        self.data = data

    def pack(self, stream):
        stream.write(self.data)

    @classmethod
    def unpack(cls, stream):
        return cls(READ(SIZE))


class Fields:
    """Sixty-four fields of a length and bytes: as chatty as it gets."""

    def __init__(self, fields):
        self.fields = fields

    def pack(self, stream):
        for field in self.fields:
            stream.write(len(field).to_bytes(4, "little"))
            stream.write(field)

    @classmethod
    def unpack(cls, stream):
        return cls([READ(int.from_bytes(READ(4), "little")) for _ in range(64)])
'''

CHECKED = """
def checked(stream, size):
    data = stream.read(size)
    if len(data) != size:
        raise EOFError
    return data
"""
"""What a careful type does itself where the stream is a bare BytesIO, which gives fewer bytes without a word."""


def compiled(stream: type, read: str, size: int) -> dict[str, Any]:
    """A copy of the source for one type of stream, with the values of one size."""
    import struct

    names: dict[str, Any] = {
        "Stream": stream,
        "HEAD": struct.Struct("<QII"),
        "HEAD2": struct.Struct("<QdI"),
        "np": np,
        "SIZE": size,
    }
    exec(CHECKED + BOUNDARY.replace("READ(", read), names)  # noqa: S102 - the text above
    points = np.arange((size - 24) // 8) / 7
    names["values"] = {
        "Track": names["Track"](7, "a name", points),
        "Orders": names["Orders"]([names["Order"](n, n / 7, f"order number {n:>17}") for n in range(size // 50)]),
        "Blob": names["Blob"](os.urandom(size)),
        "Fields": names["Fields"]([os.urandom(size // 64 - 4)] * 64),
    }
    return names


def least(calls: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds a call, the least of many rounds in turns."""
    counts, best = {}, dict.fromkeys(calls, float("inf"))
    for name, call in calls.items():
        start = time.perf_counter()
        for _ in range(20):
            call()
        counts[name] = max(1, int(ROUND_SECONDS * 20 / (time.perf_counter() - start)))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / counts[name])
    return best


def boundary() -> None:
    print("The byte boundary: npser.pack and npser.unpack over the same code with a bare io.BytesIO,")
    print("and with one whose reads are checked to be as long as they were meant to be ('careful')")
    print(f"{'':30}{'other':>10}{'npser':>10}{'ratio':>8}{'at most':>9}")
    for size in LIMITS:
        for kind in ("Track", "Orders", "Fields", "Blob"):
            boundary_of(kind, size)


def boundary_of(kind: str, size: int) -> None:
    """Three copies of one type: over a bare io.BytesIO, over one with checked reads, over npser's stream."""
    bare = compiled(io.BytesIO, "stream.read(", size)
    careful = compiled(io.BytesIO, "checked(stream, ", size)
    ours = compiled(MemoryStream, "stream.read_exactly(", size)
    data = bare["pack_bare"](bare["values"][kind])
    best = least(
        {
            "pack, bare": partial(bare["pack_bare"], bare["values"][kind]),
            "pack": partial(packable.pack, ours["values"][kind]),
            "unpack, bare": partial(bare["unpack_bare"], bare[kind], data),
            "unpack, careful": partial(careful["unpack_bare"], careful[kind], data),
            "unpack": partial(packable.unpack, ours[kind], data),
        }
    )
    for name in ("pack, bare", "unpack, bare", "unpack, careful"):
        other, mine, limit = best[name], best[name.partition(",")[0]], LIMITS[size]
        label = f"{size:>7,} B {kind} {name}"
        verdict = "kept" if mine <= limit * other else "over"
        print(f"{label:<30}{other * 1e6:>7.2f} µs{mine * 1e6:>7.2f} µs{mine / other:>8.2f}{limit:>9}  {verdict}")


def frames() -> None:
    print("\nFrames of so many random bytes, written to memory and read from it; MB/s")
    print(f"{'':12}{'write':>9}{'read':>9}{'skip':>9}{'crc32':>9}")
    for size in (100, 10_000, 1_000_000, 20_000_000):
        payload, count = os.urandom(size), max(1, 200_000 // size)
        whole = frame_bytes(payload) * count
        best = least(
            {
                "write": partial(write_payloads, io.BytesIO(bytes(len(whole))), payload, count),
                "read": partial(read_payloads, whole),
                "skip": partial(read_payloads, whole, damaged="skip"),
                "crc32": partial(check_payloads, payload, count),
            },
            7,
        )
        print(f"{size:>10,} B" + "".join(f"{size * count / seconds / 1e6:>9.0f}" for seconds in best.values()))


def write_payloads(file: io.BytesIO, payload: bytes, count: int) -> None:
    file.seek(0)
    writer = StreamWriter(file)
    for _ in range(count):
        writer.write_payload(payload)


def read_payloads(data: bytes, **options: Any) -> None:
    for _ in StreamReader(io.BytesIO(data), **options).payloads():
        pass


def check_payloads(payload: bytes, count: int) -> None:
    for _ in range(count):
        zlib.crc32(payload)


def find() -> None:
    print("Looking for the marker: µs by bytes.find and by numpy")
    makers: dict[str, Callable[[int], bytes]] = {
        "random": os.urandom,
        "text": lambda size: (b"hello world, " * (size // 13 + 1))[:size],
        "small ints": lambda size: (b"\1\0\0\0" * (size // 4 + 1))[:size],
        "many C1": lambda size: (b"\xc1\0\0\0" * (size // 4 + 1))[:size],
    }
    for size in (1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 20):
        for name, make in makers.items():
            data = make(size)
            best = least({"find": partial(data.find, layout.MARKER), "numpy": partial(find_by_numpy, data)}, 9)
            print(f"{size:>9,} B {name:<12}" + "".join(f"{seconds * 1e6:>9.1f}" for seconds in best.values()))


def find_by_numpy(data: bytes) -> bool:
    large, layout._LARGE = layout._LARGE, 0
    try:
        return layout._holds_marker(data)
    finally:
        layout._LARGE = large


def make_rows(count: int) -> Iterator[dict[str, Any]]:
    """Rows as an order table has them."""
    states = ("new", "paid", "sent", "returned")
    for n in range(count):
        yield {
            "id": n,
            "customer": n * 7919 % 100_003,
            "state": states[n % 4],
            "price": n % 10_000 / 100,
            "name": f"product {n % 5000}",
            "gift": n % 17 == 0,
        }


def peak() -> int:
    """The most memory that this process ever had, in bytes. What getrusage says begins with that of the parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def write_csv(path: str, count: int) -> None:
    """The rows of `make_rows` as text."""
    with open(path, "w") as file:
        file.write("id,customer,state,price,name,gift\n")
        for row in make_rows(count):
            file.write(",".join(map(str, row.values())) + "\n")


def pack(count: int) -> None:
    """A CSV file into frames and back, each way in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source, packed, again = (f"{folder}/{name}" for name in ("rows.csv", "rows.npser", "again.csv"))
        write_csv(source, count)
        sizes = f"{os.path.getsize(source) / 1e6:.1f} MB of CSV"
        print(f"\n{count:,} rows, {sizes}: npser pack and npser unpack")
        for direction, paths in (("pack", (source, packed)), ("unpack", (packed, again))):
            command = [sys.executable, __file__, "--convert", direction, *paths]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(
                f"{direction:<6} {result['seconds']:7.1f} s {result['seconds'] / max(count, 1) * 1e9:7.0f} ns a row,"
                f" peak {result['peak'] / 1e6:.0f} MB of memory ({result['before'] / 1e6:.0f} MB before the first row)"
            )
        assert Path(source).read_bytes() == Path(again).read_bytes()
        print(f"the file has {os.path.getsize(packed) / 1e6:.1f} MB")


def convert_in_a_child(direction: str, source: str, target: str) -> None:
    """In the child: what the command line does."""
    from npser.cli import convert

    before, start = peak(), time.perf_counter()
    {"pack": convert.pack, "unpack": convert.unpack}[direction](source, target)
    print(json.dumps({"seconds": time.perf_counter() - start, "before": before, "peak": peak()}))


def rows_in_a_child(direction: str, path: str, count: int, frame_rows: int) -> None:
    """In the child: write or read, and print what it took."""
    before, start, calls = peak(), time.perf_counter(), 0

    def progress(_done: Progress) -> None:
        nonlocal calls
        calls += 1

    if direction == "write":
        assert write_rows(path, make_rows(count), frame_rows=frame_rows, progress=progress).rows == count
    else:
        assert sum(1 for _ in read_rows(path)) == count
    print(json.dumps({"seconds": time.perf_counter() - start, "before": before, "peak": peak(), "calls": calls}))


def rows(count: int, frame_rows: int) -> None:
    print(f"\n{count:,} rows of six keys in frames of {frame_rows:,}, from a generator into a file and back")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows"
        for direction in ("write", "read"):
            command = [sys.executable, __file__, "--child", direction, path, "--rows", str(count)]
            command += ["--frame-rows", str(frame_rows)]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(
                f"{direction:<6} {result['seconds']:7.1f} s {result['seconds'] / max(count, 1) * 1e9:7.0f} ns a row,"
                f" peak {result['peak'] / 1e6:.0f} MB of memory ({result['before'] / 1e6:.0f} MB before the first row)"
                + (f", {result['calls']} calls of progress" if direction == "write" else "")
            )
        print(f"the file has {os.path.getsize(path) / 1e6:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="?", const=1_000_000, help="so many rows (a million); nothing else")
    parser.add_argument("--frame-rows", type=int, default=FRAME_ROWS)
    parser.add_argument("--find", action="store_true")
    parser.add_argument("--pack", type=int, nargs="?", const=1_000_000, help="so many rows of CSV; nothing else")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--convert", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        rows_in_a_child(*options.child, options.rows, options.frame_rows)
    elif options.convert:
        convert_in_a_child(*options.convert)
    elif options.pack is not None:
        pack(options.pack)
    elif options.find:
        find()
    elif options.rows is not None:
        rows(options.rows, options.frame_rows)
    else:
        print(f"npser {npser.__version__}, Python {sys.version.split()[0]}\n")
        boundary()
        frames()
        rows(200_000, options.frame_rows)


if __name__ == "__main__":
    main()
