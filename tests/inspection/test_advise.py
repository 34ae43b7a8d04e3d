"""Advice is given where there is something to gain, its figures are those of the encoder, and else there is none."""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npser
import strategies
from inspection.inert import BAD, check_inert
from npser.inspection.hints import Hint
from npser.inspection.texthints import way_for
from npser.inspection.valuecolumns import columns_of

N = 1000
DRAW = random.Random(3)


@dataclass
class Open:
    id: int
    name: str


@dataclass(slots=True)
class Slotted:
    id: int
    name: str


def only(value: object, rule: str, path: str) -> Hint:
    (hint,) = [hint for hint in npser.advise(value) if (hint.rule, hint.path) == (rule, path)]
    return hint


def rules(value: object) -> set[str]:
    return {hint.rule for hint in npser.advise(value)}


def column(make: Callable[[int], object]) -> list[dict[str, object]]:
    return [{"id": i, "x": make(i)} for i in range(N)]


UUIDS = [uuid.UUID(int=DRAW.getrandbits(128)) for _ in range(N)]
NUMBERS = [DRAW.randrange(10**6) for _ in range(N)]
MOMENTS = [datetime(2024, 1, 1) + timedelta(seconds=977 * i) for i in range(N)]

TEXTS = {
    "ints": (list(map(str, NUMBERS)), NUMBERS),
    "floats": ([repr(n / 7) for n in NUMBERS], [n / 7 for n in NUMBERS]),
    "decimals": ([f"{n / 100:.2f}" for n in NUMBERS], [Decimal(f"{n / 100:.2f}") for n in NUMBERS]),
    "dates": ([(date(2000, 1, 1) + timedelta(n % 9000)).isoformat() for n in NUMBERS], [date(2000, 1, 1) + timedelta(n % 9000) for n in NUMBERS]),
    "datetimes": ([m.isoformat() for m in MOMENTS], MOMENTS),
    "with a space": ([m.isoformat(sep=" ") for m in MOMENTS], MOMENTS),
    "with milliseconds": ([m.isoformat(timespec="milliseconds") for m in MOMENTS], MOMENTS),
    "with Z": ([m.isoformat() + "Z" for m in MOMENTS], MOMENTS),
    "uuids": (list(map(str, UUIDS)), UUIDS),
    "hex": ([u.bytes.hex() for u in UUIDS], [u.bytes for u in UUIDS]),
    "json": ([json.dumps({"a": n, "b": [n, 1]}) for n in NUMBERS], [{"a": n, "b": [n, 1]} for n in NUMBERS]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_that_holds_something_else(name: str) -> None:
    texts, things = TEXTS[name]
    value = column(lambda i: texts[i])
    hint = only(value, "text holds something else", "$[*]['x']")
    assert hint.bytes_before == len(npser.dumps(texts))
    assert hint.bytes_after == len(npser.dumps(things))
    assert f"{hint.bytes_after:,} bytes instead of {hint.bytes_before:,}" in hint.sentence
    assert hint.how


def test_none_among_texts_stays_none() -> None:
    texts = [None if i % 5 == 0 else str(n) for i, n in enumerate(NUMBERS)]
    hint = only(column(lambda i: texts[i]), "text holds something else", "$[*]['x']")
    assert hint.bytes_after == len(npser.dumps([None if text is None else int(text) for text in texts]))


@pytest.mark.parametrize(
    "texts",
    [
        ["007", "8"],
        ["1.50", "x"],
        ["+1"],
        ["2024-01-02", "02.01.2024"],
        ["1e5", "1"],
        ["{'a': 1}"],
        [""],
        ["abcdefg"],
        ["DEADbeefDEADbeef"],
        ["NaN", "sNaN1"],
    ],
)
def test_text_that_would_not_come_back_is_left_alone(texts: list[str]) -> None:
    assert way_for(texts) is None


def test_a_number_in_a_phrase() -> None:
    keys = {f"user:{n}:cart": n % 7 for n in dict.fromkeys(NUMBERS)}
    hint = only(keys, "text of one form", "$.keys()[*]")
    numbers = [int(key.split(":")[1]) for key in keys]
    assert (hint.bytes_before, hint.bytes_after) == (len(npser.dumps(list(keys))), len(npser.dumps(numbers)))
    assert f"{len(keys):,} keys of the form 'user:<int>:cart'" in hint.sentence
    assert "text of one form" not in rules({f"user:{n:09d}": 1 for n in NUMBERS})


def test_floats_that_are_whole() -> None:
    floats = [float(n) * (1 if n % 3 else 1000) for n in NUMBERS]
    found = [hint for hint in npser.advise(column(lambda i: floats[i])) if hint.rule == "float holds ints"]
    old, new = len(npser.dumps(floats)), len(npser.dumps(list(map(int, floats))))
    assert bool(found) == (old - new >= max(64, 0.1 * old))  # npser stores them as decimals already
    assert "float holds ints" not in rules(column(lambda i: -0.0 if i == 5 else floats[i]))


def test_ids_in_no_order() -> None:
    ids = DRAW.sample(range(10**6), 5000)
    hint = only({"ids": ids}, "ids in no order", "$['ids'][*]")
    assert (hint.bytes_before, hint.bytes_after) == (len(npser.dumps(ids)), len(npser.dumps(sorted(ids))))
    assert "ids in no order" not in rules({"ids": sorted(ids)})
    assert "ids in no order" not in rules({"ids": ids + ids[:1]})
    assert "ids in no order" not in rules(column(lambda i: ids[i]))


def test_a_column_that_is_mixed_because_of_a_few() -> None:
    value = column(lambda i: "n/a" if i % 400 == 1 else NUMBERS[i])
    hints = [hint for hint in npser.advise(value) if hint.rule == "mixed column"]
    for hint in hints:  # where it pays
        assert "mixed because of 3 of 1,000 items (str)" in hint.sentence
        assert hint.seconds_before is not None and hint.seconds_after is not None
    assert "mixed column" not in rules(column(lambda i: "n/a" if i % 2 else i))


def test_a_list_of_numbers_as_an_array() -> None:
    value = {"amount": [DRAW.random() for _ in range(50_000)]}
    hint = only(value, "store as array", "$['amount'][*]")
    assert hint.bytes_after == len(npser.dumps(np.array(value["amount"])))
    assert hint.seconds_before is not None and hint.seconds_after is not None
    assert hint.seconds_before > hint.seconds_after
    assert "times faster" in hint.sentence
    assert "store as array" not in rules(column(lambda i: 1.5 * i))


def test_arrays_with_a_dtype_too_wide() -> None:
    small = np.random.default_rng(1).integers(0, 200, 5000)
    objects = np.array([DRAW.randrange(99) for _ in range(3000)], object)
    floats = np.random.default_rng(1).random(5000, np.float32).astype("f8")
    advice = {hint.path: hint for hint in npser.advise({"a": small, "o": objects, "f": floats}) if hint.rule == "narrower dtype"}
    for path, array, dtype in (("$['a']", small, "u1"), ("$['f']", floats, "f4"), ("$['o']", objects, "i8")):
        old, new = len(npser.dumps([array])), len(npser.dumps([array.astype(dtype)]))
        assert (path in advice) == (old - new >= max(64, 0.1 * old)), path
        if path in advice:
            assert (advice[path].bytes_before, advice[path].bytes_after) == (old, new)


def test_compression() -> None:
    words = ["alpha", "beta", "gamma", "delta"]
    value = [" ".join(DRAW.choice(words) for _ in range(20)) + str(i) for i in range(2000)]
    hint = only(value, "compression", "$")
    name = hint.how.split("'")[1]
    assert hint.bytes_before == len(npser.dumps(value))
    assert hint.bytes_after == len(npser.Codec(compress=name, compress_from=0).dumps(value))  # type: ignore[arg-type]
    assert "compression" not in rules([DRAW.randbytes(2000)])


def test_classes_without_slots() -> None:
    hint = only([Open(i, str(i)) for i in range(500)], "class without slots", "$[*]")
    assert "500 objects of Open have a __dict__" in hint.sentence
    assert "class without slots" not in rules([Slotted(i, str(i)) for i in range(500)])
    assert "class without slots" not in rules([Open(i, str(i)) for i in range(5)])


def test_the_same_column_twice() -> None:
    value = [{"a": n, "b": n, "c": -n} for n in NUMBERS]
    hint = only(value, "the same column twice", "$[*]['b']")
    assert "`$[*]['a']`" in hint.sentence
    assert hint.bytes_before == len(npser.dumps(NUMBERS))


def test_read_as_columns() -> None:
    value = [{f"k{j}": NUMBERS[i] * j for j in range(12)} for i in range(N)]
    hint = only(value, "read as columns", "$")
    assert hint.seconds_before is not None and hint.seconds_after is not None
    assert hint.seconds_before > hint.seconds_after


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [1, 2, 3], {"a": [1.5]}, [{"id": 1}] * 3, b"xyz", np.arange(3), [{1, 2}], (1, ("a",))])
def test_nothing_to_gain(value: object) -> None:
    advice = npser.advise(value)
    assert len(advice) == 0
    assert repr(advice).startswith("nothing to gain")


