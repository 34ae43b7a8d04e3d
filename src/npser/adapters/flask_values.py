"""Flask: the options in its configuration, and what its extensions put into caches by themselves.

Strategy: ``NPSER`` in an app's configuration is for all of its extensions, whose adapters begin here. `Markup` and
responses are made known to npser when the first of them does.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from flask import Flask, Response
from markupsafe import Markup
from werkzeug.datastructures import Headers

from npser.types.registry import register, registration_of

__all__ = ["know_values", "options_of"]

_PURPOSE: Final = b"npser.adapters.flask: cache"


@lru_cache(maxsize=1)
def know_values() -> None:
    """Make the classes known to npser; the second time it does nothing."""
    register(Response)
    register(Headers)
    register(Markup, state=str.__str__, build=_markup)


def _markup(state: str) -> Markup:
    if type(state) is not str:  # of other values, Markup would take what they say that their HTML is
        raise TypeError(f"Markup is text, not {type(state).__name__}")
    return Markup(state)


def options_of(app: Flask, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Options, where the key ``"SECRET_KEY"`` is one that is derived from that of the app, and from those before it.

    >>> app = Flask("shop")
    >>> app.config["SECRET_KEY"] = "no secret"
    >>> [len(key) for key in options_of(app, {"key": "SECRET_KEY"})["key"]]
    [32]
    """
    know_values()
    if registration_of(app.response_class) is None:
        register(app.response_class)
    ready = dict(options or {})
    if ready.get("key") == "SECRET_KEY":
        secrets = [app.secret_key, *(app.config.get("SECRET_KEY_FALLBACKS") or ())]
        if not app.secret_key:
            raise ValueError('the key of npser is "SECRET_KEY", and the app has none')
        ready["key"] = [hmac.digest(_bytes(one), _PURPOSE, hashlib.sha256) for one in secrets]
    return ready


def _bytes(secret: Any) -> bytes:
    return secret.encode() if isinstance(secret, str) else bytes(secret)
