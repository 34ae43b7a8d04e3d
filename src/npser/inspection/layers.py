"""The envelopes around a payload: what each is and how many of the bytes, without a key.

Strategy: a table, total over the codes of envelopes, says where the inner bytes are. A seal is shown and stepped over:
nothing of it can be verified here, and the report says so. A checksum is tried, and one that does not fit is the error
of a report that goes on to look inside. What is compressed is decompressed within the limits.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final, NamedTuple

from npser.blocks.cursor import Cursor
from npser.envelope.checksum import CHECKSUMS, open_checked
from npser.envelope.codes import CompressionCode, EnvelopeCode, SealCode
from npser.envelope.compression import open_compressed
from npser.errors import DecodeError, NpserError, TruncatedError
from npser.inspection.pieces import Piece
from npser.limits import Limits
from npser.tags import MAGIC

__all__ = ["LAYERS", "Layer", "Opened", "open_envelopes"]

HEADER: Final = 3
MAC: Final = {int(SealCode.HMAC_SHA256): 32}
CHECKS: Final = {int(way.code): (name, way.size) for name, way in CHECKSUMS.items()}


class Layer(NamedTuple):
    """One envelope.

    Parameters
    ----------
    name : str
        ``sealed``, ``checked`` or ``compressed``.
    piece : Piece
        Tiles it; its positions count from its own first byte.
    inner : memoryview | None
        What is inside, if it could be had.
    note : str
        What is to be said of it.
    error : NpserError | None
    """

    name: str
    piece: Piece
    inner: memoryview | None
    note: str
    error: NpserError | None = None

    @property
    def nbytes(self) -> int:
        """Its bytes, with all that is inside as it is stored there."""
        return self.piece.stop


class Opened(NamedTuple):
    """All envelopes, from the outside in, and the payload, if there is a way to it."""

    layers: tuple[Layer, ...]
    payload: memoryview | None
    error: NpserError | None


def open_envelopes(buf: memoryview, limits: Limits) -> Opened:
    """Look through envelopes as far as they can be seen through.

    >>> import npser
    >>> sealed = npser.dumps_signed(7, bytes(32))
    >>> [(layer.name, layer.note) for layer in open_envelopes(memoryview(sealed), limits=Limits()).layers]
    [('sealed', 'HMAC-SHA256, nothing was verified')]
    """
    layers: list[Layer] = []
    error: NpserError | None = None
    allowed: Container[int] = LAYERS
    inner: memoryview | None = buf
    while inner is not None and len(inner) > 1 and inner[0] == MAGIC and inner[1] in LAYERS:
        code = EnvelopeCode(inner[1])
        if code not in allowed:
            return Opened(
                tuple(layers),
                inner,
                DecodeError(f"a {code.name.lower()} envelope inside of another where it may not be", pos=1),
            )
        open_layer, allowed = LAYERS[code]
        piece = Piece(0, f"{code.name.lower()} envelope", len(inner))
        try:
            layer = open_layer(piece, inner, limits)
        except NpserError as reason:
            layer = Layer(code.name.lower(), piece, None, str(reason), reason)
        layers.append(layer)
        error = error or layer.error
        inner = layer.inner
    return Opened(tuple(layers), inner, error)


def _between(piece: Piece, buf: memoryview, size: int, what: str) -> memoryview:
    """The bytes between the header and so many at the end."""
    stop = len(buf) - size
    if stop < HEADER:
        raise TruncatedError(f"the {what} is cut off", pos=len(buf))
    piece.add(0, "header", HEADER)
    piece.add(HEADER, "inside", stop)
    piece.add(stop, what, len(buf))
    return buf[HEADER:stop]


def _sealed(piece: Piece, buf: memoryview, _limits: Limits) -> Layer:
    size = MAC.get(buf[2] if len(buf) > 2 else 0)
    if size is None:
        raise DecodeError("the seal is cut off, or of a form that this npser does not know", pos=2)
    return Layer("sealed", piece, _between(piece, buf, size, "MAC"), "HMAC-SHA256, nothing was verified")


def _checked(piece: Piece, buf: memoryview, _limits: Limits) -> Layer:
    name, size = CHECKS.get(buf[2] if len(buf) > 2 else 0, ("", 0))
    if not name:
        raise DecodeError("the checksum is cut off, or of a kind that this npser does not know", pos=2)
    inner = _between(piece, buf, size, "checksum")
    try:
        open_checked(buf)
    except DecodeError as error:
        return Layer("checked", piece, inner, f"{name}: {error.message}", error)
    return Layer("checked", piece, inner, f"{name}, which fits")


def _compressed(piece: Piece, buf: memoryview, limits: Limits) -> Layer:
    cursor = Cursor(buf, 2)
    code = cursor.u8()
    size = cursor.uvarint()
    piece.add(0, "header", cursor.pos)
    piece.add(cursor.pos, "compressed", len(buf))
    inner = open_compressed(buf, limits)
    name = CompressionCode(code).name.lower()
    return Layer("compressed", piece, inner, f"{name}, {size:,} bytes inside, {size / max(1, len(buf)):.1f} x")


LAYERS: Final[dict[int, tuple[Callable[[Piece, memoryview, Limits], Layer], Container[int]]]] = {
    EnvelopeCode.SEALED: (_sealed, (EnvelopeCode.COMPRESSED,)),
    EnvelopeCode.CHECKED: (_checked, (EnvelopeCode.COMPRESSED,)),
    EnvelopeCode.COMPRESSED: (_compressed, ()),
}
"""Code -> what opens the envelope, and which others may stand inside; total."""
