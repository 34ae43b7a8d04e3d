"""Codec: the verbs with the options bound, and what goes around a payload.

Strategy: everything is checked and made ready once, when the Codec is made: the policy, the compressor, the seal. After
that it never changes, so any number of threads may share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import IO, Any, Final, NoReturn, Self, get_args

from npser.canonical import encode_canonical
from npser.choices import one_of
from npser.codec import (
    DEFAULT_LIMITS,
    RAISE,
    Classes,
    Identity,
    Order,
    check_order,
    make_policy,
)
from npser.envelope.checksum import Checksum, Checksums
from npser.envelope.compression import COMPRESS_FROM, Compressions, Compressor
from npser.envelope.layers import close_layers
from npser.envelope.seal import Key, Seal
from npser.errors import SignatureError
from npser.limits import Limits
from npser.partial.opening import open_view
from npser.partial.view import View
from npser.shapes.policy import Copies, ExtraFields, Numbers, Policy, Strings, Tables, Unknown
from npser.stream.frames import read_frame, write_frame
from npser.wires import PhpSeal, Wire, encode_wire, open_sealed, read, read_sealed

__all__ = ["Codec"]


class _Hidden:
    """What a Codec shows and keeps in the place of its key."""

    def __repr__(self) -> str:
        return "<hidden>"


_HIDDEN: Final = _Hidden()


class Codec:
    """`dumps`, `loads`, `dump`, `load` and `view` with their options bound: what a cache is given once.

    A Codec cannot be changed, and threads may share it. How bytes are read is up to the bytes: it reads compressed,
    checked and plain ones alike, whatever it writes. Only with a key it is strict, and reads nothing but sealed bytes.

    Parameters
    ----------
    classes, numbers, tables, copy, unknown, extra_fields, strings, limits
        As in `loads`.
    wire, order, identity, default
        As in `dumps`.
    key : bytes, or sequence of bytes, optional
        Seals what is written, and refuses what is not sealed by it; see `dumps_signed`.
    context : bytes or str
        What the bytes are for; only with a key.
    compress : {None, "zlib", "zstd", "lz4"}
        Compresses what is written, where it pays. ``"zstd"`` and ``"lz4"`` are extras.
    compress_from : int
        Payloads of fewer bytes are not compressed.
    level : int, optional
        Of the compression, as its library counts: 1 to 9, 1 to 22, 0 to 16.
    checksum : {None, "crc32", "crc32c", "xxh3"}
        Puts a checksum behind what is written, so that damage is a DecodeError. ``"crc32c"`` and ``"xxh3"`` are an
        extra. A seal is one already, so not with a key.

    Raises
    ------
    TypeError, ValueError
        For options that make no sense.
    ImportError
        For a library that is not installed; the message names the extra.

    >>> codec = Codec(key=bytes(range(32)), compress="zlib")
    >>> codec
    Codec(key=<hidden>, compress='zlib')
    >>> data = codec.dumps(["tea", "milk"] * 3)
    >>> codec.loads(data)
    ['tea', 'milk', 'tea', 'milk', 'tea', 'milk']
    >>> codec.loads(data[:-1], default="a miss")
    'a miss'
    """

    __slots__ = (
        "_compressor",
        "_default",
        "_identity",
        "_limits",
        "_options",
        "_order",
        "_outer",
        "_php_seal",
        "_policy",
        "_seal",
        "_wire",
    )

    _compressor: Compressor | None
    _default: Callable[[Any], Any] | None
    _identity: Identity
    _limits: Limits
    _options: dict[str, Any]
    _order: Order
    _outer: Seal | PhpSeal | Checksum | None
    _php_seal: PhpSeal | None
    _policy: Policy
    _seal: Seal | None
    _wire: Wire

    def __init__(
        self,
        *,
        classes: Classes = (),
        key: Key | None = None,
        context: bytes | str = b"",
        compress: Compressions | None = None,
        compress_from: int = COMPRESS_FROM,
        level: int | None = None,
        checksum: Checksums | None = None,
        wire: Wire = "npser",
        order: Order = "insertion",
        identity: Identity = "objects",
        default: Callable[[Any], Any] | None = None,
        numbers: Numbers = "list",
        tables: Tables = "rows",
        copy: Copies = "always",
        unknown: Unknown = "placeholder",
        extra_fields: ExtraFields = "drop",
        strings: Strings = "text",
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        listed = classes if isinstance(classes, (Mapping, str, type)) else tuple(classes)
        one_of("identity", identity, get_args(Identity))
        if compress is not None:
            one_of("compress", compress, get_args(Compressions))
        elif level is not None:
            raise ValueError("a level is of a compression: say which one with compress=")
        if checksum is not None:
            one_of("checksum", checksum, get_args(Checksums))
        if key is None and context:
            raise ValueError("a context is bound to a key, and there is none")
        if key is not None and checksum is not None:
            raise ValueError("a seal finds damage, too: leave out either checksum= or key=")
        one_of("wire", wire, get_args(Wire))
        check_order(order, wire, identity)
        if wire != "npser" and (compress or checksum or context):
            raise ValueError("phpser knows no compression, no checksum and no context: leave them out, or its wire")
        seal = None if key is None else Seal(key, context)
        php_seal = None if key is None or context else PhpSeal(key)
        ready = {
            "_compressor": None if compress is None else Compressor(compress, level, compress_from),
            "_default": default,
            "_limits": limits,
            "_options": given | {"key": None if key is None else _HIDDEN, "classes": listed},
            "_identity": identity,
            "_order": order,
            "_outer": (seal if wire == "npser" else php_seal) if checksum is None else Checksum(checksum),
            "_php_seal": php_seal,
            "_policy": make_policy(listed, numbers, tables, copy, unknown, extra_fields, strings),
            "_seal": seal,
            "_wire": wire,
        }
        for name, value in ready.items():
            object.__setattr__(self, name, value)

    def dumps(self, value: object) -> bytes:
        """Encode a value, then compress it where it pays, then seal it or put a checksum behind it.

        Raises
        ------
        EncodeError
            For what could not be given back exactly.
        """
        if self._order == "canonical":
            payload = encode_canonical(value, self._default)
        else:
            payload = encode_wire(value, self._wire, self._default, self._identity)
        return close_layers(payload, self._compressor, self._outer)

    def loads(self, data: Any, *, default: Any = RAISE, select: Iterable[str] | None = None) -> Any:
        """Decode what `dumps` gave.

        Parameters
        ----------
        data : buffer
            bytes, bytearray, memoryview, mmap: anything contiguous.
        default : object, optional
            Returned where a `SignatureError` would be raised.
        select : iterable of str, optional
            Only these columns, or these keys of a dict; see `npser.loads`.

        Raises
        ------
        SignatureError
            With a key: the bytes are not sealed, or by another key or for another context. Without one: they are
            sealed.
        DecodeError
            For everything else that is wrong with the bytes.
        """
        try:
            if self._seal is not None:
                return read_sealed(data, self._seal, self._php_seal, self._policy, self._limits, select)
            return read(data, self._policy, self._limits, select)
        except SignatureError:
            if default is RAISE:
                raise
            return default

    def dump(self, value: object, file: IO[bytes]) -> None:
        """`dumps` into a binary file object, as one frame."""
        write_frame(file, self.dumps(value))

    def load(self, file: IO[bytes], *, default: Any = RAISE, select: Iterable[str] | None = None) -> Any:
        """`loads` of the next frame of a binary file object, or of a file that is one bare payload."""
        return self.loads(read_frame(file, bare="rest"), default=default, select=select)

    def view(self, data: Any, *, numbers: Numbers = "array") -> View:
        """Look inside what `dumps` gave without decoding all of it; see `npser.view`.

        Envelopes are opened as in `loads`, so what is sealed is verified first, and what is compressed is inflated.

        Parameters
        ----------
        data : buffer
            What is neither sealed nor compressed is not copied.
        numbers : {"array", "list"}
            What a column of numbers comes as.

        >>> Codec(compress="zlib").view(Codec(compress="zlib").dumps([{"id": i} for i in range(99)]))["id"].sum()
        np.int64(4851)
        """
        one_of("numbers", numbers, get_args(Numbers))
        if self._seal is not None:
            data = open_sealed(data, self._seal, self._php_seal, self._limits)
        return open_view(data, replace(self._policy, numbers="list", tables="rows"), numbers, self._limits)

    def _given(self) -> dict[str, Any]:
        defaults = Codec.__init__.__kwdefaults__ or {}
        return {name: value for name, value in self._options.items() if value != defaults[name]}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._given().items())})"

    def __setattr__(self, name: str, _value: object) -> NoReturn:
        raise AttributeError(f"a Codec cannot be changed: {name} is an argument of its constructor")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Codec cannot be changed: {name} is an argument of its constructor")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[[], Self], tuple[()]]:
        if self._seal is not None:
            raise TypeError("a Codec with a key is not pickled, for the key would be in the pickle; make a new one")
        return partial(type(self), **self._given()), ()
