"""The rows and objects that phpser publishes its sizes for, item for item the same in Python.

Strategy: phpser's benchmark makes its values from the index alone, so the same formulas give the same values here;
its own payloads of 100 rows, 100 users and 100 mixed rows were decoded and compared with these, leaf by leaf.
Its objects are dataclasses here. Its arrays are values, so each row has a list of its own; its literals are shared
strings, so they are here, too (`rowset_distinct` is the case without).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

__all__ = [
    "CustomerOrders",
    "OrderDto",
    "UserDto",
    "deep_nested",
    "dto_mixed",
    "dto_users",
    "rowset",
    "rowset_distinct",
]

MOMENT = "2026-05-19T12:00:00Z"
"""The one timestamp of phpser's rows and objects."""


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


class CustomerOrders(TypedDict):
    """A row of `dto_mixed`: a plain dict at run time."""

    user: UserDto
    orders: list[OrderDto]


def deep_nested(levels: int) -> dict[str, Any]:
    """phpser's mk_deep_nested(levels).

    >>> deep_nested(2)
    {'next': {'next': {'leaf': 42}, 'i': 0}, 'i': 1}
    """
    value: dict[str, Any] = {"leaf": 42}
    for i in range(levels):
        value = {"next": value, "i": i}
    return value


def rowset(n: int) -> list[dict[str, Any]]:
    """phpser's mk_rowset(n).

    >>> rowset(6)[5]["amount"], [row["active"] for row in rowset(4)]
    (5.3500000000000005, [True, False, False, True])
    """
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


def rowset_distinct(n: int) -> list[dict[str, Any]]:
    """The same rows with every string an object of its own, as a database driver or a decoder hands them out."""

    def fresh(text: str) -> str:
        # CPython keeps one object for each short character, so tags of one letter stay shared whatever is done.
        return "".join((text[:1], text[1:])) if len(text) > 1 else text

    return [{**row, "created_at": fresh(row["created_at"]), "tags": list(map(fresh, row["tags"]))} for row in rowset(n)]


def dto_users(n: int) -> list[UserDto]:
    """phpser's mk_dto_users(n).

    >>> [user.phone for user in dto_users(3)], dto_users(1)[0].is_active
    ([None, '+1-555-0001', '+1-555-0002'], False)
    """
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


def dto_mixed(n: int) -> list[CustomerOrders]:
    """phpser's mk_dto_mixed(n): each user with three orders.

    >>> [order.id for order in dto_mixed(2)[1]["orders"]]
    [10, 11, 12]
    """
    statuses = ("pending", "shipped", "delivered")
    return [
        {
            "user": UserDto(
                id=i,
                tenant_id=1000 + i % 50,
                name=f"user_{i}",
                email=f"user{i}@example.com",
                phone=None,
                created_at=MOMENT,
                is_active=True,
                tags=["active"],
            ),
            "orders": [
                OrderDto(
                    id=i * 10 + j,
                    user_id=i,
                    sku=f"SKU-{i * 10 + j}",
                    amount=12.99 * (i + j),
                    currency="USD",
                    status=status,
                    shipped_at=MOMENT if j else None,
                )
                for j, status in enumerate(statuses)
            ],
        }
        for i in range(n)
    ]
