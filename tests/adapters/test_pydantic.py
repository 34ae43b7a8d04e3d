"""Models of Pydantic, registered and as they are."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest

pytest.importorskip("pydantic", reason="the pydantic extra is not installed")

import pydantic
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    RootModel,
    TypeAdapter,
    ValidationError,
    computed_field,
    field_validator,
    model_validator,
)

import npser
from npser.adapters.pydantic import loads_validated, register

Item = TypeVar("Item")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str
    city: str = "Köln"


class Customer(BaseModel):
    id: int
    name: str = Field(alias="customerName")
    homes: list[Address] = []
    score: float | None = None


class Order(BaseModel):
    id: int
    placed: dt.datetime
    total: decimal.Decimal
    colour: Colour = Colour.RED
    customer: Customer | None = None
    by_street: dict[str, Address] = Field(default_factory=dict)
    kind: Literal["a", "b"] = "a"


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)
    x: int
    parts: tuple[int, ...] = ()


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")
    x: int = 0


class Private(BaseModel):
    x: int
    _seen: list[int] = PrivateAttr(default_factory=list)
    _never: int
    _count: int = 7


class Numbers(RootModel[list[int]]):
    pass


class Page(BaseModel, Generic[Item]):
    items: list[Item]
    number: int = 1


class Cached(BaseModel):
    x: int

    @cached_property
    def twice(self) -> int:
        return self.x * 2

    @computed_field
    def thrice(self) -> int:
        return self.x * 3


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Watchful(BaseModel):
    """What runs nowhere when bytes are read."""

    x: int
    loud: bool = False

    @field_validator("x")
    @classmethod
    def _check(cls, x: int) -> int:
        if x < 0:
            raise ValueError("negative")
        return x

    @model_validator(mode="after")
    def _whole(self) -> Watchful:
        assert not CALLS["armed"]
        return self


class Loud(BaseModel):
    x: int

    def model_post_init(self, _context: Any) -> None:
        assert not CALLS["armed"]


CALLS = {"armed": False}


class Slotted(BaseModel):
    model_config = ConfigDict(validate_assignment=True)
    x: Annotated[int, Field(gt=0)]


@pydantic.dataclasses.dataclass
class Point:
    x: int
    y: Annotated[int, Field(ge=0)] = 0
    tags: list[str] = Field(default_factory=list)


@pydantic.dataclasses.dataclass(frozen=True, slots=True)
class Fixed:
    x: float
    inner: Point | None = None


MODELS = (
    Address, Customer, Order, Frozen, Extra, Private, Numbers, Page, Page[int], Page[Address], Cached, Tree, Watchful, Loud, Slotted,
)  # fmt: skip


def private(x: int) -> Private:
    model = Private(x=x)
    model._seen.append(x)
    return model


def cached(x: int) -> Cached:
    model = Cached(x=x)
    assert model.twice == 2 * x
    return model


def changed() -> Order:
    order = Order(id=3, placed=dt.datetime(2024, 5, 1, tzinfo=dt.UTC), total=decimal.Decimal("1.50"))
    order.kind = "b"
    return order


def orders(n: int) -> list[Order]:
    return [
        Order(
            id=i,
            placed=dt.datetime(2024, 5, 1, tzinfo=dt.UTC) + dt.timedelta(minutes=i),
            total=decimal.Decimal(i) / 4,
            **({"colour": Colour.BLUE} if i % 3 else {}),
            customer=Customer(id=i, customerName=f"n{i % 7}", homes=[Address(street=f"s{i}")] * (i % 3)) if i % 2 else None,
            by_street={"x": Address(street="x", city="Bonn")},
        )
        for i in range(n)
    ]


def deleted() -> Address:
    model = Address(street="a", city="b")
    del model.city
    return model


VALUES: dict[str, Any] = {
    "one": Address(street="a"),
    "all set": Address(street="a", city="b"),
    "nested": orders(1)[0],
    "a batch": orders(100),
    "assigned": changed(),
    "frozen": [Frozen(x=1), Frozen(x=2, parts=(1, 2))],
    "extras": [Extra(x=1, y=2, z=[Address(street="q")]), Extra(), Extra(y="y")],
    "private": [private(1), private(2), Private(x=3)],
    "root": [Numbers([1, 2]), Numbers([])],
    "generic": [Page[int](items=[1, 2]), Page[Address](items=[Address(street="a")], number=2), Page(items=["x"])],
    "cached": [Cached(x=1), cached(2)],
    "tree": Tree(name="a", children=[Tree(name="b", children=[Tree(name="c")])]),
    "not validated": [Address.model_construct(street=5), Address.model_construct(city="x"), Address.model_construct()],
    "other names set": Address.model_construct(_fields_set={"street", "nothing"}, street="a"),
    "an attribute deleted": [deleted(), Address(street="c")],
    "no items": Page[int](items=[]),
    "within others": {"a": (Address(street="a"), {Frozen(x=1)}), "b": [[Address(street="b")]]},
    "assignment is validated": Slotted(x=3),
}


@pytest.fixture(autouse=True, params=["as they are", "registered"])
def how(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every test of fidelity holds for models that are registered and for those that are not."""
    if request.param == "registered":
        register(*MODELS)
    yield request.param
    for model in MODELS:
        npser.unregister(model)


