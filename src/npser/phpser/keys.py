"""Array keys as PHP has them: ints and strings, where a string that spells an int is that int.

Strategy: whether a string is canonical is decided by its first character nearly always. The rule is
``ZEND_HANDLE_NUMERIC_STR`` (php-src, Zend/zend_hash.h): ``0`` or ``-?[1-9][0-9]*`` that fits 64 bits.
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

__all__ = ["LONG_MAX", "LONG_MIN", "array_key", "property_bytes", "property_name"]

LONG_MIN: Final = -(1 << 63)
LONG_MAX: Final = (1 << 63) - 1

_CANONICAL: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
_CANONICAL_BYTES: Final = re.compile(_CANONICAL.pattern.encode())

Text = TypeVar("Text", str, bytes)


def array_key(key: Text) -> Text | int:
    """The key under which PHP files a string.

    >>> array_key("5"), array_key("05"), array_key("-0"), array_key(b"-7"), array_key("9223372036854775808")
    (5, '05', '-0', -7, '9223372036854775808')
    """
    pattern: re.Pattern[Text] = _CANONICAL if isinstance(key, str) else _CANONICAL_BYTES
    if key[:1] <= ("9" if isinstance(key, str) else b"9") and pattern.fullmatch(key):
        number = int(key)
        if LONG_MIN <= number <= LONG_MAX:
            return number
    return key


def property_name(raw: bytes) -> str:
    """The name of a property as str: bytes that are no UTF-8 become lone surrogates, as in file names (PEP 383).

    >>> property_name(b"id"), property_name(bytes([0xE9]))
    ('id', '\\udce9')
    """
    return raw.decode("utf-8", "surrogateescape")


def property_bytes(name: str) -> bytes:
    """The inverse of `property_name`; UnicodeEncodeError for other lone surrogates."""
    return name.encode("utf-8", "surrogateescape")
