"""Codec: the verbs with their options bound."""

from __future__ import annotations

import copy
import io
import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest

import npser
from golden.corpus import NEEDS
from npser import Codec
from npser.envelope.seal import Seal
from npser.errors import DecodeError, SignatureError
from same import difference
from values import CLASSES, MAKERS, Point

KEY = b"0123456789abcdef0123456789abcdef"
OTHER = bytes(range(32))
VALUE = {"user": 7, "text": "tea and milk " * 200, "at": (1.5, None), "numbers": list(range(50))}

CODECS: dict[str, dict[str, Any]] = {
    "plain": {},
    "crc32": {"checksum": "crc32"},
    "zlib": {"compress": "zlib"},
    "zlib, crc32": {"compress": "zlib", "checksum": "crc32"},
    "sealed": {"key": KEY},
    "sealed, zlib": {"key": KEY, "compress": "zlib"},
    "sealed, context": {"key": [KEY, OTHER], "context": "session"},
    **{name: {"compress": name, "level": 1} for name in ("zstd", "lz4") if NEEDS[name]},
    **{name: {"checksum": name} for name in ("crc32c", "xxh3") if NEEDS[name]},
}


@pytest.fixture(params=CODECS)
def codec(request: pytest.FixtureRequest) -> Codec:
    return Codec(**CODECS[request.param])


# ----------------------------------------------------------------------------------------------------------------- verbs


def test_round_trip(codec: Codec) -> None:
    assert difference(VALUE, codec.loads(codec.dumps(VALUE))) is None
    file = io.BytesIO()
    codec.dump(VALUE, file)
    assert npser.read_frame(io.BytesIO(file.getvalue())) == codec.dumps(VALUE)
    assert codec.load(io.BytesIO(file.getvalue())) == VALUE


@pytest.mark.parametrize("name", MAKERS)
def test_every_kind_of_value(codec: Codec, name: str) -> None:
    value = MAKERS[name](9)
    bound = Codec(classes=CLASSES, compress_from=0, **{**_given(codec), **_key(codec)})
    assert difference(value, bound.loads(bound.dumps(value))) is None


def _given(codec: Codec) -> dict[str, Any]:
    return {name: value for name, value in codec._given().items() if name != "key"}


def _key(codec: Codec) -> dict[str, Any]:
    return {"key": KEY} if "hidden" in repr(codec) else {}


def test_the_bytes_say_how_they_are_read() -> None:
    written = {name: Codec(**options).dumps(VALUE) for name, options in CODECS.items()}
    for options in (options for options in CODECS.values() if "key" not in options):
        for name, data in written.items():
            if "key" in CODECS[name]:
                with pytest.raises(SignatureError, match="sealed"):
                    Codec(**options).loads(data)
            else:
                assert Codec(**options).loads(data) == VALUE


def test_with_a_key_nothing_else_is_read() -> None:
    codec = Codec(key=KEY)
    for options in (options for options in CODECS.values() if "key" not in options):
        data = Codec(**options).dumps(VALUE)
        with pytest.raises(SignatureError, match="not sealed"):
            codec.loads(data)
        assert codec.loads(data, default=5) == 5
        assert codec.load(io.BytesIO(data), default=5) == 5


def test_it_is_dumps_signed_and_loads_signed() -> None:
    assert Codec(key=KEY, context="a").dumps(VALUE) == npser.dumps_signed(VALUE, KEY, context=b"a")
    assert npser.loads_signed(Codec(key=KEY, compress="zlib").dumps(VALUE), [OTHER, KEY]) == VALUE
    assert Codec(key=[OTHER, KEY]).loads(npser.dumps_signed(VALUE, KEY)) == VALUE
    assert Codec().dumps(VALUE) == npser.dumps(VALUE)


def test_default_is_for_seals_only(codec: Codec) -> None:
    data = codec.dumps(VALUE)
    assert codec.loads(data, default=5) == VALUE
    assert Codec().loads(npser.dumps_signed(VALUE, KEY), default=None) is None
    if "hidden" in repr(codec):
        assert codec.loads(data[:-1], default=5) == 5
        assert codec.loads(b"", default=None) is None
    else:
        with pytest.raises(DecodeError):
            codec.loads(data[:-1], default=5)
    with pytest.raises(DecodeError):
        codec.loads("text", default=5)