def test_facts_are_those_of_the_report() -> None:
    value = [{"created_at": "2024-01-02", "id": 10 * i, "kind": ["delivered", "returned"][i % 3 == 0]} for i in range(N)]
    facts = {fact.path: fact for fact in npser.advise(value).facts}
    report = npser.inspect(npser.dumps(value))
    (created,) = report.find("$[*]['created_at']")
    assert facts["$[*]['created_at']"].sentence == (
        f"`$[*]['created_at']` repeats one value 1,000 times: {created.nbytes} bytes instead of {created.raw:,}"
    )
    assert "equal steps" in facts["$[*]['id']"].sentence
    assert "2 different values" in facts["$[*]['kind']"].sentence
    assert "pickle takes" in facts["$"].sentence


def test_sorted_ids_tell_what_delta_saves() -> None:
    ids = sorted(DRAW.sample(range(10**6), 5000))
    (fact,) = [fact for fact in npser.advise({"ids": ids}).facts if fact.path == "$['ids'][*]"]
    assert re.search(r"is stored as differences \(DELTA saves \d+% against \w+\)", fact.sentence)


def test_payloads_are_decoded_and_objects_may_stay_placeholders() -> None:
    value = column(lambda i: str(NUMBERS[i]))
    by_value, by_payload = npser.advise(value), npser.advise(npser.dumps(value))
    assert [(hint.rule, hint.path, hint.saved) for hint in by_value if hint.saved] == [
        (hint.rule, hint.path, hint.saved) for hint in by_payload if hint.saved
    ]
    objects = npser.dumps([Open(i, str(n)) for i, n in enumerate(NUMBERS)])
    assert [hint.path for hint in npser.advise(objects) if hint.rule == "text holds something else"] == ["$[*].name"]
    php = npser.advise(npser.dumps({"a": list(map(str, NUMBERS))}, wire="phpser"))
    assert "text holds something else" in {hint.rule for hint in php}
    with pytest.raises(npser.DecodeError):
        npser.advise(objects[:-5])
    with pytest.raises(npser.SignatureError):
        npser.advise(npser.dumps_signed(1, bytes(32)))
    with pytest.raises(npser.EncodeError):
        npser.advise([object()])


