"""What all tests share: the hypothesis profiles."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

QUICK = 60
"""Examples a property: the suite is run often. `HYPOTHESIS_PROFILE=thorough` takes its time."""

_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=QUICK, suppress_health_check=_SLOW)
settings.register_profile("thorough", deadline=None, max_examples=1000, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
