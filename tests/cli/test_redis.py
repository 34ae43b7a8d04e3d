"""`npser redis` against a real server: what it finds, that it stays within its bounds, and that it changes nothing."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import npser
from npser.cli import redis as reading
from npser.cli.app import app
from npser.cli.demo_values import flights
from npser.cli.redis import Entry, open_store
from npser.cli.refusal import ConvertError
from npser.cli.stored import Pickles
from npser.cli.survey import survey

runner = CliRunner()
ROWS = flights()[:40]


def call(*arguments: object, code: int = 0) -> str:
    result = runner.invoke(app, ["redis", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def groups(*arguments: object) -> dict[tuple[str, str], dict[str, Any]]:
    found = json.loads(call(*arguments, "--json"))
    return {(group["prefix"], group["codec"]): group for group in found["groups"]}


@pytest.fixture
def client(redis_url: str) -> Iterator[Any]:
    redis = pytest.importorskip("redis", reason="the redis extra is not installed")
    with redis.Redis.from_url(redis_url) as client:
        yield client


class Loud:
    """An object whose pickle says so when it is loaded."""

    def __reduce__(self) -> Any:
        return (print, ("loaded",))


# ------------------------------------------------------------------------------------------------------------ findings


def test_bytes_by_prefix_and_codec(client: Any, redis_url: str) -> None:
    page = json.dumps(ROWS)
    for i in range(20):
        client.set(f"page:{i}:html", page)
        client.set(f"user:{i}:cart", pickle.dumps({"items": list(range(i))}))
    client.set("motd", "hello")
    client.set("visits", 17)
    found = groups(redis_url)
    pages = found["page:*:html", "JSON"]
    assert (pages["keys"], pages["nbytes"], pages["decoded"], pages["before"]) == (20, 20 * len(page), 20, 20 * len(page))
    assert pages["plain"] == 20 * len(npser.dumps(ROWS))
    assert pages["packed"] == 20 * len(npser.Codec(compress="zlib").dumps(ROWS))
    assert pages["memory"] == sum(client.memory_usage(f"page:{i}:html") for i in range(20))
    carts = found["user:*:cart", "pickle"]
    assert (carts["keys"], carts["decoded"], carts["plain"]) == (20, 0, 0)
    assert found["motd", "text"]["nbytes"] == 5
    assert found["visits", "int"]["nbytes"] == 2
    assert set(found) == {("page:*:html", "JSON"), ("user:*:cart", "pickle"), ("motd", "text"), ("visits", "int")}


def test_every_codec_is_recognised(client: Any, redis_url: str) -> None:
    file = io.BytesIO()
    np.save(file, np.arange(100))
    stored = {
        "npser": npser.dumps(ROWS),
        "npser sealed": npser.dumps_signed(ROWS, bytes(32)),
        "npser compressed": npser.Codec(compress="zlib").dumps(ROWS),
        "npser, damaged": npser.dumps(ROWS)[:-40],
        "pickle": pickle.dumps(ROWS),
        "JSON": b'{"id": 1}',
        "phpser": bytes.fromhex("01000302"),
        "igbinary": b"\x00\x00\x00\x02\x06\x07",
        "gzip(JSON)": gzip.compress(b"[1, 2]"),
        "zlib(pickle)": zlib.compress(pickle.dumps(ROWS)),
        "npy": file.getvalue(),
        "text": "größe".encode(),
        "int": b"-12",
        "empty": b"",
        "binary": b"\xf3\xf3\x00\x01",
    }
    for name, data in stored.items():
        client.set(name, data)
    client.hset("hash", mapping={"a": 1})
    client.lpush("list", "a")
    with open_store(redis_url) as store:
        entries = list(store.entries("*", 1000, 1 << 20))
        for entry in entries:
            (group,) = survey([entry], Pickles.LEAVE).groups
            name = entry.name.decode()
            assert group.codec == (f"({name})" if name in ("hash", "list") else name)
    assert {entry.name.decode() for entry in entries} == {*stored, "hash", "list"}
    text = call(redis_url)
    assert max(map(len, text.splitlines())) <= 100
    assert f"{len(stored) + 2} of {len(stored) + 2} keys, *: every key that fits" in text
    assert "igbinary: it has no reader here" in text


def test_pickles_are_left_alone_unless_they_are_trusted(client: Any, redis_url: str) -> None:
    client.set("a", pickle.dumps(Loud()))
    client.set("b", zlib.compress(pickle.dumps(Loud())))
    text = call(redis_url)
    assert "loaded" not in text
    assert "only with --pickles trust" in text
    assert "loaded" in call(redis_url, "--pickles", "trust")
    client.flushall()
    client.set("a", pickle.dumps(ROWS))
    assert groups(redis_url, "--pickles", "trust")["a", "pickle"]["plain"] == len(npser.dumps(ROWS))


def test_what_npser_refuses_is_counted(client: Any, redis_url: str) -> None:
    client.set("a", pickle.dumps(len))
    text = call(redis_url, "--pickles", "trust")
    assert "1 not decoded: npser refuses it (EncodeError)" in text


def test_a_pattern(client: Any, redis_url: str) -> None:
    for i in range(30):
        client.set(f"a:{i}", i)
        client.set(f"b:{i}", i)
    assert set(groups(redis_url, "a:*")) == {("a:*", "int")}
    assert json.loads(call(redis_url, "nothing:*", "--json"))["total"]["keys"] == 0


def test_names_are_inert(client: Any, redis_url: str) -> None:
    client.set(b"\x1b[31m\xff\n", "x")
    client.set("k" * 5000, "x")
    text = call(redis_url)
    assert all(line.isprintable() for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 100


# -------------------------------------------------------------------------------------------------------------- bounds


def test_keys_are_bounded(client: Any, redis_url: str) -> None:
    client.mset({f"k:{i}": i for i in range(3000)})
    found = json.loads(call(redis_url, "--keys", 250, "--json"))
    assert found["total"]["keys"] == 250
    assert found["database_keys"] == 3000
    assert found["complete"] is False
    assert "a sample" in call(redis_url, "--keys", 250)


def test_bytes_are_bounded(client: Any, redis_url: str) -> None:
    big = json.dumps(list(range(20_000)))
    client.mset({f"k:{i}": big for i in range(10)})
    with open_store(redis_url) as store:
        entries = list(store.entries("*", 100, 3 * len(big)))
    assert [entry.whole for entry in entries] == [True] * 3 + [False] * 7
    assert sum(len(entry.data or b"") for entry in entries) <= 3 * len(big) + 7 * reading.HEAD
    assert sum(entry.nbytes or 0 for entry in entries) == 10 * len(big)
    found = groups(redis_url, "--bytes", 3 * len(big))
    assert found["k:*", "JSON"]["keys"] == 3
    assert found["k:*", "JSON?"]["nbytes"] == 7 * len(big)
    assert "7 not decoded: beyond the bytes that were to be read (--bytes)" in call(redis_url, "--bytes", 3 * len(big))


def test_a_rare_pattern_does_not_scan_for_ever(client: Any, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_PASSED", 2000)
    client.mset({f"k:{i}": i for i in range(10_000)})
    found = json.loads(call(redis_url, "no such key", "--json"))
    assert found["passed"] == 2000
    assert found["complete"] is False


def test_it_only_reads_and_never_asks_for_keys(client: Any, redis_url: str) -> None:
    client.set("a", "1", px=10_000_000)
    client.set("b", pickle.dumps([1]))
    client.hset("h", mapping={"a": 1})
    before = {name: (client.dump(name), client.pexpiretime(name)) for name in client.scan_iter()}
    client.config_resetstat()
    call(redis_url)
    called = {name.removeprefix("cmdstat_") for name in client.info("commandstats")}
    after = {name: (client.dump(name), client.pexpiretime(name)) for name in client.scan_iter()}
    assert before == after
    mine = {"select", "info", "config|resetstat", "hello", "client|setinfo", "client|setname", "command", "client|no-touch"}
    assert called - mine <= {"scan", "type", "strlen", "memory|usage", "getrange", "dbsize", "ping", "client|maint_notifications"}
    assert "scan" in called


# -------------------------------------------------------------------------------------------------------------- errors


def test_no_server_and_no_url(redis_url: str) -> None:
    text = call("redis://user:secret@127.0.0.1:1/0", code=1)
    assert text.startswith("npser: the Redis does not answer")
    assert "secret" not in text
    for url in ("http://user:secret@127.0.0.1/", "127.0.0.1", "redis://user:secret@127.0.0.1:port/0"):
        text = call(url, code=1)
        assert text.startswith("npser: not the URL of a Redis")
        assert "secret" not in text
    call(code=2)
    call(redis_url, "--keys", 0, code=2)
    call(redis_url, "--pickles", "perhaps", code=2)


def test_without_the_library_it_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "redis.py").write_text("raise ModuleNotFoundError(\"No module named 'redis'\", name='redis')\n")
    script = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, *{sys.path!r}]; from npser.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "redis", "redis://127.0.0.1:1/0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "npser: npser redis needs redis-py, install it with: pip install 'npser[redis]'\n"


def test_an_entry_knows_whether_it_is_whole() -> None:
    assert Entry(b"a", "string", 2, None, b"ab").whole
    assert not Entry(b"a", "string", 3, None, b"ab").whole
    assert not Entry(b"a", "hash", None, None, None).whole


def test_a_wrong_database_is_a_refusal(redis_url: str) -> None:
    with pytest.raises(ConvertError), open_store(redis_url.rpartition("/")[0] + "/9999"):
        pass
