"""Flask-Caching over npser: views, functions, templates and the cache itself, of real apps."""

from __future__ import annotations

import datetime as dt
import itertools
import pickle
import time
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import npser

pytest.importorskip("flask_caching", reason="the flask-caching extra is not installed")
pytest.importorskip("redis", reason="the flask-caching extra is not installed")

import redis
from flask import Flask, Response, jsonify, render_template_string
from flask_caching import Cache
from markupsafe import Markup

from npser.adapters.cachelib import RedisSerializer
from servers import Server, found, free_port

VALUE = {"at": dt.datetime(2026, 5, 1, tzinfo=dt.UTC), (1, "a"): [Decimal("1.50"), {2, 3}, b"\x00", None, True]}
HERE = "npser.adapters.flask_caching"


@dataclass
class Order:
    id: int
    items: tuple[str, ...] = ()


def same(found: Any, value: Any) -> bool:
    return type(found) is type(value) and repr(found) == repr(value) and found == value


@pytest.fixture
def settings(redis_url: str, tmp_path: Path) -> dict[str, Any]:
    return {
        "SECRET_KEY": "the secret of the tea shop",
        "CACHE_REDIS_URL": redis_url,
        "CACHE_DIR": str(tmp_path / "cache"),
        "CACHE_TYPE": f"{HERE}.RedisCache",
    }


@pytest.fixture
def raw(redis_url: str) -> Any:
    with redis.Redis.from_url(redis_url) as client:
        yield client


def shop(settings: dict[str, Any], **more: Any) -> tuple[Flask, Cache]:
    app = Flask("shop")
    app.config.from_mapping(settings, **more)
    cache = Cache(app)
    made = itertools.count(1)

    @app.get("/text")
    @cache.cached(60)
    def text() -> str:
        return f"made {next(made)}"

    @app.get("/json")
    @cache.cached(60, query_string=True)
    def json() -> Any:
        response = jsonify(made=next(made), at=[1, 2])
        response.headers["X-Tea"] = "green"
        response.set_cookie("seen", "yes; really", max_age=60)
        return response

    @app.get("/tuple")
    @cache.cached(60)
    def several() -> Any:
        return {"made": next(made)}, 201, {"X-Tea": "black"}

    @app.get("/none")
    @cache.cached(60, cache_none=True, key_prefix="none", make_cache_key=lambda: "none")
    def none() -> Any:
        return f"made {next(made)}"

    @app.get("/fragment")
    def fragment() -> str:
        source = "{% cache 60, 'tea' %}<b>made {{ next(made) }}</b>{% endcache %}{{ after }}"
        return render_template_string(source, next=next, made=made, after="<i>")

    return app, cache


@pytest.fixture(params=["RedisCache", "FileSystemCache", "SimpleCache", "sealed", "compressed"])
def opened(request: pytest.FixtureRequest, settings: dict[str, Any]) -> Any:
    npser_options = {"sealed": {"key": "SECRET_KEY"}, "compressed": {"compress": "zlib", "compress_from": 100}}
    kind = "RedisCache" if request.param in npser_options else request.param
    app, cache = shop(settings, CACHE_TYPE=f"{HERE}.{kind}", NPSER=npser_options.get(request.param, {}))
    with app.app_context():
        yield app, cache


def test_the_interface(opened: Any) -> None:
    app, cache = opened
    for value in (VALUE, None, True, False, 0, -1, 1 << 63, -(10**30), 0.5, "7", b"7", "", b"", [], {}, (), Markup("<b>")):
        cache.set("a", value)
        assert same(cache.get("a"), value)
        assert cache.has("a")
    assert cache.get("b") is None and not cache.has("b")
    assert cache.set_many({"a": VALUE, "n": 2, "c": True}) == ["a", "n", "c"]
    assert cache.get_many("a", "n", "c", "d") == [VALUE, 2, True, None]
    assert cache.get_dict("a", "d") == {"a": VALUE, "d": None}
    if "key" not in app.config["NPSER"]:  # what is sealed is not counted
        assert (cache.cache.inc("n"), cache.cache.dec("n", 5), cache.get("n")) == (3, -2, -2)
    assert not cache.add("a", 1) and cache.add("fresh", VALUE)
    assert cache.delete("a") and not cache.has("a")
    assert cache.delete_many("n", "c") == ["n", "c"]
    cache.clear()
    assert cache.get("fresh") is None


def test_views_are_cached(opened: Any) -> None:
    app, cache = opened
    client = app.test_client()
    for page in ("/text", "/json?tea=1", "/tuple", "/none", "/fragment"):
        first, second = client.get(page), client.get(page)
        assert b"made" in first.data
        assert (second.status, second.data, list(second.headers)) == (first.status, first.data, list(first.headers))
        cache.clear()
        assert client.get(page).data != first.data
    assert client.get("/json?tea=2").headers["X-Tea"] == "green"
    assert client.get("/json?tea=2").json["at"] == [1, 2]
    assert client.get("/fragment").data.endswith(b"</b>&lt;i&gt;")


