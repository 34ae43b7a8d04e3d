"""Payloads of classes that have changed since: fields added, removed, renamed and reordered; versions and upgrades."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

import npser
from npser.types import registry


@pytest.fixture(autouse=True)
def _clean_registry() -> Iterator[None]:
    before = set(registry._by_class)
    yield
    for cls in set(registry._by_class) - before:
        npser.unregister(cls)


def written(cls: Any, **declared: Any) -> type:
    """The class as some release had it, registered as shop.Order."""
    return npser.register(cls, name="shop.Order", **declared)


# one order as each of three generations of a class wrote it; these bytes never change
FIRST = bytes.fromhex(
    "c1019e121473686f702e4f726465721c02696405746f74616c046e6f746500000003070807000000000000f83f200100000178"
)
SECOND = bytes.fromhex(
    "c101a5121873686f702e4f7264657200322602696406616d6f756e740863757272656e637900000003070808000000000000044020"
    "01000003555344"
)
THIRD = bytes.fromhex(
    "c101b2121873686f702e4f7264657200333c0c616d6f756e745f63656e74730269640863757272656e637904746167730000000200"
    "04030803085e01090120020000054348460061"
)


@dataclasses.dataclass
class Order1:
    id: int
    total: float
    note: str


@dataclasses.dataclass
class Order2:
    id: int
    amount: float
    currency: str = "EUR"


@dataclasses.dataclass
class Order3:
    amount_cents: int
    id: int
    currency: str
    tags: list[str] = dataclasses.field(default_factory=list)


def to_cents(fields: dict[str, Any], version: int) -> dict[str, Any]:
    amount = fields.pop("total" if version < 2 else "amount")
    fields.pop("note", None)
    return {"currency": "EUR", **fields, "amount_cents": round(100 * amount)}


def payloads() -> tuple[bytes, bytes, bytes]:
    """What the three generations wrote."""
    return FIRST, SECOND, THIRD


def test_the_generations_still_write_what_they_wrote() -> None:
    written(Order1)
    assert npser.dumps(Order1(7, 1.5, "x")) == FIRST
    npser.unregister(Order1)
    written(Order2, version=2)
    assert npser.dumps(Order2(8, 2.5, "USD")) == SECOND
    npser.unregister(Order2)
    written(Order3, version=3)
    assert npser.dumps(Order3(350, 9, "CHF", ["a"])) == THIRD


def test_three_generations_are_read_by_the_last() -> None:
    first, second, third = payloads()
    written(Order3, version=3, upgrade=to_cents)
    assert npser.loads(first) == Order3(150, 7, "EUR", [])
    assert npser.loads(second) == Order3(250, 8, "USD", [])
    assert npser.loads(third) == Order3(350, 9, "CHF", ["a"])
    batch = npser.loads(third).tags
    assert batch is not npser.loads(third).tags


def test_a_rename_is_declared() -> None:
    first, *_ = payloads()
    written(Order2, version=2, renames={"total": "amount"})
    assert npser.loads(first) == Order2(7, 1.5, "EUR")
    with pytest.raises(npser.DecodeError, match="Order2 has no field 'note'"):
        npser.loads(first, extra_fields="refuse")


def test_a_newer_payload_is_read_by_older_code() -> None:
    _, second, _ = payloads()
    written(Order1, renames={"amount": "total"})
    with pytest.raises(npser.DecodeError, match="field 'note' without a default"):
        npser.loads(second)


def test_no_default_names_class_and_field() -> None:
    first, *_ = payloads()
    written(Order2)
    with pytest.raises(npser.DecodeError, match=r"Order2.*'amount' without a default"):
        npser.loads(first)


def test_two_fields_that_have_one_name_now() -> None:
    @dataclasses.dataclass
    class Both:
        total: float
        amount: float

    written(Both)
    data = npser.dumps(Both(1.0, 2.0))
    npser.unregister(Both)

    @dataclasses.dataclass
    class Total:
        sum: float

    written(Total, renames={"total": "sum", "amount": "sum"})
    with pytest.raises(npser.DecodeError, match="are called 'sum' now"):
        npser.loads(data)


def test_a_reordered_class_reads_right() -> None:
    @dataclasses.dataclass
    class Before:
        a: int
        b: int

    @dataclasses.dataclass
    class After:
        b: int
        a: int

    written(Before)
    data = npser.dumps([Before(i, -i) for i in range(50)])
    npser.unregister(Before)
    written(After)
    assert [(row.a, row.b) for row in npser.loads(data)] == [(i, -i) for i in range(50)]


class Pair(NamedTuple):
    left: int
    right: int = 0


class NewPair(NamedTuple):
    first: int
    right: int
    third: str = "x"


def test_named_tuples_are_renamed_and_upgraded() -> None:
    npser.register(Pair, name="pair")
    data = npser.dumps([Pair(i, 2 * i) for i in range(5)])
    npser.unregister(Pair)
    npser.register(NewPair, name="pair", renames={"left": "first"})
    assert npser.loads(data) == [NewPair(i, 2 * i) for i in range(5)]
    npser.register(NewPair, name="pair", version=1, upgrade=lambda fields, _: {"first": -fields["left"], "right": 1})
    assert npser.loads(data) == [NewPair(-i, 1) for i in range(5)]


class Old:
    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


class Slotted:
    __slots__ = ("a", "c")


def test_plain_and_slotted_classes() -> None:
    written(Old)
    varied = npser.dumps([Old(a=1, b=2), Old(b=3), Old()])
    npser.unregister(Old)
    written(Slotted, renames={"b": "c"})
    first, second, third = npser.loads(varied)
    assert (first.a, first.c, second.c) == (1, 2, 3)
    assert not hasattr(second, "a") and not hasattr(third, "c")
    written(Slotted, version=1, upgrade=lambda fields, version: {"a": len(fields), "c": version})
    assert [(thing.a, thing.c) for thing in npser.loads(varied)] == [(2, 0), (1, 0), (0, 0)]


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


def test_members_of_enums_are_renamed() -> None:
    old = enum.Enum("Old", {"SCARLET": 1, "GREEN": 2})
    npser.register(old, name="colour")
    data = npser.dumps(list(old))
    npser.unregister(old)
    npser.register(Colour, name="colour", renames={"SCARLET": "RED"})
    assert npser.loads(data) == [Colour.RED, Colour.GREEN]
    npser.register(Colour, name="colour")
    with pytest.raises(npser.DecodeError, match="no member 'SCARLET'"):
        npser.loads(data)


class Stateful:
    def __init__(self, value: int) -> None:
        self.value = value

    def __getstate__(self) -> dict[str, int]:
        return {"value": self.value}

    def __setstate__(self, state: dict[str, int]) -> None:
        self.value = state["value"]


def test_states_are_upgraded() -> None:
    npser.register(Stateful, name="state")
    data = npser.dumps(Stateful(1))
    npser.register(Stateful, name="state", version=5, upgrade=lambda state, version: {"value": state["value"] + 10})
    assert npser.loads(data).value == 11
    assert npser.loads(npser.dumps(Stateful(1))).value == 1


def test_an_upgrade_that_fails_is_a_decode_error() -> None:
    first, *_ = payloads()
    for upgrade in (lambda fields, version: 1 / 0, lambda fields, version: 3, lambda fields, version: {1: 2}):
        written(Order2, version=9, upgrade=upgrade)
        with pytest.raises(npser.DecodeError, match="upgrade of Order2 from version 0"):
            npser.loads(first)


def test_post_init_runs_only_where_it_is_wanted() -> None:
    calls: list[int] = []

    @dataclasses.dataclass
    class Loud:
        id: int

        def __post_init__(self) -> None:
            calls.append(self.id)
            if self.id < 0:
                raise ValueError("negative")

    data = [npser.dumps(thing) for thing in (Loud(1), [Loud(2), Loud(3)])]
    calls.clear()
    assert npser.loads(data[0], classes=[Loud]).id == 1
    assert calls == []
    npser.register(Loud, post_init="call")
    calls.clear()
    assert npser.loads(data[0]).id == 1 and calls == [1]
    npser.loads(data[1])
    assert calls == [1, 2, 3]
    npser.unregister(Loud)
    bad = Loud(1)
    bad.id = -1
    data.append(npser.dumps(bad))
    npser.register(Loud, post_init="call")
    with pytest.raises(npser.DecodeError, match="__post_init__ refused"):
        npser.loads(data[2])


def test_unregistered_versions_stay_with_the_placeholder() -> None:
    _, second, _ = payloads()
    thing = npser.loads(second)
    assert (thing.class_name, thing.version) == ("shop.Order", 2)
    assert npser.dumps(thing) == second
    assert npser.dumps(npser.loads(npser.dumps([thing, thing]))) == npser.dumps([thing, thing])


def test_what_is_not_allowed_may_be_refused() -> None:
    first, *_ = payloads()
    with pytest.raises(npser.ClassNotAllowedError, match=r"shop\.Order") as caught:
        npser.loads(first, unknown="refuse")
    assert caught.value.path == "$"
    data = npser.dumps({"orders": [{"by": Pair(1, 2)}]})
    with pytest.raises(npser.ClassNotAllowedError) as caught:
        npser.loads(data, unknown="refuse")
    assert caught.value.path == "$['orders'][*]['by']"


def test_register_is_a_decorator_and_classes_may_move() -> None:
    @npser.register
    class Plain:
        pass

    @npser.register(name="elsewhere")
    class Named:
        pass

    assert type(npser.loads(npser.dumps(Plain()))) is Plain
    data = npser.dumps(Named())
    assert b"elsewhere" in data
    assert type(npser.loads(data)) is Named
    assert type(npser.loads(data, classes=[Plain])) is Named
    npser.unregister(Named)
    assert npser.loads(data).class_name == "elsewhere"
    assert type(npser.loads(data, classes={"elsewhere": Named})) is Named


def test_one_name_means_one_class() -> None:
    npser.register(Pair, name="x")
    with pytest.raises(ValueError, match="registered already"):
        npser.register(NewPair, name="x")
    npser.register(Pair, name="y")
    npser.register(NewPair, name="x")

    def again() -> type:
        class Cell:
            pass

        return npser.register(Cell)

    first, second = again(), again()  # as when a cell of a notebook runs again
    assert first is not second
    assert type(npser.loads(npser.dumps(second()))) is second


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": ""}, ValueError),
        ({"name": "a\0b"}, ValueError),
        ({"name": 3}, ValueError),
        ({"version": -1}, ValueError),
        ({"version": 1 << 31}, ValueError),
        ({"version": True}, ValueError),
        ({"post_init": "yes"}, ValueError),
    ],
)
def test_bad_declarations(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        npser.register(Pair, **arguments)
    with pytest.raises(TypeError):
        npser.register(3)  # type: ignore[call-overload]


@pytest.mark.parametrize("mark", ["\x00", "\x000", "\x00x", "\x0001", "\x00-1", "\x002147483648", "\x00²"])
def test_a_version_has_one_spelling(mark: str) -> None:
    written(Order1)
    data = bytearray(npser.dumps(Order1(1, 1.5, "x")))
    name = b"shop.Order"
    at = data.index(name)
    longer = name + mark.encode()
    data[at - 1] = len(longer) << 1
    data[at : at + len(name)] = longer
    data[2] += len(mark.encode())
    with pytest.raises(npser.DecodeError, match="version from 1"):
        npser.loads(bytes(data))
