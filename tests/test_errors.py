"""What is refused, and what the refusal says: the path, the position, and whose bytes these are."""

from __future__ import annotations

import bz2
import copy
import datetime
import gzip
import io
import json
import lzma
import pickle
import struct
import sys
import threading
import zlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

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
from values import CLASSES, BareSlots, Box, Colour, FrozenSlotted, Order, Plain, Point, Slotted, Stateful

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
    data = npser.dumps({"orders": [{"id": i, "note": f"text {i} {i * i}"} for i in range(5000)]})
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

    # CPython 3.13 frees what is nested in C recursion that it bounds by a count, not by the size of the stack
    before = threading.stack_size((64 if sys.version_info >= (3, 13) else 32) * 1024)
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


# ----------------------------------------------------------------------------------------------- the path of every step

class Zone(datetime.tzinfo):
    """A tzinfo that a leaf column refuses: its place is found in another way than that of a class."""

    def utcoffset(self, _moment: datetime.datetime | None) -> datetime.timedelta:
        return datetime.timedelta(0)


MOMENT = datetime.datetime(2020, 1, 1)
CULPRITS: dict[str, Any] = {
    "object": BAD,
    "datetime": MOMENT.replace(tzinfo=Zone()),
    "time": datetime.time(1, tzinfo=Zone()),
    "function": len,
    "module": pickle,
    "generator": (item for item in ()),
    "memoryview": memoryview(b"x"),
    "masked array": np.ma.zeros(2),
    "array with objects in it": np.zeros(2, [("o", "O")]),
}

STEPS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "slots": (lambda x: Slotted(1, x), "$.name"),
    "frozen slots": (lambda x: [FrozenSlotted(1.0), FrozenSlotted(2.0, x)], "$[1].at"),
    "attrs": (lambda x: Order(1, [1, x]), "$.lines[1]"),
    "bare slots": (lambda x: BareSlots(a=1, b=x), "$.b"),
    "some slots are not set": (lambda x: [BareSlots(a=1), BareSlots(), BareSlots(b=x)], "$[2].b"),
    "among pooled leaves": (lambda x: {"a": "x", "b": None, "c": x, "d": []}, "$['c']"),
    "behind many leaves": (lambda x: {"a": [1] * 300 + [x]}, "$['a'][300]"),
    "behind many moments": (lambda x: {"a": [MOMENT] * 300 + [x]}, "$['a'][300]"),
    "behind moments and None": (lambda x: [MOMENT, None] * 300 + [x], "$[600]"),
    "behind leaves of many types": (lambda x: [[MOMENT, None, 1, "a"] * 30 + [x]], "$[0][120]"),
    "behind None": (lambda x: [None, x], "$[1]"),
    "a cell of lists of rows": (lambda x: [[MOMENT, 1], [x, 1]], "$[1][0]"),
    "a missing key before": (lambda x: [{"a": 1}, {"a": 2, "b": 1}, {}, {"b": x}], "$[3]['b']"),
    "a table under a key": (lambda x: {"q": [{"a": MOMENT}, {"a": x}], "z": 1}, "$['q'][1]['a']"),
    "a list in a table": (lambda x: {"k": [{"a": MOMENT, "b": [MOMENT, x]}]}, "$['k'][0]['b'][1]"),
    "an attribute that others lack": (lambda x: [Plain(a=1), Plain(b=1), Plain(b=x)], "$[2].b"),
    "start": (lambda x: slice(x, 1), "$.start"),
    "stop": (lambda x: [slice(1, 2), slice(1, x)], "$[1].stop"),
    "step": (lambda x: slice(1, 2, x), "$.step"),
    "states": (lambda x: [Stateful(1), Stateful(x)], "$[1].__getstate__()[1]"),
    "element": (lambda x: filled(np.empty(2, object), 1, x), "$[1]"),
    "element of a matrix": (lambda x: filled(np.empty((2, 3), object), (1, 0), x), "$[1, 0]"),
    "element in Fortran order": (lambda x: filled(np.empty((2, 3), object, order="F"), (1, 2), x), "$[1, 2]"),
    "element of a 0-d array": (lambda x: filled(np.empty((), object), (), x), "$[()]"),
    "element of one of many": (lambda x: [np.array([1], object), filled(np.empty((2, 2), object), (0, 1), x)], "$[1][0, 1]"),
    "in a union": (lambda x: [1, (2, {"a": [x]}), Box([{"q": 1}]), None, [3]], "$[1][1]['a'][0]"),
    "a list among others": (lambda x: [1, [2], {"a": 1}, [1, x], (1,)], "$[3][1]"),
    "objects in lists in objects": (lambda x: [Box(1), [Box([Box(x)])]], "$[1][0].value[0].value"),
    "a named tuple in a dict in a deque": (lambda x: deque([1, {"p": Point(1, (x,))}]), "$[1]['p'].y[0]"),
    "an OrderedDict in a defaultdict": (lambda x: defaultdict(list, {3: OrderedDict(a=[x])}), "$[3]['a'][0]"),
}  # fmt: skip


