"""Columns of zoned times and of periods of pandas <-> plain values; and time zones.

Strategy: a zone is a datetime at the epoch that has it, so that the rules for zones are npser's own; one of pytz is its
name. The name of a frequency is the one in the name of the dtype, which all versions of pandas read.
"""

from __future__ import annotations

import datetime
import re
import zoneinfo
from typing import Any, Final

import numpy as np
import pandas as pd

from npser.errors import EncodeError

__all__ = ["build_periods", "build_zoned", "freq_of", "periods_state", "read_zone", "zone_state", "zoned_state"]

State = dict[str, Any]

EPOCH: Final = datetime.datetime(1970, 1, 1)
_KEY: Final = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*")


def zone_state(zone: Any) -> Any:
    """A time zone as a plain value; None for none.

    >>> zone_state(datetime.timezone.utc)
    datetime.datetime(1970, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if zone is None:
        return None
    if type(zone).__module__.partition(".")[0] == "pytz":
        if getattr(zone, "zone", None) is None:
            raise EncodeError(f"npser.adapters.pandas does not keep the time zone {zone!r}: one of pytz needs a name")
        return {"pytz": zone.zone}
    if type(zone) not in (datetime.timezone, zoneinfo.ZoneInfo):
        raise EncodeError(
            f"npser.adapters.pandas does not keep the time zone {zone!r}: only those of datetime, zoneinfo and pytz"
        )
    return EPOCH.replace(tzinfo=zone)


def read_zone(state: Any) -> Any:
    """The zone; one of pytz is one of zoneinfo where there is no pytz, as pandas itself went over to these."""
    if state is None:
        return None
    if type(state) is not dict:
        return state.tzinfo
    name = state["pytz"]
    if type(name) is not str or not _KEY.fullmatch(name):
        raise ValueError("no name of a time zone")
    try:
        import pytz
    except ImportError:
        return zoneinfo.ZoneInfo(name)
    return pytz.timezone(name)


def freq_of(dtype: Any) -> str:
    """The frequency of a dtype of periods.

    >>> freq_of(pd.PeriodDtype("M"))
    'M'
    """
    return str(dtype.name.removeprefix("period[").removesuffix("]"))


def zoned_state(array: Any, _index_state: Any) -> State:
    """Points in time, and the zone they are shown in."""
    return {"values": np.asarray(array.tz_convert(None)), "zone": zone_state(array.tz)}


def build_zoned(state: State, _build_index: Any) -> Any:
    """The array."""
    return pd.DatetimeIndex(state["values"]).tz_localize("UTC").tz_convert(read_zone(state["zone"])).array


def periods_state(array: Any, _index_state: Any) -> State:
    """Ordinals and a frequency."""
    return {"ordinals": np.asarray(array.asi8), "freq": freq_of(array.dtype)}


def build_periods(state: State, _build_index: Any) -> Any:
    """The array."""
    if state["ordinals"].dtype != "i8" or type(state["freq"]) is not str:
        raise TypeError("periods are ordinals of int64 and a frequency")
    return pd.arrays.PeriodArray(state["ordinals"], dtype=pd.PeriodDtype(state["freq"]))
