"""What is refused, and what the refusal says: the path, the position, and whose bytes these are."""

from __future__ import annotations

import bz2
import copy
import gzip
import json
import lzma
import pickle
import struct
import threading
import zlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npser
from npser import errors
from npser.errors import (
    ClassNotAllowedError,
    DecodeError,
    EncodeError,
    ForeignBytesError,
    LimitError,
    NpserError,
    SignatureError,
    TruncatedError,
)
from npser.limits import MAX_DEPTH
from same import difference
from values import CLASSES, Box, Plain, Point, Stateful

BAD = object()

# ---------------------------------------------------------------------------------------------------------------- paths

PATHS: dict[str, tuple[Any, str]] = {
    "the value itself": (BAD, "$"),
    "an item of a list": ([0, BAD], "$[1]"),
    "an item of a long list": ([None] * 500 + [BAD], "$[500]"),
    "an item of a tuple": ((1, 2, BAD), "$[2]"),
    "an item of a long tuple": ((1,) * 100 + (BAD,), "$[100]"),
    "an item of a deque": (deque([1, BAD]), "$[1]"),
    "a value under a key": ({"a": BAD}, "$['a']"),
    "a value under a key that is no word": ({"it's": BAD}, '$["it\'s"]'),
    "a value under an int key": ({7: BAD}, "$[7]"),
    "a value under a bytes key": ({b"k": BAD}, "$[b'k']"),
    "a value under a float key": ({1.5: BAD}, "$[1.5]"),
    "a value under None": ({None: BAD}, "$[None]"),
    "a value under a tuple key": ({(1, 2): BAD}, "$[<tuple>]"),
    "a value of an OrderedDict": (OrderedDict([("x", 1), ("y", BAD)]), "$['y']"),
    "a value of a defaultdict": (defaultdict(int, {1: BAD}), "$[1]"),
    "a value of a Counter": (Counter({"c": BAD}), "$['c']"),
    "a value of a wide dict": ({**{f"k{i}": i for i in range(100)}, "bad": BAD}, "$['bad']"),
    "a key": ({1: 0, BAD: 1}, "$.keys()[1]"),
    "a part of a key": ({(1, BAD): 1}, "$.keys()[0][1]"),
    "a member of a set": ({BAD}, "$[0]"),
    "a cell of a table": ([{"a": 1, "b": 2}, {"a": 3, "b": BAD}], "$[1]['b']"),
    "a cell of an uneven table": ([{"a": 1}, {"b": 2}, {"a": 3}, {"b": BAD}], "$[3]['b']"),
    "a cell of a table in a table": ([{"in": [{"x": 1}]}, {"in": [{"x": 1}, {"x": BAD}]}], "$[1]['in'][1]['x']"),
    "an item of rows": ([(1, "a"), (2, BAD)], "$[1][1]"),
    "an item of lists of rows": ([[1, "a"], [2, "b"], [BAD, "c"]], "$[2][0]"),
    "an item of ragged lists": ([[], [1, 2], [3, BAD]], "$[2][1]"),
    "a part of a slice": ([slice(1, BAD)], "$[0].stop"),
    "a field": (Box(BAD), "$.value"),
    "a field of one of many": ([Box(1), Box(2), Box(BAD)], "$[2].value"),
    "an attribute": ([Plain(a=1), Plain(a=1, b=BAD)], "$[1].b"),
    "an item of a named tuple": ([Point(1, 2), Point(1, BAD)], "$[1].y"),
    "a state": (Stateful(BAD), "$.__getstate__()[1]"),
    "an element of an object array": ([np.array([1, BAD], object)], "$[0][1]"),
    "among leaves and containers": ([1, [2], {"a": 3}, (4, BAD), "x"], "$[3][1]"),
    "among objects of several classes": ([Box(1), Point(1, 2), Box([BAD])], "$[2].value[0]"),
    "a Fraction or a zone that a leaf column refuses": ({"at": [None, np.zeros(2, [("o", "O")])]}, "$['at'][1]"),
    "deep": ({"orders": [{"lines": [{"price": (1, [BAD])}]}]}, "$['orders'][0]['lines'][0]['price'][1][0]"),
}


