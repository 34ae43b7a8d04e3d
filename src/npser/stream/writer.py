"""Many values into one file, pipe or socket, a frame each.

Strategy: a value is encoded before the first byte of its frame is written, so one that cannot be encoded leaves no
trace. When writing itself fails, nobody knows how much of the frame is in the file, and the writer refuses to go on:
the next frame would stand behind a broken one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, Protocol, Self, get_args

from npser import codec as plain
from npser.choices import one_of
from npser.stream.boundary import as_stream
from npser.stream.frames import write_parts
from npser.stream.layout import MAX_FRAME, frame_parts

__all__ = ["Encoder", "StreamWriter", "Sync"]

Sync = Literal["buffer", "flush", "fsync"]
"""What happens after each frame: nothing, so that the last ones may be lost with the process; the file object hands it
to the system, so that it survives the process; or the system hands it to the disk, so that it survives the machine."""


class Encoder(Protocol):
    """What a writer encodes with: a Codec, or anything else with its `dumps`."""

    def dumps(self, value: Any, /) -> bytes:
        """The payload of a value."""
        ...


class StreamWriter:
    """Write values to a binary file object or stream, a frame each.

    Parameters
    ----------
    file : binary file object or BinaryStream
        Written to from where it stands. It is not closed: who opened it closes it.
    sync : {"flush", "buffer", "fsync"}
        After each frame: hand it to the system, leave it in the file object's buffer, or wait until it is on the disk.
    max_frame : int
        Refuse longer payloads, because readers would.
    codec : object, optional
        Its `dumps` encodes the values.
    **options
        Those of `npser.dumps`, in place of a codec.

    Attributes
    ----------
    frames : int
        Frames written.

    >>> import io
    >>> from npser.stream.reader import StreamReader
    >>> file = io.BytesIO()
    >>> with StreamWriter(file) as writer:
    ...     writer.write({"a": 1})
    ...     writer.write([2])
    >>> list(StreamReader(io.BytesIO(file.getvalue())))
    [{'a': 1}, [2]]
    """

    def __init__(
        self,
        file: Any,
        *,
        sync: Sync = "flush",
        max_frame: int = MAX_FRAME,
        codec: Encoder | None = None,
        **options: Any,
    ) -> None:
        one_of("sync", sync, get_args(Sync))
        self.frames = 0
        self._stream = as_stream(file)
        if not self._stream.writable():
            raise TypeError("a StreamWriter needs a file that is open for writing")
        self._sync: Callable[[], None] = _SYNCS[sync](file, self._stream.flush)
        self._max_frame = max_frame
        self._dumps: Callable[..., bytes] = plain.dumps if codec is None else codec.dumps
        self._options = options
        if codec is None:
            plain.dumps(None, **options)  # refuses a wrong option now, and not at the first value
        self._state: Literal["open", "broken", "closed"] = "open"

    @property
    def position(self) -> int:
        """Where the next frame begins."""
        return self._stream.position

    def write(self, value: object) -> None:
        """Encode a value and write it. `EncodeError` where it cannot be encoded, and then nothing is written."""
        self.write_payload(self._dumps(value, **self._options))

    def write_payload(self, payload: Any) -> None:
        """Write bytes that are encoded already.

        Raises
        ------
        EncodeError
            When they are too many.
        OSError
            When the file cannot take them. Then the writer is at its end.
        ValueError
            When it is closed, or at its end.
        """
        self._check_open()
        header, stored = frame_parts(payload, max_frame=self._max_frame)
        try:
            write_parts(self._stream, header, stored)
            self._sync()
        except BaseException:
            self._state = "broken"
            raise
        self.frames += 1

    def flush(self) -> None:
        """Hand what was written to the system."""
        self._check_open()
        self._stream.flush()

    def close(self) -> None:
        """Hand what was written on, as `sync` says. The file stays open."""
        if self._state == "open":
            self._stream.flush()
            self._sync()
        self._state = "closed"

    def _check_open(self) -> None:
        if self._state == "broken":
            raise ValueError("writing a frame has failed before; open the file again with mode='append', tail='cut'")
        if self._state == "closed":
            raise ValueError("this StreamWriter is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


def _fsync(file: Any, flush: Callable[[], None]) -> Callable[[], None]:
    number = file.fileno()

    def sync() -> None:
        flush()
        os.fsync(number)

    return sync


_SYNCS: dict[str, Callable[[Any, Callable[[], None]], Callable[[], None]]] = {
    "buffer": lambda file, flush: _do_nothing,
    "flush": lambda file, flush: flush,
    "fsync": _fsync,
}


def _do_nothing() -> None:
    pass
