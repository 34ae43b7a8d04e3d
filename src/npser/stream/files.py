"""Files of frames: made whole or not at all, or appended to in place.

Strategy: a new file is written beside its final place under a temporary name, put on the disk and renamed when it is
complete, so that nobody ever sees a part of it, and an error leaves what was there before. Appending works in the
file itself, since a frame that is cut off costs nobody the frames before it; first the end of the file is looked at.
Where the system has locks, a file that is appended to is locked: a second writer would take a frame that is being
written for a broken one.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Literal, Protocol, TypeAlias, get_args

from npser.choices import one_of
from npser.errors import TruncatedError
from npser.stream.boundary import FileStream
from npser.stream.choices import Damaged, Tail
from npser.stream.layout import MAX_FRAME
from npser.stream.parser import Skipped
from npser.stream.reader import Decoder, StreamReader
from npser.stream.tail import find_end
from npser.stream.writer import Encoder, StreamWriter, Sync

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

__all__ = ["AppendTail", "FileReader", "FileWriter", "Mode", "open_reader", "open_writer"]

PathLike: TypeAlias = str | os.PathLike[str]

Mode = Literal["create", "append"]
"""A new file, which takes the place of the one of that name when it is complete; or more frames behind those it has."""

AppendTail = Literal["raise", "cut"]
"""What happens at a last frame that is broken where another one is to be appended: an error, or it is cut off."""


class Place(Protocol):
    """Where a writer's file comes from and where it goes."""

    file: BinaryIO
    cut: Skipped | None

    def keep(self) -> None:
        """Everything is written."""

    def discard(self) -> None:
        """Something went wrong."""


class _Created:
    """A file under a temporary name until it is kept."""

    cut: Skipped | None = None

    def __init__(self, path: PathLike) -> None:
        self._target = Path(os.path.realpath(path))
        if self._target.exists() and not self._target.is_file():
            raise ValueError(f"{path} is no regular file and cannot be replaced; open it, and use a StreamWriter")
        self._temporary = self._target.with_name(f".{self._target.name}.{os.urandom(4).hex()}.tmp")
        self.file: BinaryIO = open(self._temporary, "xb")  # noqa: SIM115 - closed by keep and discard

    def keep(self) -> None:
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            if self._target.exists():
                self._temporary.chmod(stat.S_IMODE(self._target.stat().st_mode))
            os.replace(self._temporary, self._target)
        except BaseException:
            self.discard()
            raise
        _fsync_folder(self._target.parent)

    def discard(self) -> None:
        try:
            self.file.close()
        finally:
            self._temporary.unlink(missing_ok=True)


class _Appended:
    """A file that is written to in place, from the end of its last sound frame on."""

    def __init__(self, path: PathLike, tail: AppendTail, max_frame: int) -> None:
        # not mode "a", which could not look at the end, nor cut it off
        self.file: BinaryIO = open(os.open(path, os.O_RDWR | os.O_CREAT | _BINARY, 0o666), "r+b")  # noqa: SIM115
        try:
            _lock(self.file, path)
            self.cut: Skipped | None = _prepare(self.file, tail, max_frame)
        except BaseException:
            self.file.close()
            raise

    def keep(self) -> None:
        self.file.close()

    def discard(self) -> None:
        self.file.close()


_BINARY: Final[int] = getattr(os, "O_BINARY", 0)


def _lock(file: BinaryIO, path: PathLike) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BlockingIOError(error.errno, "another writer is appending to this file", os.fspath(path)) from None
    except OSError:  # a file system without locks
        return


def _prepare(file: BinaryIO, tail: AppendTail, max_frame: int) -> Skipped | None:
    end = find_end(file, max_frame=max_frame)
    size = file.seek(0, os.SEEK_END)
    if end.broken is None:
        return None
    if tail == "raise":
        raise TruncatedError(
            f"{end.broken.message}; tail='cut' cuts {size - end.position} bytes off before it appends", pos=end.position
        )
    file.truncate(end.position)
    file.seek(end.position)
    return Skipped(end.position, size, end.broken.message)


