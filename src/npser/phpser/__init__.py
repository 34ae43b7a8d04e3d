r"""The other wire: payloads of phpser, the PHP extension whose format npser descends from, versions 1 and 2.

Strategy: PHP has fewer types than Python, so this wire has a mapping of its own, and what PHP could not hold is refused
as on the native wire. The bytes written are those that the extension itself would write for the same value.

    PHP                          Python, when read                      what is written as it
    null, bool                   None, bool                             the same
    int                          int                                    int within 64 bits
    float                        float, every bit                       float
    string that is UTF-8         str                                    str; bytes that are UTF-8 come back as str
    any other string             bytes                                  bytes
    ... with strings="bytes"     bytes, for all strings and keys
    list (packed array)          list                                   list
    array with keys              dict; keys are int, str, else bytes    dict of such keys; bytes only if not UTF-8
    the key "5"                  5                                      5 and "5", but not both in one dict
    the empty array              []                                     [] and {}: PHP has only one
    stdClass                     types.SimpleNamespace                  types.SimpleNamespace
    object                       object of the allowed class            dataclass, attrs class, plain class
    object, not allowed          Placeholder, SlotsPlaceholder          the same
    enum case                    member of the allowed Enum             member of an Enum
    enum case, not allowed       Placeholder                            the same
    __serialize, __unserialize   __setstate__ of the allowed class      __getstate__ that gives a list or a dict
    Serializable                 what `unpack` of the allowed class     object with `pack` and `unpack`,
                                 gives, else SerializedPlaceholder      SerializedPlaceholder
    Serializable, not allowed    None, as PHP reads it
    object met twice, cycle      one object                             one object
    reference                    one list, dict or object               list or dict that holds itself; with
                                                                        identity="preserve" also one that is met twice
    resource, closure            None, as PHP writes it

Everything else is an `EncodeError` with its path: ints beyond 64 bits; tuple, set, frozenset, bytearray; dates, Decimal
and numpy arrays; subclasses of list, dict, str or int; named tuples; strings with lone surrogates; keys that are None,
bool, float, tuple, or bytes that are UTF-8. ``default=`` is called with each of them and lowers it: ``default=list``
writes tuples as lists.

Names of classes: an allowed class is found under the name that the caller gave (``classes={"App\\Cart": Cart}``), or
under its own ``__php_name__``, or under its bare name; upper and lower case are the same, as in PHP. Properties that
are not public follow Python's conventions (`npser.phpser.classes`). Wire 2 stores the properties of a class by
position: the fields of a dataclass must stand in the order in which PHP declares them; wire 1 names them. A property
without a value is an attribute that is not set. A field annotated with builtin types refuses what PHP's typed property
would.
"""

from __future__ import annotations

from npser.phpser.placeholders import SerializedPlaceholder, SlotsPlaceholder
from npser.phpser.reader import Trailing, read
from npser.phpser.writer import Identity, write
from npser.shapes.policy import Strings

__all__ = ["Identity", "SerializedPlaceholder", "SlotsPlaceholder", "Strings", "Trailing", "read", "write"]
