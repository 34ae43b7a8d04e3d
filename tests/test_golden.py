"""The golden vectors: every payload that was ever written is read as it was, and every malformed one is refused as it was.

Strategy: `golden.corpus` reads the files; see golden/README.md for what a vector says. The corpus itself is tested as
well: that it is there, that it has every code of the wire, and that it breaks every rule that bytes can break.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

import pytest

import npser
from golden.corpus import FOLDER, NEEDS, Vector, load
from golden.demo import CLASSES, evaluate
from golden.trace import EVERY_CODE, tracing
from same import difference

VECTORS: Final = load()
VALUES: Final = tuple(vector for vector in VECTORS if vector.value is not None)
ERRORS: Final = tuple(vector for vector in VECTORS if vector.error is not None)

SHORT = 400
"""Payloads up to so many bytes are cut at every length."""

OFTEN = 30
"""Readings after which a shape is hot, and writings after which a document is known."""

NOT_EVERYWHERE: Final = {"DtypeCode.STRING", "DtypeCode.LONGDOUBLE", "DtypeCode.CLONGDOUBLE", "DtypeCode.TWIN"}
"""Codes that only some machines can read."""

NOT_BY_BYTES: Final = {"R3", "R26", "R29", "R33", "E7", "E8", "E9", "E10"}
"""Rules that no single payload can be seen to break."""


def read(data: Any, codec: Mapping[str, Any] = MappingProxyType({})) -> Any:
    if codec:
        return npser.Codec(classes=CLASSES, **codec).loads(data)
    return npser.loads(data, classes=CLASSES)


def write(vector: Vector) -> bytes:
    value = evaluate(vector.value or "")
    identity: Any = "preserve" if vector.preserve else "objects"
    if vector.codec:
        return npser.Codec(identity=identity, **vector.codec).dumps(value)
    return npser.dumps(value, identity=identity)


def skip_if_not_for_here(vector: Vector) -> None:
    if not vector.is_for_here:
        pytest.skip(f"needs {', '.join(vector.needs)}")


# ------------------------------------------------------------------------------------------------------------ the corpus


def test_the_corpus_is_there() -> None:
    assert len(VECTORS) >= 150
    assert len(VALUES) >= 150
    assert len(ERRORS) >= 80
    assert len({vector.name for vector in VECTORS}) == len(VECTORS)
    for file in FOLDER.glob("*.jsonl"):
        assert sum(vector.name.startswith(f"{file.stem}/") for vector in VECTORS) >= 10


def test_the_same_bytes_are_one_vector() -> None:
    assert len({(vector.data, vector.preserve, *sorted(vector.codec.items())) for vector in VECTORS}) == len(VECTORS)


def test_the_corpus_has_every_code() -> None:
    with tracing() as met:
        for vector in VALUES:
            if vector.is_for_here:
                read(vector.data, vector.codec)
    assert EVERY_CODE - met <= (set() if all(NEEDS.values()) else NOT_EVERYWHERE)


def test_the_corpus_breaks_every_rule() -> None:
    page = files("npser").joinpath("FORMAT.md").read_text(encoding="utf-8")
    rules = set(re.findall(r"^- \*\*([RE]\d+)\*\* ", page, re.MULTILINE))
    assert {vector.rule for vector in ERRORS} == rules - NOT_BY_BYTES


# ------------------------------------------------------------------------------------------------------------- readers


@pytest.mark.parametrize("vector", VALUES, ids=str)
def test_read(vector: Vector) -> None:
    skip_if_not_for_here(vector)
    value = read(vector.data, vector.codec)
    assert difference(evaluate(vector.value or ""), value) is None
    assert vector.check is None or evaluate(vector.check, value=value) is True


@pytest.mark.parametrize("vector", VALUES, ids=str)
def test_read_so_often_that_code_is_generated_for_it(vector: Vector) -> None:
    skip_if_not_for_here(vector)
    value = [read(vector.data, vector.codec) for _ in range(OFTEN)][-1]
    assert difference(evaluate(vector.value or ""), value) is None
    assert vector.check is None or evaluate(vector.check, value=value) is True


@pytest.mark.parametrize("vector", [vector for vector in VALUES if vector.canonical], ids=str)
def test_write(vector: Vector) -> None:
    skip_if_not_for_here(vector)
    assert write(vector).hex() == vector.data.hex()


@pytest.mark.parametrize("vector", [vector for vector in VALUES if vector.canonical], ids=str)
def test_write_so_often_that_it_is_known(vector: Vector) -> None:
    skip_if_not_for_here(vector)
    assert {write(vector).hex() for _ in range(OFTEN)} == {vector.data.hex()}


@pytest.mark.parametrize("vector", VALUES, ids=str)
def test_cut_or_followed_by_a_byte_it_is_refused(vector: Vector) -> None:
    skip_if_not_for_here(vector)
    data = vector.data
    cuts = range(len(data)) if len(data) <= SHORT else (0, 1, 2, 3, len(data) // 2, len(data) - 1)
    for bad in (*(data[:cut] for cut in cuts), data + b"\0", data + b"\xff"):
        with pytest.raises(npser.DecodeError):
            read(bad, vector.codec)


@pytest.mark.parametrize("vector", VALUES, ids=str)
def test_read_without_classes_and_out_of_any_buffer(vector: Vector) -> None:
    skip_if_not_for_here(vector)
    npser.Codec(**vector.codec).loads(memoryview(bytearray(b"\xc1" + vector.data + b"\xc1"))[1:-1])


@pytest.mark.parametrize("vector", ERRORS, ids=str)
def test_refused(vector: Vector) -> None:
    skip_if_not_for_here(vector)
    with pytest.raises(npser.DecodeError) as caught:
        read(vector.data, vector.codec)
    assert type(caught.value).__name__ == vector.error
    assert caught.value.pos == vector.pos
