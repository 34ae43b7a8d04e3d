"""Rows in frames: all of them, in order, and never more than a frame at a time."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import npser
from npser.errors import DecodeError, EncodeError
from npser.stream.files import open_reader, open_writer
from npser.stream.rows import Progress, read_rows, write_rows


def rows(count: int) -> Iterator[dict[str, Any]]:
    return ({"id": n, "name": f"row {n}", "price": n / 4} for n in range(count))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 10, 11, 20, 21])
def test_round_trip(tmp_path: Path, count: int) -> None:
    seen: list[Progress] = []
    done = write_rows(tmp_path / "file", rows(count), frame_rows=10, progress=seen.append)
    frames = -(-count // 10)
    assert done == Progress(count, frames, (tmp_path / "file").stat().st_size)
    assert [progress.rows for progress in seen] == [*range(10, count, 10), *[count] * bool(count)]
    assert [progress.frames for progress in seen] == list(range(1, frames + 1))
    assert seen[-1:] == [done] * bool(count)
    assert list(read_rows(tmp_path / "file")) == list(rows(count))
    with open_reader(tmp_path / "file") as reader:
        assert [len(frame) for frame in reader] == [10] * (count // 10) + [count % 10] * bool(count % 10)


def test_append(tmp_path: Path) -> None:
    for _ in range(2):
        write_rows(tmp_path / "file", rows(5), frame_rows=4, mode="append")
    assert list(read_rows(tmp_path / "file")) == [*rows(5), *rows(5)]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    def stop(progress: Progress) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        write_rows(tmp_path / "file", rows(5), frame_rows=2, progress=stop)
    with pytest.raises(EncodeError):
        write_rows(tmp_path / "file", [object()])
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="at least one row"):
            write_rows(tmp_path / "file", rows(5), frame_rows=wrong)
    assert os.listdir(tmp_path) == []


def test_one_frame_is_held_at_a_time(tmp_path: Path) -> None:
    class Row(dict[str, int]):
        pass

    alive: weakref.WeakSet[Row] = weakref.WeakSet()
    most = 0

    def make() -> Iterator[Row]:
        nonlocal most
        for n in range(100):
            row = Row(n=n)
            alive.add(row)
            most = max(most, len(alive))
            yield row
            del row

    Row.__hash__ = lambda self: id(self)  # type: ignore[assignment, method-assign]
    write_rows(tmp_path / "file", make(), frame_rows=10, default=dict)
    assert most <= 11


def test_options(tmp_path: Path) -> None:
    write_rows(tmp_path / "file", ([n] for n in range(3)), sync="fsync", identity="preserve")
    assert list(read_rows(tmp_path / "file", limits=npser.Limits())) == [[0], [1], [2]]


def test_frames_of_something_else(tmp_path: Path) -> None:
    with open_writer(tmp_path / "file") as writer:
        writer.write([1, 2])
        writer.write({"a": 1})
    reading = read_rows(tmp_path / "file")
    assert [next(reading), next(reading)] == [1, 2]
    with pytest.raises(DecodeError, match="a frame of rows is a list, not a dict") as caught:
        next(reading)
    assert caught.value.pos == 30
