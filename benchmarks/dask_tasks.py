"""What the workers of `dask_wire` run: hold the flights table in several forms, give it away, say what came.

Strategy: a file of its own, so that workers can import it. A worker builds a form once and gives it under a new name
each time, so that what is timed is the move and never the building.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import npser.adapters.dask
import npser.adapters.pandas
from benchmarks import corpora
from npser.adapters.dask import Rows

__all__ = ["FORMS", "Flight", "count", "give", "hold", "is_same", "moved_bytes", "use"]


@dataclass
class Flight:
    """A row of the flights table."""

    year: int
    month: int
    day: int
    dep_time: int | None
    sched_dep_time: int
    dep_delay: int | None
    arr_time: int | None
    sched_arr_time: int
    arr_delay: int | None
    carrier: str
    flight: int
    tailnum: str | None
    origin: str
    dest: str
    air_time: int | None
    distance: int
    hour: int
    minute: int
    time_hour: str


def _rows(limit: int) -> list[dict[str, Any]]:
    return corpora.flight_rows(limit)


def _records(limit: int) -> list[Flight]:
    return [Flight(**row) for row in corpora.flight_rows(limit)]  # type: ignore[arg-type]


def _frame(limit: int) -> Any:
    import pandas

    return pandas.DataFrame(corpora.flight_rows(limit))


def _array(limit: int) -> Any:
    columns = corpora.flight_rows(limit)
    numbers = [name for name in columns[0] if name not in corpora.FLIGHT_TEXTS]
    return np.array([[row[name] for name in numbers] for row in columns], dtype=float)


FORMS: Final[dict[str, Callable[[int], Any]]] = {
    "list of dicts": _rows,
    "records": _records,
    "DataFrame": _frame,
    "array of its numbers": _array,
}
"""The table in each of its forms, out of a number of rows."""

HELD: Final[dict[str, Any]] = {}


def hold(form: str, limit: int) -> int:
    """Build a form of the table and keep it; how many rows it has."""
    HELD[form] = FORMS[form](limit)
    return len(HELD[form])


def give(form: str, wrap: str) -> Any:
    """What this worker holds: as it is, as `Rows`, or as the one item of a list, which Dask does not take apart."""
    return WRAPS[wrap](HELD[form])


WRAPS: Final[dict[str, Callable[[Any], Any]]] = {
    "bare": lambda value: value,
    "rows": Rows,
    "nested": lambda value: [value],
}


def count(value: Any) -> int:
    """How many rows arrived."""
    return len(value)


def is_same(form: str, value: Any) -> bool:
    """Whether what arrived is what this worker has built itself."""
    held = HELD[form]
    if isinstance(held, np.ndarray):
        return bool(np.array_equal(held, value, equal_nan=True))
    if not isinstance(held, list):
        return bool(held.equals(value) and (held.dtypes == value.dtypes).all())
    found = value[0] if len(value) == 1 else value
    return list(found) == held and {*map(type, found)} == {*map(type, held)}


def use(families: tuple[str, ...] | None, dask_worker: Any) -> None:
    """Let a worker ask others for values in these families; None is what Dask does by itself."""
    npser.adapters.pandas.register()
    npser.adapters.dask.register(classes=[Flight])
    dask_worker.rpc.serializers = dask_worker.rpc.deserializers = families and list(families)


def moved_bytes(dask_worker: Any) -> int:
    """What this worker's last answer to another one took on the wire."""
    return int(dask_worker.transfer_outgoing_log[-1]["compressed"])
