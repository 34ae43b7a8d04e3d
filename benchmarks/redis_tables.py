"""What entries in Redis take, laid out: figures of `redis_memory` in, Markdown out."""

from __future__ import annotations

from typing import Any, Final

from benchmarks.tables import count, duration, markdown, ratio

__all__ = ["BEGIN", "END", "body", "headline", "section", "table"]

BEGIN: Final = "<!-- redis:begin -->"
END: Final = "<!-- redis:end -->"

FIRST: Final = "pickle"
"""What the others are held against."""

HEAD: Final = (
    "value", "serializer", "payload", "bytes in Redis", "÷ pickle", "GETs a second", "time ÷ pickle", "SETs a second",
    "time ÷ pickle",
)  # fmt: skip

Found = dict[str, Any]


def _name(serializer: str, figures: dict[str, Any]) -> str:
    if not figures["same"]:
        return f"{serializer} (NOT THE SAME)"
    return serializer if figures["exact"] else f"{serializer} †"


def _rate(seconds: float) -> str:
    return count(round(1 / seconds))


def table(found: Found) -> str:
    """Each value under each serializer.

    >>> pickle = {"payload": 3900, "memory": 4000, "get": 0.0002, "set": 0.0001, "exact": True, "same": True}
    >>> json = pickle | {"memory": 3000, "get": 0.0003, "exact": False}
    >>> print(table({"values": {"users": {"pickle": pickle, "json": json}}}).partition("\\n")[2])
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | users | pickle | 3,900 | 4,000 | 1.00 | 5,000 | 1.00 | 10,000 | 1.00 |
    |  | json † | 3,900 | 3,000 | 0.75 | 3,333 | 1.50 | 10,000 | 1.00 |
    """
    rows = [
        [
            "" if number else value,
            _name(serializer, figures),
            count(figures["payload"]),
            count(figures["memory"]),
            ratio(figures["memory"] / first["memory"]),
            *(cell for verb in ("get", "set") for cell in (_rate(figures[verb]), ratio(figures[verb] / first[verb]))),
        ]
        for value, serializers in found["values"].items()
        for first in [serializers[FIRST]]
        for number, (serializer, figures) in enumerate(serializers.items())
    ]
    return markdown(HEAD, rows)


def _said(found: Found) -> str:
    versions = f"Redis {found['server']}, redis-py {found['client']} {found['parser']}"
    return (
        "Bytes in Redis are what MEMORY USAGE says: the payload, the name, and what Redis and its allocator add. "
        f"Times are medians of whole round trips over the loopback ({versions}), encoding and decoding included, all "
        f"serializers in rotation; an empty round trip takes {duration(found['ping'])}. npser is measured through "
        "`npser.adapters.redis.Cache`, counters and all, the others with redis-py alone; signed is `Cache(key=...)`."
    )


LEGEND: Final = "† objects come back as dicts, and were given as dicts: what that costs is not counted."


def section(found: Found) -> str:
    """What stands in the project's README.md between the markers."""
    return "\n\n".join([table(found), f"{LEGEND} {_said(found)}"])


def body(found: Found) -> str:
    """What stands in RESULTS.md."""
    return "\n\n".join(["Measured by redis_memory.py.", section(found)])


def headline(found: Found) -> str:
    """The memory of npser's entries over that of pickle's, value by value."""
    ratios = [
        f"{value} {ratio(serializers['npser']['memory'] / serializers[FIRST]['memory'])}"
        for value, serializers in found["values"].items()
    ]
    return f"memory in Redis over pickle's: {', '.join(ratios)}"