def filled(array: Any, at: Any, value: Any) -> Any:
    array[at] = value
    return array


@pytest.mark.parametrize("culprit", CULPRITS)
@pytest.mark.parametrize("step", STEPS)
def test_every_culprit_is_found_behind_every_step(step: str, culprit: str) -> None:
    make, path = STEPS[step]
    bad = CULPRITS[culprit]
    if isinstance(bad, np.ndarray) and "state" in step:
        make = lambda x: [Stateful([1]), Stateful([x])]  # noqa: E731
        path = path.replace("[1].__getstate__()[1]", "[1].__getstate__()[1][0]")
    for identity in ("objects", "preserve"):
        with pytest.raises(EncodeError) as caught:
            npser.dumps(make(bad), identity=identity)  # type: ignore[arg-type]
        assert caught.value.path == path
        assert str(caught.value) == f"{caught.value.message} in {path}"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (object(), "builtins.object"),
        (len, "builtins.builtin_function_or_method"),
        (pickle, "builtins.module"),
        (int, "builtins.type"),
        (memoryview(b"x"), "builtins.memoryview"),
        (type("Mine", (dict,), {})(), "Mine"),
        (type("Mine", (list,), {})(), "Mine"),
        (type("Mine", (int,), {})(), "Mine"),
        (type("Mine", (str,), {})("x"), "Mine"),
        (np.ma.zeros(2), "MaskedArray"),
        (MOMENT.replace(tzinfo=Zone()), "Zone"),
        (threading.Lock(), "lock"),
        (iter([]), "list_iterator"),
    ],
)
def test_the_message_names_the_type(value: Any, name: str) -> None:
    for inside in (value, [1, value], {"a": value}):
        with pytest.raises(EncodeError) as caught:
            npser.dumps(inside)
        assert name in caught.value.message


def test_the_message_says_how_to_get_on() -> None:
    class Mine(dict):
        pass

    for value, hint in ((object(), "default="), (Mine(), "subclass of dict"), (np.ma.zeros(2), "np.asarray")):
        with pytest.raises(EncodeError, match=hint):
            npser.dumps([value])
    with pytest.raises(EncodeError, match="default="):
        npser.dumps([Mine()])
    with pytest.raises(EncodeError, match="preserve"):
        loop: list[Any] = []
        loop.append(loop)
        npser.dumps(loop)
    assert npser.loads(npser.dumps([object()], default=lambda thing: type(thing).__name__)) == ["object"]
    with pytest.raises(EncodeError, match="gives no substitute for builtins.object") as caught:
        npser.dumps({"a": object()}, default=lambda thing: thing)
    assert caught.value.path == "$['a']"


# -------------------------------------------------------------------------------------------------- where a decode error is


