"""Seals: whatever the key did not seal is a SignatureError, before anything of it is parsed."""

from __future__ import annotations

import copy
import hmac
import mmap
import pickle
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
from npser import wires
from npser.envelope import layers, seal
from npser.envelope.seal import Seal
from npser.errors import DecodeError, SignatureError
from same import difference
from strategies import values
from values import CLASSES

KEY = bytes(range(32))
OTHER = bytes(range(100, 116))
VALUE = {"user": 7, "tags": ["a", "b"], "at": (1.5, None)}
SEALED = npser.dumps_signed(VALUE, KEY)
MAC_SIZE = 32


def mac(key: bytes, inner: bytes, context: bytes = b"", header: bytes = b"\xc1S\x01") -> bytes:
    return hmac.digest(key, b"npser seal\0" + header + struct.pack("<Q", len(context)) + context + inner, "sha256")


# ----------------------------------------------------------------------------------------------------------- round trips


@given(values, st.binary(min_size=16, max_size=80), st.binary(max_size=20) | st.text(max_size=20))
def test_round_trip(value: Any, key: bytes, context: Any) -> None:
    data = npser.dumps_signed(value, key, context=context)
    assert difference(value, npser.loads_signed(data, key, context=context, classes=CLASSES)) is None
    with pytest.raises(SignatureError):
        npser.loads_signed(data, key + b"\1", context=context)


def test_layout() -> None:
    inner = npser.dumps(VALUE)
    assert b"\xc1S\x01" + inner + mac(KEY, inner) == SEALED
    assert npser.dumps_signed(VALUE, KEY, context="cart") == b"\xc1S\x01" + inner + mac(KEY, inner, b"cart")


@pytest.mark.parametrize("size", [16, 17, 32, 63, 64, 65, 1000])
def test_keys_of_all_sizes(size: int) -> None:
    assert npser.loads_signed(npser.dumps_signed(VALUE, bytes(size)), bytes(size)) == VALUE


def test_options_of_dumps_and_loads() -> None:
    shared = [1, 2]
    data = npser.dumps_signed([shared, shared, object()], KEY, identity="preserve", default=lambda value: "something")
    back = npser.loads_signed(data, KEY)
    assert back == [[1, 2], [1, 2], "something"]
    assert back[0] is back[1]
    data = npser.dumps_signed([1, 2, 3], KEY)
    assert npser.loads_signed(data, KEY, numbers="array").dtype == "<i8"
    with pytest.raises(npser.LimitError):
        npser.loads_signed(npser.dumps_signed([7] * 1000, KEY), KEY, limits=npser.Limits(items=10, expansion=0))


def test_any_buffer() -> None:
    for data in (bytearray(SEALED), memoryview(SEALED), memoryview(b"x" + SEALED + b"x")[1:-1]):
        assert npser.loads_signed(data, KEY) == VALUE
    with mmap.mmap(-1, len(SEALED)) as mapped:
        mapped.write(SEALED)
        assert npser.loads_signed(mapped, KEY) == VALUE


def test_what_is_no_buffer_is_an_error_whatever_the_default() -> None:
    for data in ("text", None, 7, [1]):
        with pytest.raises(DecodeError) as caught:
            npser.loads_signed(data, KEY, default=0)
        assert type(caught.value) is DecodeError


# ---------------------------------------------------------------------------------------------------- what does not verify


def refused(data: Any, key: Any = KEY, **options: Any) -> None:
    with pytest.raises(SignatureError) as caught:
        npser.loads_signed(data, key, **options)
    assert type(caught.value) is SignatureError
    miss = object()
    assert npser.loads_signed(data, key, default=miss, **options) is miss


def test_every_change_of_a_byte() -> None:
    for at in range(len(SEALED)):
        for change in (1, 0x80, 0xFF, SEALED[at] ^ 0x01, SEALED[at]):
            if change:
                refused(SEALED[:at] + bytes([SEALED[at] ^ change]) + SEALED[at + 1 :])


def test_every_cut_and_everything_behind() -> None:
    for cut in range(len(SEALED)):
        refused(SEALED[:cut])
        refused(SEALED[cut:] if cut else b"")
    refused(SEALED + b"\0")
    refused(SEALED + SEALED)


@given(st.data())
def test_two_bytes_swapped_or_one_left_out(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(SEALED) - 2))
    refused(SEALED[:at] + SEALED[at + 1 :])
    swapped = SEALED[:at] + SEALED[at : at + 2][::-1] + SEALED[at + 2 :]
    if swapped != SEALED:
        refused(swapped)


@given(st.binary(max_size=100))
def test_garbage(data: bytes) -> None:
    refused(data)
    refused(b"\xc1S\x01" + data)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xc1", b"\xc1S", npser.dumps(VALUE), npser.Codec(checksum="crc32").dumps(VALUE), b"\x80\x05N.", b"{}", b"\xc1S\x02" + SEALED[3:]],
    ids=["nothing", "magic", "header", "plain", "checked", "pickle", "json", "form"],
)
def test_what_is_not_sealed(data: bytes) -> None:
    refused(data)


def test_another_key_or_context() -> None:
    refused(SEALED, OTHER)
    refused(SEALED, [OTHER, KEY[:-1]])
    refused(SEALED, KEY + b"\1")
    refused(SEALED, context="cart")
    data = npser.dumps_signed(VALUE, KEY, context="cart")
    refused(data)
    refused(data, context="car")
    refused(data, context="cart\0")
    assert npser.loads_signed(data, KEY, context=b"cart") == VALUE


def test_context_and_inner_bytes_do_not_run_into_each_other() -> None:
    inner = npser.dumps(VALUE)
    for context in (b"", b"a", inner[:5]):
        moved = b"\xc1S\x01" + inner[5:] + mac(KEY, inner, context)
        refused(moved, context=context + inner[:5])


