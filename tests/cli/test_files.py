"""A file appears whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from npser.cli.files import read_bytes, write_bytes
from npser.cli.refusal import ConvertError


def test_written_and_read(tmp_path: Path) -> None:
    write_bytes(str(tmp_path / "a"), b"one")
    write_bytes(str(tmp_path / "a"), b"two")
    assert read_bytes(str(tmp_path / "a")) == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_old_file_stays_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConvertError, match="no space left on device"):
        write_bytes(str(tmp_path / "a"), b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.skipif(os.name == "nt", reason="modes, links and devices as POSIX has them")
def test_mode_links_and_devices_are_respected(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    write_bytes(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a").read_bytes() == b"new"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    write_bytes(os.devnull, b"gone")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_directory_or_nothing_is_an_error_with_its_name(tmp_path: Path) -> None:
    for read_or_write in (read_bytes, lambda name: write_bytes(f"{name}/x", b"")):
        with pytest.raises(ConvertError) as caught:
            read_or_write(str(tmp_path / "no"))
        assert str(tmp_path / "no") in str(caught.value)
    with pytest.raises(ConvertError):
        read_bytes(str(tmp_path))
