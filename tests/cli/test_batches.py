"""Files that do not fit into memory: rows in parts, read twice where that is needed, written frame by frame."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from npser.cli import convert
from npser.cli.batches import Batch, Lines, Source, batches, opened
from npser.cli.cells import Types
from npser.cli.csv_text import csv_frames, csv_pieces, read_csv, write_csv
from npser.cli.json_text import json_line_frames, json_line_pieces, read_json_lines
from npser.cli.refusal import ConvertError
from npser.inspection.same import identical
from npser.stream.layout import MARKER

HEADER = "id,name,price,note,mixed,empty\n"
ROWS = [f"{i},n{i},{i / 4},{'' if i % 3 else i},{i if i % 2 else i + 0.5},\n" for i in range(2000)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is long is 10 kB here, and a frame has 300 rows."""
    monkeypatch.setattr(convert, "WHOLE", 10_000)
    monkeypatch.setattr(convert, "FRAME_ROWS", 300)


def source(text: str | bytes) -> Source:
    return Source(io.BytesIO(text.encode() if isinstance(text, str) else text))


# -------------------------------------------------------------------------------------------------------------- batches


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (300, [300]), (301, [300, 1]), (900, [300, 300, 300])])
def test_parts_have_so_many_rows_and_know_whether_they_are_the_last(count: int, sizes: list[int]) -> None:
    lines = Lines(map(str, range(count)))
    found = list(batches(iter(lines), 300, lines))
    assert [len(part.items) for part in found] == sizes
    assert [part.more for part in found] == [True] * (len(sizes) - 1) + [False] * bool(sizes)
    assert [item for part in found for item in part.items] == list(map(str, range(count)))


def test_long_rows_end_a_part_early() -> None:
    lines = Lines("x" * 1000 for _ in range(1000))
    found = list(batches(iter(lines), 10_000, lines, characters=150_000))
    assert sum(len(part.items) for part in found) == 1000
    assert max(len(part.items) for part in found) <= 250
    assert type(found[0]) is Batch


def test_a_file_is_read_again_from_where_it_stood() -> None:
    file = io.BytesIO(b"before|a\nb\n")
    file.seek(7)
    held = Source(file)
    assert held.size == 4
    assert list(held.lines("", "reading")) == list(held.lines("", "again")) == ["a\n", "b\n"]
    assert held.starts_with(b"a\n")
    assert held.read() == b"a\nb\n"


def test_what_is_not_utf_8_is_refused_with_its_line() -> None:
    for text, line, said in (
        (b"a\nb\xff\n", 2, "byte 0xff at offset 3"),
        (b"a" * 70_000 + b"\n\xc3\n", 2, "byte 0xc3 at offset 70001"),
        (b"\xef\xbb\xbfa\n\xed\xa0\x80", 2, "byte 0xed at offset 5"),
    ):
        with pytest.raises(ConvertError, match=said) as caught:
            list(source(text).lines("\n", ""))
        assert caught.value.line == line


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConvertError, match="no such file"), opened(str(tmp_path / "no")):
        pass
    with pytest.raises(ConvertError, match="directory"), opened(str(tmp_path)):
        pass


# ------------------------------------------------------------------------------------------------------------------ CSV


@pytest.mark.parametrize("types", Types)
@pytest.mark.parametrize("frame_rows", [1, 7, 300, 1999, 2000, 10_000])
def test_csv_in_parts_is_csv_as_a_whole(types: Types, frame_rows: int) -> None:
    text = HEADER + "".join(ROWS)
    whole: Any = read_csv(text, types)
    parts: list[Any] = list(csv_frames(source(text), types, frame_rows))
    assert [len(part) for part in parts[:-1]] == [frame_rows] * (len(parts) - 1)
    assert identical([row for part in parts for row in part], whole)
    assert "".join(csv_pieces(parts)) == write_csv(whole)


cells = st.text("0123456789.-ex\"\n,é ", max_size=5) | st.integers(-20, 20).map(str) | st.sampled_from(["", "1.5", "007"])


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), max_size=12)), st.integers(1, 5))
def test_any_table_in_parts(rows: list[list[str]], frame_rows: int) -> None:
    if not rows:
        return
    table = {f"c{i}": [row[i] for row in rows] for i in range(len(rows[0]))}
    text = write_csv(table)
    parts: list[Any] = list(csv_frames(source(text), Types.INFER, frame_rows))
    whole: Any = read_csv(text, Types.INFER)
    assert identical([row for part in parts for row in part], whole)


