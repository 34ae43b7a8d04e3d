"""The values that are measured: one generator a shape, seeded, made only when asked for.

Strategy: a shape is a name, a function that makes the value, and the facts that the harness needs about it (whose
classes it holds, what phpser publishes for it). Nothing is made at import. Each generator draws from a
`random.Random` seeded with the shape's own name, so that a shape never changes because another one was added, and so
that a value is the same in every process. The rows and objects that phpser publishes figures for are in
`fixtures`; documents come from `corpora`, and raise `CorpusMissing` where they are not here.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import corpora
from benchmarks.fixtures import (
    CustomerOrders,
    OrderDto,
    UserDto,
    deep_nested,
    dto_mixed,
    dto_users,
    rowset,
    rowset_distinct,
)

__all__ = ["SHAPES", "CustomerOrders", "OrderDto", "Shape", "UserDto", "make"]


@dataclass(frozen=True)
class Shape:
    """One thing to measure.

    Attributes
    ----------
    name : str
        What it is called in every table.
    build : callable
        Makes the value; called once for each measurement.
    about : str
        One line for the reader of the table.
    group : str
        lists, dicts, objects, documents or large.
    phpser : int or None
        Bytes that phpser 0.5 publishes for the same value.
    classes : tuple of type
        Classes that a decoder must be allowed to build.
    typed : object
        The annotation of the whole value, for peers that build objects from annotations.
    traits : frozenset of str
        What peers stumble over: "objects", "array", "int_keys".
    """

    name: str
    build: Callable[[], Any]
    about: str
    group: str
    phpser: int | None = None
    classes: tuple[type, ...] = ()
    typed: object = None
    traits: frozenset[str] = frozenset()


def dice(name: str) -> random.Random:
    """The generator of random numbers that belongs to one shape.

    >>> dice("a").random() == dice("a").random() != dice("b").random()
    True
    """
    return random.Random(f"npser benchmark: {name}")


# ------------------------------------------------------------------------------------------------------ lists of leaves


def _words(text: str) -> list[str]:
    return text.split()


CITIES = _words(
    "Amsterdam Athens Barcelona Belgrade Berlin Bern Bratislava Brussels Bucharest Budapest Copenhagen Dublin "
    "Edinburgh Gothenburg Hamburg Helsinki Istanbul Kraków Lisbon Ljubljana London Lyon Madrid Milan Munich Naples "
    "Nicosia Oslo Paris Porto Prague Reykjavík Riga Rome Rotterdam Sofia Stockholm Tallinn Vienna Zürich"
)
FIRST_NAMES = _words(
    "ada ben chloe david elena finn grace henry iris jonas klara liam mia noah olga paul rosa sam tess viktor"
)
LAST_NAMES = _words(
    "adler becker costa dubois eriksen fischer garcia hansen ivanov jensen keller larsen moreau novak olsen peters"
)
MAIL_HOSTS = ("example.com", "example.org", "mail.example.net", "corp.example.com")


def ints_random_10k() -> list[int]:
    draw = dice("ints_random_10k")
    return [draw.randrange(10**6) for _ in range(10_000)]


def ints_sorted_10k() -> list[int]:
    """IDs as an index scan returns them: ascending, with gaps."""
    return sorted(dice("ints_sorted_10k").sample(range(1_000_000, 11_000_000), 10_000))


def prices_10k() -> list[float]:
    draw = dice("prices_10k")
    return [round(draw.lognormvariate(3.2, 1.1), 2) for _ in range(10_000)]


def flags_10k() -> list[bool]:
    draw = dice("flags_10k")
    return [draw.random() < 0.5 for _ in range(10_000)]


def strings_distinct_10k() -> list[str]:
    draw = dice("strings_distinct_10k")
    mails: dict[str, None] = {}
    while len(mails) < 10_000:
        mail = f"{draw.choice(FIRST_NAMES)}.{draw.choice(LAST_NAMES)}{draw.randrange(10_000)}@{draw.choice(MAIL_HOSTS)}"
        mails[mail] = None
    return list(mails)


def strings_40_categories_10k() -> list[str]:
    draw = dice("strings_40_categories_10k")
    return [draw.choice(CITIES) for _ in range(10_000)]


def strings_40_categories_distinct_10k() -> list[str]:
    """The same strings, each cell an object of its own, as a database driver or a parser of JSON gives them."""
    return [text.encode().decode() for text in strings_40_categories_10k()]


def ints_nullable_10k() -> list[int | None]:
    draw = dice("ints_nullable_10k")
    return [None if draw.random() < 0.1 else draw.randrange(10**6) for _ in range(10_000)]


# ------------------------------------------------------------------------------------------------- dicts as containers


def buckets_5k() -> dict[str, float]:
    """A time series in a dict: the ISO minute and what was measured in it."""
    draw = dice("buckets_5k")
    minutes = (divmod(minute, 24 * 60) for minute in range(5_000))
    return {
        f"2026-05-{day + 1:02}T{minute // 60:02}:{minute % 60:02}": round(draw.gauss(250.0, 40.0), 2)
        for day, minute in minutes
    }


def counters_5k() -> dict[int, int]:
    """How often each ID was seen, in the order of the first sighting."""
    draw = dice("counters_5k")
    return {key: int(draw.paretovariate(1.2)) for key in draw.sample(range(1, 100_000), 5_000)}


def session_2_7kb() -> dict[str, Any]:
    """A web session of 2.7 kB as JSON: who it is, a cart, what was looked at, messages, preferences."""
    draw = dice("session")
    return {
        "_token": draw.randbytes(20).hex(),
        "user": {
            "id": 48213,
            "email": "ada.becker@example.com",
            "name": "Ada Becker",
            "roles": ["customer", "reviewer"],
            "locale": "de_DE",
            "verified": True,
            "company": None,
        },
        "last_seen": 1779192000.25,
        "ip": "203.0.113.77",
        "cart": {
            "currency": "EUR",
            "coupon": None,
            "items": [
                {
                    "sku": f"SKU-{draw.randrange(10**5):05}",
                    "title": f"{draw.choice(CITIES)} {draw.choice(('lamp', 'chair', 'desk', 'shelf'))}",
                    "quantity": draw.randrange(1, 5),
                    "price": round(draw.uniform(5, 400), 2),
                    "options": {"color": draw.choice(("red", "black", "oak")), "gift": draw.random() < 0.3},
                }
                for _ in range(11)
            ],
        },
        "recently_viewed": [draw.randrange(10**6) for _ in range(50)],
        "flash": {"old": [], "new": ["status"], "status": "The address was saved."},
        "preferences": {"theme": "dark", "page_size": 50, "newsletter": False, "sort": "price", "filters": {}},
        "csrf": {f"form_{i}": draw.randbytes(16).hex() for i in range(8)},
        "previous": {"path": "/shop/lamps?page=3", "at": "2026-05-19T11:58:41Z"},
        "addresses": [
            {
                "kind": kind,
                "street": f"{draw.choice(CITIES)} street {draw.randrange(1, 200)}",
                "zip": f"{draw.randrange(10**5):05}",
                "city": draw.choice(CITIES),
                "country": "DE",
            }
            for kind in ("billing", "delivery")
        ],
    }


def products_100() -> list[dict[str, Any]]:
    """A page of a shop's catalogue: nested, some keys nullable, lists of different lengths."""
    draw = dice("products")
    categories = ("furniture", "lighting", "kitchen", "garden", "office")

    def product(i: int) -> dict[str, Any]:
        price = round(draw.uniform(3, 900), 2)
        return {
            "id": 70_000 + i,
            "sku": f"P-{draw.randrange(10**6):06}",
            "title": f"{draw.choice(CITIES)} {draw.choice(('lamp', 'chair', 'desk', 'shelf', 'kettle', 'bench'))} {i}",
            "description": " ".join(draw.choices(LAST_NAMES + FIRST_NAMES + CITIES, k=12)),
            "price": price,
            "sale_price": round(price * 0.8, 2) if draw.random() < 0.25 else None,
            "currency": "EUR",
            "stock": draw.randrange(0, 500),
            "category": draw.choice(categories),
            "rating": {"average": round(draw.uniform(1, 5), 1), "count": draw.randrange(0, 3000)},
            "images": [f"/img/{70_000 + i}/{k}.jpg" for k in range(draw.randrange(1, 5))],
            "attributes": {"color": draw.choice(("red", "black", "oak")), "weight_g": draw.randrange(50, 20_000)},
            "available": draw.random() < 0.9,
            "created_at": f"2026-{draw.randrange(1, 6):02}-{draw.randrange(1, 29):02}T08:00:00Z",
        }

    return [product(i) for i in range(100)]


