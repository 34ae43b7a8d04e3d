"""concat: payloads of one shape, end to end, as if their lists had been joined before they were written."""

from __future__ import annotations

import datetime
import random
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npser
from npser.errors import DecodeError, EncodeError, LimitError
from same import difference
from strategies import keysets, scalars
from values import CLASSES, MAKERS, Box, Frozen, Gauge, Packed, Plain, Point, Slotted, Stateful

LEAVES = [
    "None", "bool", "int", "int/affine", "int/small", "int/large", "float", "float/prices", "complex", "str", "str/few",
    "bytes", "Decimal", "date", "datetime/zoned", "UUID", "ipaddress", "numpy scalars",
]  # fmt: skip
ROWS = [
    "dict", "dict/other order", "dict/any keys", "dict/int keys", "dict/empty", "NamedTuple", "dataclass", "dataclass/slots",
    "dataclass/derived", "dataclass/empty", "attrs", "class/slots",
]  # fmt: skip


def joined(*lists: list[Any]) -> bytes:
    return npser.concat([npser.dumps(part) for part in lists])


def check(*lists: list[Any]) -> None:
    data = joined(*lists)
    assert data == npser.dumps([item for part in lists for item in part])


def row(i: int) -> dict[str, Any]:
    """A row with everything that `loads` could take for a table of its own."""
    return {
        "id": i,
        "name": f"n{i % 3}",
        "tags": ["a", "b"][: i % 3],
        "rows": [{"k": i}, {"k": 2}],
        "boxes": [Box(i), Box([i])],
        "numbers": [1, 2, i],
        "sub": {"at": datetime.date.fromordinal(700_000 + i), "price": i / 4, "set": {i}},
        "array": np.arange(i % 4),
        "maybe": None if i % 2 else i,
        "point": Point(i, Frozen(i)),
        "state": Stateful(i),
        "own": Packed(i),
        "gauge": Gauge(i, [None] * (i % 3)),
    }


@pytest.mark.parametrize("n", [1, 2, 7, 20, 600])
def test_rows_of_everything(n: int) -> None:
    check([row(i) for i in range(n)], [row(i + 5) for i in range(n)], [row(3)])


