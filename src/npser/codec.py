"""The verbs: dumps, loads, dump, load, decode_into, dumps_signed, loads_signed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import IO, Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from npser.canonical import encode_canonical
from npser.choices import one_of
from npser.decoder import decode
from npser.encoder import encode
from npser.envelope.seal import Key, Seal
from npser.errors import DecodeError, SignatureError
from npser.limits import Limits
from npser.shapes.policy import Copies, ExtraFields, Numbers, Policy, Strings, Tables, Unknown
from npser.stream.frames import read_frame, write_frame
from npser.types.allow import NO_CLASSES, Allow
from npser.wires import PhpSeal, Wire, decode_wire, encode_wire, read, read_sealed

__all__ = [
    "DEFAULT_LIMITS",
    "RAISE",
    "Classes",
    "Identity",
    "Order",
    "check_order",
    "decode_into",
    "dump",
    "dumps",
    "dumps_signed",
    "load",
    "loads",
    "loads_signed",
    "make_policy",
]

Identity = Literal["objects", "preserve"]
Order = Literal["insertion", "canonical"]
Classes = Iterable[type] | Mapping[str, type]

DEFAULT_LIMITS = Limits()


class _Raise:
    """No default: an error is raised."""

    def __repr__(self) -> str:
        return "<raise>"


RAISE: Final = _Raise()


def check_order(order: Order, wire: Wire, identity: Identity) -> None:
    """Raise a ValueError for an order that there is not, or that does not go with a wire or an identity."""
    one_of("order", order, get_args(Order))
    if order == "canonical" and wire != "npser":
        raise ValueError("phpser has no canonical payloads: leave out either order= or wire=")
    if order == "canonical" and identity == "preserve":
        raise ValueError("canonical payloads keep no identity: leave out either order= or identity=")


_POLICIES: Final[dict[tuple[str, ...], Policy]] = {
    options: Policy(NO_CLASSES, *options)
    for options in product(*map(get_args, (Numbers, Tables, Copies, Unknown, ExtraFields, Strings)))
}
"""All that there are without classes, so that most calls find theirs in one look."""


def make_policy(
    classes: Classes,
    numbers: Numbers,
    tables: Tables,
    copy: Copies,
    unknown: Unknown = "placeholder",
    extra_fields: ExtraFields = "drop",
    strings: Strings = "text",
) -> Policy:
    """The options of `loads` as one value, checked."""
    options = (numbers, tables, copy, unknown, extra_fields, strings)
    try:
        policy = _POLICIES.get(options)
    except TypeError:  # one of them cannot be hashed
        policy = None
    if policy is None:
        one_of("numbers", numbers, get_args(Numbers))
        one_of("tables", tables, get_args(Tables))
        one_of("copy", copy, get_args(Copies))
        one_of("strings", strings, get_args(Strings))
        one_of("unknown", unknown, get_args(Unknown))
        one_of("extra_fields", extra_fields, get_args(ExtraFields))
        raise AssertionError  # one of them has raised
    return Policy(Allow(classes), *options) if classes else policy


def dumps(
    value: object,
    *,
    wire: Wire = "npser",
    order: Order = "insertion",
    identity: Identity = "objects",
    default: Callable[[Any], Any] | None = None,
) -> bytes:
    """Encode a value.

    Parameters
    ----------
    value : object
        Anything of the types that the README lists.
    wire : {"npser", "phpser", "phpser1"}
        Which family of payloads to write: npser's own, or what the PHP extension phpser would write for the same
        value, or that within its version 1; see `npser.phpser` for what PHP can hold.
    order : {"insertion", "canonical"}
        ``"insertion"`` keeps the order of dicts. ``"canonical"`` gives equal values equal bytes, in every process: the
        keys of dicts (but for OrderedDict), the members of sets and the attributes in a ``__dict__`` are sorted by
        their own canonical payloads, every NaN is the same one, and nothing is the same object as something else.
        What holds itself is refused. It takes several times as long; see `digest`.
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
    >>> dumps({"b": 1, "a": 2}, order="canonical") == dumps({"a": 2, "b": 1})
    True
    >>> dumps({"when": object()})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    npser.errors.EncodeError: cannot encode builtins.object: ... in $['when']
    """
    if identity != "objects":
        one_of("identity", identity, get_args(Identity))
    if order != "insertion":
        check_order(order, wire, identity)
        return encode_canonical(value, default)
    if wire == "npser":
        return encode(value, default=default, preserve=identity == "preserve")
    one_of("wire", wire, get_args(Wire))
    return encode_wire(value, wire, default, identity)


def loads(
    data: Any,
    *,
    classes: Classes = (),
    numbers: Numbers = "list",
    tables: Tables = "rows",
    copy: Copies = "always",
    unknown: Unknown = "placeholder",
    extra_fields: ExtraFields = "drop",
    strings: Strings = "text",
    select: Iterable[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Any:
    """Decode a payload, a compressed or checked one as well, or one that PHP wrote with phpser.

    Parameters
    ----------
    data : buffer
        bytes, bytearray, memoryview, mmap: anything contiguous.
    classes : iterable of classes, or mapping of wire name to class
        The classes that may be built, besides those that the program has registered.
    numbers : {"list", "array"}
        ``"array"`` gives lists of ints, of floats and of bools as arrays of int64, float64 and bool. Empty lists and
        lists with anything else in them stay lists, and so do those inside the containers of a payload that
        preserves identity.
    tables : {"rows", "columns"}
        ``"columns"`` gives lists of dicts, and of objects of one class, as a dict of columns. A cell of a key that
        a row does not have is `MISSING`. A dict whose keys are data and not names (not text, or many with values of
        one type) is no row.
    copy : {"always", "never"}
        ``"always"`` gives arrays that are writable, in memory of their own. ``"never"`` gives read-only arrays, which
        look into `data` where it holds their elements as they are; they keep it alive.
    unknown : {"placeholder", "refuse"}
        What becomes of an object of another class: a `Placeholder`, which keeps its class name and fields, or
        a `ClassNotAllowedError`.
    extra_fields : {"drop", "refuse"}
        What becomes of a stored field that its class has no more: it is left out, or it is a `DecodeError`.
    strings : {"text", "bytes"}
        What becomes of the strings in a payload of phpser, which are bytes there: ``"text"`` gives a str for those
        that are UTF-8, ``"bytes"`` keeps all of them as they are.
    select : iterable of str, optional
        Only these columns of a table or a record batch, or these keys of a dict, as a dict; the others are not even
        decoded. One that is not there is a DecodeError that is a KeyError, too. See `view` for more of that.
    limits : Limits
        What the payload may ask for.

    Raises
    ------
    DecodeError
        And nothing else, whatever the bytes are; ``pos`` and ``path`` say where. Sealed bytes are a `SignatureError`:
        `loads_signed` reads them.

    >>> loads(dumps({"ids": [3, 4, 5], "at": (1.5, None)}))
    {'ids': [3, 4, 5], 'at': (1.5, None)}
    >>> loads(dumps([{"id": 1, "x": 0.5}, {"id": 2, "x": 1.5}]), tables="columns", numbers="array")
    {'id': array([1, 2]), 'x': array([0.5, 1.5])}
    """
    policy = make_policy(classes, numbers, tables, copy, unknown, extra_fields, strings)
    return decode_wire(data, policy, limits) if select is None else read(data, policy, limits, select)


def dump(
    value: object,
    file: IO[bytes],
    *,
    wire: Wire = "npser",
    order: Order = "insertion",
    identity: Identity = "objects",
    default: Callable[[Any], Any] | None = None,
) -> None:
    """Encode a value into a binary file object, as one frame: a payload with its length and checks.

    So several values may follow each other in one file. `StreamWriter` writes many. The options are those of `dumps`.

    >>> import io
    >>> file = io.BytesIO()
    >>> dump({"a": 1}, file); dump([2], file)
    >>> _ = file.seek(0)
    >>> load(file), load(file)
    ({'a': 1}, [2])
    """
    write_frame(file, dumps(value, wire=wire, order=order, identity=identity, default=default))


def load(
    file: IO[bytes],
    *,
    classes: Classes = (),
    numbers: Numbers = "list",
    tables: Tables = "rows",
    copy: Copies = "always",
    unknown: Unknown = "placeholder",
    extra_fields: ExtraFields = "drop",
    strings: Strings = "text",
    select: Iterable[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Any:
    """Decode the next frame of a binary file object, or a file that is one bare payload; options as in `loads`."""
    policy = make_policy(classes, numbers, tables, copy, unknown, extra_fields, strings)
    return read(read_frame(file, bare="rest"), policy, limits, select)


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
    found = decode(data, Policy(NO_CLASSES, "array", "rows", "never"), limits)
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


def dumps_signed(
    value: object,
    key: Key,
    *,
    context: bytes | str = b"",
    wire: Wire = "npser",
    order: Order = "insertion",
    identity: Identity = "objects",
    default: Callable[[Any], Any] | None = None,
) -> bytes:
    """Encode a value and seal it, so that `loads_signed` can tell whether somebody without the key changed it.

    Parameters
    ----------
    value : object
        As `dumps` takes it, and so are `wire`, `order`, `identity` and `default`. On the wire of phpser the seal is
        what that extension makes and verifies: the HMAC-SHA256 of the payload behind it, without a context.
    key : bytes, or sequence of bytes
        A secret of 16 bytes or more, better 32: ``secrets.token_bytes(32)``. Of several keys the first one seals.
    context : bytes or str
        What the bytes are for, such as the name of the cache and the entry's key; only the same context opens them.

    Raises
    ------
    TypeError, ValueError
        For a key that is no key, or too short.
    EncodeError
        For what could not be given back exactly.

    >>> key = bytes(range(32))
    >>> data = dumps_signed({"user": 7}, key, context="session")
    >>> loads_signed(data, key, context="session")
    {'user': 7}
    >>> loads_signed(data, key, context="cart", default=None) is None
    True
    """
    payload = dumps(value, wire=wire, order=order, identity=identity, default=default)
    if wire == "npser":
        return Seal(key, context).close(payload)
    if context:
        raise ValueError("a signed payload of phpser has no context")
    return PhpSeal(key).close(payload)


def loads_signed(
    data: Any,
    key: Key,
    *,
    context: bytes | str = b"",
    default: Any = RAISE,
    classes: Classes = (),
    numbers: Numbers = "list",
    tables: Tables = "rows",
    copy: Copies = "always",
    unknown: Unknown = "placeholder",
    extra_fields: ExtraFields = "drop",
    strings: Strings = "text",
    select: Iterable[str] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Any:
    """Verify a seal and then decode; nothing is parsed before that.

    Parameters
    ----------
    data : buffer
        What `dumps_signed` or a `Codec` with a key gave, or a signed payload of phpser, unless there is a context.
        A buffer that is not bytes is copied first.
    key : bytes, or sequence of bytes
        The secret, or several with the newest first: any of them may have sealed the bytes.
    context : bytes or str
        The one that was given to `dumps_signed`.
    default : object, optional
        Returned where a `SignatureError` would be raised, so that a poisoned entry is a miss. What verifies and then
        does not decode was written by a holder of the key, and always raises.
    classes, numbers, tables, copy, unknown, extra_fields, strings, select, limits
        As in `loads`. With ``copy="never"``, views look into the copy.

    Raises
    ------
    SignatureError
        The bytes are not sealed, or not with one of the keys for this context, whatever else is wrong with them.
    DecodeError
        They are sealed, but not a payload; or `data` is no buffer at all.
    TypeError, ValueError
        For a key that is no key, or too short.
    """
    policy = make_policy(classes, numbers, tables, copy, unknown, extra_fields, strings)
    seal, php_seal = Seal(key, context), None if context else PhpSeal(key)
    try:
        return read_sealed(data, seal, php_seal, policy, limits, select)
    except SignatureError:
        if default is RAISE:
            raise
        return default
