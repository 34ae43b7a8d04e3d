"""A fuzzer: damages real payloads and holds every promise against what comes of it.

    python tests/fuzz.py 1000000             so many damaged payloads; a summary, and 1 as exit code for a broken promise
    python tests/fuzz.py 1000000 --seed 7    another run; the seed alone decides what is tried
    python tests/fuzz.py --write-seeds       make tests/corpus/seeds.jsonl anew

Strategy: payloads of every kind are changed blindly (bits, bytes, pieces of other payloads) and knowingly (varints,
tags of shapes, kinds of slots, counts of pools, and envelopes put around what was damaged, so that it is reached).
Whatever gives an error, or a value, that came from a place in the code from which none had come before joins the
payloads that are changed further. What breaks a promise is made as small as possible and kept in the corpus, which the
tests replay.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
import tracemalloc
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1] / "src"), str(Path(__file__).parent)]

import npser
from guard import OverTimeError, fenced
from npser.envelope.checksum import Checksum
from npser.envelope.compression import Compressor
from npser.envelope.layers import close_layers
from npser.envelope.seal import Seal
from npser.tags import Kind, Node
from same import difference
from values import CLASSES

__all__ = ["CORPUS", "Failure", "Fuzzer", "examine", "mutated", "read_corpus"]

CORPUS: Final = Path(__file__).parent / "corpus"
SEEDS: Final = CORPUS / "seeds.jsonl"
FINDINGS: Final = CORPUS / "findings.jsonl"

KEY: Final = bytes(range(32))

SECONDS_A_KILOBYTE: Final = 0.05
LEAST_SECONDS: Final = 1.0
"""What fills the budget takes a while, however few bytes it has."""

MEGABYTE: Final = 1 << 20
BYTES_A_BYTE: Final = 64
LEAST_BYTES: Final = 16 * MEGABYTE
LEAST_BYTES_OF_PHP: Final = 46 * MEGABYTE
"""A payload of phpser may hold runs of 2^20 ints together, as PHP reads them: ints of 32 bytes, 8 for each place, 8 in an array."""

LIMITS: Final = npser.Limits()
"""The promises are about the defaults."""

MAX_INPUTS: Final = 4000
MAX_INPUT_BYTES: Final = 4000


def _opened(data: bytes, **options: Any) -> Any:
    """The verb that these bytes are for."""
    if data[:2] == b"\xc1S":
        return npser.loads_signed(data, KEY, **options)
    return npser.loads(data, **options)


WAYS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"classes": CLASSES},
    {"numbers": "array", "tables": "columns"},
    {"copy": "never", "classes": CLASSES},
    {"tables": "columns", "classes": CLASSES, "extra_fields": "refuse"},
    {"unknown": "refuse"},
)


@dataclass(frozen=True)
class Failure:
    """A broken promise."""

    what: str
    data: bytes
    way: int

    def line(self) -> str:
        return json.dumps({"name": self.what[:120], "hex": self.data.hex()})


# ---------------------------------------------------------------------------------------------------------- the promises


def _place(error: BaseException) -> tuple[str, int, int]:
    """Where an error was raised, and from where that was called."""
    code, line, above = "", 0, 0
    trace = error.__traceback__
    while trace is not None:
        code, line, above = trace.tb_frame.f_code.co_filename, trace.tb_lineno, line
        trace = trace.tb_next
    return code, line, above


def examine(data: bytes, way: int, *, thorough: bool = False) -> tuple[Any, float]:
    """Decode and hold the promises; gives what is new or not about it, and the seconds that it took.

    Raises
    ------
    AssertionError
        Anything but a value or an NpserError came of it; or a value that does not come back as it is.
    """
    start = time.perf_counter()
    try:
        value = _opened(data, limits=LIMITS, **WAYS[way])
    except npser.NpserError as error:
        taken = time.perf_counter() - start
        assert error.pos is None or error.pos >= 0, f"pos {error.pos}"
        text = str(error)
        assert text.isprintable(), f"a message of several lines: {text!a}"
        return (type(error).__name__, *_place(error)), taken
    except OverTimeError:
        raise
    except BaseException as error:
        raise AssertionError(f"{type(error).__name__}: {error}"[:200]) from error
    taken = time.perf_counter() - start
    if thorough and data[0] == 0xC1 and "tables" not in WAYS[way]:
        _comes_back(value, WAYS[way].get("classes", ()))
    return ("a value", data[1:3], *_kinds(value)), taken


def _kinds(value: Any) -> tuple[str, ...]:
    """The type of a value and those of its first items."""
    inside = value
    if isinstance(value, npser.Placeholder):
        inside = value.contents
    if isinstance(inside, dict):
        inside = [part for pair in islice(inside.items(), 2) for part in pair]
    items = islice(inside, 3) if isinstance(inside, (list, tuple, set, frozenset, deque)) else ()
    return (type(value).__name__, *(type(item).__name__ for item in items))


def _comes_back(value: Any, classes: Any) -> None:
    """Whatever was decoded can be encoded and decoded again, or is refused."""
    try:
        again = npser.dumps(value, identity="preserve")
    except npser.EncodeError:
        return
    try:
        found = difference(value, npser.loads(again, classes=classes))
    except npser.NpserError as error:
        raise AssertionError(f"refuses its own bytes: {error}"[:200]) from error
    if found is not None and ": attributes " in found:
        return  # defaults come behind what was stored, and in the order of the class the next time
    assert found is None, f"another value: {found}"[:200]


def allowed_bytes(data: bytes) -> int:
    """The memory that decoding may take."""
    return BYTES_A_BYTE * len(data) + (LEAST_BYTES_OF_PHP if data[:1] in (b"\1", b"\2") else LEAST_BYTES)


def failure_of(data: bytes, way: int) -> str | None:
    """How the promises are broken, if they are, by the slow and exact methods."""
    tracemalloc.start()
    try:
        with fenced(seconds=20, megabytes=2048):
            examine(data, way, thorough=True)
        peak = tracemalloc.get_traced_memory()[1]
    except OverTimeError:
        return "no end"
    except AssertionError as error:
        return str(error)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"[:200]
    finally:
        tracemalloc.stop()
    if peak > allowed_bytes(data):
        return f"{peak / MEGABYTE:.0f} MB for {len(data)} bytes"
    taken = min(_seconds(data, way) for _ in range(3))
    if taken > max(LEAST_SECONDS, SECONDS_A_KILOBYTE * len(data) / 1000):
        return f"{taken:.2f} s for {len(data)} bytes"
    return None


def _seconds(data: bytes, way: int) -> float:
    return examine(data, way)[1]


def minimised(data: bytes, way: int) -> bytes:
    """The fewest bytes that break a promise in the same manner."""

    def is_same(candidate: bytes) -> bool:
        found = failure_of(candidate, way)
        return found is not None and found.split(":")[0].split(" ")[0] == kind

    kind = (failure_of(data, way) or "").split(":")[0].split(" ")[0]
    step = max(1, len(data) // 2)
    tries = 0
    while step and tries < 2000:
        at, shorter = 0, False
        while at < len(data) and tries < 2000:
            tries += 1
            candidate = data[:at] + data[at + step :]
            if is_same(candidate):
                data, shorter = candidate, True
            else:
                at += step
        if not shorter or step > 1:
            step //= 2
    return data


# ----------------------------------------------------------------------------------------------------------- the changes


INTERESTING: Final = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 0x7F, 0x80, 0x81, 0xC1, 0xFE, 0xFF)
COUNTS: Final = (0, 1, 2, 3, 16, 17, 64, 127, 128, 255, 256, 1 << 14, 1 << 16, 1 << 20, 1 << 31, 1 << 32, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)  # fmt: skip
TAGS: Final = tuple(map(int, Node))
KINDS: Final = tuple(map(int, Kind))

Change = Callable[[random.Random, bytearray, "Callable[[], bytes]"], None]


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes((value,)))


def _any(rng: random.Random, out: bytearray) -> int:
    """A place, mostly behind the header and often near the front, where the structure is."""
    end = len(out)
    if end <= 3:
        return rng.randrange(end + 1)
    return min(2 + int(rng.random() ** 2 * (end - 1)), end - 1) if rng.random() < 0.5 else rng.randrange(2, end)


def _flip(rng: random.Random, out: bytearray, _other: Any) -> None:
    at = _any(rng, out)
    if at < len(out):
        out[at] ^= 1 << rng.randrange(8)


def _set(rng: random.Random, out: bytearray, _other: Any) -> None:
    at = _any(rng, out)
    if at < len(out):
        out[at] = rng.choice(INTERESTING) if rng.random() < 0.6 else rng.randrange(256)


def _nudge(rng: random.Random, out: bytearray, _other: Any) -> None:
    at = _any(rng, out)
    if at < len(out):
        out[at] = (out[at] + rng.choice((-2, -1, 1, 2))) & 0xFF


def _insert(rng: random.Random, out: bytearray, _other: Any) -> None:
    at = _any(rng, out)
    out[at:at] = rng.randbytes(rng.choice((1, 1, 2, 4, 8))) if rng.random() < 0.5 else bytes((rng.choice(INTERESTING),)) * rng.choice((1, 1, 3, 8))


def _delete(rng: random.Random, out: bytearray, _other: Any) -> None:
    at = _any(rng, out)
    del out[at : at + rng.choice((1, 1, 2, 4, 16))]


def _cut(rng: random.Random, out: bytearray, _other: Any) -> None:
    del out[_any(rng, out) :]


def _repeat(rng: random.Random, out: bytearray, _other: Any) -> None:
    at = _any(rng, out)
    piece = out[at : at + rng.choice((1, 2, 4, 8, 32))]
    where = _any(rng, out)
    out[where:where] = piece * rng.choice((1, 1, 2, 20))


def _overwrite(rng: random.Random, out: bytearray, other: Callable[[], bytes]) -> None:
    source = other()
    start, at, length = rng.randrange(len(source) + 1), _any(rng, out), rng.choice((1, 2, 4, 8, 16, 64))
    out[at : at + length] = source[start : start + length]


def _splice(rng: random.Random, out: bytearray, other: Callable[[], bytes]) -> None:
    source = other()
    out[_any(rng, out) :] = source[rng.randrange(len(source) + 1) :]


def _count(rng: random.Random, out: bytearray, _other: Any) -> None:
    """Another varint in the place of what may be one."""
    at = end = _any(rng, out)
    value = shift = 0
    while end < len(out) and end < at + 10:
        value |= (out[end] & 0x7F) << shift
        shift += 7
        end += 1
        if out[end - 1] < 0x80:
            break
    wanted = rng.choice((*COUNTS, value + 1, value - 1, value * 2, value // 2, value ^ 1, value << 8, len(out), 8 * len(out)))
    out[at:end] = uvarint(wanted & (1 << 64) - 1)


def _shape_of(out: bytearray) -> tuple[int, int]:
    """Where the shape stands; nothing if there is none."""
    if len(out) < 4 or out[0] != 0xC1 or out[1] != 1 or not 0x80 <= out[2] < 0xFF:
        return 0, 0
    return 3, min(3 + (out[2] & 0x7F), len(out))


def _shape(rng: random.Random, out: bytearray, other: Callable[[], bytes]) -> None:
    """A change within the shape, whose length is right afterwards."""
    start, end = _shape_of(out)
    if not end:
        return
    shape = out[start:end]
    at = rng.randrange(len(shape) + 1)
    way = rng.randrange(6)
    if way == 0 and at < len(shape):
        shape[at] = rng.choice(TAGS)
    elif way == 1:
        shape[at:at] = bytes(rng.choices(TAGS, k=rng.choice((1, 1, 2, 3))))
    elif way == 2:
        del shape[at : at + rng.choice((1, 1, 2, 5))]
    elif way == 3:
        source = bytearray(other())
        first, last = _shape_of(source)
        shape[at : at + rng.randrange(4)] = source[first:last]
    elif way == 4:
        shape[at:at] = shape[rng.randrange(len(shape) + 1) :]
    else:
        _count(rng, shape, other)
    if len(shape) < 0x7F:
        out[2:end] = bytes((0x80 | len(shape),)) + shape
    else:
        out[2:end] = b"\xff" + uvarint(len(shape)) + shape


def _slots(rng: random.Random, out: bytearray, _other: Any) -> None:
    """Another kind, or another count of a pool, behind the shape."""
    _, end = _shape_of(out)
    if end and end < len(out):
        at = min(end + int(rng.expovariate(0.2)), len(out) - 1)
        out[at] = rng.choice(KINDS) if rng.random() < 0.7 else rng.choice(INTERESTING)


def _lead(rng: random.Random, out: bytearray, _other: Any) -> None:
    if len(out) > 2:
        out[2] = rng.choice((rng.randrange(256), rng.choice(KINDS), 0x36, 0x37, 0x38 + rng.randrange(8), 0x80 + rng.randrange(20)))


CHANGES: Final[tuple[Change, ...]] = (
    *(_flip, _flip, _set, _set, _nudge, _insert, _delete, _cut, _repeat, _overwrite, _overwrite, _splice),
    *(_count, _count, _count, _shape, _shape, _shape, _slots, _slots, _lead),
)

AROUND: Final[tuple[Callable[[bytes], bytes], ...]] = (
    lambda data: close_layers(data, Compressor("zlib", None, 0), None),
    lambda data: close_layers(data, None, Checksum("crc32")),
    lambda data: close_layers(data, Compressor("zlib", None, 0), Checksum("crc32")),
    lambda data: close_layers(data, None, Seal(KEY)),
    lambda data: close_layers(data, Compressor("zlib", None, 0), Seal(KEY)),
)
"""Envelopes that say nothing of what is wrong inside of them."""


def mutated(rng: random.Random, data: bytes, other: Callable[[], bytes]) -> bytes:
    """One to eight changes, and now and then an envelope around the result."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3, 8))):
        rng.choice(CHANGES)(rng, out, other)
    damaged = bytes(out[: 2 * MAX_INPUT_BYTES])
    return rng.choice(AROUND)(damaged) if rng.random() < 0.02 else damaged


