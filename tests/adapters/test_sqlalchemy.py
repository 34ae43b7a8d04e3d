"""Rows and instances of SQLAlchemy, out of a real database (SQLite in memory)."""

from __future__ import annotations

import datetime as dt
import decimal
import pickle
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="the sqlalchemy extra is not installed")

from sqlalchemy import (
    JSON,
    LABEL_STYLE_NONE,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    create_engine,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import Engine, Row, RowMapping
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.exc import InvalidRequestError
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    Session,
    composite,
    mapped_column,
    relationship,
    validates,
)
from sqlalchemy.sql import quoted_name

import npser
from npser.adapters.sqlalchemy import Rows, register


class Base(DeclarativeBase):
    pass


class Place:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def __composite_values__(self) -> tuple[int, int]:
        return self.x, self.y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self) -> int:
        return hash((self.x, self.y))


class User(Base):
    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    mail: Mapped[str | None] = mapped_column("e_mail")  # the attribute has another name than the column
    born: Mapped[dt.date | None]
    balance: Mapped[decimal.Decimal | None]
    token: Mapped[uuid.UUID | None]
    settings: Mapped[dict[str, Any] | None] = mapped_column(JSON)
    picture: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    orders: Mapped[list[Order]] = relationship(back_populates="user")

    def __init__(self, **given: Any) -> None:
        raise AssertionError("npser makes objects without __init__")

    @validates("name")
    def _check(self, _key: str, _name: str) -> str:
        raise AssertionError("npser runs no validator")


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"))
    x: Mapped[int]
    y: Mapped[int]
    place: Mapped[Place] = composite("x", "y")
    kind: Mapped[str]
    user: Mapped[User] = relationship(back_populates="orders")
    __mapper_args__ = {"polymorphic_on": "kind", "polymorphic_identity": "plain"}  # noqa: RUF012


class Express(Order):
    __tablename__ = "express"
    id: Mapped[int] = mapped_column(ForeignKey("orders.id"), primary_key=True)
    hours: Mapped[int]
    __mapper_args__ = {"polymorphic_identity": "express"}  # noqa: RUF012


@pytest.fixture
def engine() -> Iterator[Engine]:
    found = create_engine("sqlite://")
    Base.metadata.create_all(found)
    with found.begin() as connection:
        connection.execute(
            insert(User.__table__),
            [
                {
                    "id": i,
                    "name": f"köln {i}",
                    "e_mail": None if i % 3 else f"{i}@example.org",
                    "born": dt.date(1990, 1, 1 + i),
                    "balance": decimal.Decimal(i) / 4,
                    "token": uuid.UUID(int=i),
                    "settings": {"theme": ["dark", i]},
                    "picture": bytes([i]) * 3,
                }
                for i in range(20)
            ],
        )
        connection.execute(
            insert(Order.__table__), [{"id": i, "user_id": i % 3, "x": i, "y": -i, "kind": "plain"} for i in range(5)]
        )
        connection.execute(insert(Order.__table__), [{"id": 9, "user_id": 1, "x": 1, "y": 2, "kind": "express"}])
        connection.execute(insert(Express.__table__), [{"id": 9, "hours": 3}])
    yield found
    found.dispose()


@pytest.fixture
def session(engine: Engine) -> Iterator[Session]:
    with Session(engine) as found:
        yield found


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register(Base)
    yield
    for cls in (User, Order, Express, Row, RowMapping, Rows):
        npser.unregister(cls)


def again(value: Any) -> Any:
    return npser.loads(npser.dumps(value))


def check_row(found: Any, row: Any) -> None:
    assert type(found) is Row
    assert found == row
    assert tuple(map(type, found)) == tuple(map(type, row))
    assert found._fields == row._fields
    assert list(found._mapping) == list(row._mapping)
    assert hash(found) == hash(row) if all(getattr(value, '__hash__', None) for value in row) else True
    for name in set(row._fields):
        try:
            value = getattr(row, name)
        except InvalidRequestError:
            with pytest.raises(InvalidRequestError, match="mbiguous"):
                getattr(found, name)
        else:
            assert getattr(found, name) == value
            assert found._mapping[name] == row._mapping[name]
    assert pickle.loads(pickle.dumps(found)) == row


# --------------------------------------------------------------------------------------------------------------- rows

SAME = MetaData()
LEFT = Table("same_left", SAME, Column("id", Integer), Column("n", Integer))
RIGHT = Table("same_right", SAME, Column("id", Integer), Column(quoted_name("N m", quote=True), Integer))

