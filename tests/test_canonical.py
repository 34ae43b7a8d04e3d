"""Canonical payloads: equal values give equal bytes, different ones different bytes, in every process."""

from __future__ import annotations

import dataclasses
import datetime
import gc
import json
import os
import random
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npser
from essence import disguise, essence
from npser.columns import kinds, proofs, texts
from npser.errors import EncodeError
from npser.shapes.documents import DOCUMENTS
from strategies import keys, tables, values
from values import CLASSES, MAKERS, TRAPS, Box, Colour, Frozen, Plain, Point, Stateful

HERE: Final = Path(__file__).parent
DIGESTS: Final = [json.loads(line) for line in (HERE / "digests.jsonl").read_text().splitlines()]
WORDS: Final = {"np": np, "npser": npser, "datetime": datetime, "Counter": Counter, "OrderedDict": OrderedDict}


def canonical(value: Any) -> bytes:
    return npser.dumps(value, order="canonical")


# ------------------------------------------------------------------------------------------------------ equal values


@given(values, st.integers(0, 1000))
@settings(max_examples=200, deadline=None)
def test_equal_values_give_equal_bytes(value: Any, seed: int) -> None:
    check(value, seed)


@given(tables, st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_equal_tables_give_equal_bytes(value: Any, seed: int) -> None:
    check(value, seed)


@given(st.frozensets(keys), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_equal_sets_give_equal_bytes(value: Any, seed: int) -> None:
    check(value, seed)
    check(dict.fromkeys(value, 1), seed)


def check(value: Any, seed: int) -> None:
    data = canonical(value)
    other = disguise(value, random.Random(seed))
    assert essence(other) == essence(value)
    assert canonical(other) == data
    assert essence(npser.loads(data, classes=CLASSES)) == essence(value)
    assert canonical(npser.loads(data, classes=CLASSES)) == data
    assert canonical(npser.loads(data)) == data  # placeholders, too
    assert canonical([value, value]) == canonical([value, other])


@given(values, values)
@settings(max_examples=200, deadline=None)
def test_different_values_give_different_bytes(a: Any, b: Any) -> None:
    assert (canonical(a) == canonical(b)) == (essence(a) == essence(b))


@pytest.mark.parametrize("n", [1, 2, 7, 130, 1500])
@pytest.mark.parametrize("name", MAKERS)
def test_columns_of_every_type(name: str, n: int) -> None:
    value = MAKERS[name](n)
    data = canonical(value)
    assert canonical(disguise(value, random.Random(n))) == data
    if n < 1000:
        found = npser.loads(data, classes=CLASSES)
        assert essence(found) == essence(value)
        assert canonical(found) == data


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name: str) -> None:
    value = TRAPS[name]
    data = canonical(value)
    assert canonical(npser.loads(data, classes=CLASSES)) == data
    assert canonical(disguise(value, random.Random(1))) == data


def test_the_order_of_dicts_and_sets_does_not_matter() -> None:
    names = [f"key{i}" for i in range(50)]
    for make in (dict, Counter, lambda pairs: defaultdict(int, pairs)):
        pairs = [(name, i) for i, name in enumerate(names)]
        assert canonical(make(pairs)) == canonical(make(pairs[::-1]))
    backwards = names[::-1]
    assert canonical(set(names)) == canonical(set(backwards))
    assert canonical([{"a": 1, "b": 2}, {"b": 3, "a": 4}]) == canonical([{"b": 2, "a": 1}, {"a": 4, "b": 3}])
    assert canonical({(1, frozenset("ab")): 1, (1, frozenset("a")): 2}) == canonical(
        {(1, frozenset("a")): 2, (1, frozenset("ba")): 1}
    )


def test_the_order_of_an_ordered_dict_is_part_of_it() -> None:
    assert canonical(OrderedDict(a=1, b=2)) != canonical(OrderedDict(b=2, a=1))
    assert list(npser.loads(canonical(OrderedDict(b=2, a=1)))) == ["b", "a"]


def test_what_has_no_order_to_change_is_written_as_ever() -> None:
    for value in (7, "a", [1, 2], {"a": 1, "b": [True]}, [{"id": i, "x": i / 2} for i in range(100)], [Box(1), Box(2)]):
        assert canonical(value) == npser.dumps(value)


def test_identity_does_not_matter() -> None:
    for make in (lambda: [1], lambda: Box(1), lambda: np.arange(5), lambda: Stateful(3), lambda: {"a": 1}, lambda: "ab" * 9):
        one = make()
        assert canonical([one, one, [one]]) == canonical([make(), make(), [make()]])
    zone = datetime.timezone(datetime.timedelta(hours=1))
    same = [datetime.datetime(2020, 1, 1, tzinfo=zone)] * 2
    other = [datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))) for _ in range(2)]
    assert canonical(same) == canonical(other)


