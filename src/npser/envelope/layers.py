"""Envelopes in their order: compress, then checksum or seal; and back.

Strategy: a table says what opens each envelope and which others may stand inside it. A payload may stand in all of
them, nothing in a payload, so there are three layers at most. A sealed envelope is not in the table: it opens with its
key or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final, NamedTuple, Protocol

from npser.envelope.checksum import open_checked
from npser.envelope.codes import EnvelopeCode
from npser.envelope.compression import Compressor, open_compressed
from npser.errors import DecodeError, SignatureError
from npser.limits import Limits
from npser.tags import MAGIC

__all__ = ["INSIDE_A_SEAL", "Closes", "close_layers", "open_layers"]


class Closes(Protocol):
    """What puts inner bytes into an envelope: a `Seal` or a `Checksum`."""

    def close(self, inner: bytes) -> bytes:
        """The envelope."""


class _Layer(NamedTuple):
    open: Callable[[memoryview, Limits], memoryview]
    inside: Container[int]


_LAYERS: Final[dict[int, _Layer]] = {
    EnvelopeCode.CHECKED: _Layer(lambda buf, _limits: open_checked(buf), (EnvelopeCode.COMPRESSED,)),
    EnvelopeCode.COMPRESSED: _Layer(open_compressed, ()),
}

OUTERMOST: Final[Container[int]] = tuple(EnvelopeCode)
INSIDE_A_SEAL: Final[Container[int]] = (EnvelopeCode.COMPRESSED,)

_CODES: Final = frozenset(map(int, EnvelopeCode))


def close_layers(payload: bytes, compressor: Compressor | None, outer: Closes | None) -> bytes:
    """A payload, compressed if there is a compressor and it pays, then checked or sealed if there is an `outer`."""
    inner = payload if compressor is None else compressor.close(payload)
    return inner if outer is None else outer.close(inner)


def open_layers(buf: memoryview, limits: Limits, allowed: Container[int] = OUTERMOST) -> memoryview:
    """What is left of the bytes when all envelopes are open: mostly a payload, in any case no envelope.

    Parameters
    ----------
    allowed : container of EnvelopeCode
        Which envelopes the bytes may be.

    Raises
    ------
    DecodeError
        An envelope is malformed, or inside of one that it may not be in.
    LimitError
        The limits do not allow to decompress as much.
    SignatureError
        The bytes are sealed.
    """
    while len(buf) > 1 and buf[0] == MAGIC and buf[1] in _CODES:
        code = EnvelopeCode(buf[1])
        if code not in allowed:
            raise DecodeError(f"a {code.name.lower()} envelope inside of another where it may not be", pos=1)
        if code is EnvelopeCode.SEALED:
            raise SignatureError("these bytes are sealed: loads_signed(data, key) or a Codec with the key reads them")
        layer = _LAYERS[code]
        buf, allowed = layer.open(buf, limits), layer.inside
    return buf
