"""The shop, opened once a process: Django cannot be configured twice."""

import os
from functools import lru_cache

import django
from django.core.management import call_command


@lru_cache(maxsize=1)
def open_shop(redis_url: str) -> None:
    os.environ["TEASHOP_REDIS"] = redis_url
    os.environ["DJANGO_SETTINGS_MODULE"] = "teashop.settings"
    django.setup()
    call_command("migrate", run_syncdb=True, verbosity=0)
