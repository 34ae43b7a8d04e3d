"""The tools of this folder do what they say, on small values and a few rounds; nothing here judges a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import compare, corpora, floors, growth, memory, peers, report, sections, store, targets
from benchmarks.measure import Plan
from benchmarks.shapes import SHAPES

TINY = Plan(rounds=2, least=2, budget=0.01)
LARGE = frozenset({"ints_262144", "floats_262144", "int64s_262144", "hex_32768", "webhooks_all", "flights_10k"})
"""Shapes that would take long to check and have a smaller one of their kind."""

LATER = frozenset({"strings_40_categories_distinct_10k"})
"""Shapes that a target may name before they are there."""


def build(name: str) -> Any:
    try:
        return SHAPES[name].build()
    except corpora.CorpusMissing as missing:
        return pytest.skip(str(missing))


# --------------------------------------------------------------------------------------------------------------- floors


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in LARGE])
def test_a_floor_builds_the_value_anew(name: str) -> None:
    value = build(name)
    floor = floors.floor_of(value)
    back = floor.build(None)
    assert back is not value and peers.same(value, back)


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        None,
        7,
        "text",
        -0.0,
        2**70,
        [2**70] * 20,
        [[], [1], [1, 2], []] * 9,
        [1, 1.0, True, None, "1"] * 9,
        ["\n", "\0", ""] * 20,
        [{"a": 1}, {"b": [{}]}, 3, "x", None, [[]]] * 5,
        {i: str(i) for i in range(300)},
        {f"key {i}": {"x": i, "class": "a" * i} for i in range(100)},
        [{f"key{k}": k * i for k in range(20)} for i in range(30)],
        [{"a": [{"b": i}, {"b": None}], "c": None} for i in range(40)],
        list(range(10, -10, -1)),
        ["ä", "日本", "a"] * 10,
    ],
)
def test_a_floor_of_any_value(value: Any) -> None:
    assert peers.same(value, floors.floor_of(value).build(None))


# -------------------------------------------------------------------------------------------------------------- targets


def test_targets_name_shapes_that_exist() -> None:
    named = {limit.shape for target in targets.TARGETS for limit in target.limits}
    assert named <= set(SHAPES) | LATER
    assert {*targets.ARRAY_SHAPES, *targets.COLD_SHAPES} <= set(SHAPES)


def _shape(npser: tuple[float, float, int], pickle: tuple[float, float], **more: Any) -> dict[str, Any]:
    def figures(loads: float, dumps: float, size: int) -> dict[str, Any]:
        facts = {"error": "", "verified": True, "fidelity": "exact", "spread": 0.1, "rounds": 2}
        return facts | {"bytes": size, "loads": loads, "dumps": dumps, "first_loads": 1.0, "first_dumps": 1.0}

    codecs = {"npser": figures(*npser), "pickle": figures(*pickle, 100), "msgpack": figures(2.0, 2.0, 100)}
    return {"about": "a", "group": "lists", "phpser": None, "codecs": codecs, "floor": 0.5} | more


@pytest.fixture
def results() -> dict[str, Any]:
    return {
        "environment": {"python": "CPython", "machine": "any", "cores": 2, "versions": {"numpy": "2"}},
        "skipped": {},
        "shapes": {
            "flags_10k": _shape((0.8, 0.4, 13), (1.0, 1.0), array=0.06),
            "dto_100": _shape((0.5, 0.45, 33), (1.0, 1.0)),
            "dto_1000": _shape((0.2, 0.1, 1), (1.0, 1.0)),
            "webhook": _shape((1.0, 1.0, 50), (1.0, 1.0), cold={"npser": 3.0, "pickle": 1.0}),
        },
    }


def test_rows_show_the_worst_shape_beside_its_limit(results: dict[str, Any]) -> None:
    rows = {row.row: targets.cells(row)[1:] for row in targets.judge(results)}
    assert rows == {
        "flags": ["0.80 ≤ 0.85", "0.40 ≤ 0.8", "0.13 ≤ 0.13", "pass"],
        "dto_100 / dto_1000 (vs pickle)": ["**0.50 > 0.45**", "0.45 ≤ 0.45", "0.33 ≤ 0.33", "MISS"],
        "one webhook, hot": ["1.00 ≤ 1.1", "1.00 ≤ 1.3", "0.50 ≤ 0.85", "pass"],
        'any numeric column with `numbers="array"`': ["**0.06 > 0.05**", "–", "–", "MISS"],
        "web session and webhook, cold (vs pickle)": ["3.00 ≤ 3", "–", "–", "pass"],
    }
    assert targets.summary(results) == "3 of 5 rows pass decode, 3 of 3 encode, 3 of 3 size; 3 of 5 pass whole."


def test_the_readme_section_and_the_details_hold_the_table(results: dict[str, Any]) -> None:
    results["memory"] = {"x": {"decode": {"peak": 3, "of": 2, "allowed": 2.8, "kept": False}}}
    table = targets.table(results)
    short, details = report.short(results), report.details(results)
    assert table in short and table in details
    assert "MISS: peak memory" in short and "decode x 1.50" in short
    assert "4 of 4 shapes" not in details and "| webhook | 500 ms | 1000 ms | 2.00 |" in details  # over the floor
    assert len(short.splitlines()) < 40


def test_limits_below_the_floor_are_named(results: dict[str, Any]) -> None:
    assert list(map(str, targets.below_the_floor(results))) == ["0.50 > 0.45", "0.50 > 0.3"]  # dto_100 and dto_1000
    assert "is over the decode limit on: dto_100, dto_1000." in report.short(results)


def test_results_of_other_tools_are_kept(tmp_path: Path, results: dict[str, Any]) -> None:
    store.save(dict(results), tmp_path)
    store.put("growth", {"ints": _growing()}, tmp_path)
    store.save(dict(results), tmp_path)
    assert store.load(tmp_path)["growth"]["ints"] == _growing()
    assert "## How it grows" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------ the tools


def test_compare_prints_the_targets_of_some_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(["--quick", "--shapes", "packed_1k,session_2_7kb"]) == 0
    printed = capsys.readouterr().out
    assert "web session, hot" in printed and "cold (vs pickle)" in printed and "rows pass decode" in printed
    assert "buckets, counters" not in printed


def test_numbers_as_arrays_and_cold_reads_are_measured() -> None:
    found = compare.run(["flags_10k", "session_2_7kb"], TINY, compare.Console(quiet=True))["shapes"]
    assert found["flags_10k"]["array"] > 0 and found["flags_10k"]["floor"] > 0
    assert found["session_2_7kb"]["cold"]["npser"] > 0 and found["session_2_7kb"]["array"] is None


def _growing() -> dict[str, Any]:
    return {
        "loads": {"npser": {"10": 9.0, "30": 1.0}, "pickle": {"10": 2.0, "30": 2.0}, "orjson": {"10": 1.0, "30": 1.5}},
        "dumps": {"npser": {"10": 1.0, "30": 5.0}, "pickle": {"10": 2.0, "30": 2.0}, "orjson": {"10": 1.0, "30": 1.0}},
    }


def test_growth_says_from_where_npser_wins_and_where_a_cliff_is() -> None:
    said = sections.growth({"ints": _growing()})
    assert "| ints | 30 | 30 | never | never |" in said
    assert "- encode ints, 10 to 30: 5.00 (pickle 1.00)" in said


@pytest.mark.parametrize("kind", list(growth.KINDS))
def test_growth_measures_every_codec(kind: str) -> None:
    build, shape = growth.KINDS[kind]
    times = growth.at_size(build(20), peers.codecs(shape), TINY)
    assert set(times) == set(peers.installed()) and all(min(pair) > 0 for pair in times.values())


def test_growth_is_drawn_the_same_every_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a.svg", "b.svg"):
        growth.plot({"ints": _growing(), "rows": _growing()}, tmp_path / name)
    drawn = (tmp_path / "a.svg").read_bytes()
    assert b"ints: decode" in drawn and drawn == (tmp_path / "b.svg").read_bytes()


def test_memory_counts_the_result_and_the_peak() -> None:
    peak, held = memory.traced(lambda: [bytes(2_000_000), bytes(1_000_000)][1:])
    assert 3_000_000 < peak < 3_010_000 and 1_000_000 < held < 1_010_000


def test_memory_judges_both_directions() -> None:
    found = memory.measure_case(list(range(1_000, 3_000)))
    assert found["encode"]["of"] < 100 and found["decode"]["of"] > 2_000 * 8
    assert all(part["kept"] is (part["peak"] <= part["allowed"]) for part in found.values())
    assert "decode" in sections.memory({"a": found}) and json.dumps(found)


def test_memory_finds_where_the_peak_is() -> None:
    def grow() -> int:
        kept = bytes(100_000)
        return len(kept + bytes(1_000_000))

    place, *alive = memory.where(grow)
    assert "test_tools.py" in place and "MB by" in alive[0]


def test_pauses_compare_with_and_without() -> None:
    from benchmarks import pauses

    figures = pauses.compared("rowset_1000", TINY)
    assert figures["paused"] > 0 and figures["collections_paused"] <= figures["collections"]
    assert "rowset_1000" in sections.collector({"alive": 5, "small": {"rowset_1000": figures}, "large": {}})
