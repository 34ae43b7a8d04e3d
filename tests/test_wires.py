"""The wire of phpser through the front door: dumps, loads, dumps_signed, loads_signed, Codec."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import pytest

import npser
from npser.types import registry
from phpser.stand_ins import CLASSES
from phpser.vectors import VECTORS, frame, title, version_of

KEY, OTHER = bytes(range(32)), bytes(32)
CART = {"id": 7, "items": ["tea", "milk"], "paid": False, "total": 2.5, "note": None}


@pytest.fixture(autouse=True)
def _clean_registry() -> Iterator[None]:
    before = set(registry._by_class)
    yield
    for cls in set(registry._by_class) - before:
        npser.unregister(cls)


@dataclasses.dataclass
class Cart:
    id: int
    total: float


def test_the_first_byte_says_which_wire_it_is() -> None:
    for wire in ("phpser", "phpser1"):
        data = npser.dumps(CART, wire=wire)  # type: ignore[arg-type]
        assert data[0] in (1, 2)
        for buffer in (data, bytearray(data), memoryview(data)):
            assert npser.loads(buffer) == CART
    assert npser.dumps(CART)[0] == 0xC1


def test_wire_2_is_only_what_needs_it() -> None:
    run = list(range(100))
    assert npser.dumps(run, wire="phpser")[0] == 2
    assert npser.dumps(run, wire="phpser1")[0] == 1
    assert npser.loads(npser.dumps(run, wire="phpser")) == run


def test_strings_are_text_or_bytes() -> None:
    data = npser.dumps(["a", b"\xff"], wire="phpser")
    assert npser.loads(data) == ["a", b"\xff"]
    assert npser.loads(data, strings="bytes") == [b"a", b"\xff"]
    assert npser.Codec(strings="bytes").loads(data) == [b"a", b"\xff"]


def test_what_php_cannot_hold_is_refused_with_its_path() -> None:
    for value, path in (({"a": [1, (2,)]}, "$['a'][1]"), ([1 << 64], "$[0]"), ({"x": {1, 2}}, "$['x']")):
        with pytest.raises(npser.EncodeError) as caught:
            npser.dumps(value, wire="phpser")
        assert caught.value.path == path
    assert npser.loads(npser.dumps({"a": (1, 2)}, wire="phpser", default=list)) == {"a": [1, 2]}


def test_classes_go_through_the_one_gate() -> None:
    npser.register(Cart, name="App\\Cart")
    data = npser.dumps(Cart(1, 2.5), wire="phpser")
    assert b"App\\Cart" in data
    assert npser.loads(data) == Cart(1, 2.5)
    npser.unregister(Cart)
    assert npser.loads(data).class_name == "App\\Cart"
    assert npser.loads(data, classes={"App\\Cart": Cart}) == Cart(1, 2.5)
    with pytest.raises(npser.ClassNotAllowedError, match="App"):
        npser.loads(data, unknown="refuse")


def test_signed_payloads_are_those_of_the_extension() -> None:
    data = npser.dumps_signed(CART, KEY, wire="phpser")
    frame = npser.dumps(CART, wire="phpser")
    assert data == frame + hmac.new(KEY, frame, hashlib.sha256).digest()
    assert npser.loads_signed(data, KEY) == CART
    assert npser.loads_signed(bytearray(data), [OTHER, KEY]) == CART
    codec = npser.Codec(key=KEY, wire="phpser")
    assert codec.dumps(CART) == data and codec.loads(data) == CART
    assert npser.Codec(key=KEY).loads(data) == CART, "a reader takes what the key has signed, on either wire"


@pytest.mark.parametrize("position", range(0, 60, 7))
def test_a_changed_byte_does_not_verify(position: int) -> None:
    data = bytearray(npser.dumps_signed(CART, KEY, wire="phpser"))
    data[position] ^= 1
    with pytest.raises(npser.SignatureError):
        npser.loads_signed(data, KEY)
    assert npser.loads_signed(data, KEY, default="a miss") == "a miss"


def test_what_is_not_signed_does_not_verify() -> None:
    signed = npser.dumps_signed(CART, KEY, wire="phpser")
    for data in (signed[:-1], signed[:32], signed[:1], signed[:-32], npser.dumps(CART, wire="phpser")):
        with pytest.raises(npser.SignatureError):
            npser.loads_signed(data, KEY)
    with pytest.raises(npser.SignatureError):
        npser.loads_signed(signed, OTHER)
    with pytest.raises(npser.SignatureError):
        npser.loads_signed(signed, KEY, context="cart")  # nothing binds it to a context
    empty = hmac.new(KEY, b"", hashlib.sha256).digest()
    with pytest.raises(npser.SignatureError):
        npser.loads_signed(empty, KEY)


def test_trailing_bytes_under_a_signature_are_an_error() -> None:
    frame = npser.dumps(CART, wire="phpser") + b"\0"
    assert npser.loads(frame) == CART, "as the extension reads it"
    with pytest.raises(npser.DecodeError):
        npser.loads_signed(frame + hmac.new(KEY, frame, hashlib.sha256).digest(), KEY)


def test_options_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="wire is one of"):
        npser.dumps(1, wire="msgpack")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="strings is one of"):
        npser.loads(b"", strings="str")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no context"):
        npser.dumps_signed(1, KEY, wire="phpser", context="x")
    for options in ({"compress": "zlib"}, {"checksum": "crc32"}, {"context": "x", "key": KEY}):
        with pytest.raises(ValueError, match="phpser knows no"):
            npser.Codec(wire="phpser", **options)
    with pytest.raises(ValueError, match="bytes or more"):
        npser.dumps_signed(1, b"short", wire="phpser")


def test_limits_hold() -> None:
    data = npser.dumps(["x" * 100] * 10, wire="phpser")
    with pytest.raises(npser.LimitError, match="bytes"):
        npser.loads(data, limits=npser.Limits(bytes=50))
    deep: Any = []
    for _ in range(20):
        deep = [deep]
    with pytest.raises(npser.LimitError):
        npser.loads(npser.dumps(deep, wire="phpser"), limits=npser.Limits(depth=10))


SIGNED = [vector for vector in VECTORS if vector.get("signed")]


@pytest.mark.parametrize("vector", SIGNED, ids=title)
def test_what_the_extension_has_signed(vector: dict[str, Any]) -> None:
    data, key = bytes.fromhex(vector["hex"]), bytes.fromhex(vector["key_hex"])
    if len(key) < 16:
        with pytest.raises(ValueError, match="bytes or more"):
            npser.loads_signed(data, key)
        return
    if vector.get("reject"):
        with pytest.raises(npser.DecodeError):
            npser.loads_signed(data, key)
        return
    value = npser.loads_signed(data, key)
    assert repr(value) == repr(npser.loads(frame(vector)))
    if vector.get("json_suffices"):
        wire = "phpser1" if version_of(vector) == 1 else "phpser"
        assert npser.dumps_signed(vector["json_value"], key, wire=wire) == data  # type: ignore[arg-type]


def test_there_are_signed_vectors() -> None:
    assert len(SIGNED) >= 3


class Money:
    """A Serializable class of PHP, which owns its bytes."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def pack(self, stream: npser.BinaryStream) -> None:
        if self.cents < 0:
            raise ValueError("no debts")
        stream.write(str(self.cents).encode())

    @classmethod
    def unpack(cls, stream: npser.BinaryStream) -> Money:
        return cls(int(stream.read(20)))