def test_a_column_is_text_if_any_part_of_it_is() -> None:
    text = "a,b\n" + "1,2\n" * 50 + "x,3\n" + "4,\n" * 50
    parts: list[Any] = list(csv_frames(source(text), Types.INFER, 10))
    assert parts[0][0] == {"a": "1", "b": 2}
    assert parts[-1][-1] == {"a": "4", "b": None}


@pytest.mark.parametrize("types", Types)
def test_a_header_alone(types: Types) -> None:
    assert list(csv_frames(source("a,b\n"), types, 5)) == [{"a": [], "b": []}]


def test_errors_of_later_parts_have_their_line_and_row() -> None:
    with pytest.raises(ConvertError, match="1 cell where the header has 2") as caught:
        list(csv_frames(source("a,b\n" + "1,2\n" * 50 + "3\n"), Types.INFER, 10))
    assert caught.value.line == 52
    with pytest.raises(ConvertError, match=r"\$\[3\] has other keys"):
        list(csv_pieces([[{"a": 1}] * 2, [{"a": 1}, {"b": 1}]]))
    with pytest.raises(ConvertError, match=r"\$\[2\]\['a'\] is list"):
        list(csv_pieces([[{"a": 1}] * 2, [{"a": []}]]))
    with pytest.raises(ConvertError, match=r"\$\[2\] is none"):
        list(csv_pieces([[{"a": 1}] * 2, [5]]))


# ----------------------------------------------------------------------------------------------------------- JSON lines


@pytest.mark.parametrize("frame_rows", [1, 7, 50, 51])
def test_json_lines_in_parts(frame_rows: int) -> None:
    text = "".join(json.dumps({"id": i, "tags": ["é"] * (i % 3)}) + "\n" + "\n" * (i % 5 == 0) for i in range(50))
    parts: list[Any] = list(json_line_frames(source(text), frame_rows))
    assert [row for part in parts for row in part] == read_json_lines(text)
    assert read_json_lines("".join(json_line_pieces(parts))) == read_json_lines(text)
    assert list(json_line_frames(source("\n"), 5)) == [[]]
    with pytest.raises(ConvertError, match="not valid JSON") as caught:
        list(json_line_frames(source(text + "{"), frame_rows))
    assert caught.value.line == text.count("\n") + 1
    with pytest.raises(ConvertError, match=r"\$\[2\] is tuple"):
        list(json_line_pieces([[1, 2], [(3,)]]))


# -------------------------------------------------------------------------------------------------- pack and unpack