# --------------------------------------------------------------------------------------------------------------- the run


@dataclass
class Fuzzer:
    """One run.

    Attributes
    ----------
    inputs : list of bytes
        What is changed: the corpus, and what was found to be new.
    """

    inputs: list[bytes]
    seed: int = 0
    reads: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    slowest: tuple[float, bytes, int] = (0.0, b"", 0)
    peak: int = 0

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._seeds = len(self.inputs)
        self._met: set[Any] = set()
        self._memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def run(self, count: int) -> Iterator[int]:
        """Try so many; gives the number of those done now and then."""
        rng = self._rng
        for done in range(count):
            data = mutated(rng, self._pick(), self._pick)
            self._try(data, rng.randrange(len(WAYS)), thorough=done % 16 == 0)
            if done % 1000 == 999:
                yield done + 1

    def _pick(self) -> bytes:
        """A seed, or one of the latest finds."""
        rng = self._rng
        found = len(self.inputs) - self._seeds
        if found and rng.random() < 0.4:
            return self.inputs[self._seeds + rng.randrange(found)]
        return self.inputs[rng.randrange(self._seeds)]

    def _try(self, data: bytes, way: int, *, thorough: bool) -> None:
        self.reads += 1
        try:
            novelty, taken = examine(data, way, thorough=thorough)
        except AssertionError:
            self._fail(data, way)
            return
        self.outcomes[novelty[0]] += 1
        kilobytes = max(1.0, len(data) / 1000)
        if taken / kilobytes > self.slowest[0]:
            self._look_at_time(data, way, kilobytes)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if memory > self._memory + (4 << 10):
            self._memory = memory
            self._look_at_memory(data, way)
        if novelty not in self._met:
            self._met.add(novelty)
            if len(data) <= MAX_INPUT_BYTES and len(self.inputs) < self._seeds + MAX_INPUTS:
                self.inputs.append(data)

    def _look_at_time(self, data: bytes, way: int, kilobytes: float) -> None:
        taken = min(_seconds(data, way) for _ in range(3))  # somebody else may have had the processor
        if taken / kilobytes > self.slowest[0]:
            self.slowest = (taken / kilobytes, data, way)
            if taken > max(LEAST_SECONDS, SECONDS_A_KILOBYTE * kilobytes):
                self._fail(data, way)

    def _look_at_memory(self, data: bytes, way: int) -> None:
        tracemalloc.start()
        try:
            examine(data, way)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        self.peak = max(self.peak, peak)
        if peak > allowed_bytes(data):
            self._fail(data, way)

    def _fail(self, data: bytes, way: int) -> None:
        what = failure_of(data, way)
        if what is None:
            return  # once, because the machine was busy
        if what.split(":")[0] in {failure.what.split(":")[0] for failure in self.failures} and len(self.failures) > 5:
            self.outcomes["broken"] += 1
            return
        small = minimised(data, way)
        self.failures.append(Failure(f"{failure_of(small, way)} with {WAYS[way]}", small, way))
        self.outcomes["broken"] += 1

    def summary(self, seconds: float) -> str:
        slowest, data, way = self.slowest
        return "\n".join(
            (
                f"{self.reads} damaged payloads in {seconds:.0f} s: {self.reads / max(seconds, 1e-9):.0f} reads per second",
                f"{len(self._met)} different ends, {len(self.inputs) - self._seeds} of them joined {self._seeds} seeds",
                *(f"  {count:9} {name}" for name, count in self.outcomes.most_common()),
                f"slowest: {1000 * slowest:.1f} ms a kB (a smaller payload counts as one kB), {len(data)} bytes with {sorted(WAYS[way])}",
                f"         {data[:100].hex()}",
                f"largest peak that was looked at: {self.peak / MEGABYTE:.1f} MB",
                f"broken promises: {len(self.failures)}",
                *(f"  {failure.what}\n    {failure.data.hex()}" for failure in self.failures),
            )
        )


