"""Frames out of bytes that come in pieces: the state of a reader, without any reading.

Strategy: whoever has bytes feeds them, whoever wants payloads pops them, and `wanted` says how many bytes are missing,
so that nothing beyond a frame is ever read in order to read it. The same parser so serves files, sockets and asyncio.
What it holds is at most one frame; memory grows with the bytes that are there, not with those that a header announces.

When it skips damage it trusts the marker alone. It goes on right behind the place at fault and takes the next marker
that begins a sound frame, also when that lies inside a frame that had not come to its end: no sound payload holds a
marker, so that frame was cut off there. So a lie about a length costs nothing, and the time is linear in the bytes.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, get_args

from npser.choices import one_of
from npser.errors import DecodeError, TruncatedError
from npser.stream.choices import Damaged, Tail
from npser.stream.layout import HEADER_SIZE, MARKER, MAX_FRAME, Header, open_payload, read_header

__all__ = ["FrameParser", "Skipped"]

SCAN: Final = 1 << 16
"""Bytes to ask for while looking for a marker."""


class Skipped(NamedTuple):
    """Bytes that are no sound frame: from `start` up to `stop`, and what was wrong at the start."""

    start: int
    stop: int
    reason: str


class FrameParser:
    """Bytes in, payloads out.

    Parameters
    ----------
    position : int
        Where in its file the first byte stands.
    max_frame : int
        Longer payloads are refused before anything is read of them.
    damaged : {"raise", "skip"}
        ``"skip"`` goes on with the next sound frame, and keeps account of it in `skipped`.
    tail : {"raise", "ignore"}
        What `end` does when the last frame is cut off.

    Attributes
    ----------
    position : int
        Where the last sound frame ends, or where the search for the next one has come to.
    start : int
        Where the last sound frame begins.
    frames : int
        Sound frames so far.
    skipped : list[Skipped]
        The damage so far.

    >>> from npser.stream.layout import frame_bytes
    >>> parser = FrameParser()
    >>> parser.feed(frame_bytes(b"abc") + frame_bytes(b"d")[:-1])
    >>> parser.pop(), parser.pop(), parser.position, parser.wanted
    (b'abc', None, 27, 1)
    """

    __slots__ = (
        "_data", "_header", "_lost", "_searched", "damaged", "frames", "max_frame", "position", "skipped",
        "start", "tail",
    )  # fmt: skip

    def __init__(
        self, *, position: int = 0, max_frame: int = MAX_FRAME, damaged: Damaged = "raise", tail: Tail = "raise"
    ) -> None:
        one_of("damaged", damaged, get_args(Damaged))
        one_of("tail", tail, get_args(Tail))
        self.position = self.start = position
        self.max_frame = max_frame
        self.damaged = damaged
        self.tail = tail
        self.frames = 0
        self.skipped: list[Skipped] = []
        self._data = bytearray()  # what is held, from `position` on
        self._header: Header | None = None
        self._searched = 0  # up to where in `_data` no marker is inside the frame
        self._lost: DecodeError | None = None  # what was wrong, until the next sound frame

    @property
    def wanted(self) -> int:
        """How many bytes are missing, at least one; all of this frame, unless it is looking for one."""
        if self._lost is not None and len(self._data) < len(MARKER):
            return SCAN
        return HEADER_SIZE + (self._header.length if self._header else 0) - len(self._data)

    @property
    def at_rest(self) -> bool:
        """Whether it stands between two frames and would stop at damage: then `accept` takes whole frames.

        One that skips damage has to see the bytes as they come: a marker among them ends the frame.
        """
        return not self._data and self._lost is None and self.damaged == "raise"

    def header_of(self, head: bytes) -> Header | None:
        """What a header says, or None where it is none to go by; `pop` says why."""
        try:
            return read_header(head, max_frame=self.max_frame) if len(head) == HEADER_SIZE else None
        except DecodeError:
            return None

    def accept(self, header: Header, stored: bytes) -> bytes | None:
        """The payload of a frame that is whole, or None where it is not sound; `pop` says why."""
        if len(stored) != header.length:
            return None
        try:
            payload = open_payload(header, stored)
        except DecodeError:
            return None
        self.start = self.position
        self.position += HEADER_SIZE + header.length
        self.frames += 1
        return payload

    def feed(self, data: Any) -> None:
        """Take bytes, any number of them."""
        self._data += data

    def pop(self) -> bytes | None:
        """The next payload, or None when more bytes are wanted.

        Raises
        ------
        DecodeError
            When no sound frame begins at `position` and damage is not to be skipped. Another call raises it again.
        """
        while True:
            try:
                if self._lost is not None and self._header is None and not self._find_marker():
                    return None
                if self._header is None:
                    if len(self._data) < HEADER_SIZE:
                        return None
                    head = bytes(self._data[:HEADER_SIZE])
                    self._header = read_header(head, pos=self.position, max_frame=self.max_frame)
                    self._searched = HEADER_SIZE
                end = HEADER_SIZE + self._header.length
                if self.damaged == "skip":
                    self._search_inside(end)
                if len(self._data) < end:
                    return None
                with memoryview(self._data) as view:
                    stored = bytes(view[HEADER_SIZE:end])
                payload = open_payload(self._header, stored, pos=self.position)
            except DecodeError as error:
                if self.damaged == "raise":
                    raise
                self._lose(error)
                continue
            self._found()
            self.start = self.position
            self._drop(end)
            self.frames += 1
            return payload

    def end(self) -> None:
        """Say that no more bytes come. What is held then is the beginning of a frame, or of none.

        Raises
        ------
        TruncatedError
            When the last frame is cut off, unless that is to be ignored; ``pos`` and `position` are where it begins.
        DecodeError
            When those bytes are no frame, and damage is not to be skipped.
        """
        if not MARKER.startswith(self._data[: len(MARKER)]):
            if self.damaged == "raise":
                head = bytes(self._data[:HEADER_SIZE])
                read_header(head.ljust(HEADER_SIZE, b"\0"), pos=self.position, max_frame=self.max_frame)
            self._lose(DecodeError("no frame begins here", pos=self.position))
            self._find_marker()
        self._found()
        held = len(self._data)
        if held and self.tail == "raise":
            size = f" of {HEADER_SIZE + self._header.length}" if self._header else ""
            raise TruncatedError(f"the last frame is cut off: {held}{size} bytes of it are there", pos=self.position)

    def _find_marker(self) -> bool:
        at = self._data.find(MARKER)
        keep = len(MARKER) - 1
        self._drop(at if at >= 0 else self._last_bytes(keep))
        return at >= 0

    def _last_bytes(self, keep: int) -> int:
        """How many bytes cannot be the beginning of a marker that has not come yet."""
        held = len(self._data)
        return next(at for at in range(max(held - keep, 0), held + 1) if MARKER.startswith(self._data[at:]))

    def _search_inside(self, end: int) -> None:
        stop = min(end, len(self._data))
        at = self._data.find(MARKER, self._searched, stop)
        if at >= 0:
            raise DecodeError("a frame is cut off by another one", pos=self.position)
        self._searched = max(HEADER_SIZE, stop - len(MARKER) + 1)

    def _lose(self, error: DecodeError) -> None:
        self._lost = self._lost or error
        self._header = None
        self._drop(1)

    def _found(self) -> None:
        """Whatever was skipped ends here."""
        if self._lost is not None:
            start = self._lost.pos or 0
            self.skipped.append(Skipped(start, self.position, self._lost.message))
            self._lost = None

    def _drop(self, n: int) -> None:
        del self._data[:n]
        self.position += n
        self._header = None