@pytest.mark.parametrize("name", PATHS)
def test_an_encode_error_says_where(name: str) -> None:
    value, path = PATHS[name]
    with pytest.raises(EncodeError) as caught:
        npser.dumps(value)
    assert caught.value.path == path
    assert str(caught.value).endswith(f" in {path}")
    assert caught.value.pos is None
    with pytest.raises(EncodeError) as caught:
        npser.dumps({"in": [0, value]})
    assert caught.value.path == path.replace("$", "$['in'][1]", 1)


@pytest.mark.parametrize("name", [name for name in PATHS if "wide" not in name])
def test_an_encode_error_says_where_with_identity_preserved(name: str) -> None:
    value, path = PATHS[name]
    with pytest.raises(EncodeError) as caught:
        npser.dumps(value, identity="preserve")
    assert caught.value.path == path


def test_a_path_stays_short_and_runs_no_code() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("repr ran")

    with pytest.raises(EncodeError) as caught:
        npser.dumps({Loud(): 1, "x" * 10_000: [{Loud(): BAD}]})
    assert len(str(caught.value)) < 1000
    with pytest.raises(EncodeError) as caught:
        npser.dumps({10**5000: BAD})
    assert len(str(caught.value)) < 1000


def test_a_decode_error_says_where_in_the_value() -> None:
    data = npser.dumps({"orders": [{"id": i, "note": f"text {i} {i * i}"} for i in range(200)]})
    at = data.index(b"text 100")
    with pytest.raises(DecodeError) as caught:
        npser.loads(data[:at] + b"\xff" + data[at + 1 :])
    assert caught.value.path is not None
    assert caught.value.path.startswith("$['orders']")
    assert caught.value.path.endswith("['note']")
    assert caught.value.pos is not None
    assert 0 < caught.value.pos <= len(data)


def test_a_truncated_payload_says_so() -> None:
    data = npser.dumps(list(range(0, 100_000, 7)) + [1, 5])
    with pytest.raises(TruncatedError) as caught:
        npser.loads(data[:-1])
    assert caught.value.pos is not None


# ------------------------------------------------------------------------------------------------------ error classes

ALL = [getattr(errors, name) for name in errors.__all__]


def test_there_is_one_root() -> None:
    assert all(issubclass(cls, NpserError) for cls in ALL)
    assert issubclass(EncodeError, TypeError)
    assert issubclass(DecodeError, ValueError)
    assert issubclass(TruncatedError, EOFError)
    for cls in (TruncatedError, LimitError, SignatureError, ClassNotAllowedError, ForeignBytesError):
        assert issubclass(cls, DecodeError)
    assert all(getattr(npser, cls.__name__) is cls for cls in ALL)


@pytest.mark.parametrize("cls", ALL)
def test_errors_survive_pickling_and_copying(cls: type[NpserError]) -> None:
    error = cls("what", path="$['a'][0]", pos=None if cls is EncodeError else 17)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is cls
        assert (again.message, again.path, again.pos) == (error.message, error.path, error.pos)
        assert str(again) == str(error)


# ---------------------------------------------------------------------------------------------------------------- depth


def nested(wrap: Callable[[Any, int], Any], depth: int, leaf: Any = 1) -> Any:
    value = leaf
    for level in range(depth):
        value = wrap(value, level)
    return value


NESTS: dict[str, Callable[[Any, int], Any]] = {
    "lists": lambda value, level: [value],
    "tuples": lambda value, level: (value,),
    "dicts": lambda value, level: {"a": value},
    "dicts of int keys": lambda value, level: {level: value},
    "deques": lambda value, level: deque([value]),
    "frozensets": lambda value, level: frozenset([value]),
    "tuples as keys": lambda value, level: {(1, level): value} if level % 2 else [value],
    "slices": lambda value, level: slice(1, value),
    "ordered dicts": lambda value, level: OrderedDict(x=value),
    "objects": lambda value, level: Box(value),
    "attributes": lambda value, level: Plain(a=value, b=1),
    "named tuples": lambda value, level: Point(level, value),
    "object arrays": lambda value, level: _object_array(value),
    "everything": lambda value, level: MIXED[level % len(MIXED)](value),
    "with leaves around": lambda value, level: [level, value, "x"],
    "two and two": lambda value, level: [value, [level]],
}
MIXED: list[Callable[[Any], Any]] = [
    lambda value: [value],
    lambda value: {"k": value, "l": 1},
    lambda value: (value, None),
    Box,
    lambda value: deque([value]),
    lambda value: {1: value},
]


