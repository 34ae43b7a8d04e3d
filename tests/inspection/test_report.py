"""The figures, on examples that are worked out by hand; text, rows, dicts, and why."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

import numpy as np
import pytest

import npser
from npser.blocks.choose.alternatives import bit_ways, byte_ways, float_ways, int_ways, text_ways
from npser.inspection.chosen import choose_parts
from npser.inspection.text import draw_report, human


def only(report: npser.Report, path: str, role: str = ""):
    (found,) = [part for part in report.leaves() if part.path == path and part.role == role]
    return found


def test_a_list_of_ints_in_an_int_block() -> None:
    report = npser.inspect(npser.dumps([5, 1, 3]))  # c1 01 3a 03 | 00 08 05 01 03
    part = only(report, "$[*]")
    assert (part.kind, part.encoding, part.dtype, part.count) == ("INT", "FRAME 8", "int", 3)
    assert (part.nbytes, part.raw, report.size) == (5, 24, 9)
    assert part.per_item == 5 / 3
    assert part.ratio == 24 / 5
    assert part.share == 5 / 9
    assert report.root.children[0].kind == "LIST"
    assert report.shape_bytes == 0


def test_a_table_in_the_pools() -> None:
    """The first example of a table in FORMAT.md: 8 of 23 bytes are keys."""
    report = npser.inspect(npser.dumps({"id": 7, "name": "a"}))
    assert report.size == len(bytes.fromhex("c1018c1010026964046e616d650000030807200100000161"))
    number, text = only(report, "$['id']"), only(report, "$['name']")
    assert (number.nbytes, number.raw, number.encoding) == (1, 8, "pool U8")
    assert (text.nbytes, text.raw, text.encoding) == (1, 1, "pool TEXT")
    sizes = {part.path: part.nbytes for part in report.root.children}
    assert sizes == {"$": 2, "(header)": 3, "(shape)": 12, "(kinds)": 2, "(pool headers)": 5}
    assert report.shape_bytes == 12
    assert report.root.children[0].shape_bytes == 10  # the tag, the size, two keys


def test_shares_of_the_pools_are_exact() -> None:
    report = npser.inspect(npser.dumps({"a": ["xx", "y", "zzz"], "b": ["", "é"], "n": [300, 7], "m": [1, 2, 3]}))
    assert [only(report, f"$['{key}'][*]").nbytes for key in "abnm"] == [3 + 2 + 4, 1 + 2, 4, 3]
    assert [only(report, f"$['{key}'][*]").raw for key in "abnm"] == [6, 2, 16, 24]
    assert [only(report, f"$['{key}']", "lengths").nbytes for key in "abnm"] == [1, 1, 1, 1]
    found = [span for span in report.spans() if span.what.startswith("payload / pools / text pool")]
    assert [(span.path, span.nbytes) for span in found][-2:] == [("$['a'][*]", 9), ("$['b'][*]", 3)]


def test_codes_constants_and_nones_of_the_pools() -> None:
    value = {"c": ["ab"] * 6, "d": ["a", "bc"] * 4, "o": [None, 1.5, 2.5, None, 1.5] * 4, "s": [0, 5, 10, 15, 20]}
    report = npser.inspect(npser.dumps(value))
    constant, coded, some = (only(report, f"$['{key}'][*]") for key in "cdo")
    assert (constant.encoding, constant.raw, constant.nbytes) == ("pool CONST", 12, 1 + 3)
    assert (coded.encoding, coded.distinct, coded.raw, coded.nbytes) == ("pool CODES 2", 2, 12, 2 + 8 + 2 + 2)
    assert coded.hit_rate == 1 - 2 / 8
    assert some.dtype == "float | None"
    assert some.raw == 20 + 12 * 8
    assert only(report, "$['s'][*]").encoding == "pool STEPS"


def test_a_dictionary_of_strings() -> None:
    values = ["red", "green", "blue", "green"] * 500
    report = npser.inspect(npser.dumps(values))
    part = only(report, "$[*]")
    assert part.distinct == 3
    assert part.hit_rate == 1 - 3 / 2000
    assert part.raw == sum(map(len, values))
    assert part.encoding.startswith("DICT 3")
    distinct = next(below for _, below in part.walk() if below.role == "distinct")
    assert distinct.raw == len("redgreenblue")
    why = report.why(part)
    assert why is not None
    assert (why.encoding, why.nbytes) == ("DICT", part.nbytes)
    assert why.others[0].encoding == "SPLIT"
    assert why.others[0].nbytes > part.raw


def test_tables_of_rows_have_paths() -> None:
    rows = [{"id": i, "price": i / 4, "tags": ["x"] * (i % 3)} for i in range(400)]
    report = npser.inspect(npser.dumps({"orders": rows}))
    assert only(report, "$['orders'][*]['id']").encoding == "AFFINE"
    assert only(report, "$['orders'][*]['price']").encoding.startswith("DECIMAL 2")
    assert only(report, "$['orders'][*]['tags']", "lengths").count == 400
    assert only(report, "$['orders'][*]['tags'][*]").count == sum(len(row["tags"]) for row in rows)
    assert [part.path for part in report.find("$['orders'][*]['id']")] == ["$['orders'][*]['id']"]
    assert report.find("$['nothing']") == []


def test_arrays_count_elements() -> None:
    report = npser.inspect(npser.dumps({"a": np.random.default_rng(1).random((10, 100)), "b": [np.int8(1)]}))
    part = only(report, "$['a']")
    assert (part.kind, part.dtype, part.count, part.raw) == ("ARRAY", "float64", 1000, 8000)
    assert "shape (10, 100)" in part.encoding
    assert only(report, "$['b'][*]").dtype == "int8"


def test_arrays_in_parts() -> None:
    dice = np.random.default_rng(1)
    rows = np.array([dice.integers(0, 50 * (i + 1), 20_000) for i in range(6)])
    for value, path in ((rows, "$"), (np.asfortranarray(rows.T), "$"), (list(rows), "$[*]")):
        report = npser.inspect(npser.dumps(value))
        part = only(report, path)
        assert report.error is None
        assert part.encoding.endswith("PARTS")
        assert (part.count, part.raw) == (120_000, 960_000)
        parts = [below for _, below in part.walk() if below.role == "part"]
        assert [below.count for below in parts] == [20_000] * 6
        assert sum(below.nbytes for below in parts) < part.nbytes < 1.01 * sum(below.nbytes for below in parts)


def test_a_body_stored_twice_costs_once() -> None:
    report = npser.inspect(npser.dumps({"a": 2**600, "b": 2**600}))
    assert only(report, "$['a']").nbytes == 80
    again = only(report, "$['b']")
    assert (again.nbytes, again.ratio) == (0, None)
    assert again.note == "the same bytes as body 0"


def test_single_leaves() -> None:
    for value, nbytes, raw in ((None, 0, 1), (7, 1, 8), (-300, 2, 8), (0.5, 8, 8), ("né", 4, 3), (b"ab", 2, 2), (2**70, 9, 9)):
        report = npser.inspect(npser.dumps(value))
        part = only(report, "$") if nbytes else report.root.children[0]
        assert (part.nbytes, part.raw) == (nbytes, raw), value


@dataclass
class Point:
    x: int
    y: float


def test_objects_without_their_class() -> None:
    report = npser.inspect(npser.dumps([Point(i, i / 2) for i in range(300)]))
    assert only(report, "$[*].y").count == 300
    record = next(part for part in report.parts() if part.kind == "RECORD")
    assert record.dtype.endswith(":Point")
    assert "RECORD Point" in repr(report)
    assert "class names" in next(part.note for part in report.root.children if part.path == "(shape)")


# ------------------------------------------------------------------------------------------------------------ envelopes


def test_sealed_is_looked_into_and_nothing_is_verified() -> None:
    plain = npser.dumps([5, 1, 3])
    sealed = npser.dumps_signed([5, 1, 3], bytes(32))
    report = npser.inspect(sealed)
    assert report.error is None
    assert [(layer.name, layer.nbytes) for layer in report.layers] == [("sealed", len(sealed))]
    assert "nothing was verified" in repr(report)
    assert report.size == len(plain)
    damaged = bytearray(sealed)
    damaged[-1] ^= 1
    assert npser.inspect(damaged).error is None  # nobody can tell without the key


def test_compressed_and_checked() -> None:
    inner = npser.dumps([f"abc {i % 7}" for i in range(9)])
    packed = zlib.compress(inner)
    compressed = b"\xc1Z\x01" + bytes([len(inner)]) + packed
    report = npser.inspect(compressed)
    assert (report.error, report.size, report.nbytes) == (None, len(inner), len(compressed))
    covered = b"\xc1K\x01" + compressed
    checked = covered + zlib.crc32(covered).to_bytes(4, "little")
    report = npser.inspect(checked)
    assert [layer.name for layer in report.layers] == ["checked", "compressed"]
    assert report.error is None
    wrong = npser.inspect(checked[:-1] + bytes([checked[-1] ^ 1]))
    assert isinstance(wrong.error, npser.DecodeError)
    assert wrong.size == len(inner)  # and it looks inside all the same
    nested = npser.inspect(b"\xc1Z\x01" + bytes([len(compressed)]) + zlib.compress(compressed))
    assert "may not be" in str(nested.error)
    assert npser.inspect(compressed[:-4]).error is not None


# ------------------------------------------------------------------------------------------------------------- damaged


def test_damage_in_one_body_leaves_the_others() -> None:
    value = {"a": [str(i) for i in range(1000)], "b": list(range(1000)), "c": [i % 7 / 3 for i in range(1000)]}
    data = bytearray(npser.dumps(value))
    report = npser.inspect(data)
    at = next(span.start for span in report.spans() if span.path == "$['b'][*]")
    data[at] = 0x55  # no such code
    report = npser.inspect(data)
    assert report.error is not None
    assert report.error.pos == at
    assert only(report, "$['b'][*]").note.startswith("damaged")
    assert only(report, "$['a'][*]").raw == sum(len(str(i)) for i in range(1000))
    assert only(report, "$['c'][*]").raw == 8000


def test_what_is_cut_off_shows_what_is_there() -> None:
    data = npser.dumps({"a": [str(i) for i in range(1000)], "b": [i % 7 / 3 for i in range(1000)]})
    report = npser.inspect(data[:-10])
    assert isinstance(report.error, npser.TruncatedError)
    assert only(report, "$['a'][*]").count == 1000
    assert report.to_dict()["error"]


def test_foreign_and_phpser() -> None:
    assert isinstance(npser.inspect(b"\x80\x05K\x01.").error, npser.ForeignBytesError)
    report = npser.inspect(b"\x01\x00")
    assert report.wire == "phpser"
    assert sum(span.nbytes for span in report.spans()) == 2


# --------------------------------------------------------------------------------------------------------------- output


DEEP: object = 1
for _level in range(400):
    DEEP = [DEEP, "x"]

LARGE = {
    "wide": {f"key {i}": i if i % 2 else str(i) for i in range(250)},
    "deep": DEEP,
    "long keys": {"k" * 5000: 1, "\x1b[31m\n": 2, "\ud800": 3},
    "rows": [{"id": i, "name": "ö" * (i % 9), "at": (i, None)} for i in range(500)],
    "columns": {f"c{i}": list(range(200 + i)) for i in range(150)},
}


@pytest.mark.parametrize("name", LARGE)
def test_text_fits(name: str) -> None:
    report = npser.inspect(npser.dumps(LARGE[name]))
    for text in (repr(report), draw_report(report, lines=300, blocks=True, sizes="human")):
        assert max(map(len, text.splitlines())) <= 100
        assert all(line.isprintable() for line in text.splitlines())
    assert len(repr(report).splitlines()) < 110


@pytest.mark.parametrize("name", LARGE)
def test_dicts_and_rows_are_json(name: str) -> None:
    report = npser.inspect(npser.dumps(LARGE[name]))
    found = json.loads(json.dumps(report.to_dict()))
    assert found["size"] == report.size
    assert sum(part["bytes"] for part in found["parts"]["children"]) == report.size
    rows = json.loads(json.dumps(report.to_rows()))
    assert rows[0]["depth"] == 0
    assert rows[0]["bytes"] == report.size
    assert len(rows) == sum(1 for _ in report.parts())


def test_top_is_the_largest_first() -> None:
    report = npser.inspect(npser.dumps(LARGE["columns"]))
    sizes = [part.nbytes for part in report.top(7)]
    assert sizes == sorted((part.nbytes for part in report.leaves()), reverse=True)[:7]
    assert report.top(0) == []


def test_what_is_shown_is_a_tree_of_the_largest() -> None:
    root = npser.inspect(npser.dumps(LARGE["columns"])).root
    shown, count, left = [choose_parts(root, 20, blocks=False)], 0, 0
    while shown:
        one = shown.pop()
        count += 1
        left += one.left_out
        shown += one.children
    assert count <= 21
    assert count + left == sum(1 for part in root.leaves()) + sum(1 for _, part in root.walk() if not part.is_leaf)


@pytest.mark.parametrize(("nbytes", "text"), [(0, "0"), (999, "999"), (1000, "1.0K"), (10**7, "9.5M"), (10**13, "9.1T")])
def test_human_sizes(nbytes: int, text: str) -> None:
    assert human(nbytes) == text


# ------------------------------------------------------------------------------------------------------------------ why


def test_why_names_what_the_payload_has_and_its_exact_bytes() -> None:
    dice = np.random.default_rng(3)
    columns = {
        "ints": dice.integers(0, 5000, 3000).tolist(),
        "steps": np.cumsum(dice.integers(0, 9, 3000)).tolist(),
        "prices": (dice.integers(0, 9999, 3000) / 100).tolist(),
        "doubles": dice.random(3000).tolist(),
        "flags": (dice.random(3000) < 0.5).tolist(),
        "runs": np.repeat(dice.random(30), 100).tolist(),
        "names": [f"name {i}" for i in dice.integers(0, 20, 3000)],
        "ids": [f"{i:x}-{i * i:x}" for i in range(3000)],
        "raw": [bytes([i % 200]) * (i % 5) for i in range(3000)],
    }
    report = npser.inspect(npser.dumps(columns))
    for key in columns:
        part = only(report, f"$['{key}'][*]")
        why = report.why(part)
        assert why is not None
        assert part.encoding.split()[0] == why.encoding
        assert why.nbytes == part.nbytes
        assert str(why).startswith(f"{why.encoding} {why.nbytes:,} bytes")
        assert all(way.encoding != why.encoding and way.nbytes > 0 for way in why.others)
        if why.cost is not None:
            assert all(way.cost is None or way.cost >= why.cost * 0.79 for way in why.others), key
        json.dumps(why.to_dict())


def test_why_of_nothing() -> None:
    report = npser.inspect(npser.dumps({"a": 1, "b": [1, 2]}))
    assert report.why(only(report, "$['a']")) is None
    assert report.why(report.root) is None


@pytest.mark.parametrize("n", [0, 1, 16, 17, 1000])
def test_ways_for_any_length(n: int) -> None:
    assert all(ways for ways in (
        int_ways(np.arange(n) ** 2), float_ways(np.arange(n) / 8), bit_ways(np.arange(n) % 3 == 0),
        text_ways([str(i % 7) for i in range(n)]), byte_ways([bytes(i % 7) for i in range(n)]),
    ))
