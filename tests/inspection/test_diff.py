"""The differences are exact, complete, and at the place where the bytes are."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

import npser
from inspection.inert import BAD, check_inert


@dataclass
class Order:
    id: int
    name: str


@dataclass
class Renamed:
    id: int
    name: str


def rows(n: int, **more: object) -> list[dict[str, object]]:
    return [{"id": i, "name": f"n{i % 5}", **more} for i in range(n)]


def checked(a: object, b: object) -> npser.Difference:
    old, new = npser.dumps(a), npser.dumps(b)
    found = npser.diff(old, new)
    assert found.delta == len(new) - len(old)
    assert sum(one.before for one in found.changes) == len(old)
    assert sum(one.after for one in found.changes) == len(new)
    assert sum(one.delta for one in found.changes) == found.delta
    sizes = [abs(one.delta) for one in found.changes]
    assert sizes == sorted(sizes, reverse=True)
    return found


def one(found: npser.Difference, path: str, role: str = "") -> object:
    (change,) = [change for change in found.changes if (change.path, change.role) == (path, role)]
    return change


def test_the_same_is_the_same() -> None:
    found = checked(rows(100), rows(100))
    assert {change.change for change in found.changes} == {"same"}
    assert found.delta == 0 and found.classes == ()
    assert "places as before" in repr(found)


def test_added_removed_grown_shrunk_recoded() -> None:
    found = checked(
        {"gone": "x" * 40, "text": "ab", "long": "y" * 90, "ids": list(range(300)), "flags": [3, 1, 2] * 100},
        {"new": "z" * 50, "text": "abcdef", "long": "y", "ids": [i * i % 297 for i in range(300)], "flags": [3, 1, 2] * 100},
    )
    words = {change.path: change.change for change in found.changes}
    assert words["$['gone']"] == "removed"
    assert words["$['new']"] == "added"
    assert words["$['text']"] == "grown"
    assert words["$['long']"] == "shrunk"
    ids = one(found, "$['ids'][*]")
    assert ids.encoding_before == "AFFINE" and ids.encoding_after.startswith("FRAME")  # type: ignore[attr-defined]
    assert (one(found, "$['gone']").before, one(found, "$['gone']").after) == (41, 0)  # type: ignore[attr-defined]


def test_an_encoding_may_change_where_bytes_do_not() -> None:
    found = npser.diff(npser.dumps([7] * 50), npser.dumps(list(range(50))))
    changed = {change.path: change for change in found.changes}["$[*]"]
    assert (changed.encoding_before, changed.encoding_after) == ("CONST", "AFFINE")


def test_rows_that_became_objects_stay_comparable() -> None:
    found = checked(rows(100), [Order(i, f"n{i % 5}") for i in range(100)])
    (change,) = found.classes
    assert change.startswith("$[*]: TABLE -> RECORD ") and change.endswith(":Order")
    assert one(found, "$[*].id").change == "same"  # type: ignore[attr-defined]
    assert not [change for change in found.changes if change.change in ("added", "removed") and "id" in change.path]


def test_another_class_is_told() -> None:
    found = checked([Order(i, "a") for i in range(9)], [Renamed(i, "a") for i in range(9)])
    (change,) = found.classes
    assert "Order -> " in change and change.endswith("Renamed")


def test_items_are_counted() -> None:
    found = checked(rows(100), rows(150))
    change = one(found, "$[*]['name']")
    assert (change.items_before, change.items_after) == (100, 150)  # type: ignore[attr-defined]


def test_envelopes_are_opened() -> None:
    value = [{"id": i, "text": f"some text {i * i}"} for i in range(500)]
    plain = npser.dumps(value)
    packed = npser.Codec(compress="zlib").dumps(value)
    assert len(packed) < len(plain)
    found = npser.diff(plain, packed)
    assert found.delta == 0
    assert f"in their envelopes {len(plain):,} -> {len(packed):,} bytes" in repr(found)
    sealed = npser.dumps_signed(value, bytes(32))
    assert npser.diff(plain, sealed).delta == 0


def test_reports_and_other_wires() -> None:
    old, new = npser.dumps(rows(50), wire="phpser"), npser.dumps(rows(60), wire="phpser")
    found = npser.diff(npser.inspect(old), npser.inspect(new))
    assert found.delta == len(new) - len(old) == sum(change.delta for change in found.changes)
    mixed = npser.diff(old, npser.dumps(rows(50)))
    assert mixed.delta == sum(change.delta for change in mixed.changes)


def test_damage_is_told_and_still_adds_up() -> None:
    whole = npser.dumps(rows(300))
    found = npser.diff(whole, whole[:-10])
    assert found.delta == -10 == sum(change.delta for change in found.changes)
    assert "after is damaged" in repr(found)
    assert found.to_dict()["after"]["error"]  # type: ignore[index]
    with pytest.raises(npser.DecodeError):
        npser.diff(whole, 7)


def test_text_html_and_data() -> None:
    found = checked({BAD: {BAD * 3: "x"}, "k" * 900: [1]}, {BAD: {BAD * 3: "x" * 80}, "k" * 900: ["a"]})
    lines = repr(found).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.isprintable() for line in lines)
    text, _ = check_inert(found._repr_html_())
    assert "grown" in text
    data = json.loads(json.dumps(found.to_dict()))
    assert data["delta"] == found.delta
    assert len(found.to_rows()) == len(found.changes)


def test_many_columns_are_bounded() -> None:
    found = npser.diff(npser.dumps({}), npser.dumps([{f"key {i}": [i, "x"][i % 2] for i in range(20_000)}] * 2))
    assert len(repr(found).splitlines()) < 60
    check_inert(found._repr_html_(), most=60_000)
    assert "smaller changes" in repr(found)
    assert sum(change.delta for change in found.changes) == found.delta
