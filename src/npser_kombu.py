"""What kombu loads of npser whenever it is imported, used or not: the entry point of the group ``kombu.serializers``.

Strategy: it stands beside the package and not in it, for importing a part of a package imports all that its top does:
numpy, and a quarter of a second, in every process that has to do with kombu. The adapter waits for the first message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = ["serializer"]


def _encode(value: Any) -> bytes:
    from npser.adapters.kombu import serializer as adapter

    return adapter[0](value)


def _decode(body: Any) -> Any:
    from npser.adapters.kombu import serializer as adapter

    return adapter[1](body)


serializer: Final[tuple[Callable[[Any], bytes], Callable[[Any], Any], str, str]] = (
    _encode,
    _decode,
    "application/x-npser",
    "binary",
)
"""Encoder, decoder, content type and encoding; `npser.adapters.kombu.configure` gives them their options."""
