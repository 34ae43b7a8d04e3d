"""A thousand Pydantic models, and a thousand rows and instances of SQLAlchemy, against pickle.

    pip install -e ".[pydantic,sqlalchemy]"
    python benchmarks/models.py            # about ten seconds
    python benchmarks/models.py 100        # so many of each

Strategy: npser and pickle take turns, as in `compare`. Every value that comes back is compared with the one
that went in.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from pydantic import BaseModel  # noqa: E402
from sqlalchemy import create_engine, insert, select  # noqa: E402
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column  # noqa: E402

import npser  # noqa: E402
import npser.adapters.pydantic  # noqa: E402
import npser.adapters.sqlalchemy  # noqa: E402
from benchmarks.measure import Plan, against_pickle  # noqa: E402
from benchmarks.tables import count, duration, markdown, ratio  # noqa: E402

PLAN = Plan(rounds=25, least=9, budget=3.0)


class Part(BaseModel):
    """A model within the other one."""

    sku: int
    colour: str = "grey"


class Product(BaseModel):
    """Seven fields, of which one is seldom set."""

    id: int
    name: str
    price: float
    added: dt.datetime
    tags: list[str]
    part: Part | None = None
    active: bool = True


class Base(DeclarativeBase):
    """The tables of this benchmark."""


class User(Base):
    """Seven columns."""

    __tablename__ = "users"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    balance: Mapped[float]
    joined: Mapped[dt.datetime]
    active: Mapped[bool]
    city: Mapped[str]
    visits: Mapped[int | None]


MORNING = dt.datetime(2024, 5, 1, 9)


def products(n: int) -> list[Product]:
    return [
        Product(
            id=i,
            name=f"product {i}",
            price=i / 4,
            added=MORNING + dt.timedelta(minutes=i),
            tags=["new", "red"][: i % 3],
            part=Part(sku=i),
            **({"active": False} if i % 9 == 0 else {}),  # type: ignore[arg-type]
        )
        for i in range(n)
    ]


def users(n: int) -> tuple[list[Any], list[User]]:
    """Rows of seven columns, and instances."""
    engine = create_engine("sqlite://")
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.execute(
            insert(User),
            [
                {
                    "id": i,
                    "name": f"user {i}",
                    "balance": i / 4,
                    "joined": MORNING + dt.timedelta(minutes=i),
                    "active": i % 3 == 0,
                    "city": ("Köln", "Bonn", "Trier")[i % 3],
                    "visits": i or None,
                }
                for i in range(n)
            ],
        )
        rows = list(session.execute(select(*User.__table__.c)).all())
        instances = list(session.scalars(select(User)))
        session.expunge_all()
    return rows, instances


def fields(instances: Any) -> list[dict[str, Any]]:
    """What instances of a mapped class hold."""
    return [{name: value for name, value in vars(one).items() if name != "_sa_instance_state"} for one in instances]


def compared(
    name: str, value: Any, classes: tuple[type, ...] = (), shown: Callable[[Any], Any] = lambda value: value
) -> list[str]:
    """One line: sizes, and times over pickle's."""

    def loads(data: bytes) -> Any:
        return npser.loads(data, classes=classes)

    met = against_pickle(value, npser.dumps, loads, PLAN)
    same = shown(met.back) == shown(value) and type(met.back[0]) is type(value[0])
    sizes = (count(met.size), ratio(met.size / met.pickle_size))
    write, read = ratio(met.write / met.pickle_write), ratio(met.read / met.pickle_read)
    times = (duration(met.write), write, duration(met.read), read)
    return [name if same else f"{name} (NOT THE SAME)", *sizes, *times]


def lines(n: int) -> Iterator[list[str]]:
    """One a kind of object."""
    models = products(n)
    yield compared("Pydantic models, as they are", models, (Product, Part))
    npser.adapters.pydantic.register(Product)
    yield compared("Pydantic models, registered", models)
    npser.adapters.sqlalchemy.register(User)
    rows, instances = users(n)
    yield compared("SQLAlchemy rows", rows)
    yield compared("SQLAlchemy `Rows`", npser.adapters.sqlalchemy.Rows(rows))
    yield compared("SQLAlchemy instances", instances, shown=fields)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Models and rows against pickle.")
    parser.add_argument("objects", type=int, nargs="?", default=1000, help="of each kind")
    n = parser.parse_args(arguments).objects
    head = (f"{n:,} of", "bytes", "÷ pickle", "write", "÷ pickle", "read", "÷ pickle")
    print(markdown(head, lines(n)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