def test_options_of_loads_and_dumps() -> None:
    codec = Codec(
        classes=(cls for cls in [Point]),
        numbers="array",
        tables="columns",
        copy="never",
        identity="preserve",
        default=lambda value: "something",
        limits=npser.Limits(depth=5),
    )
    assert codec.loads(codec.dumps(object())) == "something"
    assert codec.loads(codec.dumps(Point(1, 2))) == Point(1, 2) == codec.loads(codec.dumps(Point(1, 2)))
    assert not codec.loads(npser.dumps(np.arange(100))).flags.writeable
    assert codec.loads(npser.dumps([1, 2, 3])).tolist() == [1, 2, 3]
    assert set(codec.loads(npser.dumps([{"a": 1, "b": "x"}] * 3))) == {"a", "b"}
    shared = [1]
    back = codec.loads(codec.dumps([shared, shared, ""]))
    assert back[0] is back[1]
    with pytest.raises(npser.LimitError):
        codec.loads(npser.dumps([[[[[[1, "a"]]]]]]))
    with pytest.raises(npser.EncodeError):
        Codec().dumps(object())


# ------------------------------------------------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"compress": "brotli"}, ValueError),
        ({"checksum": "md5"}, ValueError),
        ({"checksum": "crc32", "key": KEY}, ValueError),
        ({"context": "x"}, ValueError),
        ({"context": 7, "key": KEY}, TypeError),
        ({"key": b"short"}, ValueError),
        ({"key": "text" * 8}, TypeError),
        ({"key": []}, ValueError),
        ({"key": b""}, ValueError),
        ({"identity": "all"}, ValueError),
        ({"numbers": "tuple"}, ValueError),
        ({"tables": []}, ValueError),
        ({"copy": True}, ValueError),
        ({"classes": Point}, TypeError),
        ({"classes": "Point"}, TypeError),
        ({"classes": [Point, 7]}, TypeError),
        ({"level": 3}, ValueError),
    ],
    ids=repr,
)
def test_arguments_that_make_no_sense(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        Codec(**options)
    assert not isinstance(caught.value, npser.NpserError)


def test_arguments_have_names() -> None:
    with pytest.raises(TypeError):
        Codec(KEY)  # type: ignore[misc]


# -------------------------------------------------------------------------------------------------- unchangeable, discreet


def test_it_cannot_be_changed(codec: Codec) -> None:
    for name in ("key", "_seal", "compress", "anything"):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(codec, name, None)
        with pytest.raises(AttributeError, match="cannot be changed"):
            delattr(codec, name)
    assert not hasattr(codec, "__dict__")


def test_repr() -> None:
    assert repr(Codec()) == "Codec()"
    assert repr(Codec(compress="zlib", level=3)) == "Codec(compress='zlib', level=3)"
    assert repr(Codec(key=[KEY, OTHER], context="a")) == "Codec(key=<hidden>, context='a')"


def test_the_key_is_nowhere_to_be_seen() -> None:
    codec = Codec(key=KEY)
    seen = [codec]
    for thing in seen:  # whatever can be reached by attributes, dicts and tuples
        assert thing != KEY
        assert KEY.decode() not in repr(thing)
        names = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ())]
        seen += [getattr(thing, name) for name in names if hasattr(thing, name)]
        seen += thing.values() if isinstance(thing, dict) else thing if isinstance(thing, tuple) else ()
    assert len(seen) > 10
    with pytest.raises(TypeError, match="a Codec with a key is not pickled"):
        pickle.dumps(codec)
    with pytest.raises(npser.EncodeError):
        npser.dumps(codec)


def test_copies_are_itself(codec: Codec) -> None:
    assert copy.copy(codec) is codec
    assert copy.deepcopy({"codec": codec})["codec"] is codec


def test_without_a_key_it_is_pickled() -> None:
    for options in (options for options in CODECS.values() if "key" not in options):
        codec = Codec(classes=[Point], **options)
        back = pickle.loads(pickle.dumps(codec))
        assert repr(back) == repr(codec)
        assert back.dumps(VALUE) == codec.dumps(VALUE)
        assert back.loads(codec.dumps(Point(1, 2))) == Point(1, 2)


def test_later_changes_of_arguments_do_not_matter() -> None:
    classes, keys = [Point], [KEY]
    codec = Codec(classes=classes, key=keys)
    data = codec.dumps(Point(1, 2))
    classes.clear()
    keys[:] = [OTHER]
    assert codec.dumps(Point(1, 2)) == data
    assert codec.loads(data) == Point(1, 2)


