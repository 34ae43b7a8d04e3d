"""kombu and Celery: the serializer named npser, there as soon as npser is installed.

    app.conf.update(task_serializer="npser", result_serializer="npser", accept_content=["npser"])

Strategy: kombu loads the entry point, `npser_kombu.serializer`, when it is itself imported, whether anybody uses it or
not; that one imports this file when a message comes, and this file neither kombu nor Celery. A program that needs
classes, a key or compression says so once with `configure`, in the module of its app, which workers and clients import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from npser.adapters.settings import codec_from, imported
from npser.bound import Codec

__all__ = ["CONTENT_TYPE", "configure", "register", "serializer"]

CONTENT_TYPE: Final = "application/x-npser"

Serializer = tuple[Callable[[Any], bytes], Callable[[Any], Any], str, str]


def _plain_signature(value: Any) -> Any:
    """Celery's signatures are sent as plain dicts by every serializer, and Celery makes signatures of them again."""
    canvas = sys.modules.get("celery.canvas")  # without it, nobody has made one
    return dict(value) if canvas is not None and isinstance(value, canvas.Signature) else value


class _Substitutes:
    """The ``default=`` of the Codec: signatures, then what the user has given, by whose name it goes in errors."""

    __slots__ = ("users",)

    def __init__(self, users: Callable[[Any], Any] | None) -> None:
        self.users = users

    def __call__(self, value: Any) -> Any:
        plain = _plain_signature(value)
        return self.users(value) if plain is value and self.users is not None else plain

    def __repr__(self) -> str:
        return repr(self.users)


def _codec(options: dict[str, Any]) -> Codec:
    given = options.get("default")
    substitutes = _Substitutes(imported(given) if isinstance(given, str) else given)
    return codec_from({"unknown": "refuse", **options, "default": substitutes})


class _Messages:
    """Encoder and decoder of one name, with the Codec that stands for it now."""

    __slots__ = ("codec",)

    def __init__(self, codec: Codec) -> None:
        self.codec = codec

    def encode(self, value: Any) -> bytes:
        """A body; never an empty one, which kombu would hand over undecoded."""
        return self.codec.dumps(value)

    def decode(self, body: Any) -> Any:
        """The value of a body; some transports make text of it, where bytes that are no UTF-8 are surrogates."""
        return self.codec.loads(body.encode("utf-8", "surrogateescape") if isinstance(body, str) else body)


_NPSER: Final = _Messages(_codec({}))

serializer: Final[Serializer] = (_NPSER.encode, _NPSER.decode, CONTENT_TYPE, "binary")
"""Encoder, decoder, content type and encoding, as ``kombu.serialization.register`` takes them behind a name."""


def configure(**options: Any) -> None:
    """Give the serializer named npser its options, in this process, once and for all kombu connections and Celery apps.

    Parameters
    ----------
    **options
        Those of `Codec`: ``classes``, ``key``, ``compress`` and so on, classes also as dotted paths; see `codec_from`.
        Objects of a class that was not named are an error, not a `Placeholder`. With a key, whatever message is not
        sealed by it is refused.

    >>> configure(classes=["fractions.Fraction"], compress="zlib")
    >>> encode, decode, content_type, _ = serializer
    >>> decode(encode(((1, 2), {"page": 3}))), content_type
    (((1, 2), {'page': 3}), 'application/x-npser')
    >>> configure()
    """
    _NPSER.codec = _codec(options)


def register(name: str, content_type: str | None = None, **options: Any) -> None:
    """Register one more serializer with kombu, with options of its own: a signed one, say, beside the plain one.

    Parameters
    ----------
    name : str
        As ``task_serializer`` and ``accept_content`` have it.
    content_type : str, optional
        ``application/x-npser`` is taken by the plain one; by default this one has the name in its place.
    **options
        As in `configure`.

    >>> from kombu.serialization import dumps, loads
    >>> register("npser-signed", key=bytes(range(32)))
    >>> content_type, encoding, body = dumps((1, 2), serializer="npser-signed")
    >>> content_type, encoding, loads(body, content_type, encoding)
    ('application/x-npser-signed', 'binary', (1, 2))
    """
    from kombu import serialization

    messages = _Messages(_codec(options))
    registry: Any = serialization.registry
    registry.register(
        name, messages.encode, messages.decode, content_type or f"application/x-{name}", content_encoding="binary"
    )
