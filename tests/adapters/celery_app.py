"""A tiny shop of tasks: what `test_celery.py` sends to a worker, and what the worker runs. Both import this.

The broker, and which version of the class `Cart` this process has, come from the environment.
"""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from celery import Celery

import npser
from npser.adapters.kombu import configure

KEY = bytes(range(32))

app = Celery("shop")
app.conf.update(task_serializer="npser", result_serializer="npser", accept_content=["npser"])  # the line

app.conf.update(
    broker_url=os.environ.get("SHOP_BROKER", "memory://"),
    result_backend=os.environ.get("SHOP_RESULTS", "cache+memory://"),
    broker_connection_retry_on_startup=True,
    broker_transport_options={"polling_interval": 0.05},
    result_extended=True,
    worker_hijack_root_logger=False,
)


@dataclass(frozen=True)
class Order:
    id: int
    items: tuple[str, ...]
    placed: dt.datetime


class Unnamed:
    """A class that nobody names to npser."""


if os.environ.get("SHOP_VERSION") == "2":

    @npser.register(version=2, upgrade=lambda fields, _: {"cents": int(fields["total"] * 100)})
    @dataclass
    class Cart:
        cents: int
        currency: str = "EUR"

else:

    @npser.register(version=1)
    @dataclass
    class Cart:  # type: ignore[no-redef]
        total: float = 0.0


OPTIONS = {"classes": [Order], "key": KEY, "compress": "zlib"}
configure(**OPTIONS)


@app.task
def echo(*args: Any, **kwargs: Any) -> Any:
    """What it was called with."""
    return args, kwargs


@app.task
def kinds(*args: Any) -> list[str]:
    """The types of what it was called with, for these are on the side of the worker."""
    return [type(one).__name__ for one in args]


@app.task
def doubled(order: Order) -> Order:
    """An order of twice as much."""
    return Order(order.id, order.items * 2, order.placed)


@app.task
def total(column: np.ndarray[Any, Any]) -> tuple[float, str]:
    """The sum of an array, and its dtype."""
    return float(column.sum()), column.dtype.str


@app.task
def added(a: Any, b: Any) -> Any:
    """The sum of two."""
    return a + b


@app.task
def joined(parts: list[tuple[int, ...]]) -> tuple[int, ...]:
    """All parts, for the end of a chord."""
    return tuple(number for part in parts for number in part)


@app.task(bind=True, max_retries=3)
def flaky(self: Any, when: tuple[int, dt.timedelta]) -> tuple[Any, ...]:
    """Fails as often as it is told."""
    if self.request.retries < when[0]:
        raise self.retry(countdown=0.05)
    return (self.request.retries, *when)


@app.task
def failing(value: Any) -> None:
    """Raises an error with values of npser's kind in it."""
    raise ValueError("no tea", value)


@app.task
def unsendable() -> Any:
    """A result that cannot be sent."""
    return [Unnamed]


@app.task
def unnamed() -> Any:
    """A result of a class that the reader does not name."""
    return Unnamed()


@app.task
def of_cart(cart: Any) -> tuple[str, int]:
    """What the worker's version of the class makes of a cart."""
    return type(cart).__name__, cart.cents


@app.task
def new_cart() -> Any:
    """A cart of the worker's version."""
    return Cart(7)