STATEMENTS: dict[str, Any] = {
    "columns": select(User.id, User.name, User.mail, User.born, User.balance, User.token, User.settings),
    "labels": select(User.id.label("number"), (User.id * 2).label("twice"), func.count().over().label("count")),
    "core": select(*User.__table__.c),
    "one column": select(User.picture),
    "text": text("select id, name, null as empty from users"),
    "no names": text("select 1, 2 + 3, 'a'"),
    "one name for two": text("select id as a, name as a, 3 as b from users"),
    "attributes": text("select 1 as count, 2 as keys, 3 as _fields, 4 as \"a b\", 5 as \"ü\""),
    "nothing": select(User.id, User.name).where(User.id < 0),
    "aggregate": select(func.count(), func.max(User.balance)),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_rows(session: Session, name: str) -> None:
    rows = session.execute(STATEMENTS[name]).all()
    for found in (again(rows), again(Rows(rows))):
        assert len(found) == len(rows)
        for one, row in zip(found, rows, strict=True):
            check_row(one, row)


def test_a_join_of_columns_with_one_name_stays_ambiguous(engine: Engine) -> None:
    SAME.create_all(engine)
    with engine.begin() as connection:
        connection.execute(insert(LEFT), [{"id": 1, "n": 2}])
        connection.execute(insert(RIGHT), [{"id": 3, "N m": 4}])
        rows = connection.execute(text("select l.*, r.* from same_left l, same_right r")).all()
        rows += connection.execute(select(LEFT, RIGHT).where(LEFT.c.id < RIGHT.c.id)).all()
        rows += connection.execute(select(LEFT.c.id, RIGHT.c.id, RIGHT.c["N m"]).where(LEFT.c.id < RIGHT.c.id)).all()
        bare = select(LEFT.c.id, RIGHT.c.id).where(LEFT.c.id < RIGHT.c.id).set_label_style(LABEL_STYLE_NONE)
        rows += connection.execute(bare).all()
    assert rows[-1]._fields == ("id", "id")
    if not hasattr(SimpleResultMetaData, "_ambiguous_keys"):  # an older SQLAlchemy cannot build such a row
        with pytest.raises(npser.EncodeError, match="label them"):
            npser.dumps(rows.pop())
    for row in rows:
        check_row(again(row), row)
        check_row(again(Rows([row]))[0], row)
        assert {type(name) for name in again(row)._fields} == {str}


def test_rows_within_a_value(session: Session) -> None:
    rows = session.execute(select(User.id, User.name)).all()
    value = {"rows": rows, "first": rows[0], "page": (1, Rows(rows[3:5]))}
    found = again(value)
    assert found == value
    assert found["rows"][7].name == "köln 7"
    assert type(found["page"][1]) is Rows


def test_mappings(session: Session) -> None:
    mappings = session.execute(select(User.id, User.name)).mappings().all()
    found = again(mappings)
    assert [type(one) for one in found] == [RowMapping] * 20
    assert [dict(one) for one in found] == [dict(one) for one in mappings]
    twice = session.execute(text("select 1 as a, 2 as a")).mappings().all()
    with pytest.raises(npser.EncodeError):
        npser.dumps(twice)


def test_rows_of_different_results(session: Session) -> None:
    mixed = [*session.execute(select(User.id)).all()[:2], *session.execute(select(User.name, User.id)).all()[:2]]
    for found, row in zip(again(mixed), mixed, strict=True):
        check_row(found, row)
    for wrong in (mixed, [*mixed[:2], (1,)], [1]):
        with pytest.raises(npser.EncodeError, match="one result"):
            npser.dumps(Rows(wrong))
    same = Rows([*session.execute(select(User.id)).all(), *session.execute(select(User.id)).all()])
    assert again(same) == same


def test_rows_in_a_region_of_dogpile(session: Session) -> None:
    """What SQLAlchemy's own example of caching keeps: the rows of a query, made once."""
    cache = pytest.importorskip("dogpile.cache", reason="the dogpile extra is not installed")
    from npser.adapters.dogpile import serializers

    region = cache.make_region(**serializers()).configure("dogpile.cache.memory")
    made: list[int] = []

    @region.cache_on_arguments()
    def users(limit: int) -> Rows:
        made.append(limit)
        return Rows(session.execute(select(User.id, User.name).limit(limit)))

    for found in (users(3), users(3)):
        assert [(user.id, user.name) for user in found] == [(0, "köln 0"), (1, "köln 1"), (2, "köln 2")]
        assert type(found[0]) is Row
    assert made == [3]
    stored = region.actual_backend.get_serialized(next(iter(region.actual_backend._cache)))
    assert stored.partition(b"|")[2][:1] == b"\xc1"


def test_rows_are_a_table(session: Session) -> None:
    rows = session.execute(select(User.id, User.name, User.mail)).all() * 50
    plain = npser.dumps([row._asdict() for row in rows])
    for value in (rows, Rows(rows)):
        assert len(npser.dumps(value)) < len(plain) + 120


def test_a_row_of_instances(session: Session) -> None:
    rows = session.execute(select(Order, User.name).join(User)).all()
    found = again(rows)
    assert [(row.Order.id, row.name) for row in found] == [(row.Order.id, row.name) for row in rows]
    assert {type(row.Order) for row in found} == {Order, Express}


# ---------------------------------------------------------------------------------------------------------- instances


def loaded(instance: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(instance).items() if name != "_sa_instance_state"}


def test_an_instance_comes_back_detached(session: Session, engine: Engine) -> None:
    users = session.scalars(select(User).order_by(User.id)).all()
    found = again(users)
    for one, user in zip(found, users, strict=True):
        assert type(one) is User
        assert inspect(one).detached
        assert inspect(one).identity_key == inspect(user).identity_key
        assert loaded(one) == loaded(user)
        assert not inspect(one).modified
    with Session(engine) as other:
        other.add(found[0])
        assert found[0].picture == bytes(3)  # what was deferred is loaded now
        assert [order.id for order in found[0].orders] == [0, 3]
        merged = other.merge(found[5], load=False)
        assert merged.name == "köln 5"
        found[0].balance = decimal.Decimal(7)
        other.flush()
        assert other.scalar(select(User.balance).where(User.id == 0)) == 7


def test_what_was_expired_is_loaded_again(session: Session, engine: Engine) -> None:
    user = session.get_one(User, 4)
    session.expire(user)
    found = again(user)
    assert loaded(found) == {"id": 4}
    with Session(engine) as other:
        other.add(found)
        assert found.name == "köln 4"


def test_relationships_are_left_out(session: Session) -> None:
    user = session.get_one(User, 1)
    assert len(user.orders) == 3
    found = again(user)
    assert "orders" not in vars(found)
    assert "orders" in inspect(found).unloaded


def test_a_subclass_and_a_composite(session: Session) -> None:
    orders = session.scalars(select(Order).order_by(Order.id)).all()
    assert [order.place.x for order in orders] == [0, 1, 2, 3, 4, 1]
    found = again(orders)
    assert [type(order) for order in found] == [Order] * 5 + [Express]
    assert [order.place for order in found] == [order.place for order in orders]
    session.expunge_all()
    session.add(found[5])
    assert found[5].hours == 3


def test_one_that_no_database_has_yet(session: Session) -> None:
    for order in (Order(id=50, user_id=1, x=1, y=2, kind="plain"), Order(user_id=2, x=3, y=4, kind="plain")):
        found = again(order)
        assert inspect(found).transient
        assert loaded(found) == {name: value for name, value in loaded(order).items() if name != "place"}
        session.add(order)
        assert inspect(again(order)).transient  # pending is a matter of the session
        session.expunge(order)
        session.add(found)
        session.flush()
        assert session.scalar(select(Order.x).where(Order.id == found.id)) == found.x


def test_an_attribute_of_its_own_is_kept(session: Session) -> None:
    user = session.get_one(User, 2)
    user.seen = (1, 2)
    assert again(user).seen == (1, 2)


def test_changes_that_no_database_has_are_refused(session: Session) -> None:
    user, order = session.get_one(User, 3), session.get_one(Order, 3)
    user.mail = "new"
    with pytest.raises(npser.EncodeError, match="flush first"):
        npser.dumps({"user": user})
    session.flush()
    assert again(user).mail == "new"
    session.delete(order)
    session.flush()
    with pytest.raises(npser.EncodeError, match="flush first"):
        npser.dumps(order)


def test_an_instance_met_twice_is_one(session: Session) -> None:
    user = session.get_one(User, 3)
    first, second = again([user, user])
    assert first is second


def test_who_is_not_registered_is_refused(session: Session) -> None:
    npser.unregister(User)
    with pytest.raises(npser.EncodeError):
        npser.dumps(session.get_one(User, 1))
    with pytest.raises(TypeError, match="not mapped"):
        register(dict)
    with pytest.raises(TypeError, match="not mapped"):
        register(DeclarativeBase)


# ------------------------------------------------------------------------------------------------------------ hostile


def stored(name: str, state: Any) -> bytes:
    """A payload of an object of that class with any state."""
    return npser.dumps(npser.Placeholder(name, "built", state))


@pytest.mark.parametrize("state", [None, 1, "ab", (), (1, 2, 3), (("a",), (1, 2), ()), (("a",), [1], ()), ((1,), (1,), ()), {1: 2}, ([], (), ())])
def test_states_that_nobody_wrote(state: Any) -> None:
    with pytest.raises(npser.DecodeError):
        npser.loads(stored("sqlalchemy.Row", state))
    with pytest.raises(npser.DecodeError):
        npser.loads(stored("sqlalchemy.RowMapping", state))
    for rows in (state, {"names": state, "columns": (), "ambiguous": ()}, {"names": ("a",), "columns": state, "ambiguous": ()}):
        if rows != {"names": (), "columns": (), "ambiguous": ()}:
            with pytest.raises(npser.DecodeError):
                npser.loads(stored("sqlalchemy.Rows", rows))


@pytest.mark.parametrize(
    "state", [None, 1, (), [("id", 1)], {}, {"_sa_instance_state": 1, "id": 1}, ({"_sa_instance_state": 1},), {"id": 1, "orders": []}]
)
def test_states_of_instances_that_nobody_wrote(state: Any) -> None:
    with pytest.raises(npser.DecodeError):
        npser.loads(stored(f"{User.__module__}:User", state))
