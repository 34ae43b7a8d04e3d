"""The tool that measures entries in Redis, on one value and two rounds; nothing here judges a time."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks import redis_memory, redis_tables, sections
from benchmarks.measure import Plan
from benchmarks.shapes import SHAPES

FOUND = {
    "server": "7.0.0",
    "client": "8.0.0",
    "parser": "without hiredis",
    "ping": 5e-5,
    "values": {
        "users": {
            "pickle": {"payload": 90, "memory": 100, "get": 1e-4, "set": 2e-4, "exact": True, "same": True},
            "json": {"payload": 190, "memory": 200, "get": 2e-4, "set": 1e-4, "exact": False, "same": True},
            "npser": {"payload": 40, "memory": 50, "get": 1e-4, "set": 2e-4, "exact": True, "same": False},
        }
    },
}


def test_every_serializer_gives_the_value_back() -> None:
    for name in ("redis", "msgpack"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    with redis_memory.server() as port:
        for name in ("session_2_7kb", "dto_100"):
            found = redis_memory.measure_value(port, SHAPES[name], Plan(rounds=2, least=2, budget=0.01))
            assert list(found) == list(redis_memory.SERIALIZERS)
            assert all(figures["same"] for figures in found.values())
            assert [serializer for serializer, figures in found.items() if not figures["exact"]] == (
                ["json", "msgpack"] if name == "dto_100" else []
            )
            assert found["npser, signed"]["payload"] == found["npser"]["payload"] + 35
            assert all(figures["memory"] > figures["payload"] for figures in found.values())


def test_the_section_says_what_was_found() -> None:
    section = redis_tables.section(FOUND)
    assert "| users | pickle | 90 | 100 | 1.00 | 10,000 | 1.00 | 5,000 | 1.00 |" in section
    assert "|  | json † | 190 | 200 | 2.00 | 5,000 | 2.00 | 10,000 | 0.50 |" in section
    assert "|  | npser (NOT THE SAME) | 40 | 50 | 0.50 |" in section
    assert section in "\n\n".join(sections.bodies({"redis": FOUND}))
    assert sections.headlines({"redis": FOUND}) == ["memory in Redis over pickle's: users 0.50"]


def test_only_what_is_between_the_markers_is_replaced(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(
        f"a\n{redis_tables.BEGIN}\nold\n{redis_tables.END}\nb <!-- benchmark:begin -->\n", encoding="utf-8"
    )
    assert redis_memory.write_readme(FOUND, readme).startswith("wrote")
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"a\n{redis_tables.BEGIN}\n| value")
    assert text.endswith(f"{redis_tables.END}\nb <!-- benchmark:begin -->\n")
    assert "old" not in text
    readme.write_text("no markers", encoding="utf-8")
    assert "left alone" in redis_memory.write_readme(FOUND, readme)
    assert readme.read_text(encoding="utf-8") == "no markers"
