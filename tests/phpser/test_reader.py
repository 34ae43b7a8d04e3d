"""What the extension wrote is read as what it was."""

from __future__ import annotations

import hashlib
import hmac
import threading
import types
from typing import Any

import pytest

from npser.errors import DecodeError, LimitError, NpserError, TruncatedError
from npser.limits import Limits
from npser.phpser import SerializedPlaceholder, SlotsPlaceholder, read
from npser.types.allow import NO_CLASSES, Allow
from npser.types.placeholder import Placeholder
from phpser.stand_ins import CLASSES, Magic, Node, Point, Suit, dto_mixed, dto_users, rowset
from phpser.vectors import VECTORS, frame, same_as_tree, title, value_of
from same import same

ALLOW = Allow(CLASSES)

ACCEPTED = [vector for vector in VECTORS if not vector.get("reject") and vector["hex"]]
REJECTED = [vector for vector in VECTORS if vector.get("reject") and not vector.get("signed")]
SIGNED = [vector for vector in VECTORS if vector.get("signed")]

LEGACY = {"serializable_legacy", "serializable_shared"}
"""Kept as their bytes: see `test_serializable_objects_are_kept_as_their_bytes`."""

BY_FORMULA = {"dto_users_100": dto_users(100), "dto_mixed_100": dto_mixed(100), "rowset_100": rowset(100)}

NEEDS_THE_CLASS = {
    "rej_object_serializable": "for a class that owns its bytes; see test_wires.py",
    "rej_enum_unknown_class": "a case of a class that is not allowed is a placeholder, as everywhere",
}


def loads(data: bytes, allow: Allow = ALLOW, **options: Any) -> Any:
    return read(memoryview(data), allow=allow, **options)


def dicts(keys: int) -> bytes:
    return bytes((0x06, keys))


@pytest.mark.parametrize("vector", ACCEPTED, ids=title)
def test_every_vector_is_its_value(vector: dict[str, Any]) -> None:
    value = loads(frame(vector))
    if "tree" in vector and vector["tree"] is not None:
        if vector["name"] not in LEGACY and vector["name"] != "acc_unknown_class_slots":
            assert same_as_tree(value, vector["tree"]), value
    elif vector["name"] in BY_FORMULA:
        assert same(value, BY_FORMULA[vector["name"]])
    elif "json_value" in vector and vector["json_ok"]:
        assert same(value, vector["json_value"])
    if vector.get("json_suffices"):
        assert same(value, value_of(vector))


def test_the_vectors_are_there() -> None:
    assert len(VECTORS) == 503
    assert len(ACCEPTED) == 255
    assert len(REJECTED) == 238


@pytest.mark.parametrize("vector", REJECTED, ids=title)
def test_every_reject_is_rejected(vector: dict[str, Any]) -> None:
    if vector["name"] in NEEDS_THE_CLASS:
        assert loads(frame(vector)) is not None
        return
    with pytest.raises(DecodeError) as caught:
        loads(frame(vector))
    assert caught.value.pos is not None and 0 <= caught.value.pos <= len(frame(vector))
    assert caught.value.path is not None and caught.value.path.startswith("$")


@pytest.mark.parametrize("vector", ACCEPTED, ids=title)
def test_every_strict_prefix_is_rejected(vector: dict[str, Any]) -> None:
    data = frame(vector)
    if vector["name"] == "acc_trailing_bytes":
        data = data[:4]
    cuts = range(len(data)) if len(data) < 400 else [*range(200), *range(200, len(data), 97), len(data) - 1]
    for cut in cuts:
        for allow in (ALLOW, NO_CLASSES):
            with pytest.raises(DecodeError):
                loads(data[:cut], allow)


@pytest.mark.parametrize("vector", SIGNED, ids=title)
def test_the_signature_is_behind_the_frame(vector: dict[str, Any]) -> None:
    data, key = bytes.fromhex(vector["hex"]), bytes.fromhex(vector["key_hex"])
    body, mac = data[:-32], data[-32:]
    holds = len(data) > 32 and bool(key) and hmac.compare_digest(hmac.digest(key, body, hashlib.sha256), mac)
    if not vector.get("reject"):
        assert holds
        loads(body, trailing="refuse")
    elif holds:
        with pytest.raises(DecodeError):
            loads(body, trailing="refuse")


