"""The frequency of an index of times <-> its name.

Strategy: a name has to give back an equal frequency, and pandas to give that to the labels again, which it does only
where they have it. Not all that it does to an index leaves it such a one: so the writer does what the reader will, but
for labels that are a fixed time apart, which is seen sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from npser.adapters.pandas_rules import refuse

__all__ = ["freq_name", "with_freq"]

FIXED = {
    pd.offsets.Hour, pd.offsets.Minute, pd.offsets.Second, pd.offsets.Milli, pd.offsets.Micro, pd.offsets.Nano,
}  # fmt: skip
"""Frequencies that are so long in every time zone, as a day is not."""


def freq_name(index: Any, bare: Callable[[], Any]) -> str:
    """The name of an index's frequency, if that gives it back; `bare` makes the same index without one."""
    freq = index.freq
    name = str(freq.freqstr)
    try:
        same = pd.tseries.frequencies.to_offset(name) == freq
    except ValueError:
        same = False
    if not same:
        raise refuse(f"the frequency {freq!r}", "its name does not say all about it; index.freq = None")
    if not _is_steady(index, freq):
        try:
            with_freq(bare(), name)
        except (ValueError, TypeError, OverflowError) as error:
            rule = "its labels do not have it, and pandas gives it to no others; index.freq = None"
            raise refuse(f"the frequency {freq!r} of an index", rule) from error
    return name


def _is_steady(index: Any, freq: Any) -> bool:
    """Whether each label is one fixed time behind the one before."""
    if type(freq) not in FIXED or len(index) < 2 or index.hasnans:
        return False
    try:
        step = pd.Timedelta(freq).as_unit(index.unit, round_ok=False)
    except ValueError:  # not in this unit
        return False
    return bool((np.diff(index.asi8) == step.asm8.astype("i8")).all())


def with_freq(index: Any, name: str) -> Any:
    """An index of times with a frequency, which it has where its labels do, or do in UTC: ValueError elsewhere.

    >>> with_freq(pd.DatetimeIndex(["2024-01-01", "2024-02-01"]), "MS").freq
    <MonthBegin>
    """
    try:
        index.freq = name  # which checks that the labels have it
    except ValueError:
        if getattr(index, "tz", None) is None:
            raise
        there = index.tz_convert("UTC")
        there.freq = name
        index = there.tz_convert(index.tz)  # pandas before 3 keeps it
        if index.freq is None:
            raise
    return index
