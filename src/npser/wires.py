"""The families of payloads: npser's own, and phpser's. Which one bytes are of is said by their first byte.

Strategy: npser's own is tried at once, for it is what a cache holds; what turns out to begin with the version of phpser
is handed to its reader. A phpser payload that is signed has its MAC behind it and nothing in front, so it is told in
the same way.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, get_args

from npser import phpser
from npser.decoder import decode, open_buffer
from npser.encoder import encode
from npser.envelope.layers import INSIDE_A_SEAL, open_layers
from npser.envelope.seal import Key, Seal, checked_keys
from npser.errors import DecodeError, ForeignBytesError, LimitError, SignatureError
from npser.limits import Limits
from npser.partial.opening import select_columns
from npser.shapes.policy import Policy

__all__ = [
    "PhpSeal",
    "Wire",
    "decode_wire",
    "encode_wire",
    "is_phpser",
    "open_sealed",
    "read",
    "read_phpser",
    "read_sealed",
]

Wire = Literal["npser", "phpser", "phpser1"]

VERSIONS: Final = (1, 2)
"""First bytes of phpser payloads; npser's own begin with 0xC1."""

_FIRST_BYTES: Final = frozenset(bytes((version,)) for version in VERSIONS)

MAC_SIZE = 32

Encode = Callable[[Any, "Callable[[Any], Any] | None", Literal["objects", "preserve"]], bytes]

_ENCODERS: Final[dict[str, Encode]] = {
    "npser": lambda value, default, identity: encode(value, default=default, preserve=identity == "preserve"),
    "phpser": lambda value, default, identity: phpser.write(value, version=2, default=default, identity=identity),
    "phpser1": lambda value, default, identity: phpser.write(value, version=1, default=default, identity=identity),
}

assert tuple(_ENCODERS) == get_args(Wire)


def encode_wire(
    value: Any, wire: Wire, default: Callable[[Any], Any] | None, identity: Literal["objects", "preserve"]
) -> bytes:
    """One payload of a family."""
    return _ENCODERS[wire](value, default, identity)


def is_phpser(data: bytes | memoryview) -> bool:
    """Whether bytes are a payload of phpser, if they are one of any family."""
    return len(data) > 0 and data[0] in VERSIONS


def decode_wire(data: Any, policy: Policy, limits: Limits) -> Any:
    """Decode one payload of any family.

    Raises
    ------
    DecodeError
        And nothing else, whatever the bytes are.
    """
    if type(data) is not bytes or data[:1] not in _FIRST_BYTES:
        try:
            return decode(data, policy, limits)
        except ForeignBytesError:
            if not is_phpser(open_buffer(data)):
                raise
    return read_phpser(open_buffer(data), policy, limits, "ignore")


def read_phpser(buf: memoryview, policy: Policy, limits: Limits, trailing: phpser.Trailing) -> Any:
    """Decode one payload of phpser."""
    if len(buf) > limits.bytes:
        raise LimitError(f"a payload of {len(buf)} bytes, and Limits(bytes={limits.bytes})")
    return phpser.read(
        buf,
        allow=policy.classes,
        limits=limits,
        strings=policy.strings,
        trailing=trailing,
        unknown=policy.unknown,
    )


def _mac(state: hmac.HMAC, frame: bytes | memoryview) -> bytes:
    state = state.copy()
    state.update(frame)
    return state.digest()


class PhpSeal:
    """The keys that sign payloads of phpser: a raw HMAC-SHA256 of the payload behind it, as the extension does.

    Parameters
    ----------
    key : bytes, or sequence of bytes
        Of 16 bytes or more each. The first one signs, all of them verify.

    >>> seal = PhpSeal(bytes(16))
    >>> bytes(seal.open(seal.close(bytes.fromhex("0100 02")))).hex(" ")
    '01 00 02'
    """

    __slots__ = ("_states",)

    def __init__(self, key: Key) -> None:
        self._states = tuple(hmac.new(one, digestmod="sha256") for one in checked_keys(key))

    def __repr__(self) -> str:
        return f"<PhpSeal of {len(self._states)} keys>"

    def __reduce__(self) -> str:
        raise TypeError("a seal is not pickled, for its keys would be in the pickle")

    def close(self, frame: bytes) -> bytes:
        """The payload and its MAC."""
        return frame + _mac(self._states[0], frame)

    def open(self, data: bytes) -> memoryview:
        """The payload, once its MAC is verified with every key.

        Raises
        ------
        SignatureError
            It is not signed by any of them.
        """
        frame, mac = memoryview(data)[:-MAC_SIZE], data[-MAC_SIZE:]
        fits = 0
        for state in self._states:  # all of them, whichever fits
            fits += hmac.compare_digest(_mac(state, frame), mac)
        if not fits or not is_phpser(frame):
            raise SignatureError("the bytes are not signed with any of the keys")
        return frame


def read(data: Any, policy: Policy, limits: Limits, select: Iterable[str] | None) -> Any:
    """The value of a payload of any family, or only some columns of it, as ``loads(select=...)`` gives them."""
    return decode_wire(data, policy, limits) if select is None else select_columns(data, select, policy, limits)


def open_sealed(data: Any, seal: Seal, php_seal: PhpSeal | None, limits: Limits) -> memoryview:
    """The payload in a seal, out of all envelopes; without a seal of phpser, its payloads do not verify.

    Raises
    ------
    SignatureError
        The bytes are not sealed so.
    """
    # bytes, so that nobody who shares the buffer changes it between verifying and parsing
    data = data if type(data) is bytes else bytes(open_buffer(data))
    if php_seal is not None and is_phpser(data):
        return php_seal.open(data)
    payload = open_layers(seal.open(data), limits, INSIDE_A_SEAL)
    if is_phpser(payload):
        raise DecodeError("a payload of phpser in a seal that it does not have", pos=0)
    return payload


def read_sealed(
    data: Any, seal: Seal, php_seal: PhpSeal | None, policy: Policy, limits: Limits, select: Iterable[str] | None
) -> Any:
    """What `read` gives, of sealed bytes; nothing is parsed before they are verified."""
    payload = open_sealed(data, seal, php_seal, limits)
    if select is None and is_phpser(payload):
        return read_phpser(payload, policy, limits, "refuse")
    return read(payload, policy, limits, select)