def test_bytes_behind_the_value() -> None:
    data = bytes.fromhex("0100035467617262616765")
    assert loads(data) == 42
    with pytest.raises(DecodeError, match="7 bytes behind") as caught:
        loads(data, trailing="refuse")
    assert caught.value.pos == 4


# Without classes


def test_objects_of_classes_that_are_not_allowed_are_placeholders() -> None:
    point = loads(bytes.fromhex("010305506f696e74017801790a0002010302020303"), NO_CLASSES)
    assert type(point) is Placeholder
    assert (point.class_name, point.form, point.contents) == ("Point", "object", {"x": 1, "y": -2})
    slots = loads(bytes.fromhex("020105506f696e7412000203020303"), NO_CLASSES)
    assert type(slots) is SlotsPlaceholder and slots.contents == [1, -2]
    suit = loads(bytes.fromhex("01020453756974064865617274730d0001"), NO_CLASSES)
    assert type(suit) is Placeholder and (suit.form, suit.contents) == ("enum", "Hearts")
    magic = loads(bytes.fromhex("0102054d6167696301640e000602020164050102037461670c016d"), NO_CLASSES)
    assert type(magic) is Placeholder and (magic.form, magic.contents) == ("state", {"d": "d", "tag": "m"})


def test_serializable_objects_are_kept_as_their_bytes() -> None:
    data = bytes.fromhex("0101064c656761637907020f00034c3a7a1000")
    first, second = loads(data)
    assert type(first) is SerializedPlaceholder and first is second
    assert (first.class_name, first.contents) == ("Legacy", b"L:z")
    assert loads(data, NO_CLASSES) == [None, None]  # as PHP reads what it does not know


def test_a_class_goes_by_the_name_it_was_allowed_under() -> None:
    data = bytes.fromhex("0203094170705c506f696e74017801790a000201030202" + "0303")
    assert loads(data, Allow({"App\\Point": Point})) == Point(1, -2)
    assert loads(data, Allow({"app\\POINT": Point})) == Point(1, -2)
    assert type(loads(data, Allow([Point]))) is Placeholder

    class Named:
        __php_name__ = "App\\Point"

    found = loads(data, Allow([Named]))
    assert type(found) is Named and vars(found) == {"x": 1, "y": -2}


@pytest.mark.parametrize("php", ["Iterator", "BackedEnum", "Po nt", "\\Point", "", "Po\0nt", "a-b"])
def test_names_that_no_object_can_have(php: str) -> None:
    for body in ("0a0000", "120000", "0e000600", "0d0000"):
        with pytest.raises(DecodeError):
            loads(b"\x02\x01" + bytes((len(php),)) + php.encode() + bytes.fromhex(body), NO_CLASSES)


def test_std_class_is_a_namespace() -> None:
    empty = loads(bytes.fromhex("020108737464436c617373120000"), NO_CLASSES)
    assert type(empty) is types.SimpleNamespace and vars(empty) == {}
    data = bytes.fromhex("010208737464436c617373026d650a0001011000")
    loop = loads(data, NO_CLASSES)
    assert loop.me is loop
    for wrong in ("0208737464436c6173730161" + body for body in ("12000103020000", "0e00060000", "0d0001")):
        with pytest.raises(DecodeError):
            loads(bytes.fromhex("02" + wrong), NO_CLASSES)


def test_names_that_look_like_pythons_own() -> None:
    name = b"__class__"
    data = b"\x01\x02\x08stdClass\x09" + name + bytes.fromhex("0a0001010302")
    assert vars(loads(data)) == {"__class__": 1}
    data = b"\x01\x02\x04Open\x09" + name + bytes.fromhex("0a0001010302")
    found = loads(data)
    assert type(found).__name__ == "Open" and vars(found) == {"__class__": 1}


def test_properties_that_are_not_utf8() -> None:
    data = b"\x01\x02\x08stdClass\x01\xe9" + bytes.fromhex("0a0001010302")
    assert vars(loads(data)) == {"\udce9": 1}


# Objects and Python classes


