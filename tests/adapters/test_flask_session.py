"""Flask-Session over npser: sessions of real apps over requests, in Redis, memcached, a database and cachelib."""

from __future__ import annotations

import datetime as dt
import pickle
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import npser

pytest.importorskip("flask_session", reason="the flask-session extra is not installed")
pytest.importorskip("redis", reason="the flask-session extra is not installed")

import redis
from flask import Flask, flash, get_flashed_messages, session
from flask_session import Session as FlaskSession
from markupsafe import Markup

from npser.adapters.cachelib import FileSystemCache
from npser.adapters.flask_session import Session

BASKET = {("tea", 3): (dt.datetime(2026, 5, 1, tzinfo=dt.UTC), Decimal("1.50"), {3}, b"\x00")}


@dataclass
class Order:
    id: int


def shop(settings: dict[str, Any], extension: Any = Session, **more: Any) -> Flask:
    app = Flask("shop")
    app.config.from_mapping({"SECRET_KEY": "the secret of the tea shop", "TESTING": True, "SESSION_REFRESH_EACH_REQUEST": False, **settings, **more})
    extension(app)

    @app.get("/basket")
    def show() -> str:
        return repr(session.get("basket"))

    @app.get("/add/<name>/<int:count>")
    def add(name: str, count: int) -> str:
        basket = session.get("basket", {})
        basket[name, count] = (*BASKET["tea", 3][:2], {count}, b"\x00")
        session["basket"] = basket
        return "ok"

    @app.get("/plain")
    def plain() -> str:
        session["basket"] = {"tea": 3}
        return "ok"

    @app.get("/order")
    def order() -> str:
        session["basket"] = Order(7)
        return "ok"

    @app.get("/odd")
    def odd() -> str:
        session["basket"] = lambda: None
        return "ok"

    @app.get("/flash")
    def flashing() -> str:
        flash(Markup("<b>tea</b>"))
        return "ok"

    @app.get("/flashed")
    def flashed() -> str:
        return repr(get_flashed_messages())

    @app.get("/clear")
    def clear() -> str:
        session.clear()
        return "ok"

    return app


@pytest.fixture
def raw(redis_url: str) -> Any:
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def settings(raw: Any) -> dict[str, Any]:
    return {"SESSION_TYPE": "redis", "SESSION_REDIS": raw}


