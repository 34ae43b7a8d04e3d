"""Single values of pandas <-> plain values: Timestamp, Timedelta, Period, Interval, NaT and NA.

Strategy: a point in time is numpy's scalar, which has the unit, and the zone it is shown in; a span is an ordinal and
a frequency.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pandas as pd

from npser.adapters.pandas_times import freq_of, read_zone, zone_state

__all__ = ["SCALARS"]


def _timestamp_state(value: Any) -> tuple[Any, Any, int]:
    return value.to_datetime64(), zone_state(value.tz), value.fold


def _build_timestamp(state: Any) -> Any:
    moment, zone, fold = state
    _check(moment, np.datetime64)
    made = pd.Timestamp(moment)
    if zone is not None:
        return made.tz_localize("UTC").tz_convert(read_zone(zone))
    return made.replace(fold=1) if fold == 1 else made


def _build_timedelta(state: Any) -> Any:
    _check(state, np.timedelta64)
    return pd.Timedelta(state)


def _check(value: Any, kind: type) -> None:
    if type(value) is not kind or bool(np.isnat(np.asarray(value))):
        raise TypeError(f"no {kind.__name__}")


def _period_state(value: Any) -> tuple[int, str]:
    return value.ordinal, freq_of(pd.PeriodDtype(value.freq))


def _build_period(state: Any) -> Any:
    ordinal, freq = state
    if type(ordinal) is not int or type(freq) is not str:
        raise TypeError("a period is an ordinal and a frequency")
    dtype = pd.PeriodDtype(freq)
    return pd.arrays.PeriodArray(np.array([ordinal], "i8"), dtype=dtype)[0]


def _build_interval(state: Any) -> Any:
    left, right, closed = state
    return pd.Interval(left, right, closed)


SCALARS: Final[dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "Timestamp": (pd.Timestamp, _timestamp_state, _build_timestamp),
    "Timedelta": (pd.Timedelta, lambda value: value.to_timedelta64(), _build_timedelta),
    "Period": (pd.Period, _period_state, _build_period),
    "Interval": (pd.Interval, lambda value: (value.left, value.right, value.closed), _build_interval),
    "NaT": (type(pd.NaT), lambda value: None, lambda state: pd.NaT),
    "NA": (type(pd.NA), lambda value: None, lambda state: pd.NA),
}
"""Name on the wire -> class, its state, and what builds it."""
