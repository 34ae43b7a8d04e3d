"""Names and visibility."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any

from npser.phpser import read, write
from npser.phpser.annotations import demands_of
from npser.phpser.classes import attribute_name, demangle, find_class, mangle, php_name, schema_for
from npser.types.allow import Allow


@dataclass
class Base:
    id: int = 0
    _kind: str = "k"
    __secret: int = 1


@dataclass
class Child(Base):
    __secret: int = 2


class Anything:
    pass


def test_visibility_round_trip() -> None:
    child = Child(5)
    data = write(child, version=1)
    for name in (b"\x02id", b"\x07\0*\0kind", b"\x0c\0Base\0secret", b"\x0d\0Child\0secret"):
        assert name in data
    found = read(memoryview(data), allow=Allow([Child]))
    assert found == child and vars(found) == vars(child)


def test_visibility_of_a_class_without_conventions() -> None:
    @dataclass
    class Base:
        kind: str
        secret: int

    schema = schema_for(Base)
    assert schema is not None
    assert [attribute_name(name, schema) for name in ("\0*\0kind", "\0Base\0secret", "plain", "\0odd")] == [
        "kind",
        "secret",
        "plain",
        "\0odd",
    ]


def test_two_private_properties_of_one_name() -> None:
    body = b"\x01\x03\x08Anything\x0d\0Base\0secret00"[:-2]
    body = b"\x01\x03\x08Anything\x0c\0Base\0secret\x0e\0Child2\0secret" + bytes.fromhex("0a0002" + "010302" + "020304")
    found: Any = read(memoryview(body), allow=Allow([Anything]))
    assert vars(found) == {"secret": 1, "_Child2__secret": 2}


def test_demangle() -> None:
    assert demangle("\0App\\Cart\0id") == ("App\\Cart", "id")
    assert demangle("\0") == ("", "\0")
    assert demangle("\0\0x") == ("", "\0\0x")
    assert mangle(Anything, "__dunder__") == "__dunder__"
    assert mangle(Anything, "_") == "_"


def test_finding_classes() -> None:
    allow = Allow({"App\\Cart": Base, "other": Anything})
    assert find_class(allow, "app\\cart") is Base
    assert find_class(allow, "Base") is None
    assert find_class(allow, "OTHER") is Anything
    assert find_class(Allow([Base]), "BASE") is Base
    assert php_name(Base) == "Base"
    assert schema_for(type(types.SimpleNamespace())) is None


def test_demands() -> None:
    @dataclass
    class Typed:
        a: int
        b: list[int] | None
        c: dict[str, list[int]]
        d: Any
        e: Base
        f: int = None  # type: ignore[assignment]

    demands = demands_of(Typed)
    assert demands["a"] == {int}
    assert demands["b"] == {list, dict, type(None)}
    assert demands["c"] == {list, dict}
    assert "d" not in demands and "e" not in demands
    assert demands["f"] == {int, type(None)}
    assert demands_of(Anything) == {}
