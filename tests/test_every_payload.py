"""Every byte is in exactly one span: of all payloads that the suite keeps, and of what hypothesis draws.

The golden vectors and the columns of every type are in `test_spans`; `tap` does the same to every payload that any
other test reads.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npser
import strategies
from fuzz import read_corpus
from golden.corpus import load
from inspection.tiles import check_tiles, check_whole
from phpser.vectors import VECTORS as PHP_VECTORS
from phpser.vectors import frame, title
from test_format import EXAMPLES, Example

CORPUS: Final = read_corpus()
EXAMPLES_OF_PAYLOADS: Final = [example for example in EXAMPLES if example.data[:1] == b"\xc1"]

CODECS: Final = {
    "plain": npser.Codec(),
    "preserve": npser.Codec(identity="preserve"),
    "sealed": npser.Codec(key=bytes(32)),
    "compressed": npser.Codec(compress="zlib", compress_from=0),
    "both": npser.Codec(key=bytes(32), compress="zlib", compress_from=0),
    "checked": npser.Codec(checksum="crc32"),
}


def test_there_is_something_to_check() -> None:
    assert len(load()) > 300
    assert len(CORPUS) > 300
    assert len(EXAMPLES_OF_PAYLOADS) > 80
    assert len(PHP_VECTORS) > 300


def test_the_corpus_of_the_fuzzer() -> None:
    for data in CORPUS.values():
        report = check_tiles(data)
        try:
            npser.loads(data)
        except npser.NpserError:
            continue
        assert report.error is None


@pytest.mark.parametrize("example", EXAMPLES_OF_PAYLOADS, ids=str)
def test_examples_of_the_format(example: Example) -> None:
    check_tiles(example.data)


@pytest.mark.parametrize("vector", PHP_VECTORS, ids=title)
def test_vectors_of_phpser(vector: dict[str, Any]) -> None:
    data = frame(vector)
    report = check_tiles(data)
    assert (report.wire == "phpser") is (data[:1] in (b"\x01", b"\x02"))


KINDS: Final = {
    "values": strategies.values,
    "tables": strategies.tables,
    "records": strategies.records,
    "arrays": strategies.arrays,
    "keys": st.dictionaries(strategies.keys, strategies.scalars, max_size=5),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(sorted(CODECS)))
def test_any_value_in_any_envelope(kind: str, data: st.DataObject, name: str) -> None:
    value = data.draw(KINDS[kind])
    try:
        payload = CODECS[name].dumps(value)
    except npser.EncodeError:
        return
    report = check_whole(payload)
    assert report.nbytes == len(payload)


@settings(max_examples=60, deadline=None)
@given(strategies.values_without_sets)
def test_any_value_in_canonical_order(value: Any) -> None:
    try:
        payload = npser.dumps(value, order="canonical")
    except npser.EncodeError:
        return
    check_whole(payload)


@settings(max_examples=40, deadline=None)
@given(st.lists(strategies.same_keys, min_size=1, max_size=4))
def test_joined_payloads(parts: list[list[dict[str, Any]]]) -> None:
    try:
        joined = npser.concat([npser.dumps(part) for part in parts])
    except npser.NpserError:
        return
    check_whole(joined)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), st.sampled_from([b"", b"\xc1\x01", b"\xc1\x01\xff", b"\x01\x00", b"\x02\x00"]))
def test_any_bytes_at_all(data: bytes, start: bytes) -> None:
    check_tiles(start + data)