def test_responses_of_the_apps_own_class_are_cached(settings: dict[str, Any]) -> None:
    class Reply(Response):
        default_mimetype = "text/plain"

    app = Flask("shop")
    app.response_class = Reply
    app.config.from_mapping(settings)
    cache = Cache(app)

    with app.app_context():
        cache.set("a", app.response_class("tea", 203))
        found = cache.get("a")
    assert (type(found), found.status_code, found.data, found.mimetype) == (Reply, 203, b"tea", "text/plain")


def test_functions_are_memoized(opened: Any) -> None:
    _, cache = opened
    calls = []

    @cache.memoize(60)
    def total(count: int, of: str = "tea") -> Any:
        calls.append(count)
        return {"count": count, "of": (of,)}

    assert total(3) == total(3) == {"count": 3, "of": ("tea",)}
    assert calls == [3]
    cache.delete_memoized(total, 3)
    total(3)
    total(4)
    assert calls == [3, 3, 4]
    cache.delete_memoized(total)
    total(4)
    assert calls == [3, 3, 4, 4]


def test_ints_are_text_in_redis(settings: dict[str, Any], raw: Any) -> None:
    _, cache = shop(settings)
    cache.set("n", 7)
    cache.set("flag", True)
    assert (raw.get("flask_cache_n"), raw.get("flask_cache_flag")[:1]) == (b"7", b"\xc1")


# what cannot be read


@pytest.mark.parametrize("poison", [b"", b"\xc1", b"rubbish", b"!", b"{}", b"\xff" * 40, b"\xc1\xff\xff", "truncated"])
@pytest.mark.parametrize("kind", ["RedisCache", "FileSystemCache"])
def test_what_cannot_be_read_is_a_miss(settings: dict[str, Any], raw: Any, kind: str, poison: Any) -> None:
    app, cache = shop(settings, CACHE_TYPE=f"{HERE}.{kind}", CACHE_KEY_PREFIX="")
    client = app.test_client()
    first = client.get("/none").data

    def spoil(entry: bytes) -> bytes:
        return entry[:-2] if poison == "truncated" else poison

    if kind == "RedisCache":
        raw.set("none", spoil(raw.get("none")))
    else:
        path = Path(cache.cache._get_filename("none"))
        data = path.read_bytes()
        path.write_bytes(data[:4] + spoil(data[4:]))
    assert cache.get("none") is None and not cache.has("none")
    second = client.get("/none")
    assert (second.status_code, second.data != first) == (200, True)
    assert client.get("/none").data == second.data
    cache.set("none", None)
    assert cache.has("none")


def test_the_key_is_derived_from_the_secret_and_rotates(settings: dict[str, Any], raw: Any) -> None:
    sealed = settings | {"NPSER": {"key": "SECRET_KEY"}}
    _, cache = shop(sealed)
    cache.set("a", VALUE)
    secret = settings["SECRET_KEY"]
    with pytest.raises(npser.SignatureError):
        npser.loads_signed(raw.get("flask_cache_a"), secret.encode())
    new = "another secret, of the time after that one"
    _, later = shop(sealed | {"SECRET_KEY": new, "SECRET_KEY_FALLBACKS": [secret]})
    assert same(later.get("a"), VALUE)
    later.set("a", [VALUE])
    assert cache.get("a") is None
    assert shop(sealed | {"SECRET_KEY": new})[1].get("a") == [VALUE]
    assert shop(settings)[1].get("a") is None
    with pytest.raises(ValueError, match="SECRET_KEY"):
        shop(sealed | {"SECRET_KEY": None})


# the serializer before


def test_a_switch_without_a_flush(settings: dict[str, Any]) -> None:
    for kind in ("RedisCache", "FileSystemCache"):
        _, old = shop(settings, CACHE_TYPE=kind)
        old.set_many({"a": VALUE, "n": 7})
        _, new = shop(settings, CACHE_TYPE=f"{HERE}.{kind}")
        _, reading = shop(settings, CACHE_TYPE=f"{HERE}.{kind}", NPSER={"foreign": "pickle"})
        assert new.get("a") is None and not new.has("a")
        assert same(reading.get("a"), VALUE) and reading.has("a")
        assert reading.get("n") == 7
        reading.set("a", [VALUE])
        assert new.get("a") == [VALUE]


def test_pickles_are_not_loaded_unasked(settings: dict[str, Any], raw: Any) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return pytest.fail, ("it was unpickled",)

    _, cache = shop(settings, NPSER={"foreign": "miss"})
    for entry in (pickle.dumps(Bomb()), b"!" + pickle.dumps(Bomb())):
        raw.set("flask_cache_a", entry)
        assert cache.get("a") is None


# options


