"""kombu: the serializer named npser, by its entry point, through the registry, in memory and over Redis; and other messages."""

from __future__ import annotations

import datetime as dt
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

import pytest

pytest.importorskip("kombu", reason="the kombu extra is not installed")

import numpy as np
from kombu import Connection, Consumer, Exchange, Producer, Queue
from kombu.exceptions import ContentDisallowed, DecodeError, EncodeError
from kombu.serialization import dumps, loads, registry, unregister

import npser
import npser.adapters.kombu as adapter
from npser.adapters.kombu import CONTENT_TYPE, configure, register
from same import same

KEY = bytes(range(32))
OTHER = bytes(range(1, 33))


@dataclass
class Order:
    id: int
    items: tuple[str, ...]


VALUES: dict[str, Any] = {
    "none": None,
    "false": False,
    "zero": 0,
    "empty text": "",
    "empty bytes": b"",
    "no items": [],
    "nothing": {},
    "tuple": (1, (True, {3}), 0.5),
    "message": ((1, "köln"), {"page": 3}, {"chord": None}),
    "array": np.arange(12, dtype=">u2").reshape(3, 4),
    "when": dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    "order": Order(7, ("tea",)),
}


@pytest.fixture(autouse=True)
def configured() -> Iterator[None]:
    configure(classes=[Order])
    yield
    configure()


def through(value: Any, *, serializer: str = "npser") -> Any:
    content_type, encoding, body = dumps(value, serializer=serializer)
    assert type(body) is bytes and body
    return loads(body, content_type, encoding, accept={content_type})


def test_the_entry_point_is_what_kombu_has_loaded() -> None:
    assert [entry.value for entry in entry_points(group="kombu.serializers", name="npser")] == [
        "npser_kombu:serializer"
    ], "npser was installed before it had this entry point: install it again"
    assert registry.name_to_type["npser"] == CONTENT_TYPE == "application/x-npser"
    assert registry.type_to_name[CONTENT_TYPE] == "npser"
    assert dumps(1, serializer="npser") == (CONTENT_TYPE, "binary", npser.dumps(1))


def test_loading_it_imports_neither_kombu_nor_celery() -> None:
    program = "import sys, npser.adapters.kombu\nprint({'kombu', 'celery'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("name", VALUES)
def test_values_come_back_as_they_were(name: str) -> None:
    assert same(through(VALUES[name]), VALUES[name])


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda body: body.decode("utf-8", "surrogateescape")])
def test_bodies_come_in_every_kind_of_buffer(kind: Any) -> None:
    _, encoding, body = dumps(VALUES["message"], serializer="npser")
    assert same(loads(kind(body), CONTENT_TYPE, encoding), VALUES["message"])