def again(value: Any) -> Any:
    return npser.loads(npser.dumps(value), classes=[*MODELS, Colour, Point, Fixed])


def check(found: Any, value: Any) -> None:
    """Same types, same values, same everything that a model has, in every part."""
    assert type(found) is type(value)
    if isinstance(value, BaseModel):
        assert found == value
        assert found.model_fields_set == value.model_fields_set
        assert found.model_fields_set is not value.model_fields_set
        assert (found.model_extra or None) == (value.model_extra or None)
        assert found.__pydantic_private__ == value.__pydantic_private__
        assert list(vars(found)) == list(vars(value))
        check(list(vars(found).values()), list(vars(value).values()))
    elif isinstance(value, (list, tuple)):
        assert len(found) == len(value)
        for one, other in zip(found, value, strict=True):
            check(one, other)
    elif isinstance(value, dict):
        assert list(found) == list(value)
        check(list(found.values()), list(value.values()))
    else:
        assert found == value


@pytest.mark.parametrize("name", VALUES)
def test_models_come_back(name: str) -> None:
    value = VALUES[name]
    found = again(value)
    check(found, value)
    check(again(found), value)


def test_models_are_usable() -> None:
    frozen = again(Frozen(x=1))
    with pytest.raises(ValidationError):
        frozen.x = 2
    assert hash(frozen) == hash(Frozen(x=1))
    assert again(Slotted(x=3)).model_copy(update={"x": 4}).x == 4
    with pytest.raises(ValidationError):
        again(Slotted(x=3)).x = -1
    customer = again(Customer(id=1, customerName="a"))
    assert customer.model_dump(by_alias=True, exclude_unset=True) == {"id": 1, "customerName": "a"}
    assert Order.model_validate_json(again(orders(2)[1]).model_dump_json(by_alias=True)) == orders(2)[1]
    extra = again(Extra(y=1))
    extra.z = 2
    assert extra.model_extra == {"y": 1, "z": 2}
    model = again(private(1))
    model._never = 3
    assert (model._seen, model._count, model._never) == ([1], 7, 3)


def test_nothing_of_the_model_runs() -> None:
    data = npser.dumps([Watchful(x=1), Watchful.model_construct(x=-5), Loud(x=2)])
    CALLS["armed"] = True
    try:
        found = npser.loads(data, classes=[Watchful, Loud])
    finally:
        CALLS["armed"] = False
    assert [model.x for model in found] == [1, -5, 2]


def test_a_circle_of_models(how: str) -> None:
    """A model that is built from its state cannot lead back to itself; one that is stored by its own state can."""
    tree = Tree(name="a")
    tree.children.append(tree)
    if how == "registered":
        with pytest.raises(npser.EncodeError):
            npser.dumps(tree)
    else:
        found = again(tree)
        assert found.children[0] is found


def test_a_model_met_twice_is_one() -> None:
    address = Address(street="a")
    first, second = again([address, address])
    assert first is second


def test_dataclasses_of_pydantic_are_dataclasses() -> None:
    value = [Point(1), Point(2, 3, ["a"]), Fixed(0.5), Fixed(1.5, Point(4))]
    assert again(value) == value
    assert [type(one) for one in again(value)] == [type(one) for one in value]


def test_a_batch_is_a_table(how: str) -> None:
    plain = npser.dumps([{"street": f"s{i}", "city": "Köln"} for i in range(1000)])
    batch = npser.dumps([Address(street=f"s{i}") for i in range(1000)])
    assert len(batch) < len(plain) + 200


# --------------------------------------------------------------------------------------------------------- evolution


def two_versions() -> tuple[type[BaseModel], type[BaseModel]]:
    class Then(BaseModel):
        id: int
        total: float
        gone: str = "g"

    class Now(BaseModel):
        id: int
        currency: str = "EUR"
        notes: list[str] = Field(default_factory=list)
        label: str = Field(default_factory=lambda fields: f"order {fields['id']}")
        total: float
        _cache: dict[str, int] = PrivateAttr(default_factory=dict)

    return Then, Now


def test_fields_come_and_go() -> None:
    then, now = two_versions()
    register(then, name="shop.Order")
    data = npser.dumps([then(id=1, total=2.5), then(id=2, total=3.5, gone="x")])
    npser.unregister(then)
    register(now, name="shop.Order")
    try:
        found = npser.loads(data)
    finally:
        npser.unregister(now)
    assert found == [now(id=1, total=2.5), now(id=2, total=3.5)]
    assert [model.model_fields_set for model in found] == [{"id", "total"}] * 2
    assert found[0].notes is not found[1].notes
    assert found[0]._cache == {}