def test_missing_and_dynamic_properties() -> None:
    half = loads(bytes.fromhex("020105506f696e74120001030e"))
    assert vars(half) == {"x": 7}  # y has no default, and is not set in PHP either
    dyn = loads(bytes.fromhex("01030344796e046465636c0364796e0a0002010302020c0176"))
    assert vars(dyn) == {"decl": 1, "dyn": "v"}
    node = loads(b"\x01\x02\x04Node\x04name" + bytes.fromhex("0a0001010302"))
    assert vars(node) == {"name": 1, "next": None}


def test_more_values_by_position_than_fields() -> None:
    with pytest.raises(DecodeError, match="3 values by position for Point, which declares 2"):
        loads(bytes.fromhex("020105506f696e74120003030203020302"))
    with pytest.raises(DecodeError, match="declare them"):
        loads(b"\x02\x01\x04Open" + bytes.fromhex("1200010302"))


def test_a_state_that_is_refused() -> None:
    class Fussy:
        def __getstate__(self) -> list[int]:
            return []

        def __setstate__(self, state: Any) -> None:
            raise IndexError("not this one")

    with pytest.raises(DecodeError, match=r"Fussy.__setstate__ refused its state: IndexError\('not this one'\)"):
        loads(b"\x01\x01\x05Fussy" + bytes.fromhex("0e000600"), Allow([Fussy]))


def test_a_state_for_a_class_without_setstate() -> None:
    data = b"\x01\x01\x05Point" + bytes.fromhex("0e000602") + bytes.fromhex("0201780302" + "0201790304")
    assert loads(data) == Point(1, 2)
    assert vars(loads(b"\x01\x01\x04Open" + bytes.fromhex("0e000600"))) == {}
    with pytest.raises(DecodeError, match="no __setstate__"):
        loads(b"\x01\x01\x05Point" + bytes.fromhex("0e0008010203"))


def test_setstate_finds_finished_objects() -> None:
    class Sees:
        def __getstate__(self) -> dict[str, Any]:
            return {}

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.total = state["p"].x + state["p"].y

    data = b"\x02\x02\x04Sees\x05Point" + bytes.fromhex("0e00060102017012010203020304")
    assert loads(data, Allow([Sees, Point])).total == 3


def test_typed_fields() -> None:
    prefix = b"\x02\x01\x07UserDto" + bytes.fromhex("120008")
    right = ["0302", "0302", "0c0161", "0c0162", "00", "0c0163", "02", "0600"]
    assert loads(prefix + bytes.fromhex("".join(right))).phone is None
    for at, wrong in [(0, "02"), (0, "00"), (1, "040000000000000000"), (2, "0302"), (4, "0302"), (6, "0302"), (7, "00")]:
        cells = [*right]
        cells[at] = wrong
        with pytest.raises(DecodeError, match="is declared otherwise"):
            loads(prefix + bytes.fromhex("".join(cells)))


def test_named_tuples_and_builtin_classes_are_no_objects() -> None:
    import collections
    import datetime

    pair = collections.namedtuple("pair", "x y")
    for name, cls in (("pair", pair), ("DateTime", datetime.datetime)):
        with pytest.raises(DecodeError, match="no class that PHP objects can become"):
            loads(b"\x01\x01" + bytes((len(name),)) + name.encode() + bytes.fromhex("0a0000"), Allow({name: cls}))


def test_an_enum_and_an_object_of_one_name() -> None:
    with pytest.raises(DecodeError, match="stored as object"):
        loads(b"\x01\x01\x04Suit" + bytes.fromhex("0a0000"))
    with pytest.raises(DecodeError, match="stored as enum"):
        loads(b"\x01\x02\x05Point\x01A" + bytes.fromhex("0d0001"))
    assert loads(bytes.fromhex("01020453756974064865617274730d0001")) is Suit.Hearts


# References and identity


def test_objects_and_references_keep_identity() -> None:
    first, second = loads(bytes.fromhex("020105506f696e740702120002030203041000"))
    assert first is second
    node = loads(bytes.fromhex("0201044e6f64651200020c01731000"))
    assert type(node) is Node and node.next is node
    outer = loads(bytes.fromhex("01000702030211070203021000"))
    assert outer[0] == 1 and outer[1][1] is outer[1]
    pair = loads(bytes.fromhex("0100060202016111080202040201621000"))
    assert pair["a"] == [1, 2] and pair["a"] is pair["b"]
    magic = loads(bytes.fromhex("0101054d616769630e000602020164100002037461670c016d"))
    assert type(magic) is Magic and magic.d is magic


