"""Values out of a file, pipe or socket of frames, one at a time.

Strategy: the parser does the work; here it gets a stream to read from and a codec to hand payloads to. A payload that
is whole but cannot be decoded is no damage: the error goes to the caller, with the place of the frame as a note, and
the next call goes on behind that frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from npser import codec as plain
from npser.errors import NpserError
from npser.stream.boundary import as_stream
from npser.stream.choices import Damaged, Tail
from npser.stream.frames import next_payload
from npser.stream.layout import MAX_FRAME
from npser.stream.parser import FrameParser, Skipped

__all__ = ["Decoder", "StreamReader", "bind_loads", "decode_frame"]


class Decoder(Protocol):
    """What a reader decodes with: a Codec, or anything else with its `loads`."""

    def loads(self, data: Any, /) -> Any:
        """The value of a payload."""
        ...


def bind_loads(codec: Decoder | None, options: Mapping[str, Any]) -> Callable[[bytes], Any]:
    """`loads` with its options, which are tried on a payload at once.

    >>> bind_loads(None, {"tables": "column"})
    Traceback (most recent call last):
        ...
    ValueError: tables is one of 'rows', 'columns', not 'column'
    """
    loads: Callable[..., Any] = plain.loads if codec is None else codec.loads
    bound = dict(options)
    if "classes" in bound and not isinstance(bound["classes"], Mapping):
        bound["classes"] = tuple(bound["classes"])  # which may be an iterator, and is asked for each payload
    select = bound.get("select")
    if select is not None and not isinstance(select, str):
        select = bound["select"] = tuple(select)
    if codec is None:
        loads(plain.dumps({name: None for name in select or () if isinstance(name, str)}), **bound)
    return lambda payload: loads(payload, **bound)


def decode_frame(loads: Callable[[bytes], Any], payload: bytes, start: int) -> Any:
    """The value of a payload; an error says in which frame it was."""
    try:
        return loads(payload)
    except NpserError as error:
        error.add_note(f"in the frame at byte {start}")
        raise


class StreamReader:
    """Read the values of a binary file object or stream of frames, by iterating over it.

    Parameters
    ----------
    file : binary file object or BinaryStream
        Read from where it stands, and never beyond the frame that is asked for (but while looking for a sound one). It
        is not closed: who opened it closes it.
    damaged : {"raise", "skip"}
        ``"raise"`` is a `DecodeError` at bytes that are no sound frame. ``"skip"`` goes on at the next sound frame, and
        `skipped` says what was left out.
    tail : {"raise", "ignore"}
        What happens when the last frame is cut off, after the sound ones: a `TruncatedError`, or the end. In both cases
        `position` says where it begins.
    max_frame : int
        Refuse longer payloads before anything is read of them.
    codec : object, optional
        Its `loads` decodes the values.
    **options
        Those of `npser.loads`, in place of a codec.

    An error of `loads` (a class that is not allowed, a limit) is raised whatever `damaged` says, and the next step of
    the iteration goes on behind that frame. Where more was appended to the file since the end was reached, so does the
    next step after the end.

    >>> import io
    >>> from npser.stream.layout import frame_bytes
    >>> from npser.codec import dumps
    >>> data = b"".join(frame_bytes(dumps(value)) for value in ("a", "b", "c"))
    >>> damaged = data[:40] + b"?" + data[41:]
    >>> reader = StreamReader(io.BytesIO(damaged[:-1]), damaged="skip", tail="ignore")
    >>> list(reader), reader.frames, reader.position
    (['a'], 1, 58)
    >>> reader.skipped
    [Skipped(start=29, stop=58, reason='the header of a frame is damaged')]
    """

    def __init__(
        self,
        file: Any,
        *,
        damaged: Damaged = "raise",
        tail: Tail = "raise",
        max_frame: int = MAX_FRAME,
        codec: Decoder | None = None,
        **options: Any,
    ) -> None:
        self._stream = as_stream(file)
        if not self._stream.readable():
            raise TypeError("a StreamReader needs a file that is open for reading")
        self._parser = FrameParser(position=self._stream.position, max_frame=max_frame, damaged=damaged, tail=tail)
        self._loads = bind_loads(codec, options)

    @property
    def position(self) -> int:
        """Where the last sound frame ends, and so the next one begins."""
        return self._parser.position

    @property
    def start(self) -> int:
        """Where the last sound frame begins."""
        return self._parser.start

    @property
    def frames(self) -> int:
        """Sound frames so far."""
        return self._parser.frames

    @property
    def skipped(self) -> list[Skipped]:
        """Where the damage was, so far: start, stop and reason."""
        return self._parser.skipped

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        payload = next_payload(self._stream, self._parser)
        if payload is None:
            raise StopIteration
        return decode_frame(self._loads, payload, self._parser.start)

    def payloads(self) -> Iterator[bytes]:
        """The payloads from here on, not decoded."""
        while (payload := next_payload(self._stream, self._parser)) is not None:
            yield payload

    def close(self) -> None:
        """Nothing: the file is the caller's."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()