def test_one_nan() -> None:
    for bits in (0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000009):
        odd = np.array([bits], "u8").view("f8")
        for wrap in (lambda x: x, lambda x: [x, 1.0], lambda x: complex(1, x), lambda x: {"a": (x, None)}, lambda x: {x}):
            assert canonical(wrap(float(odd[0]))) == canonical(wrap(float("nan")))
        for dtype in ("<f8", ">f8", "<c16", [("a", "<f8"), ("b", "<i4")]):
            strange, plain = np.zeros(3, dtype), np.zeros(3, dtype)
            for array, nan in ((strange, odd[0]), (plain, np.nan)):
                (array["a"] if array.dtype.names else array)[1] = nan
            assert canonical(strange) == canonical(plain)
            assert canonical(strange[1]) == canonical(plain[1])
            assert canonical(np.asfortranarray(strange.reshape(1, 3))) == canonical(plain.reshape(1, 3))
    half = np.array([0x7E01, 0x3C00], "u2").view("f2")
    assert canonical(half) == canonical(np.array([np.nan, 1], "f2"))
    assert canonical({float("nan"): 1, -float("nan"): 2}) == canonical({float("nan"): 2, -float("nan"): 1})


def test_what_stands_between_the_fields_does_not_matter() -> None:
    dtype = np.dtype([("a", "i1"), ("b", "<f8")], align=True)
    noise = np.full(3 * dtype.itemsize, 0x55, "u1").view(dtype)
    noise["a"], noise["b"] = 1, 2.5
    zeros = np.zeros(3, dtype)
    zeros["a"], zeros["b"] = 1, 2.5
    assert canonical(noise) == canonical(zeros)
    assert canonical(noise[0]) == canonical(zeros[0])
    assert canonical(noise.reshape(3, 1)[::2]) == canonical(zeros.reshape(3, 1)[::2])
    overlapping = np.dtype({"names": ["x", "y"], "formats": ["<f8", "<i8"], "offsets": [0, 0]})
    bits = np.array([0x7FF8000000000007], "i8").view(overlapping)
    assert npser.loads(canonical(bits))["y"][0] == 0x7FF8000000000007


def test_memory_layout() -> None:
    array = np.arange(24.0).reshape(4, 6)
    array[1, 1] = np.nan
    assert canonical(array) != canonical(np.asfortranarray(array))
    assert npser.loads(canonical(np.asfortranarray(array))).flags.f_contiguous
    wide = np.repeat(array, 2, axis=1)[:, ::2]
    assert not wide.flags.contiguous
    assert canonical(wide) == canonical(array)
    tall = np.asfortranarray(np.repeat(array, 2, axis=0))[::2]  # neither: numpy would copy it in Fortran order
    assert canonical(tall) == canonical(array)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, True),
        (1, 1.0),
        (0, False),
        (0.0, -0.0),
        ((6,), [6]),
        ((6,), (2, 3)),
        ({1}, frozenset({1})),
        ({"a": 1}, OrderedDict(a=1)),
        ({"a": 1}, Counter(a=1)),
        (defaultdict(int), defaultdict(float)),
        (b"a", "a"),
        (b"a", bytearray(b"a")),
        (np.arange(3, dtype="<i4"), np.arange(3, dtype="<i8")),
        (np.arange(3, dtype="<f4"), np.arange(3, dtype="<i4")),
        (np.arange(3, dtype="<i4"), np.arange(3, dtype=">i4")),
        (np.arange(3), [0, 1, 2]),
        (np.float64(1), 1.0),
        (np.int32(1), np.int64(1)),
        ({1: "a"}, {True: "a"}),
        ({0.0: "a"}, {-0.0: "a"}),
        (Point(1, 2), (1, 2)),
        (Colour.RED, 1),
        (None, ()),
        ("1", 1),
        ([[], []], [[]]),
        ([None], [[]]),
    ],
)
def test_types_stay_apart(a: Any, b: Any) -> None:
    for wrap in (lambda x: x, lambda x: [x], lambda x: {"k": x}, lambda x: [x, None, "a"]):
        assert canonical(wrap(a)) != canonical(wrap(b))
        assert npser.digest(wrap(a)) != npser.digest(wrap(b))