def _fsync_folder(folder: Path) -> None:
    """Put the renaming on the disk, where a folder can be opened to that end."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(number)
    except OSError:
        pass
    finally:
        os.close(number)


class FileWriter(StreamWriter):
    """A `StreamWriter` that owns its file; see `open_writer`.

    Attributes
    ----------
    cut : Skipped | None
        What was cut off before appending.
    """

    def __init__(self, place: Place, **options: Any) -> None:
        self._place = place
        try:
            super().__init__(place.file, **options)
        except BaseException:
            place.discard()
            raise
        self.cut = place.cut

    def close(self) -> None:
        """Complete the file. One whose writing has failed is given up instead, with a ValueError."""
        state, self._state = self._state, "closed"
        if state == "open":
            self._place.keep()
        elif state == "broken":
            self._place.discard()
            raise ValueError("writing a frame has failed before, so this file is given up")

    def discard(self) -> None:
        """Give up: a new file is removed. One that was appended to keeps its frames."""
        self._state = "closed"
        self._place.discard()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


class FileReader(StreamReader):
    """A `StreamReader` that owns its file; see `open_reader`."""

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


def open_writer(
    path: PathLike,
    mode: Mode = "create",
    *,
    tail: AppendTail = "raise",
    sync: Sync | None = None,
    max_frame: int = MAX_FRAME,
    codec: Encoder | None = None,
    **options: Any,
) -> FileWriter:
    """Write a file of frames.

    Parameters
    ----------
    path : path
        Where the file is, or will be.
    mode : {"create", "append"}
        ``"create"`` writes a new file, which takes the place of one that exists when it is complete, and not before: at
        the end of the ``with`` block, or when `close` is called. After an error, everything is as it was.
        ``"append"`` adds to a file of frames, or begins one, in place: each frame is there as soon as it is written.
    tail : {"raise", "cut"}
        When appending to a file whose last frame is broken: an error, or cut it off; `cut` says what was there.
    sync : {"buffer", "flush", "fsync"}, optional
        After each frame: see `StreamWriter`. ``"flush"`` when appending, ``"buffer"`` when creating, where the whole
        file is put on the disk before it is renamed.
    max_frame, codec, **options
        See `StreamWriter`.

    Use it in a ``with`` block, or call `close` or `discard` in the end: the file under the temporary name is nobody
    else's to remove.

    Raises
    ------
    DecodeError
        When the file to append to is no file of frames, or its end is broken: `TruncatedError` where ``tail="cut"``
        would help. It is left as it is.
    BlockingIOError
        When another writer is appending to it (on systems that have flock).

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = folder.name + "/log"
    >>> for value in ("a", "b"):
    ...     with open_writer(path, "append") as writer:
    ...         writer.write(value)
    >>> with open_reader(path) as reader:
    ...     list(reader)
    ['a', 'b']
    >>> folder.cleanup()
    """
    one_of("mode", mode, get_args(Mode))
    one_of("tail", tail, get_args(AppendTail))
    place: Place = _Created(path) if mode == "create" else _Appended(path, tail, max_frame)
    return FileWriter(place, sync=sync or _SYNC[mode], max_frame=max_frame, codec=codec, **options)


_SYNC: Final[dict[str, Sync]] = {"create": "buffer", "append": "flush"}


def open_reader(
    path: PathLike,
    *,
    damaged: Damaged = "raise",
    tail: Tail = "raise",
    max_frame: int = MAX_FRAME,
    codec: Decoder | None = None,
    **options: Any,
) -> FileReader:
    """Read a file of frames; the options are those of `StreamReader`. Close it, or use it in a ``with`` block."""
    stream = FileStream(open(path, "rb"))  # noqa: SIM115 - closed by the reader
    try:
        return FileReader(stream, damaged=damaged, tail=tail, max_frame=max_frame, codec=codec, **options)
    except BaseException:
        stream.close()
        raise
