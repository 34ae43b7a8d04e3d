"""The PHP wire, end to end: what goes in comes out, and any bytes at all give a value or an NpserError."""

from __future__ import annotations

import random
import types
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard import fenced
from npser.errors import DecodeError, EncodeError, NpserError
from npser.limits import Limits
from npser.phpser import read, write
from npser.phpser.keys import array_key
from npser.types.allow import NO_CLASSES, Allow
from phpser.stand_ins import CLASSES, Magic, Node, Point, Suit
from phpser.vectors import VECTORS, frame, title
from same import same

ALLOW = Allow(CLASSES)

text = st.text(max_size=20)
not_text = st.binary(min_size=1, max_size=8).map(lambda raw: b"\xff" + raw)
longs = st.one_of(st.integers(-70, 70), st.integers(-(2**63), 2**63 - 1), st.integers(10**9, 10**9 + 500))
leaves = st.one_of(st.none(), st.booleans(), longs, st.floats(), text, not_text, st.sampled_from(["a", "b", "id"]))
keys = st.one_of(text.filter(lambda key: type(array_key(key)) is str), longs, not_text)
names = st.lists(st.sampled_from(["id", "name", "tags", "at", "é"]), min_size=1, max_size=4, unique=True)


def tables(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    def rows(columns: list[str]) -> st.SearchStrategy[list[dict[str, Any]]]:
        row = st.tuples(*[cells for _ in columns]).map(lambda values: dict(zip(columns, values, strict=True)))
        return st.lists(row, max_size=12)

    return names.flatmap(rows)


def homogeneous(cells: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    kinds = st.sampled_from([longs, st.floats(), text, st.sampled_from(["a", "b", "c"]), st.booleans(), cells])
    return kinds.flatmap(lambda kind: st.lists(kind, max_size=40))


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=8),
        homogeneous(inner),
        tables(inner),
        st.dictionaries(keys, inner, min_size=1, max_size=8),
    )


values = st.recursive(leaves, containers, max_leaves=60)
"""Without the empty dict, which PHP has as the empty list."""


@given(values)
def test_what_goes_in_comes_out(value: Any) -> None:
    for version in (1, 2):
        data = write(value, version=version)  # type: ignore[arg-type]
        assert data[0] <= version
        assert same(read(memoryview(data), trailing="refuse"), value)


objects = st.deferred(
    lambda: st.one_of(
        st.builds(Point, longs, longs),
        st.builds(Node, text, st.one_of(objects, leaves)),
        st.builds(lambda pairs: types.SimpleNamespace(**pairs), st.dictionaries(text, leaves, max_size=4)),
        st.sampled_from(list(Suit)),
    )
)


@given(st.recursive(st.one_of(leaves, objects), containers, max_leaves=30))
def test_objects_come_out(value: Any) -> None:
    for version in (1, 2):
        data = write(value, version=version)  # type: ignore[arg-type]
        found = read(memoryview(data), allow=ALLOW, trailing="refuse")
        assert write(found, version=version) == data  # type: ignore[arg-type]
        assert plain(found, {}) == plain(value, {})


def plain(value: Any, seen: dict[int, int]) -> Any:
    """A value as nested tuples that compare by type and bits."""
    if type(value) in (list, dict):
        pairs = enumerate(value) if type(value) is list else value.items()
        return (type(value), [(type(key), key, plain(item, seen)) for key, item in pairs])
    if isinstance(value, (Point, Node, types.SimpleNamespace, Magic)):
        if id(value) in seen:
            return seen[id(value)]
        seen[id(value)] = len(seen)
        return (type(value), [(name, plain(item, seen)) for name, item in vars(value).items()])
    return (type(value), repr(value))


@given(values)
def test_placeholders_and_bytes_do_not_matter_to_plain_data(value: Any) -> None:
    data = write(value)
    as_bytes = read(memoryview(data), strings="bytes")
    again = read(memoryview(write(as_bytes, default=None))) if not holds_bytes_keys(as_bytes) else value
    assert same(again, value)


def holds_bytes_keys(value: Any) -> bool:
    if type(value) is dict:
        return any(type(key) is bytes for key in value) or any(map(holds_bytes_keys, value.values()))
    return type(value) is list and any(map(holds_bytes_keys, value))


@given(st.recursive(st.one_of(leaves, st.text(st.characters(codec=None), max_size=3), st.integers(), st.binary(max_size=3),
                              st.tuples(leaves), st.sets(longs, max_size=2)), containers, max_leaves=10))
def test_what_cannot_be_held_is_refused_with_its_path(value: Any) -> None:
    try:
        data = write(value)
    except EncodeError as error:
        assert error.path is not None and error.path.startswith("$")
        return
    read(memoryview(data))


# Any bytes

SEEDS = [vector for vector in VECTORS if vector["hex"] and not vector.get("reject") and len(vector["hex"]) < 8000
         and vector["name"] != "affine_budget_exhausted"]


@pytest.mark.parametrize("vector", SEEDS, ids=title)
def test_mutations(vector: dict[str, Any]) -> None:
    rng = random.Random(title(vector))
    data = frame(vector)
    tags = list(range(0x18))
    with fenced(60, 512):
        for _ in range(120):
            broken = bytearray(data)
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(broken)) if broken else 0
                match rng.randrange(5):
                    case 0:
                        broken[at : at + 1] = bytes((rng.randrange(256),))
                    case 1:
                        broken[at : at + 1] = bytes((rng.choice(tags),))
                    case 2:
                        broken[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 4)))
                    case 3:
                        del broken[at : at + rng.randrange(1, 4)]
                    case _:
                        broken[at : at + 1] = b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
            check_bytes(bytes(broken))


@given(st.binary(max_size=60))
def test_garbage(raw: bytes) -> None:
    for start in (b"", b"\x01\x00", b"\x02\x02\x01a\x05Point", b"\x02\x00\x15"):
        check_bytes(start + raw)


@given(st.lists(st.sampled_from([bytes((tag,)) for tag in range(0x18)] + [b"\x03\x02", b"\x0c\x01x", b"\x05\x00", b"\x02"]),
                max_size=40))
def test_garbage_of_tags(parts: list[bytes]) -> None:
    check_bytes(b"\x02\x03\x01a\x05Point\x05Magic" + b"".join(parts))


def check_bytes(data: bytes) -> None:
    for allow, strings in ((ALLOW, "text"), (NO_CLASSES, "bytes")):
        try:
            value = read(memoryview(data), allow=allow, strings=strings)  # type: ignore[arg-type]
        except DecodeError as error:
            assert error.pos is not None and 0 <= error.pos <= len(data), error
            assert error.path is not None
        else:
            try:
                again = write(value)
            except EncodeError:
                continue  # keys as bytes, or classes that have no such name
            try:
                read(memoryview(again), allow=allow)
            except NpserError as error:
                assert "declared otherwise" not in str(error)


def test_no_memory_on_the_word_of_a_count() -> None:
    with fenced(20, 300):
        for tag in ("06", "07", "08", "09", "0b", "13", "16", "14", "15", "0c"):
            for count in ("ffffffff0f", "ffffffffffffff7f", "ffffffffffffffffff01"):
                with pytest.raises(DecodeError):
                    read(memoryview(bytes.fromhex("02010161" + tag + count + "01" + "00" * 50)))
        with pytest.raises(DecodeError):
            read(memoryview(bytes.fromhex("0200" + "17" + "ffffffffffffffff7f" + "0202")), limits=Limits(items=1 << 62))
