"""Flask-Session: sessions over npser.

One line, an import from here in the place of one from Flask-Session, and one of configuration for options::

    from npser.adapters.flask_session import Session

    NPSER = {"classes": ["shop.models.Order"], "key": "SECRET_KEY", "compress": "zlib", "foreign": "miss"}

``NPSER`` may be left out. Its options are those of `npser.Codec` and ``foreign`` of `npser.adapters.entries.Entries`;
the key ``"SECRET_KEY"`` is one derived from that of the app, and those in ``SECRET_KEY_FALLBACKS`` are accepted, too.
``"foreign": "flask-session"`` reads the sessions that Flask-Session itself wrote, without ever unpickling one.

Strategy: Flask-Session has no setting for a serializer, but its interfaces have an attribute. Those for Redis,
memcached, MongoDB, SQLAlchemy and DynamoDB ask it for bytes. That for cachelib leaves them to its cache, which has to
be one of `npser.adapters.cachelib`, with options of its own (``"filesystem"`` makes one that pickles: it is refused,
and Flask-Session is about to drop it). A session that cannot be read is a new one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
from flask import Flask
from flask_session import Session as FlaskSession
from flask_session.base import MsgSpecSerializer
from flask_session.base import Serializer as BaseSerializer

from npser.adapters.cachelib import NpserCache
from npser.adapters.flask_values import options_of
from npser.adapters.refusals import logged_entries

__all__ = ["Serializer", "Session"]


class Serializer(BaseSerializer):
    """What an interface of Flask-Session calls a serializer."""

    def __init__(self, **options: Any) -> None:
        self.entries = logged_entries(options)

    def encode(self, session: Any) -> bytes:
        """The bytes of a session."""
        return self.entries.dumps(dict(session))

    def decode(self, serialized_data: bytes) -> Any:
        """The session, or None, for which Flask-Session begins a new one."""
        session = self.entries.loads(serialized_data, miss=None)
        return session if isinstance(session, dict) else None


class Session(FlaskSession):
    """`flask_session.Session` over npser."""

    def _get_interface(self, app: Flask) -> Any:
        interface = super()._get_interface(app)
        cache = getattr(interface, "cache", None)
        if cache is not None and not isinstance(cache, NpserCache):
            raise ValueError(
                f"{type(cache).__module__}.{type(cache).__name__} pickles: SESSION_TYPE = 'cachelib' with a cache of "
                "npser.adapters.cachelib as SESSION_CACHELIB does not"
            )
        options = options_of(app, app.config.get("NPSER"))
        if options.get("foreign") == "flask-session":
            options["foreign"] = partial(_read_before, interface.serializer)
        interface.serializer = Serializer(**options)
        return interface


def _read_before(serializer: MsgSpecSerializer, data: bytes) -> Any:
    """A session that Flask-Session wrote; not by its `decode`, which unpickles what it does not know."""
    try:
        return serializer.decoder.decode(data)
    except msgspec.DecodeError:
        return serializer.alternate_decoder.decode(data)
