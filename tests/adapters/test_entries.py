"""Entries, settings and counters: what is decoded, what is foreign, what is a miss."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any

import pytest

import npser
from npser.adapters.counters import Counters
from npser.adapters.entries import Entries, exact_int, is_exact_int
from npser.adapters.settings import codec_from, entries_from, imported
from same import same

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))
VALUE = {"ids": (1, 2, 3), "tags": {"a"}, "ok": True, "at": 0.5}

FOREIGN = {
    "pickle": pickle.dumps([1, "a"]),
    "pickle protocol 0": pickle.dumps([1, "a"], 0),
    "pickle of cachelib": b"!" + pickle.dumps([1, "a"]),
    "json": b'{"a": 1}',
    "json int": b"12",
    "json null": b"null",
    "msgpack": bytes.fromhex("82a16101a16202"),
    "zlib": bytes.fromhex("789c03000000"),
    "unknown": b"\xf7\x00\x01",
    "like phpser": b"\x01\x63garbage",
}


@dataclass
class Point:
    x: int
    y: int


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return exploded.append, ("it ran",)


exploded: list[str] = []


@pytest.mark.parametrize(
    "codec", [npser.Codec(), npser.Codec(key=KEY), npser.Codec(compress="zlib", checksum="crc32")], ids=repr
)
def test_an_entry_comes_back(codec: npser.Codec) -> None:
    entries = Entries(codec)
    data = entries.dumps(VALUE)
    for buffer in (data, bytearray(data), memoryview(data)):
        assert same(entries.loads(buffer), VALUE)
    assert entries.counters.as_dict() == Counters().as_dict()


def test_an_entry_with_a_context_is_read_in_its_place_only() -> None:
    entries = Entries(npser.Codec(compress="zlib"), key=KEY)
    data = entries.dumps(VALUE, context=b"here")
    assert same(entries.loads(data, context=b"here"), VALUE)
    assert same(entries.loads(memoryview(data), context=b"here"), VALUE)
    assert same(npser.loads_signed(data, KEY, context="here"), VALUE)
    assert entries.loads(data, context=b"there", miss="miss") == "miss"
    with pytest.raises(npser.SignatureError):
        entries.loads(data, context=b"there")
    assert (entries.counters.refused, entries.counters.foreign) == (2, 0)


@pytest.mark.parametrize("entry", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_a_foreign_entry_is_a_miss(entry: bytes, key: bytes | None) -> None:
    entries = Entries(npser.Codec(key=key))
    assert entries.loads(entry, miss="miss") == "miss"
    with pytest.raises(npser.DecodeError):
        entries.loads(entry)
    assert (entries.counters.foreign, entries.counters.refused) == (2, 0)
    assert entries.counters.last_refusal


@pytest.mark.parametrize("entry", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_entry_is_refused_where_that_is_asked_for(entry: bytes) -> None:
    with pytest.raises(npser.DecodeError):
        Entries(npser.Codec(), foreign="refuse").loads(entry, miss="miss")


def test_the_error_names_the_other_serializer() -> None:
    with pytest.raises(npser.ForeignBytesError, match="a pickle"):
        Entries(npser.Codec()).loads(FOREIGN["pickle"])
    with pytest.raises(npser.SignatureError, match="foreign="):
        Entries(npser.Codec(key=KEY)).loads(FOREIGN["pickle"])


def test_nothing_is_unpickled_unless_the_caller_says_so() -> None:
    bomb = pickle.dumps(Bomb())
    for entries in (Entries(npser.Codec()), Entries(npser.Codec(key=KEY)), Entries(npser.Codec(), foreign=json.loads)):
        assert entries.loads(bomb, miss="miss") == "miss"
    with pytest.raises(npser.ForeignBytesError):
        Entries(npser.Codec(), foreign="refuse").loads(bomb)
    assert exploded == []


def test_importing_entries_does_not_bring_pickle_into_use() -> None:
    source = "import npser.adapters.entries as entries; print(hasattr(entries, 'pickle'))"
    run = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_pickles_are_read_where_that_is_asked_for() -> None:
    entries = Entries(npser.Codec(), foreign="pickle")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert entries.loads(pickle.dumps([1, "a"], protocol)) == [1, "a"]
    assert entries.loads(FOREIGN["pickle of cachelib"]) == [1, "a"]
    assert same(entries.loads(entries.dumps(VALUE)), VALUE)
    read = {"pickle", "pickle of cachelib"}
    for name, entry in FOREIGN.items():
        assert (entries.loads(entry, miss="miss") == "miss") is (name not in read)
    assert entries.loads(pickle.dumps([1, "a"])[:-1], miss="miss") == "miss"
    with pytest.raises(npser.DecodeError, match="reading it failed"):
        entries.loads(pickle.dumps([1, "a"])[:-1])


def test_bytes_of_npser_are_never_unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(pickle, "loads", never)
    data = npser.dumps(VALUE)
    keyed = Entries(npser.Codec(key=KEY), foreign="pickle")
    assert keyed.loads(data, miss="miss") == "miss"  # not sealed
    assert keyed.loads(npser.dumps_signed(VALUE, OTHER), miss="miss") == "miss"
    for cut in range(len(data)):
        assert Entries(npser.Codec(), foreign="pickle").loads(data[:cut], miss="miss") == "miss"


def test_a_callable_reads_what_is_foreign() -> None:
    entries = Entries(npser.Codec(), foreign=json.loads)
    assert entries.loads(b'{"a": 1}') == {"a": 1}
    assert entries.loads(memoryview(b"12")) == 12
    assert entries.loads(b"null", miss="miss") is None
    assert entries.counters.foreign == 3
    assert entries.loads(b'{"a": ', miss="miss") == "miss"
    with pytest.raises(npser.DecodeError, match="JSONDecodeError"):
        entries.loads(b'{"a": ')
    assert entries.loads(npser.dumps(VALUE)[:-1], miss="miss") == "miss"  # damaged is not foreign
    assert (entries.counters.foreign, entries.counters.refused) == (5, 1)


def test_entries_from_before_there_was_a_key_are_read_by_a_codec_without_one() -> None:
    entries = Entries(npser.Codec(key=KEY), foreign=npser.Codec().loads)
    assert same(entries.loads(npser.dumps(VALUE)), VALUE)
    forged = npser.dumps_signed(VALUE, OTHER)
    assert entries.loads(forged, miss="miss") == "miss"
    assert (entries.counters.foreign, entries.counters.refused) == (1, 1)


def test_keys_are_rotated() -> None:
    old, both, new = (Entries(npser.Codec(), key=key) for key in (KEY, [OTHER, KEY], OTHER))
    assert same(both.loads(old.dumps(VALUE)), VALUE)
    assert same(new.loads(both.dumps(VALUE)), VALUE)
    assert old.loads(both.dumps(VALUE), miss="miss") == "miss"
    assert new.loads(old.dumps(VALUE), miss="miss") == "miss"


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_a_damaged_entry_is_a_miss(key: bytes | None) -> None:
    entries = Entries(npser.Codec(checksum=None if key else "crc32"), key=key)
    data = entries.dumps(VALUE)
    for cut in range(len(data)):
        assert entries.loads(data[:cut], miss="miss") == "miss"
    for place in range(1, len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        assert entries.loads(changed, miss="miss") == "miss"
    with pytest.raises(npser.DecodeError):
        entries.loads(data[:-1])


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_text_is_an_error_and_no_miss(key: bytes | None) -> None:
    with pytest.raises(npser.DecodeError, match="decode_responses"):
        Entries(npser.Codec(), key=key).loads("text", miss="miss")
    with pytest.raises(npser.DecodeError):
        Entries(npser.Codec(), key=key).loads(None, miss="miss")


def test_wrong_options_are_refused() -> None:
    with pytest.raises(ValueError, match="foreign is one of 'miss', 'refuse', 'pickle'"):
        Entries(npser.Codec(), foreign="pickel")  # type: ignore[arg-type]
    for codec in (npser.Codec(key=KEY), npser.Codec(checksum="crc32"), npser.Codec(wire="phpser")):
        with pytest.raises(ValueError, match="leave out the key="):
            Entries(codec, key=KEY)
    with pytest.raises(ValueError, match="16 bytes"):
        Entries(npser.Codec(), key=b"short")


def test_no_key_is_shown() -> None:
    for entries in (Entries(npser.Codec(key=KEY)), Entries(npser.Codec(), key=KEY)):
        assert "hidden" in repr(entries)
        assert repr(KEY)[2:12] not in repr(entries)


@pytest.mark.parametrize("value", [0, 7, -1, 1 << 62, -(1 << 63), (1 << 63) - 1])
def test_exact_ints_are_told_by_their_text(value: int) -> None:
    assert is_exact_int(value)
    assert same(exact_int(b"%d" % value), value)


@pytest.mark.parametrize(
    "data", [b"", b"-", b"--1", b"+1", b" 1", b"1\n", b"1_0", b"01", b"-0", b"1.0", b"9" * 21, "²".encode()]
)
def test_what_only_looks_like_an_int_is_none(data: bytes) -> None:
    assert exact_int(data) is None


def test_bools_are_no_exact_ints() -> None:
    assert not is_exact_int(True)
    assert not is_exact_int(1.0)


def test_classes_come_from_the_settings_as_paths() -> None:
    path = f"{__name__}:Point"
    data = npser.dumps(Point(1, 2))
    for classes in (path, [path], [Point], (Point,), f" {path}, fractions.Fraction", f"{__name__}.Point"):
        assert codec_from({"classes": classes}).loads(data) == Point(1, 2)
    renamed = codec_from({"classes": {f"{__name__}:Point": "fractions.Fraction"}})
    assert repr(renamed) == f"Codec(classes={{'{__name__}:Point': <class 'fractions.Fraction'>}})"


def test_keys_are_text_or_bytes_or_several() -> None:
    text = "a secret of the settings"
    data = codec_from({"key": text}).dumps(VALUE)
    for key in (text, text.encode(), [text], [OTHER, text], (text.encode(),)):
        assert same(codec_from({"key": key}).loads(data), VALUE)
    assert codec_from({"key": OTHER}).loads(data, default="miss") == "miss"
    with pytest.raises(ValueError, match="16 bytes"):
        codec_from({"key": "short"})


def test_numbers_and_limits_may_be_text() -> None:
    options = {"compress": "zlib", "level": "9", "compress_from": "100", "limits": {"depth": "3", "bytes": 10_000}}
    codec = codec_from(options)
    assert codec.loads(codec.dumps([[1]])) == [[1]]
    with pytest.raises(npser.LimitError):
        codec.loads(npser.dumps([[[[[[1, "a"], "b"], "c"], "d"], "e"], "f"]))
    assert len(codec.dumps([f"{i} of a thousand" for i in range(1000)])) < len(
        npser.dumps([f"{i} of a thousand" for i in range(1000)])
    )
    given = npser.Limits(depth=7)
    assert repr(codec_from({"limits": given})) == f"Codec(limits={given!r})"


def test_functions_are_paths() -> None:
    assert codec_from({"default": "builtins.str"}).loads(codec_from({"default": "builtins.str"}).dumps(print)) == str(
        print
    )
    assert entries_from({"foreign": "json.loads", "compress": "zlib"}).loads(b"[1]") == [1]
    assert entries_from({"foreign": json.loads}).loads(b"[1]") == [1]
    assert entries_from({"foreign": "pickle"}).loads(pickle.dumps([1])) == [1]
    assert entries_from({}).loads(b"[1]", miss="miss") == "miss"
    assert entries_from({"key": KEY}).keyed


def test_an_option_that_there_is_not_is_refused_with_the_list() -> None:
    with pytest.raises(TypeError, match=r"no option 'clases'; the options are: checksum, classes, .*wire$"):
        codec_from({"clases": []})
    with pytest.raises(TypeError, match="no option 'foreign'"):
        codec_from({"foreign": "miss"})
    with pytest.raises(TypeError, match="foreign"):
        entries_from({"SERIALIZER": "x"})
    with pytest.raises(ValueError, match="compress"):
        codec_from({"compress": "zip"})
    with pytest.raises(TypeError, match="takes classes"):
        codec_from({"classes": ["json.loads"]})


@pytest.mark.parametrize("path", ["nowhere.at.all", "json.nothing", "json", "", ".", "json:", ":loads"])
def test_a_path_that_names_nothing_is_an_import_error(path: str) -> None:
    with pytest.raises(ImportError):
        imported(path)


def test_counters_lose_nothing_between_threads() -> None:
    counters = Counters()

    def work() -> None:
        for _ in range(1000):
            counters.count(hits=1, bytes_read=3)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counters.hits, counters.bytes_read) == (8000, 24000)
    assert counters.as_dict()["hit_rate"] == 1.0
    counters.reset()
    assert counters.as_dict() == Counters().as_dict()