@pytest.mark.parametrize("n", [0, 1, 2, 7, 129, 1000])
@pytest.mark.parametrize("name", LEAVES)
def test_lists_of_leaves(name: str, n: int) -> None:
    values = MAKERS[name](n)
    check(values, values[::-1])
    check([], values, [], values[: n // 2])
    check(values, [None, 1, "a", 2.5, True])


@pytest.mark.parametrize("n", [0, 1, 2, 7, 129])
@pytest.mark.parametrize("name", ROWS)
def test_lists_of_rows(name: str, n: int) -> None:
    lists = [MAKERS[name](n), MAKERS[name](n + 1)[:n], MAKERS[name](n // 2)]  # which share no objects
    check(*lists)
    assert difference([item for part in lists for item in part], npser.loads(joined(*lists), classes=CLASSES)) is None


@given(keysets.flatmap(lambda names: st.lists(st.lists(st.fixed_dictionaries(dict.fromkeys(names, scalars)), max_size=30), max_size=4)))
@settings(max_examples=150, deadline=None)
def test_tables(tables: list[list[Any]]) -> None:
    check(*tables)


@given(st.lists(st.lists(st.one_of(st.integers(), st.floats(), st.booleans(), st.none(), st.text()), max_size=20), max_size=4))
@settings(max_examples=150, deadline=None)
def test_leaves(lists: list[list[Any]]) -> None:
    check(*lists)


def test_one_payload_or_none() -> None:
    assert npser.concat([]) == npser.dumps([])
    assert npser.concat(iter([npser.dumps([{"a": 1}, {"a": 2}])])) == npser.dumps([{"a": 1}, {"a": 2}])
    assert joined([], []) == npser.dumps([])


def test_the_order_of_keys_may_differ() -> None:
    check([{"a": 1, "b": 2}] * 3, [{"b": 3, "a": 4}] * 3)


def test_no_row_and_no_object_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from npser.shapes.keysets import KeySet

    made = []
    monkeypatch.setattr(KeySet, "rows", lambda *_: made.append(1))
    data = [npser.dumps([{"id": i, "x": float(i), "s": str(i)} for i in range(n)]) for n in (5, 700)]
    result = npser.concat(data)
    boxes = npser.concat([npser.dumps([Box(i), Box(1)]) for i in range(3)])
    assert not made
    monkeypatch.undo()
    assert len(npser.loads(result)) == 705
    assert npser.loads(boxes, classes=[Box])[::2] == [Box(0), Box(1), Box(2)]


def test_registered_classes_do_not_run() -> None:
    class Loud:
        def __init__(self, n: int) -> None:
            self.n = n

        def __setstate__(self, state: Any) -> None:
            raise AssertionError

        def __getstate__(self) -> Any:
            return {"n": self.n}

    npser.register(Loud)
    try:
        payloads = [npser.dumps([{"thing": Loud(i)} for i in range(start, start + 4)]) for start in (0, 4)]
        assert npser.concat(payloads) == npser.dumps([{"thing": Loud(i)} for i in range(8)])
    finally:
        npser.unregister(Loud)


def test_objects_that_are_shared_within_a_payload() -> None:
    box = Box(1)
    found = npser.loads(joined([box, Box(2), box], [Box(3)]), classes=[Box])
    assert found == [Box(1), Box(2), Box(1), Box(3)]
    assert found[0] is found[2]
    table = npser.loads(joined([{"a": box}, {"a": box}], [{"a": Box(5)}]), classes=[Box])
    assert table[0]["a"] is table[1]["a"]
    assert table[2]["a"] == Box(5)


def test_payloads_in_envelopes() -> None:
    rows = [{"id": i, "name": "x" * 40} for i in range(100)]
    codec = npser.Codec(compress="zlib", checksum="crc32")
    assert npser.concat([codec.dumps(rows), bytearray(npser.dumps(rows)), memoryview(npser.dumps(rows))]) == npser.dumps(rows * 3)


def test_more_than_a_reader_grants_for_so_few_bytes() -> None:
    for value in ({"only": 1}, 1):
        data = npser.concat([npser.dumps([value] * 600_000)] * 2)
        assert data == npser.dumps([value] * 1_200_000)
        assert len(npser.loads(data)) == 1_200_000


def test_rows_that_differ_in_their_keys() -> None:
    check([{"a": 1}, {"a": 2, "b": None}] * 5, [{"b": 2}, {"b": 1, "a": 3}])
    check([Plain(a=1), Plain(b=2)], [Plain(b=2), Plain(a=3)])


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([[{"a": 1, "b": 2}], [{"a": 1}]], "payload 1 lacks the key 'b', which payload 0 has"),
        ([[{"a": 1}], [{"a": 1}], [{"a": 1, "c": 2, "d": 3}]], "payload 2 has the keys 'c', 'd', which payload 0 lacks"),
        ([[{f"k{i}": 1 for i in range(9)}], [{"k0": 1}]], "lacks the keys 'k1', 'k2', 'k3', 'k4', 'k5', …, which"),
        ([[Box(1)], [Slotted(1, "a")]], "payload 1 is a list of objects of values:Slotted, and payload 0 one of objects of values:Box"),
        ([[Plain(a=1)], [Plain(b=1)]], "payload 1 lacks the field 'a', which payload 0 has"),
        ([[{"a": 1}], [1, 2]], "payload 1 is a list of leaves, and payload 0 one of dicts"),
        ([[], [1], [Box(1)]], "payload 2 is a list of objects of values:Box, and payload 1 one of leaves"),
        ([[1], 5], "payload 1 is no list"),
        ([[1], None], "payload 1 is no list"),
        ([{"a": 1}], "payload 0 is no list"),
        ([(1, 2)], "payload 0 is no list"),
        ([[[1], [2, 3]]], "payload 0 is a list of something else"),
        ([[{"a": 1}, 5]], "payload 0 is a list of something else"),
        ([[np.arange(3)]], "payload 0 is a list of something else"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(lists: list[Any], said: str) -> None:
    with pytest.raises(EncodeError) as caught:
        joined(*lists)
    assert said in str(caught.value)


def test_identity_is_not_joined() -> None:
    with pytest.raises(EncodeError, match="preserves identity"):
        npser.concat([npser.dumps([{"a": []}], identity="preserve")])


def test_limits() -> None:
    payload = npser.dumps([{"a": 1}, {"a": 2}])
    with pytest.raises(LimitError):
        npser.concat([payload], limits=npser.Limits(depth=1))
    with pytest.raises(LimitError):
        npser.concat([payload], limits=npser.Limits(bytes=5))


@pytest.mark.parametrize("value", [[{"a": i, "b": str(i)} for i in range(20)], [1, 2, 5], [], ["a", None], [Box(1), Box(2)]])
def test_cut_anywhere(value: Any) -> None:
    whole = npser.dumps(value)
    for size in range(len(whole)):
        with pytest.raises(DecodeError):
            npser.concat([whole, whole[:size]])
    with pytest.raises(DecodeError):
        npser.concat([whole + b"\0", whole])


def test_garbage_is_a_decode_error_or_read() -> None:
    rng = random.Random(7)
    whole = npser.dumps([row(i) for i in range(6)])
    for _ in range(1500):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(2, len(data))] = rng.randrange(256)
        with suppress(npser.NpserError):
            npser.concat([bytes(data), bytes(data)])
    for wrong in ("text", 5, None):
        with pytest.raises(DecodeError):
            npser.concat([wrong])