def test_time_is_bounded() -> None:
    advice = npser.advise(column(lambda i: str(i)), budget=0.0)
    assert len(advice) == 0
    assert advice.skipped or not advice.facts or "nothing to gain" in repr(advice)


def test_columns_have_the_paths_of_the_report() -> None:
    value = {
        "rows": column(lambda i: (i, "x")),
        "map": {f"k {i}": [i] for i in range(100)},
        "objects": [Open(i, "a") for i in range(30)],
        "set": {1, 2},
    }
    report = {part.path for part in npser.inspect(npser.dumps(value)).parts()}
    found = {column.path for column in columns_of(value)}
    assert found <= report
    assert "$['rows'][*]['x'][0]" in found
    assert "$['objects'][*].id" in found
    assert "$['map'].keys()[*]" in found


def test_cycles_and_depth_end() -> None:
    a: list[object] = [1, 2]
    a.append(a)
    assert [column.items for column in columns_of(a)] == [[1, 2]]
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    list(columns_of(deep))


def test_text_html_and_data() -> None:
    value = [{BAD: str(n), "y" * 300: f"{BAD}{n}"} for n in NUMBERS]
    advice = npser.advise(value)
    assert len(advice) >= 2
    lines = repr(advice).splitlines()
    assert max(map(len, lines)) <= 100
    assert all(line.isprintable() for line in lines)
    _, rows = check_inert(advice._repr_html_())
    assert rows == 1 + len(advice)
    data = json.loads(json.dumps(advice.to_dict()))
    assert [hint["rule"] for hint in data["hints"]] == [hint.rule for hint in advice]
    saved = [hint.saved for hint in advice]
    assert saved == sorted(saved, reverse=True)


@settings(max_examples=40, deadline=None)
@given(strategies.values)
def test_any_value_is_advised_or_refused(value: object) -> None:
    try:
        npser.dumps(value)
    except npser.EncodeError:
        with pytest.raises(npser.EncodeError):
            npser.advise(value)
        return
    for one in (value, [value] * 40, npser.dumps(value)):
        try:
            npser.dumps(one)
        except npser.EncodeError:  # npser refuses what repeats an unhashable key, and the like
            continue
        advice = npser.advise(one, budget=0.5)
        assert max(map(len, repr(advice).splitlines())) <= 100
        check_inert(advice._repr_html_())


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=12), min_size=8, max_size=40))
def test_ways_give_back_every_text(texts: list[str]) -> None:
    way = way_for(texts)
    if way is not None:
        assert [way.show(way.parse(text)) for text in texts] == texts
