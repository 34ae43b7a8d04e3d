"""The PHP classes of the golden vectors, as Python has them."""

from __future__ import annotations

import abc
import enum
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CLASSES", "Magic", "MagicList", "Node", "Plain", "Point", "Suit", "UserDto", "VisChild", "dto_mixed", "dto_users", "rowset"]


@dataclass
class Point:
    x: int
    y: int


@dataclass
class Untyped:
    a: Any = 1
    b: Any = "two"
    c: Any = None


@dataclass
class Vis:
    pub: Any = 1
    _prot: Any = "p"
    __priv: Any = field(default_factory=lambda: [1])


@dataclass
class VisChild(Vis):
    __priv: Any = "child"
    extra: Any = 9


@dataclass(init=False)
class Uninit:
    a: int
    b: str | None
    c: int


@dataclass
class Dyn:
    decl: int = 1


@dataclass
class Node:
    name: Any = None
    next: Any = None


@dataclass
class UserDto:
    id: int
    tenant_id: int
    name: str
    email: str
    phone: str | None
    created_at: str
    is_active: bool
    tags: list[str]


@dataclass
class OrderDto:
    id: int
    user_id: int
    sku: str
    amount: float
    currency: str
    status: str
    shipped_at: str | None


@dataclass
class Sleepy:
    keep: str = "k"
    drop: str = "d"
    _prot: int = 5


class Open:
    """Declares nothing."""


@dataclass
class Wake:
    v: int = 3


class Magic:
    def __init__(self, d: Any = None) -> None:
        self.d = d

    def __getstate__(self) -> dict[str, Any]:
        return {"d": self.d, "tag": "m"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.d = state["d"]


class MagicList:
    def __init__(self, d: Any = ()) -> None:
        self.d = list(d)

    def __getstate__(self) -> list[int]:
        return [1, 2, 3]

    def __setstate__(self, state: list[int]) -> None:
        assert state == [1, 2, 3]
        self.d = []


class BadSer:
    def __getstate__(self) -> int:
        return 5


class Legacy:
    """Implements Serializable in PHP."""


class Suit(enum.Enum):
    Hearts = "H"
    Spades = "S"


class Plain(enum.Enum):
    A = enum.auto()
    B = enum.auto()


class Abs(abc.ABC):
    @abc.abstractmethod
    def run(self) -> None: ...


CLASSES = (
    Point,
    Untyped,
    Vis,
    VisChild,
    Uninit,
    Dyn,
    Node,
    UserDto,
    OrderDto,
    Open,
    Sleepy,
    Wake,
    Magic,
    MagicList,
    Legacy,
    Suit,
    Plain,
    Abs,
)

MOMENT = "2026-05-19T12:00:00Z"


def rowset(n: int) -> list[dict[str, Any]]:
    return [
        {
            "id": i,
            "user_id": 1000 + i % 50,
            "name": f"row_{i}",
            "created_at": MOMENT,
            "amount": i * 1.07,
            "active": i % 3 == 0,
            "tags": ["a", "b", "c"],
        }
        for i in range(n)
    ]


def dto_users(n: int) -> list[UserDto]:
    return [
        UserDto(
            id=i,
            tenant_id=1000 + i % 50,
            name=f"user_{i}",
            email=f"user{i}@example.com",
            phone=f"+1-555-{i:04}" if i % 3 else None,
            created_at=MOMENT,
            is_active=i % 7 != 0,
            tags=["active", "verified", "beta"],
        )
        for i in range(n)
    ]


def dto_mixed(n: int) -> list[dict[str, Any]]:
    return [
        {
            "user": UserDto(i, 1000 + i % 50, f"user_{i}", f"user{i}@example.com", None, MOMENT, True, ["active"]),
            "orders": [
                OrderDto(i * 10 + j, i, f"SKU-{i * 10 + j}", 12.99 * (i + j), "USD", status, MOMENT if j else None)
                for j, status in enumerate(("pending", "shipped", "delivered"))
            ],
        }
        for i in range(n)
    ]
