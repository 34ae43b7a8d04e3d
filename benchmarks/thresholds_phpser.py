"""What the constants of the PHP wire rest on: run `python -m benchmarks.thresholds_phpser [sweep]`.

Strategy: the same payload read in two ways that one constant decides between, in one process, best of several.
The constants that decide about bytes are the extension's own, and are no choice of ours.
"""

from __future__ import annotations

import dataclasses
import random
import sys
from typing import Any

from benchmarks.thresholds import best, run
from npser.phpser import arrays, dictionary, longs, objects, read, reader, write, writing
from npser.types.allow import Allow

SIZES = (4, 8, 16, 32, 64, 96, 128, 192, 256, 512)


def _read(data: bytes, allow: Any = ()) -> float:
    view, classes = memoryview(data), Allow(allow)
    return best(lambda: read(view, allow=classes)) / 1000


def sweep_runs() -> None:
    """RUNS: values of one tag inside MIXED, one by one and by the search for runs."""
    rng = random.Random(1)
    shapes: dict[str, Any] = {
        "constants": lambda _: rng.choice((None, True, False)),
        "ints and gaps": lambda _: rng.choice((None, 5, 70000)),
        "doubles": lambda i: i / 3,
        "words": lambda i: f"w{i % 3}",
        "strings": lambda i: f"row_{i}",
        "lists of words": lambda _: ["a", "b", "c"],
    }
    print(f"\n{'values':>8}" + "".join(f"{name:>18}" for name in shapes) + "   us, one by one / runs")
    kept = dict(reader.RUNS)
    for n in SIZES:
        line = f"{n:8}"
        for make in shapes.values():
            data = write([*map(make, range(n)), {"k": 1}])
            reader.RUNS.clear()
            plain = _read(data)
            reader.RUNS.update({tag: (1, search) for tag, (_, search) in kept.items()})
            found = _read(data)
            reader.RUNS.update(kept)
            line += f"{plain:10.1f} / {found:5.1f}"
        print(line)


def sweep_few() -> None:
    """FEW in longs, arrays and dictionary: short arrays of one kind by a loop, or by numpy."""
    print(f"\n{'items':>8}{'longs':>16}{'strings':>18}{'written strings':>20}   us, loop / numpy")
    for n in (4, 8, 12, 16, 24, 32, 48, 64):
        texts = [f"w{i % 5}" for i in range(n)]
        payloads = (write([i * i * 77 for i in range(n)], version=1), write([texts, texts, texts]))
        kept = longs.FEW, arrays.FEW_WORDS, dictionary.FEW
        times = []
        for few in (1000, 0):
            longs.FEW = arrays.FEW_WORDS = dictionary.FEW = few
            times.append([*map(_read, payloads), best(lambda texts=texts: write(texts)) / 1000])  # type: ignore[misc]
        longs.FEW, arrays.FEW_WORDS, dictionary.FEW = kept
        print(f"{n:8}" + "".join(f"{loop:10.1f} / {fast:5.1f}" for loop, fast in zip(*times, strict=True)))


def sweep_planned() -> None:
    """PLANNED: attributes set one by one, or by generated code (which is there already)."""
    cls = dataclasses.make_dataclass("Row", [f"f{i}" for i in range(6)])
    print(f"\n{'objects':>8}{'one by one':>12}{'generated':>11}   us")
    for n in (1, 2, 4, 8, 16, 32):
        data = write([cls(*range(6)) for _ in range(n)])
        kept, times = objects.PLANNED, []
        for least in (1000, 1):
            objects.PLANNED = least
            times.append(_read(data, [cls]))
        objects.PLANNED = kept
        print(f"{n:8}{times[0]:12.1f}{times[1]:11.1f}")


def sweep_tokens() -> None:
    """_FEW in writing: ints and nulls written one by one, or as one stream of varints."""
    print(f"\n{'values':>8}{'loop':>10}{'numpy':>9}   us to write")
    for n in (4, 8, 12, 16, 24, 32, 64):
        values = [None if i % 4 == 0 else i * i * 77 for i in range(n)]
        kept, times = writing._FEW, []
        for few in (1000, 0):
            writing._FEW = few
            times.append(best(lambda values=values: write(values)) / 1000)  # type: ignore[misc]
        writing._FEW = kept
        print(f"{n:8}{times[0]:10.1f}{times[1]:9.1f}")


SWEEPS = (sweep_tokens, sweep_runs, sweep_few, sweep_planned)

if __name__ == "__main__":
    run(SWEEPS, sys.argv[1:])
