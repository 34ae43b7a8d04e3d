"""A hot shape gives the same value as the loops, whatever it is and whatever happens to it: and the same errors."""

from __future__ import annotations

import linecache
import random
import traceback
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import npser
import strategies
from npser.shapes import build, cache, exactreader
from npser.shapes.emit import reader_source
from npser.shapes.emitter import ANY, SIGNATURE
from npser.shapes.hot import MAX_HOT_NODES
from npser.tags import Kind
from same import difference
from values import CLASSES, MAKERS, TRAPS, Box, Frozen

NEVER = 10**9


@pytest.fixture
def _one_signature(_at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "HOT_AFTER", 1)


@pytest.fixture(
    autouse=True,
    params=[(1, NEVER), (0.5, NEVER), (1, 1)],
    ids=["one signature", "any signature", "exact columns"],
)
def _at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    # with a half, a signature never is hot, and the first meeting is the second half of what any signature needs
    hot_after, exact_after = request.param
    monkeypatch.setattr(build, "HOT_AFTER", hot_after)
    monkeypatch.setattr(exactreader, "EXACT_AFTER", exact_after)
    build.SHAPES.clear()
    yield
    build.SHAPES.clear()


def read_cold(data: bytes, **options: Any) -> Any:
    """Read without generated code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "HOT_AFTER", NEVER)
        build.SHAPES.clear()
        try:
            return npser.loads(data, classes=CLASSES, **options)
        finally:
            build.SHAPES.clear()


def check(value: Any) -> None:
    data = npser.dumps(value)
    cold = read_cold(data)
    for _ in range(2):
        hot = npser.loads(data, classes=CLASSES)
        assert difference(cold, hot) is None
        assert difference(value, hot) is None


def outcome(read: Any, data: bytes, **options: Any) -> tuple[Any, str | None]:
    """(value, None), or (None, what went wrong and where)."""
    try:
        return read(data, **options), None
    except npser.NpserError as error:
        return None, f"{type(error).__name__}: {error}"


def read_hot(data: bytes, **options: Any) -> Any:
    return npser.loads(data, classes=CLASSES, **options)


def check_damaged(damaged: list[bytes], **options: Any) -> None:
    """The outcome of each is the same, hot and cold."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "HOT_AFTER", NEVER)
        cold = [outcome(read_hot, data, **options) for data in damaged]
    for data, (value, error) in zip(damaged, cold, strict=True):
        found, wrong = outcome(read_hot, data, **options)
        assert wrong == error, data.hex(" ")
        assert difference(value, found) is None, data.hex(" ")


def readers() -> list[Any]:
    return [reader for program in build.SHAPES.programs for reader in program.readers.values()]


# ------------------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("n", [0, 1, 2, 7, 200])
def test_hot_is_cold_for_every_type(name: str, n: int) -> None:
    values = MAKERS[name](n)
    check({"column": values, "rows": [{"a": value, "b": None} for value in values], "pairs": list(enumerate(values))})


@pytest.mark.parametrize("name", MAKERS)
def test_hot_is_cold_where_every_type_is_single(name: str) -> None:
    for value in MAKERS[name](3):
        check({"a": value, "b": (value, [value]), "c": Box(value), "d": None})


@pytest.mark.parametrize("name", TRAPS)
def test_hot_is_cold_for_every_trap(name: str) -> None:
    check([TRAPS[name], {"trap": TRAPS[name]}])
    check({"trap": TRAPS[name]})


@given(strategies.values)
def test_hot_is_cold_for_nested_values(value: Any) -> None:
    check(value)
    check({"value": value, "again": [value]})


@pytest.mark.usefixtures("_one_signature")
def test_a_leaf_may_become_anything_else() -> None:
    documents = [{"id": 1, "note": note, "tags": []} for note in (None, "x", 2**70, 1.5, True, b"b", 300, -1)]
    for document in documents * 3:
        assert difference(document, npser.loads(npser.dumps(document))) is None
    (program,) = build.SHAPES.programs
    assert len(program.readers) == 5  # None, a bool, a number, a text, a body


@pytest.mark.usefixtures("_one_signature")
def test_many_leaves_that_become_anything_get_a_bounded_number_of_functions() -> None:
    rng = random.Random(5)
    for _ in range(300):
        document = {f"k{i}": rng.choice((None, True, 1, "x", 1j)) for i in range(6)}
        assert difference(document, npser.loads(npser.dumps(document))) is None
    (program,) = build.SHAPES.programs
    assert len(program.readers) == build.MAX_READERS + 1
    assert ANY in program.readers, "one function serves the signatures that have none of their own"
    assert len(program.meetings) <= build.MAX_SIGNATURES + 1


def test_arrays_in_hot_shapes_are_copies_unless_the_caller_wants_views() -> None:
    data = npser.dumps({"a": np.arange(5), "b": [np.arange(3), np.arange(4)], "c": np.array([1, None], object)})
    for _ in range(3):
        found = npser.loads(data)
        assert found["a"].flags.writeable and found["b"][1].flags.writeable
        assert not npser.loads(data, copy="never")["a"].flags.writeable
        assert found["c"].tolist() == [1, None]
    assert readers()