@pytest.mark.parametrize("make", [
    lambda n: list(range(0, 7 * n, 7)) + [1],
    lambda n: [i / 7 for i in range(n)],
    lambda n: [f"text {i * i}" for i in range(n)],
    lambda n: [{"a": i, "b": str(i)} for i in range(n)],
    lambda n: {"x": [Box(i) for i in range(n)], "y": {i: i for i in range(n)}},
    lambda n: [np.random.default_rng(n).random(n), "x"],
    lambda n: [(1, "a", None, 2.5)] * n,
])  # fmt: skip
def test_decode_errors_carry_their_place(make: Callable[[int], Any]) -> None:
    for n in (3, 300):
        data = npser.dumps(make(n))
        for end in range(3, len(data), 1 + len(data) // 50):
            for damaged in (data[:end], data[: end - 1] + b"\xff" + data[end:]):
                try:
                    npser.loads(damaged)
                except DecodeError as error:
                    assert error.pos is not None
                    assert 0 <= error.pos <= len(damaged)
                    assert f"at byte {error.pos}" in str(error)
                    assert error.path is None or error.path.startswith("$")


def test_decode_errors_of_a_column_name_its_place() -> None:
    class Wrong(NamedTuple):
        a: Any

    for value, path in (
        ({"k": [Wrong([Box(1)])]}, "$['k'][*].a[*]"),
        ([Box(1), {"x": Box(1)}], "$"),
        ({"k": {"deep": (1, [Box(1)])}}, "$['k']['deep'][1][*]"),
    ):
        with pytest.raises(DecodeError) as caught:
            npser.loads(npser.dumps(value), classes={"values:Box": Colour})
        assert caught.value.path is not None
        assert caught.value.path.startswith(path)


# ------------------------------------------------------------------------------------------------------- errors as objects


BUILTIN = {
    "EncodeError": (TypeError,),
    "DecodeError": (ValueError,),
    "TruncatedError": (ValueError, EOFError),
    "LimitError": (ValueError,),
    "SignatureError": (ValueError,),
    "ClassNotAllowedError": (ValueError,),
    "ForeignBytesError": (ValueError,),
    "NpserError": (Exception,),
}


@pytest.mark.parametrize("cls", ALL)
def test_errors_are_the_builtins_that_callers_catch(cls: type[NpserError]) -> None:
    for builtin in BUILTIN[cls.__name__]:
        with pytest.raises(builtin):
            raise cls("what")
    assert cls("what").path is None
    assert cls("what").pos is None
    assert str(cls("what")) == "what"
    assert str(cls("what", path="$[0]")) == "what in $[0]"
    assert str(cls("what", pos=0)) == "what at byte 0"
    assert str(cls("what", path="$", pos=3)) == "what at byte 3 in $"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_errors_that_were_raised_survive_every_pickle(protocol: int) -> None:
    for raises in (
        lambda: npser.dumps({"a": [BAD]}),
        lambda: npser.loads(npser.dumps([1, "a", []])[:-1]),
        lambda: npser.loads(b""),
        lambda: npser.loads(b"\x80\x05\x95"),
        lambda: npser.loads(npser.dumps([7] * 1000), limits=npser.Limits(items=0, expansion=0)),
    ):
        with pytest.raises(NpserError) as caught:
            raises()
        error = caught.value
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error)
        assert (again.message, again.path, again.pos, str(again)) == (error.message, error.path, error.pos, str(error))


# ------------------------------------------------------------------------------------------------- depth, whatever the stack


@pytest.mark.parametrize("name", NESTS)
def test_depth_needs_no_recursion(name: str) -> None:
    """With a hundred and fifty frames left, 512 levels are written, read and refused as ever."""
    deepest = nested(NESTS[name], MAX_DEPTH - (name == "two and two") - (name == "tuples as keys"))
    too_deep = nested(NESTS[name], MAX_DEPTH + 1)
    back, refused = [], None
    npser.loads(npser.dumps(deepest), classes=CLASSES)  # what is imported late is imported now
    frame, frames = sys._getframe(), 0
    while frame is not None:
        frame, frames = frame.f_back, frames + 1  # type: ignore[assignment]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 150)
    try:
        data = npser.dumps(deepest)
        back = [npser.loads(data, classes=CLASSES) for _ in range(1)]
        npser.loads(data)
        npser.loads(data, numbers="array", tables="columns", copy="never")
        try:
            npser.dumps(too_deep)
        except EncodeError as error:
            refused = error
    finally:
        sys.setrecursionlimit(before)
    assert difference(deepest, back[0]) is None
    assert refused is not None
    assert "512" in refused.message
    assert refused.path is not None


def test_the_deepest_shape_may_be_hot() -> None:
    deepest = nested(NESTS["everything"], MAX_DEPTH)
    data = npser.dumps(deepest)
    for _ in range(40):
        found = npser.loads(data, classes=CLASSES)
    assert difference(deepest, found) is None


# ----------------------------------------------------------------------------------------------------- overhead, to the byte


WIDE_INTS = [sign * 2**power + off for power in range(64) for sign in (1, -1) for off in (-1, 0, 1)]


@pytest.mark.parametrize("nbytes", range(1, 9))
def test_ints_take_at_most_four_bytes_more_than_they_need(nbytes: int) -> None:
    values = [value for value in WIDE_INTS if -(2**63) <= value < 2**63 and content(value) == nbytes]
    assert values
    assert max(len(npser.dumps(value)) for value in values) <= nbytes + 4
    assert all(difference(value, npser.loads(npser.dumps(value))) is None for value in values)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 127, 128, 129, 255, 256, 16_383, 16_384, 65_536, 100_000])