def test_fields_of_objects() -> None:
    assert canonical(Plain(a=1, b=2)) == canonical(Plain(b=2, a=1))
    assert canonical([Plain(a=1, b=2), Plain(b=4, a=3)]) == canonical([Plain(b=2, a=1), Plain(a=3, b=4)])
    back = npser.loads(canonical(Box({"b": 1, "a": 2}, 3)), classes=CLASSES)
    assert (back.value, back.number) == ({"a": 2, "b": 1}, 3)
    assert canonical({Frozen(1): 1, Frozen(2): 2}) == canonical({Frozen(2): 2, Frozen(1): 1})


# -------------------------------------------------------------------------------------------- ways of the same encoder


def _lists() -> list[Any]:
    rng = random.Random(5)
    words = [f"word{i}" for i in range(40)]
    few = [rng.choice(words) for _ in range(3000)]
    return [
        few,
        [text + "" for text in few],
        [f"{text}!"[:-1] for text in few],
        [rng.randrange(1000) for _ in range(3000)],
        [rng.randrange(10**12) + 10**12 for _ in range(3000)],
        [None if rng.random() < 0.1 else rng.randrange(10**6) for _ in range(3000)],
        [rng.random() for _ in range(3000)],
        [rng.random() < 0.5 for _ in range(3000)],
        [{"a": rng.randrange(10**6), "b": rng.choice(words), "c": rng.random(), "d": None} for _ in range(2000)],
    ]


def test_how_blocks_are_proven_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    values = _lists()
    fast = [canonical(value) for value in values]
    shared = [canonical([x for item in value for x in (item, item)]) for value in values]
    assert fast[0] == fast[1] == fast[2]
    monkeypatch.setattr(proofs, "usable", False)
    monkeypatch.setattr(texts, "SHARED_MIN_ITEMS", 1 << 60)
    monkeypatch.setattr(kinds, "PROVED_ITEMS", 1 << 60)
    assert [canonical(value) for value in values] == fast
    rng = random.Random(1)
    assert [canonical([x for item in value for x in (item, disguise(item, rng))]) for value in values] == shared


def test_how_often_a_document_was_met_does_not_matter() -> None:
    value = {"b": [1, {"y": 1, "x": "a"}], "a": {"q": None, "p": 1.5}, "c": Box(1)}
    first = canonical(value)
    for _ in range(100):
        assert canonical(disguise(value, random.Random(3))) == first


# ------------------------------------------------------------------------------------------------------------ refusals


def test_cycles_are_refused_with_their_path() -> None:
    loop: list[Any] = [1, {"a": None}]
    loop[1]["a"] = loop
    with pytest.raises(EncodeError, match="holds itself") as caught:
        canonical({"x": loop})
    assert caught.value.path == "$['x'][1]['a']"
    box = Box(None)
    box.value = [box]
    with pytest.raises(EncodeError, match="holds itself") as caught:
        canonical(box)
    assert caught.value.path == "$.value[0]"
    assert canonical([[loop[0]], [loop[0]]])  # twice is no cycle


def test_depth() -> None:
    value: list[Any] = []
    for _ in range(511):
        value = [value]
    assert canonical(value) == npser.dumps(value)
    with pytest.raises(EncodeError, match="512 containers"):
        canonical([value])
    for _ in range(100_000):
        value = [value]
    with pytest.raises(EncodeError, match="512 containers"):
        canonical(value)
    while value:
        value = value.pop()


def test_a_state_that_nests_without_end_is_refused() -> None:
    class Endless:
        def __getstate__(self) -> Any:
            return {"next": Endless()}

    with pytest.raises(EncodeError, match="512 containers"):
        canonical(Endless())
    gc.collect()


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, object()]}, "$['a'][1]"),
        ([Box([object()])], "$[0].value[0]"),
        ({"a": {object(): 1}}, "$['a'].keys()[*]"),
        ([{(1, object())}], "$[0].keys()[*][1]"),
        (Plain(a=np.array([1, object()], object)), "$.a[1]"),
    ],
)
def test_what_npser_refuses_is_refused_with_its_path(value: Any, path: str) -> None:
    with pytest.raises(EncodeError, match="cannot encode builtins.object") as caught:
        canonical(value)
    assert caught.value.path == path


def test_two_classes_of_one_name_are_refused() -> None:
    twin = dataclasses.make_dataclass("Box", ["value"])
    twin.__module__, twin.__qualname__ = Box.__module__, Box.__qualname__
    with pytest.raises(EncodeError, match="two classes of one name"):
        canonical([Box(1), twin(1)])


