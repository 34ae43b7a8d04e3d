"""The verbs: dumps, loads, dump, load, decode_into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from npser.decoder import decode
from npser.encoder import encode
from npser.errors import DecodeError
from npser.limits import Limits
from npser.shapes.policy import Copies, Numbers, Policy, Tables
from npser.types.allow import NO_CLASSES, Allow

__all__ = ["decode_into", "dump", "dumps", "load", "loads"]

Identity = Literal["objects", "preserve"]
Classes = Iterable[type] | Mapping[str, type]

DEFAULT_LIMITS = Limits()


def _one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is one of {', '.join(map(repr, choices))}, not {value!r}")


_NO_CLASSES: Final[dict[tuple[str, str, str], Policy]] = {
    (numbers, tables, copy): Policy(NO_CLASSES, numbers, tables, copy)
    for numbers in get_args(Numbers)
    for tables in get_args(Tables)
    for copy in get_args(Copies)
}


def _policy(classes: Classes, numbers: Numbers, tables: Tables, copy: Copies) -> Policy:
    try:
        policy = _NO_CLASSES.get((numbers, tables, copy))
    except TypeError:  # one of them cannot be hashed
        policy = None
    if policy is None:
        _one_of("numbers", numbers, get_args(Numbers))
        _one_of("tables", tables, get_args(Tables))
        _one_of("copy", copy, get_args(Copies))
        raise AssertionError  # one of the three has raised
    return Policy(Allow(classes), numbers, tables, copy) if classes else policy


def dumps(
    value: object, *, identity: Identity = "objects", default: Callable[[Any], Any] | None = None
) -> bytes:
    """Encode a value.

    Parameters
    ----------
    value : object
        Anything of the types that the README lists.
    identity : {"objects", "preserve"}
        Objects and arrays that are met twice are always one object again. ``"preserve"`` extends that to lists,
        dicts, sets and deques, and so allows them to contain themselves.
    default : callable, optional
        Called with each value that npser refuses; what it gives is encoded instead.

    Raises
    ------
    EncodeError
        For what could not be given back exactly; ``path`` says where it is.

    >>> dumps([1, 2, 3]).hex(" ")
    'c1 01 38 03 02 02'
    >>> dumps({"when": object()})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    npser.errors.EncodeError: cannot encode builtins.object: ... in $['when']
    """
    _one_of("identity", identity, ("objects", "preserve"))
    return encode(value, default=default, preserve=identity == "preserve")


def loads(
    data: Any,
    *,
    classes: Classes = (),
    numbers: Numbers = "list",
    tables: Tables = "rows",
    copy: Copies = "always",
    limits: Limits = DEFAULT_LIMITS,
) -> Any:
    """Decode a payload.

    Parameters
    ----------
    data : buffer
        bytes, bytearray, memoryview, mmap: anything contiguous.
    classes : iterable of classes, or mapping of wire name to class
        The classes that may be built. Objects of others become a `Placeholder`, which keeps their name and fields.
    numbers : {"list", "array"}
        ``"array"`` gives lists of ints, of floats and of bools as arrays of int64, float64 and bool. Empty lists and
        lists with anything else in them stay lists, and so do those inside the containers of a payload that
        preserves identity.
    tables : {"rows", "columns"}
        ``"columns"`` gives lists of dicts, and of objects of one class, as a dict of columns. A cell of a key that
        a row does not have is `MISSING`. A dict whose keys are data and not names (not text, or many with values of
        one type) is no row.
    copy : {"always", "never"}
        ``"always"`` gives arrays that are writable and own their memory. ``"never"`` gives read-only arrays, which
        look into `data` where it holds their elements as they are; they keep it alive.
    limits : Limits
        What the payload may ask for.

    Raises
    ------
    DecodeError
        And nothing else, whatever the bytes are; ``pos`` and ``path`` say where.

    >>> loads(dumps({"ids": [3, 4, 5], "at": (1.5, None)}))
    {'ids': [3, 4, 5], 'at': (1.5, None)}
    >>> loads(dumps([{"id": 1, "x": 0.5}, {"id": 2, "x": 1.5}]), tables="columns", numbers="array")
    {'id': array([1, 2]), 'x': array([0.5, 1.5])}
    """
    return decode(data, policy=_policy(classes, numbers, tables, copy), limits=limits)


def dump(
    value: object, file: IO[bytes], *, identity: Identity = "objects", default: Callable[[Any], Any] | None = None
) -> None:
    """Encode a value into a binary file object, as one payload.

    >>> import io
    >>> file = io.BytesIO()
    >>> dump({"a": 1}, file)
    >>> load(io.BytesIO(file.getvalue()))
    {'a': 1}
    """
    file.write(dumps(value, identity=identity, default=default))


def load(
    file: IO[bytes],
    *,
    classes: Classes = (),
    numbers: Numbers = "list",
    tables: Tables = "rows",
    copy: Copies = "always",
    limits: Limits = DEFAULT_LIMITS,
) -> Any:
    """Decode the payload that a binary file object holds from here to its end; the options are those of `loads`."""
    return loads(file.read(), classes=classes, numbers=numbers, tables=tables, copy=copy, limits=limits)


def decode_into(data: Any, out: NDArray[Any], *, limits: Limits = DEFAULT_LIMITS) -> None:
    """Decode a numeric payload into an array that exists.

    Parameters
    ----------
    data : buffer
        A payload of one list of numbers, or of one array.
    out : array
        int64 for ints, float64 for floats, bool for bools, an array's own dtype for an array; of exactly its shape.

    Raises
    ------
    DecodeError
        When the payload is not numeric or `out` does not fit it; then nothing was written.

    >>> out = np.zeros(3)
    >>> decode_into(dumps([0.5, 1.5, 2.5]), out)
    >>> out
    array([0.5, 1.5, 2.5])
    """
    if not isinstance(out, np.ndarray) or not out.flags.writeable:
        raise DecodeError("decode_into needs a writable array")
    found = decode(data, policy=Policy(NO_CLASSES, "array", "rows", "never"), limits=limits)
    if isinstance(found, list) and not found:
        found = np.empty(0, out.dtype)
    if not isinstance(found, np.ndarray):
        kind = type(found).__name__
        raise DecodeError(f"decode_into reads lists of numbers and arrays, and this payload is a {kind}")
    if found.dtype != out.dtype or found.shape != out.shape:
        raise DecodeError(
            f"the payload holds {found.dtype} of shape {found.shape}, the array is {out.dtype} of shape {out.shape}"
        )
    np.copyto(out, found)