def test_a_mac_of_something_else_does_not_fit() -> None:
    inner = npser.dumps(VALUE)
    for forged in (hmac.digest(KEY, inner, "sha256"), mac(KEY, inner, header=b""), mac(KEY, b"\xc1S\x01" + inner), bytes(32)):
        refused(b"\xc1S\x01" + inner + forged)


# -------------------------------------------------------------------------------------------------------------- rotation


def test_the_first_key_seals_and_all_open() -> None:
    old, new, newest = (bytes([n]) * 32 for n in (1, 2, 3))
    by_old = npser.dumps_signed(VALUE, old)
    by_new = npser.dumps_signed(VALUE, [new, old])
    assert by_new == npser.dumps_signed(VALUE, new)
    for keys in ([newest, new, old], (old, new), [new, old, new]):
        assert npser.loads_signed(by_old, keys) == npser.loads_signed(by_new, keys) == VALUE
    refused(by_old, [newest, new])


def test_all_keys_are_tried_whichever_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(first: bytes, second: Any) -> bool:
        compared.append(first)
        return hmac.compare_digest(first, second)

    keys = [bytes([n]) * 16 for n in range(4)]
    monkeypatch.setattr(seal, "compare_digest", compare)
    for key in keys:
        compared.clear()
        assert npser.loads_signed(npser.dumps_signed(VALUE, key), keys) == VALUE
        assert len(compared) == len(set(compared)) == len(keys)
        assert {len(mac) for mac in compared} == {MAC_SIZE}


# -------------------------------------------------------------------------------------------------- nothing is parsed first


def test_nothing_is_parsed_before_the_seal_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []

    def spy(name: str, function: Any) -> Any:
        def call(*args: Any) -> Any:
            parsed.append(name)
            return function(*args)

        return call

    monkeypatch.setattr(wires, "decode", spy("decode", wires.decode))
    monkeypatch.setattr(wires, "open_layers", spy("open_layers", wires.open_layers))
    for code, layer in layers._LAYERS.items():
        monkeypatch.setitem(layers._LAYERS, code, layer._replace(open=spy("layer", layer.open)))
    for at in range(len(SEALED)):
        refused(SEALED[:at] + bytes([SEALED[at] ^ 1]) + SEALED[at + 1 :])
    bomb = b"\xc1Z\x01\xff\xff\xff\xff\x0f" + bytes(100)
    refused(bomb)
    refused(Seal(OTHER).close(bomb))
    assert not parsed
    assert npser.loads_signed(SEALED, KEY) == VALUE
    assert parsed == ["open_layers", "decode"]


def test_what_was_verified_is_what_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = bytearray(SEALED)
    opened = Seal.open

    def open_and_change(self: Seal, data: bytes) -> memoryview:
        inner = opened(self, data)
        shared[3:] = bytes(len(shared) - 3)
        return inner

    monkeypatch.setattr(Seal, "open", open_and_change)
    assert npser.loads_signed(shared, KEY) == VALUE
    assert shared != SEALED


def test_what_verifies_and_does_not_decode_raises_whatever_the_default() -> None:
    for inner in (b"", b"\xc1", b"\xc1\x01", npser.dumps(VALUE)[:-1], b"{}", SEALED, npser.Codec(checksum="crc32").dumps(1)):
        with pytest.raises(DecodeError) as caught:
            npser.loads_signed(Seal(KEY).close(inner), KEY, default=0)
        assert not isinstance(caught.value, SignatureError)


# ------------------------------------------------------------------------------------------------------------ bad arguments

NO_KEYS: list[tuple[Any, type[Exception]]] = [
    (b"", ValueError),
    (b"x" * 15, ValueError),
    ([], ValueError),
    ((), ValueError),
    ([KEY, b"x" * 15], ValueError),
    ([b"", KEY], ValueError),
    ("k" * 32, TypeError),
    (["k" * 32], TypeError),
    (bytearray(32), TypeError),
    (memoryview(KEY), TypeError),
    ([bytearray(32)], TypeError),
    (None, TypeError),
    ([None], TypeError),
    (7, TypeError),
    ({KEY}, TypeError),
    ({KEY: 1}, TypeError),
    (iter([KEY]), TypeError),
    ([[KEY]], TypeError),
]


@pytest.mark.parametrize(("key", "error"), NO_KEYS, ids=lambda part: repr(part)[:20])
def test_what_is_no_key_is_refused_on_both_sides(key: Any, error: type[Exception]) -> None:
    for call in (lambda: npser.dumps_signed(VALUE, key), lambda: npser.loads_signed(SEALED, key, default=0), lambda: Seal(key)):
        with pytest.raises(error) as caught:
            call()
        assert not isinstance(caught.value, npser.NpserError)
        assert "kkk" not in str(caught.value)


@pytest.mark.parametrize("context", [None, 7, bytearray(b"x"), ["x"]], ids=repr)
def test_what_is_no_context(context: Any) -> None:
    with pytest.raises(TypeError, match="a context is bytes or str"):
        npser.dumps_signed(VALUE, KEY, context=context)


# ------------------------------------------------------------------------------------------------------------- the secret


def test_a_seal_does_not_show_or_hand_out_its_keys() -> None:
    sealer = Seal([KEY, OTHER])
    assert repr(sealer) == "<Seal of 2 keys>"
    for give in (pickle.dumps, copy.copy, copy.deepcopy, npser.dumps):
        with pytest.raises(TypeError):
            give(sealer)


def test_loads_says_what_to_do_about_sealed_bytes() -> None:
    with pytest.raises(SignatureError, match=r"sealed: loads_signed\(data, key\)"):
        npser.loads(SEALED)