# --------------------------------------------------------------------------------------------------------- large arrays

LARGE = 262_144


def ints_262144() -> list[int]:
    """32-bit integers of both signs."""
    draw = dice("ints_262144")
    return [draw.getrandbits(32) - 2**31 for _ in range(LARGE)]


def int64s_262144() -> np.ndarray[Any, np.dtype[np.int64]]:
    """An array of 64 random bits an item."""
    return np.frombuffer(dice("int64s_262144").randbytes(LARGE * 8), "<i8").astype(np.int64)


def floats_262144() -> list[float]:
    """Measured values with nothing regular in their bits."""
    draw = dice("floats_262144")
    return [draw.gauss(0.0, 1.0) for _ in range(LARGE)]


def hex_32768() -> list[str]:
    """Digests as text: 72 hexadecimal digits each."""
    draw = dice("hex_32768")
    return [draw.randbytes(36).hex() for _ in range(32_768)]


# ------------------------------------------------------------------------------------------------------------ the table

OBJECTS = frozenset({"objects"})

_ALL = (
    Shape("packed_1k", lambda: list(range(1_000)), "the integers below 1,000", "lists", phpser=7),
    Shape("packed_10k", lambda: list(range(10_000)), "the integers below 10,000", "lists", phpser=7),
    Shape("ints_random_10k", ints_random_10k, "10,000 integers below a million", "lists"),
    Shape("ints_sorted_10k", ints_sorted_10k, "10,000 ascending IDs", "lists"),
    Shape("ints_nullable_10k", ints_nullable_10k, "10,000 integers, one in ten None", "lists"),
    Shape("prices_10k", prices_10k, "10,000 floats with two decimals", "lists"),
    Shape("flags_10k", flags_10k, "10,000 random bools", "lists"),
    Shape("strings_distinct_10k", strings_distinct_10k, "10,000 different mail addresses", "lists"),
    Shape("strings_40_categories_10k", strings_40_categories_10k, "10,000 strings, 40 different ones", "lists"),
    Shape(
        "strings_40_categories_distinct_10k",
        strings_40_categories_distinct_10k,
        "the same, each an object of its own",
        "lists",
    ),
    Shape("buckets_5k", buckets_5k, "dict of 5,000 ISO minutes to floats", "dicts"),
    Shape("counters_5k", counters_5k, "dict of 5,000 ints to ints", "dicts", traits=frozenset({"int_keys"})),
    Shape("deep_50", lambda: deep_nested(50), "50 dicts, one in the other", "dicts", phpser=424),
    Shape("session_2_7kb", session_2_7kb, "a web session, 2.7 kB as JSON", "dicts"),
    Shape("rowset_100", lambda: rowset(100), "100 dicts of 7 keys", "dicts", phpser=2_592),
    Shape("rowset_1000", lambda: rowset(1_000), "1,000 dicts of 7 keys", "dicts", phpser=25_993),
    Shape("rowset_distinct_1000", lambda: rowset_distinct(1_000), "the same, no string shared", "dicts"),
    Shape("products_100", products_100, "100 nested dicts of a shop", "dicts"),
    Shape(
        "dto_100",
        lambda: dto_users(100),
        "100 dataclass objects of 8 fields",
        "objects",
        phpser=5_506,
        classes=(UserDto,),
        typed=list[UserDto],
        traits=OBJECTS,
    ),
    Shape(
        "dto_1000",
        lambda: dto_users(1_000),
        "1,000 dataclass objects of 8 fields",
        "objects",
        phpser=56_807,
        classes=(UserDto,),
        typed=list[UserDto],
        traits=OBJECTS,
    ),
    Shape(
        "dto_mixed",
        lambda: dto_mixed(100),
        "100 users with 3 orders each, dataclass objects",
        "objects",
        phpser=14_320,
        classes=(UserDto, OrderDto),
        typed=list[CustomerOrders],
        traits=OBJECTS,
    ),
    Shape("ints_262144", ints_262144, "262,144 random 32-bit integers", "large"),
    Shape("int64s_262144", int64s_262144, "array of 262,144 random int64", "large", traits=frozenset({"array"})),
    Shape("floats_262144", floats_262144, "262,144 random floats", "large"),
    Shape("hex_32768", hex_32768, "32,768 strings of 72 hexadecimal digits", "large"),
    Shape("webhook", lambda: corpora.load("webhook"), "one push event of GitHub", "documents"),
    Shape("webhooks_all", lambda: corpora.load("webhooks"), "329 events of GitHub of all kinds", "documents"),
    Shape("github", lambda: corpora.load("github"), "30 events of GitHub's public timeline", "documents"),
    Shape("twitter", lambda: corpora.load("twitter"), "a page of tweets", "documents"),
    Shape("citm", lambda: corpora.load("citm"), "a concert hall's catalogue", "documents"),
    Shape("canada", lambda: corpora.load("canada"), "the outline of Canada, 112k floats in small lists", "documents"),
    Shape("flights_10k", lambda: corpora.flight_rows(10_000), "10,000 dicts of 19 keys: flights", "documents"),
)

SHAPES: dict[str, Shape] = {shape.name: shape for shape in _ALL}
"""Name -> shape, in the order of the table."""


def make(name: str) -> Any:
    """The value of one shape, made anew.

    >>> make("packed_1k")[-1], len(make("hex_32768")[0])
    (999, 72)
    """
    return SHAPES[name].build()
