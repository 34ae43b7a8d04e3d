"""Kill a process that appends to a file, again and again, and look whether an earlier frame was ever lost.

    python tests/stream/crashes.py --kills 200

Strategy: each child is a fork, so that two hundred of them are quick. It opens the file with ``tail="cut"``, appends frames
of every size from a few bytes to some megabytes without end, and says through a pipe when each is written. It is killed
(SIGKILL) a random while after a random number of them. What it had said must be there, in order, and at most one more.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import struct
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, NoReturn

from npser.stream.files import open_reader, open_writer

SIZES = (0, 10, 5_000, 300_000, 2_000_000)


class Result(NamedTuple):
    kills: int
    frames: int
    torn: int
    unannounced: int


def payload_of(number: int) -> bytes:
    size = SIZES[number * 7 % len(SIZES)]
    return struct.pack("<Q", number) + bytes([number % 256]) * size


def append_for_ever(path: Path, number: int, report: int) -> NoReturn:
    """In the child: append frames from `number` on, and say so after each."""
    try:
        with open_writer(path, "append", tail="cut") as writer:
            while True:
                writer.write_payload(payload_of(number))
                number += 1
                os.write(report, struct.pack("<Q", number))
    finally:
        os._exit(1)


def kill_one(path: Path, number: int, random: random.Random) -> int:
    """Start a child at frame `number` and kill it; how many frames it said are written, in all."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        append_for_ever(path, number, writing)
    os.close(writing)
    try:
        for _ in range(random.randrange(6)):
            number = struct.unpack("<Q", os.read(reading, 8))[0]
        time.sleep(random.random() * 0.004)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while said := os.read(reading, 8):
            number = struct.unpack("<Q", said)[0]
    finally:
        os.close(reading)
    return number


def check(path: Path, said: int) -> tuple[int, bool]:
    """How many frames are there, and whether the last is torn; fails where one is not what was written."""
    with open_reader(path, tail="ignore") as reader:
        for number, payload in enumerate(reader.payloads()):
            assert payload == payload_of(number), f"frame {number} is another one"
        assert reader.frames in (said, said + 1), f"{said} frames were written and {reader.frames} are there"
        return reader.frames, reader.position < path.stat().st_size


def crash(path: Path, kills: int, seed: int = 0) -> Result:
    """Kill so many appending processes, one after the other, and check the file after each."""
    chance = random.Random(seed)
    path.touch()
    frames = torn = unannounced = 0
    for n in range(kills):
        if n % 20 == 0:
            path.write_bytes(b"")
            frames = 0
        said = kill_one(path, frames, chance)
        frames, is_torn = check(path, said)
        torn += is_torn
        unannounced += frames - said
    return Result(kills, frames, torn, unannounced)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = crash(Path(folder) / "file", options.kills, options.seed)
    print(f"{result.kills} kills, {result.torn} of them in mid-write; no earlier frame was lost")


if __name__ == "__main__":
    main()
