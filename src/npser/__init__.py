"""npser: a numpy-native columnar serializer for caches.

>>> import npser
>>> data = npser.dumps({"ids": list(range(1000)), "name": "köln"})
>>> len(data), npser.loads(data) == {"ids": list(range(1000)), "name": "köln"}
(36, True)
"""

from typing import TYPE_CHECKING, Any

from npser.bound import Codec
from npser.codec import decode_into, dump, dumps, dumps_signed, load, loads, loads_signed
from npser.codegen import codegen
from npser.concat import concat
from npser.digests import digest
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
from npser.looking import view
from npser.partial.view import NoSuchKeyError, View
from npser.shapes.patterns import MISSING
from npser.stream.asynchronous import aiter_frames, aiter_values
from npser.stream.boundary import BinaryStream, FileStream, MemoryStream
from npser.stream.files import open_reader, open_writer
from npser.stream.frames import read_frame, write_frame
from npser.stream.packable import Packable, Unpackable, pack, unpack
from npser.stream.reader import StreamReader
from npser.stream.rows import read_rows, write_rows
from npser.stream.writer import StreamWriter
from npser.types.placeholder import Placeholder
from npser.types.registry import register, unregister

if TYPE_CHECKING:
    from npser.inspection.advise import Advice, advise
    from npser.inspection.compare import Comparison, compare
    from npser.inspection.diff import Difference, diff
    from npser.inspection.report import Report, inspect

__version__ = "0.1.0"

__all__ = [
    "MISSING",
    "Advice",
    "BinaryStream",
    "ClassNotAllowedError",
    "Codec",
    "Comparison",
    "DecodeError",
    "Difference",
    "EncodeError",
    "FileStream",
    "ForeignBytesError",
    "LimitError",
    "Limits",
    "MemoryStream",
    "NoSuchKeyError",
    "NpserError",
    "Packable",
    "Placeholder",
    "Report",
    "SignatureError",
    "StreamReader",
    "StreamWriter",
    "TruncatedError",
    "Unpackable",
    "View",
    "__version__",
    "advise",
    "aiter_frames",
    "aiter_values",
    "codegen",
    "compare",
    "concat",
    "decode_into",
    "diff",
    "digest",
    "dump",
    "dumps",
    "dumps_signed",
    "inspect",
    "load",
    "loads",
    "loads_signed",
    "open_reader",
    "open_writer",
    "pack",
    "read_frame",
    "read_rows",
    "register",
    "unpack",
    "unregister",
    "view",
    "write_frame",
    "write_rows",
]


_LOOKING = {
    "Advice": "advise",
    "Comparison": "compare",
    "Difference": "diff",
    "Report": "report",
    "advise": "advise",
    "compare": "compare",
    "diff": "diff",
    "inspect": "report",
    "load_ipython_extension": "magics",
}
"""Name -> the module of `npser.inspection` that has it."""


def __getattr__(name: str) -> Any:
    """What is only for looking at payloads is imported when it is asked for; a cache never does."""
    if name not in _LOOKING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from npser.inspection import advise, compare, diff, magics, report

    modules = {"advise": advise, "compare": compare, "diff": diff, "magics": magics, "report": report}
    return getattr(modules[_LOOKING[name]], name)