def _object_array(value: Any) -> Any:
    array = np.empty(1, object)
    array[0] = value
    return array


def on_a_small_stack(work: Callable[[], None]) -> None:
    """Run in a thread whose stack has the least size that there is."""
    caught: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            caught.append(error)

    before = threading.stack_size(32 * 1024)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if caught:
        raise caught[0]


@pytest.mark.parametrize("name", NESTS)
@pytest.mark.parametrize("identity", ["objects", "preserve"])
def test_depth_is_the_same_both_ways_whatever_the_stack(name: str, identity: Any) -> None:
    deepest = nested(NESTS[name], MAX_DEPTH - (name == "two and two") - (name == "tuples as keys"))
    too_deep = nested(NESTS[name], MAX_DEPTH + 1)
    payloads: list[bytes] = []
    back: list[Any] = []

    def work() -> None:
        payloads.append(npser.dumps(deepest, identity=identity))
        back.append(npser.loads(payloads[0], classes=CLASSES))
        back.append(npser.loads(payloads[0]))
        with pytest.raises(EncodeError, match=str(MAX_DEPTH)):
            npser.dumps(too_deep, identity=identity)

    on_a_small_stack(work)
    assert difference(deepest, back[0]) is None


def test_a_deeper_payload_is_refused() -> None:
    from npser.tags import Node

    for node in (bytes([Node.LIST]), bytes([Node.TUPLE_ROW, 1]), bytes([Node.DICT, Node.LEAF])):
        shape = node * (MAX_DEPTH + 1) + bytes([Node.LEAF])
        size = struct.pack("<B", len(shape) & 0x7F | 0x80) + struct.pack("<B", len(shape) >> 7)
        for tail in (b"", bytes(5000)):
            with pytest.raises(LimitError, match=str(MAX_DEPTH)):
                npser.loads(b"\xc1\x01\xff" + size + shape + tail)
        with pytest.raises(LimitError, match="more than 3 containers"):
            npser.loads(npser.dumps([[[[1, "a"], 2], 3], 4]), limits=npser.Limits(depth=3))


# ------------------------------------------------------------------------------------------------------------ overhead


def content(value: Any) -> int:
    """Bytes that the content of a scalar needs."""
    if value is None or type(value) is bool:
        return 0
    if type(value) is int:
        return (value if value >= 0 else ~value).bit_length() // 8 + 1
    if type(value) is float:
        return 8
    return len(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value)


SCALARS: list[Any] = [
    None, True, False, 0.0, -0.0, float("nan"), 1e300, "", "a", "npser", "köln", "\0", "😀" * 50, b"", b"\0", b"abc", b"x" * 300,
    b"x" * 16_383, "x" * 5000, *[sign * 2**power + off for power in range(64) for sign in (1, -1) for off in (-1, 0, 1)],
]  # fmt: skip


def test_a_scalar_takes_at_most_four_bytes_more_than_its_content() -> None:
    for value in SCALARS:
        data = npser.dumps(value)
        # widths are 1, 2, 4 and 8, so three bytes more may be needed where 3 is the least
        allowed = 4 if type(value) is not int or -(2**63) <= value < 2**63 else 8
        assert len(data) <= content(value) + allowed + (3 if type(value) is int else 0), value
        assert difference(value, npser.loads(data)) is None


@pytest.mark.parametrize("value", [5, 200, 40_000, -1, 2**31 - 1, 2**63 - 1, -(2**63), 300, -129])
def test_an_int_takes_at_most_four_bytes_more_than_its_content(value: int) -> None:
    assert len(npser.dumps(value)) <= content(value) + 4