# ------------------------------------------------------------------------------------------------------------ the corpus


def read_corpus() -> dict[str, bytes]:
    """Name -> payload, of the seeds and of all that was ever found."""
    found = {}
    for path in (SEEDS, FINDINGS):
        if path.exists():
            for number, line in enumerate(path.read_text().splitlines(), 1):
                entry = json.loads(line)
                found[f"{path.stem} {number}: {entry['name']}"] = bytes.fromhex(entry["hex"])
    return found


MAX_SEED: Final = 900


def make_seeds() -> Iterator[tuple[str, bytes]]:
    """A few payloads of every kind: as they are, in envelopes, and of the other wire."""
    from phpser.vectors import VECTORS, frame
    from test_limits import WAYS
    from test_malformed import corpus

    for name, data in corpus().items():
        if len(data) <= MAX_SEED and not name.startswith(("scalar ", "array ")) and not name.endswith(" x 40"):
            yield name, data
    for name, data in corpus().items():
        if len(data) <= MAX_SEED and name.startswith(("scalar ", "array ")) and int(name.split()[1]) % 4 == 0:
            yield name, data
    yield "rowset", npser.dumps([{"id": i, "name": f"n{i % 7}", "price": i / 4, "tags": ["a", "b"][: i % 3]} for i in range(40)])
    yield "placeholders", npser.dumps([npser.Placeholder("a:B", form, {"x": 1}) for form in ("object", "state", "named tuple")])  # type: ignore[arg-type]
    yield "nested", npser.dumps({"a": [{"b": ({"c": [[1, "x"], [2, "y"]]}, None)}] * 3})
    for vector in VECTORS[::17]:
        data = frame(vector)
        if 0 < len(data) <= MAX_SEED // 3:
            yield f"phpser {vector['name']}", data
    for name, make in WAYS.items():
        data = make(600)
        if len(data) <= MAX_SEED // 2:
            yield f"600 times {name}", data
    value = {"rows": [{"id": i, "name": "n" * (i % 5)} for i in range(20)]}
    for compress in (None, "zlib", "zstd", "lz4"):
        for checksum in (None, "crc32", "crc32c", "xxh3"):
            for key in (None, KEY):
                if (compress or checksum or key) and not (checksum and key):
                    codec = npser.Codec(compress=compress, compress_from=0, checksum=checksum, key=key)  # type: ignore[arg-type]
                    yield f"envelope {compress} {checksum} {'sealed' if key else ''}".strip(), codec.dumps(value)


def write_seeds() -> None:
    CORPUS.mkdir(exist_ok=True)
    lines = [json.dumps({"name": name, "hex": data.hex()}) for name, data in make_seeds()]
    SEEDS.write_text("".join(f"{line}\n" for line in dict.fromkeys(lines)))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Damage payloads and hold the promises against what comes of it.")
    parser.add_argument("count", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write-seeds", action="store_true")
    given = parser.parse_args(arguments)
    if given.write_seeds:
        write_seeds()
        return 0
    fuzzer = Fuzzer(list(read_corpus().values()), given.seed)
    start = time.monotonic()
    for done in fuzzer.run(given.count):
        if done % 50_000 == 0:
            print(f"{done} of {given.count}, {len(fuzzer.inputs)} inputs, {len(fuzzer.failures)} broken", flush=True)
    print(fuzzer.summary(time.monotonic() - start))
    if fuzzer.failures:
        with FINDINGS.open("a") as file:
            file.writelines(f"{failure.line()}\n" for failure in fuzzer.failures)
    return 1 if fuzzer.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
