"""Files of frames: whole or not there, appended to without ever losing a frame, and never somebody else's."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

import npser
from npser.errors import DecodeError, EncodeError, ForeignBytesError, TruncatedError
from npser.stream.files import open_reader, open_writer
from npser.stream.layout import frame_bytes
from npser.stream.parser import Skipped
from stream.crashes import crash
from stream.damage import PAYLOADS, join, starts_of

DATA = join(PAYLOADS)
STARTS = starts_of(PAYLOADS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def read(path: Path, **options: Any) -> list[bytes]:
    with open_reader(path, **options) as reader:
        return list(reader.payloads())


def names(path: Path) -> list[str]:
    return sorted(os.listdir(path.parent))


# ---------------------------------------------------------------------------------------------------------------- create


def test_create_and_read(path: Path) -> None:
    with open_writer(path) as writer:
        for value in (1, "b", [None]):
            writer.write(value)
        assert not path.exists()
    assert names(path) == ["file"]
    with open_reader(str(path)) as reader:
        assert list(reader) == [1, "b", [None]]
    with pytest.raises(ValueError, match="closed"):
        next(reader)


def test_an_empty_file(path: Path) -> None:
    open_writer(path).close()
    assert path.read_bytes() == b""
    assert read(path) == []


def test_an_error_leaves_what_was_there(path: Path) -> None:
    for before in (None, b"something else"):
        if before is not None:
            path.write_bytes(before)
        with pytest.raises(EncodeError), open_writer(path) as writer:
            writer.write(1)
            writer.write(object())
        assert names(path) == ["file"] * (before is not None)
        writer = open_writer(path)
        writer.write(1)
        writer.discard()
        writer.close()
        assert names(path) == ["file"] * (before is not None)
        with pytest.raises(ValueError, match="sync is one of"):
            open_writer(path, sync="never")  # type: ignore[arg-type]
        assert names(path) == ["file"] * (before is not None)
    assert path.read_bytes() == b"something else"


def test_it_takes_the_place_of_what_was_there(path: Path) -> None:
    path.write_bytes(b"something else")
    path.chmod(0o640)
    with open_writer(path) as writer:
        writer.write(1)
        assert path.read_bytes() == b"something else"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.read_bytes() == frame_bytes(npser.dumps(1))


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need rights there")
def test_a_link_stays_a_link(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    with open_writer(link) as writer:
        writer.write(1)
    assert link.is_symlink()
    assert read(path) == [npser.dumps(1)]


def test_it_is_on_the_disk_before_it_has_its_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (steps.append("fsync"), fsync(number)))
    monkeypatch.setattr(os, "replace", lambda a, b: (steps.append("replace"), replace(a, b)))
    with open_writer(path) as writer:
        writer.write(1)
    assert steps[:2] == ["fsync", "replace"]


def test_a_failed_rename_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(a: Any, b: Any) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(os, "replace", fail)
    writer = open_writer(path)
    with pytest.raises(PermissionError):
        writer.close()
    assert names(path) == []


def test_a_failed_write_is_not_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = open_writer(path)

    def fail() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writer, "_sync", fail)
    with pytest.raises(OSError, match="No space"):
        writer.write(1)
    with pytest.raises(ValueError, match="given up"):
        writer.close()
    assert names(path) == []


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no regular file"):
        open_writer(tmp_path)
    with pytest.raises(OSError):
        open_writer(tmp_path / "nowhere" / "file")
    with pytest.raises(OSError):
        open_reader(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="mode is one of"):
        open_writer(tmp_path / "file", "w")  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------------------------------------------------------- append


def test_append(path: Path) -> None:
    for n in range(5):
        with open_writer(path, "append") as writer:
            assert writer.cut is None
            assert writer.position == 28 * n
            writer.write(n)
            assert path.stat().st_size == 28 * (n + 1)
    with open_reader(path) as reader:
        assert list(reader) == [0, 1, 2, 3, 4]


def test_append_after_create_and_an_error_keeps_the_frames(path: Path) -> None:
    with open_writer(path) as writer:
        writer.write(1)
    with pytest.raises(EncodeError), open_writer(path, "append") as writer:
        writer.write(2)
        writer.write(object())
    assert read(path) == [npser.dumps(1), npser.dumps(2)]


def test_append_cut_at_every_byte(path: Path) -> None:
    for size in range(len(DATA)):
        whole = sum(stop <= size for stop in STARTS[1:])
        path.write_bytes(DATA[:size])
        if size not in STARTS:
            with pytest.raises(TruncatedError, match=f"tail='cut' cuts {size - STARTS[whole]} bytes off") as caught:
                open_writer(path, "append")
            assert caught.value.pos == STARTS[whole]
            assert path.read_bytes() == DATA[:size]
        with open_writer(path, "append", tail="cut") as writer:
            if size in STARTS:
                assert writer.cut is None
            else:
                assert writer.cut == Skipped(STARTS[whole], size, "the last frame is cut off")
            writer.write_payload(b"more")
        assert read(path) == [*PAYLOADS[:whole], b"more"]


@pytest.mark.parametrize("tail", ["raise", "cut"])
@pytest.mark.parametrize(
    "data",
    [b"{}", b"\x80\x05.", b"\xc1\x01\x00", npser.dumps("text"), b"\0" * 50, b"x", DATA + b"junk", b"junk" + DATA],
)
def test_what_is_not_ours_is_left_alone(path: Path, data: bytes, tail: Any) -> None:
    path.write_bytes(data)
    with pytest.raises(DecodeError):
        open_writer(path, "append", tail=tail)
    assert path.read_bytes() == data


def test_whose_it_is_instead(path: Path) -> None:
    path.write_bytes(b"a,b\n1,2\n"[2:])
    with pytest.raises(DecodeError, match="not npser"):
        open_writer(path, "append")
    path.write_bytes(b"PAR1 and so on")
    with pytest.raises(ForeignBytesError, match="Parquet"):
        open_writer(path, "append")


@pytest.mark.skipif(sys.platform == "win32", reason="no flock")
def test_one_appends_at_a_time(path: Path) -> None:
    with open_writer(path, "append") as writer:
        writer.write(1)
        with pytest.raises(BlockingIOError, match="another writer"):
            open_writer(path, "append", tail="cut")
        writer.write(2)
    with open_writer(path, "append") as writer:
        writer.write(3)
    with open_reader(path) as reader:
        assert list(reader) == [1, 2, 3]


def test_reading_while_it_is_written(path: Path) -> None:
    with open_writer(path, "append") as writer, open_reader(path) as reader:
        for n in range(3):
            writer.write(n)
            assert list(reader) == [n]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_kill_while_appending(path: Path) -> None:
    result = crash(path, kills=20)
    assert result.kills == 20