# ------------------------------------------------------------------------------------------------------ partial reads

ROWS = [{"id": i, "amount": i / 4, "name": f"n{i}"} for i in range(400)]


def test_select(codec: Codec) -> None:
    data = codec.dumps(ROWS)
    found = codec.loads(data, select=["name", "id"])
    assert list(found) == ["name", "id"]
    assert found["id"] == list(range(400))
    file = io.BytesIO()
    codec.dump({"a": 1, "b": [2]}, file)
    file.seek(0)
    assert codec.load(file, select=["b"]) == {"b": [2]}
    with pytest.raises(npser.NoSuchKeyError, match="'name'"):
        codec.loads(data, select=["nobody"])


def test_view(codec: Codec) -> None:
    data = codec.dumps({"rows": ROWS, "at": Point(1, 2)})
    for buffer in (data, bytearray(data), memoryview(data)):
        view = codec.view(buffer)
        assert view["rows"].columns == ("id", "amount", "name")
        assert view["rows"]["amount"].tolist() == [row["amount"] for row in ROWS]
        assert view["rows"][7:9] == ROWS[7:9]
    assert codec.view(data, numbers="list")["rows"]["id"][:3] == [0, 1, 2]
    with pytest.raises(ValueError, match="numbers is one of"):
        codec.view(data, numbers="arrays")  # type: ignore[arg-type]
    with pytest.raises(DecodeError):
        codec.view(data[:-1])["rows"]["name"]


def test_a_view_has_the_classes_and_limits_of_its_codec() -> None:
    data = npser.dumps({"at": [Point(1, 2)], "rows": ROWS})
    assert Codec(classes=[Point]).view(data)["at"][0] == Point(1, 2)
    assert type(Codec().view(data)["at"][0]) is npser.Placeholder
    assert Codec(tables="columns", numbers="array").view(data)["rows"][3] == ROWS[3]
    with pytest.raises(npser.LimitError):
        Codec(limits=npser.Limits(bytes=100)).view(data)


def test_a_view_and_a_selection_are_verified_first() -> None:
    codec, other = Codec(key=KEY), Codec(key=OTHER)
    data = codec.dumps(ROWS)
    for damaged in (data[:-1] + bytes([data[-1] ^ 1]), npser.dumps(ROWS), other.dumps(ROWS), b"", b"\xc1"):
        with pytest.raises(SignatureError):
            codec.view(damaged)
        with pytest.raises(SignatureError):
            codec.loads(damaged, select=["id"])
        assert codec.loads(damaged, select=["id"], default="a miss") == "a miss"
    with pytest.raises(SignatureError):
        Codec().view(data)
    assert npser.loads_signed(data, KEY, select=["id"])["id"][399] == 399
    assert npser.loads_signed(data, OTHER, select=["id"], default=None) is None


def test_what_php_wrote_has_no_parts() -> None:
    for codec in (Codec(wire="phpser"), Codec(key=KEY, wire="phpser")):
        data = codec.dumps(ROWS)
        assert codec.loads(data) == ROWS
        with pytest.raises(DecodeError, match="phpser"):
            codec.loads(data, select=["id"])
        with pytest.raises(DecodeError, match="phpser"):
            codec.view(data)


def test_a_seal_of_npser_holds_no_payload_of_phpser() -> None:
    data = Seal(KEY).close(npser.dumps([1], wire="phpser"))
    for read in (Codec(key=KEY).loads, Codec(key=KEY).view, lambda data: npser.loads_signed(data, KEY)):
        with pytest.raises(DecodeError, match="phpser"):
            read(data)


# --------------------------------------------------------------------------------------------------------------- threads


def test_threads_share_codecs() -> None:
    codecs = [Codec(**options) for options in CODECS.values()]
    values = [{"n": n, "text": "tea " * (400 + n), "rows": [{"id": i, "n": n} for i in range(n)]} for n in range(20)]
    work = [(codec, value, codec.dumps(value)) for codec in codecs for value in values]
    wrong: list[str] = []
    stop = time.monotonic() + 1.0

    def run(offset: int) -> None:
        at = offset
        while time.monotonic() < stop and not wrong:
            at = (at + 1) % len(work)
            codec, value, data = work[at]
            try:
                if codec.loads(data) != value or codec.loads(codec.dumps(value)) != value:
                    wrong.append(repr(codec))
            except Exception as error:
                wrong.append(repr(error))

    threads = [threading.Thread(target=run, args=(17 * index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