def test_long_scalars_have_little_overhead_too() -> None:
    for value in (b"x" * 100_000, "y" * 100_000, "\ud800" * 1000, 3**100_000, bytearray(b"z" * 5000)):
        size = len(value) if not isinstance(value, int) else content(value)
        assert len(npser.dumps(value)) <= size * (3 if value == "\ud800" * 1000 else 1) + 12


# -------------------------------------------------------------------------------------------------------- foreign bytes


def _npy() -> bytes:
    import io

    file = io.BytesIO()
    np.save(file, np.arange(3))
    return file.getvalue()


FOREIGN: dict[str, tuple[bytes, str]] = {
    "pickle 2": (pickle.dumps([1], 2), "pickle"),
    "pickle 4": (pickle.dumps([1], 4), "pickle"),
    "pickle 5": (pickle.dumps({"a": 1}, 5), "pickle"),
    "cachelib": (b"!" + pickle.dumps(1), "pickle"),
    "JSON object": (json.dumps({"a": 1}).encode(), "JSON"),
    "JSON array": (b" [1, 2]", "JSON"),
    "JSON text": (b'"x"', "JSON"),
    "JSON number": (b"12", "JSON"),
    "JSON null": (b"null", "JSON"),
    "msgpack map": (b"\x81\xa1a\x01", "MessagePack"),
    "msgpack array": (b"\x93\x01\x02\x03", "MessagePack"),
    "msgpack long map": (b"\xde\x00\x10", "MessagePack"),
    "gzip": (gzip.compress(b"x"), "gzip"),
    "zlib": (zlib.compress(b"x"), "zlib"),
    "zlib fast": (zlib.compress(b"x", 1), "zlib"),
    "zlib best": (zlib.compress(b"x", 9), "zlib"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00", "zstd"),
    "bzip2": (bz2.compress(b"x"), "bzip2"),
    "xz": (lzma.compress(b"x"), "xz"),
    "npy": (_npy(), "npy"),
    "npz": (b"PK\x03\x04rest", "zip"),
    "igbinary": (b"\x00\x00\x00\x02\x14\x00", "igbinary"),
    "Arrow": (b"ARROW1\x00\x00", "Arrow"),
    "Arrow stream": (b"\xff\xff\xff\xff\x10\x00", "Arrow"),
    "Parquet": (b"PAR1\x15", "Parquet"),
    "phpser": (b"\x01\x04abc", "phpser"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_bytes_are_recognised(name: str) -> None:
    data, said = FOREIGN[name]
    for cut in (data, data[:6] if name not in ("npy", "Arrow") else data):
        with pytest.raises(ForeignBytesError, match=said) as caught:
            npser.loads(cut)
        assert caught.value.pos == 0


def test_every_first_byte_has_an_answer() -> None:
    for first in range(256):
        for rest in (b"", b"\0", b"\1\2\3\4"):
            with pytest.raises(DecodeError):
                npser.loads(bytes([first]) + rest)


def test_no_bytes_and_other_versions() -> None:
    with pytest.raises(TruncatedError):
        npser.loads(b"")
    for head in (b"\xc1", b"\xc1\x01"):
        with pytest.raises(TruncatedError):
            npser.loads(head)
    with pytest.raises(DecodeError, match="version 2"):
        npser.loads(b"\xc1\x02\x00")
    with pytest.raises(DecodeError, match="version 0"):
        npser.loads(b"\xc1\x00\x00")


def test_a_payload_is_not_mistaken_for_another_format() -> None:
    """Django and others try int() first, and MessagePack and UTF-8 readers must not take it for theirs."""
    for value in (1, "12", [1, 2], None):
        data = npser.dumps(value)
        with pytest.raises(ValueError, match="invalid literal"):
            int(data)
        with pytest.raises(UnicodeDecodeError):
            data.decode()
        with pytest.raises(pickle.UnpicklingError):
            pickle.loads(data)