def test_arrays_and_columns_are_for_the_loops() -> None:
    data = npser.dumps([{"a": i, "b": i / 2} for i in range(10)])
    for _ in range(3):
        found = npser.loads(data, numbers="array", tables="columns")
        assert found["a"].tolist() == list(range(10))
    assert not readers()


def test_what_refers_to_what_is_hashed_is_for_the_loops() -> None:
    frozen = Frozen(1, "a")
    for data in (npser.dumps([[1], 2], identity="preserve"), npser.dumps([frozen, {frozen}])):
        for _ in range(3):
            npser.loads(data, classes=CLASSES)
    assert not readers()


def test_large_shapes_are_for_the_loops() -> None:
    for nodes in (MAX_HOT_NODES // 2, MAX_HOT_NODES):
        value = tuple({f"k{i}": [i]} for i in range(nodes // 3))
        data = npser.dumps([value, 1])
        for _ in range(3):
            assert npser.loads(data) == [value, 1]
    assert all(len(program.nodes) <= MAX_HOT_NODES for program in build.SHAPES.programs if program.readers)


# ------------------------------------------------------------------------------------------------------------- damage


DOCUMENT = {"id": 7, "x": -0.5, "name": "n", "no": None, "big": 2**70, "at": {"a": True, "b": [300, "c"]}, "t": ("u", [])}


@given(strategies.values, st.data())
def test_a_damaged_payload_is_the_same_hot_and_cold(value: Any, draw: st.DataObject) -> None:
    data = npser.dumps({"value": value, "n": 1})
    build.SHAPES.clear()
    npser.loads(data, classes=CLASSES)
    at = draw.draw(st.integers(2, len(data) - 1))
    byte = draw.draw(st.integers(0, 255))
    check_damaged([data[:at], data[:at] + bytes([byte]) + data[at + 1 :], data[:at] + bytes([byte]) + data[at:], data + b"\0"])


def test_every_byte_of_a_document_changed_to_every_value() -> None:
    data = npser.dumps(DOCUMENT)
    for _ in range(2):
        npser.loads(data)
    for at in range(2, len(data)):
        check_damaged([data[:at] + bytes([byte]) + data[at + 1 :] for byte in range(256) if byte != data[at]])
        if len(build.SHAPES) > 100:
            build.SHAPES.clear()
            npser.loads(data)


LINKS = {f"link {i}": f"https://example.com/a/rather/long/path/{i * 7919 % 1000}/ü" for i in range(40)}


@pytest.mark.parametrize("of", [bytes, bytearray, memoryview])
def test_links_that_share_their_beginning_are_read_hot_out_of_any_buffer(of: Any) -> None:
    data = npser.dumps(LINKS)
    assert data.count(b"https") == 1
    for _ in range(3):
        assert npser.loads(of(data)) == LINKS
        assert npser.Codec(checksum="crc32").loads(of(npser.Codec(checksum="crc32").dumps(LINKS))) == LINKS
    (reader,) = readers()
    assert reader.generated


def test_links_that_share_their_beginning_are_as_damaged_hot_as_cold() -> None:
    data = npser.dumps(LINKS)
    for _ in range(2):
        npser.loads(data)
    first = data.index(b"https") - 8
    for at in range(first, first + 60):
        others = (0, 1, 2, 9, 0x1F, 0x20, 0x7F, 0x80, 0xC3, 0xFF)
        check_damaged([data[:at] + bytes([byte]) + data[at + 1 :] for byte in others])
    check_damaged([data[:stop] for stop in range(first, len(data), 7)])
    check_damaged([data], limits=npser.Limits(items=0, expansion=0))


@pytest.mark.parametrize("kind", range(0x32))
def test_every_kind_in_the_place_of_every_single_leaf(kind: int) -> None:
    """A signature that promises a body says nothing of what is in it."""
    data = npser.dumps({"a": 2**64, "b": [], "c": 1, "d": Box(2), "e": "x"})
    npser.loads(data, classes=CLASSES)
    start = data.index(bytes([Kind.BIGINT, Kind.POOL_U8]))
    for at in range(start, start + 5):
        changed = data[:at] + bytes([kind]) + data[at + 1 :]
        check_damaged([changed, changed + bytes(8), changed[:-1], changed[: start + 5] + b"\0" + changed[start + 5 :]])


def test_an_array_is_no_leaf_and_an_int_in_a_body_no_length() -> None:
    leaf, length = npser.dumps({"a": 2**64}), npser.dumps({"a": []})
    for data in (leaf, length):
        for _ in range(2):
            npser.loads(data)
    array = npser.dumps({"a": np.array([7], "u1")})
    assert array[7] == 0x1B  # the shape has an ARRAY where that of a leaf has a LEAF, and nothing else is different
    forged = array[:7] + b"\0" + array[8:]
    bodies = {Kind.INT: b"\1\0", Kind.BIGINT: b"\0\1\2\0"}
    lengths = [length[:9] + bytes([kind, 0, len(body) << 1]) + body for kind, body in bodies.items()]
    for data, why in ((forged, "array in the place of a leaf"), *((data, "expected an integer") for data in lengths)):
        assert data[:7] in (leaf[:7], length[:7])
        for _ in range(3):
            with pytest.raises(npser.DecodeError, match=why):
                npser.loads(data)


def test_a_damaged_payload_of_a_hot_shape_is_refused_with_its_place() -> None:
    data = npser.dumps({"a": [1, 2, 3], "b": {"c": "text"}})
    for _ in range(3):
        npser.loads(data)
    for cut in range(len(data)):
        with pytest.raises(npser.DecodeError):
            npser.loads(data[:cut])
    with pytest.raises(npser.DecodeError, match="behind the end"):
        npser.loads(data + b"\0")
    assert npser.loads(data) == {"a": [1, 2, 3], "b": {"c": "text"}}


@pytest.mark.parametrize(
    "value",
    [
        {"a": [None] * 300, "b": [{"x": None}] * 100, "c": [True] * 200},
        {"rows": [(None, (None, [None] * 3)) for _ in range(90)]},
        {"copies": [["a", "b"]] * 200},
        {"slices": [slice(None)] * 40, "boxes": [Box(None)] * 40},
        {f"url {i}": f"https://api.example.com/repos/somebody/something/{i}" for i in range(16)},
    ],
)
def test_hot_and_cold_draw_the_same_from_the_budget(value: Any) -> None:
    data = npser.dumps(value)
    accepted = []
    for items in range(0, 15_000, 250):
        limits = npser.Limits(items=items, expansion=0)
        cold = outcome(read_cold, data, limits=limits)
        npser.loads(data, classes=CLASSES)
        hot = outcome(read_hot, data, limits=limits)
        assert cold[1] == hot[1]
        accepted.append(cold[1] is None)
    assert False in accepted and True in accepted


# --------------------------------------------------------------------------------------------------------- generated code


def test_shapes_that_never_repeat_are_never_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "HOT_AFTER", 16)

    def refuse(*_args: Any) -> Any:
        raise AssertionError("compiled")

    monkeypatch.setattr(build, "compile_reader", refuse)
    for i in range(2000):
        npser.loads(npser.dumps({f"key {i}": {"a": 1}}))


def test_the_number_of_compiled_shapes_is_bounded() -> None:
    for i in range(3 * cache.MAX_SHAPES):
        data = npser.dumps({f"key {i}": {"a": 1}})
        npser.loads(data)
        npser.loads(data)
        assert len(build.SHAPES) <= cache.MAX_SHAPES and build.SHAPES.hot <= cache.MAX_HOT


@pytest.mark.usefixtures("_one_signature")
def test_no_text_of_a_payload_is_in_the_source() -> None:
    hostile = "']=1;import os#\n\"\"\""
    value = {hostile: {"__class__": 1, "f0": 2}, "rows": [{hostile: i, "__dict__": 2} for i in range(3)]}
    data = npser.dumps(value)
    for _ in range(3):
        assert npser.loads(data) == value
    (program,) = build.SHAPES.programs
    (signature,) = program.readers
    source = reader_source(program, signature)[0].source
    assert "import" not in source and "__class__" not in source and "__dict__'" not in source


def test_wide_rows_with_hostile_keys_are_only_dicts() -> None:
    names = ["__class__", "__dict__", "__slots__", "mro", "f0", "f1", "x", "zip", "o", "v0"]
    value = {"rows": [dict.fromkeys(names, i) for i in range(50)], "few": [dict.fromkeys(names[:3], i) for i in range(50)]}
    check(value)


def test_a_signature_is_what_the_code_must_know() -> None:
    assert len(SIGNATURE) == 256
    assert SIGNATURE[Kind.FALSE] == SIGNATURE[Kind.TRUE]
    assert len({SIGNATURE[kind] for kind in range(Kind.POOL_U8, Kind.POOL_TEXT)}) == 1
    classes = [SIGNATURE[kind] for kind in (Kind.NONE, Kind.TRUE, Kind.POOL_U8, Kind.POOL_TEXT, Kind.INT, Kind.ARRAY)]
    assert len(set(classes)) == 6


@pytest.mark.usefixtures("_one_signature")
def test_a_traceback_shows_the_generated_line() -> None:
    data = npser.dumps({"a": 1, "b": [1, 2]})
    npser.loads(data)
    (reader,) = readers()
    with pytest.raises(ValueError, match="not enough values") as caught:
        reader._build(None, None, b"", (), [], (), b"")
    assert "= x" in "".join(traceback.format_tb(caught.tb))
    name = reader._build.__code__.co_filename
    assert name in linecache.cache
    build.SHAPES.clear()
    assert name not in linecache.cache