def test_serializable_is_packable() -> None:
    npser.register(Money, name="Shop\\Money")
    price = Money(250)
    data = npser.dumps([price, price], wire="phpser")
    assert b"250" in data and data.count(b"250") == 1
    first, second = npser.loads(data)
    assert first is second and (type(first), first.cents) == (Money, 250)
    npser.unregister(Money)
    assert npser.loads(data) == [None, None], "as PHP reads what it does not know"
    with pytest.raises(npser.EncodeError) as caught:
        npser.dumps({"a": [Money(-1)]}, wire="phpser")
    assert caught.value.path == "$['a'][0]"


def test_a_class_that_owns_its_bytes_is_not_read_from_properties() -> None:
    npser.register(Cart, name="Shop\\Money")
    data = [npser.dumps(Cart(1, 2.5), wire=wire) for wire in ("phpser", "phpser1")]  # type: ignore[arg-type]
    npser.unregister(Cart)
    npser.register(Money, name="Shop\\Money")
    for payload in data:
        with pytest.raises(npser.DecodeError, match=r"owns its bytes|by position"):
            npser.loads(payload)


def test_bytes_that_unpack_does_not_like() -> None:
    npser.register(Money, name="Shop\\Money")
    data = npser.dumps(Money(250), wire="phpser").replace(b"250", b"2x0")
    with pytest.raises(npser.DecodeError):
        npser.loads(data)


def vector_named(name: str) -> dict[str, Any]:
    return next(vector for vector in VECTORS if vector["name"] == name)


class Legacy:
    """The Serializable class of the vectors, whose bytes are L: and its text."""

    def __init__(self, v: str) -> None:
        self.v = v

    def pack(self, stream: npser.BinaryStream) -> None:
        stream.write(b"L:" + self.v.encode())

    @classmethod
    def unpack(cls, stream: npser.BinaryStream) -> Legacy:
        assert stream.read_exactly(2) == b"L:"
        return cls(stream.read(100).decode())


def test_the_serializable_vectors() -> None:
    npser.register(Legacy, name="Legacy")
    data = bytes.fromhex(vector_named("serializable_legacy")["hex"])
    assert npser.loads(data).v == "abc"
    assert npser.dumps(Legacy("abc"), wire="phpser") == data
    shared = bytes.fromhex(vector_named("serializable_shared")["hex"])
    first, second = npser.loads(shared)
    assert first is second and first.v == "z"
    assert npser.dumps([first, second], wire="phpser") == shared
    for name in ("rej_object_serializable", "rej_slots_serializable"):
        with pytest.raises(npser.DecodeError):
            npser.loads(bytes.fromhex(vector_named(name)["hex"]))


def test_an_enum_of_no_class_is_refused_where_placeholders_are() -> None:
    data = bytes.fromhex(vector_named("rej_enum_unknown_class")["hex"])
    assert type(npser.loads(data)) is npser.Placeholder
    with pytest.raises(npser.ClassNotAllowedError):
        npser.loads(data, unknown="refuse")


@pytest.mark.parametrize("vector", [vector for vector in VECTORS if vector.get("reject") and not vector.get("signed")], ids=title)
def test_every_reject_is_refused_by_who_knows_the_classes(vector: dict[str, Any]) -> None:
    classes = [cls for cls in CLASSES if cls.__name__ != "Legacy"] + [Legacy]
    with pytest.raises(npser.DecodeError):
        npser.loads(frame(vector), classes=classes, unknown="refuse")