@pytest.mark.usefixtures("small")
def test_long_files_become_frames_and_come_back(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(HEADER + "".join(ROWS))
    sizes = convert.pack(str(tmp_path / "a.csv"), str(tmp_path / "a.npser"))
    packed = (tmp_path / "a.npser").read_bytes()
    assert packed.startswith(MARKER)
    assert sizes == convert.Sizes((tmp_path / "a.csv").stat().st_size, len(packed))
    with npser.open_reader(tmp_path / "a.npser") as reader:
        assert [len(rows) for rows in reader] == [300] * 6 + [200]
    rows = read_csv(HEADER + "".join(ROWS), Types.INFER)
    assert identical(list(npser.read_rows(tmp_path / "a.npser")), rows)
    for name in ("b.csv", "b.jsonl", "b.json"):
        sizes = convert.unpack(str(tmp_path / "a.npser"), str(tmp_path / name))
        assert sizes.written == (tmp_path / name).stat().st_size
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()
    assert json.loads((tmp_path / "b.json").read_text()) == rows
    convert.pack(str(tmp_path / "b.jsonl"), str(tmp_path / "c.npser"))
    assert (tmp_path / "c.npser").read_bytes() == packed


@pytest.mark.usefixtures("small")
def test_short_files_stay_one_payload(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(HEADER + "".join(ROWS[:301]))
    convert.pack(str(tmp_path / "a.csv"), str(tmp_path / "a.npser"))
    rows = npser.loads((tmp_path / "a.npser").read_bytes())
    assert len(rows) == 301
    assert list(npser.read_rows(tmp_path / "a.npser")) == rows
    assert list(npser.read_rows(tmp_path / "a.npser", codec=npser.Codec())) == rows


def test_many_short_rows_become_frames_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convert, "WHOLE_ROWS", 100)
    (tmp_path / "a.jsonl").write_text("1\n" * 250)
    convert.pack(str(tmp_path / "a.jsonl"), str(tmp_path / "a.npser"))
    with npser.open_reader(tmp_path / "a.npser") as reader:
        assert [len(rows) for rows in reader] == [100, 100, 50]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_an_error_at_the_end_leaves_what_was_there(tmp_path: Path, suffix: str) -> None:
    lines = {".csv": HEADER + "".join(ROWS) + "1,2\n", ".jsonl": '{"a": 1}\n' * 2000 + "{\n"}[suffix]
    (tmp_path / f"a{suffix}").write_text(lines)
    (tmp_path / "a.npser").write_bytes(b"old")
    with pytest.raises(ConvertError, match=f"a{suffix}, line 200[12]"):
        convert.pack(str(tmp_path / f"a{suffix}"), str(tmp_path / "a.npser"))
    assert (tmp_path / "a.npser").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([f"a{suffix}", "a.npser"])


def test_damaged_frames_leave_what_was_there(tmp_path: Path) -> None:
    npser.write_rows(tmp_path / "a.npser", ({"id": i} for i in range(100)), frame_rows=20)
    data = (tmp_path / "a.npser").read_bytes()
    for name, damaged in (("cut", data[:-1]), ("changed", data[:100] + bytes([data[100] ^ 1]) + data[101:])):
        (tmp_path / "b.npser").write_bytes(damaged)
        (tmp_path / f"{name}.csv").write_text("old")
        with pytest.raises(ConvertError, match=r"b\.npser: "):
            convert.unpack(str(tmp_path / "b.npser"), str(tmp_path / f"{name}.csv"))
        assert (tmp_path / f"{name}.csv").read_text() == "old"


def test_frames_of_anything_are_unpacked(tmp_path: Path) -> None:
    with npser.open_writer(tmp_path / "log.npser") as writer:
        for value in ({"at": 1}, {"at": 2}, [{"at": 3}, {"at": 4}]):
            writer.write(value)
    for name, text in (("a.jsonl", '{"at":1}\n{"at":2}\n{"at":3}\n{"at":4}\n'), ("a.csv", "at\n1\n2\n3\n4\n")):
        convert.unpack(str(tmp_path / "log.npser"), str(tmp_path / name))
        assert (tmp_path / name).read_text() == text
    with npser.open_writer(tmp_path / "one.npser") as writer:
        writer.write({"x": [1]})
    convert.unpack(str(tmp_path / "one.npser"), str(tmp_path / "one.json"))
    assert (tmp_path / "one.json").read_text() == '{"x":[1]}\n'


def test_a_file_of_no_frames_is_unpacked(tmp_path: Path) -> None:
    npser.write_rows(tmp_path / "a.npser", iter([]))
    assert (tmp_path / "a.npser").read_bytes() == b""
    for name, text in (("a.jsonl", ""), ("a.csv", ""), ("a.json", "[]\n")):
        convert.unpack(str(tmp_path / "a.npser"), str(tmp_path / name))
        assert (tmp_path / name).read_text() == text
    with pytest.raises(ConvertError, match="this value is list"):
        convert.unpack(str(tmp_path / "a.npser"), str(tmp_path / "a.npy"))


def test_pipes_and_bounded_memory(tmp_path: Path) -> None:
    """A pipe cannot be read twice, and 20 MB of CSV would be 400 MB of dicts."""
    line = ",".join(f"text {i}" for i in range(8))
    script = (
        "import sys\n"
        "from npser.cli.app import app\n"
        "try:\n    app(sys.argv[1:])\n"
        "finally:\n"
        "    status = open('/proc/self/status').read() if sys.platform == 'linux' else 'VmHWM: 0'\n"
        "    print(next(l for l in status.splitlines() if l.startswith('VmHWM')).split()[1], file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, "pack", "-", str(tmp_path / "a.npser"), "--from", "csv", "--types", "text"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write(b"a,b,c,d,e,f,g,h\n")
        for _ in range(300):
            child.stdin.write(f"{line}\n".encode() * 1000)
        child.stdin.close()
        said = child.stderr.read().decode().split()
    assert child.returncode == 0, said
    assert int(said[-1]) < 300_000, said  # kB
    with npser.open_reader(tmp_path / "a.npser", select=["h"]) as reader:
        assert sum(len(columns["h"]) for columns in reader) == 300_000