def test_text_and_bytes_take_at_most_four_bytes_more_than_they_need(n: int) -> None:
    for unit in ("a", "\0", "ü", "日", "😀", "\n"):
        value = unit * (n // len(unit.encode()))
        assert len(npser.dumps(value)) <= content(value) + 4
        assert npser.loads(npser.dumps(value)) == value
    if n <= 16_383:
        for value in (b"a" * n, bytes(n), b"\xff" * n):
            assert len(npser.dumps(value)) <= n + 4
            assert npser.loads(npser.dumps(value)) == value


def test_what_has_no_content_takes_four_bytes_at_most() -> None:
    for value in (None, True, False):
        assert len(npser.dumps(value)) <= 4
    for number in (0.0, -0.0, 1.5, float("nan"), float("inf"), 5e-324):
        assert len(npser.dumps(number)) <= 12


# -------------------------------------------------------------------------------------------------- whose bytes, the rest


def _saved(save: Callable[..., Any]) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_every_protocol(protocol: int) -> None:
    for value in (1, None, "text", [1, 2], {"a": (1, 2)}, b"x" * 100_000, Box(1), np.arange(5)):
        with pytest.raises(ForeignBytesError, match="pickle"):
            npser.loads(pickle.dumps(value, protocol))


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (_saved(lambda file: np.savez(file, a=np.arange(3))), "npz"),
        (_saved(lambda file: np.savez_compressed(file, a=np.arange(3))), "npz"),
        (_saved(lambda file: np.save(file, np.zeros((2, 2)))), "npy"),
        *[(zlib.compress(b"text" * 99, level), "zlib") for level in range(10)],
        *[(json.dumps(value).encode(), "JSON") for value in ({}, [], "x", 1, -1.5, True, False, None, {"a": [1]})],
        (b'\n  {"a": 1}', "JSON"),
        *[(bytes([first, 1, 1]), "MessagePack") for first in (0x81, 0x8F, 0x91, 0x9F, 0xDC, 0xDD, 0xDE, 0xDF)],
        (gzip.compress(b"text"), "gzip"),
        (bz2.compress(b"text"), "bzip2"),
        (lzma.compress(b"text"), "xz"),
        (bytes.fromhex("28b52ffd2004210000"), "zstd"),
        (bytes.fromhex("04224d186440a7"), "lz4"),
        (b"\0\0\0\2\x06\x01", "igbinary"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"ARROW1\0\0\xff\xff\xff\xff", "Arrow"),
        (b"\xff\xff\xff\xff\x78\0\0\0", "Arrow"),
    ],
    ids=lambda case: str(case)[:20],
)  # fmt: skip
def test_whose_bytes_these_are(data: bytes, name: str) -> None:
    for buffer in (data, bytearray(data), memoryview(data)):
        with pytest.raises(ForeignBytesError, match=name) as caught:
            npser.loads(buffer)
        assert caught.value.pos == 0


def test_a_version_that_is_not_known_is_not_called_foreign() -> None:
    for version in (0, 2, 3, 255):
        for rest in (b"", b"\0", npser.dumps([1])[2:]):
            with pytest.raises(DecodeError, match=f"version {version}.*reads version 1") as caught:
                npser.loads(bytes([0xC1, version]) + rest)
            assert not isinstance(caught.value, (ForeignBytesError, TruncatedError))
            assert caught.value.pos == 1


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 0, 255, 256, -1, 2**31, 2**63 - 1, 2**64, 3**500, 0.5, "", "a", "\ud800", b"", b"a", b"a" * 20_000, bytearray(b"a"),
        1j, MOMENT, MOMENT.date(), range(3), ..., np.int8(1), np.arange(3), np.array("a"), np.zeros(9), np.array([1, "a"], object),
        [], [1], [0] * 99, [1, 2.0], [None], [True], ["a"], [[]], {}, {"a": 1}, {1: 2}, (), (1,), set(), {1}, frozenset([1]), deque(), slice(1),
        [{"a": 1}, {"a": 2}], [{"a": 1}, {}], Box(1), Plain(), Point(1, 2), Stateful(1), Colour.RED, OrderedDict(a=1), Counter("a"),
    ],
    ids=lambda value: f"{type(value).__name__} {str(value)[:20]}",
)  # fmt: skip
def test_nothing_may_stand_behind_a_payload(value: Any) -> None:
    data = npser.dumps(value)
    for tail in (b"\0", b"\xff", b"\x01", b"\n", data):
        with pytest.raises(DecodeError):
            npser.loads(data + tail, classes=CLASSES)
        with pytest.raises(DecodeError):
            npser.loads(data + tail, numbers="array", tables="columns", copy="never")


def test_what_a_client_decoded_already_is_refused_with_a_hint() -> None:
    for text in ("", "abc", npser.dumps("x").decode("latin-1")):
        with pytest.raises(DecodeError, match="decode_responses=True"):
            npser.loads(text)