def test_objects_of_listed_classes(settings: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    _, cache = shop(settings, NPSER={"classes": [Order]})
    cache.set("a", [Order(1, ("tea",))])
    assert cache.get("a") == [Order(1, ("tea",))]
    _, other = shop(settings)
    assert other.get("a") is None
    assert "Order" in caplog.text
    _, own = shop(settings, CACHE_OPTIONS={"npser": {"classes": {f"{__name__}:Order": Order}}}, CACHE_REDIS_URL=None)
    assert type(own.cache.serializer) is RedisSerializer


def test_two_versions_of_a_class_at_once(settings: dict[str, Any]) -> None:
    @dataclass
    class Newer:
        id: int
        items: tuple[str, ...] = ()
        currency: str = "EUR"

    name = f"{__name__}:Order"
    _, old = shop(settings, NPSER={"classes": [Order]})
    _, new = shop(settings, NPSER={"classes": {name: Newer}})
    old.set("a", Order(1, ("tea",)))
    assert new.get("a") == Newer(1, ("tea",), "EUR")
    npser.register(Newer, name=name)
    try:
        new.set("b", Newer(2, (), "CHF"))
    finally:
        npser.unregister(Newer)
    assert old.get("b") == Order(2)


def test_options_of_one_cache_alone(settings: dict[str, Any]) -> None:
    _, cache = shop(
        settings,
        CACHE_TYPE=f"{HERE}.FileSystemCache",
        CACHE_OPTIONS={"npser": {"compress": "zlib", "compress_from": 1}},
        NPSER={"key": "SECRET_KEY"},
    )
    cache.set("a", ["x"] * 99)
    assert "compress='zlib'" in repr(cache.cache.serializer.entries.codec)
    with pytest.raises(TypeError, match="compresss"):
        shop(settings, NPSER={"compresss": "zlib"})


def test_the_serializer_of_flask_cachings_own_cache(settings: dict[str, Any], raw: Any) -> None:
    for serializer in (RedisSerializer, RedisSerializer(classes=[Order])):
        _, cache = shop(settings, CACHE_TYPE="RedisCache", CACHE_SERIALIZER=serializer)
        if not hasattr(cache, "serializer"):
            pytest.skip("CACHE_SERIALIZER came with Flask-Caching 2.5")
        cache.set("a", VALUE)
        assert same(cache.get("a"), VALUE)
        assert raw.get("flask_cache_a")[:1] == b"\xc1"


# other ways to a Redis


@pytest.fixture
def sentinel(redis_server: Any, redis_url: str, tmp_path: Path) -> Any:
    port = free_port()
    settings = tmp_path / "sentinel.conf"
    settings.write_text(f"port {port}\nsentinel monitor mymaster {redis_server.host} {redis_server.port} 1\n")
    server = Server([found("redis-server"), str(settings), "--sentinel", "--bind", "127.0.0.1"], port)
    server.start()
    yield {"CACHE_REDIS_SENTINELS": [(server.host, port)]}
    server.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Any:
    port, bus = free_port(), free_port()
    command = [found("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    server = Server([*command, "--cluster-enabled", "yes", "--cluster-port", str(bus)], port)
    server.start()
    with redis.Redis(port=port) as client:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        while client.cluster("info")["cluster_state"] != "ok":
            time.sleep(0.05)
    yield {"CACHE_REDIS_CLUSTER": f"{server.host}:{port}", "CACHE_REDIS_URL": ""}
    server.stop()


@pytest.mark.parametrize("kind", ["sentinel", "cluster"])
def test_behind_sentinels_and_in_a_cluster(kind: str, settings: dict[str, Any], request: Any) -> None:
    more = request.getfixturevalue(kind)
    app, cache = shop(settings | more, CACHE_TYPE=f"{HERE}.Redis{kind.title()}Cache", NPSER={"classes": [Order]})
    cache.set("a", [Order(1)])
    assert cache.get("a") == [Order(1)]
    cache.set("n", 1)
    assert (cache.cache.inc("n"), cache.has("n"), cache.has("b")) == (2, True, False)
    client = app.test_client()
    assert client.get("/text").data == client.get("/text").data


# faults of the server


def test_the_server_is_started_again(settings: dict[str, Any], redis_server: Any) -> None:
    app, _ = shop(settings)
    client = app.test_client()
    first = client.get("/text").data
    assert client.get("/text").data == first
    redis_server.restart()
    assert client.get("/text").data != first
    redis_server.stop()
    try:
        assert client.get("/text").status_code == 200  # Flask-Caching logs it, and makes the page
    finally:
        redis_server.start()
    assert client.get("/text").data == client.get("/text").data


def test_text_instead_of_bytes_is_an_error(settings: dict[str, Any]) -> None:
    _, cache = shop(settings, CACHE_REDIS_URL=settings["CACHE_REDIS_URL"] + "?decode_responses=True")
    cache.set("n", 7)
    with pytest.raises(npser.DecodeError):
        cache.get("n")