def test_an_upgrade_sees_the_fields_of_an_older_version() -> None:
    class Then(BaseModel):
        id: int
        total: float

    class Now(BaseModel):
        id: int
        cents: int
        currency: str = "EUR"

    register(Then, name="shop.Order", version=1)
    data = npser.dumps([Then(id=1, total=2.5), Then(id=2, total=3.5)])
    npser.unregister(Then)

    def to_cents(fields: dict[str, Any], version: int) -> dict[str, Any]:
        assert version == 1
        return {"id": fields["id"], "cents": round(100 * fields["total"])}

    register(Now, name="shop.Order", version=2, upgrade=to_cents)
    try:
        assert npser.loads(data) == [Now(id=1, cents=250), Now(id=2, cents=350)]
    finally:
        npser.unregister(Now)


def test_a_new_field_without_a_default_is_an_error() -> None:
    class Then(BaseModel):
        id: int

    class Now(BaseModel):
        id: int
        needed: str

    register(Then, name="shop.Needs")
    data = npser.dumps(Then(id=1))
    npser.unregister(Then)
    register(Now, name="shop.Needs")
    try:
        with pytest.raises(npser.DecodeError, match="needed"):
            npser.loads(data)
    finally:
        npser.unregister(Now)


# ------------------------------------------------------------------------------------------------------- registering


def test_the_models_in_the_fields_are_registered_too() -> None:
    for model in MODELS:
        npser.unregister(model)
    register(Order)
    assert npser.loads(npser.dumps(orders(3)), classes=[Colour]) == orders(3)


def test_what_cannot_be_registered() -> None:
    class Own(BaseModel):
        x: int

        def __getstate__(self) -> dict[Any, Any]:
            return super().__getstate__()

    for wrong in (int, 5, Point):
        with pytest.raises(TypeError, match="no model"):
            register(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="state of its own"):
        register(Own)
    with pytest.raises(TypeError, match="one model"):
        register(Address, Order, version=2)
    with pytest.raises(TypeError, match="one model"):
        register(name="x")
    assert npser.loads(npser.dumps(Own(x=1)), classes=[Own]) == Own(x=1)


def test_a_class_that_nobody_allows_is_not_built() -> None:
    for model in MODELS:
        npser.unregister(model)
    assert type(npser.loads(npser.dumps(Address(street="a")))) is npser.Placeholder


FIELDS = {"street": "a", "city": "b"}


@pytest.mark.parametrize(
    "state",
    [
        None,
        1,
        {},
        [1],
        {"unset": ""},
        {"fields": 1, "unset": ""},
        {"fields": {}, "unset": ""},
        {"fields": {"street": "a", "city": "b"}, "unset": 7},
        {"fields": ("street", "city"), "unset": ""},
        {"fields": FIELDS, "unset": "", "extra": 5},
        {"fields": FIELDS, "unset": "", "private": [1]},
        {"fields": FIELDS, "unset": "", "set": 3},
        {"fields": {"street": "a"}, "unset": "", "has": 3},
    ],
)
def test_states_that_nobody_wrote(state: Any, how: str) -> None:
    if how == "registered":
        name = f"{Address.__module__}:Address"
        with pytest.raises(npser.DecodeError):
            npser.loads(npser.dumps(npser.Placeholder(name, "built", state)))


# -------------------------------------------------------------------------------------------------------- validation


def read(data: bytes, kind: Any) -> Any:
    return loads_validated(data, kind, classes=[*MODELS, Colour, Point, Fixed])


def test_validated_values_are_what_validators_make() -> None:
    for name in ("a batch", "extras", "root", "generic", "tree", "frozen"):
        value = VALUES[name]
        kind = list[Any] if name == "generic" else list[type(value[0])] if type(value) is list else type(value)
        found = read(npser.dumps(value), kind)
        if name != "generic":
            assert found == value
    assert read(npser.dumps([Point(1)]), TypeAdapter(list[Point])) == [Point(1)]
    assert read(npser.dumps({"x": 3}), Watchful) == Watchful(x=3)


def test_what_does_not_validate() -> None:
    for value, kind in (
        (Watchful.model_construct(x=-1), Watchful),
        ([Watchful.model_construct(x=1), Watchful.model_construct(x=-1)], list[Watchful]),
        (Page[Address].model_construct(items=[Address.model_construct(street=5)]), Page[Address]),
        (Address(street="a"), Frozen),
        ([1], list[Address]),
    ):
        with pytest.raises(ValidationError):
            read(npser.dumps(value), kind)
    for data in (b"", b"\x80\x05.", npser.dumps(Address(street="a"))[:-1]):
        with pytest.raises(npser.DecodeError):
            read(data, Address)
