"""Shapes of as many nodes as the grammar allows: reading them takes what their value takes, and little beside it.

Strategy: `dense` makes the payloads. Read with every node kept and with none, they give the same; and with none kept, the
reader takes less than 64 bytes for each byte of the input beside the value, whatever the node.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import npser
from dense import BYTES_A_BYTE, CHAINS, LEAST_BYTES, NODE, PAYLOADS, UNITS, held, taking_turns
from npser.errors import NpserError
from npser.shapes import build, ordered, widerows
from npser.tags import Node
from same import difference
from test_malformed import OPTIONS, corpus, mutated
from values import Box, Frozen

ALONE = [*UNITS, *CHAINS]
ALL = 1 << 60


def outcome(monkeypatch: pytest.MonkeyPatch, kept: int, data: bytes, options: dict[str, Any]) -> Any:
    """The value, or what the error says, where shapes of more nodes than that are read anew for each walk."""
    monkeypatch.setattr(build, "MAX_KEPT", kept)
    build.SHAPES.clear()
    try:
        return npser.loads(data, **options)
    except NpserError as error:
        return type(error)
    finally:
        build.SHAPES.clear()


def check(monkeypatch: pytest.MonkeyPatch, data: bytes, options: dict[str, Any]) -> Any:
    """The outcome is the same either way."""
    kept, anew = outcome(monkeypatch, ALL, data, options), outcome(monkeypatch, 0, data, options)
    assert difference(kept, anew) is None, data.hex()
    return anew


def test_every_node_has_a_payload() -> None:
    met = b"".join(unit.shape for unit in (UNITS | CHAINS).values())
    assert {int(node) for node in Node} - {Node.PRESERVE} <= set(met)
    assert len(list(taking_turns())) > 2 * len(ALONE)


@pytest.mark.parametrize("options", [{}, {"numbers": "array", "tables": "columns"}])
def test_every_dense_payload_is_a_value(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    for name, make in PAYLOADS.items():
        if options and "," in name:
            continue
        assert isinstance(check(monkeypatch, make(1200), options), list), name


def test_every_payload_reads_the_same_without_kept_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    key, box = Frozen(1), Box(1)
    shared = [
        npser.dumps([key, {key: box, Frozen(2): key}, {(key, 1)}, box]),
        npser.dumps([box, key, {"x": [box, {key: [box]}]}], identity="preserve"),
    ]
    for data in (*corpus().values(), *shared):
        for options in OPTIONS:
            check(monkeypatch, data, options)


def test_damage_gives_the_same_without_kept_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(31)
    payloads = list(corpus().values())
    for _ in range(600):
        check(monkeypatch, mutated(rng, rng.choice(payloads)), rng.choice(OPTIONS))


def test_objects_that_hold_each_other_as_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dicts with keys that are not complete wait for the end, at every depth."""
    a, b = Keyed("a"), Keyed("b")
    a.links, b.links = {a: 1, b: [{a, b}]}, {a: 3}
    data = npser.dumps([{"x": a}, [b, (a, {b})]])
    for kept in (ALL, 0):
        (first, (second, (third, members))) = outcome(monkeypatch, kept, data, {"classes": [Keyed]})
        assert first["x"] is third and members == {second}
        assert list(third.links) == [third, second] and third.links[second] == [{third, second}]
        assert second.links[third] == 3


class Keyed:
    def __init__(self, name: str) -> None:
        self.name = name
        self.links: dict[Keyed, Any] = {}

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed) and self.name == other.name


def test_rows_wider_than_what_is_zipped_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (widerows, ordered):
        monkeypatch.setattr(module, "MAX_ZIPPED", 5)
    for count in (4, 5, 6, 10, 23):
        items = [[i, "a", {"x": [i]}, (), None][i % 5] for i in range(count)]
        for rows in ([tuple(items)] * 3, [[*items]] * 3, [tuple(items)], [*items]):
            assert check(monkeypatch, npser.dumps(rows), {}) == rows


def test_errors_say_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """A union whose code is that of no child, deep in a table."""
    shape = NODE["TABLE"] + b"\4\1a" + NODE["LIST_ROW"] + b"\2" + NODE["LEAF"] + NODE["UNION"] + b"\2" + NODE["NOTHING"] * 2
    data = b"\xc1\x01" + bytes([0x80 | len(shape)]) + shape + b"\0\3" + b"\7" + b"\0"
    for kept in (ALL, 0):
        monkeypatch.setattr(build, "MAX_KEPT", kept)
        build.SHAPES.clear()
        with pytest.raises(npser.DecodeError) as caught:
            npser.loads(data)
        assert caught.value.path == "$['a'][1]"


# ----------------------------------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize("over", ["", "over one: "])
def test_what_reading_takes_beside_the_value(monkeypatch: pytest.MonkeyPatch, over: str) -> None:
    """As the promise has it, with a 64th of its constant, and of the nodes that may be kept."""
    monkeypatch.setattr(build, "MAX_KEPT", build.MAX_KEPT // 64)
    for name in ALONE:
        if over + name in PAYLOADS:
            data = PAYLOADS[over + name](6_000)
            build.SHAPES.clear()
            peak, kept, came = held(data)
            assert isinstance(came, list), name
            assert peak - kept < BYTES_A_BYTE * len(data) + LEAST_BYTES // 64, name


@pytest.mark.parametrize("name", ["list of nothing, leaf", "over one: table of no keys", "record of no fields"])
def test_the_promise_for_a_large_shape(name: str) -> None:
    data = PAYLOADS[name](120_000)
    peak, _kept, came = held(data)
    assert isinstance(came, list)
    assert peak < BYTES_A_BYTE * len(data) + LEAST_BYTES // 8