BAD_BODIES = {
    "cut off": npser.dumps(VALUES["message"])[:-3],
    "longer": npser.dumps(1) + b"\0",
    "pickle": pickle.dumps((1, 2)),
    "json": b'[[1, 2], {}, {"chord": null}]',
    "text": "hello",
    "surrogates": "\ud800",
    "sealed": npser.dumps_signed(1, OTHER),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_bad_bodies_are_kombus_error(name: str) -> None:
    with pytest.raises(DecodeError):
        loads(BAD_BODIES[name], CONTENT_TYPE, "binary")
    configure(key=KEY)
    with pytest.raises(DecodeError):
        loads(BAD_BODIES[name], CONTENT_TYPE, "binary")


def mutations(data: bytes, n: int) -> Iterator[bytes]:
    """The bytes changed in some places, cut, or with others in the middle."""
    rng = random.Random(8)
    for _ in range(n):
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(changed))
            changed[at : at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        yield bytes(changed[: rng.choice([len(changed), rng.randrange(len(changed))])])


@pytest.mark.parametrize("options", [{}, {"key": KEY}], ids=["plain", "sealed"])
def test_any_bytes_at_all_are_a_value_or_kombus_error(options: Any) -> None:
    configure(classes=[Order], **options)
    body = dumps([VALUES["message"], VALUES["order"]], serializer="npser")[2]
    refused = 0
    for changed in mutations(body, 300):
        try:
            loads(changed, CONTENT_TYPE, "binary")
        except DecodeError:
            refused += 1
        else:
            assert not options or changed in (body, b"")
    assert refused > 200


def test_what_cannot_be_sent_is_kombus_error_with_its_path() -> None:
    with pytest.raises(EncodeError, match=r"function in \$\['call'\]"):
        dumps({"call": through}, serializer="npser")


def test_npser_is_read_only_where_it_is_accepted() -> None:
    with pytest.raises(ContentDisallowed):
        loads(npser.dumps(1), CONTENT_TYPE, "binary", accept={"application/json"})


def test_classes_that_were_not_named_are_refused() -> None:
    body = npser.dumps(Order(1, ()))
    assert loads(body, CONTENT_TYPE, "binary") == Order(1, ())
    configure()
    with pytest.raises(DecodeError, match="classes="):
        loads(body, CONTENT_TYPE, "binary")
    configure(unknown="placeholder")
    assert type(loads(body, CONTENT_TYPE, "binary")) is npser.Placeholder
    configure(classes="fractions.Fraction,decimal.Decimal")
    with pytest.raises(TypeError, match="no option 'clases'"):
        configure(clases=[Order])


def test_configuration_of_keys_compression_and_substitutes() -> None:
    configure(key=[KEY, OTHER], compress="zlib")
    _, _, body = dumps(["tea"] * 1000, serializer="npser")
    assert npser.loads_signed(body, KEY) == ["tea"] * 1000
    assert loads(npser.dumps_signed((1, 2), OTHER), CONTENT_TYPE, "binary") == (1, 2)
    with pytest.raises(DecodeError, match="sealed"):
        loads(npser.dumps(1), CONTENT_TYPE, "binary")
    configure(default=lambda value: ("called", value.__name__))
    assert through([through]) == [("called", "through")]


def test_several_serializers_side_by_side() -> None:
    register("npser-signed", key=KEY)
    register("npser-small", "application/x-small", compress="zlib")
    try:
        assert through((1, 2), serializer="npser-signed") == (1, 2) == through((1, 2), serializer="npser-small")
        content_type, encoding, body = dumps((1, 2), serializer="npser-signed")
        assert (content_type, encoding) == ("application/x-npser-signed", "binary")
        assert npser.loads_signed(body, KEY) == (1, 2)
        with pytest.raises(DecodeError):
            loads(body, CONTENT_TYPE, "binary")
    finally:
        unregister("npser-signed")
        unregister("npser-small")


@pytest.fixture(params=["memory", "redis"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connection]:
    url = "memory://" if request.param == "memory" else request.getfixturevalue("redis_url")
    with Connection(url) as connection:
        yield connection


def test_messages(connection: Connection) -> None:
    exchange = Exchange("npser-shop", type="direct")
    queue = Queue("npser-orders", exchange, routing_key="orders")
    received: list[Any] = []

    def take(body: Any, message: Any) -> None:
        assert message.content_type == CONTENT_TYPE and message.content_encoding == "binary"
        received.append(body)
        message.ack()

    with connection.channel() as channel:
        producer = Producer(channel, exchange, routing_key="orders", serializer="npser")
        for number, value in enumerate(VALUES.values()):
            producer.publish(value, declare=[queue], compression="zlib" if number % 2 else None)
        with Consumer(channel, [queue], callbacks=[take], accept=["npser"]):
            while len(received) < len(VALUES):
                connection.drain_events(timeout=5)
    assert same(received, list(VALUES.values()))


def test_a_message_that_cannot_be_read_does_not_stop_the_others(connection: Connection) -> None:
    queue = Queue("npser-mixed")
    received: list[Any] = []
    failed: list[Exception] = []

    def on_error(message: Any, error: Exception) -> None:
        failed.append(error)
        message.ack()

    def take(body: Any, message: Any) -> None:
        received.append(body)
        message.ack()

    with connection.channel() as channel:
        producer = Producer(channel, routing_key="npser-mixed")
        for body in (npser.dumps((1, 2)), pickle.dumps(3), npser.dumps((4,))[:-1], npser.dumps((5, 6))):
            producer.publish(body, content_type=CONTENT_TYPE, content_encoding="binary", declare=[queue])
        producer.publish({"a": 1}, serializer="json")
        with Consumer(channel, [queue], callbacks=[take], on_decode_error=on_error, accept=["npser"]):
            for _ in range(5):
                connection.drain_events(timeout=5)
    assert received == [(1, 2), (5, 6)]
    assert [type(error) for error in failed] == [DecodeError, DecodeError, ContentDisallowed]
    assert isinstance(failed[0].args[0], npser.ForeignBytesError)


def test_simple_queues(connection: Connection) -> None:
    with connection.SimpleQueue("npser-simple", serializer="npser") as queue:
        queue.put(VALUES["tuple"])
        queue.consumer.accept = {CONTENT_TYPE}
        message = queue.get(timeout=5)
        assert same(message.payload, VALUES["tuple"])
        message.ack()


def test_redis_that_starts_again_in_the_middle(redis_server: Any, redis_url: str) -> None:
    queue = Queue("npser-again")
    with Connection(redis_url) as connection:
        with connection.channel() as channel:
            Producer(channel, serializer="npser", routing_key="npser-again").publish((1, 2), declare=[queue])
        redis_server.restart()
    with Connection(redis_url) as connection, connection.SimpleQueue("npser-again", serializer="npser") as simple:
        simple.consumer.accept = {CONTENT_TYPE}
        with pytest.raises(simple.Empty):
            simple.get_nowait()
        simple.put((3, 4))
        assert simple.get(timeout=5).payload == (3, 4)


def cart(version: int) -> Any:
    """The class as this version of a program has it, and registers it."""
    if version == 1:

        @npser.register(name="kombu.Cart", version=1)
        @dataclass
        class Cart:
            total: float
    else:

        @npser.register(name="kombu.Cart", version=2, upgrade=lambda fields, _: {"cents": int(fields["total"] * 100)})
        @dataclass
        class Cart:  # type: ignore[no-redef]
            cents: int
            currency: str = "EUR"

    return Cart


def test_two_versions_of_a_class_at_once() -> None:
    old = dumps(cart(1)(1.5), serializer="npser")
    new = cart(2)
    assert loads(old[2], CONTENT_TYPE, "binary") == new(150, "EUR")
    body = dumps(new(1), serializer="npser")[2]
    cart(1)
    with pytest.raises(DecodeError, match="total"):
        loads(body, CONTENT_TYPE, "binary")


def test_a_process_that_only_imports_kombu_has_it_and_pays_nothing_for_it() -> None:
    program = (
        "import sys, kombu.serialization as s\n"
        "print('npser' in s.registry.name_to_type, {'npser', 'numpy'} & set(sys.modules))\n"
        "print(s.dumps((1, 2), serializer='npser')[0], s.loads(s.dumps((1, 2), serializer='npser')[2], *sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, CONTENT_TYPE, "binary"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"True set()\n{CONTENT_TYPE} (1, 2)\n"
    assert adapter.serializer[2:] == (CONTENT_TYPE, "binary")
