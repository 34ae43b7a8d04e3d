"""npser: a numpy-native columnar serializer for caches.

>>> import npser
>>> data = npser.dumps({"ids": list(range(1000)), "name": "köln"})
>>> len(data), npser.loads(data) == {"ids": list(range(1000)), "name": "köln"}
(36, True)
"""

from npser.bound import Codec
from npser.codec import decode_into, dump, dumps, dumps_signed, load, loads, loads_signed
from npser.codegen import codegen
from npser.errors import (
    ClassNotAllowedError,
    DecodeError,
    EncodeError,
    ForeignBytesError,
    LimitError,
    NpserError,
    SignatureError,
    TruncatedError,
)
from npser.limits import Limits
from npser.shapes.patterns import MISSING
from npser.types.placeholder import Placeholder
from npser.types.registry import register, unregister

__version__ = "0.1.0"

__all__ = [
    "MISSING",
    "ClassNotAllowedError",
    "Codec",
    "DecodeError",
    "EncodeError",
    "ForeignBytesError",
    "LimitError",
    "Limits",
    "NpserError",
    "Placeholder",
    "SignatureError",
    "TruncatedError",
    "__version__",
    "codegen",
    "decode_into",
    "dump",
    "dumps",
    "dumps_signed",
    "load",
    "loads",
    "loads_signed",
    "register",
    "unregister",
]