def test_a_substitute_is_canonical_too() -> None:
    class Tagged:
        def __init__(self, *names: str) -> None:
            self.names = names

        __slots__ = ("__weakref__", "names")

        def __reduce__(self) -> Any:
            raise TypeError

    def give(value: Any) -> Any:
        return dict.fromkeys(value, 1) if isinstance(value, memoryview) else list(value)

    one, other = memoryview(b"ab"), memoryview(b"ba")
    assert npser.dumps([one, 5], order="canonical", default=give) == npser.dumps([other, 5], order="canonical", default=give)
    assert npser.digest({"a": one}, default=give) == npser.digest({"a": {98: 1, 97: 1}})
    with pytest.raises(EncodeError, match="same key twice"):
        npser.dumps({object(), object()}, order="canonical", default=lambda _: 1)
    with pytest.raises(EncodeError, match="cannot be a key"):
        npser.dumps({object(): 1}, order="canonical", default=lambda _: [])
    with pytest.raises(EncodeError, match="no substitute"):
        npser.dumps([object()], order="canonical", default=lambda value: value)


def test_options_that_do_not_go_together() -> None:
    for options in ({"order": "sorted"}, {"order": "canonical", "identity": "preserve"}, {"order": "canonical", "wire": "phpser"}):
        with pytest.raises(ValueError, match=r"order|leave out"):
            npser.dumps(1, **options)
        with pytest.raises(ValueError, match=r"order|leave out"):
            npser.Codec(**options)


def test_codec() -> None:
    codec = npser.Codec(order="canonical", key=bytes(range(32)), compress="zlib")
    assert "order='canonical'" in repr(codec)
    assert codec.dumps({"b": 1, "a": {3, 1, 2}}) == codec.dumps({"a": {2, 3, 1}, "b": 1})
    assert codec.loads(codec.dumps({"b": 1, "a": 2})) == {"a": 2, "b": 1}


# ------------------------------------------------------------------------------------------------------------- digests


@pytest.mark.parametrize("golden", DIGESTS, ids=lambda golden: golden["value"])
def test_golden_digests(golden: dict[str, str]) -> None:
    """A release that breaks these raises CANONICAL, and its CHANGELOG says so."""
    value = eval(golden["value"], dict(WORDS))  # noqa: S307 - our own data
    assert npser.digest(value).hex() == golden["digest"]


def test_golden_digests_are_all_different() -> None:
    assert len({golden["digest"] for golden in DIGESTS}) == len(DIGESTS) >= 12


def test_the_size_of_a_digest() -> None:
    sizes = (1, 8, 20, 32, 64)
    assert [len(npser.digest("a", size=size)) for size in sizes] == list(sizes)
    assert npser.digest("a") == npser.digest("a", size=32) != npser.digest("b")
    for wrong in (0, 65, -1, True, 32.0, "32"):
        with pytest.raises(ValueError, match="size"):
            npser.digest("a", size=wrong)


SCRIPT: Final = """
import random, sys
sys.path.insert(0, {tests!r})
import npser
from essence import disguise
from values import MAKERS
rng = random.Random({seed})
print([npser.digest(disguise(make(9), rng), size=8).hex() for make in MAKERS.values()])
print(npser.digest({{"abcdefghij"[i] + str(j) for i in range(10) for j in range(9)}}).hex())
"""


def test_digests_are_equal_across_processes_and_hash_seeds() -> None:
    outputs = set()
    for seed in (0, 1, 4242):
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(tests=str(HERE), seed=seed)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(Path(npser.__file__).parents[1])},
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000


def test_digests_are_equal_by_generated_code_and_by_the_loops() -> None:
    """A dict that is met often is written by a function of its own: see `shapes.documents`."""
    values = [{"id": i, "name": f"n{i}", "at": {"x": i / 2, "tags": ["a"] * (i % 3), "set": {i, -i}}, "no": None} for i in range(200)]
    DOCUMENTS.clear()
    digests = [npser.digest(value) for value in values]
    assert len(DOCUMENTS) > 0  # from some value on
    assert [npser.digest(value) for value in values] == digests  # all of them by generated code
    DOCUMENTS.clear()
    assert [npser.digest(value) for value in values[::-1]] == digests[::-1]


@pytest.mark.parametrize("name", MAKERS)
def test_digests_are_equal_whatever_blocks_were_written_before(name: str) -> None:
    """As a leaf, in a short column of a pool and in a long one with a block of its own: only the value counts."""
    one, *_ = MAKERS[name](1)
    assert npser.digest([one]) == npser.digest([one])
    for n in (2, 40, 700):
        values = MAKERS[name](n)
        digest = npser.digest(values)
        npser.dumps({"k": values})
        assert npser.digest(values) == digest == npser.digest(npser.loads(npser.dumps(values), classes=CLASSES))
