"""Django's own Redis cache and its sessions over npser: a real project, a real Redis."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import pickle
import subprocess
import sys
import threading
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import npser

pytest.importorskip("django", reason="the django extra is not installed")
pytest.importorskip("redis", reason="the django extra is not installed")

sys.path.insert(0, str(Path(__file__).parent / "django_project"))

import redis
from django import conf
from django.core import signing
from django.core.cache import caches
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.test.utils import override_settings
from teashop.running import open_shop

from npser.adapters import django as adapter

VALUE = {"at": dt.datetime(2026, 5, 1, tzinfo=dt.UTC), (1, "a"): [Decimal("1.50"), {2, 3}, b"\x00", None, True]}


@pytest.fixture(autouse=True)
def shop(redis_url: str) -> None:
    open_shop(redis_url)


@pytest.fixture
def raw(redis_url: str) -> Any:
    with redis.Redis.from_url(redis_url) as client:
        yield client


def same(found: Any, value: Any) -> bool:
    return type(found) is type(value) and repr(found) == repr(value) and found == value


@pytest.fixture(params=["default", "serializer", "signed", "compressed"])
def cache(request: pytest.FixtureRequest) -> Any:
    return caches[request.param]


def test_values_come_back_as_they_were(cache: Any) -> None:
    cache.set("a", VALUE)
    assert same(cache.get("a"), VALUE)
    assert cache.get("b") is None
    assert cache.get("b", 7) == 7
    cache.set("none", None)
    assert cache.get("none", 7) is None
    for value in (True, False, 0, -1, 1 << 63, -(10**30), 0.5, "7", b"7", "", b"", [], {}, ()):
        cache.set("c", value)
        assert same(cache.get("c"), value)


def test_many(cache: Any) -> None:
    assert cache.set_many({"a": VALUE, "b": 2, "c": True}) == []
    found = cache.get_many(["a", "b", "c", "d"])
    assert found == {"a": VALUE, "b": 2, "c": True}
    assert found["c"] is True
    cache.delete_many(["a", "b"])
    assert cache.get_many(["a", "b", "c"]) == {"c": True}
    cache.clear()
    assert cache.get("c") is None


@pytest.mark.parametrize("cache", ["default", "serializer", "compressed"], indirect=True)
def test_ints_are_counted(cache: Any, raw: Any) -> None:
    cache.set("n", 5)
    assert raw.get(cache.make_key("n")) == b"5"
    assert (cache.incr("n"), cache.incr("n", 10), cache.decr("n", 3), cache.get("n")) == (6, 16, 13, 13)
    with pytest.raises(ValueError):
        cache.incr("missing")
    cache.set("flag", True)
    assert raw.get(cache.make_key("flag"))[:1] == b"\xc1"
    with pytest.raises(redis.ResponseError):
        cache.incr("flag")


def test_with_a_key_ints_are_sealed_as_everything_is(raw: Any) -> None:
    cache = caches["signed"]
    cache.set("n", 5)
    assert raw.get(cache.make_key("n"))[:1] == b"\xc1" and cache.get("n") == 5
    with pytest.raises(redis.ResponseError):
        cache.incr("n")
    raw.set(cache.make_key("n"), b"7")
    assert cache.get("n", "miss") == "miss", "anybody could have put it there"


def test_the_rest_of_the_interface(cache: Any) -> None:
    assert cache.add("a", VALUE)
    assert not cache.add("a", 1)
    assert same(cache.get("a"), VALUE)
    assert cache.touch("a", 50) and not cache.touch("b", 50)
    assert cache.has_key("a") and "b" not in cache
    assert same(cache.get_or_set("c", lambda: VALUE), VALUE)
    assert same(cache.get_or_set("c", 1), VALUE)
    cache.set("v", VALUE, version=2)
    assert cache.get("v") is None
    assert same(cache.get("v", version=2), VALUE)
    assert cache.incr_version("v", version=2) == 3
    assert same(cache.get("v", version=3), VALUE)
    assert cache.decr_version("v", version=3) == 2
    assert cache.delete("v", version=2) and not cache.delete("v", version=2)
    cache.set("gone", 1, timeout=0)
    assert cache.get("gone") is None
    cache.set("ever", VALUE, timeout=None)
    assert same(cache.get("ever"), VALUE)


def test_asynchronously(cache: Any) -> None:
    async def run() -> Any:
        await cache.aset("a", VALUE)
        await cache.aset("n", 1)
        return await cache.aget("a"), await cache.aincr("n"), await cache.aget_or_set("b", 3)

    assert asyncio.run(run()) == (VALUE, 2, 3)


def test_expiry_is_that_of_redis(cache: Any, raw: Any) -> None:
    cache.set("a", VALUE, timeout=30)
    assert 0 < raw.ttl(cache.make_key("a")) <= 30


def test_what_is_not_exact_is_refused(cache: Any) -> None:
    class Odd(str):
        pass

    with pytest.raises(npser.EncodeError, match="Odd"):
        cache.set("a", {"deep": [Odd("x")]})


def test_another_process_reads_it(redis_url: str) -> None:
    from teashop.models import Steep

    caches["default"].set("a", {"steep": Steep(3.5, ("mild",)), "at": VALUE["at"]})
    program = "from django.core.cache import cache; print(cache.get('a')); cache.set('b', (cache.get('a')['steep'],))"
    run = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "django_project/manage.py"), "shell", "-v", "0", "-c", program],
        env={**os.environ, "TEASHOP_REDIS": redis_url},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == repr(caches["default"].get("a"))
    assert caches["default"].get("b") == (Steep(3.5, ("mild",)),)


# what cannot be read


POISON = [b"", b"\xc1", b"rubbish", b"\xff" * 40, b"{}", b"\x00", b"\xc1" + b"\xff" * 30, b"1_0", b" 12"]


@pytest.mark.parametrize("poison", [*POISON, pickle.dumps(VALUE), "truncated", "signed by another"])
def test_what_cannot_be_read_is_a_miss(poison: Any, raw: Any) -> None:
    cache = caches["default"]
    caches["signed by another" if poison == "signed by another" else "default"].set("a", VALUE)
    key = cache.make_key("a")
    if poison != "signed by another":
        raw.set(key, raw.get(key)[:-3] if poison == "truncated" else poison)
    cache.set("b", 2)
    assert cache.get("a") is None
    assert cache.get("a", "default") == "default"
    assert cache.get_many(["a", "b"]) == {"b": 2}
    assert caches["serializer"].get("a", "default") is None  # Django's client leaves it no other way
    assert same(cache.get_or_set("a", lambda: VALUE), VALUE)
    assert same(cache.get("a"), VALUE)  # the poison is gone


def test_every_truncation_is_a_miss(raw: Any) -> None:
    for name in ("default", "signed", "compressed"):
        cache = caches[name]
        cache.set("a", [VALUE] * 20)
        entry = raw.get(cache.make_key("a"))
        for cut in range(0, len(entry), max(1, len(entry) // 50)):
            raw.set(cache.make_key("a"), entry[:cut])
            assert cache.get("a", "miss") == "miss"


def test_add_leaves_what_can_be_read(raw: Any) -> None:
    cache = caches["default"]
    raw.set(cache.make_key("lock"), b"7")
    assert not cache.add("lock", 1)
    raw.set(cache.make_key("lock"), b"rubbish", ex=1000)
    assert cache.add("lock", 1, timeout=20)
    assert 0 < raw.ttl(cache.make_key("lock")) <= 20
    assert not cache.add("lock", 2)


def test_only_one_of_many_replaces_what_cannot_be_read(raw: Any) -> None:
    raw.set(caches["default"].make_key("lock"), b"rubbish")
    gate = threading.Barrier(6)
    won: list[int] = []

    def compete(number: int) -> None:
        cache = caches["default"]  # one a thread
        gate.wait()
        if cache.add("lock", number):
            won.append(number)
        caches.close_all()

    threads = [threading.Thread(target=compete, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert caches["default"].get("lock") == won[0]


def test_the_reason_for_a_miss_is_logged(raw: Any, caplog: pytest.LogCaptureFixture) -> None:
    raw.set(caches["default"].make_key("a"), b"\xc1\xff\xff")
    assert caches["default"].get("a") is None
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("npser.adapters", "WARNING")


# keys


def test_a_sealed_cache_reads_nothing_else() -> None:
    caches["default"].set("a", VALUE)
    assert caches["signed"].get("a", "miss") == "miss"
    caches["signed by another"].set("a", VALUE)
    assert caches["signed"].get("a", "miss") == "miss"
    caches["signed"].set("a", VALUE)
    assert caches["default"].get("a", "miss") == "miss"
    assert same(caches["signed"].get("a"), VALUE)


def under(settings: dict[str, Any]) -> Any:
    """The signed cache as a process of other settings has it."""
    with override_settings(**settings):
        cache = caches.create_connection("signed")
        cache.set("made_ready", [1])
    return cache


def test_the_key_is_derived_from_the_secret_and_rotates(raw: Any) -> None:
    secret = conf.settings.SECRET_KEY
    cache = under({})
    cache.set("a", VALUE)
    with pytest.raises(npser.SignatureError):
        npser.loads_signed(raw.get(cache.make_key("a")), secret.encode())
    later = under({"SECRET_KEY": "another secret, of the time after that one", "SECRET_KEY_FALLBACKS": [secret]})
    assert same(later.get("a"), VALUE)
    later.set("a", [VALUE])
    assert cache.get("a", "miss") == "miss"
    assert under({"SECRET_KEY": "another secret, of the time after that one"}).get("a") == [VALUE]


# the serializer before


def test_a_switch_without_a_flush() -> None:
    old, new, reading = caches["pickle"], caches["default"], caches["unpickling"]
    old.set_many({"a": VALUE, "n": 7, "big": 10**30})
    assert new.get("a", "miss") == "miss"
    assert (new.get("n"), new.incr("n")) == (7, 8)
    assert same(reading.get("a"), VALUE)
    assert reading.get_many(["a", "n"]) == {"a": VALUE, "n": 8}
    assert not reading.add("a", 1)  # it can be read, so it is there
    with pytest.raises(npser.ForeignBytesError, match="pickle"):
        caches["refusing"].get("a")
    reading.set("a", [VALUE])
    assert new.get("a") == [VALUE]
    assert new.get_or_set("fresh", VALUE) == VALUE


def test_a_function_reads_the_entries_of_another_program(raw: Any) -> None:
    serializer = adapter.Serializer(foreign="json.loads")
    raw.set("a", b'{"a": [1]}')
    assert serializer.loads(raw.get("a")) == {"a": [1]}
    assert serializer.loads(b"{", miss="miss") == "miss"


# classes


def test_model_instances() -> None:
    from teashop.models import Grower, Label, Tea

    grower = Grower.objects.create(name="Ann")
    for name in ("assam", "sencha"):
        Tea.objects.create(name=name, price=Decimal("3.10"), grower=grower, picked=VALUE["at"], label=b"\x00\x01")
    teas = list(Tea.objects.select_related("grower").order_by("name"))
    cache = caches["default"]
    cache.set("teas", teas)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cache.get("teas")
    assert found == teas and type(found[0]) is Tea
    assert vars(found[0]).keys() == vars(teas[0]).keys()
    assert vars(found[0]._state).keys() == vars(teas[0]._state).keys()
    assert getattr(found[0]._state, "fetch_mode", None) is getattr(teas[0]._state, "fetch_mode", None)
    assert [(tea.name, tea.price, tea.picked, bytes(tea.label)) for tea in found] == [
        ("assam", Decimal("3.10"), VALUE["at"], b"\x00\x01"),
        ("sencha", Decimal("3.10"), VALUE["at"], b"\x00\x01"),
    ]
    assert found[0].grower.name == "Ann" and "grower" in found[0]._state.fields_cache
    assert found[0]._state.db == "default" and not found[0]._state.adding
    found[0].name = "assam, second flush"
    found[0].save()
    assert Tea.objects.count() == 2

    deferred = Tea.objects.only("name").first()
    cache.set("tea", deferred)
    assert cache.get("tea").get_deferred_fields() == deferred.get_deferred_fields() != set()
    assert cache.get("tea").price == Decimal("3.10")  # from the database

    label = Label.objects.create(grower=grower, text="organic")
    both = adapter.Serializer(classes=[Grower, Label])
    back = both.loads(both.dumps(Label.objects.select_related("grower").get(pk=label.pk)))
    assert back.grower.label is back


def test_an_object_of_a_class_that_is_not_listed_is_a_miss(caplog: pytest.LogCaptureFixture) -> None:
    from teashop.models import Steep, Tea

    caches["default"].set_many({"steep": [Steep(2.0)], "tea": Tea(name="assam", price=1)})
    assert caches["default"].get("steep") == [Steep(2.0)]
    assert caches["without classes"].get("steep", "miss") == "miss"
    assert "Steep" in caplog.text
    assert caches["without classes"].get("tea", "miss") == "miss"


def test_two_versions_of_a_class_at_once() -> None:
    def first() -> type:
        @npser.register(name="teashop.Order", version=1)
        class Order:
            def __init__(self, total: float) -> None:
                self.total = total

        return Order

    def second() -> type:
        def to_cents(fields: dict[str, Any], version: int) -> dict[str, Any]:
            return {"cents": round(100 * fields["total"]), "currency": "EUR"} if version < 2 else fields

        @npser.register(name="teashop.Order", version=2, upgrade=to_cents)
        class Order:
            cents: int
            currency: str

        return Order

    cache = caches["default"]
    old = first()
    try:
        cache.set("a", old(1.5))
        npser.unregister(old)
        new = second()
        found = cache.get("a")
        assert type(found) is new and (found.cents, found.currency) == (150, "EUR")
        cache.set("b", found)
        npser.unregister(new)
        old = first()
        assert cache.get("a").total == 1.5
        assert vars(cache.get("b")) == {"cents": 150, "currency": "EUR"}  # the fields of the newer program
    finally:
        npser.unregister(old)


# faults of the server


def test_the_server_is_started_again(redis_server: Any) -> None:
    cache = caches["default"]
    cache.set("a", VALUE)
    redis_server.restart()
    assert cache.get("a") is None
    cache.set("a", VALUE)
    assert same(cache.get("a"), VALUE)


def test_a_server_that_is_gone_is_an_error_of_redis(redis_server: Any) -> None:
    cache = caches["default"]
    cache.set("a", VALUE)
    redis_server.stop()
    try:
        with pytest.raises(redis.ConnectionError):
            cache.get("a")
    finally:
        redis_server.start()
    assert cache.get("a", "miss") == "miss"


def test_text_instead_of_bytes_is_an_error_at_once() -> None:
    with pytest.raises(ImproperlyConfigured, match="decode_responses"):
        caches["text"].get("a")
    with pytest.raises(npser.DecodeError):
        adapter.Serializer().loads("text")


def test_wrong_options_are_refused() -> None:
    with pytest.raises(TypeError, match="compresss"):
        adapter.Serializer(compresss="zlib").dumps([1])
    with pytest.raises(ImportError, match="Nothing"):
        adapter.Serializer(classes=["teashop.models.Nothing"]).dumps([1])


# pages, fragments


def test_a_page_is_cached() -> None:
    client = Client()
    first = client.get("/page")
    second = client.get("/page")
    assert first.content == second.content and first.content.startswith(b'{"made"')
    assert type(second) is type(first) and second["X-Tea"] == "green" and second["Content-Type"] == "application/json"
    assert second.cookies.output() == first.cookies.output()
    assert second.cookies["seen"]["httponly"] is True and second.cookies["seen"].value == "yes; really"
    assert {name: text for name, text in second.headers.items() if name != "Age"} == dict(first.headers)
    caches["default"].clear()
    assert client.get("/page").content != first.content


def test_a_page_of_a_template_is_cached() -> None:
    client = Client()
    first = client.get("/template-page")
    assert b"<p>made" in first.content
    assert client.get("/template-page").content == first.content
    caches["default"].clear()
    assert client.get("/template-page").content != first.content


def test_a_fragment_is_cached() -> None:
    from django.utils.safestring import SafeString

    client = Client()
    first = client.get("/fragment").content
    assert b"<b>made" in first
    assert client.get("/fragment").content == first
    caches["default"].set("safe", SafeString("<b>"))
    assert type(caches["default"].get("safe")) is SafeString


# sessions


ENGINES = ["cache", "cached_db", "db", "file", "signed_cookies"]
BASKET = {("tea", 3): (dt.datetime(2026, 5, 1, tzinfo=dt.UTC), {3}, b"\x00")}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    name = f"django.contrib.sessions.backends.{request.param}"
    with override_settings(SESSION_ENGINE=name, SESSION_FILE_PATH=str(tmp_path)):
        yield request.param


def test_sessions_over_requests(engine: str) -> None:
    client, other = Client(), Client()
    assert client.get("/basket").content == b"None"
    client.get("/basket/tea/3")
    assert client.get("/basket").content.decode() == repr(BASKET)
    client.get("/basket/milk/1")
    assert client.get("/basket").content.decode().startswith(repr(BASKET)[:-1] + ", ('milk', 1)")
    assert other.get("/basket").content == b"None"


def test_somebody_logs_in(engine: str) -> None:
    from django.contrib.auth.models import User

    User.objects.get_or_create(username="ada")
    client = Client()
    assert client.get("/whoami").content == b"AnonymousUser"
    client.get("/login")
    assert client.get("/whoami").content == b"ada"


@pytest.mark.parametrize("engine", ["cached_db", "db", "file", "signed_cookies"], indirect=True)
def test_sessions_of_the_serializer_before_are_read(engine: str) -> None:
    from django.contrib.auth.models import User

    User.objects.get_or_create(username="ada")
    client = Client()
    with override_settings(SESSION_SERIALIZER="django.contrib.sessions.serializers.JSONSerializer"):
        client.get("/login")
    caches["default"].clear()
    client.handler._middleware_chain = None
    assert client.get("/whoami").content == b"ada"
    client.get("/basket/tea/3")
    assert client.get("/basket").content.decode() == repr(BASKET)
    assert client.get("/whoami").content == b"ada"


@pytest.mark.parametrize("engine", ["signed_cookies"], indirect=True)
def test_a_cookie_that_somebody_changed_is_an_empty_session(engine: str) -> None:
    client = Client()
    client.get("/basket/tea/3")
    cookie = client.cookies["sessionid"].value
    for changed in (cookie[:10] + "AAAA" + cookie[14:], cookie[:20], "", "a:b:c"):
        client.cookies["sessionid"] = changed
        assert client.get("/basket").content == b"None"
    client.cookies["sessionid"] = cookie
    assert client.get("/basket").content.decode() == repr(BASKET)


@pytest.mark.parametrize("engine", ["cache"], indirect=True)
def test_a_poisoned_session_is_an_empty_one(engine: str, raw: Any) -> None:
    client = Client()
    client.get("/basket/tea/3")
    (key,) = raw.keys()
    raw.set(key, raw.get(key)[:-2])
    assert client.get("/basket").content == b"None"
    client.get("/basket/tea/3")
    assert client.get("/basket").content.decode() == repr(BASKET)


def test_sessions_are_sealed_once_by_django() -> None:
    with override_settings(NPSER={"key": "SECRET_KEY", "compress": "zlib"}):
        assert npser.loads(adapter.SessionSerializer().dumps(VALUE)) == VALUE


def test_signing_takes_the_serializer_of_sessions() -> None:
    token = signing.dumps(VALUE, serializer=adapter.SessionSerializer, compress=True)
    assert same(signing.loads(token, serializer=adapter.SessionSerializer), VALUE)
    with pytest.raises(signing.BadSignature):
        signing.loads(token[:-1] + "!", serializer=adapter.SessionSerializer)
