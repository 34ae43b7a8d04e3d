"""What `npser demo` encodes: values that caches hold, made from one day of real flights.

Strategy: the packaged tables (data/PROVENANCE.md) are read as text and typed by the rule that `pack` uses, with the
source's NA as None. The other values are derived from them, so that each is as regular, and as irregular, as the
real thing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sized
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from npser.cli.cells import Types
from npser.cli.convert import read_value
from npser.cli.csv_text import read_csv

__all__ = ["Plane", "Sample", "file_sample", "samples"]

DAY: Final = date(2013, 7, 10)
"""The day that the packaged tables cover."""

FIRST_ROW: Final = 258_648
"""The row of the source's flights table, counted from 1, at which that day begins."""

LATE: Final = 15
"""Minutes from which on an arrival counts as late, as the US statistics count."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plane:
    """One aircraft of the register."""

    tailnum: str
    year: int | None
    type: str
    manufacturer: str
    model: str
    engines: int
    seats: int
    speed: int | None
    engine: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A value to encode, what it is in a few words, and what its reader must be told about its classes."""

    name: str
    what: str
    value: object
    classes: tuple[type, ...] = ()
    type: object = Any


def _table(name: str) -> list[Row]:
    text = files("npser.cli").joinpath("data", f"{name}.csv").read_text(encoding="utf-8")
    rows = read_csv(re.sub(r"(?<=,)NA(?=[,\n])", "", text), Types.INFER)
    assert isinstance(rows, list)
    return [{key: None if value == "" else value for key, value in row.items()} for row in rows]


def flights() -> list[Row]:
    """The day's flights: a rowset of 19 columns, as a query gives it."""
    return _table("flights")


def minutes() -> dict[str, int]:
    """Departures planned in each minute of the day, zeros included: a dashboard's bucket."""
    midnight = datetime(DAY.year, DAY.month, DAY.day)
    planned = Counter(60 * row["hour"] + row["minute"] for row in flights())
    return {(midnight + timedelta(minutes=m)).isoformat(timespec="minutes"): planned[m] for m in range(24 * 60)}


def row_ids() -> list[int]:
    """The keys of the day's rows in the source's table: consecutive, as most primary keys are."""
    return list(range(FIRST_ROW, FIRST_ROW + len(flights())))


def late_ids() -> list[int]:
    """The keys of those that arrived late: sorted, with gaps, as a search gives them."""
    pairs = zip(row_ids(), flights(), strict=True)
    return [key for key, row in pairs if row["arr_delay"] is not None and row["arr_delay"] >= LATE]


def planes() -> list[Plane]:
    """The aircraft that flew that day: a batch of frozen dataclasses with slots."""
    return [Plane(**row) for row in _table("planes")]


def report() -> dict[str, Any]:
    """The day as a document: airport -> hourly weather, and airline -> its flights."""
    names = {row["carrier"]: row["name"] for row in _table("airlines")}
    weather: dict[str, list[Row]] = defaultdict(list)
    for row in _table("weather"):
        weather[row["origin"]].append({key: row[key] for key in ("hour", "temp", "humid", "wind_speed", "visib")})
    airports: dict[str, Any] = {origin: {"weather": hours, "airlines": {}} for origin, hours in weather.items()}
    for row in flights():
        airlines = airports[row["origin"]]["airlines"]
        airline = airlines.setdefault(row["carrier"], {"name": names[row["carrier"]], "cancelled": 0, "flights": []})
        airline["cancelled"] += row["dep_time"] is None
        airline["flights"].append(_leg(row))
    return {"day": DAY.isoformat(), "airports": airports}


def _leg(row: Row) -> Row:
    return {
        "flight": row["flight"],
        "plane": row["tailnum"],
        "to": {"airport": row["dest"], "miles": row["distance"]},
        "delay": {"departure": row["dep_delay"], "arrival": row["arr_delay"]},
    }


MAKERS: Final[tuple[tuple[str, str, Callable[[], Sized]], ...]] = (
    ("flights", "{:,} dicts", flights),
    ("minutes", "a dict of {:,}", minutes),
    ("row ids", "{:,} in a row", row_ids),
    ("late ids", "{:,} with gaps", late_ids),
    ("report", "a document", report),
)


def samples() -> list[Sample]:
    """The demo's values, made anew."""
    values = [(name, what, make()) for name, what, make in MAKERS]
    plain = [Sample(name, what.format(len(value)), value) for name, what, value in values]
    batch = planes()
    return [*plain, Sample("planes", f"{len(batch):,} dataclasses", batch, (Plane,), list[Plane])]


def file_sample(source: str) -> Sample:
    """The value of the user's own file. Raises ConvertError as `pack` does."""
    value, size = read_value(source, None, Types.INFER)
    return Sample(Path(source).name, f"{size:,} bytes", value)