@pytest.mark.parametrize(
    "body",
    [
        "11 07 01 10 00",  # MIXED
        "11 06 01 02 01 61 10 00",  # ASSOC
        "11 13 01 00 10 00",  # ASSOC_DICT
        "11 14 01 01 00 10 00",  # ROWSET
        "11 15 01 01 00 07 10 00",  # TABLE
    ],
)
def test_every_container_can_hold_itself(body: str) -> None:
    value = loads(b"\x02\x01\x01a" + bytes.fromhex(body))
    inner = value[0] if type(value) is list else value["a"]
    if type(inner) is dict:
        inner = inner.get("a", inner)
    assert inner is value


@pytest.mark.parametrize("body", ["0600", "0803020406", "0901000000000000f83f", "0b0100", "17030202", "1602d00f02"])
def test_every_array_can_be_shared(body: str) -> None:
    first, second = loads(b"\x02\x01\x01a" + bytes.fromhex("0702" + "11" + body + "1000"))
    assert first is second


# Strings and keys


def test_strings_as_bytes() -> None:
    data = bytes.fromhex("0102" + "0161" + "01ff" + "0603" + "0100" + "0501" + "020135" + "0c00" + "0000" + "0500")
    assert loads(data) == {"a": b"\xff", 5: "", 0: "a"}
    assert loads(data, strings="bytes") == {b"a": b"\xff", 5: b"", 0: b"a"}


def test_keys_that_spell_ints() -> None:
    def key(text: str) -> Any:
        return next(iter(loads(b"\x01\x00\x06\x01\x02" + bytes((len(text),)) + text.encode() + b"\x00")))

    for text in ("0", "5", "-5", "9223372036854775807", "-9223372036854775808", "1234567890123456789"):
        assert key(text) == int(text) and type(key(text)) is int
    for text in ("", "00", "-0", "+5", " 5", "5 ", "05", "-05", "1.0", "9223372036854775808", "-9223372036854775809", "-", "٥"):
        if text.isascii():
            assert key(text) == text


def test_repeated_keys() -> None:
    data = bytes.fromhex("0100" + "0603" + "0201610302" + "0201620304" + "0201610306")
    assert list(loads(data).items()) == [("a", 3), ("b", 2)]
    for body in ("13020000" + "0000", "1401020000" + "0000", "1501020000" + "07000700"):
        with pytest.raises(DecodeError, match="twice"):
            loads(b"\x02\x01\x01a" + bytes.fromhex(body))
        with pytest.raises(DecodeError, match="twice"):
            loads(b"\x02\x02\x01a\x01a" + bytes.fromhex(body.replace("020000", "020001", 1)))


def test_key_sets_with_ints() -> None:
    for body in ("13010000", "1401010000", "150101000700"):
        with pytest.raises(DecodeError, match="as an int"):
            loads(b"\x02\x01\x0242" + bytes.fromhex(body))


def test_colliding_keys() -> None:
    def dict_of(n: int, step: int) -> bytes:
        from npser.phpser.dictionary import varint, zigzag_varint

        return b"\x01\x00\x06" + varint(n) + b"".join(b"\x00" + zigzag_varint(i * step) + b"\x00" for i in range(n))

    assert len(loads(dict_of(64, 1 << 20))) == 64
    assert len(loads(dict_of(1000, 1))) == 1000
    with pytest.raises(DecodeError, match="64 keys"):
        loads(dict_of(65, 1 << 20))


# Limits


def nested(depth: int, leaf: str) -> bytes:
    return bytes.fromhex("0100" + "0701" * depth + leaf)


@pytest.mark.parametrize(
    ("depth", "leaf"), [(512, "0354"), (511, "0600"), (511, "080102"), (511, "0701" + "00"), (510, "110600")]
)
def test_as_deep_as_allowed(depth: int, leaf: str) -> None:
    value = loads(nested(depth, leaf))
    for _ in range(depth):
        (value,) = value


