"""Every byte of every phpser vector is accounted for, at the place where its value is."""

from __future__ import annotations

import random
from typing import Any

import pytest

import npser
from npser.inspection.phpplaces import MAX_PIECES, MAX_PLACES
from npser.inspection.phpspans import VALUES
from npser.limits import Limits
from npser.phpser.tags import Tag
from phpser.vectors import VECTORS, frame, title

ACCEPTED = [vector for vector in VECTORS if not vector.get("reject") and vector["hex"]]
REJECTED = [vector for vector in VECTORS if vector.get("reject") and frame(vector)]


def php(value: object) -> bytes:
    return npser.dumps(value, wire="phpser")


def check_tiles(data: bytes) -> npser.Report:
    report = npser.inspect(data)
    assert report.wire == "phpser"
    at = 0
    for span in report.spans():
        assert span.start == at and span.stop > at
        at = span.stop
    assert at == len(data) == report.size
    for part in report.parts():
        if not part.is_leaf:
            assert part.nbytes == sum(child.nbytes for child in part.children)
            assert part.raw >= 0
    assert sum(part.nbytes for part in report.leaves()) == len(data)
    by_path: dict[str, int] = {}
    for span in report.spans():
        if span.path:
            by_path[span.path] = by_path.get(span.path, 0) + span.nbytes
    of_parts: dict[str, int] = {}
    for part in report.leaves():
        if part.path.startswith("$"):
            of_parts[part.path] = of_parts.get(part.path, 0) + part.nbytes
    if not any(span.what.endswith("more values") for span in report.spans()):
        assert by_path == {path: nbytes for path, nbytes in of_parts.items() if nbytes} or report.error is not None
    return report


def check_whole(data: bytes) -> npser.Report:
    report = check_tiles(data)
    assert report.error is None
    assert not any(part.path == "(unread)" for part in report.parts())
    assert not any("unread" in span.what for span in report.spans())
    return report


def own(report: npser.Report, path: str, role: str = "") -> Any:
    (found,) = [part for part in report.find(path) if part.role == role]
    return found


def test_the_vectors_are_there() -> None:
    assert len(ACCEPTED) > 250
    assert len(REJECTED) > 50
    seen = {kind for vector in ACCEPTED for part in npser.inspect(frame(vector)).parts() for kind in part.kind.split(" | ")}
    assert seen >= {tag.name for tag in Tag} - {"NEW_REF"}


def test_the_table_is_total() -> None:
    assert set(VALUES) == set(Tag)


@pytest.mark.parametrize("vector", ACCEPTED, ids=title)
def test_what_the_extension_wrote_is_accounted_for(vector: dict[str, Any]) -> None:
    check_whole(frame(vector))


@pytest.mark.parametrize("vector", REJECTED, ids=title)
def test_what_it_refuses_still_tiles(vector: dict[str, Any]) -> None:
    check_tiles(frame(vector)) if frame(vector)[0] in (1, 2) else npser.inspect(frame(vector))


@pytest.mark.parametrize("vector", [vector for vector in ACCEPTED if len(frame(vector)) <= 120 and "trailing" not in vector["name"]][::3], ids=title)
def test_cut_anywhere_it_says_so(vector: dict[str, Any]) -> None:
    data = frame(vector)
    for length in range(1, len(data)):
        assert check_tiles(data[:length]).error is not None


def test_what_cannot_be_decoded_has_an_error_or_is_more_than_sizes() -> None:
    draw = random.Random(7)
    for vector in ACCEPTED[::9]:
        data = bytearray(frame(vector))
        for _ in range(20):
            at = draw.randrange(1, len(data)) if len(data) > 1 else 0
            changed = bytearray(data)
            changed[at] = draw.randrange(256)
            report = check_tiles(bytes(changed))
            try:
                npser.loads(bytes(changed))
            except npser.NpserError:
                continue
            assert report.error is None


def test_places_kinds_and_counts() -> None:
    value = {
        "orders": [{"id": 3 * i * i, "name": f"n{i}", "paid": i % 2 == 0, "price": i / 4} for i in range(10)],
        "ids": [5, 1, 900, 2],
        "range": list(range(50)),
        "mixed": [None, 1, "x", 2.5],
    }
    report = check_whole(php(value))
    ids = own(report, "$['orders'][*]['id']")
    assert (ids.kind, ids.count, ids.raw) == ("DELTA", 10, 80)
    price = own(report, "$['orders'][*]['price']")
    assert (price.kind, price.count, price.nbytes, price.raw) == ("DOUBLES", 10, 1 + 80, 80)
    paid = own(report, "$['orders'][*]['paid']")
    assert (paid.count, paid.raw, set(paid.kind.split(" | "))) == (10, 10, {"FALSE", "TRUE", "MIXED"})
    name = own(report, "$['orders'][*]['name']")
    assert (name.count, name.raw) == (10, 20)
    assert (own(report, "$['range'][*]").kind, own(report, "$['range'][*]").nbytes) == ("AFFINE", 2)
    assert own(report, "$['mixed'][*]").count == 4
    assert own(report, "$['ids'][*]").kind == "LONGS"
    assert report.raw > report.size / 2


def test_the_dictionary_knows_how_often_it_was_hit() -> None:
    report = check_whole(php([{"carrier": "AA", "to": "JFK"}] * 3))
    words = own(report, "(dictionary)")
    assert words.distinct == 4
    assert words.count == 2 + 6
    assert words.hit_rate == 0.5


def test_objects_have_their_class() -> None:
    vector = next(vector for vector in ACCEPTED if vector["name"].startswith("dto_users"))
    report = check_whole(frame(vector))
    assert {part.dtype for part in report.parts() if part.path == "$[*]" and not part.role} == {"UserDto"}


def test_bytes_behind_the_value() -> None:
    data = php([1, 2, 3])
    signed = check_whole(data + bytes(32))
    assert "nothing was verified" in signed.note
    assert own(signed, "(behind the end)").nbytes == 32
    other = check_whole(data + b"xyz")
    assert other.note == ""
    assert own(other, "(behind the end)").nbytes == 3


def test_depth_is_bounded() -> None:
    data = bytes((2, 0)) + bytes((Tag.MIXED, 1)) * 5000 + bytes((Tag.NULL,))
    assert isinstance(check_tiles(data).error, npser.LimitError)
    assert npser.inspect(data, limits=Limits(depth=6000)).error is None


def test_a_count_of_affine_items_is_bounded() -> None:
    data = bytes((2, 0, Tag.AFFINE)) + b"\xff\xff\xff\xff\x7f" + bytes((0, 0))
    assert isinstance(check_tiles(data).error, npser.LimitError)


def test_many_values_are_one_span_and_many_places_a_bounded_number() -> None:
    long = php([i if i % 3 else str(i) for i in range(50_000)])
    report = check_whole(long)
    assert own(report, "$[*]").count == 50_000
    many = php({f"a{j}": {f"k{i}": {"x": [i]} for i in range(60)} for j in range(60)} | {"b": list(range(9))})
    report = check_whole(many)
    assert len(list(report.parts())) < 2 * MAX_PLACES
    wide = php([{f"k{i}": str(j) for j in range(40)} for i in range(4000)])
    report = check_whole(wide)
    assert len(list(report.spans())) <= MAX_PIECES + 2


def test_keys_are_shown_and_inert() -> None:
    report = check_whole(php({"</script>\x1b[31m": {"\x07": [1, 2]}}))
    assert all(line.isprintable() for line in repr(report).splitlines())
    assert "<script" not in report._repr_html_().replace("</script", "")
    assert "</script" not in report._repr_html_()

