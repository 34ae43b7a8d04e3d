"""What the constants around `npser.envelope` rest on: run `python -m benchmarks.thresholds_envelope [sweep]`.

Strategy: one sweep a question.

- `ratios`: how far do honest payloads compress? `npser.limits.INFLATION` is more than twice of the most.
- `sizes`: from which size on does compressing save enough for what it costs to read? `compression.COMPRESS_FROM`.
- `worth`: what does a reader pay for each byte that is saved, the less there is to save? `compression.WORTH`.
- `fixed`: what do a seal and a checksum cost?
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import npser
from benchmarks.shapes import SHAPES, make
from benchmarks.thresholds import best, run
from npser.envelope import compression
from npser.envelope.checksum import CHECKSUMS, Checksum, open_checked
from npser.envelope.compression import Compressor, open_compressed
from npser.envelope.methods import METHODS
from npser.envelope.seal import Seal

ROUNDS = 0.02
UNBOUND = npser.Limits(items=1 << 40)


def sweep_ratios() -> None:
    """Size of each payload, and how many times smaller each method at its best makes it."""
    print(f"\n{'':36}{'bytes':>10}" + "".join(f"{name:>8}" for name in METHODS))
    highest = 0.0
    for name in SHAPES:
        payload = npser.dumps(make(name))
        levels = {method: METHODS[method].levels[-1] if len(payload) < 300_000 else 9 for method in METHODS}
        found = [len(payload) / len(METHODS[method].compress(payload, level)) for method, level in levels.items()]
        highest = max(highest, *found)
        print(f"{name:36}{len(payload):10}" + "".join(f"{ratio:8.2f}" for ratio in found))
    print(f"highest: {highest:.1f}")


def sweep_sizes() -> None:
    """Documents and parts of them: with each method, the part of the payload that is saved and microseconds to open."""
    documents = [*make("products_100"), make("webhook"), make("session_2_7kb")]
    print(f"\n{'bytes':>8}{'loads µs':>10}" + "".join(f"{name + ' saves':>14}{'open µs':>10}" for name in METHODS))
    values = [documents[0]["id"], *[dict(list(documents[0].items())[:k]) for k in (2, 4, 6)]]
    values += [documents[:k] for k in (1, 2, 4, 8, 16, 32, 64)] + documents[-2:]
    for payload in sorted(map(npser.dumps, values), key=len):
        row = f"{len(payload):8}{best(lambda: npser.loads(payload), ROUNDS) / 1e3:10.1f}"  # noqa: B023
        for name in METHODS:
            row += cell(payload, name)
        print(row)


def sweep_worth() -> None:
    """Half a megabyte with more and more noise in it: the part that is left, and nanoseconds for each byte saved."""
    dice = np.random.default_rng(4)
    print(f"\n{'noise':>8}" + "".join(f"{name + ' left':>14}{'ns/byte':>10}" for name in METHODS))
    for part in (0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98):
        n = 1 << 19
        text = np.frombuffer((b"%d: tea, milk; " * n % tuple(range(n)))[:n], "<u1")
        runs = dice.random(n >> 8) < part
        payload = np.where(np.repeat(runs, 256), dice.integers(0, 256, n, "<u1"), text).tobytes()
        row = f"{part:8}"
        for name in METHODS:
            envelope = closed(payload, name)
            nanoseconds = best(lambda: open_compressed(memoryview(envelope), UNBOUND), ROUNDS)  # noqa: B023
            saved = len(payload) - len(envelope)
            row += f"{len(envelope) / len(payload):14.3f}{nanoseconds / saved if saved > 0 else float('inf'):10.2f}"
        print(row)


def closed(payload: bytes, name: str) -> bytes:
    """The envelope, even where it is not worth it."""
    before, compression.WORTH = compression.WORTH, 10.0
    try:
        return Compressor(name, at_least=0).close(payload)
    finally:
        compression.WORTH = before


def cell(payload: bytes, name: str) -> str:
    """The part of a payload that a method saves, and microseconds to open it."""
    envelope = closed(payload, name)
    microseconds = best(lambda: open_compressed(memoryview(envelope), UNBOUND), ROUNDS) / 1e3
    return f"{1 - len(envelope) / len(payload):14.2f}{microseconds:10.1f}"


def sweep_fixed() -> None:
    """Microseconds to close and open an envelope that needs no compression, at several sizes."""
    seal = Seal(bytes(32))
    print(f"\n{'bytes':>10}{'seal':>10}{'open':>8}" + "".join(f"{name:>10}{'open':>8}" for name in CHECKSUMS))
    for size in (100, 1000, 10_000, 100_000, 1_000_000):
        inner = npser.dumps(bytes(size))
        row = f"{size:10}" + timed(lambda: seal.close(inner), lambda data: seal.open(data))  # noqa: B023
        for name in CHECKSUMS:
            check = Checksum(name)
            row += timed(lambda: check.close(inner), lambda data: open_checked(memoryview(data)))  # noqa: B023
        print(row)


def timed(close: Callable[[], bytes], open_: Callable[[bytes], object]) -> str:
    """Microseconds for the one and for the other."""
    data = close()
    return f"{best(close, ROUNDS) / 1e3:10.1f}{best(lambda: open_(data), ROUNDS) / 1e3:8.1f}"


SWEEPS = (sweep_ratios, sweep_sizes, sweep_worth, sweep_fixed)

if __name__ == "__main__":
    run(SWEEPS, sys.argv[1:])