@pytest.mark.parametrize(
    ("depth", "leaf"),
    [(513, "0354"), (512, "0600"), (512, "080102"), (512, "1701" + "0000"), (511, "110600"), (512, "1100")],
)
def test_too_deep(depth: int, leaf: str) -> None:
    with pytest.raises(LimitError, match="512 deep"):
        loads(nested(depth, leaf))
    with pytest.raises(LimitError):
        loads(nested(4, "0354"), limits=Limits(depth=3))


def test_no_recursion_on_a_small_stack() -> None:
    outcomes: list[Any] = []

    def run() -> None:
        for data in (nested(512, "0354"), nested(2000, "0354"), bytes.fromhex("0100" + "11" * 512 + "0354")):
            try:
                loads(data)
                outcomes.append("value")
            except NpserError as error:
                outcomes.append(type(error))

    before = threading.stack_size(128 << 10)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert outcomes == ["value", LimitError, DecodeError]


def test_the_budget_of_affine_runs() -> None:
    many = bytes.fromhex("02000702" + "1780804000" + "02" + "17010002")
    with pytest.raises(LimitError):
        loads(many)
    assert len(loads(many, limits=Limits(items=1 << 22))[0]) == 1 << 20
    with pytest.raises(LimitError):
        loads(bytes.fromhex("020017040202"), limits=Limits(items=0))
    for n in ("ffffffff0f", "ffffffffffffffffff01"):
        with pytest.raises(LimitError):
            loads(bytes.fromhex("020017" + n + "0002"))


@pytest.mark.parametrize("tag", ["06", "07", "08", "09", "0b", "13", "16", "1200", "0a00", "0f00", "14", "15"])
@pytest.mark.parametrize("count", ["03", "80808010", "ffffffff0f", "ffffffffffffffff7f", "ffffffffffffffffff01"])
def test_counts_are_not_believed(tag: str, count: str) -> None:
    for rest in ("", "00", "0000"):
        with pytest.raises(DecodeError):
            loads(bytes.fromhex("02010161" + tag + count + rest))
    if tag in ("14", "15"):
        for columns in ("01", count):
            with pytest.raises(DecodeError):
                loads(bytes.fromhex("02010161" + tag + count + columns + "0000"))


@pytest.mark.parametrize(
    "body", ["0600", "0700", "0800", "0900", "0b00", "1300", "1600", "17000202", "14000100", "1500010007"]
)
def test_no_items(body: str) -> None:
    assert loads(b"\x02\x01\x01a" + bytes.fromhex(body + "00")) == []


def test_rows() -> None:
    assert loads(b"\x02\x02\x01a\x01b" + bytes.fromhex("14010200010302" + "00")) == [{"a": 1, "b": None}]
    one = b"\x02\x01\x01a" + bytes.fromhex("15010100")
    assert loads(one + bytes.fromhex("0802")) == [{"a": 1}]
    assert loads(one + bytes.fromhex("1602")) == [{"a": 1}]
    assert loads(one + bytes.fromhex("070600")) == [{"a": []}]
    for tag in ("0c0161", "1700", "06", "0a", "15", "14", "13"):
        with pytest.raises(DecodeError, match="no such tag of a column"):
            loads(one + bytes.fromhex(tag + "02020202"))


@pytest.mark.parametrize("tag", [*range(0x18, 0x20), 0x40, 0x80, 0xC1, 0xFF])
def test_unknown_tags(tag: int) -> None:
    with pytest.raises(DecodeError, match=f"0x{tag:02x}") as caught:
        loads(bytes((2, 0, tag)) + bytes(8))
    assert caught.value.pos == 2


def test_where_an_error_is() -> None:
    body = "0603" + "0201610302" + "0201620702" + "0302" + "15020100" + "07" + "0302" + "18"
    with pytest.raises(DecodeError) as caught:
        loads(b"\x02\x01\x03key" + bytes.fromhex(body))
    assert caught.value.path == "$['b'][1][1]['key']"
    with pytest.raises(DecodeError) as caught:
        loads(b"\x02\x02\x05Point\x01y" + bytes.fromhex("0701" + "0a0001" + "01" + "18"))
    assert caught.value.path == "$[0].y"
    with pytest.raises(DecodeError) as caught:
        loads(b"\x02\x01\x05Point" + bytes.fromhex("120002" + "0302" + "18"))
    assert caught.value.path == "$.y"
    with pytest.raises(TruncatedError):
        loads(b"")