@pytest.fixture(params=["redis", "sealed", "compressed", "cachelib", "memcached", "sqlalchemy"])
def stored(request: pytest.FixtureRequest, settings: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    if request.param == "cachelib":
        return {"SESSION_TYPE": "cachelib", "SESSION_CACHELIB": FileSystemCache(str(tmp_path))}
    if request.param == "memcached":
        client = pytest.importorskip("pymemcache.client.base", reason="pymemcache is not installed")
        server = request.getfixturevalue("memcached_server")
        return {"SESSION_TYPE": "memcached", "SESSION_MEMCACHED": client.Client((server.host, server.port))}
    if request.param == "sqlalchemy":
        pytest.importorskip("flask_sqlalchemy", reason="Flask-SQLAlchemy is not installed")
        return {"SESSION_TYPE": "sqlalchemy", "SQLALCHEMY_DATABASE_URI": f"sqlite:///{tmp_path}/shop.sqlite"}
    options = {"sealed": {"key": "SECRET_KEY"}, "compressed": {"compress": "zlib", "compress_from": 10}}
    return settings | {"NPSER": options.get(request.param, {})}


def test_sessions_over_requests(stored: dict[str, Any]) -> None:
    app = shop(stored)
    client, other = app.test_client(), app.test_client()
    assert client.get("/basket").data == b"None"
    client.get("/add/tea/3")
    assert client.get("/basket").data.decode() == repr(BASKET)
    client.get("/add/milk/1")
    assert client.get("/basket").data.decode().startswith(repr(BASKET)[:-1] + ", ('milk', 1)")
    assert other.get("/basket").data == b"None"
    client.get("/clear")
    assert client.get("/basket").data == b"None"


def test_flashed_markup_stays_markup(stored: dict[str, Any]) -> None:
    client = shop(stored).test_client()
    client.get("/flash")
    assert client.get("/flashed").data == b"[Markup('<b>tea</b>')]"
    assert client.get("/flashed").data == b"[]"


def test_a_session_is_npsers(settings: dict[str, Any], raw: Any) -> None:
    client = shop(settings).test_client()
    client.get("/plain")
    (key,) = raw.keys()
    assert npser.loads(raw.get(key)) == {"basket": {"tea": 3}, "_permanent": True}
    assert raw.ttl(key) > 0


def test_the_application_factory(settings: dict[str, Any]) -> None:
    extension = Session()
    client = shop(settings, extension.init_app).test_client()
    client.get("/add/tea/3")
    assert client.get("/basket").data.decode() == repr(BASKET)


def test_what_is_not_exact_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(npser.EncodeError, match="function"):
        shop(settings).test_client().get("/odd")


# what cannot be read


@pytest.mark.parametrize(
    "poison",
    [b"\xc1", b"rubbish", b"{}", b"\x80", b"\xff" * 40, b"\xc1\xff\xff", npser.dumps([1]), npser.dumps(7), "truncated"],
)
def test_a_session_that_cannot_be_read_is_a_new_one(settings: dict[str, Any], raw: Any, poison: Any) -> None:
    client = shop(settings).test_client()
    client.get("/add/tea/3")
    (key,) = raw.keys()
    raw.set(key, raw.get(key)[:-2] if poison == "truncated" else poison)
    assert client.get("/basket").data == b"None"
    client.get("/add/tea/3")
    assert client.get("/basket").data.decode() == repr(BASKET)


def test_the_key_is_derived_from_the_secret_and_rotates(settings: dict[str, Any], raw: Any) -> None:
    sealed = settings | {"NPSER": {"key": "SECRET_KEY"}}
    app = shop(sealed)
    client = app.test_client()
    client.get("/add/tea/3")
    cookie = client.get_cookie("session").value

    def seen(more: dict[str, Any]) -> str:
        other = shop(sealed | more).test_client()
        other.set_cookie("session", cookie)
        return other.get("/basket").data.decode()

    new = "another secret, of the time after that one"
    assert seen({"SECRET_KEY": new, "SECRET_KEY_FALLBACKS": ["the secret of the tea shop"]}) == repr(BASKET)
    assert seen({"SECRET_KEY": new}) == "None"
    assert seen({"NPSER": {}}) == "None"
    assert seen({}) == repr(BASKET)


# the serializer before


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
def test_a_switch_without_a_flush(settings: dict[str, Any], encoding: str) -> None:
    before = shop(settings, FlaskSession, SESSION_SERIALIZATION_FORMAT=encoding).test_client()
    before.get("/plain")
    cookie = before.get_cookie("session").value

    def client(**options: Any) -> Any:
        client = shop(settings, NPSER=options).test_client()
        client.set_cookie("session", cookie)
        return client

    assert client().get("/basket").data == b"None"
    reading = client(foreign="flask-session")
    assert reading.get("/basket").data == b"{'tea': 3}"
    reading.get("/add/tea/3")
    assert reading.get("/basket").data.decode() == "{'tea': 3, " + repr(BASKET)[1:]
    assert client().get("/basket").data.decode() == "{'tea': 3, " + repr(BASKET)[1:]


def test_pickles_are_not_loaded_unasked(settings: dict[str, Any], raw: Any) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return pytest.fail, ("it was unpickled",)

    for options in ({}, {"foreign": "flask-session"}):
        client = shop(settings, NPSER=options).test_client()
        client.get("/plain")
        for key in raw.keys("session:*"):
            raw.set(key, pickle.dumps(Bomb()))
        assert client.get("/basket").data == b"None"
    client = shop(settings, NPSER={"foreign": "pickle"}).test_client()
    client.get("/plain")
    for key in raw.keys("session:*"):
        raw.set(key, pickle.dumps({"basket": 8}))
    assert client.get("/basket").data == b"8"


# options


def test_objects_of_listed_classes(settings: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    client = shop(settings, NPSER={"classes": [Order]}).test_client()
    client.get("/order")
    assert client.get("/basket").data == b"Order(id=7)"
    other = shop(settings).test_client()
    other.set_cookie("session", client.get_cookie("session").value)
    assert other.get("/basket").data == b"None"
    assert "Order" in caplog.text


def test_two_versions_of_a_class_at_once(settings: dict[str, Any]) -> None:
    @dataclass
    class Newer:
        id: int
        currency: str = "EUR"

    client = shop(settings, NPSER={"classes": [Order]}).test_client()
    client.get("/order")
    newer = shop(settings, NPSER={"classes": {f"{__name__}:Order": Newer}}).test_client()
    newer.set_cookie("session", client.get_cookie("session").value)
    assert newer.get("/basket").data.endswith(b"Newer(id=7, currency='EUR')")
    assert client.get("/basket").data == b"Order(id=7)"


def test_a_cache_that_pickles_is_refused(tmp_path: Path) -> None:
    from cachelib import FileSystemCache as Pickling

    with pytest.raises(ValueError, match="pickles"):
        shop({"SESSION_TYPE": "cachelib", "SESSION_CACHELIB": Pickling(str(tmp_path))})


def test_wrong_options_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="compresss"):
        shop(settings, NPSER={"compresss": "zlib"})


# faults of the server


def test_the_server_is_started_again(settings: dict[str, Any], redis_server: Any) -> None:
    client = shop(settings).test_client()
    client.get("/add/tea/3")
    redis_server.restart()
    assert client.get("/basket").data == b"None"
    client.get("/add/tea/3")
    assert client.get("/basket").data.decode() == repr(BASKET)
    redis_server.stop()
    try:
        with pytest.raises(redis.ConnectionError):
            client.get("/basket")
    finally:
        redis_server.start()
    assert client.get("/basket").data == b"None"


def test_text_instead_of_bytes_is_an_error(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url, decode_responses=True) as text:
        client = shop({"SESSION_TYPE": "redis", "SESSION_REDIS": text}).test_client()
        client.get("/plain")
        with pytest.raises(UnicodeDecodeError):
            client.get("/basket")
